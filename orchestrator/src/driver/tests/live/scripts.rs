//! Flows that follow a script, on a disk in memory: the examples, and what they leave out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::WaitReason;
use a_society_flow::machine::Question;
use a_society_state::FlowRef;
use a_society_state::disk::{Disk as _, FaultyDisk};

use super::super::super::core::Core;
use super::super::store;
use super::{Answers, Files, SLICES, STEPS_MAX, Scenario, Stage, every_prefix_goes_on};
use crate::control::message::{Command, Whom};
use crate::mint::SeededMint;
use crate::project::flow_file::read_kept;
use crate::run::{NewFlow, create, reopen};

const PROJECT: &str = "/w/project";
const BEGINS_MS: i64 = 1_795_246_169_123;

/// A flow on a disk in memory.
struct InMemory(FaultyDisk);

impl InMemory {
    fn flow(&self) -> FlowRef {
        let folder = "/w/.a-society/state/demo";
        let names = self.0.list(Path::new(folder)).unwrap();
        FlowRef {
            project: "demo".parse().unwrap(),
            flow: names[0].name.parse().unwrap(),
        }
    }
}

impl Stage for InMemory {
    fn new() -> Self {
        let disk = FaultyDisk::new();
        disk.make_folder(Path::new(PROJECT)).unwrap();
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
        let new = NewFlow {
            ends: a_society_facts::fact::flow::Ends::default(),
            project: "demo".parse().unwrap(),
            project_folder: PROJECT.into(),
            title: None,
            input: Some("Say hello.".into()),
            file: read_kept(scenario.flow.clone()).unwrap(),
            script: scenario.script.clone(),
            client: None,
        };
        let mint = Box::new(SeededMint(1));
        create(&store(&self.0), new, At::from_ms(BEGINS_MS), mint).unwrap()
    }

    fn open(&self, _: &Scenario) -> Result<Core, String> {
        let mint = Box::new(SeededMint(7));
        let opened = reopen(&store(&self.0), &self.flow(), PROJECT.into(), mint);
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

pub(super) fn whom(node: Option<&a_society_facts::id::NodeId>) -> Whom {
    node.map_or(Whom::Only, |node| Whom::Node(node.clone()))
}

/// A patient operator, who says the same to the same question.
pub(super) fn patient(core: &mut Core, question: &Question, _: &dyn Fn(&str, Option<&str>)) {
    let command = match question {
        Question::Text {
            node,
            reason: WaitReason::PromptHuman,
            ..
        } => Command::Reply {
            to: whom(node.as_ref()),
            text: "Twelve, inside.".to_owned(),
            asked: None,
        },
        Question::Text { node, role, .. } => Command::Retry {
            to: node
                .as_ref()
                .map_or_else(|| Whom::Role(role.clone()), |node| Whom::Node(node.clone())),
        },
        Question::Consent { consent, .. } => Command::Allow {
            consent: Some(consent.clone()),
            action: None,
            for_the_flow: false,
        },
        Question::Approval { approval, .. } => Command::Approve {
            approval: Some(approval.clone()),
        },
        Question::Improvement { modes } => Command::Improve {
            mode: if modes.contains(&ImprovementMode::GraphBased) {
                ImprovementMode::GraphBased
            } else {
                ImprovementMode::None
            },
        },
        Question::Feedback => Command::Feedback { granted: true },
        Question::Unpause { .. } => Command::Unpause,
        Question::Configuration { .. } | Question::Stalled => panic!("{question:?}"),
    };
    core.obey(command, None).unwrap();
}

/// The operator of the human gate signs with a file.
fn signs(core: &mut Core, question: &Question, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        Question::Text {
            node: Some(node), ..
        } if node.as_str() == "sign" => {
            let path = core.flow().folder().record().join("approval.md");
            put(path.to_str().unwrap(), Some("It may go on.\n"));
            let command = Command::Reply {
                to: Whom::Node(node.clone()),
                text: "forward: approval.md".to_owned(),
                asked: None,
            };
            core.obey(command, None).unwrap();
        }
        Question::Improvement { .. } => {
            let mode = ImprovementMode::None;
            core.obey(Command::Improve { mode }, None).unwrap();
        }
        _ => patient(core, question, put),
    }
}

/// The forward work is all there is.
pub(super) fn forward(core: &mut Core, question: &Question, put: &dyn Fn(&str, Option<&str>)) {
    if matches!(question, Question::Improvement { .. }) {
        let mode = ImprovementMode::None;
        core.obey(Command::Improve { mode }, None).unwrap();
    } else {
        patient(core, question, put);
    }
}

fn scripted(name: &str, flow: &str, script: &str, answers: Answers) -> Scenario {
    Scenario {
        name: name.to_owned(),
        flow: flow.to_owned(),
        script: Some(script.to_owned()),
        model: None,
        answers,
        window: 0,
        chooses: false,
        files: &[],
    }
}

fn example(name: &str, answers: Answers) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    scripted(name, &read("flow.yaml"), &read("script.yaml"), answers)
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

#[test]
fn long_haul_goes_on_behind_its_records() {
    every_prefix_goes_on::<InMemory>(&example("long-haul", forward), STEPS_MAX);
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
