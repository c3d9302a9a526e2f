//! A small seeded generator, so that the same seed always gives the same crash.

/// Splitmix64: tiny, fast, and good enough to choose what a crash spares.
#[derive(Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when `end` is 0. The slight bias of a remainder does not matter
    /// for ranges as small as these.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = (end as u64).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_number_of_a_range_is_reached_and_none_outside() {
        let mut random = Random::new(7);
        let mut seen = [false; 4];
        for _ in 0..200 {
            seen[random.between(3, 6) - 3] = true;
        }
        assert_eq!(seen, [true; 4]);
        assert_eq!(random.below(0), 0);
    }
}
