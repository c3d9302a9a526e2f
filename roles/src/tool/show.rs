//! Showing a file: its lines with their numbers, as many as fit, and how to go on.

use std::fmt::Write as _;
use std::io::Read as _;

use a_society_base::redact::RedactedStream;
use a_society_base::stop::StopSignal;
use a_society_facts::Hash;

use super::edit::TextPage;
use super::files::{self, InodeKind, Located, OpenEntry};
use super::output::{ShownFile, ToolOutput};
use super::refusal::CallRefusal;
use super::toolbox::Toolbox;
use super::{image, limits, text};
use crate::number::grouped;

/// Lines of a file, chosen while it goes by.
#[derive(Debug)]
struct ChosenLines {
    first: u64,
    /// The last that is wanted.
    last: u64,
    max_bytes: usize,
    /// How many lines went by.
    total: u64,
    /// The last that was taken.
    taken: u64,
    is_full: bool,
    body: String,
}

/// What a file that is read whole holds.
#[derive(Debug)]
enum FileContent {
    /// A note about it, its text as it is shown, and what it is as a whole.
    Text(String, String, ShownFile),
    /// No text.
    Other(Box<ToolOutput>),
}

impl Toolbox {
    /// The lines of a file, from one on, and at most so many; 0 if absent.
    pub(super) fn show(
        &self,
        entry: OpenEntry,
        located: &Located,
        first: u64,
        count: u64,
        stop: &StopSignal,
    ) -> Result<ToolOutput, CallRefusal> {
        let size = u64::try_from(entry.stat.st_size).unwrap_or_default();
        let is_file = files::stat_kind(&entry.stat) == InodeKind::File;
        let mut chosen = self.chosen(first, count);
        let (mut head, mut seen) = (String::new(), Vec::new());
        if entry.stat.st_nlink > 1 && is_file {
            head.push_str("[this file has other names (hard links), so it cannot be written]\n");
        }
        if is_file && size > limits::FILE_BYTES {
            self.stream(entry, located, &mut chosen, stop)?;
        } else {
            let (note, shown, known) = match self.content_of(entry, located)? {
                FileContent::Text(note, shown, known) => (note, shown, known),
                FileContent::Other(output) => return Ok(*output),
            };
            seen.push(known);
            head.push_str(&note);
            if shown.is_empty() {
                return Ok(ToolOutput {
                    seen,
                    ..ToolOutput::of(format!("{head}[empty file]"))
                });
            }
            for line in shown.split_inclusive('\n') {
                chosen.push(line);
            }
        }
        if chosen.first > chosen.total {
            return Err(files::impossible(format!(
                "{} has {} lines; offset {} is past the end.",
                located.shown, chosen.total, chosen.first
            )));
        }
        head.push_str(&chosen.head(&located.shown));
        Ok(ToolOutput {
            head,
            body: chosen.body,
            seen,
            ..ToolOutput::default()
        })
    }

    fn chosen(&self, first: u64, count: u64) -> ChosenLines {
        let setting = &self.0.setting;
        let most = setting.limits.output_lines as u64;
        let usual = if setting.is_small() {
            limits::SMALL_LINES.min(most)
        } else {
            most
        };
        let count = if count == 0 { usual } else { count.min(most) };
        ChosenLines {
            first,
            last: first.saturating_add(count - 1),
            max_bytes: setting.limits.output_bytes,
            total: 0,
            taken: 0,
            is_full: false,
            body: String::new(),
        }
    }

    fn content_of(&self, entry: OpenEntry, located: &Located) -> Result<FileContent, CallRefusal> {
        let real = entry.real.clone();
        let bytes = files::read_bytes(entry, &located.shown)?;
        let hash = Hash::of(&bytes);
        let Some(read) = text::read(&bytes) else {
            let output = self.no_text(&located.shown, bytes)?;
            return Ok(FileContent::Other(Box::new(output)));
        };
        let page = TextPage::of(&read.text);
        self.0.seen.keep(hash, &page.text);
        // Before lines are chosen and cut: a part of a secret is not recognised.
        let shown = self.redact(&page.text);
        Ok(FileContent::Text(
            read.note,
            shown,
            ShownFile { real, hash },
        ))
    }

