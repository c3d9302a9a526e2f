//! `watch` for a screen that is read aloud: labelled lines, numbers that Enter ends, and nothing is drawn over.

use std::collections::BTreeMap;
use std::time::Duration;

use a_society_facts::Verb;
use a_society_facts::id::Seq;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::standing::FlowStanding;
use a_society_operator_ui::fold::asks::{OpenAsk, open};
use a_society_state::index::{Row, rows};
use a_society_state::{FlowRef, Store};

use super::answered;
use super::view::name;
use crate::cli::asks::{self, short};
use crate::cli::card::{Card, Typed, is_answered_here, to_reply};
use crate::cli::card_rows::CardPlace;
use crate::cli::context::Context;
use crate::cli::drive::asking::{call_of, face, spoken, spoken_mark};
use crate::cli::own_turn::Act;
use crate::cli::prompt::{Heard, Prompt};
use crate::cli::signals::Interrupts;
use crate::cli::status::works_and_asks;
use crate::cli::turn_files::{Next, TurnFiles};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::output::Output;
use crate::text::{count, money, one_line, plain, printed_exact};

/// What is typed is taken at once; without it the wait ends after this.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The journals are read anew so often. Each flow has a folder of its own, and a screen that is read aloud wants no more news.
const READ_EVERY_MS: i64 = 500;

/// A line of progress comes after so long at the earliest.
const PROGRESS_EVERY_MS: i64 = 30_000;

/// A longer question is cut in the list.
const LISTED_COLUMNS_MAX: usize = 100;

/// What is typed while nothing is open.
const MARK: &str = "a number and Enter show a question, l lists the flows, q ends> ";

/// A question that is open, and the flow that asks.
type ListedAsk = (FlowRef, OpenAsk);

/// Watches.
pub(super) fn run(context: &mut Context<'_>, store: Store, only: Option<FlowRef>) -> Outcome {
    let interrupts = Interrupts::listen()?;
    let Some(prompt) = Prompt::open() else {
        return Err(super::no_terminal(only.as_ref()));
    };
    let editor = context.environment.editor.clone();
    let mut spoken = PlainWatch {
        out: &mut context.out,
        store,
        only,
        editor,
        prompt,
        listed: Vec::new(),
        read: BTreeMap::new(),
        open: None,
        progress: String::new(),
        progress_ms: 0,
    };
    spoken.until_quit(&interrupts)
}

struct PlainWatch<'a> {
    out: &'a mut Output,
    store: Store,
    only: Option<FlowRef>,
    editor: String,
    prompt: Prompt,
    /// The questions as they were listed last.
    listed: Vec<ListedAsk>,
    /// What each flow asked at a record.
    read: BTreeMap<FlowRef, (Seq, Vec<OpenAsk>)>,
    /// The question that is open.
    open: Option<(FlowRef, Card)>,
    /// The last line of progress, and when it was printed.
    progress: String,
    progress_ms: i64,
}

