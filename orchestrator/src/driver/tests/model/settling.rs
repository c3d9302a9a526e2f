//! Calls that a death cut off between start and result: what each leads to, by what is found.

use a_society_facts::fact::turn::CallRerun;

use super::*;

pub(super) const EDIT: (&str, &str) = ("edit_file", r#"{"path":"a.txt","old":"one","new":"two"}"#);
const READ: (&str, &str) = ("read_file", r#"{"path":"a.txt"}"#);

/// A flow that died right after its call was started, before anything was done.
pub(super) fn died_after_start(call: (&str, &str)) -> (World, Core) {
    let mut world = World::new(Puppet::will_say([calls(&[call]), closes()]));
    world.write("a.txt", "one");
    for steps in 0..1000 {
        let answers = [calls(&[call]), closes()];
        *world.puppet.answers.lock().unwrap() = answers.into_iter().collect();
        world.disk = FaultyDisk::new();
        let mut core = world.begin();
        let mode = Verb::Mode {
            mode: ConsentMode::FullAccess,
        };
        core.obey(mode, None).unwrap();
        walk(&mut core, steps);
        let started = |fact: &Fact| matches!(fact, Fact::CallStarted(_));
        if world.facts(&core).iter().any(started) {
            assert_eq!(world.read("a.txt").as_deref(), Some("one"));
            return (world, core);
        }
    }
    panic!("no call was started");
}

fn reruns(world: &World, core: &Core) -> Vec<CallRerun> {
    let facts = world.facts(core).into_iter().filter_map(|fact| {
        if let Fact::CallRerun(rerun) = fact {
            Some(rerun)
        } else {
            None
        }
    });
    facts.collect()
}

#[test]
fn a_file_tells_whether_its_edit_was_done_and_a_strange_one_that_nobody_knows() {
    for (found, end, again, left) in [
        // It changed nothing yet, so that it runs, and says that it ran again.
        ("one", CallEnd::Done, 1, "two"),
        // It had done its work.
        ("two", CallEnd::Recovered, 0, "two"),
        // Another process was there, or it was cut off in the middle.
        ("three", CallEnd::Unknown, 0, "three"),
    ] {
        let (mut world, core) = died_after_start(EDIT);
        world.write("a.txt", found);
        let mut core = world.die(core);
        walk(&mut core, 1000);
        assert_eq!(
            world.ends(&core),
            [("edit_file".to_owned(), end)],
            "{found}"
        );
        assert_eq!(reruns(&world, &core).len(), again, "{found}");
        assert_eq!(world.read("a.txt").as_deref(), Some(left));
        assert!(core.state().turns.is_empty(), "the turn went on: {found}");
    }
}

#[test]
fn what_only_reads_runs_again_and_is_marked() {
    let (mut world, core) = died_after_start(READ);
    let mut core = world.die(core);
    walk(&mut core, 1000);
    assert_eq!(world.ends(&core), [("read_file".to_owned(), CallEnd::Done)]);
    assert_eq!(reruns(&world, &core).len(), 1);
    // Over two deaths, twice.
    let (mut world, core) = died_after_start(READ);
    let mut core = world.die(core);
    walk(&mut core, 3);
    let mut core = world.die(core);
    walk(&mut core, 1000);
    assert_eq!(world.ends(&core), [("read_file".to_owned(), CallEnd::Done)]);
}

#[test]
fn a_model_reads_a_file_and_closes_the_flow() {
    let puppet = Puppet::will_say([
        calls(&[
            ("read_file", r#"{"path":"a.txt"}"#),
            ("read_file", r#"{"path":"b.txt"}"#),
        ]),
        closes(),
    ]);
    let world = World::new(puppet);
    world.write("a.txt", "what a holds");
    world.write("b.txt", "what b holds");
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(
        world.ends(&core),
        [
            ("read_file".to_owned(), CallEnd::Done),
            ("read_file".to_owned(), CallEnd::Done)
        ]
    );
    let asked = world.puppet.asked();
    let results: Vec<bool> = (asked[1].iter())
        .filter_map(|message| match message {
            Message::ToolResult { content, .. } => Some(content.contains("holds")),
            Message::User { .. }
            | Message::Assistant { .. }
            | Message::AssistantToolCalls { .. } => None,
        })
        .collect();
    assert_eq!(results, [true, true]);
    assert!(core.state().improvement.is_none() && core.state().turns.is_empty());
}
