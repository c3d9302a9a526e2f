//! What happened at nodes and along edges, as far as the state of a flow does not keep it.

use std::collections::{BTreeMap, VecDeque};

use a_society_facts::Fact;
use a_society_facts::fact::node::{HandoffApplied, NodeClaimed, NodeEntry};
use a_society_facts::fact::turn::TurnEnd;
use a_society_facts::handoff::{EdgeName, HandoffWay};
use a_society_facts::id::{NodeId, RoleInstance, Seq, TurnId};
use a_society_facts::view::flow::Decisions;
use a_society_facts::view::flow::FlowState;
use a_society_facts::{At, Recorded};

use super::limits::PASSED_MAX;
use super::tasks::Lists;
use super::words;
use crate::protocol::flow::Passed;

/// What happened at a node.
#[derive(Debug, Clone, Default)]
pub(super) struct AtNode {
    /// The last turn there, counted among its role's.
    pub(super) turn: Option<u64>,
    pub(super) attempt: Option<u32>,
    pub(super) since: Option<At>,
    pub(super) began: Option<At>,
    pub(super) took_ms: Option<u64>,
    /// How long its turns took together.
    worked_ms: u64,
    pub(super) correction: bool,
    pub(super) failed: bool,
    pub(super) seq: Seq,
}

impl AtNode {
    /// Adds the time since its turn began, or went on.
    fn works_until(&mut self, until: At) {
        let took = self.began.map(|began| until.ms() - began.ms());
        self.worked_ms += took.and_then(|took| u64::try_from(took).ok()).unwrap_or(0);
    }
}

/// What went along an edge.
#[derive(Debug, Clone, Default)]
pub(super) struct AlongEdge {
    pub(super) forward: VecDeque<Passed>,
    pub(super) backward: VecDeque<Passed>,
}

/// What happened.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    pub(super) nodes: BTreeMap<NodeId, AtNode>,
    pub(super) edges: BTreeMap<EdgeName, AlongEdge>,
    pub(super) decisions: Decisions,
    /// The model each role asked last.
    pub(super) models: BTreeMap<RoleInstance, String>,
    pub(super) cached_tokens: Option<u64>,
    /// When the last record was made.
    before: Option<At>,
    /// How many turns each role began, and which of them each turn is: people count the turns of one role.
    taken: BTreeMap<RoleInstance, u64>,
    pub(super) numbers: BTreeMap<TurnId, u64>,
    /// The task lists of the roles.
    pub(super) tasks: Lists,
}

