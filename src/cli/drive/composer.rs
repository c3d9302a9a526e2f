//! Where a person types in a chat, below what streams and above the line with its state.

use std::time::Duration;

use a_society_facts::fact::operator::StopScope;
use a_society_facts::fact::turn::CallEnd;
use a_society_facts::view::flow::FlowState;
use a_society_facts::words::calls::call_end;
use a_society_facts::{At, Verb};
use a_society_orchestrator::driver::handle::Seen;

use super::opening::asks_about;
use super::orders::is_order;
use super::talk::waits_for_words;
use super::{Tail, Watch};
use crate::cli::cost;
use crate::cli::field::{Field, Written};
use crate::cli::prompt::{Heard, Prompt};
use crate::operator_error::Stop;
use crate::text::{one_line, plain, printed, tokens, width, wrapped};

/// A second Ctrl-C within this time ends the chat.
const TWICE: Duration = Duration::from_secs(2);

/// Ctrl-D, which ends the chat where nothing is typed.
const END: &[u8] = &[0x04];

/// What is shown of a message that waits for the turn to end.
const QUEUED_COLUMNS_MAX: usize = 60;

/// What is typed, and the messages that wait.
#[derive(Debug, Default)]
pub(super) struct Composer {
    /// What was typed before a question took the keys.
    draft: Option<Field>,
    /// Messages that were sent while the role was at work, oldest first.
    pub(super) queue: Vec<String>,
    /// Whether the sign is printed after which a line is typed.
    is_marked: bool,
    /// When Ctrl-C was pressed last.
    interrupted: Option<At>,
}

