//! A request that waits for its provider is tried at once when the operator wants it.

use a_society_roles::turn::step::{StepReply, TurnStep};

use super::*;
use crate::control::message::Taken;
use crate::driver::attempt::Heard;
use crate::driver::attempt::Start;
use crate::driver::error::DriverError;

const TWO: &str = r"
workflow:
  name: Two
  nodes:
    - { id: plan, role: owner }
    - { id: one, role: writer }
    - { id: two, role: reviewer }
    - { id: join, role: owner, await-all-inputs: true }
  edges:
    - { from: plan, to: one }
    - { from: plan, to: two }
    - { from: one, to: join }
    - { from: two, to: join }
roles:
  owner: { instructions: Do it. }
  writer: { instructions: Do it. }
  reviewer: { instructions: Do it. }
";

/// The provider asks to be left alone for longer than any test takes.
fn refused() -> Vec<StreamArrival> {
    refused_for(40_000)
}

fn refused_for(ms: u64) -> Vec<StreamArrival> {
    vec![StreamArrival::Fault(Box::new(RequestFault {
        retry_after_ms: Some(ms),
        ..RequestFault::new(FaultClass::RateLimit, "too many requests")
    }))]
}

/// Whom the one who waits first is, and how it goes on.
struct Turn {
    start: Start,
    told: Option<StepReply>,
}

impl Turn {
    fn of(start: Start) -> Self {
        let told = Some(StepReply::Begin);
        Self { start, told }
    }

    /// Its next step.
    fn next(&mut self) -> TurnStep {
        self.start.taker.next(self.told.take().unwrap())
    }

    fn hear(&mut self, core: &mut Core, step: TurnStep) -> bool {
        let heard = core.step(self.start.turn, self.start.attempt, step);
        match heard.unwrap() {
            Heard::Go(told) => self.told = Some(told),
            Heard::Look(_) | Heard::Over => return false,
        }
        true
    }

    /// Goes on until it waits; the wait is given back, and is not over yet.
    fn until_it_waits(&mut self, core: &mut Core) -> Option<TurnStep> {
        loop {
            let step = self.next();
            if matches!(step, TurnStep::Wait { .. }) {
                return Some(step);
            }
            if !self.hear(core, step) {
                return None;
            }
        }
    }
}

fn only(core: &mut Core) -> Turn {
    let mut starts = core.advance().unwrap();
    assert_eq!(starts.len(), 1);
    Turn::of(starts.remove(0))
}

fn now(core: &mut Core, to: Whom, client: Option<&str>) -> Result<Taken, DriverError> {
    let client = client.map(|name| name.parse().unwrap());
    core.obey(Verb::RetryNow { to }, client)
}

#[test]
fn a_request_that_waits_is_made_at_once_although_all_are_to_wait_and_only_that_one() {
    for is_hurried in [false, true] {
        let world = World::new(Puppet::will_say([refused(), closes()]));
        let mut core = world.begin();
        let mut turn = only(&mut core);
        let wait = turn.until_it_waits(&mut core).unwrap();
        let before = world.facts(&core);
        if is_hurried {
            let owner = || Whom::Role("owner".parse().unwrap());
            let taken = now(&mut core, owner(), Some("early")).unwrap();
            assert_eq!(taken.facts, 0);
            now(&mut core, Whom::Node("do".parse().unwrap()), None).unwrap();
        }
        assert_eq!(world.facts(&core), before, "the journal says nothing of it");
        turn.hear(&mut core, wait);
        // The clock of these tests does not move, so that a turn that is not admitted waits on.
        let next = turn.next();
        assert_eq!(matches!(next, TurnStep::Ask(_)), is_hurried, "{next:?}");
        if !is_hurried {
            continue;
        }
        turn.hear(&mut core, next);
        // It was known under its name, and nothing waits any more for the one that was not.
        assert_eq!(now(&mut core, Whom::Only, Some("early")).unwrap().facts, 0);
        let late = now(&mut core, Whom::Only, Some("late")).unwrap_err();
        assert!(matches!(late, DriverError::NothingWaits(_)), "{late}");
        assert!(turn.until_it_waits(&mut core).is_none());
        assert!(core.state().turns.is_empty() && waits_for(&core).is_none());
        assert_eq!(world.puppet.asked().len(), 2);
    }
}

