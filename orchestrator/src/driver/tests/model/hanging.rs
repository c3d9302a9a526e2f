//! Whatever hangs outside, the flow is obeyed at once: a server of tools that never answers, a file system that
//! gives nothing back, configuration that cannot be read to its end.

use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant};

use a_society_facts::fact::operator::{SteerWhen, StopScope};
use a_society_mcp::{Given, ServerLimits};

use super::super::live::wires;
use super::*;
use crate::driver::error::DriverError;
use crate::driver::handle::{FlowHandle, Seen};
use crate::driver::task::{Driven, drive};

/// How fast a flow obeys.
pub(in crate::driver::tests) const AT_ONCE: Duration = Duration::from_millis(100);
/// Far longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a flow waits for the outside world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::driver::tests) enum Spot {
    Choice,
    Prompt,
    Packet,
    Taker,
    Touched,
    Grant,
    Health,
    Most,
    Facts,
}

/// Blocks every caller at a spot until it is opened.
#[derive(Debug, Clone)]
pub(in crate::driver::tests) struct Gate {
    at: Spot,
    state: Arc<(Mutex<(bool, bool)>, Condvar)>,
}

impl Gate {
    pub(super) fn at(spot: Spot) -> Self {
        let state = Arc::default();
        Self { at: spot, state }
    }

    pub(super) fn pass(&self, spot: Spot) {
        if spot == self.at {
            self.change(|(reached, _)| *reached = true);
            self.until(|(_, open)| *open);
        }
    }

    pub(super) fn open(&self) {
        self.change(|(_, open)| *open = true);
    }

    pub(super) fn is_reached(&self) {
        self.until(|(reached, _)| *reached);
    }

    fn change(&self, change: impl FnOnce(&mut (bool, bool))) {
        let mut state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        self.state.1.notify_all();
    }

    fn until(&self, holds: impl Fn(&(bool, bool)) -> bool) {
        let state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .state
            .1
            .wait_timeout_while(state, PATIENCE, |state| !holds(state));
        assert!(!waited.unwrap().1.timed_out(), "{:?}", self.at);
    }
}

pub(super) fn until(handle: &FlowHandle, holds: impl Fn(&Seen) -> bool) {
    let end = Instant::now() + PATIENCE;
    let mut after = 0;
    loop {
        let seen = handle.wait(after, Duration::from_millis(50));
        if seen.as_ref().is_some_and(|seen| holds(seen)) {
            return;
        }
        after = seen.as_ref().map_or(0, |seen| seen.seq);
        assert!(Instant::now() < end, "{seen:#?}");
    }
}

pub(super) fn timed(handle: &FlowHandle, command: Verb) -> Duration {
    let begun = Instant::now();
    handle.obey(command, None).unwrap();
    begun.elapsed()
}

/// The fastest of a few tries, because the machine may be busy with something else meanwhile.
pub(super) fn fastest(times: impl IntoIterator<Item = Duration>) -> Duration {
    times.into_iter().min().unwrap()
}

pub(super) fn steer() -> Verb {
    Verb::Steer {
        role: "owner".parse().unwrap(),
        text: "Be quick.".into(),
        when: SteerWhen::Queue,
    }
}

/// The flow takes messages to its role, and pauses and goes on, at once.
pub(super) fn obeys(handle: &FlowHandle) {
    for (command, undo) in [(steer(), None), (Verb::Pause {}, Some(Verb::Unpause {}))] {
        let tries = (0..3).map(|_| {
            let time = timed(handle, command.clone());
            if let Some(undo) = &undo {
                timed(handle, undo.clone());
            }
            time
        });
        let time = fastest(tries);
        assert!(time < AT_ONCE, "{command:?} took {time:?}");
    }
}

pub(super) fn stop() -> Verb {
    let scope = StopScope::All;
    Verb::Stop { scope }
}

pub(super) fn ends(driven: Driven) {
    driven.handle.drain();
    driven.task.join().unwrap().unwrap();
}

#[test]
fn a_turn_that_hangs_before_its_first_step_is_steered_paused_and_stopped_at_once() {
    let mut times = Vec::new();
    for spot in [Spot::Choice, Spot::Prompt, Spot::Packet, Spot::Taker] {
        let gate = Gate::at(spot);
        let mut world = World::new(Puppet::will_say([closes()]));
        world.hangs = Some(gate.clone());
        let driven = drive(world.begin(), None).unwrap();
        gate.is_reached();
        obeys(&driven.handle);
        times.push(timed(&driven.handle, stop()));
        // It is over although what it waits for never comes.
        until(&driven.handle, |seen| {
            seen.live == 0 && seen.state.turns.is_empty()
        });
        gate.open();
        ends(driven);
        assert!(world.puppet.asked().is_empty(), "{spot:?}");
    }
    let time = fastest(times);
    assert!(time < AT_ONCE, "a stop took {time:?}");
}

#[test]
fn a_turn_goes_on_when_what_it_waited_for_comes_and_heard_what_was_said_meanwhile() {
    for spot in [Spot::Choice, Spot::Prompt, Spot::Packet, Spot::Taker] {
        let gate = Gate::at(spot);
        let mut world = World::new(Puppet::will_say([closes()]));
        world.hangs = Some(gate.clone());
        let driven = drive(world.begin(), None).unwrap();
        gate.is_reached();
        driven.handle.obey(steer(), None).unwrap();
        gate.open();
        until(&driven.handle, |seen| {
            seen.live == 0 && seen.state.turns.is_empty()
        });
        ends(driven);
        let asked = world.puppet.asked();
        assert_eq!(asked.len(), 1, "{spot:?}");
        let said = format!("{:?}", asked[0]);
        assert!(said.contains("Be quick."), "{spot:?}: {said}");
    }
}

