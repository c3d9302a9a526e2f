//! What differs between two texts, line by line.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, TextDiff};

use super::limits::COMPARE_TIME;
use super::words;
use crate::protocol::ask::{DiffLine, Hunk, Op};

/// How many lines that stay are shown around those that do not.
const AROUND: usize = 3;

/// How much is compared, and how much of it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The largest text of which differences are looked for.
    pub bytes_max: usize,
    /// The largest number of lines that only one of the texts has; beyond it they have little in common,
    /// and one is shown after the other.
    pub edits_max: usize,
    /// How many lines are shown.
    pub lines_max: usize,
    /// How many bytes of them.
    pub shown_bytes_max: usize,
}

/// What differs, and how much.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Compared {
    /// Where the texts differ, as far as it is shown.
    pub hunks: Vec<Hunk>,
    /// Whether there is more than is shown.
    pub truncated: bool,
    /// How many lines come and how many go; absent if the texts were too long to look.
    pub counts: Option<(u64, u64)>,
}

/// What differs, in places with a few lines around each.
pub(crate) fn compare(old: &str, new: &str, bounds: &Bounds) -> Compared {
    if old.len() > bounds.bytes_max || new.len() > bounds.bytes_max {
        return Compared {
            truncated: true,
            ..Compared::default()
        };
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let script = script(&old, &new, bounds.edits_max);
    let count = |wanted: Op| script.iter().filter(|(op, _, _)| *op == wanted).count() as u64;
    let counts = Some((count(Op::Add), count(Op::Remove)));
    let mut room = DiffRoom {
        lines: bounds.lines_max,
        bytes: bounds.shown_bytes_max,
        is_full: false,
    };
    let mut hunks = Vec::new();
    for part in places(&script) {
        hunks.extend(hunk(part, &old, &new, &mut room));
        if room.is_full {
            break;
        }
    }
    Compared {
        hunks,
        truncated: room.is_full,
        counts,
    }
}

/// The parts of a way in which something changes, each with a few lines around.
fn places(script: &[Edit]) -> Vec<&[Edit]> {
    let mut places = Vec::new();
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
        places.push(script.get(start..end).unwrap_or_default());
        place = end;
    }
    places
}

/// One line of the way from one text to the other: what happens, and the place in both.
type Edit = (Op, usize, usize);

/// How much may still be shown.
struct DiffRoom {
    lines: usize,
    bytes: usize,
    is_full: bool,
}

impl DiffRoom {
    /// As much of a line as there is room for; nothing when there is none.
    fn take<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        let shown = words::beginning(line, self.bytes);
        self.is_full |= self.lines == 0 || shown.len() < line.len();
        if self.lines == 0 || (shown.is_empty() && !line.is_empty()) {
            return None;
        }
        self.lines -= 1;
        self.bytes -= shown.len();
        Some(shown)
    }
}

fn hunk(part: &[Edit], old: &[&str], new: &[&str], room: &mut DiffRoom) -> Option<Hunk> {
    let (_, old_start, new_start) = *part.first()?;
    let mut lines = Vec::new();
    for (op, at_old, at_new) in part {
        let line = match op {
            Op::Keep | Op::Remove => old.get(*at_old),
            Op::Add => new.get(*at_new),
        };
        let Some(text) = room.take(line.copied().unwrap_or_default()) else {
            break;
        };
        lines.push(DiffLine {
            op: *op,
            text: text.to_owned(),
        });
        if room.is_full {
            break;
        }
    }
    (!lines.is_empty()).then_some(Hunk {
        old_start: old_start as u64 + 1,
        new_start: new_start as u64 + 1,
        lines,
    })
}

/// The way from one text to the other: what both begin and end with stays, and between them the shortest
/// way is looked for, unless too many lines are in only one of them.
fn script(old: &[&str], new: &[&str], edits_max: usize) -> Vec<Edit> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let (end_old, end_new) = (old.len() - tail, new.len() - tail);
    let mid_old = old.get(head..end_old).unwrap_or_default();
    let mid_new = new.get(head..end_new).unwrap_or_default();
    let mut script: Vec<Edit> = (0..head).map(|at| (Op::Keep, at, at)).collect();
    if edits_at_least(mid_old, mid_new) > edits_max {
        extend(&mut script, Op::Remove, head, head, mid_old.len());
        extend(&mut script, Op::Add, end_old, head, mid_new.len());
    } else {
        for op in shortest(mid_old, mid_new) {
            let (_, old, new) = op.as_tag_tuple();
            let (at_old, at_new) = (head + old.start, head + new.start);
            if let DiffOp::Equal { .. } = op {
                extend(&mut script, Op::Keep, at_old, at_new, old.len());
            } else {
                extend(&mut script, Op::Remove, at_old, at_new, old.len());
                extend(&mut script, Op::Add, head + old.end, at_new, new.len());
            }
        }
    }
    extend(&mut script, Op::Keep, end_old, end_new, tail);
    script
}

