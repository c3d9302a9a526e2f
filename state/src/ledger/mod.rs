//! The only door to a journal that several machines share.
//!
//! Without a ledger the folder of a flow is the truth, and nothing in here runs. With one, the ledger
//! is the truth and the folder a copy of it. One operation decides everything: append these lines if the
//! journal still ends with this record ([`Ledger::append`]). A [`LedgerClaim`] only keeps workers from doing the same
//! work twice; no clock, no lease and no claim says what is true.
//!
//! The port blocks, because every flow has a thread and a sync of a disk blocks, too. What a ledger
//! must do is written down as checks in `tests/in-memory`, beside a ledger in memory that fails on request.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::Hash;
use a_society_facts::id::Seq;

use crate::flow_ref::FlowRef;
use crate::limits::LEDGER_PATIENCE;

mod chain;
mod tether;

pub use chain::{Chain, ChainedLine};
pub(crate) use tether::{Parted, Tether};

/// A ledger that many parts of the program share.
pub type SharedLedger = Arc<dyn Ledger>;

/// The last record of a flow's journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalEnd {
    /// The segment it is in.
    pub segment: u32,
    /// Its number.
    pub seq: Seq,
    /// Its checksum, which covers everything before it.
    pub crc: u32,
}

/// Whole lines that follow one another, all of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The record before the first line; absent at the beginning of the journal.
    pub after: Option<JournalEnd>,
    /// The record of the last line.
    pub upto: JournalEnd,
    /// The lines, each with its newline.
    pub bytes: Vec<u8>,
}

/// How much an append promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// The chunk, and everything before it, survives what the ledger survives.
    Kept,
    /// Others see it soon; the ledger may still lose it, from the end on.
    Soon,
}

/// The outcome of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The journal ends with the chunk, or already went on from it.
    Taken,
    /// The journal ends elsewhere; nothing was appended.
    Moved {
        /// Where it ends.
        end: Option<JournalEnd>,
    },
}

/// The right to work on a flow. It is given back when it is dropped, and it says nothing about truth.
pub trait LedgerClaim: Debug + Send {
    /// Whether the ledger still grants it.
    fn is_held(&self) -> bool;
}

/// The answer to a request for a claim.
#[derive(Debug)]
pub enum Claimed {
    /// It is granted.
    Yes(Box<dyn LedgerClaim>),
    /// Another worker has it.
    Busy {
        /// Which one, for people.
        holder: String,
    },
}

/// The name of a worker, for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerName(pub String);

impl std::fmt::Display for WorkerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One flow of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Its address.
    pub flow: FlowRef,
    /// Its last record.
    pub end: JournalEnd,
    /// Who works on it, if a worker does.
    pub holder: Option<String>,
}

/// What an operator sends to a flow that another machine drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The name that its sender gave it. A letter of the same name is the same letter.
    pub id: LetterId,
    /// The command, as the control socket takes it.
    pub command: Vec<u8>,
}

/// The name of a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LetterId(pub String);

/// What changed in a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerChange {
    /// A journal grew.
    Appended,
    /// A letter or an answer came.
    Posted,
    /// A claim was given back.
    Freed,
    /// A flow was removed.
    Removed,
}

/// What [`LedgerNews::wait`] learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerChanges {
    /// These flows changed. A change may be named that was none; none is left out.
    Of(Vec<(FlowRef, LedgerChange)>),
    /// Changes were missed: every flow has to be looked at.
    Lost,
}

/// Changes since they were last asked for.
pub trait LedgerNews: Send {
    /// Waits until something changes, or for this long.
    ///
    /// # Errors
    /// When the ledger cannot be reached.
    fn wait(&mut self, longest: Duration) -> Result<LedgerChanges, LedgerError>;
}

/// What may differ between ledgers, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutLedger {
    /// Its address, without secrets.
    pub name: String,
    /// Whether changes are announced; else the ledger is looked at from time to time.
    pub announces: bool,
    /// What [`Promise::Kept`] survives.
    pub survives: String,
}

/// A failure of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// It was not reached, and nothing was done.
    #[error("the ledger cannot be reached: {why}")]
    Unreachable {
        /// Why.
        why: String,
    },
    /// Whether it was done is not known.
    #[error(
        "the ledger did not answer, so that it is not known whether it did what was asked: {why}"
    )]
    Unsure {
        /// Why.
        why: String,
    },
    /// It refuses, now and later.
    #[error("the ledger refuses: {why}")]
    Refused {
        /// Why.
        why: String,
    },
    /// It holds something that cannot be a part of this flow.
    #[error("the ledger's journal of {flow} is damaged: {why}")]
    Unfit {
        /// The flow.
        flow: FlowRef,
        /// What is wrong, and where.
        why: String,
    },
}

