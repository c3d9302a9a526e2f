//! Facts about turns: requests to a model, what came back, and what its tool calls did.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::journal::ProcessName;
use super::older;
use super::request::RequestFrame;
use crate::at::At;
use crate::hash::Hash;
use crate::id::{CallId, MessageId, NodeId, RoleInstance, TurnId};
use crate::message::{AnswerText, Image, Text, ToolCall};

/// Why a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A node of the graph.
    Node,
    /// Meta-analysis.
    Reflection,
    /// The feedback report.
    Feedback,
    /// The session is being compacted.
    Compaction,
    /// A choice is being made for a role: its model, skills or servers.
    Selection,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The turn.
    pub turn: TurnId,
    /// Which try at it, from 1.
    pub attempt: u32,
    /// Who takes it.
    pub role: RoleInstance,
    /// The node, if a node is the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Why it runs.
    pub cause: Cause,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnResumed {
    /// The turn that was cut off.
    pub turn: TurnId,
    /// The try that goes on with it.
    pub attempt: u32,
    /// Who takes it.
    pub role: RoleInstance,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// With an outcome.
    Outcome,
    /// By waiting for the operator.
    Waiting,
    /// The operator stopped it.
    Stopped,
    /// It failed.
    Failed,
    /// It reached the limit of requests in one turn.
    TurnLimit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// The turn.
    pub turn: TurnId,
    /// The try that ended.
    pub attempt: u32,
    /// Who took it.
    pub role: RoleInstance,
    /// How it ended.
    pub end: TurnEnd,
    /// What went wrong, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Tokens, as a provider counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input that was not cached.
    pub input_tokens: u64,
    /// Output.
    pub output_tokens: u64,
    /// Input read from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Input written to the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// How much of the window this request filled.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub context_tokens: u64,
    /// What it cost, in millionths of the price's unit; 0 if no price is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_micros: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes the field by reference"
)]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequested {
    /// The turn.
    pub turn: TurnId,
    /// The try.
    pub attempt: u32,
    /// Who asks.
    pub role: RoleInstance,
    /// Which request of the turn, from 1.
    pub request: u32,
    /// The model.
    pub model: String,
    /// The hash of the request as it is sent.
    pub hash: Hash,
    /// What it is made of besides its session, where that is not what the session's last request was
    /// made of. For a request beside the session it is always recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Box<RequestFrame>>,
}

