//! Names like that of a file that is missing.

use std::ffi::OsStr;
use std::path::Path;

use a_society_yaml::edit_distance;

use super::super::limits::{CLOSE_NAMES, LIST_LOOKED_AT};
use super::super::refusal::CallRefusal;
use super::floor::Floor;
use super::open::{entries, impossible, open_read};
use super::path::{Located, RECORD};
use super::roots::Roots;

/// The longest name that is compared.
const NAME_CHARS: usize = 128;

/// The refusal of a file that is not there, with up to three that are and have a name like it.
pub(in super::super) fn missing(roots: &Roots, located: &Located) -> CallRefusal {
    let close = close(roots, located);
    let mut text = format!("No file {}.", located.shown);
    if !close.is_empty() {
        text = format!("{text} Close: {}.", close.join(", "));
    }
    impossible(text)
}

fn close(roots: &Roots, located: &Located) -> Vec<String> {
    let mut found: Vec<String> = elsewhere(roots, &located.shown).into_iter().collect();
    let Some(name) = located.rest.file_name().and_then(OsStr::to_str) else {
        return found;
    };
    let above = located.rest.parent().unwrap_or(Path::new(""));
    let shown = |name: &str| match Path::new(&located.shown).parent() {
        Some(above) if !above.as_os_str().is_empty() => format!("{}/{name}", above.display()),
        _ => name.to_owned(),
    };
    let folder = Located {
        root: located.root,
        rest: above.to_owned(),
        shown: String::new(),
    };
    let Ok(folder) = open_above(roots, &folder) else {
        return found;
    };
    let Ok((names, _)) = entries(&folder, LIST_LOOKED_AT) else {
        return found;
    };
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .filter_map(|other| other.to_str())
        .filter(|other| !other.chars().any(a_society_base::text::misleads))
        .filter_map(|other| Some((distance(name, other)?, other)))
        .collect();
    near.sort_unstable();
    found.extend(near.into_iter().map(|(_, other)| shown(other)));
    found.truncate(CLOSE_NAMES);
    found
}

fn open_above(roots: &Roots, folder: &Located) -> Result<std::os::fd::OwnedFd, CallRefusal> {
    // A missing folder has nothing in it that could be close, and asks no further.
    if folder.rest.as_os_str().is_empty() || super::open::is_there(roots, folder) {
        let entry = open_read(roots, folder)?;
        if entry.floor == Floor::Open {
            return Ok(entry.file);
        }
    }
    Err(impossible(String::new()))
}

/// The same path in the flow's shared folder, or in the project's own folder of that name.
fn elsewhere(roots: &Roots, shown: &str) -> Option<String> {
    let other = if shown == RECORD || shown.starts_with("record/") {
        format!("./{shown}")
    } else {
        format!(
            "{RECORD}/{}",
            shown.strip_prefix("./record/").unwrap_or(shown)
        )
    };
    let located = roots.locate(&other).ok()?;
    super::open::is_there(roots, &located).then_some(located.shown)
}

/// How many letters two names differ in; nothing if they are not alike.
fn distance(one: &str, other: &str) -> Option<usize> {
    let fold = |name: &str| -> Vec<char> { name.to_lowercase().chars().take(NAME_CHARS).collect() };
    let (one, other) = (fold(one), fold(other));
    let most = 1 + one.len() / 4;
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let letters = edit_distance(&one, &other);
    (letters <= most).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_close_that_differ_in_few_letters() {
        for (one, other, expected) in [
            ("mian.rs", "main.rs", Some(1)),
            ("README.md", "readme.md", Some(0)),
            ("main.rs", "main.rs.bak", None),
            ("a", "b", Some(1)),
            ("notes.md", "plan.md", None),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }
}
