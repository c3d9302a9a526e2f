//! The files a flow's roles hand to one another: where they may lie, and reading them safely.
//!
//! An artifact lies in the flow's record folder or in the project. Its path is taken apart and
//! walked one name at a time, and a link anywhere on the way is refused, so that no name leads
//! out. What is handed over is kept as a blob; the file may change afterwards.

use std::io;
use std::path::{Component, Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_facts::limits::INLINE_ARTIFACT_BYTES_MAX;
use a_society_state::atomic::replace;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::{make_folders, read_whole};

use crate::limits::ARTIFACT_BYTES_MAX;

/// The folders that artifacts may lie in.
#[derive(Debug, Clone)]
pub struct Places {
    /// The flow's own folder.
    pub record: PathBuf,
    /// The project.
    pub project: PathBuf,
}

/// An artifact and its bytes.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it is called from now on.
    pub artifact: Artifact,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Finds an artifact by the path a role wrote.
///
/// # Errors
/// Says in words why it cannot be handed over.
pub fn find(disk: &dyn Disk, places: &Places, written: &str) -> Result<Found, String> {
    if written.trim().is_empty() {
        return Err("no path is named".to_owned());
    }
    let path = Path::new(written);
    let mut why = "there is no such file in the record folder or in the project".to_owned();
    for root in [&places.record, &places.project] {
        let Some(relative) = below(root, path) else {
            continue;
        };
        match walk(disk, root, &relative) {
            Ok(file) => return read(disk, &file, &relative),
            Err(Some(refused)) => why = refused,
            Err(None) => {}
        }
    }
    Err(why)
}

/// Finds a file of the record folder, and says its path within it. A role may write that path as it
/// is, after the name of the folder, or in full.
pub fn find_in_record(
    disk: &dyn Disk,
    places: &Places,
    written: &str,
) -> (String, Result<Found, String>) {
    let trimmed = written.trim();
    let within = trimmed.strip_prefix("record/").unwrap_or(trimmed);
    let Some(relative) = below(&places.record, Path::new(within)) else {
        let why = "it is no path inside the record folder".to_owned();
        return (within.to_owned(), Err(why));
    };
    let found = match walk(disk, &places.record, &relative) {
        Ok(file) => read(disk, &file, &relative),
        Err(Some(why)) => Err(why),
        Err(None) => Err("there is no such file in the record folder".to_owned()),
    };
    (relative.to_string_lossy().into_owned(), found)
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

/// What is said of a folder where a file is wanted.
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
                    "it is a link or a device, or lies behind one".to_owned(),
                ));
            }
        }
    }
    Ok(path)
}

fn read(disk: &dyn Disk, file: &Path, relative: &Path) -> Result<Found, String> {
    let bytes = read_whole(disk, file, ARTIFACT_BYTES_MAX).map_err(|error| error.to_string())?;
    let artifact = Artifact {
        path: relative.to_string_lossy().into_owned(),
        hash: Hash::of(&bytes),
        bytes: bytes.len() as u64,
        text: None,
    };
    Ok(Found { artifact, bytes })
}

/// Puts an artifact that is on its way back where it stood, if a power cut took the file: what was
/// handed over is durable with the fact, and the file itself is not.
///
/// # Errors
/// When the file system refuses.
pub fn put_back(
    disk: &dyn Disk,
    places: &Places,
    artifact: &Artifact,
) -> Result<(), a_society_state::Error> {
    let (Some(text), Err(_)) = (&artifact.text, find(disk, places, &artifact.path)) else {
        return Ok(());
    };
    let Some(relative) = below(&places.record, Path::new(&artifact.path)) else {
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

/// What an artifact takes in a record, if it may stand there: its length as JSON.
#[must_use]
pub fn inline_bytes(found: &Found) -> Option<(String, usize)> {
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
        Places { record, project }
    }

    #[test]
    fn an_artifact_is_found_in_the_record_or_in_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        for (written, holds) in [
            ("notes.md", "of the record"),
            ("./deep/more.md", "deeper"),
            ("main.rs", "of the project"),
        ] {
            let found = find(&RealDisk, &places, written).unwrap();
            assert_eq!(found.bytes, holds.as_bytes(), "{written}");
        }
        let absolute = places.record.join("notes.md");
        assert!(find(&RealDisk, &places, absolute.to_str().unwrap()).is_ok());
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
            assert_eq!(path, "deep/more.md");
            assert_eq!(found.unwrap().bytes, b"deeper", "{written}");
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
            "lost.md",
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
