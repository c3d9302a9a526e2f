//! The list of flows: one row each, read from `views.json` where it is up to date.
//!
//! A row costs a small read and two looks at the journal: whether the last segment is as long and as old as when
//! `views.json` was written, and whether there is a next one. Only a flow of which that is not so is folded. Rows are independent of one another, so
//! they are made on as many threads as there are processors; a damaged flow is a row that says so.

use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use a_society_facts::At;
use a_society_facts::view::FlowSummary;
use a_society_facts::view::standing::FlowStanding;

use crate::disk::{Disk, Kind};
use crate::files::uninterrupted;
use crate::flow_ref::FlowRef;
use crate::foreign::is_foreign;
use crate::layout::FlowFolder;
use crate::lock;
use crate::look::look;
use crate::store::Store;
use crate::views::{ViewsIndex, read_index};

/// The word for a flow that another program keeps.
pub const FOREIGN_WORD: &str = "foreign";
/// The word for a flow whose ledger could not be asked.
const UNREACHABLE_WORD: &str = "unreachable";
/// The reason for a flow that another program keeps.
const FOREIGN: &str = "it is kept by another program: a-society import-state takes it over";

/// Rows are not worth more threads than this.
const THREADS_MAX: usize = 8;

/// One flow in the list.
#[derive(Debug, Clone)]
pub struct Row {
    /// The flow.
    pub flow: FlowRef,
    /// The flow in short; absent if nothing of it can be read, or it never began.
    pub summary: Option<FlowSummary>,
    /// What is wrong with it, in words.
    pub damage: Option<String>,
    /// The stable word for what is wrong.
    pub damage_word: Option<&'static str>,
    /// Who writes it, if a process does.
    pub held_by: Option<String>,
}

impl Row {
    /// What the flow is doing now; nothing if it never began.
    #[must_use]
    pub fn standing(&self) -> Option<FlowStanding> {
        if self.damage_word == Some(UNREACHABLE_WORD) {
            return Some(FlowStanding::Unreachable);
        }
        if self.damage.is_some() {
            return Some(FlowStanding::Damaged);
        }
        let summary = self.summary.as_ref()?;
        Some(FlowStanding::of(summary, self.held_by.is_some()))
    }

    /// The same in words, at this moment.
    #[must_use]
    pub fn standing_words(&self, now: At) -> Option<String> {
        let standing = self.standing()?;
        Some(match &self.summary {
            Some(summary) => summary.words(standing, now),
            None => standing.words(now),
        })
    }
}

/// The rows of flows, in the order in which they are given.
#[must_use]
pub fn rows(store: &Store, flows: &[FlowRef]) -> Vec<Row> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(THREADS_MAX).min(flows.len() / 16 + 1);
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<(usize, Row)>> = Mutex::new(Vec::with_capacity(flows.len()));
    let make = || {
        let mut mine = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(flow) = flows.get(number) else { break };
            mine.push((number, row(store, flow)));
        }
        made.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut mine);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If the system has no thread left, those that there are make all rows.
            let begun = Builder::new()
                .name("rows".to_owned())
                .spawn_scoped(scope, make);
            drop(begun);
        }
        make();
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, row)| row).collect()
}

fn row(store: &Store, flow: &FlowRef) -> Row {
    if store.ground().ledger.is_none() {
        return row_of_copy(store, flow);
    }
    // What other workers appended is in no copy yet, and they are the holders.
    let holder = store
        .refresh(flow)
        .and_then(|()| store.place(flow).holder());
    match holder {
        Ok(held_by) => Row {
            held_by,
            ..row_of_copy(store, flow)
        },
        Err(error) => Row {
            flow: flow.clone(),
            summary: None,
            damage: Some(error.to_string()),
            damage_word: Some(UNREACHABLE_WORD),
            held_by: None,
        },
    }
}

fn row_of_copy(store: &Store, flow: &FlowRef) -> Row {
    let (disk, folder) = (store.disk(), store.folder(flow));
    if let Some(index) = read_index(disk, &folder, &flow.flow)
        && is_fresh(disk, &folder, &index)
    {
        // One that is over and was closed in good order has no holder. Any other may be held by a process that waits
        // for a moment and has written no view since it opened it.
        let held_by = if index.closed && index.summary.is_over() {
            None
        } else {
            lock::is_held(disk, &folder).unwrap_or(None)
        };
        return Row {
            flow: flow.clone(),
            summary: begun(index.summary),
            damage: None,
            damage_word: None,
            held_by,
        };
    }
    if is_foreign(disk, &folder) {
        return Row {
            flow: flow.clone(),
            summary: None,
            damage: Some(FOREIGN.to_owned()),
            damage_word: Some(FOREIGN_WORD),
            held_by: None,
        };
    }
    let seen = look(disk, &folder, &flow.flow);
    Row {
        flow: flow.clone(),
        summary: begun(seen.screen.summary),
        damage_word: seen.damage.as_ref().map(|damage| damage.harm.word()),
        damage: seen.damage.map(|damage| damage.to_string()),
        held_by: seen.held_by,
    }
}

/// A flow whose process died before it was recorded that there is one never began.
fn begun(summary: FlowSummary) -> Option<FlowSummary> {
    summary.created_at.is_some().then_some(summary)
}

/// Whether nothing was written to the end of a journal since. What was is folded anew, also where it ends as it did:
/// the records before its end may be damaged.
fn is_fresh(disk: &dyn Disk, folder: &FlowFolder, index: &ViewsIndex) -> bool {
    let journal = uninterrupted(|| disk.about(&folder.journal()));
    if !journal.is_ok_and(|journal| journal.kind == Kind::Folder) {
        return false;
    }
    let position = index.position;
    let next = uninterrupted(|| disk.about(&folder.segment(position.segment + 1)));
    if !next.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return false;
    }
    let last = uninterrupted(|| disk.about(&folder.segment(position.segment)));
    last.is_ok_and(|last| {
        last.kind == Kind::File
            && last.size_bytes == position.offset_bytes
            && last.modified_ms == index.segment_modified_ms
    })
}
