//! What must be started, or asked, now.

use a_society_facts::At;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{NodeEntry, WaitReason};
use a_society_facts::id::{ApprovalId, ConsentId, NodeId, RoleInstance, TurnId};

/// One thing that must now go on, unless it does already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// A turn is open and must run: from its beginning, or from where it was cut off.
    RunTurn {
        /// The turn.
        turn: TurnId,
        /// The try that counts.
        attempt: u32,
        /// The role instance in whose session it works.
        role: RoleInstance,
        /// What it is for.
        task: TurnTask,
    },
    /// A turn is open and must not go on: what it still runs is ended, every call gets its result,
    /// and then it reports that it was stopped.
    StopTurn {
        /// The turn.
        turn: TurnId,
        /// The try that counts.
        attempt: u32,
        /// The role instance in whose session it works.
        role: RoleInstance,
        /// What it was for.
        task: TurnTask,
    },
    /// A node may be taken.
    Claim {
        /// The node.
        node: NodeId,
        /// Who takes it.
        role: RoleInstance,
        /// Why it is entered.
        entry: NodeEntry,
    },
    /// A role may reflect, or go on reflecting.
    StartReflection {
        /// Who.
        role: RoleInstance,
        /// Whose findings it gets.
        after: Vec<RoleInstance>,
    },
    /// The report may be written, or gone on with.
    StartFeedback {
        /// The dedicated role, once it is known.
        role: Option<RoleInstance>,
    },
    /// What the flow would ask about its end was chosen beforehand, and is applied.
    ApplyEnds,
    /// Nothing is to be started before its time; the operator may try earlier.
    WaitUntil {
        /// The node, except in the improvement phase.
        node: Option<NodeId>,
        /// Who waits.
        role: RoleInstance,
        /// When it goes on.
        at: At,
    },
    /// Nothing is to be started; the operator is asked something.
    AskOperator(OperatorQuestion),
}

/// Whether there is something to start that there was not before. A turn that is to end is nothing to start.
#[must_use]
pub fn has_more_to_start(before: &[Work], now: &[Work]) -> bool {
    let starts = |work: &&Work| match work {
        Work::RunTurn { .. }
        | Work::Claim { .. }
        | Work::StartReflection { .. }
        | Work::StartFeedback { .. }
        | Work::ApplyEnds => true,
        Work::StopTurn { .. } | Work::WaitUntil { .. } | Work::AskOperator(_) => false,
    };
    now.iter().filter(starts).any(|work| !before.contains(work))
}

/// What a turn is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnTask {
    /// A node.
    Node(NodeId),
    /// A role reflects.
    Reflection,
    /// The report is written.
    Feedback,
}

impl TurnTask {
    /// The node, if it is one.
    #[must_use]
    pub const fn node(&self) -> Option<&NodeId> {
        match self {
            Self::Node(node) => Some(node),
            Self::Reflection | Self::Feedback => None,
        }
    }
}

/// What the operator is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorQuestion {
    /// To say something.
    Text {
        /// The node that waits, except in the improvement phase.
        node: Option<NodeId>,
        /// Its role instance.
        role: RoleInstance,
        /// For what it waits.
        reason: WaitReason,
    },
    /// To allow a tool call, or not.
    Consent {
        /// The request.
        consent: ConsentId,
        /// The node that waits, except in the improvement phase.
        node: Option<NodeId>,
        /// Its role instance.
        role: RoleInstance,
    },
    /// To choose a role's model and tools.
    Configuration {
        /// The node that waits, except in the improvement phase.
        node: Option<NodeId>,
        /// The role instance.
        role: RoleInstance,
    },
    /// To say a word about a staged handoff.
    Approval {
        /// The staged handoff.
        approval: ApprovalId,
        /// The node that wants to hand over.
        node: NodeId,
    },
    /// To say how roles reflect.
    Improvement {
        /// The ways there are.
        modes: Vec<ImprovementMode>,
    },
    /// To say whether a report is written.
    Feedback,
    /// To let the flow go on.
    Unpause {
        /// Why it pauses.
        reason: PauseReason,
    },
    /// To reopen a node or to revise the graph: nothing can run, and the forward work is not done.
    Stalled,
}
