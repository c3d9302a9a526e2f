//! What a flow and its nodes are doing now: the journal combined with whether a process drives the flow. Every screen asks
//! here, so that all of them say the same.

use serde::{Deserialize, Serialize};

use super::flow::{FlowState, FlowStatus, HeldRequest, OpenTurn, RequestState};
use super::summary::{FlowSummary, Wait};
use crate::at::At;
use crate::fact::flow::PauseReason;
use crate::fact::node::{Trouble, WaitReason};
use crate::id::NodeId;
use crate::words::{at_its_time, calls, left, status};

/// What a flow is doing now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowStanding {
    /// A role is at work, or is about to be.
    Working,
    /// Every role that is at work waits until its request is sent again, the first of them until then.
    Retrying(At),
    /// Every role that could go on waits for a limit of its provider; the first of them goes on then.
    Limited(At),
    /// Every role that is at work waits until its session is compacted.
    Compacting,
    /// It waits for the operator.
    Waiting,
    /// It is a chat, and its person speaks next.
    YourTurn,
    /// It is a chat that was closed.
    Closed,
    /// The operator paused it.
    Paused,
    /// There is work, and no process does it.
    Stopped,
    /// Its journal cannot be read to its end; nothing goes on before it is repaired.
    Damaged,
    /// The ledger that several machines share did not answer, so that nothing is known of it.
    Unreachable,
    /// It is done.
    Completed,
    /// It was called off.
    Cancelled,
}

impl FlowStanding {
    /// The state of the summarized flow, with or without a process that drives it.
    #[must_use]
    pub fn of(summary: &FlowSummary, is_driven: bool) -> Self {
        let rests = summary.running == 0;
        let asks = rests && summary.waits.iter().any(Wait::is_asked);
        let is_answered = rests && summary.waits.iter().any(Wait::is_message);
        let limited = summary.resets_at().filter(|_| rests);
        match summary.status {
            FlowStatus::Completed => Self::Completed,
            FlowStatus::Cancelled => Self::Cancelled,
            FlowStatus::Running | FlowStatus::Paused(_) if summary.is_closed && rests => {
                Self::Closed
            }
            FlowStatus::Paused(PauseReason::Operator) => Self::Paused,
            FlowStatus::Paused(_)
            | FlowStatus::AwaitingImprovementChoice
            | FlowStatus::AwaitingFeedbackConsent => Self::Waiting,
            FlowStatus::Running | FlowStatus::Improving | FlowStatus::Feedback if asks => {
                Self::Waiting
            }
            FlowStatus::Running if is_answered => Self::YourTurn,
            FlowStatus::Running | FlowStatus::Improving | FlowStatus::Feedback if !is_driven => {
                Self::Stopped
            }
            FlowStatus::Running | FlowStatus::Improving | FlowStatus::Feedback => {
                match (limited, summary.retry_at, summary.compacting) {
                    (Some(at), _, _) => Self::Limited(at),
                    (None, Some(at), _) => Self::Retrying(at),
                    (None, None, true) => Self::Compacting,
                    (None, None, false) => Self::Working,
                }
            }
        }
    }

    /// One word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Working => status::WORKING,
            Self::Retrying(_) => status::RETRYING,
            Self::Limited(_) => status::LIMITED,
            Self::Compacting => status::COMPACTING,
            Self::Waiting => status::WAITING_FOR_YOU,
            Self::YourTurn => status::YOUR_TURN,
            Self::Closed => status::CLOSED,
            Self::Paused => status::PAUSED,
            Self::Stopped => status::STOPPED,
            Self::Damaged => status::DAMAGED,
            Self::Unreachable => status::LEDGER_UNREACHABLE,
            Self::Completed => status::COMPLETED,
            Self::Cancelled => status::CANCELLED,
        }
    }

    /// The same with what an operator wants to know at this moment.
    #[must_use]
    pub fn words(self, now: At) -> String {
        match self {
            Self::Retrying(at) => retrying(at, now),
            Self::Limited(at) => limited(at, now),
            Self::Stopped => status::NOBODY_DRIVES_IT.to_owned(),
            Self::Working
            | Self::Compacting
            | Self::Waiting
            | Self::YourTurn
            | Self::Closed
            | Self::Paused
            | Self::Damaged
            | Self::Unreachable
            | Self::Completed
            | Self::Cancelled => self.word().to_owned(),
        }
    }
}

