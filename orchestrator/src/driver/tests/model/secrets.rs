//! Secrets in what a model says: the model and its tools read them unchanged, the journal never does.

use super::*;

fn key() -> String {
    format!("sk-ant-{}", "api03-CANARYCANARYCANARY")
}

/// Says a key in pieces that are cut inside it, and writes it to a file.
fn says_a_key() -> Vec<StreamArrival> {
    let text = format!("The key is {} as you know.", key());
    let (first, second) = text.split_at(22);
    let input = format!(r#"{{"path":"a.txt","content":"KEY {}\n"}}"#, key());
    let mut arrivals = answer(&text, &[("write_file", &input)], 10);
    let thought = format!("I remember {}", key());
    let (early, late) = thought.split_at(20);
    arrivals.splice(
        0..1,
        [
            StreamEvent::Reasoning(early.to_owned()),
            StreamEvent::Reasoning(late.to_owned()),
            StreamEvent::Text(first.to_owned()),
            StreamEvent::Text(second.to_owned()),
        ]
        .map(StreamArrival::Event),
    );
    if let Some(StreamArrival::Answer(answer)) = arrivals.last_mut() {
        let block = format!(r#"{{"type":"thinking","thinking":"{thought}","signature":"s"}}"#);
        answer.blocks = Some(a_society_providers::Blocks {
            provider: "puppet".to_owned(),
            model: "puppet-1".to_owned(),
            paused: false,
            blocks: vec![RawValue::from_string(block).unwrap()],
        });
    }
    arrivals
}

fn allow() -> Verb {
    Verb::Allow {
        consent: None,
        action: None,
        for_the_flow: false,
    }
}

fn journal(world: &World, core: &Core) -> String {
    format!("{:?}", world.facts(core))
}

#[test]
fn a_secret_that_a_model_says_is_never_recorded_and_the_same_turn_uses_it_unchanged() {
    let question = format!(
        "May I use {}?\n\n```handoff\ntype: prompt-human\n```",
        key()
    );
    let world = World::new(Puppet::will_say([says_a_key(), says(&question)]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::Consent));
    answer_consent(&mut core, allow());
    walk(&mut core, 1000);

    assert_eq!(
        world.read("a.txt").as_deref(),
        Some(&*format!("KEY {}\n", key()))
    );
    let second = format!("{:?}", world.puppet.asked().last().unwrap());
    assert_eq!(
        second.matches(&key()).count(),
        2,
        "its words and its call: {second}"
    );
    assert_eq!(waits_for(&core), Some(WaitReason::PromptHuman));
    let journal = journal(&world, &core);
    assert!(!journal.contains("CANARY"), "{journal}");
    assert!(
        journal.contains("The key is [secret withheld] as you know."),
        "{journal}"
    );
    assert!(
        journal.contains("I remember [secret withheld]"),
        "{journal}"
    );
    assert!(
        journal.contains("May I use [secret withheld]?"),
        "{journal}"
    );
}

#[test]
fn the_next_turn_of_a_session_reads_what_was_recorded() {
    let question = "Which?\n\n```handoff\ntype: prompt-human\n```";
    let mut answers = says_a_key();
    if let Some(StreamArrival::Answer(answer)) = answers.last_mut() {
        answer.calls.clear();
        answer.stop = AnswerStop::End;
        answer.text += &["\n\n", question].concat();
    }
    let world = World::new(Puppet::will_say([answers, says(question)]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    let reply = Verb::Reply {
        to: Whom::Only,
        text: "Blue.".to_owned(),
        asked: None,
    };
    core.obey(reply, None).unwrap();
    walk(&mut core, 1000);
    let asked = world.puppet.asked();
    let second = format!("{:?}", asked.last().unwrap());
    assert_eq!(asked.len(), 2);
    assert!(
        second.contains("The key is [secret withheld] as you know."),
        "{second}"
    );
    assert!(!second.contains("CANARY"), "{second}");
}

#[test]
fn a_call_whose_secret_a_crash_took_is_not_run_and_the_model_reads_why() {
    let mut world = World::new(Puppet::will_say([says_a_key(), closes()]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    let mut core = world.die(core);
    walk(&mut core, 1000);
    answer_consent(&mut core, allow());
    walk(&mut core, 1000);
    assert_eq!(
        world.read("a.txt"),
        None,
        "a file with a mark for a key helps nobody"
    );
    let second = format!("{:?}", world.puppet.asked().last().unwrap());
    assert!(
        second.contains("the runtime does not keep secrets over a restart"),
        "{second}"
    );
    assert!(core.state().turns.is_empty(), "the turn came to its end");
}
