//! How facts change the state of a flow: one arm a fact, one call an arm.

use super::phase::{FlowPhase, Notice, Parentage, Pause};
use super::state::FlowState;
use crate::at::At;
use crate::fact::Fact;
use crate::fact::budget::Measure;
use crate::fact::flow::{
    FlowCreated, FlowForked, ForwardPassClosed, GraphRevised, NodeReopened, NodeRetried, Outline,
    TokenBudget,
};
use crate::fact::journal::{RecoveryTruncated, RepairApplied};
use crate::id::Seq;
use crate::limits::{CHAT_TURNS_MAX, NOTICES_MAX};
use crate::line::{Body, Recorded};
use crate::view::FactView;
use crate::view::flow::parts::WantedRun;

/// The place of a fact in the journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct FactPlace {
    pub(super) seq: Seq,
    pub(super) at: At,
}

impl FactView for FlowState {
    fn apply(&mut self, recorded: &Recorded) {
        self.seq = recorded.seq;
        self.updated_at = Some(recorded.at);
        let place = FactPlace {
            seq: recorded.seq,
            at: recorded.at,
        };
        match &recorded.body {
            Body::Known(fact) => {
                if let Some(client) = fact.client() {
                    self.clients.add(client, place.seq);
                }
                self.fold(place, fact);
            }
            Body::Foreign { .. } => {}
        }
        self.status = match &self.paused {
            Some(pause) if !self.phase.is_over() => super::FlowStatus::Paused(pause.reason),
            Some(_) | None => self.phase.status(),
        };
    }
}

