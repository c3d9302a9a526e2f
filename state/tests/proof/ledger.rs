//! Flows whose journal a ledger holds: several machines, each with a disk of its own, and a ledger that
//! fails. What was acknowledged has to be there on a machine that never saw the flow.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a_society_facts::Fact;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::id::Seq;
use a_society_facts::view::standing::FlowStanding;
use a_society_in_memory::{FaultyDisk, LedgerFault, MemoryLedger, Rig, RigCan, check_all};
use a_society_state::ledger::{Ledger, LedgerAccess, LedgerError, SharedLedger, WorkerName};
use a_society_state::{Error, Flow, Ground, Store, index};
use proptest::prelude::*;

use crate::extent::{first_of, pick};
use crate::model::{created, flow_ref, message, session_opened, titled};
use crate::oracle::records;
use crate::script::{ROOT, ScriptClock};

/// The conformance suite's hands on the ledger in memory.
#[derive(Debug, Default)]
struct MemoryRig {
    ledger: MemoryLedger,
}

impl Rig for MemoryRig {
    fn fresh(&mut self) -> SharedLedger {
        self.ledger = MemoryLedger::new();
        Arc::new(self.ledger.clone())
    }

    fn other_machine(&mut self) -> SharedLedger {
        Arc::new(self.ledger.other_machine())
    }

    fn crash(&mut self) -> RigCan {
        self.ledger.lose_soon(1);
        RigCan::Done
    }

    fn cut(&mut self) -> RigCan {
        self.ledger.set_reachable(false);
        RigCan::Done
    }

    fn heal(&mut self) {
        self.ledger.set_reachable(true);
    }

    fn lose_next_answer(&mut self) -> RigCan {
        let next = self.ledger.operations();
        self.ledger.arm(next, LedgerFault::AnswerLost);
        RigCan::Done
    }
}

#[test]
fn the_ledger_in_memory_does_what_every_ledger_must() {
    let conformance = check_all(&mut MemoryRig::default());
    assert_eq!(conformance.broken, []);
    assert_eq!(conformance.not_measured, [""; 0]);
    assert_eq!(conformance.held.len(), 18);
}

/// A machine with a disk of its own.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) ledger: MemoryLedger,
    pub(crate) disk: FaultyDisk,
    store: Store,
    pub(crate) flow: Option<Flow>,
    /// What was appended here and not yet acknowledged.
    pending: BTreeMap<Seq, Fact>,
}

impl Machine {
    pub(crate) fn new(ledger: &MemoryLedger, name: &str) -> Self {
        let disk = FaultyDisk::new();
        disk.make_folder("/place".as_ref()).unwrap();
        Self::on(disk, ledger.other_machine(), name)
    }

    pub(crate) fn on(disk: FaultyDisk, ledger: MemoryLedger, name: &str) -> Self {
        let mut access = LedgerAccess::new(Arc::new(ledger.clone()), WorkerName(name.to_owned()));
        // One more try: the faults of these tests come once.
        access.patience = Duration::from_millis(2);
        let ground = Ground {
            disk: Arc::new(disk.clone()),
            clock: Arc::new(ScriptClock::default()),
            process: ProcessName {
                pid: 1,
                start_ticks: 0,
                boot_id: name.to_owned(),
            },
            ledger: Some(access),
        };
        Self {
            ledger,
            disk,
            store: Store::new(ground, PathBuf::from(ROOT)),
            flow: None,
            pending: BTreeMap::new(),
        }
    }

    pub(crate) fn create(&mut self) -> Result<(), Error> {
        let flow = self.store.create(flow_ref().flow, created())?;
        self.flow = Some(flow);
        Ok(())
    }

    pub(crate) fn open(&mut self) -> Result<(), Error> {
        self.let_go();
        self.flow = Some(self.store.open(&flow_ref())?.0);
        Ok(())
    }

    pub(crate) fn let_go(&mut self) {
        self.flow = None;
        self.pending.clear();
    }

    pub(crate) fn append(&mut self, fact: &Fact) -> Result<Seq, Error> {
        let none = || Error::NoFlow("it is not open here".to_owned());
        let flow = self.flow.as_mut().ok_or_else(none)?;
        let seq = flow.append(fact.clone())?;
        self.pending.insert(seq, fact.clone());
        Ok(seq)
    }

