//! A flow as the floors above see it: they ask for its texts, its record and its holder, and do not know
//! where any of it lies.

use std::path::{Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::message::Text;

use crate::blob;
use crate::disk::{Disk, Kind, SharedDisk};
use crate::error::Error;
use crate::files::make_folders;
use crate::layout::FlowFolder;
use crate::lock;

/// Where a flow is kept.
#[derive(Debug, Clone)]
pub struct FlowPlace {
    disk: SharedDisk,
    folder: FlowFolder,
}

impl FlowPlace {
    pub(crate) const fn new(disk: SharedDisk, folder: FlowFolder) -> Self {
        Self { disk, folder }
    }

    /// The disk on which it is.
    #[must_use]
    pub fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// Keeps a text for a fact: inline while it is short, else as a durable blob.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep_text(&self, text: String) -> Result<Text, Error> {
        blob::put_text(self.disk(), &self.folder, text)
    }

    /// Keeps bytes as a durable blob.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep_blob(&self, bytes: &[u8]) -> Result<Hash, Error> {
        blob::put(self.disk(), &self.folder, bytes)
    }

    /// The whole of a text of one of its facts.
    ///
    /// # Errors
    /// When its blob is lost.
    pub fn whole_text(&self, text: &Text) -> Result<String, Error> {
        blob::get_text(self.disk(), &self.folder, text)
    }

    /// The whole of a text, or its beginning if its blob is lost.
    #[must_use]
    pub fn text_or_beginning(&self, text: &Text) -> String {
        let whole = self.whole_text(text);
        whole.unwrap_or_else(|_| text.beginning().to_owned())
    }

    /// A blob that one of its facts names.
    ///
    /// # Errors
    /// When it is lost.
    pub fn whole_blob(&self, hash: Hash) -> Result<Vec<u8>, Error> {
        blob::get(self.disk(), &self.folder, hash)
    }

    /// The text that a blob holds; nothing if it is lost.
    #[must_use]
    pub fn text_of(&self, hash: Hash) -> Option<String> {
        blob::read_text(self.disk(), &self.folder, hash)
    }

    /// Whether it has a blob of this name, whole or not.
    #[must_use]
    pub fn has_blob(&self, hash: Hash) -> bool {
        let about = self.disk.about(&self.folder.blob(hash));
        about.is_ok_and(|about| about.kind == Kind::File)
    }

    /// The folder that its roles share: artifacts, findings, its snapshot of the graph.
    #[must_use]
    pub fn record(&self) -> PathBuf {
        self.folder.record()
    }

    /// Makes the shared folder, durably.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn make_record(&self) -> Result<PathBuf, Error> {
        let record = self.record();
        make_folders(self.disk(), &record)?;
        Ok(record)
    }

    /// Who writes it, if a process does.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn holder(&self) -> Result<Option<String>, Error> {
        lock::is_held(self.disk(), &self.folder)
    }

    /// The socket of the process that drives it, which is there for as long as one does.
    #[must_use]
    pub fn control(&self) -> PathBuf {
        self.folder.control()
    }

    /// The folder to watch: something in it changes whenever the journal grows.
    #[must_use]
    pub fn watched(&self) -> PathBuf {
        self.folder.journal()
    }

    /// Whether anything of it is there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let about = self.disk.about(self.folder.root());
        about.is_ok_and(|about| about.kind == Kind::Folder)
    }

    /// Whether it has a journal.
    #[must_use]
    pub fn has_journal(&self) -> bool {
        let about = self.disk.about(&self.folder.journal());
        about.is_ok_and(|about| about.kind == Kind::Folder)
    }

    /// Where it is, for people.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.root()
    }

    /// Where recoveries and repairs keep what they took out of the journal, for people.
    #[must_use]
    pub fn quarantine(&self) -> PathBuf {
        self.folder.quarantine()
    }

    /// The names of what recoveries and repairs took out of the journal.
    #[must_use]
    pub fn quarantined(&self) -> Vec<String> {
        let entries = self.disk.list(&self.quarantine()).unwrap_or_default();
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// Makes the folders of a journal that is played from elsewhere, and gives the file for its records.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn played_into(&self) -> Result<PathBuf, Error> {
        make_folders(self.disk(), &self.folder.journal())?;
        Ok(self.folder.segment(1))
    }
}
