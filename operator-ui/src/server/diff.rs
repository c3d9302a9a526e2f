//! What differs between two versions of a file, line by line.

use std::collections::BTreeMap;
use std::path::Path;

use a_society_facts::Hash;
use a_society_facts::fact::Fact;
use a_society_facts::fact::turn::{CallEnd, CallIntended};
use a_society_facts::id::{CallId, RoleInstance, Seq, TurnId};
use a_society_state::{FlowRef, Store};

use super::authors::Authors;
use super::blocking::missing;
use super::feed_at::each_in;
use super::files;
use super::limits::{AUTHORS_MAX, DIFF_BYTES_MAX, DIFF_LINES_MAX};
use super::routes::Window;
use crate::fold::edit::{Edit, is_edit};
use crate::fold::limits::ARGUMENTS_BYTES_MAX;
use crate::fold::lines::{Bounds, compare};
use crate::hub::Hubs;
use crate::protocol::Fault;
use crate::protocol::ask::{Diff, Hunk};
use crate::protocol::http::{Author, Changes};

/// How much is compared, and how much of it is shown.
pub(super) const BOUNDS: Bounds = Bounds {
    bytes_max: DIFF_BYTES_MAX,
    // What is compared at the operator's wish may take some tens of milliseconds.
    edits_max: 2_000,
    lines_max: DIFF_LINES_MAX,
    // No more than both texts together have.
    shown_bytes_max: DIFF_BYTES_MAX * 2,
};

