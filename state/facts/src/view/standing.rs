//! What a flow is doing now: its journal combined with whether a process drives it.

use serde::{Deserialize, Serialize};

use super::flow::FlowStatus;
use super::summary::Summary;
use crate::at::At;
use crate::fact::flow::PauseReason;

/// What a flow is doing now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A role is at work, or is about to be.
    Working,
    /// Every role that is at work waits until its request is sent again, the first of them until then.
    Retrying(At),
    /// A session is being compacted, and nobody does anything else.
    Compacting,
    /// It goes on when the operator has said something.
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

impl Standing {
    /// The state of the summarized flow, with or without a process that drives it.
    #[must_use]
    pub fn of(summary: &Summary, is_driven: bool) -> Self {
        let asks = summary.running == 0 && !summary.waits.is_empty();
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
                match (summary.retry_at, summary.compacting) {
                    (Some(at), _) => Self::Retrying(at),
                    (None, true) => Self::Compacting,
                    (None, false) => Self::Working,
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
            let summary = Summary {
                status,
                running,
                waits: (0..waits).map(|_| wait()).collect(),
                retry_at,
                compacting,
                ..Summary::default()
            };
            let standing = Standing::of(&summary, driven);
            assert_eq!(standing.words(now), words, "{status:?} {driven}");
        }
    }
}
