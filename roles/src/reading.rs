//! Reading documents of people: every fault with its place, not the first one only.

use std::fmt;

use a_society_yaml::{self as yaml, MapEntry, ParseBudget, Value, YamlTree};

/// How many faults of one document are collected; a reader needs no more.
const MAX_FAULTS: usize = 200;

/// One thing that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFault {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for TextFault {}

/// Reads a document, or says everything that is wrong with it, in the order of the document.
pub(crate) fn read<T: Default>(
    text: &str,
    budget: ParseBudget,
    take: impl FnOnce(&mut FaultSink<'_>, &YamlTree) -> T,
) -> Result<T, Vec<TextFault>> {
    let mut sink = FaultSink {
        text,
        faults: Vec::new(),
    };
    let taken = match yaml::parse(text, budget) {
        Ok(tree) => take(&mut sink, &tree),
        Err(fault) => {
            let at = fault.span.bytes().start;
            sink.fault_at(at, format!("this is not valid YAML: {}", fault.message));
            T::default()
        }
    };
    if sink.faults.is_empty() {
        return Ok(taken);
    }
    let mut faults = sink.faults;
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults.truncate(MAX_FAULTS);
    Err(faults)
}

/// Reads values, and keeps what is wrong with them.
#[derive(Debug)]
pub(crate) struct FaultSink<'t> {
    text: &'t str,
    pub(crate) faults: Vec<TextFault>,
}

/// The values of a mapping by their keys.
#[derive(Debug)]
pub(crate) struct Fields<'t> {
    pub(crate) entries: &'t [MapEntry],
}

impl<'t> Fields<'t> {
    pub(crate) fn get(&self, key: &str) -> Option<&'t YamlTree> {
        let found = self.entries.iter().find(|entry| entry.is(key));
        found.map(|entry| &entry.value)
    }
}

impl FaultSink<'_> {
    pub(crate) fn fault(&mut self, tree: &YamlTree, message: impl Into<String>) {
        self.fault_at(tree.span.bytes().start, message);
    }

    fn fault_at(&mut self, byte: usize, message: impl Into<String>) {
        let at = self.text.floor_char_boundary(byte.min(self.text.len()));
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        self.faults.push(TextFault {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        });
    }

    /// A mapping with these keys and no others.
    pub(crate) fn fields<'t>(
        &mut self,
        tree: &'t YamlTree,
        what: &str,
        keys: &[&str],
    ) -> Option<Fields<'t>> {
        let Value::Map(entries) = &tree.value else {
            let message = format!("{what} is {} and must be a mapping", tree.value.kind());
            self.fault(tree, message);
            return None;
        };
        for MapEntry { key, .. } in entries {
            match &key.value {
                Value::Text(text) if keys.contains(&text.as_str()) => {}
                Value::Text(text) => self.fault(key, unknown_key(text, what, keys)),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::List(_)
                | Value::Map(_) => {
                    let message =
                        format!("a key of {what} is {} and must be text", key.value.kind());
                    self.fault(key, message);
                }
            }
        }
        Some(Fields { entries })
    }

    pub(crate) fn required<'t>(
        &mut self,
        tree: &YamlTree,
        fields: &Fields<'t>,
        what: &str,
        key: &str,
    ) -> Option<&'t YamlTree> {
        let found = fields.get(key);
        if found.is_none() {
            self.fault(tree, format!("{what} needs `{key}`"));
        }
        found
    }

    /// A text, perhaps an empty one.
    pub(crate) fn text(&mut self, tree: &YamlTree, what: &str) -> Option<String> {
        if let Value::Text(text) = &tree.value {
            return Some(text.clone());
        }
        let kind = tree.value.kind();
        let hint = match &tree.value {
            Value::Bool(_) | Value::Number(_) => "; quotes make it text",
            Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => "",
        };
        self.fault(tree, format!("{what} is {kind} and must be text{hint}"));
        None
    }

    /// A text that says something.
    pub(crate) fn words(&mut self, tree: &YamlTree, what: &str) -> Option<String> {
        let text = self.text(tree, what)?;
        if text.trim().is_empty() {
            self.fault(tree, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    /// A whole number within bounds.
    pub(crate) fn number(
        &mut self,
        tree: &YamlTree,
        what: &str,
        from: u64,
        to: u64,
    ) -> Option<u64> {
        let number = tree.value.whole(from..=to);
        if number.is_none() {
            let message = format!("{what} must be a whole number from {from} to {to}");
            self.fault(tree, message);
        }
        number
    }

    pub(crate) fn boolean(&mut self, tree: &YamlTree, what: &str) -> Option<bool> {
        if let Value::Bool(value) = &tree.value {
            return Some(*value);
        }
        self.fault(tree, format!("{what} must be `true` or `false`"));
        None
    }

    /// One of a closed set of words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        tree: &YamlTree,
        what: &str,
        all: &[(T, &str)],
    ) -> Option<T> {
        if let Value::Text(text) = &tree.value
            && let Some((found, _)) = all.iter().find(|(_, word)| word == text)
        {
            return Some(*found);
        }
        let words: Vec<String> = all.iter().map(|(_, word)| format!("`{word}`")).collect();
        self.fault(tree, format!("{what} must be one of {}", words.join(", ")));
        None
    }

    pub(crate) fn name<T: std::str::FromStr<Err: fmt::Display>>(
        &mut self,
        tree: &YamlTree,
        what: &str,
    ) -> Option<T> {
        let text = self.text(tree, what)?;
        match text.parse() {
            Ok(name) => Some(name),
            Err(why) => {
                self.fault(tree, why.to_string());
                None
            }
        }
    }
}

fn unknown_key(text: &str, what: &str, keys: &[&str]) -> String {
    let shown: String = text.chars().take(60).collect();
    if let Some(near) = keys.iter().find(|key| is_near(text, key)) {
        return format!("{what} has no key `{shown}`; did you mean `{near}`?");
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!(
        "{what} has no key `{shown}`; its keys are {}",
        keys.join(", ")
    )
}

/// Whether the text is probably a misspelt key: other joints and cases, or a letter or two that differ.
pub(crate) fn is_near(text: &str, key: &str) -> bool {
    let bare = |text: &str| -> Vec<char> {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        letters.take(40).flat_map(char::to_lowercase).collect()
    };
    let (text, key) = (bare(text), bare(key));
    let allowed = if key.len() < 4 { 1 } else { 2 };
    distance(&text, &key) <= allowed
}

/// How many letters must be changed, added or taken away.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in to.iter().enumerate() {
            let change = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}
