//! What the page and the terminal both say is written once: no screen has a sentence of the table of words as a literal of
//! its own.

use super::repository::{TextFile, text_files};
use super::rust::is_for_tests;
use super::{Finding, assert_kept};

/// The table as the page gets it; `state/facts/src/words/` has a file of the same name for each.
const TABLE: &str = "operator-ui/web/src/said/";

/// Where the screens are, and the feeds that all of them show.
const SCREENS: [&str; 4] = [
    "src/cli/",
    "operator-ui/src/",
    "operator-ui/web/src/",
    "state/facts/src/view/",
];

/// What is generated from types.
const GENERATED: [&str; 2] = ["operator-ui/web/src/wire.ts", "operator-ui/web/src/verb.ts"];

/// The list of keys has one line for what a key does wherever it counts, and that may be what one choice is called.
const KEYS: &str = "operator-ui/web/src/key";

/// Literals that are not words of ours: what another program prints.
const FOREIGN: [(&str, &str); 1] = [("operator-ui/src/fold/outcome.rs", "timed out")];

/// From so many words on a text is a sentence, which no longer literal contains either.
const SENTENCE: usize = 4;

/// A text of the table, or what is between two places of a template.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    /// Its name there.
    name: String,
    text: String,
    /// Whether a place comes before it, and after it.
    places: (bool, bool),
}

impl Piece {
    fn words(&self) -> usize {
        let words = self.text.split(' ');
        words
            .filter(|word| word.contains(char::is_alphabetic))
            .count()
    }

    /// Whether a line has it: as a literal, as the text of an element, or within either if it is long.
    fn is_in(&self, line: &str) -> bool {
        line.match_indices(&self.text).any(|(at, found)| {
            let before = line[..at].chars().next_back();
            let after = &line[at + found.len()..];
            let mut next = after.chars();
            let (after, behind) = (next.next(), next.next());
            if self.words() >= SENTENCE {
                let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                return !is_letter(before) && !is_letter(after);
            }
            let begins = match (self.places.0, before) {
                (true, Some('}')) | (false, Some('"' | '`' | '\'' | '>')) => true,
                (true | false, _) => false,
            };
            let ends = match (self.places.1, after) {
                (true, Some('{' | '$')) | (false, Some('"' | '`' | '<' | '.')) => true,
                // Not the apostrophe of a word.
                (false, Some('\'')) => !behind.is_some_and(char::is_alphabetic),
                (true | false, _) => false,
            };
            begins && ends
        })
    }
}

#[test]
fn no_screen_writes_a_text_of_the_table_of_words_again() {
    let files = text_files();
    let table: Vec<Piece> = files
        .iter()
        .filter(|file| file.path.starts_with(TABLE))
        .flat_map(pieces)
        .collect();
    assert!(table.len() > 50, "the table was not found");
    let findings: Vec<Finding> = (files.iter().filter(|file| is_screen(&file.path)))
        .flat_map(|file| written_again(file, &table))
        .collect();
    assert_kept(
        "what two screens say is in state/facts/src/words, and nowhere else",
        &findings,
    );
}

fn is_screen(path: &str) -> bool {
    let is_source = [".rs", ".ts", ".svelte"]
        .iter()
        .any(|end| path.ends_with(end));
    is_source
        && SCREENS.iter().any(|screen| path.starts_with(screen))
        && !path.starts_with(TABLE)
        && !path.ends_with(".test.ts")
        && !GENERATED.contains(&path)
        && !path.starts_with(KEYS)
        && !is_for_tests(path)
}

