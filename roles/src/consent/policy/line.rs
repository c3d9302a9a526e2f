//! A command line as words: what a rule may be held against.
//!
//! Two readings, because a mistake costs something else each time. What is to run without a question is
//! read strictly: a line in which a shell could find anything to interpret has no words at all. What must
//! never run is looked for in every command that a line may hold, and what cannot be decided is reported as uncertain.

use std::iter::Peekable;
use std::str::Chars;

use a_society_base::text::misleads;

/// How deep substitutions are followed. Nothing written by hand nests deeper.
const DEPTH_MAX: usize = 16;

/// How many commands of a line are looked at.
const COMMANDS_MAX: usize = 1_000;

/// Words before a command that only say when it runs.
const KEYWORDS: &[&str] = &[
    "!", "{", "}", "do", "done", "elif", "else", "esac", "fi", "if", "in", "then", "time", "until",
    "while",
];

/// Programs and words of the shell that run what they are given: what that is cannot be read off a line.
const RUNNERS: &[&str] = &[
    ".", "alias", "ash", "bash", "bind", "builtin", "busybox", "chroot", "command", "coproc",
    "dash", "doas", "env", "eval", "exec", "fc", "find", "fish", "flock", "function", "ksh",
    "mapfile", "nice", "nohup", "parallel", "script", "setsid", "sh", "source", "ssh", "stdbuf",
    "strace", "su", "sudo", "timeout", "trap", "unshare", "watch", "xargs", "zsh",
];

/// Words of a shell that only look like patterns of file names.
const BRACKETS: &[&str] = &["!", "[", "[[", "]", "]]", "{", "}"];

/// Whether a word names a program that runs what it is given, or only says when something runs.
pub(super) fn runs_others(program: &str) -> bool {
    RUNNERS.contains(&program) || KEYWORDS.contains(&program)
}

/// Whether a program runs what it is given with these arguments.
pub(super) fn runs_its_words(program: &str, arguments: &[Word]) -> bool {
    let names_a_command = |word: &Word| {
        !word.is_known || word.text.starts_with("-exec") || word.text.starts_with("-ok")
    };
    match program {
        "find" => arguments.iter().any(names_a_command),
        program => RUNNERS.contains(&program),
    }
}

/// A word of a pattern or of a line, and whether any of it was in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainWord {
    pub text: String,
    pub is_quoted: bool,
}

/// The words of a line that is one command and nothing else: words one space apart, in which a shell
/// finds nothing to interpret. Quotes hold a word together, but not the program's name.
pub(super) fn plain_words(line: &str) -> Option<Vec<PlainWord>> {
    words_with(line, false)
}

/// The same for a pattern, in which an argument may be `*`.
pub(super) fn pattern_words(text: &str) -> Option<Vec<PlainWord>> {
    words_with(text, true)
}

fn words_with(line: &str, has_stars: bool) -> Option<Vec<PlainWord>> {
    // Even in quotes: some commands of a shell look into their arguments once more.
    let is_risky = |letter: char| {
        letter.is_control() || misleads(letter) || matches!(letter, '$' | '`' | '\\')
    };
    if line.chars().any(is_risky) {
        return None;
    }
    let mut words: Vec<PlainWord> = Vec::new();
    let mut word: Option<PlainWord> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == ' ' {
            // One space: a line that differs in anything is another one.
            words.push(word.take()?);
            continue;
        }
        let is_program = words.is_empty();
        let word = word.get_or_insert_with(|| PlainWord {
            text: String::new(),
            is_quoted: false,
        });
        match letter {
            '\'' | '"' if is_program => return None,
            '\'' | '"' => {
                word.is_quoted = true;
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '!' if letter == '"' => return None,
                        inner => word.text.push(inner),
                    }
                }
            }
            '*' if has_stars => word.text.push('*'),
            '=' if is_program => return None,
            plain if plain.is_ascii_alphanumeric() || "_-./@%+,:=".contains(plain) => {
                word.text.push(plain);
            }
            _ => return None,
        }
    }
    words.push(word?);
    let program = &words.first()?.text;
    let is_name = program
        .starts_with(|first: char| first.is_ascii_alphanumeric() || "_./".contains(first))
        && !program.ends_with(['/', '.'])
        && !program.contains([',', '@', '%', ':']);
    is_name.then_some(words)
}

/// A word as far as it is known before a shell expands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// Whether it is this text, whatever is set and whatever files there are.
    pub is_known: bool,
}

/// Every command that a line may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LineCommands {
    pub commands: Vec<Vec<Word>>,
    /// Whether these are all.
    pub is_certain: bool,
}

/// Takes a line apart where a shell would, and rather once too often.
pub(super) fn commands_in(line: &str) -> LineCommands {
    let mut found = LineCommands {
        commands: Vec::new(),
        is_certain: true,
    };
    let mut letters = line.chars().peekable();
    while letters.peek().is_some() {
        list(&mut letters, &mut found, None, 0);
    }
    for command in &mut found.commands {
        let is_before = |word: &Word| word.is_known && KEYWORDS.contains(&word.text.as_str());
        let before = command
            .iter()
            .take_while(|word| is_before(word) || is_assignment(&word.text))
            .count();
        command.drain(..before);
    }
    found.commands.retain(|command| !command.is_empty());
    found
}

