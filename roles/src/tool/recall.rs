//! What a conversation shows of a file, for a program that did not keep the text itself: another
//! process read it, or another turn.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_facts::Hash;
use a_society_facts::message::{Message, ToolCall};

use super::arguments::{self, ChangeArguments, ToolArguments};
use super::edit::{Knowledge, PatchedFile, TextEdit, apply, patched};
use super::toolbox::Toolbox;

impl Toolbox {
    /// The text of a file that had this hash, as it was shown, if the conversation shows it whole.
    /// The hash says whether what was put together is what the file held.
    pub(super) fn recalled(&self, real: &Path, hash: Hash) -> Option<String> {
        let mut calls: BTreeMap<&str, &ToolCall> = BTreeMap::new();
        let mut text: Option<String> = None;
        let mut found = None;
        for message in &self.0.setting.said {
            match &**message {
                Message::AssistantToolCalls { calls: asked, .. } => {
                    calls.extend(asked.iter().map(|call| (call.id.as_str(), call)));
                }
                Message::ToolResult {
                    call_id,
                    content,
                    is_error: false,
                    ..
                } => {
                    let Some(call) = calls.get(call_id.as_str()) else {
                        continue;
                    };
                    let Some(after) = self.after(call, content, real, text.as_deref()) else {
                        continue;
                    };
                    if spellings(&after).any(|bytes| Hash::of(bytes.as_bytes()) == hash) {
                        found = Some(after.clone());
                    }
                    text = Some(after);
                }
                Message::ToolResult { .. } | Message::User { .. } | Message::Assistant { .. } => {}
            }
        }
        found
    }

    /// What a file held after a call that shows or changes it, by what it held before.
    fn after(
        &self,
        call: &ToolCall,
        output: &str,
        real: &Path,
        before: Option<&str>,
    ) -> Option<String> {
        let roots = &self.0.roots;
        let real_of =
            |path: &str| -> Option<PathBuf> { Some(roots.real(&roots.locate(path).ok()?)) };
        let is_it = |path: &str| real_of(path).as_deref() == Some(real);
        let arguments = arguments::parse(&call.name, call.input.get()).ok()?;
        if let ToolArguments::ReadFile(given) = &arguments {
            return is_it(&given.path).then(|| whole(output)).flatten();
        }
        let ToolArguments::Change(change) = arguments else {
            return None;
        };
        match change {
            ChangeArguments::Write(given) if is_it(&given.path) => Some(if given.append {
                before?.to_owned() + &given.content
            } else {
                given.content
            }),
            ChangeArguments::Edit(given) if is_it(&given.path) => {
                let edits = given.edits().ok()?.into_iter().map(|edit| TextEdit {
                    old: edit.old_string,
                    new: edit.new_string,
                    all: edit.replace_all,
                });
                let edits: Vec<TextEdit> = edits.collect();
                let applied = apply("", before?, &edits, Knowledge::Seen).ok()?;
                Some(applied.text)
            }
            ChangeArguments::Patch(given) => {
                let sections = given.sections().ok()?;
                let section = sections.into_iter().find(|it| is_it(&it.path))?;
                match section.change {
                    PatchedFile::Add(content) => Some(content),
                    PatchedFile::Update(hunks) => {
                        let applied = patched("", before?, &hunks, Knowledge::Seen).ok()?;
                        Some(applied.text)
                    }
                    PatchedFile::Delete => None,
                }
            }
            ChangeArguments::Write(_) | ChangeArguments::Edit(_) => None,
        }
    }
}

/// The text of a file that was shown whole, without the numbers of its lines.
fn whole(output: &str) -> Option<String> {
    let mut text = String::new();
    for (number, line) in (1_usize..).zip(output.lines()) {
        let (before, line) = line.split_once('\t')?;
        if before.parse() != Ok(number) {
            return None;
        }
        text.push_str(line);
        text.push('\n');
    }
    Some(text)
}

/// The files that are shown as this text: with and without the last line end, with line ends of
/// other systems, and with a mark at the beginning.
fn spellings(text: &str) -> impl Iterator<Item = String> {
    let open = text.strip_suffix('\n').unwrap_or(text);
    let plain = [text.to_owned(), open.to_owned()];
    let all = plain
        .into_iter()
        .flat_map(|text| [text.replace('\n', "\r\n"), text]);
    all.flat_map(|text| [format!("\u{feff}{text}"), text])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_shown_whole_is_put_together() {
        assert_eq!(whole("1\tone\n2\t\ttwo\n").as_deref(), Some("one\n\ttwo\n"));
        assert_eq!(whole("[a: lines 2-3 of 9]\n2\ta\n3\tb\n"), None);
        assert_eq!(whole("2\ta\n"), None);
        assert_eq!(whole("[empty file]"), None);
    }
}
