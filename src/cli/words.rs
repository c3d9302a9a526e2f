//! Words of the state, as an operator reads them.

use a_society_facts::At;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{Trouble, WaitReason};
use a_society_facts::fact::session::SessionState;
use a_society_facts::fact::turn::Cause;
use a_society_facts::view::flow::{CallState, FlowStatus, OperatorWait};
use a_society_facts::view::standing::left;
use a_society_facts::view::summary::FlowSummary;

/// What is waited for, to be read after "waits for".
pub(crate) fn waits_for(reason: WaitReason, trouble: Option<Trouble>) -> &'static str {
    trouble.map_or_else(|| wait(reason), Trouble::needs)
}

/// The same of a role that waits now, with the time that is left.
pub(crate) fn waiting(waiting: &OperatorWait, now: At) -> String {
    let what = waits_for(waiting.reason, waiting.trouble);
    match waiting.until {
        Some(at) => format!("{what}, in {}", left(at, now)),
        None => what.to_owned(),
    }
}

/// The same where nothing more is known.
pub(crate) const fn wait(reason: WaitReason) -> &'static str {
    match reason {
        WaitReason::PromptHuman => "an answer",
        WaitReason::AutonomousAbort => "a decision after its turn stopped",
        WaitReason::Consent => "consent to a call",
        WaitReason::ConsentDenied => "guidance after a denial",
        WaitReason::RoleConfiguration => "a choice of model and tools",
        WaitReason::HandoffApproval => "approval of a handoff",
        WaitReason::RepairLimit => "help with an outcome",
        WaitReason::Budget => "a larger budget",
        WaitReason::Provider => "a provider",
    }
}

/// Why a flow pauses.
pub(crate) const fn pause(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Operator => "the operator",
        PauseReason::DiskFull => "room on the disk",
        PauseReason::Budget => "a larger budget",
        PauseReason::Irreversible => "a look at a call whose outcome is unknown",
    }
}

/// What the flow as a whole waits for, if for anything.
pub(crate) const fn flow_wait(status: FlowStatus) -> Option<&'static str> {
    match status {
        FlowStatus::Paused(reason) => Some(pause(reason)),
        FlowStatus::AwaitingImprovementChoice => Some("a choice: run a retrospective?"),
        FlowStatus::AwaitingFeedbackConsent => Some("a choice: write a feedback report?"),
        FlowStatus::Running
        | FlowStatus::Improving
        | FlowStatus::Feedback
        | FlowStatus::Completed
        | FlowStatus::Cancelled => None,
    }
}

/// Everything a flow waits for, one text each.
pub(crate) fn waits(summary: &FlowSummary) -> Vec<String> {
    let whole = flow_wait(summary.status).map(str::to_owned);
    let each = summary.waits.iter().map(|one| {
        let who = one
            .node
            .as_ref()
            .map_or_else(|| one.role.to_string(), ToString::to_string);
        let what = match one.until {
            Some(_) => Trouble::Limit.needs(),
            None => wait(one.reason),
        };
        format!("{who}: {what}")
    });
    whole.into_iter().chain(each).collect()
}

/// The state of a session in its life.
pub(crate) const fn session_state(state: SessionState) -> &'static str {
    match state {
        SessionState::Created => "created",
        SessionState::Active => "active",
    }
}

/// Why a turn runs.
pub(crate) const fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Node => "a node",
        Cause::Reflection => "reflection",
        Cause::Feedback => "the feedback report",
        Cause::Compaction => "a compaction",
        Cause::Selection => "a choice",
    }
}

/// How far a call came.
pub(crate) const fn call_state(state: CallState) -> &'static str {
    match state {
        CallState::Intended => "is going to run",
        CallState::Consent => "waits for consent",
        CallState::Allowed => "may run",
        CallState::Denied => "was denied",
        CallState::Started => "runs",
    }
}

/// A way to reflect, as it is typed.
pub(crate) const fn improvement(mode: ImprovementMode) -> &'static str {
    match mode {
        ImprovementMode::GraphBased => "graph",
        ImprovementMode::Parallel => "parallel",
        ImprovementMode::None => "none",
    }
}

/// That nothing has come from a provider for so long.
pub(crate) fn silent(seconds: u64) -> String {
    format!("its provider has said nothing for {seconds} s")
}
