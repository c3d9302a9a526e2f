//! What roles found in flows, and the changes that they proposed, as they are on disk.

use std::path::Path;

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::message::Text;
use a_society_facts::view::flow::FileChangeState;
use a_society_facts::view::flow::FlowState;
use a_society_state::disk::Kind;
use a_society_state::{FlowPlace, FlowRef, Store};

use crate::driver::change::CHANGEABLE;
use crate::record::in_project;

/// How many files of a project are offered for a change; a person picks from fewer.
const FILES_MAX: usize = 500;

/// How deep they are looked for.
const DEPTH_MAX: usize = 8;

/// What one role found in one flow.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The role instance.
    pub role: RoleInstance,
    /// The record that says so, if the flow was looked at since that is kept.
    pub seq: Option<Seq>,
    /// Its path in the record folder.
    pub path: String,
    /// Its text; nothing if it is not text or was lost.
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
    pub change: FileChangeState,
    /// The file as it would be, while the proposal is open.
    pub after: Option<String>,
}

/// How a proposal compares with the file it would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalStanding {
    /// It waits for a decision, and the file is as it was found.
    Open,
    /// It waits, and the file says this already.
    SaidAlready,
    /// It waits, and the file was changed since; it is not applied to that.
    FileChanged,
    /// It was applied.
    Applied,
    /// It was declined.
    Declined,
}

impl ProposalStanding {
    /// The same in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::SaidAlready => "open, and the file says this already",
            Self::FileChanged => "open, and the file was changed since",
            Self::Applied => "applied",
            Self::Declined => "declined",
        }
    }
}

impl Proposal {
    /// How it compares with the file's present text.
    #[must_use]
    pub fn stands(&self, now: Option<&str>) -> ProposalStanding {
        match self.change.applied {
            Some(true) => ProposalStanding::Applied,
            Some(false) => ProposalStanding::Declined,
            None if now.map(|text| Hash::of(text.as_bytes())) == self.change.before => {
                ProposalStanding::Open
            }
            None if now.is_some() && now == self.after.as_deref() => ProposalStanding::SaidAlready,
            None => ProposalStanding::FileChanged,
        }
    }
}

/// The findings of one flow.
#[derive(Debug, Clone)]
pub struct FlowFindings {
    /// The flow.
    pub flow: FlowRef,
    /// How people call it.
    pub title: String,
    /// What its roles found, in the order in which they began to look back, and the report.
    pub findings: Vec<Finding>,
    /// What was proposed.
    pub proposals: Vec<Proposal>,
}

/// The findings of a flow, read without a lock.
///
/// # Errors
/// When there is no such flow.
pub fn of(store: &Store, flow: &FlowRef) -> Result<FlowFindings, a_society_state::Error> {
    let look = store.look(flow)?;
    let state = &look.screen.flow;
    let reading = FindingsReading {
        place: store.place(flow),
    };
    Ok(FlowFindings {
        flow: flow.clone(),
        title: state.title.clone(),
        findings: reading.findings(state),
        proposals: reading.proposals(state),
    })
}

struct FindingsReading {
    place: FlowPlace,
}

impl FindingsReading {
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
        let bytes = self.place.whole_blob(hash).ok()?;
        String::from_utf8(bytes).ok()
    }
}

/// What a file of a project says now, if it is text that a finding may change.
#[must_use]
pub fn file_now(store: &Store, project: &Path, path: &str) -> Option<String> {
    let found = in_project(store.ground().disk.as_ref(), project, path).ok()?;
    String::from_utf8(found.bytes?).ok()
}

/// The files that a finding may change, from the project's folder, and whether there are more.
#[must_use]
pub fn changeable_files(store: &Store, project: &Path) -> (Vec<String>, bool) {
    let disk = store.ground().disk.as_ref();
    let mut files = Vec::new();
    let mut folders = vec![(CHANGEABLE.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let mut entries = disk.list(&project.join(&folder)).unwrap_or_default();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                Kind::Folder if depth < DEPTH_MAX => folders.push((path, depth + 1)),
                Kind::File if files.len() >= FILES_MAX => return (files, true),
                Kind::File => files.push(path),
                Kind::Folder | Kind::Other => {}
            }
        }
    }
    files.sort();
    (files, false)
}

/// The present text of a file that a finding may change; `None` if there is none or it is not text.
///
/// # Errors
/// Says in words why a finding may not change it.
pub fn changeable_now(store: &Store, project: &Path, path: &str) -> Result<Option<String>, String> {
    let found = in_project(store.ground().disk.as_ref(), project, path)?;
    if !Path::new(&found.relative).starts_with(CHANGEABLE) {
        return Err(format!("findings change files below {CHANGEABLE} only"));
    }
    let bytes = found.bytes;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

#[cfg(test)]
mod tests {
    use a_society_facts::At;

    use super::*;

    fn proposal(applied: Option<bool>) -> Proposal {
        Proposal {
            name: "change-1".to_owned(),
            change: FileChangeState {
                role: "writer".parse().unwrap(),
                path: "a-docs/style.md".to_owned(),
                before: Some(Hash::of(b"One.")),
                finding: None,
                after: None,
                at: At::from_ms(0),
                applied,
            },
            after: Some("Two.".to_owned()),
        }
    }

    #[test]
    fn how_a_proposal_stands_depends_on_what_was_decided_and_on_the_file() {
        for (applied, now, wanted) in [
            (None, Some("One."), ProposalStanding::Open),
            (None, Some("Two."), ProposalStanding::SaidAlready),
            (None, Some("Three."), ProposalStanding::FileChanged),
            (None, None, ProposalStanding::FileChanged),
            (Some(true), Some("Two."), ProposalStanding::Applied),
            (Some(false), Some("One."), ProposalStanding::Declined),
        ] {
            assert_eq!(proposal(applied).stands(now), wanted, "{applied:?} {now:?}");
        }
    }
}