impl FlowState {
    #[expect(
        clippy::too_many_lines,
        reason = "one exhaustive match, one call an arm"
    )]
    fn fold(&mut self, place: FactPlace, fact: &Fact) {
        match fact {
            Fact::SegmentStarted(f) => {
                self.flow_id = Some(f.flow.clone());
                self.segment = f.segment;
            }
            Fact::WriterOpened(f) => self.writer = Some(f.process.clone()),
            Fact::RecoveryTruncated(f) => self.truncated(place, f),
            Fact::RecoveryLossy(f) => self.cut_lossily(place, &f.cut, f.lost_seq),
            Fact::QuarantineRestored(f) => self.restored(place, &f.quarantine, f.records),
            Fact::RepairApplied(f) => self.repaired(place, f),
            Fact::BlobLost(f) => {
                self.lost_blobs.insert(f.blob, f.why.clone());
            }
            Fact::BlobFound(f) => {
                self.lost_blobs.remove(&f.blob);
            }

            Fact::FlowCreated(f) => self.created(place, f),
            Fact::FlowForked(f) => self.forked(f),
            Fact::FlowImported(f) => self.imported(place, f),
            Fact::SessionImported(f) => self.session_imported(place, f),
            Fact::FeedImported(_) => {}
            Fact::FlowTitled(f) => f.title.clone_into(&mut self.title),
            Fact::EndsChosen(f) => self.ends = f.ends.or(self.ends),
            Fact::GraphRevised(f) => self.revised(f),
            Fact::FlowPaused(f) => {
                self.paused = Some(Pause {
                    reason: f.reason,
                    detail: f.detail.clone(),
                    since: place.at,
                });
            }
            Fact::FlowUnpaused(_) => self.paused = None,
            Fact::FlowCancelled(_) => self.cancelled(),
            Fact::ForwardPassClosed(f) => self.closed(f),
            Fact::FlowCompleted(_) => self.phase = FlowPhase::Completed,
            Fact::NodeReopened(f) => self.reopened(f),
            Fact::NodeRetried(f) => self.retried(f),

            Fact::NodeClaimed(f) => self.claimed(place, f),
            Fact::HandoffApplied(f) => self.handed_over(f),
            Fact::HandoffStaged(f) => self.staged(place, f),
            Fact::HandoffDecided(f) => self.decided(f),
            Fact::HandoffAwaited(f) => self.awaits(f),
            Fact::NodeSuspended(f) => self.suspended(place, f),
            Fact::NodeWoken(f) => self.woken(f),
            Fact::RepairRequested(f) => self.repair(f),

            Fact::TurnStarted(f) => self.turn_started(place, f),
            Fact::TurnResumed(f) => self.turn_resumed(place, f),
            Fact::TurnEnded(f) => self.turn_ended(place, f),
            Fact::ModelRequested(f) => self.requested(f),
            Fact::DraftAdded(f) => self.draft_added(f),
            Fact::DraftKept(f) => self.draft_kept(f),
            Fact::DraftDiscarded(f) => self.draft_discarded(f),
            Fact::ModelAnswered(f) => self.answered(place, f),
            Fact::ModelFailed(f) => self.failed(place, f),
            Fact::RequestHeld(f) => self.held(f),
            Fact::CallIntended(f) => self.call_intended(f),
            Fact::CallStarted(f) => self.call_started(f),
            Fact::CallFinished(f) => self.call_finished(place, f),
            Fact::CallRerun(f) => self.call_rerun(f),
            Fact::CallReaped(f) => self.call_reaped(f),

            Fact::SessionOpened(f) => self.session_opened(place, f),
            Fact::SessionResumed(f) => self.touch(place, &f.role),
            Fact::SystemPromptBuilt(f) => self.prompt_built(f),
            Fact::MessageAdded(f) => self.message_added(place, f),
            Fact::CompactionStarted(f) => self.compaction_started(f),
            Fact::SessionCompacted(f) => self.compacted(place, f),
            Fact::CompactionFailed(f) => self.compaction_failed(f),
            Fact::MessageInjected(f) => self.injected(place, f),
            Fact::MessagesTrimmed(f) => self.trimmed(place, f),
            Fact::SessionClosed(f) => self.session_closed(place, f),
            Fact::SessionRenewed(f) => self.renewed(place, f),
            Fact::ArchiveRestored(f) => self.archive_restored(f),

            Fact::OperatorReplied(f) => self.replied(place, f),
            Fact::ReplyReturned(f) => self.reply_returned(f),
            Fact::OperatorSteered(f) => self.steered(place, f),
            Fact::StopRequested(f) => self.stop(f),
            Fact::ConsentRequested(f) => self.consent_requested(place, f),
            Fact::ConsentResolved(f) => self.consent_resolved(f),
            // The call goes on, or ends denied, by facts of its own.
            Fact::ConsentRuled(_) => {}
            Fact::ConsentRulesAdded(f) => self.rules.add(&f.rules),
            Fact::ConsentRulesRemoved(f) => self.rules.remove(&f.rules),
            Fact::ConsentModeChanged(f) => self.consent_mode = f.mode,
            Fact::GrantAdded(f) => {
                self.grants.insert(f.grant.clone());
            }
            Fact::RoleConfigured(f) => self.configured(f),
            Fact::McpServerApproved(f) => {
                self.mcp_servers.insert(f.server.clone(), f.definition);
            }
            Fact::McpServerUnavailable(f) => {
                let absent = self.absent_servers.entry(f.role.clone()).or_default();
                absent.insert(f.server.clone(), f.why.clone());
            }
            Fact::McpToolUnavailable(_) => {}

            Fact::ImprovementChosen(f) => self.improvement_chosen(f),
            Fact::ReflectionStarted(f) => self.reflection_started(f),
            Fact::FindingsRecorded(f) => self.findings(place, f),
            Fact::FeedbackDecided(f) => self.feedback_decided(f),
            Fact::FeedbackStarted(f) => self.feedback_started(f),
            Fact::FeedbackRecorded(f) => self.feedback_recorded(place, f),
            Fact::ChangeProposed(f) => self.change_proposed(place, f),
            Fact::ChangeDecided(f) => self.change_decided(f),

            Fact::BudgetSet(f) => self.budget_set(f),
            Fact::BudgetReached(f) => self.budget_reached(f),
        }
    }

    fn notice(&mut self, notice: Notice) {
        if self.notices.len() >= NOTICES_MAX {
            self.notices.remove(0);
        }
        self.notices.push(notice);
    }

    fn truncated(&mut self, place: FactPlace, cut: &RecoveryTruncated) {
        self.notice(Notice {
            seq: place.seq,
            at: place.at,
            kind: "recovery_truncated".into(),
            text: format!(
                "The end of the journal was cut by {} bytes that were never acknowledged.",
                cut.cut_bytes
            ),
            lossy: false,
            quarantine: Some(cut.quarantine.clone()),
        });
    }

    fn cut_lossily(&mut self, place: FactPlace, cut: &RecoveryTruncated, lost: Seq) {
        self.notice(Notice {
            seq: place.seq,
            at: place.at,
            kind: "recovery_lossy".into(),
            text: format!(
                "The end of the journal was cut by {} bytes. Record {lost} may have been \
                 acknowledged and may be missing now.",
                cut.cut_bytes
            ),
            lossy: true,
            quarantine: Some(cut.quarantine.clone()),
        });
    }

    fn restored(&mut self, place: FactPlace, quarantine: &str, records: u64) {
        self.notice(Notice {
            seq: place.seq,
            at: place.at,
            kind: "quarantine_restored".into(),
            text: format!("{records} records were put back from quarantine."),
            lossy: false,
            quarantine: Some(quarantine.to_owned()),
        });
    }

    fn repaired(&mut self, place: FactPlace, repair: &RepairApplied) {
        let lossy = repair.lost_from > 0;
        let lost = if lossy {
            format!(
                " Records {} to {} are missing.",
                repair.lost_from, repair.lost_to
            )
        } else {
            String::new()
        };
        self.notice(Notice {
            seq: place.seq,
            at: place.at,
            kind: "repair_applied".into(),
            text: format!(
                "The journal was repaired in {} steps.{lost}",
                repair.steps.len()
            ),
            lossy,
            quarantine: Some(repair.quarantine.clone()),
        });
    }

    fn created(&mut self, place: FactPlace, f: &FlowCreated) {
        self.project = Some(f.project.clone());
        f.title.clone_into(&mut self.title);
        self.input.clone_from(&f.input);
        self.origin.clone_from(&f.origin);
        self.draft = f.draft;
        self.ends = f.ends;
        self.tokens = f.tokens;
        self.rules.clone_from(&f.rules);
        self.chat.clone_from(&f.chat);
        if let Some(chat) = &f.chat {
            let most = chat.max_turns.unwrap_or(CHAT_TURNS_MAX);
            self.account.limits.insert(Measure::Turns, most.into());
        }
        self.consent_mode = f.mode.unwrap_or_default();
        if let Some(TokenBudget::AtMost(limit)) = f.tokens {
            self.account.limits.insert(Measure::Tokens, limit);
        }
        self.created_at = Some(place.at);
        self.next_turn = self.next_turn.max(1);
        self.take_graph(&f.graph);
    }

    fn take_graph(&mut self, graph: &Outline) {
        self.graph = graph.clone().into();
        self.owner = graph.start().map(|node| node.role.clone());
    }

    fn forked(&mut self, f: &FlowForked) {
        self.parent = Some(Parentage {
            flow: f.parent.clone(),
            at_seq: f.at_seq,
        });
        if let Some(name) = &f.name {
            name.clone_into(&mut self.title);
        }
        // Whatever process still runs is the parent's, and the fork does not end it.
        self.writer = None;
        for call in self.calls.values_mut() {
            call.process = None;
        }
        // The folders in the roles' prompts are those of the parent.
        for session in self.sessions.values_mut() {
            session.prompt = None;
        }
    }

    fn revised(&mut self, f: &GraphRevised) {
        self.take_graph(&f.graph);
        self.draft = false;
        self.owing.clear();
        for node in self.visited.clone() {
            self.reckon(&node);
        }
    }

    /// Nothing of a cancelled flow runs or waits any more. Its turns are still open until they
    /// end, and what arrived stays where it is, for a node that may be reopened.
    fn cancelled(&mut self) {
        self.phase = FlowPhase::Cancelled;
        let staged = self.staged.values().map(|staged| staged.node.clone());
        self.cut_off.extend(staged);
        self.cut_off.extend(self.running.keys().cloned());
        self.cut_off.extend(self.awaiting_operator.keys().cloned());
        self.running.clear();
        self.awaiting_operator.clear();
        self.staged.clear();
        self.wanted.clear();
        if let Some(improvement) = &mut self.improvement {
            let report = improvement.feedback.work.iter_mut();
            for role in improvement.roles.values_mut().chain(report) {
                role.waiting = None;
            }
        }
    }

    fn closed(&mut self, f: &ForwardPassClosed) {
        self.running.remove(&f.node);
        self.phase = FlowPhase::ImprovementChoice;
    }

    /// A reopened node takes the flow back to its forward pass. What its edges carried stays
    /// completed: the node decides anew what it hands on.
    fn reopened(&mut self, f: &NodeReopened) {
        if self.phase != FlowPhase::Forward {
            self.phase = FlowPhase::Forward;
            self.improvement = None;
        }
        let note = f.note.clone();
        self.wanted
            .insert(f.node.clone(), WantedRun::Reopened { note });
        self.awaiting_handoff.remove(&f.node);
    }

    fn retried(&mut self, f: &NodeRetried) {
        self.awaiting_operator.remove(&f.node);
        self.wanted.insert(f.node.clone(), WantedRun::Retried);
    }
}
