//! Every prefix of a journal is live: each scenario is walked whole, and then its journal is cut after
//! every record, the views are removed, and a new driver comes to the end of the whole walk.
//!
//! The world is put back to what it was at that record. A call may have done its work before its
//! result was recorded, so that such a record is tried in both worlds.
//!
//! A slice of the records is tried unless `A_SOCIETY_TEST_FULL=1` asks for all of them;
//! `A_SOCIETY_TEST_SEED` says which slice, so that it moves.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test cares about a few kinds of work and of messages"
)]

mod bounded;
mod folder;
mod meaning;
mod models;
mod scripts;
pub(super) mod wires;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_flow::machine::{OperatorQuestion, Work};
use a_society_roles::turn::step::{StepReply, TurnStep};
use a_society_state::layout::FlowFolder;

use self::meaning::Meaning;
use super::super::attempt::{Heard, Start};
use super::super::core::Core;
use super::model::Says;

/// Steps after which a flow that is not over counts as stuck.
const STEPS_MAX: usize = 20_000;
/// Answers after which an operator who is asked again and again gives up.
const ANSWERS_MAX: usize = 200;
/// Of so many records one is tried in a slice.
const SLICES: usize = 10;

/// Files by their paths. Those that do not change are held once.
type Files = BTreeMap<PathBuf, Arc<Vec<u8>>>;

/// A flow and all that is around it.
trait Stage: Sized {
    /// A stage on which nothing happened yet.
    fn new() -> Self;
    /// The same stage with these files, and no others.
    fn set(self, files: &Files) -> Self;
    /// The flow begins.
    fn begin(&self, scenario: &Scenario) -> Core;
    /// A process takes the flow over.
    ///
    /// # Errors
    /// Says in words why it cannot.
    fn open(&self, scenario: &Scenario) -> Result<Core, String>;
    /// The folder that is called `/w` where files are named.
    fn root(&self) -> PathBuf;
    /// All files, by path.
    fn files(&self) -> Files;
    /// Writes a file.
    fn write(&self, path: &Path, bytes: &[u8]);
}

/// How an operator answers a question. What comes third puts a file there.
type Answers = fn(&mut Core, &OperatorQuestion, &dyn Fn(&str, Option<&str>));

/// What is played.
#[derive(Debug, Clone)]
struct Scenario {
    name: String,
    flow: Begins,
    script: Option<String>,
    /// What a model says to a conversation.
    model: Option<Says>,
    /// What one says that is asked over HTTP.
    wired: Option<wires::Wired>,
    /// Whether its roles have the tools of a server.
    server: bool,
    /// What the operator says to roles at work.
    steers: &'static [wires::Steered],
    /// How the operator answers.
    answers: Answers,
    /// The tokens that the flow may use before the operator is asked.
    tokens: Option<u64>,
    /// How large the model's window is; 0 is without bounds.
    window: u64,
    /// Whether a model chooses first what roles work with.
    chooses: bool,
    /// Files that exist before anything happens.
    files: Vec<(PathBuf, String)>,
    /// Whether the place of the cut decides how often the operator is asked, and so how many turns
    /// there are.
    asks: bool,
}

/// With what a flow begins.
#[derive(Debug, Clone)]
enum Begins {
    /// A file.
    File(String),
    /// The graph of the project.
    Project,
    /// This graph of a project, by another program.
    Imported(String),
    /// Nothing: its owner writes the graph.
    Draft,
}

/// How the world was when so many records were written.
struct Moment {
    records: usize,
    files: Files,
}

/// A walk that goes on.
struct Walk {
    running: Vec<(Start, Option<StepReply>)>,
    steps: usize,
    answers: usize,
}

impl Walk {
    const fn new() -> Self {
        Self {
            running: Vec::new(),
            steps: 0,
            answers: 0,
        }
    }

