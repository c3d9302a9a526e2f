//! `__reference`: the pages of `docs/` that are made from this command line.
//!
//! The tests compare what this prints with the pages in the repository.

use std::fmt::Write;

use super::arguments::{HELP_COLUMNS, HelpPage, pages};
use super::context::Context;
use crate::exit_code::{self, ExitCode};
use crate::operator_error::Outcome;

/// The pages.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ReferencePage {
    /// `docs/cli.md`
    Cli,
    /// `docs/exit-codes.md`
    ExitCodes,
}

/// The arguments of `__reference`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The page
    #[arg(value_enum)]
    page: ReferencePage,
}

/// Prints a page.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let page = match arguments.page {
        ReferencePage::Cli => as_markdown(),
        ReferencePage::ExitCodes => exit_code::as_markdown(),
    };
    context.out.bytes(page.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The page: a table of all commands, what every command takes, and each command's own help.
fn as_markdown() -> String {
    let pages = pages();
    let mut page = String::from(
        "# The command line\n\n\
         This page is made from the descriptions in `src/cli/`. To change it, change them and run\n\
         `A_SOCIETY_UPDATE=1 cargo test --test it generated_files`.\n",
    );
    if let Some(program) = pages.first() {
        let about = program.command.get_long_about().map(ToString::to_string);
        // Writing to a string cannot fail.
        let _written = write!(page, "\n{}\n", about.unwrap_or_default());
    }
    page.push_str(&table(&pages));
    for HelpPage { words, command } in pages {
        if words.len() == 1 {
            section(
                &mut page,
                "Options of every command",
                shared(&command).render_long_help(),
            );
        } else {
            let mut own =
                command.mut_args(|arg| if is_shared(&arg) { arg.hide(true) } else { arg });
            section(
                &mut page,
                &format!("`{}`", words.join(" ")),
                own.render_long_help(),
            );
        }
    }
    page
}

/// Whether every command has this option.
fn is_shared(arg: &clap::Arg) -> bool {
    arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str())
}

/// A command with nothing but the options that every command has.
fn shared(program: &clap::Command) -> clap::Command {
    let options = program
        .get_arguments()
        .filter(|arg| is_shared(arg))
        .cloned();
    clap::Command::new("a-society")
        .version(env!("CARGO_PKG_VERSION"))
        .term_width(HELP_COLUMNS)
        .help_template("{all-args}")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(options)
}

/// All commands with what they do.
fn table(pages: &[HelpPage]) -> String {
    let mut table = String::from("\n## Commands\n\n| Command | What it does |\n|---|---|\n");
    for HelpPage { words, command } in pages.iter().skip(1) {
        let (name, link) = (words.join(" "), words.join("-"));
        let about = command.get_about().map(ToString::to_string);
        let about = about.unwrap_or_default().replace('|', "\\|");
        let _written = writeln!(table, "| [`{name}`](#{link}) | {about} |");
    }
    table.push_str(
        "\nWith which code each of them ends is listed in [exit-codes.md](exit-codes.md).\n",
    );
    table
}

fn section(page: &mut String, title: &str, help: impl std::fmt::Display) {
    let help = help.to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a string cannot fail.
    let _written = write!(
        page,
        "\n## {title}\n\n```text\n{}\n```\n",
        lines.join("\n").trim_matches('\n')
    );
}