/// The texts of a generated file.
fn pieces(file: &TextFile) -> Vec<Piece> {
    let concept = file.path[TABLE.len()..].trim_end_matches(".ts");
    let mut table = "";
    let mut pieces = Vec::new();
    for line in file.text.lines() {
        let defined = line.strip_prefix("export const ");
        let (name, value) = match (
            defined.and_then(|rest| rest.split_once(" = ")),
            line.trim_start().split_once("\": \""),
        ) {
            (Some((name, "{")), _) => {
                table = name;
                continue;
            }
            (Some((name, value)), _) => (format!("{concept}: {name}"), value),
            (None, Some((key, value))) => (format!("{concept}: {table}[{key}\"]"), value),
            (None, None) => continue,
        };
        let value = value
            .split_once("=> ")
            .map_or(value, |(_, template)| template);
        let value = value
            .trim_end_matches([';', ','])
            .trim_matches(['"', '`'])
            .to_lowercase();
        let parts: Vec<&str> = value
            .split("${")
            .map(|part| part.split_once('}').map_or(part, |(_, text)| text))
            .collect();
        let last = parts.len() - 1;
        pieces.extend(parts.iter().enumerate().map(|(at, text)| Piece {
            name: name.clone(),
            text: (*text).to_owned(),
            places: (at > 0, at < last),
        }));
    }
    pieces
}

fn written_again(file: &TextFile, table: &[Piece]) -> Vec<Finding> {
    // What follows is for tests, or how it looks.
    let shown = file
        .text
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let shown = shown.split("\n<style").next().unwrap_or_default();
    let lines = shown
        .lines()
        .enumerate()
        .filter(|(_, line)| !is_comment(line));
    let found = lines.flat_map(|(at, line)| {
        let line = line.split(" // ").next().unwrap_or_default().to_lowercase();
        let again = (table.iter()).filter(move |piece| piece.words() >= 2 && piece.is_in(&line));
        again.map(move |piece| (at + 1, piece))
    });
    let ours =
        found.filter(|(_, piece)| !FOREIGN.contains(&(file.path.as_str(), piece.text.as_str())));
    let findings = ours.map(|(line, piece)| {
        let what = format!("`{}` is in the table: {}", piece.text.trim(), piece.name);
        Finding::new(&file.path, line, what)
    });
    findings.collect()
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/*", "*", "<!--"]
        .iter()
        .any(|mark| line.starts_with(mark))
}

fn table_of(text: &str) -> Vec<Piece> {
    let (path, text) = (format!("{TABLE}asks.ts"), text.to_owned());
    pieces(&TextFile { path, text })
}

#[test]
fn texts_templates_and_tables_are_read_with_their_names() {
    let table = table_of(
        "export const LATER = \"later on\";\nexport const needs = (role: string): string => `${role} needs it`;\n\
         export const WAIT = {\n  \"budget\": \"A larger budget\",\n} as const;\n",
    );
    let piece = |name: &str, text: &str, places| Piece {
        name: name.to_owned(),
        text: text.to_owned(),
        places,
    };
    let wanted = [
        piece("asks: LATER", "later on", (false, false)),
        piece("asks: needs", "", (false, true)),
        piece("asks: needs", " needs it", (true, false)),
        piece("asks: WAIT[\"budget\"]", "a larger budget", (false, false)),
    ];
    assert_eq!(table, wanted);
}

#[test]
fn a_text_is_found_as_a_literal_and_a_sentence_also_within_one() {
    let table = table_of(
        "export const TURN = \"your turn\";\nexport const DONE = \"the forward work is done\";\n\
         export const retryingIn = (time: string): string => `retrying in ${time}`;\n",
    );
    let found = |path: &str, text: &str| {
        let (path, text) = (path.to_owned(), text.to_owned());
        written_again(&TextFile { path, text }, &table).len()
    };
    for (line, count) in [
        ("let says = \"your turn\";", 1),
        ("<b>Your turn</b>", 1),
        ("let says = \"your turn as lead\";", 0),
        ("// \"your turn\"", 0),
        ("let says = \"x: The forward work is done.\";", 1),
        ("format!(\"retrying in {time}\")", 1),
        ("`retrying in ${time}`", 1),
        ("\"retrying in vain\"", 0),
        ("#[cfg(test)]\nmod tests {\n\"your turn\"\n}", 0),
    ] {
        assert_eq!(found("src/cli/x.rs", line), count, "{line}");
    }
    assert!(is_screen("src/cli/x.rs") && !is_screen("src/cli/watch/tests.rs"));
    assert!(!is_screen("operator-ui/web/src/said/asks.ts") && !is_screen("roles/src/x.rs"));
}
