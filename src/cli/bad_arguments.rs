//! Arguments that were refused, as an error like every other one: what is wrong, which values work, and a line
//! that can be pasted. Pure.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::ParseIntError;

use a_society_orchestrator::pasted_secrets::without_secrets;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use similar::TextDiff;

use super::arguments::Arguments;
use super::complete::option;
use crate::exit_code::ExitCode;
use crate::operator_error::OperatorError;
use crate::text::{one_of, quoted};

/// What the parser says is wrong with these arguments, of which the first is the program's name.
pub(crate) fn refusal(error: &clap::Error, arguments: &[OsString]) -> OperatorError {
    let mut program = Arguments::command();
    program.build();
    let words = arguments.iter().skip(1);
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let typed = Typed::read(&program, words);
    let UsageLines { what, why, hint } = typed.refused(error);
    OperatorError::new(("usage", ExitCode::Usage), what, why, hint)
}

/// An option that is less like a word than this was not meant.
const ALIKE_MIN: f32 = 0.6;

/// The lines of an error about arguments.
struct UsageLines {
    what: String,
    why: String,
    hint: String,
}

/// The words of a command line, and the command that they name.
struct Typed<'a> {
    words: Vec<String>,
    command: &'a Command,
    /// The names of the command, the outermost first; none is the program itself.
    names: Vec<&'a str>,
}

impl<'a> Typed<'a> {
    fn read(program: &'a Command, words: Vec<String>) -> Self {
        let (mut command, mut names) = (program, Vec::new());
        let mut is_value = false;
        for word in &words {
            if std::mem::take(&mut is_value) {
                continue;
            }
            if let Some((argument, value)) = option(command, word) {
                is_value = value.is_none() && argument.get_action().takes_values();
            } else if word == "--" {
                break;
            } else if !word.starts_with('-') {
                let Some(inner) = command.find_subcommand(word) else {
                    break;
                };
                command = inner;
                names.push(inner.get_name());
            }
        }
        Self {
            words,
            command,
            names,
        }
    }

