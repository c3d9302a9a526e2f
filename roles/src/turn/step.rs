//! What a taker does next, and the reply that it gets.

use std::collections::BTreeMap;
use std::sync::Arc;

use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::node::Trouble;
use a_society_facts::fact::request::RequestFrame;
use a_society_facts::fact::session::Trigger;
use a_society_facts::fact::terms::WaitingServer;
use a_society_facts::fact::turn::{
    CallEnd, CommandExit, DraftKind, Effect, FileChange, RawValueEq, SeenFile, StopReason, Usage,
};
use a_society_facts::message::{Image, ToolCall};
use a_society_facts::{Hash, id::CallId};

use a_society_providers::RequestFault;

use crate::consent::ConsentQuestion;
use crate::handoff::{HandoffFault, RoleOutcome};
use crate::role::compaction::Shares;

/// A request that is going to leave.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The model.
    pub model: String,
    /// The hash of the request as it is sent.
    pub hash: Hash,
    /// What it is made of besides its session, where the journal does not hold that already.
    pub frame: Option<Arc<RequestFrame>>,
    /// The most that it can cost, which a budget must still have.
    pub worst: Worst,
}

/// The next thing a taker does.
#[derive(Debug, Clone)]
pub enum TurnStep {
    /// It is about to ask its model. The taker goes on when this is durable.
    Ask(Asking),
    /// A piece of the answer arrived.
    Draft {
        /// What kind of text.
        kind: DraftKind,
        /// The text.
        text: String,
    },
    /// The provider has sent nothing for a while. It is shown and not recorded: the next word of the
    /// provider makes it untrue.
    Stalled {
        /// For how long; 0 when it speaks again.
        seconds: u64,
    },
    /// The answer was cut off, because the operator has something to say first. What was streamed of
    /// it is kept; the taker goes on with [`StepReply::Steered`].
    Cut,
    /// What was streamed of the present answer does not count.
    Discard {
        /// Why.
        why: String,
    },
    /// The whole answer is there. Text that was streamed is repeated here in full.
    Answer {
        /// Its text.
        text: String,
        /// What is to be done.
        calls: Vec<ToolCall>,
        /// Why the model stopped.
        stop: StopReason,
        /// What it cost.
        usage: Usage,
        /// Blocks that the provider wants back unchanged.
        provider_blocks: Option<Box<RawValueEq>>,
        /// Whether the text is a report of how a program ended and nothing that it printed, if a program is asked.
        report: Option<bool>,
    },
    /// The request failed.
    Failed {
        /// What kind of failure, in one stable word.
        class: String,
        /// What the provider said.
        error: String,
        /// How long until the next try; absent if there is none.
        retry_in_ms: Option<u64>,
    },
    /// A call is going to run. The taker goes on when this is durable.
    Intend(Box<IntendedCall>),
    /// A call that needs no process is intended, let through if it needs consent, and started, all at
    /// once. The taker goes on when this is durable, and only then lets it.
    Begin {
        /// The call.
        intended: Box<IntendedCall>,
        /// What is to be consented to, if it must be.
        ask: Option<Box<ConsentQuestion>>,
    },
    /// The call that was intended must not run without consent. If what is granted covers it, the
    /// taker goes on; else the turn is left until the operator answers, and then taken up again.
    Consent(Box<Consent>),
    /// The call runs from here on. The taker goes on when this is durable, and only then lets it.
    Start {
        /// The call.
        call: CallId,
        /// The process that waits at its gate.
        process: Option<ProcessName>,
    },
    /// What the call came to.
    Finish {
        /// The call.
        call: CallId,
        /// How it ended.
        end: CallEnd,
        /// What the model gets.
        output: String,
        /// The files that the role knows from now on as they are.
        seen: Vec<SeenFile>,
        /// The image that the model gets besides, with its bytes.
        image: Option<Box<Image>>,
        /// How the command ended, if it was one and nothing of ours ended it.
        exit: Option<CommandExit>,
        /// Whether the model gets less than there was.
        is_cut: bool,
        /// Whether the taker goes on at once, because nothing revokes what the call did.
        is_settled: bool,
        /// How the turn ends by this call. If that is not valid, the model gets another result.
        ends: Option<Box<TakerEnd>>,
    },
    /// A call is rejected: its arguments are invalid, or its tool is unknown.
    Refuse {
        /// The id by which the transcript knows it.
        tool_call: String,
        /// The tool, as it was asked for.
        tool: String,
        /// What the model gets.
        output: String,
    },
    /// A server is used from now on, as it is now. The taker goes on when this is durable.
    Trust {
        /// The server.
        server: String,
        /// The hash of its definition.
        definition: Hash,
    },
    /// A server, or a tool, that the role would use is not there.
    Absent {
        /// The server; empty for a tool of ours.
        server: String,
        /// The tool, if only one is missing.
        tool: Option<String>,
        /// Why, in words.
        why: String,
    },
    /// The session is compacted before the next request.
    Compact(CompactStep),
    /// What the role works with is chosen before its turn.
    Choose(Choose),
    /// The next request has to wait, because another role met the limit of their provider, or because its model failed
    /// too often in a row. The time passes after this.
    Held {
        /// The provider.
        provider: String,
        /// For how long.
        ms: u64,
        /// Whether its model failed too often.
        is_failing: bool,
    },
    /// Time passes before the next step.
    Wait {
        /// How much.
        ms: u64,
    },
    /// The turn ends with what its last answer says.
    End(TakerEnd),
}

