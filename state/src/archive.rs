//! One flow as one file: export and import.
//!
//! An archive is a plain `tar`, so that it can be opened years later without this program. It
//! carries the journal, the blobs, the record folder, what is in quarantine, and the views as
//! they are; its last entry lists every file with its size and SHA-256. An import checks the list
//! and the journal before anything gets the name of a flow.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::id::{FlowId, ProjectName};
use serde::{Deserialize, Serialize};

use crate::disk::{Disk, How, Kind};
use crate::error::Error;
use crate::files::{append_all, make_folders, read_full, sync_folder, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::journal::scan::{Outcome, Position};
use crate::layout::{COMING, FlowFolder, segment_number};
use crate::limits::{ARCHIVE_FILE_BYTES_MAX, ARCHIVE_FILES_MAX, ARCHIVE_LIST_BYTES_MAX};
use crate::open::fold_all;
use crate::retention::remove_tree;
use crate::store::Store;

/// The shape of an archive; another one is not read.
const FORMAT: u32 = 1;
/// The entry that lists the others; it is the last one.
const LIST: &str = "a-society-flow.json";
/// What of a flow's folder an archive carries.
const CARRIED: [&str; 7] = [
    "journal",
    "blobs",
    "quarantine",
    "record",
    "roles",
    "flow.json",
    "views.json",
];
/// What of it an import takes; views are folded anew.
const TAKEN: [&str; 4] = ["journal", "blobs", "quarantine", "record"];
/// Files are carried in pieces of this size.
const PIECE_BYTES: usize = 256 * 1024;

/// One file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: Hash,
}

/// What an archive says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// The shape of the archive.
    pub format: u32,
    /// The flow.
    pub flow: FlowId,
    /// Its project.
    pub project: ProjectName,
    /// The end of its journal; absent if nothing of it verifies.
    pub end: Option<Position>,
    /// What was wrong with the journal, if something was.
    pub damage: Option<String>,
    /// The files.
    pub files: BTreeMap<String, Carried>,
}

fn archive_error(path: &Path, error: io::Error) -> Error {
    Error::io("use the archive for", path, error)
}

/// Writes a flow as one archive. Of a flow that is being written it carries what was there when
/// the export began; of a damaged one, everything that is there.
///
/// # Errors
/// When a file cannot be read or the archive cannot be written.
pub fn export(store: &Store, flow: &FlowRef, out: &mut dyn Write) -> Result<List, Error> {
    let (disk, folder) = (store.disk(), store.folder(flow));
    let (_, found) = fold_all(disk, &folder, &flow.flow);
    let damage = match &found.outcome {
        Outcome::Damaged(damage) => Some(damage.to_string()),
        Outcome::Clean | Outcome::Blank | Outcome::Torn(_) => None,
    };
    // A sound journal is carried up to its last whole record; a torn end may still be growing.
    let end = if damage.is_none() { found.end } else { None };
    let mut list = List {
        format: FORMAT,
        flow: flow.flow.clone(),
        project: flow.project.clone(),
        end: found.end,
        damage,
        files: BTreeMap::new(),
    };
    let mut tar = tar::Builder::new(out);
    for top in CARRIED {
        let path = folder.root().join(top);
        let mut carry = Carry {
            disk,
            root: folder.root(),
            end,
            shared_ends: &found.shared_ends,
            tar: &mut tar,
            list: &mut list,
        };
        carry.tree(&path)?;
    }
    let bytes =
        serde_json::to_vec_pretty(&list).map_err(|e| archive_error(folder.root(), e.into()))?;
    put(&mut tar, LIST, bytes.len() as u64, &mut bytes.as_slice())
        .and_then(|()| tar.finish())
        .map_err(|e| archive_error(folder.root(), e))?;
    Ok(list)
}

fn put<W: Write>(
    tar: &mut tar::Builder<W>,
    name: &str,
    bytes: u64,
    data: &mut dyn Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(0);
    tar.append_data(&mut header, name, data)
}

struct Carry<'a, W: Write> {
    disk: &'a dyn Disk,
    root: &'a Path,
    end: Option<Position>,
    shared_ends: &'a [Position],
    tar: &'a mut tar::Builder<W>,
    list: &'a mut List,
}

