//! The hunks of a patch in a text: each at the one place that is meant, all of them or none.

use super::Knowledge;
use super::alike::alike;
use super::apply::{Applied, matched};
use super::patch::PatchHunk;

/// Where a hunk applies, in lines.
struct HunkPlace {
    start: usize,
    end: usize,
    note: Option<String>,
}

/// The text after all hunks, or why it stays as it is.
pub(in super::super) fn patched(
    path: &str,
    text: &str,
    hunks: &[PatchHunk],
    knowledge: Knowledge,
) -> Result<Applied, String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    // The empty rest after the last line end is not a line.
    let ends = lines.last().is_some_and(|last| last.is_empty());
    if ends {
        lines.pop();
    }
    let mut placed: Vec<(HunkPlace, Vec<String>)> = Vec::new();
    let mut from = 0;
    for (number, hunk) in (1..).zip(hunks) {
        let named = format!("Hunk {number} of {} in {path}", hunks.len());
        let (place, hunk) = place(&lines, hunk, from, knowledge, &named)?;
        from = place.end;
        placed.push((place, hunk.new));
    }
    placed.sort_by_key(|(place, _)| (place.start, place.end));
    let mut applied = Applied {
        text: String::new(),
        places: placed.len(),
        notes: Vec::new(),
    };
    let (mut out, mut next): (Vec<&str>, usize) = (Vec::new(), 0);
    for (place, new) in &placed {
        if place.start < next {
            return Err(format!(
                "Two hunks in {path} change the same lines. Nothing was changed."
            ));
        }
        out.extend(lines.get(next..place.start).unwrap_or_default());
        out.extend(new.iter().map(String::as_str));
        next = place.end;
        applied.notes.extend(place.note.clone());
    }
    out.extend(lines.get(next..).unwrap_or_default());
    applied.text = out.join("\n");
    if ends && !out.is_empty() {
        applied.text.push('\n');
    }
    Ok(applied)
}

/// The place of a hunk, and the hunk as it was found there.
fn place(
    lines: &[&str],
    hunk: &PatchHunk,
    from: usize,
    knowledge: Knowledge,
    named: &str,
) -> Result<(HunkPlace, PatchHunk), String> {
    let starts = starts(lines, hunk, from);
    if !hunk.heads.is_empty() && starts.is_empty() {
        let heads: Vec<String> = hunk.heads.iter().map(|head| format!("`{head}`")).collect();
        return Err(format!(
            "{named}: no line {} to begin at. Nothing was changed.",
            heads.join(" and then ")
        ));
    }
    if hunk.old.is_empty() {
        return added(lines, hunk, &starts, named);
    }
    // A blank line at the end of a hunk often only separates it from what follows.
    let shorter = match (hunk.old.split_last(), hunk.new.split_last()) {
        (Some((last, old)), Some((same, new))) if last.is_empty() && same.is_empty() => {
            (!old.is_empty()).then(|| PatchHunk {
                old: old.to_vec(),
                new: new.to_vec(),
                ..hunk.clone()
            })
        }
        _ => None,
    };
    let is_same: [fn(&str, &str) -> bool; 2] = [
        |one, other| one == other,
        |one, other| one.trim_end() == other.trim_end(),
    ];
    let ways = if knowledge == Knowledge::Seen { 2 } else { 1 };
    for (way, is_same) in is_same.iter().take(ways).enumerate() {
        for hunk in std::iter::once(hunk).chain(shorter.as_ref()) {
            let found = found(lines, hunk, &starts, from, *is_same);
            match found.as_slice() {
                [] => {}
                [start] => {
                    let note = (way > 0).then(|| matched("but for space at ends of lines"));
                    let end = start + hunk.old.len();
                    let start = *start;
                    return Ok((HunkPlace { start, end, note }, hunk.clone()));
                }
                several => return Err(ambiguous(named, several)),
            }
        }
    }
    let alike = alike(&lines.join("\n"), &hunk.old.join("\n"));
    let alike = alike.unwrap_or_else(|| "Read it again.".to_owned());
    Err(format!(
        "{named}: no such lines. Nothing was changed. {alike}"
    ))
}

/// Where a hunk may begin at the earliest: behind its heads, wherever they are. Those behind the hunk
/// before count, or all if there are none.
fn starts(lines: &[&str], hunk: &PatchHunk, from: usize) -> Vec<usize> {
    let chain = |first: usize| {
        let mut at = first;
        for head in hunk.heads.iter().skip(1) {
            at = position(lines, head, at + 1)?;
        }
        Some(at)
    };
    let Some(head) = hunk.heads.first() else {
        return Vec::new();
    };
    let mut firsts = Vec::new();
    let mut at = 0;
    while let Some(found) = position(lines, head, at) {
        firsts.push(found);
        at = found + 1;
    }
    // Where one first line has not all the others after it, no later one has.
    let starts: Vec<usize> = firsts.into_iter().map_while(chain).collect();
    let behind: Vec<usize> = (starts.iter().copied())
        .filter(|start| *start >= from)
        .collect();
    if behind.is_empty() { starts } else { behind }
}

fn position(lines: &[&str], head: &str, from: usize) -> Option<usize> {
    let rest = lines.get(from..)?;
    let found = rest.iter().position(|line| line.trim() == head.trim())?;
    Some(from + found)
}

/// Where the lines of a hunk occur, as far as they can be meant: the first place behind each head, or
/// without one the only place there is, or those behind the hunk before.
fn found(
    lines: &[&str],
    hunk: &PatchHunk,
    starts: &[usize],
    from: usize,
    is_same: fn(&str, &str) -> bool,
) -> Vec<usize> {
    let fits = |window: &[&str]| {
        let mut pairs = window.iter().zip(&hunk.old);
        pairs.all(|(line, old)| is_same(line, old))
    };
    let all: Vec<usize> = lines
        .windows(hunk.old.len())
        .enumerate()
        .filter(|(start, window)| {
            let is_there = !hunk.is_last || start + hunk.old.len() == lines.len();
            is_there && fits(window)
        })
        .map(|(start, _)| start)
        .collect();
    if hunk.heads.is_empty() {
        let behind: Vec<usize> = (all.iter().copied()).filter(|at| *at >= from).collect();
        return if behind.is_empty() { all } else { behind };
    }
    let first = |start: &usize| all.get(all.partition_point(|at| at < start)).copied();
    let mut found: Vec<usize> = starts.iter().filter_map(first).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Lines that only come: behind the line that the hunk names, or at the end.
fn added(
    lines: &[&str],
    hunk: &PatchHunk,
    starts: &[usize],
    named: &str,
) -> Result<(HunkPlace, PatchHunk), String> {
    let at = match starts {
        [] => lines.len(),
        [head] => head + 1,
        several => return Err(ambiguous(named, several)),
    };
    let place = HunkPlace {
        start: at,
        end: at,
        note: None,
    };
    Ok((place, hunk.clone()))
}

fn ambiguous(named: &str, places: &[usize]) -> String {
    const SHOWN: usize = 10;
    let shown = places.iter().take(SHOWN);
    let mut numbers: Vec<String> = shown.map(|at| (at + 1).to_string()).collect();
    if places.len() > SHOWN {
        numbers.push("...".to_owned());
    }
    format!(
        "{named}: {} places fit, lines {}. Add context lines, or a line to find behind @@. Nothing was \
         changed.",
        places.len(),
        numbers.join(", ")
    )
}
