//! How much of a long proof runs: a slice by default, everything on request.
//!
//! A slice is as large each time. `A_SOCIETY_TEST_SEED` sets where it begins, which the gate
//! makes from the commit, so that days cover the whole and a commit meets the same judgement again.

/// Whether everything is to run.
pub(crate) fn is_full() -> bool {
    std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1")
}

/// The number that moves the slices.
pub(crate) fn seed() -> u64 {
    let seed = std::env::var("A_SOCIETY_TEST_SEED").ok();
    seed.and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

/// One of so many of all, or all of them when everything is to run.
pub(crate) fn slice_of<T>(all: impl Iterator<Item = T>, stride: usize) -> impl Iterator<Item = T> {
    let stride = if is_full() { 1 } else { stride };
    let first = usize::try_from(seed() % stride as u64).unwrap_or(0);
    all.skip(first).step_by(stride)
}
