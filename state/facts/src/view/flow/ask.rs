//! Questions to the state of a flow. They are what decisions and legality are made of.

use std::collections::BTreeSet;

use super::parts::{LastRequest, OpenTurn, OperatorWait, RunningNode, SessionBrief};
use super::phase::Reflecting;
use super::state::FlowState;
use crate::at::At;
use crate::fact::budget::Measure;
use crate::fact::flow::{EdgeOutline, NodeOutline, Outline};
use crate::fact::node::WaitReason;
use crate::fact::turn::Cause;
use crate::handoff::{Delivery, EdgeName, HandoffWay};
use crate::id::{NodeId, RoleInstance, TurnId};

impl Outline {
    /// A node by its id.
    #[must_use]
    pub(crate) fn node(&self, id: &NodeId) -> Option<&NodeOutline> {
        self.nodes.iter().find(|node| node.id == *id)
    }

    /// An edge by its ends.
    #[must_use]
    pub(crate) fn edge(&self, name: &EdgeName) -> Option<&EdgeOutline> {
        self.edges.iter().find(|edge| edge.edge == *name)
    }

    /// The first node without an inbound edge.
    #[must_use]
    pub(crate) fn start(&self) -> Option<&NodeOutline> {
        let inbound = |node: &NodeOutline| self.edges.iter().any(|edge| edge.edge.to == node.id);
        self.nodes.iter().find(|node| !inbound(node))
    }

    /// The edges that leave a node, in the order of the file.
    #[cfg(test)]
    pub(crate) fn leaving<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = &'a EdgeOutline> {
        self.edges
            .iter()
            .filter(move |edge| edge.edge.from == *node)
    }

    /// The edges that enter a node, in the order of the file.
    #[cfg(test)]
    pub(crate) fn entering<'a>(
        &'a self,
        node: &'a NodeId,
    ) -> impl Iterator<Item = &'a EdgeOutline> {
        self.edges.iter().filter(move |edge| edge.edge.to == *node)
    }
}

impl Cause {
    /// Whether a turn of this cause works beside the session instead of in it: what it says is no
    /// message of the transcript.
    #[must_use]
    pub fn is_aside(self) -> bool {
        match self {
            Self::Compaction | Self::Selection => true,
            Self::Node | Self::Reflection | Self::Feedback => false,
        }
    }
}

impl FlowState {
    /// Whether the flow exists.
    #[must_use]
    pub fn is_created(&self) -> bool {
        self.project.is_some()
    }

    /// The role instance of a node.
    #[must_use]
    pub fn role_of(&self, node: &NodeId) -> Option<&RoleInstance> {
        self.graph.node(node).map(|node| &node.role)
    }

    /// The session of a role instance, if it has one.
    #[must_use]
    pub fn session(&self, role: &RoleInstance) -> Option<&SessionBrief> {
        self.sessions.get(role)
    }

    /// The node that a role instance has, if it has one.
    #[must_use]
    pub fn running_of<S>(&self, role: &S) -> Option<(&NodeId, &RunningNode)>
    where
        RoleInstance: PartialEq<S>,
    {
        self.running
            .iter()
            .find(|(_, running)| running.role == *role)
    }

    /// The node on which a role instance waits for the operator, if it waits on one.
    #[must_use]
    pub fn waiting_of(&self, role: &RoleInstance) -> Option<(&NodeId, &OperatorWait)> {
        self.awaiting_operator
            .iter()
            .find(|(_, waiting)| waiting.role == *role)
    }

    /// The open turn that works in the session of a role instance.
    #[must_use]
    pub fn main_turn_of(&self, whose: &RoleInstance) -> Option<(TurnId, &OpenTurn)> {
        self.turns
            .iter()
            .find(|(_, turn)| turn.role == *whose && !turn.cause.is_aside())
            .map(|(id, turn)| (*id, turn))
    }

    /// The open turn that works beside the session of a role instance.
    #[must_use]
    pub fn aside_turn_of(&self, whose: &RoleInstance) -> Option<(TurnId, &OpenTurn)> {
        self.turns
            .iter()
            .find(|(_, turn)| turn.role == *whose && turn.cause.is_aside())
            .map(|(id, turn)| (*id, turn))
    }

    /// The last request of an open turn, if it has this number.
    #[must_use]
    pub fn request(&self, turn: TurnId, number: u32) -> Option<&LastRequest> {
        let request = self.turns.get(&turn)?.request.as_ref()?;
        (request.number == number).then_some(request)
    }

    /// A role that reflects or that writes the report.
    #[must_use]
    pub fn reflecting(&self, role: &RoleInstance) -> Option<&Reflecting> {
        let improvement = self.improvement.as_ref()?;
        if improvement.feedback.role.as_ref() == Some(role) {
            return improvement.feedback.work.as_ref();
        }
        improvement.roles.get(role)
    }

    pub(crate) fn reflecting_mut(&mut self, role: &RoleInstance) -> Option<&mut Reflecting> {
        let improvement = self.improvement.as_mut()?;
        if improvement.feedback.role.as_ref() == Some(role) {
            return improvement.feedback.work.as_mut();
        }
        improvement.roles.get_mut(role)
    }

