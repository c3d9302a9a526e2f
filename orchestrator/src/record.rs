//! The files a flow's roles hand to one another: where they may lie, and reading them safely.
//!
//! A path starts at the project folder; `record/` is the flow's shared folder. It is taken apart and
//! walked one name at a time, and a link anywhere on the way is refused, so that no name leads
//! out. What is handed over is kept as a blob; the file may change afterwards.

pub mod own;

use std::io;
use std::path::{Component, Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_facts::id::FlowId;
use a_society_facts::limits::INLINE_ARTIFACT_BYTES_MAX;
use a_society_roles::role::former::within_record;
use a_society_state::atomic::replace;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::{make_folders, read_whole};

use crate::limits::ARTIFACT_BYTES_MAX;

/// How a path begins that leads into the flow's shared folder. Every other path that a role gives or
/// gets starts at the project folder.
pub(crate) const RECORD: &str = "record/";

/// The folder below the record folder in which texts are kept that were too long for a message.
pub(crate) const OUTPUTS: &str = ".outputs";

/// How the name of a file there begins that holds a request which was too long for a summary.
pub(crate) const KEPT_REQUEST: &str = "request-";

const KEPT_OUTPUT: &str = "`record/.outputs/` keeps what was too long for a message and is not handed off; write what the receiver \
     needs into a file of `record/`";

/// The folders that artifacts may be in.
#[derive(Debug, Clone)]
pub struct Places {
    /// The flow's own folder.
    pub record: PathBuf,
    /// The project.
    pub project: PathBuf,
    /// The flow and those it was forked from: a path into the record folder of one of them, wherever
    /// it was then, means the record folder.
    pub lineage: Vec<FlowId>,
}

/// An artifact and its bytes.
#[derive(Debug, Clone)]
pub struct FoundArtifact {
    /// What it is called from now on.
    pub artifact: Artifact,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Why a path cannot be handed off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedPath {
    /// In words.
    pub why: String,
    /// The path that may be meant.
    pub instead: Option<String>,
}

impl From<String> for RefusedPath {
    fn from(why: String) -> Self {
        Self { why, instead: None }
    }
}

/// A path as a role wrote it.
enum RolePath {
    /// Below the record folder.
    Record(PathBuf),
    /// Below the project folder.
    Project(PathBuf),
    /// Nowhere that a role may hand off from.
    Outside,
}

impl Places {
    /// The folder that a written path belongs to.
    fn place_of(&self, written: &str) -> RolePath {
        let moved = within_record(written, &self.lineage);
        let written = moved.as_deref().unwrap_or(written);
        let path = Path::new(written);
        if path.is_absolute() {
            return match (below(&self.record, path), below(&self.project, path)) {
                (Some(rest), _) => RolePath::Record(rest),
                (None, Some(rest)) => RolePath::Project(rest),
                (None, None) => RolePath::Outside,
            };
        }
        match below(&self.project, path) {
            None => RolePath::Outside,
            Some(rest) => match rest.strip_prefix(RECORD) {
                Ok(within) if !within.as_os_str().is_empty() => RolePath::Record(within.to_owned()),
                Ok(_) | Err(_) => RolePath::Project(rest),
            },
        }
    }
}

/// Finds an artifact by the path a role wrote. A bare path that only the record folder has means the
/// file there: sessions of earlier versions wrote it so.
///
/// # Errors
/// Says in words why it cannot be handed off, and what could be.
pub(crate) fn find(
    disk: &dyn Disk,
    places: &Places,
    written: &str,
) -> Result<FoundArtifact, RefusedPath> {
    let written = written.trim();
    if written.is_empty() {
        let why = "no path is named; it starts at the project folder or with `record/`";
        return Err(why.to_owned().into());
    }
    match places.place_of(written) {
        RolePath::Record(rest) if rest.starts_with(OUTPUTS) => Err(KEPT_OUTPUT.to_owned().into()),
        RolePath::Outside => Err(OUT_OF_REACH.to_owned().into()),
        RolePath::Record(rest) => match walk(disk, &places.record, &rest) {
            Ok(file) => Ok(read(disk, &file, in_record(&rest))?),
            Err(Some(why)) => Err(why.into()),
            Err(None) => Err(no_such_file(disk, places, &rest)),
        },
        RolePath::Project(rest) => {
            let why = match walk(disk, &places.project, &rest) {
                Ok(_) if rest.starts_with(RECORD) => return Err(OWN_RECORD.to_owned().into()),
                Ok(file) => return Ok(read(disk, &file, rest.to_string_lossy().into_owned())?),
                Err(why) => why,
            };
            match walk(disk, &places.record, &rest) {
                Ok(file) => Ok(read(disk, &file, in_record(&rest))?),
                Err(in_record) => Err(match why.or(in_record) {
                    Some(why) => why.into(),
                    None => no_such_file(disk, places, &rest),
                }),
            }
        }
    }
}

/// Finds a file of the record folder, and says its path. A role may also leave `record/` out, or
/// write the path in full.
pub(crate) fn find_in_record(
    disk: &dyn Disk,
    places: &Places,
    written: &str,
) -> (String, Result<FoundArtifact, String>) {
    let rest = match places.place_of(written.trim()) {
        RolePath::Record(rest) | RolePath::Project(rest) => rest,
        RolePath::Outside => {
            let why = "the path does not lead into record/".to_owned();
            return (written.trim().to_owned(), Err(why));
        }
    };
    let path = in_record(&rest);
    let found = match walk(disk, &places.record, &rest) {
        Ok(file) => read(disk, &file, path.clone()),
        Err(Some(why)) => Err(why),
        Err(None) if walk(disk, &places.project, &rest).is_ok() => Err(format!(
            "no such file; `{}` exists in the project: write it to `{path}` instead",
            rest.display()
        )),
        Err(None) => Err("no such file; write it first".to_owned()),
    };
    (path, found)
}

/// Said of a path that leads elsewhere.
const OUT_OF_REACH: &str =
    "out of reach; paths start at the project folder, record/ is the flow's shared folder";

/// Said of a file in a folder of the project that no path can mean.
const OWN_RECORD: &str = "record/ is the flow's shared folder, so the project's own folder of that \
                          name has no path here; copy the file into record/";

/// The path of a file of the record folder as roles and facts write it.
fn in_record(rest: &Path) -> String {
    format!("{RECORD}{}", rest.display())
}

/// The path within the record folder that an artifact's path means. Records of earlier versions
/// left `record/` out.
#[must_use]
pub fn named_in_record(path: &str) -> Option<&str> {
    path.strip_prefix(RECORD).filter(|rest| !rest.is_empty())
}

/// Says that there is no such file, and which one may be meant.
fn no_such_file(disk: &dyn Disk, places: &Places, rest: &Path) -> RefusedPath {
    let name = rest.file_name().map(PathBuf::from).unwrap_or_default();
    let near = [
        (&places.project, rest.to_owned(), "", "in the project"),
        (
            &places.record,
            name.clone(),
            RECORD,
            "in the flow's shared folder",
        ),
        (&places.project, name, "", "in the project"),
    ];
    let mut there = near
        .into_iter()
        .filter(|(root, path, ..)| walk(disk, root, path).is_ok());
    match there.next() {
        Some((_, path, base, place)) => {
            let path = format!("{base}{}", path.display());
            RefusedPath {
                why: format!("no such file; `{path}` exists {place}: hand off `{path}`"),
                instead: Some(path),
            }
        }
        None => "no such file; write it first".to_owned().into(),
    }
}

/// The file below a folder that a written path names; no name leads out.
///
/// # Errors
/// Says in words why it cannot be read.
pub(crate) fn find_below(disk: &dyn Disk, root: &Path, written: &str) -> Result<PathBuf, String> {
    let relative = below(root, Path::new(written));
    let relative = relative.ok_or("it is not a path inside the project")?;
    match walk(disk, root, &relative) {
        Ok(file) => Ok(file),
        Err(Some(why)) => Err(why),
        Err(None) => Err("there is no such file".to_owned()),
    }
}

/// A file of the project that may be changed.
#[derive(Debug, Clone)]
pub(crate) struct InProject {
    /// Its path.
    pub path: PathBuf,
    /// Its path from the project.
    pub relative: String,
    /// What it holds; nothing if there is no such file yet.
    pub bytes: Option<Vec<u8>>,
}

/// The file of the project that a written path names, whether it is there or not; no name leads out.
///
/// # Errors
/// Says in words why it cannot be used.
pub(crate) fn in_project(
    disk: &dyn Disk,
    project: &Path,
    written: &str,
) -> Result<InProject, String> {
    let relative = below(project, Path::new(written));
    let relative = relative.ok_or("it is not a path inside the project")?;
    let path = project.join(&relative);
    let bytes = match walk(disk, project, &relative) {
        Ok(file) => {
            Some(read_whole(disk, &file, ARTIFACT_BYTES_MAX).map_err(|error| error.to_string())?)
        }
        Err(None) => None,
        Err(Some(why)) => return Err(why),
    };
    let relative = relative.to_string_lossy().into_owned();
    Ok(InProject {
        path,
        relative,
        bytes,
    })
}

/// The file or folder below a folder that a written path names; no name leads out.
///
/// # Errors
/// Says in words why it cannot be found.
pub(crate) fn find_any_below(disk: &dyn Disk, root: &Path, written: &str) -> Result<(), String> {
    let relative = below(root, Path::new(written));
    let relative = relative.ok_or("it is not a path inside the project")?;
    match walk(disk, root, &relative) {
        Ok(_) => Ok(()),
        Err(Some(why)) if why == IS_FOLDER => Ok(()),
        Err(Some(why)) => Err(why),
        Err(None) => Err("nothing of that name is there".to_owned()),
    }
}

/// The fault of a folder where a file is wanted.
pub(crate) const IS_FOLDER: &str = "it is a folder";

/// The path below a folder that a written path names, if it names one: relative to it, or absolute
/// and inside it.
fn below(root: &Path, written: &Path) -> Option<PathBuf> {
    let relative = if written.is_absolute() {
        written.strip_prefix(root).ok()?
    } else {
        written
    };
    let mut plain = PathBuf::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!plain.as_os_str().is_empty()).then_some(plain)
}

/// Walks to a file name by name. `Err(None)` means that nothing is there.
fn walk(disk: &dyn Disk, root: &Path, relative: &Path) -> Result<PathBuf, Option<String>> {
    let mut path = root.to_owned();
    let mut names = relative.components().peekable();
    while let Some(name) = names.next() {
        path.push(name);
        let about = disk.about(&path).map_err(|error| {
            let nothing = matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            );
            (!nothing).then(|| error.to_string())
        })?;
        match (about.kind, names.peek().is_some()) {
            (Kind::Folder, true) | (Kind::File, false) => {}
            (Kind::File, true) => return Err(None),
            (Kind::Folder, false) => return Err(Some(IS_FOLDER.to_owned())),
            (Kind::Other, _) => {
                return Err(Some(
                    "it is a link or a device, or is reached through one".to_owned(),
                ));
            }
        }
    }
    Ok(path)
}

