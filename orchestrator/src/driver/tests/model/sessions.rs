//! What the operator does to the session of a model's role between its turns.

use a_society_facts::fact::session::{Strategy, Trigger};
use a_society_facts::view::session::SessionView;

use super::*;
use crate::control::message::Whom;

fn owner() -> RoleInstance {
    "owner".parse().unwrap()
}

fn session(core: &Core) -> &SessionView {
    &core.flow().views().sessions[&owner()]
}

/// A role that has read a file, said much and now waits for an answer.
fn asks() -> [Vec<Arrival>; 2] {
    [
        calls(&[("read_file", r#"{"path":"a.txt"}"#)]),
        says(&format!(
            "{}\n\nWhich one?\n\n```handoff\ntype: prompt-human\n```",
            "I looked at all of it. ".repeat(300)
        )),
    ]
}

fn shorten(core: &mut Core) -> Result<(), String> {
    let command = Command::Compact { role: owner() };
    core.obey(command, None)
        .map_err(|error| error.to_string())?;
    core.finish_asides().map_err(|error| error.to_string())
}

fn answers(core: &mut Core, text: &str) {
    let reply = Command::Reply {
        to: Whom::Only,
        text: text.to_owned(),
        asked: None,
    };
    core.obey(reply, None).unwrap();
    walk(core, 1000);
}

#[test]
fn the_operator_makes_a_session_shorter_between_turns_and_takes_it_back() {
    let [first, second] = asks();
    let puppet = Puppet::will_say([first, second, says("It read a.txt."), closes()]);
    let mut world = World::new(puppet);
    world.write("a.txt", "what it holds");
    let mut core = world.begin();
    walk(&mut core, 1000);
    let before = session(&core).messages.clone();
    shorten(&mut core).unwrap();
    assert_eq!(
        (session(&core).messages.len(), session(&core).archives.len()),
        (1, 1)
    );
    let archive = session(&core).archives[0].clone();
    assert_eq!(archive.trigger, Trigger::Manual);
    assert_eq!(archive.archived_transcript_history, before);
    let mut core = world.die(core);
    assert_eq!(session(&core).archives.len(), 1, "it is there over a death");
    let restore = Command::Restore {
        role: owner(),
        archive: archive.id.clone(),
    };
    core.obey(restore.clone(), None).unwrap();
    assert_eq!(session(&core).messages, before);
    let twice = core.obey(restore, None).unwrap_err().to_string();
    assert!(twice.contains("there is no archive"), "{twice}");
    answers(&mut core, "The first one.");
    let asked = world.puppet.asked();
    let last = asked.last().unwrap();
    assert_eq!(
        last.len(),
        before.len() + 1,
        "all of it is said again: {last:?}"
    );
    assert!(core.state().turns.is_empty());
}

#[test]
fn a_session_that_was_made_shorter_goes_on_with_the_summary_alone() {
    let [first, second] = asks();
    let puppet = Puppet::will_say([first, second, says("It read a.txt."), closes()]);
    let world = World::new(puppet);
    world.write("a.txt", "what it holds");
    let mut core = world.begin();
    walk(&mut core, 1000);
    shorten(&mut core).unwrap();
    answers(&mut core, "The first one.");
    let asked = world.puppet.asked();
    let last = asked.last().unwrap();
    let [Message::User { content }, Message::User { content: reply }] = &last[..] else {
        panic!("a summary and the answer: {last:?}")
    };
    assert!(content.contains("It read a.txt.") && content.contains("the operator asked for it"));
    assert!(
        !content.contains("The last thing you were told"),
        "that was answered: {content}"
    );
    assert_eq!(reply, "The first one.");
}

#[test]
fn without_a_summary_the_beginnings_of_the_messages_stand_for_them_and_why_is_said() {
    for (bad, is_gone) in [
        (says(""), false),
        (fault(FaultClass::Server), false),
        (closes(), true),
    ] {
        let [first, second] = asks();
        let world = World::new(Puppet::will_say([first, second, bad]));
        world.write("a.txt", "what it holds");
        let mut core = world.begin();
        walk(&mut core, 1000);
        let before = session(&core).messages.clone();
        world.puppet.is_gone.store(is_gone, Ordering::SeqCst);
        shorten(&mut core).unwrap();
        let [archive] = &session(&core).archives[..] else {
            panic!("{:?}", session(&core).archives)
        };
        assert_eq!(archive.strategy, Strategy::Truncate);
        assert_eq!(archive.archived_transcript_history, before);
        let failed = |fact: &Fact| matches!(fact, Fact::CompactionFailed(_));
        assert!(world.facts(&core).iter().any(failed));
        assert!(core.state().turns.is_empty() && core.live_turns() == 0);
    }
}

#[test]
fn a_session_is_left_alone_while_its_role_has_a_turn_and_when_there_is_nothing_to_shorten() {
    let world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    let mut core = world.begin();
    assert!(shorten(&mut core).unwrap_err().contains("it has none"));
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::Consent));
    let why = shorten(&mut core).unwrap_err();
    assert!(why.contains("a turn of it is open"), "{why}");
    assert!(session(&core).archives.is_empty());
}

#[test]
fn a_budget_that_lacks_the_summary_does_without_it_and_a_death_meanwhile_loses_nothing() {
    let [first, second] = asks();
    let mut world = World::new(Puppet::will_say([first, second, says("It read a.txt.")]));
    world.write("a.txt", "what it holds");
    let mut core = world.begin();
    walk(&mut core, 1000);
    // It is announced, and the process dies before anything was asked.
    core.obey(Command::Compact { role: owner() }, None).unwrap();
    assert!(core.state().sessions[&owner()].compaction.is_some());
    let mut core = world.die(core);
    assert!(core.state().sessions[&owner()].compaction.is_none());
    assert!(session(&core).archives.is_empty() && session(&core).messages.len() > 3);
    let set = Input::SetBudget {
        role: None,
        measure: Measure::Tokens,
        limit: Some(60),
        client: None,
    };
    core.command(set).unwrap();
    let asked = world.puppet.asked().len();
    shorten(&mut core).unwrap();
    assert_eq!(session(&core).archives[0].strategy, Strategy::Truncate);
    assert_eq!(world.puppet.asked().len(), asked, "no request left");
}
