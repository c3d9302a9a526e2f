//! Who wrote what: turns are numbered through a flow, and people count those of one role.

use std::collections::BTreeMap;

use a_society_facts::fact::Fact;
use a_society_facts::id::{RoleInstance, TurnId};

use crate::protocol::http::Author;

/// The turns that began, each with its role and the number that it has among its role's turns.
#[derive(Debug, Default)]
pub(super) struct Authors {
    taken: BTreeMap<RoleInstance, u64>,
    of: BTreeMap<TurnId, Author>,
}

impl Authors {
    /// Takes the next fact.
    pub(super) fn hear(&mut self, fact: Option<&Fact>) {
        let Some(Fact::TurnStarted(f)) = fact else {
            return;
        };
        // A turn that is tried again is the same turn.
        if self.of.contains_key(&f.turn) {
            return;
        }
        let taken = self.taken.entry(f.role.clone()).or_default();
        *taken += 1;
        let author = Author {
            role: f.role.to_string(),
            turn: *taken,
        };
        self.of.insert(f.turn, author);
    }

    /// Who took a turn, if it began in this journal.
    pub(super) fn of(&self, turn: TurnId) -> Option<&Author> {
        self.of.get(&turn)
    }
}
