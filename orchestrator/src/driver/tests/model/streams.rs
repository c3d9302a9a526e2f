//! What streams bring besides text: silence, and blocks that only their provider understands.

use std::sync::atomic::{AtomicU64, Ordering};

use a_society_providers::Blocks;
use a_society_roles::turn::step::{StepReply, TurnStep};
use a_society_state::clock::{Clock, CountingClock};
use a_society_state::{Ground, process};

use super::*;
use crate::driver::attempt::Heard;

/// A pause of a provider that searches by itself: an answer without a text.
fn pauses() -> Vec<StreamArrival> {
    let mut arrivals = answer("", &[], 10);
    let Some(StreamArrival::Answer(whole)) = arrivals.last_mut() else {
        panic!("an answer ends with itself");
    };
    whole.stop = AnswerStop::Paused;
    whole.blocks = Some(Blocks {
        provider: "puppet".into(),
        model: "puppet-1".into(),
        paused: true,
        blocks: vec![RawValue::from_string(SEARCHES.into()).unwrap()],
    });
    arrivals.split_off(1)
}

const SEARCHES: &str = r#"{"type":"server_tool_use","id":"srv_1","name":"web_search"}"#;

/// The places of answers without a text in what was asked last.
fn empty_answers(world: &World) -> Vec<usize> {
    let asked = world.puppet.asked();
    let last = asked.last().unwrap().iter().enumerate();
    let empty =
        |message: &Message| matches!(message, Message::Assistant { content } if content.is_empty());
    last.filter(|(_, message)| empty(message))
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn an_answer_with_only_blocks_of_its_provider_goes_back_to_it_also_after_a_death() {
    // The flow dies after each of its steps once, and never in the last round.
    for dies_after in 0..12 {
        let mut world = World::new(Puppet::will_say([pauses(), closes(), closes()]));
        let mut core = world.begin();
        let steps = walk(&mut core, dies_after);
        let before = world.puppet.asked().len();
        let mut core = if steps == dies_after {
            world.die(core)
        } else {
            core
        };
        walk(&mut core, 1000);
        assert!(core.state().turns.is_empty(), "{dies_after}");
        let session = core.flow().views().sessions.values().next().unwrap();
        let kept = session
            .messages
            .iter()
            .filter_map(|entry| entry.provider_blocks.as_ref());
        let kept: Vec<&str> = kept.map(|blocks| blocks.0.get()).collect();
        // A request that died before its answer was recorded is asked again, and the puppet goes on.
        let answered = world.facts(&core).iter().any(
            |fact| matches!(fact, Fact::ModelAnswered(said) if said.provider_blocks.is_some()),
        );
        if answered {
            assert_eq!(kept.len(), 1, "{dies_after}, {before} asked");
            assert!(kept[0].contains(SEARCHES), "{dies_after}: {kept:?}");
            assert_eq!(empty_answers(&world).len(), 1, "{dies_after}");
        }
    }
}

#[test]
fn a_provider_that_says_nothing_is_shown_and_not_recorded() {
    let arrivals = [
        StreamArrival::Event(StreamEvent::Stalled { seconds: 30 }),
        StreamArrival::Event(StreamEvent::Stalled { seconds: 60 }),
    ];
    let world = World::new(Puppet::will_say([arrivals
        .into_iter()
        .chain(closes())
        .collect()]));
    let mut core = world.begin();
    let mut start = core.advance().unwrap().pop().unwrap();
    let (mut told, mut shown) = (StepReply::Begin, Vec::new());
    loop {
        let step = start.taker.next(told);
        let is_stalled = matches!(step, TurnStep::Stalled { .. });
        let before = core.flow().position().seq;
        let heard = core.step(start.turn, start.attempt, step).unwrap();
        if is_stalled {
            assert_eq!(core.flow().position().seq, before, "a silence is no fact");
            shown.push(core.silent().into_values().next().unwrap_or(0));
        } else {
            assert_eq!(core.silent(), Default::default());
        }
        match heard {
            Heard::Go(next) => told = next,
            Heard::Look(_) | Heard::Over => break,
        }
    }
    assert_eq!(shown, [30, 60, 0]);
}

/// A machine whose clock on the wall jumps back and forth, as after a suspension, with a wrong time
/// server or by hand. What counts time goes on evenly.
#[derive(Debug, Default)]
struct JumpingClock(AtomicU64);

impl Clock for JumpingClock {
    fn now(&self) -> At {
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        let jumps = [0, -DAY_MS, 400 * DAY_MS, -20_000 * DAY_MS, 1];
        let asked = self.0.fetch_add(1, Ordering::Relaxed);
        let jump = jumps[usize::try_from(asked).unwrap() % jumps.len()];
        At::from_ms(1_795_246_169_123 + jump)
    }

    fn elapsed_us(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) * 1000
    }
}

/// A turn with a silence, a stream that breaks off, a call and a death after so many steps; returns
/// every fact that followed.
fn walked_by(clock: fn() -> Arc<dyn Clock>, dies_after: usize) -> Vec<Fact> {
    let silent = StreamArrival::Event(StreamEvent::Stalled { seconds: 30 });
    let broken = [vec![silent], fault(FaultClass::Stalled)].concat();
    let answers = [
        broken,
        fault(FaultClass::Overloaded),
        calls(&[WRITE]),
        closes(),
        closes(),
    ];
    let mut world = World::new(Puppet::will_say(answers));
    let flow = at(&world.begin());
    let store = |world: &World| {
        let ground = Ground {
            disk: Arc::new(world.disk.clone()),
            clock: clock(),
            process: process::this(&world.disk),
            ledger: None,
        };
        Store::new(ground, "/w/.a-society/state".into())
    };
    let mut core = world.open(&store(&world), &flow, 3);
    core.obey(
        Verb::Mode {
            mode: ConsentMode::FullAccess,
        },
        None,
    )
    .unwrap();
    walk(&mut core, dies_after);
    drop(core);
    world.disk = world.disk.kill_clone();
    let mut core = world.open(&store(&world), &flow, 4);
    walk(&mut core, 1000);
    assert!(core.state().turns.is_empty());
    // The id of a session has the time of its beginning in it.
    let is_news = |fact: &Fact| !matches!(fact, Fact::WriterOpened(_) | Fact::SessionOpened(_));
    world.facts(&core).into_iter().filter(is_news).collect()
}

#[test]
fn a_clock_that_jumps_during_a_stream_a_wait_or_a_restart_decides_nothing() {
    for dies_after in [0, 3, 4, 6, 9, 12] {
        let even =
            || Arc::new(CountingClock::from(At::from_ms(1_795_246_169_123))) as Arc<dyn Clock>;
        let usual = walked_by(even, dies_after);
        let jumping = walked_by(|| Arc::new(JumpingClock::default()), dies_after);
        assert!(
            usual
                .iter()
                .any(|fact| matches!(fact, Fact::ModelFailed(_)))
        );
        assert_eq!(jumping, usual, "after {dies_after} steps");
    }
}
