//! Tests of the machine.

mod property;
mod sim;
mod straight;
mod support;
