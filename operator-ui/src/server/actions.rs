//! What the server asks the program around it to do: to start flows and to go on with them. It needs
//! files of the workspace, which the program knows how to read.

use std::fmt::Debug;
use std::sync::Arc;

use a_society_facts::id::Seq;
use a_society_orchestrator::workspace::begin::BegunFlow;
use a_society_state::FlowRef;

use crate::hub::Hubs;
use crate::protocol::ask::ModelChoice;
use crate::protocol::down::Fault;
use crate::protocol::http::{NewFlow, ProjectRow, SentRequest};
use crate::protocol::made::{MadeProject, NewProject};
use crate::protocol::settings::{Setting, SettingDone, SkillSetting, Trial, Tried};

/// What the program around the server can do.
pub trait Actions: Debug + Send + Sync {
    /// Starts a flow.
    ///
    /// # Errors
    /// In the operator's words.
    fn start(&self, new: &NewFlow) -> Result<BegunFlow, Fault>;

    /// Goes on with a flow.
    ///
    /// # Errors
    /// In the operator's words.
    fn resume(&self, flow: &FlowRef) -> Result<BegunFlow, Fault>;

    /// The folder of a flow's project.
    fn project_folder(&self, flow: &FlowRef) -> std::path::PathBuf;

    /// A request as it left for its model, written anew from the journal.
    ///
    /// # Errors
    /// In the operator's words.
    fn request(&self, flow: &FlowRef, seq: Seq) -> Result<SentRequest, Fault>;

    /// The projects of the workspace.
    fn projects(&self) -> Vec<ProjectRow>;

    /// Makes a project in the workspace, or an example. Nothing that is there is replaced.
    ///
    /// # Errors
    /// In the operator's words.
    fn make_project(&self, new: &NewProject) -> Result<MadeProject, Fault>;

    /// A text without the secrets that are known here, before it leaves in a file.
    fn redact(&self, text: &str) -> String;

    /// What is configured, for one page of the settings; nothing if there is no such page.
    fn settings(&self, page: &str) -> Option<serde_json::Value>;

    /// A skill of the operator's own, or of a project: its text, and its part of a role's prompt.
    ///
    /// # Errors
    /// In the operator's words, when there is none.
    fn skill(&self, name: &str, project: Option<&str>) -> Result<serde_json::Value, Fault>;

    /// Changes a skill of the operator's own.
    ///
    /// # Errors
    /// In the operator's words.
    fn change_skill(&self, setting: &SkillSetting) -> Result<SettingDone, Fault>;

    /// The models that roles may be given now.
    fn models(&self) -> Vec<ModelChoice>;

    /// Changes what is configured.
    ///
    /// # Errors
    /// In the operator's words.
    fn configure(&self, setting: &Setting) -> Result<SettingDone, Fault>;

    /// Tries out something that is configured, and says whether it works.
    ///
    /// # Errors
    /// In the operator's words, when there is no such thing.
    fn try_out(&self, trial: &Trial) -> Result<Tried, Fault>;
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
