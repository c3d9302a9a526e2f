//! What the tools of one turn may reach, decided by the driver.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::fact::terms::Scope;
use a_society_facts::fact::turn::FileChange;
use a_society_facts::id::{FlowId, NodeId, RoleInstance};

use a_society_facts::message::Message;

use super::command::Background;
use super::limits;
use super::session_reader::ReadSessions;
use crate::consent::policy::Policy;

/// Whose calls these are. Consent is given to exactly them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The flow.
    pub flow: FlowId,
    /// The role instance.
    pub role: RoleInstance,
    /// The node, except in the improvement phase.
    pub node: Option<NodeId>,
}

/// Everything that tools need to know.
#[derive(Debug, Clone)]
pub struct ToolSetting {
    /// Whose calls these are.
    pub owner: Owner,
    /// The folder of the project, to which relative paths belong.
    pub project: PathBuf,
    /// The flow's own folder.
    pub record: PathBuf,
    /// The flow and those it was forked from: a path into the record folder of one of them, wherever
    /// it was then, means the record folder. See [`crate::role::former::within_record`].
    pub lineage: Vec<FlowId>,
    /// Folders that may be read in every scope: those of skills.
    pub readable: Vec<PathBuf>,
    /// Folders that may be read from [`Scope::Project`] on.
    pub extra: Vec<PathBuf>,
    /// How far the tools reach.
    pub scope: Scope,
    /// Whether commands may use the network.
    pub network: bool,
    /// Whether `fetch_url` is there.
    pub fetch: bool,
    /// Whom `web_search` asks; without it the tool is not there.
    pub search: Option<SearchService>,
    /// Where other sessions are read; without it the tools for that are not there.
    pub sessions: Option<Arc<dyn ReadSessions>>,
    /// The program that guards commands; without it `run_command` is not there.
    pub guard: Option<Guard>,
    /// The variables from which commands get those that are harmless.
    pub environment: Vec<(String, String)>,
    /// Values that no model and no disk may see.
    pub secrets: Vec<String>,
    /// Command strings that the operator lets run unasked, byte for byte.
    pub unasked_commands: Vec<String>,
    /// Command strings, byte for byte, of which the operator says that what they do cannot be taken
    /// back.
    pub irreversible_commands: Vec<String>,
    /// The operator's standing decisions about calls.
    pub policy: Arc<Policy>,
    /// What judges a new `workflow.yaml` of the flow; without it the file is out of reach.
    pub check_workflow: Option<WorkflowCheck>,
    /// How many tokens the model reads at most; 0 if unknown.
    pub window_tokens: u64,
    /// By which tool the model changes parts of files.
    pub edit_tool: EditTool,
    /// Whether the model gets the images that it reads.
    pub images: bool,
    /// Whether calls are only judged here, and run elsewhere: which files the model was shown is not known, and all
    /// count as shown.
    pub only_judges: bool,
    /// The conversation up to the turn's last recorded word, which shows files that other processes read.
    pub said: Vec<Arc<Message>>,
    /// The files of calls that an earlier process began, as they were to be changed, by the ids under
    /// which the transcript knows the calls.
    pub begun: BTreeMap<String, Vec<FileChange>>,
    /// The commands that an earlier process ran beside this turn, if nothing says that they ended.
    pub left_running: BTreeMap<u32, String>,
    /// The words among which members of definitions choose, such as the nodes of a handoff.
    pub words: BTreeMap<String, Vec<String>>,
    /// The commands that run beside turns of the flow.
    pub background: Background,
    /// The bounds.
    pub limits: CallLimits,
}

impl ToolSetting {
    /// The narrowest setting for a project and a record folder.
    #[must_use]
    pub fn new(owner: Owner, project: PathBuf, record: PathBuf) -> Self {
        Self {
            lineage: vec![owner.flow.clone()],
            owner,
            project,
            record,
            readable: Vec::new(),
            extra: Vec::new(),
            scope: Scope::default(),
            network: false,
            fetch: false,
            search: None,
            sessions: None,
            guard: None,
            environment: Vec::new(),
            secrets: Vec::new(),
            unasked_commands: Vec::new(),
            irreversible_commands: Vec::new(),
            policy: Arc::default(),
            check_workflow: None,
            window_tokens: 0,
            edit_tool: EditTool::default(),
            images: false,
            only_judges: false,
            said: Vec::new(),
            begun: BTreeMap::new(),
            left_running: BTreeMap::new(),
            words: BTreeMap::new(),
            background: Background::default(),
            limits: CallLimits::default(),
        }
    }
}

