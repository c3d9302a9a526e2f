//! YAML documents as trees whose values know where they stand.

mod budget;
mod build;
mod tree;

pub use budget::ParseBudget;
pub use build::{parse, render};
pub use tree::{MapEntry, Number, Span, Value, YamlFaultKind, YamlTree};