/// Receives chunks in their order, until it has enough.
pub type EachChunk<'a> = &'a mut dyn FnMut(Chunk) -> ControlFlow<()>;

/// A journal of every flow, shared by machines.
pub trait Ledger: Debug + Send + Sync {
    /// Flows by address, after one and at most so many.
    ///
    /// # Errors
    /// When the ledger fails.
    fn flows(&self, after: Option<&FlowRef>, most: usize) -> Result<Vec<LedgerEntry>, LedgerError>;

    /// One flow; absent if the ledger holds nothing of it.
    ///
    /// # Errors
    /// When the ledger fails.
    fn entry(&self, flow: &FlowRef) -> Result<Option<LedgerEntry>, LedgerError>;

    /// Appends if the journal ends with the record before the chunk. The same chunk again is taken again, also when
    /// the journal went on from it. A chunk without lines, whose `after` and `upto` are the same record, appends
    /// nothing and asks for the promise alone.
    ///
    /// # Errors
    /// When the ledger fails.
    fn append(
        &self,
        flow: &FlowRef,
        chunk: &Chunk,
        promise: Promise,
    ) -> Result<Appended, LedgerError>;

    /// Passes on everything after a record. The first chunk may begin before it.
    ///
    /// # Errors
    /// When the ledger fails. A receiver may have got chunks by then.
    fn read(
        &self,
        flow: &FlowRef,
        after: Option<JournalEnd>,
        each: EachChunk<'_>,
    ) -> Result<(), LedgerError>;

    /// Asks for the right to work on a flow.
    ///
    /// # Errors
    /// When the ledger fails.
    fn claim(&self, flow: &FlowRef, worker: &WorkerName) -> Result<Claimed, LedgerError>;

    /// Keeps the bytes of a blob.
    ///
    /// # Errors
    /// When the ledger fails.
    fn keep_blob(&self, flow: &FlowRef, hash: Hash, bytes: &[u8]) -> Result<(), LedgerError>;

    /// The bytes of a blob; absent if it has none of this name. They are not checked.
    ///
    /// # Errors
    /// When the ledger fails.
    fn blob(&self, flow: &FlowRef, hash: Hash) -> Result<Option<Vec<u8>>, LedgerError>;

    /// Sends a command to the worker of a flow. The same letter again is one letter.
    ///
    /// # Errors
    /// When the ledger fails.
    fn post(&self, flow: &FlowRef, letter: &Letter) -> Result<(), LedgerError>;

    /// The letters of a flow that have no answer yet, in the order in which they came.
    ///
    /// # Errors
    /// When the ledger fails.
    fn letters(&self, flow: &FlowRef) -> Result<Vec<Letter>, LedgerError>;

    /// Answers a letter. The first answer counts.
    ///
    /// # Errors
    /// When the ledger fails.
    fn answer(&self, flow: &FlowRef, letter: &LetterId, answer: &[u8]) -> Result<(), LedgerError>;

    /// The answer to a letter; absent while it has none.
    ///
    /// # Errors
    /// When the ledger fails.
    fn answered(&self, flow: &FlowRef, letter: &LetterId) -> Result<Option<Vec<u8>>, LedgerError>;

    /// Begins to listen for changes.
    ///
    /// # Errors
    /// When the ledger fails.
    fn news(&self) -> Result<Box<dyn LedgerNews>, LedgerError>;

    /// Removes a flow that still ends with a record.
    ///
    /// # Errors
    /// When the ledger fails.
    fn remove(&self, flow: &FlowRef, end: JournalEnd) -> Result<Appended, LedgerError>;

    /// What people should know about it.
    fn about(&self) -> AboutLedger;
}

/// A ledger, and how this process uses it.
#[derive(Debug, Clone)]
pub struct LedgerAccess {
    /// The ledger.
    pub ledger: SharedLedger,
    /// The name of this process for other workers.
    pub worker: WorkerName,
    /// How long an unreachable ledger is tried again before a flow's writer stops.
    pub patience: Duration,
}

impl LedgerAccess {
    /// A ledger with the usual patience.
    #[must_use]
    pub const fn new(ledger: SharedLedger, worker: WorkerName) -> Self {
        Self {
            ledger,
            worker,
            patience: LEDGER_PATIENCE,
        }
    }
}
