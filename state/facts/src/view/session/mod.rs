//! A session as `transcript.json` holds it: the shape of a `RoleSession`, with more members.

mod apply;
mod draft;
mod entry;
mod imported;
mod rewrite;
mod view;
mod write;

pub use draft::AnswerDraft;
pub use entry::{SessionEntry, Texts};
pub use view::{Archive, ArchiveKind, NodeMark, SessionView};
