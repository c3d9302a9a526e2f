//! The file system in memory: names, files, space, and the rules of POSIX for changing them.
//!
//! The errors are those of Linux, down to their numbers, so that code meets the same ones here
//! as on a real disk; a test runs both against each other.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use a_society_state::disk::{About, Entry, How, Kind};
use rustix::io::Errno;

use super::contents::Contents;
use super::limits::{MAX_MEMORY_FILE_BYTES, MAX_NAME_BYTES};
use super::node::{Arrival, FileNode, FolderNode, Id, NameChange, Node};

/// The number of the topmost folder.
pub(super) const ROOT: Id = 0;

/// How many nodes may come before those that nothing mentions any more are dropped.
const NODES_BETWEEN_SWEEPS: usize = 256;

/// The free space without a limit.
const PLENTY_BYTES: u64 = 1 << 40;

/// The file system.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: BTreeMap<Id, Node>,
    next_id: Id,
    /// The number of the last change of a name.
    last_change: u64,
    /// How many bytes files may take in all.
    capacity_bytes: Option<u64>,
    used_bytes: u64,
    sweep_at: usize,
    pub(super) now_ms: i64,
}

impl Tree {
    pub(super) fn new() -> Self {
        Self {
            nodes: BTreeMap::from([(ROOT, Node::Folder(FolderNode::default()))]),
            next_id: ROOT + 1,
            last_change: 0,
            capacity_bytes: None,
            used_bytes: 0,
            sweep_at: NODES_BETWEEN_SWEEPS,
            now_ms: 0,
        }
    }

    /// An empty tree of the same disk, for what a crash leaves of this one.
    pub(super) fn emptied(&self) -> Self {
        Self {
            capacity_bytes: self.capacity_bytes,
            now_ms: self.now_ms,
            ..Self::new()
        }
    }

