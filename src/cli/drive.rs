//! A flow that this process drives, watched until it is over, waits, or is interrupted.

pub(crate) mod asking;
mod chat_contents;
pub(crate) mod composer;
mod ending;
mod opening;
mod orders;
mod resizing;
pub(crate) mod talk;
mod unsent;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::Verb;
use a_society_facts::fact::flow::Ends;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_orchestrator::driver::error::DriverError;
use a_society_orchestrator::driver::handle::{FlowHandle, Seen};
use a_society_orchestrator::driver::task::Driven;
use a_society_orchestrator::machine::{OperatorQuestion, Work};
use a_society_state::{FlowRef, Store};

use self::resizing::Resizing;
use self::talk::Talk;
use self::unsent::Draft;
use super::asks::short;
use super::at_work::{self, Meaning};
use super::card::Card;
use super::card_rows::CardFace;
use super::context::Context;
use super::drafts::Drafts;
use super::field::{Field, Written};
use super::notify::Notifier;
use super::progress::{Progress, Tail};
use super::prompt::{Heard, Prompt};
use super::say::goes_on_with;
use super::signals::{Interrupts, Suspension};
use crate::environment::Environment;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output::Output;
use crate::text::{plain, wrapped};

/// A terminal is looked after so often, and drawn on at most as often; a key ends the wait.
const FRAME: Duration = Duration::from_millis(33);

/// Where nothing is drawn, records, signals and lines that are typed end the wait. After this the time is looked at, of
/// which a person who reads lines is reminded.
const REMINDED: Duration = Duration::from_secs(1);

/// Keys that come within this time are several at once.
const BURST: Duration = Duration::from_millis(30);

/// The rows that a card leaves: two that are not drawn on, the line that streams and how far the flow is.
const ROWS_BESIDE_CARD: usize = 4;

/// What is decided before anything is asked.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Wishes {
    /// End as soon as the flow waits for you, even on a terminal
    #[arg(long)]
    pub(crate) until_waiting: bool,

    /// How the retrospective runs when the forward work is done: graph, parallel or none; if absent, the
    /// project's setting counts, or you are asked
    #[arg(long, value_name = "HOW", value_parser = super::improve::mode(), hide_possible_values = true)]
    pub(crate) improve: Option<ImprovementMode>,

    /// Whether a feedback report is written; if absent, the project's setting counts, or you are asked
    #[arg(long, value_name = "yes|no", value_parser = super::feedback::yes_or_no(), hide_possible_values = true)]
    pub(crate) feedback: Option<bool>,

    /// How many turns of the flow run at once; 8 if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) turns_at_once: Option<u16>,

    /// Show it in your browser too, for as long as it runs; the address is printed
    #[arg(long)]
    pub(crate) ui: bool,

    /// Write what the flow delivers to a file; - is standard output, which then gets nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,

    /// Print only what the flow delivers, what it asks, and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Watches a flow that is driven, as [`watch`] does, with a page beside it if that is wished.
///
/// # Errors
/// As [`watch`], and when the page cannot be served.
pub(crate) fn shown(
    context: &mut Context<'_>,
    store: &Store,
    flow: &FlowRef,
    known: Seq,
    driven: Driven,
    interrupts: Interrupts,
    wishes: Wishes,
) -> Outcome {
    let is_shown = wishes.ui;
    let watched = Watched {
        known,
        driven,
        interrupts,
        wishes,
        talk: None,
    };
    if !is_shown {
        return watch(context, store, flow, watched);
    }
    let (handle, interrupts) = (watched.driven.handle.clone(), watched.interrupts.clone());
    let mut server = super::serve::beside(context, store)?;
    server.hubs().drives(flow.clone(), handle);
    let outcome = watch(context, store, flow, watched);
    server.hubs().leaves(flow);
    if outcome.is_ok() && interrupts.count() == 0 && context.out.is_terminal() {
        super::serve::linger(context, &interrupts);
    }
    server.end();
    outcome
}

/// A flow that is driven, and how it is watched.
pub(crate) struct Watched {
    /// The last record that was printed before.
    pub(crate) known: Seq,
    pub(crate) driven: Driven,
    /// Listened for before the flow was started.
    pub(crate) interrupts: Interrupts,
    pub(crate) wishes: Wishes,
    /// The messages that leave from here, if it is a chat.
    pub(crate) talk: Option<Talk>,
}

