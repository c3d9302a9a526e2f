//! Which messages of a session one message replaces that keeps the first and the last of them.
//!
//! The cut before the last ones moves back, and never forward: the last message of a person stays, and so does a call
//! with its results. The cut behind the first ones moves forward for the same reason. So at least as many stay as are
//! to stay.

use std::ops::Range;

use a_society_facts::fact::session::{CompactionWish, Origin, Strategy};
use a_society_facts::message::Message;
use a_society_facts::view::session::SessionEntry;
use a_society_facts::view::session::SessionView;

use super::limits::{BYTES_A_TOKEN, COMPACTED_KEEP_LAST};

/// What a message is for a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CutPlace {
    /// Whether it is the result of a call before it.
    is_result: bool,
    /// Whether a person or another role said it.
    is_of_person: bool,
}

/// The messages that are replaced; nothing if all stay, or if they fill less than is to be compacted.
pub(super) fn replaced(session: &SessionView, wish: &CompactionWish) -> Option<Range<usize>> {
    let messages = &session.messages;
    if wish.strategy == Strategy::NodeSummary {
        return Some(0..messages.len());
    }
    if wish
        .token_threshold
        .is_some_and(|least| tokens(session) < least)
    {
        return None;
    }
    let place = |entry: &SessionEntry| CutPlace {
        is_result: matches!(*entry.message, Message::ToolResult { .. }),
        is_of_person: is_of_person(entry),
    };
    let places: Vec<CutPlace> = messages.iter().map(place).collect();
    let count = |wanted: u64| usize::try_from(wanted).unwrap_or(usize::MAX);
    let last = wish.keep_last.unwrap_or(COMPACTED_KEEP_LAST);
    between(&places, count(wish.keep_first), count(last))
}

/// What lies between the first and the last messages that stay.
fn between(places: &[CutPlace], first: usize, last: usize) -> Option<Range<usize>> {
    let splits = |at: usize| places.get(at).is_some_and(|place| place.is_result);
    let mut start = first.min(places.len());
    while splits(start) {
        start += 1;
    }
    let mut end = places.len().saturating_sub(last);
    if let Some(said) = places.iter().rposition(|place| place.is_of_person) {
        end = end.min(said);
    }
    while end > start && splits(end) {
        end -= 1;
    }
    (start < end).then_some(start..end)
}

/// Whether a person or another role said it: what repairs, continues or replaces something is of the program.
pub(super) fn is_of_person(entry: &SessionEntry) -> bool {
    let is_user = matches!(*entry.message, Message::User { .. });
    is_user
        && !matches!(
            entry.origin,
            Some(Origin::Repair | Origin::Continuation | Origin::Runtime | Origin::Injection)
        )
}

/// How much a session fills: as its provider counted, or as its size suggests.
fn tokens(session: &SessionView) -> u64 {
    if session.latest_context_usage > 0 {
        return session.latest_context_usage;
    }
    let bytes: u64 = session
        .messages
        .iter()
        .map(SessionEntry::approx_bytes)
        .sum();
    bytes / BYTES_A_TOKEN
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: CutPlace = CutPlace {
        is_result: false,
        is_of_person: true,
    };
    const ROLE: CutPlace = CutPlace {
        is_result: false,
        is_of_person: false,
    };
    const RESULT: CutPlace = CutPlace {
        is_result: true,
        is_of_person: false,
    };

    #[test]
    fn a_cut_moves_so_that_more_stay() {
        let table = [
            // A person, an answer, a person, a call, its result: the call stays with the result.
            (vec![PERSON, ROLE, PERSON, ROLE, RESULT], 0, 1, Some(0..2)),
            (vec![PERSON, ROLE, PERSON, ROLE, RESULT], 0, 3, Some(0..2)),
            (
                vec![PERSON, ROLE, RESULT, RESULT, ROLE, PERSON],
                2,
                1,
                Some(4..5),
            ),
            (
                vec![PERSON, ROLE, RESULT, RESULT, ROLE, PERSON],
                0,
                3,
                Some(0..1),
            ),
            // All of it is one request of a person.
            (vec![PERSON, ROLE, RESULT, ROLE, RESULT], 0, 1, None),
            (vec![PERSON, ROLE, PERSON], 1, 2, None),
            (vec![], 0, 0, None),
        ];
        for (places, first, last, expected) in table {
            assert_eq!(
                between(&places, first, last),
                expected,
                "{places:?} {first} {last}"
            );
        }
    }

    #[test]
    fn no_cut_of_any_session_leaves_a_result_without_its_call_or_drops_what_a_person_said_last() {
        let kinds = [PERSON, ROLE, RESULT];
        for length in 0..=6_usize {
            for number in 0..3_usize.pow(u32::try_from(length).unwrap()) {
                let places: Vec<CutPlace> = (0..length)
                    .map(|at| kinds[number / 3_usize.pow(u32::try_from(at).unwrap()) % 3])
                    .collect();
                let said = places.iter().rposition(|place| place.is_of_person);
                for (first, last) in
                    (0..=length).flat_map(|one| (0..=length).map(move |two| (one, two)))
                {
                    let Some(span) = between(&places, first, last) else {
                        continue;
                    };
                    let told = format!("{places:?} {first} {last} {span:?}");
                    assert!(
                        span.start >= first && places.len() - span.end >= last,
                        "{told}"
                    );
                    assert!(said.is_none_or(|said| !span.contains(&said)), "{told}");
                    assert!(!places[span.start].is_result, "{told}");
                    let after = places.get(span.end);
                    assert!(after.is_none_or(|place| !place.is_result), "{told}");
                }
            }
        }
    }
}
