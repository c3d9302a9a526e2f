//! The state of a flow when it was imported.

use serde::{Deserialize, Serialize};

use super::fold::FactPlace;
use super::parts::Matter;
use super::phase::FlowPhase;
use super::state::FlowState;
use crate::fact::imported::{FlowImported, ImportedFile, SessionImported, These};
use crate::id::Seq;

/// Where an imported flow comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origins {
    /// The version of the state it was kept in.
    pub state_version: String,
    /// The record that says so.
    pub seq: Seq,
    /// The files it was read from.
    pub files: Vec<ImportedFile>,
    /// What was wrong with its project when it was imported; absent if it was not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ailments: Option<Vec<String>>,
    /// Whether the operator was asked about that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked_about_project: bool,
}

impl FlowState {
    pub(super) fn imported(&mut self, place: FactPlace, f: &FlowImported) {
        self.imported = Some(Origins {
            state_version: f.state_version.clone(),
            seq: place.seq,
            files: f.files.clone(),
            ailments: f.ailments.clone(),
            asked_about_project: false,
        });
        self.visited.extend(f.visited.iter().cloned());
        self.completed_edges.extend(f.completed.iter().cloned());
        for passed in &f.passed {
            let (from, to) = (passed.edge.from.clone(), passed.edge.to.clone());
            let paths = self.history.entry(from).or_default().entry(to).or_default();
            paths.extend(passed.paths.iter().cloned());
            self.passed.extend(passed.paths.iter().cloned());
        }
        self.received.extend(f.received.iter().cloned());
        self.awaiting_handoff
            .extend(f.awaiting_handoff.iter().cloned());
        for node in &f.visited {
            self.reckon(node);
        }
    }

    pub(super) fn session_imported(&mut self, place: FactPlace, f: &SessionImported) {
        let Some(session) = self.sessions.get_mut(&f.role) else {
            return;
        };
        session.messages = session.messages.saturating_add(f.messages.len() as u64);
        if let Some(last) = f.messages.last() {
            session.last_message = Some(last.id.clone());
        }
        match &f.these {
            None => {}
            Some(These::Archive(archive)) => session.archives.push(archive.id.clone()),
            Some(These::History(history)) => {
                session.context_tokens = history.context_tokens;
                session.is_active = history.is_active;
                // Its role has got what it was at work on, and has not finished it.
                let node = history
                    .node
                    .clone()
                    .filter(|_| self.phase == FlowPhase::Forward);
                session.unanswered = match (history.is_active, node) {
                    (false, _) => None,
                    (true, Some(node)) => Some(Matter::Node(node)),
                    (true, None) => Some(Matter::Improvement),
                };
                self.touch(place, &f.role);
            }
        }
    }
}
