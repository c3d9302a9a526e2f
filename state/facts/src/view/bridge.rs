//! Short questions that the disk asks of the views.

use super::{FlowState, FlowStatus, Screen, Summary, Touched, Views};
use crate::fact::flow::PauseReason;
use crate::hash::Hash;
use crate::id::RoleInstance;

impl FlowState {
    /// Whether a blob is known to be lost.
    #[must_use]
    pub fn is_blob_lost(&self, blob: Hash) -> bool {
        self.lost_blobs.contains_key(&blob)
    }

    /// Whether the flow pauses because the disk is full.
    #[must_use]
    pub fn is_paused_for_space(&self) -> bool {
        self.paused
            .as_ref()
            .is_some_and(|pause| pause.reason == PauseReason::DiskFull)
    }
}

impl Summary {
    /// Whether nothing of the flow runs any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.status, FlowStatus::Completed | FlowStatus::Cancelled)
    }
}

impl Touched {
    /// Whose `transcript.json` changed.
    pub fn sessions(&self) -> impl Iterator<Item = &RoleInstance> {
        self.session.iter()
    }

    /// Whose `feed.json` changed.
    pub fn feeds(&self) -> impl Iterator<Item = &RoleInstance> {
        self.feed.iter()
    }
}

impl Screen {
    /// The screen of views that were folded whole.
    #[must_use]
    pub fn of(views: &Views) -> Self {
        Self {
            flow: views.flow.clone(),
            summary: views.summary.clone(),
            feeds: views.feeds.clone(),
        }
    }
}
