//! A step costs what is open, and not the size of the graph.

use std::fmt::Write as _;

use super::support::Flow;
use crate::machine::TurnEnding;

/// A chain of so many nodes over four role instances.
fn chain(count: usize) -> Flow {
    let (mut nodes, mut edges) = (String::new(), String::new());
    let roles = ["owner", "writer", "editor", "tester"];
    for place in 0..count {
        let role = if place + 1 == count {
            "owner"
        } else {
            roles[place % 4]
        };
        write!(nodes, "n{place}:{role} ").unwrap();
        if place > 0 {
            write!(edges, "n{}>n{place} ", place - 1).unwrap();
        }
    }
    Flow::on(&nodes, &edges)
}

/// How long one node takes from its claim to its handoff, in microseconds, at best of some.
fn best_micros(flow: &mut Flow, from: usize) -> u128 {
    let mut best = u128::MAX;
    for place in from..from + 40 {
        let node = format!("n{place}");
        let next = format!("n{}", place + 1);
        #[expect(
            clippy::disallowed_methods,
            clippy::disallowed_types,
            reason = "a test may look at the clock"
        )]
        let begin = std::time::Instant::now();
        flow.claim(&node).unwrap();
        assert_eq!(flow.pending().len(), 1);
        let targets = flow.targets(&next);
        flow.ends(&node, TurnEnding::Handoff(targets));
        assert_eq!(flow.pending().len(), 1);
        best = best.min(begin.elapsed().as_micros());
    }
    best
}

#[test]
fn a_step_in_a_graph_of_ten_thousand_nodes_costs_what_it_costs_in_a_small_one() {
    let mut small = chain(100);
    let mut large = chain(10_000);
    for place in 0..5_000 {
        large.passes(&format!("n{place}"), &format!("n{}", place + 1));
    }
    let small = best_micros(&mut small, 0);
    let large = best_micros(&mut large, 5_000);
    assert!(
        large < small * 8 + 100,
        "{large} µs in the large one, {small} µs in the small one"
    );
}
