//! Table S, the rows about consent to tool calls.

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::Verb;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::operator::{AnsweredBefore, ConsentAnswer, ConsentMode, Grant};
use a_society_facts::view::flow::CallState;

use super::sim::Sim;
use super::support::{Flow, bringing, id, wants};
use crate::machine::{Brought, OperatorQuestion, Refusal, VerbNeed, Work};

/// Two roles at work, each of which asked for consent.
fn asking() -> Sim {
    let mut flow = Flow::on("a:owner b:writer c:editor z:owner", "a>b a>c b>z c>z");
    flow.passes("a", "b c");
    flow.claim("b").unwrap();
    flow.claim("c").unwrap();
    let mut sim = Sim::new(flow);
    for node in ["b", "c"] {
        let (turn, attempt) = sim.flow.turn(node);
        sim.asks(turn, attempt);
    }
    sim
}

fn answer(sim: &mut Sim, answer: ConsentAnswer, action: &str, also: bool) -> String {
    let open: Vec<_> = sim.flow.state.consents.keys().cloned().collect();
    let consent = Some(open.first().cloned().unwrap_or(id("gone")));
    let action = Some(Hash::of(action.as_bytes()));
    let verb = if answer == ConsentAnswer::Deny {
        Verb::Deny {
            consent,
            action,
            reason: None,
        }
    } else {
        Verb::Allow {
            consent,
            action,
            for_the_flow: answer == ConsentAnswer::AllowFlow,
        }
    };
    let also = if also { open } else { Vec::new() };
    let brought = Brought::Grant(Some(Grant::Edits), also);
    sim.flow.words(bringing(verb, brought, Some(id("answer"))))
}

fn runs(sim: &Sim) -> usize {
    let work = sim.flow.pending();
    let runs = |work: &&Work| matches!(work, Work::RunTurn { .. });
    work.iter().filter(runs).count()
}

#[test]
fn s10_whoever_asks_for_consent_waits_and_its_question_is_shown() {
    let sim = asking();
    assert_eq!(runs(&sim), 0);
    let asks = |work: &Work| matches!(work, Work::AskOperator(OperatorQuestion::Consent { .. }));
    assert_eq!(
        sim.flow.pending().iter().filter(|work| asks(work)).count(),
        2
    );
    assert_eq!(
        sim.flow.reply_refused("b"),
        "b takes no text: it waits for your consent to a call"
    );
}

#[test]
fn s11_consent_lets_the_same_turn_go_on() {
    let mut sim = asking();
    let words = answer(&mut sim, ConsentAnswer::AllowOnce, "what runs", false);
    assert_eq!(words, "consent_resolved node_woken");
    assert_eq!(runs(&sim), 1);
    assert_eq!(sim.flow.turn("b").1, 1, "it is the same try");
    let again = answer(&mut sim, ConsentAnswer::AllowOnce, "what runs", false);
    assert_eq!(again, "", "R7: the command counted already");
}

#[test]
fn s11_an_answer_is_bound_to_what_the_operator_saw() {
    let mut sim = asking();
    let words = answer(&mut sim, ConsentAnswer::AllowOnce, "something else", false);
    assert!(words.starts_with("refused"), "{words}");
}

#[test]
fn s12_consent_for_the_flow_answers_every_request_that_it_covers() {
    let mut sim = asking();
    let words = answer(&mut sim, ConsentAnswer::AllowFlow, "what runs", true);
    let expected = "grant_added consent_mode_changed consent_resolved node_woken \
                    consent_resolved node_woken";
    assert_eq!(words, expected);
    assert_eq!(sim.flow.state.consent_mode, ConsentMode::PartialAccess);
    assert_eq!(runs(&sim), 2);
    // The one was answered, the other by that.
    assert_eq!(sources(&sim), [Some(AnsweredBefore::Grant), None]);
}

/// What gave the answers, where it was not the operator's own.
fn sources(sim: &Sim) -> Vec<Option<AnsweredBefore>> {
    let resolved = sim.flow.facts.iter().filter_map(|fact| {
        if let Fact::ConsentResolved(f) = fact {
            Some(f.beforehand)
        } else {
            None
        }
    });
    resolved.collect()
}