fn read(disk: &dyn Disk, file: &Path, path: String) -> Result<FoundArtifact, String> {
    let bytes = read_whole(disk, file, ARTIFACT_BYTES_MAX).map_err(|error| error.to_string())?;
    let artifact = Artifact {
        path,
        hash: Hash::of(&bytes),
        bytes: bytes.len() as u64,
        text: None,
    };
    Ok(FoundArtifact { artifact, bytes })
}

/// Puts an artifact that is on its way back at its path, if a power cut took the file: what was
/// handed over is durable with the fact, and the file itself is not.
///
/// # Errors
/// When the file system refuses.
pub(crate) fn put_back(
    disk: &dyn Disk,
    places: &Places,
    artifact: &Artifact,
) -> Result<(), a_society_state::Error> {
    let (Some(text), Err(_)) = (&artifact.text, find(disk, places, &artifact.path)) else {
        return Ok(());
    };
    let within = named_in_record(&artifact.path).unwrap_or(&artifact.path);
    let Some(relative) = below(&places.record, Path::new(within)) else {
        return Ok(());
    };
    let stands = relative.ancestors().any(|part| {
        let there = disk.about(&places.record.join(part));
        there.is_ok_and(|about| about.kind == Kind::Other)
    });
    if stands {
        // Something that is no plain file or folder came in its way; it is not ours to replace.
        return Ok(());
    }
    let path = places.record.join(relative);
    make_folders(disk, path.parent().unwrap_or(&places.record))?;
    replace(disk, &path, text.as_bytes())
}

