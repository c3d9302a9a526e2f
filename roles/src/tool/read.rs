//! The tools that only read.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use a_society_facts::fact::turn::{CallEnd, Effect};
use rustix::fs::{Mode, OFlags, fstat, openat};

use super::arguments::{ListDirectory, ReadFile, SearchFiles, understood};
use super::files::{self, Entry, Floor, Kind, Located};
use super::output::{Output, floor as char_floor};
use super::plan::{Plan, Refusal, RefusalKind};
use super::redact::Redactor;
use super::toolbox::{Deed, Toolbox, Wants};
use super::{limits, text};
use crate::consent::Tier;
use crate::turn::stop::StopSignal;

/// What is read.
#[derive(Debug, Clone)]
pub(super) enum Reading {
    /// A file, from a line on, and how many lines at most; 0 if that is not said.
    File(Located, u64, u64),
    Folder(Located),
    Search(Located, SearchFiles),
}

impl Toolbox {
    pub(super) fn plan_read_file(&self, given: &ReadFile, raw: &str) -> Result<Plan, Refusal> {
        let (first, count) = given.range()?;
        let located = self.0.roots.locate(&given.path)?;
        let summary = match (first, count) {
            (1, 0) => format!("read {}", located.shown),
            (_, 0) => format!("read {} from line {first}", located.shown),
            _ => format!("read {} lines {first}–{}", located.shown, first + count - 1),
        };
        let reading = Reading::File(located, first, count);
        self.plan_reading("read_file", reading, summary, raw)
    }

    pub(super) fn plan_list(&self, given: &ListDirectory, raw: &str) -> Result<Plan, Refusal> {
        let located = self.0.roots.locate(&given.path)?;
        let summary = format!("list {}", located.shown);
        self.plan_reading("list_directory", Reading::Folder(located), summary, raw)
    }

    pub(super) fn plan_search(&self, given: SearchFiles, raw: &str) -> Result<Plan, Refusal> {
        if given.text.is_empty() {
            let text = "There is no text to search for.";
            return Err(Refusal::new(RefusalKind::Arguments, text));
        }
        let located = self.0.roots.locate(&given.path)?;
        let summary = format!("search {} for {:?}", located.shown, given.text);
        self.plan_reading(
            "search_files",
            Reading::Search(located, given),
            summary,
            raw,
        )
    }

    fn plan_reading(
        &self,
        tool: &'static str,
        reading: Reading,
        summary: String,
        raw: &str,
    ) -> Result<Plan, Refusal> {
        let located = reading.located();
        let entry = files::open_read(&self.0.roots, located)?;
        let tier = match entry.floor {
            Floor::Sensitive => Tier::Sensitive,
            Floor::Open | Floor::ReadOnly | Floor::Closed => Tier::Free,
        };
        let wants = Wants {
            tier,
            paths: vec![located.shown.clone()],
            folder: entry.real.to_string_lossy().into_owned(),
            shown: format!("{tool}\n{}", understood(tool, raw)),
            ..Wants::default()
        };
        let ask = self.ask(tool, raw, wants);
        Ok(self.planned(tool, Effect::Pure, summary, ask, Deed::Read(reading)))
    }

    /// Reads. What was found when the call was planned is opened anew, and judged anew: another
    /// file may stand there now, and consent was given for the one before.
    pub(super) fn read(
        &self,
        reading: &Reading,
        tier: &Tier,
        stop: &StopSignal,
    ) -> Result<(CallEnd, Output), Refusal> {
        let located = reading.located();
        let entry = files::open_read(&self.0.roots, located)?;
        if entry.floor == Floor::Sensitive && *tier != Tier::Sensitive {
            return Err(files::stale(&located.shown));
        }
        let output = match reading {
            Reading::File(located, first, count) => {
                self.show(entry, located, (*first, *count), stop)?
            }
            Reading::Folder(located) => list(&entry, located)?,
            Reading::Search(located, search) => {
                find(entry, located, search, &self.0.redactor, stop)?
            }
        };
        if stop.is_raised() {
            return Ok((CallEnd::Stopped, output));
        }
        Ok((CallEnd::Done, output))
    }
}

