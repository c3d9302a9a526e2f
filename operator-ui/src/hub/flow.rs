//! The hub of one flow: it follows the journal on a thread of its own, and keeps what it serialised.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use a_society_facts::Fact;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::message::Text;
use a_society_facts::{At, Recorded};
use a_society_orchestrator::driver::unrecorded_text::{Ahead, Onlooker};
use a_society_orchestrator::project::place;
use a_society_state::journal::follow::Follower;
use a_society_state::{Error, FlowPlace, FlowRef};

use super::hubs::{Bell, Followers, Hubs, lock};
use super::keep::{Feed, KeptChange, Parts};
use super::limits::{AHEAD_TIMEOUT, BATCH, LINGER, LOOK, STREAM};
use super::pull::{Cursor, Out, Present};
use crate::fold::{FlowFold, words};
use crate::protocol::row;

/// How many facts are folded before their items are taken: fewer than the fold holds of a feed.
const FACTS_AT_ONCE: u64 = 1_000;

/// What a hub keeps for those who follow.
#[derive(Debug, Default)]
struct FollowedFlow {
    epoch: String,
    /// Which making of the parts this is. Only who knows this one learns which parts went: they are
    /// made from what the journal comes to, and what came and went before is in none of them.
    making: String,
    /// Whether the journal was lost and read anew. It may not continue what was read before, so that
    /// all of it is another epoch.
    was_lost: bool,
    /// The epoch of the parts: the journal's, and the making.
    parts_epoch: String,
    head: Seq,
    at: String,
    parts: Parts,
    feeds: BTreeMap<String, Feed>,
    ready: bool,
    gone: Option<String>,
}

/// The hub of one flow.
#[derive(Debug)]
pub(crate) struct FlowHub {
    flow: FlowRef,
    shared: Mutex<FollowedFlow>,
    bell: Arc<Bell>,
    followers: Followers,
    /// Whether text streamed that may be in no record yet.
    streamed: AtomicBool,
    ended: AtomicBool,
}

impl Onlooker for FlowHub {
    fn streamed(&self) {
        // Once the bell has rung, the reader looks anyway.
        if !self.streamed.swap(true, Ordering::SeqCst) {
            self.bell.ring();
        }
    }
}

/// The groups of a flow's state, and whether each is one part or many.
const GROUPS: [(&str, &str, bool); 8] = [
    ("flow", "flow", false),
    ("order", "order", false),
    ("nodes", "node/", true),
    ("edges", "edge/", true),
    ("roles", "role/", true),
    ("asks", "ask/", true),
    ("improvement", "improvement", false),
    ("changes", "change/", true),
];

/// The whole of a flow out of its parts.
pub(crate) fn whole(parts: &Parts) -> String {
    let groups = GROUPS.map(|(name, key, many)| {
        let value = if many {
            parts.group(key)
        } else {
            parts.one(key).unwrap_or("null").to_owned()
        };
        format!("\"{name}\":{value}")
    });
    format!("{{{}}}", groups.join(","))
}

impl FlowHub {
    /// Starts to follow a flow.
    ///
    /// # Errors
    /// When there is no such flow, or no thread left.
    pub(super) fn start(hubs: &Arc<Hubs>, flow: &FlowRef) -> Result<Arc<Self>, Error> {
        let follower = hubs.store.follow(flow)?;
        let hub = Arc::new(Self {
            flow: flow.clone(),
            shared: Mutex::new(FollowedFlow {
                making: hubs.new_making(),
                ..FollowedFlow::default()
            }),
            bell: Arc::new(Bell::default()),
            followers: Followers::default(),
            streamed: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        });
        let place = hubs.store.place(flow);
        let watched = place.watched();
        let reader = Reader {
            hub: Arc::clone(&hub),
            hubs: Arc::downgrade(hubs),
            fold: hubs.fold_of(flow),
            follower,
            place,
            at: None,
            taken: Vec::new(),
            buffer: Vec::new(),
            idle_us: 0,
        };
        hubs.ring_for(watched.clone(), &hub.bell);
        std::thread::Builder::new()
            .name("hub".to_owned())
            .spawn(move || reader.run())
            .map_err(|source| Error::Io {
                doing: "follow",
                path: watched,
                source,
            })?;
        Ok(hub)
    }

    /// The bell that makes it read.
    #[must_use]
    pub(crate) const fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// Those who follow.
    #[must_use]
    pub(crate) const fn followers(&self) -> &Followers {
        &self.followers
    }

    /// Whether it follows no longer.
    #[must_use]
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// Takes what is new of the flow.
    pub(crate) fn take_parts(&self, cursor: &mut Cursor) -> Vec<Out> {
        let mut shared = lock(&self.shared);
        let FollowedFlow {
            parts_epoch: epoch,
            head,
            at,
            parts,
            ready,
            gone,
            ..
        } = &mut *shared;
        if let Some(why) = gone {
            return vec![Out::gone(why)];
        }
        if !*ready {
            return Vec::new();
        }
        let present = Present {
            epoch,
            head: *head,
            at,
        };
        cursor.parts(&present, parts, whole)
    }

