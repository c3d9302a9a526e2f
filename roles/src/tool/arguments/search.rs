//! What the tools take that find files and places in them.

use serde::Deserialize;

use super::super::form::Kind::{Flag, Text};
use super::super::form::{Form, also, optional, required};

pub(super) static LIST_DIRECTORY: Form = Form {
    name: "list_directory",
    said: "Lists a folder: folders end with /, links with @, files show their bytes.",
    members: &[required("path", Text, "").or(&["dir_path"])],
    also: &[also("LS"), also("ls"), also("list_dir")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ListDirectory {
    pub path: String,
}

pub(super) static SEARCH_FILES: Form = Form {
    name: "search_files",
    said: "Searches the text files below a folder for a string, byte for byte, and gives path, line \
           number and line of every match. Folders whose names start with a dot are left out, and so \
           are binary files and files that often hold secrets.",
    members: &[
        required("path", Text, "").or(&["dir_path"]),
        required("text", Text, "What to find; not a pattern.").or(&["query"]),
        optional(
            "ignore_case",
            Flag,
            "Whether `A` also finds `a`. Only for plain letters.",
        ),
        optional(
            "name",
            Text,
            "Only files whose name matches; `*` stands for any letters, `?` for one.",
        )
        .or(&["include"]),
    ],
    also: &[],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct SearchFiles {
    pub path: String,
    pub text: String,
    #[serde(default)]
    pub ignore_case: bool,
    pub name: Option<String>,
}
