//! The inputs of a flow: from its driver, from a turn, from the operator.
//!
//! Ids, texts and artifacts come in as data, named and hashed by the driver. A verb of the operator
//! comes unchanged; where the machine needs more, it returns a [`VerbNeed`], and the driver brings it
//! ([`Brought`]).

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::Hash;
use a_society_facts::fact::budget::Lack;
use a_society_facts::fact::chat::ChatTerms;
use a_society_facts::fact::flow::{Ends, PauseReason};
use a_society_facts::fact::node::{FaultCode, Trouble};
use a_society_facts::fact::operator::{ChosenBy, ConsentAnswer, DecidingRule, Grant};
use a_society_facts::fact::session::{CompactionWish, Speaker};
use a_society_facts::fact::terms::{ConsentTerms, WaitingServer};
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{
    ApprovalId, CallId, ClientId, ConsentId, MessageId, NodeId, ProjectName, RoleInstance,
    SessionId, SessionKey, TurnId,
};
use a_society_facts::message::Text;
use a_society_facts::{Verb, Whom};

use crate::graph::FlowGraph;

/// An input of a flow.
#[derive(Debug, Clone)]
pub enum Input {
    /// The flow begins.
    Create(Create),
    /// A process took the flow over. It finishes what a crash cut in half; it may only have come
    /// for one command.
    Opened,
    /// A process drives the flow on. Every open turn gets another try.
    Driven,

    /// It is this time now, and what waited until then goes on.
    TimeCame(At),
    /// The driver takes a node that [`crate::machine::pending`] offers.
    Claim(Claim),
    /// The driver lets a role reflect that `pending` offers.
    StartReflection(StartReflection),
    /// The driver lets the report be written that `pending` offers.
    StartFeedback(StartFeedback),
    /// The driver applies the ends that `pending` offers.
    ApplyEnds,
    /// How the flow is to end is chosen beforehand; what is left open stays as it was.
    ChooseEnds(Ends),
    /// A turn came to an outcome.
    Outcome(TurnOutcome),
    /// A call of a turn needs the operator's consent.
    ConsentAsked(ConsentAsked),

    /// The operator wants something.
    Commanded(Commanded),
    /// A rule answers a request for consent that is open.
    RuleAnswered(RuleAnswered),
    /// The driver lets nothing new start, because the operator has to look first.
    Pause {
        /// Why.
        reason: PauseReason,
        /// More of it, in words.
        detail: Option<String>,
    },
    /// A role's model and tools are chosen without the operator.
    ConfigureRole {
        /// The role instance.
        role: RoleInstance,
        /// Its settings; what is not named stays as it is.
        settings: BTreeMap<String, String>,
        /// Who chose.
        by: ChosenBy,
    },
    /// A role wrote another graph, which the flow walks from now on.
    Revise(Revise),
}

impl Input {
    /// The name that a client gave it.
    #[must_use]
    pub(super) fn client(&self) -> Option<&ClientId> {
        let named = if let Self::Commanded(commanded) = self {
            &commanded.client
        } else if let Self::Create(create) = self {
            &create.client
        } else {
            return None;
        };
        named.as_ref()
    }

    /// The graph that is walked from now on, if it counts.
    #[must_use]
    pub fn graph(&self) -> Option<&FlowGraph> {
        if let Self::Revise(revise) = self {
            return Some(&revise.graph.graph);
        }
        let Self::Commanded(Commanded {
            brought: Brought::Graph(new),
            ..
        }) = self
        else {
            return None;
        };
        Some(&new.graph)
    }
}

/// What the operator wants, and what the driver brings for it.
#[derive(Debug, Clone)]
pub struct Commanded {
    /// The client's name for it; what bears a name that counted already leads to no facts.
    pub client: Option<ClientId>,
    /// What is wanted.
    pub verb: Verb,
    /// What it needs of the world. A verb is first said without.
    pub brought: Brought,
}

/// What a verb needs that only the driver can make, read or do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerbNeed {
    /// Words that are kept, and a name for the message that they become.
    Words(String),
    /// What an answer for the rest of the flow grants.
    Grant(ConsentId),
    /// The graph of a flow file.
    Graph(String),
    /// A change of a file of the project.
    Proposal {
        /// The file, as it was named.
        path: String,
        /// The file as it would be.
        text: String,
    },
    /// The file that is as a proposal wants it.
    Written(String),
    /// A request that waits for its provider, which only the driver can send now.
    Hurry(Whom),
    /// A shorter session of a role, for which a turn beside the flow makes what replaces its history.
    Compact(RoleInstance, Option<CompactionWish>),
    /// A change of a role's session, with the names and the words that it takes.
    Session(RoleInstance, SessionWish),
}

