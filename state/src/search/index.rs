//! The files of the index: which one counts, who writes it, and what makes it anew.

use std::path::PathBuf;

use super::database::{
    ExpressionScope, IndexFault, IndexResult, IndexedMessage, SCHEMA, WordDatabase,
};
use super::gather::{SearchFound, SearchTerms, SearchWanted, SessionGathering};
use super::limits::{LOOKED_AT_MAX, SPAN_BYTES_MAX};
use super::query::SearchWords;
use super::said::{SaidMessage, reread};
use super::update::{Updated, node_at, update};
use crate::disk::{DiskFile, How, Locked};
use crate::error::Error;
use crate::files::{make_folders_of_views, remove_if_there, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::journal::span::read_span;
use crate::store::Store;

/// The folder beside the projects; no project has a name that begins so.
pub(super) const FOLDER: &str = ".search";

/// The file whose lock says who writes the index.
const LOCK: &str = "lock";

/// What a search of the index came to.
pub(super) enum Searched {
    Found(SearchFound),
    /// These flows do not have what the index says.
    Wrong(Vec<FlowRef>),
}

/// Where the index is.
pub(super) struct WordIndex<'a> {
    store: &'a Store,
    folder: PathBuf,
}

impl<'a> WordIndex<'a> {
    pub(super) fn of(store: &'a Store) -> Self {
        Self {
            store,
            folder: store.root().join(FOLDER),
        }
    }

    /// The numbers of the files of this version, in order. A new one has a new name, because a process may still read the
    /// one before it.
    fn numbers(&self) -> Vec<u64> {
        let entries = uninterrupted(|| self.store.disk().list(&self.folder)).unwrap_or_default();
        let number = |name: &str| {
            let digits = name.strip_prefix(&prefix())?.strip_suffix(".db")?;
            digits.parse::<u64>().ok()
        };
        let mut numbers: Vec<u64> = entries
            .iter()
            .filter_map(|entry| number(&entry.name))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{}{number}.db", prefix()))
    }

    /// The right to write it, unless another process has it.
    pub(super) fn lock(&self) -> IndexResult<Option<Box<dyn DiskFile>>> {
        let disk = self.store.disk();
        make_folders_of_views(disk, &self.folder).map_err(refused)?;
        let path = self.folder.join(LOCK);
        let locked =
            uninterrupted(|| disk.open(&path, How::CreateOrAppend)).and_then(|mut file| {
                let locked = uninterrupted(|| file.try_lock())?;
                Ok((locked == Locked::Yes).then_some(file))
            });
        locked.map_err(|error| IndexFault::Refused(error.to_string()))
    }

    /// A new one, which only its owner reads, as everything that is made through the port.
    fn make(&self, number: u64) -> IndexResult<WordDatabase> {
        let path = self.path(number);
        let made = uninterrupted(|| self.store.disk().open(&path, How::CreateNew));
        made.map_err(|error| IndexFault::Refused(error.to_string()))?;
        WordDatabase::make(&path)
    }

    /// The index, as new as it could be made.
    pub(super) fn updated(
        &self,
        terms: &mut dyn SearchTerms,
    ) -> IndexResult<(WordDatabase, Updated)> {
        let Some(_lock) = self.lock()? else {
            let last = self.numbers().pop().ok_or(IndexFault::Busy)?;
            let database = WordDatabase::open(&self.path(last), false)?;
            let busy = Updated {
                behind: 1,
                left_out: 0,
            };
            return Ok((database, busy));
        };
        let database = match self.numbers().pop() {
            Some(last) => WordDatabase::open(&self.path(last), true)?,
            None => self.make(1)?,
        };
        let updated = update(self.store, &database, &mut |step| terms.goes_on(step))?;
        Ok((database, updated))
    }

    pub(super) fn search(
        &self,
        wanted: &SearchWanted<'_>,
        terms: &mut dyn SearchTerms,
    ) -> IndexResult<Searched> {
        let (database, updated) = self.updated(terms)?;
        let mut gathered = SessionGathering::new(wanted);
        let mut wrong: Vec<FlowRef> = Vec::new();
        let scope = ExpressionScope {
            project: wanted.project,
            role: wanted.role,
        };
        let mut each = |message: IndexedMessage| {
            let IndexedMessage { flow, role, .. } = &message;
            let is_wanted = wanted
                .project
                .is_none_or(|project| *project == flow.project)
                && (wanted.role.is_none() || wanted.role == role.as_ref());
            if !is_wanted {
                return;
            }
            let read = || self.read(&message, wanted.words);
            if gathered.offer(flow, role.as_ref(), terms, read).is_none() {
                wrong.push(flow.clone());
            }
        };
        let expression = wanted.words.expression("text");
        let seen = database.find(&expression, scope, LOOKED_AT_MAX, &mut each)?;
        drop(database);
        wrong.retain(|flow| self.store.place(flow).has_journal());
        if !wrong.is_empty() {
            return Ok(Searched::Wrong(wrong));
        }
        let mut found = gathered.end();
        found.is_cut |= seen >= LOOKED_AT_MAX;
        found.behind = updated.behind;
        found.left_out = updated.left_out;
        Ok(Searched::Found(found))
    }

    /// The message as its journal has it, if it has the words.
    fn read(&self, message: &IndexedMessage, words: &SearchWords) -> Option<SaidMessage> {
        let place = self.store.place(&message.flow);
        let records = read_span(place.disk(), place.folder(), message.span, SPAN_BYTES_MAX).ok()?;
        let mut said = reread(&place, &records, message.turn, message.nth)?;
        let is_it = said.seq == message.seq && said.role == message.role;
        if said.node.is_none() {
            said.node = message.node.and_then(|at| node_at(&place, at));
        }
        (is_it && words.places(&said.text).is_some()).then_some(said)
    }

    /// Takes flows out whose journals are not what was indexed, so that the next update reads them anew.
    pub(super) fn forget(&self, flows: &[FlowRef]) -> IndexResult<()> {
        let Some(_lock) = self.lock()? else {
            return Err(IndexFault::Busy);
        };
        let Some(last) = self.numbers().pop() else {
            return Ok(());
        };
        let database = WordDatabase::open(&self.path(last), true)?;
        database.begin()?;
        for (flow, known) in database.flows()? {
            if flows.contains(&flow) {
                database.forget_flow(known.id)?;
            }
        }
        database.commit()
    }

    /// Drops the index, so that the next search makes a new one. Who reads it reads on.
    pub(super) fn drop_all(&self) -> IndexResult<()> {
        let Some(_lock) = self.lock()? else {
            return Err(IndexFault::Busy);
        };
        let numbers = self.numbers();
        let next = numbers.last().map_or(1, |last| last + 1);
        self.make(next)?;
        let entries = uninterrupted(|| self.store.disk().list(&self.folder)).unwrap_or_default();
        for number in numbers {
            let name = format!("{}{number}.db", prefix());
            // Beside the file are its log and what its readers share.
            let parts = entries.iter().filter(|entry| entry.name.starts_with(&name));
            for part in parts {
                remove_if_there(self.store.disk(), &self.folder.join(&part.name))
                    .map_err(refused)?;
            }
        }
        Ok(())
    }
}

/// How the names of the files of this version begin. One of another version is never opened.
fn prefix() -> String {
    format!("words-v{SCHEMA}-")
}

fn refused(error: Error) -> IndexFault {
    IndexFault::Refused(error.to_string())
}
