//! A ledger in memory that fails on request. It is for tests and for simulations of several machines.
//!
//! [`MemoryLedger::other_machine`] is the same ledger seen from another machine, which can be cut off
//! ([`MemoryLedger::set_reachable`]). [`MemoryLedger::arm`] makes one numbered operation fail in one way, and
//! [`MemoryLedger::lose_soon`] loses what was only promised for soon.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_facts::Hash;
use a_society_state::FlowRef;
use a_society_state::ledger::{
    AboutLedger, Appended, Chain, Chunk, Claimed, EachChunk, JournalEnd, Ledger, LedgerChange,
    LedgerChanges, LedgerClaim, LedgerEntry, LedgerError, LedgerNews, Letter, LetterId, Promise,
    WorkerName,
};

/// How an operation of the ledger fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerFault {
    /// The request does not get there.
    Unreachable,
    /// It is done, and the answer is lost.
    AnswerLost,
    /// It is lost on the way, and its sender does not know.
    RequestLost,
    /// A read stops after its first chunk; anything else is not reached.
    StopsHalfway,
    /// It is the last append of a machine that is cut off then, and it arrives when [`MemoryLedger::deliver_at`] says;
    /// anything else is lost on the way.
    ArrivesLate,
}

/// The most changes that wait for a listener; one that is further behind looks at every flow.
const CHANGES_MAX: usize = 1024;

/// A ledger in memory, as one machine sees it.
#[derive(Debug, Clone)]
pub struct MemoryLedger {
    shared: Arc<MemoryShared>,
    machine: u64,
}

#[derive(Debug, Default)]
struct MemoryShared {
    state: Mutex<MemoryState>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct MemoryState {
    flows: BTreeMap<FlowRef, MemoryJournal>,
    claims: BTreeMap<FlowRef, MemoryGrant>,
    letters: BTreeMap<FlowRef, Vec<PostedLetter>>,
    blobs: BTreeMap<(FlowRef, Hash), Vec<u8>>,
    changes: Vec<(FlowRef, LedgerChange)>,
    changes_before: usize,
    machines: u64,
    cut_off: BTreeSet<u64>,
    claim_number: u64,
    operations: u64,
    armed: Option<(u64, LedgerFault)>,
    late: Vec<LateAppend>,
    delivered_at: Option<u64>,
}

/// An append on its way.
#[derive(Debug)]
struct LateAppend {
    flow: FlowRef,
    chunk: Chunk,
    promise: Promise,
}

#[derive(Debug, Default)]
struct MemoryJournal {
    chunks: Vec<Chunk>,
    /// How many of them are kept.
    kept: usize,
}

#[derive(Debug)]
struct MemoryGrant {
    number: u64,
    machine: u64,
    worker: WorkerName,
}

#[derive(Debug)]
struct PostedLetter {
    letter: Letter,
    answer: Option<Vec<u8>>,
}

impl Default for MemoryLedger {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryLedger {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::default(),
            machine: 0,
        }
    }

    /// The same ledger, seen from another machine.
    #[must_use]
    pub fn other_machine(&self) -> Self {
        let mut state = self.lock();
        state.machines += 1;
        Self {
            shared: Arc::clone(&self.shared),
            machine: state.machines,
        }
    }

    /// Cuts this machine off, or lets it reach the ledger again. A machine that is cut off loses its claims.
    pub fn set_reachable(&self, is_reachable: bool) {
        let mut state = self.lock();
        if is_reachable {
            state.cut_off.remove(&self.machine);
            return;
        }
        state.cut_off(self.machine);
        self.shared.bell.notify_all();
    }

    /// Ends the claim of whichever worker has a flow, as a person does whose worker hangs. It may still write.
    pub fn end_claim(&self, flow: &FlowRef) {
        let mut state = self.lock();
        state.claims.remove(flow);
        state.note(flow, LedgerChange::Freed);
        self.shared.bell.notify_all();
    }

    /// Lets appends that are late arrive before an operation, counted from 0.
    pub fn deliver_at(&self, operation: u64) {
        self.lock().delivered_at = Some(operation);
    }

    /// Whether an append is late.
    #[must_use]
    pub fn is_waiting_for_late(&self) -> bool {
        !self.lock().late.is_empty()
    }

    /// Makes an operation, counted from 0, fail once.
    pub fn arm(&self, operation: u64, fault: LedgerFault) {
        self.lock().armed = Some((operation, fault));
    }

    /// Takes back a fault that did not strike yet.
    pub fn disarm(&self) {
        self.lock().armed = None;
    }

