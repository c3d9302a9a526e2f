//! Parses a browser's messages, and refuses what two parsers could read differently: a key that is
//! there twice, an unknown one, and what nests too deep.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

use super::limits::NESTING_MAX;

/// Reads one message.
///
/// # Errors
/// In words, when the text is not JSON, not such a message, or could be read in two ways.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let looked = Plain { depth: 0 }.deserialize(&mut reader);
    looked
        .and_then(|()| reader.end())
        .and_then(|()| serde_json::from_str(text))
        .map_err(|error| error.to_string())
}

/// Walks JSON without keeping it.
#[derive(Clone, Copy)]
struct Plain {
    depth: usize,
}

impl Plain {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > NESTING_MAX {
            return Err(E::custom("it nests too deep"));
        }
        Ok(Self { depth })
    }
}

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while list.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut met = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(inner)?;
            if let Some(twice) = met.replace(key) {
                return Err(A::Error::custom(format!("`{twice}` is there twice")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::up::Up;
    use super::*;

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let deep = format!(
            r#"{{"t":"ping","n":{}1{}}}"#,
            "[".repeat(40),
            "]".repeat(40)
        );
        let cases = [
            (r#"{"t":"ping","t":"live","n":1}"#, "twice"),
            (r#"{"t":"ping","n":1,"n":2}"#, "twice"),
            (
                r#"{"t":"do","cmd":"a","flow":{"project":"p","flow":"f"},"command":{"do":"configure","role":"r","settings":{"model":"a","model":"b"}}}"#,
                "twice",
            ),
            (r#"{"t":"ping","n":1,"more":2}"#, "unknown field"),
            (
                r#"{"t":"do","cmd":"a","flow":{"project":"p","flow":"f"},"command":{"do":"pause","why":1}}"#,
                "unknown field",
            ),
            (
                r#"{"t":"sub","id":1,"topic":{"topic":"inbox","flow":{}},"since":null,"epoch":null}"#,
                "unknown field",
            ),
            (r#"{"t":"shout"}"#, "unknown variant"),
            (
                r#"{"t":"sub","id":1,"topic":{"topic":"inbox"},"since":-1,"epoch":null}"#,
                "invalid value",
            ),
            (
                r#"{"t":"sub","id":1,"topic":{"topic":"inbox"},"since":1.5,"epoch":null}"#,
                "invalid type",
            ),
            (
                r#"{"t":"sub","id":1,"topic":{"topic":"inbox"},"since":"1","epoch":null}"#,
                "invalid type",
            ),
            (r#"{"t":"ping","n":1} {"t":"ping","n":2}"#, "trailing"),
            (deep.as_str(), "too deep"),
            ("", "EOF"),
        ];
        for (text, says) in cases {
            let refused = read::<Up>(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }

    #[test]
    fn what_is_plain_is_read() {
        let said = r#"{"t":"do","cmd":"c1","flow":{"project":"p","flow":"f"},"command":{"do":"stop","scope":{"node":"a"}}}"#;
        assert!(matches!(read::<Up>(said), Ok(Up::Do { .. })));
        let said = r#"{"t":"do","cmd":"c1","flow":{"project":"p","flow":"f"},"command":{"do":"reply","to":"only","text":"yes"}}"#;
        assert!(matches!(read::<Up>(said), Ok(Up::Do { .. })));
        let said = r#"{"t":"sub","id":1,"topic":{"topic":"inbox"},"since":null,"epoch":null}"#;
        assert!(matches!(read::<Up>(said), Ok(Up::Sub { .. })));
    }
}
