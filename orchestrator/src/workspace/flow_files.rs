//! Flow files of a workspace: what is offered where one is to be chosen.

use std::path::{Path, PathBuf};

use a_society_state::disk::{Disk, Kind};
use a_society_state::files::{kind_behind, read_whole};

use crate::limits::{
    FLOW_FILE_OFFERED_BYTES_MAX, FLOW_FILES_DEPTH_MAX, FLOW_FILES_ENTRIES_LOOKED_AT_MAX,
};
use crate::project::flow_file::SCRIPT_NAME;

/// The flow files of a workspace, by their paths in it.
#[must_use]
pub fn flow_files(disk: &dyn Disk, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![(PathBuf::new(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        for entry in disk.list(&root.join(&folder)).unwrap_or_default() {
            let path = folder.join(&entry.name);
            looked_at += 1;
            if entry.name.starts_with('.') || looked_at > FLOW_FILES_ENTRIES_LOOKED_AT_MAX {
                continue;
            }
            match entry.kind {
                Kind::Folder if depth < FLOW_FILES_DEPTH_MAX => folders.push((path, depth + 1)),
                Kind::File if is_flow_file(disk, &root.join(&path), &entry.name) => {
                    found.extend(path.to_str().map(str::to_owned));
                }
                Kind::Folder | Kind::File | Kind::Other => {}
            }
        }
    }
    found.sort();
    found
}

/// Whether a file is YAML that begins a workflow on one of its lines.
fn is_flow_file(disk: &dyn Disk, path: &Path, name: &str) -> bool {
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    let text = is_yaml.then(|| offered(disk, path)).flatten();
    text.is_some_and(|text| text.lines().any(|line| line.starts_with("workflow:")))
}

/// The text of a file that may be offered.
pub(super) fn offered(disk: &dyn Disk, path: &Path) -> Option<String> {
    let bytes = read_whole(disk, path, FLOW_FILE_OFFERED_BYTES_MAX).ok()?;
    String::from_utf8(bytes).ok()
}

/// The script that lies beside a flow file or a project's graph, if one does.
#[must_use]
pub fn script_beside(disk: &dyn Disk, flow: &Path) -> Option<PathBuf> {
    let beside = flow.with_file_name(SCRIPT_NAME);
    (kind_behind(disk, &beside) == Some(Kind::File)).then_some(beside)
}
