//! Files that an operator names on the command line: archives, manual pages.
//!
//! A file gets its name only when it is whole and durable. What is there already is overwritten
//! only when that is asked for, and only if it is a regular file: a link, a folder or a device
//! stays what it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop, from_io};

/// How many names are tried for a temporary file before something else must be wrong.
const TRIES_MAX: u32 = 16;

/// The permissions of a file before the umask, as every program's.
const READABLE: u32 = 0o666;

/// The permissions of a file that is its owner's alone.
const PRIVATE: u32 = 0o600;

/// A file that is being written and has no name of its own yet.
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: Option<BufWriter<File>>,
    temporary: PathBuf,
    target: PathBuf,
    force: bool,
}

fn io_stop(doing: &str, path: &Path, error: &io::Error) -> Stop {
    from_io(doing, &path.display().to_string(), error).into()
}

fn refuse(code: &'static str, path: &Path, why: &str, hint: &str) -> Stop {
    let what = format!("{} was not written", path.display());
    OperatorError::new((code, ExitCode::Refused), what, why, hint).into()
}

/// Whether a file may get this name.
fn check(target: &Path, force: bool) -> Result<(), Stop> {
    let about = match fs::symlink_metadata(target) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io_stop("look at", target, &error)),
    };
    if about.is_symlink() {
        let why = "it is a symbolic link, and whatever it leads to is not touched";
        let hint = "name the file it should lead to";
        return Err(refuse("file-is-link", target, why, hint));
    }
    if !about.is_file() {
        let why = "something that is no regular file bears that name";
        let hint = "name another file, or use - for standard output";
        return Err(refuse("not-a-file", target, why, hint));
    }
    if force {
        return Ok(());
    }
    Err(exists(target))
}

/// Whether a file can be written there later: one is begun, and removed again.
///
/// # Errors
/// When the name is taken and may not be replaced, or the file system refuses.
pub(crate) fn may_write(target: &Path, force: bool) -> Result<(), Stop> {
    OutputFile::create(target, force).map(drop)
}

fn exists(target: &Path) -> Stop {
    let why = "a file of that name is there already";
    refuse(
        "file-exists",
        target,
        why,
        "name another file, or add --force to replace it",
    )
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Begins a file with a temporary name beside the one that it gets when it is whole.
fn begin_beside(target: &Path, mode: u32) -> Result<(File, PathBuf), Stop> {
    let Some(name) = target.file_name() else {
        let hint = "name a file, such as flow.tar";
        return Err(refuse("not-a-file", target, "it names no file", hint));
    };
    let (folder, pid) = (folder_of(target), std::process::id());
    for number in 0..TRIES_MAX {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{pid}-{number}.tmp"));
        let temporary = folder.join(hidden);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)
        {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io_stop("write", target, &error)),
        }
    }
    let error = io::Error::from(io::ErrorKind::AlreadyExists);
    Err(io_stop("write beside", target, &error))
}

impl OutputFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When the name is taken and may not be replaced, or the file system refuses.
    pub(crate) fn create(target: &Path, force: bool) -> Result<Self, Stop> {
        check(target, force)?;
        let (file, temporary) = begin_beside(target, READABLE)?;
        Ok(Self {
            file: Some(BufWriter::new(file)),
            temporary,
            target: target.to_owned(),
            force,
        })
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// When the name was taken in the meantime, or the file system refuses.
    pub(crate) fn finish(mut self) -> Result<(), Stop> {
        let written = match self.file.take() {
            Some(file) => file
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .and_then(|file| file.sync_all()),
            None => Ok(()),
        };
        written.map_err(|e| io_stop("write", &self.target, &e))?;
        self.publish()?;
        let folder = folder_of(&self.target);
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|e| io_stop("sync", folder, &e))
    }

    fn publish(&self) -> Result<(), Stop> {
        if !self.force {
            // A link, unlike a rename, never replaces a file that appeared in the meantime.
            match fs::hard_link(&self.temporary, &self.target) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(exists(&self.target));
                }
                // Some file systems have no hard links; there the name is looked at once more.
                Err(_) => {}
            }
        }
        check(&self.target, self.force)?;
        fs::rename(&self.temporary, &self.target).map_err(|e| io_stop("name", &self.target, &e))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        drop(self.file.take());
        // After a rename it is gone already, and what cannot be removed is at least not the target.
        let _removed = fs::remove_file(&self.temporary);
    }
}

/// Writes a small file that only its owner may read. A reader has meanwhile the old one or the new
/// one, whole; a link of that name is replaced and not followed.
///
/// # Errors
/// When the file system refuses; the old file is then what it was.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Stop> {
    let (mut file, temporary) = begin_beside(path, PRIVATE)?;
    let written = file.write_all(text.as_bytes());
    let written = written.and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // The error that is reported is the first one.
        let _removed = fs::remove_file(&temporary);
        io_stop("write", path, &error)
    })
}

/// Opens a file to read it from its beginning; `-` is standard input.
///
/// # Errors
/// When there is no such regular file.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, Stop> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|e| io_stop("read", path, &e))?;
    let about = file.metadata().map_err(|e| io_stop("look at", path, &e))?;
    if about.is_dir() {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(io_stop("read", path, &error));
    }
    Ok(Box::new(BufReader::new(file)))
}

/// Makes a folder and those above it; that it is there already is fine.
///
/// # Errors
/// When the file system refuses.
pub(crate) fn make_folder(path: &Path) -> Result<(), Stop> {
    fs::create_dir_all(path).map_err(|e| io_stop("make", path, &e))
}

/// A path from the root, without links and dots in it.
///
/// # Errors
/// When nothing is there, or the file system refuses.
pub(crate) fn whole_path(path: &Path) -> Result<PathBuf, Stop> {
    fs::canonicalize(path).map_err(|e| io_stop("look at", path, &e))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_private_file_that_is_written_again_is_whole_whenever_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.json");
        let texts = ["a".repeat(60_000), "b".repeat(60_000)];
        write_private(&path, &texts[0]).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for text in texts.iter().cycle().take(2_000) {
                    write_private(&path, text).unwrap();
                }
                done.store(true, Ordering::SeqCst);
            });
            while !done.load(Ordering::SeqCst) {
                let read = fs::read_to_string(&path).unwrap();
                assert!(texts.contains(&read), "{} bytes", read.len());
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_private_file_is_its_owners_alone_and_takes_the_place_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("secret"), folder.path().join("other"));
        fs::write(&other, "theirs").unwrap();
        symlink(&other, &path).unwrap();
        write_private(&path, "ours").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, PRIVATE);
    }
}
