//! New names: flows, sessions, messages, requests.
//!
//! The hearts never make names up; they get them as data. A [`Mint`] makes them from a moment and
//! a source of random numbers, so that the simulator can put a seeded one in the machine's place.

use a_society_facts::id::{BadName, FlowId};
use a_society_facts::{At, Hash};

/// Where random numbers come from.
pub trait Mint: Send + std::fmt::Debug {
    /// A number that cannot be guessed, or the next one of a seed.
    fn number(&mut self) -> u128;
}

/// The system's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemMint;

impl Mint for SystemMint {
    fn number(&mut self) -> u128 {
        uuid::Uuid::new_v4().as_u128()
    }
}

/// The numbers of a seed, for tests and the simulator.
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeededMint(pub u64);

#[cfg(test)]
impl Mint for SeededMint {
    fn number(&mut self) -> u128 {
        let mut half = || {
            // SplitMix64: every seed gives another long sequence, in a few operations.
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        u128::from(half()) << 64 | u128::from(half())
    }
}

/// The name of a new flow: its moment, and enough beside it that two of one millisecond differ.
///
/// # Errors
/// Never for a moment with four digits of year.
pub(crate) fn flow_id(mint: &mut dyn Mint, at: At) -> Result<FlowId, BadName> {
    let text = at.to_string();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(8.min(digits.len()));
    format!("{day}T{time}Z-{}", letters(mint.number(), 6)).parse()
}

/// The name of a flow that begins once for what it is called: the same in each process that makes it.
///
/// # Errors
/// Never for a moment with four digits of year.
pub(crate) fn flow_id_of(called: &str, at: At) -> Result<FlowId, BadName> {
    /// The number that follows from what it is called.
    #[derive(Debug)]
    struct NumberOf([u8; 16]);
    impl Mint for NumberOf {
        fn number(&mut self) -> u128 {
            u128::from_be_bytes(self.0)
        }
    }
    let mut half = [0; 16];
    half.copy_from_slice(&Hash::of(called.as_bytes()).bytes()[..16]);
    flow_id(&mut NumberOf(half), at)
}

/// A name such as `m-1f3c9a…`: what it is, and a unique number.
///
/// # Errors
/// Never for a prefix of plain letters.
pub fn name<T: std::str::FromStr<Err = BadName>>(
    mint: &mut dyn Mint,
    prefix: &str,
) -> Result<T, BadName> {
    format!("{prefix}-{}", letters(mint.number(), 16)).parse()
}

/// A UUID of version 7: it sorts by its moment.
///
/// # Errors
/// Never.
pub(crate) fn uuid7<T: std::str::FromStr<Err = BadName>>(
    mint: &mut dyn Mint,
    at: At,
) -> Result<T, BadName> {
    let millis = u64::try_from(at.ms()).unwrap_or(0);
    let random = mint.number().to_le_bytes();
    let mut tail = [0; 10];
    tail.copy_from_slice(&random[..10]);
    uuid::Builder::from_unix_timestamp_millis(millis, &tail)
        .into_uuid()
        .to_string()
        .parse()
}

fn letters(mut number: u128, count: usize) -> String {
    const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut next = || {
        let letter = LETTERS[usize::try_from(number % 36).unwrap_or(0)];
        number /= 36;
        char::from(letter)
    };
    (0..count).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use a_society_facts::id::{MessageId, SessionId};

    use super::*;

    #[test]
    fn a_flow_is_named_by_its_moment() {
        let id = flow_id(&mut SeededMint(1), At::from_ms(1_795_246_169_123)).unwrap();
        assert!(id.as_str().starts_with("20261121T072929123Z-"), "{id}");
    }

    #[test]
    fn what_begins_once_has_the_same_name_each_time() {
        let at = At::from_ms(1_795_246_169_123);
        let id = flow_id_of("cron:nightly", at).unwrap();
        assert!(id.as_str().starts_with("20261121T072929123Z-"), "{id}");
        assert_eq!(flow_id_of("cron:nightly", at).unwrap(), id);
        assert_ne!(flow_id_of("cron:daily", at).unwrap(), id);
    }

    #[test]
    fn the_same_seed_gives_the_same_names() {
        let make = || {
            let mut mint = SeededMint(7);
            let message: MessageId = name(&mut mint, "m").unwrap();
            let session: SessionId = uuid7(&mut mint, At::from_ms(0)).unwrap();
            (message, session)
        };
        assert_eq!(make(), make());
    }
}
