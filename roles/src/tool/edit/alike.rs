//! The place of a text that is most like one that was not found.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::limits::ALIKE_LINES;

/// The lines that are most like a text, with their numbers; nothing if none is.
pub(in super::super) fn alike(text: &str, wanted: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = wanted
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .collect();
    let count = wanted.len().clamp(1, ALIKE_LINES);
    let start = by_equal_lines(&lines, &wanted).or_else(|| by_words(&lines, &wanted))?;
    let end = (start + count).min(lines.len());
    let mut out = format!("Most alike, lines {}-{end}:", start + 1);
    for (number, line) in (start + 1..).zip(lines.get(start..end)?) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{number}\t{line}");
    }
    Some(out)
}

/// A line without its space, so that it is found however it is indented.
fn bare(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where most of the lines are, of which some are equal but for space.
fn by_equal_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let wanted: Vec<String> = wanted
        .iter()
        .take(ALIKE_LINES)
        .map(|line| bare(line))
        .collect();
    let lines: Vec<String> = lines.iter().map(|line| bare(line)).collect();
    let mut best = (0, 0);
    for start in 0..lines.len() {
        let window = lines.iter().skip(start).zip(&wanted);
        let equal = window
            .filter(|(line, wanted)| line == wanted && line.chars().any(char::is_alphanumeric))
            .count();
        if equal > best.0 {
            best = (equal, start);
        }
    }
    (best.0 > 0).then_some(best.1)
}

/// The line that shares the most words with the longest of the wanted ones.
fn by_words(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (at, longest) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(_, line)| line.trim().len())?;
    let words = |line: &str| -> BTreeSet<String> {
        line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| word.chars().count() > 1)
            .map(str::to_owned)
            .collect()
    };
    let wanted = words(longest);
    let shared = |line: &str| words(line).intersection(&wanted).count();
    let scored = lines
        .iter()
        .enumerate()
        .map(|(at, line)| (shared(line), at));
    let (score, found) = scored.max_by_key(|(score, at)| (*score, usize::MAX - at))?;
    (score > 0).then(|| found.saturating_sub(at))
}
