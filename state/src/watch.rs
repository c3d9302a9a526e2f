//! Notifications of the system when something under the state root changes.
//!
//! A notification names the folder and not the change; the receiver reads it again. Where the system
//! has none, the receiver polls.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;

use crate::files::uninterrupted;

/// How many bytes of news are read at once: some hundred changes.
const NEWS_BYTES: usize = 16 << 10;

/// What is watched, by the system's number for it.
#[derive(Debug)]
pub struct FolderWatch {
    system: OwnedFd,
    folders: Mutex<BTreeMap<i32, PathBuf>>,
}

impl AsFd for FolderWatch {
    /// Can be read from when there is news, for those who wait for something else as well.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.system.as_fd()
    }
}

/// What there is to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Something in one of these folders changed.
    Of(Vec<PathBuf>),
    /// So much happened that the system lost count: everything may have changed.
    All,
}

impl FolderWatch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// When the system has no room for another watch.
    pub fn new() -> io::Result<Self> {
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        Ok(Self {
            system: inotify::init(flags)?,
            folders: Mutex::new(BTreeMap::new()),
        })
    }

    /// Watches a folder: what is written, made, renamed and removed in it.
    ///
    /// # Errors
    /// When it is not there, or the system has no room.
    pub fn add(&self, folder: &Path) -> io::Result<()> {
        let what = inotify::WatchFlags::MODIFY
            | inotify::WatchFlags::CREATE
            | inotify::WatchFlags::MOVED_TO
            | inotify::WatchFlags::DELETE
            | inotify::WatchFlags::CLOSE_WRITE
            | inotify::WatchFlags::ONLYDIR;
        let number = inotify::add_watch(&self.system, folder, what)?;
        self.folders().insert(number, folder.to_owned());
        Ok(())
    }

    /// Watches a folder no longer.
    #[cfg(test)]
    pub(crate) fn remove(&self, folder: &Path) {
        let mut folders = self.folders();
        let number = folders.iter().find(|(_, known)| *known == folder);
        if let Some(number) = number.map(|(number, _)| *number) {
            // A folder that is gone is watched no more anyway.
            let _ = inotify::remove_watch(&self.system, number);
            folders.remove(&number);
        }
    }

    fn folders(&self) -> MutexGuard<'_, BTreeMap<i32, PathBuf>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for news, but no longer than this.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait(&self, longest: Duration) -> io::Result<News> {
        let longest = Timespec {
            tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(longest.subsec_nanos()),
        };
        let mut asked = [PollFd::new(&self.system, PollFlags::IN)];
        uninterrupted(|| poll(&mut asked, Some(&longest)).map_err(io::Error::from))?;
        let mut buffer = [MaybeUninit::uninit(); NEWS_BYTES];
        let mut reader = inotify::Reader::new(&self.system, &mut buffer);
        let mut changed = Vec::new();
        let mut lost = false;
        // One whole reading is enough; what comes meanwhile is the next news.
        loop {
            match reader.next() {
                Ok(event) => {
                    lost |= event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW);
                    let mut folders = self.folders();
                    changed.extend(folders.get(&event.wd()).cloned());
                    if event.events().contains(inotify::ReadFlags::IGNORED) {
                        folders.remove(&event.wd());
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
            if reader.is_buffer_empty() {
                break;
            }
        }
        changed.sort_unstable();
        changed.dedup();
        Ok(if lost { News::All } else { News::Of(changed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_in_a_folder_is_told_and_what_is_elsewhere_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::create_dir(&one).unwrap();
        std::fs::create_dir(&other).unwrap();
        let watch = FolderWatch::new().unwrap();
        watch.add(&one).unwrap();
        let soon = Duration::from_millis(1);
        assert_eq!(watch.wait(soon).unwrap(), News::Of(vec![]));
        std::fs::write(other.join("x"), "x").unwrap();
        assert_eq!(watch.wait(soon).unwrap(), News::Of(vec![]));
        std::fs::write(one.join("x"), "x").unwrap();
        assert_eq!(
            watch.wait(Duration::from_secs(5)).unwrap(),
            News::Of(vec![one.clone()])
        );
        watch.remove(&one);
        drop(watch.wait(soon).unwrap());
        std::fs::write(one.join("y"), "y").unwrap();
        assert_eq!(watch.wait(soon).unwrap(), News::Of(vec![]));
    }

    #[test]
    fn a_folder_that_is_not_there_cannot_be_watched() {
        let watch = FolderWatch::new().unwrap();
        assert!(watch.add(Path::new("/no/such/folder")).is_err());
    }
}
