//! What was sent last in each conversation, so that only what is new in a request is hashed.
//!
//! Every request repeats the whole conversation, and the journal names it by its hash. The bytes
//! that are the same as in the request before are compared, which takes a tenth of hashing them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use a_society_facts::Hash;
use a_society_facts::hash::Hasher;
use bytes::Bytes;

use crate::provider::limits::{SENT_BYTES_MAX, SENT_BYTES_MIN, SENT_STRIDE_BYTES};

/// The last requests of conversations, those used last at the end.
#[derive(Debug, Default)]
pub(super) struct Sent(Mutex<VecDeque<Last>>);

/// The last request of one conversation.
#[derive(Debug)]
struct Last {
    key: String,
    body: Bytes,
    /// The hasher after each stride of it.
    after: Vec<Hasher>,
}

impl Sent {
    /// The hash of a request's body, which is remembered if its conversation has a key.
    pub(super) fn hash(&self, key: Option<&str>, body: &Bytes) -> Hash {
        let is_kept = (SENT_BYTES_MIN..=SENT_BYTES_MAX).contains(&body.len());
        let Some(key) = key.filter(|_| is_kept) else {
            return Hash::of(body);
        };
        // Nobody waits while it is hashed; who asks for the same meanwhile hashes all of it.
        let (hash, after) = hash(body, self.take(key));
        self.keep(Last {
            key: key.to_owned(),
            body: body.clone(),
            after,
        });
        hash
    }

    fn take(&self, key: &str) -> Option<Last> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|last| last.key == key)?;
        all.remove(place)
    }

    fn keep(&self, last: Last) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.key != last.key);
        all.push_back(last);
        let mut bytes: usize = all.iter().map(|last| last.body.len()).sum();
        while bytes > SENT_BYTES_MAX
            && let Some(oldest) = all.pop_front()
        {
            bytes -= oldest.body.len();
        }
    }
}

/// The hash of a body, and the hasher after each of its strides.
fn hash(body: &[u8], before: Option<Last>) -> (Hash, Vec<Hasher>) {
    let strides = body.chunks_exact(SENT_STRIDE_BYTES);
    let rest = strides.remainder();
    let mut after = before.map_or_else(Vec::new, |before| {
        let theirs = before.body.chunks_exact(SENT_STRIDE_BYTES);
        let same = strides.clone().zip(theirs).take_while(|(a, b)| a == b);
        let mut after = before.after;
        after.truncate(same.count());
        after
    });
    let mut hasher = after.last().cloned().unwrap_or_default();
    for stride in strides.skip(after.len()) {
        hasher.update(stride);
        after.push(hasher.clone());
    }
    hasher.update(rest);
    (hasher.finish(), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(bytes: usize, changed: &[usize]) -> Bytes {
        let mut body: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        for at in changed {
            body[*at] ^= 1;
        }
        body.into()
    }

    #[test]
    fn a_hash_that_goes_on_from_the_last_request_is_the_hash_of_the_whole() {
        let sent = Sent::default();
        let (least, stride) = (SENT_BYTES_MIN, SENT_STRIDE_BYTES);
        for (bytes, changed) in [
            (least, &[][..]),
            (least, &[]),
            (least + 1, &[]),
            (least + 5 * stride, &[]),
            (least + 5 * stride, &[0]),
            (least + 5 * stride, &[stride - 1]),
            (least + 5 * stride, &[stride]),
            (least + 2 * stride, &[3 * stride + 7]),
            (least + 9 * stride + 3, &[least + 9 * stride + 2]),
            (least - 1, &[9]),
            (least + stride, &[9]),
        ] {
            let body = body(bytes, changed);
            assert_eq!(sent.hash(Some("a"), &body), Hash::of(&body), "{bytes}");
            assert_eq!(sent.hash(None, &body), Hash::of(&body), "{bytes}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_oldest_goes_first() {
        let sent = Sent::default();
        let half = body(SENT_BYTES_MAX / 2, &[]);
        for key in ["a", "b", "a", "c"] {
            sent.hash(Some(key), &half);
        }
        sent.hash(Some("d"), &body(SENT_BYTES_MIN - 1, &[]));
        let all = sent.0.lock().unwrap();
        let keys: Vec<&str> = all.iter().map(|last| last.key.as_str()).collect();
        assert_eq!(keys, ["a", "c"]);
    }
}
