//! `__complete`: candidates for the word at the cursor of a command line that is being typed.
//!
//! The scripts of `completions` ask it, so that every shell offers the same, and flows by their ids. It
//! prints one candidate a line, with what it is after a tab; [`FILES`] and [`FOLDERS`] leave the rest to
//! the shell, which completes paths better.

use clap::{Arg, Command};

use a_society_state::index::rows;

use super::arguments::described;
use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;
use crate::text::one_line;

/// The line that lets the shell offer files.
pub(crate) const FILES: &str = ":files";

/// The line that lets the shell offer folders.
pub(crate) const FOLDERS: &str = ":folders";

/// More flows are no help to anybody who chooses one.
const FLOWS_MAX: usize = 200;

/// A candidate's description is cut to this.
const ABOUT_COLUMNS: usize = 80;

/// The arguments of `__complete`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The words of the line up to the cursor; the last one is being typed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Prints what fits.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let mut program = described();
    program.build();
    let line = TypedLine::read(&program, arguments.words.get(1..).unwrap_or_default());
    if context.workspace.is_none() {
        context.workspace = line.workspace.map(Into::into);
    }
    let offers = match line.at {
        TypedPart::Value(argument, typed, before) => {
            let mut offers = values(context, argument, typed);
            for offer in &mut offers {
                if !offer.value.starts_with(':') {
                    offer.value.insert_str(0, before);
                }
            }
            offers
        }
        TypedPart::Option(typed) => options(line.command, typed),
        TypedPart::Word(typed) => {
            let mut offers = commands(line.command, typed, line.taken);
            let places: Vec<&Arg> = line.command.get_positionals().collect();
            let place = places.get(line.taken).or_else(|| {
                let last = places.last()?;
                let repeats = last.get_num_args().is_some_and(|n| n.max_values() > 1);
                repeats.then_some(last)
            });
            if let Some(argument) = place {
                offers.extend(values(context, argument, typed));
            }
            offers
        }
    };
    for Offer { value, about } in offers {
        let about = one_line(&about, ABOUT_COLUMNS);
        // A name that would be another line, or another word, is not offered.
        if !value.contains(|letter: char| letter.is_control()) {
            context.out.line(&format!("{value}\t{about}"))?;
        }
    }
    Ok(ExitCode::Ok)
}

struct Offer {
    value: String,
    about: String,
}

/// A line that is being typed, as far as it is known what its words mean.
struct TypedLine<'a> {
    /// The command whose arguments are being typed.
    command: &'a Command,
    /// How many of its arguments without a name are there.
    taken: usize,
    workspace: Option<&'a str>,
    at: TypedPart<'a>,
}

/// What is being typed.
enum TypedPart<'a> {
    /// The value of an argument: so much of it, behind these letters of the same word.
    Value(&'a Arg, &'a str, &'a str),
    /// The name of an option.
    Option(&'a str),
    /// A command, or an argument without a name.
    Word(&'a str),
}

impl<'a> TypedLine<'a> {
    fn read(program: &'a Command, words: &'a [String]) -> Self {
        let (typed, before) = words.split_last().map_or(("", words), |(last, before)| {
            // A shell that takes the sign for a word of its own has it at the cursor.
            (if last == "=" { "" } else { last.as_str() }, before)
        });
        let (mut command, mut taken, mut workspace) = (program, 0, None);
        let (mut awaited, mut only_words): (Option<&Arg>, bool) = (None, false);
        for word in before {
            if word == "=" && awaited.is_some() {
                continue;
            }
            if let Some(argument) = awaited.take() {
                if argument.get_id() == "workspace" {
                    workspace = Some(word.as_str());
                }
            } else if word == "--" && !only_words {
                only_words = true;
            } else if let Some((argument, value)) = option(command, word).filter(|_| !only_words) {
                if argument.get_id() == "workspace" && value.is_some() {
                    workspace = value;
                }
                let is_open = value.is_none() && argument.get_action().takes_values();
                awaited = is_open.then_some(argument);
            } else if word.starts_with('-') && word.len() > 1 && !only_words {
                // Nothing is known of it.
            } else if let Some(inner) = command.find_subcommand(word).filter(|_| taken == 0) {
                command = inner;
            } else {
                taken += 1;
            }
        }
        let at = match awaited {
            Some(argument) => TypedPart::Value(argument, typed, ""),
            None if only_words || !typed.starts_with('-') => TypedPart::Word(typed),
            None => match (typed.split_once('='), option(command, typed)) {
                (Some((_, value)), Some((argument, Some(_)))) => {
                    TypedPart::Value(argument, value, &typed[..typed.len() - value.len()])
                }
                _ => TypedPart::Option(typed),
            },
        };
        Self {
            command,
            taken,
            workspace,
            at,
        }
    }
}

/// The option that a word names, and the value that the word gives it.
pub(super) fn option<'a, 'w>(
    command: &'a Command,
    word: &'w str,
) -> Option<(&'a Arg, Option<&'w str>)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let found = command
            .get_arguments()
            .find(|arg| arg.get_long() == Some(name));
        return found.map(|argument| (argument, value));
    }
    let short = word.strip_prefix('-')?.chars().next_back()?;
    let found = command
        .get_arguments()
        .find(|arg| arg.get_short() == Some(short));
    found.map(|argument| (argument, None))
}

