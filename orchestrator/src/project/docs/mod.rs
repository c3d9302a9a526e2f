//! A project's own folder, `a-docs`: its roles, what they read, and the graph its flows walk.
//!
//! [`folder`] reads all of it and says everything that is wrong with it at once. `library` finds
//! what roles and nodes ask to be read, through the project's `index`. `ailment` tells what is wrong since a flow began from what was before.

pub(crate) mod ailment;
pub mod folder;
mod index;
pub(crate) mod library;
mod reader;
#[cfg(test)]
mod tests;
