//! A flow as the floors above see it: they ask for its texts, its record and its holder, and do not know
//! where any of it is.

use std::path::{Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::limits::INLINE_TEXT_BYTES_MAX;
use a_society_facts::message::Text;

use crate::blob;
use crate::disk::{Disk, Kind, SharedDisk};
use crate::error::Error;
use crate::files::make_folders;
use crate::flow_ref::FlowRef;
use crate::ground::Ground;
use crate::layout::FlowFolder;
use crate::ledger::{Ledger, SharedLedger};
use crate::lock;

/// Where a flow is kept.
#[derive(Debug, Clone)]
pub struct FlowPlace {
    disk: SharedDisk,
    folder: FlowFolder,
    flow: FlowRef,
    ledger: Option<SharedLedger>,
}

impl FlowPlace {
    pub(crate) fn new(ground: &Ground, folder: FlowFolder, flow: FlowRef) -> Self {
        Self {
            disk: SharedDisk::clone(&ground.disk),
            folder,
            flow,
            ledger: ground
                .ledger
                .as_ref()
                .map(|access| SharedLedger::clone(&access.ledger)),
        }
    }

    pub(crate) const fn folder(&self) -> &FlowFolder {
        &self.folder
    }

    pub(crate) const fn flow(&self) -> &FlowRef {
        &self.flow
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
        self.keep_text_within(INLINE_TEXT_BYTES_MAX, text)
    }

    /// Keeps a text for a fact: inline up to so many bytes, else as a durable blob.
    ///
    /// # Errors
    /// When the file system refuses.
    pub(crate) fn keep_text_within(
        &self,
        inline_bytes_max: usize,
        text: String,
    ) -> Result<Text, Error> {
        blob::put_text(text, inline_bytes_max, |bytes| self.keep_blob(bytes))
    }

    /// Keeps bytes as a durable blob.
    ///
    /// # Errors
    /// When the file system refuses.
    pub(crate) fn keep_blob(&self, bytes: &[u8]) -> Result<Hash, Error> {
        let hash = blob::put(self.disk(), &self.folder, bytes)?;
        if let Some(ledger) = &self.ledger {
            ledger.keep_blob(&self.flow, hash, bytes)?;
        }
        Ok(hash)
    }

    /// The whole of a text of one of its facts.
    ///
    /// # Errors
    /// When its blob is lost.
    pub fn whole_text(&self, text: &Text) -> Result<String, Error> {
        match text {
            Text::Inline(text) => Ok(text.clone()),
            Text::Blob(kept) => {
                let bytes = self.whole_blob(kept.blob)?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
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
        let here = blob::get(self.disk(), &self.folder, hash);
        match (here, &self.ledger) {
            (Err(missing), Some(ledger)) => self.fetch_blob(ledger.as_ref(), hash, missing),
            (here, _) => here,
        }
    }

    /// Fetches a blob that the copy lacks, and keeps it there.
    fn fetch_blob(
        &self,
        ledger: &dyn Ledger,
        hash: Hash,
        missing: Error,
    ) -> Result<Vec<u8>, Error> {
        let kept = ledger.blob(&self.flow, hash)?;
        let sound = kept.filter(|bytes| Hash::of(bytes) == hash);
        let bytes = sound.ok_or(missing)?;
        blob::put(self.disk(), &self.folder, &bytes)?;
        Ok(bytes)
    }

    /// The text that a blob holds; nothing if it is lost.
    #[must_use]
    pub fn text_of(&self, hash: Hash) -> Option<String> {
        let bytes = self.whole_blob(hash).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
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
        if let Some(ledger) = &self.ledger {
            return Ok(ledger.entry(&self.flow)?.and_then(|entry| entry.holder));
        }
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
