//! The way without turns: created, walked, closed.

use super::support::{Flow, id, named};
use crate::machine::TurnEnding;
use a_society_facts::Verb;
use a_society_facts::fact::improvement::ImprovementMode;

#[test]
fn a_flow_is_walked_from_its_start_to_its_end() {
    let mut flow = Flow::on("a:owner b:writer z:owner", "a>b b>z");
    assert_eq!(flow.offered(), "a:first");
    let words = flow.words(flow.claim_input("a"));
    assert_eq!(words, "node_claimed session_opened turn_started");
    assert_eq!(flow.hands("a", "b"), "handoff_applied turn_ended");
    assert_eq!(flow.offered(), "b:first");
    flow.passes("b", "z");
    let words = flow.words(flow.claim_input("z"));
    assert_eq!(words, "node_claimed turn_started");
    assert_eq!(flow.closes("z"), "forward_pass_closed turn_ended");
    let words = flow.words(named(
        Verb::Improve {
            mode: ImprovementMode::None,
        },
        Some(id("c")),
    ));
    assert_eq!(words, "improvement_chosen flow_completed");
    assert_eq!(flow.pending(), []);
    assert_eq!(flow.state.status.word(), "completed");
}

#[test]
fn a_node_that_asks_goes_on_with_the_answer() {
    let mut flow = Flow::on("a:owner", "");
    flow.claim("a").unwrap();
    let asks = TurnEnding::asks();
    assert_eq!(flow.ends("a", asks), "node_suspended turn_ended");
    assert_eq!(flow.offered(), "");
    assert_eq!(flow.reply("a"), "operator_replied");
    assert_eq!(flow.offered(), "a:reply");
}
