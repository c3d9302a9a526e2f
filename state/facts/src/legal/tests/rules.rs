//! One example a rule: the walk up to a fact, and that fact changed a little.

use super::super::{Illegal, legal};
use super::{after, before};
use crate::fact::Fact;
use crate::fact::flow::{FlowPaused, FlowTitled, GraphRevised, NodeReopened, PauseReason};
use crate::fact::operator::{
    ConsentAnswer, ConsentRuled, ConsentRules, ConsentRulesAdded, DecidingRule, RuleOrigin,
};
use crate::fact::turn::CallRerun;
use crate::handoff::HandoffWay;
use crate::hash::Hash;
use crate::id::TurnId;
use crate::limits::CONSENT_RULES_MAX;
use crate::message::{AnswerText, ConfirmedDraft};
use crate::sample::{every_kind, id};
use crate::view::FlowState;
use crate::view::flow::{CallState, WantedRun};

/// What a fact of the walk is refused with, after it was changed.
fn refused(word: &str, nth: usize, change: impl FnOnce(&mut Fact)) -> Illegal {
    let (state, mut fact) = before(word, nth);
    assert_eq!(legal(&state, &fact), Ok(()), "the walk itself is legal");
    change(&mut fact);
    legal(&state, &fact).unwrap_err()
}

macro_rules! change {
    ($kind:ident, $fact:ident => $change:expr) => {
        |fact: &mut Fact| {
            let Fact::$kind($fact) = fact else {
                panic!("another kind of fact");
            };
            $change;
        }
    };
}

/// The state after the walk came to a fact and took it.
fn upto(word: &str, nth: usize) -> FlowState {
    let (state, fact) = before(word, nth);
    after(state, &fact)
}

#[test]
fn nothing_comes_before_the_flow_but_what_is_said_of_its_journal() {
    for mut fact in every_kind() {
        let first = legal(&FlowState::default(), &fact);
        if let Fact::FlowCreated(created) = &mut fact {
            assert!(first.is_err(), "a chat of several nodes");
            created.chat = None;
        }
        let first = legal(&FlowState::default(), &fact);
        let journal = [
            "segment",
            "writer",
            "recovery",
            "quarantine",
            "repair_applied",
            "blob",
        ];
        let early = journal.iter().any(|part| fact.word().starts_with(part));
        let birth = fact.word() == "flow_created";
        assert_eq!(first.is_ok(), early || birth, "{}: {first:?}", fact.word());
    }
}

