//! The tools that change one file, whose hash tells whether they did.

use std::fmt::Write as _;

use a_society_base::redact::MARK;
use a_society_facts::Hash;
use a_society_facts::fact::terms::{ConsentTerms, FileEffect, FileTerms};
use a_society_facts::fact::turn::{CallEnd, Effect};

use super::arguments::{ChangeArguments, EditFile, OneEdit, ToolArguments, WriteFile, parse};
use super::deed::{Deed, Writing};
use super::edit::{
    Knowledge, LineCounts, PatchedFile, TextEdit, TextPage, apply, difference, patched,
};
use super::files::{self, Located};
use super::form::clipped;
use super::output::{ShownFile, ToolOutput};
use super::plan::CallPlan;
use super::refusal::{CallRefusal, RefusalKind};
use super::toolbox::{ConsentNeeds, Toolbox};
use super::{limits, text};
use crate::consent::{ConsentQuestion, Tier};
use crate::number::grouped;
use crate::turn::step::PlannedText;

/// A file as it is now.
pub(super) struct WriteTarget {
    pub located: Located,
    pub real: std::path::PathBuf,
    /// Nothing if it is not there.
    pub hash: Option<Hash>,
    /// Empty if it is not there.
    pub page: TextPage,
    /// What it held, byte for byte; empty if it is not there.
    pub raw: String,
}

/// What the model and the operator read of a file that is written.
struct WritingWords {
    /// The result for the model when it is done.
    done: String,
    /// One line for the operator.
    summary: String,
    /// What the operator reads when asked.
    consent: String,
}

/// How a file compares with what was shown of it.
pub(super) enum FileStanding {
    /// It was shown as it is.
    Seen,
    /// It was never shown.
    Unseen,
    /// It has changed since it was shown.
    Changed(Option<Hash>),
}

impl Toolbox {
    pub(super) fn plan_write(&self, given: WriteFile, raw: &str) -> Result<CallPlan, CallRefusal> {
        let target = self.target(&given.path)?;
        let shown = &target.located.shown;
        let is_new = target.hash.is_none();
        if !given.append {
            self.may_replace(&target)?;
            is_whole(&target, &given.content)?;
        }
        let whole = whole(&target.page, &target.raw, &given);
        if target.hash == Some(Hash::of(whole.as_bytes())) {
            return Ok(self.nothing_to_do("write_file", shown, raw));
        }
        let (bytes, lines) = (grouped(whole.len()), grouped(whole.lines().count()));
        let (done, verb) = if given.append && !is_new {
            let added = grouped(given.content.len());
            let done =
                format!("Appended to {shown}: {added} bytes; now {bytes} bytes, {lines} lines.");
            (done, "append to")
        } else {
            let verb = if is_new { "write" } else { "replace" };
            (
                format!("Wrote {shown}: {bytes} bytes, {lines} lines."),
                verb,
            )
        };
        let summary = format!("{verb} {shown} ({} bytes)", given.content.len());
        let (consent, lines) = if is_new {
            let added = whole.lines().count();
            (whole.clone(), LineCounts { added, removed: 0 })
        } else {
            let found = difference(&target.page.text, &TextPage::of(&whole).text);
            (found.whole(), found.counts())
        };
        let words = WritingWords {
            done,
            summary,
            consent,
        };
        self.plan_writing("write_file", target, whole, words, lines, raw)
    }

    /// What the role knows of a file that it changes.
    ///
    /// # Errors
    /// When the file changed since the role read it.
    pub(super) fn knowledge(&self, target: &WriteTarget) -> Result<Knowledge, CallRefusal> {
        match self.standing(target) {
            FileStanding::Seen => Ok(Knowledge::Seen),
            FileStanding::Unseen => Ok(Knowledge::Unseen),
            FileStanding::Changed(before) => Err(self.newer(target, before)),
        }
    }