impl FlowSummary {
    /// The words of what the flow is doing, with what a provider lets it wait for.
    #[must_use]
    pub fn words(&self, standing: FlowStanding, now: At) -> String {
        match (standing, &self.held) {
            (FlowStanding::Retrying(_), Some(held)) => held.words(now),
            (standing, _) => standing.words(now),
        }
    }

    /// The same with why it waits, where there is room for that.
    #[must_use]
    pub fn full_words(&self, standing: FlowStanding, now: At) -> String {
        let is_retried = matches!(standing, FlowStanding::Retrying(_)) && self.held.is_none();
        let why = self.retry_because().filter(|_| is_retried);
        with_why(self.words(standing, now), why)
    }

    /// Why the first request failed that is sent again, if that has words.
    fn retry_because(&self) -> Option<&'static str> {
        self.retry_class.as_deref().and_then(calls::failure)
    }
}

/// What a node is doing now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeStanding<'s> {
    /// Nothing arrived, or not all.
    NotReached,
    /// It will run as soon as it may.
    Ready,
    /// Its role is at work.
    Working,
    /// Its role waits until its request is sent again, which failed for this reason, if that has words.
    Retrying(At, Option<&'static str>),
    /// Its role waits until its request is sent, because another role met the limit of their provider, or because its
    /// model failed too often.
    Held(&'s HeldRequest),
    /// Its role waits for a limit of its provider.
    Limited(At),
    /// Its role waits until its session is compacted.
    Compacting,
    /// It waits for the operator.
    Waiting {
        /// For what.
        reason: WaitReason,
        /// What keeps it from its model, if that is what it waits for.
        trouble: Option<Trouble>,
    },
    /// The operator plays this role, or speaks next in a chat.
    YourTurn,
    /// It waits for what other nodes send.
    AwaitsHandoff,
    /// It was at work, or would go on at its time, and no process drives the flow.
    Stopped,
    /// It handed over all it owes, and has nothing more to do.
    Done,
    /// It had begun and was not done when the flow was cancelled.
    Cancelled,
}

impl<'s> NodeStanding<'s> {
    /// The state of a node of a flow, with or without a process that drives it.
    #[must_use]
    pub fn of(state: &'s FlowState, node: &NodeId, is_driven: bool) -> Self {
        if let Some(waiting) = state.awaiting_operator.get(node) {
            return match waiting.until {
                Some(at) if is_driven => Self::Limited(at),
                Some(_) => Self::Stopped,
                None if waiting.is_own_turn || waiting.reason == WaitReason::Message => {
                    Self::YourTurn
                }
                None => Self::Waiting {
                    reason: waiting.reason,
                    trouble: waiting.trouble,
                },
            };
        }
        let mut staged = state.staged.values();
        if staged.any(|staged| staged.node == *node && !staged.approved) {
            return Self::Waiting {
                reason: WaitReason::HandoffApproval,
                trouble: None,
            };
        }
        if let Some(running) = state.running.get(node) {
            let turn = state.turns.get(&running.turn);
            return match turn {
                _ if !is_driven => Self::Stopped,
                Some(turn) => Self::of_turn(state, turn),
                None => Self::Working,
            };
        }
        if state.status == FlowStatus::Cancelled {
            return Self::at_cancellation(state, node);
        }
        if state.awaiting_handoff.contains(node) {
            return Self::AwaitsHandoff;
        }
        if state.wanted.contains_key(node) || state.deliverable(node).next().is_some() {
            return Self::Ready;
        }
        if state.is_done(node) {
            return Self::Done;
        }
        Self::NotReached
    }

    /// How a node of a flow that was cancelled was left.
    fn at_cancellation(state: &FlowState, node: &NodeId) -> Self {
        if state.is_done(node) {
            Self::Done
        } else if state.visited.contains(node) {
            Self::Cancelled
        } else {
            Self::NotReached
        }
    }

    /// What a turn of a driven flow does.
    fn of_turn(state: &FlowState, turn: &'s OpenTurn) -> Self {
        if let Some(held) = &turn.held {
            return Self::Held(held);
        }
        if let Some(at) = turn.again_at() {
            return Self::Retrying(at, turn.failed_because());
        }
        let session = state.sessions.get(&turn.role);
        if session.is_some_and(|session| session.compaction.is_some()) {
            return Self::Compacting;
        }
        Self::Working
    }

    /// One word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotReached => status::NOT_REACHED,
            Self::Ready => status::READY,
            Self::Working => status::WORKING,
            Self::Retrying(..) | Self::Held(_) => status::RETRYING,
            Self::Limited(_) => status::LIMITED,
            Self::Compacting => status::COMPACTING,
            Self::Waiting { .. } => status::WAITING_FOR_YOU,
            Self::YourTurn => status::YOUR_TURN,
            Self::AwaitsHandoff => status::WAITING_FOR_HANDOFF,
            Self::Stopped => status::STOPPED,
            Self::Done => status::DONE,
            Self::Cancelled => status::CANCELLED,
        }
    }

    /// When it goes on by itself, if it waits for that, and whether a limit resets then.
    #[must_use]
    pub const fn goes_on_at(self) -> Option<(At, bool)> {
        match self {
            Self::Retrying(at, _) => Some((at, false)),
            Self::Held(held) => Some((held.until, false)),
            Self::Limited(at) => Some((at, true)),
            Self::NotReached
            | Self::Ready
            | Self::Working
            | Self::Compacting
            | Self::Waiting { .. }
            | Self::YourTurn
            | Self::AwaitsHandoff
            | Self::Stopped
            | Self::Done
            | Self::Cancelled => None,
        }
    }

    /// The request that waits for its provider, if that is what it waits for.
    #[must_use]
    pub const fn held(self) -> Option<&'s HeldRequest> {
        if let Self::Held(held) = self {
            return Some(held);
        }
        None
    }

    /// The same with the time that is left at this moment.
    #[must_use]
    pub fn words(self, now: At) -> String {
        if let Self::Held(held) = self {
            return held.words(now);
        }
        match self.goes_on_at() {
            Some((at, false)) => {
                // Why the request failed that is sent again, if that has words.
                let why = if let Self::Retrying(_, why) = self {
                    why
                } else {
                    None
                };
                with_why(retrying(at, now), why)
            }
            Some((at, true)) => limited(at, now),
            None => self.word().to_owned(),
        }
    }
}

