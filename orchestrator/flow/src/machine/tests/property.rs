//! What holds for every graph, every role, every operator and every crash.

use a_society_facts::At;
use a_society_facts::line::Recorded;
use a_society_facts::view::{FactView as _, flow::FlowState};
use proptest::prelude::*;

use super::operator::any_ends;
use super::oracle::check_all;
use super::sim::{Action, Sim};
use super::support::{Flow, id};
use crate::graph::{FlowGraph, GraphNode, build};
use crate::machine::pending;

const ROLES: [&str; 6] = ["owner", "writer", "writer_2", "editor", "tester", "legal"];

/// Nodes by role and flags, edges by their ends; all of it bent into a sound graph.
#[derive(Debug, Clone)]
struct Raw {
    nodes: Vec<(u8, u8)>,
    edges: Vec<(u8, u8, u8)>,
    roles: u8,
    ends: u16,
}

fn any_raw(most: usize) -> impl Strategy<Value = Raw> {
    let nodes = prop::collection::vec(any::<(u8, u8)>(), 1..=most);
    let edges = prop::collection::vec(any::<(u8, u8, u8)>(), 0..=most * 2);
    (nodes, edges, 1u8..=6, 0u16..12).prop_map(|(nodes, edges, roles, ends)| Raw {
        nodes,
        edges,
        roles,
        ends,
    })
}

/// The first node begins, the last one closes, and every other node has an edge from an earlier
/// one; nodes of the owner that lead nowhere lead to the last one.
fn bent(raw: &Raw) -> FlowGraph {
    let count = raw.nodes.len();
    let last = count - 1;
    let role = |place: usize| match place {
        0 => ROLES[0],
        place if place == last => ROLES[0],
        place => ROLES[usize::from(raw.nodes[place].0 % raw.roles)],
    };
    let nodes = (0..count).map(|place| GraphNode {
        human_colab: Some(raw.nodes[place].1.is_multiple_of(7)),
        await_all_inputs: Some(raw.nodes[place].1.is_multiple_of(3)),
        ..GraphNode::new(id(&format!("n{place}")), id(role(place)))
    });
    let mut edges = std::collections::BTreeMap::new();
    for (from, to, kind) in &raw.edges {
        let (from, to) = (usize::from(*from) % count, usize::from(*to) % count);
        if from != to {
            edges.insert((from.min(to), from.max(to)), kind.is_multiple_of(4));
        }
    }
    for to in 1..count {
        if !edges.keys().any(|(_, end)| *end == to) {
            let from = usize::from(raw.nodes[to].0) % to;
            edges.insert((from, to), raw.nodes[to].1.is_multiple_of(11));
        }
    }
    for from in 0..last {
        if role(from) == ROLES[0] && !edges.keys().any(|(begin, _)| *begin == from) {
            edges.insert((from, last), false);
        }
    }
    let named: Vec<(String, String, bool)> = (edges.into_iter())
        .map(|((from, to), optional)| (format!("n{from}"), format!("n{to}"), optional))
        .collect();
    let borrowed: Vec<(&str, &str, bool)> = (named.iter())
        .map(|(from, to, optional)| (from.as_str(), to.as_str(), *optional))
        .collect();
    build("t", None, nodes.collect(), &borrowed).unwrap()
}

fn cases() -> u32 {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests may ask how long they may take"
    )]
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    if full { 100_000 } else { 256 }
}

fn refolded(flow: &Flow) -> FlowState {
    let mut state = FlowState::default();
    for (seq, fact) in (1..).zip(&flow.facts) {
        let at = At::from_ms(1_779_892_200_000 + i64::try_from(seq).unwrap());
        state.apply(&Recorded::new(seq, at, fact.clone()));
    }
    state
}

fn walked(raw: &Raw, actions: Vec<Action>) -> Sim {
    let mut sim = Sim::new(Flow::ending(bent(raw), any_ends(raw.ends)));
    for action in actions {
        sim.act(action);
    }
    check_all(&sim.flow);
    sim
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_flow_comes_to_a_named_end_and_nothing_is_lost_on_the_way(
        raw in any_raw(30),
        actions in prop::collection::vec(any::<Action>(), 0..160),
    ) {
        let mut sim = walked(&raw, actions);
        sim.finish_it();
        check_all(&sim.flow);
    }

    #[test]
    fn what_is_pending_is_the_same_whoever_folds_the_facts(
        raw in any_raw(12),
        actions in prop::collection::vec(any::<Action>(), 0..80),
    ) {
        let sim = walked(&raw, actions);
        let state = refolded(&sim.flow);
        prop_assert_eq!(&state, &sim.flow.state);
        prop_assert_eq!(pending(&sim.flow.graph, &state), sim.flow.pending());
    }

    #[test]
    fn a_crash_after_any_fact_of_a_flow_is_survived(
        raw in any_raw(6),
        actions in prop::collection::vec(any::<Action>(), 0..60),
        place in any::<u16>(),
    ) {
        let mut sim = walked(&raw, actions);
        let revised = sim.flow.facts.iter().any(|fact| fact.word() == "graph_revised");
        if !revised {
            let kept = 1 + usize::from(place) % sim.flow.facts.len();
            sim.flow.crash_after(kept);
        }
        check_all(&sim.flow);
        sim.finish_it();
        check_all(&sim.flow);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn from_every_prefix_of_a_flow_something_goes_on_or_is_asked_until_it_is_over(
        raw in any_raw(5),
        actions in prop::collection::vec(any::<Action>(), 0..40),
    ) {
        let mut whole = walked(&raw, actions);
        whole.finish_it();
        // Before a revision another graph is walked than the one that the walk ended with.
        if whole.flow.facts.iter().any(|fact| fact.word() == "graph_revised") {
            return Ok(());
        }
        for kept in 1..=whole.flow.facts.len() {
            let mut sim = whole.clone();
            sim.flow.crash_after(kept);
            // That anything is pending is looked at with every step.
            check_all(&sim.flow);
            sim.finish_it();
        }
    }
}

#[test]
fn the_random_walks_come_to_say_every_fact_of_the_machine() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let actions = prop::collection::vec(any::<Action>(), 100..160);
    let walks = (any_raw(12), actions);
    let mut said: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
    for _ in 0..400 {
        let (raw, actions) = walks.new_tree(&mut runner).unwrap().current();
        let mut sim = walked(&raw, actions);
        sim.finish_it();
        for fact in &sim.flow.facts {
            *said.entry(fact.word()).or_default() += 1;
        }
    }
    for word in MACHINE_WORDS {
        assert!(said.contains_key(word), "{word} was never said: {said:#?}");
    }
}

/// Every kind of fact that the machine says.
const MACHINE_WORDS: [&str; 34] = [
    "flow_created",
    "ends_chosen",
    "graph_revised",
    "flow_paused",
    "flow_unpaused",
    "flow_cancelled",
    "forward_pass_closed",
    "flow_completed",
    "node_reopened",
    "node_retried",
    "node_claimed",
    "handoff_applied",
    "handoff_staged",
    "handoff_decided",
    "handoff_awaited",
    "node_suspended",
    "node_woken",
    "repair_requested",
    "turn_started",
    "turn_resumed",
    "turn_ended",
    "session_opened",
    "operator_replied",
    "reply_returned",
    "operator_steered",
    "stop_requested",
    "consent_requested",
    "consent_resolved",
    "improvement_chosen",
    "reflection_started",
    "findings_recorded",
    "feedback_started",
    "feedback_recorded",
    "budget_reached",
];
