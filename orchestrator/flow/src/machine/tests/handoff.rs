//! Tables H and D: what a handoff may be, what it leads to, and what may be read.

use super::support::{Flow, kept};
use crate::machine::{Input, Product, Receiver, TurnEnding, allowed};

fn target(node: &str, artifact: Product) -> Receiver {
    Receiver {
        node: node.to_owned(),
        artifact,
    }
}

fn missing(path: &str) -> Product {
    Product::Unavailable {
        path: path.to_owned(),
        why: "it is not there".to_owned(),
    }
}

/// A flow whose node `b` runs: `a` before it, `c` and `d` after it, `e` no neighbour.
fn at_b() -> Flow {
    let nodes = "a:owner b:writer c:editor d:tester e:legal z:owner";
    let mut flow = Flow::on(nodes, "a>b a>e b>c b>d c>z d>z e>z");
    flow.passes("a", "b e");
    flow.claim("b").unwrap();
    flow
}

/// The code and the words of the repair that a handoff of `b` leads to.
fn fault(flow: &mut Flow, targets: Vec<Receiver>) -> String {
    let input = flow.outcome_input("b", TurnEnding::Handoff(targets));
    let facts = flow.say(input).unwrap();
    match facts.as_slice() {
        [a_society_facts::Fact::RepairRequested(f)] => format!("{:?}: {}", f.code, f.summary),
        other => panic!("no repair: {other:?}"),
    }
}

#[test]
fn h1_a_target_that_is_no_neighbour_is_named_with_the_ways_there_are() {
    let table = [
        (
            "e",
            "InvalidTransition: `e` is no neighbour; forward to `c`, `d`, back to `a`",
        ),
        (
            "b",
            "InvalidTransition: `b` is no neighbour; forward to `c`, `d`, back to `a`",
        ),
        (
            "x",
            "InvalidTransition: there is no node `x`; forward to `c`, `d`, back to `a`",
        ),
        (
            "No ID",
            "InvalidTransition: there is no node `No ID`; forward to `c`, `d`, back to `a`",
        ),
    ];
    for (node, expected) in table {
        let found = fault(
            &mut at_b(),
            vec![target("c", kept("x")), target(node, kept("y"))],
        );
        assert_eq!(found, expected);
    }
}

#[test]
fn h1_h2_a_wrong_target_is_named_before_a_missing_artifact() {
    let targets = vec![target("c", missing("x")), target("e", kept("y"))];
    assert!(fault(&mut at_b(), targets).starts_with("InvalidTransition: `e`"));
    let targets = vec![target("c", kept("y")), target("d", missing("x.md"))];
    let found = fault(&mut at_b(), targets);
    assert_eq!(found, "ArtifactUnavailable: `x.md`: it is not there");
}

#[test]
fn h2_h3_a_missing_artifact_is_named_before_a_target_that_stands_twice() {
    let targets = vec![target("c", missing("x")), target("c", kept("y"))];
    assert!(fault(&mut at_b(), targets).starts_with("ArtifactUnavailable"));
    let targets = vec![target("c", kept("x")), target("c", kept("y"))];
    assert_eq!(
        fault(&mut at_b(), targets),
        "InvalidTransition: `c` is named twice"
    );
}

#[test]
fn h4_an_artifact_is_handed_over_once_along_whichever_edge() {
    let mut flow = at_b();
    let used = flow.state.passed.first().cloned().unwrap();
    let found = fault(&mut flow, vec![target("c", kept(&used))]);
    let expected = format!("`{used}` was handed over before; it takes a new artifact");
    assert_eq!(found, format!("ArtifactUnavailable: {expected}"));
    let mut flow = at_b();
    let both = vec![target("c", kept("one.md")), target("d", kept("one.md"))];
    let words = flow.ends("b", TurnEnding::Handoff(both));
    assert_eq!(
        words, "handoff_applied turn_ended",
        "one handoff may give it to several"
    );
}

