//! Words of the state, as an operator reads them.

use a_society_facts::At;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::Trouble;
use a_society_facts::fact::session::SessionState;
use a_society_facts::fact::turn::Cause;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::flow::{CallState, OperatorWait};
use a_society_facts::view::standing::NodeStanding;
use a_society_facts::view::{FlowSummary, Wait};
use a_society_facts::words::asks::trouble;
use a_society_facts::words::left;
use a_society_facts::words::retrospective::{FEEDBACK_REPORT, RETROSPECTIVE};
use a_society_facts::words::status::YOUR_TURN;
use a_society_operator_ui::fold::asks::OpenAsk;

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
        | NodeStanding::Retrying(..)
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

/// Everything a flow waits for, one text each: what it asks, and the limits after which it goes on by itself.
pub(crate) fn waits(asks: &[OpenAsk], summary: &FlowSummary) -> Vec<String> {
    let who = |node: Option<&NodeId>, role: &RoleInstance| {
        node.map_or_else(|| role.to_string(), ToString::to_string)
    };
    let asked = asks.iter().map(|ask| match &ask.role {
        Some(role) if ask.is_own_turn => format!("{}: {YOUR_TURN}", who(ask.node(), role)),
        Some(role) => format!("{}: {}", who(ask.node(), role), ask.wants()),
        None => ask.wants(),
    });
    let asks_here = |wait: &Wait| {
        let same = |ask: &OpenAsk| {
            ask.node() == wait.node.as_ref() && ask.role.as_ref() == Some(&wait.role)
        };
        asks.iter().any(same)
    };
    let others = summary.waits.iter().filter_map(|wait| {
        let what = match wait.until {
            Some(_) => trouble(Trouble::Limit),
            // A flow that was imported asks for a consent as soon as it is opened.
            None if wait.is_asked() && !asks_here(wait) => wait.reason.needs(None),
            None => return None,
        };
        Some(format!("{}: {what}", who(wait.node.as_ref(), &wait.role)))
    });
    asked.chain(others).collect()
}

/// The state of a session in its life.
pub(crate) const fn session_state(state: SessionState) -> &'static str {
    match state {
        SessionState::Created => "created",
        SessionState::Active => "active",
        SessionState::Expired => "closed",
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
