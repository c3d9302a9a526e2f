//! A flow that this process drives, watched until it is over, waits, or is interrupted.

mod asking;
mod ending;
mod opening;

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
use a_society_orchestrator::machine::{Question, Work};
use a_society_state::{FlowRef, Store};

use super::asks::short;
use super::at_work::{self, Meaning};
use super::card::Card;
use super::context::Context;
use super::notify::Notifier;
use super::progress::Progress;
use super::prompt::{Heard, Prompt};
use super::signals::Interrupts;
use crate::environment::Environment;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output::Output;
use crate::text::plain;

/// The picture is drawn at most this often; more is no calmer and tells no more.
const FRAME: Duration = Duration::from_millis(100);

/// What is decided before anything is asked.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Wishes {
    /// End as soon as the flow waits for you, even on a terminal
    #[arg(long)]
    pub(crate) until_waiting: bool,

    /// How roles look back when the forward work is done: graph, parallel or none; if absent, the
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
    (store, flow, known): (&Store, &FlowRef, Seq),
    (driven, interrupts): (Driven, Interrupts),
    wishes: Wishes,
) -> Outcome {
    if !wishes.ui {
        return watch(context, (store, flow, known), (driven, interrupts), wishes);
    }
    let mut server = super::serve::beside(context, store)?;
    server.hubs().drives(flow.clone(), driven.handle.clone());
    let outcome = watch(
        context,
        (store, flow, known),
        (driven, interrupts.clone()),
        wishes,
    );
    server.hubs().leaves(flow);
    if outcome.is_ok() && interrupts.count() == 0 && context.out.is_terminal() {
        super::serve::linger(context, &interrupts);
    }
    server.end();
    outcome
}