    pub(super) fn file(&self, id: Id) -> io::Result<&FileNode> {
        match self.nodes.get(&id) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => Err(Errno::ISDIR.into()),
            None => Err(Errno::STALE.into()),
        }
    }

    pub(super) fn file_mut(&mut self, id: Id) -> io::Result<&mut FileNode> {
        match self.nodes.get_mut(&id) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => Err(Errno::ISDIR.into()),
            None => Err(Errno::STALE.into()),
        }
    }

    pub(super) fn folder(&self, id: Id) -> io::Result<&FolderNode> {
        match self.nodes.get(&id) {
            Some(Node::Folder(folder)) => Ok(folder),
            Some(Node::File(_)) => Err(Errno::NOTDIR.into()),
            None => Err(Errno::STALE.into()),
        }
    }

    pub(super) fn folder_mut(&mut self, id: Id) -> io::Result<&mut FolderNode> {
        match self.nodes.get_mut(&id) {
            Some(Node::Folder(folder)) => Ok(folder),
            Some(Node::File(_)) => Err(Errno::NOTDIR.into()),
            None => Err(Errno::STALE.into()),
        }
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = (Id, &FolderNode)> {
        self.nodes.iter().filter_map(|(&id, node)| match node {
            Node::Folder(folder) => Some((id, folder)),
            Node::File(_) => None,
        })
    }

    // Names.

    /// The node at a path.
    pub(super) fn find(&self, path: &Path) -> io::Result<Id> {
        self.walk(&parts(path)?)
    }

    /// The folder that holds a path and the name in it. The topmost folder has neither.
    fn place(&self, path: &Path) -> io::Result<Option<(Id, OsString)>> {
        let mut parts = parts(path)?;
        let Some(name) = parts.pop() else {
            return Ok(None);
        };
        let folder = self.walk(&parts)?;
        self.folder(folder)?;
        Ok(Some((folder, name.to_owned())))
    }

    fn walk(&self, parts: &[&OsStr]) -> io::Result<Id> {
        parts.iter().try_fold(ROOT, |folder, part| {
            let child = self.folder(folder)?.child(part);
            child.ok_or_else(|| Errno::NOENT.into())
        })
    }

    fn child(&self, folder: Id, name: &OsStr) -> io::Result<Option<Id>> {
        Ok(self.folder(folder)?.child(name))
    }

    fn is_folder(&self, id: Id) -> bool {
        self.folder(id).is_ok()
    }

    /// Notes that a name has a new meaning, and returns the number of this change.
    fn change(
        &mut self,
        folder: Id,
        name: OsString,
        now: Option<Id>,
        arrival: Option<Arrival>,
    ) -> io::Result<u64> {
        self.last_change += 1;
        let at = self.last_change;
        let node = self.folder_mut(folder)?;
        node.change(NameChange {
            at,
            name,
            now,
            arrival,
        });
        if let Some(up_to) = node.overflow() {
            self.write_back(folder, up_to)?;
        }
        Ok(at)
    }

    /// Makes the changes of a folder durable up to a number. A rename between two folders is one
    /// step for every file system with a journal: when the old name goes, the new one has come.
    fn write_back(&mut self, folder: Id, up_to: u64) -> io::Result<()> {
        for arrival in self.folder_mut(folder)?.write_back(up_to) {
            let elsewhere = arrival.folder != folder;
            if elsewhere && self.is_folder(arrival.folder) {
                self.write_back(arrival.folder, arrival.at)?;
            }
        }
        Ok(())
    }

    // The methods of the port.

    /// Whether an open would have to create the file.
    pub(super) fn would_create(&self, path: &Path, how: How) -> bool {
        let creates = matches!(how, How::CreateNew | How::CreateOrAppend);
        creates && self.find(path).is_err()
    }

    pub(super) fn open(&mut self, path: &Path, how: How, handle: u64) -> io::Result<Id> {
        let Some((folder, name)) = self.place(path)? else {
            return Err(match how {
                How::CreateNew => Errno::EXIST.into(),
                How::Read | How::Append | How::CreateOrAppend => Errno::ISDIR.into(),
            });
        };
        let id = match (self.child(folder, &name)?, how) {
            (Some(_), How::CreateNew) => return Err(Errno::EXIST.into()),
            (Some(id), How::Read | How::Append | How::CreateOrAppend) => id,
            (None, How::Read | How::Append) => return Err(Errno::NOENT.into()),
            (None, How::CreateNew | How::CreateOrAppend) => {
                let file = FileNode::durable(Contents::default(), self.now_ms);
                let id = self.insert(Node::File(file));
                self.change(folder, name, Some(id), None)?;
                id
            }
        };
        self.file_mut(id)?.handles.insert(handle);
        Ok(id)
    }

    /// Forgets a handle, and with it its lock and a file that has no name any more.
    pub(super) fn close(&mut self, id: Id, handle: u64) {
        let Ok(file) = self.file_mut(id) else { return };
        file.handles.remove(&handle);
        if file.lock == Some(handle) {
            file.lock = None;
        }
        self.free_if_gone(id);
    }

    pub(super) fn create_folder(&mut self, path: &Path) -> io::Result<()> {
        let Some((folder, name)) = self.place(path)? else {
            return Err(Errno::EXIST.into());
        };
        if self.child(folder, &name)?.is_some() {
            return Err(Errno::EXIST.into());
        }
        let id = self.insert(Node::Folder(FolderNode::default()));
        self.change(folder, name, Some(id), None)?;
        Ok(())
    }

    pub(super) fn sync_folder(&mut self, path: &Path) -> io::Result<()> {
        let id = self.find(path)?;
        self.folder(id)?;
        self.write_back(id, u64::MAX)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some((from_folder, from_name)), Some((to_folder, to_name))) =
            (self.place(from)?, self.place(to)?)
        else {
            return Err(Errno::BUSY.into());
        };
        let Some(moved) = self.child(from_folder, &from_name)? else {
            return Err(Errno::NOENT.into());
        };
        let replaced = self.child(to_folder, &to_name)?;
        if replaced == Some(moved) {
            return Ok(());
        }
        // A folder may not move into itself, nor replace one that it is in.
        if starts_with(to, from)? {
            return Err(Errno::INVAL.into());
        }
        if starts_with(from, to)? {
            return Err(Errno::NOTEMPTY.into());
        }
        if let Some(replaced) = replaced {
            self.check_replacing(moved, replaced)?;
        }
        let at = self.change(to_folder, to_name.clone(), Some(moved), None)?;
        let arrival = Arrival {
            folder: to_folder,
            name: to_name,
            at,
        };
        self.change(from_folder, from_name, None, Some(arrival))?;
        if let Some(replaced) = replaced {
            self.unlink(replaced);
        }
        Ok(())
    }

    fn check_replacing(&self, moved: Id, replaced: Id) -> io::Result<()> {
        match (self.is_folder(moved), self.folder(replaced)) {
            (true, Ok(folder)) if !folder.is_empty() => Err(Errno::NOTEMPTY.into()),
            (true, Err(_)) => Err(Errno::NOTDIR.into()),
            (false, Ok(_)) => Err(Errno::ISDIR.into()),
            (true, Ok(_)) | (false, Err(_)) => Ok(()),
        }
    }

    /// A folder has one name only.
    pub(super) fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let id = self.find(from)?;
        let Some((folder, name)) = self.place(to)? else {
            return Err(Errno::EXIST.into());
        };
        if self.child(folder, &name)?.is_some() {
            return Err(Errno::EXIST.into());
        }
        if self.is_folder(id) {
            return Err(Errno::PERM.into());
        }
        self.change(folder, name, Some(id), None)?;
        self.file_mut(id)?.names += 1;
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let Some((folder, name)) = self.place(path)? else {
            return Err(Errno::ISDIR.into());
        };
        let Some(id) = self.child(folder, &name)? else {
            return Err(Errno::NOENT.into());
        };
        self.file(id)?;
        self.change(folder, name, None, None)?;
        self.unlink(id);
        Ok(())
    }

    pub(super) fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        let Some((folder, name)) = self.place(path)? else {
            return Err(Errno::BUSY.into());
        };
        let Some(id) = self.child(folder, &name)? else {
            return Err(Errno::NOENT.into());
        };
        if !self.folder(id)?.is_empty() {
            return Err(Errno::NOTEMPTY.into());
        }
        self.change(folder, name, None, None)?;
        Ok(())
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let folder = self.folder(self.find(path)?)?;
        let mut entries: Vec<_> = folder
            .names()
            .iter()
            .map(|(name, &id)| Entry {
                name: name.to_string_lossy().into_owned(),
                kind: self.kind(id),
            })
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    pub(super) fn about(&self, path: &Path) -> io::Result<About> {
        let id = self.find(path)?;
        let (size_bytes, modified_ms) = match self.file(id) {
            Ok(file) => (file.size() as u64, file.modified_ms),
            Err(_) => (0, 0),
        };
        Ok(About {
            kind: self.kind(id),
            size_bytes,
            modified_ms,
        })
    }

    fn kind(&self, id: Id) -> Kind {
        if self.is_folder(id) {
            Kind::Folder
        } else {
            Kind::File
        }
    }

    /// Appends what there is room for, and returns how much that was.
    pub(super) fn append(&mut self, id: Id, bytes: &[u8]) -> io::Result<usize> {
        let now_ms = self.now_ms;
        let room = usize::try_from(self.room_bytes()).unwrap_or(usize::MAX);
        let file = self.file_mut(id)?;
        let largest = MAX_MEMORY_FILE_BYTES.saturating_sub(file.size());
        if largest == 0 && !bytes.is_empty() {
            return Err(Errno::FBIG.into());
        }
        let taken = bytes.len().min(room).min(largest);
        if taken == 0 && !bytes.is_empty() {
            return Err(Errno::NOSPC.into());
        }
        file.append(&bytes[..taken]);
        file.modified_ms = now_ms;
        self.used_bytes += taken as u64;
        Ok(taken)
    }

    /// Cuts or grows a file. Growing takes space: this disk has no holes.
    pub(super) fn set_size(&mut self, id: Id, size_bytes: u64) -> io::Result<()> {
        let now_ms = self.now_ms;
        let room = self.room_bytes();
        let file = self.file_mut(id)?;
        let before_bytes = file.size() as u64;
        let size = usize::try_from(size_bytes)
            .ok()
            .filter(|&size| size <= MAX_MEMORY_FILE_BYTES)
            .ok_or(Errno::FBIG)?;
        if size_bytes.saturating_sub(before_bytes) > room {
            return Err(Errno::NOSPC.into());
        }
        file.set_size(size);
        file.modified_ms = now_ms;
        self.used_bytes = (self.used_bytes + size_bytes).saturating_sub(before_bytes);
        Ok(())
    }

    // Space.

    pub(super) fn free_bytes(&self) -> u64 {
        match self.capacity_bytes {
            Some(_) => self.room_bytes(),
            None => PLENTY_BYTES,
        }
    }

    fn room_bytes(&self) -> u64 {
        self.capacity_bytes
            .map_or(u64::MAX, |all| all.saturating_sub(self.used_bytes))
    }

    pub(super) fn set_free_bytes(&mut self, free_bytes: Option<u64>) {
        self.capacity_bytes = free_bytes.map(|free| free.saturating_add(self.used_bytes));
    }

    /// Takes the name of a replaced or removed file away. A folder has nothing to free.
    fn unlink(&mut self, id: Id) {
        if let Ok(file) = self.file_mut(id) {
            file.names = file.names.saturating_sub(1);
            self.free_if_gone(id);
        }
    }

    /// Gives back the space of a file that has neither a name nor a handle. Its bytes stay as
    /// long as a crash might bring its name back.
    fn free_if_gone(&mut self, id: Id) {
        let size_bytes = match self.file(id) {
            Ok(file) if file.names == 0 && file.handles.is_empty() => file.size() as u64,
            Ok(_) | Err(_) => 0,
        };
        self.used_bytes = self.used_bytes.saturating_sub(size_bytes);
    }

    // Nodes.

    fn insert(&mut self, node: Node) -> Id {
        if self.nodes.len() >= self.sweep_at {
            self.sweep();
            self.sweep_at = self.nodes.len() * 2 + NODES_BETWEEN_SWEEPS;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.nodes.insert(id, node);
        id
    }

    /// Drops what no folder mentions and no handle holds.
    fn sweep(&mut self) {
        let mut kept = HashSet::new();
        let mut next = vec![ROOT];
        while let Some(id) = next.pop() {
            if kept.insert(id)
                && let Ok(folder) = self.folder(id)
            {
                next.extend(folder.mentions());
            }
        }
        self.nodes.retain(|id, node| match node {
            Node::File(file) => kept.contains(id) || !file.handles.is_empty(),
            Node::Folder(_) => kept.contains(id),
        });
    }

    /// Forgets every handle and lock, as the end of the process does.
    pub(super) fn close_all(&mut self) {
        let mut used_bytes = 0;
        for node in self.nodes.values_mut() {
            if let Node::File(file) = node {
                file.handles.clear();
                file.lock = None;
                if file.names > 0 {
                    used_bytes += file.size() as u64;
                }
            }
        }
        self.used_bytes = used_bytes;
    }

    // Changes from outside: durable at once, and never refused for want of space.

    /// Adds a durable file or folder under a name that is free.
    pub(super) fn settle(&mut self, folder: Id, name: OsString, node: Node) -> io::Result<Id> {
        if let Node::File(file) = &node {
            self.used_bytes += file.size() as u64;
        }
        let id = self.insert(node);
        self.folder_mut(folder)?.settle(name, id);
        Ok(id)
    }

    /// Makes a folder and all above it durable, and creates those that are missing.
    pub(super) fn settle_folders(&mut self, path: &Path) -> io::Result<Id> {
        self.settle_parts(&parts(path)?)
    }

    fn settle_parts(&mut self, parts: &[&OsStr]) -> io::Result<Id> {
        let mut at = ROOT;
        for &part in parts {
            at = match self.child(at, part)? {
                Some(id) => {
                    self.folder(id)?;
                    self.folder_mut(at)?.settle(part.to_owned(), id);
                    id
                }
                None => self.settle(at, part.to_owned(), Node::Folder(FolderNode::default()))?,
            };
        }
        Ok(at)
    }

    pub(super) fn settle_file(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut above = parts(path)?;
        let name = above.pop().ok_or(Errno::ISDIR)?.to_owned();
        let folder = self.settle_parts(&above)?;
        let contents = Contents::of(bytes);
        match self.child(folder, &name)? {
            Some(id) => {
                self.overwrite(id, contents)?;
                self.folder_mut(folder)?.settle(name, id);
            }
            None => {
                let file = FileNode::durable(contents, self.now_ms);
                self.settle(folder, name, Node::File(file))?;
            }
        }
        Ok(())
    }

    /// Replaces the bytes of a file that exists.
    pub(super) fn overwrite(&mut self, id: Id, contents: Contents) -> io::Result<()> {
        let file = self.file_mut(id)?;
        let before_bytes = file.size() as u64;
        let after_bytes = contents.size() as u64;
        file.overwrite(contents);
        self.used_bytes = (self.used_bytes + after_bytes).saturating_sub(before_bytes);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The paths of all files, sorted.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut next = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, id)) = next.pop() {
            match self.folder(id) {
                Ok(folder) => {
                    let children = folder.names().iter();
                    next.extend(children.map(|(name, &id)| (path.join(name), id)));
                }
                Err(_) => files.push(path),
            }
        }
        files.sort();
        files
    }
}

/// The names of a path, from the topmost folder down. There is no current folder here, so a
/// relative path starts at the top as well.
fn parts(path: &Path) -> io::Result<Vec<&OsStr>> {
    if path.as_os_str().is_empty() {
        return Err(Errno::NOENT.into());
    }
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) if name.len() > MAX_NAME_BYTES => {
                return Err(Errno::NAMETOOLONG.into());
            }
            Component::Normal(name) => parts.push(name),
            Component::ParentDir => {
                parts.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(parts)
}

/// Whether a path is below another, or is it.
fn starts_with(path: &Path, above: &Path) -> io::Result<bool> {
    Ok(parts(path)?.starts_with(&parts(above)?))
}
