//! Events of an answer that are passed on together, so that the reader is not woken for each word.

use crate::event::Event;

/// Events in order; what follows a piece of the same is one with it.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) events: Vec<Event>,
    /// How much text they hold.
    pub(super) bytes: usize,
}

impl Gathered {
    pub(super) const fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn push(&mut self, event: Event) {
        self.bytes += text_of(&event).map_or(0, str::len);
        match (self.events.last_mut(), event) {
            (Some(Event::Text(before)), Event::Text(more))
            | (Some(Event::Reasoning(before)), Event::Reasoning(more)) => before.push_str(&more),
            (
                Some(Event::CallArguments { ordinal, piece }),
                Event::CallArguments {
                    ordinal: same,
                    piece: more,
                },
            ) if *ordinal == same => piece.push_str(&more),
            (Some(Event::Usage(before)), Event::Usage(now)) => *before = now,
            (_, event) => self.events.push(event),
        }
    }
}

fn text_of(event: &Event) -> Option<&str> {
    match event {
        Event::Text(text) | Event::Reasoning(text) => Some(text),
        Event::CallArguments { piece, .. } => Some(piece),
        Event::CallBegun { .. }
        | Event::CallEnded { .. }
        | Event::Usage(_)
        | Event::Stalled { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_the_same_become_one_and_keep_their_order() {
        let text = |text: &str| Event::Text(text.to_owned());
        let thought = |text: &str| Event::Reasoning(text.to_owned());
        let piece = |ordinal, piece: &str| Event::CallArguments {
            ordinal,
            piece: piece.to_owned(),
        };
        let mut gathered = Gathered::default();
        for event in [
            thought("a"),
            thought("b"),
            text("c"),
            Event::CallEnded { ordinal: 0 },
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
            Event::CallEnded { ordinal: 0 },
            text("de"),
            piece(1, "{}"),
            piece(2, "{}"),
        ];
        assert_eq!((gathered.events.as_slice(), gathered.bytes), (&all[..], 9));
    }
}
