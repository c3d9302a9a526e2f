//! Edits of a text: each at the one place that is meant, all of them or none.

use std::ops::Range;

use super::alike::alike;

/// One edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct TextEdit {
    /// What is there.
    pub old: String,
    /// What takes its place.
    pub new: String,
    /// Whether every occurrence is changed.
    pub all: bool,
}

/// Whether the text was shown as it is. Only then is a place looked for that is not the very text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Knowledge {
    Seen,
    Unseen,
}

/// A text after its edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Applied {
    pub text: String,
    /// How many places were changed.
    pub places: usize,
    /// How places were found that are not the very text.
    pub notes: Vec<String>,
}

/// Places that were found, and how.
struct FoundPlaces {
    /// In their order.
    places: Vec<Range<usize>>,
    /// What takes their place.
    new: String,
    note: Option<String>,
}

/// The text after all edits, or why it stays as it is.
pub(in super::super) fn apply(
    path: &str,
    text: &str,
    edits: &[TextEdit],
    knowledge: Knowledge,
) -> Result<Applied, String> {
    let mut applied = Applied {
        text: text.to_owned(),
        places: 0,
        notes: Vec::new(),
    };
    for (number, edit) in (1..).zip(edits) {
        if edit.old == edit.new {
            return Err(format!(
                "Edit {number}: old_string and new_string are the same. Nothing was changed."
            ));
        }
        let found =
            exact(&applied.text, edit, number)?.or_else(|| lenient(&applied.text, edit, knowledge));
        let found = match found {
            Some(found) if found.places.len() == 1 || found.note.is_none() => found,
            Some(found) => return Err(several(&applied.text, &found.places, number)),
            None => return Err(none(path, &applied.text, edit, number, edits.len())),
        };
        applied.text = replaced(&applied.text, &found);
        applied.places += found.places.len();
        applied.notes.extend(found.note);
    }
    Ok(applied)
}

fn replaced(text: &str, found: &FoundPlaces) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for place in &found.places {
        out.push_str(text.get(from..place.start).unwrap_or_default());
        out.push_str(&found.new);
        from = place.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The very text.
fn exact(text: &str, edit: &TextEdit, number: usize) -> Result<Option<FoundPlaces>, String> {
    let places = places_of(text, &edit.old);
    let places = match places.as_slice() {
        [] => return Ok(None),
        [_] => places,
        _ if edit.all => text
            .match_indices(edit.old.as_str())
            .map(|(at, old)| at..at + old.len())
            .collect(),
        places => return Err(several(text, places, number)),
    };
    Ok(Some(FoundPlaces {
        places,
        new: edit.new.clone(),
        note: None,
    }))
}

/// Where a text occurs, overlapping places included: each of them could be the one that is meant.
fn places_of(text: &str, old: &str) -> Vec<Range<usize>> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let (mut places, mut from) = (Vec::new(), 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        places.push(from + at..from + at + old.len());
        from += at + step;
    }
    places
}

/// What is the text but for line numbers that were copied with it, for space at ends of lines, or
/// for one indentation. A blank text would match anywhere, and so is not searched.
fn lenient(text: &str, edit: &TextEdit, knowledge: Knowledge) -> Option<FoundPlaces> {
    let has_words = edit.old.chars().any(char::is_alphanumeric);
    if knowledge == Knowledge::Unseen || !has_words {
        return None;
    }
    let Some(old) = without_numbers(&edit.old) else {
        return shifted(text, &edit.old, &edit.new);
    };
    let new = without_numbers(&edit.new).unwrap_or_else(|| edit.new.clone());
    let note = "without the line numbers";
    let places = places_of(text, &old);
    if !places.is_empty() {
        return Some(FoundPlaces {
            places,
            new,
            note: Some(matched(note)),
        });
    }
    let found = shifted(text, &old, &new)?;
    Some(FoundPlaces {
        note: found
            .note
            .map(|_| matched(&format!("{note} and with other space"))),
        ..found
    })
}

pub(super) fn matched(how: &str) -> String {
    format!("[matched {how}; look at it]")
}

/// A text without the numbers that precede its lines when they are shown; nothing if a line has none.
fn without_numbers(text: &str) -> Option<String> {
    let bare = |line: &str| -> Option<String> {
        let (number, rest) = line.split_once('\t')?;
        let number = number.trim_start();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| rest.to_owned())
    };
    let (body, end) = match text.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (text, ""),
    };
    let lines: Option<Vec<String>> = body.split('\n').map(bare).collect();
    Some(lines?.join("\n") + end)
}