#[test]
fn a_flow_that_drains_does_not_wait_for_a_turn_that_hangs_before_its_first_step() {
    let gate = Gate::at(Spot::Packet);
    let mut world = World::new(Puppet::will_say([closes()]));
    world.hangs = Some(gate.clone());
    let core = world.begin();
    let flow = at(&core);
    let driven = drive(core, None).unwrap();
    gate.is_reached();
    ends(driven);
    gate.open();
    world.hangs = None;
    let mut core = world.open(&store(&world.disk), &flow, 3);
    walk(&mut core, 1000);
    assert_eq!(world.puppet.asked().len(), 1, "it goes on from there");
}

#[test]
fn a_call_that_a_crash_cut_off_is_looked_at_without_holding_the_flow_up() {
    let (mut world, core) = settling::died_after_start(settling::EDIT);
    let gate = Gate::at(Spot::Touched);
    world.hangs = Some(gate.clone());
    let core = world.die(core);
    let driven = drive(core, None).unwrap();
    gate.is_reached();
    obeys(&driven.handle);
    gate.open();
    until(&driven.handle, |seen| {
        seen.live == 0 && seen.state.turns.is_empty()
    });
    ends(driven);
    assert_eq!(world.read("a.txt").as_deref(), Some("two"));
}

/// The operator allows the only call that asks, for the rest of the flow.
fn allowing(driven: &Driven) -> std::thread::JoinHandle<Result<usize, DriverError>> {
    let handle = driven.handle.clone();
    let command = Verb::Allow {
        consent: None,
        action: None,
        for_the_flow: true,
    };
    std::thread::spawn(move || handle.obey(command, None).map(|taken| taken.facts))
}

pub(super) fn asks(driven: &Driven) {
    until(&driven.handle, |seen| {
        seen.live == 0 && !seen.state.consents.is_empty()
    });
}

#[test]
fn while_it_is_found_out_what_is_granted_the_flow_is_obeyed_and_then_the_call_is_allowed() {
    let gate = Gate::at(Spot::Grant);
    let mut world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    world.hangs = Some(gate.clone());
    let driven = drive(world.begin(), None).unwrap();
    asks(&driven);
    let allowed = allowing(&driven);
    gate.is_reached();
    obeys(&driven.handle);
    assert!(!allowed.is_finished());
    gate.open();
    assert!(allowed.join().unwrap().unwrap() > 0);
    until(&driven.handle, |seen| {
        !seen.state.grants.is_empty() && seen.state.turns.is_empty()
    });
    ends(driven);
    assert_eq!(world.read("a.txt").as_deref(), Some("new\n"));
}

#[test]
fn a_turn_is_stopped_while_it_is_found_out_what_is_granted_and_the_answer_comes_too_late() {
    let gate = Gate::at(Spot::Grant);
    let mut world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    world.hangs = Some(gate.clone());
    let driven = drive(world.begin(), None).unwrap();
    asks(&driven);
    let allowed = allowing(&driven);
    gate.is_reached();
    timed(&driven.handle, stop());
    until(&driven.handle, |seen| seen.state.turns.is_empty());
    gate.open();
    let late = allowed.join().unwrap();
    assert!(matches!(late, Err(DriverError::Refused(_))), "{late:?}");
    ends(driven);
    assert_eq!(world.read("a.txt"), None);
}

/// A server of tools that says that it runs and nothing else.
fn deaf(folder: &std::path::Path) -> Arc<Servers> {
    let text = format!(
        "mcp-servers:\n  list: {{ command: /bin/sh, args: [-c, 'touch {}/begun; sleep 1000'] }}\n",
        folder.display()
    );
    let given = Given {
        environment: std::collections::BTreeMap::new(),
        secrets: std::collections::BTreeMap::new(),
    };
    let specs = mcp::parse(&text).unwrap();
    Arc::new(Servers::new(specs, given, ServerLimits::default()))
}

#[test]
fn a_server_of_tools_that_never_answers_holds_nothing_up_but_the_answer_that_needs_it() {
    let adds = [("mcp__list__add", r#"{"word":"one"}"#)];
    let mut world = World::new(Puppet::will_say([calls(&adds), closes()]));
    world.server = Some(wires::server(world.folder.path()));
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(
        core.state().consents.len(),
        1,
        "{}",
        super::super::read(&core)
    );
    let flow = at(&core);
    drop(core);
    world.disk = world.disk.kill_clone();
    world.server = Some(deaf(world.folder.path()));
    let driven = drive(world.open(&store(&world.disk), &flow, 3), None).unwrap();
    asks(&driven);
    let allowed = allowing(&driven);
    let begun = world.folder.path().join("begun");
    let end = Instant::now() + PATIENCE;
    while !begun.exists() {
        assert!(Instant::now() < end, "the server is started");
        std::thread::sleep(Duration::from_millis(5));
    }
    obeys(&driven.handle);
    let time = timed(&driven.handle, stop());
    assert!(time < AT_ONCE, "a stop took {time:?}");
    assert!(!allowed.is_finished());
    // The process does not wait for it either when it ends.
    let begun = Instant::now();
    ends(driven);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(allowed.join().unwrap().is_err());
}
