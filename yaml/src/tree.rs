//! A document as a tree, and what is wrong with a text that has none.

use std::ops::{Range, RangeInclusive};

/// The place of a value in the text that was parsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Counted from 1; 0 means that the value does not come from a text.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// The first byte.
    pub start_byte: u32,
    /// The byte after the last one; never less than `start_byte`.
    pub end_byte: u32,
}

impl Span {
    /// The bytes, to cut the value out of its text.
    #[must_use]
    pub const fn bytes(self) -> Range<usize> {
        self.start_byte as usize..self.end_byte as usize
    }
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlTree {
    pub span: Span,
    pub value: Value,
}

/// What a YAML value can be. Numbers keep their spelling, because `007` and `1e3` matter to people.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<YamlTree>),
    /// Entries in the order of the document.
    Map(Vec<MapEntry>),
}

/// One `key: value` of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct MapEntry {
    pub key: YamlTree,
    pub value: YamlTree,
}

impl MapEntry {
    /// Whether its key is this text.
    #[must_use]
    pub fn is(&self, key: &str) -> bool {
        matches!(&self.key.value, Value::Text(text) if text == key)
    }
}

/// A number, as YAML reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Whole(i128),
    Fraction(f64),
}

impl Value {
    /// What the value is, in words.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// The whole number within these bounds that it is.
    #[must_use]
    pub fn whole(&self, bounds: RangeInclusive<u64>) -> Option<u64> {
        let Some(Number::Whole(number)) = self.number() else {
            return None;
        };
        let number = u64::try_from(number).ok();
        number.filter(|number| bounds.contains(number))
    }

    /// The number that it is. A whole one beyond 64 bits is a fraction, as in JSON.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        let Self::Number(spelled) = self else {
            return None;
        };
        let whole = if let Some(octal) = spelled.strip_prefix("0o") {
            i128::from_str_radix(octal, 8)
        } else if let Some(hex) = spelled.strip_prefix("0x") {
            i128::from_str_radix(hex, 16)
        } else {
            spelled.parse()
        };
        let in_64_bits = i128::from(i64::MIN)..=i128::from(u64::MAX);
        match whole {
            Ok(whole) if in_64_bits.contains(&whole) => Some(Number::Whole(whole)),
            _ if spelled.contains(['n', 'N']) => fraction(&spelled.replace('.', "")),
            _ => fraction(spelled),
        }
    }
}

/// Rust reads `inf` and `nan`, without the dot of YAML.
fn fraction(spelled: &str) -> Option<Number> {
    spelled.parse().ok().map(Number::Fraction)
}

/// Why a text has no tree. There is only ever one: nothing after it can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlFault {
    pub kind: YamlFaultKind,
    pub span: Span,
    pub message: String,
}

/// What sort of fault, for its diagnostic code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YamlFaultKind {
    /// It is not YAML, or not the part of YAML that documents here use.
    Syntax,
    /// It is YAML, and it nests or repeats beyond a limit.
    Limit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_yaml_reads_it() {
        let number = |spelled: &str| Value::Number(spelled.to_owned()).number();
        let table = [
            ("014", Number::Whole(14)),
            ("+7", Number::Whole(7)),
            ("-9223372036854775808", Number::Whole(i128::from(i64::MIN))),
            ("18446744073709551615", Number::Whole(i128::from(u64::MAX))),
            (
                "18446744073709551616",
                Number::Fraction(18_446_744_073_709_551_616.0),
            ),
            ("0x1F", Number::Whole(31)),
            ("0o17", Number::Whole(15)),
            ("-1.5e3", Number::Fraction(-1500.0)),
            (".5", Number::Fraction(0.5)),
            ("1e999", Number::Fraction(f64::INFINITY)),
            ("-.Inf", Number::Fraction(f64::NEG_INFINITY)),
        ];
        for (spelled, expected) in table {
            assert_eq!(number(spelled), Some(expected), "{spelled}");
        }
        assert!(matches!(number(".NaN"), Some(Number::Fraction(it)) if it.is_nan()));
        assert_eq!(Value::Text("1".into()).number(), None);
    }
}
