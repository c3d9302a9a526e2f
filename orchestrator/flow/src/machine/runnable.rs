//! Which nodes may be taken, and in which order (rows C1 to C6 of `SCHEDULING.md`).
//!
//! There is no stored queue of what is ready: this is asked anew each time.

use std::collections::BTreeSet;

use a_society_facts::fact::node::{NodeEntry, WaitReason};
use a_society_facts::handoff::HandoffWay;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::flow::{OperatorWait, WantedRun};

use super::live::Board;
use crate::graph::NodeIndex;

/// Why a node may be taken; earlier groups go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// C1: the operator has answered it, or wants it to run.
    Operator,
    /// C2: what it waited for is there.
    Ready,
    /// C3: its turn was lost, or claimed and never begun.
    Interrupted,
    /// C4: it still owes an edge.
    Owing,
    /// C5: something arrived that it may read.
    Arrived,
}

/// A node that may be taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunnableNode<'a> {
    pub(super) node: &'a NodeId,
    pub(super) role: &'a RoleInstance,
}

impl<'a> Board<'a> {
    /// The nodes to take now, in order: of each role instance the first one, if it is free.
    pub(super) fn offers(&self) -> Vec<RunnableNode<'a>> {
        let mut taken: BTreeSet<&RoleInstance> = BTreeSet::new();
        let mut offers = self.in_order();
        if offers.is_empty() {
            offers.extend(self.stalled());
        }
        offers.retain(|offer| self.is_free(offer.role, offer.node) && taken.insert(offer.role));
        offers
    }

    /// Every runnable node, by group and then in the order of the graph, whether its role is free
    /// or not.
    pub(super) fn in_order(&self) -> Vec<RunnableNode<'a>> {
        let mut found: Vec<(NodeIndex, Group, &NodeId)> = Vec::new();
        let mut add = |node: &'a NodeId, group: Group| {
            if let Some(index) = self.graph.index_of(node) {
                found.push((index, group, node));
            }
        };
        self.answered().for_each(|node| add(node, Group::Operator));
        for (node, wanted) in &self.state.wanted {
            match wanted {
                WantedRun::Reopened { .. } | WantedRun::Retried => add(node, Group::Operator),
                WantedRun::Woken => add(node, Group::Ready),
            }
        }
        self.configured().for_each(|node| add(node, Group::Ready));
        self.interrupted()
            .for_each(|node| add(node, Group::Interrupted));
        self.owing().for_each(|node| add(node, Group::Owing));
        let arrived = self.arrived();
        found.extend(arrived.map(|(index, node)| (index, Group::Arrived, node)));
        // Of a node that is there for several reasons the first one counts.
        found.sort_unstable_by_key(|(index, group, _)| (*index, *group));
        found.dedup_by_key(|(index, _, _)| *index);
        found.sort_unstable_by_key(|(index, group, _)| (*group, *index));
        (found.into_iter())
            .map(|(index, _, node)| RunnableNode {
                node,
                role: &self.graph.node_at(index).role,
            })
            .collect()
    }

    fn answered(&self) -> impl Iterator<Item = &'a NodeId> {
        let state = self.state;
        state.replies.keys().filter(|node| {
            let waiting = state.awaiting_operator.get(*node);
            !state.running.contains_key(*node) && waiting.is_none_or(OperatorWait::takes_text)
        })
    }

    fn configured(&self) -> impl Iterator<Item = &'a NodeId> {
        let state = self.state;
        let ready = |waiting: &OperatorWait| {
            waiting.reason == WaitReason::RoleConfiguration
                && state.configurations.contains_key(&waiting.role)
        };
        let waits = state.awaiting_operator.iter();
        waits.filter(move |(_, w)| ready(w)).map(|(node, _)| node)
    }

    fn interrupted(&self) -> impl Iterator<Item = &'a NodeId> {
        let state = self.state;
        let running = state.running.iter();
        let lost = running.filter(|(_, r)| !state.turns.contains_key(&r.turn));
        lost.map(|(node, _)| node)
    }

    fn owing(&self) -> impl Iterator<Item = &'a NodeId> {
        let state = self.state;
        (state.owing.iter())
            .filter(|node| !self.is_active(node) && !state.awaiting_handoff.contains(*node))
    }

    fn arrived(&self) -> impl Iterator<Item = (NodeIndex, &'a NodeId)> {
        let state = self.state;
        let may_wake = |node: &NodeId| match state.awaiting_operator.get(node) {
            None => !self.is_active(node),
            Some(waiting) => {
                waiting.reason == WaitReason::PromptHuman && !state.replies.contains_key(node)
            }
        };
        let first = self.graph.start();
        let start = &self.graph.node_at(first).id;
        let begins = !state.visited.contains(start);
        let received = self.receivers().filter(move |(index, node)| {
            may_wake(node)
                && self.deliverable(*index).next().is_some()
                && self.has_all_inputs(*index)
        });
        // The start has no inbound edge; what arrives there is the flow itself. A chat begins with a message.
        let begins = begins && state.chat.is_none();
        let flow = state.graph.node(start).filter(|_| begins);
        received.chain(flow.map(|node| (first, &node.id)))
    }

    /// Whether something other than this node goes on by itself or by the operator.
    pub(super) fn others_go_on(&self, node: &NodeId) -> bool {
        let state = self.state;
        state.running.keys().any(|other| other != node)
            || !state.awaiting_operator.is_empty()
            || !state.staged.is_empty()
            || self.in_order().iter().any(|offer| offer.node != node)
    }

    /// C6: nothing runs, nothing waits for the operator, and nothing is runnable. A node that awaits a
    /// handoff awaits it in vain, so the first of them is resumed; if none does, the closing node is.
    fn stalled(&self) -> Option<RunnableNode<'a>> {
        let state = self.state;
        let quiet = state.running.is_empty()
            && state.awaiting_operator.is_empty()
            && state.staged.is_empty();
        if !quiet {
            return None;
        }
        let awaiting = state.awaiting_handoff.iter();
        let first = awaiting.filter_map(|node| self.graph.index_of(node)).min();
        let index = first.unwrap_or(self.graph.closing());
        let node = self.graph.node_at(index);
        let known = state.visited.get(&node.id)?;
        Some(RunnableNode {
            node: known,
            role: &node.role,
        })
    }

    /// Why a node would be entered now.
    pub(super) fn entry(&self, node: &NodeId) -> NodeEntry {
        let state = self.state;
        let waiting = state.awaiting_operator.get(node);
        let asked_back = |way: HandoffWay| way == HandoffWay::Backward;
        if state.running.contains_key(node) {
            NodeEntry::Recovered
        } else if state.replies.contains_key(node) {
            NodeEntry::Reply
        } else if waiting.is_some_and(|w| w.reason == WaitReason::RoleConfiguration) {
            NodeEntry::Configured
        } else if !state.visited.contains(node) {
            NodeEntry::First
        } else if matches!(state.wanted.get(node), Some(WantedRun::Reopened { .. }))
            || self.reads(node).any(|delivery| asked_back(delivery.way))
        {
            NodeEntry::Reopened
        } else {
            NodeEntry::Again
        }
    }

    /// What would be read on entering: nothing beside the operator's answer, and nothing before
    /// all is there that is waited for.
    pub(super) fn reads(
        &self,
        node: &NodeId,
    ) -> impl Iterator<Item = &'a a_society_facts::handoff::Delivery> {
        let index = self.graph.index_of(node);
        let index = index
            .filter(|index| !self.state.replies.contains_key(node) && self.has_all_inputs(*index));
        index.into_iter().flat_map(|index| self.deliverable(index))
    }
}