    /// How many operations there were.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.lock().operations
    }

    /// Loses what was only promised for soon, but for so many chunks of each flow.
    pub fn lose_soon(&self, stay: usize) {
        let mut state = self.lock();
        for journal in state.flows.values_mut() {
            journal.chunks.truncate(journal.kept + stay);
        }
        state.flows.retain(|_, journal| !journal.chunks.is_empty());
    }

    /// Flips a bit of a flow's journal, as a damaged disk of the ledger's would.
    pub fn flip(&self, flow: &FlowRef, byte: usize) {
        let mut state = self.lock();
        let Some(journal) = state.flows.get_mut(flow) else {
            return;
        };
        let mut byte = byte;
        for chunk in &mut journal.chunks {
            if let Some(flipped) = chunk.bytes.get_mut(byte) {
                *flipped ^= 1;
                return;
            }
            byte -= chunk.bytes.len();
        }
    }

    /// Takes a flow back to so many bytes, which end a chunk.
    pub fn cut_to(&self, flow: &FlowRef, bytes: usize) {
        let mut state = self.lock();
        let Some(journal) = state.flows.get_mut(flow) else {
            return;
        };
        let mut left = bytes;
        journal.chunks.retain(|chunk| {
            let stays = chunk.bytes.len() <= left;
            left = if stays { left - chunk.bytes.len() } else { 0 };
            stays
        });
        journal.kept = journal.chunks.len();
    }

    /// Every byte of a flow's journal that is kept.
    #[must_use]
    pub fn kept_bytes(&self, flow: &FlowRef) -> Vec<u8> {
        let state = self.lock();
        let journal = state.flows.get(flow);
        let kept = journal.map_or(&[][..], |journal| &journal.chunks[..journal.kept]);
        kept.iter().flat_map(|chunk| chunk.bytes.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// Does an operation, unless it is to fail.
    fn operate<T>(&self, operation: impl FnOnce(&mut MemoryState) -> T) -> Result<T, LedgerError> {
        let mut state = self.lock();
        let number = state.operations;
        state.operations += 1;
        if state.delivered_at.take_if(|at| *at <= number).is_some() {
            state.deliver();
        }
        if state.cut_off.contains(&self.machine) {
            return Err(unreachable("this machine is cut off"));
        }
        let fault = state.armed.take_if(|(armed, _)| *armed == number);
        match fault.map(|(_, fault)| fault) {
            None => {}
            Some(LedgerFault::AnswerLost) => {
                let done = operation(&mut state);
                self.shared.bell.notify_all();
                // A claim that did not arrive is given back, which needs the lock.
                drop(state);
                drop(done);
                let why = "the answer was lost".to_owned();
                return Err(LedgerError::Unsure { why });
            }
            Some(LedgerFault::RequestLost | LedgerFault::ArrivesLate) => {
                let why = "the request was lost".to_owned();
                return Err(LedgerError::Unsure { why });
            }
            Some(LedgerFault::Unreachable | LedgerFault::StopsHalfway) => {
                return Err(unreachable("the connection was refused"));
            }
        }
        let done = operation(&mut state);
        self.shared.bell.notify_all();
        Ok(done)
    }
}

fn unreachable(why: &str) -> LedgerError {
    LedgerError::Unreachable {
        why: why.to_owned(),
    }
}

impl MemoryState {
    fn cut_off(&mut self, machine: u64) {
        self.cut_off.insert(machine);
        let claims = self.claims.iter();
        let lost = claims.filter(|(_, granted)| granted.machine == machine);
        let lost: Vec<FlowRef> = lost.map(|(flow, _)| flow.clone()).collect();
        for flow in lost {
            self.claims.remove(&flow);
            self.note(&flow, LedgerChange::Freed);
        }
    }

    fn deliver(&mut self) {
        for late in std::mem::take(&mut self.late) {
            // Its sender is cut off and gets no answer.
            let _ = self.append(&late.flow, &late.chunk, late.promise);
        }
    }

    fn note(&mut self, flow: &FlowRef, change: LedgerChange) {
        if self.changes.len() == CHANGES_MAX {
            self.changes_before += self.changes.len();
            self.changes.clear();
        }
        self.changes.push((flow.clone(), change));
    }

    fn append(&mut self, flow: &FlowRef, chunk: &Chunk, promise: Promise) -> Appended {
        let journal = self.flows.get(flow);
        let end = journal.and_then(MemoryJournal::end);
        let is_there = journal.is_some_and(|journal| journal.chunks.contains(chunk));
        let appends = !chunk.bytes.is_empty() && !is_there;
        if (appends || chunk.bytes.is_empty()) && end != chunk.after {
            return Appended::Moved { end };
        }
        let journal = self.flows.entry(flow.clone()).or_default();
        if appends {
            journal.chunks.push(chunk.clone());
        }
        if promise == Promise::Kept {
            journal.kept = journal.chunks.len();
        }
        if appends {
            self.note(flow, LedgerChange::Appended);
        }
        Appended::Taken
    }

    fn entry(&self, flow: &FlowRef) -> Option<LedgerEntry> {
        let end = self.flows.get(flow)?.end()?;
        let granted = self.claims.get(flow);
        Some(LedgerEntry {
            flow: flow.clone(),
            end,
            holder: granted.map(|granted| granted.worker.to_string()),
        })
    }

    fn post(&mut self, flow: &FlowRef, letter: &Letter) {
        let posted = self.letters.entry(flow.clone()).or_default();
        if posted.iter().any(|there| there.letter.id == letter.id) {
            return;
        }
        posted.push(PostedLetter {
            letter: letter.clone(),
            answer: None,
        });
        self.note(flow, LedgerChange::Posted);
    }

    fn answer(&mut self, flow: &FlowRef, id: &LetterId, answer: &[u8]) {
        let posted = self.letters.get_mut(flow).into_iter().flatten();
        for there in posted.filter(|there| there.letter.id == *id) {
            there.answer.get_or_insert_with(|| answer.to_vec());
        }
        self.note(flow, LedgerChange::Posted);
    }
}

impl MemoryJournal {
    fn end(&self) -> Option<JournalEnd> {
        self.chunks.last().map(|chunk| chunk.upto)
    }

    /// The first chunk that holds something after a record, if the record is one of this journal.
    fn first_after(&self, after: Option<JournalEnd>) -> Result<usize, String> {
        let Some(after) = after else { return Ok(0) };
        let at = self
            .chunks
            .iter()
            .position(|chunk| chunk.upto.seq >= after.seq)
            .ok_or_else(|| format!("it ends before record {}", after.seq))?;
        let chunk = &self.chunks[at];
        let lines = Chain::after(chunk.after).lines(chunk)?;
        if !lines.iter().any(|line| line.end == after) {
            return Err(format!("record {} is another one", after.seq));
        }
        Ok(at + usize::from(chunk.upto == after))
    }
}

impl Ledger for MemoryLedger {
    fn flows(&self, after: Option<&FlowRef>, most: usize) -> Result<Vec<LedgerEntry>, LedgerError> {
        self.operate(|state| {
            let flows = state.flows.keys();
            let later = flows.filter(|flow| after.is_none_or(|after| *flow > after));
            later
                .filter_map(|flow| state.entry(flow))
                .take(most)
                .collect()
        })
    }

    fn entry(&self, flow: &FlowRef) -> Result<Option<LedgerEntry>, LedgerError> {
        self.operate(|state| state.entry(flow))
    }

    fn append(
        &self,
        flow: &FlowRef,
        chunk: &Chunk,
        promise: Promise,
    ) -> Result<Appended, LedgerError> {
        let late = {
            let state = self.lock();
            let due = (state.operations, LedgerFault::ArrivesLate);
            let is_reached = !state.cut_off.contains(&self.machine);
            is_reached && state.armed.is_some_and(|armed| armed == due)
        };
        let appended = self.operate(|state| state.append(flow, chunk, promise));
        if late {
            let mut state = self.lock();
            state.late.push(LateAppend {
                flow: flow.clone(),
                chunk: chunk.clone(),
                promise,
            });
            state.cut_off(self.machine);
        }
        appended
    }

    fn read(
        &self,
        flow: &FlowRef,
        after: Option<JournalEnd>,
        each: EachChunk<'_>,
    ) -> Result<(), LedgerError> {
        let halfway = {
            let mut state = self.lock();
            let number = state.operations;
            let due = (number, LedgerFault::StopsHalfway);
            state.armed.take_if(|armed| *armed == due).is_some()
        };
        let chunks = self.operate(|state| {
            let journal = state.flows.get(flow);
            let chunks = journal.map_or(&[][..], |journal| &journal.chunks);
            journal
                .map_or(Ok(0), |journal| journal.first_after(after))
                .map(|first| chunks.get(first..).unwrap_or_default().to_vec())
        })?;
        let chunks = chunks.map_err(|why| LedgerError::Unfit {
            flow: flow.clone(),
            why,
        })?;
        for chunk in chunks {
            if each(chunk) == ControlFlow::Break(()) {
                return Ok(());
            }
            if halfway {
                return Err(unreachable("the connection broke while it was read"));
            }
        }
        Ok(())
    }

    fn claim(&self, flow: &FlowRef, worker: &WorkerName) -> Result<Claimed, LedgerError> {
        self.operate(|state| {
            if let Some(granted) = state.claims.get(flow) {
                let holder = granted.worker.to_string();
                return Claimed::Busy { holder };
            }
            state.claim_number += 1;
            let number = state.claim_number;
            let granted = MemoryGrant {
                number,
                machine: self.machine,
                worker: worker.clone(),
            };
            state.claims.insert(flow.clone(), granted);
            Claimed::Yes(Box::new(MemoryClaim {
                ledger: self.clone(),
                flow: flow.clone(),
                number,
            }))
        })
    }

    fn keep_blob(&self, flow: &FlowRef, hash: Hash, bytes: &[u8]) -> Result<(), LedgerError> {
        self.operate(|state| {
            state.blobs.insert((flow.clone(), hash), bytes.to_vec());
        })
    }

    fn blob(&self, flow: &FlowRef, hash: Hash) -> Result<Option<Vec<u8>>, LedgerError> {
        self.operate(|state| state.blobs.get(&(flow.clone(), hash)).cloned())
    }

    fn post(&self, flow: &FlowRef, letter: &Letter) -> Result<(), LedgerError> {
        self.operate(|state| state.post(flow, letter))
    }

    fn letters(&self, flow: &FlowRef) -> Result<Vec<Letter>, LedgerError> {
        self.operate(|state| {
            let posted = state.letters.get(flow).into_iter().flatten();
            let open = posted.filter(|posted| posted.answer.is_none());
            open.map(|posted| posted.letter.clone()).collect()
        })
    }

    fn answer(&self, flow: &FlowRef, letter: &LetterId, answer: &[u8]) -> Result<(), LedgerError> {
        self.operate(|state| state.answer(flow, letter, answer))
    }

    fn answered(&self, flow: &FlowRef, letter: &LetterId) -> Result<Option<Vec<u8>>, LedgerError> {
        self.operate(|state| {
            let mut posted = state.letters.get(flow).into_iter().flatten();
            posted
                .find(|posted| posted.letter.id == *letter)
                .and_then(|posted| posted.answer.clone())
        })
    }

    fn news(&self) -> Result<Box<dyn LedgerNews>, LedgerError> {
        self.operate(|state| {
            let seen = state.changes_before + state.changes.len();
            Box::new(MemoryNews {
                ledger: self.clone(),
                seen,
            }) as Box<dyn LedgerNews>
        })
    }

    fn remove(&self, flow: &FlowRef, end: JournalEnd) -> Result<Appended, LedgerError> {
        self.operate(|state| {
            let now = state.flows.get(flow).and_then(MemoryJournal::end);
            if now.is_some_and(|now| now != end) {
                return Appended::Moved { end: now };
            }
            state.flows.remove(flow);
            state.letters.remove(flow);
            state.blobs.retain(|(owner, _), _| owner != flow);
            state.note(flow, LedgerChange::Removed);
            Appended::Taken
        })
    }

    fn about(&self) -> AboutLedger {
        AboutLedger {
            name: "memory".to_owned(),
            announces: true,
            survives: "nothing: it is gone with the process".to_owned(),
        }
    }
}

#[derive(Debug)]
struct MemoryClaim {
    ledger: MemoryLedger,
    flow: FlowRef,
    number: u64,
}

impl LedgerClaim for MemoryClaim {
    fn is_held(&self) -> bool {
        let state = self.ledger.lock();
        let granted = state.claims.get(&self.flow);
        granted.is_some_and(|granted| granted.number == self.number)
    }
}

impl Drop for MemoryClaim {
    fn drop(&mut self) {
        if self.is_held() {
            let mut state = self.ledger.lock();
            state.claims.remove(&self.flow);
            state.note(&self.flow, LedgerChange::Freed);
            self.ledger.shared.bell.notify_all();
        }
    }
}

#[derive(Debug)]
struct MemoryNews {
    ledger: MemoryLedger,
    seen: usize,
}

impl LedgerNews for MemoryNews {
    fn wait(&mut self, longest: Duration) -> Result<LedgerChanges, LedgerError> {
        let (machine, seen) = (self.ledger.machine, self.seen);
        let state = self.ledger.lock();
        let is_quiet = |state: &mut MemoryState| {
            state.changes_before + state.changes.len() == seen && !state.cut_off.contains(&machine)
        };
        let bell = &self.ledger.shared.bell;
        let woken = bell.wait_timeout_while(state, longest, is_quiet);
        let (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        if state.cut_off.contains(&machine) {
            return Err(unreachable("this machine is cut off"));
        }
        self.seen = state.changes_before + state.changes.len();
        let missed = seen.checked_sub(state.changes_before);
        Ok(missed.map_or(LedgerChanges::Lost, |from| {
            let new = state.changes.get(from..).unwrap_or_default();
            LedgerChanges::Of(new.to_vec())
        }))
    }
}