#[test]
fn a_request_that_is_made_early_counts_as_every_other_and_the_operator_is_asked_in_the_end() {
    let world = World::new(Puppet::will_say(vec![refused(); 20]));
    let mut core = world.begin();
    let mut turn = only(&mut core);
    let mut hurried = 0;
    while let Some(wait) = turn.until_it_waits(&mut core) {
        now(&mut core, Whom::Only, None).unwrap();
        hurried += 1;
        turn.hear(&mut core, wait);
    }
    // One request and its five repetitions, as without a hurry.
    assert_eq!((hurried, world.puppet.asked().len()), (5, 6));
    assert_eq!(waits_for(&core), Some(WaitReason::Provider));
    assert!(now(&mut core, Whom::Only, None).is_err());
}

#[test]
fn what_is_done_beside_a_turn_is_tried_at_once_too() {
    let away = || fault(FaultClass::Overloaded);
    let choice = says(r#"{"model":"small"}"#);
    let mut world = World::new(Puppet::will_say([away(), choice, closes()]));
    world.chooses = true;
    let mut core = world.begin();
    let mut turn = only(&mut core);
    let wait = turn.until_it_waits(&mut core).unwrap();
    now(&mut core, Whom::Only, None).unwrap();
    turn.hear(&mut core, wait);
    while turn.told.is_some() {
        let step = turn.next();
        turn.hear(&mut core, step);
    }
    walk(&mut core, 1000);
    assert!(core.state().turns.is_empty() && waits_for(&core).is_none());
}

/// Two roles that are about to begin.
fn two(first: Vec<StreamArrival>) -> (World, Core, Vec<Turn>) {
    let both = "- { target_node_id: one, artifact_path: a.md }\n\
                - { target_node_id: two, artifact_path: b.md }";
    let hands_over = says(&format!("To you.\n\n```handoff\n{both}\n```"));
    let world = World::new(Puppet::will_say([hands_over, first, refused()]));
    world.disk.make_folder("/w/record".as_ref()).unwrap();
    for name in ["a.md", "b.md"] {
        let path = std::path::Path::new("/w/record").join(name);
        a_society_state::atomic::replace(&world.disk, &path, b"it").unwrap();
    }
    let mut core = world.begin_with(TWO);
    let nobody = now(&mut core, Whom::Only, None).unwrap_err();
    assert!(
        nobody.to_string().contains("Waiting for a provider: none"),
        "{nobody}"
    );
    let mut plan = only(&mut core);
    assert!(plan.until_it_waits(&mut core).is_none());
    let starts = core.advance().unwrap();
    let turns: Vec<Turn> = starts.into_iter().map(Turn::of).collect();
    assert_eq!(turns.len(), 2, "{:?}", core.pending());
    (world, core, turns)
}

#[test]
fn a_role_that_another_ones_limit_holds_for_minutes_says_so_and_asks_nothing() {
    let (world, mut core, mut turns) = two(refused_for(200_000));
    assert!(turns[0].until_it_waits(&mut core).is_some());
    let asked = world.puppet.asked().len();
    let waits = turns[1].until_it_waits(&mut core);
    assert!(waits.is_none(), "its turn is over: {waits:?}");
    assert_eq!(world.puppet.asked().len(), asked);
    assert_eq!(waits_for(&core), Some(WaitReason::Provider));
    let state = core.state();
    let (_, waiting) = state.waits().next().unwrap();
    assert!(waiting.until.is_some(), "it goes on by itself: {waiting:?}");
}

#[test]
fn it_is_refused_in_words_where_nothing_waits_where_several_do_and_where_a_turn_is_stopped() {
    let (_world, mut core, mut turns) = two(refused());
    // Both ask before either is refused: otherwise the later one waits for the other.
    for turn in &mut turns {
        let ask = turn.next();
        assert!(matches!(ask, TurnStep::Ask(_)), "{ask:?}");
        turn.hear(&mut core, ask);
    }
    for turn in &mut turns {
        turn.until_it_waits(&mut core).unwrap();
    }
    let both = now(&mut core, Whom::Only, None).unwrap_err();
    let words = both.to_string();
    assert!(matches!(both, DriverError::ManyTries(_)), "{words}");
    assert!(words.contains("one (writer); two (reviewer)"), "{words}");
    let none = now(&mut core, Whom::Node("join".parse().unwrap()), None).unwrap_err();
    assert!(none.to_string().contains("one (writer)"), "{none}");
    let scope = a_society_facts::fact::operator::StopScope::Node("one".parse().unwrap());
    core.obey(Verb::Stop { scope }, None).unwrap();
    core.advance().unwrap();
    assert!(now(&mut core, Whom::Node("one".parse().unwrap()), None).is_err());
    now(&mut core, Whom::Only, None).unwrap();
}