#[test]
fn h4_h5_an_artifact_that_was_used_is_named_before_a_way_back_that_is_closed() {
    let mut flow = at_b();
    flow.hands("b", "a");
    flow.claim("a").unwrap();
    flow.hands("a", "e");
    // The work of `a` has not come to `b` again, and the operator lets `b` run.
    flow.reply("b");
    flow.claim("b").unwrap();
    let used = flow.state.passed.first().cloned().unwrap();
    let found = fault(&mut flow, vec![target("a", kept(&used))]);
    assert!(found.starts_with("ArtifactUnavailable"), "{found}");
    let mut flow = flow.clone();
    flow.state
        .turns
        .values_mut()
        .for_each(|turn| turn.repair = None);
    let found = fault(&mut flow, vec![target("a", kept("new.md"))]);
    let expected = "nothing of `a` is here at present that could go back to it";
    assert_eq!(found, format!("InvalidTransition: {expected}"));
}

#[test]
fn h6_h8_forward_and_backward_targets_are_applied_edge_by_edge() {
    let mut flow = at_b();
    assert_eq!(flow.hands("b", "c a"), "handoff_applied turn_ended");
    let state = &flow.state;
    let completed: Vec<String> = state
        .completed_edges
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(completed, ["a → e", "b → c"]);
    let receivers: Vec<&str> = state
        .received
        .iter()
        .map(|d| d.receiver().as_str())
        .collect();
    assert_eq!(receivers, ["e", "c", "a"]);
    assert!(state.awaiting_handoff.contains("b"));
    assert!(!state.running.contains_key("b"));
}

#[test]
fn h7_a_handoff_to_nobody_needs_a_node_that_leads_nowhere() {
    assert!(fault(&mut at_b(), Vec::new()).starts_with("InvalidTargetShape"));
    let mut flow = Flow::on("a:owner s:writer z:owner", "a>s a>z");
    flow.passes("a", "s z");
    flow.claim("s").unwrap();
    assert_eq!(flow.hands("s", ""), "handoff_applied turn_ended");
    flow.claim("z").unwrap();
    assert_eq!(
        flow.hands("z", ""),
        "repair_requested",
        "the closing node closes"
    );
}

#[test]
fn h7_a_handoff_to_nobody_is_refused_when_nothing_would_ever_come_to_the_closing_node() {
    let mut flow = Flow::on("a:owner s:writer z:owner", "a>s? a>z?");
    flow.passes("a", "s");
    flow.claim("s").unwrap();
    assert_eq!(flow.hands("s", ""), "repair_requested");
    let allowed = allowed(&flow.graph, &flow.state, &super::support::id("s"));
    assert_eq!(allowed.backward, [super::support::id("a")]);
}

#[test]
fn h9_c4_a_node_that_still_owes_an_edge_runs_again() {
    let mut flow = at_b();
    flow.hands("b", "d");
    assert_eq!(flow.offered(), "b:again d:first e:first");
    flow.passes("b", "c");
    assert_eq!(flow.offered(), "c:first d:first e:first");
}

#[test]
fn h10_a_forward_handoff_of_a_gated_node_is_staged_whole() {
    let mut flow = Flow::on("a:owner b:writer! c:editor z:owner", "a>b b>c c>z");
    flow.passes("a", "b");
    flow.claim("b").unwrap();
    let words = flow.hands("b", "c a");
    assert_eq!(words, "handoff_staged node_suspended turn_ended");
    assert!(flow.state.received.is_empty(), "nothing has gone anywhere");
    let staged = flow.state.staged.values().next().unwrap();
    assert_eq!(staged.deliveries.len(), 2, "one word covers all of it");
}

#[test]
fn h10_a_staged_handoff_needs_a_name_for_its_question() {
    let mut flow = Flow::on("a:owner! z:owner", "a>z");
    flow.claim("a").unwrap();
    let targets = flow.targets("z");
    let Input::Outcome(mut outcome) = flow.outcome_input("a", TurnEnding::Handoff(targets)) else {
        panic!("an outcome is an outcome");
    };
    outcome.approval = None;
    assert!(flow.words(Input::Outcome(outcome)).starts_with("refused"));
}