impl TurnStep {
    /// A call is over whose text is all that the model gets.
    pub(crate) const fn finish_with_text(call: CallId, end: CallEnd, output: String) -> Self {
        Self::Finish {
            call,
            end,
            output,
            seen: Vec::new(),
            image: None,
            exit: None,
            is_cut: false,
            is_settled: false,
            ends: None,
        }
    }
}

/// A call that is going to run.
#[derive(Debug, Clone)]
pub struct IntendedCall {
    /// The id by which the transcript knows it.
    pub tool_call: String,
    /// Its place in the answer, from 0.
    pub ordinal: u32,
    /// The tool.
    pub tool: String,
    /// The arguments, as JSON.
    pub arguments: String,
    /// What it may do.
    pub effect: Effect,
    /// For a checkable call, the file's hash before; absent if the file does not exist.
    pub before: Option<Hash>,
    /// For a checkable call, the file's hash after.
    pub after: Option<Hash>,
    /// For a checkable call of several files, each of them.
    pub files: Vec<FileChange>,
    /// For a checkable call, what it changes in the text of each file.
    pub texts: Vec<PlannedText>,
    /// One line for the operator.
    pub summary: String,
}

impl IntendedCall {
    /// The hash of each file that the call changes.
    #[must_use]
    pub fn files_before(&self) -> Vec<Option<Hash>> {
        files_before(self.before, &self.files)
    }
}

/// The hash of each file that a call changes: that of its only one, or of each of several.
pub(crate) fn files_before(only: Option<Hash>, several: &[FileChange]) -> Vec<Option<Hash>> {
    if several.is_empty() {
        return vec![only];
    }
    several.iter().map(|file| file.before).collect()
}

/// What a call is to change in the text of one of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedText {
    /// The file.
    pub path: String,
    /// How many lines are added.
    pub added: usize,
    /// How many lines are removed.
    pub removed: usize,
    /// What the file holds before, with secrets masked; absent if the file does not exist.
    pub earlier: Option<String>,
    /// The line at which it changes, counted from 1, if that is one place.
    pub line: Option<usize>,
    /// At how many places.
    pub places: usize,
}

/// The most that a request can cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Worst {
    /// Tokens, in and out.
    pub tokens: u64,
    /// Money, in millionths of its unit.
    pub cost_micros: u64,
}

/// What is to be consented to.
#[derive(Debug, Clone)]
pub struct Consent {
    /// The call.
    pub call: CallId,
    /// What is asked.
    pub ask: ConsentQuestion,
    /// The hash of each file that the call changes, as it is now; absent for a file that does not exist.
    pub before: Vec<Option<Hash>>,
}

/// A failed request beside a turn, which is retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedRequest {
    /// The kind of failure.
    pub class: String,
    /// What the provider said.
    pub error: String,
    /// How long until the next try.
    pub retry_in_ms: u64,
}

/// One step of making a session shorter.
#[derive(Debug, Clone)]
pub enum CompactStep {
    /// A model is going to be asked for a summary. The taker goes on when this is durable.
    Ask {
        /// The request.
        asking: Asking,
        /// Who wants it.
        trigger: Trigger,
        /// The parts of the model's window.
        shares: Shares,
    },
    /// The request failed, and is made once more after a while.
    Again(TriedRequest),
    /// The answer was not a summary, and the model is asked once more.
    Wrong {
        /// Why.
        why: String,
        /// What it cost.
        usage: Usage,
    },
    /// The summary is there.
    Summary {
        /// What it says.
        text: String,
        /// What it cost.
        usage: Usage,
        /// The parts of the model's window.
        shares: Shares,
    },
    /// No summary could be made.
    Failed {
        /// Why.
        why: String,
        /// What it cost nevertheless.
        usage: Usage,
        /// Whether the oldest messages are left out in place of it, and within which parts of the
        /// model's window. Otherwise the history stays as it is.
        cuts: Option<Shares>,
    },
}