    /// The lines of a file that is too large to be read at once.
    fn stream(
        &self,
        entry: OpenEntry,
        located: &Located,
        chosen: &mut ChosenLines,
        stop: &StopSignal,
    ) -> Result<(), CallRefusal> {
        let shown = &located.shown;
        if entry.stat.st_size as u64 > limits::STREAM_BYTES {
            return Err(files::impossible(format!(
                "{shown} is larger than {} bytes. Use a command that reads a part of it.",
                limits::STREAM_BYTES
            )));
        }
        let failed = |why| files::impossible(format!("{shown} could not be read: {why}."));
        let mut file = files::Bytes(entry.file).take(limits::STREAM_BYTES);
        let mut redacted = Some(RedactedStream::new(self.redactor()));
        let (mut step, mut held, mut line) = (Vec::new(), Vec::new(), String::new());
        // Secrets keep their lines, so that those of the file itself are counted.
        let (mut breaks, mut is_open) = (0, false);
        loop {
            step.resize(limits::STREAM_STEP_BYTES, 0);
            let read = file.read(&mut step).map_err(failed)?;
            step.truncate(read);
            if chosen.total == 0 && line.is_empty() && text::is_binary(&step) {
                return Err(files::impossible(image::about(
                    shown,
                    &step,
                    entry.stat.st_size.unsigned_abs(),
                )));
            }
            if read == 0 || stop.is_raised() {
                break;
            }
            breaks += memchr::memchr_iter(b'\n', &step).count() as u64;
            is_open = step.last() != Some(&b'\n');
            // Behind the lines that are wanted, they are only counted.
            if chosen.is_full {
                redacted = None;
                continue;
            }
            held.extend_from_slice(&step);
            let piece = whole_letters(&mut held);
            if let Some(redacted) = &mut redacted {
                line.push_str(&redacted.push(&piece));
            }
            chosen.push_lines(&mut line);
        }
        if let Some(redacted) = redacted {
            line.push_str(&redacted.finish());
            line.push_str(&String::from_utf8_lossy(&held));
            chosen.push_lines(&mut line);
            if !line.is_empty() {
                chosen.push(&line);
            }
        }
        chosen.total = breaks + u64::from(is_open);
        Ok(())
    }
}

/// The bytes as text, but for a letter that is cut at the end, which stays.
fn whole_letters(held: &mut Vec<u8>) -> String {
    let end = match std::str::from_utf8(held) {
        Ok(_) => held.len(),
        Err(why) if why.error_len().is_none() => why.valid_up_to(),
        // No text there: it is shown as what cannot be shown.
        Err(_) => held.len(),
    };
    let rest = held.split_off(end);
    let whole = std::mem::replace(held, rest);
    String::from_utf8_lossy(&whole).into_owned()
}

impl ChosenLines {
    /// Takes all whole lines out of a text.
    fn push_lines(&mut self, text: &mut String) {
        let Some(end) = text.rfind('\n') else {
            return;
        };
        let rest = text.split_off(end + 1);
        for line in text.split_inclusive('\n') {
            self.push(line);
        }
        *text = rest;
    }

    fn push(&mut self, line: &str) {
        self.total += 1;
        if self.total < self.first || self.is_full {
            return;
        }
        let line = line.trim_end_matches(['\r', '\n']);
        let start = line.char_indices().nth(limits::LINE_CHARS);
        let before = self.body.len();
        let number = self.total;
        // Writing to a string cannot fail.
        let _ = match start {
            None => writeln!(self.body, "{number}\t{line}"),
            Some((end, _)) => {
                let more = line.get(end..).map_or(0, |rest| rest.chars().count());
                let start = line.get(..end).unwrap_or(line);
                writeln!(
                    self.body,
                    "{number}\t{start}...[+{} characters]",
                    grouped(more)
                )
            }
        };
        if self.body.len() > self.max_bytes && self.taken > 0 {
            self.body.truncate(before);
            self.is_full = true;
            return;
        }
        self.taken = number;
        self.is_full = number >= self.last;
    }

    /// The note before the lines, if they are not the whole file.
    fn head(&self, shown: &str) -> String {
        if self.first == 1 && self.taken >= self.total {
            return String::new();
        }
        let next = if self.taken < self.total {
            format!("; go on with offset {}", self.taken + 1)
        } else {
            String::new()
        };
        format!(
            "[{shown}: lines {}-{} of {}{next}]\n",
            self.first, self.taken, self.total
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_that_is_cut_waits_for_its_rest() {
        let mut held = "aä".as_bytes()[..2].to_vec();
        assert_eq!(whole_letters(&mut held), "a");
        held.extend_from_slice(&"aä".as_bytes()[2..]);
        assert_eq!(whole_letters(&mut held), "ä");
        assert!(held.is_empty());
    }
}