/// The JSON of an artifact, if it may be part of a record, with its length.
#[must_use]
pub(crate) fn inline_bytes(found: &FoundArtifact) -> Option<(String, usize)> {
    if found.bytes.len() > INLINE_ARTIFACT_BYTES_MAX {
        return None;
    }
    let text = String::from_utf8(found.bytes.clone()).ok()?;
    let escaped: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
            0..0x20 => 6,
            _ => 1,
        })
        .sum();
    Some((text, escaped))
}

#[cfg(test)]
mod tests {
    use a_society_state::disk::RealDisk;

    use super::*;

    fn places(folder: &Path) -> Places {
        let (record, project) = (folder.join("record"), folder.join("project"));
        std::fs::create_dir_all(record.join("deep")).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(record.join("notes.md"), "of the record").unwrap();
        std::fs::write(record.join("deep/more.md"), "deeper").unwrap();
        std::fs::write(project.join("main.rs"), "of the project").unwrap();
        std::fs::write(folder.join("secret"), "outside").unwrap();
        std::os::unix::fs::symlink(folder.join("secret"), record.join("link")).unwrap();
        std::os::unix::fs::symlink(folder, record.join("out")).unwrap();
        Places {
            record,
            project,
            lineage: vec!["20260527T143000123Z-a1b2c3".parse().unwrap()],
        }
    }

