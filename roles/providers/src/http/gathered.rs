//! Events of an answer that are passed on together, so that the reader is not woken for each word.

use crate::event::StreamEvent;

/// Events in order; what follows a piece of the same is one with it.
#[derive(Debug, Default)]
pub(super) struct GatheredEvents {
    pub(super) events: Vec<StreamEvent>,
    /// How much text they hold.
    pub(super) bytes: usize,
}

impl GatheredEvents {
    pub(super) const fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn push(&mut self, event: StreamEvent) {
        self.bytes += text_of(&event).map_or(0, str::len);
        match (self.events.last_mut(), event) {
            (Some(StreamEvent::Text(before)), StreamEvent::Text(more))
            | (Some(StreamEvent::Reasoning(before)), StreamEvent::Reasoning(more)) => {
                before.push_str(&more)
            }
            (
                Some(StreamEvent::CallArguments { ordinal, piece }),
                StreamEvent::CallArguments {
                    ordinal: same,
                    piece: more,
                },
            ) if *ordinal == same => piece.push_str(&more),
            (Some(StreamEvent::Usage(before)), StreamEvent::Usage(now)) => *before = now,
            (_, event) => self.events.push(event),
        }
    }
}

fn text_of(event: &StreamEvent) -> Option<&str> {
    match event {
        StreamEvent::Text(text) | StreamEvent::Reasoning(text) => Some(text),
        StreamEvent::CallArguments { piece, .. } => Some(piece),
        StreamEvent::CallBegun { .. }
        | StreamEvent::CallEnded { .. }
        | StreamEvent::Usage(_)
        | StreamEvent::Stalled { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_the_same_become_one_and_keep_their_order() {
        let text = |text: &str| StreamEvent::Text(text.to_owned());
        let thought = |text: &str| StreamEvent::Reasoning(text.to_owned());
        let piece = |ordinal, piece: &str| StreamEvent::CallArguments {
            ordinal,
            piece: piece.to_owned(),
        };
        let mut gathered = GatheredEvents::default();
        for event in [
            thought("a"),
            thought("b"),
            text("c"),
            StreamEvent::CallEnded { ordinal: 0 },
            text("d"),
            text("e"),
            piece(1, "{"),
            piece(1, "}"),
            piece(2, "{}"),
        ] {
            gathered.push(event);
        }
        let all = [
            thought("ab"),
            text("c"),
            StreamEvent::CallEnded { ordinal: 0 },
            text("de"),
            piece(1, "{}"),
            piece(2, "{}"),
        ];
        assert_eq!((gathered.events.as_slice(), gathered.bytes), (&all[..], 9));
    }
}