#[test]
fn s12_a_grant_is_asked_for_and_what_cannot_be_granted_is_allowed_this_once() {
    let mut sim = asking();
    let consent = sim.flow.state.consents.keys().next().cloned();
    let allow = |brought| {
        let verb = Verb::Allow {
            consent: consent.clone(),
            action: None,
            for_the_flow: true,
        };
        bringing(verb, brought, None)
    };
    let asked = sim.flow.say(allow(Brought::Nothing));
    let need = VerbNeed::Grant(consent.clone().unwrap());
    assert_eq!(asked, Err(Refusal::Needs(need)));
    let words = sim.flow.words(allow(Brought::Grant(None, Vec::new())));
    assert_eq!(words, "consent_resolved node_woken");
    assert_eq!(sim.flow.state.consent_mode, ConsentMode::NoAccess);
}

#[test]
fn s11_one_of_several_requests_is_named_and_the_only_one_need_not_be() {
    let mut sim = asking();
    let allow = || {
        wants(Verb::Allow {
            consent: None,
            action: None,
            for_the_flow: false,
        })
    };
    let words = sim.flow.words(allow());
    assert!(words.starts_with("refused: several calls ask"), "{words}");
    answer(&mut sim, ConsentAnswer::AllowOnce, "what runs", false);
    assert_eq!(sim.flow.words(allow()), "consent_resolved node_woken");
    assert_eq!(sim.flow.words(allow()), "refused: no call asks for consent");
}

#[test]
fn s13_a_denied_call_gets_its_result_and_then_the_node_waits() {
    let mut sim = asking();
    answer(&mut sim, ConsentAnswer::Deny, "what runs", false);
    let states: Vec<CallState> = sim.flow.state.calls.values().map(|c| c.state).collect();
    assert!(states.contains(&CallState::Denied));
    let (turn, attempt) = sim.flow.turn("b");
    let early = sim
        .flow
        .ends("b", crate::machine::TurnEnding::ConsentDenied);
    assert!(
        early.starts_with("refused"),
        "a call has no result yet: {early}"
    );
    sim.ends(turn, attempt, crate::machine::TurnEnding::ConsentDenied)
        .unwrap();
    let waiting = &sim.flow.state.awaiting_operator["b"];
    assert_eq!(waiting.reason, WaitReason::ConsentDenied);
}

#[test]
fn s14_a_flow_that_need_not_ask_answers_all_requests() {
    let mut sim = asking();
    let words = sim.flow.words(wants(Verb::Mode {
        mode: ConsentMode::FullAccess,
    }));
    assert!(words.starts_with("consent_mode_changed consent_resolved node_woken"));
    assert_eq!(runs(&sim), 2);
    assert_eq!(sources(&sim), [Some(AnsweredBefore::FullAccess); 2]);
    // A crash after the mode changed leads to the same.
    let resolved = |fact: &Fact| matches!(fact, Fact::ConsentResolved(_));
    let first = sim.flow.facts.iter().position(resolved).unwrap();
    sim.flow.crash_after(first);
    sim.finish_it();
    assert_eq!(sources(&sim)[..2], [Some(AnsweredBefore::FullAccess); 2]);
}

#[test]
fn s8_a_stop_withdraws_the_request_of_its_turn() {
    let mut sim = asking();
    let facts = sim.flow.say(wants(Verb::Stop {
        scope: a_society_facts::fact::operator::StopScope::Node(id("b")),
    }));
    let words: Vec<&str> = facts.iter().flatten().map(Fact::word).collect();
    assert_eq!(words, ["stop_requested", "consent_resolved", "node_woken"]);
    assert_eq!(sim.flow.state.consents.len(), 1);
}

#[test]
fn x2_x3_a_crash_around_a_request_or_its_answer_leaves_no_one_waiting_for_nothing() {
    let sim = asking();
    for kept in 1..=sim.flow.facts.len() {
        let mut crashed = sim.clone();
        crashed.flow.crash_after(kept);
        crashed.finish_it();
    }
    let mut answered = asking();
    answer(&mut answered, ConsentAnswer::AllowFlow, "what runs", true);
    for kept in sim.flow.facts.len()..=answered.flow.facts.len() {
        let mut crashed = answered.clone();
        crashed.flow.crash_after(kept);
        crashed.finish_it();
    }
}
