//! Several workers of one ledger: one that died has an append on its way, one that was stopped goes on without its claim,
//! and three that a seed lets do all of that. Nothing that was acknowledged is lost, and what a worker wrote is in the
//! journal only where it was the writer.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::id::Seq;
use a_society_in_memory::{LedgerFault, MemoryLedger};
use a_society_state::{Error, Flow};

use crate::extent::{each_in_parallel, first_of, pick};
use crate::ledger::{Machine, judge};
use crate::model::{flow_ref, titled};

#[test]
fn an_append_of_a_dead_worker_may_arrive_at_any_point_of_the_next_open() {
    let mut arrived_in_time = 0;
    for at in 0.. {
        let ledger = MemoryLedger::new();
        let (mut dead, mut heir) = (Machine::new(&ledger, "dead"), Machine::new(&ledger, "heir"));
        dead.create().unwrap();
        dead.append(&titled(1)).unwrap();
        dead.sync().unwrap();
        let mut acked = dead.acknowledged();
        dead.append(&titled(2)).unwrap();
        ledger.arm(ledger.operations(), LedgerFault::ArrivesLate);
        assert!(dead.sync().is_err(), "it is cut off with its last append");
        assert!(ledger.is_waiting_for_late());
        dead.let_go();

        let begins = ledger.operations();
        ledger.deliver_at(begins + at);
        heir.open().unwrap();
        let is_over = ledger.is_waiting_for_late();
        arrived_in_time += usize::from(!is_over);
        heir.append(&titled(3)).unwrap();
        heir.sync().unwrap();
        acked.extend(heir.acknowledged());
        heir.let_go();
        ledger.deliver_at(0);
        judge(&ledger, &acked, &[titled(1), titled(2), titled(3)]);
        dead.ledger.set_reachable(true);
        dead.open().unwrap();
        assert_eq!(
            dead.journal(),
            ledger.kept_bytes(&flow_ref()),
            "operation {at}"
        );
        if is_over {
            break;
        }
    }
    assert!(
        arrived_in_time >= 3,
        "an open asks its ledger more than once"
    );
}

#[test]
fn a_worker_that_was_stopped_while_its_claim_was_ended_writes_nothing_when_it_goes_on() {
    for (unsynced, is_soon) in [(false, false), (true, false), (true, true)] {
        let ledger = MemoryLedger::new();
        let (mut stopped, mut heir) = (
            Machine::new(&ledger, "stopped"),
            Machine::new(&ledger, "heir"),
        );
        stopped.create().unwrap();
        stopped.append(&titled(1)).unwrap();
        stopped.sync().unwrap();
        let mut acked = stopped.acknowledged();
        if unsynced {
            stopped.append(&titled(2)).unwrap();
        }
        if is_soon {
            stopped.flow.as_mut().unwrap().tick();
        }
        assert!(matches!(heir.open(), Err(Error::Busy { holder }) if holder == "stopped"));
        ledger.end_claim(&flow_ref());
        assert!(stopped.flow.as_ref().unwrap().moved_on());
        heir.open().unwrap();
        heir.append(&titled(3)).unwrap();
        heir.sync().unwrap();
        acked.extend(heir.acknowledged());
        let kept = ledger.kept_bytes(&flow_ref());

        let durable = stopped.flow.as_ref().unwrap().durable();
        drop(stopped.append(&titled(4)));
        let refused = stopped.sync();
        assert!(matches!(refused, Err(Error::MovedOn)), "{refused:?}");
        assert_eq!(stopped.flow.as_ref().unwrap().durable(), durable);
        assert_eq!(ledger.kept_bytes(&flow_ref()), kept);
        // The claim that it gives back is not the heir's.
        stopped.let_go();
        assert!(matches!(stopped.open(), Err(Error::Busy { holder }) if holder == "heir"));
        heir.let_go();
        judge(&ledger, &acked, &[titled(1), titled(2), titled(3)]);
    }
}

/// The numbers of a seed (`SplitMix64`).
#[derive(Debug)]
struct SeededNumbers(u64);

impl SeededNumbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (number ^ (number >> 31)) % end
    }
}

const WORKERS: [&str; 3] = ["a", "b", "c"];
const STEPS: usize = 80;

