//! Feeds and states as they were at some record, and the whole text of an item.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use a_society_facts::fact::Fact;
use a_society_facts::fact::turn::{CallFinished, ModelAnswered};
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::message::{AnswerText, Text};
use a_society_facts::view::route::feed_role;
use a_society_facts::{Hash, Recorded};
use a_society_state::FlowRef;
use serde_json::value::RawValue;

use super::app::Shared;
use super::blocking::{missing, unread};
use super::diff;
use super::limits::TEXT_BYTES_MAX;
use super::routes::Window;
use crate::fold::edit::Edit;
use crate::fold::flow::assembled;
use crate::fold::{FlowFold, words};
use crate::hub::flow::{whole_text, wire_ref};
use crate::hub::keep::Feed;
use crate::protocol::Fault;
use crate::protocol::ask::Diff;
use crate::protocol::flow::FlowState;
use crate::protocol::http::{BodyParts, ItemBody};

/// How many facts are folded before their items are taken.
const FACTS_AT_ONCE: u64 = 1_000;

/// Reads a flow's journal up to a record.
pub(super) fn each_upto(
    app: &Shared,
    flow: &FlowRef,
    upto: Option<Seq>,
    each: &mut dyn FnMut(Recorded),
) -> Result<(), Fault> {
    let mut follower = app
        .hubs
        .store
        .follow(flow)
        .map_err(|error| unread(&error))?;
    let read = match upto {
        None => follower.read(each),
        Some(upto) => follower.read_lines(&mut |recorded, _| {
            if recorded.seq > upto {
                return ControlFlow::Break(());
            }
            let last = recorded.seq == upto;
            each(recorded);
            if last {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }),
    };
    // What is good before some damage is shown; that there is damage is told by the flow's row.
    match read {
        Ok(_) | Err(a_society_state::Error::Damaged(_)) => Ok(()),
        Err(error) => Err(unread(&error)),
    }
}

/// A window of a feed, as JSON.
pub(super) fn items(
    app: &Shared,
    flow: &FlowRef,
    window: &Window,
    limit: usize,
) -> Result<String, Fault> {
    let before = window.before.unwrap_or(u64::MAX);
    if window.at.is_none()
        && let Some(hub) = app.hubs.followed(flow)
        && let Some(found) = hub.older(&window.role, before, limit)
    {
        return Ok(found);
    }
    let feed = feed_at(app, flow, &window.role, window.at)?;
    Ok(feed.older(before, limit))
}

fn feed_at(app: &Shared, flow: &FlowRef, role: &str, at: Option<Seq>) -> Result<Feed, Fault> {
    let folder = app.hubs.store.folder(flow);
    let read = |text: &Text| whole_text(&app.hubs.store, &folder, text);
    let mut fold = FlowFold::new(wire_ref(flow), Vec::new());
    let mut feed = Feed::default();
    let mut facts: u64 = 0;
    let mut take = |fold: &mut FlowFold| {
        for (of, _, change) in fold.take_feeds() {
            if of.as_str() == role {
                feed.put(change);
            }
        }
    };
    each_upto(app, flow, at, &mut |recorded| {
        fold.apply(&recorded, &read);
        facts += 1;
        if facts.is_multiple_of(FACTS_AT_ONCE) {
            take(&mut fold);
        }
    })?;
    take(&mut fold);
    Ok(feed)
}

/// A flow as it was at a record.
pub(super) fn state(app: &Shared, flow: &FlowRef, at: Option<Seq>) -> Result<FlowState, Fault> {
    let folder = app.hubs.store.folder(flow);
    let read = |text: &Text| whole_text(&app.hubs.store, &folder, text);
    let mut fold = FlowFold::new(wire_ref(flow), app.hubs.models.clone());
    let mut facts: u64 = 0;
    each_upto(app, flow, at, &mut |recorded| {
        fold.apply(&recorded, &read);
        facts += 1;
        if facts.is_multiple_of(FACTS_AT_ONCE) {
            drop(fold.take_feeds());
        }
    })?;
    fold.driven(app.hubs.liveness(flow));
    assembled(fold.whole()).ok_or_else(|| {
        missing(
            "nothing is known of the flow at that record",
            "its journal holds nothing before it",
        )
    })
}

/// The whole text of an item: what the facts that made it say.
pub(super) fn body(
    app: &Shared,
    flow: &FlowRef,
    id: &str,
    window: &Window,
) -> Result<ItemBody, Fault> {
    let first: Seq = id
        .strip_prefix('f')
        .and_then(|seq| seq.parse().ok())
        .ok_or_else(|| missing("there is no such item", "the ids of items begin with f"))?;
    let mut gathered = Gathered {
        first,
        ..Gathered::default()
    };
    let mut fold = a_society_facts::view::FlowState::default();
    let mut feeds = BTreeMap::new();
    each_upto(app, flow, None, &mut |recorded| {
        use a_society_facts::view::View;
        if let Some(fact) = recorded.fact() {
            gathered.hear(&recorded, fact);
            if let Some(role) = feed_role(&fold, fact).cloned() {
                if recorded.seq == first {
                    gathered.role = Some(role.clone());
                }
                let feed: &mut a_society_facts::view::FeedView =
                    feeds.entry(role.clone()).or_default();
                feed.apply(&recorded);
            }
        }
        fold.apply(&recorded);
    })?;
    let feed = gathered.role.as_ref().and_then(|role| feeds.get(role));
    let item = feed.and_then(|feed| feed.items().find(|item| item.id == id));
    let item = item.ok_or_else(|| missing("there is no such item", "no record began it"))?;
    let folder = app.hubs.store.folder(flow);
    let whole = |text: &Text| whole_text(&app.hubs.store, &folder, text);
    let text = match &gathered.result {
        Some(result) => whole(result),
        None => match &gathered.said {
            Some(said) => whole(said),
            None => item.text.clone(),
        },
    };
    let arguments = gathered.arguments.or_else(|| {
        let bytes = a_society_state::blob::get(
            app.hubs.store.ground().disk.as_ref(),
            &folder,
            gathered.arguments_hash?,
        );
        serde_json::from_slice(&bytes.ok()?).ok()
    });
    let parts = (arguments.is_some() || gathered.result.is_some()).then(|| BodyParts {
        arguments,
        result: gathered
            .result
            .as_ref()
            .map(|text| words::beginning(&whole(text), TEXT_BYTES_MAX).to_owned()),
        diff: gathered.edit.map(|edit| {
            let disk = app.hubs.store.ground().disk.as_ref();
            let text = |hash: Hash| {
                let bytes = a_society_state::blob::get(disk, &folder, hash).ok()?;
                String::from_utf8(bytes).ok()
            };
            difference(&edit, &text)
        }),
    });
    Ok(cut(&text, window, parts))
}

/// What an edit changed: in the whole file where its bytes were kept, and else as far as the call
/// itself says it.
fn difference(edit: &Edit, text: &dyn Fn(Hash) -> Option<String>) -> Diff {
    let after = || {
        edit.written()
            .map(str::to_owned)
            .or_else(|| text(edit.after))
    };
    let ends = edit.before.and_then(text).zip(after());
    match ends {
        Some((old, new)) => edit.whole(&old, &new, &diff::BOUNDS),
        None => edit.compared(&diff::BOUNDS).0,
    }
}

/// What the facts say that made an item.
#[derive(Debug, Default)]
struct Gathered {
    first: Seq,
    role: Option<RoleInstance>,
    call: Option<a_society_facts::id::CallId>,
    tool_call: Option<String>,
    arguments_hash: Option<Hash>,
    arguments: Option<serde_json::Value>,
    edit: Option<Edit>,
    result: Option<Text>,
    said: Option<Text>,
    /// What the last answer of each role wants, by the id of the call.
    asked: BTreeMap<RoleInstance, BTreeMap<String, Box<RawValue>>>,
}

impl Gathered {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts say all they have in the item itself"
    )]
    fn hear(&mut self, recorded: &Recorded, fact: &Fact) {
        let begins = recorded.seq == self.first;
        match fact {
            Fact::ModelAnswered(f) if recorded.seq <= self.first => self.answered(f, begins),
            Fact::CallIntended(f) if begins => {
                self.call = Some(f.call.clone());
                self.arguments_hash = Some(f.arguments);
                let asked = self.asked.get(&f.role);
                let asked = asked.and_then(|asked| asked.get(&f.tool_call));
                self.edit = asked.and_then(|asked| Edit::of(f, asked.get()));
                self.arguments = asked.and_then(|asked| serde_json::from_str(asked.get()).ok());
                self.tool_call = Some(f.tool_call.clone());
            }
            Fact::CallFinished(f) => self.finished(f),
            Fact::MessageAdded(f) if begins => self.said = Some(f.text.clone()),
            _ => {}
        }
    }

    fn answered(&mut self, f: &ModelAnswered, begins: bool) {
        // Only the calls of the last answer can begin next.
        let calls = f.calls.iter();
        let asked = calls.map(|call| (call.id.clone(), call.input.clone()));
        self.asked.insert(f.role.clone(), asked.collect());
        if begins && let AnswerText::Inline(text) = &f.text {
            self.said = Some(Text::Inline(text.clone()));
        }
    }

    fn finished(&mut self, f: &CallFinished) {
        if self.call.as_ref() == Some(&f.call) {
            self.result = Some(f.output.clone());
        }
    }
}

/// A piece of a text that begins at a byte, or at the first character after it.
fn cut(text: &str, window: &Window, parts: Option<BodyParts>) -> ItemBody {
    let start = text.floor_char_boundary(window.offset.unwrap_or(0));
    let limit = window
        .limit
        .unwrap_or(TEXT_BYTES_MAX)
        .clamp(4, TEXT_BYTES_MAX);
    let rest = text.get(start..).unwrap_or_default();
    let piece = words::beginning(rest, limit);
    let end = start + piece.len();
    ItemBody {
        text: piece.to_owned(),
        total_bytes: text.len() as u64,
        next: (end < text.len()).then_some(end as u64),
        parts,
    }
}
