//! Which files were shown, and with which content, so that a file that has changed since it was read is
//! not overwritten.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a_society_facts::Hash;

use super::limits::{SEEN_FILES, SEEN_TEXT_BYTES, SEEN_TEXTS};

/// The files that were shown, each with its hash; the oldest are forgotten.
#[derive(Debug, Default)]
pub(super) struct SeenFiles(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    hashes: BTreeMap<PathBuf, Option<Hash>>,
    order: VecDeque<PathBuf>,
    /// The files that the role knows according to its journal, by their paths as they were shown. A
    /// session that continues for long knows thousands, and a turn asks for a few.
    recorded: Arc<BTreeMap<String, Hash>>,
    /// Some of the texts as they were, to describe what changed.
    texts: VecDeque<(Hash, String)>,
}

impl SeenFiles {
    pub(super) fn put(&self, path: PathBuf, hash: Option<Hash>) {
        let mut table = self.table();
        if table.hashes.insert(path.clone(), hash).is_none() {
            table.order.push_back(path);
        }
        if table.order.len() > SEEN_FILES
            && let Some(oldest) = table.order.pop_front()
        {
            table.hashes.remove(&oldest);
        }
    }

    /// Keeps a text that was shown.
    pub(super) fn keep(&self, hash: Hash, text: &str) {
        let mut table = self.table();
        let is_known = table.texts.iter().any(|(known, _)| *known == hash);
        if is_known || text.len() > SEEN_TEXT_BYTES {
            return;
        }
        table.texts.push_back((hash, text.to_owned()));
        if table.texts.len() > SEEN_TEXTS {
            table.texts.pop_front();
        }
    }

    /// A text that was shown, if it was kept.
    pub(super) fn text(&self, hash: Hash) -> Option<String> {
        let table = self.table();
        let found = table.texts.iter().find(|(known, _)| *known == hash)?;
        Some(found.1.clone())
    }

    /// As what a file was shown, if it was.
    pub(super) fn get(&self, path: &Path) -> Option<Option<Hash>> {
        self.table().hashes.get(path).copied()
    }

    /// Remembers what is recorded.
    pub(super) fn record(&self, recorded: Arc<BTreeMap<String, Hash>>) {
        self.table().recorded = recorded;
    }

    /// What is recorded.
    pub(super) fn recorded(&self) -> Arc<BTreeMap<String, Hash>> {
        Arc::clone(&self.table().recorded)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_files_are_forgotten() {
        let seen = SeenFiles::default();
        for number in 0..=SEEN_FILES {
            seen.put(PathBuf::from(number.to_string()), None);
        }
        assert_eq!(seen.get(Path::new("0")), None);
        assert_eq!(seen.get(Path::new("1")), Some(None));
    }
}
