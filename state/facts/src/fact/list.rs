//! The closed list of facts. Nothing happens in a flow that is not one of these.
//!
//! Each row says when the fact is true, which type carries its data, and the word that names
//! it in the journal. A word is never used again for something else; when the shape behind a
//! word changes its meaning, `upcast` learns to read the old one.
//!
//! The cells in brackets are, in this order, with a dash for what is not so:
//!
//! | Column | Says |
//! |---|---|
//! | reach | when it may be recorded: `always`, only for the `birth` of the flow, during its whole `life`, or until it is over (`work`) |
//! | about | what it is about, whose feed shows it: the `flow`, a `role` and its session, a `node` and so on |
//! | session | whether it changes what the session that it is about holds (`session`) |
//! | width | whether it may change more than one place of a flow (`wide`) |
//! | weight | `draft` for streamed text, `step` for what happens within a turn |
//! | blobs | whether it names blobs (`blobs`) |
//! | client | whether it may bear a client's name for its command, which counts once (`client`) |

use serde::Serialize;

use super::columns::{FactReach, FactSubject, FactWeight, SessionFact, Width};
use super::mentions::Mentions as _;
use super::{budget, flow, imported, improvement, journal, node, operator, session, turn};
use crate::hash::Hash;
use crate::id::ClientId;

/// A kind of fact: its word in the journal, and the sentence that says when it is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KindOfFact {
    /// The word.
    pub word: &'static str,
    /// The sentence.
    pub sentence: &'static str,
}

/// Words that version 1 had a shape for and that no release ever wrote. A journal may bear them: their records are
/// kept and shown, and change nothing. Such a word may come back, but only with the meaning that it had.
pub const RETIRED: &[&str] = &[
    "session_state_changed",
    "session_touched",
    "surface_attached",
    "surface_detached",
    "session_patched",
    "session_reset",
    "session_forked",
    "session_trimmed",
    "send_accepted",
    "send_denied",
    "run_finished",
    "grant_revoked",
];

/// The cell of a row, as its value.
macro_rules! cell {
    (reach always) => {
        FactReach::Always
    };
    (reach birth) => {
        FactReach::Birth
    };
    (reach life) => {
        FactReach::Life
    };
    (reach work) => {
        FactReach::Work
    };
    (width wide) => {
        Width::Wide
    };
    (width -) => {
        Width::Narrow
    };
    (weight draft) => {
        FactWeight::Draft
    };
    (weight step) => {
        FactWeight::Step
    };
    (weight -) => {
        FactWeight::Moves
    };
}

/// What a fact is about, by the cell of its row.
macro_rules! about {
    (flow $fact:ident) => {{
        let _ = $fact;
        FactSubject::Flow
    }};
    (born $fact:ident) => {
        FactSubject::Born($fact.graph.start().map(|node| &node.role))
    };
    (role $fact:ident) => {
        FactSubject::Role(&$fact.role)
    };
    (role_or_flow $fact:ident) => {
        $fact
            .role
            .as_ref()
            .map_or(FactSubject::Flow, FactSubject::Role)
    };
    (node $fact:ident) => {
        FactSubject::Node(&$fact.node)
    };
    (staged $fact:ident) => {
        FactSubject::Staged(&$fact.approval)
    };
    (said $fact:ident) => {
        FactSubject::Said(&$fact.reply)
    };
    (scope $fact:ident) => {
        FactSubject::Scope(&$fact.scope)
    };
    (consent $fact:ident) => {
        FactSubject::Consent(&$fact.consent)
    };
    (change $fact:ident) => {
        FactSubject::Change(&$fact.change)
    };
    (report $fact:ident) => {{
        let _ = $fact;
        FactSubject::Report
    }};
}

/// A fact as its session reads it, by the cell of its row.
macro_rules! session {
    (session $variant:ident $fact:ident) => {
        Some(SessionFact::$variant($fact))
    };
    (- $variant:ident $fact:ident) => {{
        let _ = $fact;
        None
    }};
}

/// Calls back for the blobs of a fact, by the cell of its row.
macro_rules! blobs {
    (blobs $fact:ident $each:ident) => {
        $fact.each_blob($each)
    };
    (- $fact:ident $each:ident) => {{
        let _ = $fact;
    }};
}

