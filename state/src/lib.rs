//! The disk: one journal per flow, and what is folded from it.
//!
//! [`Store`] is the door: it knows the folder that holds all flows. [`open`] opens one flow for
//! writing, which is also its recovery; [`FlowPlace`] is all that the floors above know of where it is; [`look`] shows one without changing anything; [`search`] finds words in sessions.
//! Everything that touches a file goes through [`disk`], except the index of [`search`].

pub mod adopt;
pub mod archive;
pub mod atomic;
pub mod blob;
pub mod checkpoint;
pub mod clock;
mod copy;
pub mod disk;
pub mod draft;
mod error;
mod evidence;
pub mod files;
mod flow;
mod flow_ref;
mod foreign;
pub mod fork;
mod ground;
pub mod index;
pub mod journal;
pub mod layout;
pub mod ledger;
pub mod limits;
pub mod lock;
pub mod look;
pub mod open;
mod place;
pub mod process;
pub mod removal;
pub mod repair;
pub(crate) mod reserve;
pub mod retention;
pub mod schedules;
pub mod search;
mod store;
pub mod unsent;
pub mod verify;
pub mod views;
pub mod watch;

pub use error::{Error, is_full};
pub use flow::Flow;
pub use flow_ref::FlowRef;
pub use ground::Ground;
pub use place::FlowPlace;
pub use store::{Census, OUR_FOLDER, Store, Stranger, find_root, make_workspace};