impl Watch<'_> {
    /// Keeps what is typed for later, because a question takes the keys.
    pub(super) fn stash_composer(&mut self) {
        if self.composer().is_none() {
            return;
        }
        let field = self.field.take_if(|_| self.card.is_none());
        if let Some(composer) = self.composer() {
            composer.draft = field.or(composer.draft.take());
        }
    }

    /// Takes what was typed for the chat, where nothing else is asked.
    pub(super) fn compose(&mut self, seen: &Seen) -> Result<(), Stop> {
        if self.card.is_some() || self.composer().is_none() {
            return Ok(());
        }
        if self.draws() && self.field.is_none() {
            let draft = self.composer().and_then(|composer| composer.draft.take());
            self.field = Some(draft.unwrap_or_default());
        }
        self.mark_line(seen);
        let heard = self.prompt.as_mut().map_or(Heard::End, Prompt::heard);
        match heard {
            Heard::Nothing => Ok(()),
            Heard::End => self.leave(),
            Heard::Line(line) => self.typed(line),
            Heard::Keys(keys) => self.composed(&keys, seen),
        }
    }

    fn composed(&mut self, keys: &[u8], seen: &Seen) -> Result<(), Stop> {
        let Some(field) = &mut self.field else {
            return Ok(());
        };
        if keys == END && field.text().is_empty() {
            return self.leave();
        }
        match field.take(keys) {
            Written::Typed | Written::Next | Written::Read => Ok(()),
            Written::Editor => self.edit_text(),
            Written::Full => self.say("the message is full; ctrl-g opens it in your editor"),
            Written::Left => self.stop_turn(seen),
            Written::Sent => {
                let text = std::mem::take(field).text().to_owned();
                self.typed(text)
            }
        }
    }

    /// Where whole lines are typed, a sign says when one is awaited.
    fn mark_line(&mut self, seen: &Seen) {
        if self.draws() || waits_for_words(seen).is_none() || seen.seq < self.heard_upto {
            return;
        }
        let is_new = self
            .composer()
            .is_some_and(|it| !std::mem::replace(&mut it.is_marked, true));
        if is_new {
            self.out.ask("> ");
        }
    }

    /// A whole message was typed. It leaves when the one before it is answered.
    fn typed(&mut self, text: String) -> Result<(), Stop> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if is_order(&text) {
            if !self.obey_order(&text)?
                && let Some(field) = &mut self.field
            {
                *field = Field::with(text);
            }
            if let Some(composer) = self.composer() {
                composer.is_marked = false;
            }
            return Ok(());
        }
        if let Some(composer) = self.composer() {
            composer.is_marked = false;
            composer.queue.push(text);
        }
        Ok(())
    }

    /// Prints the message that leaves now, because the line in which it was typed is gone.
    pub(super) fn echo(&mut self, text: &str) -> Result<(), Stop> {
        if !self.draws() || self.composer().is_none() {
            return Ok(());
        }
        let (columns, _) = self.out.size();
        let marks = std::iter::once("> ").chain(std::iter::repeat("  "));
        let lines = text.lines().zip(marks);
        let rows =
            lines.flat_map(|(line, mark)| wrapped(&printed(&format!("{mark}{line}")), columns));
        let rows: Vec<String> = std::iter::once(String::new())
            .chain(rows.map(|row| self.out.paint.bold(&row)))
            .collect();
        self.out.draw(&rows, &[], columns)
    }

    /// Ends the turn that runs, if one does. The text so far stays, and messages that wait go back.
    fn stop_turn(&mut self, seen: &Seen) -> Result<(), Stop> {
        if seen.state.running.is_empty() {
            return Ok(());
        }
        self.take_back();
        match self.obeyed(Verb::Stop {
            scope: StopScope::All,
        }) {
            Ok(()) => self.say(call_end(CallEnd::Stopped)),
            // It ended a moment ago.
            Err(_) => Ok(()),
        }
    }

    /// Messages that wait go back to where they were typed.
    fn take_back(&mut self) {
        let queued = self
            .composer()
            .map(|composer| std::mem::take(&mut composer.queue));
        let queued = queued.filter(|queued| !queued.is_empty());
        if let (Some(mut texts), Some(field)) = (queued, &mut self.field) {
            texts.extend(Some(field.text().to_owned()).filter(|text| !text.is_empty()));
            *field = Field::with(texts.join("\n"));
        }
    }

    /// Ctrl-C: it ends the turn, clears what is typed, or, pressed twice, ends the chat. Whether it was for the chat.
    pub(super) fn interrupted_in_chat(&mut self) -> Result<bool, Stop> {
        let now = self.store.ground().clock.now();
        let Some(composer) = self.composer() else {
            return Ok(false);
        };
        let within = i64::try_from(TWICE.as_millis()).unwrap_or(i64::MAX);
        let before = composer.interrupted.replace(now);
        let is_second = before.is_some_and(|before| now.ms() - before.ms() <= within);
        let is_twice = is_second || self.interrupts.count() > 1;
        self.interrupts.forget(0);
        if is_twice {
            self.leave()?;
            return Ok(true);
        }
        let seen = self.handle.seen();
        match seen.filter(|seen| !seen.state.running.is_empty()) {
            Some(seen) => self.stop_turn(&seen)?,
            None => {
                if let Some(field) = &mut self.field {
                    *field = Field::default();
                }
                self.say("ctrl-c again ends the chat")?;
            }
        }
        Ok(true)
    }

    /// What is drawn below what streams: what waits, what is typed, and the state of the chat.
    pub(super) fn composer_tail(&self) -> Option<Tail> {
        let talk = self.talk.as_ref()?;
        let composer = talk.composer()?;
        let field = self.field.as_ref().filter(|_| self.card.is_none())?;
        let seen = self.handle.seen()?;
        let (columns, _) = self.out.size();
        let queued = composer.queue.iter().enumerate().map(|(at, text)| {
            let text = one_line(text, QUEUED_COLUMNS_MAX);
            self.out
                .paint
                .dim(&format!("queued {}: {}", at + 1, plain(&text)))
        });
        let mut lines: Vec<String> = queued.collect();
        lines.extend(field.rows("> ", columns));
        let cursor = Some(lines.len() - 1);
        lines.push(self.out.paint.dim(&self.stands(&seen, columns)));
        Some(Tail {
            lines,
            cursor,
            ..Tail::default()
        })
    }

    /// The state of the chat in one row: on a narrow screen the last parts are left out.
    fn stands(&self, seen: &Seen, columns: usize) -> String {
        let mut parts = parts(&seen.state, self.progress.models().into_values().next());
        parts.extend(Some(asks_about(&seen.state)));
        while parts.len() > 1 && width(&parts.join(" · ")) >= columns {
            parts.pop();
        }
        one_line(&parts.join(" · "), columns.saturating_sub(1).max(1))
    }
}

/// Who answers, with what, how full its window is and what was spent.
fn parts(state: &FlowState, model: Option<String>) -> Vec<String> {
    let role = state.graph.nodes.first().map(|node| node.role.to_string());
    let used = state
        .sessions
        .values()
        .map(|session| session.context_tokens)
        .max();
    let used = used.filter(|used| *used > 0);
    let context = used.map(|used| format!("context {}", tokens(used)));
    let spent = cost::in_short(&state.account).into_iter().next_back();
    let parts = role.into_iter().chain(model).chain(context).chain(spent);
    parts.collect()
}
