//! The tool that changes several files at once. Every place is found before anything is written, and
//! the hashes of each file tell afterwards whether it was changed.

use a_society_facts::Hash;
use a_society_facts::fact::terms::{ConsentTerms, FileEffect, FileTerms};
use a_society_facts::fact::turn::{CallEnd, Effect, FileChange};
use a_society_facts::message::ToolCall;

use super::arguments::ApplyPatch;
use super::deed::{Changing, Deed, Patching};
use super::edit::{LineCounts, PatchedFile, Section, TextPage, difference, patched};
use super::files;
use super::limits;
use super::output::{ShownFile, ToolOutput};
use super::plan::CallPlan;
use super::refusal::{CallRefusal, RefusalKind};
use super::toolbox::{ConsentNeeds, Toolbox};
use super::write::{WriteTarget, highest, keeps_secrets};
use crate::consent::Tier;
use crate::number::grouped;
use crate::turn::step::PlannedText;

/// The name of the tool.
const APPLY_PATCH: &str = "apply_patch";

impl Toolbox {
    pub(super) fn plan_patch(
        &self,
        given: &ApplyPatch,
        call: &ToolCall,
    ) -> Result<CallPlan, CallRefusal> {
        let begun = self.0.setting.begun.get(&call.id);
        let begun = begun.map(Vec::as_slice).unwrap_or_default();
        let sections = given.sections()?;
        let mut files: Vec<Changing> = Vec::new();
        for (number, section) in sections.iter().enumerate() {
            let file = self.changing(section, begun.get(number))?;
            self.is_alone(&file, &files, sections.len())?;
            files.push(file);
        }
        let tiers = files.iter().map(|file| self.tier_of_writing(&file.located));
        let shown = |file: &Changing| file.located.shown.clone();
        let bound: Vec<String> = files.iter().map(Changing::bound).collect();
        let consent: Vec<&str> = files.iter().map(|file| file.consent.as_str()).collect();
        let wants = ConsentNeeds {
            tier: tiers.fold(Tier::Free, highest),
            terms: ConsentTerms::Files {
                files: files.iter().map(Changing::terms).collect(),
            },
            // What was seen is these files becoming those, and nothing else.
            folder: bound.join("\n"),
            shown: consent.join("\n"),
            files: (files.iter())
                .map(|file| self.names_of(&file.located))
                .collect(),
            ..ConsentNeeds::default()
        };
        let ask = self.ask(APPLY_PATCH, call.input.get(), wants);
        let changes = files.iter().map(|file| FileChange {
            path: self.redact(&file.located.shown),
            before: file.before,
            after: file.after,
        });
        let changes: Vec<FileChange> = changes.collect();
        let texts = files.iter().map(|file| PlannedText {
            path: self.redact(&file.located.shown),
            added: file.lines.added,
            removed: file.lines.removed,
            earlier: file.earlier.as_deref().map(|text| self.redact(text)),
            line: None,
            places: 1,
        });
        let texts = texts.collect();
        let names: Vec<String> = files.iter().map(shown).collect();
        let summary = match names.as_slice() {
            [name] => format!("patch {name}"),
            names => format!("patch {} files: {}", names.len(), names.join(", ")),
        };
        let deed = Deed::Patch(Box::new(Patching(files)));
        let mut plan = self.planned(APPLY_PATCH, Effect::Checkable, summary, ask, deed);
        plan.files = changes;
        plan.texts = texts;
        Ok(plan)
    }

    /// A file that is named twice would be changed behind the back of its own hashes. The graph of
    /// the flow may be taken back, and then nothing else of the call may have happened.
    fn is_alone(
        &self,
        file: &Changing,
        before: &[Changing],
        count: usize,
    ) -> Result<(), CallRefusal> {
        let shown = &file.located.shown;
        if before.iter().any(|other| other.real == file.real) {
            return Err(files::impossible(format!(
                "{shown} appears in the patch twice. Put all its hunks under one heading. Nothing was \
                 changed."
            )));
        }
        if count > 1 && self.0.roots.is_workflow(&file.located) {
            return Err(files::impossible(format!(
                "{shown} is the graph of this flow: change it in a patch of its own. Nothing was changed."
            )));
        }
        Ok(())
    }

    fn changing(
        &self,
        section: &Section,
        begun: Option<&FileChange>,
    ) -> Result<Changing, CallRefusal> {
        let target = self.target(&section.path)?;
        let is_done =
            |begun: &&FileChange| begun.after == target.hash && begun.before != target.hash;
        if let Some(begun) = begun.filter(is_done) {
            return Ok(Changing::done(target, begun));
        }
        match &section.change {
            PatchedFile::Add(content) => self.adding(target, content),
            PatchedFile::Update(hunks) => {
                if target.hash.is_none() {
                    return Err(files::missing(&self.0.roots, &target.located));
                }
                let knowledge = self.knowledge(&target)?;
                let shown = &target.located.shown;
                let applied =
                    self.applied(&target, |text| patched(shown, text, hunks, knowledge))?;
                self.updating(target, &applied.text, &applied.notes)
            }
            PatchedFile::Delete => self.removing(target),
        }
    }