    pub(crate) fn sync(&mut self) -> Result<Seq, Error> {
        let none = || Error::NoFlow("it is not open here".to_owned());
        self.flow.as_mut().ok_or_else(none)?.sync()
    }

    /// What the flow's writer says is durable.
    pub(crate) fn acknowledged(&mut self) -> BTreeMap<Seq, Fact> {
        let durable = self.flow.as_ref().map_or(0, Flow::durable);
        let later = self.pending.split_off(&(durable + 1));
        std::mem::replace(&mut self.pending, later)
    }

    /// Every byte of the copy's journal.
    pub(crate) fn journal(&self) -> Vec<u8> {
        let folder = self.store.folder(&flow_ref()).journal();
        let mut segments: Vec<PathBuf> = self.disk.files();
        segments.retain(|path| {
            path.parent() == Some(&folder) && path.extension().is_some_and(|it| it == "jsonl")
        });
        segments.sort();
        let bytes = segments
            .iter()
            .map(|path| self.disk.read_file(path).unwrap());
        bytes.flatten().collect()
    }

    pub(crate) fn records(&self) -> BTreeMap<Seq, Fact> {
        records(&self.store, &flow_ref())
    }

    fn quarantined(&self) -> Vec<String> {
        self.store.place(&flow_ref()).quarantined()
    }
}

/// A machine that never saw the flow has everything that was acknowledged, and its copy is the ledger's journal.
pub(crate) fn judge(ledger: &MemoryLedger, acked: &BTreeMap<Seq, Fact>, tried: &[Fact]) {
    let mut fresh = Machine::new(ledger, "judge");
    match fresh.open() {
        Err(Error::NoFlow(_)) if acked.is_empty() => return,
        opened => opened.unwrap(),
    }
    let there = records(&fresh.store, &flow_ref());
    for (seq, fact) in acked {
        assert_eq!(there.get(seq), Some(fact), "record {seq} was acknowledged");
    }
    for fact in there
        .values()
        .filter(|fact| matches!(fact, Fact::FlowTitled(_)))
    {
        assert!(tried.contains(fact), "nobody ever appended {fact:?}");
    }
    assert_eq!(fresh.journal(), ledger.kept_bytes(&flow_ref()));
}

#[test]
fn a_flow_goes_on_on_another_machine_with_all_it_had() {
    let ledger = MemoryLedger::new();
    let (mut here, mut there) = (
        Machine::new(&ledger, "here"),
        Machine::new(&ledger, "there"),
    );
    here.create().unwrap();
    here.flow.as_mut().unwrap().set_segment_bytes(600);
    here.append(&session_opened()).unwrap();
    let said = "w".repeat(70_000);
    let text = here.flow.as_ref().unwrap().keep_text(said.clone()).unwrap();
    here.append(&message(1, text.clone())).unwrap();
    for number in 0..9 {
        here.append(&titled(number)).unwrap();
    }
    here.sync().unwrap();
    assert!(matches!(there.open(), Err(Error::Busy { holder }) if holder == "here"));
    let seen = there.store.look(&flow_ref()).unwrap();
    assert_eq!(seen.held_by.as_deref(), Some("here"));
    here.flow.take().unwrap().close().unwrap();

    there.open().unwrap();
    let flow = there.flow.as_ref().unwrap();
    assert_eq!(flow.whole_text(&text).unwrap(), said, "the blob came along");
    let before = records(&there.store, &flow_ref()).len();
    there.append(&titled(99)).unwrap();
    there.sync().unwrap();
    there.flow.take().unwrap().close().unwrap();
    here.open().unwrap();
    assert_eq!(records(&here.store, &flow_ref()).len(), before + 2);
    assert_eq!(here.journal(), ledger.kept_bytes(&flow_ref()));
    let rows = index::rows(&there.store, &there.store.census().unwrap().flows);
    assert_eq!(rows.len(), 1, "a flow is listed once");
    assert_eq!(rows[0].held_by.as_deref(), Some("here"));
    assert_eq!(there.store.find("a1b2c3").unwrap(), flow_ref());
    there.ledger.set_reachable(false);
    let rows = index::rows(&there.store, &[flow_ref()]);
    let standing = rows[0].standing().map(FlowStanding::word);
    assert_eq!(standing, Some("ledger unreachable"));
}

