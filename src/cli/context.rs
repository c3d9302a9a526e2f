//! What every command is given.

use std::path::{Path, PathBuf};

use a_society_state::index::rows;
use a_society_state::{FlowRef, OUR_FOLDER, Store};

use super::asks::short;
use crate::environment::Environment;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop};
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

    /// Makes the current folder a workspace, and says so.
    ///
    /// # Errors
    /// When the file system refuses.
    pub(crate) fn make_workspace(&mut self, folder: &Path) -> Result<Store, Stop> {
        workspace::make(folder)?;
        let shown = folder.display().to_string();
        let note = format!("created workspace {}/{OUR_FOLDER}", plain(&shown));
        self.out.note(&note);
        self.store()
    }

    /// The flows of the workspace, and the one that is meant by what was typed.
    ///
    /// # Errors
    /// When there is no workspace, no such flow, or more than one.
    pub(crate) fn flow(&mut self, typed: &str) -> Result<(Store, FlowRef), Stop> {
        let store = self.store()?;
        let flow = store.find(typed)?;
        self.meant(store, flow)
    }

    /// The same where nothing may have been typed: the only flow that is not over is meant then, or the only one at
    /// all, and a note says which one it is.
    ///
    /// # Errors
    /// As [`Context::flow`], and when nothing was typed and several flows could be meant.
    pub(crate) fn flow_or_only(
        &mut self,
        verb: &str,
        typed: Option<&str>,
    ) -> Result<(Store, FlowRef), Stop> {
        if let Some(typed) = typed {
            return self.flow(typed);
        }
        let store = self.store()?;
        let flow = only(verb, &store)?;
        self.out.note(&format!("flow {flow}"));
        self.meant(store, flow)
    }

    /// The same for a flow that is known.
    ///
    /// # Errors
    /// When another program made it.
    pub(super) fn meant(&mut self, store: Store, flow: FlowRef) -> Result<(Store, FlowRef), Stop> {
        store.must_be_ours(&flow)?;
        self.named = Some(flow.clone());
        Ok((store, flow))
    }
}

/// How many flows are listed of those that could be meant.
const LISTED_MAX: usize = 10;

/// The only flow of a workspace that is not over, or the only one.
fn only(verb: &str, store: &Store) -> Result<FlowRef, Stop> {
    let mut flows = store.census()?.flows;
    flows.sort_by(|one, other| other.flow.cmp(&one.flow));
    if flows.len() > 1 {
        let over = rows(store, &flows).into_iter().filter(|row| {
            let summary = row.summary.as_ref();
            summary.is_some_and(|summary| summary.is_over())
        });
        let over: Vec<FlowRef> = over.map(|row| row.flow).collect();
        if over.len() < flows.len() {
            flows.retain(|flow| !over.contains(flow));
        }
    }
    let (code, what, why, hint) = match flows.as_slice() {
        [] => (
            ("flow-not-found", ExitCode::NotFound),
            "there is no flow here".to_owned(),
            "nothing was run in this workspace yet".to_owned(),
            "a-society run FILE".to_owned(),
        ),
        [flow] => return Ok(flow.clone()),
        [newest, ..] => {
            let listed = flows.iter().take(LISTED_MAX).map(ToString::to_string);
            let mut listed: Vec<String> = listed.collect();
            let more = flows.len().saturating_sub(LISTED_MAX);
            if more > 0 {
                listed.push(format!("and {more} more, which ls --all lists"));
            }
            (
                ("flow-ambiguous", ExitCode::Usage),
                format!("{verb} needs FLOW: several could be meant"),
                listed.join(", "),
                format!("a-society {verb} {}", short(newest)),
            )
        }
    };
    Err(OperatorError::new(code, what, why, hint).into())
}
