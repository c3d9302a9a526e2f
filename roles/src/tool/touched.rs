//! What the file of a checkable call holds, which tells after a crash whether the call happened.

use a_society_facts::Hash;
use a_society_facts::message::ToolCall;

use super::arguments::{self, Arguments};
use super::files;
use super::toolbox::Toolbox;

impl Toolbox {
    /// The hash of the file that a call would write, or that there is none. Nothing if it writes
    /// none, or nobody can tell.
    #[must_use]
    pub fn touched(&self, call: &ToolCall) -> Option<Option<Hash>> {
        let path = match arguments::parse(&call.name, call.input.get()).ok()? {
            Arguments::EditFile(given) => given.path,
            Arguments::WriteFile(given) => given.path,
            Arguments::ReadFile(_)
            | Arguments::ReadFileLines(_)
            | Arguments::ListDirectory(_)
            | Arguments::SearchFiles(_)
            | Arguments::RunCommand(_)
            | Arguments::FetchUrl(_)
            | Arguments::WebSearch(_) => return None,
        };
        let located = self.0.roots.locate(&path).ok()?;
        let found = files::hash_of(&self.0.roots, &located).ok()?;
        Some(found.map(|(hash, _)| hash))
    }
}