impl ToolSetting {
    /// Whether the model's window is small, so that it gets fewer tools and shorter outputs.
    #[must_use]
    pub(crate) const fn is_small(&self) -> bool {
        is_small_window(self.window_tokens)
    }

    /// The tool for changing parts of files that the model is offered. Patches are too hard for small
    /// models.
    #[must_use]
    pub(crate) const fn told_edit_tool(&self) -> EditTool {
        if self.is_small() {
            EditTool::Replace
        } else {
            self.edit_tool
        }
    }
}

/// Whether a window of so many tokens is that of a small model; 0 if unknown.
#[must_use]
pub const fn is_small_window(tokens: u64) -> bool {
    tokens > 0 && tokens <= limits::SMALL_WINDOW_TOKENS
}

/// A tool by which parts of files are changed. Models see one of them; both run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EditTool {
    /// `edit_file`, which replaces texts.
    #[default]
    Replace,
    /// `apply_patch`, on which some models are trained.
    Patch,
}

impl EditTool {
    /// Both, with the words by which a configuration names them.
    pub(crate) const WORDS: [(Self, &'static str); 2] =
        [(Self::Replace, "replace"), (Self::Patch, "patch")];

    /// The tool's name.
    #[must_use]
    pub(crate) const fn tool(self) -> &'static str {
        match self {
            Self::Replace => "edit_file",
            Self::Patch => "apply_patch",
        }
    }
}

/// Who answers `web_search`.
#[derive(Clone, PartialEq, Eq)]
pub struct SearchService {
    /// The address that takes a query, in Tavily's manner.
    pub endpoint: String,
    /// The key.
    pub key: String,
}

impl fmt::Debug for SearchService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchService")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// How the program is started that holds, confines and ends commands: this program itself, with
/// the words by which it calls [`super::command::guard`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The program and its arguments.
    pub run: Vec<String>,
}

/// Says what is wrong with a graph file, in words, or nothing.
#[derive(Clone)]
pub struct WorkflowCheck(pub Arc<CheckWorkflow>);

/// See [`WorkflowCheck`].
pub(crate) type CheckWorkflow = dyn Fn(&str) -> Result<(), String> + Send + Sync;

impl fmt::Debug for WorkflowCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkflowCheck")
    }
}

/// The bounds of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// How much of an output a model gets.
    pub output_bytes: usize,
    /// How many lines of it.
    pub output_lines: usize,
    /// How much of an output is kept for a blob.
    pub blob_bytes: usize,
    /// How long a command may take when it does not say.
    pub command_ms: u64,
    /// How long a command may ask for.
    pub command_max_ms: u64,
}

impl CallLimits {
    /// The bound of an output, as the model reads it.
    #[must_use]
    pub fn output_bound(&self) -> String {
        format!("{} KB", (self.output_bytes / 1024).max(1))
    }

    /// The bounds for a model that reads so many tokens; 0 if unknown. One output fills an
    /// eighth of its window at most.
    #[must_use]
    pub fn of_window(tokens: u64) -> Self {
        let mut limits = Self::default();
        let eighth = tokens.saturating_mul(limits::BYTES_A_TOKEN) / limits::WINDOW_PARTS;
        if let Some(eighth) = usize::try_from(eighth).ok().filter(|bytes| *bytes > 0) {
            limits.output_bytes = limits.output_bytes.min(eighth);
        }
        limits
    }
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            output_bytes: limits::OUTPUT_BYTES,
            output_lines: limits::OUTPUT_LINES,
            blob_bytes: limits::BLOB_BYTES,
            command_ms: limits::COMMAND_MS,
            command_max_ms: limits::COMMAND_MAX_MS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_only_ever_narrowed() {
        for one in Scope::ALL {
            assert_eq!(Scope::of_word(one.word()), Some(one));
            for other in Scope::ALL {
                let narrowed = one.narrowed(other);
                assert!(narrowed <= one && narrowed <= other);
            }
        }
    }

    #[test]
    fn one_output_fills_at_most_an_eighth_of_a_window() {
        let bytes = |tokens| CallLimits::of_window(tokens).output_bytes;
        assert_eq!(bytes(0), 50 * 1024);
        assert_eq!(bytes(8_192), 4_096);
        assert_eq!(bytes(1_000_000), 50 * 1024);
        let told = |tokens| CallLimits::of_window(tokens).output_bound();
        assert_eq!([0, 2_048, 64_000].map(told), ["50 KB", "1 KB", "31 KB"]);
    }
}
