//! The operator's own files in the shared folder of a flow: what a person hands over is read, listed and written
//! there under the same rules as what a role writes.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_state::atomic::replace_durably;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::{make_folders, read_whole};
use serde_json::Value;

use super::{
    FoundArtifact, IS_FOLDER, OUTPUTS, Places, RECORD, below, find, in_record, read, walk,
};
use crate::fork;
use crate::limits::{ARTIFACT_BYTES_MAX, PROJECT_ENTRIES_MAX};
use crate::project::flow_file::{SCRIPT_NAME, SNAPSHOT_NAME};
use crate::project::records::{IMPROVEMENT_NAME, RECORD_NAME};

/// The files of the folder that the program writes itself.
const OURS: [&str; 4] = [SNAPSHOT_NAME, SCRIPT_NAME, RECORD_NAME, IMPROVEMENT_NAME];

/// How a turn of the operator's own ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnTurnEnding {
    /// A file is handed to these nodes, forward or back.
    Hands {
        /// To whom.
        to: Vec<String>,
        /// The file.
        path: String,
    },
    /// Nothing yet: it goes on when more comes in.
    Waits,
    /// The forward work is done.
    Closes,
    /// A file was written that ends it.
    Wrote {
        /// The word that says so.
        word: String,
        /// The file.
        path: String,
    },
}

/// The reply that ends a turn so.
#[must_use]
pub fn reply(ending: &OwnTurnEnding) -> String {
    match ending {
        OwnTurnEnding::Waits => "wait".to_owned(),
        OwnTurnEnding::Closes => "close".to_owned(),
        OwnTurnEnding::Wrote { word, path } => format!("{word}: {path}"),
        OwnTurnEnding::Hands { to, path } => {
            // YAML reads every JSON string as that text.
            let quoted = |text: &str| Value::from(text).to_string();
            let one = |node: &String| {
                let (node, path) = (quoted(node), quoted(path));
                format!("- target_node_id: {node}\n  artifact_path: {path}\n")
            };
            let block: String = to.iter().map(one).collect();
            let names = to.join(", ");
            format!("{path} goes to {names}.\n\n```handoff\n{block}```")
        }
    }
}

/// A name for a new file of a role that no other has.
#[must_use]
pub fn free_name(role: &str, is_reason: bool, taken: &[(String, u64)]) -> String {
    let base = format!("{RECORD}{role}{}", if is_reason { "-reason" } else { "" });
    let names = (1..).map(|number| match number {
        1 => format!("{base}.md"),
        _ => format!("{base}-{number}.md"),
    });
    let is_free = |name: &String| !taken.iter().any(|(path, _)| path == name);
    // There are more numbers than files.
    names.take(taken.len() + 1).find(is_free).unwrap_or(base)
}

/// Why a file was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unwritten {
    /// The path cannot be used; says why.
    Path(String),
    /// A file is there that is not the one that was to be replaced.
    Other,
    /// The file system refused; says how.
    Disk(String),
}

/// The files that a person may hand over, by their paths as hand-offs name them, in their order; at most so many.
/// Says whether there are more.
#[must_use]
pub fn files(disk: &dyn Disk, record: &Path, files_max: usize) -> (Vec<(String, u64)>, bool) {
    let mut names = Vec::new();
    fork::walk(disk, record, "", 0, &mut names);
    names.retain(|name| !is_ours(Path::new(name)));
    let is_cut = names.len() > files_max;
    names.truncate(files_max);
    let files = names.into_iter().filter_map(|name| {
        let file = walk(disk, record, Path::new(&name)).ok()?;
        let about = disk.about(&file).ok()?;
        Some((format!("{RECORD}{name}"), about.size_bytes))
    });
    (files.collect(), is_cut)
}

/// The files of a project that a person may hand over where they are, by their paths, those that lie higher first: each
/// whose path has all of these words, at most so many. Hidden ones are left out, and so is what a link leads to. Says
/// whether there may be more.
#[must_use]
pub fn project_files(
    disk: &dyn Disk,
    project: &Path,
    words: &str,
    files_max: usize,
) -> (Vec<(String, u64)>, bool) {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut found = Vec::new();
    let mut folders = VecDeque::from([PathBuf::new()]);
    let mut looked_at = 0;
    while let Some(folder) = folders.pop_front() {
        let mut entries = disk.list(&project.join(&folder)).unwrap_or_default();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            looked_at += 1;
            if looked_at > PROJECT_ENTRIES_MAX {
                return (found, true);
            }
            let path = folder.join(&entry.name);
            // Of a folder `record` no path can mean the project's own.
            if entry.name.starts_with('.') || path == Path::new(RECORD) {
                continue;
            }
            match (entry.kind, path.to_str()) {
                (Kind::Folder, _) => folders.push_back(path),
                (Kind::File, Some(name)) if has_all(name, &words) => {
                    if found.len() == files_max {
                        return (found, true);
                    }
                    let about = disk.about(&project.join(&path));
                    found.extend(about.ok().map(|about| (name.to_owned(), about.size_bytes)));
                }
                (Kind::File | Kind::Other, _) => {}
            }
        }
    }
    (found, false)
}

