//! Rules of the operator: what is answered before it is asked. `roles/README.md` says how they are made.

mod judge;
mod line;
mod rule;

#[cfg(test)]
mod tests;

pub use judge::{FileNames, Judged, Policy, Subject};
pub use rule::{KNOWN, RULES_MAX, RuleFault, check, check_all, check_allow, server_of_rule, split};
