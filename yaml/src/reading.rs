//! Reading documents of people: every fault with its place, not the first one only.

use std::fmt;

use crate::{MapEntry, ParseBudget, Value, YamlTree, parse};

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
///
/// # Errors
/// Everything that is wrong with it.
pub fn read<T: Default>(
    text: &str,
    budget: ParseBudget,
    take: impl FnOnce(&mut FaultSink, &YamlTree) -> T,
) -> Result<T, Vec<TextFault>> {
    let mut sink = FaultSink::default();
    let taken = match parse(text, budget) {
        Ok(tree) => take(&mut sink, &tree),
        Err(fault) => {
            let message = format!("this is not valid YAML: {}", fault.message);
            sink.faults.push((fault.span.bytes().start, message));
            T::default()
        }
    };
    if sink.faults.is_empty() {
        return Ok(taken);
    }
    let mut faults = sink.faults;
    faults.sort_by_key(|(byte, _)| *byte);
    faults.truncate(MAX_FAULTS);
    let faults = faults.into_iter();
    Err(faults
        .map(|(byte, message)| placed(text, byte, message))
        .collect())
}

/// A fault with the place that a reader of the text knows.
fn placed(text: &str, byte: usize, message: String) -> TextFault {
    let at = text.floor_char_boundary(byte.min(text.len()));
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    TextFault {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message,
    }
}

/// Reads values, and keeps what is wrong with them.
#[derive(Debug, Default)]
pub struct FaultSink {
    /// Each with the byte at which it is.
    faults: Vec<(usize, String)>,
}

/// The values of a mapping by their keys.
#[derive(Debug)]
pub struct Fields<'t> {
    /// All of them, in their order.
    pub entries: &'t [MapEntry],
}

impl<'t> Fields<'t> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'t YamlTree> {
        let found = self.entries.iter().find(|entry| entry.is(key));
        found.map(|entry| &entry.value)
    }
}

impl FaultSink {
    /// Something is wrong here.
    pub fn fault(&mut self, tree: &YamlTree, message: impl Into<String>) {
        self.faults.push((tree.span.bytes().start, message.into()));
    }

    /// How many faults there are so far.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.faults.len()
    }

    /// A mapping, whatever its keys are.
    pub fn entries<'t>(&mut self, tree: &'t YamlTree, what: &str) -> Option<&'t [MapEntry]> {
        if let Value::Map(entries) = &tree.value {
            return Some(entries);
        }
        let message = format!("{what} is {} and must be a mapping", tree.value.kind());
        self.fault(tree, message);
        None
    }

    /// A mapping with these keys and no others.
    pub fn fields<'t>(
        &mut self,
        tree: &'t YamlTree,
        what: &str,
        keys: &[&str],
    ) -> Option<Fields<'t>> {
        let entries = self.entries(tree, what)?;
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

    /// The value of a key that must be there.
    pub fn required<'t>(
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
    pub fn text(&mut self, tree: &YamlTree, what: &str) -> Option<String> {
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

    /// A whole number within bounds.
    pub fn number(&mut self, tree: &YamlTree, what: &str, from: u64, to: u64) -> Option<u64> {
        let number = tree.value.whole(from..=to);
        if number.is_none() {
            let message = format!("{what} must be a whole number from {from} to {to}");
            self.fault(tree, message);
        }
        number
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, tree: &YamlTree, what: &str) -> Option<bool> {
        if let Value::Bool(value) = &tree.value {
            return Some(*value);
        }
        self.fault(tree, format!("{what} must be `true` or `false`"));
        None
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
#[must_use]
pub fn is_near(text: &str, key: &str) -> bool {
    let bare = |text: &str| -> Vec<char> {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        letters.take(40).flat_map(char::to_lowercase).collect()
    };
    let (text, key) = (bare(text), bare(key));
    let allowed = if key.len() < 4 { 1 } else { 2 };
    edit_distance(&text, &key) <= allowed
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbours (optimal string alignment).
#[must_use]
pub fn edit_distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut before_last: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (i, left_char) in left.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, right_char) in right.iter().enumerate() {
            let replaced = last[j] + usize::from(left_char != right_char);
            let mut fewest = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let is_swap =
                i > 0 && j > 0 && left[i - 1] == *right_char && *left_char == right[j - 1];
            if is_swap {
                fewest = fewest.min(before_last[j - 1] + 1);
            }
            row[j + 1] = fewest;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_single_edits_and_swaps() {
        let table = [
            ("", "", 0),
            ("a", "", 1),
            ("role", "rolee", 1),
            ("role", "rloe", 1),
            ("kitten", "sitting", 3),
        ];
        for (left, right, edits) in table {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(
                edit_distance(&chars(left), &chars(right)),
                edits,
                "{left} {right}"
            );
        }
    }
}
