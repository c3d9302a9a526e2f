//! What happens in a flow, as an operator would tell it.

use std::fmt;

use a_society_facts::At;
use a_society_facts::fact::node::{NodeEntry, WaitReason};
use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::fact::turn::{CallEnd, CommandExit, DraftKind, Usage};
use a_society_facts::handoff::Delivery;
use a_society_facts::id::{CallId, NodeId, RoleInstance, Seq, TurnId};
use a_society_facts::view::flow::{Decider, HeldRequest};
use a_society_operator_ui::fold::asks::OpenAsk;
use serde_json::Value;

use super::note::Level;

/// One event, and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) seq: Seq,
    pub(crate) at: At,
    pub(crate) node: Option<NodeId>,
    pub(crate) role: Option<RoleInstance>,
    pub(crate) turn: Option<TurnId>,
    pub(crate) what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// A node is at work.
    Works {
        entry: NodeEntry,
        /// How its work was sent back, if a node did that.
        back: Option<SentBack>,
    },
    /// What a node that has its turn does now, apart from its work.
    Stands(Pause),
    /// A node waits, perhaps until a moment at which it goes on by itself.
    Waits {
        what: String,
        reason: WaitReason,
        /// What the operator is asked, if they are.
        asks: Option<Box<OpenAsk>>,
        until: Option<At>,
        question: Option<String>,
        /// Whether the operator plays the role.
        is_own_turn: bool,
        /// Why the operator is asked again in it.
        again: Option<String>,
        /// Whether the role said the question itself a moment ago.
        is_said: bool,
    },
    /// A node is done with its turn.
    Done {
        took_ms: u64,
        usage: Usage,
        deliveries: Vec<Delivery>,
    },
    /// A role says something, of which this is what follows.
    Says {
        answer: AnswerName,
        offset: usize,
        text: String,
        kind: DraftKind,
    },
    /// The whole text, how much of it streamed, and how it ended.
    Said {
        answer: AnswerName,
        streamed: usize,
        text: String,
        end: Speech,
    },
    /// A role calls a tool.
    Calls { call: CallId, one: Call },
    /// The call is over.
    Called {
        call: CallId,
        one: Call,
        end: CallEnd,
        exit: Option<CommandExit>,
        output: Output,
        took_ms: u64,
    },
    /// A request failed, and is perhaps sent again.
    Fails {
        class: String,
        why: String,
        again: Option<Again>,
        number: u32,
        provider: Option<String>,
    },
    /// A request was paid for.
    Spends {
        model: String,
        usage: Usage,
        total_micros: u64,
    },
    /// A session is shorter now.
    Compacted {
        tokens_before: u64,
        tokens_after: Option<u64>,
        /// So many messages are in the archive now.
        archived: u64,
        cost_micros: u64,
    },
    /// The operator is asked about a call.
    Asks(Box<OpenAsk>),
    /// The operator is asked whether what a turn made may be handed over.
    Stages(Box<OpenAsk>),
    /// The operator decided whether they may.
    Decided {
        approval: String,
        approved: bool,
        /// What would be handed over, and to whom.
        what: String,
    },
    /// A request for consent was answered.
    Answered {
        consent: String,
        answer: ConsentAnswer,
        /// Who decided; absent if the request was withdrawn.
        by: Option<Decider>,
        /// What it was about, in a line.
        about: String,
        /// What the role should do instead.
        reason: Option<String>,
    },
    /// A text was answered.
    Replied { text: String },
    /// Something else that is worth a line, by the word of its fact.
    Note {
        level: Level,
        code: &'static str,
        text: String,
        says: Value,
    },
}

/// Work that a node sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentBack {
    pub(crate) from: NodeId,
    /// The file with the reason, and what it says if it is short.
    pub(crate) path: String,
    pub(crate) why: Option<String>,
}

/// What keeps a turn from its work, or that it works again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its request is sent again then.
    Retrying(At),
    /// Its request waits for its provider.
    Held(HeldRequest),
    /// Its session is being compacted.
    Compacting,
    /// The operator stops it.
    Stopped,
    /// It works again.
    Over,
}

/// Which answer of a model a text belongs to: the turn, and the request in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnswerName(pub(crate) TurnId, pub(crate) u32);

impl fmt::Display for AnswerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.0, self.1)
    }
}

/// A request that is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Again {
    pub(crate) in_ms: u64,
    /// The number of this repetition, and of how many at most.
    pub(crate) attempt: u32,
    pub(crate) of: u32,
}

/// A call that a role makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) tool: String,
    /// What it does, in a line.
    pub(crate) summary: String,
    /// What it is about, as far as its arguments say it.
    pub(crate) target: Target,
    pub(super) since: At,
}

/// What a call is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) path: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) cwd: Option<String>,
}

impl Target {
    /// What the arguments of a call name, whichever of the known names of a member the model used.
    pub(super) fn of(input: &str) -> Self {
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let named = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| input.get(name)?.as_str());
            found.next().map(str::to_owned)
        };
        Self {
            path: named(&["path", "file_path", "dir_path", "url"]),
            command: named(&["command", "cmd"]),
            cwd: named(&["folder"]),
        }
    }
}

/// How much a call gave back, and how that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) lines: usize,
    pub(crate) bytes: u64,
    /// Whether the model got less than there was.
    pub(crate) is_cut: bool,
    /// Its first lines.
    pub(crate) head: Vec<String>,
}

/// So many lines of what a call gave back are held.
pub(crate) const OUTPUT_LINES_MAX: usize = 20;

/// How a role's text ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Speech {
    /// It is complete.
    Whole,
    /// It is the report of how a program ended, which the line of its call or the question says.
    Report,
    /// It was cut off, and counts as far as it goes.
    CutOff,
    /// It does not count.
    Discarded { why: String },
}

/// What an event is about: its turn, its node and its role, as far as the fact says it.
pub(super) type About = (Option<TurnId>, Option<NodeId>, Option<RoleInstance>, What);
