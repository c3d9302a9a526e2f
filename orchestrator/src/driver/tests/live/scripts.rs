//! Flows that follow a script, on a disk in memory: the examples, and what they leave out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::fact::imported::FlowImported;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::{At, Fact};
use a_society_facts::{Verb, Whom};
use a_society_flow::machine::OperatorQuestion;
use a_society_in_memory::FaultyDisk;
use a_society_state::FlowRef;
use a_society_state::disk::{Disk, RealDisk};

use super::super::super::core::Core;
use super::super::store;
use super::folder::Folder;
use super::{Answers, Begins, Files, SLICES, Scenario, Stage, every_prefix_goes_on};
use crate::fork::{self, Wish};
use crate::mint::SeededMint;
use crate::project::flow_file::read_kept;
use crate::project::{docs, draft};
use crate::run::{NewFlow, create, reopen};

const PROJECT: &str = "/w/project";
const BEGINS_MS: i64 = 1_795_246_169_123;

/// A flow on a disk in memory.
struct InMemory(FaultyDisk);

/// The flow of the project `demo` in this folder of flows.
pub(super) fn only_flow(disk: &dyn Disk, state: &Path) -> FlowRef {
    let names = disk.list(&state.join("demo")).unwrap();
    FlowRef {
        project: "demo".parse().unwrap(),
        flow: names[0].name.parse().unwrap(),
    }
}

/// What the program makes of a scenario.
fn new_flow(scenario: &Scenario, disk: &dyn Disk, project: &Path) -> NewFlow {
    let of_project = || {
        let (found, diagnostics) = docs::folder::inspect(disk, project);
        found.unwrap_or_else(|| panic!("{diagnostics:?}"))
    };
    let file = match &scenario.flow {
        Begins::File(text) | Begins::Imported(text) => read_kept(text.clone()).unwrap(),
        Begins::Project => of_project().canonical,
        Begins::Draft => draft::alone().unwrap(),
    };
    NewFlow {
        ends: a_society_facts::fact::flow::Ends::default(),
        project: "demo".parse().unwrap(),
        project_folder: project.to_owned(),
        title: None,
        input: Some("Say hello.".into()),
        file,
        script: scenario.script.clone(),
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    }
}

impl Stage for InMemory {
    fn new() -> Self {
        let disk = FaultyDisk::new();
        // A project that leaves open how its flows end.
        disk.make_folder(&Path::new(PROJECT).join("a-docs"))
            .unwrap();
        Self(disk)
    }

    fn set(self, files: &Files) -> Self {
        let stage = Self::new();
        for (path, bytes) in files {
            stage.write(path, bytes);
        }
        stage
    }

    fn begin(&self, scenario: &Scenario) -> Core {
        let new = new_flow(scenario, &self.0, Path::new(PROJECT));
        let mint = Box::new(SeededMint(1));
        let mut core = create(&store(&self.0), new, At::from_ms(BEGINS_MS), mint).unwrap();
        if matches!(scenario.flow, Begins::Imported(_)) {
            core.pen.append(Fact::FlowImported(nothing_yet())).unwrap();
        }
        core
    }

    fn open(&self, _: &Scenario) -> Result<Core, String> {
        let mint = Box::new(SeededMint(7));
        let flow = only_flow(&self.0, Path::new("/w/.a-society/state"));
        let opened = reopen(&store(&self.0), &flow, PROJECT.into(), mint);
        let (core, _) = opened.map_err(|error| error.to_string())?;
        Ok(core)
    }

    fn root(&self) -> PathBuf {
        "/w".into()
    }

    fn files(&self) -> Files {
        let paths = self.0.files().into_iter();
        let read = |path: PathBuf| {
            let bytes = self.0.read_file(&path)?;
            Some((path, Arc::new(bytes)))
        };
        paths.filter_map(read).collect()
    }

    fn write(&self, path: &Path, bytes: &[u8]) {
        self.0.make_folder(path.parent().unwrap()).unwrap();
        self.0.write_file(path, bytes).unwrap();
    }
}