/// What streamed text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftKind {
    /// The answer.
    Text,
    /// The model's reasoning.
    Reasoning,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftAdded {
    /// The turn.
    pub turn: TurnId,
    /// Who speaks.
    pub role: RoleInstance,
    /// Which request of the turn.
    pub request: u32,
    /// What kind of text.
    pub kind: DraftKind,
    /// The text that follows what came before.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftKept {
    /// The turn that was cut off while it streamed.
    pub turn: TurnId,
    /// Who spoke.
    pub role: RoleInstance,
    /// Which request of the turn.
    pub request: u32,
    /// The message that the draft is from now on.
    pub message: MessageId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftDiscarded {
    /// The turn.
    pub turn: TurnId,
    /// Who spoke.
    pub role: RoleInstance,
    /// Which request of the turn.
    pub request: u32,
    /// Why what was streamed does not count.
    pub why: String,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    End,
    /// It wants tools to run.
    Tools,
    /// It reached its output limit.
    OutputLimit,
    /// It declined.
    Refusal,
    /// Something else, which the provider named in its own words.
    Other,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswered {
    /// The turn.
    pub turn: TurnId,
    /// The try.
    pub attempt: u32,
    /// Who spoke.
    pub role: RoleInstance,
    /// Which request of the turn.
    pub request: u32,
    /// The message that the answer is.
    pub message: MessageId,
    /// Its text.
    pub text: AnswerText,
    /// What it wants done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// Blocks that this provider wants back unchanged, such as signed reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_blocks: Option<Box<RawValueEq>>,
    /// Of a role that is a program, whether the text is a report of how the program ended, and nothing that the
    /// program printed. Journals without it say so at the beginning of the text only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<bool>,
}

impl ModelAnswered {
    /// Whether a text of a role that is a program is a report of how the program ended.
    #[must_use]
    pub fn is_report(&self, text: &str) -> bool {
        self.report.unwrap_or_else(|| older::is_report(text))
    }
}

/// JSON kept byte for byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawValueEq(pub Box<RawValue>);

impl PartialEq for RawValueEq {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// The turn.
    pub turn: TurnId,
    /// The try.
    pub attempt: u32,
    /// Who asked.
    pub role: RoleInstance,
    /// Which request of the turn.
    pub request: u32,
    /// What kind of failure, in one stable word.
    pub class: String,
    /// The provider's message, without secrets.
    pub error: String,
    /// How long until the next try; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_in_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestHeld {
    /// The turn.
    pub turn: TurnId,
    /// The try.
    pub attempt: u32,
    /// Who would ask.
    pub role: RoleInstance,
    /// The provider, as the operator's configuration names it.
    pub provider: String,
    /// Whether its model failed too often in a row; else another role met a limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failing: bool,
    /// Until when, as far as it is known.
    pub until: At,
}

/// What a tool call may do to the world, which decides what happens if its outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It only reads.
    Pure,
    /// The hashes of the files that it changes tell whether it happened.
    Checkable,
    /// The other side takes the same key twice as once.
    Idempotent,
    /// It changes something.
    Mutating,
    /// It cannot be undone.
    Irreversible,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallIntended {
    /// The call.
    pub call: CallId,
    /// Its turn.
    pub turn: TurnId,
    /// Who calls.
    pub role: RoleInstance,
    /// The id by which the transcript knows it.
    pub tool_call: String,
    /// Its place in the answer, from 0.
    pub ordinal: u32,
    /// The tool.
    pub tool: String,
    /// The hash of its arguments.
    pub arguments: Hash,
    /// What it may do.
    pub effect: Effect,
    /// The key under which it counts once.
    pub idempotency_key: Hash,
    /// The file's hash before, for a checkable call; absent if the file does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// The file's hash after, for a checkable call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hash>,
    /// For a checkable call of several files, each of them, in the order in which they are changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// For a checkable call, what it changes in the text of each of its files, in the same order. Journals
    /// without it have only the hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<ChangedText>,
    /// One line for the operator.
    pub summary: String,
}

impl CallIntended {
    /// Where the call changes its only file, if that is one place, and how many places it changes there.
    #[must_use]
    pub fn changed_place(&self) -> (Option<u64>, u64) {
        let (line, places) = match self.texts.first() {
            Some(text) if text.line.is_some() || text.places.is_some() => (text.line, text.places),
            Some(_) | None => older::changed_place(&self.summary),
        };
        (line, places.unwrap_or(1))
    }
}

/// What a call changes in the text of one of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedText {
    /// The file's path, from the project folder; `record/` is the flow's shared folder.
    pub path: String,
    /// How many lines are added.
    pub added: u64,
    /// How many lines are removed.
    pub removed: u64,
    /// What the file held before, with secrets masked; absent if the file did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Text>,
    /// How many bytes it held before, if that is too much to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unkept_bytes: Option<u64>,
    /// The line at which it changes, counted from 1, if that is one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// At how many places it changes. Journals with neither of these have them at the end of the summary only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<u64>,
}

/// What a call is to make of one of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Its path, from the project folder; `record/` is the flow's shared folder.
    pub path: String,
    /// Its hash before; absent if it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// Its hash after; absent if it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hash>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallStarted {
    /// The call.
    pub call: CallId,
    /// Who calls.
    pub role: RoleInstance,
    /// The process that does it, held at its gate until this fact is durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessName>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// It did what it was asked.
    Done,
    /// It failed and reported that.
    Failed,
    /// It was denied.
    Denied,
    /// It was stopped.
    Stopped,
    /// It took too long.
    TimedOut,
    /// It never ran.
    NotRun,
    /// A crash came between its start and its result, and nothing tells what it did.
    Unknown,
    /// A crash came in between, and the file shows that it happened.
    Recovered,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    /// The call.
    pub call: CallId,
    /// Its turn.
    pub turn: TurnId,
    /// Who called.
    pub role: RoleInstance,
    /// The id by which the transcript knows it.
    pub tool_call: String,
    /// The tool.
    pub tool: String,
    /// How it ended.
    pub end: CallEnd,
    /// What the model gets.
    pub output: Text,
    /// The message that the result is.
    pub message: MessageId,
    /// The files that the model knows from now on as they are, because it was shown them or made
    /// them so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenFile>,
    /// The image that the model gets besides, if it gets images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Box<Image>>,
    /// With which code the command ended, if it was one and ended by itself. Journals without it say so
    /// at the beginning of the output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// By which signal the command was ended, if it was one and the signal was not ours. Journals without it say so at
    /// the beginning of the output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether the model got less than there was. Journals without it say so in a line of the output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<bool>,
}

