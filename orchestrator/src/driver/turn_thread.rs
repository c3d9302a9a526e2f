//! One turn on a thread of its own: the taker says a step, the flow's task answers.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use a_society_facts::id::TurnId;
use a_society_roles::turn::step::{Step, Told};
use a_society_roles::turn::stop::StopSignal;
use a_society_roles::turn::taker::Taker;

use super::core::Start;
use super::step::Heard;
use super::task::Inbox;

/// How long a turn sleeps before it looks whether it should stop.
const NAP: Duration = Duration::from_millis(20);

/// Runs a turn to its end. Whatever it says, the flow's task decides what of it counts.
pub(super) fn run(start: Start, inbox: &SyncSender<Inbox>) {
    let Start {
        turn,
        attempt,
        mut taker,
        stop,
        nap,
    } = start;
    let mut told = Told::Begin;
    loop {
        match exchange(taker.as_mut(), (turn, attempt), told, [&stop, &nap], inbox) {
            Some(next) => told = next,
            None => return,
        }
    }
}

fn exchange(
    taker: &mut dyn Taker,
    (turn, attempt): (TurnId, u32),
    told: Told,
    wakes: [&StopSignal; 2],
    inbox: &SyncSender<Inbox>,
) -> Option<Told> {
    let step = taker.next(told);
    if let Step::Wait { ms } = step {
        sleep(Duration::from_millis(ms), wakes);
    }
    let (answer, answered) = sync_channel(1);
    inbox
        .send(Inbox::Step {
            turn,
            attempt,
            step,
            answer,
        })
        .ok()?;
    match answered.recv().ok()? {
        Heard::Go(told) => Some(told),
        Heard::Over => None,
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
