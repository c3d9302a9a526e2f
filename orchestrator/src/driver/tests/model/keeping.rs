//! A taker that holds something waits in place for the operator, and gets the answer itself.

use a_society_roles::turn::step::{StepReply, TurnStep};

use super::hanging::{asks, ends, until};
use super::*;
use crate::driver::task::{Driven, drive};

/// A taker that wants to be kept.
#[derive(Debug)]
struct Keeps(Box<dyn Taker>);

impl Taker for Keeps {
    fn next(&mut self, told: StepReply) -> TurnStep {
        self.0.next(told)
    }

    fn waits_in_place(&self) -> bool {
        true
    }
}

/// The taker, kept and counted if takers are.
pub(super) fn kept(taker: Box<dyn Taker>, made: Option<&Arc<AtomicUsize>>) -> Box<dyn Taker> {
    match made {
        Some(made) => {
            made.fetch_add(1, Ordering::SeqCst);
            Box::new(Keeps(taker))
        }
        None => taker,
    }
}

/// A flow whose call waits for the operator, and how many takers were made for it.
fn waiting() -> (World, Arc<AtomicUsize>, Driven) {
    let mut world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    let made = Arc::new(AtomicUsize::new(0));
    world.kept = Some(Arc::clone(&made));
    let driven = drive(world.begin(), None).unwrap();
    asks(&driven);
    (world, made, driven)
}

fn answer(driven: &Driven, verb: Verb) {
    driven.handle.obey(verb, None).unwrap();
    until(&driven.handle, |seen| {
        seen.live == 0 && seen.state.consents.is_empty() && seen.state.turns.is_empty()
    });
}

fn deny(reason: &str) -> Verb {
    Verb::Deny {
        consent: None,
        action: None,
        reason: Some(reason.into()),
    }
}

#[test]
fn the_taker_of_an_allowed_call_goes_on_and_so_does_that_of_one_that_is_denied_with_words() {
    let (world, made, driven) = waiting();
    let for_the_flow = false;
    let allow = Verb::Allow {
        consent: None,
        action: None,
        for_the_flow,
    };
    answer(&driven, allow);
    ends(driven);
    assert_eq!(made.load(Ordering::SeqCst), 1);
    assert_eq!(world.read("a.txt").as_deref(), Some("new\n"));

    let (world, made, driven) = waiting();
    answer(&driven, deny("Write nothing."));
    ends(driven);
    assert_eq!(made.load(Ordering::SeqCst), 1);
    assert_eq!(world.read("a.txt"), None);
    let asked = world.puppet.asked();
    assert!(format!("{:?}", asked.last()).contains("Write nothing."));
}

#[test]
fn a_kept_taker_is_dropped_when_its_turn_is_stopped_and_made_anew_after_a_crash() {
    let (_world, made, driven) = waiting();
    let scope = a_society_facts::fact::operator::StopScope::All;
    answer(&driven, Verb::Stop { scope });
    ends(driven);
    assert_eq!(made.load(Ordering::SeqCst), 1);

    let (mut world, made, driven) = waiting();
    let flow = driven.handle.seen().unwrap();
    let flow = FlowRef {
        project: "demo".parse().unwrap(),
        flow: flow.state.flow_id.clone().unwrap(),
    };
    ends(driven);
    world.disk = world.disk.kill_clone();
    let driven = drive(world.open(&store(&world.disk), &flow, 3), None).unwrap();
    asks(&driven);
    let for_the_flow = false;
    let allow = Verb::Allow {
        consent: None,
        action: None,
        for_the_flow,
    };
    answer(&driven, allow);
    ends(driven);
    assert_eq!(made.load(Ordering::SeqCst), 2);
    assert_eq!(world.read("a.txt").as_deref(), Some("new\n"));
}
