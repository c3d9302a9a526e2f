//! Legality, by a whole flow, by taking that flow apart, and by one example a rule.

mod rules;

use std::collections::BTreeMap;

use super::{Illegal, legal};
use crate::fact::Fact;
use crate::line::Recorded;
use crate::sample::{long, recorded, walk};
use crate::view::{FactView, FlowState};

/// Folds facts as long as they are legal, and says where they stop being so.
fn judge(facts: impl IntoIterator<Item = Fact>) -> (FlowState, Option<(usize, Illegal)>) {
    let mut state = FlowState::default();
    for (place, record) in recorded(facts).enumerate() {
        let fact = record.fact().unwrap();
        if let Err(why) = legal(&state, fact) {
            return (state, Some((place, why)));
        }
        state.apply(&record);
    }
    (state, None)
}

/// The state after the facts of the walk before the first of that kind, and that fact.
fn before(word: &str, nth: usize) -> (FlowState, Fact) {
    let mut state = FlowState::default();
    let mut left = nth;
    for record in recorded(walk()) {
        if record.word() == word {
            if left == 0 {
                return (state, record.fact().unwrap().clone());
            }
            left -= 1;
        }
        state.apply(&record);
    }
    panic!("the walk has no such {word}");
}

fn after(mut state: FlowState, fact: &Fact) -> FlowState {
    let record = Recorded::new(state.seq + 1, state.updated_at.unwrap(), fact.clone());
    state.apply(&record);
    state
}

#[test]
fn the_whole_walk_is_legal_step_by_step() {
    let (state, stopped) = judge(walk());
    assert_eq!(stopped, None);
    assert_eq!(state.status.word(), "completed");
    assert!(state.turns.is_empty() && state.calls.is_empty() && state.consents.is_empty());
    assert!(state.received.is_empty() && state.running.is_empty() && state.staged.is_empty());
}

#[test]
fn long_flows_are_legal_whatever_their_seed() {
    for seed in 0..20 {
        assert_eq!(judge(long(40, seed)).1, None, "seed {seed}");
    }
}

/// The words of the walk for which a change of one fact is noticed nowhere, with how often.
fn unnoticed(change: impl Fn(&mut Vec<Fact>, usize) -> bool) -> String {
    let whole = walk();
    let mut words = BTreeMap::<&str, u32>::new();
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        if change(&mut changed, place) && judge(changed).1.is_none() {
            *words.entry(whole[place].word()).or_default() += 1;
        }
    }
    let line = |(word, times): (&&str, &u32)| format!("{word} {times}");
    words.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_fact_that_is_recorded_twice_is_refused_unless_it_may_happen_twice() {
    let twice = unnoticed(|facts, place| {
        facts.insert(place, facts[place].clone());
        true
    });
    insta::assert_snapshot!(twice, @r"
    consent_mode_changed 1
    draft_added 4
    recovery_truncated 1
    role_configured 1
    segment_started 1
    session_resumed 2
    writer_opened 2
    ");
}

#[test]
fn a_fact_that_is_missing_is_noticed_unless_nothing_rests_on_it() {
    let missing = unnoticed(|facts, place| {
        facts.remove(place);
        true
    });
    insta::assert_snapshot!(missing, @r"
    budget_set 1
    change_decided 1
    consent_mode_changed 1
    draft_added 3
    flow_completed 1
    grant_added 1
    message_added 2
    node_suspended 1
    recovery_truncated 1
    role_configured 1
    segment_started 1
    session_resumed 2
    system_prompt_built 4
    writer_opened 2
    ");
}

#[test]
fn two_facts_that_changed_places_are_noticed_unless_their_order_means_nothing() {
    let swapped = unnoticed(|facts, place| {
        let other = place + 1;
        if other < facts.len() && facts[place] != facts[other] {
            facts.swap(place, other);
            return true;
        }
        false
    });
    insta::assert_snapshot!(swapped, @r"
    budget_set 1
    call_finished 1
    change_decided 1
    compaction_started 1
    consent_mode_changed 1
    consent_resolved 1
    draft_added 3
    feedback_recorded 1
    feedback_started 1
    findings_recorded 3
    forward_pass_closed 1
    grant_added 1
    handoff_applied 5
    message_added 12
    model_answered 2
    model_failed 1
    node_claimed 3
    node_suspended 3
    node_woken 1
    operator_steered 1
    recovery_truncated 1
    role_configured 1
    segment_started 1
    session_resumed 2
    system_prompt_built 4
    turn_ended 11
    turn_resumed 1
    turn_started 2
    writer_opened 2
    ");
}