#[test]
fn a_copy_that_is_cut_or_flipped_anywhere_is_made_whole_and_no_fact_says_so() {
    let ledger = MemoryLedger::new();
    let mut here = Machine::new(&ledger, "here");
    here.create().unwrap();
    here.flow.as_mut().unwrap().set_segment_bytes(900);
    for number in 0..6 {
        here.append(&titled(number)).unwrap();
    }
    here.flow.take().unwrap().close().unwrap();
    let whole = here.journal();
    let folder = here.store.folder(&flow_ref());
    let stride = pick(17, 1);
    for at in (first_of(stride)..whole.len()).step_by(stride) {
        for flips in [false, true] {
            let mut hurt = Machine::on(here.disk.kill_clone(), ledger.other_machine(), "hurt");
            let mut place = at;
            let hit = (1..).map(|number| folder.segment(number)).find(|path| {
                let bytes = hurt.disk.read_file(path).unwrap();
                let is_here = place < bytes.len();
                place -= if is_here { 0 } else { bytes.len() };
                is_here
            });
            let path = hit.unwrap();
            let mut bytes = hurt.disk.read_file(&path).unwrap();
            if flips {
                bytes[place] ^= 4;
            } else {
                bytes.truncate(place);
            }
            hurt.disk.write_file(&path, &bytes).unwrap();
            hurt.store.refresh(&flow_ref()).unwrap();
            assert_eq!(hurt.journal(), whole, "byte {at}, flipped: {flips}");
            hurt.store.look(&flow_ref()).unwrap();
            hurt.open().unwrap();
            hurt.flow = None;
            assert_eq!(hurt.journal(), ledger.kept_bytes(&flow_ref()));
            // Each of these opens says who writes, and nothing else.
            ledger_is_as_it_was(&ledger, &whole);
        }
    }
}

/// Cuts off what opens appended, so that the next case begins with the same journal.
fn ledger_is_as_it_was(ledger: &MemoryLedger, whole: &[u8]) {
    assert!(ledger.kept_bytes(&flow_ref()).starts_with(whole));
    let fresh = Machine::new(ledger, "again");
    fresh.store.refresh(&flow_ref()).unwrap();
    let facts = records(&fresh.store, &flow_ref());
    let later = facts
        .values()
        .rev()
        .take_while(|fact| !matches!(fact, Fact::FlowTitled(_)));
    let mut later = later.peekable();
    assert!(later.peek().is_some());
    assert!(later.all(|fact| matches!(fact, Fact::WriterOpened(_) | Fact::SegmentStarted(_))));
    ledger.cut_to(&flow_ref(), whole.len());
}

#[test]
fn a_damaged_ledger_is_said_with_its_record_and_never_fetched_over_a_copy() {
    let ledger = MemoryLedger::new();
    let mut here = Machine::new(&ledger, "here");
    here.create().unwrap();
    for number in 0..4 {
        here.append(&titled(number)).unwrap();
        here.sync().unwrap();
    }
    here.flow.take().unwrap().close().unwrap();
    let whole = ledger.kept_bytes(&flow_ref());
    let stride = pick(13, 1);
    for at in (first_of(stride)..whole.len()).step_by(stride) {
        ledger.flip(&flow_ref(), at);
        let mut fresh = Machine::new(&ledger, "fresh");
        let refused = fresh.open().unwrap_err();
        let is_said = matches!(&refused, Error::Ledger(LedgerError::Unfit { why, .. }) if why.contains("record"));
        assert!(is_said, "byte {at}: {refused}");
        assert_eq!(fresh.journal(), b"", "nothing of it is here");
        // A copy that needs to be fetched anew stays what it is.
        let mut torn = Machine::on(here.disk.kill_clone(), ledger.other_machine(), "torn");
        let path = here.store.folder(&flow_ref()).segment(1);
        let mut bytes = torn.disk.read_file(&path).unwrap();
        bytes[40] ^= 1;
        torn.disk.write_file(&path, &bytes).unwrap();
        assert!(torn.open().is_err());
        assert_eq!(torn.disk.read_file(&path).unwrap(), bytes);
        ledger.flip(&flow_ref(), at);
    }
    assert_eq!(ledger.kept_bytes(&flow_ref()), whole);
}

