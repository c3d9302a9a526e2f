//! A finding leads to a change of a project's file: it is proposed, and applied or declined.
//!
//! Only files of the project's own folder `a-docs` are changed: the texts for roles, and the graph
//! that flows walk. A proposal keeps the hash of the file as it found it, and is not applied to any
//! other. The file is replaced in one step and durably before the fact is appended; after a crash in
//! between the file holds already what the proposal wants, and applying it again only appends the fact.

use std::path::Path;

use a_society_facts::Hash;
use a_society_flow::machine::{ChangeProposal, Refusal};
use a_society_state::atomic::replace_durably;
use a_society_state::files::make_folders;

use super::core::Core;
use super::error::{ChangeFault, DriverError};
use crate::mint;
use crate::record::{InProject, in_project};

/// The folder of a project whose files a finding may change.
pub(crate) const CHANGEABLE: &str = "a-docs";

impl Core {
    /// A change of a file of the project, as it is now.
    pub(super) fn proposal(
        &mut self,
        written: &str,
        text: String,
    ) -> Result<ChangeProposal, DriverError> {
        let found = self.changeable(written)?;
        let before = found.bytes.as_deref().map(Hash::of);
        if before == Some(Hash::of(text.as_bytes())) {
            return Err(ChangeFault::Nothing(found.relative).into());
        }
        let name = mint::name::<a_society_facts::id::MessageId>(self.mint.as_mut(), "change")?;
        Ok(ChangeProposal {
            change: name.to_string(),
            path: found.relative,
            before,
            after: self.flow.keep_text(text)?,
        })
    }

    /// Writes the file of a proposal.
    pub(super) fn apply(&self, change: &str) -> Result<(), DriverError> {
        let Some(change) = self.state().changes.get(change) else {
            return Err(Refusal::UnknownChange(change.to_owned()).into());
        };
        let found = self.changeable(&change.path)?;
        // A proposal lets its text go only when it is decided.
        let after = self
            .flow
            .whole_text(&change.after.clone().unwrap_or_default())?;
        let now = found.bytes.as_deref().map(Hash::of);
        if now == Some(Hash::of(after.as_bytes())) {
            // A process wrote it and ended before it could say so.
            return Ok(());
        }
        if now != change.before {
            return Err(ChangeFault::Changed(found.relative).into());
        }
        let disk = self.flow.disk();
        make_folders(disk, found.path.parent().unwrap_or(Path::new(".")))?;
        replace_durably(disk, &found.path, after.as_bytes())?;
        Ok(())
    }

    /// The file of the project that a written path names, with what it holds.
    fn changeable(&self, written: &str) -> Result<InProject, DriverError> {
        let refused = |why: String| ChangeFault::OutOfPlace {
            path: written.to_owned(),
            why,
        };
        let found = in_project(self.flow.disk(), &self.places.project, written).map_err(refused)?;
        if Path::new(&found.relative).starts_with(CHANGEABLE) {
            return Ok(found);
        }
        let why = format!("findings change files below {CHANGEABLE} only");
        Err(refused(why).into())
    }
}
