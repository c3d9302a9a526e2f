//! The names of a graph, parsed once: node ids, role names, role instances, edges.
//!
//! A value of one of these types is known to be well formed, so that it is not checked again. All
//! four are cheap to clone, because the machine and its facts copy them at every step. Three of
//! them are the facts' own types: what a graph names is what a journal names.

use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::limits::{MAX_INSTANCE_DIGITS, MAX_NAME_BYTES};

pub(crate) use a_society_facts::handoff::EdgeName as EdgeId;
pub use a_society_facts::id::{NodeId, RoleInstance};

/// Why a text is not a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFault {
    /// There is nothing in it.
    Empty,
    /// It is longer than a file name may be.
    TooLong,
    /// It is not lowercase letters and digits joined by single hyphens.
    NotKebabCase,
    /// The part after `_` is not a short number without leading zeros.
    BadInstanceNumber,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong => write!(f, "it is longer than {MAX_NAME_BYTES} bytes"),
            Self::NotKebabCase => {
                f.write_str("it is not lowercase letters and digits joined by single hyphens")
            }
            Self::BadInstanceNumber => {
                f.write_str("what follows `_` is not a number such as `2` or `17`")
            }
        }
    }
}

impl std::error::Error for NameFault {}

/// Checks `[a-z0-9]+(-[a-z0-9]+)*` without a regular expression.
fn check_kebab(text: &str) -> Result<(), NameFault> {
    if text.is_empty() {
        return Err(NameFault::Empty);
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(NameFault::TooLong);
    }
    let word_is_good = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if text.split('-').all(word_is_good) {
        Ok(())
    } else {
        Err(NameFault::NotKebabCase)
    }
}

fn check_instance(text: &str) -> Result<(), NameFault> {
    if text.len() > MAX_NAME_BYTES {
        return Err(NameFault::TooLong);
    }
    let Some((base, number)) = text.split_once('_') else {
        return check_kebab(text);
    };
    check_kebab(base)?;
    let number_is_good = (1..=MAX_INSTANCE_DIGITS).contains(&number.len())
        && !number.starts_with('0')
        && number.bytes().all(|byte| byte.is_ascii_digit());
    if number_is_good {
        Ok(())
    } else {
        Err(NameFault::BadInstanceNumber)
    }
}

/// Turns a text into the nearest kebab-case name, for a hint; `None` when nothing is left of it.
pub(super) fn kebab_of(text: &str) -> Option<String> {
    let mut name = String::new();
    for letter in text.chars().take(MAX_NAME_BYTES) {
        let starts_word = letter.is_uppercase() && name.ends_with(|c: char| c.is_ascii_lowercase());
        if starts_word {
            name.push('-');
        }
        if letter.is_ascii_alphanumeric() {
            name.push(letter.to_ascii_lowercase());
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_matches('-').to_owned();
    check_kebab(&name).is_ok().then_some(name)
}

/// Gives a name type its parsing, its text and its JSON form, which is a plain string.
macro_rules! name_type {
    ($type:ident, $check:path) => {
        impl $type {
            /// Parses a name once and for all.
            pub fn parse(text: &str) -> Result<Self, NameFault> {
                $check(text)?;
                Ok(Self(Arc::from(text)))
            }

            /// The name as it is written in files and facts.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $type {
            type Err = NameFault;

            fn from_str(text: &str) -> Result<Self, NameFault> {
                Self::parse(text)
            }
        }

        // A map keyed by the name may be asked with a plain text: both order by the same bytes.
        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text)
                    .map_err(|fault| D::Error::custom(format!("`{text}` is no name: {fault}")))
            }
        }
    };
}

/// A base role, such as `owner`: whose definition and authority an instance has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleName(Arc<str>);
name_type!(RoleName, check_kebab);

/// Parses the id of a node: kebab-case, unique in its graph.
///
/// # Errors
/// When the text is no such name, with what is wrong.
pub fn node_id(text: &str) -> Result<NodeId, NameFault> {
    check_kebab(text)?;
    text.parse().map_err(|_| NameFault::NotKebabCase)
}

/// Parses a role instance, such as `owner` or `owner_2`: who has a session of its own.
///
/// # Errors
/// When the text is no such name, with what is wrong.
pub(crate) fn role_instance(text: &str) -> Result<RoleInstance, NameFault> {
    check_instance(text)?;
    text.parse().map_err(|_| NameFault::BadInstanceNumber)
}

/// The role whose definition an instance has: `owner` for `owner_2`.
pub fn base_role(instance: &RoleInstance) -> RoleName {
    RoleName(Arc::from(instance.base()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kebab_case_ids_are_accepted_and_all_others_are_refused_with_their_fault() {
        for good in ["a", "owner-intake", "2nd-review", "x-1-y", "0"] {
            assert_eq!(node_id(good).unwrap().as_str(), good);
        }
        let table = [
            ("", NameFault::Empty),
            ("Owner", NameFault::NotKebabCase),
            ("a--b", NameFault::NotKebabCase),
            ("-a", NameFault::NotKebabCase),
            ("a-", NameFault::NotKebabCase),
            ("a b", NameFault::NotKebabCase),
            ("a/../b", NameFault::NotKebabCase),
            ("ä", NameFault::NotKebabCase),
            ("owner_2", NameFault::NotKebabCase),
        ];
        for (bad, fault) in table {
            assert_eq!(node_id(bad), Err(fault), "{bad:?}");
        }
        assert_eq!(node_id(&"a".repeat(129)), Err(NameFault::TooLong));
    }

    #[test]
    fn a_role_instance_may_end_in_a_number_and_knows_its_base_role() {
        let table = [
            ("owner", "owner"),
            ("owner_2", "owner"),
            ("qa-lead_10", "qa-lead"),
        ];
        for (text, base) in table {
            let instance = role_instance(text).unwrap();
            assert_eq!(base_role(&instance).as_str(), base);
        }
        let table = [
            ("owner_", NameFault::BadInstanceNumber),
            ("owner_0", NameFault::BadInstanceNumber),
            ("owner_02", NameFault::BadInstanceNumber),
            ("owner_two", NameFault::BadInstanceNumber),
            ("owner_1_2", NameFault::BadInstanceNumber),
            ("owner_1000000", NameFault::BadInstanceNumber),
            ("_2", NameFault::Empty),
            ("Owner_2", NameFault::NotKebabCase),
        ];
        for (bad, fault) in table {
            assert_eq!(role_instance(bad), Err(fault), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_a_plain_string_in_json_and_is_checked_when_it_is_read() {
        let id: NodeId = serde_json::from_str("\"review\"").unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"review\"");
        assert!(serde_json::from_str::<NodeId>("\"Re view\"").is_err());
    }

    #[test]
    fn the_nearest_kebab_name_of_a_text_is_found() {
        let table = [
            ("ownerIntake", Some("owner-intake")),
            ("Owner Intake", Some("owner-intake")),
            ("owner_intake", Some("owner-intake")),
            ("--x--", Some("x")),
            ("§", None),
        ];
        for (text, name) in table {
            assert_eq!(kebab_of(text).as_deref(), name, "{text:?}");
        }
    }
}
