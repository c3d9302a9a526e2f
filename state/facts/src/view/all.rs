//! All views of one flow together, and which of them a fact changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::FactView;
use super::feed::FeedView;
use super::flow::{Decisions, FlowState};
use super::route::{feed_seat, session_seat};
use super::session::SessionView;
use super::summary::FlowSummary;
use crate::fact::Fact;
use crate::fact::columns::FactWeight;
use crate::fact::session::{Descent, SessionOpened};
use crate::id::RoleInstance;
use crate::line::Recorded;
use crate::seat::Seat;

/// Which views a fact changed. Making it allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TouchedViews {
    /// Whether `flow.json` says something else now than which record it reflects. The records
    /// of a stream of text change nothing else in it.
    pub flow: bool,
    /// Whose `transcript.json` changed.
    pub session: Option<Seat>,
    /// Whose `feed.json` changed.
    pub feed: Option<Seat>,
    /// Whether every `transcript.json` changed, because the flow got another id.
    pub all_sessions: bool,
}

/// All views of one flow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Views {
    /// The state of the flow. Work apart from the flow may hold it; then the next fact is applied to a copy.
    pub flow: Arc<FlowState>,
    /// The sessions, by their seats.
    pub sessions: BTreeMap<Seat, SessionView>,
    /// The feeds, by their seats.
    pub feeds: BTreeMap<Seat, FeedView>,
    /// What was decided.
    pub decisions: Decisions,
}

/// Whether a fact is a piece of streamed text.
pub(super) fn changes_only_a_draft(recorded: &Recorded) -> bool {
    recorded
        .fact()
        .is_some_and(|fact| fact.weight() == FactWeight::Draft)
}

impl Views {
    /// The flow in short. It is made on demand: it reads every node, and facts are many.
    #[must_use]
    pub fn summary(&self) -> FlowSummary {
        FlowSummary::of(&self.flow)
    }

    /// The session of a role instance.
    #[must_use]
    pub fn session(&self, role: &RoleInstance) -> Option<&SessionView> {
        self.session_at(&Seat::from(role))
    }

    /// The session at a seat.
    #[must_use]
    pub fn session_at(&self, seat: &Seat) -> Option<&SessionView> {
        self.sessions.get(seat)
    }

    /// The feed of a role instance.
    #[must_use]
    pub fn feed(&self, role: &RoleInstance) -> Option<&FeedView> {
        self.feeds.get(&Seat::from(role))
    }

    /// Takes the next fact and says which views it changed.
    pub fn apply(&mut self, recorded: &Recorded) -> TouchedViews {
        let mut touched = TouchedViews {
            flow: !changes_only_a_draft(recorded),
            ..TouchedViews::default()
        };
        if let Some(fact) = recorded.fact() {
            touched.feed = self.apply_feed(recorded, fact);
            touched.session = self.apply_session(recorded, fact);
            touched.all_sessions = self.apply_flow_id(recorded, fact);
        }
        self.decisions.apply(&self.flow, recorded);
        Arc::make_mut(&mut self.flow).apply(recorded);
        touched
    }

    fn apply_feed(&mut self, recorded: &Recorded, fact: &Fact) -> Option<Seat> {
        let seat = feed_seat(&self.flow, fact)?;
        if !self.feeds.contains_key(&seat) {
            self.feeds.insert(seat.clone(), FeedView::default());
        }
        self.feeds.get_mut(&seat)?.apply(recorded);
        Some(seat)
    }

    fn apply_session(&mut self, recorded: &Recorded, fact: &Fact) -> Option<Seat> {
        let seat = session_seat(fact)?;
        if !self.sessions.contains_key(&seat) {
            let session = SessionView::new(seat.clone(), self.flow.flow_id.clone());
            self.sessions.insert(seat.clone(), session);
        }
        let session = self.sessions.get_mut(&seat)?;
        session.apply(recorded);
        if let Fact::SessionOpened(opened) = fact {
            self.inherit(opened);
        }
        Some(seat)
    }

    /// A fork of one of our own sessions begins with its messages.
    fn inherit(&mut self, opened: &SessionOpened) -> Option<()> {
        let parent = opened.parent.as_ref()?;
        if parent.descent != Descent::Fork {
            return None;
        }
        let (seat, _) = self.sessions.iter().find(|(seat, session)| {
            **seat != opened.seat && session.session_id.as_ref() == Some(&parent.session)
        })?;
        let seat = seat.clone();
        let mut fork = self.sessions.remove(&opened.seat)?;
        if let Some(other) = self.sessions.get(&seat) {
            fork.begin_from(other, parent.at_seq);
        }
        self.sessions.insert(opened.seat.clone(), fork);
        Some(())
    }

    fn apply_flow_id(&mut self, recorded: &Recorded, fact: &Fact) -> bool {
        let Fact::SegmentStarted(segment) = fact else {
            return false;
        };
        if self.flow.flow_id.as_ref() == Some(&segment.flow) {
            return false;
        }
        for session in self.sessions.values_mut() {
            session.apply(recorded);
        }
        !self.sessions.is_empty()
    }
}