/// The client's name for the command that a fact follows from, by the cell of its row.
macro_rules! client {
    (client $fact:ident) => {
        $fact.client.as_ref()
    };
    (- $fact:ident) => {{
        let _ = $fact;
        None
    }};
}

macro_rules! facts {
    ($($(#[doc = $sentence:literal])+ $variant:ident($payload:ty) = $word:literal
        [$reach:ident, $about:ident, $session:tt, $width:tt, $weight:tt, $blobs:tt, $client:tt],)+) => {
        /// One thing that happened.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Fact {
            $($(#[doc = $sentence])+ $variant($payload),)+
        }

        /// Every kind of fact, in the order of this file.
        pub const KINDS: &[KindOfFact] = &[
            $(KindOfFact { word: $word, sentence: concat!($($sentence),+) },)+
        ];

        impl Fact {
            /// The word that names this kind of fact in the journal.
            #[must_use]
            pub fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $word,)+
                }
            }

            /// Writes what the fact carries, as a JSON object, after what `out` holds.
            ///
            /// # Errors
            /// When a value cannot be JSON, such as a map whose keys are no texts.
            pub fn write_payload(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
                match self {
                    $(Self::$variant(payload) => serde_json::to_writer(out, payload),)+
                }
            }

            /// Reads what a fact of this kind carries; `None` if no fact bears the word.
            pub fn read(word: &str, payload: &[u8]) -> Option<serde_json::Result<Self>> {
                match word {
                    $($word => Some(serde_json::from_slice(payload).map(Self::$variant)),)+
                    _ => None,
                }
            }

            /// When it may be recorded.
            #[must_use]
            pub(crate) const fn reach(&self) -> FactReach {
                match self {
                    $(Self::$variant(_) => cell!(reach $reach),)+
                }
            }

            /// How much of a flow it may change.
            #[must_use]
            pub const fn width(&self) -> Width {
                match self {
                    $(Self::$variant(_) => cell!(width $width),)+
                }
            }

            /// How far it takes the flow on.
            #[must_use]
            pub const fn weight(&self) -> FactWeight {
                match self {
                    $(Self::$variant(_) => cell!(weight $weight),)+
                }
            }

            /// What it is about.
            #[must_use]
            pub(crate) fn about(&self) -> FactSubject<'_> {
                match self {
                    $(Self::$variant(fact) => about!($about fact),)+
                }
            }

            /// The fact as the session that it is about reads it, if it changes what that holds.
            pub(crate) const fn of_session(&self) -> Option<SessionFact<'_>> {
                match self {
                    $(Self::$variant(fact) => session!($session $variant fact),)+
                }
            }

            /// The client's name for the command that it follows from.
            #[must_use]
            pub(crate) const fn client(&self) -> Option<&ClientId> {
                match self {
                    $(Self::$variant(fact) => client!($client fact),)+
                }
            }

            /// Calls back for every blob that it names, with its hash and size.
            pub fn each_blob(&self, each: &mut dyn FnMut(Hash, u64)) {
                match self {
                    $(Self::$variant(fact) => blobs!($blobs fact each),)+
                }
            }
        }
    };
}