#[test]
fn h11_a_gated_node_sends_work_back_without_a_word() {
    let mut flow = Flow::on("a:owner b:writer! z:owner", "a>b b>z");
    flow.passes("a", "b");
    flow.claim("b").unwrap();
    assert_eq!(flow.hands("b", "a"), "handoff_applied turn_ended");
}

#[test]
fn d1_d2_what_came_forward_is_stale_until_the_request_is_read() {
    let mut flow = at_b();
    flow.hands("b", "a");
    // Before it reads the request, `a` is let run and hands forward once more.
    flow.reply("b");
    flow.claim("b").unwrap();
    flow.ends("b", TurnEnding::AwaitHandoff);
    assert_eq!(
        flow.offered(),
        "a:reopened e:first",
        "what came back is read at once"
    );
    flow.claim("a").unwrap();
    flow.hands("a", "b");
    assert_eq!(
        flow.offered(),
        "b:again e:first",
        "the request was read, so this is no longer stale"
    );
}

#[test]
fn d2_d6_reading_a_request_drops_what_had_gone_along_its_edge_meanwhile() {
    let nodes = "a:owner b:writer c:editor z:owner";
    let mut flow = Flow::on(nodes, "a>b a>c b>z c>z");
    // While `a` is at work for its other edge, `b` sends back; `a` does not know and hands to `b`.
    flow.passes("a", "b");
    flow.claim("a").unwrap();
    flow.claim("b").unwrap();
    flow.hands("b", "a");
    assert_eq!(flow.hands("a", "b c"), "handoff_applied turn_ended");
    assert_eq!(flow.offered(), "a:reopened c:first", "for `b` it is stale");
    let facts = flow.claim("a").unwrap();
    let a_society_facts::Fact::NodeClaimed(claimed) = &facts[0] else {
        panic!("a claim begins with a claim");
    };
    let dropped: Vec<String> = claimed.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(dropped, ["a → b"]);
    assert!(flow.state.owing.contains("a"), "it owes the edge again");
    assert!(
        flow.state
            .received
            .iter()
            .all(|d| d.receiver().as_str() != "b")
    );
}

#[test]
fn d3_a_join_waits_for_every_edge_and_reads_all_at_once() {
    let mut flow = Flow::on(
        "a:owner b:writer c:editor j:tester* z:owner",
        "a>b a>c b>j c>j j>z",
    );
    flow.passes("a", "b c");
    flow.passes("b", "j");
    assert_eq!(flow.offered(), "c:first", "what arrived accumulates");
    flow.passes("c", "j");
    assert_eq!(flow.offered(), "j:first");
    let facts = flow.claim("j").unwrap();
    let a_society_facts::Fact::NodeClaimed(claimed) = &facts[0] else {
        panic!("a claim begins with a claim");
    };
    assert_eq!(claimed.consumed.len(), 2);
}

#[test]
fn d4_a_join_does_not_wait_for_a_way_that_was_left_out() {
    let nodes = "a:owner b:writer c:editor j:tester* z:owner";
    for edges in ["a>b a>c? b>j c>j? j>z", "a>b a>c? b>j c>j j>z"] {
        let mut flow = Flow::on(nodes, edges);
        flow.claim("a").unwrap();
        flow.hands("a", "b");
        flow.passes("b", "j");
        assert_eq!(flow.offered(), "j:first", "{edges}");
        let mut flow = Flow::on(nodes, edges);
        flow.claim("a").unwrap();
        flow.hands("a", "b c");
        flow.passes("b", "j");
        assert_eq!(flow.offered(), "c:first", "{edges}: it may still come");
    }
}

#[test]
fn d5_with_an_answer_nothing_else_is_read() {
    let mut flow = at_b();
    flow.hands("b", "a");
    flow.claim("a").unwrap();
    flow.hands("a", "b");
    assert_eq!(flow.reply("b"), "operator_replied");
    assert_eq!(flow.offered(), "b:reply e:first");
    flow.claim("b").unwrap();
    assert_eq!(flow.state.received.len(), 2, "what arrived stays queued");
    flow.ends("b", TurnEnding::AwaitHandoff);
    assert_eq!(flow.offered(), "b:again e:first");
}
