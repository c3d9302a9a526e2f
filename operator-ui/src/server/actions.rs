//! What the server asks the program around it to do: to start flows and to go on with them. It needs
//! files of the workspace, which the program knows how to read.

use std::fmt::Debug;
use std::sync::Arc;

use a_society_orchestrator::driver::task::Driven;
use a_society_state::FlowRef;

use crate::hub::Hubs;
use crate::protocol::down::Fault;
use crate::protocol::http::{NewFlow, ProjectRow};

/// A flow that began, or goes on.
#[derive(Debug)]
pub struct Begun {
    /// Which.
    pub flow: FlowRef,
    /// How it is driven.
    pub driven: Driven,
}

/// What the program around the server can do.
pub trait Actions: Debug + Send + Sync {
    /// Starts a flow.
    ///
    /// # Errors
    /// In the operator's words.
    fn start(&self, new: &NewFlow) -> Result<Begun, Fault>;

    /// Goes on with a flow.
    ///
    /// # Errors
    /// In the operator's words.
    fn resume(&self, flow: &FlowRef) -> Result<Begun, Fault>;

    /// The folder of a flow's project.
    fn project_folder(&self, flow: &FlowRef) -> std::path::PathBuf;

    /// The projects of the workspace.
    fn projects(&self) -> Vec<ProjectRow>;

    /// A text without the secrets that are known here, before it leaves in a file.
    fn redact(&self, text: &str) -> String;

    /// What is configured, for one page of the settings; nothing if there is no such page.
    fn settings(&self, page: &str) -> Option<serde_json::Value>;
}

/// Lets this process drive what began, and forgets it when its task is over.
pub fn adopt(hubs: &Arc<Hubs>, begun: Begun) {
    let Begun { flow, driven } = begun;
    hubs.drives(flow.clone(), driven.handle);
    let hubs = Arc::clone(hubs);
    let waiting = std::thread::Builder::new()
        .name("flow-end".to_owned())
        .spawn(move || {
            // Why it ended is in its journal, or was said by its own error.
            drop(driven.task.join());
            hubs.leaves(&flow);
        });
    drop(waiting);
}