    fn refused(&self, error: &clap::Error) -> UsageLines {
        let argument = of(error, ContextKind::InvalidArg);
        let first = argument.first().map(String::as_str).unwrap_or_default();
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the kinds of the parser may become more, and all others have its words"
        )]
        match error.kind() {
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => self.value(error, first),
            ErrorKind::UnknownArgument => self.unknown(error, first),
            ErrorKind::InvalidSubcommand => self.no_command(error),
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let inner = self.command.get_subcommands();
                let inner = inner.filter(|one| !one.is_hide_set() && one.get_name() != "help");
                let inner: Vec<&str> = inner.map(Command::get_name).collect();
                UsageLines {
                    what: format!("{} needs a command: {}", self.name(), one_of(&inner)),
                    why: String::new(),
                    hint: self.help(),
                }
            }
            ErrorKind::ArgumentConflict if !first.is_empty() => self.conflict(error, first),
            ErrorKind::MissingRequiredArgument => self.missing(&argument),
            _ => {
                let text = error.render().to_string();
                let said = text.lines().next().unwrap_or_default();
                UsageLines {
                    what: said.trim_start_matches("error: ").to_owned(),
                    why: String::new(),
                    hint: self.example(None),
                }
            }
        }
    }

    /// A value that is missing or means nothing.
    fn value(&self, error: &clap::Error, argument: &str) -> UsageLines {
        let name = name_of(argument);
        // A key that was typed by mistake is not shown again.
        let value = without_secrets(&of(error, ContextKind::InvalidValue).concat());
        let known = of(error, ContextKind::ValidValue);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let best = of(error, ContextKind::SuggestedValue).into_iter().next();
        let best = best.or_else(|| self.usual(name, &known));
        let hint = match best.filter(|_| !known.is_empty()) {
            Some(best) => self.with_value(name, &value, &best),
            None => self.example(Some(name)),
        };
        let source = error.source();
        let is_number = source.is_some_and(|source| source.is::<ParseIntError>());
        let (what, why) = if value.is_empty() && known.is_empty() {
            let kind = argument.split_once(' ').map_or("TEXT", |(_, kind)| kind);
            (
                format!("{name} needs a value: {}", bare(kind)),
                String::new(),
            )
        } else if value.is_empty() {
            let what = format!("{name} needs a value: {}", one_of(&known));
            (what, String::new())
        } else if !known.is_empty() {
            let what = format!("{name} is {}, not {value:?}", one_of(&known));
            (what, String::new())
        } else if is_number {
            (
                format!("{name} is a whole number, not {value:?}"),
                String::new(),
            )
        } else {
            let why = source.map(ToString::to_string).unwrap_or_default();
            (format!("{name} cannot be {value:?}"), why)
        };
        UsageLines { what, why, hint }
    }

    /// A value that is safe to give: the default, else the one that asks for nothing, else the first.
    fn usual(&self, name: &str, known: &[&str]) -> Option<String> {
        let argument = self.argument(name);
        let usual = argument.and_then(|argument| argument.get_default_values().first());
        let usual = usual.and_then(|value| value.to_str().map(str::to_owned));
        let nothing = known.iter().find(|value| ["none", "no"].contains(value));
        let first = nothing.or_else(|| known.first());
        usual.or_else(|| first.map(ToString::to_string))
    }

    fn argument(&self, name: &str) -> Option<&'a Arg> {
        option(self.command, name).map(|(argument, _)| argument)
    }

    fn unknown(&self, error: &clap::Error, argument: &str) -> UsageLines {
        let is_option = argument.starts_with('-') && argument.len() > 1;
        let near = of(error, ContextKind::SuggestedArg).into_iter().next();
        if let Some(near) = near {
            let near = name_of(&near).to_owned();
            return UsageLines {
                what: format!("{} has no option {argument}", self.name()),
                why: format!("the nearest is {near}"),
                hint: self.replaced(argument, &near),
            };
        }
        if !is_option {
            return UsageLines {
                what: format!("{} has no use for {argument:?}", self.name()),
                why: self.usage(),
                hint: self.without(argument),
            };
        }
        let why = match self.nearest(argument) {
            Some(near) => format!("the nearest is {near}; {} lists all", self.help()),
            None => self.usage(),
        };
        let left = self.without(argument);
        let is_bare = left == line(self.names.iter().copied());
        UsageLines {
            what: format!("{} has no option {argument}", self.name()),
            why,
            // Most commands need more than their name.
            hint: if is_bare { self.example(None) } else { left },
        }
    }

    /// The option of the command that is most like a word, if most of both is the same.
    fn nearest(&self, word: &str) -> Option<String> {
        let word = name_of(word).trim_start_matches('-');
        let own = self.command.get_arguments();
        let own =
            own.filter(|one| !one.is_hide_set() && !one.is_global_set() && one.get_id() != "help");
        let own = own.filter_map(Arg::get_long);
        // The share of both that is the same.
        let alike = own.map(|name| (TextDiff::from_chars(word, name).ratio(), name));
        let alike = alike.filter(|(share, _)| *share >= ALIKE_MIN);
        let near = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
        near.map(|(_, name)| format!("--{name}"))
    }

    fn no_command(&self, error: &clap::Error) -> UsageLines {
        let named = of(error, ContextKind::InvalidSubcommand).concat();
        let what = match self.names.is_empty() {
            true => format!("there is no command {named}"),
            false => format!("{} has no command {named}", self.name()),
        };
        let near = of(error, ContextKind::SuggestedSubcommand);
        // The parser names the most similar one last.
        match near.last() {
            Some(near) => UsageLines {
                what,
                why: format!("the nearest is {near}"),
                hint: self.replaced(&named, near),
            },
            None => UsageLines {
                what,
                why: String::new(),
                hint: self.help(),
            },
        }
    }

    fn conflict(&self, error: &clap::Error, argument: &str) -> UsageLines {
        let name = name_of(argument);
        let others = of(error, ContextKind::PriorArg);
        let others: Vec<&str> = others.iter().map(|other| name_of(other)).collect();
        let (what, why) = if others == [name] {
            (
                format!("{name} is given twice"),
                "it counts once".to_owned(),
            )
        } else {
            let what = format!("{name} and {} contradict each other", one_of(&others));
            (what, "only one of them can be given".to_owned())
        };
        UsageLines {
            what,
            why,
            hint: self.without(name),
        }
    }

    fn missing(&self, arguments: &[String]) -> UsageLines {
        let bare: Vec<String> = arguments.iter().map(|argument| bare(argument)).collect();
        let named: Vec<&str> = bare.iter().map(String::as_str).collect();
        let what = format!("{} needs {}", self.name(), named.join(" and "));
        let first = named.first().copied().unwrap_or_default();
        // One of several options that say all by themselves.
        let one = first.split(" or ").next().unwrap_or_default();
        let hint = if first == "FLOW" {
            "a-society ls --all".to_owned()
        } else if one.starts_with("--") && !one.contains(' ') {
            let words = self.words.iter().map(String::as_str).chain([one]);
            line(words)
        } else {
            self.example(Some(name_of(one)))
        };
        let why = if first == "FLOW" {
            "a flow is named by any unique beginning of its id, and ls lists them".to_owned()
        } else {
            self.usage()
        };
        UsageLines { what, why, hint }
    }

    /// The command as it is spoken of.
    fn name(&self) -> String {
        if self.names.is_empty() {
            return "a-society".to_owned();
        }
        self.names.join(" ")
    }

    /// How the command is used.
    fn usage(&self) -> String {
        let usage = self.command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").trim();
        let first = usage.lines().next().unwrap_or_default();
        format!("it is used as: {first}")
    }

    fn help(&self) -> String {
        let words = ["help"].into_iter().chain(self.names.iter().copied());
        line(words)
    }

    /// An example of the command's help, with this option if there is one.
    fn example(&self, name: Option<&str>) -> String {
        let help = self.command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let examples = help.lines().filter_map(|line| line.strip_prefix("  "));
        let mut examples = examples
            .map(|line| line.split("   ").next().unwrap_or_default())
            .filter(|line| line.starts_with("a-society ") && !line.ends_with('\\'));
        let has =
            |line: &&str| name.is_none_or(|name| line.split([' ', '=']).any(|word| word == name));
        let option = name.filter(|name| name.starts_with("--"));
        let found = match option {
            Some(_) => examples.find(has),
            None => examples.next(),
        };
        found.map_or_else(|| self.help(), str::to_owned)
    }

    /// What was typed with another value of an argument.
    fn with_value(&self, name: &str, old: &str, new: &str) -> String {
        let joined = format!("{name}={old}");
        let is_option = name.starts_with('-');
        let mut words = self.words.clone();
        let at = words.iter().rposition(|word| *word == joined);
        let after = words.iter().rposition(|word| word == name);
        match (at, after) {
            (Some(at), _) => words[at] = format!("{name}={new}"),
            (None, Some(after))
                if is_option && words.get(after + 1).is_some_and(|word| word == old) =>
            {
                words[after + 1] = new.to_owned();
            }
            // The value is missing.
            (None, Some(after)) if is_option => words.insert(after + 1, new.to_owned()),
            (None, _) => {
                if let Some(at) = words.iter().rposition(|word| word == old) {
                    words[at] = new.to_owned();
                }
            }
        }
        line(words.iter().map(String::as_str))
    }

    /// What was typed with another word.
    fn replaced(&self, old: &str, new: &str) -> String {
        let words = self.words.iter().map(|word| {
            let value = word.strip_prefix(old).filter(|rest| rest.starts_with('='));
            match value {
                Some(value) => format!("{new}{value}"),
                None if word == old => new.to_owned(),
                None => word.clone(),
            }
        });
        let words: Vec<String> = words.collect();
        line(words.iter().map(String::as_str))
    }

    /// What was typed without an option, at its last place.
    fn without(&self, name: &str) -> String {
        let mut words = self.words.clone();
        let joined = format!("{name}=");
        let is_it = |word: &String| word == name || word.starts_with(&joined);
        if let Some(at) = words.iter().rposition(is_it) {
            let is_apart = words[at] == name;
            words.remove(at);
            let argument = self.argument(name);
            let takes = argument.is_some_and(|argument| argument.get_action().takes_values());
            if is_apart && takes && at < words.len() {
                words.remove(at);
            }
        }
        line(words.iter().map(String::as_str))
    }
}