    /// Takes what is new of a role's feed. Says whether there is more.
    pub(crate) fn take_feed(
        &self,
        role: &str,
        cursor: &mut Cursor,
        live: bool,
    ) -> (Vec<Out>, bool) {
        let mut shared = lock(&self.shared);
        let FollowedFlow {
            epoch,
            head,
            at,
            feeds,
            ready,
            gone,
            ..
        } = &mut *shared;
        if let Some(why) = gone {
            return (vec![Out::gone(why)], false);
        }
        if !*ready {
            return (Vec::new(), false);
        }
        let present = Present {
            epoch,
            head: *head,
            at,
        };
        let feed = feeds.entry(role.to_owned()).or_default();
        cursor.feed(&present, feed, live)
    }

    /// Older items of a feed: those that began before a record, the newest of them, as JSON.
    #[must_use]
    pub(crate) fn older(&self, role: &str, before: u64, limit: usize) -> Option<String> {
        let shared = lock(&self.shared);
        if !shared.ready {
            return None;
        }
        let none = Feed::default();
        Some(shared.feeds.get(role).unwrap_or(&none).older(before, limit))
    }

    /// The flow as it is now, as JSON, with the last record.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn state(&self) -> Option<(Seq, String)> {
        let shared = lock(&self.shared);
        shared.ready.then(|| (shared.head, whole(&shared.parts)))
    }

    /// The last record that is shown.
    #[must_use]
    pub(crate) fn head(&self) -> Option<Seq> {
        let shared = lock(&self.shared);
        shared.ready.then_some(shared.head)
    }
}

/// A flow's address on the wire.
#[must_use]
pub(crate) fn wire_ref(flow: &FlowRef) -> row::FlowRef {
    row::FlowRef {
        project: flow.project.to_string(),
        flow: flow.flow.to_string(),
    }
}

/// Follows the journal.
struct Reader {
    hub: Arc<FlowHub>,
    hubs: Weak<Hubs>,
    fold: FlowFold,
    follower: Follower,
    place: FlowPlace,
    at: Option<At>,
    /// What changed in feeds and is not shown yet.
    taken: Vec<FeedChangeOfRole>,
    /// In which items are serialised.
    buffer: Vec<u8>,
    /// Since when there are no followers, as the clock counts.
    idle_us: u64,
}

impl Reader {
    fn run(mut self) {
        while let Some(hubs) = self.hubs.upgrade() {
            if hubs.is_over() || (self.is_left(&hubs) && hubs.ends(&self.hub)) {
                break;
            }
            let streams_only = self.round(&hubs);
            drop(hubs);
            // Whatever comes within a moment is one batch.
            std::thread::sleep(if streams_only { STREAM } else { BATCH });
            self.hub.bell.wait(LOOK);
        }
        self.hub.end();
    }

    /// Whether there have been no followers for a while.
    fn is_left(&mut self, hubs: &Hubs) -> bool {
        let now_us = hubs.store.ground().clock.elapsed_us();
        if !self.hub.followers.is_empty() || self.idle_us == 0 {
            self.idle_us = now_us.max(1);
            return false;
        }
        u128::from(now_us.saturating_sub(self.idle_us)) > LINGER.as_micros()
    }

    /// Reads what is new and publishes it. Says whether only text streamed.
    fn round(&mut self, hubs: &Hubs) -> bool {
        let before = self.follower.seq();
        let ahead = self.ahead(hubs);
        // Who drives it is asked before the journal is read: a driver that is gone by now wrote all that is
        // read, and a flow that ended is not taken for one that was cut off.
        let liveness = hubs.liveness(&self.hub.flow);
        let outcome = self.read(hubs);
        let grew = self.follower.seq() > before;
        self.fold.damaged(outcome.is_err());
        self.fold.configured(hubs.models());
        // The streamed text is read before the journal, so that it is never older.
        let mut streams = false;
        for text in &ahead {
            streams |= self.fold.ahead(text);
        }
        if self.fold.driven(liveness) {
            // A new driver reads the project's roles.
            let project = &self.hub.flow.project;
            self.fold.project_has(place::roles_of(&hubs.store, project));
        }
        let touched = self.fold.is_touched();
        let first = !lock(&self.hub.shared).ready;
        // Of what cannot be read from its first record on there is nothing to show, not even for a moment.
        let nothing = outcome.is_err() && self.follower.seq() == 0;
        if !nothing && (grew || touched || streams || first) {
            self.publish(hubs, grew);
        }
        if let Err(error) = outcome {
            self.lost(hubs, &error);
        }
        (grew || streams) && !touched
    }

