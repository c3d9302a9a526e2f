//! What a role reads in place of its earlier conversation: its form, how large its parts may be, and
//! what is read out of the messages that it replaces.

mod changed;
mod facts;
mod form;
mod kept_outputs;
mod limits;
mod masked;
mod past;
mod shares;
mod todo;

#[cfg(test)]
mod tests;

pub use changed::changed_files;
pub use facts::flow_facts;
pub use form::{Replacement, bounded, replacement_message, system_note};
pub(crate) use kept_outputs::shortened;
pub(crate) use masked::{masked, truncated};
pub use past::request_of;
pub(crate) use past::{former_summary, is_replacement};
pub use shares::Shares;
pub use todo::todo_list;
