//! Which segments of a journal are shared with the flow it was forked from, and where each ends.
//!
//! A fork begins with its parent's segments, under second names of the same files. The segment in
//! which it was cut may go on in the parent; for the fork it ends with the record that the header
//! of the fork's own first segment follows, and a fact right behind that header names the parent.
//! A journal whose first header is its flow's own shares nothing, and nothing is looked for.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::fact::flow::FlowForked;
use a_society_facts::fact::journal::SegmentStarted;
use a_society_facts::id::{FlowId, Seq};
use a_society_facts::line::{self, Body};

use crate::disk::{Disk, How};
use crate::files::{read_full, uninterrupted};
use crate::layout::FlowFolder;
use crate::limits::SEGMENT_HEAD_BYTES;

/// A segment that belongs to a flow further up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedSegment {
    /// The flow that wrote it.
    pub(crate) flow: FlowId,
    /// The last record of it that counts here; absent if all of them do.
    pub(crate) until: Option<Seq>,
}

/// What the flow's own first segment says of where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lineage {
    /// The shared segments, by their numbers.
    pub(crate) shared: BTreeMap<u32, SharedSegment>,
    /// What the fork is called, if it says so.
    pub(crate) name: Option<String>,
}

/// The second line of a segment.
#[derive(Debug)]
enum Second {
    /// It is missing or does not verify.
    Unread,
    /// It says that the flow is a fork.
    Forked(FlowForked),
    /// It is something else.
    Other,
}

/// How a segment begins.
#[derive(Debug)]
struct Beginning {
    segment: u32,
    header: Option<SegmentStarted>,
    second: Second,
}

impl Beginning {
    fn read(disk: &dyn Disk, folder: &FlowFolder, number: u32) -> Self {
        let mut bytes = vec![0; SEGMENT_HEAD_BYTES];
        let read = uninterrupted(|| disk.open(&folder.segment(number), How::Read))
            .and_then(|file| read_full(file.as_ref(), 0, &mut bytes));
        match read {
            Ok(read) => {
                bytes.truncate(read);
                Self::of(number, &bytes)
            }
            Err(_) => Self {
                segment: number,
                header: None,
                second: Second::Unread,
            },
        }
    }

    fn of(segment: u32, bytes: &[u8]) -> Self {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let header = lines.next().and_then(header_of);
        let second = match lines.next().and_then(fact_of) {
            None => Second::Unread,
            Some(Fact::FlowForked(forked)) => Second::Forked(forked),
            Some(_) => Second::Other,
        };
        Self {
            segment,
            header,
            second,
        }
    }

    /// Where the segment before this one, which a flow wrote, ends for this journal. Nothing if
    /// this one does not go on with that flow and is no fork of it either.
    fn follows(&self, flow: &FlowId) -> Option<Option<Seq>> {
        match (&self.header, &self.second) {
            (Some(header), _) if header.flow == *flow => Some(None),
            (Some(header), Second::Forked(forked)) if forked.parent == *flow => {
                header.previous.map(|link| Some(link.seq))
            }
            // That place is damaged; the scan reports it when it comes there.
            (Some(header), Second::Unread) => header.previous.map(|link| Some(link.seq)),
            (None, Second::Forked(forked)) if forked.parent == *flow => Some(Some(forked.at_seq)),
            (None, Second::Unread | Second::Other) => Some(None),
            (Some(_) | None, Second::Forked(_)) | (Some(_), Second::Other) => None,
        }
    }
}

fn fact_of(bytes: &[u8]) -> Option<Fact> {
    match line::read(&mut bytes.to_vec()) {
        Ok((_, Body::Known(fact))) => Some(fact),
        Ok((_, Body::Foreign { .. })) | Err(_) => None,
    }
}

fn header_of(bytes: &[u8]) -> Option<SegmentStarted> {
    match fact_of(bytes) {
        Some(Fact::SegmentStarted(header)) => Some(header),
        Some(_) | None => None,
    }
}

/// The flow whose segment begins with these bytes, if its header verifies.
pub(crate) fn flow_of(bytes: &[u8]) -> Option<FlowId> {
    let first = bytes.split(|byte| *byte == b'\n').next()?;
    Some(header_of(first)?.flow)
}

/// The flow that wrote a segment, if its header verifies.
pub(crate) fn writer_of(disk: &dyn Disk, folder: &FlowFolder, number: u32) -> Option<FlowId> {
    let header = Beginning::read(disk, folder, number).header;
    header.map(|header| header.flow)
}

/// The lineage of a whole journal.
pub(crate) fn of_all(
    disk: &dyn Disk,
    folder: &FlowFolder,
    flow: &FlowId,
    numbers: &[u32],
) -> Lineage {
    let first = numbers
        .first()
        .and_then(|first| writer_of(disk, folder, *first));
    if first.is_none_or(|writer| writer == *flow) {
        return Lineage::default();
    }
    of(disk, folder, flow, numbers.iter().copied())
}

/// The lineage of a journal from a segment on that another flow wrote. It is empty if the journal
/// does not become the flow's own further on, step by step: then it is just another flow's.
pub(crate) fn of(
    disk: &dyn Disk,
    folder: &FlowFolder,
    flow: &FlowId,
    numbers: impl Iterator<Item = u32>,
) -> Lineage {
    let beginnings: Vec<Beginning> = numbers
        .map(|number| Beginning::read(disk, folder, number))
        .collect();
    trace(&beginnings, flow).unwrap_or_default()
}

fn trace(beginnings: &[Beginning], flow: &FlowId) -> Option<Lineage> {
    let is_ours = |beginning: &Beginning| {
        let header = beginning.header.as_ref();
        header.is_some_and(|header| header.flow == *flow)
    };
    let is_fork = |beginning: &Beginning| {
        beginning.header.is_none() && matches!(beginning.second, Second::Forked(_))
    };
    let own = beginnings.iter().position(is_ours);
    let own = own.or_else(|| beginnings.iter().rposition(is_fork))?;
    let mut lineage = Lineage::default();
    for pair in beginnings.windows(2).take(own) {
        let [here, next] = pair else {
            return None;
        };
        // A scan goes no further than a header that does not verify.
        let Some(header) = &here.header else { break };
        let flow = header.flow.clone();
        let until = next.follows(&flow)?;
        lineage
            .shared
            .insert(here.segment, SharedSegment { flow, until });
    }
    if let Some(first) = beginnings.get(lineage.shared.len())
        && let Second::Forked(forked) = &first.second
    {
        lineage.name.clone_from(&forked.name);
    }
    Some(lineage)
}
