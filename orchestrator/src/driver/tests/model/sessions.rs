//! What the operator does to the session of a model's role between its turns.

use a_society_facts::fact::session::{Strategy, Trigger};
use a_society_facts::view::session::SessionView;

use super::*;
use a_society_facts::Whom;

fn owner() -> RoleInstance {
    "owner".parse().unwrap()
}

fn session(core: &Core) -> &SessionView {
    core.flow().views().session(&owner()).unwrap()
}

/// A role that has read a file, written much and now waits for an answer.
fn asks() -> [Vec<StreamArrival>; 2] {
    [
        calls(&[("read_file", r#"{"path":"a.txt"}"#)]),
        says(&format!(
            "{}\n\nWhich one?\n\n```handoff\ntype: prompt-human\n```",
            "I looked at all of it. ".repeat(300)
        )),
    ]
}

fn shorten(core: &mut Core) -> Result<(), String> {
    let command = Verb::Compact {
        role: owner(),
        how: None,
    };
    core.obey(command, None)
        .map_err(|error| error.to_string())?;
    core.finish_asides().map_err(|error| error.to_string())
}

fn answers(core: &mut Core, text: &str) {
    let reply = Verb::Reply {
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
    let restore = Verb::Restore {
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
    assert!(content.contains("It read a.txt.</summary>"), "{content}");
    assert!(
        !content.contains("<request>"),
        "that was answered: {content}"
    );
    assert_eq!(reply, "The first one.");
}

#[test]
fn without_a_summary_the_beginnings_of_the_messages_stand_for_them_and_why_is_said() {
    for (bad, is_gone) in [
        (says(""), false),
        (fault(FaultClass::Key), false),
        (closes(), true),
    ] {
        let [first, second] = asks();
        let world = World::new(Puppet::will_say([first, second, bad.clone(), bad]));
        world.write("a.txt", "what it holds");
        let mut core = world.begin();
        walk(&mut core, 1000);
        let before = session(&core).messages.clone();
        world.puppet.is_gone.store(is_gone, Ordering::SeqCst);
        shorten(&mut core).unwrap();
        let [archive] = &session(&core).archives[..] else {
            panic!("{:?}", session(&core).archives)
        };
        assert_eq!(archive.strategy, Some(Strategy::Truncate));
        assert_eq!(archive.archived_transcript_history, before);
        let why = archive.why.clone().unwrap();
        let replaced = |fact: &Fact| matches!(fact, Fact::SessionCompacted(f) if f.why.is_some());
        assert!(world.facts(&core).iter().any(replaced));
        let [entry] = &session(&core).messages[..] else {
            panic!("{:?}", session(&core).messages)
        };
        let Message::User { content } = &*entry.message else {
            panic!("{entry:?}")
        };
        assert!(content.contains(&format!("No summary could be made ({why})")));
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
    core.obey(
        Verb::Compact {
            role: owner(),
            how: None,
        },
        None,
    )
    .unwrap();
    assert!(core.state().session(&owner()).unwrap().compaction.is_some());
    let mut core = world.die(core);
    assert!(core.state().session(&owner()).unwrap().compaction.is_none());
    assert!(session(&core).archives.is_empty() && session(&core).messages.len() > 3);
    let set = Verb::Budget {
        role: None,
        measure: Measure::Tokens,
        limit: Some(60),
    };
    core.obey(set, None).unwrap();
    let asked = world.puppet.asked().len();
    shorten(&mut core).unwrap();
    assert_eq!(
        session(&core).archives[0].strategy,
        Some(Strategy::Truncate)
    );
    assert_eq!(world.puppet.asked().len(), asked, "no request left");
}

#[test]
fn a_summary_is_asked_for_again_while_the_provider_is_away_and_no_longer_than_it_is_worth() {
    let away = || fault(FaultClass::Overloaded);
    for (failures, strategy) in [(2, Strategy::NodeSummary), (20, Strategy::Truncate)] {
        let [first, second] = asks();
        let mut answers = vec![first, second];
        answers.extend(std::iter::repeat_with(away).take(failures));
        answers.push(says("It read a.txt."));
        let world = World::new(Puppet::will_say(answers));
        world.write("a.txt", "what it holds");
        let mut core = world.begin();
        walk(&mut core, 1000);
        // Without the naps of a process that has nothing else to do.
        core.obey(
            Verb::Compact {
                role: owner(),
                how: None,
            },
            None,
        )
        .unwrap();
        walk(&mut core, 1000);
        let [archive] = &session(&core).archives[..] else {
            panic!("{:?}", session(&core).archives)
        };
        assert_eq!(archive.strategy, Some(strategy));
        let asked = world.puppet.asked().len() - 2;
        assert!(
            asked <= 6 && asked == 6.min(failures + 1),
            "{asked} requests"
        );
        assert!(core.state().turns.is_empty() && core.live_turns() == 0);
    }
}

#[test]
fn a_death_between_two_tries_at_a_summary_loses_nothing() {
    let [first, second] = asks();
    for steps in 0..6 {
        let away = fault(FaultClass::Overloaded);
        let answers = [first.clone(), second.clone(), away, says("It read a.txt.")];
        let mut world = World::new(Puppet::will_say(answers));
        world.write("a.txt", "what it holds");
        let mut core = world.begin();
        walk(&mut core, 1000);
        let before = session(&core).messages.clone();
        core.obey(
            Verb::Compact {
                role: owner(),
                how: None,
            },
            None,
        )
        .unwrap();
        walk(&mut core, steps);
        let core = world.die(core);
        let is_whole = session(&core).archives.is_empty() && session(&core).messages == before;
        let is_short = session(&core).archives.len() == 1;
        assert!(is_whole || is_short, "after {steps} steps");
        assert!(core.state().session(&owner()).unwrap().compaction.is_none());
    }
}

#[test]
fn a_full_window_is_emptied_once_the_provider_is_back_or_old_outputs_are_left_out() {
    let away = || fault(FaultClass::Overloaded);
    for (failures, archives) in [(3, 1), (6, 0)] {
        let long = "x".repeat(4000);
        let first = answer(&long, &[("read_file", r#"{"path":"a.txt"}"#)], 900);
        let mut answers = vec![first];
        answers.extend(std::iter::repeat_with(away).take(failures));
        answers.extend((archives == 1).then(|| says("It read a.txt.")));
        answers.push(closes());
        let mut world = World::new(Puppet::will_say(answers));
        world.window = 1000;
        world.write("a.txt", "what it holds");
        let mut core = world.begin();
        walk(&mut core, 1000);
        let of = |strategy| {
            let each = session(&core).archives.iter();
            each.filter(|kept| kept.strategy == Some(strategy)).count()
        };
        assert_eq!(
            (of(Strategy::NodeSummary), of(Strategy::Truncate)),
            (archives, 1 - archives)
        );
        let failed = world.facts(&core).into_iter().filter_map(|fact| {
            let Fact::ModelFailed(failed) = fact else {
                return None;
            };
            Some(failed.request)
        });
        let numbers: Vec<u32> = (1..=u32::try_from(failures).unwrap()).collect();
        assert_eq!(failed.collect::<Vec<_>>(), numbers);
        assert!(core.state().turns.is_empty(), "the turn went on");
    }
}

#[test]
fn l21_a_summary_of_which_nothing_comes_is_done_without() {
    let long = "x".repeat(4000);
    let first = answer(&long, &[("read_file", r#"{"path":"a.txt"}"#)], 900);
    let silent = vec![StreamArrival::Event(StreamEvent::Stalled { seconds: 30 })];
    let mut world = World::new(Puppet::will_say([first, silent.clone(), silent, closes()]));
    world.window = 1000;
    world.write("a.txt", "what it holds");
    let mut core = world.begin();
    walk(&mut core, 1000);
    let [archive] = &session(&core).archives[..] else {
        panic!("{:?}", session(&core).archives)
    };
    assert_eq!(archive.strategy, Some(Strategy::Truncate));
    assert!(archive.why.as_ref().unwrap().contains("30 s"));
    assert!(core.state().turns.is_empty(), "the turn went on");
}

#[test]
fn a_session_that_names_an_old_folder_hears_once_where_paths_start_now() {
    let asks = "Which one?\n\n```handoff\ntype: prompt-human\n```";
    let moved = "This flow moved. Paths start at the project folder, record/ is the shared folder; \
                 older paths above still resolve. Your tools are those listed now.";
    for (earlier, times) in [
        (" The record folder of this flow is `/old/record`.", 1),
        (" Record folder: /old/record\n", 1),
        (" The record folder of this flow is `/w/record`.", 0),
    ] {
        let mut world = World::new(Puppet::will_say([says(asks), says(asks), closes()]));
        world.earlier = earlier;
        let mut core = world.begin();
        walk(&mut core, 1000);
        let mut core = world.die(core);
        answers(&mut core, "This one.");
        answers(&mut core, "That one.");
        assert!(core.state().turns.is_empty(), "the turn came to its end");
        let last = format!("{:?}", world.puppet.asked().last().unwrap());
        assert_eq!(last.matches(moved).count(), times, "{earlier}: {last}");
    }
}
