//! What a fact is in a feed: the words for the operator, in one table.
//!
//! Each line of the table is one fact. Words that need more than the fact itself are put together
//! where the feed is folded.

mod asking;
mod messages;

use super::item::{ConsentItem, ConsentReply, DeliveredItem, ItemKind, NextTry};
use super::phrase::{
    author, budget_set, compacted, grant, measure, mode, pause, rules, shown, shown_whole,
    with_detail,
};
use super::plain::{deliveries, ends_a_turn};
use crate::fact::Fact;
use crate::fact::imported::{FeedImported, FlowImported};
use crate::fact::improvement;
use crate::fact::node::{Inbound, NodeClaimed, NodeEntry, NodeSuspended, WaitReason};
use crate::fact::operator::{SteerWhen, StopScope};
use crate::fact::turn::{
    CallEnd, CallFinished, DraftAdded, DraftDiscarded, DraftKept, ModelAnswered, TurnEnd,
    TurnEnded, TurnStarted,
};
use crate::handoff::{Delivery, HandoffWay};
use crate::id::{MessageId, NodeId, TurnId};
use crate::words::calls::{self, COMPACTING_CONTEXT, NO_ANSWER, WITHOUT_SERVER};
use crate::words::capital;
use crate::words::handoffs::{
    HANDED_OVER, HANDOFF_APPROVED, HANDOFF_SENT_BACK, WAITING_FOR_APPROVAL, sent_this_back,
};
use crate::words::retrospective::{self, FEEDBACK_REPORT, LOOKS_BACK, RETROSPECTIVE};
use crate::words::status::{rate_limit_of, recovers};

/// The words of an item, and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ItemWords {
    pub(super) kind: ItemKind,
    pub(super) label: String,
    pub(super) text: String,
    pub(super) event: Option<&'static str>,
    pub(super) node: Option<NodeId>,
    pub(super) turn: Option<TurnId>,
    pub(super) call_id: Option<String>,
    pub(super) consent: Option<ConsentItem>,
    pub(super) answer: Option<ConsentReply>,
    pub(super) again: Option<NextTry>,
    pub(super) deliveries: Vec<DeliveredItem>,
}

impl ItemWords {
    pub(super) fn new(kind: ItemKind, label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            kind,
            label: label.into(),
            text: text.into(),
            event: None,
            node: None,
            turn: None,
            call_id: None,
            consent: None,
            answer: None,
            again: None,
            deliveries: Vec::new(),
        }
    }

    fn event(label: &str, text: impl Into<String>, event: &'static str) -> Self {
        Self {
            event: Some(event),
            ..Self::new(ItemKind::Event, label, text)
        }
    }

    fn of(kind: ItemKind, label: &str, text: impl Into<String>, event: &'static str) -> Self {
        Self {
            kind,
            ..Self::event(label, text, event)
        }
    }

    fn at(mut self, node: Option<&NodeId>) -> Self {
        self.node = node.cloned();
        self
    }

    fn in_turn(mut self, turn: TurnId) -> Self {
        self.turn = Some(turn);
        self
    }

    fn about(mut self, id: impl ToString) -> Self {
        self.call_id = Some(id.to_string());
        self
    }

    fn asking(mut self, note: ConsentItem) -> Self {
        self.consent = Some(note);
        self
    }

    fn answering(mut self, reply: ConsentReply) -> Self {
        self.answer = Some(reply);
        self
    }

    fn delivering(mut self, all: &[Delivery]) -> Self {
        self.deliveries = DeliveredItem::each(all);
        self
    }

    fn again(mut self, again: Option<NextTry>) -> Self {
        self.again = again;
        self
    }

    fn say<'a>(self) -> FeedEffect<'a> {
        FeedEffect::Say(Box::new(self))
    }

    fn open<'a>(self, key: String) -> FeedEffect<'a> {
        FeedEffect::Open(key, Box::new(self))
    }

    fn close<'a>(self, key: String) -> FeedEffect<'a> {
        FeedEffect::Close(key, Box::new(self))
    }
}