impl OpenTurn {
    /// When its request is sent, if that waits: because it failed, or because another role's did.
    #[must_use]
    pub fn again_at(&self) -> Option<At> {
        if let Some(held) = &self.held {
            return Some(held.until);
        }
        let request = self.request.as_ref()?;
        let failed = request.state == RequestState::Failed;
        // The next try at the turn sends it anew.
        let waits = failed && request.attempt == self.attempt;
        request.again_at.filter(|_| waits)
    }

    /// Why its request failed that is sent again, if that has words.
    #[must_use]
    pub(super) fn failed_because(&self) -> Option<&'static str> {
        let request = self.request.as_ref()?;
        let class = request.failure_class.as_deref();
        class.and_then(calls::failure)
    }
}

/// What goes on at its time, and why it waits.
fn with_why(words: String, why: Option<&str>) -> String {
    match why {
        Some(why) => status::because(&words, why),
        None => words,
    }
}

fn retrying(at: At, now: At) -> String {
    at_its_time(status::retrying_in, status::RETRYING, at, now)
}

impl HeldRequest {
    /// What it waits for, with the time that is left.
    #[must_use]
    pub fn words(&self, now: At) -> String {
        let provider = &self.provider;
        match (left(self.until, now), self.failing) {
            (Some(left), false) => status::waiting_for_rate_limit(provider, &left),
            (Some(left), true) => status::waiting_to_recover(provider, &left),
            (None, false) => status::rate_limit_of(provider),
            (None, true) => status::recovers(provider),
        }
    }
}

