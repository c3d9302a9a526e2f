//! Small YAML documents as trees whose values know their places.
//!
//! This is the only file of the crate that knows serde-saphyr. It reads what models write into
//! fenced blocks and what people write into scripts, so that everything about it is bounded, and
//! booleans are `true` and `false` only: a model that names a node `yes` means text.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{
    Location, MergeKeyPolicy, MessageFormatter as _, Spanned, UserMessageFormatter,
};

/// How much of a document is read before it is given up.
#[derive(Debug, Clone, Copy)]
pub struct ParseBudget {
    depth: usize,
    nodes: usize,
    aliases: usize,
}

impl ParseBudget {
    /// A handoff is three levels deep, and a thousand targets have five nodes each; the rest is
    /// room for a model's mistakes to be named. Blocks have no use for aliases, and a few do no
    /// harm.
    pub const BLOCK: Self = Self {
        depth: 16,
        nodes: 50_000,
        aliases: 100,
    };

    /// A script for ten thousand nodes has about thirty values for each. The arguments of its
    /// calls stand seven levels deep and may go on.
    pub const SCRIPT: Self = Self {
        depth: 40,
        nodes: 400_000,
        aliases: 10_000,
    };
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlTree {
    pub place: YamlPlace,
    pub value: Value,
}

/// The place of a value in its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlPlace {
    /// Counted from 1.
    pub line: usize,
    pub bytes: Range<usize>,
}

/// A number, as YAML reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Whole(i128),
    Fraction(f64),
}

/// What a YAML value can be.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<YamlTree>),
    Map(Vec<(YamlTree, YamlTree)>),
}

impl Value {
    /// What the value is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlFault {
    pub message: String,
    pub place: Option<YamlPlace>,
}

/// Parses one document within a budget.
pub fn parse(text: &str, budget: ParseBudget) -> Result<YamlTree, YamlFault> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        // A word such as `.nan` is only ever reported as a number where text belongs.
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        budget: serde_saphyr::budget! {
            max_depth: budget.depth,
            flow_nesting_limit: budget.depth + 1,
            max_nodes: budget.nodes,
            max_events: budget.nodes * 2,
            max_aliases: budget.aliases,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: budget.nodes },
    };
    let parsed = serde_saphyr::from_str_with_options::<Spanned<Value>>(text, options);
    parsed.map(YamlTree::from).map_err(|error| YamlFault {
        message: UserMessageFormatter.format_message(&error).into_owned(),
        place: error.location().map(|location| fault_place(text, location)),
    })
}

fn narrow(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn place_of(location: Location) -> YamlPlace {
    let start = narrow(location.span().byte_offset().unwrap_or(0));
    let length = narrow(location.span().byte_len().unwrap_or(0));
    YamlPlace {
        line: narrow(location.line()),
        bytes: start..start.saturating_add(length),
    }
}

/// Faults of syntax come with a line and a column only, so that their bytes are counted here.
fn fault_place(text: &str, location: Location) -> YamlPlace {
    if location.span().byte_offset().is_some() {
        return place_of(location);
    }
    let line = narrow(location.line()).max(1);
    let before: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let letters = text[before..]
        .chars()
        .take(narrow(location.column()).saturating_sub(1));
    let start = before + letters.map(char::len_utf8).sum::<usize>();
    YamlPlace {
        line,
        bytes: start..start,
    }
}

impl From<Spanned<Value>> for YamlTree {
    fn from(spanned: Spanned<Value>) -> Self {
        Self {
            place: place_of(spanned.referenced),
            value: spanned.value,
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Takes whatever the document holds.
struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(Number::Whole(i128::from(number))))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(Number::Whole(i128::from(number))))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Value, E> {
        Ok(Value::Number(Number::Whole(number)))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Value, E> {
        let whole = i128::try_from(number).unwrap_or(i128::MAX);
        Ok(Value::Number(Number::Whole(whole)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(Number::Fraction(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Value>>()? {
            list.push(item.into());
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<Value>, Spanned<Value>>()? {
            map.push((key.into(), value.into()));
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_kind_and_their_bytes() {
        let text = "a: [yes, 1, true, ~, 1.5, .nan, '2']\nü: {k: väl}\n";
        let Value::Map(entries) = parse(text, ParseBudget::BLOCK).unwrap().value else {
            panic!("no mapping")
        };
        let Value::List(items) = &entries[0].1.value else {
            panic!("no list")
        };
        let kinds: Vec<&str> = items.iter().map(|item| item.value.kind()).collect();
        let expected = [
            "text",
            "a number",
            "a boolean",
            "nothing",
            "a number",
            "a number",
            "text",
        ];
        assert_eq!(kinds, expected);
        let Value::Map(inner) = &entries[1].1.value else {
            panic!("no inner mapping")
        };
        assert_eq!(&text[inner[0].1.place.bytes.clone()], "väl");
        assert_eq!(inner[0].0.place.line, 2);
        assert_eq!(&text[inner[0].0.place.bytes.clone()], "k");
    }

    #[test]
    fn what_cannot_be_read_is_a_fault_with_a_place() {
        let deep = "[".repeat(200_000);
        let many = format!("[{}]", "1,".repeat(ParseBudget::BLOCK.nodes + 1));
        let table = [
            "a: [",
            "a: b: c",
            "a: 1\na: 2",
            "*x",
            "a\n---\nb",
            "a:\n\t- x: y",
            &deep,
            &many,
        ];
        for text in table {
            let fault = parse(text, ParseBudget::BLOCK).unwrap_err();
            assert!(
                fault.place.is_some_and(|place| place.line >= 1),
                "{text:.20}"
            );
            assert!(
                !fault.message.is_empty() && !fault.message.contains("Options"),
                "{}",
                fault.message
            );
        }
    }
}
