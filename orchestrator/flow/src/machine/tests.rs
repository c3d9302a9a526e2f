//! Tests of the machine.

mod straight;
mod support;