#[test]
fn a_worker_that_was_cut_off_acknowledges_nothing_and_its_tail_is_kept_aside() {
    let ledger = MemoryLedger::new();
    let (mut zombie, mut heir) = (
        Machine::new(&ledger, "zombie"),
        Machine::new(&ledger, "heir"),
    );
    zombie.create().unwrap();
    zombie.append(&titled(1)).unwrap();
    zombie.sync().unwrap();
    let durable = zombie.flow.as_ref().unwrap().durable();
    zombie.ledger.set_reachable(false);
    zombie.append(&titled(2)).unwrap();
    assert!(
        zombie.flow.as_ref().unwrap().moved_on(),
        "its claim is gone"
    );
    heir.open().unwrap();
    heir.append(&titled(3)).unwrap();
    heir.sync().unwrap();
    zombie.ledger.set_reachable(true);
    let refused = zombie.sync();
    assert!(matches!(refused, Err(Error::MovedOn)), "{refused:?}");
    assert_eq!(zombie.flow.as_ref().unwrap().durable(), durable);
    assert!(zombie.append(&titled(4)).is_err(), "it writes no more");
    zombie.let_go();
    assert!(matches!(zombie.open(), Err(Error::Busy { .. })));
    heir.flow.take().unwrap().close().unwrap();
    zombie.open().unwrap();
    let titles = records(&zombie.store, &flow_ref());
    assert!(titles.values().any(|fact| *fact == titled(3)));
    assert!(!titles.values().any(|fact| *fact == titled(2)));
    let aside = zombie.quarantined();
    assert!(
        aside.iter().any(|name| name.starts_with("copy-")),
        "{aside:?}"
    );
    assert_eq!(zombie.journal(), ledger.kept_bytes(&flow_ref()));
}

#[test]
fn what_a_ledger_only_had_soon_is_sent_again() {
    for stay in 0..3 {
        let ledger = MemoryLedger::new();
        let mut here = Machine::new(&ledger, "here");
        here.create().unwrap();
        for number in 0..3 {
            here.append(&titled(number)).unwrap();
            here.flow.as_mut().unwrap().tick();
        }
        ledger.lose_soon(stay);
        here.append(&titled(9)).unwrap();
        here.sync().unwrap();
        assert_eq!(
            here.journal(),
            ledger.kept_bytes(&flow_ref()),
            "{stay} stayed"
        );
    }
}

#[test]
fn a_reader_is_shown_nothing_that_the_ledger_does_not_have() {
    let ledger = MemoryLedger::new();
    let mut here = Machine::new(&ledger, "here");
    here.create().unwrap();
    here.append(&titled(1)).unwrap();
    let mut follower = here.store.follow_after(&flow_ref(), None);
    let mut seen = Vec::new();
    let mut each = |recorded: &a_society_facts::Recorded| seen.push(recorded.seq);
    follower.read(&mut each).unwrap();
    let durable = here.flow.as_ref().unwrap().durable();
    assert_eq!(follower.seq(), durable);
    here.sync().unwrap();
    follower.read(&mut each).unwrap();
    let end = here.flow.as_ref().unwrap().position().seq;
    assert_eq!(seen, (1..=end).collect::<Vec<_>>());
}