/// How the lines of a place differ from those that were wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shift {
    /// Not in their indentation.
    None,
    /// The place has this before each line.
    More(String),
    /// The place lacks this before each line.
    Less(String),
}

/// Whole lines that differ only in space at their ends or by one indentation.
fn shifted(text: &str, old: &str, new: &str) -> Option<FoundPlaces> {
    let (body, has_end) = match old.strip_suffix('\n') {
        Some(body) => (body, true),
        None => (old, false),
    };
    let wanted: Vec<&str> = body.split('\n').collect();
    let lines = line_places(text);
    let mut found: Option<FoundPlaces> = None;
    for window in lines.windows(wanted.len()) {
        let lines = window.iter().map(|line| text.get(line.clone()));
        let Some(shift) = shift_of(lines.map(Option::unwrap_or_default), &wanted) else {
            continue;
        };
        let (Some(first), Some(last)) = (window.first(), window.last()) else {
            continue;
        };
        let (start, end) = (first.start, last.end);
        let has_break = text.get(end..).is_some_and(|rest| rest.starts_with('\n'));
        let place = start..if has_end && has_break { end + 1 } else { end };
        match &mut found {
            Some(found) => found.places.push(place),
            None => {
                found = Some(FoundPlaces {
                    places: vec![place],
                    new: moved(new, &shift)?,
                    note: Some(noted(&shift)),
                });
            }
        }
    }
    found
}

fn noted(shift: &Shift) -> String {
    match shift {
        Shift::None => matched("but for space at ends of lines"),
        Shift::More(by) | Shift::Less(by) => matched(&format!(
            "after shifting the indentation by {}",
            by.chars().count()
        )),
    }
}

/// Where all lines are, without their breaks.
fn line_places(text: &str) -> Vec<Range<usize>> {
    let (mut places, mut start) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        places.push(start..start + bare.len());
        start += line.len();
    }
    places
}

/// The one shift by which all lines are the wanted ones, if there is one.
fn shift_of<'a>(lines: impl Iterator<Item = &'a str>, wanted: &[&str]) -> Option<Shift> {
    let mut shift: Option<Shift> = None;
    for (line, wanted) in lines.zip(wanted) {
        let (line, wanted) = (line.trim_end(), wanted.trim_end());
        if line.is_empty() && wanted.is_empty() {
            continue;
        }
        let now = if line == wanted {
            Shift::None
        } else if let Some(more) = line.strip_suffix(wanted) {
            Shift::More(blank(more)?)
        } else {
            Shift::Less(blank(wanted.strip_suffix(line)?)?)
        };
        if line.is_empty() || wanted.is_empty() || shift.as_ref().is_some_and(|it| *it != now) {
            return None;
        }
        shift = Some(now);
    }
    shift
}

fn blank(text: &str) -> Option<String> {
    text.chars()
        .all(char::is_whitespace)
        .then(|| text.to_owned())
}

/// A text with the same shift; nothing if a line cannot be shifted so.
fn moved(text: &str, shift: &Shift) -> Option<String> {
    let lines = text.split('\n').map(|line| match shift {
        Shift::None => Some(line.to_owned()),
        Shift::More(_) | Shift::Less(_) if line.trim().is_empty() => Some(line.to_owned()),
        Shift::More(by) => Some(format!("{by}{line}")),
        Shift::Less(by) => line.strip_prefix(by.as_str()).map(str::to_owned),
    });
    let lines: Option<Vec<String>> = lines.collect();
    Some(lines?.join("\n"))
}

fn several(text: &str, places: &[Range<usize>], number: usize) -> String {
    const SHOWN: usize = 10;
    let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let mut lines: Vec<String> = places
        .iter()
        .take(SHOWN)
        .map(|place| line(place.start).to_string())
        .collect();
    if places.len() > SHOWN {
        lines.push("...".to_owned());
    }
    format!(
        "Edit {number}: {} matches, lines {}. Add lines around the one you mean, or set \
         replace_all. Nothing was changed.",
        places.len(),
        lines.join(", ")
    )
}

fn none(path: &str, text: &str, edit: &TextEdit, number: usize, of: usize) -> String {
    let alike = alike(text, &edit.old);
    let alike = alike.unwrap_or_else(|| "Read it again.".to_owned());
    format!("Edit {number} of {of}: no such text in {path}. Nothing was changed. {alike}")
}
