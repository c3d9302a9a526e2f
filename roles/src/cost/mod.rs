//! What requests cost, in whole millionths of a price's unit: money is never counted in fractions.

use a_society_facts::fact::turn::Usage;

/// The prices of a model: for a million tokens each, in millionths of the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prices {
    /// Input that was not cached.
    pub input: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Input read from the provider's cache.
    pub cache_read: u64,
    /// Input written to the provider's cache.
    pub cache_write: u64,
}

/// Prices stand for so many tokens.
const PER_TOKENS: u128 = 1_000_000;

impl Prices {
    /// What was used costs so much, rounded up: a cent that is not counted is one too few.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> u64 {
        let parts = [
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
        ];
        sum(&parts)
    }

    /// The most that a request can cost: nobody knows before what of its input is cached, so the
    /// dearest kind of input counts.
    #[must_use]
    pub fn worst(&self, input_tokens: u64, max_output_tokens: u64) -> u64 {
        let input = self.input.max(self.cache_read).max(self.cache_write);
        sum(&[(input_tokens, input), (max_output_tokens, self.output)])
    }
}

fn sum(parts: &[(u64, u64)]) -> u64 {
    let each = parts
        .iter()
        .map(|(tokens, price)| u128::from(*tokens) * u128::from(*price));
    let whole = each.fold(0u128, u128::saturating_add).div_ceil(PER_TOKENS);
    u64::try_from(whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PRICES: Prices = Prices {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: 300_000,
        cache_write: 3_750_000,
    };

    fn usage(input: u64, output: u64, read: u64, write: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: write,
            ..Usage::default()
        }
    }

    #[test]
    fn tokens_cost_what_the_list_says() {
        for (used, micros) in [
            (usage(0, 0, 0, 0), 0),
            (usage(1_000_000, 0, 0, 0), 3_000_000),
            (usage(1, 0, 0, 0), 3),
            (usage(0, 0, 1, 0), 1),
            (
                usage(1000, 100, 10_000, 2000),
                3_000 + 1_500 + 3_000 + 7_500,
            ),
        ] {
            assert_eq!(PRICES.cost(&used), micros, "{used:?}");
        }
    }

    #[test]
    fn absurd_counts_cost_the_most_there_is_and_break_nothing() {
        let all = u64::MAX;
        assert_eq!(PRICES.cost(&usage(all, all, all, all)), u64::MAX);
    }

    proptest! {
        #[test]
        fn nothing_costs_more_than_its_worst_case(
            input in 0..10_000_000u64, read in 0..10_000_000u64, write in 0..10_000_000u64,
            output in 0..1_000_000u64,
        ) {
            let used = usage(input, output, read, write);
            prop_assert!(PRICES.cost(&used) <= PRICES.worst(input + read + write, output));
        }
    }
}
