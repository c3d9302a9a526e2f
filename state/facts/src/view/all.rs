//! All views of one flow together, and which of them a fact changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::FactView;
use super::feed::FeedView;
use super::flow::{Decisions, FlowState};
use super::route::{feed_role, session_role};
use super::session::SessionView;
use super::summary::FlowSummary;
use crate::fact::Fact;
use crate::fact::columns::FactWeight;
use crate::fact::session::{Descent, SessionOpened};
use crate::id::RoleInstance;
use crate::line::Recorded;

/// Which views a fact changed. Making it allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TouchedViews {
    /// Whether `flow.json` says something else now than which record it reflects. The records
    /// of a stream of text change nothing else in it.
    pub flow: bool,
    /// Whose `transcript.json` changed.
    pub session: Option<RoleInstance>,
    /// Whose `feed.json` changed.
    pub feed: Option<RoleInstance>,
    /// Whether every `transcript.json` changed, because the flow got another id.
    pub all_sessions: bool,
}

/// All views of one flow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Views {
    /// The state of the flow. Work apart from the flow may hold it; then the next fact is applied to a copy.
    pub flow: Arc<FlowState>,
    /// The sessions, by their roles.
    pub sessions: BTreeMap<RoleInstance, SessionView>,
    /// The feeds, by their roles.
    pub feeds: BTreeMap<RoleInstance, FeedView>,
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
        self.sessions.get(role)
    }

    /// The feed of a role instance.
    #[must_use]
    pub fn feed(&self, role: &RoleInstance) -> Option<&FeedView> {
        self.feeds.get(role)
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

    fn apply_feed(&mut self, recorded: &Recorded, fact: &Fact) -> Option<RoleInstance> {
        let role = feed_role(&self.flow, fact)?.clone();
        if !self.feeds.contains_key(&role) {
            self.feeds.insert(role.clone(), FeedView::default());
        }
        self.feeds.get_mut(&role)?.apply(recorded);
        Some(role)
    }

    fn apply_session(&mut self, recorded: &Recorded, fact: &Fact) -> Option<RoleInstance> {
        let role = session_role(fact)?.clone();
        if !self.sessions.contains_key(&role) {
            let session = SessionView::new(role.clone(), self.flow.flow_id.clone());
            self.sessions.insert(role.clone(), session);
        }
        let session = self.sessions.get_mut(&role)?;
        session.apply(recorded);
        if let Fact::SessionOpened(opened) = fact {
            self.inherit(opened);
        }
        Some(role)
    }

    /// A fork of one of our own sessions begins with its messages.
    fn inherit(&mut self, opened: &SessionOpened) -> Option<()> {
        let parent = opened.parent.as_ref()?;
        if parent.descent != Descent::Fork {
            return None;
        }
        let (role, _) = self.sessions.iter().find(|(role, session)| {
            **role != opened.role && session.session_id.as_ref() == Some(&parent.session)
        })?;
        let role = role.clone();
        let mut fork = self.sessions.remove(&opened.role)?;
        if let Some(other) = self.sessions.get(&role) {
            fork.begin_from(other, parent.at_seq);
        }
        self.sessions.insert(opened.role.clone(), fork);
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
