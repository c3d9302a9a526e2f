//! YAML documents as trees whose values know where they stand.

mod tree;

pub use tree::{Budget, Number, Place, Tree, Value, YamlFault, parse};
