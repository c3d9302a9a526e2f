//! The graph and the machine that says what happens next.

pub mod graph;
pub mod machine;
