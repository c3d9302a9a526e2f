//! Table C: who is taken next.

use super::support::{Flow, wants};
use crate::machine::{Input, TurnEnding};
use a_society_facts::{Verb, Whom};

/// Five nodes of five roles after `a`, all of them runnable in a group of their own.
#[test]
fn c1_to_c5_the_groups_come_in_order_whatever_the_order_of_the_graph() {
    let nodes = "a:owner arrived:r1 owing:r2 configured:r3 answered:r4 x:r5 z:owner";
    let edges = "a>arrived a>owing a>configured a>answered owing>x arrived>z configured>z \
                 answered>z x>z owing>z";
    let mut flow = Flow::on(nodes, edges);
    flow.passes("a", "owing configured answered");
    flow.passes("owing", "z");
    flow.claim("configured").unwrap();
    flow.ends(
        "configured",
        TurnEnding::NeedsConfiguration {
            why: "model".into(),
        },
    );
    flow.claim("answered").unwrap();
    flow.ends("answered", TurnEnding::asks());
    flow.passes("a", "arrived");
    assert_eq!(flow.offered(), "owing:again arrived:first z:first");
    flow.reply("answered");
    flow.say(configure("r3")).unwrap();
    let expected = "answered:reply configured:configured owing:again arrived:first z:first";
    assert_eq!(flow.offered(), expected);
}

fn configure(role: &str) -> Input {
    wants(Verb::Configure {
        role: super::support::id(role),
        settings: Default::default(),
    })
}

#[test]
fn c2_r16_a_role_that_asks_again_to_be_configured_waits_again() {
    let mut flow = Flow::on("a:owner", "");
    let asks = || TurnEnding::NeedsConfiguration {
        why: "model".into(),
    };
    flow.claim("a").unwrap();
    flow.ends("a", asks());
    assert_eq!(flow.offered(), "");
    flow.say(configure("owner")).unwrap();
    assert_eq!(flow.offered(), "a:configured");
    flow.claim("a").unwrap();
    flow.ends("a", asks());
    assert_eq!(flow.offered(), "", "the old configuration counts no longer");
}

#[test]
fn c3_c12_a_node_whose_turn_never_began_is_begun_with_the_same_number() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    for kept in [2, 3] {
        let mut flow = flow.clone();
        flow.crash_after(kept);
        assert_eq!(flow.offered(), "a:recovered", "after {kept} facts");
        flow.claim("a").unwrap();
        assert_eq!(flow.turn("a").0.0, 1);
        let claims = flow.facts.iter().filter(|f| f.word() == "node_claimed");
        assert_eq!(claims.count(), 1);
    }
}

#[test]
fn c6_when_nothing_else_can_run_whoever_awaits_a_handoff_is_told() {
    // `s` awaits a correction that never comes, because `a` goes on elsewhere.
    let mut flow = Flow::on(
        "a:owner s:writer t:editor j:tester* z:owner",
        "a>s a>t s>j t>j j>z",
    );
    flow.passes("a", "s t");
    flow.claim("s").unwrap();
    assert_eq!(
        flow.ends("s", TurnEnding::AwaitHandoff),
        "handoff_awaited turn_ended"
    );
    flow.passes("t", "j");
    assert_eq!(
        flow.offered(),
        "s:again",
        "nothing can arrive, and it owes an edge"
    );
    flow.claim("s").unwrap();
    assert_eq!(
        flow.ends("s", TurnEnding::AwaitHandoff),
        "repair_requested",
        "S2"
    );
}

#[test]
fn c6_after_a_reopened_end_the_closing_node_closes_again() {
    let mut flow = Flow::on("a:owner s:writer z:owner", "a>s a>z");
    flow.passes("a", "s z");
    flow.passes("s", "");
    flow.claim("z").unwrap();
    assert_eq!(flow.closes("z"), "forward_pass_closed turn_ended");
    let reopen = wants(Verb::Reopen {
        node: super::support::id("s"),
        note: None,
    });
    assert_eq!(flow.words(reopen), "node_reopened");
    assert_eq!(flow.offered(), "s:reopened");
    flow.passes("s", "");
    assert_eq!(flow.offered(), "z:again");
}

#[test]
fn c7_c8_c9_an_instance_has_one_node_at_a_time_and_another_goes_on_beside_it() {
    let nodes = "a:owner b:writer c:writer d:writer_2 z:owner";
    let mut flow = Flow::on(nodes, "a>b a>c a>d b>z c>z d>z");
    flow.passes("a", "b c d");
    assert_eq!(
        flow.offered(),
        "b:first d:first",
        "C9: another instance goes on beside it"
    );
    flow.claim("b").unwrap();
    assert_eq!(flow.offered(), "d:first");
    assert!(flow.claim("c").is_err());
    flow.ends("b", TurnEnding::asks());
    assert_eq!(
        flow.offered(),
        "d:first",
        "who waits on another node is occupied"
    );
    flow.reply("b");
    flow.passes("b", "z");
    assert_eq!(flow.offered(), "c:first d:first z:first");
}

#[test]
fn c8_awaiting_a_handoff_occupies_nobody() {
    let mut flow = Flow::on("a:owner b:writer c:writer z:owner", "a>b a>c b>z c>z");
    flow.passes("a", "b c");
    flow.claim("b").unwrap();
    flow.ends("b", TurnEnding::AwaitHandoff);
    assert_eq!(flow.offered(), "c:first");
}

#[test]
fn c10_a_flow_that_pauses_offers_nothing() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    let pause = wants(Verb::Pause {});
    assert_eq!(flow.words(pause), "flow_paused");
    assert_eq!(flow.offered(), "");
    assert_eq!(
        flow.words(flow.claim_input("a")),
        "refused: the flow pauses"
    );
    assert_eq!(flow.words(wants(Verb::Unpause {})), "flow_unpaused");
    assert_eq!(flow.offered(), "a:first");
}

#[test]
fn c11_only_what_is_offered_can_be_claimed() {
    let mut flow = Flow::on("a:owner b:writer z:owner", "a>b b>z");
    let nothing = "refused: b is not to be started now: nothing is there for it to do";
    assert_eq!(flow.words(flow.claim_input("b")), nothing);
    assert_eq!(
        flow.words(flow.claim_input("x")),
        "refused: the graph has no node x"
    );
    flow.claim("a").unwrap();
    let runs = "refused: a is not to be started now: it runs already";
    assert_eq!(flow.words(flow.claim_input("a")), runs);
}

#[test]
fn c11_a_session_is_opened_with_the_first_turn_and_needs_its_names() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    let Input::Claim(mut claim) = flow.claim_input("a") else {
        panic!("a claim is a claim");
    };
    claim.session = None;
    let words = flow.words(Input::Claim(claim));
    assert_eq!(
        words,
        "refused: owner has no session yet, and the input names none"
    );
}

#[test]
fn c11_a_claim_hears_every_queued_answer_once() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    flow.ends("a", TurnEnding::asks());
    flow.reply("a");
    let again = flow.reply_input(Whom::Only);
    flow.say(again).unwrap();
    let facts = flow.claim("a").unwrap();
    let a_society_facts::Fact::NodeClaimed(claimed) = &facts[0] else {
        panic!("a claim begins with a claim");
    };
    assert_eq!(claimed.replies.len(), 2);
    assert!(flow.state.replies.is_empty());
}
