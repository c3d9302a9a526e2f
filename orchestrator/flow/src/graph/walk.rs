//! Reading values out of a YAML tree by hand, so that every fault of it is found at once.
//!
//! Each reader reports what is wrong and gives `None`; its caller goes on with the next value.

use a_society_yaml::{MapEntry, Span, Value, YamlTree};

use super::diagnostic::{Code, DiagnosticSink, quoted};

/// The entries of a mapping whose keys have been checked.
#[derive(Debug)]
pub(super) struct CheckedFields<'t> {
    keys: &'static [&'static str],
    /// The first entry of each key, in the order of `keys`.
    found: Vec<Option<&'t MapEntry>>,
    /// The mapping itself, for what is missing in it.
    pub span: Span,
    /// What the mapping is, such as "a node", for messages.
    what: &'static str,
    /// Keys that an unknown key is probably meant to be; they are not called missing as well.
    misspelt: Vec<&'static str>,
}

impl<'t> CheckedFields<'t> {
    /// Reads a mapping and reports every key that is repeated, unknown, or no text.
    pub(super) fn read(
        sink: &mut DiagnosticSink<'_>,
        tree: &'t YamlTree,
        what: &'static str,
        keys: &'static [&'static str],
    ) -> Option<Self> {
        let Value::Map(entries) = &tree.value else {
            wrong_type(sink, tree, what, "a mapping", None);
            return None;
        };
        let mut found: Vec<Option<&'t MapEntry>> = vec![None; keys.len()];
        let mut misspelt = Vec::new();
        for entry in entries {
            let Some(name) = key_text(&entry.key) else {
                let message = format!(
                    "a key of {what} is {} and must be text",
                    entry.key.value.kind()
                );
                sink.error(Code::WrongType, entry.key.span, message, None);
                continue;
            };
            let Some(place) = keys.iter().position(|key| *key == name) else {
                misspelt.extend(unknown_key(sink, entry.key.span, name, what, keys));
                continue;
            };
            match found[place] {
                None => found[place] = Some(entry),
                Some(first) => repeated_key(sink, entry.key.span, name, first.key.span),
            }
        }
        Some(Self {
            keys,
            found,
            span: tree.span,
            what,
            misspelt,
        })
    }

    /// The value of a key. When a key is repeated, the first one counts and the rest are faults.
    pub(super) fn get(&self, name: &str) -> Option<&'t YamlTree> {
        let place = self.keys.iter().position(|key| *key == name)?;
        self.found[place].map(|entry| &entry.value)
    }

    /// The value of a key that must be there.
    pub(super) fn required(
        &self,
        sink: &mut DiagnosticSink<'_>,
        name: &str,
    ) -> Option<&'t YamlTree> {
        let found = self.get(name);
        if found.is_none() && !self.misspelt.contains(&name) {
            let message = format!("{} has no `{name}`", self.what);
            sink.error(Code::MissingKey, self.span, message, None);
        }
        found
    }
}

pub(super) fn repeated_key(sink: &mut DiagnosticSink<'_>, span: Span, name: &str, first: Span) {
    let message = format!("{} is here for the second time", quoted(name));
    let hint = format!("the first one is in line {}", first.line);
    sink.error(Code::DuplicateKey, span, message, Some(hint));
}

/// Reports a key, and gives the one that was probably meant.
fn unknown_key(
    sink: &mut DiagnosticSink<'_>,
    span: Span,
    name: &str,
    what: &str,
    keys: &[&'static str],
) -> Option<&'static str> {
    let near = sink.nearest.of(name, keys.iter().copied());
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if name == "<<" => {
            "merge keys are not supported; repeat the values, or use an alias for one".to_owned()
        }
        None => format!("{what} may have {}", listed(keys)),
    };
    let message = format!("{what} has no key {}", quoted(name));
    sink.error(Code::UnknownKey, span, message, Some(hint));
    near
}

