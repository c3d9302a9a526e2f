//! Feeds and states as they were at some record, and the whole text of an item.

use std::ops::ControlFlow;

use a_society_facts::Recorded;
use a_society_facts::id::Seq;
use a_society_facts::message::Text;
use a_society_state::{FlowRef, Store};

use super::app::Shared;
use super::blocking::{missing, unread};
use super::bodies::Bodies;
use super::limits::TEXT_BYTES_MAX;
use super::window::Window;
use crate::fold::feed::first_of_id;
use crate::fold::flow::assembled;
use crate::fold::limits::DIFF_BOUNDS;
use crate::fold::{FlowFold, words};
use crate::hub::Hubs;
use crate::hub::flow::wire_ref;
use crate::hub::keep::Feed;
use crate::protocol::Fault;
use crate::protocol::flow::FlowState;
use crate::protocol::http::{BodyParts, ItemBody};

/// How many facts are folded before their items are taken.
const FACTS_AT_ONCE: u64 = 1_000;

/// Reads a flow's journal up to a record.
pub(super) fn each_upto(
    hubs: &Hubs,
    flow: &FlowRef,
    upto: Option<Seq>,
    each: &mut dyn FnMut(&Recorded),
) -> Result<(), Fault> {
    each_in(&hubs.store, flow, upto, each)
}

/// The same, without a server.
pub(super) fn each_in(
    store: &Store,
    flow: &FlowRef,
    upto: Option<Seq>,
    each: &mut dyn FnMut(&Recorded),
) -> Result<(), Fault> {
    let mut follower = store.follow(flow).map_err(|error| unread(&error))?;
    let read = match upto {
        None => follower.read(each),
        Some(upto) => follower.read_while(&mut |recorded| {
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
    // What is good before some damage is shown; the flow's row shows that there is damage.
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
    let place = app.hubs.store.place(flow);
    let read = |text: &Text| place.text_or_beginning(text);
    let mut fold = FlowFold::new(wire_ref(flow), Vec::new());
    let mut feed = Feed::default();
    let mut facts: u64 = 0;
    let mut take = |fold: &mut FlowFold| {
        for (of, _, change) in fold.take_feeds() {
            if of.to_string() == role {
                feed.put(change.into());
            }
        }
    };
    each_upto(&app.hubs, flow, at, &mut |recorded| {
        fold.apply(recorded, &read);
        facts += 1;
        if facts.is_multiple_of(FACTS_AT_ONCE) || fold.is_full() {
            take(&mut fold);
        }
    })?;
    take(&mut fold);
    Ok(feed)
}

/// A flow as it was at a record.
pub(super) fn state(app: &Shared, flow: &FlowRef, at: Option<Seq>) -> Result<FlowState, Fault> {
    let hubs = &app.hubs;
    state_as(hubs, flow, at, hubs.liveness(flow))
}

/// A flow as it was at a record, as a live flow.
#[cfg(test)]
pub(super) fn driven_state(
    hubs: &Hubs,
    flow: &FlowRef,
    at: Option<Seq>,
) -> Result<FlowState, Fault> {
    let liveness = crate::fold::Liveness {
        driven_by: Some(crate::protocol::row::DrivenBy::Server),
        holder: None,
    };
    state_as(hubs, flow, at, liveness)
}

fn state_as(
    hubs: &Hubs,
    flow: &FlowRef,
    at: Option<Seq>,
    liveness: crate::fold::Liveness,
) -> Result<FlowState, Fault> {
    let place = hubs.store.place(flow);
    let read = |text: &Text| place.text_or_beginning(text);
    let mut fold = hubs.fold_of(flow);
    let mut facts: u64 = 0;
    each_upto(hubs, flow, at, &mut |recorded| {
        fold.apply(recorded, &read);
        facts += 1;
        if facts.is_multiple_of(FACTS_AT_ONCE) {
            drop(fold.take_feeds());
        }
    })?;
    fold.driven(liveness);
    // Which nodes are ready is found when parts are taken.
    drop(fold.take());
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
    let first: Seq = first_of_id(id)
        .ok_or_else(|| missing("there is no such item", "the ids of items begin with f"))?;
    let mut bodies = Bodies::default();
    let mut fold = a_society_facts::view::flow::FlowState::default();
    each_upto(&app.hubs, flow, None, &mut |recorded| {
        use a_society_facts::view::FactView;
        bodies.hear(&fold, recorded, &|seq| seq == first);
        fold.apply(recorded);
    })?;
    let whole = bodies.whole(&app.hubs, flow, first, id, &DIFF_BOUNDS);
    let whole = whole.ok_or_else(|| missing("there is no such item", "no record began it"))?;
    Ok(cut(&whole.text, window, whole.parts))
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