    /// Every wait for the operator: by nodes in their order, then by roles that reflect.
    pub fn waits(&self) -> impl Iterator<Item = (Option<&NodeId>, &OperatorWait)> {
        let nodes = self
            .awaiting_operator
            .iter()
            .map(|(node, waiting)| (Some(node), waiting));
        let reflecting = self.improvement.iter().flat_map(|improvement| {
            let report = improvement.feedback.work.iter();
            improvement.roles.values().chain(report)
        });
        nodes.chain(reflecting.filter_map(|role| role.waiting.as_ref().map(|w| (None, w))))
    }

    /// Whether the operator has not answered yet what this waits for. What is answered the role only has to take up.
    #[must_use]
    pub fn is_asked(&self, node: Option<&NodeId>, waiting: &OperatorWait) -> bool {
        match waiting.reason {
            WaitReason::Consent => {
                let consent = waiting.consent.as_ref();
                consent.is_none_or(|consent| self.consents.contains_key(consent))
            }
            WaitReason::HandoffApproval => {
                let approval = waiting.approval.as_ref();
                let staged = approval.and_then(|approval| self.staged.get(approval));
                staged.is_some_and(|staged| !staged.approved)
            }
            WaitReason::RoleConfiguration => !self.configurations.contains_key(&waiting.role),
            WaitReason::PromptHuman
            | WaitReason::AutonomousAbort
            | WaitReason::ConsentDenied
            | WaitReason::RepairLimit
            | WaitReason::Budget
            | WaitReason::Provider
            | WaitReason::Message => match node {
                Some(node) => !self.replies.contains_key(node),
                None => (self.reflecting(&waiting.role)).is_none_or(|role| role.replies.is_empty()),
            },
        }
    }

    /// When this goes on by itself, if it does.
    #[must_use]
    pub fn goes_on_at(&self, waiting: &OperatorWait) -> Option<At> {
        let goes_on = self.paused.is_none() && !self.phase.is_over();
        waiting.until.filter(|_| goes_on)
    }

    /// How many nodes were there and have nothing left to do.
    #[must_use]
    pub fn done_nodes(&self) -> usize {
        // Every fact asks for it, and of the nodes of a long flow few have something to do.
        let running = self.running.keys().chain(self.awaiting_operator.keys());
        let others = self.cut_off.iter().chain(&self.awaiting_handoff);
        let busy = running.chain(others).chain(self.wanted.keys());
        let busy: BTreeSet<&NodeId> = busy.filter(|node| self.visited.contains(*node)).collect();
        self.visited.len() - busy.len()
    }

    /// Whether a node has handed over all it owes, and has nothing more to do.
    #[must_use]
    pub fn is_done(&self, node: &NodeId) -> bool {
        self.visited.contains(node)
            && !self.owing.contains(node)
            && !self.running.contains_key(node)
            && !self.awaiting_operator.contains_key(node)
            && !self.cut_off.contains(node)
            && !self.awaiting_handoff.contains(node)
            && !self.staged.values().any(|staged| staged.node == *node)
            && self.deliverable(node).next().is_none()
    }

    /// Whether something arrived along an edge, this way, and was not read.
    #[must_use]
    pub fn has_received(&self, edge: &EdgeName, way: HandoffWay) -> bool {
        self.received
            .iter()
            .any(|delivery| delivery.edge == *edge && delivery.way == way)
    }

    /// Whether a node's own request to its predecessor, along this edge, is still unread. Until it
    /// is read, what the predecessor had sent before is stale.
    #[must_use]
    pub(crate) fn has_unread_request(&self, edge: &EdgeName) -> bool {
        self.has_received(edge, HandoffWay::Backward)
    }

    /// What a node may read now: everything from successors, and from predecessors what is not
    /// stale.
    pub fn deliverable<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = &'a Delivery> {
        self.received
            .iter()
            .filter(move |delivery| delivery.receiver() == node)
            .filter(|delivery| match delivery.way {
                HandoffWay::Backward => true,
                HandoffWay::Forward => !self.has_unread_request(&delivery.edge),
            })
    }

    /// The edges a node still owes: those that leave it and are not completed. An optional edge is
    /// never owed.
    pub fn owed<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = &'a EdgeName> {
        self.graph
            .leaving(node)
            .filter(|edge| !edge.optional && !self.completed_edges.contains(&edge.edge))
            .map(|edge| &edge.edge)
    }

    /// Whether a path was ever passed along an edge.
    #[must_use]
    pub(crate) fn was_passed(&self, edge: &EdgeName, path: &str) -> bool {
        self.history
            .get(&edge.from)
            .and_then(|to| to.get(&edge.to))
            .is_some_and(|paths| paths.contains(path))
    }

    /// What is left of a budget; absent without a limit.
    #[must_use]
    pub fn left(&self, role: Option<&RoleInstance>, measure: Measure) -> Option<u64> {
        let account = match role {
            None => &self.account,
            Some(role) => self.role_accounts.get(role)?,
        };
        let limit = account.limits.get(&measure)?;
        Some(limit.saturating_sub(account.spent.of(measure)))
    }
}
