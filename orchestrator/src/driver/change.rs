//! A finding leads to a change of a project's file: it is proposed, and applied or declined.
//!
//! Only files of the project's own folder `a-docs` are changed: the texts for roles, and the graph
//! that flows walk. A proposal keeps the hash of the file as it found it, and is not applied to any
//! other. The file is replaced in one step and durably before the fact is appended; after a crash in
//! between the file holds already what the proposal wants, and applying it again only appends the fact.

use std::path::Path;

use a_society_base::stop::StopSignal;
use a_society_facts::{Hash, Verb};
use a_society_flow::machine::{Brought, ChangeProposal, Commanded, Input, Refusal};
use a_society_state::atomic::replace_durably;
use a_society_state::disk::Disk;
use a_society_state::files::make_folders;

use super::core::Core;
use super::errand::ErrandId;
use super::error::{ChangeFault, DriverError};
use crate::record::{InProject, in_project};

/// The folder of a project whose files a finding may change.
pub(crate) const CHANGEABLE: &str = "a-docs";

impl Core {
    /// It is found out what the file holds that a proposal would change.
    pub(super) fn ask_proposal(
        &mut self,
        path: String,
        text: String,
        mut said: Commanded,
    ) -> Result<ErrandId, DriverError> {
        let (disk, project) = (self.pen.flow.shared_disk(), self.pen.places.project.clone());
        self.send_for_command(StopSignal::default(), move || {
            let found = changeable(disk.as_ref(), &project, &path);
            Box::new(move |core: &mut Self| {
                said.brought = Brought::Proposal(core.proposal(found?, text)?);
                core.pen.command(Input::Commanded(said))
            })
        })
    }

    /// A change of a file of the project, as it was found.
    fn proposal(&mut self, found: InProject, text: String) -> Result<ChangeProposal, DriverError> {
        let before = found.bytes.as_deref().map(Hash::of);
        if before == Some(Hash::of(text.as_bytes())) {
            return Err(ChangeFault::Nothing(found.relative).into());
        }
        let name = self.pen.name::<a_society_facts::id::MessageId>("change")?;
        Ok(ChangeProposal {
            change: name.to_string(),
            path: found.relative,
            before,
            after: self.pen.flow.keep_text(text)?,
        })
    }

    /// The file of a proposal is written, and then it counts as applied. Nothing else is decided about the proposal
    /// meanwhile.
    pub(super) fn ask_written(
        &mut self,
        change: String,
        mut said: Commanded,
    ) -> Result<ErrandId, DriverError> {
        let Some(proposed) = self.state().changes.get(&change) else {
            return Err(Refusal::UnknownChange(change).into());
        };
        // A proposal lets its text go only when it is decided.
        let after = proposed.after.clone().unwrap_or_default();
        let write = ChangeWrite {
            path: proposed.path.clone(),
            before: proposed.before,
            after: self.pen.flow.whole_text(&after)?,
        };
        if let Verb::Change { change: named, .. } = &mut said.verb {
            // It means this proposal, whichever are open by then.
            *named = Some(change.clone());
        }
        let (disk, project) = (self.pen.flow.shared_disk(), self.pen.places.project.clone());
        let errand = self.send_for_command(StopSignal::default(), move || {
            let written = write.run(disk.as_ref(), &project);
            Box::new(move |core: &mut Self| {
                written?;
                said.brought = Brought::Written;
                core.pen.command(Input::Commanded(said))
            })
        })?;
        self.errands.write(errand, change);
        Ok(errand)
    }

    /// Whether a proposal may be decided: not while its file is being written.
    pub(super) fn may_decide(&self, named: Option<&String>) -> Result<(), DriverError> {
        match self.errands.written(named) {
            Some(change) => Err(ChangeFault::BeingWritten(change.clone()).into()),
            None => Ok(()),
        }
    }
}

/// A file that a proposal changes.
#[derive(Debug)]
struct ChangeWrite {
    path: String,
    /// What it held when the change was proposed.
    before: Option<Hash>,
    /// What it holds from now on.
    after: String,
}

impl ChangeWrite {
    /// Writes the file, unless it holds something else than was proposed to change.
    fn run(&self, disk: &dyn Disk, project: &Path) -> Result<(), DriverError> {
        let found = changeable(disk, project, &self.path)?;
        let now = found.bytes.as_deref().map(Hash::of);
        if now == Some(Hash::of(self.after.as_bytes())) {
            // A process wrote it and ended before it could say so.
            return Ok(());
        }
        if now != self.before {
            return Err(ChangeFault::Changed(found.relative).into());
        }
        make_folders(disk, found.path.parent().unwrap_or(Path::new(".")))?;
        replace_durably(disk, &found.path, self.after.as_bytes())?;
        Ok(())
    }
}

/// The file of the project that a written path names, with what it holds.
fn changeable(disk: &dyn Disk, project: &Path, written: &str) -> Result<InProject, DriverError> {
    let refused = |why: String| ChangeFault::OutOfPlace {
        path: written.to_owned(),
        why,
    };
    let found = in_project(disk, project, written).map_err(refused)?;
    if Path::new(&found.relative).starts_with(CHANGEABLE) {
        return Ok(found);
    }
    let why = format!("findings change files below {CHANGEABLE} only");
    Err(refused(why).into())
}
