//! Flows that another program began, taken over from the files it kept.
//!
//! [`source`] finds and reads them; `translate` expresses their state and what was open in facts;
//! `compare` folds those facts and lists every member of the old files that no view shows;
//! [`make`] makes a flow of it. What is read is never changed.

mod choices;
pub(crate) mod compare;
mod improve;
pub mod make;
mod names;
mod open;
mod sessions;
mod sketch;
pub mod source;
pub(crate) mod translate;
mod version11;
