//! The chats of a workspace, for who wants to go on with one.

use super::context::Context;
use super::ls;
use crate::operator_error::Outcome;

/// Lists those that can be gone on with, as `ls --chats` does.
///
/// # Errors
/// When they cannot be read, or the output is closed.
pub(crate) fn list(context: &mut Context<'_>) -> Outcome {
    let code = ls::run(context, &ls::Arguments::of_chats())?;
    if !context.out.is_json() {
        context
            .out
            .note("go on with one: a-society chat --resume CHAT");
    }
    Ok(code)
}
