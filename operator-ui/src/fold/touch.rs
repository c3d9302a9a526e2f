//! Which parts of a flow a fact may change. It may name too many and never too few.

use std::collections::BTreeSet;

use a_society_facts::Fact;
use a_society_facts::fact::columns::{FactWeight, Width};
use a_society_facts::handoff::Delivery;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::route::{feed_role, session_role};

/// Parts that may have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Everything may have.
    pub all: bool,
    /// Anything but streamed text was recorded.
    pub facts: bool,
    /// These nodes, their neighbours, and the edges between them.
    pub nodes: BTreeSet<NodeId>,
    /// These roles, and their nodes.
    pub roles: BTreeSet<RoleInstance>,
}

impl Touched {
    /// Everything.
    #[must_use]
    pub(crate) fn all() -> Self {
        Self {
            all: true,
            facts: true,
            ..Self::default()
        }
    }

    /// Adds what a fact may change, before the state has taken it.
    pub(crate) fn add(&mut self, state: &FlowState, fact: &Fact) {
        if fact.weight() == FactWeight::Draft {
            return;
        }
        self.facts = true;
        if self.all {
            return;
        }
        let roles = [session_role(fact), feed_role(state, fact)];
        for role in roles.into_iter().flatten() {
            self.nodes.extend(moving(state, role).cloned());
            self.roles.insert(role.clone());
        }
        self.nodes_of(fact);
        self.all |= fact.width() == Width::Wide;
    }

    /// Widens the roles to those of their nodes that move, and the nodes to their neighbours.
    pub(crate) fn widen(&mut self, state: &FlowState) {
        if self.all {
            return;
        }
        let graph = &state.graph;
        let nodes = self.roles.iter().flat_map(|role| moving(state, role));
        let nodes: Vec<NodeId> = nodes.cloned().collect();
        self.nodes.extend(nodes);
        let near: Vec<NodeId> = (self.nodes.iter())
            .flat_map(|node| {
                let after = graph.leaving(node).map(|edge| edge.edge.to.clone());
                after.chain(graph.entering(node).map(|edge| edge.edge.from.clone()))
            })
            .collect();
        self.nodes.extend(near);
        let roles = self.nodes.iter().filter_map(|node| state.role_of(node));
        self.roles.extend(roles.cloned());
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts are about a role, and its nodes are touched with it"
    )]
    fn nodes_of(&mut self, fact: &Fact) {
        let mut carried = |deliveries: &[Delivery]| {
            let ends = deliveries.iter().flat_map(|d| [&d.edge.from, &d.edge.to]);
            self.nodes.extend(ends.cloned());
        };
        match fact {
            Fact::HandoffApplied(f) => {
                carried(&f.deliveries);
                self.nodes.insert(f.node.clone());
            }
            Fact::HandoffStaged(f) => {
                self.nodes.insert(f.node.clone());
            }
            Fact::HandoffAwaited(f) => {
                self.nodes.insert(f.node.clone());
            }
            Fact::NodeClaimed(f) => {
                self.roles.insert(f.role.clone());
                self.nodes.insert(f.node.clone());
            }
            Fact::RoleConfigured(f) => {
                self.roles.insert(f.role.clone());
            }
            Fact::CallIntended(f) => {
                self.roles.insert(f.role.clone());
            }
            Fact::CallStarted(f) => {
                self.roles.insert(f.role.clone());
            }
            Fact::ModelRequested(f) => {
                self.roles.insert(f.role.clone());
            }
            Fact::OperatorSteered(f) => {
                self.roles.insert(f.role.clone());
            }
            _ => {}
        }
    }
}

/// The nodes of a role on which anything goes on. A long flow has many others, and no fact about a
/// turn or a session changes those.
fn moving<'a>(state: &'a FlowState, role: &'a RoleInstance) -> impl Iterator<Item = &'a NodeId> {
    let running = state.running.iter().filter(|(_, at)| at.role == *role);
    let waiting = (state.awaiting_operator.iter()).filter(|(_, at)| at.role == *role);
    let in_turn = state.turns.values().filter(|turn| turn.role == *role);
    let is_theirs = |node: &&NodeId| state.role_of(node) == Some(role);
    let suspended = state.awaiting_handoff.iter().filter(is_theirs);
    let wanted = state.wanted.keys().filter(is_theirs);
    (running.map(|(node, _)| node))
        .chain(waiting.map(|(node, _)| node))
        .chain(in_turn.filter_map(|turn| turn.node.as_ref()))
        .chain(suspended)
        .chain(wanted)
}
