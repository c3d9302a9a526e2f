//! The tools that change one file, whose hash tells whether they did.

use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallEnd, Effect};

use super::arguments::{EditFile, WriteFile};
use super::files::{self, Located};
use super::output::Output;
use super::plan::{Plan, Refusal, RefusalKind};
use super::redact::MARK;
use super::text;
use super::toolbox::{Deed, Toolbox, Wants};
use crate::consent::Tier;

/// A file with its new content.
#[derive(Debug, Clone)]
pub(super) struct Writing {
    pub located: Located,
    pub before: Option<Hash>,
    pub content: String,
    /// What the model is told when it is done.
    pub done: String,
}

/// How much of a text that was not found is repeated.
const SHOWN_CHARS: usize = 80;

impl Toolbox {
    pub(super) fn plan_write(&self, given: WriteFile, raw: &str) -> Result<Plan, Refusal> {
        let located = self.0.roots.locate(&given.path)?;
        let before = files::hash_of(&self.0.roots, &located)?.map(|(hash, _)| hash);
        keeps_secrets("", &given.content, &located)?;
        let verb = if before.is_some() { "replace" } else { "write" };
        let summary = format!("{verb} {} ({} bytes)", located.shown, given.content.len());
        let done = format!(
            "{} {} with {} bytes.",
            if before.is_some() {
                "Replaced"
            } else {
                "Wrote"
            },
            located.shown,
            given.content.len()
        );
        let writing = Writing {
            located,
            before,
            content: given.content,
            done,
        };
        let shown = writing.content.clone();
        self.plan_writing("write_file", writing, summary, &shown, raw)
    }

    pub(super) fn plan_edit(&self, given: &EditFile, raw: &str) -> Result<Plan, Refusal> {
        let located = self.0.roots.locate(&given.path)?;
        let shown = located.shown.clone();
        let Some((before, bytes)) = files::hash_of(&self.0.roots, &located)? else {
            return Err(files::impossible(format!(
                "{shown} does not exist. Write it with write_file."
            )));
        };
        let read = text::read(&bytes)
            .filter(|read| read.is_exact)
            .ok_or_else(|| {
                files::impossible(format!(
                    "{shown} is not UTF-8 text, so it cannot be edited here."
                ))
            })?;
        let (content, places) = edited(&read.text, given, &shown)?;
        keeps_secrets(&read.text, &content, &located)?;
        let summary = format!("edit {shown}, {places}");
        let writing = Writing {
            done: format!("Edited {shown}: {places}."),
            located,
            before: Some(before),
            content,
        };
        let shown = format!(
            "--- what is there\n{}\n--- what takes its place\n{}",
            given.old, given.new
        );
        self.plan_writing("edit_file", writing, summary, &shown, raw)
    }

    fn plan_writing(
        &self,
        tool: &'static str,
        writing: Writing,
        summary: String,
        shown: &str,
        raw: &str,
    ) -> Result<Plan, Refusal> {
        let roots = &self.0.roots;
        let located = &writing.located;
        let real = roots.record().join(&located.rest);
        let real = if roots.is_record(located) {
            real
        } else {
            roots.project().join(&located.rest)
        };
        // The flow's own graph may say again what it said before, which its role was told.
        if let Some(read) = self.0.seen.get(&real)
            && read != writing.before
            && !roots.is_workflow(located)
        {
            return Err(files::stale(&located.shown));
        }
        self.check_our_files(&writing)?;
        let wants = Wants {
            tier: self.tier_of_writing(located),
            paths: vec![located.shown.clone()],
            // What was seen is this file becoming that one, and nothing else.
            folder: format!(
                "{}\n{}\n{}",
                real.to_string_lossy(),
                writing
                    .before
                    .map_or_else(String::new, |hash| hash.to_string()),
                Hash::of(writing.content.as_bytes())
            ),
            shown: format!("{tool} {}\n{shown}", located.shown),
            ..Wants::default()
        };
        let ask = self.ask(tool, raw, wants);
        let (before, after) = (writing.before, Hash::of(writing.content.as_bytes()));
        let deed = Deed::Write(Box::new(writing), real);
        let mut plan = self.planned(tool, Effect::Checkable, summary, ask, deed);
        plan.before = before;
        plan.after = Some(after);
        Ok(plan)
    }

    /// What roles write for one another needs no consent; the graph of the flow does.
    fn tier_of_writing(&self, located: &Located) -> Tier {
        let roots = &self.0.roots;
        if roots.is_record(located) && !roots.is_workflow(located) {
            Tier::Free
        } else {
            Tier::Edit
        }
    }

