//! The page's files of strings, and what must hold of all words.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::*;

/// A text as the page gets it.
pub(super) enum Entry {
    /// A name and its text.
    Text(&'static str, &'static str),
    /// A name, its places and the sentence with them.
    Template(&'static str, Vec<&'static str>, &'static str),
    /// A name, and a text for each value as the wire has it.
    Table(&'static str, Vec<(String, &'static str)>),
}

/// A value as the wire has it.
pub(super) fn key(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap();
    value.as_str().unwrap().to_owned()
}

const HEAD: &str = "// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts \
--lib the_page_says`. Do not edit.\n\n";

fn all() -> [(&'static str, Vec<Entry>); 11] {
    [
        ("status", status::all()),
        ("asks", asks::all()),
        ("choices", choices::all()),
        ("calls", calls::all()),
        ("handoffs", handoffs::all()),
        ("permissions", permissions::all()),
        ("retrospective", retrospective::all()),
        ("runs", runs::all()),
        ("keys", keys::all()),
        ("acts", acts::all()),
        ("settings", settings::all()),
    ]
}

/// A name of this language as the page's writes it.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capital(word))
}

fn written(entry: &Entry) -> String {
    match entry {
        Entry::Text(name, text) => format!("export const {name} = {text:?};\n"),
        Entry::Template(name, places, sentence) => {
            let mut sentence = (*sentence).to_owned();
            for place in places {
                let filled =
                    sentence.replace(&format!("{{{place}}}"), &format!("${{{}}}", camel(place)));
                assert_ne!(filled, sentence, "{name} has no place {place}");
                sentence = filled;
            }
            let places: Vec<String> = places
                .iter()
                .map(|place| format!("{}: string", camel(place)))
                .collect();
            let name = camel(name);
            format!(
                "export const {name} = ({}): string => `{sentence}`;\n",
                places.join(", ")
            )
        }
        Entry::Table(name, rows) => {
            let rows = rows
                .iter()
                .map(|(key, text)| format!("  {key:?}: {text:?},\n"));
            format!(
                "export const {name} = {{\n{}}} as const;\n",
                rows.collect::<String>()
            )
        }
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "what is generated is compared with a file, and written on demand"
)]
fn the_page_says_what_the_terminal_says() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../operator-ui/web/src/said"
    );
    for (file, entries) in all() {
        let path = format!("{folder}/{file}.ts");
        let entries: String = entries.iter().map(written).collect();
        let now = format!("{HEAD}{entries}");
        if std::env::var_os("A_SOCIETY_UPDATE").is_some() {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == now,
            "web/src/said/{file}.ts is not what the table says: run with A_SOCIETY_UPDATE=1"
        );
    }
}

#[test]
fn no_text_is_there_twice_and_each_begins_within_a_sentence() {
    let (mut texts, mut names) = (BTreeMap::new(), BTreeSet::new());
    for (file, entries) in all() {
        for entry in entries {
            let (name, text) = match entry {
                Entry::Text(name, text) | Entry::Template(name, _, text) => (name, Some(text)),
                // Its entries may be texts that have a name, too.
                Entry::Table(name, _) => (name, None),
            };
            assert!(names.insert(name), "{file}: {name} is there once more");
            let Some(text) = text else { continue };
            assert_eq!(
                texts.insert(text, name),
                None,
                "{file}: {name} is {text:?} once more"
            );
            assert!(
                !text.starts_with(char::is_uppercase),
                "{file}: {text:?} begins in upper case"
            );
        }
    }
}

#[test]
fn a_sentence_begins_with_a_capital_letter() {
    for (text, sentence) in [
        ("working", "Working"),
        ("ß", "SS"),
        ("", ""),
        ("8 s", "8 s"),
    ] {
        assert_eq!(capital(text), sentence);
    }
}

#[test]
fn the_time_that_is_left_has_the_unit_in_which_one_waits() {
    for (ms, words) in [
        (0, None),
        (1, Some("1 s")),
        (18_000, Some("18 s")),
        (90_000, Some("90 s")),
        (90_001, Some("2 min")),
        (3_540_000, Some("59 min")),
        (3_540_001, Some("1 h")),
        (3_600_000, Some("1 h")),
        (5_400_000, Some("1 h 30 min")),
        (7_200_000, Some("2 h")),
    ] {
        let left = left(At::from_ms(ms), At::from_ms(0));
        assert_eq!(left.as_deref(), words, "{ms}");
    }
}
