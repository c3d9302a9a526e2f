//! What a flow's task is sent, and what the threads of its turns get back.

use std::sync::mpsc::SyncSender;

use a_society_facts::Verb;
use a_society_facts::id::{ClientId, TurnId};
use a_society_roles::turn::step::TurnStep;

use super::attempt::{Heard, Start};
use super::core::Core;
use super::errand::{CommandAnswer, Errand, ErrandId, Report};
use super::step_findings::{StepFindings, StepLook};
use super::unrecorded_text::Ahead;

/// The events of a flow's task.
pub(super) enum Inbox {
    /// The operator wants something.
    Command {
        /// What.
        command: Box<Verb>,
        /// The client's name for it.
        client: Option<ClientId>,
        /// Where the answer goes.
        answer: SyncSender<CommandAnswer>,
    },
    /// A turn says its next step.
    Step {
        /// The turn.
        turn: TurnId,
        /// Which try.
        attempt: u32,
        /// The step.
        step: TurnStep,
        /// Where the answer goes, if the turn waits for one.
        answer: Option<Answers>,
    },
    /// A turn's thread has looked at what its step names.
    Found {
        /// The turn.
        turn: TurnId,
        /// Which try.
        attempt: u32,
        /// What it found.
        found: Box<StepFindings>,
        /// Where the answer to the step goes.
        answer: Answers,
    },
    /// The result of an errand.
    Report {
        /// Which.
        id: ErrandId,
        /// What the core does with it.
        report: Report<Core>,
        /// Where the thread that ran it gets its next duty.
        answer: Answers,
    },
    /// The thread of an errand ended by a fault of the program.
    Lost {
        /// Which errand.
        id: ErrandId,
    },
    /// The thread of a turn ended by a fault of the program.
    Broke {
        /// The turn.
        turn: TurnId,
        /// Which try.
        attempt: u32,
    },
    /// An observer asks for streamed text that is in no record yet.
    Ahead {
        /// Where the answer goes.
        answer: SyncSender<Vec<Ahead>>,
    },
    /// A turn's thread left something to do.
    Look,
    /// The process ends.
    Drain,
}

impl Inbox {
    /// Whether it was sent on a line, which counts what waits here.
    pub(super) const fn is_queued(&self) -> bool {
        matches!(
            self,
            Self::Step { .. } | Self::Found { .. } | Self::Report { .. }
        )
    }
}

/// From where a thread takes a turn.
#[derive(Debug)]
pub(super) enum From {
    /// From its beginning.
    Beginning,
    /// From a step that it has said already.
    Step(Box<TurnStep>),
    /// From what the step names that it has said already.
    Look(Box<StepLook>),
}

/// What a thread is given to do.
#[derive(Debug)]
pub(super) enum Duty {
    /// A turn.
    Turn(Start, From),
    /// Work that may wait for the outside world.
    Errand(Errand<Core>),
}

/// The replies to the thread of a turn.
#[derive(Debug)]
pub(super) enum ThreadReply {
    /// The answer to its step.
    Heard(Heard),
    /// What it did is over, and this is next.
    Next(Box<Duty>),
}

/// The channel of those replies.
pub(super) type Answers = SyncSender<ThreadReply>;