fn has_all(path: &str, words: &[String]) -> bool {
    let path = path.to_lowercase();
    words.iter().all(|word| path.contains(word))
}

/// Reads a file of the folder.
///
/// # Errors
/// Says in words why it cannot be read.
pub fn file(disk: &dyn Disk, record: &Path, written: &str) -> Result<FoundArtifact, String> {
    let written = written.trim();
    let within = written.strip_prefix(RECORD).unwrap_or(written);
    let relative = below(record, Path::new(within)).ok_or("it is not a path of record/")?;
    match walk(disk, record, &relative) {
        Ok(file) => read(disk, &file, in_record(&relative)),
        Err(Some(why)) => Err(why),
        Err(None) => Err("there is no such file".to_owned()),
    }
}

/// A file that a person chose by its path.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenFile {
    /// What is handed over.
    pub artifact: Artifact,
    /// Whether it was copied into the folder, and is not the file itself.
    pub is_copy: bool,
}

/// Finds the file that a person hands over. One of the project is handed over where it is. A whole path may name any file
/// of the machine, as the operator may read it: it is copied into the folder, byte for byte, under its own name or a free
/// one like it, and a file that is there with the same bytes serves. A link is followed nowhere.
///
/// # Errors
/// Says in words why it cannot be handed over.
pub fn bring(disk: &dyn Disk, places: &Places, written: &str) -> Result<ChosenFile, String> {
    let written = written.trim();
    let path = Path::new(written);
    let is_outside = path.is_absolute()
        && below(&places.project, path).is_none()
        && below(&places.record, path).is_none();
    if !is_outside {
        let found = find(disk, places, written).map_err(|refused| match refused.instead {
            Some(instead) => format!("{}; there is {instead}", refused.why),
            None => refused.why,
        })?;
        return Ok(ChosenFile {
            artifact: found.artifact,
            is_copy: false,
        });
    }
    let found = of_the_machine(disk, path)?;
    let name = path.file_name().ok_or("it is not the path of a file")?;
    let artifact = copy(disk, &places.record, &name.to_string_lossy(), &found)?;
    Ok(ChosenFile {
        artifact,
        is_copy: true,
    })
}

/// Copies a file into the folder, under a name that no other file has.
fn copy(
    disk: &dyn Disk,
    record: &Path,
    name: &str,
    found: &FoundArtifact,
) -> Result<Artifact, String> {
    let mut tried = String::new();
    for number in 1..=COPIES_MAX {
        let target = numbered(name, number);
        if is_ours(Path::new(&target)) {
            continue;
        }
        match write(disk, record, &target, &found.bytes, None) {
            Ok(made) => return Ok(made),
            Err(Unwritten::Other) => {}
            Err(Unwritten::Path(why) | Unwritten::Disk(why)) => return Err(why),
        }
        let there = file(disk, record, &target);
        if let Ok(there) = there
            && there.artifact.hash == found.artifact.hash
        {
            return Ok(there.artifact);
        }
        tried = target;
    }
    Err(format!(
        "record/ has other files of this name up to {tried}"
    ))
}

/// A file outside the flow's folders.
fn of_the_machine(disk: &dyn Disk, path: &Path) -> Result<FoundArtifact, String> {
    let about = disk.about(path).map_err(|error| error.to_string())?;
    match about.kind {
        Kind::File => read(disk, path, path.to_string_lossy().into_owned()),
        Kind::Folder => Err(IS_FOLDER.to_owned()),
        Kind::Other => Err("it is a link or a device".to_owned()),
    }
}

/// How many files of one name are distinguished by a number.
const COPIES_MAX: usize = 100;

/// `logo.png`, `logo-2.png`, `logo-3.png`.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, end)) => format!("{stem}-{number}.{end}"),
        None => format!("{name}-{number}"),
    }
}

