//! YAML documents as trees whose values know where they stand.

mod tree;

pub use tree::{Number, ParseBudget, Value, YamlFault, YamlPlace, YamlTree, parse};
