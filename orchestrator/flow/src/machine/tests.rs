//! Tests of the machine: its tables row by row, its walks at random, and its small flows whole.

mod asking;
mod benign;
mod chatting;
mod claiming;
mod closing;
mod ending;
mod handoff;
mod large;
mod model;
mod opening;
mod operating;
mod operator;
mod oracle;
mod property;
mod session;
mod sim;
mod straight;
mod support;
mod waiting;
