//! Which files were shown, and as what, so that nobody changes a file that is not any more what
//! was read.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a_society_facts::Hash;

use super::limits::SEEN_FILES;

/// The files that were shown, each with its hash; the oldest are forgotten.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    hashes: BTreeMap<PathBuf, Option<Hash>>,
    order: VecDeque<PathBuf>,
}

impl Seen {
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

    /// As what a file was shown, if it was.
    pub(super) fn get(&self, path: &Path) -> Option<Option<Hash>> {
        self.table().hashes.get(path).copied()
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
        let seen = Seen::default();
        for number in 0..=SEEN_FILES {
            seen.put(PathBuf::from(number.to_string()), None);
        }
        assert_eq!(seen.get(Path::new("0")), None);
        assert_eq!(seen.get(Path::new("1")), Some(None));
    }
}
