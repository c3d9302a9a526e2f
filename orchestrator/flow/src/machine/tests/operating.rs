//! Table R: what the operator says and does.

use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::{Verb, Whom};

use super::support::{Flow, graph, id, lack, named, revised, wants};
use crate::machine::{Input, OperatorQuestion, TurnEnding, Work, has_more_to_start};

fn asks() -> TurnEnding {
    TurnEnding::asks()
}

/// `b` and `c` ask something; `d` is staged.
fn waiting() -> Flow {
    let mut flow = Flow::on(
        "a:owner b:writer c:editor d:tester! z:owner",
        "a>b a>c a>d b>z c>z d>z",
    );
    flow.passes("a", "b c d");
    for node in ["b", "c", "d"] {
        flow.claim(node).unwrap();
    }
    flow.ends("b", asks());
    flow.ends("c", asks());
    flow.hands("d", "z");
    flow
}

#[test]
fn r1_to_r6_a_reply_finds_whoever_it_is_for_or_says_who_waits() {
    let both = "b (writer) waits for your answer; c (editor) waits for your answer";
    let table = [
        (Whom::Node(id("b")), "operator_replied".to_owned()),
        (Whom::Role(id("editor")), "operator_replied".to_owned()),
        (
            Whom::Only,
            format!("refused: more than one waits, so that one has to be named: {both}"),
        ),
        (
            Whom::Node(id("d")),
            "refused: d takes no text: it waits for your approval of a handoff".to_owned(),
        ),
        (
            Whom::Role(id("tester")),
            "refused: tester takes no text: it waits for your approval of a handoff".to_owned(),
        ),
        (
            Whom::Node(id("a")),
            format!("refused: a does not wait for a text. Waiting: {both}"),
        ),
        (
            Whom::Node(id("x")),
            "refused: the graph has no node x".to_owned(),
        ),
    ];
    for (target, expected) in table {
        let mut flow = waiting();
        let input = flow.reply_input(target.clone());
        assert_eq!(flow.words(input), expected, "{target:?}");
    }
}

#[test]
fn r3_the_only_one_that_takes_text_needs_no_name() {
    let mut flow = waiting();
    flow.reply("b");
    flow.claim("b").unwrap();
    let input = flow.reply_input(Whom::Only);
    flow.say(input).unwrap();
    assert!(flow.state.replies.contains_key("c"));
}

#[test]
fn r6_a_node_that_was_woken_takes_no_reply() {
    let mut flow = waiting();
    flow.reply("b");
    flow.claim("b").unwrap();
    assert!(
        flow.reply("b")
            .starts_with("refused: b does not wait for a text")
    );
}

#[test]
fn r7_of_two_who_answer_the_same_question_the_first_counts_and_nobody_answers_another() {
    let since = |flow: &Flow| flow.state.awaiting_operator["b"].since;
    let answer = |flow: &mut Flow, asked| {
        let input = flow.reply_to(Whom::Node(id("b")), asked);
        flow.words(input)
    };
    let second = "refused: b was answered before, or asks something else by now";
    let mut flow = waiting();
    let first = Some(since(&flow));
    assert_eq!(answer(&mut flow, first), "operator_replied");
    assert_eq!(answer(&mut flow, first), second);
    // Who answers no question in particular may have more to say.
    assert_eq!(answer(&mut flow, None), "operator_replied");
    flow.claim("b").unwrap();
    flow.ends("b", asks());
    assert_ne!(Some(since(&flow)), first);
    assert_eq!(answer(&mut flow, first), second);
    let now = Some(since(&flow));
    assert_eq!(answer(&mut flow, now), "operator_replied");
}

#[test]
fn r7_the_same_command_counts_once() {
    let mut flow = waiting();
    let input = flow.reply_input(Whom::Node(id("b")));
    assert_eq!(flow.words(input.clone()), "operator_replied");
    assert_eq!(flow.words(input.clone()), "");
    flow.claim("b").unwrap();
    assert_eq!(flow.words(input), "", "also after it was heard");
}

#[test]
fn r8_a_node_that_awaits_a_handoff_may_be_answered_by_name() {
    let mut flow = Flow::on("a:owner b:writer c:editor z:owner", "a>b a>c b>z c>z");
    flow.passes("a", "b c");
    flow.claim("b").unwrap();
    flow.ends("b", TurnEnding::AwaitHandoff);
    let input = flow.reply_input(Whom::Role(id("writer")));
    assert_eq!(flow.words(input), "operator_replied");
    assert_eq!(flow.offered(), "b:reply c:first");
}

