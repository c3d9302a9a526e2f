//! The `a-society` binary.

fn main() {}
