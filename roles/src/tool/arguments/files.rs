//! What the tools for files take.

use serde::Deserialize;
use serde_json::Value;

use super::super::edit::{Section, sections};
use super::super::form::MemberKind::{Any, Flag, Items, Number, Text};
use super::super::form::{ToolForm, also, expected, hidden, optional, required, wrong};
use super::super::refusal::{CallRefusal, RefusalKind};

const PATH: &str = "From the project folder, such as src/main.rs or record/brief.md.";

/// Other names of the path of a file.
pub(super) const PATHS: &[&str] = &["file_path", "absolute_path"];

pub(super) static READ_FILE: ToolForm = ToolForm {
    name: "read_file",
    said: "Reads a text file. Each line comes with its number and a tab, which are not part of the \
           file; at most 2,000 lines or {bound}, then it says how to go on. Use it instead of cat, head \
           or sed.",
    members: &[
        required("path", Text, PATH).or(PATHS),
        optional("offset", Number, "First line, from 1.").or(&["start_line", "first"]),
        optional("limit", Number, "How many lines."),
        hidden("last", Number).or(&["end_line"]),
        hidden("view_range", Any),
    ],
    also: &[also("Read"), also("view"), also("read_file_lines")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ReadFile {
    pub path: String,
    offset: Option<u64>,
    limit: Option<u64>,
    last: Option<u64>,
    view_range: Option<Value>,
}

impl ReadFile {
    /// The first line that is asked for, from 1, and how many at most; 0 if absent.
    pub(in super::super) fn range(&self) -> Result<(u64, u64), CallRefusal> {
        let (start, end) = self.viewed()?;
        let first = self.offset.or(start).unwrap_or(1).max(1);
        let Some(last) = self.last.or(end) else {
            return Ok((first, self.limit.unwrap_or_default()));
        };
        if last < first {
            let why = format!("there are no lines {first} to {last}");
            return Err(wrong(&READ_FILE, &why));
        }
        let count = last - first + 1;
        Ok((first, self.limit.map_or(count, |limit| limit.min(count))))
    }

    /// `[first, last]`, where a last of -1 is the end.
    fn viewed(&self) -> Result<(Option<u64>, Option<u64>), CallRefusal> {
        let text = self.view_range.as_ref().and_then(Value::as_str);
        let range: Option<[i64; 2]> = match (text, &self.view_range) {
            (_, None) => return Ok((None, None)),
            (Some(text), _) => serde_json::from_str(text).ok(),
            (None, Some(range)) => serde_json::from_value(range.clone()).ok(),
        };
        match range {
            Some([first, -1]) => Ok((u64::try_from(first).ok(), None)),
            Some([first, last]) if first >= 0 && last >= 0 => {
                Ok((u64::try_from(first).ok(), u64::try_from(last).ok()))
            }
            _ => Err(wrong(&READ_FILE, "view_range is not two line numbers")),
        }
    }
}

pub(super) static EDIT_FILE: ToolForm = ToolForm {
    name: "edit_file",
    said: EDIT,
    members: &[
        required("path", Text, PATH).or(PATHS),
        expected("edits", Items(&[OLD, NEW, ALL]), ""),
        hidden("old_string", Text).or(&["old", "old_str"]),
        hidden("new_string", Text).or(&["new", "new_str"]),
        hidden("replace_all", Flag).or(&["all", "allow_multiple"]),
    ],
    also: &[
        also("Edit"),
        also("MultiEdit"),
        also("replace"),
        also("str_replace"),
    ],
};

/// The same tool with one edit, for models that fail in nested lists.
pub(super) static EDIT_FILE_ONCE: ToolForm = ToolForm {
    name: "edit_file",
    said: "Replaces text in a file. old_string must match exactly and occur once, so take enough \
           lines around it; replace_all changes every occurrence.",
    members: &[required("path", Text, PATH), OLD, NEW, ALL],
    also: &[],
};

const EDIT: &str = "Replaces text in a file. Each old_string must match exactly and occur once, so \
                    take enough lines around it; replace_all changes every occurrence. Edits apply in \
                    order, all or none.";

const OLD: super::super::form::ToolMember =
    required("old_string", Text, "Without line numbers.").or(&["old", "old_str"]);
const NEW: super::super::form::ToolMember =
    required("new_string", Text, "").or(&["new", "new_str"]);
const ALL: super::super::form::ToolMember =
    optional("replace_all", Flag, "").or(&["all", "allow_multiple"]);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct EditFile {
    pub path: String,
    #[serde(default)]
    edits: Vec<OneEdit>,
    old_string: Option<String>,
    new_string: Option<String>,
    replace_all: Option<bool>,
}

/// One edit of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct OneEdit {
    pub old_string: String,
    pub new_string: String,
    #[serde(default)]
    pub replace_all: bool,
}

impl EditFile {
    /// The edits, wherever they were written.
    pub(in super::super) fn edits(self) -> Result<Vec<OneEdit>, CallRefusal> {
        match (self.old_string, self.new_string) {
            (None, None) if !self.edits.is_empty() => Ok(self.edits),
            (Some(old_string), Some(new_string)) if self.edits.is_empty() => Ok(vec![OneEdit {
                old_string,
                new_string,
                replace_all: self.replace_all.unwrap_or_default(),
            }]),
            (Some(_), Some(_)) => Err(wrong(
                &EDIT_FILE,
                "give edits or one old_string and new_string, not both",
            )),
            _ => Err(wrong(&EDIT_FILE, "edits is missing")),
        }
    }
}

pub(super) static APPLY_PATCH: ToolForm = ToolForm {
    name: "apply_patch",
    said: "Changes files with a patch: `*** Begin Patch`, then `*** Update File: PATH`, `*** Add File: \
           PATH` or `*** Delete File: PATH`, then `*** End Patch`. Hunks start with `@@` and an \
           optional line to find; their lines start with a space, `-` or `+`. Give three lines of \
           context, no line numbers and no absolute paths.",
    members: &[required("input", Text, "The whole patch.").or(&["patch"])],
    also: &[also("patch")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ApplyPatch {
    pub input: String,
}

impl ApplyPatch {
    /// What the patch says of each file.
    pub(in super::super) fn sections(&self) -> Result<Vec<Section>, CallRefusal> {
        sections(&self.input).map_err(|why| CallRefusal::new(RefusalKind::Arguments, why))
    }
}

pub(super) static WRITE_FILE: ToolForm = ToolForm {
    name: "write_file",
    said: "Creates or replaces a text file and makes missing folders. With append it adds to the end, \
           for texts too long for one message. To change a part, use edit_file.",
    members: WRITE,
    also: &[also("Write"), also("create_file")],
};

/// The same tool for models that get `apply_patch`.
pub(super) static WRITE_FILE_BESIDE_PATCHES: ToolForm = ToolForm {
    name: "write_file",
    said: "Creates or replaces a text file and makes missing folders. With append it adds to the end, \
           for texts too long for one message. To change a part, use apply_patch.",
    members: WRITE,
    also: &[],
};

const WRITE: &[super::super::form::ToolMember] = &[
    required("path", Text, PATH).or(PATHS),
    required("content", Text, "").or(&["file_text", "contents", "text"]),
    optional("append", Flag, ""),
];

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct WriteFile {
    pub path: String,
    pub content: String,
    #[serde(default)]
    pub append: bool,
}
