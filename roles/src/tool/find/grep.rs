//! Searching what files hold.

use std::fmt::Write as _;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use grep_matcher::Matcher as _;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::super::files::{self, Floor, InodeKind, Located, OpenEntry};
use super::super::output::{ShownFile, ToolOutput, floor as char_floor};
use super::super::refusal::CallRefusal;
use super::super::toolbox::Toolbox;
use super::super::{limits, text};
use super::notes::{ended, left_deep, nothing};
use super::pattern::PathPattern;
use super::query::Grep;
use super::walk::{FolderWalk, shown};
use crate::number::grouped;

/// A search under way.
#[derive(Debug)]
struct GrepSearch<'a> {
    tools: &'a Toolbox,
    grep: &'a Grep,
    searcher: Searcher,
    found: GrepMatches,
    files: usize,
    bytes: u64,
    too_large: usize,
    /// Why it stopped before its end.
    ended: Option<String>,
    leaves_deep: bool,
    /// The files of which lines are shown.
    seen: Vec<ShownFile>,
}

/// What was found.
#[derive(Debug, Default)]
struct GrepMatches {
    body: String,
    matches: usize,
}

impl Toolbox {
    /// Searches a file, or the files below a folder.
    pub(in super::super) fn grep(
        &self,
        entry: OpenEntry,
        located: &Located,
        grep: &Grep,
        stop: &StopSignal,
    ) -> Result<ToolOutput, CallRefusal> {
        let mut search = GrepSearch {
            tools: self,
            grep,
            searcher: grep.searcher(),
            found: GrepMatches::default(),
            files: 0,
            bytes: 0,
            too_large: 0,
            ended: None,
            leaves_deep: false,
            seen: Vec::new(),
        };
        let mut ignored = 0;
        match files::stat_kind(&entry.stat) {
            InodeKind::Folder => {
                let mut walk = FolderWalk::new(&self.0.roots, located, true, stop);
                search.folder(&entry, located, &mut walk);
                ignored = walk.ignored;
                search.ended = search.ended.or(walk.ended);
                search.leaves_deep = walk.leaves_deep;
            }
            InodeKind::File => {
                let real = entry.real.clone();
                let bytes = files::read_bytes(entry, &located.shown)?;
                search.look_into(&bytes, &located.shown, &real);
            }
            InodeKind::Link | InodeKind::Other => {
                let text = format!("{} is neither a folder nor a regular file.", located.shown);
                return Err(files::impossible(text));
            }
        }
        Ok(search.output(ignored))
    }
}

