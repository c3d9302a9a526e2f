//! A turn that the operator takes.

use super::asks::only_ask;
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
