//! SHA-256 of bytes, by which blobs, artifacts and approvals are named.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

/// A SHA-256, written as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
pub struct Hash([u8; 32]);

/// A text that is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 lowercase hexadecimal digits")]
pub struct NotAHash;

impl Hash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// The hash of bytes that come one after another. A copy of it goes on from the same place.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all of them.
    #[must_use]
    pub fn finish(self) -> Hash {
        Hash(self.0.finalize().into())
    }
}

impl Hash {
    /// Its bytes.
    #[must_use]
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// Its digits. A turn writes some fifty hashes, and a formatter takes longer for each than this for all.
    fn digits(self) -> [u8; 64] {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        digits
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits();
        f.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The sixteen digits.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The value of each byte as a digit; above fifteen if it is not one. Every record of a journal has
/// some fifty digits, and their values cannot be guessed, so that a branch for each is slow.
pub(crate) const NIBBLES: [u8; 256] = {
    let mut nibbles = [0xff; 256];
    let mut value: u8 = 0;
    while value < 16 {
        nibbles[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    nibbles
};

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let bytes = text.as_bytes();
        if bytes.len() != 64 {
            return Err(NotAHash);
        }
        let (mut out, mut all) = ([0; 32], 0);
        for (slot, pair) in out.iter_mut().zip(bytes.chunks_exact(2)) {
            let digit = |byte: u8| NIBBLES[usize::from(byte)];
            let (high, low) = (digit(pair[0]), digit(pair[1]));
            all |= high | low;
            *slot = high << 4 | low & 15;
        }
        if all > 15 {
            Err(NotAHash)
        } else {
            Ok(Self(out))
        }
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = self.digits();
        serializer.serialize_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HashVisitor;
        impl de::Visitor<'_> for HashVisitor {
            type Value = Hash;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a hash")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Hash, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(HashVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_nothing_is_the_one_everybody_knows() {
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Hash::of(b"").to_string(), text);
        assert_eq!(text.parse(), Ok(Hash::of(b"")));
    }

    #[test]
    fn capital_digits_and_short_texts_are_refused() {
        let text = Hash::of(b"").to_string();
        assert!(text.to_uppercase().parse::<Hash>().is_err());
        assert!(text[1..].parse::<Hash>().is_err());
        let with = |byte: &str| [byte, &text[1..]].concat().parse::<Hash>();
        assert!(with("g").is_err() && with("/").is_err() && with(":").is_err());
        assert!(with("`").is_err() && with("0").is_ok());
    }
}
