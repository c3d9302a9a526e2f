//! How those who follow take what is new: each holds a cursor, and asks when there is room.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::keep::{Feed, Parts, array, json};
use super::limits::{FRAME_BYTES, FRAME_ITEMS_MAX};
use crate::protocol::limits::{WINDOW_DEFAULT, WINDOW_MAX};

/// A frame without the number of the subscription: the part before it and the part after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Out {
    /// The kind.
    pub t: &'static str,
    /// The rest, from the comma after the number on.
    pub body: Arc<str>,
}

impl Out {
    fn new(t: &'static str, body: impl Into<Arc<str>>) -> Self {
        Self {
            t,
            body: body.into(),
        }
    }

    /// The frame for a subscription.
    #[must_use]
    pub(crate) fn frame(&self, id: u64) -> String {
        format!("{{\"t\":\"{}\",\"id\":{id}{}", self.t, self.body)
    }

    /// A subscription is over.
    #[must_use]
    pub(crate) fn gone(why: &str) -> Self {
        Self::new("gone", format!(",\"why\":{}}}", json(&why)))
    }
}

/// The position of a follower.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    stage: Stage,
    epoch: String,
    seq: u64,
    version: u64,
    stream_version: u64,
    /// How much of each text that streams was sent.
    sent: BTreeMap<u64, usize>,
    window: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// It begins, perhaps with what it knew before.
    New { since: Option<(u64, String)> },
    /// It gets what changed while it was away.
    Replaying(Replay),
    /// It has everything.
    Live,
}

/// What changed after a record, item by item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Replay {
    /// After which record.
    since: u64,
    /// The last record there was when it began. What came later is sent after it.
    upto: u64,
    /// The next item that is looked at.
    next: usize,
}

/// What a hub has when it is asked.
#[derive(Debug)]
pub(crate) struct Present<'a> {
    /// The epoch.
    pub epoch: &'a str,
    /// The last record.
    pub head: u64,
    /// When it was recorded.
    pub at: &'a str,
}

impl Cursor {
    /// Begins.
    #[must_use]
    pub(crate) fn new(since: Option<u64>, epoch: Option<String>, window: Option<u32>) -> Self {
        let window = window.unwrap_or(WINDOW_DEFAULT).clamp(1, WINDOW_MAX);
        Self {
            stage: Stage::New {
                since: since.zip(epoch),
            },
            epoch: String::new(),
            seq: 0,
            version: 0,
            stream_version: 0,
            sent: BTreeMap::new(),
            window: window as usize,
        }
    }

    fn ev(&mut self, present: &Present<'_>, put: &str) -> Out {
        self.ev_upto(present, present.head, put)
    }

    fn ev_upto(&mut self, present: &Present<'_>, to: u64, put: &str) -> Out {
        let (from, at) = (self.seq, json(&present.at));
        self.seq = to;
        let body = format!(",\"from\":{from},\"to\":{to},\"at\":{at},\"put\":{put}}}");
        Out::new("ev", body)
    }

    fn caught_up(&self, present: &Present<'_>) -> Out {
        let (seq, head) = (self.seq, present.head);
        Out::new("caught_up", format!(",\"seq\":{seq},\"head\":{head}}}"))
    }

    fn snap(&mut self, present: &Present<'_>, state: &str) -> Out {
        self.seq = present.head;
        self.epoch.clear();
        self.epoch.push_str(present.epoch);
        let epoch = json(&present.epoch);
        let seq = present.head;
        Out::new(
            "snap",
            format!(",\"seq\":{seq},\"epoch\":{epoch},\"state\":{state}}}"),
        )
    }

    /// What it knew before, if that helps.
    fn resumes(&mut self, present: &Present<'_>) -> Option<u64> {
        let Stage::New { since } = &self.stage else {
            return None;
        };
        let (since, epoch) = since.as_ref()?;
        let usable = epoch == present.epoch && *since <= present.head;
        let since = *since;
        if usable {
            self.epoch.clear();
            self.epoch.push_str(present.epoch);
            self.seq = since;
        }
        usable.then_some(since)
    }

    /// The same place in another epoch is no place.
    fn begins(&self, present: &Present<'_>) -> bool {
        matches!(self.stage, Stage::New { .. }) || self.epoch != present.epoch
    }