impl<W: Write> Carry<'_, W> {
    fn tree(&mut self, path: &Path) -> Result<(), Error> {
        let about = match uninterrupted(|| self.disk.about(path)) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("look at", path, error)),
        };
        match about.kind {
            Kind::File => self.file(path),
            // A link leads out of the flow; whatever it leads to is not the flow's.
            Kind::Other => Ok(()),
            Kind::Folder => {
                let entries = uninterrupted(|| self.disk.list(path))
                    .map_err(|e| Error::io("list", path, e))?;
                entries
                    .iter()
                    .try_for_each(|entry| self.tree(&path.join(&entry.name)))
            }
        }
    }

    fn file(&mut self, path: &Path) -> Result<(), Error> {
        let relative = path.strip_prefix(self.root).unwrap_or(path);
        let name = relative.to_string_lossy().into_owned();
        let temporary = name.ends_with(".tmp") || name.ends_with(".new");
        if temporary || name == "journal/checkpoint.json" {
            return Ok(());
        }
        let file = uninterrupted(|| self.disk.open(path, How::Read))
            .map_err(|e| Error::io("read", path, e))?;
        let size = uninterrupted(|| file.size_bytes()).map_err(|e| Error::io("read", path, e))?;
        let size = self.cut_to_end(path, size);
        let Some(size) = size else { return Ok(()) };
        let mut reader = Hashing {
            file: file.as_ref(),
            offset: 0,
            left: size,
            bytes: Vec::new(),
        };
        put(self.tar, &name, size, &mut reader).map_err(|e| archive_error(path, e))?;
        let sha256 = Hash::of(&reader.bytes);
        self.list.files.insert(
            name,
            Carried {
                bytes: size,
                sha256,
            },
        );
        Ok(())
    }

    /// How much of a file belongs to the archive; `None` if nothing does.
    fn cut_to_end(&self, path: &Path, size: u64) -> Option<u64> {
        let name = path.file_name()?.to_string_lossy();
        let number = segment_number(&name);
        let mut shared = self.shared_ends.iter();
        if let Some(end) = shared.find(|end| number == Some(end.segment)) {
            // What a parent wrote after a fork was cut from it is not the fork's.
            return Some(end.offset_bytes);
        }
        let Some((number, end)) = number.zip(self.end) else {
            return Some(size);
        };
        match number.cmp(&end.segment) {
            std::cmp::Ordering::Less => Some(size),
            std::cmp::Ordering::Equal => Some(end.offset_bytes),
            std::cmp::Ordering::Greater => None,
        }
    }
}

/// Hands a file on and remembers what it handed on, for its hash.
struct Hashing<'a> {
    file: &'a dyn crate::disk::DiskFile,
    offset: u64,
    left: u64,
    bytes: Vec<u8>,
}

impl Read for Hashing<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(into.len())
            .min(PIECE_BYTES);
        let read = read_full(self.file, self.offset, &mut into[..wanted])?;
        if read < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.bytes.extend_from_slice(&into[..read]);
        self.offset += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

/// What an import came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The flow, as it is in this store.
    pub flow: FlowRef,
    /// How many files were taken.
    pub files: usize,
    /// What is wrong with its journal, if something is. It can be read, exported and repaired.
    pub damage: Option<String>,
}

/// Reads an archive into a store, under its own project or another one.
///
/// # Errors
/// When the flow exists already, the archive is not whole, or the file system refuses. The store
/// is then what it was.
pub fn import(
    store: &Store,
    archive: &mut dyn Read,
    project: Option<ProjectName>,
) -> Result<Imported, Error> {
    store.must_be_files("an import")?;
    let disk = store.disk();
    make_folders(disk, store.root())?;
    let coming = store
        .root()
        .join(format!("{COMING}{}", store.ground().process.pid));
    if uninterrupted(|| disk.about(&coming)).is_ok() {
        remove_tree(disk, &coming, 0)?;
    }
    let imported = take_in(store, archive, project, &coming);
    if imported.is_err() && uninterrupted(|| disk.about(&coming)).is_ok() {
        remove_tree(disk, &coming, 0)?;
    }
    imported
}

