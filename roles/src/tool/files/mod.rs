//! Files, by paths that a model wrote.
//!
//! A path is taken apart into names, and one of the open folders is chosen for it. From there the
//! kernel resolves it, beneath that folder and nowhere else, and what it found is judged by the
//! name that it really has. What was judged is the descriptor that is then used, so that nothing
//! can be put in its place in between.

mod close;
mod floor;
mod full_output;
mod open;
mod path;
mod roots;

pub(super) use close::missing;
pub(super) use floor::{Floor, is_trusted};
pub(super) use full_output::keep;
pub(super) use open::{
    Bytes, InodeKind, OpenEntry, entries, hash_of, open_folder, open_read, read_bytes,
};
pub(super) use open::{
    child, clear_halves, impossible, is_there, real_of, remove, replace, stale, stat_kind,
};
pub(super) use path::Located;
pub(super) use roots::Roots;
