//! Everything that can ever happen, by what it is about.
//!
//! [`list`] is the one file to read: it names every fact and says when it is true. The other files
//! hold what each fact carries.

pub mod budget;
pub mod chat;
pub mod columns;
pub mod flow;
pub mod imported;
pub mod improvement;
pub mod journal;
pub mod list;
mod mentions;
pub mod node;
pub mod older;
pub mod operator;
pub mod request;
pub mod session;
pub mod terms;
pub mod turn;
pub(crate) mod upcast;

pub(crate) use list::Fact;
