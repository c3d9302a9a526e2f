//! The machine's own file system.
//!
//! Nothing here decides anything: each method is one system call, or the few that its contract
//! names. What it adds to `std::fs` is that no way in follows a symbolic link, hangs on a pipe
//! or opens a folder as if it were a file.

use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use super::limits::{MAX_INTERRUPTIONS, MAX_LISTED_NAMES, PRIVATE_DEPTH_MAX, ZEROS_BYTES};
use super::{About, Disk, DiskFile, Entry, How, Kind, Locked};

/// The flags of every open. `NONBLOCK` means nothing to a regular file, and it keeps the open of
/// a pipe in our folder from waiting for ever. `std` adds close-on-exec.
const OPEN_FLAGS: OFlags = OFlags::NOFOLLOW
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Who may use what is made here: its owner only, whatever the umask.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Everybody but the owner.
const OTHERS: u32 = 0o077;

/// The file system of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

/// One open file of the machine.
#[derive(Debug)]
struct RealFile {
    file: File,
    locked: bool,
}

/// Gives the lock back at once. Closing the descriptor alone would not: a program that is being
/// started holds a copy of every descriptor until it runs, and with it the lock.
impl Drop for RealFile {
    fn drop(&mut self) {
        if self.locked {
            // What cannot be unlocked is closed in the next moment all the same.
            drop(self.file.unlock());
        }
    }
}

impl From<File> for RealFile {
    fn from(file: File) -> Self {
        Self {
            file,
            locked: false,
        }
    }
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .mode(FILE_MODE)
            .custom_flags(bits(OPEN_FLAGS));
        match how {
            How::Read => &mut options,
            How::Append => options.append(true),
            How::CreateNew => options.append(true).create_new(true),
            How::CreateOrAppend => options.append(true).create(true),
        };
        let file = options.open(path)?;
        refuse_all_but_files(&file)?;
        Ok(Box::new(RealFile::from(file)))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(FOLDER_MODE).create(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(bits(OPEN_FLAGS.union(OFlags::DIRECTORY)))
            .open(path)?;
        folder.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entries.len() == MAX_LISTED_NAMES {
                return Err(io::Error::other(format!(
                    "the folder holds more than {MAX_LISTED_NAMES} names"
                )));
            }
            entries.push(Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                kind: kind_of(entry.file_type()?),
            });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn about(&self, path: &Path) -> io::Result<About> {
        let metadata = fs::symlink_metadata(path)?;
        let millis = metadata.mtime_nsec() / 1_000_000;
        Ok(About {
            kind: kind_of(metadata.file_type()),
            size_bytes: metadata.len(),
            modified_ms: metadata.mtime().saturating_mul(1000).saturating_add(millis),
        })
    }

    fn whole(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn keep_private(&self, path: &Path) -> io::Result<u64> {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
            Ok(about) if about.mode() & OTHERS == 0 => Ok(0),
            Ok(about) => close(path, &about, PRIVATE_DEPTH_MAX),
        }
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let disk = rustix::fs::statvfs(path)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

impl DiskFile for RealFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        again_when_interrupted(|| self.file.read_at(into, offset))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        again_when_interrupted(|| self.file.write(bytes))
    }

    fn set_size(&mut self, size_bytes: u64) -> io::Result<()> {
        self.file.set_len(size_bytes)
    }

