//! A small file that is asked for many times a turn and changes once a week: read again only when it has changed.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How old a change must be before a file's marks tell it from the next one. File systems count time in steps, of two
/// seconds at most, and a second change within one step leaves the same marks; one more is for the part of a second
/// that is not looked at.
const SETTLED: Duration = Duration::from_secs(3);

/// The last text that was read, for as long as the file it came from is unchanged.
#[derive(Debug)]
pub(super) struct CachedText(Mutex<Option<CachedFile>>);

#[derive(Debug)]
struct CachedFile {
    path: PathBuf,
    marks: FileMarks,
    text: String,
}

/// The marks that every change of a file changes: a write changes its times, a replacement makes
/// another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileMarks {
    device: u64,
    inode: u64,
    bytes: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl FileMarks {
    fn of(about: &Metadata) -> Self {
        Self {
            device: about.dev(),
            inode: about.ino(),
            bytes: about.len(),
            written: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }

    /// Whether the next change is sure to leave other marks.
    fn are_settled(&self, now: SystemTime) -> bool {
        let changed = self.changed.max(self.written).0;
        let changed = u64::try_from(changed).unwrap_or(0);
        now > SystemTime::UNIX_EPOCH + Duration::from_secs(changed) + SETTLED
    }
}

impl CachedText {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The text of the file at `path`, which `read` gets from it; none if there is no such file.
    ///
    /// # Errors
    /// As `read`.
    pub(super) fn get(
        &self,
        path: &Path,
        read: impl FnOnce(&Path) -> Result<Option<String>, String>,
    ) -> Result<Option<String>, String> {
        // The marks are taken before the text: a change between the two is seen the next time.
        let marks = fs::metadata(path).ok().as_ref().map(FileMarks::of);
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_same = |kept: &&CachedFile| kept.path == path && Some(kept.marks) == marks;
            if let Some(kept) = kept.as_ref().filter(is_same) {
                return Ok(Some(kept.text.clone()));
            }
        }
        let read = read(path)?;
        let now = SystemTime::now();
        let settled = marks.filter(|marks| marks.are_settled(now));
        let kept = settled.zip(read.clone()).map(|(marks, text)| CachedFile {
            path: path.to_owned(),
            marks,
            text,
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use fs::{File, FileTimes};
    use std::cell::Cell;

    use super::*;

    /// A folder with a file in it, and how often that was read.
    struct Read {
        folder: tempfile::TempDir,
        kept: CachedText,
        times: Cell<u32>,
    }

    impl Read {
        fn new(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("c"), text).unwrap();
            Self {
                folder,
                kept: CachedText::new(),
                times: Cell::new(0),
            }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("c")
        }

        fn get(&self) -> Option<String> {
            let read = |path: &Path| {
                self.times.set(self.times.get() + 1);
                Ok(fs::read_to_string(path).ok())
            };
            self.kept.get(&self.path(), read).unwrap()
        }

        /// Keeps a text as if the file had been read long after its last change.
        fn keep(&self, text: &str) {
            let about = fs::metadata(self.path()).unwrap();
            *self.kept.0.lock().unwrap() = Some(CachedFile {
                path: self.path(),
                marks: FileMarks::of(&about),
                text: text.to_owned(),
            });
        }
    }

    #[test]
    fn a_file_that_was_just_written_is_read_each_time() {
        let file = Read::new("one");
        assert_eq!(file.get().as_deref(), Some("one"));
        fs::write(file.path(), "two").unwrap();
        assert_eq!(file.get().as_deref(), Some("two"));
        assert_eq!(file.get().as_deref(), Some("two"));
        assert_eq!(file.times.get(), 3);
    }

    #[test]
    fn a_file_whose_marks_are_the_same_is_not_read_again() {
        let file = Read::new("one");
        file.keep("one");
        assert_eq!(file.get().as_deref(), Some("one"));
        assert_eq!(file.times.get(), 0);
    }

    #[test]
    fn every_way_to_change_a_file_is_seen() {
        let changes: [fn(&Path); 4] = [
            |path| fs::write(path, "two").unwrap(),
            |path| {
                // As long as before, at the time it had before: only the file system's own mark is another.
                let before = fs::metadata(path).unwrap().modified().unwrap();
                std::thread::sleep(Duration::from_millis(20));
                fs::write(path, "two").unwrap();
                let file = File::options().write(true).open(path).unwrap();
                file.set_times(FileTimes::new().set_modified(before))
                    .unwrap();
            },
            |path| {
                let beside = path.with_extension("new");
                fs::write(&beside, "two").unwrap();
                fs::rename(&beside, path).unwrap();
            },
            |path| {
                fs::remove_file(path).unwrap();
                fs::write(path, "two").unwrap();
            },
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let file = Read::new("one");
            file.keep("one");
            std::thread::sleep(Duration::from_millis(20));
            change(&file.path());
            assert_eq!(file.get().as_deref(), Some("two"), "change {at}");
        }
    }

    #[test]
    fn a_file_that_went_away_is_gone() {
        let file = Read::new("one");
        file.keep("one");
        fs::remove_file(file.path()).unwrap();
        assert_eq!(file.get(), None);
    }

    #[test]
    fn a_file_from_the_future_or_of_this_moment_is_not_settled() {
        let now = SystemTime::now();
        let seconds = now
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let at = |seconds: u64| FileMarks {
            device: 1,
            inode: 1,
            bytes: 1,
            written: (0, 0),
            changed: (i64::try_from(seconds).unwrap(), 0),
        };
        for (seconds, is_settled) in [
            (seconds - 60, true),
            (seconds - 4, true),
            (seconds - 1, false),
            (seconds, false),
            (seconds + 60, false),
        ] {
            assert_eq!(at(seconds).are_settled(now), is_settled, "{seconds}");
        }
    }
}
