//! `man`: the manual pages, one for the program and one for each command, also those within another.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use super::arguments::{HelpPage, pages};
use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, from_io};
use crate::output_file::{OutputFile, make_folder};
use crate::text::plain;

/// The arguments of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society man ~/.local/share/man/man1
  a-society man --force ~/.local/share/man/man1   after an update")]
pub(crate) struct Arguments {
    /// The folder for the pages; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Replace pages that exist
    #[arg(long)]
    force: bool,
}

/// Writes them.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    make_folder(&arguments.folder)?;
    let mut written = Vec::new();
    for HelpPage { words, command } in pages() {
        let page = command.version(env!("CARGO_PKG_VERSION"));
        let name = words.join("-");
        let path = arguments.folder.join(format!("{name}.1"));
        let shown = path.display().to_string();
        let mut file = OutputFile::create(&path, arguments.force)?;
        clap_mangen::Man::new(page)
            .render(&mut file)
            .and_then(|()| file.flush())
            .map_err(|e| from_io("write", &shown, &e))?;
        file.finish()?;
        written.push(shown);
    }
    if context.out.is_json() {
        context.out.value(&json!({ "written": written }))?;
    } else {
        for path in &written {
            context.out.line(&plain(path))?;
        }
    }
    Ok(ExitCode::Ok)
}