/// A call of a turn, as its results name it.
#[derive(Debug)]
pub struct CalledTool {
    /// The call.
    pub call: CallId,
    /// Its turn.
    pub turn: TurnId,
    /// Who called.
    pub role: RoleInstance,
    /// The id by which the transcript knows it.
    pub tool_call: String,
    /// The tool.
    pub tool: String,
}

impl CalledTool {
    /// The call ends with a text and nothing besides.
    #[must_use]
    pub fn finished(self, end: CallEnd, output: Text, message: MessageId) -> CallFinished {
        let Self {
            call,
            turn,
            role,
            tool_call,
            tool,
        } = self;
        CallFinished {
            call,
            turn,
            role,
            tool_call,
            tool,
            end,
            output,
            message,
            seen: Vec::new(),
            image: None,
            exit: None,
            signal: None,
            cut: None,
        }
    }
}

/// How a command ended that nothing of ours ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandExit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl CommandExit {
    /// The code, if it ended by itself.
    #[must_use]
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }

    /// The signal, if one ended it.
    #[must_use]
    pub const fn signal(self) -> Option<i32> {
        match self {
            Self::Code(_) => None,
            Self::Signal(signal) => Some(signal),
        }
    }
}

impl CallFinished {
    /// How the command ended, if it was one and ended by itself or by a signal that was not ours.
    #[must_use]
    pub fn command_exit(&self) -> Option<CommandExit> {
        match (self.exit, self.signal) {
            (Some(code), _) => Some(CommandExit::Code(code)),
            (None, Some(signal)) => Some(CommandExit::Signal(signal)),
            (None, None) if matches!(self.end, CallEnd::Done | CallEnd::Failed) => {
                let shown = self.output.shown();
                // The commands of tools have the members for longer than a record says what was cut.
                let of_tool = || older::exit(&shown).filter(|_| self.cut.is_none());
                older::program_exit(&self.tool, &shown).or_else(of_tool)
            }
            (None, None) => None,
        }
    }

    /// Whether the model got less than there was.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
            .unwrap_or_else(|| older::is_cut(&self.output.shown()))
    }
}

/// A file that a model knows as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    /// Its path, from the project folder; `record/` is the flow's shared folder.
    pub path: String,
    /// Its hash.
    pub hash: Hash,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRerun {
    /// The call that is run again, which is safe for it.
    pub call: CallId,
    /// Who calls.
    pub role: RoleInstance,
    /// Why.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallReaped {
    /// The call whose process had survived ours.
    pub call: CallId,
    /// Who called.
    pub role: RoleInstance,
    /// The process that was ended.
    pub process: ProcessName,
}
