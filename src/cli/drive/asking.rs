//! Questions at the cursor while a flow is watched.

use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::view::flow::FlowState;
use a_society_operator_ui::fold::terms::scope;
use a_society_orchestrator::driver::handle::Seen;
use a_society_orchestrator::machine::Question;
use a_society_orchestrator::record::own::{self, Ending, Unwritten};
use a_society_state::disk::Disk;

use super::{Watch, rests};
use crate::cli::asks::{self, Ask};
use crate::cli::card::{self, Call, Card, Typed, to_reply};
use crate::cli::editor::{self, Edited};
use crate::cli::handed;
use crate::cli::own_turn::{Act, Own};
use crate::cli::prompt::{Heard, Prompt};
use crate::operator_error::Stop;
use crate::text::{plain, printed};

/// So many files are named to somebody who chooses one.
const FILES_LISTED_MAX: usize = 12;

impl Watch<'_> {
    /// The flow waits for its operator: what was wished is done, and the rest is asked or told.
    pub(super) fn answer(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        let asks = asks::of(self.flow, &seen.state, &seen.pending);
        for ask in &asks {
            if let Some(command) = self.wished(&ask.question) {
                return self.command(command);
            }
        }
        if self.wishes.ui && !self.wishes.until_waiting && !self.draws() {
            // It is answered from the page.
            return Ok(());
        }
        if self.wishes.until_waiting || !self.draws() {
            return self.leave();
        }
        if self.prompt.is_none() {
            self.prompt = Prompt::open();
        }
        let rests = rests(seen);
        if rests {
            self.later.clear();
        }
        let asked = asks.iter().find(|ask| {
            card::is_answered_here(&ask.question) && !self.later.contains(&ask.question)
        });
        let Some(ask) = asked else {
            // What is asked elsewhere, or later, waits for as long as anything else goes on.
            return if rests { self.leave() } else { Ok(()) };
        };
        let is_shown = (self.card.as_ref()).is_some_and(|card| card.question == ask.question);
        if !is_shown {
            return self.put(ask, seen);
        }
        let heard = self.prompt.as_mut().map_or(Heard::End, Prompt::heard);
        let now = self.now_ms();
        let Some(card) = &mut self.card else {
            return Ok(());
        };
        let had_keys = card.takes_keys();
        let typed = match heard {
            Heard::Nothing => return Ok(()),
            Heard::End => return self.leave(),
            Heard::Line(line) if line.trim().is_empty() && !rests && card.is_text() => {
                self.later.push(card.question.clone());
                self.card = None;
                self.take_keys(!self.is_plain);
                return Ok(());
            }
            Heard::Keys(keys) => card.press(&keys, now),
            Heard::Line(line) => card.hear(&line, now),
        };
        self.take(typed, had_keys)
    }

    /// Puts a question to the operator. What was typed before it was shown answers nothing.
    fn put(&mut self, ask: &Ask, seen: &Arc<Seen>) -> Result<(), Stop> {
        let Some(early) = self.prompt.as_mut().map(Prompt::forget) else {
            return self.leave();
        };
        let call = self.call(&ask.question, &seen.state);
        let is_own = call.own.is_some();
        let text = call.shown.clone().or_else(|| call.text.clone());
        let card = Card::new(ask.question.clone(), call, self.is_plain, self.now_ms());
        // The question stands among what is finished, where long lines may wrap. Where a key answers, the
        // block is drawn below it.
        if card.takes_keys() {
            self.progress.settle(self.out)?;
        } else {
            self.leave_drawn(seen)?;
        }
        let own_turn = is_own.then(|| self.head_of_own(ask));
        let head =
            own_turn.unwrap_or_else(|| [asks::card(self.out, ask), asks::other_ways(ask)].concat());
        for line in head {
            self.out.line(&line)?;
        }
        let shows_text = is_own || matches!(ask.question, Question::Approval { .. });
        if let Some(text) = text.filter(|_| shows_text) {
            for line in asks::said(&text) {
                self.out.line(&format!("  │ {line}"))?;
            }
        }
        if early {
            self.out
                .note("what you typed before this question was shown was not used");
        }
        if !rests(seen) && card.is_text() {
            self.out
                .note("nothing but Enter: later, when the rest is done");
        }
        self.card = Some(card);
        self.mark()
    }

    /// That a turn is the operator's own, and why they are asked again.
    fn head_of_own(&self, ask: &Ask) -> Vec<String> {
        let head = format!("{}: it is your turn", plain(&ask.who));
        let mut lines = vec![self.out.paint.yellow(&head)];
        if let Some(again) = ask.says.as_deref().and_then(asks::again) {
            lines.extend(again.lines().map(|line| format!("  {}", printed(line))));
        }
        lines
    }

    /// The shared folder of the flow.
    fn record(&self) -> PathBuf {
        self.store.folder(self.flow).record()
    }

    fn disk(&self) -> &dyn Disk {
        self.store.ground().disk.as_ref()
    }

    /// Does a step towards the end of the operator's own turn.
    fn own(&mut self, act: Act, had_keys: bool) -> Result<(), Stop> {
        let Some(card) = &self.card else {
            return Ok(());
        };
        let question = card.question.clone();
        let answer = |text| to_reply(&question, text);
        let command = match act {
            Act::Edit(path) => {
                let says = self.edit(&path)?;
                self.say(&plain(&says), had_keys)?;
                return self.mark();
            }
            Act::Later => {
                if self.handle.seen().is_some_and(|seen| rests(&seen)) {
                    return self.leave();
                }
                self.later.push(question);
                self.card = None;
                self.take_keys(!self.is_plain);
                return Ok(());
            }
            Act::End(ending) => answer(own::reply(&ending)),
            Act::SendBack { to, path, words } => {
                match self.write(&path, &format!("{words}\n"), None) {
                    Ok(path) => answer(own::reply(&Ending::Hands { to, path })),
                    Err(why) => {
                        self.say(&plain(&why), had_keys)?;
                        return self.mark();
                    }
                }
            }
            Act::Answer(words) => answer(words),
            Act::Said(_) | Act::Again | Act::Read => None,
        };
        command.map_or(Ok(()), |command| {
            self.take(Typed::Command(command), had_keys)
        })
    }

    /// Lets the operator write a file of the shared folder in an editor. Says what became of it.
    fn edit(&mut self, path: &str) -> Result<String, Stop> {
        let there = own::file(self.disk(), &self.record(), path).ok();
        let over = there.as_ref().map(|found| found.artifact.hash);
        let before = there.map(|found| String::from_utf8(found.bytes));
        let Ok(before) = before.transpose() else {
            return Ok(format!("{path} is no text, and cannot be edited here"));
        };
        let (columns, _) = self.out.size();
        self.out.draw(&[], &[], columns)?;
        self.out.finish_drawing();
        self.take_keys(false);
        let interrupts = self.interrupts.count();
        let rest = self.prompt.as_ref().map(Prompt::rest);
        let edited = editor::edit(
            self.disk(),
            &self.editor,
            (path, before.as_deref().unwrap_or_default()),
        );
        drop(rest);
        // What was pressed in the editor was meant for the editor.
        self.interrupts.forget(interrupts);
        let (said, file) = match edited {
            Edited::Text(said, file) => (said, file),
            Edited::Nothing(why) => return Ok(why),
        };
        match self.write(path, &said, over) {
            Ok(path) => Ok(format!("{path} is written")),
            Err(why) => Ok(match file.keep() {
                Ok((_, kept)) => format!("{why}; what you wrote is in {}", kept.display()),
                Err(error) => format!("{why}, and what you wrote could not be kept: {error}"),
            }),
        }
    }

    /// Writes a file of the shared folder, and gives its path, or why it was not written.
    fn write(&mut self, path: &str, text: &str, over: Option<Hash>) -> Result<String, String> {
        let written = own::write(self.disk(), &self.record(), (path, text.as_bytes()), over);
        let made = written.map_err(|unwritten| match unwritten {
            Unwritten::Path(why) | Unwritten::Disk(why) => {
                format!("{path} was not written: {why}")
            }
            Unwritten::Other => format!(
                "{path} was not written: a file of this name is there, and not the one that was read"
            ),
        })?;
        if let Some(own) = self.card.as_mut().and_then(Card::own) {
            own.wrote(&made.path, made.bytes);
        }
        Ok(made.path)
    }

    /// What the operator may see and allow of the call that a question is about.
    fn call(&self, question: &Question, state: &FlowState) -> Call {
        let whole = Call {
            is_whole: true,
            ..Call::default()
        };
        if let Some((turn, came_in)) = handed::own_turn_of(self.store, self.flow, (state, question))
            && let Question::Text { role, .. } = question
        {
            let (files, _) = own::files(self.disk(), &self.record(), FILES_LISTED_MAX);
            let is_whole = !asks::is_cut(&came_in);
            let own = Own::new((turn, role.to_string()), files, !is_whole);
            return Call {
                is_whole,
                own: Some(own),
                text: Some(came_in),
                ..Call::default()
            };
        }
        if let Question::Approval { approval, .. } = question
            && let Some(staged) = handed::staged(self.store, self.flow, state, approval)
        {
            let shown = staged.difference.as_ref().unwrap_or(&staged.whole);
            return Call {
                is_whole: !asks::is_cut(shown),
                shown: staged.difference,
                text: Some(staged.whole),
                ..Call::default()
            };
        }
        let Question::Consent { consent, .. } = question else {
            return whole;
        };
        let Some(open) = state.consents.get(consent) else {
            return whole;
        };
        let text = asks::whole(self.store, self.flow, &open.shown);
        Call {
            action: Some(open.action),
            is_whole: !asks::is_cut(&text),
            for_the_flow: scope(&open.tool, &text).is_some(),
            text: Some(text),
            own: None,
            shown: None,
        }
    }

    /// Asks for an answer to the question that is shown. Where a key answers, the block says which.
    fn mark(&mut self) -> Result<(), Stop> {
        let Some(card) = &self.card else {
            return Ok(());
        };
        let takes_keys = card.takes_keys();
        let mark = card.mark();
        self.take_keys(takes_keys);
        if takes_keys {
            return Ok(());
        }
        let (columns, _) = self.out.size();
        self.out.draw(&[], &[], columns)?;
        self.out.finish_drawing();
        self.out.ask(&mark);
        Ok(())
    }

    fn now_ms(&self) -> i64 {
        self.store.ground().clock.now().ms()
    }

    /// Does what was typed while a question was shown.
    fn take(&mut self, typed: Typed, had_keys: bool) -> Result<(), Stop> {
        match typed {
            Typed::Nothing => return Ok(()),
            Typed::Command(command) => {
                self.card = None;
                self.take_keys(!self.is_plain);
                // It may have been answered elsewhere a moment ago, or the role wants something else.
                return match self.obeyed(command) {
                    Ok(()) => Ok(()),
                    Err(refused) => self.say(&plain(&refused.to_string()), had_keys),
                };
            }
            Typed::Show(text) => {
                let lines = text.lines();
                let lines: Vec<String> =
                    lines.map(|line| format!("  │ {}", printed(line))).collect();
                let (columns, _) = self.out.size();
                self.out.draw(&lines, &[], columns)?;
            }
            Typed::Own(act) => return self.own(act, had_keys),
            Typed::Said(says) if had_keys => self.say(&says, true)?,
            Typed::Said(says) => self.out.note(&says),
            Typed::Again => {}
        }
        self.mark()
    }
}
