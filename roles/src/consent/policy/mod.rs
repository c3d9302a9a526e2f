//! Rules of the operator: what is answered before it is asked. `roles/README.md` says how they are made.

mod judge;
mod line;
mod rule;

#[cfg(test)]
mod tests;

pub use judge::{Judged, Policy};

pub(crate) use judge::{FileNames, ServerTool, Subject};
pub(crate) use rule::{KNOWN, RULES_MAX, RuleFault};
pub use rule::{check, check_allow, server_of_rule, split};
