//! What a terminal shows of a flow, and what a checkpoint keeps: the state, the last decisions and the ends
//! of the feeds. It stays small however long the journal is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FactView;
use super::all::{Views, changes_only_a_draft};
use super::feed::{FeedBounds, FeedView};
use super::flow::{Decisions, FlowState};
use super::route::feed_role;
use super::summary::FlowSummary;
use crate::id::RoleInstance;
use crate::limits::{SCREEN_ITEMS_MAX, SCREEN_TEXT_BYTES_MAX};
use crate::line::Recorded;

/// The state of a flow, the ends of its feeds and the last decisions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowScreen {
    /// The state of the flow.
    pub flow: FlowState,
    /// The same in short.
    pub summary: FlowSummary,
    /// The last items of each feed.
    pub feeds: BTreeMap<RoleInstance, FeedView>,
    /// What was decided in it.
    pub decisions: Decisions,
}

/// How much of each feed a screen holds.
const BOUNDS: FeedBounds = FeedBounds {
    items_max: SCREEN_ITEMS_MAX,
    text_bytes_max: SCREEN_TEXT_BYTES_MAX,
};

impl FlowScreen {
    /// The screen of views that are held in full: what folding the same facts would give.
    #[must_use]
    pub fn of(views: &Views) -> Self {
        let end = |(role, feed): (&RoleInstance, &FeedView)| (role.clone(), feed.end(BOUNDS));
        Self {
            flow: FlowState::clone(&views.flow),
            summary: views.summary(),
            feeds: views.feeds.iter().map(end).collect(),
            decisions: views.decisions.clone(),
        }
    }
}

impl FactView for FlowScreen {
    fn apply(&mut self, recorded: &Recorded) {
        if let Some(fact) = recorded.fact()
            && let Some(role) = feed_role(&self.flow, fact).cloned()
        {
            if let Some(feed) = self.feeds.get_mut(&role) {
                feed.apply(recorded);
            } else {
                let mut feed = FeedView::bounded(BOUNDS);
                feed.apply(recorded);
                self.feeds.insert(role, feed);
            }
        }
        self.decisions.apply(&self.flow, recorded);
        self.flow.apply(recorded);
        if changes_only_a_draft(recorded) {
            self.summary.tick(&self.flow);
        } else {
            self.summary = FlowSummary::of(&self.flow);
        }
    }
}