/// Watches a flow that is driven, from a record on, and releases it in good order.
///
/// # Errors
/// When the flow cannot be driven on, or the output is closed.
pub(crate) fn watch(
    context: &mut Context<'_>,
    store: &Store,
    flow: &FlowRef,
    watched: Watched,
) -> Outcome {
    let Watched {
        known,
        driven,
        interrupts,
        wishes,
        talk,
    } = watched;
    opening::tell(context, store, flow, known > 0, wishes.quiet)?;
    // Who talks is there.
    let is_chat = talk.is_some();
    let notifier = match talk {
        Some(_) => None,
        None => Notifier::begin(flow, &driven.handle, store),
    };
    let progress = Progress::new(flow, store.follow(flow)?, known).quiet(wishes.quiet);
    let mut watch = Watch {
        resizing: Resizing::new(context.out.screen_size()),
        out: &mut context.out,
        store,
        flow,
        progress: progress.of_chat(is_chat),
        handle: driven.handle.clone(),
        wishes,
        interrupts,
        suspension: Suspension::default(),
        prompt: None,
        is_plain: context.environment.is_plain,
        environment: context.environment,
        card: None,
        face: None,
        chosen: None,
        field: None,
        drafts: Vec::new(),
        kept: None,
        keeper: Drafts::new(store),
        later: Vec::new(),
        steers: None,
        asked: 0,
        heard_upto: 0,
        draining: false,
        talk,
    };
    match watch.until_the_end() {
        // The system ends the task with the process; what it had not recorded did not happen.
        Ok(End::AtOnce) => return Ok(ExitCode::Interrupted),
        Ok(End::Over) => {}
        Err(stop) => return rested(context, flow, driven, stop),
    }
    let joined = driven.task.join();
    let result = joined.unwrap_or(Err(DriverError::Gone));
    let ended = watch.result(result);
    watch.let_go_of_texts();
    if let Some(why) = notifier.and_then(Notifier::finish) {
        let why = format!("the command of notify: in your configuration failed: {why}");
        context.out.note(&why);
    }
    ended
}

/// The watching stopped, and the flow comes to rest with it.
fn rested(context: &mut Context<'_>, flow: &FlowRef, driven: Driven, stop: Stop) -> Outcome {
    driven.handle.drain();
    drop(driven.task.join());
    let seen = driven.handle.seen();
    let of = seen.map(|seen| (seen.state.status.is_over(), seen.state.chat.is_some()));
    let (over, is_chat) = of.unwrap_or_default();
    if over || !matches!(stop, Stop::OutputClosed) {
        return Err(stop);
    }
    // Who stopped reading may not know that the flow stopped with it.
    let command = goes_on_with(is_chat, short(flow));
    context.out.note(&format!(
        "what is printed is no longer read, and the flow rests; go on: {command}"
    ));
    Ok(ExitCode::Interrupted)
}

/// How the watching ended.
enum End {
    /// The flow's task is over.
    Over,
    /// The operator does not want to wait for it.
    AtOnce,
}

struct Watch<'a> {
    out: &'a mut Output,
    store: &'a Store,
    flow: &'a FlowRef,
    progress: Progress,
    handle: FlowHandle,
    wishes: Wishes,
    interrupts: Interrupts,
    suspension: Suspension,
    prompt: Option<Prompt>,
    /// Whether questions are answered with whole lines only.
    is_plain: bool,
    /// With which programs a person writes a file, and reads what does not fit on the screen.
    environment: &'a Environment,
    /// The question at the cursor.
    card: Option<Card>,
    /// What it shows in the place of the nodes.
    face: Option<CardFace>,
    /// The question that the operator wants to see next.
    chosen: Option<OperatorQuestion>,
    /// The text that is typed, where it is not typed as a whole line.
    field: Option<Field>,
    /// The size of the terminal while it is typed.
    resizing: Resizing,
    /// Texts that were begun for questions that are open still.
    drafts: Vec<Draft>,
    /// A text whose question was answered elsewhere; it is offered at the next one.
    kept: Option<Draft>,
    /// Where all of these are kept for the process that comes after one that died.
    keeper: Drafts,
    /// Questions that the operator answers when the rest is done.
    later: Vec<OperatorQuestion>,
    /// The role that a message is being typed for.
    steers: Option<RoleInstance>,
    /// How many questions can be answered here now.
    asked: usize,
    /// The last record that a command of ours led to; an older look is out of date.
    heard_upto: Seq,
    draining: bool,
    /// The messages that leave from here, if it is a chat.
    talk: Option<Talk>,
}

impl Wishes {
    /// How the flow is to end, as far as that was chosen.
    pub(crate) const fn ends(&self) -> Ends {
        Ends {
            improve: self.improve,
            feedback: self.feedback,
        }
    }
}

