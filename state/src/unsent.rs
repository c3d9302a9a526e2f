//! Texts that an operator typed at a terminal and did not send yet, kept for the terminal that comes after one that died.
//!
//! They are no facts and no view: nothing of a flow depends on them. Each process has one file in a folder beside the
//! flows, which it replaces as a whole, and holds a lock for as long as it runs. A file whose lock is free was left by a process
//! that is gone, and the next one takes the texts over.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::atomic::replace;
use crate::disk::{DiskFile, How, Locked, SharedDisk};
use crate::error::Error;
use crate::files::{make_folders_of_views, read_whole, remove_if_there, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::limits::{UNSENT_BYTES_MAX, UNSENT_FILES_MAX, UNSENT_TEXTS_MAX};
use crate::store::Store;

/// The folder beside the projects; no project has a name that begins so.
const FOLDER: &str = ".unsent";

/// A text, and what it was typed for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsentText {
    /// The flow, unless it is for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// What it would answer, in a name that the next process knows.
    pub about: String,
    /// The text.
    pub text: String,
}

impl UnsentText {
    /// A text for a flow.
    #[must_use]
    pub fn of(flow: &FlowRef, about: String, text: String) -> Self {
        Self {
            flow: Some(flow.to_string()),
            about,
            text,
        }
    }

    /// Whether it is for this flow.
    #[must_use]
    pub fn is_for(&self, flow: &FlowRef) -> bool {
        self.flow
            .as_ref()
            .is_some_and(|name| *name == flow.to_string())
    }
}

/// The contents of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct UnsentFile {
    v: u32,
    texts: Vec<UnsentText>,
}

/// The only version so far.
const VERSION: u32 = 1;

/// The texts of this process.
#[derive(Debug)]
pub struct UnsentTexts {
    disk: SharedDisk,
    folder: PathBuf,
    /// The file of this process, once it has one, and the lock that says so.
    own: Option<OwnUnsentFile>,
    /// What the file holds.
    kept: Vec<UnsentText>,
}

#[derive(Debug)]
struct OwnUnsentFile {
    number: usize,
    _lock: Box<dyn DiskFile>,
}

impl UnsentTexts {
    /// Those of a workspace. Nothing is made before there is a text.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self {
            disk: Arc::clone(&store.ground().disk),
            folder: store.root().join(FOLDER),
            own: None,
            kept: Vec::new(),
        }
    }

    /// Takes the texts over that processes left which are gone, as far as they are wanted. They are kept by this process
    /// from then on. What cannot be read is left alone.
    ///
    /// # Errors
    /// When they cannot be kept.
    pub fn take_over(
        &mut self,
        is_wanted: impl Fn(&UnsentText) -> bool,
    ) -> Result<Vec<UnsentText>, Error> {
        let mut taken = Vec::new();
        for number in 0..UNSENT_FILES_MAX {
            let is_own = self.own.as_ref().is_some_and(|own| own.number == number);
            let Some(left) = (!is_own).then(|| self.read(number)).flatten() else {
                continue;
            };
            let Some(_lock) = self.lock(number)? else {
                continue;
            };
            let (wanted, others): (Vec<_>, Vec<_>) = left.into_iter().partition(&is_wanted);
            if wanted.is_empty() && !others.is_empty() {
                continue;
            }
            let all = self.kept.iter().cloned().chain(wanted.iter().cloned());
            self.keep(all.collect())?;
            taken.extend(wanted);
            self.write(number, others)?;
        }
        Ok(taken)
    }

    /// Keeps these texts and no others. More than there is room for are left out, the first ones first.
    ///
    /// # Errors
    /// When the file system refuses, or too many processes keep texts.
    pub fn keep(&mut self, texts: Vec<UnsentText>) -> Result<(), Error> {
        let texts = bounded(texts);
        if texts == self.kept {
            return Ok(());
        }
        if self.own.is_none() {
            self.own = Some(self.claim()?);
        }
        if let Some(own) = &self.own {
            self.write(own.number, texts.clone())?;
        }
        self.kept = texts;
        Ok(())
    }

    /// Makes a file this process's own: one that no other process has, without texts of another.
    fn claim(&self) -> Result<OwnUnsentFile, Error> {
        make_folders_of_views(self.disk.as_ref(), &self.folder)?;
        for number in 0..UNSENT_FILES_MAX {
            let lock = self.lock(number)?;
            if let Some(lock) = lock.filter(|_| !self.is_there(number)) {
                return Ok(OwnUnsentFile {
                    number,
                    _lock: lock,
                });
            }
        }
        Err(Error::Unfit {
            path: self.folder.clone(),
            what: format!(
                "has room for the texts of {UNSENT_FILES_MAX} terminals, and all is taken"
            ),
        })
    }

    /// Takes the lock of a file, unless another process has it.
    fn lock(&self, number: usize) -> Result<Option<Box<dyn DiskFile>>, Error> {
        let path = self.folder.join(format!("{number}.lock"));
        let mut file = uninterrupted(|| self.disk.open(&path, How::CreateOrAppend))
            .map_err(|e| Error::io("open", &path, e))?;
        match uninterrupted(|| file.try_lock()).map_err(|e| Error::io("lock", &path, e))? {
            Locked::Yes => Ok(Some(file)),
            Locked::Busy => Ok(None),
        }
    }

    fn path(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{number}.json"))
    }

    fn is_there(&self, number: usize) -> bool {
        uninterrupted(|| self.disk.about(&self.path(number))).is_ok()
    }

    /// The texts of a file; nothing if there is none, or it is not one of ours.
    fn read(&self, number: usize) -> Option<Vec<UnsentText>> {
        let bytes = read_whole(self.disk.as_ref(), &self.path(number), FILE_BYTES_MAX).ok()?;
        let written: UnsentFile = serde_json::from_slice(&bytes).ok()?;
        (written.v == VERSION).then_some(written.texts)
    }

    fn write(&self, number: usize, texts: Vec<UnsentText>) -> Result<(), Error> {
        let path = self.path(number);
        if texts.is_empty() {
            return remove_if_there(self.disk.as_ref(), &path);
        }
        let written = UnsentFile { v: VERSION, texts };
        let bytes = serde_json::to_vec(&written).map_err(|error| Error::Unfit {
            path: path.clone(),
            what: error.to_string(),
        })?;
        replace(self.disk.as_ref(), &path, &bytes)
    }
}