/// How the operator wants a session changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionWish {
    /// A closed chat takes messages again.
    Open,
    /// A message is put into it.
    Inject {
        /// Whose the message is.
        speaker: Speaker,
        /// The message.
        text: String,
    },
    /// The oldest messages are left out.
    Trim {
        /// How many of the last messages stay at least.
        keep: u64,
    },
    /// It begins anew.
    Reset,
    /// An archived history comes back in the place of its summary.
    Restore {
        /// The archive.
        archive: String,
    },
}

/// What the driver brings for a verb, as [`VerbNeed`] asks for it.
#[derive(Debug, Clone, Default)]
pub enum Brought {
    /// Nothing.
    #[default]
    Nothing,
    /// Words.
    Words(OperatorWords),
    /// What is allowed from now on, if anything can be, and other open requests that it covers.
    Grant(Option<Grant>, Vec<ConsentId>),
    /// Another graph.
    Graph(NewGraph),
    /// A change.
    Proposal(ChangeProposal),
    /// The file is as the proposal wants it.
    Written,
}

/// Words of the operator.
#[derive(Debug, Clone)]
pub struct OperatorWords {
    /// What they say.
    pub text: Text,
    /// The message they become, if they become one.
    pub message: MessageId,
}

/// Another graph for a running flow.
#[derive(Debug, Clone)]
pub struct NewGraph {
    /// The graph from now on.
    pub graph: Box<FlowGraph>,
    /// Its file, byte for byte.
    pub source: Text,
}

/// A change of a file that a finding leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeProposal {
    /// Its name.
    pub change: String,
    /// The file, relative to the project.
    pub path: String,
    /// The file's hash as it is; nothing if there is no such file.
    pub before: Option<Hash>,
    /// The file as it would be.
    pub after: Text,
}

/// What a flow begins with, besides its graph.
#[derive(Debug, Clone)]
pub struct Create {
    /// The project it works on.
    pub project: ProjectName,
    /// How people call it.
    pub title: String,
    /// What it is asked to do.
    pub input: Option<Text>,
    /// The file the graph was read from, byte for byte.
    pub source: Text,
    /// Where that file is, as the operator named it.
    pub origin: Option<String>,
    /// Whether the graph is a draft that its owner still has to write.
    pub draft: bool,
    /// How it is to end, as far as that is chosen.
    pub ends: Ends,
    /// That it is a chat, and which.
    pub chat: Option<Box<ChatTerms>>,
    /// The client's name for the command.
    pub client: Option<ClientId>,
}

/// The names of a session that has to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its address.
    pub key: SessionKey,
    /// Its incarnation.
    pub session: SessionId,
}

/// The driver takes a node.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The node.
    pub node: NodeId,
    /// The names of its role's session, used if the role has none.
    pub session: Option<NewSession>,
}

/// The driver lets a role reflect.
#[derive(Debug, Clone)]
pub struct StartReflection {
    /// The role instance.
    pub role: RoleInstance,
    /// The names of its session, used if it has none.
    pub session: Option<NewSession>,
}

/// The driver lets the report be written.
#[derive(Debug, Clone)]
pub struct StartFeedback {
    /// The dedicated role, which the graph does not contain.
    pub role: RoleInstance,
    /// The names of its session, used if it has none.
    pub session: Option<NewSession>,
}

/// The outcome of a turn, with the try that reports it; that of an earlier try is ignored.
#[derive(Debug, Clone)]
pub struct TurnOutcome {
    /// The turn.
    pub turn: TurnId,
    /// Which try.
    pub attempt: u32,
    /// What it came to.
    pub outcome: TurnEnding,
    /// The question to the operator that a staged handoff becomes, if this one must be staged.
    pub approval: Option<ApprovalId>,
}

#[cfg(test)]
impl TurnEnding {
    /// A role asks, without words.
    pub(crate) const fn asks() -> Self {
        Self::PromptHuman {
            question: None,
            choices: Vec::new(),
        }
    }
}

