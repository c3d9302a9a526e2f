//! Which sessions a role may read: those of its own flow, of the flow that it was forked from, and of the forks
//! of its own flow.

use std::collections::BTreeMap;

use a_society_facts::id::FlowId;

/// Which flow each fork comes from.
pub(super) type FlowParents = BTreeMap<FlowId, FlowId>;

/// Whether a role of one flow may read the sessions of another of the same project. A flow that is not known
/// sees nothing.
pub(super) fn sees(asking: &FlowId, other: &FlowId, parents: &FlowParents) -> bool {
    asking == other || parents.get(asking) == Some(other) || descends(other, asking, parents)
}

fn descends(from: &FlowId, ancestor: &FlowId, parents: &FlowParents) -> bool {
    let mut at = from;
    // No chain is longer than the list, unless a file was written by hand so that it goes in a circle.
    for _ in 0..=parents.len() {
        match parents.get(at) {
            Some(parent) if parent == ancestor => return true,
            Some(parent) => at = parent,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(name: char) -> FlowId {
        format!("20260527T143000000Z-aaaaa{name}").parse().unwrap()
    }

    #[test]
    fn a_role_reads_its_own_flow_its_parent_and_its_forks_and_nothing_else() {
        let pairs = [('b', 'a'), ('c', 'b'), ('d', 'b'), ('e', 'a')];
        let pairs = pairs.map(|(fork, parent)| (flow(fork), flow(parent)));
        let parents = FlowParents::from(pairs);
        for (asking, seen) in [
            ('a', "abcde"),
            ('b', "abcd"),
            ('c', "bc"),
            ('d', "bd"),
            ('e', "ae"),
            ('x', "x"),
        ] {
            let all = "abcdex".chars();
            let found: String = all
                .filter(|other| sees(&flow(asking), &flow(*other), &parents))
                .collect();
            assert_eq!(found, seen, "{asking}");
        }
    }

    #[test]
    fn forks_in_a_circle_end() {
        let parents = FlowParents::from([(flow('a'), flow('b')), (flow('b'), flow('a'))]);
        assert!(!sees(&flow('c'), &flow('a'), &parents));
    }
}