    fn adding(&self, target: WriteTarget, content: &str) -> Result<Changing, CallRefusal> {
        let shown = &target.located.shown;
        if target.hash.is_some() {
            return Err(files::impossible(format!(
                "{shown} is there already; change it under `*** Update File: {shown}`. Nothing was \
                 changed."
            )));
        }
        let consent = format!("new file {shown}\n{content}");
        let told = format!(
            "Added {shown}: {} bytes, {} lines.\n",
            grouped(content.len()),
            grouped(content.lines().count())
        );
        let lines = LineCounts {
            added: content.lines().count(),
            removed: 0,
        };
        self.written(target, content.to_owned(), lines, consent, told)
    }

    fn updating(
        &self,
        target: WriteTarget,
        text: &str,
        notes: &[String],
    ) -> Result<Changing, CallRefusal> {
        let shown = &target.located.shown;
        let found = difference(&target.page.text, text);
        let consent = format!("change {shown}\n{}", found.whole());
        let notes = notes.iter().map(|note| format!(" {note}"));
        let told = format!(
            "Changed {shown}: +{} -{}.{}\n{}",
            found.added,
            found.removed,
            notes.collect::<String>(),
            found.shown(limits::CHANGED_LINES)
        );
        let content = target.page.written(text);
        self.written(target, content, found.counts(), consent, told)
    }

    fn written(
        &self,
        target: WriteTarget,
        content: String,
        lines: LineCounts,
        consent: String,
        told: String,
    ) -> Result<Changing, CallRefusal> {
        keeps_secrets(&target.raw, &content, &target.located)?;
        self.check_our_files(&target.located, &content)?;
        Ok(Changing {
            located: target.located,
            real: target.real,
            before: target.hash,
            after: Some(Hash::of(content.as_bytes())),
            content: Some(content),
            earlier: target.hash.map(|_| target.raw),
            lines,
            is_done: false,
            consent,
            told,
        })
    }

    fn removing(&self, target: WriteTarget) -> Result<Changing, CallRefusal> {
        let located = &target.located;
        let shown = &located.shown;
        if target.hash.is_none() {
            return Err(files::missing(&self.0.roots, located));
        }
        if self.0.roots.is_workflow(located) || self.0.roots.is_ours(located) {
            let text =
                format!("{shown} belongs to the flow and is not deleted. Nothing was changed.");
            return Err(CallRefusal::new(RefusalKind::OutOfReach, text));
        }
        self.may_replace(&target)?;
        let found = difference(&target.page.text, "");
        let consent = format!("delete {shown}\n{}", found.whole());
        let told = format!("Deleted {shown}.\n");
        Ok(Changing {
            located: target.located,
            real: target.real,
            before: target.hash,
            after: None,
            content: None,
            earlier: Some(target.raw),
            lines: found.counts(),
            is_done: false,
            consent,
            told,
        })
    }

    /// Changes the files, one after the other. If one cannot be changed any more, those after it are
    /// left as they are, and the model gets the state of each.
    pub(super) fn patch(&self, patching: &Patching) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let (mut told, mut seen) = (String::new(), Vec::new());
        let mut files = patching.0.iter();
        while let Some(file) = files.next() {
            if let Err(why) = self.change(file) {
                if told.is_empty() {
                    return Err(why);
                }
                let left = files.map(|file| file.located.shown.as_str());
                let left: Vec<&str> = left.collect();
                let left = match left.as_slice() {
                    [] => String::new(),
                    left => format!("\nNot changed: {}.", left.join(", ")),
                };
                let text = format!("{told}{}{left}", why.text);
                let output = ToolOutput {
                    seen,
                    ..ToolOutput::of(text)
                };
                return Ok((CallEnd::Failed, output));
            }
            told.push_str(&file.told);
            match file.after {
                Some(hash) => seen.push(ShownFile {
                    real: file.real.clone(),
                    hash,
                }),
                None => self.0.seen.put(file.real.clone(), None),
            }
        }
        let output = ToolOutput {
            seen,
            ..ToolOutput::of(told)
        };
        Ok((CallEnd::Done, output))
    }

    fn change(&self, file: &Changing) -> Result<(), CallRefusal> {
        if file.is_done {
            return Ok(());
        }
        let roots = &self.0.roots;
        let Some(content) = &file.content else {
            return files::remove(roots, &file.located, file.before);
        };
        files::replace(roots, &file.located, file.before, content.as_bytes())?;
        let hash = Hash::of(content.as_bytes());
        self.0.seen.keep(hash, &TextPage::of(content).text);
        Ok(())
    }
}

impl Changing {
    /// A file that an earlier process had changed before it ended.
    fn done(target: WriteTarget, begun: &FileChange) -> Self {
        let told = format!(
            "{}: changed before the program was started again.\n",
            target.located.shown
        );
        Self {
            located: target.located,
            real: target.real,
            before: begun.before,
            after: begun.after,
            content: None,
            earlier: None,
            lines: LineCounts::default(),
            is_done: true,
            consent: told.clone(),
            told,
        }
    }

    /// The file and its change, as the operator decides about it.
    fn terms(&self) -> FileTerms {
        FileTerms {
            path: self.located.shown.clone(),
            change: match (self.is_done, self.before, self.after) {
                (true, ..) => FileEffect::Nothing,
                (false, _, None) => FileEffect::Delete,
                (false, None, Some(_)) => FileEffect::Create,
                (false, Some(_), Some(_)) => FileEffect::Change,
            },
        }
    }

    /// The file and its change, as consent is bound to it.
    fn bound(&self) -> String {
        let hash = |hash: Option<Hash>| hash.map_or_else(String::new, |hash| hash.to_string());
        let real = self.real.to_string_lossy();
        format!("{real}\n{}\n{}", hash(self.before), hash(self.after))
    }
}
