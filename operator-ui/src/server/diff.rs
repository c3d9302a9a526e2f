//! What differs between two versions of a file, line by line.

use std::collections::BTreeMap;

use a_society_facts::Hash;
use a_society_facts::fact::Fact;
use a_society_state::{FlowRef, blob as blobs};

use super::app::Shared;
use super::blocking::missing;
use super::feed_at::each_upto;
use super::files;
use super::limits::{DIFF_BYTES_MAX, DIFF_LINES_MAX};
use super::routes::Window;
use crate::protocol::Fault;
use crate::protocol::ask::{Diff, DiffLine, Hunk, Op};
use crate::protocol::http::Changes;

/// How many lines that stay are shown around those that do not.
const AROUND: usize = 3;

/// The largest number of differences that are looked for; beyond it the texts have little in common.
const EDITS_MAX: usize = 2_000;

/// Between two versions that were handed over.
pub(super) fn between(app: &Shared, flow: &FlowRef, window: &Window) -> Result<Diff, Fault> {
    let new = window.b.as_deref().ok_or_else(|| {
        missing(
            "there is nothing to compare",
            "a is the old version and b the new one",
        )
    })?;
    let text = |hash: &str| {
        let bytes = files::blob(app, flow, hash)?;
        Ok::<_, Fault>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let old = window.a.as_deref().map(&text).transpose()?;
    let path = window.path.clone().unwrap_or_default();
    let (hunks, truncated) = hunks(old.as_deref().unwrap_or_default(), &text(new)?);
    Ok(Diff {
        path,
        old: window.a.clone(),
        new: new.to_owned(),
        hunks,
        truncated,
    })
}

/// What tools changed in files, from the first bytes that were seen to the last.
pub(super) fn changes(app: &Shared, flow: &FlowRef) -> Result<Changes, Fault> {
    // The hash of a file before a call and after it is in the call's own fact.
    let mut ends: BTreeMap<String, (Option<Hash>, Hash)> = BTreeMap::new();
    each_upto(app, flow, None, &mut |recorded| {
        if let Some(Fact::CallIntended(f)) = recorded.fact()
            && let Some(after) = f.after
        {
            let path = path_of(&f.summary);
            ends.entry(path)
                .and_modify(|(_, last)| *last = after)
                .or_insert((f.before, after));
        }
    })?;
    let folder = app.hubs.store.folder(flow);
    let disk = app.hubs.store.ground().disk.as_ref();
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
        let (hunks, cut) = match (&known, unknown) {
            (Some(new), false) => hunks(old.as_deref().unwrap_or_default(), new),
            _ => (Vec::new(), true),
        };
        truncated |= cut;
        Diff {
            path,
            old: before.map(|hash| hash.to_string()),
            new: after.to_string(),
            hunks,
            truncated: cut,
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

/// What differs, in places with a few lines around each.
pub(super) fn hunks(old: &str, new: &str) -> (Vec<Hunk>, bool) {
    if old.len() > DIFF_BYTES_MAX || new.len() > DIFF_BYTES_MAX {
        return (Vec::new(), true);
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut hunks = Vec::new();
    let mut lines = 0;
    let script = script(&old, &new);
    let mut place = 0;
    while place < script.len() {
        let Some(first) = script
            .iter()
            .skip(place)
            .position(|(op, _, _)| *op != Op::Keep)
        else {
            break;
        };
        let first = place + first;
        let start = first.saturating_sub(AROUND).max(place);
        let mut end = first;
        let mut quiet = 0;
        while let Some((op, _, _)) = script.get(end) {
            quiet = if *op == Op::Keep { quiet + 1 } else { 0 };
            if quiet > AROUND * 2 {
                quiet -= 1;
                break;
            }
            end += 1;
        }
        let end = end
            .saturating_sub(quiet.saturating_sub(AROUND))
            .max(first + 1);
        let part = script.get(start..end).unwrap_or_default();
        lines += part.len();
        if lines > DIFF_LINES_MAX {
            return (hunks, true);
        }
        hunks.extend(hunk(part, &old, &new));
        place = end;
    }
    (hunks, false)
}

/// One line of the way from one text to the other: what happens, and where both stand.
type Edit = (Op, usize, usize);

fn hunk(part: &[Edit], old: &[&str], new: &[&str]) -> Option<Hunk> {
    let (_, old_start, new_start) = *part.first()?;
    let lines = part.iter().map(|(op, at_old, at_new)| DiffLine {
        op: *op,
        text: match op {
            Op::Keep | Op::Remove => old.get(*at_old),
            Op::Add => new.get(*at_new),
        }
        .map_or_else(String::new, |line| (*line).to_owned()),
    });
    Some(Hunk {
        old_start: old_start as u64 + 1,
        new_start: new_start as u64 + 1,
        lines: lines.collect(),
    })
}

/// The way from one text to the other, by Myers: what both begin and end with stays, and between them
/// the shortest way is looked for, as long as it is not too long.
fn script(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let mid_old = old.get(head..old.len() - tail).unwrap_or_default();
    let mid_new = new.get(head..new.len() - tail).unwrap_or_default();
    let mut script: Vec<Edit> = (0..head).map(|at| (Op::Keep, at, at)).collect();
    let middle = shortest(mid_old, mid_new).unwrap_or_else(|| replaced(mid_old, mid_new));
    script.extend(
        middle
            .into_iter()
            .map(|(op, a, b)| (op, a + head, b + head)),
    );
    let (from_old, from_new) = (old.len() - tail, new.len() - tail);
    script.extend((0..tail).map(|at| (Op::Keep, from_old + at, from_new + at)));
    script
}

fn replaced(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let gone = (0..old.len()).map(|at| (Op::Remove, at, 0));
    let come = (0..new.len()).map(|at| (Op::Add, old.len(), at));
    gone.chain(come).collect()
}

/// Myers' greedy way. Nothing if it would take too many edits.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    let (n, m) = (old.len(), new.len());
    let most = (n + m).min(EDITS_MAX);
    // The furthest place on each diagonal, diagonals counted from `-most`.
    let mut far = vec![0_usize; 2 * most + 2];
    let mut trace = Vec::new();
    for edits in 0..=most {
        trace.push(far.clone());
        for step in 0..=edits {
            let k = most + 2 * step - edits;
            let below = far.get(k.wrapping_sub(1)).copied().unwrap_or(0);
            let above = far.get(k + 1).copied().unwrap_or(0);
            let down = step == 0 || (step != edits && below < above);
            let mut x = if down { above } else { below + 1 };
            let Some(mut y) = (x + most).checked_sub(k) else {
                continue;
            };
            while x < n && y < m && old.get(x) == new.get(y) {
                x += 1;
                y += 1;
            }
            if let Some(place) = far.get_mut(k) {
                *place = x;
            }
            if x >= n && y >= m {
                return Some(back(&trace, most, (n, m)));
            }
        }
    }
    None
}

/// Walks the trace back from the end.
fn back(trace: &[Vec<usize>], most: usize, (mut x, mut y): (usize, usize)) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (count, far) in trace.iter().enumerate().rev() {
        let k = x + most - y.min(x + most);
        let below = far.get(k.wrapping_sub(1)).copied().unwrap_or(0);
        let above = far.get(k + 1).copied().unwrap_or(0);
        let lowest = most.checked_sub(count) == Some(k);
        let highest = most + count == k;
        let down = lowest || (!highest && below < above);
        let from_x = if down { above } else { below };
        let from_k = if down { k + 1 } else { k.wrapping_sub(1) };
        let from_y = (from_x + most).saturating_sub(from_k);
        while x > from_x
            && y > from_y
            && (count == 0 || x > from_x + usize::from(!down) || y > from_y + usize::from(down))
        {
            x -= 1;
            y -= 1;
            edits.push((Op::Keep, x, y));
        }
        if count == 0 {
            while x > 0 && y > 0 {
                x -= 1;
                y -= 1;
                edits.push((Op::Keep, x, y));
            }
            break;
        }
        if down {
            y = y.saturating_sub(1);
            edits.push((Op::Add, x, y));
        } else {
            x = x.saturating_sub(1);
            edits.push((Op::Remove, x, y));
        }
    }
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn applied(old: &[&str], new: &[&str]) -> (Vec<String>, Vec<String>) {
        let script = script(old, new);
        let left = script.iter().filter(|(op, _, _)| *op != Op::Add);
        let right = script.iter().filter(|(op, _, _)| *op != Op::Remove);
        (
            left.map(|(_, at, _)| old[*at].to_owned()).collect(),
            right
                .map(|(op, at_old, at_new)| match op {
                    Op::Add => new[*at_new].to_owned(),
                    Op::Keep | Op::Remove => old[*at_old].to_owned(),
                })
                .collect(),
        )
    }

    proptest! {
        #[test]
        fn the_way_leads_from_the_old_text_to_the_new_one(
            old in proptest::collection::vec("[abc]", 0..14),
            new in proptest::collection::vec("[abc]", 0..14),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let (left, right) = applied(&old, &new);
            prop_assert_eq!(left, old);
            prop_assert_eq!(right, new);
        }
    }

    #[test]
    fn a_place_is_shown_with_a_few_lines_around_it() {
        let old: String = (0..40).map(|n| format!("line {n}\n")).collect();
        let new = old
            .replace("line 20\n", "line twenty\n")
            .replace("line 39\n", "");
        let (hunks, truncated) = hunks(&old, &new);
        assert!(!truncated);
        let shown: Vec<(u64, u64, usize)> = hunks
            .iter()
            .map(|hunk| (hunk.old_start, hunk.new_start, hunk.lines.len()))
            .collect();
        assert_eq!(shown, [(18, 18, 8), (37, 37, 4)]);
    }

    #[test]
    fn equal_texts_have_no_places() {
        assert_eq!(hunks("a\nb\n", "a\nb\n"), (vec![], false));
        assert_eq!(hunks("", ""), (vec![], false));
    }

    #[test]
    fn the_file_of_a_call_is_read_from_its_summary() {
        assert_eq!(path_of("write notes/a.md (12 bytes)"), "notes/a.md");
        assert_eq!(path_of("edit src/lib.rs, 2 places"), "src/lib.rs");
    }
}
