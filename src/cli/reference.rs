//! `__reference`: the pages of `docs/` that are made from this command line.
//!
//! The tests compare what this prints with the pages in the repository.

use std::fmt::Write;

use super::arguments::pages;
use super::context::Context;
use crate::exit_code::{self, ExitCode};
use crate::operator_error::Outcome;

/// The pages.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Page {
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
    page: Page,
}

/// Prints a page.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let page = match arguments.page {
        Page::Cli => as_markdown(),
        Page::ExitCodes => exit_code::as_markdown(),
    };
    context.out.bytes(page.as_bytes())?;
    Ok(ExitCode::Ok)
}

fn as_markdown() -> String {
    let mut page = String::from(
        "# The command line\n\n\
         This page is made from the descriptions in `src/cli/`. To change it, change them and run\n\
         `A_SOCIETY_UPDATE=1 cargo test --test it generated_files`.\n",
    );
    for (words, mut command) in pages() {
        section(&mut page, &words.join(" "), command.render_long_help());
    }
    page
}

fn section(page: &mut String, title: &str, help: impl std::fmt::Display) {
    let help = help.to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a string cannot fail.
    let _written = write!(
        page,
        "\n## `{title}`\n\n```text\n{}\n```\n",
        lines.join("\n").trim_end()
    );
}
