//! Why an input is refused: for the operator, or for a driver that was too late.

use std::fmt;

use a_society_facts::fact::node::WaitReason;
use a_society_facts::id::{ApprovalId, ConsentId, NodeId, RoleInstance, TurnId};
use a_society_facts::legal::Illegal;

use super::input::VerbNeed;
use super::limits::NAMES_SHOWN_MAX;
use super::limits::TITLE_CHARS_MAX;
use super::session::SessionUnfit;
use crate::graph::RevisionObstacle;

/// A node or role that the operator may have meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressCandidate {
    /// The node, except in the improvement phase.
    pub node: Option<NodeId>,
    /// Its role instance.
    pub role: RoleInstance,
    /// What it waits for.
    pub want: Want,
}

/// What a role waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// The operator, for a reason.
    Operator(WaitReason),
    /// Something that arrives.
    Handoff,
}

impl fmt::Display for AddressCandidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Some(node) => write!(f, "{node} ({})", self.role)?,
            None => write!(f, "{}", self.role)?,
        }
        match self.want {
            Want::Operator(reason) => write!(f, " waits for {}", reason.needs(None)),
            Want::Handoff => write!(f, " awaits a handoff"),
        }
    }
}

/// The name when no target was given, as [`Refusal::NotWaiting`] has it.
pub(super) const NOBODY: &str = "nobody";

fn idle(who: &str) -> String {
    if who == NOBODY {
        "nothing waits for that".to_owned()
    } else {
        format!("{who} does not wait for a text")
    }
}

/// The end of a refusal: what there is in the place of what was named.
fn instead<T: fmt::Display>(what: &str, items: &[T]) -> String {
    format!("{what}: {}", listed(items))
}

/// The nodes that do wait for a text, for a refusal that names one that does not.
fn who_takes_text(candidates: &[AddressCandidate]) -> String {
    if candidates.is_empty() {
        return String::new();
    }
    format!(". {}", instead("Waiting for a text", candidates))
}

fn no_approval(approval: &ApprovalId) -> String {
    format!("no staged handoff {approval} is open")
}

fn no_consent(consent: &ConsentId) -> String {
    format!("no request for consent {consent} is open")
}

pub(super) fn listed<T: fmt::Display>(items: &[T]) -> String {
    let shown: Vec<String> = (items.iter().take(NAMES_SHOWN_MAX))
        .map(ToString::to_string)
        .collect();
    let more = items.len() - shown.len();
    match (shown.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => shown.join("; "),
        (false, more) => format!("{}; and {more} more", shown.join("; ")),
    }
}