#[test]
fn r9_only_a_role_at_work_is_steered() {
    let steer = |role: &str| {
        wants(Verb::Steer {
            role: id(role),
            text: "look here".into(),
            when: SteerWhen::Queue,
        })
    };
    let mut flow = waiting();
    assert!(
        flow.words(steer("writer"))
            .starts_with("refused: writer is not at work")
    );
    assert!(
        flow.words(steer("nobody"))
            .starts_with("refused: nobody is not at work")
    );
    assert_eq!(
        flow.words(steer("owner")),
        "operator_steered",
        "its turn is still to come"
    );
    flow.reply("b");
    flow.claim("b").unwrap();
    assert_eq!(flow.words(steer("writer")), "operator_steered");
}

#[test]
fn r10_an_approved_handoff_is_applied_and_its_role_does_not_run_again() {
    let mut flow = waiting();
    let approval = flow.state.staged.keys().next().unwrap().clone();
    let approve = named(
        Verb::Approve {
            approval: Some(approval.clone()),
        },
        Some(id("yes")),
    );
    assert_eq!(flow.words(approve), "handoff_decided handoff_applied");
    assert_eq!(flow.offered(), "z:first");
    let again = wants(Verb::Approve {
        approval: Some(approval),
    });
    assert!(flow.words(again).starts_with("refused: no staged handoff"));
}

#[test]
fn r11_after_a_declined_handoff_the_node_waits_for_guidance() {
    let mut flow = waiting();
    let approval = flow.state.staged.keys().next().unwrap().clone();
    let decline = wants(Verb::Decline {
        reason: None,
        approval: Some(approval),
    });
    assert_eq!(flow.words(decline), "handoff_decided node_suspended");
    assert_eq!(
        flow.state.awaiting_operator["d"].reason,
        WaitReason::PromptHuman
    );
    assert_eq!(flow.reply("d"), "operator_replied");
    assert_eq!(flow.offered(), "d:reply");
}

#[test]
fn r10_r11_x7_a_word_that_a_crash_cut_off_is_followed_up() {
    for approved in [true, false] {
        let mut flow = waiting();
        let approval = flow.state.staged.keys().next().unwrap().clone();
        let client = None;
        let word = if approved {
            named(
                Verb::Approve {
                    approval: Some(approval),
                },
                client,
            )
        } else {
            named(
                Verb::Decline {
                    approval: Some(approval),
                    reason: None,
                },
                client,
            )
        };
        flow.say(word).unwrap();
        let whole = flow.pending();
        flow.crash_after(flow.facts.len() - 1);
        assert_eq!(flow.pending(), whole, "approved: {approved}");
    }
}

#[test]
fn r12_a_stopped_or_failed_turn_is_retried_and_a_question_is_not() {
    let mut flow = waiting();
    let retry = |node: &str| {
        wants(Verb::Retry {
            to: Whom::Node(id(node)),
        })
    };
    let words = flow.words(retry("b"));
    assert_eq!(
        words,
        "refused: cannot retry b: it is waiting for your answer"
    );
    let only = flow.words(wants(Verb::Retry { to: Whom::Only }));
    assert_eq!(
        only,
        "refused: nothing waits for that. Waiting: b (writer) waits for your answer; \
         c (editor) waits for your answer; d (tester) waits for your approval of a handoff",
        "everybody who waits is named, also where no text would end the wait"
    );
    flow.reply("b");
    flow.claim("b").unwrap();
    flow.ends(
        "b",
        TurnEnding::Aborted {
            why: "broke".into(),
            class: None,
        },
    );
    assert_eq!(flow.words(retry("b")), "node_retried");
    assert_eq!(flow.offered(), "b:again");
}

#[test]
fn r13_a_node_at_rest_is_reopened_and_no_other() {
    let mut flow = waiting();
    let reopen = |node: &str| {
        wants(Verb::Reopen {
            node: id(node),
            note: Some("once more".into()),
        })
    };
    assert!(flow.words(reopen("z")).ends_with("it was never entered"));
    assert!(
        flow.words(reopen("b"))
            .ends_with("it waits for your answer")
    );
    assert_eq!(flow.words(reopen("a")), "node_reopened");
    assert!(flow.words(reopen("a")).ends_with("it is about to run"));
    assert_eq!(flow.offered(), "a:reopened");
    flow.claim("a").unwrap();
    assert!(flow.words(reopen("a")).ends_with("it runs"));
}