#[test]
fn a_flow_that_is_over_takes_only_what_outlives_it() {
    let state = upto("flow_completed", 0);
    let title = Fact::FlowTitled(FlowTitled {
        title: "Done".into(),
    });
    assert_eq!(legal(&state, &title), Ok(()));
    let reopen = Fact::NodeReopened(NodeReopened {
        client: None,
        node: id("draft"),
        note: None,
    });
    assert_eq!(legal(&state, &reopen), Ok(()));
    let over = |fact: &Fact| matches!(legal(&state, fact), Err(Illegal::Over { .. }));
    let refused: Vec<_> = every_kind()
        .iter()
        .filter(|f| over(f))
        .map(Fact::word)
        .collect();
    insta::assert_snapshot!(refused.join("\n"), @r"
    flow_imported
    ends_chosen
    graph_revised
    flow_paused
    flow_unpaused
    flow_cancelled
    forward_pass_closed
    flow_completed
    node_retried
    node_claimed
    handoff_applied
    handoff_staged
    handoff_decided
    handoff_awaited
    node_suspended
    node_woken
    repair_requested
    session_imported
    operator_replied
    operator_steered
    improvement_chosen
    reflection_started
    findings_recorded
    feedback_decided
    feedback_started
    feedback_recorded
    ");
    let reopened = after(state, &reopen);
    assert_eq!(reopened.status.word(), "running");
    assert!(reopened.wanted.contains_key("draft"));
}

#[test]
fn a_node_is_claimed_by_its_own_role_in_the_next_turn() {
    let why = refused(
        "node_claimed",
        2,
        change!(NodeClaimed, f => f.role = id("reviewer")),
    );
    assert!(matches!(why, Illegal::WrongRole { .. }), "{why}");
    let why = refused(
        "node_claimed",
        2,
        change!(NodeClaimed, f => f.turn = TurnId(9)),
    );
    assert_eq!(
        why,
        Illegal::TurnNumber {
            turn: TurnId(9),
            next: 3
        }
    );
    let why = refused(
        "node_claimed",
        2,
        change!(NodeClaimed, f => f.node = id("nowhere")),
    );
    assert!(matches!(why, Illegal::UnknownNode { .. }), "{why}");
}

#[test]
fn a_node_reads_only_what_arrived() {
    let twice = change!(NodeClaimed, f => f.consumed.push(f.consumed[0].clone()));
    assert!(matches!(
        refused("node_claimed", 2, twice),
        Illegal::NotReceived { .. }
    ));
    let other = change!(NodeClaimed, f => f.consumed[0].way = HandoffWay::Backward);
    assert!(matches!(
        refused("node_claimed", 2, other),
        Illegal::NotReceived { .. }
    ));
    let none = change!(NodeClaimed, f => f.consumed.clear());
    assert!(matches!(
        refused("node_claimed", 2, none),
        Illegal::Entry { .. }
    ));
    let reply = change!(NodeClaimed, f => f.replies = vec![id("m99")]);
    assert!(matches!(
        refused("node_claimed", 1, reply),
        Illegal::UnknownReply { .. }
    ));
}

#[test]
fn one_role_instance_takes_one_turn_at_a_time() {
    let (mut state, fact) = before("node_claimed", 2);
    let busy = state.running.get("draft").cloned();
    assert!(busy.is_none());
    let (other, _) = before("model_requested", 2);
    state
        .running
        .insert(id("elsewhere"), other.running["draft"].clone());
    assert!(matches!(
        legal(&state, &fact),
        Err(Illegal::RoleBusy { .. })
    ));
}

#[test]
fn nothing_new_starts_in_a_pause() {
    let (state, fact) = before("node_claimed", 2);
    let pause = Fact::FlowPaused(FlowPaused {
        client: None,
        reason: PauseReason::Operator,
        detail: None,
    });
    let paused = after(state, &pause);
    assert_eq!(paused.status.word(), "paused");
    assert_eq!(legal(&paused, &fact), Err(Illegal::Paused));
    assert_eq!(legal(&paused, &pause), Err(Illegal::Paused));
}

#[test]
fn a_late_answer_is_refused_by_its_try() {
    // The third request of the third turn was asked in its second try.
    let (state, mut fact) = before("model_answered", 3);
    let Fact::ModelAnswered(answer) = &mut fact else {
        panic!("no answer");
    };
    answer.attempt = 1;
    let late = Illegal::Late {
        turn: TurnId(3),
        attempt: 1,
        present: 2,
    };
    assert_eq!(legal(&state, &fact), Err(late));
}

#[test]
fn an_answer_that_is_not_what_was_streamed_is_refused() {
    let other =
        change!(ModelAnswered, f => f.text = AnswerText::Drafted(ConfirmedDraft::of("else")));
    assert!(matches!(
        refused("model_answered", 0, other),
        Illegal::Request { .. }
    ));
    let old = change!(DraftAdded, f => f.request = 7);
    assert!(matches!(
        refused("draft_added", 1, old),
        Illegal::Request { .. }
    ));
}

#[test]
fn a_call_waits_for_the_answer_that_is_bound_to_it() {
    let other = change!(ConsentResolved, f => f.action = Hash::of(b"rm -rf /"));
    assert!(matches!(
        refused("consent_resolved", 0, other),
        Illegal::Consent { .. }
    ));
    let (_, start) = before("call_started", 1);
    let waits = upto("consent_requested", 0);
    assert_eq!(
        legal(&waits, &start),
        Err(Illegal::CallState {
            call: id("c2"),
            state: CallState::Consent
        })
    );
    let (_, woken) = before("node_woken", 0);
    let suspended = upto("node_suspended", 1);
    assert!(matches!(
        legal(&suspended, &woken),
        Err(Illegal::Consent { .. })
    ));
}

#[test]
fn a_rule_decides_about_a_call_that_has_not_begun_and_says_yes_or_no() {
    let (state, asked) = before("consent_requested", 0);
    let Fact::ConsentRequested(asked) = asked else {
        panic!("another kind of fact");
    };
    let ruled = |change: fn(&mut ConsentRuled)| {
        let mut ruled = ConsentRuled {
            call: asked.call.clone(),
            role: asked.role.clone(),
            node: asked.node.clone(),
            tool: asked.tool.clone(),
            action: asked.action,
            about: "run git log".into(),
            answer: ConsentAnswer::AllowOnce,
            by: DecidingRule {
                rule: "git log *".into(),
                origin: RuleOrigin::Flow,
            },
        };
        change(&mut ruled);
        Fact::ConsentRuled(ruled)
    };
    assert_eq!(legal(&state, &ruled(|_| ())), Ok(()));
    assert_eq!(
        legal(&state, &ruled(|f| f.answer = ConsentAnswer::Deny)),
        Ok(())
    );
    for change in [
        |f: &mut ConsentRuled| f.answer = ConsentAnswer::AllowFlow,
        |f: &mut ConsentRuled| f.answer = ConsentAnswer::Withdrawn,
        |f: &mut ConsentRuled| f.tool = "write_file".into(),
        |f: &mut ConsentRuled| f.role = id("nobody"),
        |f: &mut ConsentRuled| f.call = id("c99"),
    ] {
        let found = legal(&state, &ruled(change));
        assert!(matches!(found, Err(Illegal::Call { .. })), "{found:?}");
    }
    // What is asked about is answered by its own fact, and what runs by none.
    for word in ["consent_requested", "call_started"] {
        let state = upto(word, usize::from(word == "call_started"));
        let found = legal(&state, &ruled(|_| ()));
        assert!(matches!(found, Err(Illegal::CallState { .. })), "{found:?}");
    }
}

#[test]
fn a_flow_has_so_many_rules_and_each_of_them_once() {
    let state = upto("flow_created", 0);
    let added = |rules: ConsentRules| {
        Fact::ConsentRulesAdded(ConsentRulesAdded {
            rules,
            client: None,
        })
    };
    let many = |count: usize| ConsentRules {
        allow: (0..count).map(|it| format!("edits:{it}")).collect(),
        deny: Vec::new(),
    };
    let state = after(state, &added(many(CONSENT_RULES_MAX)));
    assert_eq!(state.rules.len(), CONSENT_RULES_MAX);
    assert_eq!(legal(&state, &added(many(CONSENT_RULES_MAX))), Ok(()));
    let more = added(many(CONSENT_RULES_MAX + 1));
    let found = legal(&state, &more);
    assert!(matches!(found, Err(Illegal::TooMany { .. })), "{found:?}");
}

#[test]
fn a_call_that_changes_things_never_runs_twice_by_itself() {
    let mut state = upto("call_started", 1);
    state.turns.get_mut(&TurnId(3)).unwrap().attempt = 2;
    let rerun = Fact::CallRerun(CallRerun {
        call: id("c2"),
        role: id("writer"),
        why: "why not".into(),
    });
    assert!(matches!(legal(&state, &rerun), Err(Illegal::Call { .. })));
}

#[test]
fn an_artifact_is_passed_once_and_along_edges_only() {
    let again = change!(HandoffApplied, f => f.deliveries[0].artifact.path = "notes-1.md".into());
    assert!(matches!(
        refused("handoff_applied", 3, again),
        Illegal::PassedBefore { .. }
    ));
    let twice = change!(HandoffApplied, f => f.deliveries.push(f.deliveries[0].clone()));
    assert!(matches!(
        refused("handoff_applied", 0, twice),
        Illegal::TargetTwice { .. }
    ));
    let nowhere = change!(HandoffApplied, f => f.deliveries[0].edge.to = id("review"));
    assert!(matches!(
        refused("handoff_applied", 0, nowhere),
        Illegal::UnknownEdge { .. }
    ));
    let none = change!(HandoffApplied, f => f.deliveries.clear());
    assert!(matches!(
        refused("handoff_applied", 0, none),
        Illegal::NoTarget { .. }
    ));
    let (mut state, back) = before("handoff_applied", 2);
    state.completed_edges.clear();
    assert!(matches!(
        legal(&state, &back),
        Err(Illegal::NotCompleted { .. })
    ));
}

#[test]
fn what_the_operator_approved_is_what_goes_through() {
    let other = change!(HandoffApplied, f => f.deliveries[0].artifact.bytes += 1);
    assert!(matches!(
        refused("handoff_applied", 4, other),
        Illegal::Approval { .. }
    ));
    let (state, fact) = before("handoff_staged", 0);
    let Fact::HandoffStaged(staged) = fact else {
        panic!("nothing is staged");
    };
    let past = Fact::HandoffApplied(crate::fact::node::HandoffApplied {
        node: staged.node,
        turn: staged.turn,
        deliveries: staged.deliveries,
        approval: None,
    });
    assert!(matches!(
        legal(&state, &past),
        Err(Illegal::NeedsApproval { .. })
    ));
}

#[test]
fn a_command_of_a_client_counts_once() {
    let (state, mut reply) = before("operator_replied", 0);
    let state = after(state, &reply);
    if let Fact::OperatorReplied(reply) = &mut reply {
        reply.reply = id("another");
    }
    assert!(matches!(
        legal(&state, &reply),
        Err(Illegal::Repeated { .. })
    ));
}

#[test]
fn a_revised_graph_keeps_a_place_for_what_happened() {
    let (state, _) = before("handoff_applied", 3);
    let graph = crate::fact::flow::Outline::clone(&state.graph);
    let revise = |graph| {
        Fact::GraphRevised(GraphRevised {
            client: None,
            graph,
            by: crate::fact::flow::FactAuthor::Operator,
        })
    };
    assert_eq!(legal(&state, &revise(graph.clone())), Ok(()));
    let mut without_node = graph.clone();
    without_node.nodes.retain(|node| node.id != id("review"));
    assert!(matches!(
        legal(&state, &revise(without_node)),
        Err(Illegal::Graph { .. })
    ));
    let mut without_edge = graph.clone();
    without_edge.edges.remove(0);
    assert!(matches!(
        legal(&state, &revise(without_edge)),
        Err(Illegal::Graph { .. })
    ));
    let mut other_role = graph;
    other_role.nodes[1].role = id("reviewer");
    assert!(matches!(
        legal(&state, &revise(other_role)),
        Err(Illegal::Graph { .. })
    ));
}

#[test]
fn the_forward_pass_closes_when_nothing_is_left() {
    let (state, close) = before("forward_pass_closed", 0);
    let mut owed = state.clone();
    owed.completed_edges.pop_first();
    owed.owing.insert(id("draft"));
    assert!(matches!(
        legal(&owed, &close),
        Err(Illegal::NotClosable { .. })
    ));
    let mut waits = state.clone();
    waits.awaiting_handoff.insert(id("draft"));
    assert!(matches!(
        legal(&waits, &close),
        Err(Illegal::NotClosable { .. })
    ));
    let mut wanted = state.clone();
    wanted.wanted.insert(id("draft"), WantedRun::Retried);
    assert!(matches!(
        legal(&wanted, &close),
        Err(Illegal::NotClosable { .. })
    ));
    let mut not_owed = state;
    not_owed.completed_edges.pop_first();
    assert_eq!(legal(&not_owed, &close), Ok(()));
}

#[test]
fn improvement_facts_wait_for_their_phase() {
    for (word, early) in [
        ("improvement_chosen", "forward_pass_closed"),
        ("reflection_started", "improvement_chosen"),
        ("feedback_decided", "findings_recorded"),
        ("feedback_started", "feedback_decided"),
        ("flow_completed", "feedback_recorded"),
    ] {
        let (_, fact) = before(word, 0);
        let (state, _) = before(early, 0);
        assert!(legal(&state, &fact).is_err(), "{word} before {early}");
    }
    // The owner reflects last.
    let (state, _) = before("reflection_started", 0);
    let (_, mut fact) = before("reflection_started", 0);
    if let Fact::ReflectionStarted(reflection) = &mut fact {
        reflection.role = id("owner");
    }
    assert!(matches!(
        legal(&state, &fact),
        Err(Illegal::Improvement { .. })
    ));
}

#[test]
fn nothing_is_said_between_a_call_and_its_result() {
    let (_, mut note) = before("message_added", 0);
    let Fact::MessageAdded(message) = &mut note else {
        panic!("no message");
    };
    message.role = id("writer");
    message.message = id("note");
    let open_call = upto("call_started", 0);
    assert!(matches!(
        legal(&open_call, &note),
        Err(Illegal::Turn { .. })
    ));
    let asked = upto("model_requested", 2);
    assert!(matches!(legal(&asked, &note), Err(Illegal::Message { .. })));
}
