//! What differs between two versions of a file, line by line.

use std::collections::BTreeMap;

use a_society_facts::Hash;
use a_society_facts::fact::Fact;
use a_society_state::{FlowRef, blob as blobs};

use super::blocking::missing;
use super::feed_at::each_upto;
use super::files;
use super::limits::{DIFF_BYTES_MAX, DIFF_LINES_MAX};
use super::routes::Window;
use crate::fold::lines::{Bounds, Compared, compare};
use crate::hub::Hubs;
use crate::protocol::Fault;
use crate::protocol::ask::Diff;
use crate::protocol::http::Changes;

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
pub(super) fn between(hubs: &Hubs, flow: &FlowRef, window: &Window) -> Result<Diff, Fault> {
    let new = window.b.as_deref().ok_or_else(|| {
        missing(
            "there is nothing to compare",
            "a is the old version and b the new one",
        )
    })?;
    let text = |hash: &str| {
        let bytes = files::blob(hubs, flow, hash)?;
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

/// What tools changed in files, from the first bytes that were seen to the last.
pub(super) fn changes(hubs: &Hubs, flow: &FlowRef, bounds: &Bounds) -> Result<Changes, Fault> {
    // The hash of a file before a call and after it is in the call's own fact.
    let mut ends: BTreeMap<String, (Option<Hash>, Hash)> = BTreeMap::new();
    each_upto(hubs, flow, None, &mut |recorded| {
        if let Some(Fact::CallIntended(f)) = recorded.fact()
            && let Some(after) = f.after
        {
            let path = path_of(&f.summary);
            ends.entry(path)
                .and_modify(|(_, last)| *last = after)
                .or_insert((f.before, after));
        }
    })?;
    let folder = hubs.store.folder(flow);
    let disk = hubs.store.ground().disk.as_ref();
    let text = |hash: Hash| {
        let bytes = blobs::get(disk, &folder, hash).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut truncated = false;
    let diffs = ends.into_iter().map(|(path, (before, after))| {
        let old = before.and_then(text);
        let known = text(after);
        // Bytes that were never kept cannot be shown; that the file changed can be.
        let unknown = known.is_none() || (before.is_some() && old.is_none());
        let found = match (&known, unknown) {
            (Some(new), false) => compare(old.as_deref().unwrap_or_default(), new, bounds),
            _ => Compared {
                truncated: true,
                ..Compared::default()
            },
        };
        truncated |= found.truncated;
        Diff {
            path,
            old: before.map(|hash| hash.to_string()),
            // Nobody can read what was not kept, so that nobody is told where it would be.
            new: if unknown {
                String::new()
            } else {
                after.to_string()
            },
            hunks: found.hunks,
            truncated: found.truncated,
        }
    });
    let diffs: Vec<Diff> = diffs.collect();
    Ok(Changes { diffs, truncated })
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
