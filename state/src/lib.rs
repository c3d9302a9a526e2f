//! The disk: one journal per flow, and what is folded from it.

pub mod disk;