    fn reserve(&mut self, size_bytes: u64) -> io::Result<()> {
        if size_bytes == 0 {
            return Ok(());
        }
        let before_bytes = self.size_bytes()?;
        let reserved = self.take_space(size_bytes);
        // A full disk may have given a part of the space and grown the file; that part is given
        // back. Should even this fail, the first error is still the one that says why.
        if reserved.is_err() && self.size_bytes()? > before_bytes {
            self.file.set_len(before_bytes)?;
        }
        reserved
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn share(&self) -> io::Result<Box<dyn DiskFile>> {
        let file = self.file.try_clone()?;
        Ok(Box::new(Self::from(file)))
    }

    fn try_lock(&mut self) -> io::Result<Locked> {
        match self.file.try_lock() {
            Ok(()) => {
                self.locked = true;
                Ok(Locked::Yes)
            }
            Err(TryLockError::WouldBlock) => Ok(Locked::Busy),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl RealFile {
    fn take_space(&self, size_bytes: u64) -> io::Result<()> {
        let asked = again_when_interrupted(|| {
            rustix::fs::fallocate(&self.file, FallocateFlags::empty(), 0, size_bytes)
                .map_err(io::Error::from)
        });
        match asked {
            Err(error) if error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error()) => {
                self.write_zeros(size_bytes)
            }
            done => done,
        }
    }

    /// Takes space the slow way, on file systems that have no `fallocate`.
    fn write_zeros(&self, size_bytes: u64) -> io::Result<()> {
        let zeros = [0_u8; ZEROS_BYTES];
        let mut missing = size_bytes.saturating_sub(self.size_bytes()?);
        while missing > 0 {
            let wanted = usize::try_from(missing).map_or(ZEROS_BYTES, |n| n.min(ZEROS_BYTES));
            let taken = again_when_interrupted(|| (&self.file).write(&zeros[..wanted]))?;
            if taken == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            missing -= taken as u64;
        }
        Ok(())
    }
}

/// Closes a name, and what is in it, to everybody but its owner. The folder itself comes last: one that
/// was left half done is begun again.
fn close(path: &Path, about: &Metadata, deep: usize) -> io::Result<u64> {
    if about.file_type().is_symlink() {
        return Ok(0);
    }
    let mut closed = 0;
    if about.is_dir() && deep > 0 {
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            let done = fs::symlink_metadata(&path).and_then(|about| close(&path, &about, deep - 1));
            closed += match done {
                // What is gone or another user's is behind the folder's own mode.
                Err(error) if is_out_of_hand(&error) => 0,
                done => done?,
            };
        }
    }
    let mode = about.mode() & 0o7777;
    if mode & OTHERS != 0 {
        fs::set_permissions(path, Permissions::from_mode(mode & FOLDER_MODE))?;
        closed += 1;
    }
    Ok(closed)
}

fn is_out_of_hand(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
    )
}

/// Repeats a call that a signal interrupted, but not for ever.
fn again_when_interrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..MAX_INTERRUPTIONS {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
    call()
}

/// Refuses a folder, a pipe, a socket or a device in place of a file.
fn refuse_all_but_files(file: &File) -> io::Result<()> {
    match kind_of(file.metadata()?.file_type()) {
        Kind::File => Ok(()),
        Kind::Folder => Err(Errno::ISDIR.into()),
        Kind::Other => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
    }
}

fn kind_of(file_type: FileType) -> Kind {
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Folder
    } else {
        Kind::Other
    }
}