/// A command being read.
#[derive(Debug, Default)]
struct LineReading {
    words: Vec<Word>,
    word: Option<String>,
    /// Whether a shell puts something else in a place of the word.
    expands: bool,
    /// Whether the word may be a pattern of file names.
    matches: bool,
    /// Whether the word is where something is written to or read from.
    is_place: bool,
}

impl LineReading {
    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, letter: char) {
        self.word().push(letter);
    }

    fn expand(&mut self) {
        self.word();
        self.expands = true;
    }

    fn end_word(&mut self) {
        let (expands, matches) = (
            std::mem::take(&mut self.expands),
            std::mem::take(&mut self.matches),
        );
        let Some(text) = self.word.take() else {
            return;
        };
        if std::mem::take(&mut self.is_place) {
            return;
        }
        let is_known = !expands && (!matches || BRACKETS.contains(&text.as_str()));
        self.words.push(Word { text, is_known });
    }

    /// What follows is a place; a number right before it says of which stream.
    fn redirect(&mut self) {
        let digits = |text: &mut String| text.chars().all(|letter| letter.is_ascii_digit());
        if self.word.as_mut().is_some_and(digits) {
            self.word = None;
        }
        self.end_word();
        self.is_place = true;
    }

    fn end_command(&mut self, found: &mut LineCommands) {
        self.end_word();
        self.is_place = false;
        let words = std::mem::take(&mut self.words);
        if words.is_empty() {
            return;
        }
        if found.commands.len() == COMMANDS_MAX {
            found.is_certain = false;
        } else {
            found.commands.push(words);
        }
    }
}

/// Commands up to what ends a substitution, or to the end of the line.
fn list(
    letters: &mut Peekable<Chars<'_>>,
    found: &mut LineCommands,
    until: Option<char>,
    depth: usize,
) {
    let mut reading = LineReading::default();
    if depth > DEPTH_MAX {
        found.is_certain = false;
        return;
    }
    while let Some(letter) = letters.next() {
        if Some(letter) == until {
            reading.end_command(found);
            return;
        }
        match letter {
            ' ' | '\t' => reading.end_word(),
            '\n' | '\r' | ';' | '&' | '|' | '(' | ')' => reading.end_command(found),
            '<' | '>' => {
                reading.redirect();
                // The text of a here document cannot be distinguished from commands.
                found.is_certain &= letter == '>' || letters.next_if_eq(&'<').is_none();
                while letters
                    .next_if(|next| matches!(next, '<' | '>' | '&' | '|'))
                    .is_some()
                {}
            }
            // A comment is read as a command, too: rather once too often.
            '#' if reading.word.is_none() => reading.end_command(found),
            '\'' => {
                reading.word();
                single(letters, &mut reading, found);
            }
            '"' => {
                reading.word();
                double(letters, &mut reading, found, depth);
            }
            '\\' | '`' | '$' => special(letter, letters, &mut reading, found, depth),
            '*' | '?' | '[' | ']' | '{' | '}' | '~' | '#' | '!' | '^' => {
                reading.push(letter);
                reading.matches = true;
            }
            // Some shells part words at it, and some do not.
            letter if letter.is_whitespace() || letter.is_control() => {
                found.is_certain = false;
                reading.end_word();
            }
            letter => reading.push(letter),
        }
    }
    reading.end_command(found);
    found.is_certain &= until.is_none();
}

/// What a letter begins that means the same within double quotes and outside of them.
fn special(
    letter: char,
    letters: &mut Peekable<Chars<'_>>,
    reading: &mut LineReading,
    found: &mut LineCommands,
    depth: usize,
) {
    match letter {
        '\\' => match letters.next() {
            Some('\n') => {}
            Some(next) => reading.push(next),
            None => found.is_certain = false,
        },
        '`' => {
            reading.expand();
            list(letters, found, Some('`'), depth + 1);
        }
        _ => dollar(letters, reading, found, depth),
    }
}

fn single(letters: &mut Peekable<Chars<'_>>, reading: &mut LineReading, found: &mut LineCommands) {
    for letter in letters.by_ref() {
        if letter == '\'' {
            return;
        }
        reading.push(letter);
    }
    found.is_certain = false;
}

fn double(
    letters: &mut Peekable<Chars<'_>>,
    reading: &mut LineReading,
    found: &mut LineCommands,
    depth: usize,
) {
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return,
            '\\' | '`' | '$' => special(letter, letters, reading, found, depth),
            letter => reading.push(letter),
        }
    }
    found.is_certain = false;
}

/// What a dollar begins: a command, or something that only the shell knows.
fn dollar(
    letters: &mut Peekable<Chars<'_>>,
    reading: &mut LineReading,
    found: &mut LineCommands,
    depth: usize,
) {
    reading.expand();
    if letters.next_if_eq(&'(').is_some() {
        list(letters, found, Some(')'), depth + 1);
    } else if letters.next_if_eq(&'{').is_some() {
        // Values by default are expanded in turn.
        list(letters, found, Some('}'), depth + 1);
    }
}

/// Whether a word before a command sets a variable for it.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || it == '_')
}
