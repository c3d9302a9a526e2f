//! Names and numbers of things, parsed once at the edge and trusted afterwards.
//!
//! Every name that becomes a folder, a file or a line of the journal is one of these types, so a
//! slash, a `..` or a control character is refused where it enters and nowhere else has to look.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};

use crate::limits::{ID_BYTES_MAX, NAME_BYTES_MAX};

/// Why a text is not the name it was offered as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{offered:?} is not a {what}: {why}")]
pub struct BadName {
    /// The kind of name that was wanted, in words.
    pub what: &'static str,
    /// The text that was offered, cut to a readable length.
    pub offered: String,
    /// What is wrong with it and what would be right.
    pub why: &'static str,
}

fn bad(what: &'static str, offered: &str, why: &'static str) -> BadName {
    BadName {
        what,
        offered: offered.chars().take(80).collect(),
        why,
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
        pub struct $type(Arc<str>);

        impl $type {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                $check(text).map_err(|why| bad($what, text, why))?;
                Ok(Self(Arc::from(text)))
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct IdVisitor;
                impl Visitor<'_> for IdVisitor {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(IdVisitor)
            }
        }
    };
}

name!(
    /// A folder of the workspace that flows work on; the namespace of its flows.
    ProjectName, "project name", check_project
);
name!(
    /// One walk of a graph, such as `20260527T143000123Z-a1b2c3`.
    FlowId, "flow id", check_flow
);
name!(
    /// A node of the graph, in kebab-case. Where another program looked back, the name of a node may
    /// begin with a role instance, as `writer_2-meta-analysis`; no graph of ours has such a one.
    NodeId, "node id", check_node
);
name!(
    /// A role instance such as `owner` or `owner_2`.
    RoleInstance, "role instance", check_role
);
name!(
    /// One incarnation of a session; a reset makes a new one under the same key.
    SessionId, "session id", check_token
);
name!(
    /// The address of a session, such as `main` or `flow:<flow>:role:<instance>`.
    SessionKey, "session key", check_token
);
name!(
    /// One tool call of a turn, named by us, because providers repeat their own ids.
    CallId, "call id", check_token
);
name!(
    /// One request for the operator's consent.
    ConsentId, "consent id", check_token
);
name!(
    /// One staged handoff that waits for the operator's word.
    ApprovalId, "approval id", check_token
);
name!(
    /// One message of a session; minted once, never used again.
    MessageId, "message id", check_token
);
name!(
    /// What a client calls its own command, so that a repeated one counts once.
    ClientId, "client command id", check_token
);

impl RoleInstance {
    /// The role without its instance number: `owner` for `owner_2`.
    #[must_use]
    pub fn base(&self) -> &str {
        self.0.split('_').next().unwrap_or(&self.0)
    }
}

/// A turn of a flow: they are numbered from 1 in the order in which they began.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, DeriveDeserialize,
)]
#[serde(transparent)]
pub struct TurnId(pub u64);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "turn {}", self.0)
    }
}

/// The place of a fact in its flow's journal, from 1, without gaps.
pub type Seq = u64;

fn check_project(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > NAME_BYTES_MAX {
        return Err("it is longer than 128 bytes");
    }
    if text.starts_with(['.', '_', '-', ' ']) || text.ends_with([' ', '.']) {
        return Err(
            "it may not begin with a dot, underscore, dash or space, nor end with a dot or space",
        );
    }
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    if !text.chars().all(fits) {
        return Err("use letters, digits, dashes, underscores, dots and spaces only");
    }
    Ok(())
}

fn check_flow(text: &str) -> Result<(), &'static str> {
    const WANTED: &str = "it looks like 20260527T143000123Z-a1b2c3";
    let bytes = text.as_bytes();
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let suffix = |part: &[u8]| {
        part.iter()
            .all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
    };
    let fits = bytes.len() == 26
        && digits(&bytes[..8])
        && bytes[8] == b'T'
        && digits(&bytes[9..18])
        && &bytes[18..20] == b"Z-"
        && suffix(&bytes[20..]);
    if fits { Ok(()) } else { Err(WANTED) }
}

fn check_kebab(text: &str) -> Result<(), &'static str> {
    if text.len() > NAME_BYTES_MAX {
        return Err("it is longer than 128 bytes");
    }
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    if text.split('-').all(part) {
        Ok(())
    } else {
        Err("use lowercase letters and digits, joined by single dashes")
    }
}

fn check_node(text: &str) -> Result<(), &'static str> {
    let Some((base, rest)) = text.split_once('_') else {
        return check_kebab(text);
    };
    let why = "use lowercase letters and digits, joined by single dashes";
    let (number, rest) = rest.split_once('-').ok_or(why)?;
    check_kebab(rest)?;
    let instance = text.get(..base.len() + 1 + number.len()).ok_or(why)?;
    check_role(instance).map_err(|_| why)
}

fn check_role(text: &str) -> Result<(), &'static str> {
    let Some((base, number)) = text.split_once('_') else {
        return check_kebab(text);
    };
    check_kebab(base)?;
    let counts = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
    if counts && !number.is_empty() && number.len() <= 6 {
        Ok(())
    } else {
        Err("after an underscore comes the number of the instance, such as owner_2")
    }
}

fn check_token(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > ID_BYTES_MAX {
        return Err("it is longer than 256 bytes");
    }
    if text.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(())
    } else {
        Err("use printable ASCII without spaces")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_name_that_would_leave_its_folder_is_refused() {
        for text in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "a\u{0}b",
            "a\nb",
            ".git",
            "_sessions",
            "x.",
        ] {
            assert!(text.parse::<ProjectName>().is_err(), "{text:?} was taken");
        }
        for text in ["demo", "Release notes", "mein-projekt_2", "проект", "v1.2"] {
            assert!(text.parse::<ProjectName>().is_ok(), "{text:?} was refused");
        }
    }

    #[test]
    fn a_flow_id_has_one_shape() {
        assert!("20260527T143000123Z-a1b2c3".parse::<FlowId>().is_ok());
        for text in [
            "",
            "x",
            "20260527T143000123Z-A1b2c3",
            "20260527T143000123Z-a1b2c",
            "../../etc/passwd-long-enough",
        ] {
            assert!(text.parse::<FlowId>().is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn a_node_id_is_kebab_case_and_may_begin_with_a_role_instance() {
        for text in ["write", "join-75", "ui-developer_2-meta-analysis"] {
            assert!(text.parse::<NodeId>().is_ok(), "{text:?} was refused");
        }
        for text in [
            "",
            "a_2",
            "a_-b",
            "a_0-b",
            "a_2-",
            "a_2-b_3-c",
            "_2-a",
            "A",
            "a b",
        ] {
            assert!(text.parse::<NodeId>().is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn a_role_instance_is_a_role_and_perhaps_a_number() {
        for text in ["owner", "owner_2", "tech-writer_12"] {
            assert!(text.parse::<RoleInstance>().is_ok(), "{text:?} was refused");
        }
        for text in [
            "Owner", "owner_", "owner_0", "owner_02", "owner_x", "-a", "a--b", "a b",
        ] {
            assert!(text.parse::<RoleInstance>().is_err(), "{text:?} was taken");
        }
        assert_eq!("owner_2".parse::<RoleInstance>().unwrap().base(), "owner");
    }

    #[test]
    fn a_bad_name_in_json_is_an_error_that_names_it() {
        let error = serde_json::from_str::<NodeId>("\"No Good\"")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("No Good") && error.contains("node id"),
            "{error}"
        );
    }
}