impl Watch<'_> {
    fn until_the_end(&mut self) -> Result<End, Stop> {
        let (mut after, mut interrupted) = (0, 0);
        self.interrupts.wakes(self.handle.waker());
        if self.draws() {
            self.suspension = Suspension::listen()?;
            self.open_prompt();
            self.take_keys(true);
        }
        if self.looks() {
            self.take_drafts_over();
        } else if self.composer().is_some() {
            self.open_prompt();
        }
        loop {
            if self.suspension.take() {
                self.away(Suspension::stop)?;
                self.take_keys(true);
            }
            let seen = self.wait(after, interrupted);
            interrupted = self.interrupts.count();
            if interrupted > 0 {
                let is_for_chat = !self.draining && self.interrupted_in_chat()?;
                if !is_for_chat && self.interrupted() {
                    return Ok(End::AtOnce);
                }
            }
            let Some(seen) = seen else { continue };
            after = seen.seq;
            self.close_answered(&seen)?;
            if !seen.over && !self.draining {
                let talks = self.converse(&seen)?;
                if self.card.is_none() && self.talk.is_none() {
                    self.listen(&seen)?;
                }
                if !talks
                    && seen.seq >= self.heard_upto
                    && self.steers.is_none()
                    && self.may_ask(&seen)
                {
                    self.answer(&seen)?;
                }
            }
            // What a key changed is on the screen at once.
            if seen.over || self.settles_size()? {
                self.show(&seen)?;
            }
            self.keep_drafts()?;
            if seen.over {
                return Ok(End::Over);
            }
        }
    }

    /// Reads what is typed from here on.
    fn open_prompt(&mut self) {
        self.prompt = Prompt::open().map(|prompt| prompt.wakes(self.handle.waker()));
    }

    /// Waits for what comes next: a record of the flow, the next frame, a key, or more signals than these.
    fn wait(&mut self, after: Seq, interrupted: usize) -> Option<Arc<Seen>> {
        if !self.draws() {
            return self.wait_undrawn(after, interrupted);
        }
        let is_typing = self.field.is_some();
        match &mut self.prompt {
            Some(prompt) => {
                if prompt.wait(FRAME) && !is_typing {
                    // One key answers, and several at once do not.
                    std::thread::sleep(BURST);
                }
            }
            None => std::thread::sleep(FRAME),
        }
        self.handle.wait(after, Duration::ZERO)
    }

    /// Waits for a record of the flow, a signal or a line.
    fn wait_undrawn(&mut self, after: Seq, interrupted: usize) -> Option<Arc<Seen>> {
        let (interrupts, prompt) = (&self.interrupts, &mut self.prompt);
        let mut is_typed = || prompt.as_mut().is_some_and(Prompt::is_typed);
        // What is typed while nothing takes it is looked at again soon.
        let longest = if is_typed() { FRAME } else { REMINDED };
        self.handle.wait_unless(after, longest, || {
            interrupts.count() > interrupted || longest == REMINDED && is_typed()
        })
    }

    /// Closes the card whose question was answered elsewhere.
    fn close_answered(&mut self, seen: &Seen) -> Result<(), Stop> {
        let Some(card) = &self.card else {
            return Ok(());
        };
        let is_its =
            |work: &Work| matches!(work, Work::AskOperator(question) if *question == card.question);
        if seen.seq < self.heard_upto || seen.pending.iter().any(is_its) {
            return Ok(());
        }
        self.closed_elsewhere()
    }

    fn take_keys(&mut self, wanted: bool) {
        if let Some(prompt) = &mut self.prompt {
            prompt.take_keys(wanted);
        }
    }

    /// Does what a key means while nothing is asked.
    fn listen(&mut self, seen: &Seen) -> Result<(), Stop> {
        let heard = self.prompt.as_mut().map_or(Heard::End, Prompt::heard);
        let key = match heard {
            Heard::Nothing | Heard::End | Heard::Line(_) => return Ok(()),
            Heard::Keys(keys) => keys,
        };
        if self.steers.is_some() {
            return self.spoken(&key);
        }
        match at_work::meaning(&key, seen, self.progress.followed()) {
            Meaning::Nothing => Ok(()),
            Meaning::Says(says) => self.say(&says),
            Meaning::Follow(role) => {
                let says = match &role {
                    Some(role) => format!("{role} is followed from its next words on"),
                    None => "the next role that speaks is followed".to_owned(),
                };
                self.progress.follow(role);
                self.say(&says)
            }
            Meaning::All => {
                let says = if self.progress.toggle_all() {
                    "all of what every role says is printed"
                } else {
                    "one role streams, and what others say is one line"
                };
                self.say(says)
            }
            Meaning::Output => {
                let says = match self.progress.more_output() {
                    0 => "what tools print is not shown".to_owned(),
                    lines => format!("up to {lines} lines of what tools print are shown"),
                };
                self.say(&says)
            }
            Meaning::Read => self.read_others(),
            Meaning::Does(verb) => {
                let done = verb.row().done;
                match self.obeyed(verb) {
                    Ok(()) => self.say(done),
                    Err(refused) => self.say(&plain(&refused.to_string())),
                }
            }
            Meaning::Steer(role) => {
                self.steers = Some(role);
                self.open_field(false)?;
                self.draw(&Arc::new(seen.clone()))
            }
        }
    }

    /// Keys while words for a role at work are typed.
    fn spoken(&mut self, keys: &[u8]) -> Result<(), Stop> {
        let Some(field) = &mut self.field else {
            return Ok(());
        };
        match field.take(keys) {
            Written::Typed | Written::Next | Written::Read => Ok(()),
            Written::Editor => self.edit_text(),
            Written::Full => {
                self.say("the text is full; give a longer one with: a-society steer FLOW ROLE -")
            }
            Written::Left => {
                self.close_field();
                self.steers = None;
                Ok(())
            }
            Written::Sent => {
                let words = self.field.take().map(|field| field.text().to_owned());
                self.steer(&words.unwrap_or_default())
            }
        }
    }

    /// Says something to a role at work.
    fn steer(&mut self, words: &str) -> Result<(), Stop> {
        let Some(role) = self.steers.take() else {
            return Ok(());
        };
        if words.trim().is_empty() {
            return Ok(());
        }
        let command = Verb::Steer {
            role,
            text: words.to_owned(),
            when: SteerWhen::Queue,
        };
        let says = match self.obeyed(command) {
            Ok(()) => "sent; the role reads it with the next request".to_owned(),
            Err(refused) => plain(&refused.to_string()).into_owned(),
        };
        self.say(&says)
    }

    /// Whether it is time to ask the operator: nothing goes on without an answer or, on a terminal,
    /// anything is asked.
    fn may_ask(&self, seen: &Seen) -> bool {
        let asks = |work: &Work| matches!(work, Work::AskOperator(_));
        let looks = self.looks() && !self.wishes.until_waiting;
        rests(seen) || (looks && seen.pending.iter().any(asks))
    }

    /// Says once what an interruption does; a second one ends everything at once.
    fn interrupted(&mut self) -> bool {
        if self.interrupts.count() > 1 {
            self.out.finish_drawing();
            let note = "ended at once; whatever was recorded stays, and the rest runs again";
            self.out.note(note);
            return true;
        }
        if !self.draining {
            self.draining = true;
            self.handle.drain();
            // The block is drawn once more at the end.
            if self.draws() {
                let (columns, _) = self.out.size();
                // An output that is closed says so at the end.
                let _erased = self.out.draw(&[], &[], columns);
            }
            self.out.finish_drawing();
            self.out.note(
                "interrupted: nothing new is started, and running turns reach a recorded point; \
                 again to end at once",
            );
        }
        false
    }

    /// Whether a person looks, who can be asked.
    fn looks(&self) -> bool {
        self.out.is_terminal() && !self.out.is_json()
    }

    /// Whether a picture is drawn for them.
    fn draws(&self) -> bool {
        self.looks() && !self.is_plain
    }

    fn show(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        if !self.draws() {
            // Nothing is printed between the lines that are typed for a question.
            if self.is_plain && self.card.is_some() {
                return Ok(());
            }
            self.progress.print(self.out, Some(seen), self.is_plain)?;
            if self.is_plain {
                let now = self.store.ground().clock.now();
                self.progress.remind(self.out, seen, now)?;
            }
            return Ok(());
        }
        if self.draining {
            return Ok(());
        }
        self.draw(seen)
    }

    fn draw(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        let now = self.store.ground().clock.now();
        let tail = self.tail();
        if let Some(card) = &mut self.card {
            card.was_painted(tail.is_whole, now.ms());
        }
        self.progress.draw(self.out, seen, &self.handle, now, &tail)
    }

    /// What is drawn below the nodes: the keys, or what is asked and what is typed.
    fn tail(&self) -> Tail {
        if let Some(tail) = self.composer_tail() {
            return tail;
        }
        let (columns, _) = self.out.size();
        let wide = columns.saturating_sub(1).max(1);
        let Some(field) = &self.field else {
            let keys = match &self.card {
                Some(card) if self.asked > 1 => {
                    format!("{} · tab next", card.mark())
                }
                Some(card) => card.mark(),
                None if self.prompt.is_some() && !self.wishes.quiet => {
                    let keys = self.out.paint.dim(&at_work::keys(columns));
                    let lines = if keys.is_empty() {
                        Vec::new()
                    } else {
                        vec![keys]
                    };
                    return Tail {
                        lines,
                        ..Tail::default()
                    };
                }
                None => String::new(),
            };
            let lines = if keys.is_empty() {
                Vec::new()
            } else {
                wrapped(&keys, wide)
            };
            return self.with_card(lines, None);
        };
        let mark = match (&self.steers, &self.card) {
            (Some(role), _) => format!("to {role} (empty goes back)> "),
            (None, Some(card)) => card.mark(),
            (None, None) => "> ".to_owned(),
        };
        let mut lines = field.rows(&mark, columns);
        let cursor = Some(lines.len() - 1);
        let is_text = self.card.as_ref().is_some_and(Card::is_text);
        let leaves = match (self.steers.is_some(), is_text) {
            (false, true) if self.asked > 1 => "tab next · esc later",
            (false, true) if self.handle.seen().is_some_and(|seen| rests(&seen)) => "esc later",
            (false, true) => "esc later (the rest goes on)",
            _ => "esc back",
        };
        let keys = format!("enter sends · ctrl-j new line · ctrl-g editor · {leaves}");
        lines.extend(
            wrapped(&keys, wide)
                .iter()
                .map(|row| self.out.paint.dim(row)),
        );
        self.with_card(lines, cursor)
    }

    /// These lines below the question, which takes the place of the nodes and what room the screen has.
    fn with_card(&self, lines: Vec<String>, cursor: Option<usize>) -> Tail {
        let (columns, rows) = self.out.size();
        let face = self.face.as_ref().filter(|_| self.card.is_some());
        let card = face.map(|face| {
            // More may be asked by now.
            let mut face = face.clone();
            face.face.place.of = self.asked.max(face.face.place.number);
            if self.card.as_ref().is_some_and(Card::is_shown) {
                face.face.then = None;
            }
            let room = rows.saturating_sub(ROWS_BESIDE_CARD + lines.len());
            face.fitted(&self.out.paint, columns, room)
        });
        let is_whole = card.as_ref().is_none_or(|card| card.is_whole);
        Tail {
            card: card.map(|card| card.rows).unwrap_or_default(),
            asks: self.card.is_some(),
            is_whole,
            lines,
            cursor,
        }
    }

    /// Says something in the place of the block, which is drawn again below it; where whole lines are typed, as a line.
    fn say(&mut self, says: &str) -> Result<(), Stop> {
        if !self.draws() {
            self.out.note(says);
            return Ok(());
        }
        let (columns, _) = self.out.size();
        self.out.draw(&wrapped(says, columns), &[], columns)
    }

    /// Draws once more and keeps it; later lines are printed below it.
    fn leave_drawn(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        self.close_field();
        (self.card, self.face) = (None, None);
        let now = self.store.ground().clock.now();
        let tail = Tail::default();
        self.progress
            .draw(self.out, seen, &self.handle, now, &tail)?;
        self.out.finish_drawing();
        Ok(())
    }

    /// Releases the flow; what it waits for is printed at the end.
    fn leave(&mut self) -> Result<(), Stop> {
        self.handle.drain();
        self.draining = true;
        Ok(())
    }

    fn obeyed(&mut self, command: Verb) -> Result<(), DriverError> {
        match self.handle.obey(command, None) {
            Ok(taken) => {
                self.heard_upto = taken.seq;
                Ok(())
            }
            // Its own end says why.
            Err(DriverError::Gone) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Whether no work goes on, and the operator is asked something. A wait for a limit of a provider to
/// reset does not count as work.
fn rests(seen: &Seen) -> bool {
    let asks = |work: &Work| matches!(work, Work::AskOperator(_));
    let waits = |work: &Work| asks(work) || matches!(work, Work::WaitUntil { .. });
    seen.live == 0 && seen.pending.iter().any(asks) && seen.pending.iter().all(waits)
}

/// Why a flow is not driven any more.
fn from_driver(error: DriverError, flow: &FlowRef, is_chat: bool) -> Stop {
    match error.into_state() {
        Ok(error) => error.into(),
        Err(error) => OperatorError::new(
            ("flow-stopped", ExitCode::Failed),
            format!("{flow} is not driven any more"),
            error.to_string(),
            format!(
                "look at it, then go on: {}",
                goes_on_with(is_chat, short(flow))
            ),
        )
        .into(),
    }
}
