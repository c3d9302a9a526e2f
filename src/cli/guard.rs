//! `__guard`: what this program does when it guards a command of a role.
//!
//! It is not for people. The process that runs a command starts this program with it, writes the order
//! to its standard input, and reads the events from its standard output.

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;
use crate::output;

/// `a-society __guard`
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every verb has the same shape, and this one cannot fail in words"
)]
pub(crate) fn run(_context: &mut Context<'_>, _arguments: &Arguments) -> Outcome {
    let code = a_society_orchestrator::guard(std::io::stdin(), output::frames());
    Ok(if code == 0 {
        ExitCode::Ok
    } else {
        ExitCode::Failed
    })
}
