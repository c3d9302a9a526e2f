//! The forms of all tools, and the names by which models call them.

use super::super::form::ToolForm;
use super::{commands, files, search, sessions, web};

/// Every tool, in the order in which models see them.
pub(super) const FORMS: [&ToolForm; 15] = [
    &files::READ_FILE,
    &files::EDIT_FILE,
    &files::APPLY_PATCH,
    &files::WRITE_FILE,
    &search::GREP,
    &search::GLOB,
    &search::LIST_DIRECTORY,
    &commands::RUN_COMMAND,
    &commands::COMMAND_OUTPUT,
    &commands::TODO,
    &sessions::SESSIONS_LIST,
    &sessions::SESSIONS_HISTORY,
    &sessions::SESSIONS_SEND,
    &web::FETCH_URL,
    &web::WEB_SEARCH,
];

/// The tool that is meant by a name, by its own name; nothing if there is none.
#[must_use]
pub fn canonical(name: &str) -> Option<&'static str> {
    named(name).map(|form| form.name)
}

/// The other tool that changes parts of files, for one of the two: a role that may call one may call both.
#[must_use]
pub fn twin(name: &str) -> Option<&'static str> {
    match name {
        "edit_file" => Some("apply_patch"),
        "apply_patch" => Some("edit_file"),
        _ => None,
    }
}

pub(super) fn named(name: &str) -> Option<&'static ToolForm> {
    FORMS.iter().copied().find(|form| form.is_called(name))
}
