//! Settings from outside, resolved here and handed on as values.

mod cached_file;
pub mod editing;
pub mod models;
pub use a_society_roles::config::{catalogue, edit};
pub use a_society_roles::consent::policy;
pub use a_society_roles::skill;
pub mod export_filter;
pub(crate) mod programs;
pub mod servers;
pub mod user;
pub mod workspace;
