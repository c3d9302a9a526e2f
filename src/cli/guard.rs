//! `__guard`: what this program is when it holds, confines and ends a command of a role.
//!
//! It hears its orders on standard input and reports on standard output; nobody types it.

use a_society_orchestrator::config::programs;

use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;

/// Guards one command.
pub(crate) fn run() -> Outcome {
    if programs::be_guard() {
        Ok(ExitCode::Ok)
    } else {
        Ok(ExitCode::Failed)
    }
}
