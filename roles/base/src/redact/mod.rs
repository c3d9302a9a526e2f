//! Secrets, blanked out before a model or a disk sees them.
//!
//! Two kinds are known: values that this process holds, which are found wherever they are, also
//! in base64 and as parts of addresses; and texts that look like keys of well-known kinds. Escape
//! sequences of terminals in between hide neither. What is not found, and no one should rely on
//! it: a value that was broken over lines, reversed, compressed or encrypted.

mod pattern;
mod stream;
mod view;

use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use memchr::memmem::Finder;
use serde_json::Value;
use serde_json::value::RawValue;

use pattern::PATTERNS;
pub use stream::RedactedStream;
use view::SearchedBytes;

/// The placeholder of a secret.
pub const MARK: &str = "[secret withheld]";

/// Shorter values are no secrets: they would blank out ordinary words.
const SHORTEST: usize = 8;

/// Finds secrets. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// Every spelling of every value.
    needles: Arc<[Needle]>,
}

#[derive(Clone)]
struct Needle(Finder<'static>);

impl Needle {
    fn bytes(&self) -> &[u8] {
        self.0.needle()
    }
}

impl std::fmt::Debug for Needle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Needle")
    }
}

impl Redactor {
    /// Knows these values, and the well-known kinds.
    #[must_use]
    pub fn new(secrets: &[String]) -> Self {
        let values = secrets.iter().map(|secret| secret.trim());
        let mut spellings: Vec<Vec<u8>> = values
            .filter(|value| value.len() >= SHORTEST)
            .flat_map(spellings)
            .collect();
        spellings.sort();
        spellings.dedup();
        let needles = spellings
            .iter()
            .map(|it| Needle(Finder::new(it).into_owned()));
        Self {
            needles: needles.collect(),
        }
    }

    /// Whether another one knows the same values.
    #[must_use]
    pub fn knows_same(&self, other: &Self) -> bool {
        let (own, others) = (self.needles.iter(), other.needles.iter());
        own.map(Needle::bytes).eq(others.map(Needle::bytes))
    }

    /// The text with every secret blanked out.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        blanked(text, &self.ranges(text))
    }

    /// Whether bytes that are no text hold a secret, such as in what a picture says about itself.
    #[must_use]
    pub fn finds_in(&self, bytes: &[u8]) -> bool {
        let mut found = Vec::new();
        PATTERNS.find(bytes, &mut found);
        let mut needles = self.needles.iter();
        !found.is_empty() || needles.any(|Needle(finder)| finder.find(bytes).is_some())
    }

    /// JSON with every secret in its strings blanked out; byte for byte the same where there is none.
    #[must_use]
    pub fn redact_json(&self, json: &RawValue) -> Box<RawValue> {
        let Ok(mut value) = serde_json::from_str::<Value>(json.get()) else {
            return json.to_owned();
        };
        if !self.clean_strings(&mut value) {
            return json.to_owned();
        }
        let clean = serde_json::value::to_raw_value(&value);
        // A tree of strings and numbers can always be written.
        clean.unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    /// Blanks out the secrets in all strings and names, and returns whether there were any.
    fn clean_strings(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let clean = self.redact(text);
                let changed = clean != *text;
                *text = clean;
                changed
            }
            Value::Array(values) => {
                let changed = values.iter_mut().map(|value| self.clean_strings(value));
                changed.fold(false, |any, changed| any | changed)
            }
            Value::Object(members) => {
                let old = std::mem::take(members);
                let mut any = false;
                for (name, mut value) in old {
                    let clean = self.redact(&name);
                    any |= clean != name;
                    any |= self.clean_strings(&mut value);
                    members.insert(clean, value);
                }
                any
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Where secrets are, in order, without overlaps.
    fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let view = SearchedBytes::new(text);
        let bytes = view.bytes();
        let mut found: Vec<Range<usize>> = Vec::new();
        for Needle(finder) in self.needles.iter() {
            let mut from = 0;
            while let Some(at) = bytes.get(from..).and_then(|rest| finder.find(rest)) {
                found.push(from + at..from + at + finder.needle().len());
                from += at + 1;
            }
        }
        PATTERNS.find(bytes, &mut found);
        found.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = range.end.max(last.end),
                Some(_) | None => merged.push(range),
            }
        }
        merged
            .into_iter()
            .map(|range| view.original(range))
            .collect()
    }

    /// How much of the end of a text could be the beginning of a value, in bytes. Only values of
    /// several words are looked at: others do not reach over the end of a word.
    fn begun(&self, bytes: &[u8]) -> usize {
        let of_needle = |needle: &[u8]| {
            let longest = needle.len().saturating_sub(1).min(bytes.len());
            let ends = |length: &usize| {
                let end = bytes.get(bytes.len() - length..);
                end.is_some() && end == needle.get(..*length)
            };
            (1..=longest).rev().find(ends).unwrap_or(0)
        };
        let needles = self.needles.iter().map(|Needle(finder)| finder.needle());
        let has_space =
            |needle: &&[u8]| String::from_utf8_lossy(needle).contains(char::is_whitespace);
        let of_words = needles.filter(has_space);
        of_words.map(of_needle).max().unwrap_or(0)
    }
}

/// A text with these parts of it blanked out.
fn blanked(text: &str, ranges: &[Range<usize>]) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(MARK);
        // The lines behind it keep their numbers.
        let lines = text
            .get(range.clone())
            .unwrap_or_default()
            .matches('\n')
            .count();
        out.extend(std::iter::repeat_n('\n', lines));
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The forms in which a value may occur in a text.
fn spellings(value: &str) -> Vec<Vec<u8>> {
    let mut all = vec![value.as_bytes().to_vec(), percent(value).into_bytes()];
    let json = serde_json::to_string(value).unwrap_or_default();
    all.push(json.trim_matches('"').as_bytes().to_vec());
    for skipped in 0..3 {
        all.extend(base64_core(value.as_bytes(), skipped));
    }
    all.retain(|spelling| spelling.len() >= SHORTEST);
    all
}

/// The letters of a value in base64 that do not depend on the text around it, for one of the three
/// places at which it can begin.
fn base64_core(value: &[u8], skipped: usize) -> Vec<Vec<u8>> {
    let mut padded = vec![0; skipped];
    padded.extend_from_slice(value);
    let first = [0, 2, 3].get(skipped).copied().unwrap_or(0);
    let last = padded.len() * 8 / 6;
    [STANDARD.encode(&padded), URL_SAFE.encode(&padded)]
        .iter()
        .filter_map(|text| text.as_bytes().get(first..last).map(<[u8]>::to_vec))
        // A short core is found in texts that have nothing to do with it.
        .filter(|core| core.len() >= 2 * SHORTEST)
        .collect()
}

/// A value as it occurs in an address.
fn percent(value: &str) -> String {
    use std::fmt::Write as _;

    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests;
