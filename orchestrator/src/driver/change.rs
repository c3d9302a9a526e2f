//! A finding leads to a change of a project's file: it is proposed, and applied or declined.
//!
//! Only files of the project's own folder `a-docs` are changed: the texts for roles, and the graph
//! that flows walk. A proposal keeps the hash of the file as it found it, and is not applied to any
//! other. The file is replaced in one step and durably before the fact is appended; after a crash in
//! between the file holds already what the proposal wants, and applying it again only appends the fact.

use std::path::Path;

use a_society_facts::Hash;
use a_society_facts::id::{ClientId, RoleInstance};
use a_society_facts::view::flow::Change;
use a_society_flow::machine::{Input, ProposeChange};
use a_society_state::atomic::replace_durably;
use a_society_state::files::make_folders;

use super::core::Core;
use super::error::DriverError;
use crate::mint;
use crate::record::{InProject, in_project};

/// The folder of a project whose files a finding may change.
pub const CHANGEABLE: &str = "a-docs";

/// Why a change cannot be proposed or applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeFault {
    /// No proposal waits for a word.
    #[error("no proposal waits for a word")]
    NoneOpen,
    /// Several do.
    #[error("several proposals wait for a word: {}", .0.join(", "))]
    ManyOpen(Vec<String>),
    /// None has this name.
    #[error("no proposal that waits for a word is called {0}")]
    Unknown(String),
    /// The file may not be changed.
    #[error("{path} cannot be changed: {why}")]
    OutOfPlace {
        /// As it was written.
        path: String,
        /// Why.
        why: String,
    },
    /// The file is not what it was.
    #[error("{0} was changed after this was proposed")]
    Changed(String),
    /// The proposal would change nothing.
    #[error("{0} says exactly this already")]
    Nothing(String),
}

impl Core {
    pub(super) fn propose(
        &mut self,
        (role, written): (RoleInstance, String),
        text: String,
        client: Option<ClientId>,
    ) -> Result<Input, DriverError> {
        let found = self.changeable(&written)?;
        let before = found.bytes.as_deref().map(Hash::of);
        if before == Some(Hash::of(text.as_bytes())) {
            return Err(ChangeFault::Nothing(found.relative).into());
        }
        Ok(Input::ProposeChange(ProposeChange {
            change: mint::name::<a_society_facts::id::MessageId>(self.mint.as_mut(), "change")?
                .to_string(),
            role,
            path: found.relative,
            before,
            after: self.flow.keep_text(text)?,
            client,
        }))
    }

    /// Decides about a proposal: the one that is named, or the only one. An applied one is in its file
    /// when this returns.
    pub(super) fn decide_change(
        &mut self,
        named: Option<String>,
        applied: bool,
        client: Option<ClientId>,
    ) -> Result<Input, DriverError> {
        let (name, change) = self.open_change(named)?;
        if applied {
            self.apply(&change)?;
        }
        Ok(Input::DecideChange {
            change: name,
            applied,
            client,
        })
    }

    fn open_change(&self, named: Option<String>) -> Result<(String, Change), DriverError> {
        let open = self.state().changes.iter();
        let mut open = open.filter(|(_, change)| change.applied.is_none());
        if let Some(named) = named {
            let found = open.find(|(name, _)| **name == named);
            let (name, change) = found.ok_or(ChangeFault::Unknown(named))?;
            return Ok((name.clone(), change.clone()));
        }
        match (open.next(), open.next()) {
            (Some((name, change)), None) => Ok((name.clone(), change.clone())),
            (None, _) => Err(ChangeFault::NoneOpen.into()),
            (Some((first, _)), Some((second, _))) => {
                let names = [first, second]
                    .into_iter()
                    .chain(open.map(|(name, _)| name));
                Err(ChangeFault::ManyOpen(names.cloned().collect()).into())
            }
        }
    }

    fn apply(&self, change: &Change) -> Result<(), DriverError> {
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
