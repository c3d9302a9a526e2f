//! Where flows, roles and their files come from.
//!
//! [`flow_file`] reads a flow from one self-contained file, [`docs`] one from a project's folder,
//! [`draft`] makes one for a flow that has no graph yet, `chat` one for a chat.
//! `files` is the record folder as roles see it, `records` what the runtime itself writes there. `workshop` knows, for one flow, who its roles
//! are, which packets they get, and what plays them; `bench` is what models work with,
//! and [`choices`] who chooses that. [`unconfigured`] finds names of it that are not configured. [`place`] says where a project is, and what its roles name.

pub(crate) mod bench;
pub(crate) mod chat;
pub mod choices;
mod compactor;
pub mod docs;
pub mod draft;
pub(crate) mod files;
pub mod flow_file;
mod handoff_history;
pub mod place;
mod program;
pub mod reaches;
pub(crate) mod records;
pub mod unconfigured;
pub(crate) mod workshop;
