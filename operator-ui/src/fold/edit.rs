//! What a call changes in a file, from its arguments and from what the file held before.
//!
//! Where the earlier text is not in the record, an edit is shown as the text that goes and the text that
//! comes, and a file that is written whole as the text that comes.

use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallIntended, ChangedText};
use a_society_facts::message::Text;
use a_society_orchestrator::{RequestedChange, WITHHELD, canonical, requested_changes, text_after};

use super::lines::{Bounds, compare};
use crate::protocol::ask::Diff;

/// What a call would change in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    path: String,
    /// The text that goes; absent if the file is written whole.
    old: Option<String>,
    /// The text that comes.
    new: String,
    /// The whole file before, if there is one, and after.
    pub before: Option<Hash>,
    pub after: Hash,
    /// Where the text that goes begins, counted from 1, as far as the call says it.
    line: u64,
    /// At how many places.
    places: u64,
    /// Whether the file is removed.
    is_gone: bool,
    /// What is recorded of the text that it changes; journals of earlier versions have nothing.
    recorded: Option<ChangedText>,
    /// The call, which is applied again to the earlier text: its tool, its arguments, and the number of the
    /// file among those that it changes.
    call: (String, Arc<str>, usize),
}

/// Finds the text of a blob.
pub(crate) type TextOf<'a> = &'a dyn Fn(Hash) -> Option<String>;

/// Whether the calls of a tool may change a file in a way that their arguments tell.
pub(crate) fn is_edit(tool: &str) -> bool {
    matches!(
        canonical(tool),
        Some("edit_file" | "write_file" | "apply_patch")
    )
}

/// Whether a call is shown file by file: it changes more than one, or removes one.
pub(crate) fn several(edits: &[Edit]) -> bool {
    edits.len() > 1 || edits.iter().any(Edit::is_gone)
}

impl Edit {
    /// What a call would change, if it changes one file and these are its very arguments, or what was
    /// recorded of them where a secret was withheld.
    pub(crate) fn of(call: &CallIntended, input: &str) -> Option<Self> {
        let mut each = Self::each(call, input);
        (!several(&each)).then(|| each.pop())?
    }

    /// The same of every file that a call would change. One that it removes is shown as one that
    /// became empty.
    pub(crate) fn each(call: &CallIntended, input: &str) -> Vec<Self> {
        if Hash::of(input.as_bytes()) != call.arguments && !input.contains(WITHHELD) {
            return Vec::new();
        }
        let said = requested_changes(&call.tool, input).into_iter().enumerate();
        let arguments: Arc<str> = input.into();
        said.filter_map(|(number, said)| {
            let edit = match call.files.get(number) {
                Some(file) => Self::of_file(
                    said,
                    EditedPlace {
                        before: file.before,
                        after: file.after,
                        line: 1,
                        places: 1,
                    },
                ),
                None => Self::of_file(said, EditedPlace::of(call)),
            };
            Some(Self {
                recorded: call.texts.get(number).cloned(),
                call: (call.tool.clone(), Arc::clone(&arguments), number),
                ..edit?
            })
        })
        .collect()
    }

