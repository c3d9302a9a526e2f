//! Scripted uses of a flow, step by step, on a disk that may fail.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use a_society_facts::fact::flow::{FactAuthor, FlowCancelled};
use a_society_facts::fact::journal::{ProcessName, RecoveryRow};
use a_society_facts::id::Seq;
use a_society_facts::{At, Fact};
use a_society_in_memory::FaultyDisk;
use a_society_state::clock::Clock;
use a_society_state::journal::recover::parse_name;
use a_society_state::open::OpenReport;
use a_society_state::repair::Diagnosis;
use a_society_state::{Error, Flow, Ground, Store, archive, repair, retention};

use crate::model::{ELSEWHERE, Model, Removal, created, flow_ref, message, session_opened, titled};
use crate::oracle::records;
use crate::tails;

/// Where the store of every test is.
pub(crate) const ROOT: &str = "/place/.a-society/state";
/// How far one tick of a script moves the clock; views are then always due.
const TICK_MS: i64 = 60_000;

/// A clock that a script moves.
#[derive(Debug, Default)]
pub(crate) struct ScriptClock {
    ms: AtomicI64,
}

impl ScriptClock {
    fn advance(&self, ms: i64) {
        self.ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for ScriptClock {
    fn now(&self) -> At {
        At::from_ms(self.ms.fetch_add(1, Ordering::Relaxed))
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.ms.load(Ordering::Relaxed)).unwrap() * 1000
    }
}

/// A store over a disk, with a process and a clock of its own.
pub(crate) fn store_over(disk: &FaultyDisk) -> (Store, Arc<ScriptClock>) {
    let clock = Arc::new(ScriptClock::default());
    let ground = Ground {
        disk: Arc::new(disk.clone()),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        process: ProcessName {
            pid: 1,
            start_ticks: 0,
            boot_id: String::new(),
        },
        ledger: None,
    };
    (Store::new(ground, PathBuf::from(ROOT)), clock)
}

/// One action of a user, the machine or something outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// The flow is made.
    Create,
    /// A title is appended.
    Title,
    /// A session is opened.
    Session,
    /// A text of so many bytes is added; long ones are kept as blobs.
    Say(usize),
    /// Everything appended is made durable.
    Sync,
    /// Time goes by and views are written.
    Tick,
    /// The flow rests.
    Rest,
    /// The flow is closed in good order.
    Close,
    /// The flow is opened.
    Open,
    /// The process dies.
    Kill,
    /// The power fails; the seed chooses what it leaves.
    PowerCut(u64),
    /// Segments are closed at this size from now on.
    Segments(u64),
    /// Checkpoints are written each time so much was appended from now on.
    Checkpoints(u64),
    /// The disk has only so much room left.
    Room(Option<u64>),
    /// The flow is asked to go on after a full disk.
    Resume,
    /// A crash left such a tail.
    Torn(RecoveryRow),
    /// A bit of an acknowledged record flips.
    Flip,
    /// A damaged journal is repaired.
    Repair,
    /// What a recovery cut is put back.
    Restore,
    /// The flow is exported and imported under another project.
    Carry,
    /// The flow is cancelled.
    Cancel,
    /// Flows that are over are removed.
    Prune,
}

impl Step {
    /// Whether everything appended is durable when the step succeeds.
    const fn promises_everything(&self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Sync
                | Self::Rest
                | Self::Close
                | Self::Open
                | Self::Repair
                | Self::Restore
        )
    }
}

/// What a script does when a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temper {
    /// It ends.
    GiveUp,
    /// It does the next step, and opens the flow again where it has to.
    GoOn,
}

/// A script being played.
#[derive(Debug)]
pub(crate) struct Play {
    pub(crate) disk: FaultyDisk,
    pub(crate) store: Store,
    pub(crate) flow: Option<Flow>,
    clock: Arc<ScriptClock>,
    model: Arc<Mutex<Model>>,
    segment_bytes: Option<u64>,
    checkpoint_bytes: Option<u64>,
    /// The last report of an open.
    pub(crate) report: Option<OpenReport>,
}

impl Play {
    /// Begins on an empty disk.
    pub(crate) fn new() -> Self {
        let disk = FaultyDisk::new();
        disk.make_folder("/place".as_ref()).unwrap();
        Self::on(disk)
    }

    /// Begins on a disk.
    pub(crate) fn on(disk: FaultyDisk) -> Self {
        let (store, clock) = store_over(&disk);
        Self {
            disk,
            store,
            flow: None,
            clock,
            model: Arc::default(),
            segment_bytes: None,
            checkpoint_bytes: None,
            report: None,
        }
    }

