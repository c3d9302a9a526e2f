//! Another size of the terminal while a text is typed. The cursor is then within the block, and how many rows of it are above
//! depends on what the terminal did with them. So once the size has been the same for a moment, the terminal is asked where
//! its cursor is; one that does not answer is drawn on as before.

use super::Watch;
use crate::frame::{Resized, ScreenSize};
use crate::operator_error::Stop;

/// A window that is dragged has many sizes, and this long the last.
const REST_MS: i64 = 100;

/// So long an answer is waited for. Over a slow line it takes as long as a key does to be seen.
const ANSWER_MS: i64 = 200;

/// Where the cursor is before anything happens is asked so often at most.
const ANCHOR_EVERY_MS: i64 = 1_000;

/// The size for which the block was drawn, and what is known of another.
#[derive(Debug)]
pub(super) struct Resizing {
    drawn: ScreenSize,
    step: ResizeStep,
    /// When it was last asked where the cursor is while nothing happened; never again once there was no answer.
    anchored_ms: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
enum ResizeStep {
    Still,
    /// The terminal has this size since then.
    Changed {
        to: ScreenSize,
        since_ms: i64,
    },
    /// It was asked where its cursor is, for this size.
    Asked {
        to: ScreenSize,
        since_ms: i64,
    },
    /// The same while it has the size for which the block was drawn, which was moved so often.
    Anchors {
        moves: u64,
        since_ms: i64,
    },
}

impl Resizing {
    pub(super) const fn new(drawn: ScreenSize) -> Self {
        Self {
            drawn,
            step: ResizeStep::Still,
            anchored_ms: Some(0),
        }
    }
}

impl Watch<'_> {
    /// Looks after the size of the terminal. Whether the block may be drawn.
    pub(super) fn settles_size(&mut self) -> Result<bool, Stop> {
        let (size, now) = (self.out.screen_size(), self.now_ms());
        let Some(prompt) = self.prompt.as_mut().filter(|_| self.field.is_some()) else {
            // The cursor rests on the first cell of the block.
            (self.resizing.drawn, self.resizing.step) = (size, ResizeStep::Still);
            if let Some(prompt) = &mut self.prompt {
                prompt.expect_nothing();
            }
            return Ok(true);
        };
        let is_over = |since_ms: i64, after: i64| now - since_ms >= after;
        let answer = prompt.take_position();
        let changed = ResizeStep::Changed {
            to: size,
            since_ms: now,
        };
        let next = match self.resizing.step {
            ResizeStep::Still if size != self.resizing.drawn => changed,
            ResizeStep::Still => return self.anchors(now),
            ResizeStep::Changed { to, .. } | ResizeStep::Asked { to, .. } if to != size => changed,
            ResizeStep::Anchors { .. } if size != self.resizing.drawn => changed,
            ResizeStep::Changed { since_ms, .. } if is_over(since_ms, REST_MS) => {
                prompt.expect_position();
                self.out.ask_position()?;
                ResizeStep::Asked {
                    to: size,
                    since_ms: now,
                }
            }
            ResizeStep::Asked { since_ms, .. }
                if answer.is_some() || is_over(since_ms, ANSWER_MS) =>
            {
                let sizes = Resized {
                    from: self.resizing.drawn,
                    to: size,
                };
                self.out.resized(sizes, answer);
                self.resizing.drawn = size;
                ResizeStep::Still
            }
            ResizeStep::Anchors { moves, .. } if answer.is_some() => {
                if let Some(at) = answer.filter(|_| moves == self.out.moves()) {
                    self.out.anchored(at);
                }
                ResizeStep::Still
            }
            ResizeStep::Anchors { since_ms, .. } if is_over(since_ms, ANSWER_MS) => {
                self.resizing.anchored_ms = None;
                ResizeStep::Still
            }
            waits @ (ResizeStep::Changed { .. }
            | ResizeStep::Asked { .. }
            | ResizeStep::Anchors { .. }) => waits,
        };
        self.resizing.step = next;
        if matches!(next, ResizeStep::Still | ResizeStep::Changed { .. })
            && let Some(prompt) = &mut self.prompt
        {
            prompt.expect_nothing();
        }
        Ok(matches!(
            next,
            ResizeStep::Still | ResizeStep::Anchors { .. }
        ))
    }

    /// Asks where the cursor is, so that another size shows by where it went.
    fn anchors(&mut self, now: i64) -> Result<bool, Stop> {
        let is_due = |asked_ms: i64| now - asked_ms >= ANCHOR_EVERY_MS;
        let Some(prompt) = &mut self.prompt else {
            return Ok(true);
        };
        if self.resizing.anchored_ms.is_some_and(is_due) && self.out.wants_position() {
            prompt.expect_position();
            self.out.ask_position()?;
            self.resizing.anchored_ms = Some(now);
            self.resizing.step = ResizeStep::Anchors {
                moves: self.out.moves(),
                since_ms: now,
            };
        }
        Ok(true)
    }
}
