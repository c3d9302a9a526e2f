//! The tools that only read.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::{CallEnd, Effect};

use super::arguments::{GlobFiles, GrepFiles, ListDirectory, ReadFile, understood};
use super::deed::{Deed, ReadPlan};
use super::files::{self, Floor, InodeKind, Located, OpenEntry};
use super::find::{Glob, Grep};
use super::limits;
use super::output::ToolOutput;
use super::plan::CallPlan;
use super::refusal::CallRefusal;
use super::toolbox::{ConsentNeeds, Toolbox};
use crate::consent::Tier;

impl Toolbox {
    pub(super) fn plan_read_file(
        &self,
        given: &ReadFile,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        let (first, count) = given.range()?;
        let located = self.0.roots.locate(&given.path)?;
        let summary = match (first, count) {
            (1, 0) => format!("read {}", located.shown),
            (_, 0) => format!("read {} from line {first}", located.shown),
            _ => format!("read {} lines {first}–{}", located.shown, first + count - 1),
        };
        let reading = ReadPlan::File(located, first, count);
        self.plan_reading("read_file", reading, summary, raw)
    }

    pub(super) fn plan_list(
        &self,
        given: &ListDirectory,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        let located = self.0.roots.locate(&given.path)?;
        let summary = format!("list {}", located.shown);
        self.plan_reading("list_directory", ReadPlan::Folder(located), summary, raw)
    }

    pub(super) fn plan_grep(&self, given: &GrepFiles, raw: &str) -> Result<CallPlan, CallRefusal> {
        let grep = Grep::read(given)?;
        let located = (self.0.roots).locate(given.path.as_deref().unwrap_or("."))?;
        let summary = format!("search {} for {:?}", located.shown, given.pattern);
        self.plan_reading(
            "grep",
            ReadPlan::Grep(located, Box::new(grep)),
            summary,
            raw,
        )
    }

    pub(super) fn plan_glob(&self, given: &GlobFiles, raw: &str) -> Result<CallPlan, CallRefusal> {
        let (path, glob) = Glob::read(given)?;
        let located = self.0.roots.locate(&path)?;
        let summary = format!("find {:?}", given.pattern);
        self.plan_reading("glob", ReadPlan::Glob(located, glob), summary, raw)
    }

    fn plan_reading(
        &self,
        tool: &'static str,
        reading: ReadPlan,
        summary: String,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        let located = reading.located();
        let entry = files::open_read(&self.0.roots, located)?;
        let tier = match entry.floor {
            Floor::Sensitive => Tier::Sensitive,
            Floor::Open | Floor::ReadOnly | Floor::Closed => Tier::Free,
        };
        let wants = ConsentNeeds {
            tier,
            terms: ConsentTerms::Reading {
                paths: vec![located.shown.clone()],
            },
            folder: entry.real.to_string_lossy().into_owned(),
            shown: understood(tool, raw),
            ..ConsentNeeds::default()
        };
        let ask = self.ask(tool, raw, wants);
        Ok(self.planned(tool, Effect::Pure, summary, ask, Deed::Read(reading)))
    }

    /// Reads. What was found when the call was planned is opened and judged anew: another file may be
    /// there now, and consent was given for the one before.
    pub(super) fn read(
        &self,
        reading: &ReadPlan,
        tier: &Tier,
        stop: &StopSignal,
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let located = reading.located();
        let entry = files::open_read(&self.0.roots, located)?;
        if entry.floor == Floor::Sensitive && *tier != Tier::Sensitive {
            return Err(files::stale(&located.shown));
        }
        let output = match reading {
            ReadPlan::File(located, first, count) => {
                self.show(entry, located, *first, *count, stop)?
            }
            ReadPlan::Folder(located) => list(&entry, located)?,
            ReadPlan::Grep(located, grep) => self.grep(entry, located, grep, stop)?,
            ReadPlan::Glob(located, glob) => self.glob(&entry, located, glob, stop)?,
        };
        if stop.is_raised() {
            return Ok((CallEnd::Stopped, output));
        }
        Ok((CallEnd::Done, output))
    }
}

fn list(entry: &OpenEntry, located: &Located) -> Result<ToolOutput, CallRefusal> {
    if files::stat_kind(&entry.stat) != InodeKind::Folder {
        return Err(files::impossible(format!(
            "{} is not a folder; read_file shows what is in it.",
            located.shown
        )));
    }
    let (names, is_more) = files::entries(&entry.file, limits::LIST_LOOKED_AT).map_err(|why| {
        files::impossible(format!("{} could not be listed: {why}.", located.shown))
    })?;
    let mut body = String::new();
    for name in names.iter().take(limits::LIST_ENTRIES) {
        let stat = files::child(&entry.file, name);
        let shown = shown_name(name);
        // Writing to a string cannot fail.
        let _ = match stat.as_ref().map(|stat| (files::stat_kind(stat), stat)) {
            Some((InodeKind::File, stat)) => writeln!(body, "{shown}\t{}", stat.st_size),
            Some((InodeKind::Folder, _)) => writeln!(body, "{shown}/"),
            Some((InodeKind::Link, _)) => writeln!(body, "{shown}@"),
            Some((InodeKind::Other, _)) => writeln!(body, "{shown}\t(no regular file)"),
            None => writeln!(body, "{shown}\t(gone)"),
        };
    }
    let mut tail = String::new();
    let is_cut = is_more || names.len() > limits::LIST_ENTRIES;
    if is_cut {
        let more = names.len().saturating_sub(limits::LIST_ENTRIES);
        let or_more = if is_more { " or more" } else { "" };
        let _ = writeln!(tail, "[{more}{or_more} further entries are left out]");
    }
    if names.is_empty() {
        tail.push_str("[the folder is empty]\n");
    }
    Ok(ToolOutput {
        body,
        tail,
        is_cut,
        ..ToolOutput::default()
    })
}

/// A name as text. What is no text, or would break the line, is escaped, so that two names never
/// look the same.
pub(super) fn shown_name(name: &OsStr) -> String {
    let is_plain = |text: &&str| !text.chars().any(must_be_seen);
    if let Some(text) = name.to_str().filter(is_plain) {
        return text.to_owned();
    }
    let mut out = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            if must_be_seen(letter) {
                out.extend(letter.escape_default());
            } else {
                out.push(letter);
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Whether a letter of a name is written as an escape: it could not be seen, or would change how
/// the rest is read. Full width letters are plain ones in names.
fn must_be_seen(letter: char) -> bool {
    let is_wide = matches!(u32::from(letter), 0xff01..=0xff5e);
    letter == '\\' || (a_society_base::text::misleads(letter) && !is_wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p39_names_that_are_no_text_are_shown_without_loss() {
        assert_eq!(shown_name(OsStr::from_bytes(b"a\xffb")), "a\\xffb");
        assert_eq!(shown_name(OsStr::new("a\nb")), "a\\nb");
        assert_eq!(shown_name(OsStr::new("a\\nb")), "a\\\\nb");
        assert_eq!(shown_name(OsStr::new("grün")), "grün");
        assert_eq!(shown_name(OsStr::new("（ＡＢ）")), "（ＡＢ）");
        assert_eq!(
            shown_name(OsStr::new("a\u{202e}txt.\u{200b}rs")),
            "a\\u{202e}txt.\\u{200b}rs"
        );
    }
}
