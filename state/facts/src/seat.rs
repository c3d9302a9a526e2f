//! What a session is addressed by.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use crate::hash::Hash;
use crate::id::{BadName, RoleInstance, SessionKey};
use crate::limits::FOLDER_NAME_BYTES_MAX;

/// Begins the text of a chat's seat. No name of a role instance holds a colon.
const CHAT: &str = "chat:";

/// The digit of half a byte.
const fn hex(half: u8) -> char {
    match half {
        0..=9 => (b'0' + half) as char,
        _ => (b'A' + half - 10) as char,
    }
}

/// What a session is addressed by. Facts and views write it as one text: the seat of a role is the name of the role
/// instance, that of a chat begins with `chat:`. So facts about roles read as they did before there were chats.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seat {
    /// A role instance of a flow.
    Role(RoleInstance),
    /// A chat outside of any flow, by the key of its session.
    Chat(SessionKey),
}

impl Seat {
    /// The role instance, if it is one's.
    #[must_use]
    pub const fn role(&self) -> Option<&RoleInstance> {
        match self {
            Self::Role(role) => Some(role),
            Self::Chat(_) => None,
        }
    }

    /// Its name as the name of a folder: whatever a role instance's name may not hold is percent-encoded.
    #[must_use]
    pub fn folder_name(&self) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let mut name = String::new();
        for byte in self.to_string().bytes() {
            if plain(byte) {
                name.push(char::from(byte));
            } else {
                name.push('%');
                name.extend([byte >> 4, byte & 0xF].map(hex));
            }
        }
        if name.len() > FOLDER_NAME_BYTES_MAX {
            // Nothing that is encoded holds a tilde.
            return format!("chat~{}", Hash::of(name.as_bytes()));
        }
        name
    }
}

impl From<RoleInstance> for Seat {
    fn from(role: RoleInstance) -> Self {
        Self::Role(role)
    }
}

impl From<&RoleInstance> for Seat {
    fn from(role: &RoleInstance) -> Self {
        Self::Role(role.clone())
    }
}

impl PartialEq<RoleInstance> for Seat {
    fn eq(&self, role: &RoleInstance) -> bool {
        self.role() == Some(role)
    }
}

impl PartialEq<Seat> for RoleInstance {
    fn eq(&self, seat: &Seat) -> bool {
        seat == self
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(role) => role.fmt(f),
            Self::Chat(key) => f.pad(&format!("{CHAT}{key}")),
        }
    }
}

impl FromStr for Seat {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        match text.strip_prefix(CHAT) {
            Some(key) => key.parse().map(Self::Chat),
            None => text.parse().map(Self::Role),
        }
    }
}

impl Serialize for Seat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Role(role) => role.serialize(serializer),
            Self::Chat(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Seat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SeatVisitor;
        impl Visitor<'_> for SeatVisitor {
            type Value = Seat;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a role instance or a chat")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Seat, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(SeatVisitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn chat(key: &str) -> Seat {
        Seat::Chat(key.parse().unwrap())
    }

    #[test]
    fn the_seat_of_a_role_is_written_and_read_as_the_role_instance() {
        for name in ["owner", "owner_2", "tech-writer_12"] {
            let role: RoleInstance = name.parse().unwrap();
            let seat = Seat::from(&role);
            let json = serde_json::to_string(&seat).unwrap();
            assert_eq!(json, serde_json::to_string(&role).unwrap());
            assert_eq!(serde_json::from_str::<Seat>(&json).unwrap(), seat);
            assert_eq!(seat.folder_name(), name);
        }
    }

    #[test]
    fn the_seat_of_a_chat_reads_back_and_is_no_role_instance() {
        for key in ["main", "cron:nightly", "main:fork:a/b", "chat:main"] {
            let seat = chat(key);
            let json = serde_json::to_string(&seat).unwrap();
            assert_eq!(json, format!("\"chat:{key}\""));
            assert_eq!(serde_json::from_str::<Seat>(&json).unwrap(), seat);
            assert!(serde_json::from_str::<RoleInstance>(&json).is_err());
        }
        assert!("chat:".parse::<Seat>().is_err());
        assert!("No role".parse::<Seat>().is_err());
    }

    #[test]
    fn the_folders_of_two_seats_differ_and_none_leaves_its_place() {
        let folders = [
            chat("a/b"),
            chat("a%2Fb"),
            chat(".."),
            chat("main"),
            Seat::Role("main".parse().unwrap()),
        ];
        let folders = folders.map(|seat| seat.folder_name());
        let long = ["a:", "b:"].map(|begin| chat(&begin.repeat(100)).folder_name());
        assert!(long[0] != long[1] && long.iter().all(|name| name.len() <= FOLDER_NAME_BYTES_MAX));
        assert_eq!(
            folders,
            [
                "chat%3Aa%2Fb",
                "chat%3Aa%252Fb",
                "chat%3A%2E%2E",
                "chat%3Amain",
                "main"
            ]
        );
    }

    #[test]
    fn seats_are_the_keys_of_a_json_object() {
        let seats = BTreeMap::from([(Seat::Role("owner".parse().unwrap()), 1), (chat("main"), 2)]);
        let json = serde_json::to_string(&seats).unwrap();
        assert_eq!(json, r#"{"owner":1,"chat:main":2}"#);
        assert_eq!(
            serde_json::from_str::<BTreeMap<Seat, u32>>(&json).unwrap(),
            seats
        );
    }
}
