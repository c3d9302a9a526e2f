//! How facts about nodes, the operator and the improvement change the state of a flow.

use std::mem;

use super::fold::FactPlace;
use super::parts::{
    CallState, Configuration, Matter, OpenConsent, OperatorMessage, OperatorWait, RunningNode,
    StagedHandoff, WantedRun,
};
use super::phase::{FeedbackReport, FileChangeState, FlowPhase, Improvement, Reflecting};
use super::state::FlowState;
use crate::fact::budget::{BudgetReached, BudgetSet};
use crate::fact::improvement::{
    ChangeDecided, ChangeProposed, FeedbackDecided, FeedbackRecorded, FeedbackStarted,
    FindingsRecorded, ImprovementChosen, ReflectionStarted,
};
use crate::fact::node::{
    HandoffApplied, HandoffAwaited, HandoffDecided, HandoffStaged, NodeClaimed, NodeEntry,
    NodeSuspended, NodeWoken, RepairRequested, WaitReason,
};
use crate::fact::operator::{
    ConsentAnswer, ConsentRequested, ConsentResolved, OperatorReplied, OperatorSteered,
    ReplyReturned, RoleConfigured, StopRequested, StopScope,
};
use crate::handoff::{Delivery, HandoffWay};
use crate::id::{MessageId, NodeId, RoleInstance, TurnId};

impl FlowState {
    pub(super) fn claimed(&mut self, place: FactPlace, f: &NodeClaimed) {
        let waited = self.awaiting_operator.remove(&f.node);
        // This entry passes on what an interrupted one had read but not passed on.
        let before = waited
            .and_then(|waiting| waiting.held)
            .or_else(|| self.running.remove(&f.node))
            .filter(|running| !running.told || !running.unsaid.is_empty());
        let (mut received, mut dropped, mut unsaid) =
            before.map_or_else(Default::default, |r| (r.received, r.dropped, r.unsaid));
        let reads = |delivery: &Delivery| {
            f.consumed
                .iter()
                .any(|inbound| inbound.edge == delivery.edge && inbound.way == delivery.way)
        };
        let drops = |delivery: &Delivery| {
            delivery.way == HandoffWay::Forward && f.dropped.contains(&delivery.edge)
        };
        for delivery in mem::take(&mut self.received) {
            if reads(&delivery) {
                received.push(delivery);
            } else if !drops(&delivery) {
                self.received.push(delivery);
            }
        }
        for edge in &f.dropped {
            self.completed_edges.remove(edge);
            self.reckon(&edge.from);
            dropped.push(edge.clone());
        }
        if let Some(replies) = self.replies.get_mut(&f.node) {
            let (read, rest) = mem::take(replies)
                .into_iter()
                .partition(|said: &OperatorMessage| f.replies.contains(&said.id));
            *replies = rest;
            unsaid.extend::<Vec<OperatorMessage>>(read);
            if replies.is_empty() {
                self.replies.remove(&f.node);
            }
        }
        if !self.visited.insert(f.node.clone()) {
            *self.entered_again.entry(f.node.clone()).or_default() += 1;
        }
        // A role that got its packet and did not answer does not get it twice.
        let again = match f.entry {
            NodeEntry::Again | NodeEntry::Configured | NodeEntry::Recovered => true,
            NodeEntry::First | NodeEntry::Reopened | NodeEntry::Reply => false,
        };
        let nothing_new = received.is_empty() && dropped.is_empty() && unsaid.is_empty();
        let told =
            again && nothing_new && self.is_unanswered(&f.role, &Matter::Node(f.node.clone()));
        self.reckon(&f.node);
        self.awaiting_handoff.remove(&f.node);
        self.wanted.remove(&f.node);
        self.mint(f.turn);
        self.running.insert(
            f.node.clone(),
            RunningNode {
                role: f.role.clone(),
                turn: f.turn,
                entry: f.entry,
                since: place.at,
                begun: false,
                told,
                received,
                dropped,
                unsaid,
            },
        );
    }

    /// Whether this is the last matter that a role got and has not answered.
    fn is_unanswered(&self, role: &RoleInstance, matter: &Matter) -> bool {
        let session = self.session(role);
        session.is_some_and(|session| session.unanswered.as_ref() == Some(matter))
    }