/// A letter takes six bytes of JSON at most.
const FILE_BYTES_MAX: u64 = (UNSENT_BYTES_MAX as u64) * 6 + 64 * 1024;

/// The last texts, as many as are kept.
fn bounded(mut texts: Vec<UnsentText>) -> Vec<UnsentText> {
    let mut room = UNSENT_BYTES_MAX;
    let mut kept = Vec::new();
    while let Some(text) = texts.pop() {
        let bytes = text.text.len() + text.about.len();
        if kept.len() < UNSENT_TEXTS_MAX && bytes <= room && !kept.contains(&text) {
            room -= bytes;
            kept.push(text);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use a_society_facts::At;
    use a_society_facts::fact::journal::ProcessName;

    use super::*;
    use crate::clock::CountingClock;
    use crate::disk::RealDisk;
    use crate::ground::Ground;

    fn store(folder: &std::path::Path) -> Store {
        let ground = Ground {
            disk: Arc::new(RealDisk),
            clock: Arc::new(CountingClock::from(At::from_ms(0))),
            process: ProcessName {
                pid: 1,
                start_ticks: 1,
                boot_id: String::new(),
            },
            ledger: None,
        };
        Store::new(ground, folder.join("state"))
    }

    fn text(flow: &str, text: &str) -> UnsentText {
        UnsentText {
            flow: Some(flow.to_owned()),
            about: "text write".to_owned(),
            text: text.to_owned(),
        }
    }

    const ALL: fn(&UnsentText) -> bool = |_| true;

    #[test]
    fn what_a_process_left_is_taken_over_once_and_what_a_living_one_keeps_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let mut first = UnsentTexts::new(&store);
        assert!(first.take_over(ALL).unwrap().is_empty());
        assert!(
            !store.root().exists(),
            "nothing is made before there is a text"
        );
        let typed = [text("a", "half a sen"), text("b", "no")];
        first.keep(typed.to_vec()).unwrap();
        let mut second = UnsentTexts::new(&store);
        assert!(second.take_over(ALL).unwrap().is_empty(), "it lives");
        drop(first);
        let is_of_a = |text: &UnsentText| text.flow.as_deref() == Some("a");
        assert_eq!(second.take_over(is_of_a).unwrap(), [typed[0].clone()]);
        assert!(second.take_over(is_of_a).unwrap().is_empty());
        let mut third = UnsentTexts::new(&store);
        assert_eq!(third.take_over(ALL).unwrap(), [typed[1].clone()]);
        drop(second);
        assert_eq!(third.take_over(ALL).unwrap(), [typed[0].clone()]);
        third.keep(Vec::new()).unwrap();
        drop(third);
        assert!(UnsentTexts::new(&store).take_over(ALL).unwrap().is_empty());
    }

    #[test]
    fn files_are_for_their_owner_alone_and_bounded_and_one_of_another_kind_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let mut texts = UnsentTexts::new(&store);
        let many = (0..UNSENT_TEXTS_MAX + 5).map(|at| text("a", &at.to_string()));
        texts.keep(many.collect()).unwrap();
        let path = texts.path(0);
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&texts.folder)), (0o600, 0o700));
        assert_eq!(texts.kept.len(), UNSENT_TEXTS_MAX);
        assert_eq!(texts.kept[0].text, "5", "the first ones are left out");
        let long = vec![
            text("a", "short"),
            text("a", &"x".repeat(UNSENT_BYTES_MAX + 1)),
        ];
        texts.keep(long).unwrap();
        assert_eq!(texts.kept, [text("a", "short")]);
        texts.keep(Vec::new()).unwrap();
        assert!(!path.exists());
        drop(texts);
        std::fs::write(&path, "{\"v\":2,\"texts\":[]}").unwrap();
        assert!(UnsentTexts::new(&store).take_over(ALL).unwrap().is_empty());
        assert!(path.exists());
    }

    #[test]
    fn more_terminals_than_there_is_room_for_are_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let mut all = Vec::new();
        for _ in 0..UNSENT_FILES_MAX {
            let mut texts = UnsentTexts::new(&store);
            texts.keep(vec![text("a", "x")]).unwrap();
            all.push(texts);
        }
        let refused = UnsentTexts::new(&store).keep(vec![text("a", "y")]);
        assert!(refused.unwrap_err().to_string().contains("all is taken"));
    }
}
