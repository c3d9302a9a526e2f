//! The workspace: which project a file belongs to, what there is to run, and what a new flow is made of.
//!
//! The command line and the page ask the same questions here, and only show the answers in their own ways.

pub mod begin;
pub mod belonging;
pub mod chat_context;
pub mod flow_files;
pub mod material;
pub mod projects;
pub mod role_models;
pub mod rules;
pub mod settings;
pub mod skills;
pub mod trial;
