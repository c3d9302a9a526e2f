//! Words of the state, as an operator reads them.

use a_society_facts::At;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::Trouble;
use a_society_facts::fact::session::SessionState;
use a_society_facts::fact::turn::Cause;
use a_society_facts::view::FlowSummary;
use a_society_facts::view::flow::{CallState, FlowStatus, OperatorWait};
use a_society_facts::view::standing::NodeStanding;
use a_society_facts::words::asks::{
    RUN_A_RETROSPECTIVE, WRITE_A_REPORT, pause, trouble, your_choice,
};
use a_society_facts::words::left;
use a_society_facts::words::retrospective::{FEEDBACK_REPORT, RETROSPECTIVE};
use a_society_facts::words::status::YOUR_TURN;

/// What a role waits for now, to be read after "waits for", with the time that is left.
pub(crate) fn waiting(waiting: &OperatorWait, now: At) -> String {
    let what = waiting.reason.needs(waiting.trouble);
    match waiting.until.and_then(|at| left(at, now)) {
        Some(left) => format!("{what}, in {left}"),
        None => what.to_owned(),
    }
}

/// What a node is doing now, and what it waits for.
pub(crate) fn node(standing: NodeStanding<'_>, now: At) -> String {
    let words = standing.words(now);
    match standing {
        NodeStanding::Waiting { reason, trouble } => format!("{words}: {}", reason.needs(trouble)),
        NodeStanding::NotReached
        | NodeStanding::Ready
        | NodeStanding::Working
        | NodeStanding::Retrying(_)
        | NodeStanding::Held(_)
        | NodeStanding::Limited(_)
        | NodeStanding::Compacting
        | NodeStanding::YourTurn
        | NodeStanding::AwaitsHandoff
        | NodeStanding::Stopped
        | NodeStanding::Done
        | NodeStanding::Cancelled => words,
    }
}

/// What the flow as a whole waits for, if for anything.
pub(crate) fn flow_wait(status: FlowStatus) -> Option<String> {
    match status {
        FlowStatus::Paused(reason) => Some(pause(reason).to_owned()),
        FlowStatus::AwaitingImprovementChoice => Some(your_choice(RUN_A_RETROSPECTIVE)),
        FlowStatus::AwaitingFeedbackConsent => Some(your_choice(WRITE_A_REPORT)),
        FlowStatus::Running
        | FlowStatus::Improving
        | FlowStatus::Feedback
        | FlowStatus::Completed
        | FlowStatus::Cancelled => None,
    }
}

/// Everything a flow waits for, one text each.
pub(crate) fn waits(summary: &FlowSummary) -> Vec<String> {
    let whole = flow_wait(summary.status);
    let each = summary.waits.iter().map(|one| {
        let who = one
            .node
            .as_ref()
            .map_or_else(|| one.role.to_string(), ToString::to_string);
        let what = match one.until {
            Some(_) => trouble(Trouble::Limit),
            None if one.is_own_turn => YOUR_TURN,
            None => one.reason.needs(None),
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
        Cause::Reflection => RETROSPECTIVE,
        Cause::Feedback => FEEDBACK_REPORT,
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

/// A way to run a retrospective, as it is typed.
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