    /// Counts again whether a node owes something.
    pub(super) fn reckon(&mut self, node: &NodeId) {
        if self.visited.contains(node) && self.owed(node).next().is_some() {
            self.owing.insert(node.clone());
        } else {
            self.owing.remove(node);
        }
    }

    /// A turn number that was used is not used again.
    pub(super) fn mint(&mut self, turn: TurnId) {
        self.next_turn = self.next_turn.max(turn.0.saturating_add(1));
    }

    pub(super) fn handed_over(&mut self, f: &HandoffApplied) {
        self.running.remove(&f.node);
        if let Some(approval) = &f.approval {
            self.staged.remove(approval);
            self.awaiting_operator.remove(&f.node);
        }
        for delivery in &f.deliveries {
            self.deliver(delivery);
        }
    }

    fn deliver(&mut self, delivery: &Delivery) {
        let edge = &delivery.edge;
        match delivery.way {
            HandoffWay::Forward => {
                self.completed_edges.insert(edge.clone());
            }
            HandoffWay::Backward => {
                self.completed_edges.remove(edge);
                self.awaiting_handoff.insert(edge.to.clone());
            }
        }
        self.reckon(&edge.from);
        self.passed.insert(delivery.artifact.path.clone());
        self.history
            .entry(edge.from.clone())
            .or_default()
            .entry(edge.to.clone())
            .or_default()
            .insert(delivery.artifact.path.clone());
        self.received.push(delivery.clone());
    }

    pub(super) fn staged(&mut self, place: FactPlace, f: &HandoffStaged) {
        let staged = StagedHandoff {
            node: f.node.clone(),
            turn: f.turn,
            deliveries: f.deliveries.clone(),
            since: place.at,
            approved: false,
        };
        self.staged.insert(f.approval.clone(), staged);
    }

    pub(super) fn decided(&mut self, f: &HandoffDecided) {
        if f.approved {
            if let Some(staged) = self.staged.get_mut(&f.approval) {
                staged.approved = true;
            }
        } else {
            self.staged.remove(&f.approval);
        }
    }

    pub(super) fn awaits(&mut self, f: &HandoffAwaited) {
        self.running.remove(&f.node);
        self.awaiting_handoff.insert(f.node.clone());
    }

    pub(super) fn suspended(&mut self, place: FactPlace, f: &NodeSuspended) {
        let waiting = |turn, held| OperatorWait {
            role: f.role.clone(),
            reason: f.reason,
            question: f.question.clone(),
            choices: f.choices.clone(),
            lack: f.lacks(),
            trouble: f.trouble,
            servers: f.servers.clone(),
            until: f.until,
            is_own_turn: f.is_own_turn(),
            asked: f.asked.clone(),
            failed: f.failed.clone(),
            consent: f.consent.clone(),
            approval: f.approval.clone(),
            since: place.at,
            turn,
            held,
        };
        self.rest(&f.role);
        if f.until.is_some()
            && let Some(session) = self.sessions.get_mut(&f.role)
        {
            session.limits_hit = session.limits_hit.saturating_add(1);
        }
        if let Some(origins) = self.imported.as_mut().filter(|_| f.about_project) {
            origins.asked_about_project = true;
        }
        if f.reason == WaitReason::RoleConfiguration {
            // A role that asks to be configured has no configuration that counts.
            self.configurations.remove(&f.role);
        }
        let Some(node) = &f.node else {
            if let Some(reflecting) = self.reflecting_mut(&f.role) {
                let turn = reflecting.turn;
                reflecting.waiting = Some(waiting(Some(turn), None));
            }
            return;
        };
        let before = self.awaiting_operator.remove(node);
        let held = self
            .running
            .remove(node)
            .or_else(|| before.and_then(|waiting| waiting.held));
        let turn = held.as_ref().map(|running| running.turn);
        self.awaiting_operator
            .insert(node.clone(), waiting(turn, held));
    }

    pub(super) fn woken(&mut self, f: &NodeWoken) {
        let open = self.main_turn_of(&f.role).is_some();
        if open && let Some(session) = self.sessions.get_mut(&f.role) {
            session.is_active = true;
        }
        let Some(node) = &f.node else {
            if let Some(reflecting) = self.reflecting_mut(&f.role) {
                reflecting.waiting = None;
            }
            return;
        };
        let Some(waiting) = self.awaiting_operator.remove(node) else {
            return;
        };
        match waiting.held {
            Some(held) if self.turns.contains_key(&held.turn) || !held.begun => {
                self.running.insert(node.clone(), held);
            }
            // An approved handoff is applied next; nothing else has to run for it.
            Some(_) | None if waiting.approval.is_some() => {}
            Some(_) | None => {
                self.wanted.insert(node.clone(), WantedRun::Woken);
            }
        }
    }

