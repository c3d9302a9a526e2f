//! A call that was started, and what it came to.

use a_society_base::stop::StopSignal;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::turn::{CallEnd, CommandExit, SeenFile};
use a_society_facts::id::CallId;
use a_society_facts::message::Image;

use super::command::HeldCommand;
use super::deed::Deed;
use super::output::ToolOutput;
use super::toolbox::Toolbox;
use crate::consent::Tier;

/// A call between its start and its end. Nothing has happened yet but that a process waits.
#[derive(Debug)]
pub(crate) struct RunningCall {
    pub(super) toolbox: Toolbox,
    pub(super) deed: Deed,
    pub(super) tier: Tier,
    pub(super) held: Option<HeldCommand>,
    pub(super) call: CallId,
    pub(super) stop: StopSignal,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finished {
    /// How it ended.
    pub end: CallEnd,
    /// What the model gets.
    pub output: String,
    /// Whether something was left out of it, which it says itself.
    pub is_cut: bool,
    /// The files that the model knows from now on as they are.
    pub seen: Vec<SeenFile>,
    /// The image that the model gets besides.
    pub image: Option<Box<Image>>,
    /// How the command ended, if it was one and nothing of ours ended it.
    pub exit: Option<CommandExit>,
}

impl RunningCall {
    /// The process that waits at its gate, if the call has one.
    #[must_use]
    pub(crate) fn process(&self) -> Option<ProcessName> {
        self.held.as_ref().map(HeldCommand::name)
    }

    /// Lets it go and waits until it is over. The start of the call must be durable.
    #[must_use]
    pub(crate) fn finish(self) -> Finished {
        let Self {
            toolbox,
            deed,
            tier,
            held,
            call,
            stop,
        } = self;
        if stop.is_raised() {
            let why = "The turn was stopped before this call ran. Nothing happened.";
            return Finished::with_text(CallEnd::NotRun, why);
        }
        let result = match held {
            Some(held) => Ok(match &deed {
                Deed::Command(launch) if launch.in_background => {
                    toolbox.run_beside(held, launch, &stop)
                }
                Deed::Command(_)
                | Deed::Read(_)
                | Deed::Write(..)
                | Deed::Patch(_)
                | Deed::Output(_)
                | Deed::Todo(_)
                | Deed::Sessions(_)
                | Deed::Send(_)
                | Deed::Fetch(_)
                | Deed::Search(_)
                | Deed::Say(_) => toolbox.run_held(held, &stop),
            }),
            None => toolbox.perform(deed, &tier, (&call, &stop)),
        };
        match result {
            Ok((end, output)) => toolbox.finished(end, output, &call),
            Err(refusal) => toolbox.finished(refusal.end(), ToolOutput::of(refusal.text), &call),
        }
    }
}

impl Finished {
    /// A call whose text is all that the model gets.
    pub(crate) fn with_text(end: CallEnd, output: impl Into<String>) -> Self {
        Self {
            end,
            output: output.into(),
            is_cut: false,
            seen: Vec::new(),
            image: None,
            exit: None,
        }
    }
}
