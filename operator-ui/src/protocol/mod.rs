//! The messages of the socket and of HTTP: types, and nothing of how they come about.
//!
//! `PROTOCOL.md` describes them. The page's TypeScript is generated from these types and compared
//! by a test, so that the two cannot drift.

pub mod ask;
pub(crate) mod command;
pub mod down;
pub(crate) mod exported;
pub(crate) mod feed;
pub(crate) mod findings;
pub mod flow;
pub mod http;
pub(crate) mod limits;
pub(crate) mod row;
pub(crate) mod settings;
pub(crate) mod strict;
pub(crate) mod up;
pub mod workspace;

pub(crate) use down::Fault;
pub use row::FlowRef;

/// The version of the protocol. It is raised when an older page could misunderstand.
pub(crate) const PROTO: u32 = 2;

/// Derives what every wire type has, and in tests its TypeScript.
macro_rules! wire {
    ($($item:item)*) => {
        $(
            #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
            #[cfg_attr(test, derive(ts_rs::TS))]
            #[serde(deny_unknown_fields)]
            $item
        )*
    };
}
pub(crate) use wire;

#[cfg(test)]
mod tests;
