//! Which parts of a flow a fact may change. It may name too many and never too few.

use std::collections::BTreeSet;

use a_society_facts::Seat;
use a_society_facts::fact::Fact;
use a_society_facts::handoff::Delivery;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::FlowState;
use a_society_facts::view::route::{feed_seat, session_seat};

/// Parts that may have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
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
    pub fn all() -> Self {
        Self {
            all: true,
            facts: true,
            ..Self::default()
        }
    }

    /// Adds what a fact may change, before the state has taken it.
    pub fn add(&mut self, state: &FlowState, fact: &Fact) {
        if matches!(fact, Fact::DraftAdded(_)) {
            return;
        }
        self.facts = true;
        if self.all {
            return;
        }
        let seats = [session_seat(fact), feed_seat(state, fact)];
        for role in seats.iter().flatten().filter_map(Seat::role) {
            self.nodes.extend(moving(state, role).cloned());
            self.roles.insert(role.clone());
        }
        self.nodes_of(fact);
        self.all |= is_wide(fact);
    }

    /// Widens the roles to those of their nodes that move, and the nodes to their neighbours.
    pub fn widen(&mut self, state: &FlowState) {
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

/// Whether a fact may change more than one place. These are rare; a new fact has to be sorted in here.
#[expect(clippy::too_many_lines, reason = "one exhaustive match")]
const fn is_wide(fact: &Fact) -> bool {
    match fact {
        Fact::SegmentStarted(_)
        | Fact::WriterOpened(_)
        | Fact::RecoveryTruncated(_)
        | Fact::RecoveryLossy(_)
        | Fact::QuarantineRestored(_)
        | Fact::RepairApplied(_)
        | Fact::BlobLost(_)
        | Fact::BlobFound(_)
        | Fact::FlowCreated(_)
        | Fact::FlowForked(_)
        | Fact::FlowImported(_)
        | Fact::SessionImported(_)
        | Fact::FeedImported(_)
        | Fact::FlowTitled(_)
        | Fact::EndsChosen(_)
        | Fact::GraphRevised(_)
        | Fact::FlowPaused(_)
        | Fact::FlowUnpaused(_)
        | Fact::FlowCancelled(_)
        | Fact::ForwardPassClosed(_)
        | Fact::FlowCompleted(_)
        | Fact::NodeReopened(_)
        | Fact::NodeRetried(_)
        | Fact::HandoffDecided(_)
        | Fact::OperatorReplied(_)
        | Fact::StopRequested(_)
        | Fact::ConsentRequested(_)
        | Fact::ConsentResolved(_)
        | Fact::ConsentRuled(_)
        | Fact::ConsentRulesAdded(_)
        | Fact::ConsentRulesRemoved(_)
        | Fact::ConsentModeChanged(_)
        | Fact::GrantAdded(_)
        | Fact::ImprovementChosen(_)
        | Fact::ReflectionStarted(_)
        | Fact::FindingsRecorded(_)
        | Fact::FeedbackDecided(_)
        | Fact::FeedbackStarted(_)
        | Fact::FeedbackRecorded(_)
        | Fact::ChangeProposed(_)
        | Fact::ChangeDecided(_)
        | Fact::BudgetSet(_)
        | Fact::BudgetReached(_) => true,
        // These are about a role or a node, which is touched by itself.
        Fact::NodeClaimed(_)
        | Fact::HandoffApplied(_)
        | Fact::HandoffStaged(_)
        | Fact::HandoffAwaited(_)
        | Fact::NodeSuspended(_)
        | Fact::NodeWoken(_)
        | Fact::RepairRequested(_)
        | Fact::TurnStarted(_)
        | Fact::TurnResumed(_)
        | Fact::TurnEnded(_)
        | Fact::ModelRequested(_)
        | Fact::DraftAdded(_)
        | Fact::DraftKept(_)
        | Fact::DraftDiscarded(_)
        | Fact::ModelAnswered(_)
        | Fact::ModelFailed(_)
        | Fact::CallIntended(_)
        | Fact::CallStarted(_)
        | Fact::CallFinished(_)
        | Fact::CallRerun(_)
        | Fact::CallReaped(_)
        | Fact::SessionOpened(_)
        | Fact::SessionResumed(_)
        | Fact::SystemPromptBuilt(_)
        | Fact::MessageAdded(_)
        | Fact::CompactionStarted(_)
        | Fact::SessionCompacted(_)
        | Fact::CompactionFailed(_)
        | Fact::ArchiveRestored(_)
        | Fact::ReplyReturned(_)
        | Fact::OperatorSteered(_)
        | Fact::RoleConfigured(_)
        | Fact::McpServerApproved(_)
        | Fact::McpServerUnavailable(_)
        | Fact::McpToolUnavailable(_) => false,
    }
}
