//! What every command is given.

use std::path::PathBuf;

use a_society_state::{FlowRef, Store};

use crate::environment::Environment;
use crate::operator_error::Stop;
use crate::output::Output;
use crate::text::plain;
use crate::workspace;

/// What every command is given.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// Where it prints.
    pub(crate) out: Output,
    /// What the process was given.
    pub(crate) environment: &'a Environment,
    /// The workspace that an argument names.
    pub(crate) workspace: Option<PathBuf>,
    /// Whether flows are written without locks.
    pub(crate) without_locks: bool,
    /// The flow the command is about, once that is known.
    pub(crate) named: Option<FlowRef>,
}

impl Context<'_> {
    /// The flows of the workspace.
    ///
    /// # Errors
    /// When there is no workspace.
    pub(crate) fn store(&mut self) -> Result<Store, Stop> {
        let store = workspace::store(
            self.environment,
            self.workspace.as_deref(),
            self.without_locks,
        )?;
        match store.keep_private() {
            Ok(0) => {}
            Ok(closed) => {
                self.out.note(&format!(
                    "others on this machine could read the state of this workspace; now only you can \
                     (files and folders closed to others: {closed})"
                ));
            }
            // A user who can only read the workspace can still use it.
            Err(why) => {
                let why =
                    format!("others on this machine can read the state of this workspace: {why}");
                self.out.note(&plain(&why));
            }
        }
        Ok(store)
    }

    /// The flows of the workspace, and the one that is meant by what was typed.
    ///
    /// # Errors
    /// When there is no workspace, no such flow, or more than one.
    pub(crate) fn flow(&mut self, typed: &str) -> Result<(Store, FlowRef), Stop> {
        let store = self.store()?;
        let flow = store.find(typed)?;
        store.must_be_ours(&flow)?;
        self.named = Some(flow.clone());
        Ok((store, flow))
    }
}
