//! Bringing the index to where the journals are, flow by flow and from where it was.

use std::collections::BTreeMap;
use std::io;

use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::{Fact, Recorded};

use super::database::{
    IndexFault, IndexResult, IndexedFlow, IndexedMessage, JournalStamp, WordDatabase,
};
use super::limits::{BATCH_BYTES, JOURNALS_BYTES_MAX, SPAN_BYTES_MAX};
use super::said::{SaidMessage, SaidReader};
use super::words::{fold, words};
use crate::disk::Kind;
use crate::files::uninterrupted;
use crate::flow_ref::FlowRef;
use crate::journal::follow::check_position;
use crate::journal::scan::{Position, segments};
use crate::journal::span::{RecordSpan, read_span};
use crate::limits::SEGMENT_BYTES;
use crate::place::FlowPlace;
use crate::store::Store;

/// How far an update is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateStep {
    /// How many flows are indexed.
    pub flows_done: usize,
    /// How many flows there are to index.
    pub flows: usize,
}

/// What an update left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Updated {
    /// Flows that were not read to their ends.
    pub(super) behind: usize,
    /// Old flows for which there is no room.
    pub(super) left_out: usize,
}

/// Whether there is time for more.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(UpdateStep) -> bool;

/// Updates an index, which no other process does at the same time.
pub(super) fn update(
    store: &Store,
    database: &WordDatabase,
    go_on: GoOn<'_>,
) -> IndexResult<Updated> {
    let census = store
        .census()
        .map_err(|error| IndexFault::Refused(error.to_string()))?;
    let mut known: BTreeMap<FlowRef, IndexedFlow> = database.flows()?.into_iter().collect();
    let (flows, left_out) = with_room(store, census.flows, &known);
    let mut run = Update {
        store,
        database,
        batch_bytes: 0,
    };
    database.begin()?;
    let mut due: Vec<(FlowRef, Option<IndexedFlow>)> = Vec::new();
    for flow in &flows {
        let before = known.remove(flow);
        let stamp = before.as_ref().and_then(|before| before.stamp);
        let is_fresh = stamp.is_some_and(|stamp| is_last(store, flow, stamp));
        if !is_fresh {
            due.push((flow.clone(), before));
        }
    }
    // What is left of them are flows that were removed.
    for gone in known.values() {
        database.forget_flow(gone.id)?;
    }
    if !known.is_empty() {
        database.purge()?;
    }
    let mut updated = Updated {
        behind: 0,
        left_out,
    };
    let total = due.len();
    for (done, (flow, before)) in due.into_iter().enumerate() {
        let mut more = || {
            go_on(UpdateStep {
                flows_done: done,
                flows: total,
            })
        };
        if !more() || !run.flow(&flow, before, &mut more)? {
            updated.behind = total - done;
            break;
        }
    }
    database.commit()?;
    Ok(updated)
}

/// The flows for which there is room, oldest first, and how many older ones there are. The names of flows begin with the
/// moment in which they began.
fn with_room(
    store: &Store,
    mut flows: Vec<FlowRef>,
    known: &BTreeMap<FlowRef, IndexedFlow>,
) -> (Vec<FlowRef>, usize) {
    flows.sort_by(|one, other| one.flow.cmp(&other.flow).then_with(|| one.cmp(other)));
    let mut bytes = 0_u64;
    let mut from = flows.len();
    while from > 0 {
        // A flow that was indexed is about as long as it was then, which asks the disk nothing.
        let stamp = known.get(&flows[from - 1]).and_then(|known| known.stamp);
        let long = stamp.map_or_else(
            || journal_bytes(store, &flows[from - 1]),
            |stamp| u64::from(stamp.segment.saturating_sub(1)) * SEGMENT_BYTES + stamp.bytes,
        );
        bytes = bytes.saturating_add(long);
        if bytes > JOURNALS_BYTES_MAX {
            break;
        }
        from -= 1;
    }
    (flows.split_off(from), from)
}

fn journal_bytes(store: &Store, flow: &FlowRef) -> u64 {
    let folder = store.folder(flow);
    let mut bytes = 0;
    for segment in 1.. {
        match uninterrupted(|| store.disk().about(&folder.segment(segment))) {
            Ok(about) => bytes += about.size_bytes,
            Err(_) => break,
        }
    }
    bytes
}