/// The flags as `std` takes them.
fn bits(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_path_buf();
        (folder, path)
    }

    #[test]
    fn an_append_goes_to_the_end_and_is_read_back() {
        let (_guard, path) = folder();
        let mut file = RealDisk.open(&path.join("a"), How::CreateNew).unwrap();
        assert_eq!(file.append(b"one").unwrap(), 3);
        file.set_size(1).unwrap();
        assert_eq!(file.append(b"two").unwrap(), 3);
        file.sync().unwrap();
        let mut bytes = [0; 8];
        assert_eq!(file.read_at(0, &mut bytes).unwrap(), 4);
        assert_eq!(&bytes[..4], b"otwo");
        assert_eq!(file.size_bytes().unwrap(), 4);
    }

    #[test]
    fn what_others_could_use_is_closed_to_them_once_and_links_are_left_alone() {
        let (_guard, path) = folder();
        let root = path.join("state");
        fs::create_dir_all(root.join("p/f")).unwrap();
        fs::write(root.join("p/f/journal"), b"x").unwrap();
        fs::write(root.join("p/run.sh"), b"x").unwrap();
        fs::write(path.join("outside"), b"x").unwrap();
        symlink(path.join("outside"), root.join("link")).unwrap();
        let set = |name: &str, mode| {
            fs::set_permissions(path.join(name), Permissions::from_mode(mode)).unwrap();
        };
        let mode = |name: &str| fs::symlink_metadata(path.join(name)).unwrap().mode() & 0o777;
        for name in ["state", "state/p", "state/p/f", "state/p/run.sh"] {
            set(name, 0o755);
        }
        for name in ["state/p/f/journal", "outside"] {
            set(name, 0o644);
        }
        assert_eq!(RealDisk.keep_private(&root).unwrap(), 5);
        assert_eq!((mode("state"), mode("state/p/f")), (0o700, 0o700));
        assert_eq!(
            (mode("state/p/f/journal"), mode("state/p/run.sh")),
            (0o600, 0o700)
        );
        assert_eq!(mode("outside"), 0o644);
        assert_eq!(RealDisk.keep_private(&root).unwrap(), 0);
        assert_eq!(RealDisk.keep_private(&path.join("none")).unwrap(), 0);
    }

    #[test]
    fn what_is_made_here_is_its_owners_alone() {
        let (_guard, path) = folder();
        RealDisk.create_folder(&path.join("a")).unwrap();
        drop(RealDisk.open(&path.join("a/b"), How::CreateNew).unwrap());
        drop(
            RealDisk
                .open(&path.join("a/c"), How::CreateOrAppend)
                .unwrap(),
        );
        let mode = |name: &str| fs::symlink_metadata(path.join(name)).unwrap().mode() & 0o777;
        assert_eq!((mode("a"), mode("a/b"), mode("a/c")), (0o700, 0o600, 0o600));
    }

    #[test]
    fn no_way_of_opening_follows_a_symbolic_link() {
        let (_guard, path) = folder();
        fs::write(path.join("target"), b"x").unwrap();
        symlink(path.join("target"), path.join("link")).unwrap();
        symlink(path.join("nothing"), path.join("dangling")).unwrap();
        for link in ["link", "dangling"] {
            for how in [How::Read, How::Append, How::CreateNew, How::CreateOrAppend] {
                assert!(
                    RealDisk.open(&path.join(link), how).is_err(),
                    "{link} {how:?}"
                );
            }
        }
        assert!(!path.join("nothing").exists());
        assert_eq!(
            RealDisk.about(&path.join("link")).unwrap().kind,
            Kind::Other
        );
    }

    #[test]
    fn a_folder_is_not_synced_through_a_symbolic_link() {
        let (_guard, path) = folder();
        fs::create_dir(path.join("real")).unwrap();
        symlink(path.join("real"), path.join("link")).unwrap();
        RealDisk.sync_folder(&path.join("real")).unwrap();
        assert!(RealDisk.sync_folder(&path.join("link")).is_err());
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_refused_without_waiting() {
        let (_guard, path) = folder();
        let pipe = path.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        for how in [How::Read, How::Append, How::CreateOrAppend] {
            let error = RealDisk.open(&pipe, how).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{how:?}");
        }
    }

    #[test]
    fn a_lock_keeps_others_out_until_its_handle_is_dropped() {
        let (_guard, path) = folder();
        let open = || {
            RealDisk
                .open(&path.join("lock"), How::CreateOrAppend)
                .unwrap()
        };
        let mut first = open();
        let mut second = open();
        assert_eq!(first.try_lock().unwrap(), Locked::Yes);
        assert_eq!(second.try_lock().unwrap(), Locked::Busy);
        drop(first);
        assert_eq!(second.try_lock().unwrap(), Locked::Yes);
    }

    #[test]
    fn a_reservation_takes_blocks_and_grows_the_file() {
        let (_guard, path) = folder();
        let mut file = RealDisk.open(&path.join("r"), How::CreateNew).unwrap();
        file.append(b"abc").unwrap();
        file.reserve(0).unwrap();
        file.reserve(100_000).unwrap();
        assert_eq!(file.size_bytes().unwrap(), 100_000);
        assert!(fs::metadata(path.join("r")).unwrap().blocks() * 512 >= 100_000);
        file.reserve(10).unwrap();
        assert_eq!(file.size_bytes().unwrap(), 100_000);
    }

    #[test]
    fn zeros_are_written_where_space_cannot_be_reserved() {
        let (_guard, path) = folder();
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(path.join("z"))
            .unwrap();
        file.write_all(b"abc").unwrap();
        RealFile::from(file).write_zeros(150_000).unwrap();
        let bytes = fs::read(path.join("z")).unwrap();
        assert_eq!(bytes.len(), 150_000);
        assert_eq!(&bytes[..4], b"abc\0");
    }

    #[test]
    fn an_impossible_reservation_leaves_the_size_as_it_was() {
        let (_guard, path) = folder();
        let mut file = RealDisk.open(&path.join("r"), How::CreateNew).unwrap();
        file.append(b"abc").unwrap();
        assert!(file.reserve(u64::MAX).is_err());
        assert_eq!(file.size_bytes().unwrap(), 3);
    }

    #[test]
    fn an_interrupted_call_is_repeated_and_gives_up_in_the_end() {
        let mut calls = 0;
        let done = again_when_interrupted(|| {
            calls += 1;
            if calls < 5 {
                Err(io::Error::from(Errno::INTR))
            } else {
                Ok(calls)
            }
        });
        assert_eq!(done.unwrap(), 5);
        let never: io::Result<()> = again_when_interrupted(|| Err(Errno::INTR.into()));
        assert_eq!(never.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn names_come_sorted_with_what_they_are() {
        let (_guard, path) = folder();
        fs::write(path.join("b"), b"").unwrap();
        fs::create_dir(path.join("a")).unwrap();
        symlink("b", path.join("c")).unwrap();
        let names: Vec<_> = RealDisk
            .list(&path)
            .unwrap()
            .into_iter()
            .map(|entry| (entry.name, entry.kind))
            .collect();
        assert_eq!(
            names,
            [
                ("a".to_owned(), Kind::Folder),
                ("b".to_owned(), Kind::File),
                ("c".to_owned(), Kind::Other)
            ]
        );
    }

    #[test]
    fn free_space_and_the_time_of_the_last_change_are_told() {
        let (_guard, path) = folder();
        fs::write(path.join("a"), b"12345").unwrap();
        let about = RealDisk.about(&path.join("a")).unwrap();
        assert_eq!(about.size_bytes, 5);
        assert!(about.modified_ms > 1_500_000_000_000);
        assert!(RealDisk.free_bytes(&path).unwrap() > 0);
        let missing = RealDisk.free_bytes(&path.join("no")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_descriptor_is_closed_on_exec() {
        let (_guard, path) = folder();
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let file = options
            .custom_flags(bits(OPEN_FLAGS))
            .open(path.join("a"))
            .unwrap();
        let flags = rustix::io::fcntl_getfd(&file).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }
}