    /// One step of a turn, or one answer. Whether there was anything to do.
    fn step<S: Stage>(
        &mut self,
        core: &mut Core,
        (scenario, stage): (&Scenario, &S),
        between: &mut dyn FnMut(&Core),
    ) -> Result<bool, String> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err("it goes on for ever".to_owned());
        }
        let starts = core.advance().map_err(|error| error.to_string())?;
        let begun = starts
            .into_iter()
            .map(|start| (start, Some(StepReply::Begin)));
        self.running.extend(begun);
        if self.running.is_empty() {
            // Every look at the clock moves it.
            return Ok(core.wakes_at().is_some() || self.answer(core, (scenario, stage))?);
        }
        let (mut start, told) = self.running.remove(0);
        let step = start.taker.next(told.unwrap_or(StepReply::Begin));
        let does = matches!(step, TurnStep::Finish { .. } | TurnStep::Start { .. });
        if does {
            between(core);
        }
        wires::steer(core, scenario.steers);
        let heard = core.step(start.turn, start.attempt, step);
        if let Heard::Go(told) = heard.map_err(|error| error.to_string())? {
            self.running.push((start, Some(told)));
        }
        Ok(true)
    }

    fn answer<S: Stage>(
        &mut self,
        core: &mut Core,
        (scenario, stage): (&Scenario, &S),
    ) -> Result<bool, String> {
        let asked = core.pending().into_iter().find_map(|work| match work {
            Work::AskOperator(question) => Some(question),
            _ => None,
        });
        let Some(question) = asked else {
            return Ok(false);
        };
        self.answers += 1;
        if self.answers > ANSWERS_MAX {
            return Err(format!("it asks for ever: {question:?}"));
        }
        let put = |path: &str, text: Option<&str>| {
            stage.write(Path::new(path), text.unwrap_or_default().as_bytes());
        };
        (scenario.answers)(core, &question, &put);
        Ok(true)
    }
}

/// The flow's folder, by the name that it has in every stage.
fn folder_of<S: Stage>(core: &Core, stage: &S) -> FlowFolder {
    let root = core.flow().folder().root();
    FlowFolder::at(Path::new("/w").join(root.strip_prefix(stage.root()).unwrap()))
}

/// Walks to the end, or says why that cannot be.
fn walk<S: Stage>(core: &mut Core, scenario: &Scenario, stage: &S) -> Result<(), String> {
    let mut walk = Walk::new();
    while walk.step(core, (scenario, stage), &mut |_| {})? {}
    core.sync().map_err(|error| error.to_string())?;
    if core.state().status.is_over() {
        return Ok(());
    }
    Err(format!(
        "it rests and is {:?}, and nobody is asked anything",
        core.state().status
    ))
}

/// Whether a file is made of facts, and so is not there after a cut.
fn is_derived(folder: &FlowFolder, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(folder.root()) else {
        return false;
    };
    !inside.starts_with("record") && !inside.starts_with("blobs")
}

/// The whole walk: the journal, how the world was at each of its records, and what it came to.
struct Whole<S> {
    stage: Option<S>,
    folder: FlowFolder,
    journal: Vec<Vec<u8>>,
    moments: Vec<Moment>,
    meaning: Meaning,
}

fn whole<S: Stage>(scenario: &Scenario) -> Whole<S> {
    let stage = S::new();
    for (path, text) in &scenario.files {
        stage.write(path, text.as_bytes());
    }
    let mut core = stage.begin(scenario);
    let folder = folder_of(&core, &stage);
    let mut moments: Vec<Moment> = Vec::new();
    let look = |core: &Core, moments: &mut Vec<Moment>| {
        let records = usize::try_from(core.flow().position().seq).unwrap();
        let mut files = stage.files();
        files.retain(|path, _| !is_derived(&folder, path));
        if let Some(last) = moments.last() {
            for (path, bytes) in &mut files {
                match last.files.get(path) {
                    Some(same) if same == bytes => *bytes = Arc::clone(same),
                    Some(_) | None => {}
                }
            }
            if last.records == records && last.files == files {
                return;
            }
        }
        moments.push(Moment { records, files });
    };
    look(&core, &mut moments);
    let mut walk = Walk::new();
    loop {
        let goes_on = walk.step(&mut core, (scenario, &stage), &mut |core| {
            look(core, &mut moments);
        });
        look(&core, &mut moments);
        match goes_on {
            Ok(true) => {}
            Ok(false) => break,
            Err(why) => panic!("{}: {why}", scenario.name),
        }
    }
    assert!(
        core.state().status.is_over(),
        "{}: {:?} {:?}",
        scenario.name,
        core.state().status,
        core.pending()
    );
    core.sync().unwrap();
    let meaning = Meaning::of(&core, &folder, &stage.files());
    let segment = &stage.files()[&folder.segment(1)];
    let lines = segment.split_inclusive(|byte| *byte == b'\n');
    let journal = lines.map(<[u8]>::to_vec).collect();
    drop(core);
    Whole {
        stage: Some(stage),
        journal,
        folder,
        moments,
        meaning,
    }
}

