//! What a fact says, as `name=value` pairs on one line, in the order in which it was recorded.
//!
//! Made from the recorded JSON, so that every fact is shown, those of later versions too.

use std::fmt;

use a_society_facts::{Body, Recorded};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::text::one_line;

/// Longer values are cut; the whole fact is a `--json` away.
const VALUE_COLUMNS_MAX: usize = 60;

/// The members of an object, in their order.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// What a record says.
pub(crate) fn members(recorded: &Recorded) -> String {
    let mut bytes = Vec::new();
    match &recorded.body {
        Body::Known(fact) => {
            // A fact that was read from JSON can be written as JSON; if not, its word must do.
            let _written = fact.write_payload(&mut bytes);
        }
        Body::Foreign { payload, .. } => bytes.extend_from_slice(payload.get().as_bytes()),
    }
    let read: Result<Members, _> = serde_json::from_slice(&bytes);
    let members = read.map(|members| members.0).unwrap_or_default();
    let pairs: Vec<String> = members
        .iter()
        .map(|(name, value)| pair(name, value))
        .collect();
    pairs.join(" ")
}

fn pair(name: &str, value: &RawValue) -> String {
    let text: Result<String, _> = serde_json::from_str(value.get());
    let shown = match text {
        // A single word needs no quotes.
        Ok(word) if !word.is_empty() && word.chars().all(|c| c.is_ascii_graphic()) => {
            one_line(&word, VALUE_COLUMNS_MAX)
        }
        Ok(text) => format!("\"{}\"", one_line(&text, VALUE_COLUMNS_MAX)),
        Err(_) => one_line(value.get(), VALUE_COLUMNS_MAX),
    };
    format!("{}={shown}", one_line(name, VALUE_COLUMNS_MAX))
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::flow::FlowTitled;
    use a_society_facts::{At, Fact};

    use super::*;

    fn titled(title: &str) -> String {
        let fact = Fact::FlowTitled(FlowTitled {
            title: title.to_owned(),
        });
        members(&Recorded::new(1, At::from_ms(0), fact))
    }

    #[test]
    fn words_stand_bare_and_sentences_in_quotes() {
        assert_eq!(titled("Release"), "title=Release");
        assert_eq!(titled("the\n release"), "title=\"the release\"");
        assert_eq!(titled("\u{1b}[2J"), "title=\"\\u{1b}[2J\"");
    }

    #[test]
    fn a_fact_of_a_later_version_is_shown_in_its_own_order() {
        let body = Body::Foreign {
            word: "later".to_owned(),
            payload: serde_json::from_str(r#"{"z":1,"a":{"b":[2]}}"#).unwrap(),
        };
        let recorded = Recorded {
            seq: 1,
            at: At::from_ms(0),
            body,
        };
        assert_eq!(members(&recorded), "z=1 a={\"b\":[2]}");
    }
}
