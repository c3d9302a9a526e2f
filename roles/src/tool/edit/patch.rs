//! A patch as models write it, read into what it says of each file.

use super::super::form::clipped;
use super::super::limits::PATCH_FILES;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const UPDATE: &str = "*** Update File:";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const FILE_END: &str = "*** End of File";

/// What a patch says of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Section {
    pub path: String,
    pub change: PatchedFile,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum PatchedFile {
    /// It is made, with this text.
    Add(String),
    /// Parts of it are changed.
    Update(Vec<PatchHunk>),
    /// It is removed.
    Delete,
}

/// Adjacent lines, and their replacement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in super::super) struct PatchHunk {
    /// Lines that precede it, in their order.
    pub heads: Vec<String>,
    pub old: Vec<String>,
    pub new: Vec<String>,
    /// Whether the lines are the last of the file.
    pub is_last: bool,
}

/// The changes of a patch, by file, or why it is invalid.
pub(in super::super) fn sections(patch: &str) -> Result<Vec<Section>, String> {
    let text = patch.replace("\r\n", "\n");
    let mut lines = (1..).zip(text.lines()).peekable();
    // Models that are used to shells wrap it as a document for one.
    let is_wrapper = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with("<<") || line.starts_with("apply_patch")
    };
    while lines.next_if(|(_, line)| is_wrapper(line)).is_some() {}
    if !matches!(lines.next(), Some((_, line)) if line.trim() == BEGIN) {
        return Err(format!("The patch does not begin with `{BEGIN}`."));
    }
    let mut sections: Vec<Section> = Vec::new();
    let mut is_whole = false;
    for (number, line) in lines {
        if line.trim() == END {
            is_whole = true;
            break;
        }
        match heading(line) {
            Some(section) => sections.push(section),
            None => {
                let Some(section) = sections.last_mut() else {
                    return Err(said(number, line, "belongs to no file"));
                };
                if let Err(why) = section.take(line) {
                    return Err(said(number, line, why));
                }
            }
        }
    }
    if !is_whole {
        return Err(format!(
            "The patch has no `{END}`, so its end may be missing. Nothing was changed."
        ));
    }
    check(&sections)?;
    Ok(sections)
}

fn said(number: usize, line: &str, why: &str) -> String {
    format!(
        "Line {number} of the patch, `{}`, {why}. Nothing was changed.",
        clipped(line.trim())
    )
}

fn heading(line: &str) -> Option<Section> {
    let after = |mark: &str| line.strip_prefix(mark).map(|path| path.trim().to_owned());
    let (path, change) = if let Some(path) = after(UPDATE) {
        (path, PatchedFile::Update(Vec::new()))
    } else if let Some(path) = after(ADD) {
        (path, PatchedFile::Add(String::new()))
    } else {
        (after(DELETE)?, PatchedFile::Delete)
    };
    Some(Section { path, change })
}

impl Section {
    fn take(&mut self, line: &str) -> Result<(), &'static str> {
        if line.starts_with(MOVE) {
            return Err("would move the file; add it under its new name and delete the old one");
        }
        match &mut self.change {
            PatchedFile::Delete if line.trim().is_empty() => Ok(()),
            PatchedFile::Delete => Err("is in a file that the patch deletes"),
            PatchedFile::Add(content) => match line.strip_prefix('+') {
                Some(text) => {
                    content.push_str(text);
                    content.push('\n');
                    Ok(())
                }
                None if line.trim().is_empty() => Ok(()),
                None => Err("is in a new file and does not start with +"),
            },
            PatchedFile::Update(hunks) => take(hunks, line),
        }
    }
}

fn take(hunks: &mut Vec<PatchHunk>, line: &str) -> Result<(), &'static str> {
    if let Some(head) = line.strip_prefix("@@") {
        let head = head.strip_prefix(' ').unwrap_or(head);
        // Several lines to find, in their order, may precede one hunk.
        let is_open = |hunk: &PatchHunk| hunk.old.is_empty() && hunk.new.is_empty();
        if !hunks.last().is_some_and(is_open) {
            hunks.push(PatchHunk::default());
        }
        if let Some(hunk) = hunks.last_mut().filter(|_| !is_numbers(head)) {
            hunk.heads.push(head.to_owned());
        }
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(PatchHunk::default());
    }
    let Some(hunk) = hunks.last_mut() else {
        return Ok(());
    };
    if line.trim() == FILE_END {
        hunk.is_last = true;
        return Ok(());
    }
    match line.split_at_checked(1) {
        Some((" ", text)) => {
            hunk.old.push(text.to_owned());
            hunk.new.push(text.to_owned());
        }
        Some(("-", text)) => hunk.old.push(text.to_owned()),
        Some(("+", text)) => hunk.new.push(text.to_owned()),
        None if line.is_empty() => {
            hunk.old.push(String::new());
            hunk.new.push(String::new());
        }
        Some(_) | None => return Err("does not start with a space, - or +"),
    }
    Ok(())
}

/// Whether the text behind `@@` is no line to find: it is empty, or only line numbers.
fn is_numbers(head: &str) -> bool {
    let head = head.trim().trim_end_matches('@').trim();
    let is_number = |letter: char| letter.is_ascii_digit() || "-+, ".contains(letter);
    head.chars().all(is_number)
}

fn check(sections: &[Section]) -> Result<(), String> {
    if sections.is_empty() {
        return Err("The patch names no file.".to_owned());
    }
    if sections.len() > PATCH_FILES {
        return Err(format!(
            "The patch names {} files; {PATCH_FILES} are allowed. Do it in several patches.",
            sections.len()
        ));
    }
    for section in sections {
        let path = &section.path;
        if path.is_empty() {
            return Err("A file of the patch has no path.".to_owned());
        }
        if let PatchedFile::Update(hunks) = &section.change
            && !hunks.iter().any(|hunk| hunk.old != hunk.new)
        {
            return Err(format!(
                "The patch changes no line of {}. Nothing was changed.",
                clipped(path)
            ));
        }
    }
    Ok(())
}
