//! The nearest known name to one that is not known, for "did you mean".

use std::cell::Cell;

use a_society_yaml::edit_distance;

use super::limits::MAX_HINT_COMPARISONS;

/// Finds near names, and stops looking when one file has asked for too much.
#[derive(Debug)]
pub(super) struct Nearest {
    comparisons_left: Cell<usize>,
}

impl Default for Nearest {
    fn default() -> Self {
        Self {
            comparisons_left: Cell::new(MAX_HINT_COMPARISONS),
        }
    }
}

impl Nearest {
    /// The candidate that needs the fewest edits, when it is near enough to be what was meant.
    pub(super) fn of<'c>(
        &self,
        wrong: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        let wrong = folded(wrong);
        // A third of the letters may differ: `reviwe` is `review`, `cat` is not `dog`, and a name
        // of one or two letters is near nothing but itself.
        let most_edits = wrong.len() / 3;
        let mut best: Option<(usize, &'c str)> = None;
        for candidate in candidates {
            let left = self.comparisons_left.get();
            if left == 0 {
                break;
            }
            self.comparisons_left.set(left - 1);
            let candidate_folded = folded(candidate);
            if candidate_folded.len().abs_diff(wrong.len()) > most_edits {
                continue;
            }
            let edits = edit_distance(&wrong, &candidate_folded);
            if edits <= most_edits && best.is_none_or(|(fewest, _)| edits < fewest) {
                best = Some((edits, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// The same as a finished hint.
    pub(super) fn did_you_mean<'c>(
        &self,
        wrong: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<String> {
        self.of(wrong, candidates)
            .map(|near| format!("did you mean `{near}`?"))
    }
}

/// Of these names the one that was probably meant, for what is looked up elsewhere than in a file.
pub fn nearest<'c>(wrong: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    Nearest::default().of(wrong, candidates)
}

/// Case, `-` and `_` are what people mix up, so they cost nothing. Long names are compared by
/// their beginnings, which keeps one comparison cheap.
fn folded(text: &str) -> Vec<char> {
    const COMPARED_CHARS: usize = 64;
    text.chars()
        .take(COMPARED_CHARS)
        .map(|letter| {
            if letter == '_' {
                '-'
            } else {
                letter.to_ascii_lowercase()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let names = ["review", "writer", "human-colab", "id"];
        let table = [
            ("reviwe", Some("review")),
            ("human_colab", Some("human-colab")),
            ("humanColab", Some("human-colab")),
            ("Writer", Some("writer")),
            ("ID", Some("id")),
            ("banana", None),
            ("ix", None),
            ("", None),
        ];
        for (wrong, near) in table {
            assert_eq!(Nearest::default().of(wrong, names), near, "{wrong:?}");
        }
    }

    #[test]
    fn a_file_full_of_mistakes_gets_hints_until_its_share_is_used_up() {
        let half = MAX_HINT_COMPARISONS / 2;
        let names: Vec<String> = (0..half).map(|number| format!("n{number:06}")).collect();
        let nearest = Nearest::default();
        let ask = || nearest.of("n00000x", names.iter().map(String::as_str));
        assert_eq!(ask(), Some("n000000"));
        assert_eq!(ask(), Some("n000000"));
        assert_eq!(ask(), None);
    }
}