/// Whether a journal still ends as it did.
fn is_last(store: &Store, flow: &FlowRef, stamp: JournalStamp) -> bool {
    let folder = store.folder(flow);
    let next = uninterrupted(|| store.disk().about(&folder.segment(stamp.segment + 1)));
    next.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        && stamp_at(store, flow, stamp.segment) == Some(stamp)
}

fn stamp_at(store: &Store, flow: &FlowRef, segment: u32) -> Option<JournalStamp> {
    let folder = store.folder(flow);
    let about = uninterrupted(|| store.disk().about(&folder.segment(segment))).ok()?;
    (about.kind == Kind::File).then_some(JournalStamp {
        segment,
        bytes: about.size_bytes,
        modified_ms: about.modified_ms,
    })
}

struct Update<'a> {
    store: &'a Store,
    database: &'a WordDatabase,
    batch_bytes: usize,
}

impl Update<'_> {
    /// Reads a flow on, and says whether to its end.
    fn flow(
        &mut self,
        flow: &FlowRef,
        before: Option<IndexedFlow>,
        more: &mut dyn FnMut() -> bool,
    ) -> IndexResult<bool> {
        if self.store.refresh(flow).is_err() || self.store.must_be_ours(flow).is_err() {
            return Ok(true);
        }
        let folder = self.store.folder(flow);
        let holds = |at: Position| check_position(self.store.disk(), &folder, at).is_ok();
        let mut known = match before {
            // The journal may have lost its end since, or be another one of this name.
            Some(before)
                if before.resume.is_none_or(holds)
                    && before.seen >= before.resume.map_or(0, |at| at.seq) =>
            {
                before
            }
            Some(before) => {
                self.database.forget_flow(before.id)?;
                self.database.add_flow(flow)?
            }
            None => self.database.add_flow(flow)?,
        };
        // Taken first: what is written from here on is noticed the next time.
        let last = segments(self.store.disk(), &folder)
            .ok()
            .and_then(|all| all.last().copied());
        let stamp = last.and_then(|last| stamp_at(self.store, flow, last));
        let mut reading =
            FlowReading::new(self.store, flow, &known, self.database.standings(known.id)?);
        let mut follower = self.store.follow_after(flow, known.resume);
        let mut fault = None;
        let mut is_whole = true;
        let read = follower.read_placed(&mut |recorded, position| {
            let took = reading.take(recorded, position, &mut |message, text, standing| {
                self.add(known.id, &message, text, standing)
            });
            if let Err(failed) = took {
                fault = Some(failed);
                return Err(String::new());
            }
            if self.batch_bytes < BATCH_BYTES {
                return Ok(());
            }
            self.batch_bytes = 0;
            reading.keep_in(&mut known);
            let kept = self
                .database
                .keep_flow(&known)
                .and_then(|()| self.database.commit());
            if let Err(failed) = kept.and_then(|()| self.database.begin()) {
                fault = Some(failed);
                return Err(String::new());
            }
            if more() {
                return Ok(());
            }
            is_whole = false;
            Err(String::new())
        });
        // A damaged journal is searched as far as it can be read, and is read again when it changed.
        drop(read);
        if let Some(fault) = fault {
            return Err(fault);
        }
        reading.keep_in(&mut known);
        known.stamp = stamp.filter(|_| is_whole);
        self.database.keep_flow(&known)?;
        Ok(is_whole)
    }

    fn add(
        &mut self,
        flow: i64,
        message: &IndexedMessage,
        text: &str,
        standing: Option<RecordSpan>,
    ) -> IndexResult<()> {
        if let Some((role, at)) = message.role.as_ref().zip(standing) {
            self.database.keep_standing(flow, role, at)?;
        }
        let mut folded = String::with_capacity(text.len());
        for word in words(text) {
            fold(&text[word], &mut folded);
            folded.push(' ');
        }
        self.batch_bytes += folded.len();
        if folded.is_empty() {
            return Ok(());
        }
        self.database.add(flow, message, &folded)
    }
}

