//! Questions at the cursor while a flow is watched.

use std::sync::Arc;

use a_society_facts::view::flow::FlowState;
use a_society_operator_ui::fold::terms::scope;
use a_society_orchestrator::driver::handle::Seen;
use a_society_orchestrator::machine::Question;

use super::{Watch, rests};
use crate::cli::asks::{self, Ask};
use crate::cli::card::{self, Call, Card, Typed};
use crate::cli::prompt::{Heard, Prompt};
use crate::operator_error::Stop;
use crate::text::{plain, printed};

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
        let text = call.text.clone();
        let card = Card::new(ask.question.clone(), call, self.is_plain, self.now_ms());
        // The question stands among what is finished, where long lines may wrap. Where a key answers, the
        // block is drawn below it.
        if card.takes_keys() {
            self.progress.settle(self.out)?;
        } else {
            self.leave_drawn(seen)?;
        }
        for line in [asks::card(self.out, ask), asks::other_ways(ask)].concat() {
            self.out.line(&line)?;
        }
        if let (Question::Approval { .. }, Some(text)) = (&ask.question, &text) {
            for line in asks::said(text) {
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

    /// What the operator may see and allow of the call that a question is about.
    fn call(&self, question: &Question, state: &FlowState) -> Call {
        let whole = Call {
            is_whole: true,
            ..Call::default()
        };
        if let Question::Approval { approval, .. } = question
            && let Some(text) = asks::artifacts(self.store, self.flow, state, approval)
        {
            return Call {
                is_whole: !asks::is_cut(&text),
                text: Some(text),
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
            Typed::Said(says) if had_keys => self.say(&says, true)?,
            Typed::Said(says) => self.out.note(&says),
            Typed::Again => {}
        }
        self.mark()
    }
}
