//! Files that a step names hang, or the disk of the flow is slow: what the operator wants still counts at once, or as
//! soon as it can be written.

use std::time::Duration;

use a_society_in_memory::{HangGate, HangingCalls};
use a_society_state::disk::Disk;

use super::hanging::{AT_ONCE, Gate, ends, fastest, obeys, steer, stop, timed, until};
use super::*;
use crate::driver::task::{Driven, drive};

const TWO: &str = r"
workflow:
  name: Two
  nodes:
    - { id: think, role: owner }
    - { id: write, role: owner }
  edges:
    - { from: think, to: write }
roles:
  owner: { instructions: Think. }
";

const HANDOFF: (&str, &str) = (
    "handoff",
    r#"{"targets":[{"target_node_id":"write","artifact_path":"record/a.md"}]}"#,
);

fn hands_off() -> Vec<StreamArrival> {
    says("Here.\n\n```handoff\ntarget_node_id: write\nartifact_path: record/a.md\n```")
}

/// Whether a flow that hangs is stopped. What is timed is tried three times, because the machine may be busy with
/// something else meanwhile.
const STOPS_THRICE: [bool; 4] = [true, true, true, false];

struct Hung {
    world: World,
    flow: FlowRef,
    driven: Driven,
    gate: HangGate,
}

/// A flow whose first role hands over a file that hangs.
fn hung(answers: &[Vec<StreamArrival>]) -> Hung {
    let world = World::new(Puppet::will_say(answers.iter().cloned()));
    let path = std::path::Path::new("/w/record/a.md");
    world.disk.write_file(path, b"what was thought").unwrap();
    let core = world.begin_with(TWO);
    let flow = at(&core);
    let gate = world.disk.hang(HangingCalls::Below("/w/record".into()));
    let driven = drive(core, None).unwrap();
    gate.wait_until_reached();
    Hung {
        world,
        flow,
        driven,
        gate,
    }
}

fn is_over(driven: &Driven) {
    until(&driven.handle, |seen| {
        seen.live == 0 && seen.state.turns.is_empty()
    });
}

#[test]
fn a_turn_whose_artifact_hangs_is_steered_paused_and_stopped_at_once() {
    let mut times = Vec::new();
    let stopped = [("handoff".to_owned(), CallEnd::Stopped)];
    for (answer, ended) in [(hands_off(), &[][..]), (calls(&[HANDOFF]), &stopped)] {
        let Hung {
            world,
            flow,
            driven,
            gate,
        } = hung(&[answer]);
        obeys(&driven.handle);
        times.push(timed(&driven.handle, stop()));
        is_over(&driven);
        let before = driven.handle.seen().unwrap().seq;
        gate.open();
        ends(driven);
        let core = world.open(&store(&world.disk), &flow, 3);
        let facts = world.facts(&core);
        assert!(
            !facts
                .iter()
                .any(|fact| matches!(fact, Fact::HandoffApplied(_))),
            "{before}: {facts:#?}"
        );
        assert_eq!(world.ends(&core), ended);
    }
    let time = fastest(times);
    assert!(time < AT_ONCE, "a stop took {time:?}");
}

#[test]
fn an_artifact_that_comes_late_is_handed_over_after_what_the_operator_said_meanwhile() {
    let Hung {
        world,
        driven,
        gate,
        ..
    } = hung(&[hands_off(), hands_off(), closes()]);
    driven.handle.obey(steer(), None).unwrap();
    gate.open();
    until(&driven.handle, |seen| {
        world.puppet.asked().len() == 3 && seen.live == 0 && seen.state.turns.is_empty()
    });
    ends(driven);
    let asked = world.puppet.asked();
    assert_eq!(asked.len(), 3, "{asked:#?}");
    let again = format!("{:?}", asked[1]);
    assert!(
        again.contains("Be quick.") && again.contains("has not ended"),
        "{again}"
    );
}

#[test]
fn a_flow_that_drains_leaves_a_turn_whose_artifact_hangs_and_hands_over_when_it_is_driven_again() {
    let Hung {
        world,
        flow,
        driven,
        gate,
    } = hung(&[hands_off(), closes()]);
    ends(driven);
    gate.open();
    let mut core = world.open(&store(&world.disk), &flow, 3);
    walk(&mut core, 1000);
    assert_eq!(world.puppet.asked().len(), 2, "nothing was asked twice");
    let facts = world.facts(&core);
    let handed = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::HandoffApplied(_)));
    assert_eq!(handed.count(), 1);
}

