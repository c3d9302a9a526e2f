//! How a turn's thread looks at what a step names, and what it finds.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;
use a_society_flow::graph::FlowGraph;
use a_society_flow::machine::TurnTask;
use a_society_state::disk::SharedDisk;
use a_society_state::files::read_whole;

use super::role_source::{About, RoleSource, TouchedFiles};
use crate::limits::FLOW_FILE_BYTES_MAX;
use crate::project::docs::ailment::Ailment;
use crate::project::flow_file::FlowFile;
use crate::record::{FoundArtifact, RefusedPath};

/// What must be looked at before a step is handled.
pub(crate) struct StepLook(Box<dyn FnOnce() -> StepFindings + Send>);

impl StepLook {
    pub(super) fn new(run: impl FnOnce() -> StepFindings + Send + 'static) -> Box<Self> {
        Box::new(Self(Box::new(run)))
    }

    /// Looks, for as long as it takes.
    pub(super) fn run(self) -> StepFindings {
        (self.0)()
    }
}

impl fmt::Debug for StepLook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepLook").finish_non_exhaustive()
    }
}

/// What was found of all that a step names.
#[derive(Debug, Default)]
pub(super) struct StepFindings {
    /// The files of a handoff, in the order of its targets.
    pub(super) products: Vec<Result<FoundArtifact, RefusedPath>>,
    /// The file that the improvement phase asks for, under the path that it has in records.
    pub(super) assigned: Option<(String, Result<FoundArtifact, String>)>,
    /// What is wrong with the project.
    pub(super) ailments: Vec<Ailment>,
    /// The graph that the call wrote, if it is another than the flow walks.
    pub(super) graph: Option<Result<FlowFile, String>>,
    /// What the files of the call hold.
    pub(super) touched: Option<TouchedFiles>,
    /// The most that the role may do without asking.
    pub(super) most: Option<ConsentMode>,
    /// What the flow knows about the work of a role whose session is compacted.
    pub(super) facts: String,
}

/// How it is found out what the flow knows about a role's work.
pub(super) struct FactsLook {
    pub(super) roles: Box<dyn RoleSource>,
    pub(super) state: Arc<FlowState>,
    pub(super) graph: Arc<FlowGraph>,
    pub(super) role: RoleInstance,
    pub(super) task: TurnTask,
}

impl FactsLook {
    /// What the flow knows about the role's work.
    pub(super) fn run(mut self) -> String {
        let about = match &self.task {
            TurnTask::Node(node) => About::Node(node),
            TurnTask::Feedback => About::Feedback,
            TurnTask::Reflection => About::Reflection,
        };
        self.roles
            .facts(&self.graph, &self.state, &self.role, about)
    }
}

/// Where a role writes the graph of its flow, and what that file held before.
pub(super) struct GraphLook {
    pub(super) disk: SharedDisk,
    pub(super) path: PathBuf,
    pub(super) before: String,
}

impl GraphLook {
    /// The graph that is there now, if it is another.
    pub(super) fn run(self, roles: &mut dyn RoleSource) -> Option<Result<FlowFile, String>> {
        let bytes = match read_whole(self.disk.as_ref(), &self.path, FLOW_FILE_BYTES_MAX) {
            Ok(bytes) if bytes == self.before.as_bytes() => return None,
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(error.to_string()),
        };
        let text = bytes.and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
        });
        Some(text.and_then(|text| roles.snapshot(text)))
    }
}
