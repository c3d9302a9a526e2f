//! The closed list of facts. Nothing happens in a flow that is not one of these.
//!
//! Each line says when the fact is true, which type carries its data, and the word that names
//! it in the journal. A word is never used again for something else; when the shape behind a
//! word changes its meaning, `upcast` learns to read the old one.

use serde::Serialize;

use super::{budget, flow, imported, improvement, journal, node, operator, session, turn};

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

macro_rules! facts {
    ($($(#[doc = $sentence:literal])+ $variant:ident($payload:ty) = $word:literal,)+) => {
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
        }
    };
}

facts! {
    // The journal.
    /// A segment of the journal begins here; it is the first record of every segment.
    SegmentStarted(journal::SegmentStarted) = "segment_started",
    /// A process holds the flow's lock and writes from here on.
    WriterOpened(journal::WriterOpened) = "writer_opened",
    /// A recovery cut a tail that was never acknowledged.
    RecoveryTruncated(journal::RecoveryTruncated) = "recovery_truncated",
    /// A recovery cut a last record of which nothing tells whether it was acknowledged.
    RecoveryLossy(journal::RecoveryLossy) = "recovery_lossy",
    /// The operator put the records of a quarantined tail back; they follow.
    QuarantineRestored(journal::QuarantineRestored) = "quarantine_restored",
    /// The operator let a damaged journal be repaired, and this is what was done.
    RepairApplied(journal::RepairApplied) = "repair_applied",
    /// A blob that a record names is missing or is not the one it is named by.
    BlobLost(journal::BlobLost) = "blob_lost",
    /// A blob that was lost is whole again.
    BlobFound(journal::BlobFound) = "blob_found",

    // The flow as a whole.
    /// The flow exists, with its project, its title and the graph it walks.
    FlowCreated(flow::FlowCreated) = "flow_created",
    /// From here on the flow is a fork of another, whose records up to here it shares.
    FlowForked(flow::FlowForked) = "flow_forked",
    /// The flow was begun by another program, and this was its state when it was taken over.
    FlowImported(imported::FlowImported) = "flow_imported",
    /// The flow has another title from now on.
    FlowTitled(flow::FlowTitled) = "flow_titled",
    /// How the flow is to end is chosen, which counts more than what was chosen before.
    EndsChosen(flow::EndsChosen) = "ends_chosen",
    /// The flow walks a revised graph from now on.
    GraphRevised(flow::GraphRevised) = "graph_revised",
    /// The flow starts nothing new until it is let go on.
    FlowPaused(flow::FlowPaused) = "flow_paused",
    /// The flow goes on after a pause.
    FlowUnpaused(flow::FlowUnpaused) = "flow_unpaused",
    /// The flow was ended before it was done.
    FlowCancelled(flow::FlowCancelled) = "flow_cancelled",
    /// The forward work is done, and the choice of improvement is open.
    ForwardPassClosed(flow::ForwardPassClosed) = "forward_pass_closed",
    /// Everything is done; nothing of this flow runs any more.
    FlowCompleted(flow::FlowCompleted) = "flow_completed",
    /// The operator wants a node to run again.
    NodeReopened(flow::NodeReopened) = "node_reopened",
    /// The operator wants a node's failed or stopped turn to start again.
    NodeRetried(flow::NodeRetried) = "node_retried",

    // Nodes and what travels between them.
    /// A role instance took a node, and what had arrived there was read.
    NodeClaimed(node::NodeClaimed) = "node_claimed",
    /// A node handed its artifacts over, and they wait at their receivers.
    HandoffApplied(node::HandoffApplied) = "handoff_applied",
    /// A node's forward handoff waits for the operator's word.
    HandoffStaged(node::HandoffStaged) = "handoff_staged",
    /// The operator decided about a staged handoff.
    HandoffDecided(node::HandoffDecided) = "handoff_decided",
    /// A node waits for something to arrive.
    HandoffAwaited(node::HandoffAwaited) = "handoff_awaited",
    /// A node, or a role that reflects, waits for the operator, for a reason.
    NodeSuspended(node::NodeSuspended) = "node_suspended",
    /// A node, or a role that reflects, no longer waits for the operator.
    NodeWoken(node::NodeWoken) = "node_woken",
    /// The outcome of a turn was not valid, and the role has to correct it.
    RepairRequested(node::RepairRequested) = "repair_requested",

    // Turns, requests and calls.
    /// A try at a turn began.
    TurnStarted(turn::TurnStarted) = "turn_started",
    /// A turn that a crash cut off goes on with another try.
    TurnResumed(turn::TurnResumed) = "turn_resumed",
    /// A try at a turn is over.
    TurnEnded(turn::TurnEnded) = "turn_ended",
    /// A request to a model is about to be sent, and counts as spent.
    ModelRequested(turn::ModelRequested) = "model_requested",
    /// A piece of streamed text arrived.
    DraftAdded(turn::DraftAdded) = "draft_added",
    /// The text streamed before a cut is kept as the message it was becoming.
    DraftKept(turn::DraftKept) = "draft_kept",
    /// The text streamed so far does not count.
    DraftDiscarded(turn::DraftDiscarded) = "draft_discarded",
    /// A model's whole answer arrived.
    ModelAnswered(turn::ModelAnswered) = "model_answered",
    /// A request to a model failed.
    ModelFailed(turn::ModelFailed) = "model_failed",
    /// A tool call is going to run; it has not run yet.
    CallIntended(turn::CallIntended) = "call_intended",
    /// A tool call runs from here on; without its end, what it did is unknown.
    CallStarted(turn::CallStarted) = "call_started",
    /// What a tool call came to is known.
    CallFinished(turn::CallFinished) = "call_finished",
    /// A tool call whose outcome was lost runs again, because that is safe for it.
    CallRerun(turn::CallRerun) = "call_rerun",
    /// A process that had survived ours was ended.
    CallReaped(turn::CallReaped) = "call_reaped",

    // Sessions.
    /// A session exists.
    SessionOpened(session::SessionOpened) = "session_opened",
    /// A session whose turn a crash cut off goes on.
    SessionResumed(session::SessionResumed) = "session_resumed",
    /// A session's system prompt was built.
    SystemPromptBuilt(session::SystemPromptBuilt) = "system_prompt_built",
    /// A session got a message.
    MessageAdded(session::MessageAdded) = "message_added",
    /// A session of an imported flow held these messages.
    SessionImported(imported::SessionImported) = "session_imported",
    /// A session is being compacted.
    CompactionStarted(session::CompactionStarted) = "compaction_started",
    /// A session's history is archived, and a summary, or its beginnings, replace it.
    SessionCompacted(session::SessionCompacted) = "session_compacted",
    /// A compaction failed, and the history is what it was.
    CompactionFailed(session::CompactionFailed) = "compaction_failed",
    /// The messages of an archive stand in the session again.
    ArchiveRestored(session::ArchiveRestored) = "archive_restored",

    /// The feed of a role of an imported flow held these items.
    FeedImported(imported::FeedImported) = "feed_imported",

    // The operator.
    /// The operator answered a node, or a role, that waits.
    OperatorReplied(operator::OperatorReplied) = "operator_replied",
    /// A reply that no role could read any more was given back.
    ReplyReturned(operator::ReplyReturned) = "reply_returned",
    /// The operator sent a message to a busy role.
    OperatorSteered(operator::OperatorSteered) = "operator_steered",
    /// The operator stopped a turn, a role's turn or all.
    StopRequested(operator::StopRequested) = "stop_requested",
    /// A tool call waits for the operator's consent.
    ConsentRequested(operator::ConsentRequested) = "consent_requested",
    /// A request for consent was answered.
    ConsentResolved(operator::ConsentResolved) = "consent_resolved",
    /// A rule of the operator decided about a tool call, and the operator was not asked.
    ConsentRuled(operator::ConsentRuled) = "consent_ruled",
    /// The operator set what may run without asking, or what never runs.
    ConsentRulesAdded(operator::ConsentRulesAdded) = "consent_rules_added",
    /// The operator removed standing rules.
    ConsentRulesRemoved(operator::ConsentRulesRemoved) = "consent_rules_removed",
    /// The flow may do more, or less, without asking.
    ConsentModeChanged(operator::ConsentModeChanged) = "consent_mode_changed",
    /// Something need not be asked again.
    GrantAdded(operator::GrantAdded) = "grant_added",
    /// A role's model and tools are chosen.
    RoleConfigured(operator::RoleConfigured) = "role_configured",
    /// The operator trusts an MCP server, as it is defined now.
    McpServerApproved(operator::McpServerApproved) = "mcp_server_approved",
    /// An MCP server that a role would use is not there.
    McpServerUnavailable(operator::McpServerUnavailable) = "mcp_server_unavailable",
    /// An MCP tool that a role would use is not there.
    McpToolUnavailable(operator::McpToolUnavailable) = "mcp_tool_unavailable",

    // After the forward pass.
    /// How roles reflect is chosen, and who waits for whom.
    ImprovementChosen(improvement::ImprovementChosen) = "improvement_chosen",
    /// A role began to reflect, or goes on after it waited.
    ReflectionStarted(improvement::ReflectionStarted) = "reflection_started",
    /// A role's findings are written where they belong.
    FindingsRecorded(improvement::FindingsRecorded) = "findings_recorded",
    /// Whether a feedback report is written is decided.
    FeedbackDecided(improvement::FeedbackDecided) = "feedback_decided",
    /// The dedicated role began to write the report, or goes on after it waited.
    FeedbackStarted(improvement::FeedbackStarted) = "feedback_started",
    /// The report is written where it belongs.
    FeedbackRecorded(improvement::FeedbackRecorded) = "feedback_recorded",
    /// A finding became a proposed change to a file of the project.
    ChangeProposed(improvement::ChangeProposed) = "change_proposed",
    /// The operator applied or declined a proposed change.
    ChangeDecided(improvement::ChangeDecided) = "change_decided",

    // Budgets.
    /// What may be spent changed.
    BudgetSet(budget::BudgetSet) = "budget_set",
    /// A budget is used up.
    BudgetReached(budget::BudgetReached) = "budget_reached",
}
