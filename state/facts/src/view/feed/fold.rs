//! How facts become items: most are added, some extend or resolve an item that is there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::item::{FeedItem, ItemKind, NextTry, beginning};
use super::wording::{FeedEffect, ItemWords, wording};
use crate::at::At;
use crate::fact::Fact;
use crate::fact::imported::FeedImported;
use crate::fact::node::NodeEntry;
use crate::fact::turn::{
    DraftAdded, DraftKept, DraftKind, ModelAnswered, TurnEnded, TurnStarted, Usage,
};
use crate::id::{Seq, TurnId};
use crate::line::{Body, Recorded};
use crate::message::{AnswerText, lengthen};
use crate::view::FactView;

/// How much a feed holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedBounds {
    /// How many items; the oldest leave first.
    pub items_max: usize,
    /// How much of an item's text.
    pub text_bytes_max: usize,
}

/// Where streamed text goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StreamTarget {
    turn: TurnId,
    request: u32,
    /// The item, counted from the beginning of the feed.
    item: u64,
}

/// The feed of one role instance.
///
/// It shows every fact it is given; whose feed shows which fact is decided by
/// [`route`](crate::view::route).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FeedView {
    items: VecDeque<FeedItem>,
    /// How many items left the front, because the feed is bounded.
    #[serde(default)]
    left: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<FeedBounds>,
    /// Items that will be resolved in place, by what they are about.
    open: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speech: Option<StreamTarget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thought: Option<StreamTarget>,
    /// What open turns cost so far.
    usage: BTreeMap<TurnId, Usage>,
    /// Open turns whose text is not shown, because it is about the session and not in it.
    asides: BTreeSet<TurnId>,
    /// Whether it is of a chat, in which an answer follows its message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_chat: bool,
    bytes: u64,
    #[serde(skip)]
    touched: TouchedItems,
}

/// The items that the last fact added or changed. It is about the last fact and not about the feed,
/// so that feeds with the same items are equal.
#[derive(Debug, Clone, Default)]
struct TouchedItems(Vec<u64>);

impl PartialEq for TouchedItems {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl FactView for FeedView {
    fn apply(&mut self, recorded: &Recorded) {
        self.touched.0.clear();
        match &recorded.body {
            Body::Known(fact) => self.fold(recorded.seq, recorded.at, fact),
            Body::Foreign { .. } => {}
        }
    }
}

impl FeedView {
    /// A feed that holds only the end.
    #[must_use]
    pub fn bounded(bounds: FeedBounds) -> Self {
        Self {
            bounds: Some(bounds),
            ..Self::default()
        }
    }

    /// The end of this feed, as a feed with these bounds would hold it.
    #[must_use]
    pub(crate) fn end(&self, bounds: FeedBounds) -> Self {
        let over = self.items.len().saturating_sub(bounds.items_max);
        let mut end = Self {
            items: VecDeque::with_capacity(self.items.len() - over),
            left: self.left + over as u64,
            bounds: Some(bounds),
            open: self.open.clone(),
            speech: self.speech.clone(),
            thought: self.thought.clone(),
            usage: self.usage.clone(),
            asides: self.asides.clone(),
            is_chat: self.is_chat,
            bytes: 0,
            touched: TouchedItems::default(),
        };
        for item in self.items.iter().skip(over) {
            let item = item.shortened(bounds.text_bytes_max);
            end.bytes += item.approx_bytes();
            end.items.push_back(item);
        }
        end
    }

    /// The items, oldest first.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = &FeedItem> + ExactSizeIterator {
        self.items.iter()
    }

    /// The items that the last fact added or changed, counted from the beginning of the feed. One may
    /// occur more than once.
    #[must_use]
    pub fn touched(&self) -> &[u64] {
        &self.touched.0
    }

    /// An item by its place, counted from the beginning of the feed, if it is still held.
    #[must_use]
    pub fn item_at(&self, number: u64) -> Option<&FeedItem> {
        let place = usize::try_from(number.checked_sub(self.left)?).ok()?;
        self.items.get(place)
    }

