//! The files that a role changed with its tools.

use std::collections::BTreeSet;

use a_society_facts::message::{Message, ToolCall};
use serde_json::Value;

use super::limits::{FILE_NAME_BYTES_MAX, FILES_MAX};

/// The tools that change one file, by their names and by those that models were trained on.
const WRITERS: [&str; 9] = [
    "write_file",
    "edit_file",
    "Write",
    "create_file",
    "Edit",
    "MultiEdit",
    "replace",
    "str_replace",
    "apply_patch",
];

/// The members that name a file.
const PATHS: [&str; 4] = ["path", "file_path", "filePath", "absolute_path"];

/// The lines of a patch that name a file.
const PATCHED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// The files that calls changed which did not fail, as the calls name them, the last changed first,
/// and whether there were more. Messages come newest first.
#[must_use]
pub fn changed_files<'m>(newest_first: impl Iterator<Item = &'m Message>) -> (Vec<String>, bool) {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut files: Vec<String> = Vec::new();
    for message in newest_first {
        match message {
            Message::ToolResult {
                call_id, is_error, ..
            } if !*is_error => {
                done.insert(call_id);
            }
            Message::AssistantToolCalls { calls, .. } => {
                let calls = calls.iter().rev().filter(|call| done.contains(&*call.id));
                for file in calls.flat_map(files_of) {
                    if files.contains(&file) {
                        continue;
                    }
                    if files.len() >= FILES_MAX {
                        return (files, true);
                    }
                    files.push(file);
                }
            }
            Message::User { .. } | Message::Assistant { .. } | Message::ToolResult { .. } => {}
        }
    }
    (files, false)
}

fn files_of(call: &ToolCall) -> Vec<String> {
    if !WRITERS.contains(&&*call.name) {
        return Vec::new();
    }
    let Ok(input) = serde_json::from_str::<Value>(call.input.get()) else {
        return Vec::new();
    };
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let named = PATHS.into_iter().filter_map(text).take(1);
    let patch = ["input", "patch"].into_iter().filter_map(text).take(1);
    let patched = patch.flat_map(str::lines).filter_map(|line| {
        let mut marks = PATCHED.into_iter();
        marks.find_map(|mark| line.strip_prefix(mark))
    });
    let fits = |file: &&str| !file.is_empty() && file.len() <= FILE_NAME_BYTES_MAX;
    named
        .chain(patched)
        .map(str::trim)
        .filter(fits)
        .map(str::to_owned)
        .collect()
}