/// Between two versions that were handed over.
pub(super) fn between(
    hubs: &Hubs,
    flow: &FlowRef,
    window: &Window,
    project: &Path,
) -> Result<Diff, Fault> {
    let new = window.b.as_deref().ok_or_else(|| {
        missing(
            "there is nothing to compare",
            "a is the old version and b the new one",
        )
    })?;
    let text = |hash: &str| {
        let bytes = files::blob(&hubs.store, flow, hash, project)?;
        Ok::<_, Fault>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let old = window.a.as_deref().map(&text).transpose()?;
    let path = window.path.clone().unwrap_or_default();
    let found = compare(old.as_deref().unwrap_or_default(), &text(new)?, &BOUNDS);
    Ok(Diff {
        path,
        old: window.a.clone(),
        new: new.to_owned(),
        hunks: found.hunks,
        truncated: found.truncated,
    })
}

/// What is known of a file that tools changed.
#[derive(Debug, Default)]
struct Changed {
    /// The whole file before the first call, if there was one, and after the last.
    before: Option<Hash>,
    after: Option<Hash>,
    /// What the calls say they changed, one after another, and how many lines that has.
    told: Vec<Hunk>,
    lines: usize,
    /// Whether that is not all.
    cut: bool,
    /// In which turns.
    turns: Vec<TurnId>,
}

impl Changed {
    fn hear(
        &mut self,
        (before, after): (Option<Hash>, Hash),
        (turn, edit): (TurnId, Option<&Edit>),
        bounds: &Bounds,
    ) {
        if self.turns.last() != Some(&turn) {
            // The first turns stay, and the last one takes the place of the one before it.
            self.turns.truncate(AUTHORS_MAX - 1);
            self.turns.push(turn);
        }
        if self.after.is_none() {
            self.before = before;
        }
        self.after = Some(after);
        let Some(edit) = edit else {
            self.cut = true;
            return;
        };
        if edit.written().is_some() {
            // It is all there is in the file by then.
            *self = Self {
                before: self.before,
                after: self.after,
                turns: std::mem::take(&mut self.turns),
                ..Self::default()
            };
        }
        let (diff, _) = edit.compared(bounds);
        self.cut |= diff.truncated;
        for hunk in diff.hunks {
            self.lines += hunk.lines.len();
            if self.lines > bounds.lines_max {
                self.cut = true;
                return;
            }
            self.told.push(hunk);
        }
    }

    /// Of the whole file where its bytes were kept, and else as far as the calls themselves say it.
    fn diff(
        self,
        path: String,
        text: &dyn Fn(Hash) -> Option<String>,
        bounds: &Bounds,
    ) -> Option<Diff> {
        let after = self.after?;
        let old = self.before.map_or_else(|| Some(String::new()), text);
        let (hunks, truncated) = match old.zip(text(after)) {
            Some((old, new)) => {
                let found = compare(&old, &new, bounds);
                (found.hunks, found.truncated)
            }
            None => (self.told, self.cut),
        };
        Some(Diff {
            path,
            old: self.before.map(|hash| hash.to_string()),
            new: after.to_string(),
            hunks,
            truncated,
        })
    }
}

/// What tools changed in files, or what one role changed with them.
///
/// # Errors
/// When the journal cannot be read.
pub fn changed(
    store: &Store,
    flow: &FlowRef,
    role: Option<&RoleInstance>,
) -> Result<Changes, Fault> {
    changes_of(store, (flow, role), None, &BOUNDS)
}

/// What tools changed in files, from the first bytes that were seen to the last before a record.
pub(super) fn changes(
    hubs: &Hubs,
    flow: &FlowRef,
    at: Option<Seq>,
    bounds: &Bounds,
) -> Result<Changes, Fault> {
    changes_of(&hubs.store, (flow, None), at, bounds)
}

/// A change that a call is about to make.
struct Intended {
    path: String,
    hashes: (Option<Hash>, Hash),
    turn: TurnId,
    edit: Option<Edit>,
}

fn changes_of(
    store: &Store,
    (flow, whose): (&FlowRef, Option<&RoleInstance>),
    at: Option<Seq>,
    bounds: &Bounds,
) -> Result<Changes, Fault> {
    let mut files: BTreeMap<String, Changed> = BTreeMap::new();
    // A call that was denied or failed changed nothing.
    let mut open: BTreeMap<CallId, Vec<Intended>> = BTreeMap::new();
    // Only the calls of a role's last answer can begin next.
    let mut asked: BTreeMap<RoleInstance, BTreeMap<String, Box<str>>> = BTreeMap::new();
    let mut authors = Authors::default();
    each_in(store, flow, at, &mut |recorded| match recorded.fact() {
        Some(Fact::TurnStarted(_)) => authors.hear(recorded.fact()),
        Some(Fact::ModelAnswered(f)) => {
            let edits = f.calls.iter().filter(|call| {
                is_edit(&call.name) && call.input.get().len() <= ARGUMENTS_BYTES_MAX
            });
            let edits = edits.map(|call| (call.id.clone(), call.input.get().into()));
            asked.insert(f.role.clone(), edits.collect());
        }
        // The hash of a file before a call and after it is in the call's own fact.
        Some(Fact::CallIntended(f)) if whose.is_none_or(|role| *role == f.role) => {
            let input = asked.get(&f.role).and_then(|of| of.get(&f.tool_call));
            let intended = intended(f, input.map(AsRef::as_ref));
            if !intended.is_empty() {
                open.insert(f.call.clone(), intended);
            }
        }
        Some(Fact::CallFinished(f)) => {
            let intended = open.remove(&f.call).unwrap_or_default();
            // What is unknown may have happened, and is shown as well.
            let happened = matches!(f.end, CallEnd::Done | CallEnd::Recovered | CallEnd::Unknown);
            for one in intended.into_iter().filter(|_| happened) {
                let file = files.entry(one.path).or_default();
                file.hear(one.hashes, (one.turn, one.edit.as_ref()), bounds);
            }
        }
        // What its roles had made before is there as a whole: how it came to be is not known.
        Some(Fact::FlowImported(f)) if whose.is_none() => {
            for file in f.passed.iter().flat_map(|passed| &passed.files) {
                let made = files.entry(file.path.clone()).or_default();
                made.after = Some(file.blob);
            }
        }
        Some(_) | None => {}
    })?;
    let place = store.place(flow);
    let text = |hash: Hash| {
        // Between two calls of one role others may have changed the file.
        if whose.is_some() {
            return None;
        }
        if hash == Hash::of(b"") {
            return Some(String::new());
        }
        place.text_of(hash)
    };
    let by = files.iter().map(|(path, file)| {
        let turns = file.turns.iter();
        let by: Vec<Author> = turns
            .filter_map(|turn| authors.of(*turn).cloned())
            .collect();
        (path.clone(), by)
    });
    let by = by.filter(|(_, by)| !by.is_empty()).collect();
    let diffs = files.into_iter();
    let diffs: Vec<Diff> = diffs
        .filter_map(|(path, file)| file.diff(path, &text, bounds))
        .collect();
    let truncated = diffs.iter().any(|diff| diff.truncated);
    Ok(Changes {
        diffs,
        truncated,
        by,
    })
}

/// What a call is about to change, one for each file.
fn intended(f: &CallIntended, input: Option<&str>) -> Vec<Intended> {
    if let Some(after) = f.after {
        return vec![Intended {
            path: path_of(&f.summary),
            hashes: (f.before, after),
            turn: f.turn,
            edit: input.and_then(|input| Edit::of(f, input)),
        }];
    }
    let edits = input.map(|input| Edit::each(f, input)).unwrap_or_default();
    let files = f.files.iter();
    files
        .map(|change| {
            let edit = edits.iter().find(|edit| edit.path() == change.path);
            // A file that is removed is shown as one that became empty.
            let after = change.after.unwrap_or_else(|| Hash::of(b""));
            Intended {
                path: change.path.clone(),
                hashes: (change.before, after),
                turn: f.turn,
                edit: edit.cloned(),
            }
        })
        .collect()
}

/// The file that a call is about, as its summary names it.
fn path_of(summary: &str) -> String {
    let rest = summary.split_once(' ').map_or(summary, |(_, rest)| rest);
    let end = rest
        .find(" (")
        .or_else(|| rest.find(", "))
        .unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_call_is_read_from_its_summary() {
        assert_eq!(path_of("write notes/a.md (12 bytes)"), "notes/a.md");
        assert_eq!(path_of("edit src/lib.rs, 2 places"), "src/lib.rs");
    }
}
