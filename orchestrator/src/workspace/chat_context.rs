//! Where the person of a chat is, and what they look at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_facts::fact::chat::{ChatContext, Selection};
use a_society_state::Store;
use a_society_state::disk::Disk;
use a_society_state::files::read_whole;

use crate::limits::GIT_HEAD_BYTES_MAX;

/// How the first line of `.git/HEAD` begins where a branch is checked out.
const BRANCH: &str = "ref: refs/heads/";

/// How the file `.git` of a worktree begins.
const GIT_FOLDER: &str = "gitdir:";

/// So much of a commit names it.
const COMMIT_CHARS: usize = 12;

/// What is known of a person in this folder, who looks at a file and perhaps at some of its lines. Paths within the
/// project begin at its folder.
#[must_use]
pub fn chat_context(
    store: &Store,
    project: &Path,
    here: &Path,
    file: Option<(&str, Option<(u32, u32)>)>,
    variables: BTreeMap<String, String>,
) -> ChatContext {
    let disk = store.ground().disk.as_ref();
    let whole = |path: &Path| disk.whole(path).unwrap_or_else(|_| path.to_owned());
    let (here, root) = (whole(here), whole(project));
    let within = |path: PathBuf| {
        let path = path.strip_prefix(&root).unwrap_or(&path);
        path.display().to_string()
    };
    let active_file = file.map(|(file, _)| within(whole(&here.join(file))));
    let lines = file.and_then(|(_, lines)| lines);
    let selection = lines.zip(active_file.clone());
    ChatContext {
        folder: match here.strip_prefix(&root) {
            Ok(folder) => folder.display().to_string(),
            Err(_) => String::new(),
        },
        selection: selection.map(|((from, to), file)| Selection { file, from, to }),
        active_file,
        git_ref: git_ref(disk, &here),
        variables,
    }
}

/// The branch of the repository around a folder, or its commit where it has none.
fn git_ref(disk: &dyn Disk, folder: &Path) -> Option<String> {
    let read = |path: &Path| read_whole(disk, path, GIT_HEAD_BYTES_MAX).ok();
    let head = folder.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        read(&git.join("HEAD")).or_else(|| {
            // A worktree has a file there, which names the folder.
            let named = String::from_utf8(read(&git)?).ok()?;
            let named = named.lines().next()?.strip_prefix(GIT_FOLDER)?.trim();
            read(&folder.join(named).join("HEAD"))
        })
    })?;
    let head = String::from_utf8(head).ok()?;
    let head = head.lines().next()?.trim();
    let commit = || head.get(..COMMIT_CHARS).unwrap_or(head);
    let named = head.strip_prefix(BRANCH).unwrap_or_else(commit);
    (!named.is_empty()).then(|| named.to_owned())
}
