//! `exit-codes`: what the numbers mean that commands end with.

use serde_json::json;

use super::context::Context;
use crate::exit_code::{ALL, ExitCode, as_help};
use crate::operator_error::Outcome;

/// The arguments of `exit-codes`.
#[derive(Debug, clap::Args)]
#[command(after_help = as_help())]
pub(crate) struct Arguments {}

/// Prints the table.
pub(crate) fn run(context: &mut Context<'_>, _: &Arguments) -> Outcome {
    if context.out.is_json() {
        let rows = ALL.map(|code| json!({ "code": code.number(), "means": code.says() }));
        context.out.value(&json!({ "exit_codes": rows }))?;
    } else {
        for code in ALL {
            let line = format!("{:>3}  {}", code.number(), code.says());
            context.out.line(&line)?;
        }
    }
    Ok(ExitCode::Ok)
}
