//! Rows I10 to I12: a flow ends as it was chosen beforehand, with every driver.

use a_society_facts::Fact;
use a_society_facts::Verb;
use a_society_facts::fact::flow::{Ends, PauseReason};
use a_society_facts::fact::improvement::ImprovementMode::{self, GraphBased, None, Parallel};

use super::operator::any_ends;
use super::sim::Sim;
use super::support::{Flow, graph, wants};
use crate::machine::{Input, OperatorQuestion, Work};

/// The owner alone, a pair, and three roles.
const GRAPHS: [(&str, &str); 3] = [
    ("a:owner", ""),
    ("a:owner b:writer z:owner", "a>b b>z"),
    ("a:owner b:writer c:editor z:owner", "a>b b>c c>z"),
];

fn ends(improve: impl Into<Option<ImprovementMode>>, feedback: impl Into<Option<bool>>) -> Ends {
    Ends {
        improve: improve.into(),
        feedback: feedback.into(),
    }
}

/// A flow whose forward work was just closed.
fn closed(number: usize, ends: Ends) -> Sim {
    let (nodes, edges) = GRAPHS[number];
    let mut sim = Sim::new(Flow::ending(graph(nodes, edges), ends));
    while sim.flow.state.phase == a_society_facts::view::flow::FlowPhase::Forward {
        sim.benign();
    }
    sim
}

fn words(sim: &mut Sim, input: Input) -> String {
    sim.flow.words(input)
}

#[test]
fn i10_what_was_chosen_beforehand_is_applied_and_not_asked() {
    let rows = [
        (ends(None, false), "improvement_chosen flow_completed"),
        (ends(GraphBased, false), "improvement_chosen"),
        (ends(Parallel, Option::None), "improvement_chosen"),
    ];
    for (chosen, expected) in rows {
        let mut sim = closed(2, chosen);
        assert_eq!(sim.flow.pending(), [Work::ApplyEnds], "{chosen:?}");
        assert_eq!(words(&mut sim, Input::ApplyEnds), expected, "{chosen:?}");
        assert!(words(&mut sim, Input::ApplyEnds).starts_with("refused"));
    }
}

#[test]
fn i10_what_was_not_chosen_is_asked_as_ever() {
    let mut sim = closed(1, ends(Option::None, true));
    let asks = Work::AskOperator(OperatorQuestion::Improvement {
        modes: vec![GraphBased, Parallel, None],
    });
    assert_eq!(sim.flow.pending(), [asks]);
    let refused = words(&mut sim, Input::ApplyEnds);
    assert!(refused.starts_with("refused"), "{refused}");
}

#[test]
fn i11_a_way_that_does_not_fit_the_flow_is_asked() {
    let sim = closed(0, ends(Parallel, Option::None));
    let asks = Work::AskOperator(OperatorQuestion::Improvement {
        modes: vec![GraphBased, None],
    });
    assert_eq!(sim.flow.pending(), [asks]);
}

#[test]
fn i12_what_is_chosen_later_counts_more_and_leaves_the_rest() {
    let mut sim = closed(1, ends(GraphBased, true));
    let later = |improve| Input::ChooseEnds(ends(improve, Option::None));
    assert_eq!(words(&mut sim, later(GraphBased)), "", "it is so already");
    assert_eq!(words(&mut sim, later(Parallel)), "ends_chosen");
    assert_eq!(sim.flow.state.ends, ends(Parallel, true));
    let applied = sim.flow.say(Input::ApplyEnds).unwrap();
    assert!(
        matches!(&applied[..], [Fact::ImprovementChosen(f)] if f.mode == Parallel && f.beforehand)
    );
    sim.finish_it();
    let refused = words(&mut sim, later(None));
    assert!(refused.starts_with("refused"), "{refused}");
}

#[test]
fn i10_a_flow_that_pauses_applies_nothing_until_it_goes_on() {
    let mut sim = closed(1, ends(None, Option::None));
    let reason = PauseReason::Operator;
    sim.say(Input::Pause {
        reason,
        detail: Option::None,
    })
    .unwrap();
    let asks = Work::AskOperator(OperatorQuestion::Unpause { reason });
    assert_eq!(sim.flow.pending(), [asks]);
    assert!(words(&mut sim, Input::ApplyEnds).starts_with("refused"));
    sim.say(wants(Verb::Unpause {})).unwrap();
    assert_eq!(sim.flow.pending(), [Work::ApplyEnds]);
}

/// The questions about its end that a flow may still ask.
fn asked(chosen: Ends, alone: bool, work: &[Work]) {
    for work in work {
        if let Work::AskOperator(OperatorQuestion::Improvement { .. }) = work {
            let fits = chosen
                .improve
                .is_some_and(|mode| mode != Parallel || !alone);
            assert!(!fits, "{chosen:?} answers it");
        }
        if *work == Work::AskOperator(OperatorQuestion::Feedback) {
            assert_eq!(chosen.feedback, Option::None);
        }
    }
}

#[test]
fn i10_from_every_prefix_of_every_way_to_end_the_flow_ends_so() {
    for (number, way) in (0..GRAPHS.len()).flat_map(|n| (0..12).map(move |way| (n, way))) {
        let chosen = any_ends(way);
        let mut whole = closed(number, chosen);
        whole.finish_it();
        for kept in 1..=whole.flow.facts.len() {
            let mut sim = whole.clone();
            sim.flow.crash_after(kept);
            while !sim.flow.state.phase.is_over() {
                asked(chosen, number == 0, &sim.flow.pending());
                sim.benign();
            }
            let said = |fact: &Fact| {
                if let Fact::FeedbackDecided(f) = fact {
                    return chosen.feedback.is_none_or(|chosen| chosen == f.granted);
                }
                let Fact::ImprovementChosen(f) = fact else {
                    return true;
                };
                (chosen.improve)
                    .is_none_or(|chosen| chosen == f.mode || (chosen == Parallel && number == 0))
            };
            assert!(sim.flow.facts.iter().all(said), "{chosen:?} after {kept}");
        }
    }
}
