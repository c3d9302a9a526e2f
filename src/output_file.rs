//! Files that an operator names on the command line: archives, manual pages.
//!
//! A file gets its name only when it is whole and durable. What is there already is overwritten
//! only when that is asked for, and only if it is a regular file: a link, a folder or a device
//! stays what it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop, from_io};

/// How many names are tried for a temporary file before something else must be wrong.
const TRIES_MAX: u32 = 16;

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

impl OutputFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When the name is taken and may not be replaced, or the file system refuses.
    pub(crate) fn create(target: &Path, force: bool) -> Result<Self, Stop> {
        check(target, force)?;
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
                .open(&temporary)
            {
                Ok(file) => {
                    return Ok(Self {
                        file: Some(BufWriter::new(file)),
                        temporary,
                        target: target.to_owned(),
                        force,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(io_stop("write", target, &error)),
            }
        }
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        Err(io_stop("write beside", target, &error))
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

/// Writes a small file that only its owner may read.
///
/// # Errors
/// When the file system refuses.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Stop> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    // An old one may have been for others, too; a new file never is, not even for a moment.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(io_stop("replace", path, &error));
        }
        Ok(()) | Err(_) => {}
    }
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| io_stop("write", path, &e))
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
