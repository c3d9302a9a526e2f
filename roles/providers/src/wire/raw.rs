//! JSON whose members keep their order and their bytes.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize as DeriveDeserialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// An object, member by member as it came.
#[derive(Debug, Clone, Default)]
pub(super) struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// Reads an object.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// A member as text, if it is one.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// A member.
    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_ref())
    }

    /// Puts a member in the place of the one of its name, or at the end.
    pub(super) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// The same for a text.
    pub(super) fn set_text(&mut self, name: &str, text: &str) {
        if let Ok(value) = to_raw_value(text) {
            self.set(name, value);
        }
    }

    /// The object as JSON.
    pub(super) fn to_raw(&self) -> Option<Box<RawValue>> {
        to_raw_value(self).ok()
    }
}

/// The members of an object that is read once, where they lie.
#[derive(Debug, Default)]
pub(super) struct RawMembers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawMembers<'a> {
    /// A member as text, if it is one.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// A member.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for MembersVisitor<'a> {
            type Value = RawMembers<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawMembers<'a>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<Name<'a>, &'a RawValue>()? {
                    members.push((name.0, value));
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

/// The name of a member, copied only where it has escapes.
#[derive(DeriveDeserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawObjectVisitor;
        impl<'de> Visitor<'de> for RawObjectVisitor {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawObject(members))
            }
        }
        deserializer.deserialize_map(RawObjectVisitor)
    }
}

/// `{}`.
pub(crate) fn empty_object() -> Box<RawValue> {
    RawObject::default().to_raw().unwrap_or_default()
}

/// JSON text without halves of surrogate pairs, which are no characters: each becomes the escape
/// of U+FFFD. Providers pass them on when a model cuts an emoji in two.
pub(super) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return json.into();
    }
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    let mut kept = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let (length, is_lone) = match unit(bytes, at) {
            Some(0xd800..=0xdbff) => match unit(bytes, at + 6) {
                Some(0xdc00..=0xdfff) => (12, false),
                Some(_) | None => (6, true),
            },
            Some(0xdc00..=0xdfff) => (6, true),
            Some(_) => (6, false),
            None => (2, false),
        };
        if is_lone {
            out.push_str(&json[kept..at]);
            out.push_str("\\ufffd");
            kept = at + length;
        }
        at += length;
    }
    out.push_str(json.get(kept..).unwrap_or_default());
    out.into()
}

/// The number of the `\uXXXX` at this place.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_keeps_its_order_and_its_bytes() {
        let text = r#"{"z":1.50,"a":"\/","m":{"y" : 1}}"#;
        let mut object = RawObject::parse(text).unwrap();
        assert_eq!(object.to_raw().unwrap().get(), text);
        object.set_text("a", "b");
        object.set_text("n", "c");
        assert_eq!(
            object.to_raw().unwrap().get(),
            r#"{"z":1.50,"a":"b","m":{"y" : 1},"n":"c"}"#
        );
        assert!(RawObject::parse("[1]").is_none());
        assert_eq!(empty_object().get(), "{}");
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_pairs_are_not() {
        for (from, to) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00a""#, r#""\ufffda""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\uD83D.""#, r#""\\\ufffd.""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            ("\"\u{e9}\\ud83d\u{e9}\"", "\"\u{e9}\\ufffd\u{e9}\""),
        ] {
            let mended = without_lone_surrogates(from);
            assert_eq!(mended, to);
            assert!(serde_json::from_str::<String>(&mended).is_ok(), "{to}");
        }
    }
}
