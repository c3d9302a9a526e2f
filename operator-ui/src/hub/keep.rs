//! What a hub keeps: every part and every item, serialised once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::limits::{CHANGES_MAX, GONE_MAX};
use crate::fold::feed::FeedChange;

/// A part as JSON.
#[derive(Debug, Clone)]
struct KeptPart {
    /// The last record when it changed.
    seq: u64,
    /// The batch in which it changed.
    version: u64,
    /// Whether it changed without a record, so that no cursor tells who has seen it.
    beside: bool,
    /// Absent if it is gone.
    json: Option<Arc<str>>,
}

/// Parts by key.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    kept: BTreeMap<String, KeptPart>,
    version: u64,
    /// What went before this is not known any more.
    floor: u64,
    memo: Option<(u64, u64, Arc<str>)>,
}

impl Parts {
    /// The last batch.
    #[must_use]
    pub(crate) const fn version(&self) -> u64 {
        self.version
    }

    /// Takes a batch. What did not really change is left out. Says whether anything did.
    pub(crate) fn put<T: Serialize>(
        &mut self,
        parts: BTreeMap<String, Option<T>>,
        seq: u64,
        beside: bool,
    ) -> bool {
        let version = self.version + 1;
        let mut changed = false;
        for (key, part) in parts {
            let json = part.map(|part| Arc::from(json(&part)));
            let known = self.kept.get(&key);
            if known.map(|known| &known.json) == Some(&json) || (known.is_none() && json.is_none())
            {
                continue;
            }
            changed = true;
            let kept = KeptPart {
                seq,
                version,
                beside,
                json,
            };
            self.kept.insert(key, kept);
        }
        if changed {
            self.version = version;
            self.memo = None;
            self.forget();
        }
        changed
    }

    /// Forgets the oldest of what is gone, if it is too much.
    fn forget(&mut self) {
        let gone = self.kept.iter().filter(|(_, kept)| kept.json.is_none());
        let mut gone: Vec<(u64, String)> =
            gone.map(|(key, kept)| (kept.seq, key.clone())).collect();
        if gone.len() <= GONE_MAX {
            return;
        }
        gone.sort_unstable();
        for (seq, key) in gone.into_iter().take(GONE_MAX / 2) {
            self.floor = self.floor.max(seq);
            self.kept.remove(&key);
        }
    }

    /// Whether what changed after a record is still known.
    #[must_use]
    pub(crate) const fn reaches(&self, since: u64) -> bool {
        since >= self.floor
    }

    /// What changed after a batch, as a JSON object; empty if nothing did.
    pub(crate) fn after_version(&mut self, version: u64) -> Option<Arc<str>> {
        if version >= self.version {
            return None;
        }
        if let Some((from, to, memo)) = &self.memo
            && (*from, *to) == (version, self.version)
        {
            return Some(Arc::clone(memo));
        }
        let put: Arc<str> = self.object(|kept| kept.version > version).into();
        self.memo = Some((version, self.version, Arc::clone(&put)));
        Some(put)
    }

    /// What changed after a record, as a JSON object.
    #[must_use]
    pub(crate) fn after_seq(&self, since: u64) -> String {
        self.object(|kept| kept.seq > since || kept.beside)
    }

    fn object(&self, wanted: impl Fn(&KeptPart) -> bool) -> String {
        let mut out = String::from("{");
        for (key, kept) in self.kept.iter().filter(|(_, kept)| wanted(kept)) {
            member(&mut out, key, kept.json.as_deref().unwrap_or("null"));
        }
        out.push('}');
        out
    }

    /// One part.
    #[must_use]
    pub(crate) fn one(&self, key: &str) -> Option<&str> {
        self.kept.get(key)?.json.as_deref()
    }

    /// All parts whose key has this prefix, by the rest of the key, as a JSON object.
    #[must_use]
    pub(crate) fn group(&self, prefix: &str) -> String {
        let mut out = String::from("{");
        let from = self.kept.range(prefix.to_owned()..);
        for (key, kept) in from.take_while(|(key, _)| key.starts_with(prefix)) {
            if let (Some(json), Some(name)) = (&kept.json, key.get(prefix.len()..)) {
                member(&mut out, name, json);
            }
        }
        out.push('}');
        out
    }