    fn of_file(
        given: RequestedChange,
        EditedPlace {
            before,
            after,
            line,
            places,
        }: EditedPlace,
    ) -> Option<Self> {
        let edit = |old: Option<String>, new: String, after: Hash| Self {
            path: given.path.clone(),
            old,
            new,
            before,
            after,
            line,
            places,
            is_gone: false,
            recorded: None,
            call: (String::new(), Arc::default(), 0),
        };
        match (given.content, given.edits.as_slice()) {
            (None, []) => Some(Self {
                is_gone: true,
                ..edit(Some(String::new()), String::new(), Hash::of(b""))
            }),
            (Some(added), _) if given.append => Some(edit(Some(String::new()), added, after?)),
            (Some(content), _) => {
                let after = after.unwrap_or_else(|| Hash::of(content.as_bytes()));
                Some(Self {
                    line: 1,
                    places: 1,
                    ..edit(None, content, after)
                })
            }
            (None, [(old, new)]) => Some(edit(Some(old.clone()), new.clone(), after?)),
            // Several places: what goes and what comes, one after the other.
            (None, edits) => {
                let join = |texts: Vec<&str>| texts.join("\n");
                let old = join(edits.iter().map(|(old, _)| old.as_str()).collect());
                let new = join(edits.iter().map(|(_, new)| new.as_str()).collect());
                Some(Self {
                    places: 1,
                    ..edit(Some(old), new, after?)
                })
            }
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Whether the file is removed.
    pub(crate) const fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// How many bytes the earlier text has, if it is not kept because it is too long.
    pub(crate) fn unkept_bytes(&self) -> Option<u64> {
        self.recorded.as_ref()?.unkept_bytes
    }

    /// What the file held before; nothing if that is not known.
    pub(crate) fn earlier(&self, text: TextOf<'_>) -> Option<String> {
        let Some(before) = self.before else {
            return Some(String::new());
        };
        match self.recorded.as_ref().and_then(|it| it.earlier.as_ref()) {
            Some(Text::Inline(earlier)) => Some(earlier.clone()),
            Some(Text::Blob(kept)) => text(kept.blob),
            None => text(before),
        }
    }

    /// What the file holds after the call, if it held this before.
    pub(crate) fn later(&self, earlier: &str, text: TextOf<'_>) -> Option<String> {
        if let Some(written) = self.written() {
            return Some(written.to_owned());
        }
        if self.is_gone {
            return Some(String::new());
        }
        let (tool, arguments, number) = &self.call;
        let earlier = self.before.map(|_| earlier);
        text(self.after).or_else(|| text_after(tool, arguments, *number, earlier))
    }

    /// What comes and goes, and how many lines of each, as far as the call's own record says it.
    pub(crate) fn compared(&self, bounds: &Bounds) -> (Diff, Option<(u64, u64)>) {
        self.compared_with(&|_| None, bounds)
    }

    /// The same, with blobs at hand. Lines are not counted where what goes is not known.
    pub(crate) fn compared_with(
        &self,
        text: TextOf<'_>,
        bounds: &Bounds,
    ) -> (Diff, Option<(u64, u64)>) {
        let counts = self.recorded.as_ref().map(|it| (it.added, it.removed));
        let earlier = self.earlier(text);
        let ends = earlier.and_then(|old| self.later(&old, text).map(|new| (old, new)));
        if let Some((old, new)) = ends {
            let found = compare(&old, &new, bounds);
            let diff = Diff {
                path: self.path.clone(),
                old: self.before.map(|hash| hash.to_string()),
                new: self.after.to_string(),
                hunks: found.hunks,
                truncated: found.truncated,
                unkept_bytes: None,
            };
            return (diff, counts.or(found.counts));
        }
        let (diff, said) = self.said(bounds);
        (diff, counts.or(said))
    }

    /// What comes and goes as far as the arguments say it.
    fn said(&self, bounds: &Bounds) -> (Diff, Option<(u64, u64)>) {
        let found = compare(self.old.as_deref().unwrap_or_default(), &self.new, bounds);
        let replaces = self.old.is_none() && self.before.is_some();
        // How long a file was that is removed is not in the record.
        let counts = found.counts.filter(|_| !replaces && !self.is_gone);
        let times = |lines: u64| lines.saturating_mul(self.places);
        let mut hunks = found.hunks;
        for hunk in &mut hunks {
            hunk.old_start = hunk.old_start.saturating_add(self.line - 1);
            hunk.new_start = hunk.new_start.saturating_add(self.line - 1);
        }
        let known = self.before.filter(|_| self.old.is_some());
        let diff = Diff {
            path: self.path.clone(),
            old: known.map(|hash| hash.to_string()),
            new: self.after.to_string(),
            hunks,
            // The other places are not shown.
            truncated: found.truncated || self.places > 1 || self.is_gone,
            unkept_bytes: self.unkept_bytes(),
        };
        (diff, counts.map(|(come, go)| (times(come), times(go))))
    }

    /// The whole file after, if the call itself says it.
    pub(crate) fn written(&self) -> Option<&str> {
        self.old.is_none().then_some(&self.new)
    }
}

/// What is known of the file that an edit changes: the whole of it before and after, and where the edit is in it.
struct EditedPlace {
    before: Option<Hash>,
    after: Option<Hash>,
    line: u64,
    places: u64,
}

impl EditedPlace {
    /// Of a call that changes one file.
    fn of(call: &CallIntended) -> Self {
        let (line, places) = call.changed_place();
        Self {
            before: call.before,
            after: call.after,
            line: line.unwrap_or(1),
            places,
        }
    }
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::turn::{Effect, FileChange};
    use serde_json::json;

    use super::*;
    use crate::protocol::ask::Op;

    const BOUNDS: Bounds = Bounds {
        bytes_max: 1_000,
        edits_max: 100,
        lines_max: 100,
        shown_bytes_max: 1_000,
    };

    fn call(tool: &str, summary: &str, input: &str, before: Option<&str>) -> CallIntended {
        let hash = |text: &str| Hash::of(text.as_bytes());
        CallIntended {
            call: "1.1".parse().unwrap(),
            turn: a_society_facts::id::TurnId(1),
            role: "owner".parse().unwrap(),
            tool_call: "t".to_owned(),
            ordinal: 0,
            tool: tool.to_owned(),
            arguments: hash(input),
            effect: Effect::Checkable,
            idempotency_key: hash("key"),
            before: before.map(hash),
            after: Some(hash("after")),
            files: Vec::new(),
            texts: Vec::new(),
            summary: summary.to_owned(),
        }
    }

    fn shown(diff: &Diff) -> String {
        let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        let lines = lines.map(|line| {
            let sign = match line.op {
                Op::Keep => ' ',
                Op::Add => '+',
                Op::Remove => '-',
            };
            format!("{sign}{}", line.text)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_edit_is_what_goes_and_what_comes_where_it_stands() {
        let input = json!({ "path": "a.rs", "old": "x\ny\n", "new": "x\nz\nw\n" }).to_string();
        let call_at =
            |end: &str| call("edit_file", &format!("edit a.rs, {end}"), &input, Some("b"));
        let edit = Edit::of(&call_at("line 40"), &input).unwrap();
        let (diff, counts) = edit.compared(&BOUNDS);
        assert_eq!(shown(&diff), " x\n-y\n+z\n+w");
        assert_eq!((diff.hunks[0].old_start, diff.truncated), (40, false));
        assert_eq!(diff.old, Some(Hash::of(b"b").to_string()));
        assert_eq!(counts, Some((2, 1)));
        let edit = Edit::of(&call_at("3 places"), &input).unwrap();
        let (diff, counts) = edit.compared(&BOUNDS);
        assert_eq!((counts, diff.truncated), (Some((6, 3)), true));
    }

    #[test]
    fn a_file_that_is_written_whole_is_what_comes_and_counts_only_if_it_is_new() {
        let input = json!({ "path": "a.md", "content": "one\ntwo\n" }).to_string();
        for (before, counted) in [(None, Some((2, 0))), (Some("b"), None)] {
            let edit = Edit::of(&call("write_file", "write a.md", &input, before), &input);
            let (diff, counts) = edit.unwrap().compared(&BOUNDS);
            assert_eq!(shown(&diff), "+one\n+two");
            assert_eq!((diff.old, counts), (None, counted));
            assert_eq!(diff.new, Hash::of(b"after").to_string());
        }
    }

    #[test]
    fn a_patch_of_several_files_is_one_change_for_each_and_a_file_that_goes_is_among_them() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n+z\n*** Add File: b.rs\n+new\n*** Delete File: c.rs\n*** End Patch\n";
        let input = json!({ "input": patch }).to_string();
        let mut intended = call(
            "apply_patch",
            "patch 3 files: a.rs, b.rs, c.rs",
            &input,
            None,
        );
        let file = |path: &str, before: Option<&str>, after: Option<&str>| FileChange {
            path: path.to_owned(),
            before: before.map(|text| Hash::of(text.as_bytes())),
            after: after.map(|text| Hash::of(text.as_bytes())),
        };
        intended.after = None;
        intended.files = vec![
            file("a.rs", Some("b"), Some("after")),
            file("b.rs", None, Some("new\n")),
            file("c.rs", Some("gone"), None),
        ];
        let edits = Edit::each(&intended, &input);
        let told = edits.iter().map(|edit| {
            let (diff, counts) = edit.compared(&BOUNDS);
            (diff.path.clone(), shown(&diff), counts, edit.is_gone())
        });
        let wanted = [
            ("a.rs", "-x\n+y\n+z", Some((2, 1)), false),
            ("b.rs", "+new", Some((1, 0)), false),
            ("c.rs", "", None, true),
        ];
        let wanted = wanted
            .map(|(path, text, counts, gone)| (path.to_owned(), text.to_owned(), counts, gone));
        assert_eq!(told.collect::<Vec<_>>(), wanted);
        assert!(several(&edits));
        assert_eq!(Edit::of(&intended, &input), None);
        let gone = |hash: Hash| (hash == Hash::of(b"gone")).then(|| "gone\n".to_owned());
        let (whole, _) = edits[2].compared_with(&gone, &BOUNDS);
        assert_eq!((shown(&whole).as_str(), whole.truncated), ("-gone", false));
    }

    #[test]
    fn an_edit_is_known_in_every_spelling_and_several_are_shown_together() {
        let input =
            json!({ "file_path": "a.rs", "old_string": "x", "new_string": "y" }).to_string();
        let one = Edit::of(
            &call("Edit", "edit a.rs, line 3", &input, Some("b")),
            &input,
        )
        .unwrap();
        assert_eq!(shown(&one.compared(&BOUNDS).0), "-x\n+y");
        let edits = json!([{ "old_string": "x", "new_string": "y" }, { "old_string": "v", "new_string": "w" }]);
        let input = json!({ "path": "a.rs", "edits": edits }).to_string();
        let several = call("edit_file", "edit a.rs, 2 places", &input, Some("b"));
        let (diff, counts) = Edit::of(&several, &input).unwrap().compared(&BOUNDS);
        assert_eq!(
            (shown(&diff).as_str(), counts),
            ("-x\n-v\n+y\n+w", Some((2, 2)))
        );
        let input = json!({ "path": "a.md", "content": "more\n", "append": true }).to_string();
        let added = call("write_file", "append to a.md (5 bytes)", &input, Some("b"));
        let edit = Edit::of(&added, &input).unwrap();
        let (diff, counts) = edit.compared(&BOUNDS);
        assert_eq!((shown(&diff).as_str(), counts), ("+more", Some((1, 0))));
        assert_eq!((edit.after, edit.written()), (Hash::of(b"after"), None));
    }

    #[test]
    fn a_file_with_a_secret_that_was_withheld_is_shown_without_it() {
        let given = json!({ "path": "a.md", "content": "one\npassword" }).to_string();
        let recorded = given.replace("password", WITHHELD);
        let intended = call("write_file", "write a.md", &given, None);
        let edit = Edit::of(&intended, &recorded).unwrap();
        let wanted = format!("+one\n+{WITHHELD}");
        assert_eq!(shown(&edit.compared(&BOUNDS).0), wanted);
    }

    #[test]
    fn other_arguments_than_those_that_were_recorded_are_no_edit() {
        let input = json!({ "path": "a.md", "content": "one" }).to_string();
        let other = json!({ "path": "a.md", "content": "two" }).to_string();
        let intended = call("write_file", "write a.md", &input, None);
        assert_eq!(Edit::of(&intended, &other), None);
        let command = call("run_command", "run", &input, None);
        assert_eq!(Edit::of(&command, &input), None);
        let broken = call("write_file", "write a.md", "{", None);
        assert_eq!(Edit::of(&broken, "{"), None);
    }
}
