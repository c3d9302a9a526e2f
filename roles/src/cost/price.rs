//! Prices, and what a request costs at them.

use a_society_facts::fact::turn::Usage;

/// Prices are for this many tokens.
const TOKENS: u128 = 1_000_000;

/// What a model costs, in micro-units for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// Input that is not cached.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input from the cache.
    pub cache_read: u64,
    /// Input into the cache.
    pub cache_write: u64,
}

impl Price {
    /// What was used costs this many micro-units.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> u64 {
        rounded_up([
            product(usage.input_tokens, self.input),
            product(usage.output_tokens, self.output),
            product(usage.cache_read_tokens, self.cache_read),
            product(usage.cache_write_tokens, self.cache_write),
        ])
    }

    /// The most that a request can cost: all input at its dearest, and as much output as it may.
    #[must_use]
    pub(crate) fn worst(&self, input_tokens: u64, max_output_tokens: u64) -> u64 {
        let dearest = self.input.max(self.cache_read).max(self.cache_write);
        rounded_up([
            product(input_tokens, dearest),
            product(max_output_tokens, self.output),
        ])
    }
}

fn product(tokens: u64, price: u64) -> u128 {
    u128::from(tokens) * u128::from(price)
}

fn rounded_up<const N: usize>(products: [u128; N]) -> u64 {
    // Four products of two 64-bit numbers can be more than 128 bits hold.
    let sum = products.into_iter().fold(0, u128::saturating_add);
    u64::try_from(sum.div_ceil(TOKENS)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PRICE: Price = Price {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: 300_000,
        cache_write: 3_750_000,
    };

    #[test]
    fn each_kind_of_token_has_its_price_and_the_sum_is_rounded_up_once() {
        let usage = Usage {
            input_tokens: 1_000,
            output_tokens: 200,
            cache_read_tokens: 50_001,
            cache_write_tokens: 400,
            ..Usage::default()
        };
        // 3,000 + 3,000 + 15,000.3 + 1,500
        assert_eq!(PRICE.of(&usage), 22_501);
        assert_eq!(PRICE.of(&Usage::default()), 0);
        assert_eq!(Price::default().of(&usage), 0);
    }

    #[test]
    fn absurd_numbers_do_not_wrap() {
        let dear = Price {
            input: u64::MAX,
            output: u64::MAX,
            cache_read: u64::MAX,
            cache_write: u64::MAX,
        };
        assert_eq!(dear.worst(u64::MAX, u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn no_request_costs_more_than_its_worst_case(
            input in 0..10_000_000_u64,
            read in 0..10_000_000_u64,
            written in 0..10_000_000_u64,
            output in 0..1_000_000_u64,
        ) {
            let usage = Usage {
                input_tokens: input,
                output_tokens: output,
                cache_read_tokens: read,
                cache_write_tokens: written,
                ..Usage::default()
            };
            prop_assert!(PRICE.of(&usage) <= PRICE.worst(input + read + written, output));
        }
    }
}