/// Why an input leads to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The flow does not exist yet.
    #[error("the flow is not created yet")]
    NotCreated,
    /// A flow is created once.
    #[error("the flow is created already")]
    AlreadyCreated,
    /// It belongs to another phase.
    #[error("the flow is {status}, and this belongs to a flow that is {needs}")]
    WrongPhase {
        /// Its state.
        status: &'static str,
        /// The state that is required.
        needs: &'static str,
    },
    /// The flow is over.
    #[error("the flow is {status}; reopen a node to go on")]
    Over {
        /// Its state.
        status: &'static str,
    },
    /// The flow pauses.
    #[error("the flow pauses")]
    Paused,
    /// The flow does not pause.
    #[error("the flow does not pause")]
    NotPaused,

    /// The flow has no such rule.
    #[error("the flow has no rule {rule} under {list}; {there}")]
    UnknownRule {
        /// The rule.
        rule: String,
        /// In which list it was looked for.
        list: &'static str,
        /// Those that are there, in words.
        there: String,
    },

    /// The graph has no such node.
    #[error("the graph has no node {node}")]
    UnknownNode {
        /// The node.
        node: NodeId,
    },
    /// Nothing is offered there now.
    #[error("{what} is not to be started now: {why}")]
    NotOffered {
        /// The node or the role.
        what: String,
        /// Why.
        why: &'static str,
    },
    /// The role has no session, and none was named.
    #[error("{role} has no session yet, and the input names none")]
    NeedsSession {
        /// The role instance.
        role: RoleInstance,
    },

    /// The turn is over, or never began.
    #[error("{turn} is not open")]
    TurnNotOpen {
        /// The turn.
        turn: TurnId,
    },
    /// An earlier try of the turn says so.
    #[error("{turn} is at try {present}, not at try {attempt}")]
    Late {
        /// The turn.
        turn: TurnId,
        /// The try that reported.
        attempt: u32,
        /// The try that counts.
        present: u32,
    },
    /// The turn does not end so, because it belongs to no node and to no improvement.
    #[error("{turn} is not a turn of the flow's own work")]
    NotOurTurn {
        /// The turn.
        turn: TurnId,
    },
    /// The turn waits for the operator and cannot come to an outcome before that.
    #[error("{turn} waits for the operator")]
    TurnWaits {
        /// The turn.
        turn: TurnId,
    },
    /// The turn is being brought to its end.
    #[error("{turn} is being stopped")]
    Stopping {
        /// The turn.
        turn: TurnId,
    },
    /// A call has no result, a draft is neither kept nor discarded, or the last request, whose
    /// answer the outcome would be, has none.
    #[error("{turn} is not settled: a call, a draft or a request is still open")]
    Unsettled {
        /// The turn.
        turn: TurnId,
    },
    /// The role has not got the last repair request yet.
    #[error("{turn} has not got its repair request yet")]
    RepairUntold {
        /// The turn.
        turn: TurnId,
    },
    /// A handoff must be staged, and no name for the question came with it.
    #[error(
        "a forward handoff of {node} waits for the operator's word, and the input names no approval"
    )]
    NeedsApproval {
        /// The node.
        node: NodeId,
    },

    /// No role waits there for a text.
    #[error("{}. {}", idle(who), instead("Waiting", candidates))]
    NotWaiting {
        /// Who was named.
        who: String,
        /// Who waits.
        candidates: Vec<AddressCandidate>,
    },
    /// More than one waits.
    #[error(
        "more than one waits, so that one has to be named: {}",
        listed(candidates)
    )]
    ManyWait {
        /// Who waits.
        candidates: Vec<AddressCandidate>,
    },
    /// A text does not end that wait.
    #[error("{who} takes no text: it waits for {}", reason.needs(None))]
    TakesNoText {
        /// Who was named.
        who: String,
        /// What it waits for.
        reason: WaitReason,
    },
    /// What was to be answered has an answer.
    #[error("{who} was answered before, or asks something else by now")]
    AlreadyAnswered {
        /// Who was named.
        who: String,
    },
    /// Only a role at work is steered.
    #[error("{role} is not at work{}", who_takes_text(candidates))]
    NotAtWork {
        /// The role instance.
        role: RoleInstance,
        /// Who waits.
        candidates: Vec<AddressCandidate>,
    },
    /// No turn is open there.
    #[error("nothing runs there that could be stopped")]
    NothingToStop,
    /// A wait that a retry does not end.
    #[error("cannot retry {who}: it is waiting for {}", reason.needs(None))]
    NotRetryable {
        /// Who was named.
        who: String,
        /// What it waits for.
        reason: WaitReason,
    },
    /// A node that cannot be reopened now.
    #[error("{node} cannot be reopened: {why}")]
    NotReopenable {
        /// The node.
        node: NodeId,
        /// Why.
        why: String,
    },
    /// No handoff waits for the operator's word.
    #[error("no handoff waits for a word")]
    NothingStaged,
    /// Several do, and none was named.
    #[error("several handoffs wait for a word: {}", listed(open))]
    ManyStaged {
        /// What is open.
        open: Vec<ApprovalId>,
    },
    /// No staged handoff has that name.
    #[error("{}. {}", no_approval(approval), instead("Open", open))]
    UnknownApproval {
        /// The name.
        approval: ApprovalId,
        /// What is open.
        open: Vec<ApprovalId>,
    },
    /// What was staged can no longer be applied as it is.
    #[error("{approval} can no longer be applied as it was emitted ({why}); decline it")]
    StagedOutdated {
        /// The name.
        approval: ApprovalId,
        /// Why.
        why: Illegal,
    },
    /// No call asks for consent.
    #[error("no call asks for consent")]
    NothingAsked,
    /// Several do, and none was named.
    #[error("several calls ask for consent: {}", listed(open))]
    ManyAsked {
        /// What is open.
        open: Vec<ConsentId>,
    },
    /// No request for consent has that name.
    #[error("{}. {}", no_consent(consent), instead("Open", open))]
    UnknownConsent {
        /// The name.
        consent: ConsentId,
        /// What is open.
        open: Vec<ConsentId>,
    },
    /// The answer is bound to something else than what would run.
    #[error("the answer to {consent} is about something else than what would run")]
    ConsentMismatch {
        /// The request.
        consent: ConsentId,
    },
    /// A role asks for consent to one thing at a time.
    #[error("{role} asks for consent to something else already")]
    AsksAlready {
        /// The role instance.
        role: RoleInstance,
    },
    /// The revised graph has no place for what happened or is happening.
    #[error("the revised graph does not fit what happened: {}", listed(reasons))]
    Revision {
        /// Every reason.
        reasons: Vec<RevisionObstacle>,
    },
    /// With one role there is nothing to do in parallel.
    #[error("only one role took part, so there is nothing to reflect on in parallel")]
    OneRole,
    /// A role without findings cannot propose a change.
    #[error("{role} left no findings in this flow")]
    NoFindings {
        /// The role instance.
        role: RoleInstance,
    },

    /// No proposal waits for the operator's word.
    #[error("no proposal waits for a word")]
    NothingProposed,
    /// Several do, and none was named.
    #[error("several proposals wait for a word: {}", listed(open))]
    ManyProposed {
        /// What is open.
        open: Vec<String>,
    },
    /// None has this name.
    #[error("no proposal that waits for a word is called {0}")]
    UnknownChange(String),
    /// The driver has to bring something first, or to do it.
    #[error("the input does not bring what the verb needs")]
    Needs(VerbNeed),

    /// A title that is empty, or longer than a list has room for.
    #[error("a title has between 1 and {TITLE_CHARS_MAX} characters")]
    BadTitle,
    /// Nothing goes on in a chat that was closed.
    #[error("the chat was closed, and takes no messages")]
    ChatClosed,

    /// A session does not take what is to be done to it.
    #[error("the session of {role}: {why}")]
    Session {
        /// Whose it is.
        role: RoleInstance,
        /// Why.
        why: SessionUnfit,
    },

    /// A name that came with the input is taken, or something else does not fit the state.
    #[error(transparent)]
    Illegal(#[from] Illegal),
}

impl Refusal {
    /// What was refused, and what there is in its place, where a refusal says both.
    #[must_use]
    pub fn halves(&self) -> Option<(String, String)> {
        let halves = if let Self::NotWaiting { who, candidates } = self {
            (idle(who), instead("waiting", candidates))
        } else if let Self::NotAtWork { role, candidates } = self
            && !candidates.is_empty()
        {
            let what = format!("{role} is not at work");
            (what, instead("waiting for a text", candidates))
        } else if let Self::UnknownApproval { approval, open } = self {
            (no_approval(approval), instead("open", open))
        } else if let Self::UnknownConsent { consent, open } = self {
            (no_consent(consent), instead("open", open))
        } else {
            return None;
        };
        Some(halves)
    }
}
