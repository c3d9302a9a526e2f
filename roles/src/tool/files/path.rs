//! A path as a model wrote it, taken apart.

use std::path::PathBuf;

use super::super::form::clipped;
use super::super::limits::PATH_BYTES;
use super::super::refusal::{CallRefusal, RefusalKind};

/// A path within one of the folders that are open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Located {
    /// The folder, by its place in the list.
    pub root: usize,
    /// The path from there: plain names only, or nothing for the folder itself.
    pub rest: PathBuf,
    /// The path as models and the operator read it.
    pub shown: String,
}

/// How the flow's shared folder is called in paths.
pub(super) const RECORD: &str = "record";

/// A path as it is written, in plain names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParsedPath {
    /// From the flow's shared folder. A folder of this name that the project itself has is written
    /// `./record`.
    Record(Vec<String>),
    /// From the project.
    Relative(Vec<String>),
    /// From the root of the system.
    Absolute(Vec<String>),
}

/// Takes a path apart. Nothing is trimmed and nothing is guessed: the bytes that are judged are
/// those that are used.
pub(super) fn parse(text: &str) -> Result<ParsedPath, CallRefusal> {
    if text.is_empty() {
        return Err(bad("The path is empty."));
    }
    if text.len() > PATH_BYTES {
        return Err(bad(format!("The path is longer than {PATH_BYTES} bytes.")));
    }
    if text.chars().any(char::is_control) {
        return Err(bad("The path has a control character in it."));
    }
    if text == "~" || text.starts_with("~/") || is_foreign(text) {
        return Err(unreached(text));
    }
    let (is_absolute, mut names) = (text.starts_with('/'), Vec::new());
    let mut is_record = text.split('/').next() == Some(RECORD);
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                if names.pop().is_none() {
                    return Err(unreached(text));
                }
                is_record &= !names.is_empty();
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok(if is_record {
        names.remove(0);
        ParsedPath::Record(names)
    } else if is_absolute {
        ParsedPath::Absolute(names)
    } else {
        ParsedPath::Relative(names)
    })
}

/// Drive letters, shares and addresses.
fn is_foreign(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_drive =
        matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    has_drive || text.contains("://") || text.starts_with("\\\\")
}

/// The refusal of a path that leads to nothing that may be used.
pub(super) fn unreached(text: &str) -> CallRefusal {
    out_of_reach(format!(
        "Out of reach: {}. Paths start at the project folder; record/ is the flow's shared folder.",
        clipped(text)
    ))
}

fn bad(text: impl Into<String>) -> CallRefusal {
    CallRefusal::new(RefusalKind::Arguments, text)
}

pub(super) fn out_of_reach(text: impl Into<String>) -> CallRefusal {
    CallRefusal::new(RefusalKind::OutOfReach, text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn p21_names_are_taken_byte_for_byte() {
        for text in [
            "file.txt ",
            " file.txt",
            "file.txt.",
            "\"file\"",
            "a:b",
            "-rf",
            "ＡＢ",
        ] {
            assert_eq!(parse(text), Ok(ParsedPath::Relative(vec![text.to_owned()])));
        }
    }

    #[test]
    fn paths_that_cannot_mean_a_file_here_are_refused_before_anything_is_opened() {
        for (id, text) in [
            ("", ""),
            ("P01", "../outside.txt"),
            ("P01", "a/../../outside.txt"),
            ("P05", "~/.ssh/id_rsa"),
            ("P05", "~"),
            ("P29", "~/.profile"),
            ("P33", "C:\\Windows\\x"),
            ("P33", "c:/x"),
            ("P33", "\\\\server\\share"),
            ("P33", "file:///etc/passwd"),
            ("P33", "a/http://x/y"),
            ("", "a\0b"),
            ("", "a\nb"),
            ("", "a\u{9b}b"),
        ] {
            assert!(parse(text).is_err(), "{id} {text:?}");
        }
    }

    #[test]
    fn the_shared_folder_is_meant_only_where_a_path_begins_with_its_name() {
        let names = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        for (text, expected) in [
            ("record", ParsedPath::Record(names(&[]))),
            ("record/", ParsedPath::Record(names(&[]))),
            ("record/a.md", ParsedPath::Record(names(&["a.md"]))),
            ("record//./a.md", ParsedPath::Record(names(&["a.md"]))),
            ("record/x/../a.md", ParsedPath::Record(names(&["a.md"]))),
            (
                "record/record/a",
                ParsedPath::Record(names(&["record", "a"])),
            ),
            (
                "./record/a.md",
                ParsedPath::Relative(names(&["record", "a.md"])),
            ),
            (
                "a/../record/b",
                ParsedPath::Relative(names(&["record", "b"])),
            ),
            ("record/..", ParsedPath::Relative(names(&[]))),
            (
                "record/../record/b",
                ParsedPath::Relative(names(&["record", "b"])),
            ),
            ("Record/a", ParsedPath::Relative(names(&["Record", "a"]))),
            ("records/a", ParsedPath::Relative(names(&["records", "a"]))),
            ("/record/a", ParsedPath::Absolute(names(&["record", "a"]))),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        assert!(parse("record/../../a").is_err());
    }

    #[test]
    fn what_leads_out_is_refused_in_one_line_that_says_where_paths_start() {
        let refused = parse("../x").unwrap_err();
        assert_eq!(
            refused.text,
            "Out of reach: ../x. Paths start at the project folder; record/ is the flow's shared \
             folder."
        );
    }

    proptest! {
        #[test]
        fn what_is_left_has_only_plain_names(text in "(record)?(/|\\.|\\.\\.|[a-z ]){0,12}") {
            let (Ok(ParsedPath::Relative(names)) | Ok(ParsedPath::Absolute(names))
                | Ok(ParsedPath::Record(names))) = parse(&text)
            else {
                return Ok(());
            };
            for name in names {
                prop_assert!(!name.is_empty() && name != "." && name != ".." && !name.contains('/'));
            }
        }
    }
}
