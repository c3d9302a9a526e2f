//! Turns and errands on threads of their own: the taker says a step, the flow's task answers. An errand has one
//! thing to say, which is its result.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use a_society_facts::id::TurnId;
use a_society_roles::turn::step::{StepReply, TurnStep};

use super::attempt::{Heard, Start};
use super::core::Core;
use super::errand::{CommandAnswer, ErrandId};
use super::error::DriverError;
use super::inbox::{Duty, From, ThreadReply};
use super::line::StepLine;
use crate::limits::{IDLE_THREAD_TIME, IDLE_THREADS_MAX};

/// A thread that waits, and how it is given something to do.
type Idle = (ThreadId, SyncSender<Duty>);

/// The threads on which a flow's turns run. One whose turn is over waits a while for the next, because
/// starting a thread takes longer than most steps.
#[derive(Debug, Clone)]
pub(super) struct TurnThreads {
    line: StepLine,
    idle: Arc<Mutex<Vec<Idle>>>,
}

impl TurnThreads {
    /// Threads whose turns use this line.
    pub(super) fn new(line: StepLine) -> Self {
        let idle = Arc::default();
        Self { line, idle }
    }

    /// Does something to its end. Whatever a turn says, the flow's task decides what of it counts.
    ///
    /// # Errors
    /// When the system has no thread left. The turn or the errand is dropped then.
    pub(super) fn run(&self, mut duty: Duty) -> std::io::Result<()> {
        while let Some((_, thread)) = self.idle().pop() {
            match thread.try_send(duty) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => duty = back,
            }
        }
        let threads = self.clone();
        std::thread::Builder::new()
            .name("turn".to_owned())
            .spawn(move || threads.work(duty))
            .map(drop)
    }

    /// The same; that for which the system has no thread left fails in words. Gives the answer to the command that
    /// an errand was for.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn run_or_fail(
        &self,
        core: &mut Core,
        duty: Duty,
    ) -> Result<Option<(ErrandId, CommandAnswer)>, DriverError> {
        let whose = match &duty {
            Duty::Turn(start, _) => Ok((start.turn, start.attempt)),
            Duty::Errand(errand) => Err(errand.id),
        };
        let Err(why) = self.run(duty) else {
            return Ok(None);
        };
        let why = format!("the system gave no thread for the turn: {why}");
        match whose {
            Ok((turn, attempt)) => core.broke(turn, attempt, why).map(|()| None),
            Err(id) => Ok(core.lose(id, why)?.map(|answer| (id, answer))),
        }
    }

    /// What each of the threads does.
    fn work(self, first: Duty) {
        let (sender, duties) = sync_channel(1);
        let mut next = Some(first);
        while let Some(duty) = next {
            let (follows, held) = match duty {
                Duty::Turn(start, from) => {
                    let (follows, held) = run(start, from, &self.line);
                    (follows, Some(held))
                }
                Duty::Errand(errand) => (after(self.line.run(errand)), None),
            };
            if let Some(duty) = follows {
                next = Some(*duty);
                continue;
            }
            // What the turn held is given back while the flow says what comes next.
            let waits = self.wait(&sender);
            drop(held);
            next = if waits { self.next(&duties) } else { None };
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This thread waits from here on, unless enough others do.
    fn wait(&self, sender: &SyncSender<Duty>) -> bool {
        let mut idle = self.idle();
        let has_room = idle.len() < IDLE_THREADS_MAX;
        if has_room {
            idle.push((std::thread::current().id(), sender.clone()));
        }
        has_room
    }

    fn next(&self, duties: &Receiver<Duty>) -> Option<Duty> {
        match duties.recv_timeout(IDLE_THREAD_TIME) {
            Ok(duty) => Some(duty),
            Err(_) => {
                let own = std::thread::current().id();
                let mut idle = self.idle();
                let before = idle.len();
                idle.retain(|(thread, _)| *thread != own);
                let left = idle.len() < before;
                drop(idle);
                // Another thread that found it in the meantime has sent it something, or is about to.
                if left { None } else { duties.recv().ok() }
            }
        }
    }
}

/// What a thread does next whose errand is reported.
fn after(answer: Option<ThreadReply>) -> Option<Box<Duty>> {
    match answer? {
        ThreadReply::Next(next) => Some(next),
        ThreadReply::Heard(_) => None,
    }
}

/// Takes a turn to its end, and says what is next if that is known by then. The turn is given back.
fn run(mut start: Start, from: From, line: &StepLine) -> (Option<Box<Duty>>, Start) {
    let _known = TurnGuard {
        line,
        turn: start.turn,
        attempt: start.attempt,
    };
    let mut answer = match from {
        From::Beginning => take(&mut start, StepReply::Begin, line),
        From::Step(step) => exchange(&start, *step, line),
        From::Look(look) => line.found(start.turn, start.attempt, look.run()),
    };
    loop {
        answer = match answer {
            Some(ThreadReply::Heard(Heard::Go(told))) => take(&mut start, told, line),
            Some(ThreadReply::Heard(Heard::Look(look))) => {
                line.found(start.turn, start.attempt, look.run())
            }
            Some(ThreadReply::Heard(Heard::Over)) | None => return (None, start),
            Some(ThreadReply::Next(next)) => return (Some(next), start),
        };
    }
}

/// A turn on a thread. A fault of the program that ends its thread is reported to the flow, which would
/// wait for the turn for ever otherwise.
struct TurnGuard<'l> {
    line: &'l StepLine,
    turn: TurnId,
    attempt: u32,
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.line.broke(self.turn, self.attempt);
        }
    }
}

