//! YAML documents as trees whose values know where they stand, and a reader that finds every fault of one.

mod budget;
mod build;
mod reading;
mod tree;

pub use budget::ParseBudget;
pub use build::{parse, render};
pub use reading::{FaultSink, Fields, TextFault, edit_distance, is_near, read};
pub use tree::{MapEntry, Number, Span, Value, YamlFaultKind, YamlTree};
