//! What health checks find wrong with a project: what its roles are to mend, and what was wrong before
//! they came.

use std::fmt::Write as _;
use std::path::Path;

use a_society_flow::graph::Diagnostic;
use a_society_state::disk::Disk;

use super::folder;
use crate::limits::{AILMENT_BYTES_MAX, AILMENTS_SHOWN_MAX};

/// Something that is wrong with a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ailment {
    /// The file from the project folder and what is wrong, without a line number: it stays the same
    /// while other parts of the file change.
    pub what: String,
    /// The same with its place, for the person who corrects it.
    pub shown: String,
}

/// Everything that is wrong with a project.
pub(crate) fn ailments(disk: &dyn Disk, project: &Path) -> Vec<Ailment> {
    let (_, found) = folder::inspect(disk, project);
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
    errors.map(|error| ailment(project, error)).collect()
}

fn ailment(project: &Path, error: &Diagnostic) -> Ailment {
    let file = Path::new(&error.file);
    let file = file.strip_prefix(project).unwrap_or(file).display();
    let mut what = format!("{file}: {}", error.message);
    what.truncate(what.floor_char_boundary(AILMENT_BYTES_MAX));
    Ailment {
        what,
        shown: error.to_string(),
    }
}

/// What was wrong before, and what is new. Without an earlier check, everything counts as older.
pub(crate) fn apart(
    found: Vec<Ailment>,
    before: Option<&[String]>,
) -> (Vec<Ailment>, Vec<Ailment>) {
    let is_older = |ailment: &Ailment| before.is_none_or(|before| before.contains(&ailment.what));
    found.into_iter().partition(is_older)
}

/// What a role has to correct before it closes.
///
/// # Errors
/// Says all that is wrong.
pub(crate) fn fault(found: &[Ailment]) -> Result<(), String> {
    if found.is_empty() {
        return Ok(());
    }
    let shown: Vec<&str> = found.iter().map(|ailment| ailment.shown.as_str()).collect();
    Err(shown.join("\n"))
}

/// What the operator is asked about what was wrong before the flow came here.
pub(crate) fn question(older: &[Ailment]) -> String {
    let mut text =
        "The project's health checks fail for reasons that are older than this flow here:\n"
            .to_owned();
    for ailment in older.iter().take(AILMENTS_SHOWN_MAX) {
        let _written = writeln!(text, "- {}", ailment.what);
    }
    if let Some(more) = older
        .len()
        .checked_sub(AILMENTS_SHOWN_MAX)
        .filter(|more| *more > 0)
    {
        let _written = writeln!(text, "- and {more} more; `a-society check` lists them");
    }
    text.push_str(
        "Close the forward work all the same? Answer with what the role is to do: to close it, or what \
         to do first. You are asked this once; to stop here instead, cancel the flow.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ailing(what: &str) -> Ailment {
        Ailment {
            what: what.to_owned(),
            shown: format!("error: {what}"),
        }
    }

    #[test]
    fn what_was_wrong_before_is_told_from_what_is_new() {
        let found = || vec![ailing("a"), ailing("b")];
        let before = ["b".to_owned(), "c".to_owned()];
        for (before, older, newer) in [
            (None, vec!["a", "b"], vec![]),
            (Some(&[][..]), vec![], vec!["a", "b"]),
            (Some(&before[..]), vec!["b"], vec!["a"]),
        ] {
            let (is_older, is_newer) = apart(found(), before);
            let names = |list: Vec<Ailment>| list.into_iter().map(|it| it.what).collect::<Vec<_>>();
            assert_eq!(
                (names(is_older), names(is_newer)),
                (
                    older.into_iter().map(str::to_owned).collect(),
                    newer.into_iter().map(str::to_owned).collect(),
                )
            );
        }
    }

    #[test]
    fn a_question_about_many_ailments_names_some_and_counts_the_others() {
        let many: Vec<Ailment> = (0..AILMENTS_SHOWN_MAX + 3)
            .map(|n| ailing(&n.to_string()))
            .collect();
        let text = question(&many);
        assert!(text.contains("and 3 more"), "{text}");
        assert!(!question(&many[..1]).contains("more;"));
    }
}
