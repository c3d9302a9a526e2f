//! `completions`: what a shell needs to complete our command line.

use clap_complete::Shell;

use super::arguments::described;
use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;

/// The arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society completions bash > ~/.local/share/bash-completion/completions/a-society
  a-society completions fish > ~/.config/fish/completions/a-society.fish
  a-society completions zsh > \"${fpath[1]}/_a-society\"")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints them.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut described(), "a-society", &mut script);
    context.out.bytes(&script)?;
    Ok(ExitCode::Ok)
}
