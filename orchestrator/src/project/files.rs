//! A flow's record folder, as those see it who write artifacts into it.

use std::path::{Path, PathBuf};

use a_society_roles::port::{FileFault, RecordAccess, RecordPath};
use a_society_state::atomic::{replace, replace_durably};
use a_society_state::disk::{Disk, Kind, SharedDisk};
use a_society_state::files::{make_folders, read_whole};

use crate::limits::ARTIFACT_BYTES_MAX;

/// The record folder on a real disk. No link in it is followed.
#[derive(Debug)]
pub(crate) struct RecordFolder {
    disk: SharedDisk,
    root: PathBuf,
}

impl RecordFolder {
    /// The record folder of a flow.
    #[must_use]
    pub(crate) const fn new(disk: SharedDisk, root: PathBuf) -> Self {
        Self { disk, root }
    }

    /// Walks down to a file and refuses whatever is no plain folder or file on the way.
    fn place(&self, path: &RecordPath) -> Result<PathBuf, FileFault> {
        let mut place = self.root.clone();
        let names: Vec<&str> = path.as_str().split('/').collect();
        for (depth, name) in names.iter().enumerate() {
            place.push(name);
            let wanted = if depth + 1 < names.len() {
                Kind::Folder
            } else {
                Kind::File
            };
            match self.disk.about(&place) {
                Ok(about) if about.kind == wanted => {}
                Ok(_) => {
                    let what = format!("{path}: something else is at {name}");
                    return Err(FileFault(what));
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(FileFault(format!("{path}: {error}"))),
            }
        }
        Ok(place)
    }

    /// Writes a file that the flow itself needs to go on; it is durable on return.
    ///
    /// # Errors
    /// When the path is taken by something else, or the file system refuses.
    pub(crate) fn keep(&self, path: &RecordPath, bytes: &[u8]) -> Result<(), FileFault> {
        self.put(path, bytes, replace_durably)
    }

    fn put(&self, path: &RecordPath, bytes: &[u8], how: FileWriter) -> Result<(), FileFault> {
        let place = self.place(path)?;
        let folder = place.parent().unwrap_or(Path::new("."));
        make_folders(self.disk.as_ref(), folder)
            .and_then(|()| how(self.disk.as_ref(), &place, bytes))
            .map_err(|error| FileFault(error.to_string()))
    }
}

type FileWriter = fn(&dyn Disk, &Path, &[u8]) -> Result<(), a_society_state::Error>;

impl RecordAccess for RecordFolder {
    fn read(&self, path: &RecordPath) -> Result<Option<Vec<u8>>, FileFault> {
        let place = self.place(path)?;
        match read_whole(self.disk.as_ref(), &place, ARTIFACT_BYTES_MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(FileFault(error.to_string())),
        }
    }

    /// What a role writes is not synced. Once it is handed over, its bytes are durable with the
    /// fact; before that, a role whose file a power cut took reads that it is not
    /// there, and writes it again.
    fn write(&self, path: &RecordPath, bytes: &[u8]) -> Result<(), FileFault> {
        self.put(path, bytes, replace)
    }
}
