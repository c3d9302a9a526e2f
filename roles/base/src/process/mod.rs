//! Child processes: started apart, watched, and ended with everything that they started.
//!
//! | File | What is in it |
//! |---|---|
//! | `supervise` | a child that does not outlive the value that holds it, how one exits, timers, reading its pipes |
//! | `gate` | a program that waits until its start is recorded |
//! | `tree` | which processes belong to a program, and ending all of them |
//! | `capture` | the beginning and the end of what a program prints |

pub mod capture;
pub mod gate;
mod limits;
pub mod supervise;
pub mod tree;

pub use limits::{GRACE, OUTPUT_GRACE};
