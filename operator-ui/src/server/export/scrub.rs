//! Redacts texts before they are cut: half a secret is not recognised.

use a_society_orchestrator::config::export_filter::MARK;
use serde_json::{Map, Value};

use super::pieces::with_strings;
use crate::fold::words;

/// Takes the secrets out of a text.
pub(crate) type Redact<'a> = &'a dyn Fn(&str) -> String;

/// The end of a text that was cut.
fn rest(bytes: usize) -> String {
    format!("\n[cut here in this file: {bytes} bytes in all]")
}

/// How many secrets are known by what they were once they were found. A flow with more is a list of
/// secrets.
const KNOWN_MAX: usize = 64;

/// The shortest part of a secret that is known for one; what is shorter may be a word.
const FRAGMENT_BYTES: usize = 12;

/// Takes secrets out, and counts the texts that held any.
///
/// The redactor recognises whole secrets only. A view may hold the beginning of one, or one line of
/// many: so a secret that was found once is searched for in parts as well.
pub(super) struct Scrub<'a> {
    redact: Redact<'a>,
    known: Vec<String>,
    pub(super) withheld: u64,
}

impl<'a> Scrub<'a> {
    pub(super) const fn new(redact: Redact<'a>) -> Self {
        Self {
            redact,
            known: Vec::new(),
            withheld: 0,
        }
    }

    /// A text without secrets.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut clean = (self.redact)(text);
        if clean != text {
            self.learn(text, &clean);
        }
        for secret in &self.known {
            clean = clean.replace(secret, MARK);
        }
        for secret in &self.known {
            clean = without_parts(&clean, secret);
        }
        self.withheld += u64::from(clean != text);
        clean
    }

    /// Remembers what was taken out of a text.
    fn learn(&mut self, text: &str, clean: &str) {
        let mut rest = text;
        let mut pieces = clean.split(MARK);
        let first = pieces.next().unwrap_or_default();
        rest = rest.strip_prefix(first).unwrap_or(rest);
        for piece in pieces {
            let Some((gone, behind)) = found(rest, piece) else {
                return;
            };
            self.know(gone.trim());
            rest = behind;
        }
    }

    fn know(&mut self, secret: &str) {
        let lines = secret.lines().map(str::trim);
        let lines = lines.filter(|line| !line.contains(char::is_whitespace));
        for part in std::iter::once(secret).chain(lines) {
            let is_new = part != MARK && !self.known.iter().any(|known| known == part);
            if part.len() >= FRAGMENT_BYTES && is_new && self.known.len() < KNOWN_MAX {
                self.known.push(part.to_owned());
            }
        }
    }

    /// The beginning of a text without secrets; it says so when that is not all.
    pub(super) fn beginning(&mut self, text: &str, bytes_max: usize) -> String {
        let clean = self.text(text);
        if clean.len() <= bytes_max {
            return clean;
        }
        let kept = words::beginning(&clean, bytes_max);
        format!("{kept}{}", rest(text.len()))
    }

    /// A value without secrets: in its texts and in its names.
    pub(super) fn value(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(list) => list.into_iter().map(|it| self.value(it)).collect(),
            Value::Object(map) => {
                let each = map
                    .into_iter()
                    .map(|(name, value)| (self.text(&name), self.value(value)));
                Value::Object(each.collect::<Map<_, _>>())
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }

    /// A value without secrets, whose texts are no longer than this. Its names stay.
    pub(super) fn short(&mut self, value: Value, bytes_max: usize) -> Value {
        match value {
            Value::String(text) => Value::String(self.beginning(&text, bytes_max)),
            Value::Array(list) => {
                let each = list.into_iter().map(|it| self.short(it, bytes_max));
                Value::Array(each.collect())
            }
            Value::Object(map) => {
                let each = map.into_iter();
                let each = each.map(|(name, it)| (name, self.short(it, bytes_max)));
                Value::Object(each.collect())
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }

    /// A text of JSON without secrets. What has none in it stays as it is, to the byte.
    pub(super) fn json(&mut self, text: &str) -> String {
        let clean = with_strings(text, &mut |said| {
            let clean = self.text(said);
            (clean != said).then_some(clean)
        });
        if clean == text {
            // Some are recognised by the text before them, which may be the name of a member.
            return self.text(text);
        }
        clean
    }

    /// How many secrets are known by what they are.
    pub(super) const fn known(&self) -> usize {
        self.known.len()
    }

    /// A line of JSON without secrets. It stays as it is on disk if it contains none.
    pub(super) fn line(&mut self, line: &str) -> String {
        let before = self.withheld;
        let clean = match serde_json::from_str(line) {
            Ok(value) => self.value(value),
            Err(_) => return self.text(line),
        };
        if self.withheld == before {
            return self.text(line);
        }
        clean.to_string()
    }
}

/// Splits a text at a fragment.
fn found<'t>(text: &'t str, piece: &str) -> Option<(&'t str, &'t str)> {
    if piece.is_empty() {
        return Some((text, ""));
    }
    // A mark is followed by as many line ends as the redacted text had: they may be too many.
    let lines = piece.len() - piece.trim_start_matches('\n').len();
    let fewer = (0..=lines).filter_map(|fewer| piece.get(fewer..));
    fewer
        .filter(|piece| !piece.is_empty())
        .find_map(|piece| text.split_once(piece))
}

/// A text without the beginnings and the ends of a secret.
fn without_parts(text: &str, secret: &str) -> String {
    let begins = secret.get(..secret.floor_char_boundary(FRAGMENT_BYTES));
    let ends = secret.get(secret.ceil_char_boundary(secret.len() - FRAGMENT_BYTES)..);
    let begins = begins.unwrap_or(secret);
    let ends = ends.unwrap_or(secret);
    let clean = each_replaced(text, begins, &|_, from| MarkReach {
        back: 0,
        on: common(from.chars(), secret.chars()),
    });
    each_replaced(&clean, ends, &|before, _| {
        let head = secret.get(..secret.len() - ends.len()).unwrap_or_default();
        MarkReach {
            back: common(before.chars().rev(), head.chars().rev()),
            on: ends.len(),
        }
    })
}

/// How many bytes a mark takes in before an occurrence, and from its beginning on.
struct MarkReach {
    back: usize,
    on: usize,
}

/// How many bytes two texts have in common at their beginning.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    let same = one.zip(other).take_while(|(one, other)| one == other);
    same.map(|(one, _)| one.len_utf8()).sum()
}

/// A text with a mark at each occurrence of a part. The text before and after an occurrence determines
/// how far the mark extends.
fn each_replaced(text: &str, part: &str, reach: &dyn Fn(&str, &str) -> MarkReach) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.find(part).and_then(|at| rest.split_at_checked(at)) {
        let MarkReach { back, on } = reach(before, from);
        out.push_str(before.get(..before.len() - back).unwrap_or(before));
        out.push_str(MARK);
        rest = from.get(on.max(part.len())..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