#[test]
fn r14_a_pause_of_the_operator_lets_open_turns_end_and_others_hold_them() {
    for (reason, goes_on) in [
        (PauseReason::Operator, true),
        (PauseReason::DiskFull, false),
        (PauseReason::Budget, false),
        (PauseReason::Irreversible, false),
    ] {
        let mut flow = Flow::on("a:owner z:owner", "a>z");
        flow.claim("a").unwrap();
        flow.say(Input::Pause {
            reason,
            detail: None,
        })
        .unwrap();
        let work = flow.pending();
        let runs = matches!(work.first(), Some(Work::RunTurn { .. }));
        assert_eq!(runs, goes_on, "{reason:?}");
        assert!(work.contains(&Work::AskOperator(OperatorQuestion::Unpause { reason })));
        let words = flow.words(wants(Verb::Unpause {}));
        let expected = if goes_on {
            "flow_unpaused"
        } else {
            "flow_unpaused turn_resumed"
        };
        assert_eq!(words, expected, "{reason:?}");
    }
}

#[test]
fn r15_a_cancelled_flow_gives_back_what_nobody_heard() {
    let mut flow = waiting();
    flow.reply("b");
    let words = flow.words(wants(Verb::Cancel { why: None }));
    assert_eq!(words, "flow_cancelled reply_returned");
    assert_eq!(flow.pending(), []);
    let words = flow.words(wants(Verb::Cancel { why: None }));
    assert_eq!(
        words,
        "refused: the flow is cancelled; reopen a node to go on"
    );
}

#[test]
fn r17_whoever_waits_for_a_budget_goes_on_when_it_is_raised() {
    let set = |limit| {
        wants(Verb::Budget {
            role: None,
            measure: Measure::Turns,
            limit,
        })
    };
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.say(set(Some(1))).unwrap();
    flow.claim("a").unwrap();
    flow.ends("a", TurnEnding::BudgetReached { lack: lack() });
    assert_eq!(
        flow.words(set(Some(1))),
        "budget_set",
        "nothing is left yet"
    );
    assert_eq!(flow.offered(), "");
    assert_eq!(flow.words(set(Some(2))), "node_woken budget_set");
    assert_eq!(flow.offered(), "a:again");
}

#[test]
fn r18_a_revision_counts_if_it_has_a_place_for_what_happened() {
    let revise = |nodes: &str, edges: &str| revised(graph(nodes, edges));
    let mut flow = waiting();
    let words = flow.words(revise("a:owner b:writer z:owner", "a>b b>z"));
    assert!(
        words.starts_with("refused: the revised graph does not fit"),
        "{words}"
    );
    assert!(
        words.contains("`c`") && words.contains("`d`"),
        "every reason is given: {words}"
    );
    let nodes = "a:owner b:writer c:editor d:tester! e:legal z:owner";
    let edges = "a>b a>c a>d b>e e>z c>z d>z";
    assert_eq!(flow.words(revise(nodes, edges)), "graph_revised");
}

#[test]
fn a_flow_that_rests_goes_on_after_the_verbs_that_give_it_something_to_start() {
    let starts = |flow: &Flow, verb: Verb| {
        let (before, mut after) = (flow.pending(), flow.clone());
        after.say(wants(verb)).unwrap();
        has_more_to_start(&before, &after.pending())
    };
    let reply = |node: &str| Verb::Reply {
        to: Whom::Node(id(node)),
        text: "Go on.".to_owned(),
        asked: None,
    };
    let decline = |reason: Option<&str>| Verb::Decline {
        approval: None,
        reason: reason.map(str::to_owned),
    };
    let reopen = |node: &str| Verb::Reopen {
        node: id(node),
        note: None,
    };
    let configure = Verb::Configure {
        role: id("writer"),
        settings: Default::default(),
    };
    let flow = waiting();
    assert!(starts(&flow, reply("b")));
    assert!(starts(&flow, Verb::Approve { approval: None }));
    assert!(starts(&flow, decline(Some("Ask c first."))));
    assert!(!starts(&flow, decline(None)), "it waits to be told");
    assert!(starts(&flow, reopen("a")));
    assert!(!starts(&flow, configure), "nobody waits for that");
    assert!(!starts(&flow, Verb::Pause {}));
    assert!(!starts(&flow, Verb::Cancel { why: None }));
    let mut running = waiting();
    running.reply("b");
    running.claim("b").unwrap();
    let scope = a_society_facts::fact::operator::StopScope::All;
    assert!(!starts(&running, Verb::Stop { scope }));
    let steer = Verb::Steer {
        role: id("writer"),
        text: "look here".to_owned(),
        when: SteerWhen::Queue,
    };
    assert!(!starts(&running, steer), "it goes on already");
}