    /// The graph of the flow is changed only into one that holds.
    fn check_our_files(&self, writing: &Writing) -> Result<(), Refusal> {
        let located = &writing.located;
        if self.0.roots.is_ours(located) {
            return Err(Refusal::new(
                RefusalKind::OutOfReach,
                format!("{} is written by the runtime only.", located.shown),
            ));
        }
        if !self.0.roots.is_workflow(located) {
            return Ok(());
        }
        let Some(check) = &self.0.setting.check_workflow else {
            return Err(Refusal::new(
                RefusalKind::OutOfReach,
                format!(
                    "{} is the graph of this flow, and not changed here.",
                    located.shown
                ),
            ));
        };
        (check.0)(&writing.content).map_err(|why| {
            Refusal::new(
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
    ) -> Result<(CallEnd, Output), Refusal> {
        let content = writing.content.as_bytes();
        files::replace(&self.0.roots, &writing.located, writing.before, content)?;
        self.0.seen.put(real, Some(Hash::of(content)));
        Ok((CallEnd::Done, Output::of(writing.done.clone())))
    }
}

/// What a model did not see, it cannot write again: the mark would take the secret's place.
fn keeps_secrets(before: &str, after: &str, located: &Located) -> Result<(), Refusal> {
    if after.matches(MARK).count() <= before.matches(MARK).count() {
        return Ok(());
    }
    Err(files::impossible(format!(
        "The text has {MARK} in it, which stands for a secret that you were not shown. Written \
         into {}, it would replace the secret. Change only the text around it, with edit_file.",
        located.shown
    )))
}

/// The text after an edit, and where it was edited.
fn edited(text: &str, given: &EditFile, shown: &str) -> Result<(String, String), Refusal> {
    let EditFile { old, new, all, .. } = given;
    if old.is_empty() {
        let text = "`old` is empty. Give the text that is there now, or use write_file.";
        return Err(Refusal::new(RefusalKind::Arguments, text));
    }
    if old == new {
        let text = "`old` and `new` are the same text, so there is nothing to do.";
        return Err(Refusal::new(RefusalKind::Arguments, text));
    }
    let places = places_of(text, old);
    let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    match places.as_slice() {
        [] => Err(not_found(text, old, shown)),
        [at] => {
            let (head, rest) = text.split_at(*at);
            let tail = rest.strip_prefix(old.as_str()).unwrap_or_default();
            Ok(([head, new, tail].concat(), format!("line {}", line(*at))))
        }
        _ if *all => {
            let count = text.matches(old.as_str()).count();
            Ok((text.replace(old.as_str(), new), format!("{count} places")))
        }
        places => {
            let lines: Vec<String> = places
                .iter()
                .take(10)
                .map(|at| line(*at).to_string())
                .collect();
            Err(files::impossible(format!(
                "`old` stands {} times in {shown}, in lines {}. Take more of the text around the \
                 place you mean, or set `all`.",
                places.len(),
                lines.join(", ")
            )))
        }
    }
}

/// Where a text stands, overlapping places included: each of them could be the one that is meant.
fn places_of(text: &str, old: &str) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let (mut places, mut from) = (Vec::new(), 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        places.push(from + at);
        from += at + step;
    }
    places
}

/// Says why a text was not found, if it can be told.
fn not_found(text: &str, old: &str, shown: &str) -> Refusal {
    let unix = |text: &str| text.replace("\r\n", "\n");
    let loose = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect()
    };
    let hint = if unix(text).contains(&unix(old)) {
        "It stands there with other line ends: the file has `\\r\\n`.".to_owned()
    } else {
        let (lines, wanted) = (loose(text), loose(old.trim_matches('\n')));
        let found = lines
            .windows(wanted.len().max(1))
            .position(|window| window == wanted);
        match found {
            Some(at) => format!(
                "It stands in line {} with other spaces. Read the lines and take them as they are.",
                at + 1
            ),
            None => "Read the file and take the text as it is there.".to_owned(),
        }
    };
    let start: String = old.chars().take(SHOWN_CHARS).collect();
    files::impossible(format!("{start:?} does not stand in {shown}. {hint}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(text: &str, old: &str, new: &str, all: bool) -> Result<String, String> {
        let given = EditFile {
            path: String::new(),
            old: old.to_owned(),
            new: new.to_owned(),
            all,
        };
        edited(text, &given, "f")
            .map(|(text, _)| text)
            .map_err(|refusal| refusal.text)
    }

    #[test]
    fn one_place_is_edited_and_doubt_is_refused_in_words() {
        assert_eq!(edit("a b c", "b", "x", false).as_deref(), Ok("a x c"));
        assert_eq!(edit("a a", "a", "x", true).as_deref(), Ok("x x"));
        for (text, old, said) in [
            ("a\na\n", "a", "stands 2 times in f, in lines 1, 2"),
            ("aaa", "aa", "stands 2 times"),
            ("a\r\nb\r\n", "a\nb", "other line ends"),
            ("x\n\tif a {\n", "  if a {", "in line 2 with other spaces"),
            ("abc", "z", "Read the file"),
            ("abc", "", "`old` is empty"),
            ("abc", "abc", "nothing to do"),
        ] {
            let new = if old == "abc" { "abc" } else { "new" };
            let fault = edit(text, old, new, false).unwrap_err();
            assert!(fault.contains(said), "{fault}");
        }
    }

    proptest! {
        #[test]
        fn what_is_edited_is_the_one_place_and_nothing_else(
            head in "[ab]{0,6}", old in "[ab]{1,3}", tail in "[ab]{0,6}", new in "[abc]{0,3}",
        ) {
            let text = format!("{head}{old}{tail}");
            if let Ok(edited) = edit(&text, &old, &new, false) {
                prop_assert_eq!(edited, format!("{head}{new}{tail}"));
            } else {
                prop_assert!(old == new || places_of(&text, &old).len() > 1);
            }
        }
    }
}