    /// Takes what is new of parts.
    pub(crate) fn parts(
        &mut self,
        present: &Present<'_>,
        parts: &mut Parts,
        whole: impl Fn(&Parts) -> String,
    ) -> Vec<Out> {
        if self.begins(present) {
            let resumed = self.resumes(present).filter(|since| parts.reaches(*since));
            let first = match resumed {
                Some(since) => self.ev(present, &parts.after_seq(since)),
                None => self.snap(present, &whole(parts)),
            };
            self.stage = Stage::Live;
            self.version = parts.version();
            return vec![first, self.caught_up(present)];
        }
        let put = parts.after_version(self.version);
        self.version = parts.version();
        put.map(|put| self.ev(present, &put)).into_iter().collect()
    }

    /// Takes what is new of a feed, as much as goes into one frame. Says whether there is more.
    pub(crate) fn feed(
        &mut self,
        present: &Present<'_>,
        feed: &mut Feed,
        live: bool,
    ) -> (Vec<Out>, bool) {
        if self.begins(present) {
            return self.feed_begins(present, feed);
        }
        if let Stage::Replaying(replay) = self.stage {
            return self.replays(present, feed, replay);
        }
        let mut out = Vec::new();
        if feed.version() > self.version && present.head >= self.seq {
            let changed: Vec<usize> = feed.changed_after(self.version).into_iter().collect();
            if changed.len() > FRAME_ITEMS_MAX {
                // So much came meanwhile that it is sent in pieces.
                return self.replay_begins(present, feed);
            }
            if let Some(put) = feed.after_version(self.version) {
                out.push(self.ev(present, &put));
            }
            self.version = feed.version();
            self.forget_settled(feed);
            for place in changed {
                self.sent.remove(&(place as u64));
            }
        }
        if live && feed.stream_version() > self.stream_version {
            self.stream_version = feed.stream_version();
            self.deltas(feed, &mut out);
        }
        (out, false)
    }

    fn feed_begins(&mut self, present: &Present<'_>, feed: &mut Feed) -> (Vec<Out>, bool) {
        self.sent.clear();
        self.stream_version = 0;
        if self.resumes(present).is_some() {
            return self.replay_begins(present, feed);
        }
        let items = feed.items();
        let from = items.len().saturating_sub(self.window);
        let (shown, before) = feed.window(from, items.len());
        let state = format!(
            "{{\"items\":{},\"total\":{},\"before\":{before}}}",
            array(shown.iter()),
            items.len()
        );
        self.version = feed.version();
        self.stream_version = feed.stream_version();
        self.stage = Stage::Live;
        let mut out = vec![self.snap(present, &state), self.caught_up(present)];
        self.deltas(feed, &mut out);
        (out, false)
    }

    fn replay_begins(&mut self, present: &Present<'_>, feed: &mut Feed) -> (Vec<Out>, bool) {
        // What changes from here on is sent after the replay, whether or not the replay had it.
        self.version = feed.version();
        let replay = Replay {
            since: self.seq,
            upto: present.head,
            next: 0,
        };
        self.replays(present, feed, replay)
    }

    /// Sends the next items that changed after a record. Only the last frame moves the cursor: who
    /// is cut off before it begins again where it began.
    fn replays(
        &mut self,
        present: &Present<'_>,
        feed: &mut Feed,
        mut replay: Replay,
    ) -> (Vec<Out>, bool) {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while let Some(item) = feed.items().get(replay.next) {
            if item.seq > replay.since {
                if bytes >= FRAME_BYTES || taken.len() >= FRAME_ITEMS_MAX {
                    break;
                }
                bytes += item.json().len();
                taken.push(item);
            }
            replay.next += 1;
        }
        let put = array(taken.into_iter());
        if replay.next < feed.items().len() {
            self.stage = Stage::Replaying(replay);
            return (vec![self.ev_upto(present, replay.since, &put)], true);
        }
        self.stage = Stage::Live;
        let mut out = vec![
            self.ev_upto(present, replay.upto, &put),
            self.caught_up(present),
        ];
        self.stream_version = feed.stream_version();
        self.sent.clear();
        self.deltas(feed, &mut out);
        // What changed during the replay follows at once.
        (out, feed.version() > self.version)
    }

    fn deltas(&mut self, feed: &mut Feed, out: &mut Vec<Out>) {
        let streams: Vec<(u64, usize)> = feed
            .streams()
            .iter()
            .map(|(number, stream)| (*number, stream.in_item))
            .collect();
        for (number, in_item) in streams {
            let sent = self.sent.get(&number).copied().unwrap_or(in_item);
            if let Some((body, upto)) = feed.delta(number, sent) {
                self.sent.insert(number, upto);
                out.push(Out::new("delta", body));
            }
        }
    }

    fn forget_settled(&mut self, feed: &Feed) {
        self.sent
            .retain(|number, _| feed.streams().contains_key(number));
    }
}