    #[test]
    fn every_path_starts_at_the_project_and_the_record_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut places = places(folder.path());
        std::fs::write(places.project.join("both.md"), "of the project").unwrap();
        std::fs::write(places.record.join("both.md"), "of the record").unwrap();
        let absolute = places.record.join("notes.md");
        let main = places.project.join("main.rs");
        for (written, path, holds) in [
            ("record/notes.md", "record/notes.md", "of the record"),
            ("./record/deep/more.md", "record/deep/more.md", "deeper"),
            ("main.rs", "main.rs", "of the project"),
            ("both.md", "both.md", "of the project"),
            ("record/both.md", "record/both.md", "of the record"),
            // Sessions of earlier versions left `record/` out.
            ("notes.md", "record/notes.md", "of the record"),
            (
                absolute.to_str().unwrap(),
                "record/notes.md",
                "of the record",
            ),
            (main.to_str().unwrap(), "main.rs", "of the project"),
        ] {
            let found = find(&RealDisk, &places, written).unwrap();
            assert_eq!(found.artifact.path, path, "{written}");
            assert_eq!(found.bytes, holds.as_bytes(), "{written}");
        }
        // A path into the record folder counts wherever the flow, or its parent, was kept then.
        for written in [
            "/elsewhere/.a-society/state/demo/20260527T143000123Z-a1b2c3/record/notes.md",
            ".a-society/state/demo/20260527T143000123Z-a1b2c3/record/notes.md",
        ] {
            let found = find(&RealDisk, &places, written).unwrap();
            assert_eq!(found.artifact.path, "record/notes.md", "{written}");
        }
        places.lineage.clear();
        let other = "/elsewhere/.a-society/state/demo/20260527T143000123Z-a1b2c3/record/notes.md";
        assert!(find(&RealDisk, &places, other).is_err());
    }

    #[test]
    fn a_refusal_says_which_path_would_be_right() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let refused = |written: &str| find(&RealDisk, &places, written).unwrap_err().why;
        assert_eq!(
            refused("record/main.rs"),
            "no such file; `main.rs` exists in the project: hand off `main.rs`"
        );
        assert_eq!(
            refused("record/deep/notes.md"),
            "no such file; `record/notes.md` exists in the flow's shared folder: hand off \
             `record/notes.md`"
        );
        assert_eq!(refused("record/none.md"), "no such file; write it first");
        let (path, found) = find_in_record(&RealDisk, &places, "record/main.rs");
        assert_eq!(path, "record/main.rs");
        assert_eq!(
            found.unwrap_err(),
            "no such file; `main.rs` exists in the project: write it to `record/main.rs` instead"
        );
    }

    #[test]
    fn what_is_assigned_is_found_in_the_record_only_however_its_path_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let full = places.record.join("deep/more.md");
        for written in [
            "deep/more.md",
            "record/deep/more.md",
            full.to_str().unwrap(),
        ] {
            let (path, found) = find_in_record(&RealDisk, &places, written);
            assert_eq!(path, "record/deep/more.md");
            let found = found.unwrap();
            assert_eq!(found.bytes, b"deeper", "{written}");
            assert_eq!(found.artifact.path, path);
        }
        for written in ["main.rs", "../project/main.rs", "link", "out/secret", ""] {
            let (_, found) = find_in_record(&RealDisk, &places, written);
            assert!(found.is_err(), "{written:?} was found");
        }
    }

    #[test]
    fn what_a_power_cut_took_is_put_back_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let handed = |path: &str| Artifact {
            path: path.to_owned(),
            hash: Hash::of(b"handed over"),
            bytes: 11,
            text: Some("handed over".to_owned()),
        };
        for path in [
            "record/lost.md",
            "gone/lost.md",
            "notes.md",
            "link",
            "out/lost.md",
            "../secret",
        ] {
            put_back(&RealDisk, &places, &handed(path)).unwrap();
        }
        let read = |path: &str| std::fs::read_to_string(places.record.join(path)).unwrap();
        assert_eq!(read("lost.md"), "handed over");
        assert_eq!(read("gone/lost.md"), "handed over");
        assert_eq!(read("notes.md"), "of the record");
        assert_eq!(read("link"), "outside");
        assert!(!folder.path().join("lost.md").exists());
    }

    #[test]
    fn no_name_leads_out() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let absolute = folder.path().join("secret");
        for written in [
            "../secret",
            "deep/../../secret",
            "link",
            "out/secret",
            absolute.to_str().unwrap(),
            "",
            "deep",
        ] {
            assert!(
                find(&RealDisk, &places, written).is_err(),
                "{written:?} was found"
            );
        }
    }
}
