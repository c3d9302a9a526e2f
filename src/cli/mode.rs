//! `mode`: how much a flow may do without asking.

use a_society_facts::Verb;
use a_society_facts::fact::operator::ConsentMode;

use super::context::Context;
use super::say::{To, say};
use crate::operator_error::Outcome;

/// The arguments of `mode`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
no-access asks about every edit, command and web request. partial-access asks about everything \
that was not yet allowed for the flow. full-access never asks. What a role can reach does not \
change.

Examples:
  a-society mode a1b2 partial-access
  a-society mode a1b2 full-access")]
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
    #[value(name = "no-access", alias = "ask")]
    Nothing,
    /// Ask about what was not allowed for the flow
    #[value(name = "partial-access", alias = "partial")]
    Granted,
    /// Never ask
    #[value(name = "full-access", alias = "full")]
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
