//! How many tokens a request can have, before anybody has counted them.

/// What providers add to a request that we do not see: their own words about tools, and marks
/// between messages.
const UNSEEN_TOKENS: u64 = 1_024;

/// A request of the same session that its provider has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountedRequest {
    /// How long its body was.
    pub body_bytes: u64,
    /// How many tokens its input had, cached or not.
    pub input_tokens: u64,
}

/// The most tokens that the input of a request can have.
///
/// No token is shorter than a byte, so that what was added since the last count is at most as many
/// tokens as bytes. Where a session goes on, the bound is therefore close; at its beginning, or
/// after it was compacted, it is as wide as the whole body.
#[must_use]
pub(crate) fn input_bound_tokens(body_bytes: u64, last: Option<CountedRequest>) -> u64 {
    let whole = body_bytes.saturating_add(UNSEEN_TOKENS);
    let since = last.and_then(|last| {
        let added = body_bytes.checked_sub(last.body_bytes)?;
        Some(
            last.input_tokens
                .saturating_add(added)
                .saturating_add(UNSEEN_TOKENS),
        )
    });
    since.map_or(whole, |since| since.min(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_goes_on_is_bounded_by_its_last_count() {
        let last = CountedRequest {
            body_bytes: 400_000,
            input_tokens: 100_000,
        };
        assert_eq!(input_bound_tokens(404_000, Some(last)), 105_024);
        assert_eq!(input_bound_tokens(404_000, None), 405_024);
        // Compacted: what was counted is gone.
        assert_eq!(input_bound_tokens(10_000, Some(last)), 11_024);
        // A count that cannot be does not widen the bound.
        let absurd = CountedRequest {
            body_bytes: 10,
            input_tokens: u64::MAX,
        };
        assert_eq!(input_bound_tokens(20, Some(absurd)), 1_044);
        assert_eq!(input_bound_tokens(u64::MAX, None), u64::MAX);
    }
}