impl History {
    /// Takes the next fact, before the state has taken it.
    pub(super) fn apply(&mut self, state: &FlowState, recorded: &Recorded) {
        let Some(fact) = recorded.fact() else {
            return;
        };
        self.at_nodes(state, recorded, fact);
        self.before = Some(recorded.at);
        self.decisions.apply(state, recorded);
        if let Fact::ModelRequested(f) = fact {
            let model = self.models.entry(f.role.clone()).or_default();
            f.model.clone_into(model);
        }
        self.tasks.hear(fact);
        if let Fact::ModelAnswered(f) = fact {
            let cached = f.usage.cache_read_tokens;
            if cached > 0 || self.cached_tokens.is_some() {
                self.cached_tokens = Some(self.cached_tokens.unwrap_or(0).saturating_add(cached));
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "most facts are not about a node, and the state knows of those that are"
    )]
    fn at_nodes(&mut self, state: &FlowState, recorded: &Recorded, fact: &Fact) {
        match fact {
            Fact::NodeClaimed(f) => self.claimed(recorded, f),
            Fact::HandoffApplied(f) => self.handed_over(recorded, f),
            Fact::HandoffStaged(f) => self.moves(&f.node, recorded),
            Fact::HandoffAwaited(f) => self.moves(&f.node, recorded),
            Fact::NodeSuspended(f) => self.maybe_moves(f.node.as_ref(), recorded),
            Fact::NodeWoken(f) => self.maybe_moves(f.node.as_ref(), recorded),
            Fact::NodeReopened(f) => self.moves(&f.node, recorded),
            // A fork begins later than what it shares, and a process later than the last one ended: between them
            // nothing worked.
            Fact::FlowForked(_) | Fact::WriterOpened(_) => self.rested(recorded.at),
            // What works beside a session is no turn of its role.
            Fact::TurnStarted(f) if f.cause.is_aside() => {}
            Fact::TurnStarted(f) => {
                let number = self.number(f.turn, &f.role);
                if let Some(node) = &f.node {
                    let at = self.node(node, recorded);
                    (at.turn, at.attempt) = (Some(number), Some(f.attempt));
                    (at.began, at.failed) = (Some(recorded.at), false);
                }
            }
            Fact::TurnResumed(f) => {
                let node = state.turns.get(&f.turn).and_then(|turn| turn.node.clone());
                if let Some(node) = node {
                    self.node(&node, recorded).attempt = Some(f.attempt);
                }
            }
            Fact::TurnEnded(f) => {
                let turn = state.turns.get(&f.turn);
                let turn = turn.filter(|turn| !turn.cause.is_aside());
                if let Some(node) = turn.and_then(|turn| turn.node.clone()) {
                    let at = self.node(&node, recorded);
                    at.works_until(recorded.at);
                    at.began = None;
                    at.took_ms = Some(at.worked_ms);
                    at.failed = f.end == TurnEnd::Failed;
                }
            }
            _ => {}
        }
    }

    /// Nothing worked since the last record, until now.
    fn rested(&mut self, now: At) {
        let Some(before) = self.before else {
            return;
        };
        for at in self.nodes.values_mut().filter(|at| at.began.is_some()) {
            at.works_until(before);
            at.began = Some(now);
        }
    }

    fn node(&mut self, node: &NodeId, recorded: &Recorded) -> &mut AtNode {
        let at = self.nodes.entry(node.clone()).or_default();
        at.seq = recorded.seq;
        at
    }

    fn moves(&mut self, node: &NodeId, recorded: &Recorded) {
        self.node(node, recorded).since = Some(recorded.at);
    }

    fn maybe_moves(&mut self, node: Option<&NodeId>, recorded: &Recorded) {
        if let Some(node) = node {
            self.moves(node, recorded);
        }
    }

    /// Which of a role's turns this is. A claim and each try are the same turn.
    fn number(&mut self, turn: TurnId, role: &RoleInstance) -> u64 {
        if let Some(number) = self.numbers.get(&turn) {
            return *number;
        }
        let taken = self.taken.entry(role.clone()).or_default();
        *taken += 1;
        self.numbers.insert(turn, *taken);
        *taken
    }

    fn claimed(&mut self, recorded: &Recorded, f: &NodeClaimed) {
        let back = f
            .consumed
            .iter()
            .any(|inbound| inbound.way == HandoffWay::Backward);
        let number = self.number(f.turn, &f.role);
        let at = self.node(&f.node, recorded);
        at.since = Some(recorded.at);
        at.turn = Some(number);
        at.correction = back || f.entry == NodeEntry::Reopened;
        at.took_ms = None;
        for inbound in &f.consumed {
            let along = self.edges.entry(inbound.edge.clone()).or_default();
            let list = match inbound.way {
                HandoffWay::Forward => &mut along.forward,
                HandoffWay::Backward => &mut along.backward,
            };
            for passed in list {
                passed.read = true;
            }
        }
    }

    fn handed_over(&mut self, recorded: &Recorded, f: &HandoffApplied) {
        self.moves(&f.node, recorded);
        for delivery in &f.deliveries {
            let along = self.edges.entry(delivery.edge.clone()).or_default();
            let list = match delivery.way {
                HandoffWay::Forward => &mut along.forward,
                HandoffWay::Backward => &mut along.backward,
            };
            let at = words::at(recorded.at);
            if let Some(last) = list.back_mut() {
                last.superseded_at = Some(at.clone());
            }
            list.push_back(Passed {
                artifact: words::artifact(&delivery.artifact),
                seq: recorded.seq,
                at,
                superseded_at: None,
                read: false,
            });
            if list.len() > PASSED_MAX {
                list.pop_front();
            }
        }
    }
}
