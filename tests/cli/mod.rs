//! The command line, as people and scripts meet it: every verb on good and on bad input.

mod arguments;
mod bad_input;
mod carrying;
mod checking;
mod completing;
mod guarding;
mod knowing;
mod listing;
mod logging;
mod removing;
mod repairing;
mod scenario;
mod showing;
mod watching;

/// Flow ids that many tests use.
const ONE: &str = "20260527T143000123Z-a1b2c3";
const TWO: &str = "20260528T080000000Z-b4c5d6";
const THREE: &str = "20260529T080000000Z-a1ffff";