/// A key as text. Plain numbers and booleans count by their spelling, as they do in JSON.
pub(super) fn key_text(key: &YamlTree) -> Option<&str> {
    match &key.value {
        Value::Text(text) | Value::Number(text) => Some(text),
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

/// Words in the manner of "`a`, `b` and `c`".
pub(super) fn listed(words: &[&str]) -> String {
    let marked: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match marked.split_last() {
        None => "no keys".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

pub(super) fn wrong_type(
    sink: &mut DiagnosticSink<'_>,
    tree: &YamlTree,
    what: &str,
    expected: &str,
    hint: Option<String>,
) {
    let message = format!(
        "{what} must be {expected}, and this is {}",
        tree.value.kind()
    );
    sink.error(Code::WrongType, tree.span, message, hint);
}

/// A text that says something.
pub(super) fn text<'t>(
    sink: &mut DiagnosticSink<'_>,
    tree: &'t YamlTree,
    what: &str,
) -> Option<&'t str> {
    let spelled = match &tree.value {
        Value::Text(text) if text.trim().is_empty() => {
            sink.error(Code::Empty, tree.span, format!("{what} is empty"), None);
            return None;
        }
        Value::Text(text) => return Some(text),
        Value::Number(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    };
    let hint = match spelled {
        Some(spelled) => Some(format!("quotes make it text: \"{spelled}\"")),
        None if matches!(tree.value, Value::Null) => {
            Some("write a value, or leave the key out".to_owned())
        }
        None => None,
    };
    wrong_type(sink, tree, what, "text", hint);
    None
}

/// A list; each item is read by the caller.
pub(super) fn list<'t>(
    sink: &mut DiagnosticSink<'_>,
    tree: &'t YamlTree,
    what: &str,
) -> Option<&'t [YamlTree]> {
    if let Value::List(items) = &tree.value {
        return Some(items);
    }
    let hint = match &tree.value {
        Value::Null => Some("an empty list is written `[]`".to_owned()),
        Value::Text(_) | Value::Number(_) | Value::Bool(_) => {
            Some("a list of one is written `[ … ]`, or `- …` on a line of its own".to_owned())
        }
        Value::List(_) | Value::Map(_) => None,
    };
    wrong_type(sink, tree, what, "a list", hint);
    None
}

/// A list of texts that each say something.
pub(super) fn texts(
    sink: &mut DiagnosticSink<'_>,
    tree: &YamlTree,
    what: &str,
) -> Option<Vec<String>> {
    let items = list(sink, tree, what)?;
    let label = format!("an item of {what}");
    let read: Vec<Option<&str>> = items.iter().map(|item| text(sink, item, &label)).collect();
    read.into_iter()
        .map(|item| item.map(str::to_owned))
        .collect()
}

/// `true` or `false`.
pub(super) fn boolean(sink: &mut DiagnosticSink<'_>, tree: &YamlTree, what: &str) -> Option<bool> {
    if let Value::Bool(value) = tree.value {
        return Some(value);
    }
    let hint = match &tree.value {
        Value::Text(text) => match text.to_ascii_lowercase().as_str() {
            "yes" | "on" | "y" | "true" => Some("write `true`".to_owned()),
            "no" | "off" | "n" | "false" => Some("write `false`".to_owned()),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    };
    wrong_type(sink, tree, what, "`true` or `false`", hint);
    None
}

/// A whole number from 1 up to a limit.
pub(super) fn positive(
    sink: &mut DiagnosticSink<'_>,
    tree: &YamlTree,
    what: &str,
    most: u64,
) -> Option<u64> {
    let Value::Number(spelled) = &tree.value else {
        wrong_type(sink, tree, what, "a whole number", None);
        return None;
    };
    let number = tree.value.whole(1..=most);
    if number.is_none() {
        let message = format!(
            "{what} must be a whole number from 1 to {most}, and this is {}",
            quoted(spelled)
        );
        sink.error(Code::OutOfRange, tree.span, message, None);
    }
    number
}

/// One of a few words.
pub(super) fn choice<T: Copy>(
    sink: &mut DiagnosticSink<'_>,
    tree: &YamlTree,
    what: &str,
    choices: &[(T, &'static str)],
) -> Option<T> {
    let word = text(sink, tree, what)?;
    if let Some((value, _)) = choices.iter().find(|(_, known)| *known == word) {
        return Some(*value);
    }
    let words: Vec<&str> = choices.iter().map(|(_, known)| *known).collect();
    let hint = sink
        .nearest
        .did_you_mean(word, words.iter().copied())
        .or_else(|| {
            Some(format!(
                "it may be {}",
                listed(&words).replace(" and ", " or ")
            ))
        });
    let message = format!("{what} cannot be {}", quoted(word));
    sink.error(Code::UnknownChoice, tree.span, message, hint);
    None
}
