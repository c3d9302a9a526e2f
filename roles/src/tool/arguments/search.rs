//! What the tools take that find files and places in them.

use serde::Deserialize;

use super::super::form::MemberKind::{Flag, Number, Text};
use super::super::form::{Alias, ToolForm, also, hidden, optional, required};

pub(super) static LIST_DIRECTORY: ToolForm = ToolForm {
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

pub(super) static GREP: ToolForm = ToolForm {
    name: "grep",
    said: "Searches file contents by regular expression (Rust syntax) and gives path:line:text, at \
           most 200 matches. Skips files that .gitignore names, hidden and binary files. Use it \
           instead of grep or rg.",
    members: &[
        required("pattern", Text, "").or(&["query", "text"]),
        optional("path", Text, "File or folder; default the project.").or(&["dir_path"]),
        optional("glob", Text, "Only these files, such as *.rs.").or(&["include", "name"]),
        optional("context", Number, "Lines around each match, at most 10.").or(&["-C"]),
        optional("ignore_case", Flag, "").or(&["-i"]),
        optional("files_only", Flag, "Only paths and counts."),
        hidden("case_sensitive", Flag),
        hidden("literal", Flag),
    ],
    also: &[
        also("Grep"),
        also("grep_search"),
        // What earlier versions offered: a text, byte for byte.
        Alias {
            name: "search_files",
            sets: &[("literal", "true")],
        },
    ],
};

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct GrepFiles {
    pub pattern: String,
    pub path: Option<String>,
    pub glob: Option<String>,
    pub context: Option<u64>,
    pub ignore_case: Option<bool>,
    #[serde(default)]
    pub files_only: bool,
    pub case_sensitive: Option<bool>,
    #[serde(default)]
    pub literal: bool,
}

pub(super) static GLOB: ToolForm = ToolForm {
    name: "glob",
    said: "Finds files by path, such as src/**/*.rs, newest first, at most 200. Skips what \
           .gitignore names.",
    members: &[
        required("pattern", Text, ""),
        optional("path", Text, "Folder; default the project.").or(&["dir_path"]),
    ],
    also: &[also("Glob"), also("find_files")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct GlobFiles {
    pub pattern: String,
    pub path: Option<String>,
}