#[test]
fn health_checks_and_what_a_workspace_lets_a_role_do_hold_nothing_up() {
    let mut times = Vec::new();
    for spot in [Spot::Health, Spot::Most] {
        let gate = Gate::at(spot);
        let mut world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
        if spot == Spot::Health {
            world = World::new(Puppet::will_say([closes()]));
        }
        world.hangs = Some(gate.clone());
        let driven = drive(world.begin(), None).unwrap();
        gate.is_reached();
        obeys(&driven.handle);
        times.push(timed(&driven.handle, stop()));
        is_over(&driven);
        gate.open();
        ends(driven);
        assert_eq!(world.read("a.txt"), None);
    }
    let time = fastest(times);
    assert!(time < AT_ONCE, "a stop took {time:?}");
}

#[test]
fn while_the_flows_own_disk_hangs_nothing_is_acknowledged_and_the_look_does_not_wait() {
    let mut world = World::new(Puppet::will_say([closes()]));
    let model = Gate::at(Spot::Packet);
    world.hangs = Some(model.clone());
    let driven = drive(world.begin(), None).unwrap();
    model.is_reached();
    driven.handle.obey(steer(), None).unwrap();
    until(&driven.handle, |seen| !seen.state.turns.is_empty());
    let syncs = world.disk.hang(HangingCalls::Syncs);
    let handle = driven.handle.clone();
    let stopped = std::thread::spawn(move || handle.obey(stop(), None));
    syncs.wait_until_reached();
    let begun = std::time::Instant::now();
    let seen = driven.handle.seen().unwrap();
    assert!(begun.elapsed() < AT_ONCE);
    // A power cut now would take the stop back, so no client may have seen it.
    assert!(!stopped.is_finished() && !seen.state.turns.is_empty());
    syncs.open();
    let begun = std::time::Instant::now();
    stopped.join().unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1));
    is_over(&driven);
    model.open();
    ends(driven);
    assert!(world.puppet.asked().is_empty());
}

#[test]
fn a_flow_whose_handed_over_files_hang_is_open_at_once_is_paused_and_cancelled_and_restores_them_later()
 {
    let world = World::new(Puppet::will_say([hands_off(), closes()]));
    let path = std::path::Path::new("/w/record/a.md");
    world.disk.write_file(path, b"what was thought").unwrap();
    let core = world.begin_with(TWO);
    let flow = at(&core);
    // The process dies as soon as the file was handed over.
    let left: Arc<Mutex<Option<FaultyDisk>>> = Arc::default();
    let (keep, watched, place) = (Arc::clone(&left), world.disk.clone(), flow.clone());
    world.disk.after_each(Box::new(move |_, _| {
        let clone = watched.kill_clone();
        let handed = |fact: &Fact| matches!(fact, Fact::HandoffApplied(_));
        let mut kept = keep.lock().unwrap();
        if kept.is_none() && recorded(&clone, &place).iter().any(handed) {
            *kept = Some(clone);
        }
    }));
    let mut core = core;
    walk(&mut core, 1000);
    world.disk.after_each(Box::new(|_, _| {}));
    let disk = left.lock().unwrap().take().unwrap();
    disk.remove_file(path).unwrap();
    let [mut opened, mut paused, mut unpaused, mut cancelled] = [const { Vec::new() }; 4];
    for stops in STOPS_THRICE {
        let mut world = World::new(Puppet::will_say([closes()]));
        world.disk = disk.kill_clone();
        let gate = world.disk.hang(HangingCalls::Below("/w/record".into()));
        let begun = std::time::Instant::now();
        let core = world.open(&store(&world.disk), &flow, 5);
        opened.push(begun.elapsed());
        let driven = drive(core, None).unwrap();
        gate.wait_until_reached();
        paused.push(timed(&driven.handle, Verb::Pause {}));
        unpaused.push(timed(&driven.handle, Verb::Unpause {}));
        assert!(world.puppet.asked().is_empty());
        if stops {
            cancelled.push(timed(&driven.handle, Verb::Cancel { why: None }));
            // The process ends although the file still hangs.
            ends(driven);
            gate.open();
            continue;
        }
        gate.open();
        until(&driven.handle, |seen| {
            world.puppet.asked().len() == 1 && seen.live == 0 && seen.state.turns.is_empty()
        });
        assert_eq!(world.disk.read_file(path).unwrap(), b"what was thought");
        ends(driven);
    }
    for times in [opened, paused, unpaused, cancelled] {
        let time = fastest(times);
        assert!(time < AT_ONCE, "it took {time:?}");
    }
}