/// What a fact does to a feed.
#[derive(Debug)]
pub(super) enum FeedEffect<'a> {
    /// Nothing: it is shown elsewhere, or only machines need it.
    Silent,
    /// It adds an item.
    Say(Box<ItemWords>),
    /// It adds an item that another fact will resolve.
    Open(String, Box<ItemWords>),
    /// It resolves such an item, in place.
    Close(String, Box<ItemWords>),
    /// A turn begins.
    TurnBegins(&'a TurnStarted, Option<Box<ItemWords>>),
    /// A turn ends.
    TurnEnds(&'a TurnEnded, Box<ItemWords>),
    /// It adds to streamed text.
    Streams(&'a DraftAdded),
    /// It keeps streamed text.
    Keeps(&'a DraftKept),
    /// It discards streamed text.
    Discards(&'a DraftDiscarded),
    /// It answers.
    Answers(&'a ModelAnswered),
    /// It takes the place of what the feed held.
    Imports(&'a FeedImported),
}

/// The table.
#[expect(
    clippy::too_many_lines,
    reason = "one exhaustive match, one line of the table an arm"
)]
pub(super) fn wording(fact: &Fact) -> FeedEffect<'_> {
    match fact {
        Fact::SegmentStarted(_) | Fact::WriterOpened(_) => FeedEffect::Silent,
        Fact::RecoveryTruncated(f) => ItemWords::of(
            ItemKind::Error,
            "The end of the journal was cut",
            format!(
                "{} bytes that were never acknowledged were cut from the end of the journal and \
                 are kept in quarantine/{}. Nothing that was confirmed is missing.",
                f.cut_bytes, f.quarantine
            ),
            "journal.recovery_truncated",
        )
        .say(),
        Fact::RecoveryLossy(f) => ItemWords::of(
            ItemKind::Error,
            "Something may be missing",
            format!(
                "The last record, number {}, did not verify. Its {} bytes were cut and are kept in \
                 quarantine/{}. It may have been confirmed before; check what happened last.",
                f.lost_seq, f.cut.cut_bytes, f.cut.quarantine
            ),
            "journal.recovery_lossy",
        )
        .say(),
        Fact::QuarantineRestored(f) => ItemWords::event(
            "Records were put back",
            format!(
                "{} records of quarantine/{} follow.",
                f.records, f.quarantine
            ),
            "journal.quarantine_restored",
        )
        .say(),
        Fact::RepairApplied(f) => ItemWords::of(
            ItemKind::Error,
            "The journal was repaired",
            f.steps.join("\n"),
            "journal.repair_applied",
        )
        .say(),
        Fact::BlobLost(f) => ItemWords::of(
            ItemKind::Error,
            "lost blob",
            format!("A large text is lost, blobs/{}: {}.", f.blob, f.why),
            "journal.blob_lost",
        )
        .say(),
        Fact::BlobFound(f) => ItemWords::event(
            "found blob",
            format!(
                "A large text that was lost is whole again, blobs/{}.",
                f.blob
            ),
            "journal.blob_found",
        )
        .say(),

        Fact::FlowCreated(f) => ItemWords::event(
            "Flow created",
            match &f.input {
                Some(input) => format!("{}\n{}", f.title, shown(input)),
                None => f.title.clone(),
            },
            "flow.created",
        )
        .say(),
        Fact::FlowForked(f) => ItemWords::event(
            "Flow forked",
            format!("From {} at record {}.", f.parent, f.at_seq),
            "flow.forked",
        )
        .say(),
        Fact::FlowImported(f) => {
            ItemWords::event("Flow imported", imported(f), "flow.imported").say()
        }
        Fact::SessionImported(_) | Fact::EndsChosen(_) => FeedEffect::Silent,
        Fact::FeedImported(f) => FeedEffect::Imports(f),
        Fact::FlowTitled(f) => {
            ItemWords::event("Flow titled", f.title.clone(), "flow.titled").say()
        }
        Fact::GraphRevised(f) => ItemWords::event(
            "Graph revised",
            format!(
                "By {}: {} nodes, {} edges.",
                author(&f.by),
                f.graph.nodes.len(),
                f.graph.edges.len()
            ),
            "flow.graph_revised",
        )
        .say(),
        Fact::FlowPaused(f) => ItemWords::event(
            "Flow paused",
            with_detail(&pause(f.reason), f.detail.as_deref()),
            "flow.paused",
        )
        .say(),
        Fact::FlowUnpaused(f) => ItemWords::of(
            ItemKind::Resume,
            "Flow goes on",
            format!("By {}.", author(&f.by)),
            "flow.unpaused",
        )
        .say(),
        Fact::FlowCancelled(f) => ItemWords::event(
            "Flow cancelled",
            with_detail(&format!("By {}.", author(&f.by)), f.why.as_deref()),
            "flow.cancelled",
        )
        .say(),
        Fact::ForwardPassClosed(f) => ItemWords::event(
            "Forward pass closed",
            "Everything the graph asks for is done.",
            "flow.forward_pass_closed",
        )
        .at(Some(&f.node))
        .say(),
        Fact::FlowCompleted(_) => {
            ItemWords::event("Flow completed", "Everything is done.", "flow.completed").say()
        }
        Fact::NodeReopened(f) => ItemWords::event(
            "Node reopened",
            with_detail(
                &format!("{} runs again.", f.node),
                f.note.as_ref().map(shown).as_deref(),
            ),
            "node.reopened",
        )
        .at(Some(&f.node))
        .say(),
        Fact::NodeRetried(f) => ItemWords::event(
            "Node retried",
            format!("{}The turn of {} starts again.", on_time(f.on_time), f.node),
            "node.retried",
        )
        .at(Some(&f.node))
        .say(),

        Fact::NodeClaimed(f) => claimed(f),
        Fact::HandoffApplied(f) => ItemWords::of(
            ItemKind::Handoff,
            &capital(HANDED_OVER),
            deliveries(&f.deliveries),
            "handoff.applied",
        )
        .delivering(&f.deliveries)
        .at(Some(&f.node))
        .in_turn(f.turn)
        .say(),
        Fact::HandoffStaged(f) => ItemWords::of(
            ItemKind::Handoff,
            &capital(WAITING_FOR_APPROVAL),
            deliveries(&f.deliveries),
            "handoff.staged",
        )
        .delivering(&f.deliveries)
        .at(Some(&f.node))
        .in_turn(f.turn)
        .about(&f.approval)
        .open(format!("approval:{}", f.approval)),
        Fact::HandoffDecided(f) => {
            let label = if f.approved {
                HANDOFF_APPROVED
            } else {
                HANDOFF_SENT_BACK
            };
            ItemWords::of(ItemKind::Handoff, &capital(label), "", "handoff.decided")
                .about(&f.approval)
                .close(format!("approval:{}", f.approval))
        }
        Fact::HandoffAwaited(f) => ItemWords::event(
            "Waits for a handoff",
            format!("{} goes on when something arrives.", f.node),
            "handoff.awaited",
        )
        .at(Some(&f.node))
        .in_turn(f.turn)
        .say(),
        Fact::NodeSuspended(f) => suspended(f),
        Fact::NodeWoken(f) if is_shown_elsewhere(f.reason) => FeedEffect::Silent,
        Fact::NodeWoken(f) => ItemWords::of(
            ItemKind::Resume,
            "Goes on",
            format!(
                "{}No longer waits for {}.",
                on_time(f.on_time),
                f.reason.needs(None)
            ),
            "human.resumed",
        )
        .at(f.node.as_ref())
        .say(),
        Fact::RepairRequested(f) => ItemWords::of(
            ItemKind::Repair,
            "Asked to mend the outcome",
            format!("{} (repair {} in a row)", f.summary, f.count),
            "repair.requested",
        )
        .at(f.node.as_ref())
        .in_turn(f.turn)
        .say(),

        Fact::TurnStarted(f) => FeedEffect::TurnBegins(f, turn_begins(f).map(Box::new)),
        Fact::TurnResumed(f) => ItemWords::of(
            ItemKind::Resume,
            "Turn goes on",
            format!(
                "Another process goes on with it; this is try {}.",
                f.attempt
            ),
            "role.resumed",
        )
        .in_turn(f.turn)
        .say(),
        Fact::TurnEnded(f) => FeedEffect::TurnEnds(f, Box::new(turn_ends(f))),
        Fact::ModelRequested(_) => FeedEffect::Silent,
        Fact::DraftAdded(f) => FeedEffect::Streams(f),
        Fact::DraftKept(f) => FeedEffect::Keeps(f),
        Fact::DraftDiscarded(f) => FeedEffect::Discards(f),
        Fact::ModelAnswered(f) => FeedEffect::Answers(f),
        Fact::ModelFailed(f) => ItemWords::of(
            ItemKind::Error,
            &capital(calls::failure(&f.class).unwrap_or(NO_ANSWER)),
            f.error.clone(),
            "provider.failed",
        )
        .in_turn(f.turn)
        .again(f.retry_in_ms.map(NextTry::In))
        .say(),
        Fact::RequestHeld(f) if f.failing => ItemWords::event(
            &capital(&recovers(&f.provider)),
            "Its model failed too often in a row. One request tries it again when the time is over.",
            "provider.held",
        )
        .in_turn(f.turn)
        .say(),
        Fact::RequestHeld(f) => ItemWords::event(
            &capital(&rate_limit_of(&f.provider)),
            "Another role met it. The request is sent when that is over.",
            "provider.held",
        )
        .in_turn(f.turn)
        .say(),
        Fact::CallIntended(f) if ends_a_turn(&f.tool) => FeedEffect::Silent,
        Fact::CallIntended(f) => ItemWords::of(
            ItemKind::Tool,
            &f.tool,
            f.summary.clone(),
            "activity.tool_call",
        )
        .in_turn(f.turn)
        .about(&f.call)
        .open(format!("call:{}", f.call)),
        Fact::CallStarted(_) => FeedEffect::Silent,
        Fact::CallFinished(f) => call_finished(f),
        Fact::CallRerun(f) => ItemWords::of(
            ItemKind::Resume,
            "Tool runs again",
            f.why.clone(),
            "activity.tool_rerun",
        )
        .about(&f.call)
        .say(),
        Fact::CallReaped(f) => ItemWords::event(
            "A left-over process was ended",
            format!("Process {} had survived a crash.", f.process.pid),
            "activity.tool_reaped",
        )
        .about(&f.call)
        .say(),

        Fact::SessionOpened(_) | Fact::SessionResumed(_) | Fact::SystemPromptBuilt(_) => {
            FeedEffect::Silent
        }
        Fact::MessageAdded(f) => messages::message(f),
        Fact::CompactionStarted(f) => ItemWords::event(
            &capital(COMPACTING_CONTEXT),
            "",
            "session.compaction_started",
        )
        .about(&f.compaction)
        .open(format!("compaction:{}", f.compaction)),
        Fact::SessionCompacted(f) => {
            let (label, text) = compacted(f);
            ItemWords::event(&label, text, "session.compacted")
                .about(&f.compaction)
                .close(format!("compaction:{}", f.compaction))
        }
        Fact::CompactionFailed(f) => ItemWords::of(
            ItemKind::Error,
            "Not compacted",
            format!("The history is what it was: {}", f.why),
            "session.compaction_failed",
        )
        .about(&f.compaction)
        .close(format!("compaction:{}", f.compaction)),
        Fact::MessageInjected(f) => messages::injected(f),
        Fact::MessagesTrimmed(f) => ItemWords::event(
            "Oldest messages left out",
            format!(
                "The last {} messages stay. The others are archived as {}, and can be restored.",
                f.kept_last, f.archive
            ),
            "session.trimmed",
        )
        .about(&f.archive)
        .say(),
        Fact::SessionClosed(_) => ItemWords::event(
            "Chat closed",
            "It takes no messages until it is opened again.",
            "session.closed",
        )
        .say(),
        Fact::SessionRenewed(f) => ItemWords::event(
            "Session reset",
            format!(
                "The role remembers nothing that was said before. It is archived as {}, and can be restored.",
                f.archive
            ),
            "session.reset",
        )
        .about(&f.archive)
        .say(),
        Fact::ArchiveRestored(f) => ItemWords::event(
            "Archive restored",
            "The archived messages are back in the session.",
            "session.archive_restored",
        )
        .about(&f.archive)
        .say(),

        Fact::OperatorReplied(f) => {
            ItemWords::of(ItemKind::User, "You", shown_whole(&f.text), "human.replied")
                .at(f.node.as_ref())
                .say()
        }
        Fact::ReplyReturned(f) => ItemWords::of(
            ItemKind::Error,
            "Your words were not heard",
            f.why.clone(),
            "human.reply_returned",
        )
        .about(&f.reply)
        .close(format!("steer:{}", f.reply)),
        Fact::OperatorSteered(f) => {
            let label = match f.when {
                SteerWhen::Queue => "You, for its next request",
                SteerWhen::Interrupt => "You, interrupting",
            };
            ItemWords::of(ItemKind::User, label, shown_whole(&f.text), "human.steered")
                .about(&f.steer)
                .open(format!("steer:{}", f.steer))
        }
        Fact::StopRequested(f) => {
            let text = match &f.scope {
                StopScope::Node(node) => format!("The turn of {node} is stopped."),
                StopScope::Role(role) => format!("The turn of {role} is stopped."),
                StopScope::All => "Every turn is stopped.".to_owned(),
            };
            ItemWords::event("Stop", text, "human.stopped").say()
        }
        Fact::ConsentRequested(f) => asking::requested(f),
        Fact::ConsentResolved(f) => asking::resolved(f),
        Fact::ConsentRuled(f) => asking::ruled(f),
        Fact::ConsentRulesAdded(f) => {
            ItemWords::event("Rules added", rules(&f.rules), "consent.rules_added").say()
        }
        Fact::ConsentRulesRemoved(f) => {
            ItemWords::event("Rules removed", rules(&f.rules), "consent.rules_removed").say()
        }
        Fact::ConsentModeChanged(f) => {
            ItemWords::event("Permissions", mode(f.mode), "consent.mode_changed").say()
        }
        Fact::GrantAdded(f) => {
            ItemWords::event("Allowed from now on", grant(&f.grant), "consent.granted").say()
        }
        Fact::RoleConfigured(f) => {
            let line = |(key, value): (&String, &String)| format!("{key}: {value}");
            let lines: Vec<_> = f.settings.iter().map(line).collect();
            ItemWords::event("Role configured", lines.join("\n"), "role.configured").say()
        }
        Fact::McpServerApproved(f) => ItemWords::event(
            "MCP server trusted",
            f.server.clone(),
            "mcp.server_approved",
        )
        .say(),
        Fact::McpServerUnavailable(f) => ItemWords::of(
            ItemKind::Error,
            &capital(WITHOUT_SERVER),
            f.words(),
            "mcp.server_unavailable",
        )
        .say(),
        Fact::McpToolUnavailable(f) => ItemWords::of(
            ItemKind::Error,
            "Tool unavailable",
            format!("{}: {}", f.tool, f.why),
            "mcp.tool_unavailable",
        )
        .say(),

        Fact::ImprovementChosen(f) => improvement_chosen(f),
        Fact::ReflectionStarted(f) => reflects(
            f.turn,
            &f.replies,
            &capital(RETROSPECTIVE),
            format!("{} {LOOKS_BACK}.", f.role),
        ),
        Fact::FindingsRecorded(f) => ItemWords::of(
            ItemKind::Handoff,
            "Findings written",
            f.findings.path.clone(),
            "improvement.findings_recorded",
        )
        .in_turn(f.turn)
        .say(),
        Fact::FeedbackDecided(f) => ItemWords::event(
            &capital(FEEDBACK_REPORT),
            if f.granted {
                "It is written."
            } else {
                "It is not written."
            },
            "improvement.feedback_decided",
        )
        .say(),
        Fact::FeedbackStarted(f) => reflects(
            f.turn,
            &f.replies,
            &capital(FEEDBACK_REPORT),
            format!("{} writes it from all findings.", f.role),
        ),
        Fact::FeedbackRecorded(f) => ItemWords::of(
            ItemKind::Handoff,
            "Report written",
            f.report.path.clone(),
            "improvement.feedback_recorded",
        )
        .in_turn(f.turn)
        .say(),
        Fact::ChangeProposed(f) => ItemWords::event(
            "Change proposed",
            f.path.clone(),
            "improvement.change_proposed",
        )
        .about(&f.change)
        .open(format!("change:{}", f.change)),
        Fact::ChangeDecided(f) => ItemWords::event(
            if f.applied {
                "Change applied"
            } else {
                "Change declined"
            },
            "",
            "improvement.change_decided",
        )
        .about(&f.change)
        .close(format!("change:{}", f.change)),

        Fact::BudgetSet(f) => ItemWords::event("Budget", budget_set(f), "budget.set").say(),
        Fact::BudgetReached(f) => ItemWords::of(
            ItemKind::Error,
            "Budget used up",
            format!(
                "{} of {} {} are spent.",
                f.spent,
                f.limit,
                measure(f.measure)
            ),
            "budget.reached",
        )
        .say(),
    }
}

fn claimed<'a>(f: &NodeClaimed) -> FeedEffect<'a> {
    let (kind, label, text, event) = match f.entry {
        NodeEntry::First => (
            ItemKind::Activation,
            "Active",
            format!("{} begins {}.", f.role, f.node),
            "role.active",
        ),
        NodeEntry::Again => (
            ItemKind::Activation,
            "Active again",
            format!("{} goes on with {}.", f.role, f.node),
            "role.active",
        ),
        NodeEntry::Reopened => (
            ItemKind::Activation,
            "Active again",
            sent_back(f),
            "role.sent_back",
        ),
        NodeEntry::Reply => (
            ItemKind::Resume,
            "Goes on",
            format!("{} heard your reply.", f.role),
            "human.resumed",
        ),
        NodeEntry::Configured => (
            ItemKind::Resume,
            "Goes on",
            format!("{} is configured.", f.role),
            "role.resumed",
        ),
        NodeEntry::Recovered => (
            ItemKind::Resume,
            "Goes on",
            format!("{} was at {} when the process ended.", f.role, f.node),
            "role.resumed",
        ),
    };
    ItemWords::of(kind, label, text, event)
        .at(Some(&f.node))
        .in_turn(f.turn)
        .say()
}

/// By whom work was sent back, as far as the claim has it.
fn sent_back(f: &NodeClaimed) -> String {
    let back = |inbound: &&Inbound| inbound.way == HandoffWay::Backward;
    let mut from = f.consumed.iter().filter(back);
    let role = f.role.as_str();
    match from.next() {
        Some(inbound) => sent_this_back(inbound.edge.to.as_str(), role),
        None => capital(&sent_this_back("you", role)),
    }
}

const fn on_time(is_so: bool) -> &'static str {
    if is_so { "Its time came. " } else { "" }
}

/// Whether a wait is for something that has an item of its own: a request for consent, a handoff that waits. A chat that
/// was answered waits for its person, and the end of the turn is there already.
const fn is_shown_elsewhere(reason: WaitReason) -> bool {
    matches!(
        reason,
        WaitReason::Consent | WaitReason::HandoffApproval | WaitReason::Message
    )
}

fn suspended<'a>(f: &NodeSuspended) -> FeedEffect<'a> {
    if f.trouble.is_none() && is_shown_elsewhere(f.reason) {
        return FeedEffect::Silent;
    }
    let text = match &f.question {
        Some(question) => shown_whole(question),
        None => String::new(),
    };
    let label = format!("Waits for {}", f.reason.needs(f.trouble));
    ItemWords::of(ItemKind::Event, &label, text, "human.awaiting_input")
        .at(f.node.as_ref())
        .again(f.until.map(NextTry::At))
        .say()
}

/// Node turns and reflections were announced when the node was claimed or the reflection began.
fn turn_begins(f: &TurnStarted) -> Option<ItemWords> {
    use crate::fact::turn::Cause;
    match f.cause {
        Cause::Node | Cause::Reflection | Cause::Feedback | Cause::Compaction => None,
        Cause::Selection => {
            let text = "Its model, skills or servers are being chosen.";
            Some(ItemWords::event("Chooses", text, "session.turn_started").in_turn(f.turn))
        }
    }
}

fn turn_ends(f: &TurnEnded) -> ItemWords {
    let kind = match f.end {
        TurnEnd::Outcome | TurnEnd::Waiting | TurnEnd::Stopped => ItemKind::Event,
        TurnEnd::Failed | TurnEnd::TurnLimit => ItemKind::Error,
    };
    let label = capital(calls::turn_end(f.end));
    let error = f.error.clone().unwrap_or_default();
    ItemWords::of(kind, &label, error, "turn.ended").in_turn(f.turn)
}

fn call_finished<'a>(f: &CallFinished) -> FeedEffect<'a> {
    if ends_a_turn(&f.tool) && !f.end.is_error() {
        return FeedEffect::Silent;
    }
    let kind = if f.end.is_error() {
        ItemKind::ToolError
    } else {
        ItemKind::ToolSuccess
    };
    let label = match f.end {
        CallEnd::Done | CallEnd::Failed => f.tool.clone(),
        CallEnd::Denied
        | CallEnd::Stopped
        | CallEnd::TimedOut
        | CallEnd::NotRun
        | CallEnd::Unknown
        | CallEnd::Recovered => format!("{} ({})", f.tool, calls::call_end(f.end)),
    };
    ItemWords::of(kind, &label, shown(&f.output), "activity.tool_result")
        .in_turn(f.turn)
        .about(&f.call)
        .close(format!("call:{}", f.call))
}

fn improvement_chosen<'a>(f: &improvement::ImprovementChosen) -> FeedEffect<'a> {
    let text = capital(retrospective::order(f.mode)) + ".";
    ItemWords::event(&capital(RETROSPECTIVE), text, "improvement.chosen").say()
}

/// A reflection is announced once; after a wait it goes on.
fn reflects<'a>(turn: TurnId, replies: &[MessageId], label: &str, text: String) -> FeedEffect<'a> {
    if replies.is_empty() {
        ItemWords::of(ItemKind::Activation, label, text, "role.active")
    } else {
        ItemWords::of(
            ItemKind::Resume,
            "Goes on",
            "It heard your reply.",
            "human.resumed",
        )
    }
    .in_turn(turn)
    .say()
}

fn imported(f: &FlowImported) -> String {
    let left = match f.without_place.len() {
        0 => String::new(),
        1 => " One member of them has no place here.".to_owned(),
        more => format!(" {more} members of them have no place here."),
    };
    format!(
        "From state version {}. Its files are kept as they were.{left}",
        f.state_version
    )
}