/// The outcomes of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEnding {
    /// What a chat said is its answer.
    Answered,
    /// Work goes to these neighbours, all at once.
    Handoff(Vec<Receiver>),
    /// The role asks the operator.
    PromptHuman {
        /// What it asks.
        question: Option<Text>,
        /// What may be chosen as the answer.
        choices: Vec<String>,
    },
    /// The operator plays the role, and the turn is theirs.
    OwnTurn {
        /// What they read.
        question: Option<Text>,
        /// Why they are asked again, where their answer did not end the turn.
        again: Option<Text>,
    },
    /// The node waits for something to arrive.
    AwaitHandoff,
    /// The forward work is done.
    ForwardPassClosed {
        /// The result of the project's health checks: nothing, or one short sentence.
        health: Result<(), String>,
        /// The question to the operator before it closes, if anything.
        asks: Option<Text>,
    },
    /// A reflection is done.
    MetaAnalysisComplete {
        /// The findings.
        findings: Product,
    },
    /// The report is done.
    BackwardPassComplete {
        /// The report.
        report: Product,
    },
    /// The end of the turn is not an outcome.
    Fault {
        /// What is wrong with it.
        code: FaultCode,
        /// A short sentence for the operator.
        summary: String,
    },
    /// The provider stopped for its output limit before there was an outcome.
    OutputLimit,
    /// The turn failed for good.
    Aborted {
        /// Why, in words.
        why: String,
        /// What kind of failure its request met, in one stable word, if that is why.
        class: Option<String>,
    },
    /// The turn was stopped.
    Stopped,
    /// The provider needs the operator: a key, a model, or a limit to reset.
    ProviderProblem {
        /// What keeps the role from its model.
        trouble: Trouble,
        /// What it needs, in words.
        why: String,
        /// What kind of failure its request met, in one stable word, if that is why.
        class: Option<String>,
        /// The servers of tools that the operator has to approve.
        servers: Vec<WaitingServer>,
        /// When it may go on by itself, if its provider named a time.
        until: Option<At>,
    },
    /// The role's model or tools must be chosen before it can work.
    NeedsConfiguration {
        /// What must be chosen, in words.
        why: String,
    },
    /// The operator denied a call its consent, and the call has its result.
    ConsentDenied,
    /// A budget is used up.
    BudgetReached {
        /// Which, and what it lacks.
        lack: Lack,
    },
}

/// One receiver of a handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Receiver {
    /// The neighbour, as the role wrote it.
    pub node: String,
    /// What it receives.
    pub artifact: Product,
}

/// A file that a role hands over.
#[derive(Debug, Clone, PartialEq)]
pub enum Product {
    /// It was there, and its bytes are kept.
    Kept(Artifact),
    /// It cannot be handed over.
    Unavailable {
        /// The path, as the role wrote it.
        path: String,
        /// Why, in words.
        why: String,
    },
}

/// A call waits for the operator's consent.
#[derive(Debug, Clone)]
pub struct ConsentAsked {
    /// The turn.
    pub turn: TurnId,
    /// Which try at it.
    pub attempt: u32,
    /// The request.
    pub consent: ConsentId,
    /// The call.
    pub call: CallId,
    /// The hash of exactly what would run.
    pub action: Hash,
    /// What would run, for the operator to read.
    pub shown: Text,
    /// What the operator decides about.
    pub terms: ConsentTerms,
    /// Whether it is asked whatever the mode of the flow is, so that no mode answers it.
    pub narrowed: bool,
    /// The rule that may deny it, if only a shell could decide that.
    pub doubt: Option<DecidingRule>,
    /// Whether the operator had allowed the same call, before the folder or the walls around it changed.
    pub anew: bool,
}

/// What a rule says about an open request for consent.
#[derive(Debug, Clone)]
pub struct RuleAnswered {
    /// The request.
    pub consent: ConsentId,
    /// The answer.
    pub answer: ConsentAnswer,
    /// The hash of what was judged.
    pub action: Hash,
    /// The reason for the role, when it is denied.
    pub reason: Option<Text>,
    /// The rule.
    pub by: DecidingRule,
}

/// A graph that a role wrote for its flow.
#[derive(Debug, Clone)]
pub struct Revise {
    /// The graph.
    pub graph: NewGraph,
    /// Who wrote it.
    pub by: RoleInstance,
}
