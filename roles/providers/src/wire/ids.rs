//! The names of calls on a wire.
//!
//! A provider gets back its own name for a call where it is known and can be used. Every other
//! call gets a name made from ours: nine letters and digits, which is what the strictest provider
//! takes, and always the same ones for the same call.

use std::collections::HashSet;

use a_society_facts::Hash;

/// How long a name is that we make. One provider takes exactly this many.
const OURS_CHARS: usize = 9;

/// Gives each call of one request its name.
#[derive(Debug, Default)]
pub(crate) struct Ids<'a> {
    /// The names of the calls that were written before.
    before: Option<&'a HashSet<String>>,
    /// Those of all others.
    own: HashSet<String>,
}

impl<'a> Ids<'a> {
    /// Goes on after calls that have these names.
    pub(crate) fn after(before: &'a HashSet<String>) -> Self {
        Self {
            before: Some(before),
            own: HashSet::new(),
        }
    }

    /// The names given here so far.
    pub(crate) fn given(&self) -> HashSet<String> {
        self.own.clone()
    }

    /// Takes a name if it is free.
    fn take(&mut self, name: &str) -> bool {
        let is_taken = self.before.is_some_and(|before| before.contains(name));
        !is_taken && self.own.insert(name.to_owned())
    }

    /// The name of a call, given the provider's own name if there is one that it would take.
    pub(super) fn assign(&mut self, ours: &str, theirs: Option<&str>) -> String {
        let mut name = theirs.map_or_else(|| made_from(ours, 0), ToOwned::to_owned);
        let mut again = 0_u32;
        while !self.take(&name) {
            again += 1;
            name = made_from(ours, again);
        }
        name
    }
}

fn made_from(ours: &str, again: u32) -> String {
    let hash = Hash::of(format!("{ours}\0{again}").as_bytes()).to_string();
    hash.chars().take(OURS_CHARS).collect()
}

/// Whether a name has only letters, digits, `_` and `-`, and is not too long for any provider.
pub(super) fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !id.is_empty() && id.len() <= 64 && id.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stable_legal_and_never_used_twice() {
        let mut ids = Ids::default();
        let first = ids.assign("1.1", None);
        assert_eq!(first, Ids::default().assign("1.1", None));
        assert!(first.len() == 9 && first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(ids.assign("1.2", Some("toolu_1")), "toolu_1");
        let again = ids.assign("1.3", Some("toolu_1"));
        assert!(again != "toolu_1" && is_plain(&again));
        assert!(!is_plain("functions.read:0") && !is_plain(""));
    }
}