/// Another program began it, and nothing had happened. Its project was not checked.
fn nothing_yet() -> FlowImported {
    FlowImported {
        state_version: "11".to_owned(),
        files: Vec::new(),
        without_place: Vec::new(),
        visited: Vec::new(),
        completed: Vec::new(),
        passed: Vec::new(),
        received: Vec::new(),
        awaiting_handoff: Vec::new(),
        ailments: None,
    }
}

/// A flow whose roles are programs, in a folder that vanishes.
struct OfPrograms(Folder);

impl Stage for OfPrograms {
    fn new() -> Self {
        Self(Folder::new())
    }

    fn set(self, files: &Files) -> Self {
        self.0.set(files);
        self
    }

    fn begin(&self, scenario: &Scenario) -> Core {
        let new = new_flow(scenario, &RealDisk, &self.0.project());
        let mint = Box::new(SeededMint(1));
        create(&self.0.store(), new, At::from_ms(BEGINS_MS), mint).unwrap()
    }

    fn open(&self, _: &Scenario) -> Result<Core, String> {
        let mint = Box::new(SeededMint(7));
        let flow = only_flow(&RealDisk, &self.root().join(".a-society/state"));
        let opened = reopen(&self.0.store(), &flow, self.0.project(), mint);
        let (core, _) = opened.map_err(|error| error.to_string())?;
        Ok(core)
    }

    fn root(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn files(&self) -> Files {
        self.0.files()
    }

    fn write(&self, path: &Path, bytes: &[u8]) {
        self.0.write(path, bytes);
    }
}

pub(super) fn whom(node: Option<&a_society_facts::id::NodeId>) -> Whom {
    node.map_or(Whom::Only, |node| Whom::Node(node.clone()))
}

/// A patient operator, who says the same to the same question.
pub(super) fn patient(
    core: &mut Core,
    question: &OperatorQuestion,
    _: &dyn Fn(&str, Option<&str>),
) {
    let command = match question {
        OperatorQuestion::Text {
            node,
            reason: WaitReason::PromptHuman,
            ..
        } => Verb::Reply {
            to: whom(node.as_ref()),
            text: "Twelve, inside.".to_owned(),
            asked: None,
        },
        OperatorQuestion::Text { node, role, .. } => Verb::Retry {
            to: node
                .as_ref()
                .map_or_else(|| Whom::Role(role.clone()), |node| Whom::Node(node.clone())),
        },
        OperatorQuestion::Consent { consent, .. } => Verb::Allow {
            consent: Some(consent.clone()),
            action: None,
            for_the_flow: false,
        },
        OperatorQuestion::Approval { approval, .. } => Verb::Approve {
            approval: Some(approval.clone()),
        },
        OperatorQuestion::Improvement { modes } => Verb::Improve {
            mode: if modes.contains(&ImprovementMode::GraphBased) {
                ImprovementMode::GraphBased
            } else {
                ImprovementMode::None
            },
        },
        OperatorQuestion::Feedback => Verb::Feedback { granted: true },
        OperatorQuestion::Unpause { .. } => Verb::Unpause {},
        OperatorQuestion::Configuration { .. } | OperatorQuestion::Stalled => {
            panic!("{question:?}")
        }
    };
    core.obey(command, None).unwrap();
}

/// The operator of the human gate signs with a file.
fn signs(core: &mut Core, question: &OperatorQuestion, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        OperatorQuestion::Text {
            node: Some(node), ..
        } if node.as_str() == "sign" => {
            let path = core.flow().folder().record().join("approval.md");
            put(path.to_str().unwrap(), Some("It may go on.\n"));
            let command = Verb::Reply {
                to: Whom::Node(node.clone()),
                text: "forward: approval.md".to_owned(),
                asked: None,
            };
            core.obey(command, None).unwrap();
        }
        OperatorQuestion::Improvement { .. } => {
            let mode = ImprovementMode::None;
            core.obey(Verb::Improve { mode }, None).unwrap();
        }
        _ => patient(core, question, put),
    }
}