/// Watches a flow that is driven, from a record on, and releases it in good order. The caller listens
/// for interruptions before it starts the flow.
///
/// # Errors
/// When the flow cannot be driven on, or the output is closed.
fn watch(
    context: &mut Context<'_>,
    (store, flow, known): (&Store, &FlowRef, Seq),
    (driven, interrupts): (Driven, Interrupts),
    wishes: Wishes,
) -> Outcome {
    opening::tell(context, (store, flow), known > 0, wishes.quiet)?;
    let notifier = Notifier::begin(flow, &driven.handle);
    let mut watch = Watch {
        out: &mut context.out,
        store,
        flow,
        progress: Progress::new(flow, store.follow(flow)?, known).quiet(wishes.quiet),
        handle: driven.handle.clone(),
        wishes,
        interrupts,
        prompt: None,
        is_plain: context.environment.is_plain,
        environment: context.environment,
        card: None,
        later: Vec::new(),
        steers: None,
        heard_upto: 0,
        draining: false,
    };
    let ended = watch.until_the_end();
    match ended {
        // The system ends the task with the process; what it had not recorded did not happen.
        Ok(End::AtOnce) => return Ok(ExitCode::Interrupted),
        Ok(End::Over) => {}
        Err(stop) => {
            driven.handle.drain();
            drop(driven.task.join());
            let over = driven
                .handle
                .seen()
                .is_some_and(|seen| seen.state.status.is_over());
            if over || !matches!(stop, Stop::OutputClosed) {
                return Err(stop);
            }
            // Who stopped reading may not know that the flow stopped with it.
            let name = short(flow);
            context.out.note(&format!(
                "nobody reads what is printed, and the flow rests; go on: a-society resume {name}"
            ));
            return Ok(ExitCode::Interrupted);
        }
    }
    let joined = driven.task.join();
    let result = joined.unwrap_or(Err(DriverError::Gone));
    let ended = watch.result(result);
    if let Some(why) = notifier.and_then(Notifier::finish) {
        let why = format!("the command of notify: in your configuration failed: {why}");
        context.out.note(&why);
    }
    ended
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
    prompt: Option<Prompt>,
    /// Whether questions are answered with whole lines only.
    is_plain: bool,
    /// With which programs a person writes a file, and reads what does not fit on the screen.
    environment: &'a Environment,
    /// The question at the cursor.
    card: Option<Card>,
    /// Questions that the operator answers when the rest is done.
    later: Vec<Question>,
    /// The role that a message is being typed for.
    steers: Option<RoleInstance>,
    /// The last record that a command of ours led to; an older look is out of date.
    heard_upto: Seq,
    draining: bool,
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
        let mut after = 0;
        if self.draws() && !self.is_plain {
            self.prompt = Prompt::open();
            self.take_keys(true);
        }
        loop {
            let seen = self.handle.wait(after, FRAME);
            if self.interrupts.count() > 0 && self.interrupted() {
                return Ok(End::AtOnce);
            }
            let Some(seen) = seen else { continue };
            after = seen.seq;
            self.show(&seen)?;
            if seen.over {
                return Ok(End::Over);
            }
            if self.draining {
                continue;
            }
            if self.card.is_none() {
                self.listen(&seen)?;
            }
            if seen.seq >= self.heard_upto && self.steers.is_none() && self.may_ask(&seen) {
                self.answer(&seen)?;
            }
        }
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
            Heard::Nothing | Heard::End => return Ok(()),
            Heard::Line(words) => return self.steer(&words),
            Heard::Keys(keys) => keys,
        };
        match at_work::meaning(&key, seen, self.progress.followed()) {
            Meaning::Nothing => Ok(()),
            Meaning::Says(says) => self.say(&says, true),
            Meaning::Follow(role) => {
                let says = match &role {
                    Some(role) => format!("{role} is followed from its next words on"),
                    None => "the next role that speaks is followed".to_owned(),
                };
                self.progress.follow(role);
                self.say(&says, true)
            }
            Meaning::All => {
                let says = if self.progress.toggle_all() {
                    "all of what every role says is printed"
                } else {
                    "one role streams, and what others say is one line"
                };
                self.say(says, true)
            }
            Meaning::Output => {
                let says = match self.progress.more_output() {
                    0 => "what tools print is not shown".to_owned(),
                    lines => format!("up to {lines} lines of what tools print are shown"),
                };
                self.say(&says, true)
            }
            Meaning::Read => self.read_others(),
            Meaning::Does(verb) => {
                let done = verb.done();
                match self.obeyed(verb) {
                    Ok(()) => self.say(done, true),
                    Err(refused) => self.say(&plain(&refused.to_string()), true),
                }
            }
            Meaning::Steer(role) => {
                let (columns, _) = self.out.size();
                self.out.draw(&[], &[], columns)?;
                self.out.finish_drawing();
                self.take_keys(false);
                self.out.ask(&format!("to {role} (nothing to go back)> "));
                self.steers = Some(role);
                Ok(())
            }
        }
    }

    /// Says something to a role at work.
    fn steer(&mut self, words: &str) -> Result<(), Stop> {
        let Some(role) = self.steers.take() else {
            return Ok(());
        };
        self.take_keys(true);
        if words.trim().is_empty() {
            return Ok(());
        }
        let command = Verb::Steer {
            role,
            text: words.to_owned(),
            when: SteerWhen::Queue,
        };
        let says = match self.obeyed(command) {
            Ok(()) => "said; it is heard with the next request".to_owned(),
            Err(refused) => plain(&refused.to_string()).into_owned(),
        };
        self.say(&says, true)
    }

    /// Whether it is time to ask the operator: nothing goes on without an answer or, on a terminal,
    /// anything is asked.
    fn may_ask(&self, seen: &Seen) -> bool {
        let asks = |work: &Work| matches!(work, Work::AskOperator(_));
        let looks = self.draws() && !self.wishes.until_waiting;
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
            self.out.finish_drawing();
            self.out.note(
                "interrupted: nothing new is started, and running turns reach a recorded point; \
                 again to end at once",
            );
        }
        false
    }

    fn draws(&self) -> bool {
        self.out.is_terminal() && !self.out.is_json()
    }

    fn show(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        if !self.draws() {
            return self.progress.print(self.out, Some(seen));
        }
        if let Some(card) = &self.card {
            let is_open = |work: &Work| matches!(work, Work::AskOperator(question) if *question == card.question);
            if seen.seq < self.heard_upto || seen.pending.iter().any(is_open) {
                return self.hold(seen);
            }
            let has_keys = card.takes_keys();
            self.card = None;
            self.take_keys(!self.is_plain);
            self.say("this was answered elsewhere", has_keys)?;
        }
        // A line that is typed is left alone.
        if self.draining || self.steers.is_some() {
            return Ok(());
        }
        self.draw(seen)
    }

    fn draw(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        let now = self.store.ground().clock.now();
        let keys = match &self.prompt {
            Some(_) if !self.is_plain => at_work::keys(self.out.size().0),
            Some(_) | None => String::new(),
        };
        self.progress
            .draw(self.out, seen, (&self.handle, now), &keys)
    }

    /// Below a question that a key answers the nodes are drawn in their present state, while finished
    /// lines are held back, so that the question stays readable. A line that is typed is left alone.
    fn hold(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        let Some(card) = self.card.as_ref().filter(|card| card.takes_keys()) else {
            return Ok(());
        };
        let mark = card.mark();
        let now = self.store.ground().clock.now();
        self.progress.hold(self.out, seen, (&mark, now))
    }

    /// Says something while a question is asked: in the place of the block, if there is one.
    fn say(&mut self, says: &str, in_block: bool) -> Result<(), Stop> {
        if !in_block {
            self.out.line("")?;
            self.out.note(says);
            return Ok(());
        }
        let (columns, _) = self.out.size();
        self.out.draw(&[says.to_owned()], &[], columns)
    }

    /// Draws once more and keeps it; later lines are printed below it.
    fn leave_drawn(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        self.draw(seen)?;
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
fn from_driver(error: DriverError, flow: &FlowRef) -> Stop {
    match error.into_state() {
        Ok(error) => error.into(),
        Err(error) => OperatorError::new(
            ("flow-stopped", ExitCode::Failed),
            format!("{flow} is not driven any more"),
            error.to_string(),
            format!("look at it, then go on: a-society resume {}", short(flow)),
        )
        .into(),
    }
}