fn limited(at: At, now: At) -> String {
    at_its_time(status::limit_resets_in, status::LIMIT_RESETS, at, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::node::WaitReason;

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn a_flow_stands_as_its_journal_and_its_process_say() {
        let wait = || Wait {
            node: None,
            role: "owner".parse().unwrap(),
            reason: WaitReason::PromptHuman,
            since: At::from_ms(0),
            until: None,
            is_own_turn: false,
            is_answered: false,
        };
        let at = At::from_ms(18_200);
        let now = At::from_ms(1_000);
        for (status, running, waits, retry_at, compacting, driven, words) in [
            (FlowStatus::Running, 1, 0, None, false, true, "working"),
            (FlowStatus::Running, 0, 0, None, false, true, "working"),
            (
                FlowStatus::Running,
                1,
                0,
                None,
                false,
                false,
                "stopped: nobody drives it",
            ),
            (FlowStatus::Running, 1, 1, None, false, true, "working"),
            (
                FlowStatus::Running,
                0,
                1,
                None,
                false,
                true,
                "waiting for you",
            ),
            // What waits for the operator waits whether a process runs or not.
            (
                FlowStatus::Running,
                0,
                1,
                None,
                false,
                false,
                "waiting for you",
            ),
            (
                FlowStatus::Running,
                1,
                0,
                Some(at),
                false,
                true,
                "retrying in 18 s",
            ),
            (
                FlowStatus::Running,
                1,
                0,
                Some(at),
                false,
                false,
                "stopped: nobody drives it",
            ),
            (FlowStatus::Improving, 1, 0, None, true, true, "compacting"),
            (
                FlowStatus::AwaitingImprovementChoice,
                0,
                0,
                None,
                false,
                false,
                "waiting for you",
            ),
            (
                FlowStatus::Paused(PauseReason::Operator),
                0,
                0,
                None,
                false,
                true,
                "paused",
            ),
            (
                FlowStatus::Paused(PauseReason::DiskFull),
                0,
                0,
                None,
                false,
                true,
                "waiting for you",
            ),
            (FlowStatus::Completed, 0, 0, None, false, false, "completed"),
            (FlowStatus::Cancelled, 0, 1, None, false, true, "cancelled"),
        ] {
            let summary = FlowSummary {
                status,
                running,
                waits: (0..waits).map(|_| wait()).collect(),
                retry_at,
                compacting,
                ..FlowSummary::default()
            };
            let standing = FlowStanding::of(&summary, driven);
            assert_eq!(standing.words(now), words, "{status:?} {driven}");
        }
    }

    #[test]
    fn a_flow_says_for_which_provider_its_request_waits_and_why() {
        let until = At::from_ms(42_000);
        let held = |failing| HeldRequest {
            provider: "openai".to_owned(),
            failing,
            until,
        };
        for (held, now, words) in [
            (
                Some(held(false)),
                0,
                "waiting for the rate limit of openai, 42 s",
            ),
            (Some(held(true)), 0, "waiting for openai to recover, 42 s"),
            (Some(held(true)), 42_000, "waiting for openai to recover"),
            (None, 0, "retrying in 42 s"),
        ] {
            let summary = FlowSummary {
                status: FlowStatus::Running,
                running: 1,
                retry_at: Some(until),
                held,
                ..FlowSummary::default()
            };
            let standing = FlowStanding::of(&summary, true);
            assert_eq!(summary.words(standing, At::from_ms(now)), words);
            assert_eq!(summary.full_words(standing, At::from_ms(now)), words);
        }
    }

    #[test]
    fn a_flow_says_why_its_request_is_sent_again_where_there_is_room() {
        for (class, expected) in [
            (
                Some("rate_limit"),
                "retrying in 42 s: the provider's limit was reached",
            ),
            (
                Some("overloaded"),
                "retrying in 42 s: the model's provider is overloaded",
            ),
            (Some("odd_kind"), "retrying in 42 s"),
            (None, "retrying in 42 s"),
        ] {
            let summary = FlowSummary {
                status: FlowStatus::Running,
                running: 1,
                retry_at: Some(At::from_ms(42_000)),
                retry_class: class.map(str::to_owned),
                ..FlowSummary::default()
            };
            let standing = FlowStanding::of(&summary, true);
            let now = At::from_ms(0);
            assert_eq!(summary.full_words(standing, now), expected);
            assert_eq!(summary.words(standing, now), "retrying in 42 s");
        }
    }

    #[test]
    fn a_flow_whose_every_wait_has_its_time_does_not_wait_for_the_operator() {
        let wait = |until: Option<i64>| Wait {
            node: None,
            role: "owner".parse().unwrap(),
            reason: WaitReason::Provider,
            since: At::from_ms(0),
            until: until.map(At::from_ms),
            is_own_turn: false,
            is_answered: false,
        };
        let now = At::from_ms(0);
        for (waits, running, driven, words) in [
            (vec![Some(1_500)], 0, true, "limit resets in 2 s"),
            (vec![Some(2_600_000)], 0, true, "limit resets in 44 min"),
            (
                vec![Some(99_000_000), Some(9_000_000)],
                0,
                true,
                "limit resets in 2 h 30 min",
            ),
            (vec![Some(1_500), None], 0, true, "waiting for you"),
            (vec![Some(1_500)], 1, true, "working"),
            (vec![Some(1_500)], 0, false, "stopped: nobody drives it"),
        ] {
            let summary = FlowSummary {
                status: FlowStatus::Running,
                running,
                waits: waits.iter().copied().map(wait).collect(),
                ..FlowSummary::default()
            };
            let standing = FlowStanding::of(&summary, driven);
            assert_eq!(standing.words(now), words, "{waits:?}");
        }
    }
}