/// The worlds in which a journal may be found that ends behind this record.
fn worlds<S>(whole: &Whole<S>, records: usize) -> Vec<&Files> {
    // The first moment that has it is the one at which it was written.
    let Some(at) = (whole.moments.iter()).position(|moment| moment.records >= records) else {
        return Vec::new();
    };
    let exact = whole.moments[at..].iter();
    let mut found: Vec<&Files> = exact
        .take_while(|moment| moment.records == records)
        .map(|moment| &moment.files)
        .collect();
    if found.is_empty() {
        found.push(&whole.moments[at].files);
    }
    found.dedup();
    found
}

/// Goes on behind this record, and says what is wrong with the end, if anything is.
fn goes_on<S: Stage>(scenario: &Scenario, whole: &Whole<S>, stage: &S) -> Result<(), String> {
    let mut core = stage.open(scenario)?;
    walk(&mut core, scenario, stage)?;
    let found = Meaning::of(&core, &whole.folder, &stage.files());
    let differs = if scenario.asks {
        found.rough().differs(&whole.meaning.rough())
    } else {
        found.differs(&whole.meaning)
    };
    differs.map_or(Ok(()), Err)
}

/// The world that is found behind this record.
fn cut<S>(whole: &Whole<S>, (records, world): (usize, &Files)) -> Files {
    let mut files = world.clone();
    let prefix = whole.journal[..records].concat();
    files.insert(whole.folder.segment(1), Arc::new(prefix));
    files
}

/// The record with which a flow begins; a process that died before it leaves no flow.
fn first<S>(whole: &Whole<S>) -> usize {
    // What another program began is there with how it stood, or not at all.
    let is_first = |line: &Vec<u8>| {
        let line = String::from_utf8_lossy(line);
        let words = ["flow_created", "flow_imported"];
        words
            .iter()
            .any(|word| line.contains(&format!("\"fact\":\"{word}\"")))
    };
    whole.journal.iter().rposition(is_first).unwrap() + 1
}

/// Which slice is tried: another one with each seed, else one that the name decides.
fn slice(scenario: &Scenario) -> usize {
    let wanted = std::env::var("A_SOCIETY_TEST_SEED").unwrap_or_default();
    let letters = wanted.bytes().chain(scenario.name.bytes());
    letters.fold(0, |sum: usize, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(byte))
    }) % SLICES
}

/// Plays a scenario whole and from behind its records, and says what failed.
fn every_prefix_goes_on<S: Stage>(scenario: &Scenario, slices: usize) {
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    let mut whole = whole::<S>(scenario);
    let mut stage = whole.stage.take().unwrap();
    let (mut tried, mut failed) = (0, Vec::new());
    for records in first(&whole)..=whole.journal.len() {
        if !full && records % slices != slice(scenario) % slices {
            continue;
        }
        for world in worlds(&whole, records) {
            tried += 1;
            stage = stage.set(&cut(&whole, (records, world)));
            if let Err(why) = goes_on(scenario, &whole, &stage) {
                let last = String::from_utf8_lossy(&whole.journal[records - 1]).into_owned();
                let shown = last.floor_char_boundary(160);
                failed.push(format!("behind {records} ({}…): {why}", &last[..shown]));
            }
        }
    }
    let line = format!(
        "{}: {tried} boundaries, {} failed",
        scenario.name,
        failed.len()
    );
    if full {
        use std::io::Write as _;
        let _said = writeln!(std::io::stderr(), "{line}");
    }
    assert!(failed.is_empty(), "{line}\n{}", failed.join("\n"));
}
