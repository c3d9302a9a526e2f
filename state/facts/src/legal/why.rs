//! Why a fact may not follow: every reason names what it is about.

use crate::fact::node::WaitReason;
use crate::handoff::EdgeName;
use crate::id::{
    ApprovalId, CallId, ClientId, ConsentId, MessageId, NodeId, RoleInstance, Seq, TurnId,
};
use crate::view::flow::CallState;

/// Why a fact may not follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// Something came before the flow.
    #[error("the flow is not created yet")]
    NotCreated,
    /// A flow is created once.
    #[error("the flow is created already")]
    AlreadyCreated,
    /// The flow is completed or cancelled.
    #[error("the flow is {status}; reopen a node to go on")]
    Over {
        /// Its state.
        status: &'static str,
    },
    /// It belongs to another phase.
    #[error("the flow is {status}, and this does not belong there")]
    WrongPhase {
        /// Its state.
        status: &'static str,
    },
    /// Nothing new starts in a pause.
    #[error("the flow pauses")]
    Paused,
    /// It does not pause.
    #[error("the flow does not pause")]
    NotPaused,
    /// A command of a client counts once.
    #[error("the client's command {client} counted already, in record {seq}")]
    Repeated {
        /// The command.
        client: ClientId,
        /// The record.
        seq: Seq,
    },
    /// Too many open things.
    #[error("too many {what} are open")]
    TooMany {
        /// Of what.
        what: &'static str,
    },
    /// A graph that would leave the past without a place.
    #[error("the revised graph does not fit what happened: {why}")]
    Graph {
        /// What would break.
        why: String,
    },
    /// Closing must wait.
    #[error("the forward pass cannot close: {why}")]
    NotClosable {
        /// For what.
        why: String,
    },

    /// The graph has no such node.
    #[error("the graph has no node {node}")]
    UnknownNode {
        /// The node.
        node: NodeId,
    },
    /// A node belongs to another role instance.
    #[error("node {node} belongs to {owner}, not to {role}")]
    WrongRole {
        /// The node.
        node: NodeId,
        /// Whose it is.
        owner: RoleInstance,
        /// Who was named.
        role: RoleInstance,
    },
    /// A node runs.
    #[error("node {node} runs already")]
    NodeRuns {
        /// The node.
        node: NodeId,
    },
    /// A node does not run, or not in that turn.
    #[error("node {node} does not run in {turn}")]
    NodeNotRunning {
        /// The node.
        node: NodeId,
        /// The turn.
        turn: TurnId,
    },
    /// A node neither runs nor waits.
    #[error("node {node} neither runs nor waits")]
    NodeIdle {
        /// The node.
        node: NodeId,
    },
    /// A node waits for something that this does not give.
    #[error("node {node} waits with {reason:?}, and this does not end it")]
    NodeWaits {
        /// The node.
        node: NodeId,
        /// For what.
        reason: WaitReason,
    },
    /// Nothing waits for the operator there.
    #[error("{role} does not wait for that")]
    NotWaiting {
        /// Who was named.
        role: RoleInstance,
    },
    /// A node is entered for another reason than it says.
    #[error("node {node} cannot be entered so: {why}")]
    Entry {
        /// The node.
        node: NodeId,
        /// What is wrong.
        why: &'static str,
    },
    /// One role instance takes one turn at a time.
    #[error("{role} is busy")]
    RoleBusy {
        /// Who.
        role: RoleInstance,
    },
    /// Nothing to read there.
    #[error("nothing arrived along {edge} that could be read or dropped")]
    NotReceived {
        /// The edge.
        edge: EdgeName,
    },
    /// A message of the operator is not there to be read.
    #[error("the operator's message {reply} is not there to be read")]
    UnknownReply {
        /// The message.
        reply: MessageId,
    },

    /// The graph has no such edge.
    #[error("the graph has no edge {edge}")]
    UnknownEdge {
        /// The edge.
        edge: EdgeName,
    },
    /// A handoff goes along an edge of its node.
    #[error("{edge} does not lead there from {node}")]
    NotNeighbour {
        /// The node.
        node: NodeId,
        /// The edge.
        edge: EdgeName,
    },
    /// Work goes back only along an edge whose work is done.
    #[error("{edge} is not completed, so nothing can go back along it")]
    NotCompleted {
        /// The edge.
        edge: EdgeName,
    },
    /// An artifact is passed once.
    #[error("{path} was passed along {edge} before")]
    PassedBefore {
        /// The edge.
        edge: EdgeName,
        /// The artifact.
        path: String,
    },
    /// A handoff names a receiver twice.
    #[error("{node} is named twice")]
    TargetTwice {
        /// The receiver.
        node: NodeId,
    },
    /// A handoff hands nothing on, and must.
    #[error("node {node} has somewhere to hand its work to")]
    NoTarget {
        /// The node.
        node: NodeId,
    },
    /// The operator has a word in it first.
    #[error("a forward handoff of {node} waits for the operator's word")]
    NeedsApproval {
        /// The node.
        node: NodeId,
    },
    /// There is no such staged handoff, or it does not fit.
    #[error("the staged handoff {approval} does not fit: {why}")]
    Approval {
        /// The question.
        approval: ApprovalId,
        /// What is wrong.
        why: &'static str,
    },

    /// Turns are numbered without gaps.
    #[error("{turn} is not the next one, which is turn {next}")]
    TurnNumber {
        /// The number it has.
        turn: TurnId,
        /// The number it should have.
        next: u64,
    },
    /// A turn that is not open, or was begun before.
    #[error("{turn} is not open for this: {why}")]
    Turn {
        /// The turn.
        turn: TurnId,
        /// What is wrong.
        why: &'static str,
    },
    /// An answer of an earlier try comes too late.
    #[error("{turn} is at try {present}, not at try {attempt}")]
    Late {
        /// The turn.
        turn: TurnId,
        /// The try it comes from.
        attempt: u32,
        /// The try that counts.
        present: u32,
    },
    /// A request that is not the present one, or not at this point.
    #[error("request {request} of {turn} is not open for this: {why}")]
    Request {
        /// The turn.
        turn: TurnId,
        /// The request.
        request: u32,
        /// What is wrong.
        why: &'static str,
    },
    /// A call that is not open, or not at this point.
    #[error("call {call} is not open for this: {why}")]
    Call {
        /// The call.
        call: CallId,
        /// What is wrong.
        why: &'static str,
    },
    /// A call that is at another point.
    #[error("call {call} is {state:?}")]
    CallState {
        /// The call.
        call: CallId,
        /// How far it came.
        state: CallState,
    },
    /// A request for consent that is not open, or is bound to something else.
    #[error("the request for consent {consent} does not fit: {why}")]
    Consent {
        /// The request.
        consent: ConsentId,
        /// What is wrong.
        why: &'static str,
    },

    /// A session that is not there, or not at this point.
    #[error("the session of {role} is not open for this: {why}")]
    Session {
        /// Whose it is.
        role: RoleInstance,
        /// What is wrong.
        why: &'static str,
    },
    /// A message that was added already, or that does not belong there.
    #[error("the message {message} cannot be added: {why}")]
    Message {
        /// The message.
        message: MessageId,
        /// What is wrong.
        why: &'static str,
    },
    /// A role that has no part in the improvement, or not now.
    #[error("{role} cannot do that in the improvement phase: {why}")]
    Improvement {
        /// Who.
        role: RoleInstance,
        /// What is wrong.
        why: &'static str,
    },
    /// A proposal that is not open, or is there already.
    #[error("the proposed change {change} is not open for this")]
    Change {
        /// The proposal.
        change: String,
    },
    /// A budget that is not used up.
    #[error("that budget is not used up")]
    Budget,
    /// Something that is already so, or is not so to begin with.
    #[error("{what} changes nothing")]
    Nothing {
        /// What.
        what: &'static str,
    },
}
