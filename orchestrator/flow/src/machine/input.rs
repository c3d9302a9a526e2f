//! The inputs of a flow: from its driver, from a turn, from the operator.
//!
//! Ids, texts and artifacts come in as data, named and hashed by the caller. An input of the operator
//! that bears a client's id counts once; repeated, it leads to no facts.

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::fact::budget::{Lack, Measure};
use a_society_facts::fact::flow::{Author, PauseReason};
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{FaultCode, Trouble};
use a_society_facts::fact::operator::{
    ChosenBy, ConsentAnswer, ConsentMode, ConsentRules, DecidingRule, Grant, SteerWhen, StopScope,
};
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::handoff::Artifact;
use a_society_facts::hash::Hash;
use a_society_facts::id::{
    ApprovalId, CallId, ClientId, ConsentId, MessageId, NodeId, ProjectName, RoleInstance,
    SessionId, SessionKey, TurnId,
};
use a_society_facts::message::Text;

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
    /// A turn came to an outcome.
    Outcome(TurnOutcome),
    /// A call of a turn needs the operator's consent.
    ConsentAsked(ConsentAsked),

    /// The operator answers a node or a role that waits.
    Reply(Reply),
    /// The operator says something to a role at work.
    Steer(Steer),
    /// The operator lets a staged handoff through, exactly as it was emitted.
    Approve {
        /// Which.
        approval: ApprovalId,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator discards a staged handoff; its node waits for guidance.
    Decline {
        /// Which.
        approval: ApprovalId,
        /// The guidance, if it is given at once: the node then does not wait for it.
        guidance: Option<Guidance>,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator answers a request for consent.
    ConsentAnswered(ConsentAnswered),
    /// The operator says how much the flow may do without asking.
    ConsentMode {
        /// How much.
        mode: ConsentMode,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator says beforehand what may run, or what never does.
    ConsentRules {
        /// The rules, besides those before.
        rules: ConsentRules,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator takes rules back.
    ConsentRulesBack {
        /// The rules that no longer count.
        rules: ConsentRules,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator stops turns.
    Stop {
        /// Which.
        scope: StopScope,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// Nothing new is to be started.
    Pause {
        /// Why.
        reason: PauseReason,
        /// More of it, in words.
        detail: Option<String>,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The flow goes on after a pause.
    Unpause {
        /// Who says so.
        by: Author,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The flow ends before it is done.
    Cancel {
        /// Who says so.
        by: Author,
        /// Why, in words.
        why: Option<String>,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// A turn that was stopped, or failed, is taken again.
    Retry {
        /// Whose.
        target: ReplyTarget,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// A node that is done runs again.
    Reopen {
        /// The node.
        node: NodeId,
        /// What the operator says about it.
        note: Option<Text>,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The flow walks another graph from now on.
    Revise(Revise),
    /// A role's model and tools are chosen.
    ConfigureRole {
        /// The role instance.
        role: RoleInstance,
        /// Its settings.
        settings: BTreeMap<String, String>,
        /// Who chose.
        by: ChosenBy,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator sets, raises or lifts a budget.
    SetBudget {
        /// Whose; the whole flow's if absent.
        role: Option<RoleInstance>,
        /// Of what.
        measure: Measure,
        /// The limit; none if absent.
        limit: Option<u64>,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator says how roles reflect.
    ChooseImprovement {
        /// How.
        mode: ImprovementMode,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator makes a finding a proposed change.
    ProposeChange(ProposeChange),
    /// The operator decides about a proposal; one that is applied is in its file already.
    DecideChange {
        /// Its name.
        change: String,
        /// Whether it is applied.
        applied: bool,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
    /// The operator says whether a report is written.
    FeedbackConsent {
        /// Whether.
        granted: bool,
        /// The client's name for the command.
        client: Option<ClientId>,
    },
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
    pub outcome: Outcome,
    /// The question to the operator that a staged handoff becomes, if this one must be staged.
    pub approval: Option<ApprovalId>,
}

/// The outcomes of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Work goes to these neighbours, all at once.
    Handoff(Vec<Target>),
    /// The role asks the operator.
    PromptHuman {
        /// What it asks.
        question: Option<Text>,
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
    },
    /// The turn was stopped.
    Stopped,
    /// The provider needs the operator: a key, a model, or a limit to reset.
    ProviderProblem {
        /// What keeps the role from its model.
        trouble: Trouble,
        /// What it needs, in words.
        why: String,
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
pub struct Target {
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
}

/// What a role should do instead of what the operator declined.
#[derive(Debug, Clone)]
pub struct Guidance {
    /// What the operator says.
    pub text: Text,
    /// The message that it becomes.
    pub message: MessageId,
}

/// The operator's answer to a request for consent.
#[derive(Debug, Clone)]
pub struct ConsentAnswered {
    /// The request.
    pub consent: ConsentId,
    /// The answer.
    pub answer: ConsentAnswer,
    /// The hash of what the operator saw.
    pub action: Hash,
    /// What is allowed from now on, when the answer is for the rest of the flow.
    pub grant: Option<Grant>,
    /// Other open requests that this grant covers.
    pub also: Vec<ConsentId>,
    /// What the role should do instead, when it is denied.
    pub reason: Option<Text>,
    /// The client's name for the command.
    pub client: Option<ClientId>,
    /// The rule that answers, if the operator did not.
    pub by: Option<DecidingRule>,
}

/// Whom an answer of the operator is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyTarget {
    /// A node.
    Node(NodeId),
    /// A role instance.
    Role(RoleInstance),
    /// The only one that waits.
    Only,
}

/// The operator's answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Whom it is for.
    pub target: ReplyTarget,
    /// What it says.
    pub text: Text,
    /// Since when what it answers was asked, if it is an answer to nothing else.
    pub asked: Option<At>,
    /// The message it becomes.
    pub message: MessageId,
    /// The client's name for the command.
    pub client: Option<ClientId>,
}

/// The operator's word to a role at work.
#[derive(Debug, Clone)]
pub struct Steer {
    /// The role instance.
    pub role: RoleInstance,
    /// What it says.
    pub text: Text,
    /// The message it becomes.
    pub message: MessageId,
    /// When the role gets it.
    pub when: SteerWhen,
    /// The client's name for the command.
    pub client: Option<ClientId>,
}

/// A change that a finding leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposeChange {
    /// Its name.
    pub change: String,
    /// Whose finding.
    pub role: RoleInstance,
    /// The file, relative to the project.
    pub path: String,
    /// The file's hash as it is; nothing if there is no such file.
    pub before: Option<Hash>,
    /// The file as it would be.
    pub after: Text,
    /// The client's name for the command.
    pub client: Option<ClientId>,
}

/// Another graph for a running flow.
#[derive(Debug, Clone)]
pub struct Revise {
    /// The graph from now on.
    pub graph: Box<FlowGraph>,
    /// Its file, byte for byte.
    pub source: Text,
    /// Who wrote it.
    pub by: Author,
    /// The client's name for the command.
    pub client: Option<ClientId>,
}