/// One step of choosing what a role works with.
#[derive(Debug, Clone)]
pub enum Choose {
    /// A model is going to be asked. The taker goes on when this is durable.
    Ask(Asking),
    /// The request failed and is retried after a while.
    Again(TriedRequest),
    /// What it said cannot be used; it is asked again, or [`Choose::Failed`] follows.
    Wrong {
        /// What it said.
        text: String,
        /// What that cost.
        usage: Usage,
    },
    /// It has chosen, and the turn can begin.
    Chosen {
        /// What it said.
        text: String,
        /// What that cost.
        usage: Usage,
        /// What was chosen, by the keys of settings.
        settings: BTreeMap<String, String>,
    },
    /// Nothing was chosen; the operator is asked.
    Failed {
        /// Why, in words.
        why: String,
    },
}

/// How a turn ends, as far as its taker can tell.
#[derive(Debug, Clone)]
pub enum TakerEnd {
    /// A chat was answered by the last text of the model.
    Answered,
    /// With an outcome, which the machine judges. The words before the block are the question, if
    /// the outcome asks the operator.
    Outcome {
        /// The outcome.
        outcome: RoleOutcome,
        /// The text before its block.
        words: String,
        /// What the operator may choose as the answer, if the outcome asks them.
        choices: Vec<String>,
    },
    /// By asking the operator, who plays the role, for its outcome.
    OwnTurn {
        /// What they read.
        words: String,
        /// Why they are asked again, where their answer did not end the turn.
        again: Option<String>,
    },
    /// With an answer that has no valid outcome; the role is asked to mend it.
    Fault(HandoffFault),
    /// The provider stopped for its output limit before there was an outcome.
    OutputLimit,
    /// It failed for good.
    Aborted {
        /// Why, in words.
        why: String,
        /// What kind of failure its request met, in one stable word, if that is why.
        class: Option<String>,
    },
    /// The provider cannot go on without the operator: a key, a model, a limit.
    Provider {
        /// What keeps the role from its model.
        trouble: Trouble,
        /// What is needed, in words.
        why: String,
        /// What kind of failure its request met, in one stable word, if that is why.
        class: Option<String>,
        /// The servers of tools that the operator has to approve.
        servers: Vec<WaitingServer>,
        /// After how long it may be asked again, if it said so.
        again_in_ms: Option<u64>,
    },
    /// The role's model or tools must be chosen first.
    Configuration {
        /// What must be chosen, in words.
        why: String,
    },
}

impl TakerEnd {
    /// A provider cannot go on without the operator, and named no time at which it could.
    #[must_use]
    pub const fn provider(trouble: Trouble, why: String) -> Self {
        Self::Provider {
            trouble,
            why,
            class: None,
            servers: Vec::new(),
            again_in_ms: None,
        }
    }

    /// A turn that failed for good, and not because of a request.
    #[must_use]
    pub(crate) const fn aborted(why: String) -> Self {
        Self::Aborted { why, class: None }
    }

    /// A request failed in a way that only the operator can mend.
    #[must_use]
    pub(crate) fn of_fault(fault: &RequestFault) -> Self {
        Self::Provider {
            trouble: fault.class.trouble(),
            why: fault.message.clone(),
            class: Some(fault.class.word().to_owned()),
            servers: Vec::new(),
            again_in_ms: None,
        }
    }
}

/// The reply to a taker's last step.
#[derive(Debug, Clone)]
pub enum StepReply {
    /// The turn begins; there was no step yet.
    Begin,
    /// It is recorded, as durably as it needs to be. A call that was intended has its id.
    Done {
        /// The call's id, after [`TurnStep::Intend`].
        call: Option<CallId>,
    },
    /// The call has begun, as durably as it needs to.
    Begun {
        /// Its id.
        call: CallId,
        /// Whether what it does may be taken back, so that its end is to be waited for.
        is_watched: bool,
    },
    /// The call that ended did not count after all, and what it did was taken back.
    TakenBack {
        /// What the model gets in the place of what the call said.
        output: String,
    },
    /// The outcome was not valid; the role got this message, and the turn goes on.
    Mend {
        /// The message.
        message: String,
    },
    /// The operator said something to the role. It is part of the session now, and the model is asked
    /// with it: the request that was announced, or the end that was returned, does not count.
    Steered {
        /// What was kept of an answer that was cut off.
        kept: Option<String>,
        /// The operator's words, in order.
        words: Vec<String>,
    },
    /// The session was compacted: a message replaces the conversation so far.
    Compacted {
        /// What it says.
        replacement: String,
        /// How many of the last messages stay after it.
        kept_last: usize,
    },
    /// A wait was to pass, and the operator ended it: the request is tried now, once, even if others
    /// wait for the same provider.
    Hurried,
    /// The budget has room for the request only when those under way are over; it is to be asked
    /// again after a while.
    Busy,
    /// The call that was to be consented to may not run, and this is why.
    Denied {
        /// The call.
        call: CallId,
        /// What the model reads.
        why: String,
    },
    /// The operator stopped the turn. Whatever runs must end; further steps are ignored.
    Stop,
}
