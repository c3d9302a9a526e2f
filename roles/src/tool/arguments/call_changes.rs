//! The files and tasks that calls ask to change, for readers.

use serde_json::Value;

use super::super::edit::{PatchHunk, PatchedFile, Section};
use super::commands::{self, TaskArgument};
use super::files::PATHS;
use super::forms::canonical;
use super::parse::{ChangeArguments, ToolArguments, parse};

/// What a call asks to change in one file, for readers: nothing is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedChange {
    /// The file, as it was written.
    pub path: String,
    /// The texts that go, and those that come in their places.
    pub edits: Vec<(String, String)>,
    /// The text that is written; nothing for edits.
    pub content: Option<String>,
    /// Whether it comes behind what is there.
    pub append: bool,
}

/// What a call changes, as far as its own arguments say it: the files, in the order in which it
/// changes them. A file without edits and without content is removed.
#[must_use]
pub fn requested_changes(tool: &str, text: &str) -> Vec<RequestedChange> {
    let Ok(ToolArguments::Change(change)) = parse(tool, text) else {
        return Vec::new();
    };
    match change {
        ChangeArguments::Edit(given) => {
            let path = given.path.clone();
            // A call without a readable edit removes nothing.
            let Ok(edits) = given.edits() else {
                return Vec::new();
            };
            vec![RequestedChange {
                path,
                edits: (edits.into_iter())
                    .map(|edit| (edit.old_string, edit.new_string))
                    .collect(),
                content: None,
                append: false,
            }]
        }
        ChangeArguments::Write(given) => vec![RequestedChange {
            path: given.path,
            edits: Vec::new(),
            content: Some(given.content),
            append: given.append,
        }],
        ChangeArguments::Patch(given) => {
            let sections = given.sections().into_iter().flatten();
            sections.map(of_section).collect()
        }
    }
}

/// The files that a call is about to change, even if its other arguments do not fit: a call that was refused
/// for them still names its file.
#[must_use]
pub fn requested_files(tool: &str, text: &str) -> Vec<String> {
    let changes = requested_changes(tool, text);
    if !changes.is_empty() {
        return changes.into_iter().map(|change| change.path).collect();
    }
    if !matches!(canonical(tool), Some("edit_file" | "write_file")) {
        return Vec::new();
    }
    let given: Option<Value> = serde_json::from_str(text).ok();
    let path = given.as_ref().and_then(|given| {
        let mut names = std::iter::once(&"path").chain(PATHS);
        names.find_map(|name| given.get(name)?.as_str())
    });
    path.map(str::to_owned).into_iter().collect()
}

/// The task list that a call writes, as far as its own arguments say it; nothing if it writes none.
#[must_use]
pub fn requested_tasks(tool: &str, text: &str) -> Option<Vec<TaskArgument>> {
    if canonical(tool) != Some(commands::TODO.name) {
        return None;
    }
    match parse(tool, text) {
        Ok(ToolArguments::Todo(given)) => Some(given.items),
        Ok(_) | Err(_) => None,
    }
}

fn of_section(section: Section) -> RequestedChange {
    let (edits, content) = match section.change {
        PatchedFile::Add(content) => (Vec::new(), Some(content)),
        PatchedFile::Update(hunks) => {
            let edit = |hunk: PatchHunk| (hunk.old.join("\n"), hunk.new.join("\n"));
            (hunks.into_iter().map(edit).collect(), None)
        }
        PatchedFile::Delete => (Vec::new(), None),
    };
    RequestedChange {
        path: section.path,
        edits,
        content,
        append: false,
    }
}

#[cfg(test)]
mod tests {
    use super::requested_files;

    #[test]
    fn a_call_names_its_files_even_if_its_other_arguments_do_not_fit() {
        let patch = r#"{"input":"*** Begin Patch\n*** Add File: b.rs\n+new\n*** Delete File: c.rs\n*** End Patch\n"}"#;
        for (tool, arguments, wanted) in [
            (
                "edit_file",
                r#"{"path":"a.rs","old_string":"x","new_string":"y"}"#,
                &["a.rs"][..],
            ),
            ("edit_file", r#"{"path":"a.rs"}"#, &["a.rs"]),
            ("Edit", r#"{"file_path":"a.rs","lines":3}"#, &["a.rs"]),
            ("write_file", r#"{"path":"a.md"}"#, &["a.md"]),
            ("apply_patch", patch, &["b.rs", "c.rs"]),
            ("apply_patch", r#"{"input":"no patch"}"#, &[]),
            ("edit_file", r#"{"old_string":"x"}"#, &[]),
            ("edit_file", "no arguments", &[]),
            ("read_file", r#"{"path":"a.rs"}"#, &[]),
        ] {
            assert_eq!(
                requested_files(tool, arguments),
                wanted,
                "{tool} {arguments}"
            );
        }
    }
}