impl PlainWatch<'_> {
    fn until_quit(&mut self, interrupts: &Interrupts) -> Outcome {
        let flows = self.flows()?;
        self.tell_flows(&flows)?;
        self.progress = self.progress_of(&flows);
        self.progress_ms = self.now_ms();
        self.look(&flows, true)?;
        interrupts.wakes(self.prompt.waker());
        let mut read_at = self.now_ms();
        loop {
            // What is typed ends the wait, and so does a signal.
            self.prompt.wait(LOOK_EVERY);
            if interrupts.count() > 0 {
                self.out.line("")?;
                return Ok(ExitCode::Interrupted);
            }
            match self.prompt.heard() {
                Heard::Line(line) => {
                    if self.take(line.trim())? {
                        return Ok(ExitCode::Ok);
                    }
                }
                Heard::End => return Ok(ExitCode::Ok),
                Heard::Nothing | Heard::Keys(_) => {}
            }
            let now = self.now_ms();
            if now - read_at >= READ_EVERY_MS {
                read_at = now;
                let flows = self.flows()?;
                self.look(&flows, false)?;
                self.remind(&flows)?;
            }
        }
    }

    /// The flows that are not over.
    fn flows(&self) -> Result<Vec<Row>, Stop> {
        let flows = match &self.only {
            Some(only) => vec![only.clone()],
            None => self.store.census()?.flows,
        };
        let mut rows = rows(&self.store, &flows);
        rows.retain(|row| (row.summary.as_ref()).is_some_and(|summary| !summary.is_over()));
        Ok(rows)
    }

    /// Looks what is asked, and lists it if that is not what was listed.
    fn look(&mut self, flows: &[Row], is_first: bool) -> Result<(), Stop> {
        let mut asked = Vec::new();
        for row in flows.iter().filter(|row| row.damage.is_none()) {
            let seq = row.summary.as_ref().map_or(0, |summary| summary.seq);
            let known = self.read.get(&row.flow).filter(|(at, _)| *at == seq);
            let asks = match known {
                Some((_, asks)) => asks.clone(),
                None => self.asks_of(&row.flow)?,
            };
            self.read.insert(row.flow.clone(), (seq, asks.clone()));
            let here = asks.into_iter();
            let here = here.filter(|ask| is_answered_here(&ask.question));
            asked.extend(here.map(|ask| (row.flow.clone(), ask)));
        }
        self.read
            .retain(|flow, _| flows.iter().any(|row| row.flow == *flow));
        let is_same = self.listed == asked;
        self.listed = asked;
        let is_gone = self.open.as_ref().is_some_and(|(flow, card)| {
            let is_it = |(of, ask): &ListedAsk| of == flow && ask.question == card.question;
            !self.listed.iter().any(is_it)
        });
        if is_gone {
            self.open = None;
            self.out.line("")?;
            self.out.note("this was answered elsewhere");
        }
        if is_gone || is_first || (!is_same && self.open.is_none()) {
            self.list()?;
        }
        Ok(())
    }

    fn asks_of(&self, flow: &FlowRef) -> Result<Vec<OpenAsk>, Stop> {
        let state = self.store.look(flow)?.screen.flow;
        let pending = works_and_asks(&self.store, flow, &state)?;
        Ok(open(&state, &pending))
    }

    /// Lists what waits.
    fn list(&mut self) -> Result<(), Stop> {
        let number = self.listed.len();
        let waits = match number {
            0 => "nothing waits for you".to_owned(),
            number => format!("{} for you", count(number, "question")),
        };
        self.out.line(&format!("needs you: {waits}"))?;
        for (at, (flow, ask)) in self.listed.iter().enumerate() {
            let says = asks::says(ask).unwrap_or_default();
            let says = one_line(says.lines().next().unwrap_or_default(), LISTED_COLUMNS_MAX);
            let says = if says.is_empty() {
                says
            } else {
                format!(": {says}")
            };
            let (who, what) = (asks::who(ask), ask.wants());
            let line = format!("{}, {who} waits for {what}{says}", name(flow));
            self.out.line(&format!("{}. {}", at + 1, plain(&line)))?;
        }
        self.ask(MARK);
        Ok(())
    }

    fn tell_flows(&mut self, flows: &[Row]) -> Result<(), Stop> {
        let now = self.store.ground().clock.now();
        for row in flows {
            let Some(summary) = &row.summary else {
                continue;
            };
            let mut parts = vec![row.standing_words(now).unwrap_or_default()];
            parts.push(format!("{} of {} nodes done", summary.done, summary.nodes));
            parts.extend((summary.cost_micros > 0).then(|| money(summary.cost_micros)));
            parts.push(plain(&summary.title).into_owned());
            self.out
                .line(&format!("flow: {}: {}", name(&row.flow), parts.join("; ")))?;
        }
        Ok(())
    }

    /// How many flows do what, in a line.
    fn progress_of(&self, flows: &[Row]) -> String {
        let number = |is_it: fn(FlowStanding) -> bool| {
            let standing = flows.iter().filter_map(Row::standing);
            standing.filter(|standing| is_it(*standing)).count()
        };
        let waiting = number(|standing| standing == FlowStanding::Waiting);
        let stopped = number(|standing| standing == FlowStanding::Stopped);
        let at_work = number(|standing| {
            use FlowStanding::{Compacting, Limited, Retrying, Working};
            matches!(standing, Working | Compacting | Retrying(_) | Limited(_))
        });
        let spent = flows.iter().filter_map(|row| row.summary.as_ref());
        let spent: u64 = spent.map(|summary| summary.cost_micros).sum();
        format!(
            "progress: {} waiting for you; {at_work} at work; {stopped} stopped; {} spent",
            count(waiting, "flow"),
            money(spent)
        )
    }

    /// Prints how far the flows are, if that changed and the last line is old enough.
    fn remind(&mut self, flows: &[Row]) -> Result<(), Stop> {
        let now = self.now_ms();
        let progress = self.progress_of(flows);
        if now - self.progress_ms < PROGRESS_EVERY_MS || progress == self.progress {
            return Ok(());
        }
        self.out.line("")?;
        self.out.line(&progress)?;
        (self.progress, self.progress_ms) = (progress, now);
        self.mark();
        Ok(())
    }

    /// Does what a line means. Whether it ends this.
    fn take(&mut self, line: &str) -> Result<bool, Stop> {
        let now = self.now_ms();
        let Some((_, card)) = &mut self.open else {
            return self.choose(line);
        };
        if line == "0" || (line.is_empty() && card.is_text()) {
            self.open = None;
            self.list()?;
            return Ok(false);
        }
        let typed = card.hear(line, now);
        self.carry_out(typed)?;
        Ok(false)
    }

    /// A line while no question is open.
    fn choose(&mut self, line: &str) -> Result<bool, Stop> {
        match line {
            "q" => return Ok(true),
            "l" => {
                let flows = self.flows()?;
                self.tell_flows(&flows)?;
            }
            _ => {
                let number: Option<usize> = line.parse().ok();
                let at = number.and_then(|number| number.checked_sub(1));
                if let Some(asked) = at.and_then(|at| self.listed.get(at)).cloned() {
                    self.show(asked)?;
                    return Ok(false);
                }
                if !line.is_empty() {
                    self.out.note("there is no question of this number");
                }
            }
        }
        self.list()?;
        Ok(false)
    }

    /// Shows a question with its answers.
    fn show(&mut self, (flow, ask): ListedAsk) -> Result<(), Stop> {
        let state: FlowState = self.store.look(&flow)?.screen.flow;
        let call = call_of(&self.store, &flow, &ask, &state);
        let face = face(&ask, &call, CardPlace { number: 1, of: 1 });
        let card = Card::new(ask.question.clone(), call, true, self.now_ms());
        for line in spoken(short(&flow), &ask, &face, &card) {
            self.out.line(&line)?;
        }
        let back = if card.choices().is_empty() {
            "nothing but Enter goes back"
        } else {
            "0. back to the list"
        };
        self.out.line(back)?;
        self.open = Some((flow, card));
        self.mark();
        Ok(())
    }

    fn carry_out(&mut self, typed: Typed) -> Result<(), Stop> {
        match typed {
            Typed::Command(command) => return self.say(command),
            Typed::Show(text) => {
                for line in text.lines() {
                    self.out.line(&format!("text: {}", printed_exact(line)))?;
                }
                let now = self.now_ms();
                if let Some((_, card)) = &mut self.open {
                    card.was_shown(now);
                }
                self.tell_choices()?;
            }
            Typed::Own(act) => return self.own(act),
            Typed::Said(says) => self.out.note(&says),
            Typed::Again | Typed::Next | Typed::Nothing => self.tell_choices()?,
        }
        self.mark();
        Ok(())
    }

    /// The answers that work now.
    fn tell_choices(&mut self) -> Result<(), Stop> {
        let Some((_, card)) = &self.open else {
            return Ok(());
        };
        for (at, (_, does)) in card.choices().into_iter().enumerate() {
            self.out.line(&format!("{}. {does}", at + 1))?;
        }
        Ok(())
    }

    /// Answers, and goes back to the list.
    fn say(&mut self, command: Verb) -> Result<(), Stop> {
        let Some((flow, _)) = self.open.take() else {
            return Ok(());
        };
        let says = match answered(&self.store, &flow, command) {
            Ok((says, _)) => format!("you: {says}"),
            Err(why) => format!("not answered: {why}"),
        };
        self.out.line(&plain(&says))?;
        self.read.remove(&flow);
        let flows = self.flows()?;
        self.look(&flows, true)
    }

    /// Does a step towards the end of the operator's own turn.
    fn own(&mut self, act: Act) -> Result<(), Stop> {
        if act == Act::Later {
            self.open = None;
            return self.list();
        }
        let Some((flow, card)) = &mut self.open else {
            return Ok(());
        };
        let files = TurnFiles {
            store: &self.store,
            flow,
            editor: &self.editor,
        };
        let Some(own) = card.own() else {
            return Ok(());
        };
        // What is typed meanwhile is meant for the editor.
        let rest = self.prompt.rest();
        let next = files.carry_out(own, act);
        drop(rest);
        match next {
            Some(Next::Reply(text)) => {
                let command = to_reply(&card.question, text);
                command.map_or(Ok(()), |command| self.say(command))
            }
            Some(Next::Said(says)) => {
                self.out.note(&plain(&says));
                self.tell_choices()?;
                self.mark();
                Ok(())
            }
            None => {
                self.tell_choices()?;
                self.mark();
                Ok(())
            }
        }
    }

    fn mark(&mut self) {
        let mark = match &self.open {
            Some((_, card)) => spoken_mark(card),
            None => MARK.to_owned(),
        };
        self.ask(&mark);
    }

    fn ask(&mut self, mark: &str) {
        self.out.ask(mark);
    }

    fn now_ms(&self) -> i64 {
        self.store.ground().clock.now().ms()
    }
}
