//! What `run` and `resume` tell while they drive a flow.
//!
//! Facts of the journal become [`event`]s ([`teller`]), which are what an operator would report: a node begins, a
//! role says something, a tool ended, a request is retried. The same events are printed in words
//! ([`lines`]) and as JSON ([`json`]). On a terminal the words of one role stream ([`voice`]), and a
//! block that is drawn again ([`board`]) follows the finished lines.
//!
//! When you add an event: name it in [`event::What`], make it in [`teller::Teller::hear`], and describe it in
//! `lines` and `json`; the table in `docs/run.md` and the schema beside it say what programs get.

pub(crate) mod board;
pub(crate) mod event;
mod json;
mod lines;
mod note;
pub(crate) mod teller;
mod voice;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::At;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::view::flow::{DecisionTally, FlowState};
use a_society_operator_ui::fold::asks::open;
use a_society_orchestrator::config::user;
use a_society_orchestrator::driver::handle::{FlowHandle, Seen};
use a_society_state::FlowRef;
use a_society_state::journal::follow::Follower;

use self::board::BoardSpace;
use self::event::{Event, Pause, Speech, What};
pub(crate) use self::json::aside;
use self::teller::Teller;
use self::voice::Voices;
use super::{asks, cost, table, words};
use crate::frame::ScreenSize;
use crate::operator_error::Stop;
use crate::output::Output;

/// How long a flow may take to say what streams right now. One that is busy is asked again with the next frame, and a
/// letter that is typed meanwhile does not wait for it.
const AHEAD: Duration = Duration::from_millis(5);

/// It is asked so often, however often letters are drawn.
const AHEAD_EVERY_MS: i64 = 30;

/// The report of a flow's progress, from its journal.
pub(crate) struct Progress {
    flow: FlowRef,
    follower: Follower,
    /// The last record that was there before; it and those before it are not reported.
    known: Seq,
    teller: Teller,
    voices: Voices,
    /// The last report for each role that its provider is silent, and for how long.
    told_silent: BTreeMap<RoleInstance, u64>,
    /// What the flow as a whole asked for in the last report.
    asked: Option<&'static str>,
    /// Whether progress is not reported.
    is_quiet: bool,
    /// Whether it is a chat.
    is_chat: bool,
    /// What a chat said last, since that was asked last.
    answer: String,
    /// How many lines of a call's result are shown.
    output_lines: usize,
    /// When a line was printed last, for a reader that reads the screen aloud.
    spoken_at: At,
    /// When the flow was asked last what streams.
    ahead_at: At,
}

/// After so long a silence a line tells how far the flow is.
const SILENCE_MS: i64 = 30_000;

/// Lines below the block: the keys, or what is asked and what is typed.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// What is asked, in the place of the nodes.
    pub(crate) card: Vec<String>,
    /// Whether something is asked.
    pub(crate) asks: bool,
    /// Whether nothing of it is left out.
    pub(crate) is_whole: bool,
    pub(crate) lines: Vec<String>,
    /// The line at whose end the cursor is, if a text is typed.
    pub(crate) cursor: Option<usize>,
}

impl Tail {
    fn draw_below(
        &self,
        out: &mut Output,
        finished: &[String],
        mut block: Vec<String>,
        columns: usize,
    ) -> Result<(), Stop> {
        let cursor = self.cursor.map(|line| block.len() + line);
        block.extend(self.lines.iter().cloned());
        out.draw_at(finished, &block, columns, cursor)
    }
}

/// The numbers of lines between which the operator chooses.
const OUTPUT_LINES: [usize; 3] = [0, 3, event::OUTPUT_LINES_MAX];

impl Progress {
    /// Begins to tell what a journal says after a record.
    pub(crate) fn new(flow: &FlowRef, follower: Follower, known: Seq) -> Self {
        Self {
            flow: flow.clone(),
            follower,
            known,
            teller: Teller::knowing(providers()),
            voices: Voices::default(),
            told_silent: BTreeMap::new(),
            asked: None,
            is_quiet: false,
            is_chat: false,
            answer: String::new(),
            output_lines: 0,
            spoken_at: At::from_ms(0),
            ahead_at: At::from_ms(0),
        }
    }

    /// Tells nothing of what goes on, if that is wished.
    #[must_use]
    pub(crate) fn quiet(self, is_quiet: bool) -> Self {
        Self { is_quiet, ..self }
    }

    /// Tells a chat: its messages and answers, and nothing of a flow.
    #[must_use]
    pub(crate) fn of_chat(self, is_chat: bool) -> Self {
        let voices = self.voices.of_chat(is_chat);
        Self {
            is_chat,
            voices,
            ..self
        }
    }