facts! {
    // The journal.
    /// A segment of the journal begins here; it is the first record of every segment.
    SegmentStarted(journal::SegmentStarted) = "segment_started" [always, flow, -, wide, -, -, -],
    /// A process holds the flow's lock and writes from here on.
    WriterOpened(journal::WriterOpened) = "writer_opened" [always, flow, -, wide, -, -, -],
    /// A recovery cut a tail that was never acknowledged.
    RecoveryTruncated(journal::RecoveryTruncated) = "recovery_truncated" [always, flow, -, wide, -, -, -],
    /// A recovery cut a last record of which nothing tells whether it was acknowledged.
    RecoveryLossy(journal::RecoveryLossy) = "recovery_lossy" [always, flow, -, wide, -, -, -],
    /// The operator put the records of a quarantined tail back; they follow.
    QuarantineRestored(journal::QuarantineRestored) = "quarantine_restored" [always, flow, -, wide, -, -, -],
    /// The operator let a damaged journal be repaired, and this is what was done.
    RepairApplied(journal::RepairApplied) = "repair_applied" [always, flow, -, wide, -, -, -],
    /// A blob that a record names is missing or is not the one it is named by.
    BlobLost(journal::BlobLost) = "blob_lost" [always, flow, -, wide, -, -, -],
    /// A blob that was lost is whole again.
    BlobFound(journal::BlobFound) = "blob_found" [always, flow, -, wide, -, -, -],

    // The flow as a whole.
    /// The flow exists, with its project, its title and the graph it walks.
    FlowCreated(flow::FlowCreated) = "flow_created" [birth, born, -, wide, -, blobs, client],
    /// From here on the flow is a fork of another, whose records up to here it shares.
    FlowForked(flow::FlowForked) = "flow_forked" [always, flow, -, wide, -, -, -],
    /// The flow was begun by another program, and this was its state when it was taken over.
    FlowImported(imported::FlowImported) = "flow_imported" [work, flow, -, wide, -, blobs, -],
    /// The flow has another title from now on.
    FlowTitled(flow::FlowTitled) = "flow_titled" [life, flow, -, wide, -, -, -],
    /// How the flow is to end is chosen, which counts more than what was chosen before.
    EndsChosen(flow::EndsChosen) = "ends_chosen" [work, flow, -, wide, -, -, -],
    /// The flow walks a revised graph from now on.
    GraphRevised(flow::GraphRevised) = "graph_revised" [work, flow, -, wide, -, blobs, client],
    /// The flow starts nothing new until it is let go on.
    FlowPaused(flow::FlowPaused) = "flow_paused" [work, flow, -, wide, -, -, client],
    /// The flow goes on after a pause.
    FlowUnpaused(flow::FlowUnpaused) = "flow_unpaused" [work, flow, -, wide, -, -, client],
    /// The flow was ended before it was done.
    FlowCancelled(flow::FlowCancelled) = "flow_cancelled" [work, flow, -, wide, -, -, client],
    /// The forward work is done, and the choice of improvement is open.
    ForwardPassClosed(flow::ForwardPassClosed) = "forward_pass_closed" [work, flow, -, wide, -, -, -],
    /// Everything is done; nothing of this flow runs any more.
    FlowCompleted(flow::FlowCompleted) = "flow_completed" [work, flow, -, wide, -, -, -],
    /// The operator wants a node to run again.
    NodeReopened(flow::NodeReopened) = "node_reopened" [life, node, -, wide, -, blobs, client],
    /// The operator wants a node's failed or stopped turn to start again.
    NodeRetried(flow::NodeRetried) = "node_retried" [work, node, -, wide, -, -, client],

    // Nodes and what travels between them.
    /// A role instance took a node, and what had arrived there was read.
    NodeClaimed(node::NodeClaimed) = "node_claimed" [work, role, -, -, -, -, -],
    /// A node handed its artifacts over, and they wait at their receivers.
    HandoffApplied(node::HandoffApplied) = "handoff_applied" [work, node, -, -, -, blobs, -],
    /// A node's forward handoff waits for the operator's word.
    HandoffStaged(node::HandoffStaged) = "handoff_staged" [work, node, -, -, -, blobs, -],
    /// The operator decided about a staged handoff.
    HandoffDecided(node::HandoffDecided) = "handoff_decided" [work, staged, -, wide, -, -, client],
    /// A node waits for something to arrive.
    HandoffAwaited(node::HandoffAwaited) = "handoff_awaited" [work, node, -, -, -, -, -],
    /// A node, or a role that reflects, waits for the operator, for a reason.
    NodeSuspended(node::NodeSuspended) = "node_suspended" [work, role, session, -, -, blobs, -],
    /// A node, or a role that reflects, no longer waits for the operator.
    NodeWoken(node::NodeWoken) = "node_woken" [work, role, session, -, -, -, client],
    /// The outcome of a turn was not valid, and the role has to correct it.
    RepairRequested(node::RepairRequested) = "repair_requested" [work, role, -, -, -, -, -],

    // Turns, requests and calls.
    /// A try at a turn began.
    TurnStarted(turn::TurnStarted) = "turn_started" [life, role, session, -, -, -, -],
    /// A turn that a crash cut off goes on with another try.
    TurnResumed(turn::TurnResumed) = "turn_resumed" [life, role, session, -, -, -, -],
    /// A try at a turn is over.
    TurnEnded(turn::TurnEnded) = "turn_ended" [life, role, session, -, -, -, -],
    /// A request to a model is about to be sent, and counts as spent.
    ModelRequested(turn::ModelRequested) = "model_requested" [life, role, session, -, step, blobs, -],
    /// A piece of streamed text arrived.
    DraftAdded(turn::DraftAdded) = "draft_added" [life, role, session, -, draft, -, -],
    /// The text streamed before a cut is kept as the message it was becoming.
    DraftKept(turn::DraftKept) = "draft_kept" [life, role, session, -, -, -, -],
    /// The text streamed so far does not count.
    DraftDiscarded(turn::DraftDiscarded) = "draft_discarded" [life, role, session, -, -, -, -],
    /// A model's whole answer arrived.
    ModelAnswered(turn::ModelAnswered) = "model_answered" [life, role, session, -, step, -, -],
    /// A request to a model failed.
    ModelFailed(turn::ModelFailed) = "model_failed" [life, role, -, -, -, -, -],
    /// A request is not sent yet, because another role met the limit of its provider.
    RequestHeld(turn::RequestHeld) = "request_held" [life, role, -, -, step, -, -],
    /// A tool call is going to run; it has not run yet.
    CallIntended(turn::CallIntended) = "call_intended" [life, role, -, -, step, blobs, -],
    /// A tool call runs from here on; without its end, what it did is unknown.
    CallStarted(turn::CallStarted) = "call_started" [life, role, -, -, step, -, -],
    /// What a tool call came to is known.
    CallFinished(turn::CallFinished) = "call_finished" [life, role, session, -, step, blobs, -],
    /// A tool call whose outcome was lost runs again, because that is safe for it.
    CallRerun(turn::CallRerun) = "call_rerun" [life, role, -, -, -, -, -],
    /// A process that had survived ours was ended.
    CallReaped(turn::CallReaped) = "call_reaped" [life, role, -, -, -, -, -],

    // Sessions.
    /// A session exists.
    SessionOpened(session::SessionOpened) = "session_opened" [life, role, session, -, -, -, -],
    /// A session whose turn a crash cut off goes on.
    SessionResumed(session::SessionResumed) = "session_resumed" [life, role, -, -, -, -, -],
    /// A session's system prompt was built.
    SystemPromptBuilt(session::SystemPromptBuilt) = "system_prompt_built" [life, role, session, -, step, blobs, -],
    /// A session got a message.
    MessageAdded(session::MessageAdded) = "message_added" [life, role, session, -, step, blobs, client],
    /// A session of an imported flow held these messages.
    SessionImported(imported::SessionImported) = "session_imported" [work, role, session, wide, -, blobs, -],
    /// A session is being compacted.
    CompactionStarted(session::CompactionStarted) = "compaction_started" [life, role, session, -, -, -, client],
    /// A session's history is archived, and a summary, or its beginnings, replace it.
    SessionCompacted(session::SessionCompacted) = "session_compacted" [life, role, session, -, -, blobs, -],
    /// A compaction failed, and the history is what it was.
    CompactionFailed(session::CompactionFailed) = "compaction_failed" [life, role, session, -, -, -, -],
    /// The operator put a message into a session, behind the turn that is open in it if one is.
    MessageInjected(session::MessageInjected) = "message_injected" [life, role, session, -, -, blobs, client],
    /// The oldest messages of a session are archived, without anything in their place.
    MessagesTrimmed(session::MessagesTrimmed) = "messages_trimmed" [life, role, session, -, -, -, client],
    /// A chat was closed: it takes no messages, and a turn that is open in it is being stopped.
    SessionClosed(session::SessionClosed) = "session_closed" [life, role, session, -, -, -, client],
    /// A session begins anew under its key, and what it held is archived.
    SessionRenewed(session::SessionRenewed) = "session_renewed" [life, role, session, -, -, -, client],
    /// The messages of an archive are back in the session.
    ArchiveRestored(session::ArchiveRestored) = "archive_restored" [life, role, session, -, -, -, client],

    /// The feed of a role of an imported flow held these items.
    FeedImported(imported::FeedImported) = "feed_imported" [life, role, -, wide, -, -, -],

    // The operator.
    /// The operator answered a node, or a role, that waits.
    OperatorReplied(operator::OperatorReplied) = "operator_replied" [work, role, -, wide, -, blobs, client],
    /// A reply that no role could read any more was given back.
    ReplyReturned(operator::ReplyReturned) = "reply_returned" [life, said, -, -, -, -, -],
    /// The operator sent a message to a busy role.
    OperatorSteered(operator::OperatorSteered) = "operator_steered" [work, role, -, -, -, blobs, client],
    /// The operator stopped a turn, a role's turn or all.
    StopRequested(operator::StopRequested) = "stop_requested" [life, scope, -, wide, -, -, client],
    /// A tool call waits for the operator's consent.
    ConsentRequested(operator::ConsentRequested) = "consent_requested" [life, role, -, wide, -, blobs, -],
    /// A request for consent was answered.
    ConsentResolved(operator::ConsentResolved) = "consent_resolved" [life, consent, -, wide, -, blobs, client],
    /// A rule of the operator decided about a tool call, and the operator was not asked.
    ConsentRuled(operator::ConsentRuled) = "consent_ruled" [life, role, -, wide, -, -, -],
    /// The operator set what may run without asking, or what never runs.
    ConsentRulesAdded(operator::ConsentRulesAdded) = "consent_rules_added" [life, flow, -, wide, -, -, client],
    /// The operator removed standing rules.
    ConsentRulesRemoved(operator::ConsentRulesRemoved) = "consent_rules_removed" [life, flow, -, wide, -, -, client],
    /// The flow may do more, or less, without asking.
    ConsentModeChanged(operator::ConsentModeChanged) = "consent_mode_changed" [life, flow, -, wide, -, -, client],
    /// Something need not be asked again.
    GrantAdded(operator::GrantAdded) = "grant_added" [life, flow, -, wide, -, -, -],
    /// A role's model and tools are chosen.
    RoleConfigured(operator::RoleConfigured) = "role_configured" [life, role, -, -, -, -, client],
    /// The operator trusts an MCP server, as it is defined now.
    McpServerApproved(operator::McpServerApproved) = "mcp_server_approved" [life, flow, -, -, -, -, -],
    /// An MCP server that a role would use is not there.
    McpServerUnavailable(operator::McpServerUnavailable) = "mcp_server_unavailable" [life, role, -, -, -, -, -],
    /// An MCP tool that a role would use is not there.
    McpToolUnavailable(operator::McpToolUnavailable) = "mcp_tool_unavailable" [life, role, -, -, -, -, -],

    // After the forward pass.
    /// How roles reflect is chosen, and who waits for whom.
    ImprovementChosen(improvement::ImprovementChosen) = "improvement_chosen" [work, flow, -, wide, -, -, client],
    /// A role began to reflect, or goes on after it waited.
    ReflectionStarted(improvement::ReflectionStarted) = "reflection_started" [work, role, -, wide, -, -, -],
    /// A role's findings are written where they belong.
    FindingsRecorded(improvement::FindingsRecorded) = "findings_recorded" [work, role, -, wide, -, blobs, -],
    /// Whether a feedback report is written is decided.
    FeedbackDecided(improvement::FeedbackDecided) = "feedback_decided" [work, flow, -, wide, -, -, client],
    /// The dedicated role began to write the report, or goes on after it waited.
    FeedbackStarted(improvement::FeedbackStarted) = "feedback_started" [work, role, -, wide, -, -, -],
    /// The report is written where it belongs.
    FeedbackRecorded(improvement::FeedbackRecorded) = "feedback_recorded" [work, report, -, wide, -, blobs, -],
    /// A finding became a proposed change to a file of the project.
    ChangeProposed(improvement::ChangeProposed) = "change_proposed" [life, role, -, wide, -, blobs, client],
    /// The operator applied or declined a proposed change.
    ChangeDecided(improvement::ChangeDecided) = "change_decided" [life, change, -, wide, -, -, client],

    // Budgets.
    /// What may be spent changed.
    BudgetSet(budget::BudgetSet) = "budget_set" [life, role_or_flow, -, wide, -, -, client],
    /// A budget is used up.
    BudgetReached(budget::BudgetReached) = "budget_reached" [life, role_or_flow, -, wide, -, -, -],
}
