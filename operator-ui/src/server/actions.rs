//! What the server asks the program around it to do: what has words or notifications of its own there.

use std::fmt::Debug;
use std::sync::Arc;

use a_society_facts::fact::operator::ConsentRules;
use a_society_orchestrator::schedules::run::drive_to_rest;
use a_society_orchestrator::workspace::begin::BegunFlow;
use a_society_state::FlowRef;

use crate::hub::Hubs;
use crate::protocol::down::Fault;
use crate::protocol::http::NewFlow;
use crate::protocol::workspace::{MadeProject, NewProject};

/// What the program around the server can do.
pub trait Actions: Debug + Send + Sync {
    /// Starts a flow under these rules.
    ///
    /// # Errors
    /// In the operator's words.
    fn start(&self, new: &NewFlow, rules: ConsentRules) -> Result<BegunFlow, Fault>;

    /// Goes on with a flow.
    ///
    /// # Errors
    /// In the operator's words.
    fn resume(&self, flow: &FlowRef) -> Result<BegunFlow, Fault>;

    /// Makes a project in the workspace, or an example. Nothing that is there is replaced.
    ///
    /// # Errors
    /// In the operator's words.
    fn make_project(&self, new: &NewProject) -> Result<MadeProject, Fault>;

    /// Follows a flow that began here by itself, for notifications.
    fn begun(&self, _begun: &BegunFlow) {}

    /// A text without the secrets that are known here, before it leaves in a file.
    fn redact(&self, text: &str) -> String;
}

/// Lets this process drive what began, and forgets it when its task is over.
pub fn adopt(hubs: &Arc<Hubs>, begun: BegunFlow) {
    let BegunFlow { flow, driven } = begun;
    hubs.drives(flow.clone(), driven.handle.clone());
    let hubs = Arc::clone(hubs);
    let waiting = std::thread::Builder::new()
        .name("flow-end".to_owned())
        .spawn(move || {
            // Why it ended is in its journal, or its own error was reported.
            drop(driven.task.join());
            hubs.leaves(&flow);
        });
    drop(waiting);
}

/// Lets this process drive what began by itself, until it has nothing to do.
pub fn adopt_own(hubs: &Arc<Hubs>, begun: BegunFlow) {
    let BegunFlow { flow, driven } = begun;
    hubs.drives(flow.clone(), driven.handle.clone());
    let hubs = Arc::clone(hubs);
    let waiting = std::thread::Builder::new()
        .name("flow-end".to_owned())
        .spawn(move || {
            drive_to_rest(&hubs.store, &flow, driven, &mut |handle| {
                hubs.drives(flow.clone(), handle);
            });
            hubs.leaves(&flow);
        });
    drop(waiting);
}
