//! Patterns in schemas: which could keep a matcher busy.
//!
//! Nothing here matches anything. A provider may, and a backtracking engine can take time that doubles
//! with each letter. A pattern that certainly does so is distinguished from one that might; the latter
//! is common in honest schemas, for example for mail addresses.

use super::limits::PATTERN_BYTES_MAX;

/// What may be done with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It may be handed on.
    Fine,
    /// It is left out: it might take long, or it is too long itself.
    Doubtful,
    /// A repetition of nothing but repetitions, which has no honest use.
    Trap,
}

/// An open group, and what was found in it so far.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    /// Something in it repeats.
    repeats: bool,
    /// It offers a choice.
    has_choice: bool,
    /// Something in it occurs exactly once.
    has_fixed: bool,
    /// What was read last and may still be followed by how often.
    last: Option<Atom>,
}

/// Something that may be repeated.
#[derive(Debug, Clone, Copy)]
enum Atom {
    Letter,
    Closed {
        repeats: bool,
        has_choice: bool,
        has_fixed: bool,
    },
}

impl Group {
    /// The last atom occurs exactly once.
    fn settle(&mut self) {
        match self.last.take() {
            None => {}
            Some(Atom::Letter) => self.has_fixed = true,
            Some(Atom::Closed {
                repeats,
                has_choice,
                has_fixed,
            }) => {
                self.repeats |= repeats;
                self.has_choice |= has_choice;
                self.has_fixed |= has_fixed;
            }
        }
    }

    /// The last atom may occur many times.
    fn repeat(&mut self) -> Judgement {
        self.repeats = true;
        match self.last.take() {
            Some(Atom::Closed {
                repeats: true,
                has_choice: false,
                has_fixed: false,
            }) => Judgement::Trap,
            Some(Atom::Closed {
                repeats,
                has_choice,
                ..
            }) if repeats || has_choice => Judgement::Doubtful,
            Some(Atom::Closed { .. } | Atom::Letter) | None => Judgement::Fine,
        }
    }

    /// The last atom may be absent.
    fn skip(&mut self) {
        if let Some(Atom::Closed {
            repeats,
            has_choice,
            ..
        }) = self.last.take()
        {
            self.repeats |= repeats;
            self.has_choice |= has_choice;
        }
    }

    fn closed(mut self) -> Atom {
        self.settle();
        Atom::Closed {
            repeats: self.repeats,
            has_choice: self.has_choice,
            has_fixed: self.has_fixed,
        }
    }
}

/// Judges a pattern by its shape.
pub(super) fn judge(pattern: &str) -> Judgement {
    let mut worst = Judgement::Fine;
    if pattern.len() > PATTERN_BYTES_MAX {
        worst = Judgement::Doubtful;
    }
    let mut outer: Vec<Group> = Vec::new();
    let mut group = Group::default();
    let mut letters = pattern.chars().take(PATTERN_BYTES_MAX).peekable();
    while let Some(letter) = letters.next() {
        let mut judged = Judgement::Fine;
        match letter {
            '(' => {
                group.settle();
                outer.push(std::mem::take(&mut group));
                if letters.next_if_eq(&'?').is_some() {
                    // What kind of group it is, and perhaps its name.
                    letters
                        .by_ref()
                        .find(|letter| matches!(letter, ':' | '=' | '!' | '>'));
                }
            }
            ')' => {
                let closed = group.closed();
                group = outer.pop().unwrap_or_default();
                group.last = Some(closed);
            }
            '|' => {
                group.settle();
                group.has_choice = true;
            }
            '*' | '+' | '{' => {
                judged = group.repeat();
                if letter == '{' {
                    letters.by_ref().find(|letter| *letter == '}');
                }
            }
            '?' => group.skip(),
            '^' | '$' => group.settle(),
            _ => {
                group.settle();
                if is_reference_back(letter, letters.peek()) {
                    judged = Judgement::Doubtful;
                }
                pass(letter, &mut letters);
                group.last = Some(Atom::Letter);
            }
        }
        worst = worse(worst, judged);
    }
    worst
}

fn is_reference_back(letter: char, next: Option<&char>) -> bool {
    letter == '\\' && next.is_some_and(|next| matches!(next, '1'..='9' | 'k'))
}

/// Reads what belongs to an atom that has more than one letter.
fn pass(letter: char, letters: &mut impl Iterator<Item = char>) {
    if letter == '\\' {
        letters.next();
    }
    if letter != '[' {
        return;
    }
    while let Some(letter) = letters.next() {
        match letter {
            ']' => return,
            '\\' => drop(letters.next()),
            _ => {}
        }
    }
}

fn worse(one: Judgement, other: Judgement) -> Judgement {
    match (one, other) {
        (Judgement::Trap, _) | (_, Judgement::Trap) => Judgement::Trap,
        (Judgement::Doubtful, _) | (_, Judgement::Doubtful) => Judgement::Doubtful,
        (Judgement::Fine, Judgement::Fine) => Judgement::Fine,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn traps_are_told_from_what_honest_schemas_hold() {
        let mail = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
        let long = "a".repeat(PATTERN_BYTES_MAX + 1);
        let table = [
            ("^(a+)+$", Judgement::Trap),
            ("^(?:a*)*$", Judgement::Trap),
            ("(([a-z])+)+", Judgement::Trap),
            ("(?<x>a+)+b", Judgement::Trap),
            ("(\\d+){2,}", Judgement::Trap),
            ("(a+b?)+", Judgement::Trap),
            ("((x*)y)+", Judgement::Doubtful),
            ("^(a|aa)*$", Judgement::Doubtful),
            ("(x)\\1", Judgement::Doubtful),
            ("^[a-z0-9]+(?:-[a-z0-9]+)*$", Judgement::Doubtful),
            (mail, Judgement::Doubtful),
            (&long, Judgement::Doubtful),
            ("^\\d{4}-\\d{2}-\\d{2}(T[0-9:]+)?$", Judgement::Fine),
            ("^[(a+)+]*$", Judgement::Fine),
            ("^(GET|POST)$", Judgement::Fine),
            ("\\(a+\\)+", Judgement::Fine),
            ("^(abc){3}$", Judgement::Fine),
            ("", Judgement::Fine),
        ];
        for (pattern, judged) in table {
            assert_eq!(judge(pattern), judged, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn a_repetition_of_repetitions_is_a_trap_wherever_it_stands(
            before in "[a-z]{0,5}", inner in "[a-z]", after in "[a-z]{0,5}",
            one in "[+*]", other in "[+*]",
        ) {
            let pattern = format!("^{before}({inner}{one}){other}{after}$");
            prop_assert_eq!(judge(&pattern), Judgement::Trap);
        }

        #[test]
        fn every_text_is_judged(pattern in ".{0,60}") {
            let again = judge(&pattern);
            prop_assert_eq!(judge(&pattern), again);
        }
    }
}
