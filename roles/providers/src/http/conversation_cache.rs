//! What was written last in each conversation, so that only what is new in a request is written.
//!
//! Every request repeats the whole conversation, and the journal names it by its hash. The beginning of
//! the last request is kept as bytes, with the messages that they encode: a request whose history
//! begins with the same messages continues from there. Within a turn the messages are recognised by
//! their addresses; a new turn has read its session again, and they are compared. The bytes are those
//! that a complete encoding would give; whatever could later be written differently, such as the cache
//! marks that move with the conversation, is not kept.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use a_society_facts::Hash;
use a_society_facts::Hasher;
use bytes::Bytes;

use super::pen::Pen;
use crate::body::RequestBody;
use crate::limits::{BODY_PIECES_BYTES_MIN, SENT_BYTES_MAX, SENT_BYTES_MIN};
use crate::repair::{Before, Mended, mend};
use crate::request::{HistoryMessage, ModelRequest};
use crate::wire::ids::Ids;
use crate::wire::written::{END, SplitHistory, WrittenRequest};

/// The beginnings of conversations, those used last at the end.
#[derive(Debug)]
pub(super) struct SentHistories {
    all: Mutex<VecDeque<Last>>,
    /// From what length on a beginning is kept.
    least_bytes: usize,
    /// How much is kept.
    most_bytes: usize,
}

impl Default for SentHistories {
    fn default() -> Self {
        Self {
            all: Mutex::default(),
            least_bytes: SENT_BYTES_MIN,
            most_bytes: SENT_BYTES_MAX,
        }
    }
}

/// The beginning of one conversation.
#[derive(Debug)]
struct Last {
    key: String,
    /// The provider and the model, on which it depends how messages are written.
    of: [String; 2],
    beginning: SentHistory,
}

/// How requests of a conversation begin.
#[derive(Debug, Default)]
struct SentHistory {
    /// The messages that it encodes, as they came.
    history: Vec<HistoryMessage>,
    /// What is known of them for mending the rest.
    before: Before,
    /// The names of their calls on the wire.
    ids: HashSet<String>,
    /// What is before the messages.
    head: Vec<u8>,
    /// The messages. Each piece is more than twice as long as the next, so that there are few.
    pieces: Vec<Bytes>,
    /// The hasher after all of that.
    hasher: Hasher,
}

impl SentHistories {
    /// Keeps beginnings of any length, up to so many bytes of them.
    #[cfg(test)]
    pub(super) fn keeping(most_bytes: usize) -> Self {
        Self {
            all: Mutex::default(),
            least_bytes: 0,
            most_bytes,
        }
    }

    /// The body of a request, and its hash.
    pub(super) fn write(
        &self,
        pen: Pen<'_>,
        request: &ModelRequest<'_>,
    ) -> serde_json::Result<(RequestBody, Hash)> {
        let of = [pen.provider, request.model];
        // The entry is taken while it is written; a concurrent request for the same encodes all of it.
        let kept = request.cache_key.and_then(|key| self.take(key, of));
        let going_on = kept.and_then(|mut kept| {
            let mended = kept.rest(pen, request)?;
            Some((kept, mended))
        });
        let (mut beginning, mended) = going_on.unwrap_or_else(|| {
            let all = mend(
                request.messages,
                &Before::default(),
                pen.provider,
                request.model,
            );
            (SentHistory::default(), all)
        });
        let written = beginning.write(pen, request, &mended)?;
        if let Some(key) = request.cache_key {
            let of = of.map(ToOwned::to_owned);
            self.keep(Last {
                key: key.to_owned(),
                of,
                beginning,
            });
        }
        Ok(written)
    }

    /// How many messages of a conversation are kept as they were written.
    #[cfg(test)]
    pub(super) fn kept(&self, key: &str) -> usize {
        let all = self.all.lock().unwrap();
        let last = all.iter().find(|last| last.key == key);
        last.map_or(0, |last| last.beginning.history.len())
    }

    fn take(&self, key: &str, of: [&str; 2]) -> Option<SentHistory> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|last| last.key == key)?;
        let last = all.remove(place)?;
        (last.of == of).then_some(last.beginning)
    }

    fn keep(&self, last: Last) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.key != last.key);
        if last.beginning.bytes() < self.least_bytes {
            return;
        }
        all.push_back(last);
        let mut bytes: usize = all.iter().map(|last| last.beginning.bytes()).sum();
        while bytes > self.most_bytes
            && let Some(oldest) = all.pop_front()
        {
            bytes -= oldest.beginning.bytes();
        }
    }
}

