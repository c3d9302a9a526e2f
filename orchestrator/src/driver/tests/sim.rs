//! Whole flows on one thread with everything against them: a seeded scheduler that mixes turns, an
//! impatient operator, deaths and power cuts at any step, on a disk in memory.
//!
//! A seed gives the same journal, byte for byte, every time. A seed that fails is named in the
//! failure; `A_SOCIETY_SEED=…` runs only that one.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the simulator cares about a few kinds of work and of steps"
)]

use std::sync::Arc;

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::StopScope;
use a_society_facts::view::flow::FlowStatus;
use a_society_facts::{At, Verb, Whom};
use a_society_flow::machine::{OperatorQuestion, Work};
use a_society_in_memory::FaultyDisk;
use a_society_roles::turn::step::{StepReply, TurnStep};
use a_society_state::clock::CountingClock;
use a_society_state::{FlowRef, Ground, Store, process};

use super::super::attempt::{Heard, Start};
use super::super::core::Core;
use crate::mint::{Mint, SeededMint};
use crate::project::flow_file::read_kept;
use crate::run::{NewFlow, create, reopen};

const FLOW: &str = r"
workflow:
  name: Simulated
  nodes:
    - { id: plan, role: owner }
    - { id: draft, role: writer }
    - { id: check, role: reviewer }
    - { id: legal, role: writer_2, human-colab: true }
    - { id: join, role: reviewer, await-all-inputs: true }
    - { id: done, role: owner }
  edges:
    - { from: plan, to: draft }
    - { from: plan, to: legal }
    - { from: draft, to: check }
    - { from: check, to: join }
    - { from: legal, to: join }
    - { from: join, to: done }
roles:
  owner: { executor: scripted }
  writer: { executor: scripted }
  reviewer: { executor: scripted }
";

const SCRIPT: &str = r"
default: forward
script:
  - node: draft
    say:
      - reasoning: Where do I begin?
      - stream: { text: 'Words, one after the other, as they come.', pieces: 5 }
      - call: { tool: read_file, input: { path: a }, output: 'what it holds' }
      - call: { tool: run_command, input: { run: make }, output: 'made', effect: mutating }
      - Here it is.
      - forward: The draft.
  - node: check
    turn: 1
    say: [ 'Not yet.', { back: 'Please mend the first line.' } ]
  - node: legal
    turn: 1
    say: [ 'Is this allowed?', { signal: prompt-human } ]
";

/// Steps after which a flow that has not ended counts as stuck.
const STEPS_MAX: usize = 4000;

struct World {
    disk: FaultyDisk,
    dice: SeededMint,
    core: Option<Core>,
    flow: FlowRef,
    running: Vec<(Start, StepReply)>,
}

fn store(disk: &FaultyDisk) -> Store {
    let ground = Ground {
        disk: Arc::new(disk.clone()),
        clock: Arc::new(CountingClock::from(At::from_ms(1_795_246_169_123))),
        process: process::this(disk),
        ledger: None,
    };
    Store::new(ground, "/w/.a-society/state".into())
}

impl World {
    fn begin(seed: u64) -> Self {
        let disk = FaultyDisk::new();
        // A project that leaves open how its flows end.
        disk.make_folder("/w/project/a-docs".as_ref()).unwrap();
        let new = NewFlow {
            ends: a_society_facts::fact::flow::Ends::default(),
            project: "demo".parse().unwrap(),
            project_folder: "/w/project".into(),
            title: None,
            input: None,
            file: read_kept(FLOW.to_owned()).unwrap(),
            script: Some(SCRIPT.to_owned()),
            tokens: None,
            mode: None,
            rules: a_society_facts::fact::operator::ConsentRules::default(),
            chat: None,
            client: None,
        };
        let at = At::from_ms(1_795_246_169_123);
        let core = create(&store(&disk), new, at, Box::new(SeededMint(seed))).unwrap();
        let flow = FlowRef {
            project: "demo".parse().unwrap(),
            flow: core.flow().id().clone(),
        };
        let dice = SeededMint(seed ^ 0x5eed);
        Self {
            disk,
            dice,
            core: Some(core),
            flow,
            running: Vec::new(),
        }
    }

    fn roll(&mut self, sides: u128) -> usize {
        usize::try_from(self.dice.number() % sides).unwrap()
    }

    fn core(&mut self) -> &mut Core {
        self.core.as_mut().unwrap()
    }

    /// One step of whatever the scheduler picks.
    fn step(&mut self) {
        let starts = self.core().advance().unwrap();
        self.running
            .extend(starts.into_iter().map(|start| (start, StepReply::Begin)));
        if self.running.is_empty() {
            return;
        }
        let pick = self.roll(self.running.len() as u128);
        let (mut start, told) = self.running.swap_remove(pick);
        let heard = match start.taker.next(told) {
            TurnStep::Wait { .. } => Heard::Go(StepReply::Done { call: None }),
            step => self.core().step(start.turn, start.attempt, step).unwrap(),
        };
        if let Heard::Go(told) = heard {
            self.running.push((start, told));
        }
    }

