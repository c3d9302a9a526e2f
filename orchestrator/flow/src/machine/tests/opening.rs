//! Table X: what a new process says first.

use super::sim::Sim;
use super::support::Flow;
use crate::machine::{Input, TurnEnding, Work};

#[test]
fn x1_a_staged_handoff_whose_node_does_not_wait_yet_waits() {
    let mut flow = Flow::on("a:owner! z:owner", "a>z");
    flow.claim("a").unwrap();
    flow.hands("a", "z");
    let whole = flow.pending();
    for lost in 1..=2 {
        let mut crashed = flow.clone();
        crashed.crash_after(flow.facts.len() - lost);
        assert_eq!(crashed.pending(), whole, "{lost} facts lost");
    }
}

#[test]
fn x4_an_open_turn_gets_another_try() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    flow.crash_after(flow.facts.len());
    let work = flow.pending();
    assert!(
        matches!(work.as_slice(), [Work::RunTurn { attempt: 2, .. }]),
        "{work:?}"
    );
}

#[test]
fn x4_a_process_that_only_opens_a_flow_leaves_its_turns_alone() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    assert_eq!(flow.words(Input::Opened), "");
    assert_eq!(flow.words(Input::Driven), "turn_resumed");
}

#[test]
fn x5_x6_a_turn_whose_outcome_is_recorded_ends() {
    let mut handed = Flow::on("a:owner z:owner", "a>z");
    handed.claim("a").unwrap();
    handed.hands("a", "z");
    let mut asked = Flow::on("a:owner z:owner", "a>z");
    asked.claim("a").unwrap();
    asked.ends("a", TurnEnding::asks());
    for flow in [handed, asked] {
        let mut crashed = flow.clone();
        crashed.crash_after(flow.facts.len() - 1);
        assert_eq!(crashed.pending(), flow.pending());
        assert!(crashed.state.turns.is_empty());
    }
}

#[test]
fn a_flow_in_which_nothing_was_cut_off_is_left_as_it_is() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    assert_eq!(flow.words(Input::Opened), "");
    flow.passes("a", "z");
    assert_eq!(flow.words(Input::Opened), "");
}

#[test]
fn a_crash_after_any_fact_of_a_whole_flow_leads_to_its_end() {
    let nodes = "a:owner b:writer! c:editor j:tester* z:owner";
    let mut sim = Sim::new(Flow::on(nodes, "a>b a>c b>j c>j? j>z"));
    sim.finish_it();
    assert_eq!(sim.flow.state.status.word(), "completed");
    for kept in 1..sim.flow.facts.len() {
        let mut crashed = sim.clone();
        crashed.flow.crash_after(kept);
        crashed.finish_it();
        super::oracle::check_all(&crashed.flow);
        assert_eq!(
            crashed.flow.state.status.word(),
            "completed",
            "after {kept} facts"
        );
    }
}
