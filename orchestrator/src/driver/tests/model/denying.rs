//! What a no of the operator leads to: with a word about what to do instead, and without.

use super::*;

fn deny(reason: Option<&str>) -> Verb {
    Verb::Deny {
        consent: None,
        action: None,
        reason: reason.map(str::to_owned),
    }
}

#[test]
fn a_denied_call_ends_its_answer_and_the_role_waits_for_guidance() {
    let second = ("read_file", r#"{"path":"a.txt"}"#);
    let world = World::new(Puppet::will_say([calls(&[WRITE, second]), closes()]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    answer_consent(&mut core, deny(None));
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::ConsentDenied));
    assert_eq!(world.read("a.txt"), None);
    assert_eq!(
        world.ends(&core),
        [
            ("write_file".to_owned(), CallEnd::Denied),
            ("read_file".to_owned(), CallEnd::NotRun)
        ]
    );
}

/// The last results of calls that the model got.
fn results(world: &World) -> Vec<String> {
    let asked = world.puppet.asked();
    let last = asked.last().unwrap().iter();
    last.filter_map(|message| match message {
        Message::ToolResult { content, .. } => Some(content.clone()),
        Message::User { .. } | Message::Assistant { .. } | Message::AssistantToolCalls { .. } => {
            None
        }
    })
    .collect()
}

const SECOND: (&str, &str) = ("read_file", r#"{"path":"a.txt"}"#);

#[test]
fn a_no_that_says_what_to_do_instead_is_read_by_the_model_which_goes_on_at_once() {
    let world = World::new(Puppet::will_say([calls(&[WRITE, SECOND]), closes()]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    answer_consent(&mut core, deny(Some("Write b.txt,\nand leave a.txt.")));
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), None);
    assert_eq!(world.read("a.txt"), None);
    let told = results(&world);
    assert_eq!(
        told[0],
        "Denied by the operator: Write b.txt,\nand leave a.txt.\nDo not do the same another way; \
         choose another path, or ask_operator."
    );
    assert!(told[1].contains("denied another call of the same answer"));
    assert_eq!(
        world.ends(&core),
        [
            ("write_file".to_owned(), CallEnd::Denied),
            ("read_file".to_owned(), CallEnd::NotRun)
        ]
    );
    assert!(core.state().turns.is_empty(), "the same turn went on");
}

#[test]
fn a_no_with_a_word_that_a_death_cut_off_is_still_read_and_a_blank_word_is_none() {
    let mut world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    answer_consent(&mut core, deny(Some("Ask the editor.")));
    let mut core = world.die(core);
    walk(&mut core, 1000);
    assert!(results(&world)[0].starts_with("Denied by the operator: Ask the editor.\n"));

    let world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    answer_consent(&mut core, deny(Some(" \n")));
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::ConsentDenied));
}

/// One node whose handoff the operator looks at first.
const WATCHED: &str = r"
workflow:
  name: Watched
  nodes:
    - { id: ask, role: owner, human-colab: true }
    - { id: write, role: writer }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: write }
    - { from: write, to: close }
roles:
  owner: { instructions: Ask. }
  writer: { instructions: Write. }
";

#[test]
fn a_handoff_that_is_declined_with_a_word_has_its_role_go_on_with_that_word() {
    let handoff = "Here.\n\n```handoff\ntarget_node_id: write\nartifact_path: a.md\n```";
    let ask = "Which?\n\n```handoff\ntype: prompt-human\n```";
    let world = World::new(Puppet::will_say([says(handoff), says(ask)]));
    world.disk.make_folder("/w/record".as_ref()).ok();
    let path = std::path::Path::new("/w/record/a.md");
    a_society_state::atomic::replace(&world.disk, path, b"a").unwrap();
    let mut core = world.begin_with(WATCHED);
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::HandoffApproval));
    let decline = Verb::Decline {
        approval: None,
        reason: Some("Say more about bees.".to_owned()),
    };
    let client = Some("page-1".parse().unwrap());
    core.obey(decline.clone(), client.clone()).unwrap();
    assert_eq!(
        core.obey(decline, client).unwrap().facts,
        0,
        "it counts once"
    );
    walk(&mut core, 1000);
    let asked = world.puppet.asked();
    let heard = |message: &Message| matches!(message, Message::User { content } if content.contains("Say more about bees."));
    assert_eq!(asked.len(), 2, "the role went on at once");
    assert!(asked[1].iter().any(heard));
    assert_eq!(waits_for(&core), Some(WaitReason::PromptHuman));
    let applied = |fact: &Fact| matches!(fact, Fact::HandoffApplied(_));
    assert!(!world.facts(&core).iter().any(applied));
}

#[test]
fn k07_a_key_that_the_operator_typed_reaches_neither_journal_nor_model() {
    let key = format!("sk-ant-{}", "api03-CANARYCANARYCANARY");
    let world = World::new(Puppet::will_say([
        calls(&[WRITE]),
        says("Which?\n\n```handoff\ntype: prompt-human\n```"),
        closes(),
    ]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    answer_consent(&mut core, deny(Some(&format!("Not with {key}."))));
    walk(&mut core, 1000);
    let reply = Verb::Reply {
        to: Whom::Only,
        text: format!("It is {key}."),
        asked: None,
    };
    core.obey(reply, None).unwrap();
    walk(&mut core, 1000);
    assert_eq!(world.puppet.asked().len(), 3);
    let said = format!("{:?} {:?}", world.facts(&core), world.puppet.asked());
    assert!(said.contains("It is [secret withheld]") && said.contains("Not with [secret"));
    assert!(!said.contains("CANARY"), "{said}");
}

#[test]
fn why_a_flow_is_cancelled_is_kept_without_a_key_and_no_longer_than_a_record_takes() {
    let key = format!("sk-ant-{}", "api03-CANARYCANARYCANARY");
    let long = "é".repeat(2 * 1024 * 1024);
    for (why, kept) in [
        (
            format!(" It leaked {key}. "),
            Some("It leaked [secret withheld]"),
        ),
        (" \n".to_owned(), None),
        (long, Some("éé")),
    ] {
        let world = World::new(Puppet::will_say([closes()]));
        let mut core = world.begin();
        core.obey(Verb::Cancel { why: Some(why) }, None).unwrap();
        let facts = world.facts(&core);
        let Some(Fact::FlowCancelled(cancelled)) = facts.last() else {
            panic!("{facts:?}")
        };
        let said = cancelled.why.as_deref();
        assert_eq!(said.is_some(), kept.is_some(), "{kept:?}");
        let fits = said.is_none_or(|said| said.starts_with(kept.unwrap()) && said.len() < 20_000);
        assert!(
            fits && said.is_none_or(|said| !said.contains("CANARY")),
            "{kept:?}"
        );
    }
}
