//! The operator's own files in the shared folder of a flow: what a person hands over is read, listed and written
//! there under the same rules as what a role writes.

use std::path::Path;

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_state::atomic::replace_durably;
use a_society_state::disk::Disk;
use a_society_state::files::{make_folders, read_whole};
use serde_json::Value;

use super::{Found, OUTPUTS, RECORD, below, in_record, read, walk};
use crate::fork;
use crate::limits::ARTIFACT_BYTES_MAX;
use crate::project::flow_file::{SCRIPT_NAME, SNAPSHOT_NAME};
use crate::project::records::{IMPROVEMENT_NAME, RECORD_NAME};

/// The files of the folder that the program writes itself.
const OURS: [&str; 4] = [SNAPSHOT_NAME, SCRIPT_NAME, RECORD_NAME, IMPROVEMENT_NAME];

/// How a turn of the operator's own ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
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
pub fn reply(ending: &Ending) -> String {
    match ending {
        Ending::Waits => "wait".to_owned(),
        Ending::Closes => "close".to_owned(),
        Ending::Wrote { word, path } => format!("{word}: {path}"),
        Ending::Hands { to, path } => {
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

/// Reads a file of the folder.
///
/// # Errors
/// Says in words why it cannot be read.
pub fn file(disk: &dyn Disk, record: &Path, written: &str) -> Result<Found, String> {
    let written = written.trim();
    let within = written.strip_prefix(RECORD).unwrap_or(written);
    let relative = below(record, Path::new(within)).ok_or("it is not a path of record/")?;
    match walk(disk, record, &relative) {
        Ok(file) => read(disk, &file, in_record(&relative)),
        Err(Some(why)) => Err(why),
        Err(None) => Err("there is no such file".to_owned()),
    }
}

/// Writes a file of the folder, durably. `over` is the hash of the file that it replaces: without one nothing may be
/// there, so that nobody's work is lost unseen.
///
/// # Errors
/// Says why it was not written.
pub fn write(
    disk: &dyn Disk,
    record: &Path,
    (written, bytes): (&str, &[u8]),
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
        return Err(unfit("it is too large to be handed over"));
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

/// Whether a file is none that somebody hands over.
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
            write(&RealDisk, &record, (path, text.as_bytes()), over)
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
            let found = write(&RealDisk, &record, (path, b"x"), None);
            assert!(
                matches!(found, Err(Unwritten::Path(_))),
                "{path}: {found:?}"
            );
        }
        assert!(file(&RealDisk, &record, "../secret").is_err());
    }
}