fn take_in(
    store: &Store,
    archive: &mut dyn Read,
    project: Option<ProjectName>,
    coming: &Path,
) -> Result<Imported, Error> {
    let disk = store.disk();
    make_folders(disk, coming)?;
    let (list, taken) = unpack(disk, archive, coming)?;
    let flow = FlowRef {
        project: project.unwrap_or_else(|| list.project.clone()),
        flow: list.flow,
    };
    let target = store.folder(&flow);
    if uninterrupted(|| disk.about(target.root())).is_ok() {
        return Err(Error::Exists(flow.flow));
    }
    let (_, found) = fold_all(disk, &FlowFolder::at(coming.to_owned()), &flow.flow);
    let damage = match found.outcome {
        Outcome::Clean => None,
        Outcome::Damaged(damage) => Some(damage.to_string()),
        Outcome::Blank => return Err(unfit(coming, "holds no journal")),
        Outcome::Torn(_) => Some("its journal ends in the middle of a record".to_owned()),
    };
    // Damage that the export knew of travels with the flow; damage that came on the way does not.
    if let Some(damage) = &damage
        && list.damage.is_none()
    {
        return Err(unfit(
            coming,
            &format!("was whole when it was exported: {damage}"),
        ));
    }
    let parent = store.root().join(flow.project.as_str());
    make_folders(disk, &parent)?;
    uninterrupted(|| disk.rename(coming, target.root()))
        .map_err(|e| Error::io("name", target.root(), e))?;
    sync_folder(disk, &parent)?;
    sync_folder(disk, store.root())?;
    Ok(Imported {
        flow,
        files: taken,
        damage,
    })
}

fn unfit(path: &Path, what: &str) -> Error {
    Error::Unfit {
        path: path.to_owned(),
        what: what.to_owned(),
    }
}

/// Writes the files of an archive below a folder and checks them against its list.
fn unpack(disk: &dyn Disk, archive: &mut dyn Read, root: &Path) -> Result<(List, usize), Error> {
    let not_ours = |e: io::Error| Error::io("read the archive for", root, e);
    let mut tar = tar::Archive::new(archive);
    let mut seen: BTreeMap<String, Carried> = BTreeMap::new();
    let mut list: Option<List> = None;
    for entry in tar.entries().map_err(not_ours)? {
        let mut entry = entry.map_err(not_ours)?;
        let name = entry
            .path()
            .map_err(not_ours)?
            .to_string_lossy()
            .into_owned();
        if list.is_some() || seen.len() > ARCHIVE_FILES_MAX {
            return Err(unfit(
                root,
                "comes from an archive with more in it than it lists",
            ));
        }
        let limit = if name == LIST {
            ARCHIVE_LIST_BYTES_MAX
        } else {
            ARCHIVE_FILE_BYTES_MAX
        };
        if entry.size() > limit || !entry.header().entry_type().is_file() {
            return Err(unfit(
                root,
                &format!("would hold {name:?}, which is no file of a flow"),
            ));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(not_ours)?;
        if name == LIST {
            let read: List = serde_json::from_slice(&bytes).map_err(|e| not_ours(e.into()))?;
            list = Some(read);
            continue;
        }
        let carried = Carried {
            bytes: bytes.len() as u64,
            sha256: Hash::of(&bytes),
        };
        write_in(disk, root, &name, &bytes)?;
        seen.insert(name, carried);
    }
    let list = list.ok_or_else(|| {
        unfit(
            root,
            "comes from an archive that has no list: it is cut off, or not ours",
        )
    })?;
    if list.format != FORMAT {
        return Err(unfit(root, "comes from an archive of a newer version"));
    }
    if list.files != seen {
        return Err(unfit(
            root,
            "comes from an archive whose files are not the ones it lists",
        ));
    }
    Ok((list, seen.len()))
}

/// Writes one file below a folder, if it is one that an import takes.
fn write_in(disk: &dyn Disk, root: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let relative = PathBuf::from(name);
    let plain = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let top = relative
        .components()
        .next()
        .map(|part| part.as_os_str().to_string_lossy());
    if !plain
        || name.contains(['\0', '\\'])
        || !top.as_deref().is_some_and(|t| CARRIED.contains(&t))
    {
        return Err(unfit(
            root,
            &format!("would hold {name:?}, which is no file of a flow"),
        ));
    }
    if !top.is_some_and(|top| TAKEN.contains(&&*top)) {
        return Ok(());
    }
    let path = root.join(&relative);
    let parent = path.parent().unwrap_or(root);
    make_folders(disk, parent)?;
    let mut file = uninterrupted(|| disk.open(&path, How::CreateNew))
        .map_err(|e| Error::io("create", &path, e))?;
    append_all(file.as_mut(), bytes).map_err(|e| Error::io("write", &path, e))?;
    uninterrupted(|| file.sync()).map_err(|e| Error::io("sync", &path, e))?;
    sync_folder(disk, parent)
}