/// Writes a file of the folder, durably. `over` is the hash of the file that it replaces: without one nothing may be
/// there, so that no work is lost unnoticed.
///
/// # Errors
/// Says why it was not written.
pub fn write(
    disk: &dyn Disk,
    record: &Path,
    written: &str,
    bytes: &[u8],
    over: Option<Hash>,
) -> Result<Artifact, Unwritten> {
    let unfit = |why: &str| Unwritten::Path(why.to_owned());
    let written = written.trim();
    let within = written.strip_prefix(RECORD).unwrap_or(written);
    if within.ends_with('/') || Path::new(within).is_absolute() {
        return Err(unfit("it is not the path of a file in record/"));
    }
    let relative = below(record, Path::new(within));
    let relative = relative.ok_or_else(|| unfit("it is not the path of a file in record/"))?;
    if is_ours(&relative) {
        return Err(unfit("a-society writes this file itself"));
    }
    if bytes.len() as u64 > ARTIFACT_BYTES_MAX {
        return Err(Unwritten::Path(too_large()));
    }
    let there = match walk(disk, record, &relative) {
        Ok(file) => {
            let bytes = read_whole(disk, &file, ARTIFACT_BYTES_MAX);
            Some(bytes.map_err(|error| Unwritten::Disk(error.to_string()))?)
        }
        Err(None) => None,
        Err(Some(why)) => return Err(Unwritten::Path(why)),
    };
    if there.as_deref().map(Hash::of) != over {
        return Err(Unwritten::Other);
    }
    let path = record.join(&relative);
    let disked = |error: a_society_state::Error| Unwritten::Disk(error.to_string());
    make_folders(disk, path.parent().unwrap_or(record)).map_err(disked)?;
    replace_durably(disk, &path, bytes).map_err(disked)?;
    Ok(Artifact {
        path: in_record(&relative),
        hash: Hash::of(bytes),
        bytes: bytes.len() as u64,
        text: None,
    })
}

/// Why a file is not taken that is larger than any that is handed over.
#[must_use]
pub fn too_large() -> String {
    let most = ARTIFACT_BYTES_MAX / (1024 * 1024);
    format!("it is larger than {most} MB, the most that is handed over")
}