impl Reading {
    fn located(&self) -> &Located {
        match self {
            Self::File(located, ..) | Self::Folder(located) | Self::Search(located, _) => located,
        }
    }
}

fn list(entry: &Entry, located: &Located) -> Result<Output, Refusal> {
    if files::stat_kind(&entry.stat) != Kind::Folder {
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
            Some((Kind::File, stat)) => writeln!(body, "{shown}\t{}", stat.st_size),
            Some((Kind::Folder, _)) => writeln!(body, "{shown}/"),
            Some((Kind::Link, _)) => writeln!(body, "{shown}@"),
            Some((Kind::Other, _)) => writeln!(body, "{shown}\t(no regular file)"),
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
    Ok(Output {
        body,
        tail,
        is_cut,
        ..Output::default()
    })
}

/// A name as text. What is no text, or would break the line, is escaped, so that two names never
/// look the same.
fn shown_name(name: &OsStr) -> String {
    let is_plain = |text: &&str| !text.chars().any(char::is_control) && !text.contains('\\');
    if let Some(text) = name.to_str().filter(is_plain) {
        return text.to_owned();
    }
    let mut out = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter.is_control() || letter == '\\' {
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

/// A search under way.
#[derive(Debug)]
struct Search<'a> {
    needle: Vec<u8>,
    asked: &'a SearchFiles,
    redactor: &'a Redactor,
    stop: &'a StopSignal,
    body: String,
    matches: usize,
    files: usize,
    entries: usize,
    bytes: u64,
    /// Why it ended early.
    ended: Option<&'static str>,
}

fn find(
    entry: Entry,
    located: &Located,
    asked: &SearchFiles,
    redactor: &Redactor,
    stop: &StopSignal,
) -> Result<Output, Refusal> {
    let fold = |text: &str| text.to_ascii_lowercase().into_bytes();
    let mut search = Search {
        needle: if asked.ignore_case {
            fold(&asked.text)
        } else {
            asked.text.clone().into_bytes()
        },
        asked,
        redactor,
        stop,
        body: String::new(),
        matches: 0,
        files: 0,
        entries: 0,
        bytes: 0,
        ended: None,
    };
    match files::stat_kind(&entry.stat) {
        Kind::Folder => {
            let prefix = if located.shown == "." {
                String::new()
            } else {
                format!("{}/", located.shown)
            };
            search.folder(&entry.file, &prefix, 0);
        }
        Kind::File => {
            let bytes = files::read_bytes(entry, &located.shown)?;
            search.look_into(&bytes, &located.shown);
        }
        Kind::Link | Kind::Other => {
            return Err(files::impossible(format!(
                "{} is neither a folder nor a regular file.",
                located.shown
            )));
        }
    }
    let mut tail = format!("[{} matches in {} files]\n", search.matches, search.files);
    if let Some(why) = search.ended {
        tail = format!(
            "[the search ended early: {why}; {} matches so far]\n",
            search.matches
        );
    }
    Ok(Output {
        body: search.body,
        tail,
        is_cut: search.ended.is_some(),
        ..Output::default()
    })
}

impl Search<'_> {
    /// Links are not followed, so that the way here is the way that it looks.
    fn folder(&mut self, folder: &OwnedFd, prefix: &str, depth: usize) {
        if depth >= limits::SEARCH_DEPTH {
            self.ended = Some("the folders are nested too deep");
            return;
        }
        let room = limits::SEARCH_ENTRIES.saturating_sub(self.entries);
        let Ok((names, is_more)) = files::entries(folder, room) else {
            return;
        };
        self.entries += names.len();
        for name in &names {
            if self.ended.is_some() {
                return;
            }
            let Some(stat) = files::child(folder, name) else {
                continue;
            };
            let path = format!("{prefix}{}", shown_name(name));
            match files::stat_kind(&stat) {
                Kind::Folder if name.as_bytes().starts_with(b".") => {}
                Kind::Folder => {
                    let flags =
                        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    if let Ok(below) = openat(folder, name, flags, Mode::empty()) {
                        self.folder(&below, &format!("{path}/"), depth + 1);
                    }
                }
                Kind::File => self.file(folder, name, path),
                Kind::Link | Kind::Other => {}
            }
        }
        if is_more {
            self.ended = Some("there are too many files");
        }
    }

    fn file(&mut self, folder: &OwnedFd, name: &OsStr, path: String) {
        let text = name.to_string_lossy();
        let wanted = self
            .asked
            .name
            .as_ref()
            .is_none_or(|pattern| matches(pattern, &text));
        if !wanted || files::floor(std::path::Path::new(&path)) >= Floor::Sensitive {
            return;
        }
        if self.stop.is_raised() {
            self.ended = Some("it was stopped");
            return;
        }
        if self.files >= limits::SEARCH_FILES || self.bytes >= limits::SEARCH_BYTES {
            self.ended = Some("there is too much to read");
            return;
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(folder, name, flags, Mode::empty());
        let Some((file, stat)) = opened.ok().and_then(|file| {
            let stat = fstat(&file).ok()?;
            Some((file, stat))
        }) else {
            return;
        };
        let entry = Entry {
            file,
            stat,
            floor: Floor::Open,
            real: path.clone().into(),
        };
        // What is too large or has just gone is left out, as binary files are.
        if let Ok(bytes) = files::read_bytes(entry, &path) {
            self.bytes += bytes.len() as u64;
            self.files += 1;
            self.look_into(&bytes, &path);
        }
    }

    fn look_into(&mut self, bytes: &[u8], path: &str) {
        if text::is_binary(bytes) {
            return;
        }
        let fold = |bytes: &[u8]| match self.asked.ignore_case {
            true => bytes.to_ascii_lowercase(),
            false => bytes.to_vec(),
        };
        let finder = memchr::memmem::Finder::new(&self.needle).into_owned();
        if finder.find(&fold(bytes)).is_none() {
            return;
        }
        // Only now, because it takes longer; and as a whole, because a line of a key is none.
        let text = self.redactor.redact(&String::from_utf8_lossy(bytes));
        let (bytes, haystack) = (text.as_bytes(), fold(text.as_bytes()));
        let (mut from, mut line, mut counted) = (0, 1, 0);
        while let Some(at) = haystack.get(from..).and_then(|rest| finder.find(rest)) {
            let at = from + at;
            line += memchr::memchr_iter(b'\n', bytes.get(counted..at).unwrap_or_default()).count();
            counted = at;
            let start =
                memchr::memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |it| it + 1);
            let end = memchr::memchr(b'\n', bytes.get(at..).unwrap_or_default())
                .map_or(bytes.len(), |it| at + it);
            self.found(path, line, bytes.get(start..end).unwrap_or_default());
            if self.matches >= limits::SEARCH_MATCHES {
                self.ended = Some("there are too many matches");
                return;
            }
            from = end.max(at + 1);
        }
    }

    fn found(&mut self, path: &str, line: usize, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\r');
        let shown = text
            .get(..char_floor(text, limits::MATCH_BYTES))
            .unwrap_or(text);
        let mark = if shown.len() < text.len() {
            " […]"
        } else {
            ""
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{path}:{line}:{shown}{mark}");
        self.matches += 1;
    }
}

/// Whether a name fits a pattern of letters, `*` and `?`. Linear in both.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match (pattern.get(p), name.get(n)) {
            (Some('*'), _) => {
                star = Some((p, n));
                p += 1;
            }
            (Some(wanted), Some(letter)) if *wanted == '?' || wanted == letter => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_name() {
        for (pattern, name, expected) in [
            ("*.rs", "main.rs", true),
            ("*.rs", "main.rs.bak", false),
            ("ma?n.rs", "main.rs", true),
            ("?", "", false),
            ("*", "", true),
            ("a*b*c", "aXXbYYc", true),
            ("a*b*c", "aXXcYYb", false),
            ("**a", "bba", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }

    #[test]
    fn p39_names_that_are_no_text_are_shown_without_loss() {
        assert_eq!(shown_name(OsStr::from_bytes(b"a\xffb")), "a\\xffb");
        assert_eq!(shown_name(OsStr::new("a\nb")), "a\\nb");
        assert_eq!(shown_name(OsStr::new("a\\nb")), "a\\\\nb");
        assert_eq!(shown_name(OsStr::new("grün")), "grün");
    }
}
