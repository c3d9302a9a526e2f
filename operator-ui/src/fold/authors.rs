//! Who wrote what: turns are numbered through a flow, and people count those of one role.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::id::{RoleInstance, TurnId};

use crate::protocol::http::Author;

/// The turns that began, each with its role and the number that it has among its role's turns.
#[derive(Debug, Default)]
pub(crate) struct Authors {
    taken: BTreeMap<RoleInstance, u64>,
    of: BTreeMap<TurnId, Author>,
}

impl Authors {
    /// Takes the next fact.
    pub(crate) fn hear(&mut self, fact: Option<&Fact>) {
        let Some(Fact::TurnStarted(f)) = fact else {
            return;
        };
        // A turn that is tried again is the same turn, and a summary does not count among its role's.
        if f.cause.is_aside() || self.of.contains_key(&f.turn) {
            return;
        }
        let taken = self.taken.entry(f.role.clone()).or_default();
        *taken += 1;
        let author = Author {
            role: f.role.to_string(),
            turn: *taken,
            node: None,
            allowed: None,
        };
        self.of.insert(f.turn, author);
    }

    /// Who took a turn, if it began in this journal.
    pub(crate) fn of(&self, turn: TurnId) -> Option<&Author> {
        self.of.get(&turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_between_two_turns_does_not_count_among_them() {
        let mut authors = Authors::default();
        for (turn, cause) in [(1, "node"), (2, "compaction"), (3, "node")] {
            let line = format!(
                r#"{{"fact":"turn_started","turn":{turn},"attempt":1,"role":"writer","node":"draft","cause":"{cause}"}}"#
            );
            let fact = Fact::read("turn_started", line.as_bytes())
                .unwrap()
                .unwrap();
            authors.hear(Some(&fact));
        }
        let number = |turn: u64| authors.of(TurnId(turn)).map(|author| author.turn);
        assert_eq!(number(1), Some(1));
        assert_eq!(number(2), None);
        assert_eq!(number(3), Some(2));
    }
}