    /// What streams in this process and is in no record yet.
    fn ahead(&self, hubs: &Hubs) -> Vec<Ahead> {
        let Some(handle) = hubs.handle(&self.hub.flow) else {
            return Vec::new();
        };
        let onlooker: Arc<dyn Onlooker> = Arc::<FlowHub>::clone(&self.hub);
        handle.look_on(&onlooker);
        if self.hub.streamed.swap(false, Ordering::SeqCst) {
            handle.ahead(AHEAD_TIMEOUT)
        } else {
            Vec::new()
        }
    }

    fn read(&mut self, hubs: &Hubs) -> Result<(), Error> {
        let mut batch: u64 = 0;
        let (fold, taken, buffer) = (&mut self.fold, &mut self.taken, &mut self.buffer);
        let (place, at) = (&self.place, &mut self.at);
        let mut durable_first = false;
        let read = |text: &Text| place.text_or_beginning(text);
        let mut each = |recorded: &Recorded| {
            durable_first |= !matches!(recorded.fact(), Some(Fact::DraftAdded(_)));
            *at = Some(recorded.at);
            fold.apply(recorded, &read);
            batch += 1;
            if batch.is_multiple_of(FACTS_AT_ONCE) || fold.is_full() {
                // The fold holds the end of a feed only. Nothing is shown before the round's end.
                kept(fold, taken, buffer);
            }
        };
        let outcome = self.follower.read(&mut each);
        hubs.counts.facts.fetch_add(batch, Ordering::Relaxed);
        // Nothing is shown that a power cut could undo, whichever process wrote it.
        if durable_first {
            self.follower.settle()?;
        }
        outcome.map(drop)
    }

    fn publish(&mut self, hubs: &Hubs, grew: bool) {
        let seq = self.follower.seq();
        let parts = self.fold.take();
        let mut feeds = std::mem::take(&mut self.taken);
        kept(&mut self.fold, &mut feeds, &mut self.buffer);
        let mut shared = lock(&self.hub.shared);
        let epoch = self.fold.epoch();
        shared.parts_epoch = format!("{epoch}.{}", shared.making);
        shared.epoch = if shared.was_lost {
            shared.parts_epoch.clone()
        } else {
            epoch
        };
        shared.head = seq;
        shared.at = words::maybe_at(self.at);
        shared.ready = true;
        if grew {
            // The unreadable part was repaired: new followers get the flow.
            shared.gone = None;
        }
        if !parts.is_empty() {
            shared.parts.put(parts, seq, !grew);
        }
        for FeedChangeOfRole { role, change } in feeds {
            shared
                .feeds
                .entry(role.to_string())
                .or_default()
                .put(change);
        }
        drop(shared);
        hubs.counts.batches.fetch_add(1, Ordering::Relaxed);
        self.hub.followers.tell();
    }

    /// The journal is damaged, or does not continue what was read: it is read anew, and followers get
    /// the error if that does not help.
    fn lost(&mut self, hubs: &Hubs, error: &Error) {
        let gone = matches!(hubs.store.follow(&self.hub.flow), Err(Error::NoFlow(_)));
        if gone {
            lock(&self.hub.shared).gone = Some("the flow was removed".to_owned());
            self.hub.followers.tell();
            return;
        }
        // What cannot be read any further may have been repaired meanwhile; then its head is another.
        let looked = hubs.store.look(&self.hub.flow);
        let whole = looked.is_ok_and(|look| look.damage.is_none());
        let Ok(follower) = hubs.store.follow(&self.hub.flow) else {
            return;
        };
        if !whole {
            return tell_damage(&self.hub, error);
        }
        self.follower = follower;
        self.fold = hubs.fold_of(&self.hub.flow);
        self.taken.clear();
        let mut shared = lock(&self.hub.shared);
        shared.parts = Parts::default();
        shared.making = hubs.new_making();
        shared.was_lost = true;
        shared.feeds.clear();
        shared.ready = false;
        drop(shared);
        self.hub.bell.ring();
    }
}

/// What changed in the feed of a role.
struct FeedChangeOfRole {
    role: RoleInstance,
    change: KeptChange,
}

/// Takes what changed in feeds since this was last asked, serialised.
fn kept(fold: &mut FlowFold, taken: &mut Vec<FeedChangeOfRole>, buffer: &mut Vec<u8>) {
    let feeds = fold.take_feeds().into_iter();
    taken.extend(feeds.map(|(role, _, change)| FeedChangeOfRole {
        role,
        change: KeptChange::new(change, buffer),
    }));
}

fn tell_damage(hub: &FlowHub, error: &Error) {
    let mut shared = lock(&hub.shared);
    if shared.head == 0 {
        shared.gone = Some(format!("the journal cannot be read: {error}"));
        drop(shared);
        hub.followers.tell();
    }
}