    /// The keys that begin so and are there.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn keys(&self, prefix: &str) -> BTreeSet<String> {
        let from = self.kept.range(prefix.to_owned()..);
        let mine = from.take_while(|(key, _)| key.starts_with(prefix));
        let there = mine.filter(|(_, kept)| kept.json.is_some());
        there.map(|(key, _)| key.clone()).collect()
    }
}

fn member(out: &mut String, name: &str, value: &str) {
    if out.len() > 1 {
        out.push(',');
    }
    out.push_str(&json(&name));
    out.push(':');
    out.push_str(value);
}

/// A value as JSON. The values here always serialise.
pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// An item as JSON.
#[derive(Debug, Clone)]
pub(crate) struct KeptItem {
    /// The record that began it.
    pub first: u64,
    /// The record that changed it last.
    pub seq: u64,
    /// All items that changed with it, one after another: a text of its own for each of them would
    /// cost a journal that is read from its beginning more than the reading.
    block: Arc<str>,
    place: Range<u32>,
}

impl KeptItem {
    /// It.
    #[must_use]
    pub(crate) fn json(&self) -> &str {
        let place = self.place.start as usize..self.place.end as usize;
        self.block.get(place).unwrap_or("null")
    }
}

/// Text that streams into an item.
#[derive(Debug, Clone)]
pub(crate) struct Streaming {
    /// The item.
    pub id: String,
    /// How much of the text is in the item itself.
    pub in_item: usize,
    /// All of it.
    pub text: String,
}

/// What changed in a feed, serialised: a journal that is read from its beginning has far more of it
/// than would fit as items, and a waiting client is not delayed by serialisation.
#[derive(Debug, Default)]
pub(crate) struct KeptChange {
    items: Vec<(u64, KeptItem, Option<Streaming>)>,
    streams: Vec<(u64, String)>,
    settled: Vec<u64>,
}

impl From<FeedChange> for KeptChange {
    fn from(change: FeedChange) -> Self {
        Self::new(change, &mut Vec::new())
    }
}

impl KeptChange {
    /// Serialises what changed. The buffer is used again each time: what is kept would otherwise lie
    /// between holes of its size.
    pub(super) fn new(change: FeedChange, written: &mut Vec<u8>) -> Self {
        written.clear();
        let ends: Vec<u32> = (change.items.iter())
            .map(|(_, item)| {
                let before = written.len();
                if serde_json::to_writer(&mut *written, item).is_err() {
                    written.truncate(before);
                    written.extend_from_slice(b"null");
                }
                u32::try_from(written.len()).unwrap_or(u32::MAX)
            })
            .collect();
        let block: Arc<str> = std::str::from_utf8(written).unwrap_or_default().into();
        let mut start = 0;
        let items = change
            .items
            .into_iter()
            .zip(ends)
            .map(|((number, item), end)| {
                let kept = KeptItem {
                    first: item.first,
                    seq: item.seq,
                    block: Arc::clone(&block),
                    place: std::mem::replace(&mut start, end)..end,
                };
                let streaming = item.pending.then_some(Streaming {
                    id: item.id,
                    in_item: item.text.len(),
                    text: item.text,
                });
                (number, kept, streaming)
            });
        Self {
            items: items.collect(),
            streams: (change.streams.into_iter())
                .map(|(number, _, text)| (number, text))
                .collect(),
            settled: change.settled,
        }
    }
}

/// The feed of one role.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    items: Vec<KeptItem>,
    version: u64,
    /// The last changes: in which batch, and which item.
    log: VecDeque<(u64, usize)>,
    log_floor: u64,
    streams: BTreeMap<u64, Streaming>,
    stream_version: u64,
    memo: Option<(u64, u64, Arc<str>)>,
    delta_memo: Option<(u64, usize, usize, Arc<str>)>,
}

impl Feed {
    /// The last batch.
    #[must_use]
    pub(crate) const fn version(&self) -> u64 {
        self.version
    }

    /// The last batch in which text grew.
    #[must_use]
    pub(crate) const fn stream_version(&self) -> u64 {
        self.stream_version
    }

    /// The items, oldest first.
    #[must_use]
    pub(crate) fn items(&self) -> &[KeptItem] {
        &self.items
    }