/// Three workers with a store each, and what is known of their flow.
struct Simulation {
    random: SeededNumbers,
    ledger: MemoryLedger,
    workers: Vec<Machine>,
    /// The last record of the journal when a worker opened it last.
    opened: [Seq; 3],
    acked: BTreeMap<Seq, Fact>,
    tried: Vec<Fact>,
    /// Where the journal ended when the worker opened it that appended a title.
    writers: Vec<(Fact, Seq)>,
    takeovers: usize,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let ledger = MemoryLedger::new();
        let mut workers: Vec<Machine> = WORKERS
            .iter()
            .map(|name| Machine::new(&ledger, name))
            .collect();
        workers[0].create().unwrap();
        let end = workers[0].flow.as_ref().unwrap().position().seq;
        Self {
            random: SeededNumbers(seed),
            ledger,
            workers,
            opened: [end, 0, 0],
            acked: BTreeMap::new(),
            tried: Vec::new(),
            writers: Vec::new(),
            takeovers: 0,
        }
    }

    fn step(&mut self, number: usize) {
        let which = usize::try_from(self.random.below(3)).unwrap();
        let (action, dice) = (self.random.below(24), self.random.below(1 << 20));
        let worker = &mut self.workers[which];
        match action {
            0..=6 => self.title(which, number),
            7..=10 => drop(worker.sync()),
            11 => drop(worker.flow.as_mut().map(Flow::tick)),
            12..=16 => self.open(which),
            17 => {
                if let Some(flow) = &mut worker.flow {
                    flow.set_segment_bytes([1, 500, 1500][usize::try_from(dice % 3).unwrap()]);
                }
            }
            18 => worker.let_go(),
            19 => {
                worker.let_go();
                let disk = worker.disk.crash_clone(dice);
                *worker = Machine::on(disk, worker.ledger.clone(), WORKERS[which]);
            }
            20 => worker.ledger.set_reachable(false),
            21 => worker.ledger.set_reachable(true),
            22 => self.ledger.end_claim(&flow_ref()),
            _ => self.fail(dice),
        }
        for (seq, fact) in self.workers[which].acknowledged() {
            let before = self.acked.insert(seq, fact.clone());
            let is_same = before.as_ref().is_none_or(|before| *before == fact);
            assert!(is_same, "record {seq} is {before:?} and {fact:?}");
        }
    }

    fn title(&mut self, which: usize, number: usize) {
        let fact = titled(number);
        if self.workers[which].append(&fact).is_ok() {
            self.tried.push(fact.clone());
            self.writers.push((fact, self.opened[which]));
        }
    }

    fn open(&mut self, which: usize) {
        let worker = &mut self.workers[which];
        if worker.flow.is_none() && worker.open().is_ok() {
            self.opened[which] = worker.flow.as_ref().unwrap().position().seq;
            self.takeovers += 1;
        }
    }

    /// Lets one of the next operations of the ledger fail.
    fn fail(&mut self, dice: u64) {
        if dice.is_multiple_of(7) {
            return self.ledger.lose_soon(usize::try_from(dice % 3).unwrap());
        }
        let fault = [
            LedgerFault::Unreachable,
            LedgerFault::AnswerLost,
            LedgerFault::RequestLost,
            LedgerFault::StopsHalfway,
            LedgerFault::ArrivesLate,
            LedgerFault::ArrivesLate,
        ][usize::try_from(dice % 6).unwrap()];
        let next = self.ledger.operations() + dice % 5;
        self.ledger.arm(next, fault);
        self.ledger.deliver_at(next + 1 + dice % 23);
    }

    /// Everything comes back, and is judged. Gives the bytes of the journal and how often it changed hands.
    fn end(mut self) -> (Vec<u8>, usize) {
        for worker in &mut self.workers {
            worker.let_go();
            worker.ledger.set_reachable(true);
        }
        self.ledger.disarm();
        self.ledger.deliver_at(0);
        self.ledger
            .lose_soon(usize::try_from(self.random.below(3)).unwrap());
        judge(&self.ledger, &self.acked, &self.tried);
        let journal = self.ledger.kept_bytes(&flow_ref());
        for worker in &mut self.workers {
            worker.open().unwrap();
            assert_eq!(worker.journal(), self.ledger.kept_bytes(&flow_ref()));
            worker.let_go();
        }
        self.judge_writers();
        (journal, self.takeovers)
    }

    /// A title is behind the open of the worker that appended it, and no other worker opened in between.
    fn judge_writers(&self) {
        let there = self.workers[0].records();
        for (seq, fact) in &there {
            let Some((_, opened)) = self.writers.iter().find(|(title, _)| title == fact) else {
                continue;
            };
            assert!(opened < seq, "record {seq} is before its writer's first");
            let mut between = there.range(opened + 1..*seq);
            let other = between.find(|(_, fact)| matches!(fact, Fact::WriterOpened(_)));
            assert!(
                other.is_none(),
                "record {seq} has another writer: {other:?}"
            );
        }
    }
}

fn simulate(seed: u64) -> (Vec<u8>, usize) {
    let mut simulation = Simulation::new(seed);
    for number in 0..STEPS {
        simulation.step(number);
    }
    simulation.end()
}

#[test]
fn three_workers_of_one_ledger_lose_nothing_and_never_write_at_once() {
    let first = u64::try_from(first_of(usize::MAX)).unwrap();
    let seeds: Vec<u64> = (0..pick(60, 20_000)).map(|number| first + number).collect();
    let takeovers = std::sync::atomic::AtomicUsize::new(0);
    each_in_parallel(&seeds, |seed| {
        let (journal, changes) = simulate(*seed);
        assert_eq!(
            simulate(*seed).0,
            journal,
            "the same seed gives the same bytes"
        );
        takeovers.fetch_add(changes, std::sync::atomic::Ordering::Relaxed);
    });
    let takeovers = takeovers.into_inner();
    assert!(takeovers > seeds.len(), "{takeovers} takeovers are few");
}
