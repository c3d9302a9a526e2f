//! The decision table once more, written as plainly as can be and without the code it checks:
//! slow, whole values, one segment only.

use serde_json::Value;

/// What the table says about a journal of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It ends with a record, or holds nothing at all.
    Sound,
    /// From this byte on it may be cut, by this row.
    Cut(&'static str, usize),
    /// It may only be read, by this row.
    ReadOnly(&'static str),
}

/// A ruling, and how many records precede its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ruled {
    pub(crate) ruling: Ruling,
    pub(crate) good: u64,
}

struct Plain {
    value: Value,
    crc: u32,
}

impl Plain {
    fn number(&self, name: &str) -> u64 {
        self.value[name].as_u64().unwrap()
    }

    fn prev(&self) -> u32 {
        u32::from_str_radix(self.value["prev"].as_str().unwrap(), 16).unwrap()
    }
}

/// A line without its newline, if its checksum fits.
fn plain(line: &[u8]) -> Option<Plain> {
    let text = std::str::from_utf8(line).ok()?;
    let (body, end) = text.rsplit_once(",\"crc\":\"")?;
    let digits = end.strip_suffix("\"}")?;
    let lower = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if digits.len() != 8 || !digits.chars().all(lower) {
        return None;
    }
    let crc = u32::from_str_radix(digits, 16).ok()?;
    let value = serde_json::from_str(text).ok()?;
    (crc32c::crc32c(body.as_bytes()) == crc).then_some(Plain { value, crc })
}

/// Rules over a journal of one segment.
pub(crate) fn rule(bytes: &[u8], flow: &str, evidence: u64) -> Ruled {
    let mut good = 0;
    let mut crc = 0;
    let mut at = 0;
    let read_only = |row, good| Ruled {
        ruling: Ruling::ReadOnly(row),
        good,
    };
    while at < bytes.len() {
        let newline = bytes[at..].iter().position(|b| *b == b'\n');
        let line = newline.and_then(|length| plain(&bytes[at..at + length]));
        let (Some(line), Some(length)) = (line, newline) else {
            let ruling = bad(&bytes[at..], at, good + 1, evidence);
            return Ruled { ruling, good };
        };
        if line.number("v") != 1 {
            return read_only("R12", good);
        }
        if let Some(row) = misfit(&line, at == 0, flow, (good, crc)) {
            return read_only(row, good);
        }
        good += 1;
        crc = line.crc;
        at += length + 1;
    }
    if evidence > good {
        return read_only(if good == 0 { "R7" } else { "R5" }, good);
    }
    Ruled {
        ruling: Ruling::Sound,
        good,
    }
}

fn misfit(line: &Plain, first: bool, flow: &str, (seq, crc): (u64, u32)) -> Option<&'static str> {
    let is_header = line.value["fact"] == "segment_started";
    if is_header != first {
        return Some("R9");
    }
    if first && line.number("format") != 1 {
        return Some("R12");
    }
    let ours = !first || (line.value["flow"] == flow && line.number("segment") == 1);
    let follows =
        line.number("seq") == seq + 1 && line.prev() == crc && line.number("durable") <= seq;
    (!ours || !follows).then_some("R9")
}

/// Rules over what does not verify, from its first byte to the end of the file.
fn bad(bytes: &[u8], at: usize, expected: u64, evidence: u64) -> Ruling {
    let zeros = |bytes: &[u8]| bytes.iter().all(|b| *b == 0);
    let newline = bytes.iter().position(|b| *b == b'\n');
    let after = newline.map_or(&[][..], |end| &bytes[end + 1..]);
    let valid: Vec<Plain> = after
        .split_inclusive(|b| *b == b'\n')
        .filter_map(|line| line.strip_suffix(b"\n"))
        .filter_map(plain)
        .collect();
    let later_knew = valid.iter().any(|line| line.number("durable") >= expected);
    if evidence >= expected || later_knew {
        let emptied = at == 0 && zeros(bytes);
        return Ruling::ReadOnly(if emptied { "R7" } else { "R5" });
    }
    if newline.is_none() && !zeros(bytes) {
        return Ruling::Cut("R2", at);
    }
    let mut sectors = (0..at + bytes.len()).step_by(512).filter_map(|start| {
        let from = start.max(at) - at;
        let to = (start + 512).checked_sub(at)?.min(bytes.len());
        (from < to).then(|| &bytes[from..to])
    });
    if sectors.any(zeros) || bytes.last() == Some(&0) {
        return Ruling::Cut("R3", at);
    }
    if !valid.is_empty() {
        return Ruling::Cut("R4", at);
    }
    if after.is_empty() {
        return Ruling::Cut("R6", at);
    }
    Ruling::ReadOnly("R5")
}
