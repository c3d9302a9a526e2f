//! What the tests of the program share: workspaces that vanish, and runs of the real binary.

mod slice;
mod steady;
mod workspace;

pub(crate) use slice::{is_full, seed, slice_of};
pub(crate) use steady::steady;
pub(crate) use workspace::{Said, Workspace, copy};