/// The facts that a disk holds of a flow.
fn recorded(disk: &FaultyDisk, flow: &FlowRef) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Ok(mut follower) = store(disk).follow(flow) else {
        return facts;
    };
    drop(follower.read(&mut |recorded| facts.extend(recorded.fact().cloned())));
    facts
}

#[test]
fn a_repair_without_its_message_waits_for_no_file_that_it_names() {
    let world = World::new(Puppet::will_say([hands_off(), hands_off(), closes()]));
    let mut core = world.begin_with(TWO);
    let flow = at(&core);
    let left: Arc<Mutex<Option<FaultyDisk>>> = Arc::default();
    let (keep, watched, place) = (Arc::clone(&left), world.disk.clone(), flow.clone());
    world.disk.after_each(Box::new(move |_, _| {
        let clone = watched.kill_clone();
        let is_last = recorded(&clone, &place).last().is_some_and(|fact| {
            // The file that is handed over is not there.
            matches!(fact, Fact::RepairRequested(_))
        });
        let mut kept = keep.lock().unwrap();
        if kept.is_none() && is_last {
            *kept = Some(clone);
        }
    }));
    walk(&mut core, 1000);
    world.disk.after_each(Box::new(|_, _| {}));
    let disk = left.lock().unwrap().take().unwrap();
    let mut stopped = Vec::new();
    for stops in STOPS_THRICE {
        let mut world = World::new(Puppet::will_say([hands_off(), closes()]));
        world.disk = disk.kill_clone();
        let gate = world.disk.hang(HangingCalls::Below("/w/record".into()));
        let core = world.open(&store(&world.disk), &flow, 5);
        let driven = drive(core, None).unwrap();
        gate.wait_until_reached();
        obeys(&driven.handle);
        if stops {
            stopped.push(timed(&driven.handle, stop()));
            is_over(&driven);
        }
        gate.open();
        if !stops {
            until(&driven.handle, |_| !world.puppet.asked().is_empty());
            let asked = format!("{:?}", world.puppet.asked()[0]);
            assert!(asked.contains("record/a.md"), "{asked}");
        }
        ends(driven);
    }
    let time = fastest(stopped);
    assert!(time < AT_ONCE, "a stop took {time:?}");
}

#[test]
fn a_summary_waits_for_what_its_role_received_and_the_flow_does_not() {
    let long = "I look at it. ".repeat(300);
    let full = answer(&long, &[("read_file", r#"{"path":"a.txt"}"#)], 900);
    let mut stopped = Vec::new();
    for stops in STOPS_THRICE {
        let gate = Gate::at(Spot::Facts);
        let answers = [full.clone(), says("It read a.txt."), closes()];
        let mut world = World::new(Puppet::will_say(answers));
        world.window = 1000;
        world.write("a.txt", "what it holds");
        world.hangs = Some(gate.clone());
        let core = world.begin();
        let flow = at(&core);
        let driven = drive(core, None).unwrap();
        gate.is_reached();
        obeys(&driven.handle);
        if stops {
            stopped.push(timed(&driven.handle, stop()));
            is_over(&driven);
            gate.open();
            ends(driven);
            let core = world.open(&store(&world.disk), &flow, 3);
            // The summary was paid for.
            assert_eq!(core.state().account.spent.tokens, 912);
            continue;
        }
        gate.open();
        until(&driven.handle, |_| world.puppet.asked().len() == 3);
        let asked = format!("{:?}", world.puppet.asked()[2]);
        assert!(
            asked.contains("It read a.txt.") && asked.contains("Nothing is received."),
            "{asked}"
        );
        ends(driven);
    }
    let time = fastest(stopped);
    assert!(time < AT_ONCE, "a stop took {time:?}");
}