impl SentHistory {
    fn bytes(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }

    /// What follows in a request's history, mended; nothing if the history does not begin with this.
    fn rest<'a>(&mut self, pen: Pen<'_>, request: &ModelRequest<'a>) -> Option<Mended<'a>> {
        let (same, rest) = request.messages.split_at_checked(self.history.len())?;
        for (known, said) in self.history.iter_mut().zip(same) {
            if Arc::ptr_eq(&known.message, &said.message) && known.blocks == said.blocks {
                continue;
            }
            if known != said {
                return None;
            }
            // A session that was read again has its messages at other addresses.
            known.message = Arc::clone(&said.message);
        }
        let mended = mend(rest, &self.before, pen.provider, request.model);
        let goes_on = mended.follows(&self.before) && pen.stands_alone(&mended.messages);
        (goes_on || self.before.last.is_none()).then_some(mended)
    }

    /// Writes what is new, and takes what of it will stay into the beginning.
    fn write(
        &mut self,
        pen: Pen<'_>,
        request: &ModelRequest<'_>,
        mended: &Mended<'_>,
    ) -> serde_json::Result<(RequestBody, Hash)> {
        let may_stay = request.cache_key.map(|_| mended.parts());
        let part = may_stay.and_then(|parts| pen.part(&mended.messages, &parts));
        let at = part.map_or(0, |part| part.mended);
        let parts = mended.messages.split_at_checked(at);
        let (settled, open) = parts.unwrap_or((&[], &mended.messages));
        let messages = SplitHistory { settled, open };
        let written = pen.write(request, messages, &mut Ids::after(&self.ids))?;
        if let Some(part) = part {
            mended.settle(part, &mut self.before);
            let known = self.history.len();
            let new = request.messages.iter().skip(known).take(part.history);
            self.history.extend(new.cloned());
        }
        Ok(self.add(written))
    }

    fn add(&mut self, written: WrittenRequest) -> (RequestBody, Hash) {
        let WrittenRequest {
            head,
            mut settled,
            mut open,
            ids,
        } = written;
        let mut hasher = if head == self.head {
            self.hasher.clone()
        } else {
            let mut hasher = Hasher::default();
            hasher.update(&head);
            self.pieces.iter().for_each(|piece| hasher.update(piece));
            hasher
        };
        if !settled.is_empty() {
            if !self.pieces.is_empty() {
                settled.insert(0, b',');
            }
            hasher.update(&settled);
            // It may stay for long, and what it grew by with it.
            settled.shrink_to_fit();
            self.pieces.push(settled.into());
            self.join();
        }
        self.ids.extend(ids);
        self.head = head;
        self.hasher = hasher.clone();
        if !self.pieces.is_empty() && !open.is_empty() {
            open.insert(0, b',');
        }
        open.extend_from_slice(END);
        hasher.update(&open);
        (self.body(open), hasher.finish())
    }

    fn body(&self, open: Vec<u8>) -> RequestBody {
        if self.bytes() < BODY_PIECES_BYTES_MIN {
            let parts = self.pieces.iter().map(AsRef::as_ref);
            let parts = [&*self.head].into_iter().chain(parts).chain([&*open]);
            return parts.collect::<Vec<&[u8]>>().concat().into();
        }
        let mut pieces = Vec::with_capacity(self.pieces.len() + 2);
        pieces.push(Bytes::copy_from_slice(&self.head));
        pieces.extend_from_slice(&self.pieces);
        pieces.push(open.into());
        RequestBody::of(pieces)
    }

    /// Joins pieces that are not much longer than what follows them. Each byte is copied no more
    /// often than the whole doubles.
    fn join(&mut self) {
        while let [.., before, last] = self.pieces.as_slice()
            && before.len() <= last.len().saturating_mul(2)
        {
            let joined: Bytes = [before.as_ref(), last.as_ref()].concat().into();
            self.pieces.truncate(self.pieces.len() - 2);
            self.pieces.push(joined);
        }
    }
}

#[cfg(test)]
mod tests;
