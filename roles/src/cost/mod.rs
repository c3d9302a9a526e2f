//! What requests cost.

use a_society_facts::fact::turn::Usage;

/// Prices.
#[derive(Debug, Clone, Copy)]
pub struct Prices;

impl Prices {
    /// Cost.
    pub fn cost(&self, _: &Usage) -> u64 {
        0
    }

    /// Worst.
    pub fn worst(&self, _: u64, _: u64) -> u64 {
        0
    }
}
