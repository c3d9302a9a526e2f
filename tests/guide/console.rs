//! What a console on a page shows: commands and what they print, without what differs each time.

use std::path::Path;

/// What the first flows of a page are called in it: in commands, and in full.
const FLOWS: [(&str, &str); 4] = [
    ("a1b2", "a1b2c3"),
    ("c3d4", "c3d4e5"),
    ("e5f6", "e5f6g7"),
    ("g7h8", "g7h8i9"),
];
/// The moment in ids on pages.
const MOMENT: &str = "20260527T143000000Z";
/// Fewer hexadecimal digits may be a number or a word.
const HASH_BYTES_MIN: usize = 8;
/// So many digits and letters follow the kind of a question or a message.
const NAME_BYTES: usize = 16;

/// The commands of a console, each with the line behind it and what the page says it prints.
pub(super) fn commands(lines: &[&str]) -> Vec<(usize, String, Vec<String>)> {
    let mut commands: Vec<(usize, String, Vec<String>)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((at + 1, command.to_owned(), Vec::new())),
            (None, Some((_, _, printed))) => printed.push((*line).to_owned()),
            (None, None) => panic!("a console begins with a command, not with {line}"),
        }
    }
    commands
}

/// The flows of a reader, with their names on the page.
pub(super) struct Names {
    /// Ids in the order in which the flows began.
    ids: Vec<String>,
}

impl Names {
    /// Finds the flows below a home.
    pub(super) fn of(home: &Path) -> Self {
        let mut ids = Vec::new();
        find(home, &mut ids);
        ids.sort();
        Self { ids }
    }

    fn pairs(&self) -> impl Iterator<Item = (&String, &(&'static str, &'static str))> {
        self.ids.iter().zip(&FLOWS)
    }

    /// A command as it is typed for these flows.
    pub(super) fn real(&self, command: &str) -> String {
        let mut command = command.to_owned();
        for (id, (short, _)) in self.pairs() {
            command = command.replace(short, id);
        }
        command
    }

    /// What was printed, as a page shows it.
    pub(super) fn shown(&self, printed: &str) -> Vec<String> {
        let mut printed = printed.to_owned();
        for (id, (_, name)) in self.pairs() {
            let random = id.rsplit('-').next().unwrap_or_default();
            printed = printed.replace(id, &format!("{MOMENT}-{name}"));
            printed = printed.replace(random, name);
        }
        let lines = printed.lines().map(|line| line.trim_end().to_owned());
        lines.collect()
    }
}

fn find(folder: &Path, ids: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_flow = entry.path().join("journal").is_dir() && name.contains("Z-");
        if is_flow {
            ids.push(name);
        } else if entry.file_type().unwrap().is_dir() {
            find(&entry.path(), ids);
        }
    }
}

/// Whether a page says what was printed. `…` alone on a line is any lines, and else any words.
pub(super) fn agrees(expected: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else {
        return printed.is_empty();
    };
    if first.trim() == "…" {
        return (0..=printed.len()).any(|skip| agrees(rest, &printed[skip..]));
    }
    let line = printed.split_first();
    line.is_some_and(|(line, below)| is_line(first, line) && agrees(rest, below))
}

fn is_line(expected: &str, printed: &str) -> bool {
    let (expected, printed) = (steady(expected), steady(printed));
    let Some((first, others)) = expected.split_once('…') else {
        return expected == printed;
    };
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = others.split('…').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// A line without times, ages and random names, its words one space apart. How long something took
/// is printed at the end of a line only if it took long, so it is left out there.
fn steady(line: &str) -> String {
    let mut steady: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_unit = ["s", "ms", "min", "h"].contains(&bare);
        match steady.last_mut().filter(|_| is_unit) {
            Some(number) if is_number(number) => *number = word.replace(bare, "#"),
            _ if is_moment(bare) || is_age(bare) || is_random(bare) => {
                steady.push(word.replace(bare, "#"));
            }
            _ => steady.push(word.to_owned()),
        }
        if let [.., before, last] = steady.as_slice()
            && before == "#"
            && last.starts_with('#')
        {
            steady.remove(steady.len() - 2);
        }
    }
    if steady.len() > 1 && steady.last().is_some_and(|last| last == "#") {
        steady.pop();
    }
    steady.join(" ")
}

fn is_number(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    word.chars().any(|c| c.is_ascii_digit()) && word.chars().all(is_part)
}

/// `14:30`, `14:30:00`, `2026-05-27T14:30:00.000Z`.
fn is_moment(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || ":-.TZ".contains(c);
    let is_short = || word.len() == "14:30".len() && word.find(':') == Some(2);
    (word.matches(':').count() == 2 || is_short()) && word.chars().all(is_part)
}

/// `12s`, `3h`.
fn is_age(word: &str) -> bool {
    let digits = word.trim_end_matches(['s', 'm', 'h', 'd']);
    digits.len() < word.len() && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// A hash, or the name of a question: letters and digits behind a letter.
fn is_random(word: &str) -> bool {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let is_name = |c: char| c.is_ascii_digit() || c.is_ascii_lowercase();
    let name = word.rsplit_once('-').map(|(_, name)| name);
    name.is_some_and(|name| name.len() == NAME_BYTES && name.chars().all(is_name))
        || (word.len() >= HASH_BYTES_MIN && word.chars().all(is_hex))
}

#[test]
fn what_differs_each_time_agrees_and_everything_else_must_be_the_same() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (expected, printed, is) in [
        ("14:30:00  a begins", "09:12:55 a begins", true),
        ("by you 14:30; b", "by you 09:12; b", true),
        ("done, 0.1 s; x", "done, 12.3 s; x", true),
        ("done, 0.1 s; x", "done, 1 min 4 s; x", true),
        ("run x: denied", "run x: denied 3 s", true),
        ("a  3 files", "a  4 files", false),
        (
            "ask q-4f0c19d27e33b8aa (2s ago)",
            "ask q-00aa11bb22cc33dd (14m ago)",
            true,
        ),
        ("one\n…\nfour", "one\ntwo\nthree\nfour", true),
        ("one\n…\nfour", "one\ntwo\nthree", false),
        ("says …", "says whatever it likes", true),
        ("says … end", "says a thing end", true),
        ("says … end", "says a thing", false),
        ("{\"a\":…}", "{\"a\":{\"b\":1},\"c\":2}", true),
    ] {
        assert_eq!(agrees(&lines(expected), &lines(printed)), is, "{expected}");
    }
}