/// The forward work is all there is.
pub(super) fn forward(
    core: &mut Core,
    question: &OperatorQuestion,
    put: &dyn Fn(&str, Option<&str>),
) {
    if matches!(question, OperatorQuestion::Improvement { .. }) {
        let mode = ImprovementMode::None;
        core.obey(Verb::Improve { mode }, None).unwrap();
    } else {
        patient(core, question, put);
    }
}

fn scripted(name: &str, flow: &str, script: &str, answers: Answers) -> Scenario {
    Scenario {
        name: name.to_owned(),
        flow: Begins::File(flow.to_owned()),
        script: Some(script.to_owned()),
        model: None,
        wired: None,
        server: false,
        steers: &[],
        answers,
        tokens: None,
        window: 0,
        chooses: false,
        files: Vec::new(),
        asks: false,
    }
}

fn folder_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name)
}

fn example(name: &str, answers: Answers) -> Scenario {
    let read = |file: &str| std::fs::read_to_string(folder_of(name).join(file)).unwrap();
    scripted(name, &read("flow.yaml"), &read("script.yaml"), answers)
}

/// Lists all files of an example's folder with their paths relative to the project.
fn gather(root: &Path, folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, found);
        } else {
            let name = Path::new(PROJECT).join(path.strip_prefix(root).unwrap());
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn hello_goes_on_behind_every_record() {
    every_prefix_goes_on::<InMemory>(&example("hello", forward), SLICES);
}

#[test]
fn review_loop_goes_on_behind_every_record() {
    every_prefix_goes_on::<InMemory>(&example("review-loop", forward), SLICES);
}

#[test]
fn fan_out_goes_on_behind_every_record() {
    every_prefix_goes_on::<InMemory>(&example("fan-out", forward), SLICES);
}

#[test]
fn human_gate_goes_on_behind_every_record() {
    every_prefix_goes_on::<InMemory>(&example("human-gate", signs), SLICES);
}

/// The first stages of the example: all of them would take a minute, and say nothing more.
fn shorter(flow: &str) -> String {
    let flow = flow.replace("from: join-75, to: arrive", "from: join-8, to: arrive");
    let lines = flow.lines().filter(|line| !names_later_stage(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn names_later_stage(line: &str) -> bool {
    let mut numbers = line.split('-').skip(1).filter_map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    numbers.any(|number| number > 8)
}

#[test]
fn long_haul_goes_on_behind_its_records() {
    let mut scenario = example("long-haul", forward);
    if let Begins::File(flow) = &mut scenario.flow {
        *flow = shorter(flow);
    }
    every_prefix_goes_on::<InMemory>(&scenario, 20 * SLICES);
}

#[test]
fn command_roles_goes_on_behind_every_record() {
    let mut scenario = example("command-roles", forward);
    // A program that ran when the process ended is not run again by itself.
    scenario.asks = true;
    every_prefix_goes_on::<OfPrograms>(&scenario, 2 * SLICES);
}

#[test]
fn release_notes_goes_on_behind_every_record_also_while_its_roles_look_back() {
    let folder = folder_of("release-notes");
    let script = std::fs::read_to_string(folder.join("a-docs/workflow/script.yaml")).unwrap();
    let mut scenario = scripted("release-notes", "", &script, patient);
    scenario.flow = Begins::Project;
    gather(&folder, &folder.join("a-docs"), &mut scenario.files);
    every_prefix_goes_on::<InMemory>(&scenario, 2 * SLICES);
}

/// The project has no rules, so that the operator is asked before the flow closes.
#[test]
fn an_imported_flow_of_an_ailing_project_goes_on_behind_every_record() {
    let folder = folder_of("release-notes");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let script = read("a-docs/workflow/script.yaml");
    let mut scenario = scripted("ailing", "", &script, forward);
    scenario.flow = Begins::Imported(read("a-docs/workflow/main.yaml"));
    gather(&folder, &folder.join("a-docs"), &mut scenario.files);
    scenario
        .files
        .retain(|(path, _)| !path.ends_with("agents.md"));
    every_prefix_goes_on::<InMemory>(&scenario, SLICES);
}

#[test]
fn solo_goes_on_behind_every_record_also_while_its_owner_writes_the_graph_and_looks_back() {
    let script = std::fs::read_to_string(folder_of("solo").join("script.yaml")).unwrap();
    let mut scenario = scripted("solo", "", &script, patient);
    scenario.flow = Begins::Draft;
    every_prefix_goes_on::<InMemory>(&scenario, SLICES);
}

#[test]
fn interrupted_goes_on_behind_every_record() {
    let mut scenario = example("interrupted", forward);
    // The answer that was in flight comes whole after a crash, and does not break off.
    scenario.asks = true;
    every_prefix_goes_on::<InMemory>(&scenario, SLICES);
}

/// A role waits for a limit of its provider to reset, and goes on by itself.
#[test]
fn a_flow_that_waits_for_a_limit_goes_on_behind_every_record() {
    let wrote = "{ write: { path: notes.md, text: The notes. } }, { handoff: { to: close, artifact: notes.md } }";
    let script = format!(
        "default: forward\nscript:\n  - node: write\n    turn: 1\n    say: [ {{ fault: {{ class: limit, \
         resets-in-ms: 900 }} }}, {wrote} ]\n  - node: write\n    say: [ {wrote} ]\n"
    );
    let mut scenario = scripted("limited", super::super::HELLO, &script, forward);
    // The answer that was in flight comes whole after a crash, and meets no limit.
    scenario.asks = true;
    every_prefix_goes_on::<InMemory>(&scenario, SLICES);
}

/// A fork at every record comes to the end of its parent.
#[test]
fn a_fork_at_every_record_goes_on() {
    let scenario = example("review-loop", forward);
    let stage = InMemory::new();
    let mut core = stage.begin(&scenario);
    super::walk(&mut core, &scenario, &stage).unwrap();
    let wanted = outcome(&core);
    let last = core.flow().position().seq;
    drop(core);
    let store = store(&stage.0);
    let parent = only_flow(&stage.0, Path::new("/w/.a-society/state"));
    let mut forks = 0;
    for at in (1..=last).filter(|at| at % 5 == 0) {
        let wish = Wish {
            at: Some(at),
            name: None,
        };
        let project = Path::new(PROJECT);
        let Ok(plan) = fork::plan(&store, project, &parent, wish) else {
            continue;
        };
        let mut mint = SeededMint(at);
        let made = fork::make(&store, &plan, At::from_ms(BEGINS_MS + 1), &mut mint).unwrap();
        let opened = reopen(&store, &made, project.to_owned(), Box::new(SeededMint(7)));
        let (mut core, _) = opened.unwrap_or_else(|error| panic!("at {at}: {error}"));
        let walked = super::walk(&mut core, &scenario, &stage);
        assert_eq!(walked, Ok(()), "at {at}");
        assert_eq!(outcome(&core), wanted, "at {at}");
        forks += 1;
    }
    assert!(forks > 5, "{forks}");
}

fn outcome(core: &Core) -> String {
    let state = core.state();
    format!(
        "{:?} {:?} {:?} {:?}",
        state.status, state.completed_edges, state.history, state.visited
    )
}

/// Three ways not to come to an outcome, and a fourth that does.
const MENDED: &str = r"
default: forward
script:
  - node: ask
    say: [ { forward: A wish. } ]
  - node: write
    turn: 1
    say: [ 'Here it is, and I forget my block.' ]
  - node: write
    turn: 2
    say:
      - |
        Done.

        ```handoff
        target_node_id: nobody
        artifact_path: a.md
        ```
  - node: write
    turn: 3
    say: [ { handoff: { to: close, artifact: missing.md } } ]
  - node: write
    say:
      - write: { path: notes.md, text: 'The notes.' }
      - handoff: { to: close, artifact: notes.md }
";

#[test]
fn a_role_that_has_to_mend_its_outcome_goes_on_behind_every_record() {
    let scenario = scripted("mended", super::super::HELLO, MENDED, forward);
    every_prefix_goes_on::<InMemory>(&scenario, 1);
}
