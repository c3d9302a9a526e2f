//! The commands, a file a verb.

pub(crate) mod arguments;
pub(crate) mod completions;
pub(crate) mod context;
pub(crate) mod duration;
pub(crate) mod exit_codes;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod members;
pub(crate) mod prune;
pub(crate) mod rebuild;
pub(crate) mod reference;
pub(crate) mod repair;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod show;
pub(crate) mod table;
pub(crate) mod verify;
pub(crate) mod words;
