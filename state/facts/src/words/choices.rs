//! What the operator can answer, and how that is called once it is done.

use super::handoffs::{SEND_BACK, SENT_BACK};
use super::words;

/// An answer to what waits for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[cfg_attr(test, serde(rename_all = "kebab-case"))]
pub enum Choice {
    /// A call runs, this time.
    Allow,
    /// A call runs, and its like for the rest of the flow.
    AllowFlow,
    /// A call does not run.
    Deny,
    /// A call does not run, and the role gets to know why.
    DenyReason,
    /// A handoff goes to its receivers.
    Approve,
    /// A handoff goes back to its role.
    Decline,
    /// A handoff goes back to its role, which gets to know why.
    DeclineReason,
    /// A turn that failed runs again.
    Retry,
    /// A turn that failed runs again, with a message to its role.
    RetryNote,
    /// A budget grows to what gives room.
    Raise,
    /// A budget is set to a figure that is typed.
    Amount,
    /// A paused flow goes on.
    Continue,
    /// A flow without a driver gets one.
    Resume,
    /// The same, with a message to the role that was cut off.
    ResumeNote,
    /// A feedback report is written.
    Grant,
    /// No feedback report is written.
    Refuse,
}

impl Choice {
    /// What was chosen for a handoff.
    #[must_use]
    pub const fn of_handoff(approved: bool) -> Self {
        if approved {
            Self::Approve
        } else {
            Self::Decline
        }
    }
}

words! {
    texts {
        /// A call was allowed.
        ALLOWED_ONCE = "allowed once";
        /// A call was allowed, and its like.
        ALLOWED_FOR_FLOW = "allowed for this flow";
        /// A budget is larger.
        BUDGET_RAISED = "budget raised";
        /// An answer of the first kind, where there is little room.
        ONCE = "once";
        /// An answer of the second kind, where there is little room.
        FOR_THIS_FLOW = "for this flow";
        /// A refusal with a reason, where there is little room.
        WITH_A_REASON = "with a reason";
        /// The answer that is put off.
        LATER = "later";
        /// A text is typed as the answer.
        ANSWER = "answer";
        /// One of the answers that a role offers.
        CHOOSE = "choose";
        /// A text was the answer.
        ANSWERED = "answered";
        /// A text that was typed is not sent.
        TOO_LONG = "the text is too long to be sent";
        /// What to do with a text that is too long.
        AS_A_FILE = "save it as a file of the project, and name the file in a short text";
    }
    templates {
        /// A budget can grow to this.
        raise_to(amount) = "raise to {amount}";
        /// Why a text is too long: the bound in MiB.
        longer_than(bound) = "it is longer than {bound} MiB";
    }
    tables {
        /// What can be chosen.
        label: Choice => "CHOICE" {
            Allow = "allow once",
            AllowFlow = "allow for this flow",
            Deny = "deny",
            DenyReason = "deny with a reason",
            Approve = "approve",
            Decline = SEND_BACK,
            DeclineReason = "send back with a reason",
            Retry = "retry turn",
            RetryNote = "say what to do instead",
            Raise = "raise",
            Amount = "another amount",
            Continue = "continue",
            Resume = "resume",
            ResumeNote = "continue with a note",
            Grant = "write the report",
            Refuse = "no report",
        }
        /// What was chosen.
        done: Choice => "CHOSEN" {
            Allow = ALLOWED_ONCE,
            AllowFlow = ALLOWED_FOR_FLOW,
            Deny = "denied",
            DenyReason = "denied with a reason",
            Approve = "approved",
            Decline = SENT_BACK,
            DeclineReason = "sent back with a reason",
            Retry = "retrying",
            RetryNote = "told what to do instead",
            Raise = BUDGET_RAISED,
            Amount = BUDGET_RAISED,
            Continue = "continued",
            Resume = "resumed",
            ResumeNote = "continued with a note",
            Grant = "report allowed",
            Refuse = "report declined",
        }
    }
}