    /// How many items came before the first that is held.
    #[must_use]
    pub fn items_before(&self) -> u64 {
        self.left
    }

    /// Roughly how long `feed.json` is, without writing it.
    #[must_use]
    pub fn approx_bytes(&self) -> u64 {
        self.bytes + 2
    }

    /// Writes `feed.json`, a plain array, after what `out` holds.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let before = out.len();
        if serde_json::to_writer(&mut *out, &self.items).is_err() {
            out.truncate(before);
        }
        out.push(b'\n');
    }

    fn fold(&mut self, seq: Seq, at: At, fact: &Fact) {
        if let Fact::FlowCreated(f) = fact {
            self.is_chat = f.chat.is_some();
        }
        if self.is_chat && is_only_of_a_graph(fact) {
            return;
        }
        match wording(fact) {
            FeedEffect::Silent => {}
            FeedEffect::Say(words) => {
                self.add(seq, at, *words);
            }
            FeedEffect::Open(key, words) => {
                let item = self.add(seq, at, *words);
                self.item(item, |it| it.pending = true);
                self.open.insert(key, item);
            }
            FeedEffect::Close(key, words) => self.close(seq, at, &key, *words),
            FeedEffect::TurnBegins(f, words) => self.turn_begins(seq, at, f, words.map(|w| *w)),
            FeedEffect::TurnEnds(f, words) => self.turn_ends(seq, at, f, *words),
            FeedEffect::Streams(f) => self.streams(seq, at, f),
            FeedEffect::Keeps(f) => self.keeps(seq, f),
            FeedEffect::Discards(f) => self.discards(seq, f.turn, f.request, &f.why),
            FeedEffect::Answers(f) => self.answers(seq, at, f),
            FeedEffect::Imports(f) => self.imports(seq, at, f),
        }
    }

    /// The first items of an imported feed replace the items made while the flow was
    /// being imported.
    fn imports(&mut self, seq: Seq, at: At, f: &FeedImported) {
        if f.after == 0 {
            self.items.clear();
            self.left = 0;
            self.bytes = 0;
            self.open.clear();
            self.speech = None;
            self.thought = None;
        }
        for item in &f.items {
            let words = ItemWords::new(item.kind, item.label.clone(), item.text.clone());
            let number = self.add(seq, at, words);
            self.item(number, |it| {
                it.id.clone_from(&item.id);
                it.reasoning_display.clone_from(&item.reasoning_display);
            });
        }
    }

    /// Adds an item and returns its number.
    fn add(&mut self, seq: Seq, at: At, words: ItemWords) -> u64 {
        let mut item = FeedItem {
            id: format!("f{seq}"),
            kind: words.kind,
            label: words.label,
            text: words.text,
            event: words.event.map(str::to_owned),
            seq,
            at,
            node: words.node,
            turn: words.turn,
            call_id: words.call_id,
            pending: false,
            interrupted: false,
            discarded: false,
            full_bytes: None,
            reasoning_display: None,
            consent: words.consent,
            again_at: words.again.map(|again| match again {
                NextTry::In(ms) => at.after(ms),
                NextTry::At(moment) => moment,
            }),
            deliveries: words.deliveries,
        };
        self.shorten(&mut item);
        self.bytes += item.approx_bytes();
        self.items.push_back(item);
        if let Some(bounds) = self.bounds
            && self.items.len() > bounds.items_max
            && let Some(oldest) = self.items.pop_front()
        {
            self.left += 1;
            self.bytes = self.bytes.saturating_sub(oldest.approx_bytes());
        }
        let number = self.left + self.items.len() as u64 - 1;
        self.touched.0.push(number);
        number
    }

    fn shorten(&self, item: &mut FeedItem) {
        let Some(bounds) = self.bounds else {
            return;
        };
        if item.text.len() > bounds.text_bytes_max {
            let full = item.full_bytes.unwrap_or(item.text.len() as u64);
            item.full_bytes = Some(full);
            let kept = beginning(&item.text, bounds.text_bytes_max).len();
            item.text.truncate(kept);
        }
    }

    /// Changes an item, unless it has left the feed.
    fn item(&mut self, number: u64, change: impl FnOnce(&mut FeedItem)) {
        let place = number.checked_sub(self.left);
        let place = place.and_then(|place| usize::try_from(place).ok());
        if let Some(item) = place.and_then(|place| self.items.get_mut(place)) {
            self.touched.0.push(number);
            let before = item.approx_bytes();
            change(item);
            self.bytes = (self.bytes + item.approx_bytes()).saturating_sub(before);
        }
    }

    /// Resolves an item in place. What was never opened here is added as resolved.
    fn close(&mut self, seq: Seq, at: At, key: &str, words: ItemWords) {
        let Some(number) = self.open.remove(key) else {
            self.add(seq, at, words);
            return;
        };
        let bounds = self.bounds;
        self.item(number, |item| {
            item.kind = words.kind;
            item.label = words.label;
            item.pending = false;
            item.seq = seq;
            item.event = words.event.map(str::to_owned);
            if let Some(note) = &mut item.consent
                && let Some(reply) = words.answer
            {
                note.take(reply);
            }
            // It tells of the decision from now on, and of when that was made.
            if matches!(words.event, Some("consent.resolved" | "handoff.decided")) {
                item.at = at;
            }
            if !item.text.is_empty() && !words.text.is_empty() {
                extend(item, "\n", bounds);
            }
            extend(item, &words.text, bounds);
        });
    }

    fn turn_begins(&mut self, seq: Seq, at: At, f: &TurnStarted, words: Option<ItemWords>) {
        if f.cause.is_aside() {
            self.asides.insert(f.turn);
        }
        self.usage.insert(f.turn, Usage::default());
        if let Some(words) = words {
            self.add(seq, at, words);
        }
    }

    fn turn_ends(&mut self, seq: Seq, at: At, f: &TurnEnded, mut words: ItemWords) {
        self.leave_streams(f.turn);
        let is_aside = self.asides.remove(&f.turn);
        let usage = self.usage.remove(&f.turn).unwrap_or_default();
        // What it was for says how it went; the turn beside it goes on.
        if is_aside {
            return;
        }
        if usage.all_tokens() > 0 {
            words.text = super::plain::turn_summary(&words.text, &usage);
            words.event = Some("usage.turn_summary");
        }
        self.add(seq, at, words);
    }

    /// Text that was streaming when its turn ended, and that was neither kept nor discarded.
    fn leave_streams(&mut self, turn: TurnId) {
        let this = |stream: &mut StreamTarget| stream.turn == turn;
        let left = [self.thought.take_if(this), self.speech.take_if(this)];
        left.into_iter()
            .flatten()
            .for_each(|cut| self.cut_off(&cut));
    }

    /// What was streaming for another request than the one that goes on was cut off.
    fn cut_others(&mut self, turn: TurnId, request: u32) {
        let other = |stream: &mut StreamTarget| stream.turn != turn || stream.request != request;
        let others = [self.thought.take_if(other), self.speech.take_if(other)];
        others
            .into_iter()
            .flatten()
            .for_each(|cut| self.cut_off(&cut));
    }

    fn cut_off(&mut self, stream: &StreamTarget) {
        self.item(stream.item, |item| {
            item.pending = false;
            item.interrupted = true;
        });
    }

    fn streams(&mut self, seq: Seq, at: At, f: &DraftAdded) {
        if self.asides.contains(&f.turn) {
            return;
        }
        self.cut_others(f.turn, f.request);
        let stream = match f.kind {
            DraftKind::Text => self.speech.take(),
            DraftKind::Reasoning => self.thought.take(),
        };
        let stream = stream.unwrap_or_else(|| self.new_stream(seq, at, f));
        let bounds = self.bounds;
        self.item(stream.item, |item| {
            item.seq = seq;
            extend(item, &f.text, bounds);
        });
        match f.kind {
            DraftKind::Text => self.speech = Some(stream),
            DraftKind::Reasoning => self.thought = Some(stream),
        }
    }

    fn new_stream(&mut self, seq: Seq, at: At, f: &DraftAdded) -> StreamTarget {
        let item = self.add(seq, at, ItemWords::streamed(f));
        self.item(item, |item| item.pending = true);
        StreamTarget {
            turn: f.turn,
            request: f.request,
            item,
        }
    }

    fn keeps(&mut self, seq: Seq, f: &DraftKept) {
        // The answer that the thought was for is cut off, and so is the thought.
        if let Some(thought) = self.thought.take() {
            self.cut_off(&thought);
        }
        if let Some(stream) = self.speech.take() {
            self.item(stream.item, |item| {
                item.pending = false;
                item.interrupted = stream.turn == f.turn;
                item.seq = seq;
            });
        }
    }

    fn discards(&mut self, seq: Seq, turn: TurnId, request: u32, why: &str) {
        self.settle_thought();
        let this = |stream: &mut StreamTarget| stream.turn == turn && stream.request == request;
        let Some(stream) = self.speech.take_if(this) else {
            return;
        };
        self.item(stream.item, |item| {
            item.pending = false;
            item.discarded = true;
            item.seq = seq;
            item.label = format!("{} (discarded: {why})", item.label);
        });
    }

    fn settle_thought(&mut self) {
        if let Some(stream) = self.thought.take() {
            self.item(stream.item, |item| item.pending = false);
        }
    }

    fn answers(&mut self, seq: Seq, at: At, f: &ModelAnswered) {
        if let Some(usage) = self.usage.get_mut(&f.turn) {
            usage.add(&f.usage);
        }
        if self.asides.contains(&f.turn) {
            return;
        }
        self.cut_others(f.turn, f.request);
        self.settle_thought();
        match (&f.text, self.speech.take()) {
            (AnswerText::Drafted(_), Some(stream)) => {
                self.item(stream.item, |item| {
                    item.pending = false;
                    item.seq = seq;
                    // It stays for as long as the feed does, and what it grew by with it.
                    item.text.shrink_to_fit();
                });
            }
            (AnswerText::Inline(text), Some(stream)) => {
                let bounds = self.bounds;
                self.item(stream.item, |item| {
                    item.pending = false;
                    item.seq = seq;
                    item.text.clear();
                    item.full_bytes = None;
                    extend(item, text, bounds);
                });
            }
            (AnswerText::Inline(text), None) if !text.is_empty() => {
                self.add(seq, at, ItemWords::answered(f, text));
            }
            (AnswerText::Inline(_) | AnswerText::Drafted(_), None) => {}
        }
    }
}

