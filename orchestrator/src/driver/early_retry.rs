//! A request that waits for its provider is tried at once, because the operator wants it.
//!
//! Nothing is recorded of that: the record of the next request says when it was asked, and the
//! failure before it says until when it would have waited. A process that dies in between begins the
//! turn's next try when it is back, and that asks at once, too. The early request counts as every
//! other among those that may fail, so that it does not allow more requests.

use std::collections::{BTreeSet, VecDeque};

use a_society_facts::Fact;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::id::{ClientId, RoleInstance};
use a_society_facts::view::flow::FlowState;

use crate::limits::HURRIED_MAX;

/// What the operator tries before its time, as far as no record says so.
#[derive(Debug, Default)]
pub(super) struct EarlyRetries {
    /// The last commands by which a request was tried at once, by their clients' names.
    counted: VecDeque<ClientId>,
    /// The roles whose turns the operator has just retried. Their first requests do not wait for what
    /// other requests learned about their provider.
    roles: BTreeSet<RoleInstance>,
}

impl EarlyRetries {
    /// Whether a client's command counted already.
    pub(super) fn counted(&self, client: &ClientId) -> bool {
        self.counted.contains(client)
    }

    pub(super) fn count(&mut self, client: ClientId) {
        self.counted.push_back(client);
        if self.counted.len() > HURRIED_MAX {
            self.counted.pop_front();
        }
    }

    /// Remembers the role if a fact ends its wait because the operator wants it.
    pub(super) fn note(&mut self, fact: &Fact, state: &FlowState) {
        let role = if let Fact::NodeRetried(f) = fact {
            state.role_of(&f.node).filter(|_| !f.on_time)
        } else if let Fact::NodeWoken(f) = fact {
            // A role that looks back has no node; its wait is ended instead.
            let is_hurried = f.reason == WaitReason::Provider && !f.on_time;
            is_hurried.then_some(&f.role)
        } else {
            None
        };
        self.roles.extend(role.cloned());
    }

    /// Whether the first request of a role's turn is made at once. It is for one turn.
    pub(super) fn take(&mut self, role: &RoleInstance) -> bool {
        self.roles.remove(role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_counts_until_as_many_came_after_it_as_are_remembered() {
        let mut early = EarlyRetries::default();
        let client = |number: usize| format!("c{number}").parse::<ClientId>().unwrap();
        (0..HURRIED_MAX).for_each(|number| early.count(client(number)));
        assert!(early.counted(&client(0)));
        early.count(client(HURRIED_MAX));
        assert!(!early.counted(&client(0)) && early.counted(&client(1)));
    }
}
