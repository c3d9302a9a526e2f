//! Where things of a flow lie on disk. Nothing else builds these paths.

use std::path::{Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::id::{FlowId, ProjectName, RoleInstance};

/// How a folder's name begins while a flow is being imported into it.
pub(crate) const COMING: &str = ".coming-";

/// The folder of one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowFolder {
    root: PathBuf,
}

impl FlowFolder {
    /// The folder of a flow under the state root.
    #[must_use]
    pub(crate) fn of(state_root: &Path, project: &ProjectName, flow: &FlowId) -> Self {
        Self {
            root: state_root.join(project.as_str()).join(flow.as_str()),
        }
    }

    /// A folder that is known to be a flow's.
    #[must_use]
    pub const fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The segments of the journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// One segment.
    #[must_use]
    pub fn segment(&self, number: u32) -> PathBuf {
        self.journal().join(segment_name(number))
    }

    /// A segment that is being made and does not count yet.
    #[must_use]
    pub fn new_segment(&self, number: u32) -> PathBuf {
        self.journal().join(format!("{number:08}.jsonl.new"))
    }

    /// The checkpoint of the fold.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.journal().join("checkpoint.json")
    }

    /// The lock.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join("flow.lock")
    }

    /// The socket of the process that drives the flow. It exists only while one does.
    #[must_use]
    pub(crate) fn control(&self) -> PathBuf {
        self.root.join("control.sock")
    }

    /// The space set aside for a full disk.
    #[must_use]
    pub(crate) fn reserve(&self) -> PathBuf {
        self.root.join("reserve")
    }

    /// Says that a sync of the journal failed, for as long as the system's memory may hold what
    /// the disk does not.
    #[must_use]
    pub(crate) fn doubt(&self) -> PathBuf {
        self.root.join("unsynced")
    }

    /// The folders whose names lead to the flow, from its own one outwards: the project's, the
    /// state root, ours, and the one that ours is in.
    pub(crate) fn way_here(&self) -> impl Iterator<Item = &Path> {
        const FOLDERS: usize = 5;
        let named = |path: &'_ Path| !path.as_os_str().is_empty();
        self.root
            .ancestors()
            .take(FOLDERS)
            .filter(move |path| named(path))
    }

    /// Which state of the journal each view reflects.
    #[must_use]
    pub fn views(&self) -> PathBuf {
        self.root.join("views.json")
    }

    /// The view of the flow.
    #[must_use]
    pub fn flow_view(&self) -> PathBuf {
        self.root.join("flow.json")
    }

    /// The folder of one role's views.
    #[must_use]
    pub fn role(&self, role: &RoleInstance) -> PathBuf {
        self.root.join("roles").join(role.as_str())
    }

    /// The blobs.
    #[must_use]
    pub fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }

    /// One blob.
    #[must_use]
    pub fn blob(&self, hash: Hash) -> PathBuf {
        self.blobs().join(hash.to_string())
    }

    /// What recoveries and repairs took out of the journal.
    #[must_use]
    pub fn quarantine(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    /// The flow's own folder: artifacts, findings, its snapshot of the graph.
    #[must_use]
    pub fn record(&self) -> PathBuf {
        self.root.join("record")
    }
}

/// The name of a segment's file.
#[must_use]
pub(crate) fn segment_name(number: u32) -> String {
    format!("{number:08}.jsonl")
}

/// The number of the segment whose file has this name.
#[must_use]
pub(crate) fn segment_number(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".jsonl")?;
    let fits = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|number| fits && *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_eight_digits_name_a_segment() {
        assert_eq!(segment_number("00000001.jsonl"), Some(1));
        for name in [
            "1.jsonl",
            "00000000.jsonl",
            "00000001.jsonl.new",
            "checkpoint.json",
            "+0000001.jsonl",
        ] {
            assert_eq!(segment_number(name), None, "{name}");
        }
    }
}