/// Whether a fact says something of the node of a chat that its messages say already.
fn is_only_of_a_graph(fact: &Fact) -> bool {
    matches!(fact, Fact::NodeClaimed(f) if f.entry == NodeEntry::Reply)
}

/// Adds to an item's text, as far as the bounds let it.
fn extend(item: &mut FeedItem, text: &str, bounds: Option<FeedBounds>) {
    let Some(bounds) = bounds else {
        lengthen(&mut item.text, text);
        return;
    };
    let full = item.full_bytes.unwrap_or(item.text.len() as u64) + text.len() as u64;
    // Once something was left out, what follows it is left out too.
    if item.full_bytes.is_none() {
        let room = bounds.text_bytes_max.saturating_sub(item.text.len());
        item.text.push_str(beginning(text, room));
    }
    if full > item.text.len() as u64 {
        item.full_bytes = Some(full);
    }
}

impl ItemWords {
    fn streamed(f: &DraftAdded) -> Self {
        let (kind, label, event) = match f.kind {
            DraftKind::Text => (ItemKind::Assistant, f.role.to_string(), None),
            DraftKind::Reasoning => (
                ItemKind::Reasoning,
                "Reasoning".to_owned(),
                Some("provider.reasoning_trace"),
            ),
        };
        Self {
            turn: Some(f.turn),
            event,
            ..Self::new(kind, label, "")
        }
    }

    fn answered(f: &ModelAnswered, text: &str) -> Self {
        Self {
            turn: Some(f.turn),
            ..Self::new(ItemKind::Assistant, f.role.to_string(), text)
        }
    }
}
