//! A turn that the operator takes.

use a_society_facts::fact::node::with_choices;

use super::*;

#[test]
fn a_turn_of_the_operators_own_says_how_it_may_end() {
    let (_, mut records) = journals().remove(2);
    let place = (records.iter())
        .position(|recorded| matches!(recorded.fact(), Some(Fact::FlowCreated(_))))
        .unwrap();
    let Some(Fact::FlowCreated(mut created)) = records[place].fact().cloned() else {
        unreachable!("it was looked for")
    };
    let source = created.graph.source.shown();
    let person = source.replace(
        "  planner:\n    executor: scripted\n",
        "  planner:\n    executor: human\n",
    );
    assert_ne!(person, source);
    created.graph.source = Text::Inline(person);
    let (seq, at) = (records[place].seq, records[place].at);
    records[place] = Recorded::new(seq, at, Fact::FlowCreated(created));
    for recorded in &mut records {
        if let Some(Fact::NodeSuspended(mut waits)) = recorded.fact().cloned()
            && waits.role.as_str() == "planner"
        {
            waits.own_turn = Some(true);
            *recorded = Recorded::new(recorded.seq, recorded.at, Fact::NodeSuspended(waits));
        }
    }
    let ask = only_ask(&records);
    let AskKind::Text { turn, .. } = &ask.kind else {
        panic!("{ask:?}")
    };
    let turn = turn.as_ref().unwrap();
    assert_eq!(ask.headline, "Your turn as planner");
    assert_eq!(turn.forward, ["sign"]);
    assert_eq!(turn.backward, ["start"]);
    assert!(turn.waits && !turn.closes && turn.writes.is_none());
}

#[test]
fn a_question_brings_its_choices_as_data_and_in_its_text() {
    let (_, mut records) = journals().remove(2);
    let offered = ["Drop it.", "<b>2</b> keep both\u{202e}"].map(str::to_owned);
    for recorded in &mut records {
        if let Some(Fact::NodeSuspended(mut waits)) = recorded.fact().cloned()
            && waits.role.as_str() == "planner"
        {
            waits.own_turn = Some(false);
            waits.question = Some(Text::from(with_choices("Which one?", &offered)));
            waits.choices = offered.to_vec();
            *recorded = Recorded::new(recorded.seq, recorded.at, Fact::NodeSuspended(waits));
        }
    }
    let ask = only_ask(&records);
    assert_eq!(ask.short, "Which one?");
    let AskKind::Text {
        question, choices, ..
    } = &ask.kind
    else {
        panic!("{ask:?}")
    };
    assert_eq!(*choices, offered);
    assert!(
        question.starts_with("Which one?\n\n1. Drop it.\n2. "),
        "{question}"
    );
}

/// The one thing that is asked at the end of a journal.
fn only_ask(records: &[Recorded]) -> Ask {
    let mut fold = fold();
    for recorded in records {
        fold.apply(recorded, &shown);
    }
    let mut asks = (fold.whole().into_values()).filter_map(|part| {
        if let Part::Ask(ask) = part {
            return Some(*ask);
        }
        None
    });
    let ask = asks.next().unwrap();
    assert_eq!(asks.next(), None);
    ask
}