fn help(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

fn commands(command: &Command, typed: &str, taken: usize) -> Vec<Offer> {
    if taken > 0 {
        return Vec::new();
    }
    let fit = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && verb.get_name().starts_with(typed));
    fit.map(|verb| Offer {
        value: verb.get_name().to_owned(),
        about: help(verb.get_about()),
    })
    .collect()
}

fn options(command: &Command, typed: &str) -> Vec<Offer> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown
        .filter_map(|argument| {
            let value = format!("--{}", argument.get_long()?);
            value.starts_with(typed).then(|| Offer {
                value,
                about: help(argument.get_help()),
            })
        })
        .collect()
}

fn values(context: &mut Context<'_>, argument: &Arg, typed: &str) -> Vec<Offer> {
    let possible = argument.get_possible_values();
    if !possible.is_empty() {
        let fit = possible.iter().filter(|value| !value.is_hide_set());
        return fit
            .filter(|value| value.get_name().starts_with(typed))
            .map(|value| Offer {
                value: value.get_name().to_owned(),
                about: help(value.get_help()),
            })
            .collect();
    }
    let names = argument.get_value_names().unwrap_or_default();
    let is = |wanted: &[&str]| {
        let mut parts = names.iter().flat_map(|name| name.split('|'));
        parts.any(|part| wanted.contains(&part))
    };
    let files = |line: &str| {
        vec![Offer {
            value: line.to_owned(),
            about: String::new(),
        }]
    };
    if is(&["FLOW", "REF"]) {
        flows(context, typed)
    } else if is(&["FILE", "PATH", "ARCHIVE", "FOLDER", "@FILE"]) {
        files(FILES)
    } else if is(&["DIR"]) {
        files(FOLDERS)
    } else if is(&["yes"]) {
        let both = ["yes", "no"]
            .into_iter()
            .filter(|word| word.starts_with(typed));
        both.flat_map(files).collect()
    } else {
        Vec::new()
    }
}

/// The flows of the workspace whose id can be typed on so: the newest first, with what they are.
fn flows(context: &mut Context<'_>, typed: &str) -> Vec<Offer> {
    let Ok(census) = context.store().and_then(|store| {
        let census = store.census()?;
        Ok((store, census.flows))
    }) else {
        return Vec::new();
    };
    let (store, mut all) = census;
    all.sort_by(|one, other| other.flow.cmp(&one.flow));
    let typable = |flow: &a_society_state::FlowRef| {
        let id = flow.flow.as_str();
        let whole = format!("{}/{id}", flow.project);
        let short = id.rsplit('-').next().unwrap_or(id);
        let forms = [short, id, &whole];
        // The shortest form that goes on from what is there.
        forms
            .into_iter()
            .find(|form| form.starts_with(typed))
            .map(str::to_owned)
    };
    all.retain(|flow| typable(flow).is_some());
    all.truncate(FLOWS_MAX);
    rows(&store, &all)
        .into_iter()
        .filter_map(|row| {
            let title = row.summary.map(|summary| summary.title).unwrap_or_default();
            Some(Offer {
                value: typable(&row.flow)?,
                about: format!("{}: {title}", row.flow.project),
            })
        })
        .collect()
}
