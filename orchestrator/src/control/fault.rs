//! Why a command failed, in the operator's words: what happened, why, and what to try.

use a_society_facts::words::choices;
use a_society_flow::machine::Refusal;

use super::limits::MESSAGE_BYTES_MAX;
use super::message::{ControlFault, ControlFaultCode};
use crate::driver::error::{ChangeFault, DriverError};

/// A message that makes no sense.
pub(super) fn unfit(why: &str) -> ControlFault {
    ControlFault {
        code: ControlFaultCode::MessageUnfit,
        what: "the message was not understood".to_owned(),
        why: why.to_owned(),
        r#try: "use the same version of a-society for both".to_owned(),
    }
}

/// A message that takes more bytes than there may be.
pub(super) fn too_long() -> ControlFault {
    ControlFault {
        code: ControlFaultCode::MessageUnfit,
        what: choices::TOO_LONG.to_owned(),
        why: choices::longer_than(&(MESSAGE_BYTES_MAX >> 20).to_string()),
        r#try: choices::AS_A_FILE.to_owned(),
    }
}

/// No request waits for its provider that could be tried before its time: the kind, what happened, and
/// what to try.
const NOTHING_WAITS: (ControlFaultCode, &str, &str) = (
    ControlFaultCode::CommandRefused,
    "no request waits for a retry",
    "see the flow's state: a-society status FLOW",
);

/// Several do.
const MANY_TRIES: (ControlFaultCode, &str, &str) = (
    ControlFaultCode::CommandAmbiguous,
    "it is not clear which request is meant",
    "name one of them with --node or --role",
);

/// A driver's error for the sender of the command.
#[must_use]
pub fn of(error: &DriverError) -> ControlFault {
    let (code, what, hint) = match error {
        DriverError::Refused(refusal) => return refused(refusal),
        DriverError::NothingWaits(_) => NOTHING_WAITS,
        DriverError::ManyTries(_) => MANY_TRIES,
        DriverError::NotAFlow(diagnostics) => {
            let shown: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            return ControlFault {
                code: ControlFaultCode::FlowFileUnfit,
                what: "the file is not a flow file".to_owned(),
                why: shown.join("\n"),
                r#try: "a-society check FILE".to_owned(),
            };
        }
        DriverError::Change(fault) => of_change(fault),
        DriverError::Busy => (
            ControlFaultCode::CommandRefused,
            "other commands wait already until something outside is found out",
            "give the command again when they have their answers",
        ),
        DriverError::Gone => (
            ControlFaultCode::FlowGone,
            "the flow has no driver any more",
            "give the command again",
        ),
        DriverError::State(error) if error.is_full() => (
            ControlFaultCode::DiskFull,
            "the disk is full",
            "make room, then give the command again",
        ),
        DriverError::State(_)
        | DriverError::Name(_)
        | DriverError::Graph(_)
        | DriverError::System(_) => (
            ControlFaultCode::DiskFailed,
            "the command could not be recorded",
            "a-society verify FLOW",
        ),
    };
    ControlFault {
        code,
        what: what.to_owned(),
        why: error.to_string(),
        r#try: hint.to_owned(),
    }
}

/// Why a finding led to no change: the kind, what happened, and what to try.
const fn of_change(fault: &ChangeFault) -> (ControlFaultCode, &'static str, &'static str) {
    match fault {
        ChangeFault::Changed(_) => (
            ControlFaultCode::CommandRefused,
            "the file is not the one that this was proposed for",
            "look at both, decline the proposal, and propose anew: a-society findings diff FLOW",
        ),
        ChangeFault::BeingWritten(_) => (
            ControlFaultCode::CommandRefused,
            "the change is being applied",
            "wait until that is done, and look at it again: a-society findings",
        ),
        ChangeFault::OutOfPlace { .. } | ChangeFault::Nothing(_) => (
            ControlFaultCode::CommandRefused,
            "nothing is changed",
            "look at what was found and proposed: a-society findings",
        ),
    }
}

fn refused(refusal: &Refusal) -> ControlFault {
    let is_ambiguous = matches!(
        refusal,
        Refusal::ManyWait { .. }
            | Refusal::ManyStaged { .. }
            | Refusal::ManyAsked { .. }
            | Refusal::ManyProposed { .. }
    );
    let (code, what) = if is_ambiguous {
        let what = "it is not clear which one is meant";
        (ControlFaultCode::CommandAmbiguous, what)
    } else if matches!(refusal, Refusal::Session { .. }) {
        let what = "the session cannot do this now";
        (ControlFaultCode::CommandRefused, what)
    } else {
        let what = "the flow cannot do this now";
        (ControlFaultCode::CommandRefused, what)
    };
    let whole = || (what.to_owned(), refusal.to_string());
    let (what, why) = refusal.halves().unwrap_or_else(whole);
    ControlFault {
        code,
        what,
        why,
        r#try: hint(refusal).to_owned(),
    }
}

fn hint(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::ManyWait { .. } => "name one of them with --node or --role",
        Refusal::Over { .. } => "a-society reopen FLOW NODE",
        Refusal::Paused => "a-society unpause FLOW",
        Refusal::BadTitle => "a shorter title, or one with words",
        Refusal::ChatClosed => "a-society session open FLOW",
        Refusal::Session { .. } => "a-society session ls FLOW",
        Refusal::ManyStaged { .. } | Refusal::ManyAsked { .. } | Refusal::ManyProposed { .. } => {
            "name one of them after the flow"
        }
        Refusal::NothingProposed | Refusal::UnknownChange(_) | Refusal::NoFindings { .. } => {
            "look at what was found and proposed: a-society findings"
        }
        Refusal::UnknownRule { .. } => "a-society rules ls FLOW",
        Refusal::OneRole => "a-society improve FLOW graph",
        Refusal::StagedOutdated { .. } => "a-society decline FLOW",
        Refusal::NotAtWork { role, candidates }
            if candidates.iter().any(|waits| waits.role == *role) =>
        {
            "a-society reply FLOW --role ROLE TEXT"
        }
        Refusal::TakesNoText { .. }
        | Refusal::NotRetryable { .. }
        | Refusal::NotCreated
        | Refusal::AlreadyCreated
        | Refusal::WrongPhase { .. }
        | Refusal::NotPaused
        | Refusal::UnknownNode { .. }
        | Refusal::NotOffered { .. }
        | Refusal::NeedsSession { .. }
        | Refusal::TurnNotOpen { .. }
        | Refusal::Late { .. }
        | Refusal::NotOurTurn { .. }
        | Refusal::TurnWaits { .. }
        | Refusal::Stopping { .. }
        | Refusal::Unsettled { .. }
        | Refusal::RepairUntold { .. }
        | Refusal::NeedsApproval { .. }
        | Refusal::NotWaiting { .. }
        | Refusal::AlreadyAnswered { .. }
        | Refusal::NotAtWork { .. }
        | Refusal::NothingToStop
        | Refusal::NotReopenable { .. }
        | Refusal::UnknownApproval { .. }
        | Refusal::UnknownConsent { .. }
        | Refusal::ConsentMismatch { .. }
        | Refusal::AsksAlready { .. }
        | Refusal::Revision { .. }
        | Refusal::NothingStaged
        | Refusal::NothingAsked
        | Refusal::Needs(_)
        | Refusal::Illegal(_) => "see the flow's state: a-society status FLOW",
    }
}
