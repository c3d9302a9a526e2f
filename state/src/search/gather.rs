//! What is looked for, and what was found of it, by sessions.

use std::cmp::Reverse;

use a_society_facts::id::{ProjectName, RoleInstance};

use super::query::SearchWords;
use super::said::SaidMessage;
use super::update::UpdateStep;
use crate::flow_ref::FlowRef;

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub struct SearchWanted<'a> {
    /// The words.
    pub words: &'a SearchWords,
    /// Only in this project.
    pub project: Option<&'a ProjectName>,
    /// Only in sessions of this role instance.
    pub role: Option<&'a RoleInstance>,
    /// How many sessions.
    pub sessions: usize,
    /// How many messages of each.
    pub messages: usize,
}

/// A session in which words were found. The titles of a flow are in none of its roles' sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSession {
    /// The flow or chat.
    pub flow: FlowRef,
    /// Whose session it is; absent for the title of the flow.
    pub role: Option<RoleInstance>,
    /// The last messages with the words, the newest first.
    pub messages: Vec<SaidMessage>,
    /// How many more there are, as far as was looked.
    pub more: usize,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchFound {
    /// The sessions, those with the newest messages first.
    pub sessions: Vec<FoundSession>,
    /// Whether there may be more sessions or messages than were looked at.
    pub is_cut: bool,
    /// How many flows were not read to their ends, because there was no time or another process was at it.
    pub behind: usize,
    /// How many old flows there is no room for in the index.
    pub left_out: usize,
    /// Why there is no index, if there is none.
    pub without_index: Option<String>,
}

/// The part of a search that the floor above decides.
pub trait SearchTerms {
    /// Whether there is time to index more. What was indexed so far is kept.
    fn goes_on(&mut self, step: UpdateStep) -> bool;
    /// Whether a session is looked for.
    fn wants(&mut self, flow: &FlowRef, role: Option<&RoleInstance>) -> bool;
}

/// Messages by their sessions.
pub(super) struct SessionGathering<'a> {
    wanted: &'a SearchWanted<'a>,
    found: SearchFound,
    /// Sessions that are not looked for.
    others: Vec<(FlowRef, Option<RoleInstance>)>,
}

impl<'a> SessionGathering<'a> {
    pub(super) fn new(wanted: &'a SearchWanted<'a>) -> Self {
        Self {
            wanted,
            found: SearchFound::default(),
            others: Vec::new(),
        }
    }

    /// Takes a message that was found, unless there are enough; it is read only then. Nothing comes back if it could not be
    /// read.
    pub(super) fn offer(
        &mut self,
        flow: &FlowRef,
        role: Option<&RoleInstance>,
        terms: &mut dyn SearchTerms,
        read: impl FnOnce() -> Option<SaidMessage>,
    ) -> Option<()> {
        let sessions = &mut self.found.sessions;
        let here = sessions
            .iter_mut()
            .find(|it| it.flow == *flow && it.role.as_ref() == role);
        if let Some(session) = here {
            if session.messages.len() < self.wanted.messages {
                session.messages.push(read()?);
            } else {
                session.more += 1;
            }
            return Some(());
        }
        let is_other =
            |(other, its): &(FlowRef, Option<RoleInstance>)| other == flow && its.as_ref() == role;
        if self.others.iter().any(is_other) {
            return Some(());
        }
        if sessions.len() >= self.wanted.sessions {
            self.found.is_cut = true;
            return Some(());
        }
        if !terms.wants(flow, role) {
            self.others.push((flow.clone(), role.cloned()));
            return Some(());
        }
        let message = read()?;
        sessions.push(FoundSession {
            flow: flow.clone(),
            role: role.cloned(),
            messages: vec![message],
            more: 0,
        });
        Some(())
    }

    pub(super) fn end(mut self) -> SearchFound {
        for session in &mut self.found.sessions {
            let place = |message: &SaidMessage| Reverse((message.seq, message.nth));
            session.messages.sort_by_key(place);
        }
        let newest = |session: &FoundSession| session.messages.first().map(|message| message.at);
        self.found
            .sessions
            .sort_by_key(|session| Reverse(newest(session)));
        self.found
    }
}
