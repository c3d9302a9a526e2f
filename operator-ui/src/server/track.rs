//! The track of a flow for its time strip, kept until a later record comes.

use std::sync::Arc;

use a_society_facts::message::Text;
use a_society_state::FlowRef;

use super::app::Shared;
use super::feed_at::each_upto;
use crate::fold::track::Tracker;
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;

/// The track of a flow, as JSON.
pub(super) fn of(app: &Shared, flow: &FlowRef) -> Result<Arc<str>, Fault> {
    let head = app.hubs.followed(flow).and_then(|hub| hub.head());
    if let Some(text) = head.and_then(|head| app.tracks.find(flow, head)) {
        return Ok(text);
    }
    let place = app.hubs.store.place(flow);
    let read = |text: &Text| place.text_or_beginning(text);
    let mut tracker = Tracker::new(wire_ref(flow));
    each_upto(&app.hubs, flow, None, &mut |recorded| {
        tracker.hear(recorded, &read)
    })?;
    let track = tracker.done();
    let text: Arc<str> = serde_json::to_string(&track).unwrap_or_default().into();
    app.tracks.keep(flow, track.head, &text);
    Ok(text)
}