#[test]
fn of_many_machines_that_open_a_flow_one_at_a_time_has_it() {
    let ledger = MemoryLedger::new();
    Machine::new(&ledger, "first").create().unwrap();
    let inside = AtomicUsize::new(0);
    let rounds = pick(12, 100);
    let appended: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let (ledger, inside) = (&ledger, &inside);
                scope.spawn(move || {
                    let mut machine = Machine::new(ledger, &format!("machine {number}"));
                    let mut appended = 0;
                    while appended < rounds {
                        match machine.open() {
                            Err(Error::Busy { .. }) => std::thread::yield_now(),
                            opened => {
                                opened.unwrap();
                                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                                machine.append(&titled(number)).unwrap();
                                machine.sync().unwrap();
                                appended += 1;
                                inside.fetch_sub(1, Ordering::SeqCst);
                                machine.let_go();
                            }
                        }
                    }
                    appended
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    let fresh = Machine::new(&ledger, "judge");
    let facts = records(&fresh.store, &flow_ref());
    let titles = facts
        .values()
        .filter(|fact| matches!(fact, Fact::FlowTitled(_)));
    assert_eq!(titles.count(), appended);
}

#[test]
fn a_flow_is_removed_from_the_ledger_only_where_it_ends_as_it_was_seen() {
    let ledger = MemoryLedger::new();
    let (mut here, there) = (
        Machine::new(&ledger, "here"),
        Machine::new(&ledger, "there"),
    );
    here.create().unwrap();
    here.flow.take().unwrap().close().unwrap();
    there.store.refresh(&flow_ref()).unwrap();
    assert!(there.ledger.entry(&flow_ref()).unwrap().is_some());
    let refused = a_society_state::removal::remove(&there.store, &flow_ref(), 1);
    assert!(refused.is_err(), "it is not over");
    assert!(there.ledger.entry(&flow_ref()).unwrap().is_some());
}

#[test]
fn what_works_on_files_alone_is_refused_in_words() {
    let ledger = MemoryLedger::new();
    let mut here = Machine::new(&ledger, "here");
    here.create().unwrap();
    here.flow.take().unwrap().close().unwrap();
    let mut archive = Vec::new();
    a_society_state::archive::export(&here.store, &flow_ref(), &mut archive).unwrap();
    let elsewhere = Some("orchard".parse().unwrap());
    let refused = a_society_state::archive::import(&here.store, &mut archive.as_slice(), elsewhere);
    let said = refused.unwrap_err().to_string();
    assert!(
        said.contains("an import works on flows that are kept in files"),
        "{said}"
    );
}

#[test]
fn a_flow_that_was_kept_without_the_ledger_is_not_taken_for_one_of_its() {
    let mut play = crate::script::Play::new();
    play.step(&crate::script::Step::Create).unwrap();
    play.flow = None;
    let before = play.disk.files();
    let mut machine = Machine::on(play.disk.clone(), MemoryLedger::new(), "here");
    let refused = machine.open().unwrap_err();
    assert!(
        refused.to_string().contains("kept without one"),
        "{refused}"
    );
    let journal =
        |files: Vec<PathBuf>| files.into_iter().filter(|it| it.ends_with("jsonl")).count();
    assert_eq!(journal(play.disk.files()), journal(before));
}

/// A use of a flow by one machine while the ledger fails once.
fn use_of(machine: &mut Machine, acked: &mut BTreeMap<Seq, Fact>, tried: &mut Vec<Fact>) {
    let mut go = |machine: &mut Machine, number: usize| -> Result<(), Error> {
        let fact = titled(number);
        tried.push(fact.clone());
        let appended = machine.append(&fact);
        if number.is_multiple_of(3) {
            machine.flow.as_mut().map(Flow::tick);
        }
        appended.map(drop)
    };
    let begun = machine.create();
    if begun.is_err() {
        drop(machine.open());
    }
    for number in 0..8 {
        if let Some(flow) = &mut machine.flow {
            flow.set_segment_bytes(1200);
        }
        let mut done = go(machine, number);
        if number % 2 == 1 {
            done = done.and_then(|()| machine.sync().map(drop));
        }
        acked.extend(machine.acknowledged());
        if done.is_err() {
            drop(machine.open());
        }
        if number == 4 {
            machine.let_go();
            drop(machine.open());
        }
    }
    drop(machine.sync());
    acked.extend(machine.acknowledged());
    machine.let_go();
}

#[test]
fn whichever_operation_of_the_ledger_fails_nothing_acknowledged_is_lost() {
    let plain = MemoryLedger::new();
    let (mut acked, mut tried) = (BTreeMap::new(), Vec::new());
    let mut machine = Machine::new(&plain, "here");
    use_of(&mut machine, &mut acked, &mut tried);
    assert_eq!(
        acked.len(),
        7,
        "all but the one that was not synced when the process died"
    );
    judge(&plain, &acked, &tried);
    let operations = plain.operations();
    for fault in [
        LedgerFault::Unreachable,
        LedgerFault::AnswerLost,
        LedgerFault::RequestLost,
        LedgerFault::StopsHalfway,
    ] {
        for at in 0..operations {
            let ledger = MemoryLedger::new();
            ledger.arm(at, fault);
            let (mut acked, mut tried) = (BTreeMap::new(), Vec::new());
            let mut machine = Machine::new(&ledger, "here");
            use_of(&mut machine, &mut acked, &mut tried);
            ledger.disarm();
            ledger.lose_soon(usize::try_from(at % 3).unwrap());
            judge(&ledger, &acked, &tried);
        }
    }
}

/// One thing that happens to one of three machines.
#[derive(Debug, Clone)]
enum MachineEvent {
    Title,
    Sync,
    Tick,
    Open,
    Close,
    Die,
    PowerCut(u64),
    CutOff,
    Heal,
    LedgerCrash(usize),
    Segments(u64),
}

fn event() -> impl Strategy<Value = (usize, MachineEvent)> {
    let event = prop_oneof![
        8 => Just(MachineEvent::Title),
        5 => Just(MachineEvent::Sync),
        2 => Just(MachineEvent::Tick),
        6 => Just(MachineEvent::Open),
        2 => Just(MachineEvent::Close),
        1 => Just(MachineEvent::Die),
        2 => any::<u64>().prop_map(MachineEvent::PowerCut),
        2 => Just(MachineEvent::CutOff),
        3 => Just(MachineEvent::Heal),
        1 => (0_usize..3).prop_map(MachineEvent::LedgerCrash),
        1 => prop_oneof![Just(1), Just(500), Just(1500)].prop_map(MachineEvent::Segments),
    ];
    (0_usize..3, event)
}

fn happen(machine: &mut Machine, event: &MachineEvent, number: usize, tried: &mut Vec<Fact>) {
    match event {
        MachineEvent::Title => {
            let fact = titled(number);
            if machine.append(&fact).is_ok() {
                tried.push(fact);
            }
        }
        MachineEvent::Sync => drop(machine.sync()),
        MachineEvent::Tick => {
            machine.flow.as_mut().map(Flow::tick);
        }
        MachineEvent::Open => {
            if machine.flow.is_none() {
                drop(machine.open());
            }
        }
        MachineEvent::Close => {
            // What was synced on the way is acknowledged even where a view cannot be written.
            drop(machine.sync());
        }
        MachineEvent::Die => {}
        MachineEvent::PowerCut(seed) => {
            machine.let_go();
            let disk = machine.disk.crash_clone(*seed);
            *machine = Machine::on(disk, machine.ledger.clone(), "back");
        }
        MachineEvent::CutOff => machine.ledger.set_reachable(false),
        MachineEvent::Heal => machine.ledger.set_reachable(true),
        MachineEvent::LedgerCrash(stay) => machine.ledger.lose_soon(*stay),
        MachineEvent::Segments(bytes) => {
            if let Some(flow) = &mut machine.flow {
                flow.set_segment_bytes(*bytes);
            }
        }
    }
}

fn play(events: &[(usize, MachineEvent)]) {
    let ledger = MemoryLedger::new();
    let mut machines = ["a", "b", "c"].map(|name| Machine::new(&ledger, name));
    machines[0].create().unwrap();
    let (mut acked, mut tried) = (BTreeMap::new(), Vec::new());
    for (number, (which, event)) in events.iter().enumerate() {
        let machine = &mut machines[*which];
        happen(machine, event, number, &mut tried);
        for (seq, fact) in machine.acknowledged() {
            let before = acked.insert(seq, fact.clone());
            assert!(
                before.is_none_or(|before| before == fact),
                "record {seq} twice"
            );
        }
        if matches!(event, MachineEvent::Close | MachineEvent::Die) {
            if matches!(event, MachineEvent::Close)
                && let Some(flow) = machine.flow.take()
            {
                drop(flow.close());
            }
            machine.let_go();
        }
    }
    for machine in &mut machines {
        machine.let_go();
        machine.ledger.set_reachable(true);
    }
    ledger.lose_soon(events.len() % 3);
    judge(&ledger, &acked, &tried);
    // Every machine, whatever its disk went through, can go on.
    for machine in &mut machines {
        machine.open().unwrap();
        assert_eq!(machine.journal(), ledger.kept_bytes(&flow_ref()));
        machine.let_go();
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: pick(150, 10_000),
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn three_machines_that_die_and_are_cut_off_keep_what_they_acknowledged(
        events in prop::collection::vec(event(), 1..40),
    ) {
        play(&events);
    }
}