/// Takes a turn to its end on this thread, in a process that drives nothing else.
///
/// # Errors
/// When the journal refuses.
pub(super) fn run_here(core: &mut Core, mut start: Start) -> Result<(), DriverError> {
    let mut told = StepReply::Begin;
    loop {
        let step = start.taker.next(told);
        if let TurnStep::Wait { ms } = step {
            start.nap.sleep(Duration::from_millis(ms), &start.stop);
        }
        match core.step(start.turn, start.attempt, step)? {
            Heard::Go(next) => told = next,
            Heard::Look(_) | Heard::Over => return Ok(()),
        }
    }
}

/// Takes the next step and says it; there is no answer when the flow is gone.
fn take(start: &mut Start, told: StepReply, line: &StepLine) -> Option<ThreadReply> {
    let step = start.taker.next(told);
    exchange(start, step, line)
}

/// Says a step; there is no answer when the flow is gone.
fn exchange(start: &Start, step: TurnStep, line: &StepLine) -> Option<ThreadReply> {
    if let TurnStep::Wait { ms } = step {
        start.nap.sleep(Duration::from_millis(ms), &start.stop);
    }
    if waits_for_nothing(&step) {
        // Later steps are handled after it. A taker that is to stop learns so from its signal and at its
        // next step, and so does one whose turn goes on elsewhere.
        line.tell(start.turn, start.attempt, step)?;
        return Some(ThreadReply::Heard(Heard::Go(StepReply::Done {
            call: None,
        })));
    }
    line.ask(start.turn, start.attempt, step)
}

/// Whether a turn goes on from a step without its result: text that streams, and what only has to be
/// recorded before the next step is.
const fn waits_for_nothing(step: &TurnStep) -> bool {
    matches!(
        step,
        TurnStep::Draft { .. }
            | TurnStep::Answer { .. }
            | TurnStep::Finish {
                is_settled: true,
                ..
            }
    )
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;

    use a_society_base::stop::StopSignal;
    use a_society_roles::turn::step::TakerEnd;
    use a_society_roles::turn::taker::Taker;

    use super::*;
    use crate::driver::inbox::Inbox;
    use crate::driver::provider_wait::Nap;

    /// Says on which thread it is asked, and ends its turn.
    #[derive(Debug)]
    struct Ends(Sender<ThreadId>);

    impl Taker for Ends {
        fn next(&mut self, _: StepReply) -> TurnStep {
            self.0.send(std::thread::current().id()).unwrap();
            TurnStep::End(TakerEnd::OutputLimit)
        }
    }

    #[test]
    fn a_turn_that_follows_another_is_taken_on_its_thread_which_is_woken_once() {
        let (inbox, heard) = sync_channel(4);
        let (tell, told) = std::sync::mpsc::channel();
        let start = |number| Start {
            turn: TurnId(number),
            attempt: 1,
            taker: Box::new(Ends(tell.clone())),
            stop: StopSignal::default(),
            nap: Nap::default(),
        };
        let threads = TurnThreads::new(StepLine::new(inbox));
        threads.run(Duty::Turn(start(1), From::Beginning)).unwrap();
        for number in 1..=4 {
            let Inbox::Step { turn, answer, .. } = heard.recv().unwrap() else {
                panic!("a step is said");
            };
            assert_eq!(turn, TurnId(number));
            let next = if number < 4 {
                ThreadReply::Next(Box::new(Duty::Turn(start(number + 1), From::Beginning)))
            } else {
                ThreadReply::Heard(Heard::Over)
            };
            answer.unwrap().send(next).unwrap();
        }
        let on: Vec<ThreadId> = told.iter().take(4).collect();
        assert!(on.iter().all(|thread| *thread == on[0]));
    }
}