    /// What a chat said last, since that was asked last.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn answer(&mut self) -> Result<String, Stop> {
        if self.is_quiet {
            self.news()?;
        }
        Ok(std::mem::take(&mut self.answer))
    }

    /// Prints what is new, line by line, for people who read it later and for programs.
    ///
    /// # Errors
    /// When the journal cannot be read, or the output is closed.
    pub(crate) fn print(
        &mut self,
        out: &mut Output,
        seen: Option<&Seen>,
        is_spoken: bool,
    ) -> Result<(), Stop> {
        if self.is_quiet {
            return Ok(());
        }
        if let Some(seen) = seen {
            self.tell_silent(out, seen)?;
        }
        for event in self.news()? {
            if out.is_json() {
                for value in json::values(&self.flow, &event) {
                    out.value(&value)?;
                }
                continue;
            }
            let Some(event) = self.shown(event) else {
                continue;
            };
            if is_spoken {
                for line in lines::spoken(&event) {
                    out.line(&line)?;
                    self.spoken_at = event.at;
                }
            } else if self.is_chat && is_speech(&event.what) {
                // What the role says last is printed as the answer.
            } else if let Some(line) = lines::line(&event, &out.paint) {
                out.line(&line)?;
            }
        }
        if let Some(seen) = seen.filter(|_| out.is_json()) {
            self.tell_asked(out, seen)?;
        }
        out.flush()
    }

    /// Prints for programs what the flow as a whole asks. No single fact asks for it.
    fn tell_asked(&mut self, out: &mut Output, seen: &Seen) -> Result<(), Stop> {
        let asks = open(&seen.state, &seen.pending);
        let all = asks
            .into_iter()
            .find(|ask| ask.role.is_none() && ask.node().is_none());
        let kind = all.as_ref().map(|ask| asks::named_by(&ask.question).0);
        if kind == std::mem::replace(&mut self.asked, kind) {
            return Ok(());
        }
        let Some((kind, ask)) = kind.zip(all) else {
            return Ok(());
        };
        let at = seen.state.updated_at.unwrap_or(At::from_ms(0));
        let members = serde_json::json!({
            "seq": seen.seq,
            "ask": asks::OF_THE_FLOW,
            "kind": kind,
            "for": ask.wants(),
            "question": ask.says,
            "keys": asks::commands(asks::short(&self.flow), &ask),
        });
        out.value(&aside(&self.flow, at, "ask", members))
    }

    /// Prints how far the flow is, after a while of silence.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn remind(&mut self, out: &mut Output, seen: &Seen, now: At) -> Result<(), Stop> {
        if self.is_quiet || now.ms() - self.spoken_at.ms() < SILENCE_MS {
            return Ok(());
        }
        self.spoken_at = now;
        out.line(&board::spoken(seen, &self.teller, now))?;
        out.flush()
    }

    /// Draws what is new on a terminal: what is finished stays where it is printed, and below it the
    /// block is drawn again.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub(crate) fn draw(
        &mut self,
        out: &mut Output,
        seen: &Arc<Seen>,
        handle: &FlowHandle,
        now: At,
        tail: &Tail,
    ) -> Result<(), Stop> {
        if self.is_quiet {
            return self.hold(out, seen, tail, now);
        }
        let (columns, rows) = out.size();
        let finished = self.finished(out, columns)?;
        let ahead = if self.voices.is_open() && now.ms() - self.ahead_at.ms() >= AHEAD_EVERY_MS {
            self.ahead_at = now;
            handle.ahead(AHEAD)
        } else {
            Vec::new()
        };
        let mut finished = finished;
        finished.extend(self.voices.hear_ahead(&ahead, columns));
        let mut block = self.voices.unfinished();
        let room =
            BoardSpace::of(ScreenSize { columns, rows }).beside(block.len() + tail.lines.len());
        block.extend(self.board(out, seen, tail, now, room));
        tail.draw_below(out, &finished, block, columns)
    }

    /// Draws the block alone, with the caller's lines below it. What is finished waits.
    fn hold(&self, out: &mut Output, seen: &Seen, tail: &Tail, now: At) -> Result<(), Stop> {
        let (columns, rows) = out.size();
        let room = BoardSpace::of(ScreenSize { columns, rows }).beside(tail.lines.len());
        let block = if self.is_quiet {
            tail.card.clone()
        } else {
            self.board(out, seen, tail, now, room)
        };
        tail.draw_below(out, &[], block, columns)
    }

    /// The nodes, or what is asked in their place, and how far the flow is.
    fn board(
        &self,
        out: &Output,
        seen: &Seen,
        tail: &Tail,
        now: At,
        room: BoardSpace,
    ) -> Vec<String> {
        if self.is_chat && !tail.asks {
            return board::chat_line(out, seen, now).into_iter().collect();
        }
        if !tail.asks {
            let followed = self.voices.followed();
            return board::lines(out, seen, &self.teller, followed, now, room);
        }
        // How many nodes are done means nothing in a chat.
        let footer = (!self.is_chat).then(|| board::footer_line(out, &seen.state, now));
        tail.card.iter().cloned().chain(footer).collect()
    }

    /// Prints what is finished and leaves no block behind, because something else is printed now.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub(crate) fn settle(&mut self, out: &mut Output) -> Result<(), Stop> {
        let (columns, _) = out.size();
        let mut finished = Vec::new();
        if !self.is_quiet {
            finished = self.finished(out, columns)?;
        }
        out.draw(&finished, &[], columns)?;
        out.finish_drawing();
        Ok(())
    }

    /// The role whose words are shown: the chosen one, else the one that speaks now.
    pub(crate) const fn followed(&self) -> Option<&RoleInstance> {
        self.voices.followed()
    }

    /// Shows the words of this role from now on, or of the next one that speaks.
    pub(crate) fn follow(&mut self, role: Option<RoleInstance>) {
        self.voices.follow(role);
    }

    /// Prints all of what every role says, or one line of what the others say. Says which.
    pub(crate) fn toggle_all(&mut self) -> bool {
        self.voices.toggle_all()
    }

    /// Shows more lines of what calls give back, or none after the most. Says how many.
    pub(crate) fn more_output(&mut self) -> usize {
        let next = OUTPUT_LINES
            .iter()
            .find(|lines| **lines > self.output_lines);
        self.output_lines = next.copied().unwrap_or(0);
        self.output_lines
    }

    /// What was printed as one line since this was asked last: who said it, and all of it.
    pub(crate) fn take_unread(&mut self) -> Vec<(String, String)> {
        self.voices.take_unread()
    }

    /// The model that each role asked last.
    pub(crate) fn models(&self) -> BTreeMap<RoleInstance, String> {
        self.teller.models()
    }

    /// Who decided so far.
    pub(crate) const fn decisions(&self) -> &DecisionTally {
        self.teller.decisions()
    }

    /// What each role cost, as far as a model took it.
    pub(crate) fn cost(&self, state: &FlowState, is_spoken: bool) -> Vec<String> {
        let rows = cost::rows(state, &self.teller.models());
        if is_spoken {
            return table::spoken(&rows, true);
        }
        table::lines(&rows)
    }

    fn finished(&mut self, out: &Output, columns: usize) -> Result<Vec<String>, Stop> {
        let mut lines = Vec::new();
        for event in self.news()? {
            lines.extend(self.voices.hear(&event, &out.paint, columns));
            let Some(event) = self.shown(event) else {
                continue;
            };
            if !is_speech(&event.what) {
                lines.extend(lines::rows(&event, &out.paint, columns));
                lines.extend(lines::output(&event, self.output_lines));
            }
        }
        Ok(lines)
    }

    /// An event as a person reads it. In a chat the steps of a walk are left out, and the only role is not named.
    fn shown(&self, event: Event) -> Option<Event> {
        if !self.is_chat {
            return Some(event);
        }
        let (node, role) = (None, None);
        Some(Event {
            node,
            role,
            ..event
        })
        .filter(|event| !is_of_the_walk(&event.what))
    }

    fn news(&mut self) -> Result<Vec<Event>, Stop> {
        let Self {
            follower,
            teller,
            known,
            is_chat,
            answer,
            ..
        } = self;
        let mut events = Vec::new();
        follower.read(&mut |recorded| {
            let told = teller.hear(recorded);
            if recorded.seq > *known {
                if *is_chat {
                    keep_last(answer, &told);
                }
                events.extend(told);
            }
        })?;
        Ok(events)
    }

    /// Says beside the events that a provider says nothing; nothing of it is recorded.
    fn tell_silent(&mut self, out: &mut Output, seen: &Seen) -> Result<(), Stop> {
        for (role, seconds) in &seen.silent {
            if self.told_silent.get(role) == Some(seconds) {
                continue;
            }
            let text = words::silent(*seconds);
            if out.is_json() {
                let at = seen.state.updated_at.unwrap_or(At::from_ms(0));
                let at = at.after(seconds * 1_000);
                let level = note::Level::Warning;
                let members = serde_json::json!({
                    "role": role, "level": level, "code": "provider_silent", "text": text,
                });
                out.value(&aside(&self.flow, at, "note", members))?;
            } else {
                out.note(&format!("{role}: {text}"));
            }
        }
        self.told_silent.clone_from(&seen.silent);
        Ok(())
    }
}

/// Whether it only says how a flow walks, which a chat does not.
fn is_of_the_walk(what: &What) -> bool {
    let is_note = |codes: &[&str]| matches!(what, What::Note { code, .. } if codes.contains(code));
    is_note(&["flow_created", "operator_replied", "stop_requested"])
        || matches!(
            what,
            What::Works { .. } | What::Replied { .. } | What::Stands(Pause::Stopped)
        )
}

const fn is_speech(what: &What) -> bool {
    matches!(what, What::Says { .. } | What::Said { .. })
}

/// The last text of the role in a chat is its answer.
fn keep_last(answer: &mut String, told: &[Event]) {
    for event in told {
        if let What::Said {
            text,
            end: Speech::Whole,
            ..
        } = &event.what
        {
            answer.clone_from(text);
        }
    }
}

/// The provider of each configured model. A configuration that cannot be read is reported elsewhere.
fn providers() -> BTreeMap<String, String> {
    let (_, catalog) = user::catalog().unwrap_or_default();
    let models = catalog.models.into_iter();
    models.map(|(name, model)| (name, model.provider)).collect()
}
