//! What a turn bears with before it says loudly that it does not come to an end.

use a_society_providers::CallFault;

use super::*;
use crate::config::user::ConfigBounds;

fn why(core: &Core) -> String {
    let question = core
        .state()
        .waits()
        .next()
        .and_then(|(_, it)| it.question.clone());
    question.map(|text| text.shown()).unwrap_or_default()
}

const LOOK: (&str, &str) = ("list_directory", r#"{"path":"."}"#);

#[test]
fn a_model_that_only_ever_asks_for_tools_is_stopped_loudly_at_the_limit_of_a_turn() {
    // Another folder each time: it would be stopped sooner for the same one.
    let endless = (0..).map(|at| {
        let input = format!(r#"{{"path":"{at}"}}"#);
        calls(&[("list_directory", &input)])
    });
    let most = usize::try_from(ConfigBounds::default().answers).unwrap();
    let world = World::new(Puppet::will_say(endless.take(most + 5)));
    let mut core = world.begin();
    walk(&mut core, 100_000);
    assert_eq!(waits_for(&core), Some(WaitReason::AutonomousAbort));
    assert!(why(&core).contains("turn_limit"), "{}", why(&core));
    assert_eq!(world.puppet.asked().len(), most);
    assert!(core.state().calls.is_empty(), "every call has its result");
}

/// An answer that asks for a tool with arguments that are not JSON.
fn unreadable() -> Vec<StreamArrival> {
    let mut arrivals = calls(&[("write_file", "{}")]);
    if let Some(StreamArrival::Answer(answer)) = arrivals.last_mut() {
        for call in &mut answer.calls {
            call.fault = Some(CallFault::NotJson {
                why: "at 3".into(),
                head: r#"{"p"#.into(),
            });
        }
    }
    arrivals
}

#[test]
fn l07_arguments_that_cannot_be_read_are_told_twice_and_nothing_of_them_runs() {
    let world = World::new(Puppet::will_say([
        unreadable(),
        unreadable(),
        unreadable(),
        closes(),
    ]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::AutonomousAbort));
    assert_eq!(world.puppet.asked().len(), 3);
    assert!(why(&core).contains("cannot be read"), "{}", why(&core));
    let started = |fact: &Fact| matches!(fact, Fact::CallStarted(_));
    assert!(!world.facts(&core).iter().any(started));
    // One good round in between, and they count anew.
    let world = World::new(Puppet::will_say([
        unreadable(),
        unreadable(),
        calls(&[LOOK]),
        unreadable(),
        unreadable(),
        closes(),
    ]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 6));
}

fn paused() -> Vec<StreamArrival> {
    let mut arrivals = says("I think.");
    if let Some(StreamArrival::Answer(answer)) = arrivals.last_mut() {
        answer.stop = AnswerStop::Paused;
    }
    arrivals
}

#[test]
fn l17_a_paused_answer_is_sent_again_five_times_and_then_counts_as_it_is() {
    let pauses = std::iter::repeat_with(paused);
    let world = World::new(Puppet::will_say(pauses.take(5).chain([closes()])));
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 6));
    let world = World::new(Puppet::will_say(pauses.take(6).chain([closes()])));
    let mut core = world.begin();
    walk(&mut core, 1000);
    let repairs = |fact: &Fact| matches!(fact, Fact::RepairRequested(_));
    assert!(world.facts(&core).iter().any(repairs), "it had no outcome");
    assert_eq!(world.puppet.asked().len(), 7, "it was asked to mend it");
}
