//! The `a-society` binary.

mod cli;
mod environment;
mod exit_code;
mod frame;
mod new_project;
mod operator_error;
mod output;
mod output_file;
mod paint;
#[cfg(test)]
mod tests;
mod text;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::dispatch::run(&environment::Environment::read()).into()
}