/// So many lines to which the same happens, from these places on.
fn extend(script: &mut Vec<Edit>, op: Op, old: usize, new: usize, lines: usize) {
    script.extend((0..lines).map(|line| match op {
        Op::Keep => (op, old + line, new + line),
        Op::Remove => (op, old + line, new),
        Op::Add => (op, old, new + line),
    }));
}

/// Myers' way, which only texts that hold the same lines in another order can make long.
fn shortest(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut compare = TextDiff::configure();
    compare.algorithm(Algorithm::Myers).timeout(COMPARE_TIME);
    compare.diff_slices(old, new).ops().to_vec()
}

/// How many lines at least come and go: those that one of the texts has more often than the other.
fn edits_at_least(old: &[&str], new: &[&str]) -> usize {
    let mut more: BTreeMap<&str, isize> = BTreeMap::new();
    for line in old {
        *more.entry(line).or_default() += 1;
    }
    for line in new {
        *more.entry(line).or_default() -= 1;
    }
    more.values().map(|count| count.unsigned_abs()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIDE: Bounds = Bounds {
        bytes_max: 1 << 20,
        edits_max: 2_000,
        lines_max: 4_000,
        shown_bytes_max: 1 << 20,
    };

    fn applied(old: &[&str], new: &[&str]) -> (Vec<String>, Vec<String>) {
        let script = script(old, new, 100);
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

        #[test]
        fn no_way_is_shorter_than_the_one_that_is_taken(
            old in proptest::collection::vec("[abc]", 0..14),
            new in proptest::collection::vec("[abc]", 0..14),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let taken = script(&old, &new, 100);
            let kept = taken.iter().filter(|(op, _, _)| *op == Op::Keep).count();
            // The longest text that both hold, by the table of every pair of places.
            let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
            for (a, one) in old.iter().enumerate() {
                for (b, other) in new.iter().enumerate() {
                    table[a + 1][b + 1] = if one == other {
                        table[a][b] + 1
                    } else {
                        table[a][b + 1].max(table[a + 1][b])
                    };
                }
            }
            prop_assert_eq!(kept, table[old.len()][new.len()]);
        }
    }

    #[test]
    fn a_place_is_shown_with_a_few_lines_around_it() {
        let old: String = (0..40).map(|n| format!("line {n}\n")).collect();
        let new = old
            .replace("line 20\n", "line twenty\n")
            .replace("line 39\n", "");
        let found = compare(&old, &new, &WIDE);
        assert!(!found.truncated);
        assert_eq!(found.counts, Some((1, 2)));
        let shown: Vec<(u64, u64, usize)> = found
            .hunks
            .iter()
            .map(|hunk| (hunk.old_start, hunk.new_start, hunk.lines.len()))
            .collect();
        assert_eq!(shown, [(18, 18, 8), (37, 37, 4)]);
    }

    #[test]
    fn equal_texts_have_no_places() {
        for text in ["a\nb\n", ""] {
            let found = compare(text, text, &WIDE);
            assert_eq!(
                (found.hunks, found.truncated, found.counts),
                (vec![], false, Some((0, 0)))
            );
        }
    }

    #[test]
    fn what_is_longer_than_the_room_is_cut_and_says_so() {
        let new: String = (0..9).map(|n| format!("line {n}\n")).collect();
        for (lines_max, shown_bytes_max, lines, last) in [
            (9, 100, 9, "line 8"),
            (8, 100, 8, "line 7"),
            (9, 15, 3, "lin"),
            (9, 12, 2, "line 1"),
            (9, 54, 9, "line 8"),
        ] {
            let bounds = Bounds {
                lines_max,
                shown_bytes_max,
                ..WIDE
            };
            let found = compare("", &new, &bounds);
            let shown: Vec<&str> = (found.hunks.iter())
                .flat_map(|hunk| &hunk.lines)
                .map(|line| line.text.as_str())
                .collect();
            assert_eq!((shown.len(), shown.last()), (lines, Some(&last)));
            assert_eq!(found.truncated, last != "line 8");
            assert_eq!(found.counts, Some((9, 0)), "it counts what it cuts");
        }
        let small = Bounds {
            bytes_max: 3,
            ..WIDE
        };
        let found = compare("", "four", &small);
        assert!(found.truncated && found.hunks.is_empty() && found.counts.is_none());
    }
}