/// Whether a file is not one to hand over.
fn is_ours(relative: &Path) -> bool {
    let name = relative.to_string_lossy().to_lowercase();
    relative.starts_with(OUTPUTS) || OURS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use a_society_state::disk::RealDisk;

    use super::*;

    #[test]
    fn a_person_writes_new_files_replaces_what_was_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        std::fs::create_dir_all(&record).unwrap();
        let put = |path: &str, text: &str, over: Option<&str>| {
            let over = over.map(|text| Hash::of(text.as_bytes()));
            write(&RealDisk, &record, path, text.as_bytes(), over)
        };
        let made = put("record/deep/plan.md", "one", None).unwrap();
        assert_eq!((made.path.as_str(), made.bytes), ("record/deep/plan.md", 3));
        assert_eq!(put("deep/plan.md", "two", None), Err(Unwritten::Other));
        assert_eq!(
            put("deep/plan.md", "two", Some("other")),
            Err(Unwritten::Other)
        );
        put("deep/plan.md", "two", Some("one")).unwrap();
        let read = file(&RealDisk, &record, "record/deep/plan.md").unwrap();
        assert_eq!(read.bytes, b"two");
        std::fs::write(record.join("workflow.yaml"), "ours").unwrap();
        let (listed, more) = files(&RealDisk, &record, 10);
        assert_eq!(
            (listed, more),
            (vec![("record/deep/plan.md".to_owned(), 3)], false)
        );
    }

    #[test]
    fn a_file_of_the_project_stays_where_it_is_one_of_the_machine_is_copied_and_no_link_is_followed()
     {
        let folder = tempfile::tempdir().unwrap();
        let (record, project) = (folder.path().join("record"), folder.path().join("project"));
        std::fs::create_dir_all(&record).unwrap();
        std::fs::create_dir_all(project.join("img")).unwrap();
        let places = Places {
            record: record.clone(),
            project: project.clone(),
            lineage: Vec::new(),
        };
        let bytes = [0xff, 0, 0x1b, b'\n', 0xfe];
        std::fs::write(project.join("img/logo.png"), bytes).unwrap();
        std::fs::write(folder.path().join("logo.png"), "another").unwrap();
        std::fs::write(folder.path().join("workflow.yaml"), "not ours").unwrap();
        let secret = folder.path().join("logo.png");
        std::os::unix::fs::symlink(&secret, project.join("link.png")).unwrap();
        std::os::unix::fs::symlink(folder.path(), project.join("out")).unwrap();
        let put = |written: &str| bring(&RealDisk, &places, written);
        let is = |written: &str, path: &str, is_copy: bool| {
            let made = put(written).unwrap();
            assert_eq!((made.artifact.path.as_str(), made.is_copy), (path, is_copy));
            made.artifact.bytes
        };
        let whole = project.join("img/logo.png");
        for written in ["img/logo.png", "./img/logo.png", whole.to_str().unwrap()] {
            assert_eq!(is(written, "img/logo.png", false), 5);
        }
        assert_eq!(std::fs::read_dir(&record).unwrap().count(), 0);
        std::fs::write(record.join("logo.png"), "a third").unwrap();
        for _ in 0..2 {
            is(secret.to_str().unwrap(), "record/logo-2.png", true);
        }
        let copied = std::fs::read(record.join("logo-2.png")).unwrap();
        assert_eq!(copied, b"another");
        let ours = folder.path().join("workflow.yaml");
        is(ours.to_str().unwrap(), "record/workflow-2.yaml", true);
        is("record/logo.png", "record/logo.png", false);
        let linked = project.join("link.png");
        for path in [
            "link.png",
            "out/logo.png",
            "../logo.png",
            linked.to_str().unwrap(),
            "img",
            "none.png",
            "",
        ] {
            assert!(put(path).is_err(), "{path}");
        }
        let large = std::fs::File::create(project.join("img/large")).unwrap();
        large.set_len(ARTIFACT_BYTES_MAX + 1).unwrap();
        let why = put("img/large").unwrap_err();
        assert!(
            why.contains("it holds 16777217 bytes, more than the 16777216"),
            "{why}"
        );
    }

    #[test]
    fn no_path_leads_out_of_the_folder_or_to_a_file_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        std::fs::create_dir_all(&record).unwrap();
        std::os::unix::fs::symlink(folder.path(), record.join("out")).unwrap();
        for path in [
            "../secret",
            "/etc/passwd",
            "out/secret",
            "record/",
            "",
            "record/workflow.yaml",
            "Record.yaml",
            "record/.outputs/a.md",
        ] {
            let found = write(&RealDisk, &record, path, b"x", None);
            assert!(
                matches!(found, Err(Unwritten::Path(_))),
                "{path}: {found:?}"
            );
        }
        assert!(file(&RealDisk, &record, "../secret").is_err());
    }

    #[test]
    fn files_of_a_project_are_found_by_words_of_their_paths_and_no_link_leads_out_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (project, outside) = (folder.path().join("project"), folder.path().join("outside"));
        for (path, text) in [
            ("project/docs/deep/Plan.pdf", "%PDF"),
            ("project/plan.md", "plan"),
            ("project/record/own.md", "no path means it"),
            ("project/.git/plan", "hidden"),
            ("outside/plan.key", "elsewhere"),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink(&outside, project.join("out")).unwrap();
        std::os::unix::fs::symlink(outside.join("plan.key"), project.join("plan.key")).unwrap();
        let found = |words: &str, most: usize| project_files(&RealDisk, &project, words, most);
        let plan = ("plan.md".to_owned(), 4);
        let deep = ("docs/deep/Plan.pdf".to_owned(), 4);
        assert_eq!(found("", 9), (vec![plan.clone(), deep.clone()], false));
        assert_eq!(found("PLAN", 1), (vec![plan], true));
        assert_eq!(found("pdf deep", 9), (vec![deep], false));
        assert_eq!(found("own", 9), (vec![], false));
    }

    #[test]
    fn a_file_of_any_bytes_is_written_as_it_is_up_to_a_size_that_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        std::fs::create_dir_all(&record).unwrap();
        let bytes: Vec<u8> = (0..=255).collect();
        write(&RealDisk, &record, "photo.png", &bytes, None).unwrap();
        assert_eq!(std::fs::read(record.join("photo.png")).unwrap(), bytes);
        let large = vec![0; usize::try_from(ARTIFACT_BYTES_MAX).unwrap() + 1];
        let refused = write(&RealDisk, &record, "large.bin", &large, None);
        let Err(Unwritten::Path(why)) = refused else {
            panic!("{refused:?}");
        };
        assert!(why.contains("larger than 16 MB"), "{why}");
        assert!(!record.join("large.bin").exists());
    }
}
