//! Whether a request that failed is sent again, and when.
//!
//! | what failed | how often again | after how long |
//! |---|---|---|
//! | before anything of an answer came | 5 times | a random part of 1 s, 2 s, 4 s … at most 60 s |
//! | after some of it came | 3 times | the same |
//! | two requests in each other's way | once | the same |
//! | with a wish of the provider's | as above | as long as it wishes, and a little more |
//! | a wish for more than 5 minutes | not at all | the operator decides |
//!
//! One turn waits at most 10 minutes in all, and sends at most 12 requests that fail.

use a_society_facts::Hash;

use crate::provider::Fault;
use crate::provider::fault::Remedy;

const BEFORE_ANSWER: u32 = 5;
const AFTER_BEGINNING: u32 = 3;
const BASE_MS: u64 = 1_000;
const CAP_MS: u64 = 60_000;
/// A provider that wants to be left alone for longer is a matter for the operator.
const WISH_MS_MAX: u64 = 300_000;
/// What a turn may spend on waiting.
const WAITED_MS_MAX: u64 = 600_000;
/// What a turn may spend on requests that fail.
const FAILED_MAX: u32 = 12;

/// What failed so far.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// In a row, before anything of an answer came.
    before: u32,
    /// In a row, after some of it came.
    after: u32,
    /// In the whole turn.
    failed: u32,
    waited_ms: u64,
}

impl Tries {
    /// An answer came.
    pub(super) fn succeeded(&mut self) {
        self.before = 0;
        self.after = 0;
    }

    /// How long to wait before the same request is sent again; nothing if it is not. The hash of
    /// the request is the dice: two roles that fail together do not come back together.
    pub(super) fn again_in_ms(&mut self, fault: &Fault, request: Hash) -> Option<u64> {
        self.failed += 1;
        let (count, limit) = match fault.class.remedy() {
            Remedy::Again if fault.streamed => (&mut self.after, AFTER_BEGINNING),
            Remedy::Again => (&mut self.before, BEFORE_ANSWER),
            Remedy::Once => (&mut self.before, 1),
            Remedy::Compact | Remedy::Operator | Remedy::Nothing => return None,
        };
        *count += 1;
        let number = *count;
        if number > limit || self.failed > FAILED_MAX {
            return None;
        }
        let ceiling = BASE_MS
            .saturating_mul(1 << (number - 1).min(16))
            .min(CAP_MS);
        let jitter = dice(request, self.failed, ceiling);
        let ms = match fault.retry_after_ms {
            Some(wish) if wish > WISH_MS_MAX => return None,
            Some(wish) => wish + jitter.min(BASE_MS),
            None => jitter,
        };
        if self.waited_ms.saturating_add(ms) > WAITED_MS_MAX {
            return None;
        }
        self.waited_ms += ms;
        Some(ms)
    }
}

/// A number from 0 to a ceiling.
fn dice(request: Hash, number: u32, ceiling: u64) -> u64 {
    let thrown = Hash::of(format!("{request} {number}").as_bytes()).to_string();
    let digits = thrown.get(..12).unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or(0) % (ceiling + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::FaultClass;

    fn request() -> Hash {
        Hash::of(b"r")
    }

    fn tries(fault: &Fault) -> Vec<u64> {
        let mut tries = Tries::default();
        std::iter::from_fn(|| tries.again_in_ms(fault, request())).collect()
    }

    #[test]
    fn a_fault_is_tried_again_as_often_as_the_table_says() {
        for class in FaultClass::ALL {
            let mut fault = Fault::new(class, "x");
            let (before, after) = match class.remedy() {
                Remedy::Again => (5, 3),
                Remedy::Once => (1, 1),
                Remedy::Compact | Remedy::Operator | Remedy::Nothing => (0, 0),
            };
            assert_eq!(tries(&fault).len(), before, "{class}");
            fault.streamed = true;
            assert_eq!(tries(&fault).len(), after, "{class}, streamed");
        }
    }

    #[test]
    fn what_the_provider_wishes_is_kept_and_only_added_to() {
        let mut fault = Fault::new(FaultClass::RateLimit, "slow down");
        fault.retry_after_ms = Some(7_000);
        for ms in tries(&fault) {
            assert!((7_000..=8_000).contains(&ms), "{ms}");
        }
        fault.retry_after_ms = Some(300_001);
        assert_eq!(tries(&fault), Vec::<u64>::new());
    }

    #[test]
    fn waits_grow_to_a_ceiling_and_a_turn_waits_only_so_long() {
        let fault = Fault::new(FaultClass::Overloaded, "x");
        for (number, ms) in tries(&fault).into_iter().enumerate() {
            assert!(ms <= 1_000 << number, "{number}: {ms}");
        }
        let mut tries = Tries::default();
        let mut wish = fault;
        wish.retry_after_ms = Some(250_000);
        let mut waited = 0;
        for _ in 0..20 {
            waited += tries.again_in_ms(&wish, request()).unwrap_or(0);
            tries.succeeded();
        }
        assert!(waited <= 600_000, "{waited}");
    }
}
