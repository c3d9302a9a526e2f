//! The open things of a flow: who is at work, what arrived, and what can still come.
//!
//! Rows D1 to D4 of `SCHEDULING.md` are answered here. A [`Board`] is laid out from the open things of a flow, never from all of its nodes, so that
//! its cost is what is open and not the size of the graph.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::fact::turn::Cause;
use a_society_facts::handoff::{Delivery, EdgeName, HandoffWay};
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::flow::FlowState;

use crate::graph::{FlowGraph, NodeIndex};

/// The open things of a flow, by node and by role.
#[derive(Debug)]
pub(super) struct Board<'a> {
    pub(super) graph: &'a FlowGraph,
    pub(super) state: &'a FlowState,
    /// What arrived and was not read, in the order of its receivers and then of its arrival. Places
    /// in the graph are looked up once here; in a large one, that is most of the cost of a look.
    unread: Vec<(NodeIndex, &'a Delivery)>,
    /// The edges with an unread request at the beginning.
    requests: BTreeSet<&'a EdgeName>,
    /// The nodes with a staged handoff.
    staged: BTreeSet<&'a NodeId>,
    /// The node that a role instance has, or on which it waits for the operator.
    occupied: BTreeMap<&'a RoleInstance, &'a NodeId>,
    /// The role instances in whose session a turn is open.
    in_turn: BTreeSet<&'a RoleInstance>,
}

impl<'a> Board<'a> {
    pub(super) fn of(graph: &'a FlowGraph, state: &'a FlowState) -> Self {
        let place = |delivery| Some((graph.index_of(Delivery::receiver(delivery))?, delivery));
        let mut unread: Vec<(NodeIndex, &Delivery)> =
            state.received.iter().filter_map(place).collect();
        unread.sort_by_key(|(node, _)| *node);
        let back = state
            .received
            .iter()
            .filter(|d| d.way == HandoffWay::Backward);
        let requests = back.map(|delivery| &delivery.edge).collect();
        let waiting = state.awaiting_operator.iter();
        let running = state.running.iter();
        let main = |cause: Cause| !cause.is_aside();
        Self {
            graph,
            state,
            unread,
            requests,
            staged: state.staged.values().map(|staged| &staged.node).collect(),
            occupied: (waiting.map(|(node, w)| (&w.role, node)))
                .chain(running.map(|(node, r)| (&r.role, node)))
                .collect(),
            in_turn: (state.turns.values().filter(|turn| main(turn.cause)))
                .map(|turn| &turn.role)
                .collect(),
        }
    }

    /// The nodes with something unread.
    pub(super) fn receivers(&self) -> impl Iterator<Item = (NodeIndex, &'a NodeId)> {
        let each = self.unread.chunk_by(|(one, _), (other, _)| one == other);
        each.filter_map(|lot| lot.first())
            .map(|(index, delivery)| (*index, delivery.receiver()))
    }

    /// The unread deliveries of a node.
    fn unread_at(&self, node: NodeIndex) -> &[(NodeIndex, &'a Delivery)] {
        let from = self.unread.partition_point(|(other, _)| *other < node);
        let rest = self.unread.get(from..).unwrap_or_default();
        let upto = rest.partition_point(|(other, _)| *other == node);
        rest.get(..upto).unwrap_or_default()
    }

    /// What a node may read now: everything that came back to it, and what came forward unless the
    /// node itself asked for it to be corrected and that request is still unread.
    pub(super) fn deliverable(&self, node: NodeIndex) -> impl Iterator<Item = &'a Delivery> {
        let unread = self.unread_at(node).iter().map(|(_, delivery)| *delivery);
        unread.filter(|delivery| match delivery.way {
            HandoffWay::Backward => true,
            HandoffWay::Forward => !self.requests.contains(&delivery.edge),
        })
    }

    /// Whether a role instance may take a node: no turn of it is open, and it neither has nor waits
    /// on another node.
    pub(super) fn is_free(&self, role: &RoleInstance, node: &NodeId) -> bool {
        let elsewhere = self.occupied.get(role).is_some_and(|other| *other != node);
        !elsewhere && !self.in_turn.contains(role)
    }

    /// Whether a node has its role, waits for the operator, or has a handoff that does.
    pub(super) fn is_active(&self, node: &NodeId) -> bool {
        self.state.running.contains_key(node)
            || self.state.awaiting_operator.contains_key(node)
            || self.staged.contains(node)
    }

    /// Whether a node that waits for all of its inputs has all that can still come.
    pub(super) fn has_all_inputs(&self, index: NodeIndex) -> bool {
        let node = self.graph.node_at(index);
        if !node.awaits_all_inputs() {
            return true;
        }
        // The state names its edges, so that none has to be named anew to be looked up.
        self.state.graph.entering(&node.id).all(|edge| {
            let can_still_come = || {
                let from = self.graph.index_of(&edge.edge.from);
                from.is_some_and(|from| self.can_still_run(from))
            };
            self.state.completed_edges.contains(&edge.edge) || !can_still_come()
        })
    }

    /// Whether anything leads to a node that is at work, waits, or has something to do. While no
    /// optional edge is left out, this is true of every node whose work is not done.
    fn can_still_run(&self, node: NodeIndex) -> bool {
        let mut met = BTreeSet::from([node]);
        let mut open = vec![node];
        while let Some(next) = open.pop() {
            if self.has_something_to_do(next) {
                return true;
            }
            let before = self.graph.predecessors(next);
            open.extend(before.filter(|earlier| met.insert(*earlier)));
        }
        false
    }

    fn has_something_to_do(&self, index: NodeIndex) -> bool {
        let node = &self.graph.node_at(index).id;
        self.is_active(node)
            || self.state.awaiting_handoff.contains(node)
            || self.state.owing.contains(node)
            || self.state.wanted.contains_key(node)
            || self.state.replies.contains_key(node)
            || !self.unread_at(index).is_empty()
            || (index == self.graph.start() && !self.state.visited.contains(node))
    }
}
