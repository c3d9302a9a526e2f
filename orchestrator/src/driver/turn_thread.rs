//! One turn on a thread of its own: the taker says a step, the flow's task answers.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use a_society_roles::turn::step::{Step, Told};
use a_society_roles::turn::stop::StopSignal;

use super::core::{Core, Start};
use super::error::DriverError;
use super::step::Heard;
use super::task::Inbox;

/// How long a turn sleeps before it looks whether it should stop.
const NAP: Duration = Duration::from_millis(20);

/// Runs a turn to its end on a thread of its own, from its beginning or from a step that it has
/// said already. Whatever it says, the flow's task decides what of it counts.
pub(super) fn spawn(
    start: Start,
    said: Option<Step>,
    inbox: &SyncSender<Inbox>,
) -> std::io::Result<()> {
    let inbox = inbox.clone();
    std::thread::Builder::new()
        .name(format!("turn-{}", start.turn.0))
        .spawn(move || run(start, said, &inbox))
        .map(drop)
}

fn run(mut start: Start, said: Option<Step>, inbox: &SyncSender<Inbox>) {
    let mut step = said.unwrap_or_else(|| start.taker.next(Told::Begin));
    while let Some(told) = exchange(&start, step, inbox) {
        step = start.taker.next(told);
    }
}

/// Takes a turn to its end on this thread, in a process that drives nothing else.
///
/// # Errors
/// When the journal refuses.
pub(super) fn run_here(core: &mut Core, mut start: Start) -> Result<(), DriverError> {
    let mut told = Told::Begin;
    loop {
        let step = start.taker.next(told);
        if let Step::Wait { ms } = step {
            sleep(Duration::from_millis(ms), [&start.stop, &start.nap]);
        }
        match core.step(start.turn, start.attempt, step)? {
            Heard::Go(next) => told = next,
            Heard::Over => return Ok(()),
        }
    }
}

fn exchange(start: &Start, step: Step, inbox: &SyncSender<Inbox>) -> Option<Told> {
    if let Step::Wait { ms } = step {
        sleep(Duration::from_millis(ms), [&start.stop, &start.nap]);
    }
    let said = |step, answer| Inbox::Step {
        turn: start.turn,
        attempt: start.attempt,
        step,
        answer,
    };
    if waits_for_nothing(&step) {
        // What follows it is heard after it. Whoever is told to stop hears it from the signal, and
        // at the next step; so does whoever leaves the turn here.
        inbox.send(said(step, None)).ok()?;
        return Some(Told::Done { call: None });
    }
    let (answer, answered) = sync_channel(1);
    inbox.send(said(step, Some(answer))).ok()?;
    match answered.recv().ok()? {
        Heard::Go(told) => Some(told),
        Heard::Over => None,
    }
}

/// Whether a turn goes on from a step whatever comes of it: text that streams, and what only has to be
/// recorded before the next step is.
fn waits_for_nothing(step: &Step) -> bool {
    match step {
        Step::Draft { .. } | Step::Answer { .. } => true,
        Step::Finish { is_settled, .. } => *is_settled,
        Step::Ask { .. }
        | Step::Stalled { .. }
        | Step::Discard { .. }
        | Step::Failed { .. }
        | Step::Intend(_)
        | Step::Begin { .. }
        | Step::Consent(_)
        | Step::Start { .. }
        | Step::Refuse { .. }
        | Step::Trust { .. }
        | Step::Absent { .. }
        | Step::Compact(_)
        | Step::Choose(_)
        | Step::Wait { .. }
        | Step::End(_) => false,
    }
}

/// Lets time pass in short naps. Each is at least as long as it says, so that the whole is, too.
fn sleep(time: Duration, wakes: [&StopSignal; 2]) {
    let mut left = time;
    while !left.is_zero() && !wakes.iter().any(|wake| wake.is_raised()) {
        let nap = left.min(NAP);
        std::thread::sleep(nap);
        left = left.saturating_sub(nap);
    }
}