/// Takes a message with its text, and where its role got to its node if that is new.
type TakeMessage<'a> =
    &'a mut dyn FnMut(IndexedMessage, &str, Option<RecordSpan>) -> IndexResult<()>;

/// What is known while a flow is read on.
struct FlowReading<'a> {
    flow: &'a FlowRef,
    place: FlowPlace,
    reader: SaidReader,
    /// Records up to here are in the index already.
    seen: Seq,
    /// The last record that was read.
    end: Option<Position>,
    /// The last record after which reading can begin anew.
    resume: Option<Position>,
    /// Where the text of each role begins that streams.
    drafts: BTreeMap<RoleInstance, (u32, u64)>,
    standings: BTreeMap<RoleInstance, RecordSpan>,
}

impl<'a> FlowReading<'a> {
    fn new(
        store: &Store,
        flow: &'a FlowRef,
        known: &IndexedFlow,
        standings: Vec<(RoleInstance, RecordSpan)>,
    ) -> Self {
        let place = store.place(flow);
        let mut reader = SaidReader::new(flow.flow.clone());
        for (role, at) in &standings {
            if let Some(node) = node_at(&place, *at) {
                reader.stands_at(role, node);
            }
        }
        Self {
            flow,
            place,
            reader,
            seen: known.seen,
            end: known.resume,
            resume: known.resume,
            drafts: BTreeMap::new(),
            standings: standings.into_iter().collect(),
        }
    }

    fn keep_in(&self, known: &mut IndexedFlow) {
        known.resume = self.resume;
        known.seen = known.seen.max(self.end.map_or(0, |end| end.seq));
    }

    /// Takes the next record. A role's place is passed on with the first message at a node.
    fn take(
        &mut self,
        recorded: &Recorded,
        position: Position,
        each: TakeMessage<'_>,
    ) -> IndexResult<()> {
        let before = self.end.filter(|end| end.segment == position.segment);
        let start = (position.segment, before.map_or(0, |end| end.offset_bytes));
        let mut said: Vec<SaidMessage> = Vec::new();
        self.reader
            .read(&self.place, recorded, &mut |message| said.push(message));
        self.end = Some(position);
        let role = recorded
            .fact()
            .and_then(a_society_facts::view::route::session_role);
        let began = role.and_then(|role| self.drafts.get(role)).copied();
        let span_from = |(segment, start_bytes)| RecordSpan {
            segment,
            start_bytes,
            end_segment: position.segment,
            end_bytes: position.offset_bytes,
        };
        let own = span_from(start);
        let standing = match recorded.fact() {
            Some(Fact::MessageAdded(added)) if added.node.is_some() => Some(own),
            _ => None,
        };
        if let Some((role, at)) = role.zip(standing) {
            self.standings.insert(role.clone(), at);
        }
        if let Some(role) = role {
            if self.reader.streams(role) {
                // Text may be left over that another request streamed: it is over, and this record begins the next.
                let goes_on = began.is_some() && said.is_empty();
                if !goes_on {
                    self.drafts.insert(role.clone(), start);
                }
            } else {
                self.drafts.remove(role);
            }
        }
        for message in said {
            if recorded.seq <= self.seen {
                continue;
            }
            let at = message
                .role
                .as_ref()
                .and_then(|role| self.standings.get(role));
            let indexed = IndexedMessage {
                flow: self.flow.clone(),
                role: message.role.clone(),
                seq: message.seq,
                nth: message.nth,
                span: span_from(began.unwrap_or(start)),
                node: message.node.as_ref().and(at).copied(),
                turn: message.turn,
            };
            each(indexed, &message.text, standing)?;
        }
        if self.reader.is_between() {
            self.resume = Some(position);
        }
        Ok(())
    }
}

/// The node to which a record brings its role.
pub(super) fn node_at(place: &FlowPlace, at: RecordSpan) -> Option<a_society_facts::id::NodeId> {
    let records = read_span(place.disk(), place.folder(), at, SPAN_BYTES_MAX).ok()?;
    let Fact::MessageAdded(added) = records.last()?.fact()? else {
        return None;
    };
    added.node.clone()
}
