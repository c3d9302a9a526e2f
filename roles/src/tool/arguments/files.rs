//! What the tools for files take.

use serde::Deserialize;

use super::super::form::Kind::{Flag, Number, Text};
use super::super::form::{Form, also, optional, required};

const PATH: &str = "From the project folder, such as src/main.rs or record/brief.md.";

pub(super) static READ_FILE: Form = Form {
    name: "read_file",
    said: "Reads a text file from its beginning. A long file is cut in the middle and says so; read \
           the part you need with read_file_lines.",
    members: &[required("path", Text, PATH).or(&["file_path", "absolute_path"])],
    also: &[also("Read"), also("view")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ReadFile {
    pub path: String,
}

pub(super) static READ_FILE_LINES: Form = Form {
    name: "read_file_lines",
    said: "Reads lines of a text file, each with its number. The first line is 1, and the last line \
           asked for is included.",
    members: &[
        required("path", Text, PATH).or(&["file_path", "absolute_path"]),
        required("first", Number, "The first line.").or(&["start_line"]),
        required("last", Number, "The last line.").or(&["end_line"]),
    ],
    also: &[],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ReadFileLines {
    pub path: String,
    pub first: u64,
    pub last: u64,
}

pub(super) static EDIT_FILE: Form = Form {
    name: "edit_file",
    said: "Replaces one place in a text file. `old_string` must stand in the file exactly once, with \
           all its spaces and line ends; take as much around the place as makes it the only one. With \
           `replace_all` every occurrence is replaced.",
    members: &[
        required("path", Text, PATH).or(&["file_path", "absolute_path"]),
        required("old_string", Text, "").or(&["old", "old_str"]),
        required("new_string", Text, "").or(&["new", "new_str"]),
        optional("replace_all", Flag, "").or(&["all", "allow_multiple"]),
    ],
    also: &[also("Edit"), also("replace"), also("str_replace")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct EditFile {
    pub path: String,
    #[serde(rename = "old_string")]
    pub old: String,
    #[serde(rename = "new_string")]
    pub new: String,
    #[serde(rename = "replace_all", default)]
    pub all: bool,
}

pub(super) static WRITE_FILE: Form = Form {
    name: "write_file",
    said: "Writes a whole text file in the project or the record folder, and makes the folders above \
           it. A file that is there is replaced; to change a part of it, use edit_file.",
    members: &[
        required("path", Text, PATH).or(&["file_path", "absolute_path"]),
        required("content", Text, "").or(&["file_text", "contents", "text"]),
    ],
    also: &[also("Write"), also("create_file")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct WriteFile {
    pub path: String,
    pub content: String,
}
