//! What a flow is doing now: its journal combined with whether a process drives it.

use serde::{Deserialize, Serialize};

use super::flow::FlowStatus;
use super::summary::FlowSummary;
use crate::at::At;
use crate::fact::flow::PauseReason;

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
    /// A session is being compacted, and nothing else goes on.
    Compacting,
    /// It waits for the operator.
    Waiting,
    /// The operator paused it.
    Paused,
    /// There is work, and no process does it.
    Stopped,
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
        let asks = rests && summary.waits.iter().any(|wait| wait.until.is_none());
        let limited = summary.resets_at().filter(|_| rests);
        match summary.status {
            FlowStatus::Completed => Self::Completed,
            FlowStatus::Cancelled => Self::Cancelled,
            FlowStatus::Paused(PauseReason::Operator) => Self::Paused,
            FlowStatus::Paused(_)
            | FlowStatus::AwaitingImprovementChoice
            | FlowStatus::AwaitingFeedbackConsent => Self::Waiting,
            FlowStatus::Running | FlowStatus::Improving | FlowStatus::Feedback if asks => {
                Self::Waiting
            }
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
            Self::Working => "working",
            Self::Retrying(_) => "retrying",
            Self::Limited(_) => "limited",
            Self::Compacting => "compacting",
            Self::Waiting => "waiting for you",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The same with what an operator wants to know at this moment.
    #[must_use]
    pub fn words(self, now: At) -> String {
        match self {
            Self::Retrying(at) => {
                let seconds = (at.ms() - now.ms()).max(0).unsigned_abs().div_ceil(1_000);
                format!("retrying in {seconds} s")
            }
            Self::Limited(at) => format!("limit resets in {}", left(at, now)),
            Self::Stopped => "stopped: nobody drives it".to_owned(),
            Self::Working
            | Self::Compacting
            | Self::Waiting
            | Self::Paused
            | Self::Completed
            | Self::Cancelled => self.word().to_owned(),
        }
    }
}

/// The time until a moment, in the unit in which one waits for it.
#[must_use]
pub fn left(at: At, now: At) -> String {
    let seconds = (at.ms() - now.ms()).max(0).unsigned_abs().div_ceil(1_000);
    let minutes = seconds.div_ceil(60);
    match (seconds, minutes) {
        (0..=120, _) => format!("{seconds} s"),
        (_, 0..=120) => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::node::WaitReason;
    use crate::view::summary::Wait;

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn a_flow_stands_as_its_journal_and_its_process_say() {
        let wait = || Wait {
            node: None,
            role: "owner".parse().unwrap(),
            reason: WaitReason::PromptHuman,
            since: At::from_ms(0),
            until: None,
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
    fn a_flow_whose_every_wait_has_its_time_does_not_wait_for_the_operator() {
        let wait = |until: Option<i64>| Wait {
            node: None,
            role: "owner".parse().unwrap(),
            reason: WaitReason::Provider,
            since: At::from_ms(0),
            until: until.map(At::from_ms),
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
