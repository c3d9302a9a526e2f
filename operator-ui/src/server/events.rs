//! The records of a journal, as they are on disk.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use a_society_state::FlowRef;

use super::app::Shared;
use super::blocking::unread;
use super::limits::{EVENT_BYTES_MAX, EVENTS_MAX};
use super::window::Window;
use crate::fold::words;
use crate::protocol::Fault;
use crate::protocol::http::{Event, Events};

/// A window of the records, the newest of those before one.
pub(super) fn of(app: &Shared, flow: &FlowRef, window: &Window) -> Result<Events, Fault> {
    let limit = window.limit.unwrap_or(EVENTS_MAX / 5).clamp(1, EVENTS_MAX);
    let before = window.before.unwrap_or(u64::MAX);
    let mut follower = app
        .hubs
        .store
        .follow(flow)
        .map_err(|error| unread(&error))?;
    let mut kept: VecDeque<Event> = VecDeque::new();
    let mut left = false;
    let read = follower.read_lines(&mut |recorded, line| {
        if recorded.seq >= before {
            return ControlFlow::Break(());
        }
        let wanted = window
            .kind
            .as_ref()
            .is_none_or(|kind| recorded.word() == kind);
        if wanted {
            let text = String::from_utf8_lossy(line);
            kept.push_back(Event {
                seq: recorded.seq,
                at: words::at(recorded.at),
                fact: recorded.word().to_owned(),
                line: words::beginning(text.trim_end(), EVENT_BYTES_MAX).to_owned(),
            });
            if kept.len() > limit {
                kept.pop_front();
                left = true;
            }
        }
        ControlFlow::Continue(())
    });
    if let Err(error) = read
        && !matches!(error, a_society_state::Error::Damaged(_))
    {
        return Err(unread(&error));
    }
    let first = kept.front().filter(|_| left).map(|event| event.seq);
    Ok(Events {
        events: kept.into(),
        before: first,
    })
}
