//! Questions at the cursor while a flow is watched.

use std::sync::Arc;

use a_society_facts::view::flow::FlowState;
use a_society_operator_ui::fold::terms::scope;
use a_society_orchestrator::driver::handle::Seen;
use a_society_orchestrator::machine::Question;

use super::{Watch, rests};
use crate::cli::asks::{self, Ask};
use crate::cli::card::{self, Call, Card, Typed, to_reply};
use crate::cli::handed;
use crate::cli::own_turn::Act;
use crate::cli::pager::{self, Paged};
use crate::cli::prompt::{Heard, Prompt};
use crate::cli::turn_files::{self, Next, TurnFiles};
use crate::operator_error::Stop;
use crate::text::{plain, printed};

impl Watch<'_> {
    /// The flow waits for its operator, who is asked or told.
    pub(super) fn answer(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        let asks = asks::of(self.flow, &seen.state, &seen.pending);
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
        // The question is among the finished lines, where long lines may wrap. Where a key answers, the
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

    /// Does a step towards the end of the operator's own turn.
    fn own(&mut self, act: Act, had_keys: bool) -> Result<(), Stop> {
        if act == Act::Later {
            return self.later();
        }
        let files = TurnFiles {
            store: self.store,
            flow: self.flow,
            editor: &self.environment.editor,
        };
        let Some(mut own) = self.card.as_mut().and_then(Card::own).cloned() else {
            return Ok(());
        };
        let next = if matches!(act, Act::Edit(_)) {
            self.away(|| files.carry_out(&mut own, act))?
        } else {
            files.carry_out(&mut own, act)
        };
        let Some(card) = &mut self.card else {
            return Ok(());
        };
        if let Some(there) = card.own() {
            *there = own;
        }
        match next {
            None => Ok(()),
            Some(Next::Reply(text)) => {
                let command = to_reply(&card.question, text);
                command.map_or(Ok(()), |command| {
                    self.take(Typed::Command(command), had_keys)
                })
            }
            Some(Next::Said(says)) => {
                self.say(&plain(&says), had_keys)?;
                self.mark()
            }
        }
    }

    /// Leaves the operator's own turn until the rest is done.
    fn later(&mut self) -> Result<(), Stop> {
        if self.handle.seen().is_some_and(|seen| rests(&seen)) {
            return self.leave();
        }
        self.later
            .extend(self.card.take().map(|card| card.question));
        self.take_keys(!self.is_plain);
        Ok(())
    }

    /// Hands the terminal to another program until it ends. What is pressed meanwhile is meant for that.
    fn away<T>(&mut self, program: impl FnOnce() -> T) -> Result<T, Stop> {
        let (columns, _) = self.out.size();
        self.out.draw(&[], &[], columns)?;
        self.out.finish_drawing();
        self.take_keys(false);
        let interrupts = self.interrupts.count();
        let rest = self.prompt.as_ref().map(Prompt::rest);
        let ended = program();
        drop(rest);
        self.interrupts.forget(interrupts);
        Ok(ended)
    }

    /// Shows all of a text, in the operator's pager if there is one.
    fn show_whole(&mut self, text: &str) -> Result<(), Stop> {
        let lines: Vec<String> = text.lines().map(printed).collect();
        let paged = match &self.environment.pager {
            Some(pager) => self.away(|| pager::page(pager, &lines))?,
            None => Paged::Not(None),
        };
        match paged {
            Paged::Whole => {}
            Paged::Part => {
                let says = "the pager was left before it had all of it; v shows it again";
                return self.say(says, true);
            }
            Paged::Not(why) => {
                let lines: Vec<String> = lines.iter().map(|line| format!("  │ {line}")).collect();
                let (columns, _) = self.out.size();
                self.out.draw(&lines, &[], columns)?;
                if let Some(why) = why {
                    self.say(&plain(&why), true)?;
                }
            }
        }
        let now = self.now_ms();
        if let Some(card) = &mut self.card {
            card.was_shown(now);
        }
        Ok(())
    }

    /// Shows what was printed as one line.
    pub(super) fn read_others(&mut self) -> Result<(), Stop> {
        let texts = self.progress.take_unread();
        if texts.is_empty() {
            return self.say("nobody else said anything that you could not read", true);
        }
        let each = texts
            .iter()
            .map(|(who, text)| format!("{who}:\n{}", text.trim_end()));
        self.show_whole(&each.collect::<Vec<_>>().join("\n\n"))?;
        self.take_keys(!self.is_plain);
        Ok(())
    }

    /// What the operator may see and allow of the call that a question is about.
    fn call(&self, question: &Question, state: &FlowState) -> Call {
        let whole = Call {
            is_whole: true,
            ..Call::default()
        };
        if let Some((own, came_in)) = turn_files::own_turn(self.store, self.flow, (state, question))
        {
            return Call {
                is_whole: !asks::is_cut(&came_in),
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
            Typed::Show(text) => self.show_whole(&text)?,
            Typed::Own(act) => return self.own(act, had_keys),
            Typed::Said(says) if had_keys => self.say(&says, true)?,
            Typed::Said(says) => self.out.note(&says),
            Typed::Again => {}
        }
        self.mark()
    }
}