    /// The process dies, or the power fails, and the flow is opened again.
    fn die(&mut self) {
        let power = self.roll(2) == 0;
        let seed = u64::try_from(self.dice.number() % 1_000_000).unwrap();
        let left = if power {
            self.disk.crash_clone(seed)
        } else {
            self.disk.kill_clone()
        };
        self.running.clear();
        self.core = None;
        self.disk = left;
        let mint = Box::new(SeededMint(seed));
        let opened = reopen(&store(&self.disk), &self.flow, "/w/project".into(), mint);
        let (core, _) = opened.unwrap_or_else(|error| panic!("it does not open again: {error}"));
        self.core = Some(core);
    }

    /// The operator does something, sensible or not; a refusal is fine.
    fn meddle(&mut self) {
        let input = match self.roll(7) {
            0 => Verb::Stop {
                scope: StopScope::All,
            },
            1 => Verb::Pause {},
            2 => Verb::Unpause {},
            3 => Verb::Retry { to: Whom::Only },
            4 => Self::reply(Whom::Only),
            5 => Verb::Stop {
                scope: StopScope::Node("draft".parse().unwrap()),
            },
            _ => Verb::Stop {
                scope: StopScope::Role("owner".parse().unwrap()),
            },
        };
        let heard = self.core().obey(input, None);
        if let Err(error) = heard {
            let text = error.to_string();
            assert!(
                matches!(error, super::super::error::DriverError::Refused(_)),
                "{text}"
            );
        }
    }

    fn reply(to: Whom) -> Verb {
        Verb::Reply {
            to,
            text: "Yes, go on.".to_owned(),
            asked: None,
        }
    }

    /// A patient operator answers whatever is asked.
    fn answer(&mut self) {
        let asked = self
            .core()
            .pending()
            .into_iter()
            .find_map(|work| match work {
                Work::AskOperator(question) => Some(question),
                _ => None,
            });
        let Some(question) = asked else { return };
        let input = match question {
            OperatorQuestion::Text { node, role, .. } => {
                Self::reply(node.map_or(Whom::Role(role), Whom::Node))
            }
            OperatorQuestion::Approval { approval, .. } => Verb::Approve {
                approval: Some(approval),
            },
            OperatorQuestion::Improvement { .. } => Verb::Improve {
                mode: ImprovementMode::None,
            },
            OperatorQuestion::Feedback => Verb::Feedback { granted: false },
            OperatorQuestion::Unpause { .. } => Verb::Unpause {},
            other => panic!("nobody expected {other:?}"),
        };
        self.core().obey(input, None).unwrap();
    }

    fn is_over(&self) -> bool {
        self.core
            .as_ref()
            .is_some_and(|core| core.state().status == FlowStatus::Completed)
    }
}

/// Walks one seed to its end and returns the journal.
fn walk(seed: u64) -> Vec<u8> {
    let mut world = World::begin(seed);
    for step in 0..STEPS_MAX {
        if world.is_over() {
            break;
        }
        // Trouble ends after a while, so that every flow can come to its end.
        let trouble = step < 400;
        match world.roll(20) {
            0 if trouble => world.die(),
            1 if trouble => world.meddle(),
            _ => world.step(),
        }
        if world.running.is_empty() {
            world.answer();
        }
    }
    let state = world.core().state().clone();
    assert_eq!(
        state.status,
        FlowStatus::Completed,
        "seed {seed}: {:?}",
        world.core().pending()
    );
    assert_eq!(state.completed_edges.len(), 6, "seed {seed}");
    assert!(
        state.received.is_empty(),
        "seed {seed}: {:?}",
        state.received
    );
    let segment = world.core().flow().folder().segment(1);
    world.core.take().unwrap().close().unwrap();
    let journal = world.disk.read_file(&segment).unwrap();
    named_once(seed, &journal);
    journal
}

/// A call has a name of its own over all tries and requests of its turn.
fn named_once(seed: u64, journal: &[u8]) {
    #[derive(serde::Deserialize)]
    struct StepLine {
        fact: String,
        #[serde(default)]
        call: String,
    }
    let mut known = std::collections::BTreeSet::new();
    for line in journal.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<StepLine>(line) else {
            continue;
        };
        let is_new = line.fact != "call_intended" || known.insert(line.call.clone());
        assert!(is_new, "seed {seed}: two calls are named {}", line.call);
    }
    assert!(!known.is_empty(), "seed {seed}: no call was intended");
}

/// All of five thousand when everything is to run, or so many of them, others with each commit.
pub(super) fn seeds(slice: u64) -> std::ops::Range<u64> {
    const ALL: u64 = 5000;
    if std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1") {
        return 0..ALL;
    }
    let moved = std::env::var("A_SOCIETY_TEST_SEED").ok();
    let moved: u64 = moved.and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let first = moved % (ALL - slice);
    first..first + slice
}

#[test]
fn every_seeded_flow_comes_to_its_end_whatever_happens_on_the_way() {
    if let Ok(seed) = std::env::var("A_SOCIETY_SEED") {
        walk(seed.parse().unwrap());
        return;
    }
    for seed in seeds(60) {
        let walked = std::panic::catch_unwind(|| walk(seed));
        assert!(walked.is_ok(), "A_SOCIETY_SEED={seed} fails");
    }
}

#[test]
fn the_same_seed_gives_the_same_journal() {
    for seed in 0..5 {
        assert!(walk(seed) == walk(seed), "seed {seed} walks two ways");
    }
}