    /// A change of a file's text. The reason of a failure quotes the text as it may be shown: what is
    /// most like the text that was looked for could be a part of a secret.
    pub(super) fn applied<T>(
        &self,
        target: &WriteTarget,
        change: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, CallRefusal> {
        change(&target.page.text).map_err(|why| {
            let told = change(&self.redact(&target.page.text)).err();
            files::impossible(told.unwrap_or(why))
        })
    }

    pub(super) fn plan_edit(&self, given: EditFile, raw: &str) -> Result<CallPlan, CallRefusal> {
        let target = self.target(&given.path)?;
        let edits = given.edits()?;
        let edits = text_edits(&target.page, edits);
        let shown = target.located.shown.clone();
        if edits.iter().any(|edit| edit.old.is_empty()) {
            return self.plan_first_text(target, &edits, raw);
        }
        if target.hash.is_none() {
            return Err(files::missing(&self.0.roots, &target.located));
        }
        let knowledge = self.knowledge(&target)?;
        let applied = self.applied(&target, |text| apply(&shown, text, &edits, knowledge))?;
        let found = difference(&target.page.text, &applied.text);
        let notes = applied.notes.iter().map(|note| format!(" {note}"));
        let places = match applied.places {
            1 => "1 place".to_owned(),
            places => format!("{places} places"),
        };
        let done = format!(
            "Edited {shown}: {places}, +{} -{}.{}\n{}",
            found.added,
            found.removed,
            notes.collect::<String>(),
            found.shown(limits::CHANGED_LINES)
        );
        let line = found.first_line.filter(|_| applied.places == 1);
        let summary = match (applied.places, line) {
            (1, Some(line)) => format!("edit {shown}, line {line}"),
            _ => format!("edit {shown}, {places}"),
        };
        let content = target.page.written(&applied.text);
        let words = WritingWords {
            done,
            summary,
            consent: found.whole(),
        };
        let mut plan =
            self.plan_writing("edit_file", target, content, words, found.counts(), raw)?;
        for text in &mut plan.texts {
            (text.line, text.places) = (line, applied.places);
        }
        Ok(plan)
    }

    /// An edit of nothing: the first text of a file that is missing or empty.
    fn plan_first_text(
        &self,
        target: WriteTarget,
        edits: &[TextEdit],
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        let shown = target.located.shown.clone();
        let [edit] = edits else {
            let text = "old_string is empty in one of several edits. Nothing was changed.";
            return Err(CallRefusal::new(RefusalKind::Arguments, text));
        };
        if !target.raw.is_empty() {
            let text = format!(
                "old_string is empty, and {shown} is not. Give the text that is there now. Nothing was \
                 changed."
            );
            return Err(CallRefusal::new(RefusalKind::Arguments, text));
        }
        let (content, lines) = (target.page.written(&edit.new), edit.new.lines().count());
        let done = format!(
            "Wrote {shown}: {} bytes, {} lines.",
            grouped(content.len()),
            grouped(lines)
        );
        let summary = format!("write {shown} ({} bytes)", content.len());
        let words = WritingWords {
            done,
            summary,
            consent: content.clone(),
        };
        let lines = LineCounts {
            added: lines,
            removed: 0,
        };
        self.plan_writing("edit_file", target, content, words, lines, raw)
    }

    /// The file that a path names, as text.
    pub(super) fn target(&self, path: &str) -> Result<WriteTarget, CallRefusal> {
        let roots = &self.0.roots;
        let located = roots.locate(path)?;
        let shown = &located.shown;
        let found = files::hash_of(roots, &located)?;
        let (hash, raw) = match found {
            None => (None, String::new()),
            Some((hash, bytes)) => {
                let read = text::read(&bytes).filter(|read| read.is_exact);
                let read = read.ok_or_else(|| {
                    files::impossible(format!(
                        "{shown} is not UTF-8 text, so it cannot be changed here."
                    ))
                })?;
                (Some(hash), read.text)
            }
        };
        Ok(WriteTarget {
            real: roots.real(&located),
            page: TextPage::of(&raw),
            located,
            hash,
            raw,
        })
    }

    pub(super) fn standing(&self, target: &WriteTarget) -> FileStanding {
        // The flow's own graph may be written again unchanged, since its role knows it.
        if self.0.setting.only_judges || self.0.roots.is_workflow(&target.located) {
            return FileStanding::Seen;
        }
        match self.seen_as(&target.real) {
            None => FileStanding::Unseen,
            Some(seen) if seen == target.hash => FileStanding::Seen,
            Some(seen) => FileStanding::Changed(seen),
        }
    }

    /// A file may be replaced only if its present content was shown.
    pub(super) fn may_replace(&self, target: &WriteTarget) -> Result<(), CallRefusal> {
        match (target.hash, self.standing(target)) {
            (None, _) | (_, FileStanding::Seen) => Ok(()),
            (_, FileStanding::Changed(before)) => Err(self.newer(target, before)),
            (_, FileStanding::Unseen) => {
                let shown = &target.located.shown;
                let redacted = self.redact(&target.page.text);
                let mut text = format!(
                    "{shown} is there and was not read: {} bytes, {} lines. Read it before you replace \
                     it. It begins:",
                    grouped(target.raw.len()),
                    grouped(redacted.lines().count())
                );
                for (number, line) in (1..).zip(redacted.lines().take(limits::UNREAD_LINES)) {
                    let line: String = line.chars().take(limits::LINE_CHARS).collect();
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\n{number}\t{line}");
                }
                Err(files::impossible(text))
            }
        }
    }

    /// The refusal of a change of a file that is not any more what was shown. What changed is shown,
    /// and counts as seen.
    pub(super) fn newer(&self, target: &WriteTarget, before: Option<Hash>) -> CallRefusal {
        let shown = &target.located.shown;
        let Some(hash) = target.hash else {
            let text = format!("{shown} is gone since you read it. Nothing was done.");
            return CallRefusal::new(RefusalKind::Stale, text);
        };
        let kept = |before| self.0.seen.text(before);
        let recalled = |before| self.recalled(&target.real, before);
        let old = before.and_then(|before| kept(before).or_else(|| recalled(before)));
        let Some(old) = old else {
            return self.newer_than_unknown(target, hash);
        };
        let found = difference(&self.redact(&old), &self.redact(&target.page.text));
        self.0.seen.put(target.real.clone(), Some(hash));
        self.0.seen.keep(hash, &target.page.text);
        CallRefusal::new(
            RefusalKind::Stale,
            format!(
                "{shown} changed since you read it. Nothing was done. These lines are new or gone; if \
                 your change still fits, make it again:\n{}",
                found.shown(limits::NEWER_LINES).trim_end()
            ),
        )
    }

    /// The same where the earlier content of the file is unknown: it is shown as it is. A file that is
    /// shown whole counts as seen.
    fn newer_than_unknown(&self, target: &WriteTarget, hash: Hash) -> CallRefusal {
        let shown = &target.located.shown;
        let redacted = self.redact(&target.page.text);
        let mut text = format!(
            "{shown} changed since you read it. Nothing was done. What it held then is not known any \
             more; it is now:"
        );
        for (number, line) in (1..).zip(redacted.lines().take(limits::NEWER_LINES)) {
            let line: String = line.chars().take(limits::LINE_CHARS).collect();
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{number}\t{line}");
        }
        match redacted.lines().count().checked_sub(limits::NEWER_LINES) {
            Some(more) if more > 0 => {
                let _ = write!(
                    text,
                    "\n[{more} more lines; read them before you change the file]"
                );
            }
            Some(_) | None => {
                self.0.seen.put(target.real.clone(), Some(hash));
                self.0.seen.keep(hash, &target.page.text);
            }
        }
        CallRefusal::new(RefusalKind::Stale, text)
    }

    /// The plan of a call that would change nothing.
    fn nothing_to_do(&self, tool: &'static str, shown: &str, raw: &str) -> CallPlan {
        let wants = ConsentNeeds {
            terms: of_file(shown, FileEffect::Nothing),
            shown: "No change.".to_owned(),
            ..ConsentNeeds::default()
        };
        let ask = self.ask(tool, raw, wants);
        let deed = Deed::Say("No change.".to_owned());
        let summary = format!("write {shown}, no change");
        self.planned(tool, Effect::Pure, summary, ask, deed)
    }

    fn plan_writing(
        &self,
        tool: &'static str,
        target: WriteTarget,
        content: String,
        words: WritingWords,
        lines: LineCounts,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        let WriteTarget {
            located,
            real,
            hash: before,
            raw: old,
            ..
        } = target;
        keeps_secrets(&old, &content, &located)?;
        let writing = Writing {
            located,
            before,
            content,
            done: words.done,
        };
        self.check_our_files(&writing.located, &writing.content)?;
        let located = &writing.located;
        let after = Hash::of(writing.content.as_bytes());
        let effect = match before {
            None => FileEffect::Create,
            Some(_) => FileEffect::Change,
        };
        let wants = ConsentNeeds {
            tier: self.tier_of_writing(located),
            terms: of_file(&located.shown, effect),
            // What was seen is this file becoming that one, and nothing else.
            folder: format!(
                "{}\n{}\n{after}",
                real.to_string_lossy(),
                before.map_or_else(String::new, |hash| hash.to_string()),
            ),
            shown: words.consent,
            files: vec![self.names_of(located)],
            ..ConsentNeeds::default()
        };
        let ask = self.ask(tool, raw, wants);
        let text = PlannedText {
            path: self.redact(&located.shown),
            added: lines.added,
            removed: lines.removed,
            earlier: before.map(|_| self.redact(&old)),
            line: None,
            places: 1,
        };
        let deed = Deed::Write(Box::new(writing), real);
        let mut plan = self.planned(tool, Effect::Checkable, words.summary, ask, deed);
        plan.before = before;
        plan.after = Some(after);
        plan.texts = vec![text];
        Ok(plan)
    }

    /// What consent would need to know about a change of a file, whatever its text is.
    ///
    /// # Errors
    /// When no tool writes there.
    pub fn asked_of_writing(&self, path: &str) -> Result<ConsentQuestion, CallRefusal> {
        let located = self.target(path)?.located;
        let wants = ConsentNeeds {
            tier: self.tier_of_writing(&located),
            terms: of_file(&located.shown, FileEffect::Change),
            files: vec![self.names_of(&located)],
            ..ConsentNeeds::default()
        };
        Ok(self.ask("write_file", "", wants))
    }

    /// What roles write for one another needs no consent; the graph of the flow does. What programs
    /// trust or run later is asked for each time.
    pub(super) fn tier_of_writing(&self, located: &Located) -> Tier {
        let by_name = self.tier_by_name(located);
        // A link may lead to what is trusted by another name.
        let roots = &self.0.roots;
        let really = self.names_of(located).real;
        let really = really.and_then(|real| roots.locate(&real).ok());
        match really.filter(|really| really != located) {
            Some(really) => highest(by_name, self.tier_by_name(&really)),
            None => by_name,
        }
    }

    fn tier_by_name(&self, located: &Located) -> Tier {
        let roots = &self.0.roots;
        if self.is_in_a_repository(located) {
            Tier::Trust
        } else if roots.is_workflow(located) {
            Tier::Edit
        } else if roots.is_record(located) {
            Tier::Free
        } else if files::is_trusted(&located.rest) {
            Tier::Trust
        } else {
            Tier::Edit
        }
    }

    /// Whether a folder above a file is the inside of a repository, by the head that it has.
    fn is_in_a_repository(&self, located: &Located) -> bool {
        let is_head = |name: &std::ffi::OsStr| name.eq_ignore_ascii_case("HEAD");
        if located.rest.file_name().is_some_and(is_head) {
            return true;
        }
        located.rest.ancestors().skip(1).any(|above| {
            let head = Located {
                rest: above.join("HEAD"),
                ..located.clone()
            };
            files::is_there(&self.0.roots, &head)
        })
    }

    /// The graph of the flow is changed only into one that holds.
    pub(super) fn check_our_files(
        &self,
        located: &Located,
        content: &str,
    ) -> Result<(), CallRefusal> {
        let refused = |kind, text: String| Err(CallRefusal::new(kind, text));
        if self.0.roots.is_ours(located) {
            let text = format!("{} is written by the runtime only.", located.shown);
            return refused(RefusalKind::OutOfReach, text);
        }
        if !self.0.roots.is_workflow(located) {
            return Ok(());
        }
        let Some(check) = &self.0.setting.check_workflow else {
            let text = format!(
                "{} is the graph of this flow, and not changed here.",
                located.shown
            );
            return refused(RefusalKind::OutOfReach, text);
        };
        (check.0)(content).map_err(|why| {
            CallRefusal::new(
                RefusalKind::NotPossible,
                format!(
                    "{} was not written, because this graph does not hold:\n{why}",
                    located.shown
                ),
            )
        })
    }

    pub(super) fn write(
        &self,
        writing: &Writing,
        real: std::path::PathBuf,
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let content = writing.content.as_bytes();
        files::replace(&self.0.roots, &writing.located, writing.before, content)?;
        let hash = Hash::of(content);
        self.0.seen.keep(hash, &TextPage::of(&writing.content).text);
        let output = ToolOutput {
            seen: vec![ShownFile { real, hash }],
            ..ToolOutput::of(writing.done.clone())
        };
        Ok((CallEnd::Done, output))
    }
}

/// The whole file after a text is written into it or appended to it.
fn whole(page: &TextPage, earlier: &str, given: &WriteFile) -> String {
    let content = page.written(&given.content);
    if !given.append || earlier.is_empty() {
        return content;
    }
    // Only the beginning of a file has the mark.
    [earlier, content.trim_start_matches('\u{feff}')].concat()
}

/// Edits as they apply to a page.
fn text_edits(page: &TextPage, edits: Vec<OneEdit>) -> Vec<TextEdit> {
    let edit = |edit: OneEdit| TextEdit {
        old: page.given(&edit.old_string),
        new: page.given(&edit.new_string),
        all: edit.replace_all,
    };
    edits.into_iter().map(edit).collect()
}

/// What a file that is written as a whole gets and loses, where it held this before (nothing if it did not exist).
#[must_use]
pub(crate) fn text_of_writing(path: String, earlier: Option<String>, later: &str) -> PlannedText {
    let (added, removed) = match &earlier {
        None => (later.lines().count(), 0),
        Some(earlier) => {
            let found = difference(earlier, later);
            (found.added, found.removed)
        }
    };
    PlannedText {
        path,
        added,
        removed,
        earlier,
        line: None,
        places: 1,
    }
}

/// What a file holds after a call: its number among the files of the call, and what it held before (nothing
/// if it did not exist). Absent where that text does not lead there.
#[must_use]
pub fn text_after(
    tool: &str,
    arguments: &str,
    number: usize,
    earlier: Option<&str>,
) -> Option<String> {
    let before = earlier.unwrap_or_default();
    let page = TextPage::of(before);
    let path = String::new();
    let ToolArguments::Change(change) = parse(tool, arguments).ok()? else {
        return None;
    };
    match change {
        ChangeArguments::Write(given) => Some(whole(&page, before, &given)),
        ChangeArguments::Edit(given) => {
            let edits = text_edits(&page, given.edits().ok()?);
            match edits.as_slice() {
                [first] if first.old.is_empty() => Some(page.written(&first.new)),
                edits => {
                    let applied = apply(&path, &page.text, edits, Knowledge::Seen).ok()?;
                    Some(page.written(&applied.text))
                }
            }
        }
        ChangeArguments::Patch(given) => {
            match given.sections().ok()?.into_iter().nth(number)?.change {
                PatchedFile::Add(content) => Some(content),
                PatchedFile::Update(hunks) => {
                    let applied = patched(&path, &page.text, &hunks, Knowledge::Seen).ok()?;
                    Some(page.written(&applied.text))
                }
                PatchedFile::Delete => Some(String::new()),
            }
        }
    }
}

/// What a model did not see, it cannot write again: the mark would take the secret's place.
pub(super) fn keeps_secrets(
    before: &str,
    after: &str,
    located: &Located,
) -> Result<(), CallRefusal> {
    if after.matches(MARK).count() <= before.matches(MARK).count() {
        return Ok(());
    }
    Err(files::impossible(format!(
        "The text has {MARK} in it, which replaces a secret that you were not shown. Written \
         into {}, it would replace the secret. Change only the text around it.",
        located.shown
    )))
}

/// A text that takes a file's place is whole: it has no line that only speaks of the rest.
fn is_whole(target: &WriteTarget, content: &str) -> Result<(), CallRefusal> {
    if target.hash.is_none() {
        return Ok(());
    }
    let old: std::collections::BTreeSet<&str> = target.page.text.lines().map(str::trim).collect();
    let lines = (1..).zip(content.lines());
    let mut gaps = lines.filter(|(_, line)| speaks_of_the_rest(line) && !old.contains(line.trim()));
    let Some((number, line)) = gaps.next() else {
        return Ok(());
    };
    Err(files::impossible(format!(
        "Line {number}, `{}`, leaves something out. Write the whole text, or change a part with \
         edit_file. Nothing was changed.",
        clipped(line.trim())
    )))
}

/// Whether a line is one such as `// ... rest of the code`.
fn speaks_of_the_rest(line: &str) -> bool {
    const LEADERS: [char; 9] = ['/', '#', '*', '<', '!', '-', ';', '%', ' '];
    const WORDS: [&str; 6] = [
        "rest of",
        "existing code",
        "remaining code",
        "remains unchanged",
        "unchanged code",
        "same as before",
    ];
    let line = line.trim().trim_start_matches(LEADERS).to_lowercase();
    let rest = line.strip_prefix("...").or_else(|| line.strip_prefix('…'));
    rest.is_some_and(|rest| WORDS.iter().any(|word| rest.contains(word)))
}

/// The one file of a call, as the operator decides about it.
fn of_file(path: &str, change: FileEffect) -> ConsentTerms {
    let path = path.to_owned();
    let files = vec![FileTerms { path, change }];
    ConsentTerms::Files { files }
}

/// Of two files the tier of the one of which more is at stake.
pub(super) fn highest(one: Tier, other: Tier) -> Tier {
    match (&one, &other) {
        (Tier::Trust, _) | (_, Tier::Free) => one,
        _ if one == Tier::Edit && other != Tier::Trust => one,
        _ => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_only_speaks_of_the_rest_is_known() {
        for (line, expected) in [
            ("// ... rest of code", true),
            ("    # ... existing code ...", true),
            ("<!-- … rest of the page -->", true),
            ("/* ... remaining code unchanged */", true),
            ("... the rest of the list", true),
            ("let rest = of(...);", false),
            ("// the rest of the code", false),
            ("...", false),
            ("...args", false),
        ] {
            assert_eq!(speaks_of_the_rest(line), expected, "{line}");
        }
    }
}
