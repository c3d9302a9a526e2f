//! What roles found in flows, and the changes that came of it, as they stand on disk.

use std::path::Path;

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::message::Text;
use a_society_facts::view::FlowState;
use a_society_facts::view::flow::Change;
use a_society_state::disk::Disk;
use a_society_state::layout::FlowFolder;
use a_society_state::{FlowRef, Store, blob};

use crate::record::in_project;

/// What one role found in one flow.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The role instance.
    pub role: RoleInstance,
    /// The record that says so, if the flow was looked at since that is kept.
    pub seq: Option<Seq>,
    /// Where it stands in the record folder.
    pub path: String,
    /// What it says; nothing if it is no text or was lost.
    pub text: Option<String>,
    /// Whether it is the report that puts all findings together.
    pub is_report: bool,
}

/// A change that was proposed.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// Its name.
    pub name: String,
    /// The proposal.
    pub change: Change,
    /// The file as it would be, while the proposal is open.
    pub after: Option<String>,
}

/// What came of one flow.
#[derive(Debug, Clone)]
pub struct Found {
    /// The flow.
    pub flow: FlowRef,
    /// How people call it.
    pub title: String,
    /// What its roles found, in the order in which they began to look back, and the report.
    pub findings: Vec<Finding>,
    /// What was proposed.
    pub proposals: Vec<Proposal>,
}

/// What came of a flow, by looking at it without a lock.
///
/// # Errors
/// When there is no such flow.
pub fn of(store: &Store, flow: &FlowRef) -> Result<Found, a_society_state::Error> {
    let look = store.look(flow)?;
    let state = &look.screen.flow;
    let reading = Reading {
        disk: store.ground().disk.as_ref(),
        folder: &store.folder(flow),
    };
    Ok(Found {
        flow: flow.clone(),
        title: state.title.clone(),
        findings: reading.findings(state),
        proposals: reading.proposals(state),
    })
}

struct Reading<'a> {
    disk: &'a dyn Disk,
    folder: &'a FlowFolder,
}

impl Reading<'_> {
    fn findings(&self, state: &FlowState) -> Vec<Finding> {
        let Some(improvement) = &state.improvement else {
            return Vec::new();
        };
        let planned = improvement.plan.iter().filter_map(|step| {
            let role = improvement.roles.get(&step.role)?;
            let findings = role.findings.as_ref()?;
            Some(self.finding(&step.role, role.seq, findings, false))
        });
        let feedback = &improvement.feedback;
        let report = feedback.role.iter().filter_map(|role| {
            let work = feedback.work.as_ref()?;
            let report = work.findings.as_ref()?;
            Some(self.finding(role, work.seq, report, true))
        });
        planned.chain(report).collect()
    }

    fn finding(
        &self,
        role: &RoleInstance,
        seq: Option<Seq>,
        artifact: &Artifact,
        is_report: bool,
    ) -> Finding {
        let text = artifact.text.clone().or_else(|| self.blob(artifact.hash));
        Finding {
            role: role.clone(),
            seq,
            path: artifact.path.clone(),
            text,
            is_report,
        }
    }

    fn proposals(&self, state: &FlowState) -> Vec<Proposal> {
        let proposals = state.changes.iter().map(|(name, change)| Proposal {
            name: name.clone(),
            change: change.clone(),
            after: change.after.as_ref().and_then(|after| match after {
                Text::Inline(text) => Some(text.clone()),
                Text::Blob(kept) => self.blob(kept.blob),
            }),
        });
        let mut proposals: Vec<Proposal> = proposals.collect();
        proposals.sort_by_key(|proposal| proposal.change.at);
        proposals
    }

    fn blob(&self, hash: Hash) -> Option<String> {
        let bytes = blob::get(self.disk, self.folder, hash).ok()?;
        String::from_utf8(bytes).ok()
    }
}

/// What a file of a project says now, if it is text that a finding may change.
#[must_use]
pub fn file_now(store: &Store, project: &Path, path: &str) -> Option<String> {
    let found = in_project(store.ground().disk.as_ref(), project, path).ok()?;
    String::from_utf8(found.bytes?).ok()
}
