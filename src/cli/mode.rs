//! `mode`: how much a flow may do without asking.

use a_society_facts::Verb;
use a_society_facts::fact::operator::ConsentMode;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `mode`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
ask asks about every edit, command and web request. partial asks about everything that was not yet \
allowed for the flow. full never asks. What a role can reach does not change. Files and events call \
the modes no-access, partial-access and full-access, and these words are taken, too.

Examples:
  a-society mode a1b2 partial
  a-society mode a1b2 full")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// How much
    #[arg(value_name = "MODE")]
    mode: Mode,
}

/// The modes, as they are typed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Mode {
    /// Ask every time
    #[value(name = "ask", alias = "no-access")]
    Nothing,
    /// Ask about what was not allowed for the flow
    #[value(name = "partial", alias = "partial-access")]
    Granted,
    /// Never ask
    #[value(name = "full", alias = "full-access")]
    Everything,
}

impl Mode {
    /// The mode in the journal's terms.
    pub(crate) const fn mode(self) -> ConsentMode {
        match self {
            Self::Nothing => ConsentMode::NoAccess,
            Self::Granted => ConsentMode::PartialAccess,
            Self::Everything => ConsentMode::FullAccess,
        }
    }
}

/// Sets the mode.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let mode = arguments.mode.mode();
    say(context, &arguments.to, Verb::Mode { mode })
}