    /// Takes what changed.
    pub(crate) fn put(&mut self, change: KeptChange) {
        if !change.items.is_empty() {
            self.version += 1;
            self.memo = None;
        }
        for (number, item, streaming) in change.items {
            let Ok(place) = usize::try_from(number) else {
                continue;
            };
            if let Some(streaming) = streaming {
                let in_item = streaming.in_item;
                self.streams.entry(number).or_insert(streaming).in_item = in_item;
            }
            match self.items.get_mut(place) {
                Some(there) => *there = item,
                // Places come in order; what was changed and taken before it was added cannot be.
                None => self.items.push(item),
            }
            self.log.push_back((self.version, place));
            if self.log.len() > CHANGES_MAX
                && let Some((version, _)) = self.log.pop_front()
            {
                self.log_floor = version;
            }
        }
        for (number, text) in change.streams {
            if let Some(stream) = self.streams.get_mut(&number) {
                stream.text = text;
                self.stream_version += 1;
            }
        }
        for number in change.settled {
            self.streams.remove(&number);
        }
    }

    /// The items between two places, and the record at which they begin if there are older ones. What
    /// one record began is not parted: older items are asked for by the record.
    #[must_use]
    pub(crate) fn window(&self, start: usize, end: usize) -> (&[KeptItem], String) {
        let first = self.items.get(start).filter(|_| start < end);
        let first = first.map_or(0, |item| item.first);
        let start = self.items.partition_point(|item| item.first < first);
        let before = if start == 0 {
            "null".to_owned()
        } else {
            first.to_string()
        };
        (self.items.get(start..end).unwrap_or_default(), before)
    }

    /// Items that began before a record, the newest of them, as a JSON object.
    #[must_use]
    pub(crate) fn older(&self, before: u64, limit: usize) -> String {
        let end = self.items.partition_point(|item| item.first < before);
        let (window, before) = self.window(end.saturating_sub(limit), end);
        format!("{{\"items\":{},\"before\":{before}}}", array(window.iter()))
    }

    /// The items that changed after a batch, in their order.
    #[must_use]
    pub(crate) fn changed_after(&self, version: u64) -> BTreeSet<usize> {
        if version < self.log_floor {
            return (0..self.items.len()).collect();
        }
        let newer = self.log.iter().rev().take_while(|(at, _)| *at > version);
        newer.map(|(_, place)| *place).collect()
    }

    /// The items that changed after a batch, as a JSON array; nothing if none did.
    pub(crate) fn after_version(&mut self, version: u64) -> Option<Arc<str>> {
        if version >= self.version {
            return None;
        }
        if let Some((from, to, memo)) = &self.memo
            && (*from, *to) == (version, self.version)
        {
            return Some(Arc::clone(memo));
        }
        let changed = self.changed_after(version);
        let items = changed.iter().filter_map(|place| self.items.get(*place));
        let put: Arc<str> = array(items).into();
        self.memo = Some((version, self.version, Arc::clone(&put)));
        Some(put)
    }

    /// The texts that stream.
    #[must_use]
    pub(crate) const fn streams(&self) -> &BTreeMap<u64, Streaming> {
        &self.streams
    }

    /// The text of a stream from some byte on, as what follows the subscription in a frame.
    pub(crate) fn delta(&mut self, number: u64, offset: usize) -> Option<(Arc<str>, usize)> {
        let stream = self.streams.get(&number)?;
        let upto = stream.text.len();
        if let Some((of, from, to, memo)) = &self.delta_memo
            && (*of, *from, *to) == (number, offset, upto)
        {
            return Some((Arc::clone(memo), upto));
        }
        let text = stream.text.get(offset..).filter(|text| !text.is_empty())?;
        let body = format!(
            ",\"item\":{},\"offset\":{offset},\"text\":{}}}",
            json(&stream.id),
            json(&text)
        );
        let body: Arc<str> = body.into();
        self.delta_memo = Some((number, offset, upto, Arc::clone(&body)));
        Some((body, upto))
    }
}

/// Items as a JSON array.
pub(super) fn array<'a>(items: impl Iterator<Item = &'a KeptItem>) -> String {
    let mut out = String::from("[");
    for item in items {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(item.json());
    }
    out.push(']');
    out
}