    pub(super) fn repair(&mut self, f: &RepairRequested) {
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            turn.repairs = f.count;
            turn.repair = Some(f.code);
        }
    }

    pub(super) fn replied(&mut self, place: FactPlace, f: &OperatorReplied) {
        let said = OperatorMessage {
            id: f.reply.clone(),
            text: f.text.clone(),
            at: place.at,
            when: None,
        };
        if let Some(node) = &f.node {
            self.replies.entry(node.clone()).or_default().push(said);
        } else if let Some(reflecting) = self.reflecting_mut(&f.role) {
            reflecting.replies.push(said);
        }
    }

    pub(super) fn reply_returned(&mut self, f: &ReplyReturned) {
        for replies in self.replies.values_mut() {
            replies.retain(|said| said.id != f.reply);
        }
        self.replies.retain(|_, replies| !replies.is_empty());
        for steers in self.steers.values_mut() {
            steers.retain(|said| said.id != f.reply);
        }
        self.steers.retain(|_, steers| !steers.is_empty());
        if let Some(improvement) = &mut self.improvement {
            let work = improvement.feedback.work.iter_mut();
            for role in improvement.roles.values_mut().chain(work) {
                role.replies.retain(|said| said.id != f.reply);
            }
        }
    }

    pub(super) fn steered(&mut self, place: FactPlace, f: &OperatorSteered) {
        self.steers
            .entry(f.role.clone())
            .or_default()
            .push(OperatorMessage {
                id: f.steer.clone(),
                text: f.text.clone(),
                at: place.at,
                when: Some(f.when),
            });
    }

    pub(super) fn stop(&mut self, f: &StopRequested) {
        for turn in self.turns.values_mut() {
            turn.stop |= match &f.scope {
                StopScope::Node(node) => turn.node.as_ref() == Some(node),
                StopScope::Role(role) => turn.role == *role,
                StopScope::All => true,
            };
        }
    }

    pub(super) fn consent_requested(&mut self, place: FactPlace, f: &ConsentRequested) {
        if let Some(call) = self.calls.get_mut(&f.call) {
            call.state = CallState::Consent;
        }
        let (terms, shown) = f.asked();
        let open = OpenConsent {
            call: f.call.clone(),
            role: f.role.clone(),
            node: f.node.clone(),
            tool: f.tool.clone(),
            action: f.action,
            shown: shown.into_owned(),
            terms,
            narrowed: f.narrowed,
            doubt: f.doubt.clone(),
            anew: f.anew,
            since: place.at,
        };
        self.consents.insert(f.consent.clone(), open);
    }

    pub(super) fn consent_resolved(&mut self, f: &ConsentResolved) {
        let Some(open) = self.consents.remove(&f.consent) else {
            return;
        };
        if let Some(call) = self.calls.get_mut(&open.call) {
            call.state = match f.answer {
                ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => CallState::Allowed,
                ConsentAnswer::Deny | ConsentAnswer::Withdrawn => CallState::Denied,
            };
            call.allowed = (call.state == CallState::Allowed).then_some(f.action);
            call.instead.clone_from(&f.reason);
        }
    }

    pub(super) fn configured(&mut self, f: &RoleConfigured) {
        let configuration = Configuration {
            settings: f.settings.clone(),
            by: f.by,
        };
        self.configurations.insert(f.role.clone(), configuration);
    }

    pub(super) fn improvement_chosen(&mut self, f: &ImprovementChosen) {
        self.phase = FlowPhase::Improving;
        self.improvement = Some(Improvement {
            mode: f.mode,
            plan: f.plan.clone(),
            roles: Default::default(),
            feedback: FeedbackReport::default(),
        });
    }

    pub(super) fn reflection_started(&mut self, f: &ReflectionStarted) {
        self.mint(f.turn);
        let unanswered = self.is_unanswered(&f.role, &Matter::Improvement);
        if let Some(improvement) = &mut self.improvement {
            let before = improvement.roles.remove(&f.role);
            let role = begin_again(before, f.turn, &f.replies, unanswered);
            improvement.roles.insert(f.role.clone(), role);
        }
    }

    pub(super) fn findings(&mut self, place: FactPlace, f: &FindingsRecorded) {
        let Some(improvement) = &mut self.improvement else {
            return;
        };
        if let Some(role) = improvement.roles.get_mut(&f.role) {
            role.findings = Some(f.findings.clone());
            role.seq = Some(place.seq);
            role.waiting = None;
        }
        if self.phase == FlowPhase::Improving && improvement.is_reflected() {
            self.phase = FlowPhase::FeedbackConsent;
        }
    }

    pub(super) fn feedback_decided(&mut self, f: &FeedbackDecided) {
        if let Some(improvement) = &mut self.improvement {
            improvement.feedback.granted = Some(f.granted);
        }
        if f.granted {
            self.phase = FlowPhase::Feedback;
        }
    }

    pub(super) fn feedback_started(&mut self, f: &FeedbackStarted) {
        self.mint(f.turn);
        let unanswered = self.is_unanswered(&f.role, &Matter::Improvement);
        if let Some(improvement) = &mut self.improvement {
            let before = improvement.feedback.work.take();
            let work = begin_again(before, f.turn, &f.replies, unanswered);
            improvement.feedback.work = Some(work);
            improvement.feedback.role = Some(f.role.clone());
        }
    }

    pub(super) fn feedback_recorded(&mut self, place: FactPlace, f: &FeedbackRecorded) {
        let work = self
            .improvement
            .as_mut()
            .and_then(|improvement| improvement.feedback.work.as_mut());
        if let Some(work) = work {
            work.findings = Some(f.report.clone());
            work.seq = Some(place.seq);
            work.waiting = None;
        }
    }

    pub(super) fn change_proposed(&mut self, place: FactPlace, f: &ChangeProposed) {
        let change = FileChangeState {
            role: f.role.clone(),
            path: f.path.clone(),
            before: f.before,
            finding: f.finding,
            after: Some(f.after.clone()),
            at: place.at,
            applied: None,
        };
        self.changes.insert(f.change.clone(), change);
    }

    pub(super) fn change_decided(&mut self, f: &ChangeDecided) {
        if let Some(change) = self.changes.get_mut(&f.change) {
            change.applied = Some(f.applied);
            change.after = None;
        }
    }

    pub(super) fn budget_set(&mut self, f: &BudgetSet) {
        let account = match &f.role {
            None => &mut self.account,
            Some(role) => self.role_accounts.entry(role.clone()).or_default(),
        };
        account.reached.retain(|measure| *measure != f.measure);
        match f.limit {
            Some(limit) => account.limits.insert(f.measure, limit),
            None => account.limits.remove(&f.measure),
        };
    }

    pub(super) fn budget_reached(&mut self, f: &BudgetReached) {
        let account = match &f.role {
            None => &mut self.account,
            Some(role) => self.role_accounts.entry(role.clone()).or_default(),
        };
        if !account.reached.contains(&f.measure) {
            account.reached.push(f.measure);
        }
    }

    /// A session no longer works: its turn is over or waits for the operator.
    pub(super) fn rest(&mut self, role: &RoleInstance) {
        if let Some(session) = self.sessions.get_mut(role) {
            session.is_active = false;
        }
    }
}

/// A role begins to reflect, or goes on with the replies it reads now.
fn begin_again(
    before: Option<Reflecting>,
    turn: TurnId,
    replies: &[MessageId],
    unanswered: bool,
) -> Reflecting {
    let seq = before.as_ref().and_then(|before| before.seq);
    let again = before.as_ref().map_or(0, |r| r.again.saturating_add(1));
    let (queued, mut unsaid, findings) =
        before.map_or_else(Default::default, |r| (r.replies, r.unsaid, r.findings));
    let (read, rest) = queued
        .into_iter()
        .partition(|said: &OperatorMessage| replies.contains(&said.id));
    unsaid.extend::<Vec<OperatorMessage>>(read);
    Reflecting {
        turn,
        begun: false,
        told: unanswered && again > 0 && unsaid.is_empty(),
        again,
        findings,
        seq,
        waiting: None,
        replies: rest,
        unsaid,
    }
}