impl GrepSearch<'_> {
    fn folder(&mut self, entry: &OpenEntry, located: &Located, walk: &mut FolderWalk<'_>) {
        let (tools, base) = (self.tools, &located.rest);
        walk.run(&entry.file, &mut |step| {
            let below = step.rest.strip_prefix(base).unwrap_or(step.rest);
            let fits = |names: &PathPattern| names.fits(below) || names.fits(step.rest);
            if !self.grep.names.as_ref().is_none_or(fits)
                || tools.0.roots.floor_of(located, step.rest) >= Floor::Sensitive
            {
                return ControlFlow::Continue(());
            }
            if let Some(why) = self.too_much() {
                self.ended = Some(why);
                return ControlFlow::Break(());
            }
            let Some(file) = step.open() else {
                return ControlFlow::Continue(());
            };
            if file.stat.st_size.cast_unsigned() > limits::FILE_BYTES {
                self.too_large += 1;
                return ControlFlow::Continue(());
            }
            let path = shown(located, below);
            let real = entry.real.join(below);
            // What has just gone is left out.
            if let Ok(bytes) = files::read_bytes(file, &path) {
                self.look_into(&bytes, &path, &real);
            }
            if self.found.matches >= limits::SEARCH_COUNTED {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
    }

    fn too_much(&self) -> Option<String> {
        if self.files >= limits::SEARCH_FILES {
            return Some(format!("{} files", grouped(self.files)));
        }
        let most = limits::SEARCH_BYTES;
        (self.bytes >= most).then(|| format!("{} MiB", most / 1024 / 1024))
    }

    fn look_into(&mut self, bytes: &[u8], shown: &str, real: &Path) {
        self.files += 1;
        self.bytes += bytes.len() as u64;
        if text::is_binary(bytes) {
            return;
        }
        let plain = with_line_feeds(bytes);
        let matcher = &self.grep.expression.matcher;
        if !matcher.is_match(&plain).unwrap_or(false) {
            return;
        }
        // Only now, because it takes longer; and as a whole, because a single line of a key is not recognised.
        let text = self
            .tools
            .0
            .redactor
            .redact(&String::from_utf8_lossy(&plain));
        let before = self.found.matches;
        let mut sink = MatchedLines {
            found: &mut self.found,
            path: shown,
            files_only: self.grep.files_only,
        };
        // The sink does not fail, and neither does an expression that was read.
        let _done = (self.searcher).search_slice(matcher, text.as_bytes(), &mut sink);
        let here = self.found.matches - before;
        if here == 0 {
            return;
        }
        if self.grep.files_only {
            // Writing to a string cannot fail.
            let _ = writeln!(self.found.body, "{shown}:{here}");
        } else if before < limits::SEARCH_MATCHES {
            self.seen.push(ShownFile {
                real: real.to_owned(),
                hash: Hash::of(bytes),
            });
        }
    }

    fn output(self, ignored: usize) -> ToolOutput {
        let (found, mut tail) = (self.found, String::new());
        if found.matches == 0 {
            tail = nothing(self.files, ignored);
        }
        let most = limits::SEARCH_MATCHES;
        let is_more = !self.grep.files_only && found.matches > most;
        if is_more || found.matches >= limits::SEARCH_COUNTED {
            let shown = found.matches.min(most);
            let all = grouped(found.matches);
            // Writing to a string cannot fail.
            let _ = writeln!(
                tail,
                "[{shown} of at least {all} matches; narrow path or glob]"
            );
        }
        if self.too_large > 0 {
            let (count, most) = (grouped(self.too_large), limits::FILE_BYTES / 1024 / 1024);
            let _ = writeln!(tail, "[{count} files over {most} MiB were not searched]");
        }
        let is_cut = self.ended.is_some() || self.leaves_deep || is_more;
        if self.leaves_deep {
            tail.push_str(&left_deep());
        }
        if let Some(why) = self.ended {
            tail.push_str(&ended(&why));
        }
        ToolOutput {
            body: found.body,
            seen: self.seen,
            tail,
            is_cut,
            ..ToolOutput::default()
        }
    }
}

/// Lines that end as those of Windows do, with plain ends.
fn with_line_feeds(bytes: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if memchr::memmem::find(bytes, b"\r\n").is_none() {
        return bytes.into();
    }
    let mut plain = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => {
                plain.extend_from_slice(line);
                plain.push(b'\n');
            }
            None => plain.extend_from_slice(line),
        }
    }
    plain.into()
}

/// Writes down the matches of one file.
#[derive(Debug)]
struct MatchedLines<'a> {
    found: &'a mut GrepMatches,
    path: &'a str,
    files_only: bool,
}

impl MatchedLines<'_> {
    fn line(&mut self, mark: char, number: u64, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\n');
        let end = char_floor(text, limits::MATCH_BYTES);
        let (shown, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let _ = write!(self.found.body, "{}{mark}{number}{mark}{shown}", self.path);
        if !rest.is_empty() {
            let more = grouped(rest.chars().count());
            let _ = write!(self.found.body, "...[+{more} characters]");
        }
        self.found.body.push('\n');
    }

    /// Whether lines are written down; beyond the bound, matches are only counted.
    fn is_shown(&self) -> bool {
        !self.files_only && self.found.matches < limits::SEARCH_MATCHES
    }
}

impl Sink for MatchedLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.is_shown() {
            for (number, line) in (found.line_number().unwrap_or(1)..).zip(found.lines()) {
                self.line(':', number, line);
            }
        }
        self.found.matches += 1;
        Ok(self.found.matches < limits::SEARCH_COUNTED)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.is_shown() {
            self.line('-', near.line_number().unwrap_or(1), near.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.is_shown() {
            self.found.body.push_str("--\n");
        }
        Ok(true)
    }
}
