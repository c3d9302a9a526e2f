//! The feed of one role, as items of the wire.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::fact::Fact;
use a_society_facts::fact::turn::{CallFinished, DraftAdded};
use a_society_facts::id::CallId;
use a_society_facts::view::View;
use a_society_facts::view::feed::{Bounds, FeedItem, FeedView, ItemKind};
use a_society_facts::{At, Recorded};

use super::limits::{OPEN_ITEMS_MAX, STREAM_BYTES_MAX};
use super::words;
use crate::protocol::feed::{Item, ItemType};
use crate::protocol::limits::ITEM_TEXT_BYTES_MAX;

/// What a feed holds of its items.
const BOUNDS: Bounds = Bounds {
    items_max: OPEN_ITEMS_MAX,
    text_bytes_max: ITEM_TEXT_BYTES_MAX,
};

/// The feed of one role.
#[derive(Debug, Clone)]
pub struct FeedFold {
    view: FeedView,
    calls: BTreeMap<CallId, Call>,
    streams: BTreeMap<u64, Stream>,
    /// Items that were added or changed since they were last taken, the newest of them by record.
    changed: BTreeMap<u64, u64>,
    /// Items of which only the text grew since they were last taken.
    grown: BTreeSet<u64>,
}

/// Text that streams into an item.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    /// All of it, as far as it is kept.
    pub text: String,
    /// Whether some of it was too much to keep.
    pub cut: bool,
}

#[derive(Debug, Clone)]
struct Call {
    tool: String,
    began: At,
    took_ms: Option<u64>,
    exit: Option<i32>,
}

/// What changed in a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedChange {
    /// Items, by their place in the feed.
    pub items: Vec<(u64, Item)>,
    /// Items whose text grew, and all of their text.
    pub streams: Vec<(u64, String, String)>,
    /// Items whose text no longer grows.
    pub settled: Vec<u64>,
}

impl Default for FeedFold {
    fn default() -> Self {
        Self {
            view: FeedView::bounded(BOUNDS),
            calls: BTreeMap::new(),
            streams: BTreeMap::new(),
            changed: BTreeMap::new(),
            grown: BTreeSet::new(),
        }
    }
}

impl FeedFold {
    /// How many items the feed has.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.view.items_before() + self.view.items().len() as u64
    }

    /// The items that are held, oldest first.
    pub fn held(&self) -> impl DoubleEndedIterator<Item = &FeedItem> {
        self.view.items()
    }

    /// Takes the next fact that this feed shows.
    pub fn apply(&mut self, recorded: &Recorded) {
        let Some(fact) = recorded.fact() else {
            return;
        };
        self.note(recorded, fact);
        self.view.apply(recorded);
        let touched: Vec<u64> = self.view.touched().to_vec();
        if let Fact::DraftAdded(draft) = fact {
            self.streamed(&touched, recorded, draft);
            return;
        }
        for number in touched {
            self.changed.insert(number, recorded.seq);
            if self.view.item_at(number).is_none_or(|item| !item.pending) {
                self.streams.remove(&number);
                self.grown.remove(&number);
            }
        }
    }

    fn streamed(&mut self, touched: &[u64], recorded: &Recorded, draft: &DraftAdded) {
        let Some(number) = touched.last().copied() else {
            return;
        };
        if !self.streams.contains_key(&number) {
            self.changed.insert(number, recorded.seq);
        }
        let stream = self.streams.entry(number).or_default();
        if stream.cut || stream.text.len() + draft.text.len() > STREAM_BYTES_MAX {
            stream.cut = true;
        } else {
            stream.text.push_str(&draft.text);
            self.grown.insert(number);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts are not about calls"
    )]
    fn note(&mut self, recorded: &Recorded, fact: &Fact) {
        match fact {
            Fact::CallIntended(f) => {
                let call = Call {
                    tool: f.tool.clone(),
                    began: recorded.at,
                    took_ms: None,
                    exit: None,
                };
                self.calls.insert(f.call.clone(), call);
            }
            Fact::CallStarted(f) => {
                if let Some(call) = self.calls.get_mut(&f.call) {
                    call.began = recorded.at;
                }
            }
            Fact::CallFinished(f) => self.finished(recorded, f),
            _ => {}
        }
    }

    fn finished(&mut self, recorded: &Recorded, f: &CallFinished) {
        let call = self.calls.entry(f.call.clone()).or_insert_with(|| Call {
            tool: f.tool.clone(),
            began: recorded.at,
            took_ms: None,
            exit: None,
        });
        call.took_ms = u64::try_from(recorded.at.ms() - call.began.ms()).ok();
        call.exit = exit_of(&f.output.shown());
    }

    /// Hands out what changed since this was last asked.
    pub fn take(&mut self) -> FeedChange {
        let mut change = FeedChange::default();
        for (number, seq) in std::mem::take(&mut self.changed) {
            let Some(item) = self.view.item_at(number) else {
                continue;
            };
            let streams = self.streams.get(&number).filter(|stream| !stream.cut);
            if !item.pending {
                change.settled.push(number);
            }
            let item = self.item(item, seq, streams.is_some());
            change.items.push((number, item));
        }
        // A call that is over and was handed out has nothing more to say.
        self.calls.retain(|_, call| call.took_ms.is_none());
        for number in std::mem::take(&mut self.grown) {
            let item = self.view.item_at(number);
            if let (Some(item), Some(stream)) = (item, self.streams.get(&number)) {
                change
                    .streams
                    .push((number, item.id.clone(), stream.text.clone()));
            }
        }
        change
    }

    fn item(&self, item: &FeedItem, seq: u64, streams: bool) -> Item {
        let call = item.call_id.as_deref().and_then(|id| {
            let id: CallId = id.parse().ok()?;
            self.calls.get(&id)
        });
        Item {
            id: item.id.clone(),
            first: item.id.trim_start_matches('f').parse().unwrap_or(item.seq),
            seq,
            at: words::at(item.at),
            r#type: kind(item.kind),
            event: item.event.clone(),
            label: item.label.clone(),
            text: item.text.clone(),
            // What streams on is brought by its stream.
            full_bytes: if streams { None } else { item.full_bytes },
            node: item.node.as_ref().map(ToString::to_string),
            turn: item.turn.map(|turn| turn.0),
            call_id: item.call_id.clone(),
            tool: call.map(|call| call.tool.clone()),
            pending: item.pending,
            interrupted: item.interrupted,
            discarded: item.discarded,
            took_ms: call.and_then(|call| call.took_ms),
            added: None,
            removed: None,
            exit: call.and_then(|call| call.exit),
        }
    }
}

/// How a command ended, as the first line of its output says.
fn exit_of(output: &str) -> Option<i32> {
    let rest = output.strip_prefix("[exit code ")?;
    let (code, _) = rest.split_once(']')?;
    code.parse().ok()
}

const fn kind(kind: ItemKind) -> ItemType {
    match kind {
        ItemKind::Assistant => ItemType::Assistant,
        ItemKind::User => ItemType::User,
        ItemKind::Event => ItemType::Event,
        ItemKind::Error => ItemType::Error,
        ItemKind::Handoff => ItemType::Handoff,
        ItemKind::Resume => ItemType::Resume,
        ItemKind::Repair => ItemType::Repair,
        ItemKind::Reasoning => ItemType::Reasoning,
        ItemKind::Tool => ItemType::Tool,
        ItemKind::ToolSuccess => ItemType::ToolSuccess,
        ItemKind::ToolError => ItemType::ToolError,
        ItemKind::Activation => ItemType::Activation,
    }
}