    /// The promises, shared with the observers.
    pub(crate) fn shared_model(&self) -> Arc<Mutex<Model>> {
        Arc::clone(&self.model)
    }

    /// The promises.
    pub(crate) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap()
    }

    /// Plays a script and returns its first error.
    pub(crate) fn run(&mut self, steps: &[Step], temper: Temper) -> Option<Error> {
        let mut first = None;
        for step in steps {
            let Err(error) = self.step(step) else {
                continue;
            };
            first.get_or_insert(error);
            if temper == Temper::GiveUp {
                break;
            }
            if self
                .flow
                .as_ref()
                .is_some_and(|flow| flow.poison().is_some())
            {
                self.must_stay_silent();
                self.flow = None;
            }
        }
        first
    }

    /// Plays one step.
    pub(crate) fn step(&mut self, step: &Step) -> Result<(), Error> {
        let done = self.act(step);
        if let Some(flow) = &self.flow {
            let durable = flow.durable();
            self.model().acknowledged(durable);
        }
        if done.is_ok() && step.promises_everything() {
            self.model().acknowledged(Seq::MAX - 1);
        }
        done
    }

    /// A writer that stopped acknowledges nothing more, whatever it is asked.
    fn must_stay_silent(&mut self) {
        let flow = self.flow.as_mut().unwrap();
        let (durable, end) = (flow.durable(), flow.position());
        let before = self.disk.kill_clone();
        assert!(flow.append(titled(0)).is_err(), "a poisoned writer appends");
        assert!(flow.sync().is_err(), "a poisoned writer syncs");
        assert!(flow.rest().is_err(), "a poisoned writer writes views");
        flow.tick();
        assert_eq!((flow.durable(), flow.position()), (durable, end));
        let journal = |disk: &FaultyDisk| {
            let segments = tails::segments(disk, self.store.folder(&flow_ref()).root());
            segments
                .iter()
                .map(|path| disk.read_file(path))
                .collect::<Vec<_>>()
        };
        assert_eq!(journal(&self.disk), journal(&before), "it touches the file");
    }

    fn act(&mut self, step: &Step) -> Result<(), Error> {
        match step {
            Step::Create => self.create(),
            Step::Title => self.title(),
            Step::Session => self.append(session_opened()).map(drop),
            Step::Say(bytes) => self.say(*bytes),
            Step::Sync => self.flow()?.sync().map(drop),
            Step::Tick => {
                self.clock.advance(TICK_MS);
                self.flow()?.tick();
                Ok(())
            }
            Step::Rest => self.flow()?.rest(),
            Step::Close => self.close(),
            Step::Open => self.open(),
            Step::Kill => {
                self.flow = None;
                Ok(())
            }
            Step::PowerCut(seed) => {
                self.cut_power(*seed);
                Ok(())
            }
            Step::Segments(bytes) => {
                self.segment_bytes = Some(*bytes);
                self.configure();
                Ok(())
            }
            Step::Checkpoints(bytes) => {
                self.checkpoint_bytes = Some(*bytes);
                self.configure();
                Ok(())
            }
            Step::Room(bytes) => {
                self.disk.set_free_bytes(*bytes);
                Ok(())
            }
            Step::Resume => self.flow()?.try_resume_after_full().map(drop),
            Step::Torn(row) => self.torn(*row),
            Step::Flip => self.flip(),
            Step::Repair => self.repair(),
            Step::Restore => self.restore(),
            Step::Carry => self.carry(),
            Step::Cancel => self.append(cancelled()).map(drop),
            Step::Prune => self.prune(),
        }
    }

    /// The flow, opened again if it has to be.
    fn flow(&mut self) -> Result<&mut Flow, Error> {
        if self.flow.is_none() {
            self.open()?;
        }
        let none = || Error::NoFlow(flow_ref().to_string());
        self.flow.as_mut().ok_or_else(none)
    }

    fn configure(&mut self) {
        let Some(flow) = &mut self.flow else { return };
        if let Some(bytes) = self.segment_bytes {
            flow.set_segment_bytes(bytes);
        }
        if let Some(bytes) = self.checkpoint_bytes {
            flow.set_checkpoint_bytes(bytes);
        }
    }

    fn create(&mut self) -> Result<(), Error> {
        let fact = Fact::FlowCreated(created());
        self.model().tries(&fact);
        let flow = self.store.create(flow_ref().flow, created())?;
        let end = flow.position().seq;
        self.model().appended(end, fact);
        self.flow = Some(flow);
        self.configure();
        Ok(())
    }

    fn open(&mut self) -> Result<(), Error> {
        self.flow = None;
        let (flow, report) = self.store.open(&flow_ref())?;
        self.flow = Some(flow);
        self.report = Some(report);
        self.configure();
        // Nothing is damaged any more, however that came about.
        self.model().harmed_from = None;
        Ok(())
    }

    fn title(&mut self) -> Result<(), Error> {
        let number = {
            let mut model = self.model();
            model.titles += 1;
            model.titles
        };
        self.append(titled(number)).map(drop)
    }

    fn append(&mut self, fact: Fact) -> Result<Seq, Error> {
        self.model().tries(&fact);
        let seq = self.flow()?.append(fact.clone())?;
        self.model().appended(seq, fact);
        Ok(seq)
    }

    fn say(&mut self, bytes: usize) -> Result<(), Error> {
        let number = self.model().tried.len();
        let text = format!("{number} {}", "w".repeat(bytes));
        let text = self.flow()?.keep_text(text)?;
        let blob = text.blob().map(|kept| kept.blob);
        self.append(message(number, text))?;
        // From here on a record names it, so it has to be there whenever that record is.
        self.model().blobs.extend(blob);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        self.flow()?.sync()?;
        let durable = self.flow()?.durable();
        self.model().acknowledged(durable);
        self.flow.take().map_or(Ok(()), Flow::close)
    }

    fn cut_power(&mut self, seed: u64) {
        self.flow = None;
        self.disk = self.disk.crash_clone(seed);
        (self.store, self.clock) = store_over(&self.disk);
        self.model().pending.clear();
    }

    fn torn(&mut self, row: RecoveryRow) -> Result<(), Error> {
        self.flow = None;
        let folder = self.store.folder(&flow_ref());
        if !tails::ends_well(&self.disk, folder.root()) {
            return Err(Error::NoFlow("nothing to tear".into()));
        }
        tails::leave_tail(&self.disk, folder.root(), row);
        for title in tails::TITLES {
            self.model().tries(&tails::torn_fact(title));
        }
        Ok(())
    }

    fn flip(&mut self) -> Result<(), Error> {
        self.flow = None;
        let folder = self.store.folder(&flow_ref());
        let harmed = self.model().harmed_from.is_some();
        let flipped = (!harmed).then(|| tails::flip_synced(&self.disk, folder.root()));
        let seq = flipped.flatten();
        let seq = seq.ok_or_else(|| Error::NoFlow("nothing to harm".into()))?;
        self.model().harmed(seq);
        Ok(())
    }

    fn repair(&mut self) -> Result<(), Error> {
        self.flow = None;
        let Diagnosis::Plan(plan) = repair::plan(&self.store, &flow_ref())? else {
            return self.open();
        };
        let (flow, report) = repair::apply(&self.store, &plan)?;
        self.flow = Some(flow);
        self.report = Some(report);
        self.configure();
        self.model().harmed_from = None;
        Ok(())
    }

    fn restore(&mut self) -> Result<(), Error> {
        let quarantine = self.store.folder(&flow_ref()).quarantine();
        let mut names = self.disk.files().into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            (path.parent() == Some(&quarantine) && parse_name(&name).is_some()).then_some(name)
        });
        let Some(name) = names.next_back() else {
            return Err(Error::NoFlow("nothing to put back".into()));
        };
        let before = self.flow()?.position().seq;
        let disk = self.disk.clone();
        repair::restore(self.flow()?, &disk, &name)?;
        let (seen, _) = store_over(&self.disk.kill_clone());
        for (seq, fact) in records(&seen, &flow_ref()).split_off(&(before + 1)) {
            self.model().appended(seq, fact);
        }
        Ok(())
    }

    fn carry(&mut self) -> Result<(), Error> {
        let mut bytes = Vec::new();
        archive::export(&self.store, &flow_ref(), &mut bytes)?;
        let acked = self.model().acked.clone();
        let project = Some(ELSEWHERE.parse().unwrap());
        archive::import(&self.store, &mut bytes.as_slice(), project)?;
        self.model().carried = Some(acked);
        Ok(())
    }

    fn prune(&mut self) -> Result<(), Error> {
        self.flow = None;
        let plan = retention::plan(&self.store, At::from_ms(i64::from(i32::MAX) * 1000))?;
        if plan.going.is_empty() {
            return Ok(());
        }
        self.model().removal = Removal::Begun;
        retention::apply(&self.store, &plan)?;
        self.model().removal = Removal::Done;
        Ok(())
    }
}

fn cancelled() -> Fact {
    Fact::FlowCancelled(FlowCancelled {
        client: None,
        by: FactAuthor::Operator,
        why: None,
    })
}