/// A command line that a shell takes as it is.
fn line<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words = words.map(quoted);
    let words: Vec<String> = std::iter::once("a-society".to_owned())
        .chain(words)
        .collect();
    words.join(" ")
}

/// What the parser says of an error under this name.
fn of(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    }
}

/// The name of an argument that the parser writes with its value: `--color <WHEN>`, `<FLOW>`.
fn name_of(argument: &str) -> &str {
    let name = argument.split([' ', '=']).next().unwrap_or_default();
    name.trim_matches(|c| "<>[].".contains(c))
}

/// An argument without the parser's brackets, and with words for its signs.
fn bare(argument: &str) -> String {
    let bare = argument.replace(['<', '>', '[', ']'], "");
    let bare = bare.trim_end_matches("...");
    // Options of which one is needed.
    bare.replace('|', " or ")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Arguments::try_parse_from(&words).unwrap_err();
        let OperatorError {
            what, why, hint, ..
        } = refusal(&error, &words);
        let why = if why.is_empty() {
            why
        } else {
            format!("  why: {why}\n")
        };
        format!("$ {line}\nerror[usage]: {what}\n{why}  try: {hint}\n")
    }

    #[test]
    fn refused_arguments_say_what_is_wrong_what_works_and_a_line_to_paste() {
        let all = [
            "a-society lss",
            "a-society xyzzy",
            "a-society findings aply k4x9",
            "a-society models tset sonnet",
            "a-society session",
            "a-society run ledger.yaml --improve fgh",
            "a-society run ledger.yaml --improve",
            "a-society run ledger.yaml --improve=fgh --quiet",
            "a-society run ledger.yaml --feedback perhaps",
            "a-society run ledger.yaml --budgets 30",
            "a-society run ledger.yaml --xyzzy",
            "a-society run ledger.yaml --bogus",
            "a-society run --bogus",
            "a-society run ledger.yaml --out-put close.md",
            "a-society improve k4x9 --mode graph",
            "a-society ls --everything",
            "a-society run ledger.yaml --budget -3",
            "a-society run ledger.yaml --turns-at-once many",
            "a-society run ledger.yaml --title a --title b",
            "a-society run ledger.yaml other.yaml",
            "a-society run ledger.yaml --force",
            "a-society run",
            "a-society cancel",
            "a-society show k4x9 --items ten",
            "a-society ls --color sometimes",
            "a-society prune --older-than 30",
            "a-society prune --older-than 1d --dry-run --yes",
            "a-society repair k4x9",
            "a-society completions cmd",
            "a-society steer k4x9 writer",
            "a-society budget k4x9 pounds 3",
            "a-society mode k4x9 fill",
        ];
        let all: Vec<String> = all.iter().map(|line| said(line)).collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
