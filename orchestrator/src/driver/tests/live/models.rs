//! Flows that a model walks with real tools on a real folder. The model is played by a provider that
//! says what follows from the conversation alone, so that it can answer from any point.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::message::Message;
use a_society_flow::machine::Question;
use a_society_roles::provider::Arrival;
use a_society_state::clock::CountingClock;
use a_society_state::disk::RealDisk;
use a_society_state::{FlowRef, Ground, Store, process};

use super::super::super::core::{Core, Parts};
pub(super) use super::super::model::Says;
use super::super::model::{ALONE, Actors, Puppet, calls, closes, says};
use super::scripts::forward;
use super::{Answers, Files, SLICES, Scenario, Stage, every_prefix_goes_on};
use crate::control::message::Command;
use crate::mint::SeededMint;
use crate::project::flow_file::read_kept;
use crate::record::Places;
use crate::run::{NewFlow, create};

const BEGINS_MS: i64 = 1_795_246_169_123;

/// A flow of a model in a folder that vanishes.
struct OnDisk {
    folder: tempfile::TempDir,
}

impl OnDisk {
    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn store(&self) -> Store {
        let disk = RealDisk;
        let process = process::this(&disk);
        let ground = Ground {
            disk: Arc::new(disk),
            clock: Arc::new(CountingClock::from(At::from_ms(BEGINS_MS))),
            process,
        };
        Store::new(ground, self.folder.path().join(".a-society/state"))
    }

    fn take_over(&self, scenario: &Scenario, flow: &FlowRef, seed: u64) -> Result<Core, String> {
        let store = self.store();
        let (opened, _) = store.open(flow).map_err(|error| error.to_string())?;
        let record = opened.folder().record();
        let puppet = Arc::new(Puppet::that_says(scenario.model.unwrap()));
        let actors = Actors {
            puppet,
            project: self.project(),
            record: record.clone(),
            window: scenario.window,
            max_output: 100,
            most: None,
            chooses: scenario.chooses,
        };
        let parts = Parts {
            roles: Box::new(actors),
            mint: Box::new(SeededMint(seed)),
            places: Places {
                record,
                project: self.project(),
                lineage: Vec::new(),
            },
            turns_at_once: 4,
            room: crate::driver::room::Room::new(4),
        };
        Core::take_over(opened, parts).map_err(|error| error.to_string())
    }
}

fn gather(root: &Path, folder: &Path, found: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            gather(root, &path, found);
        } else if about.is_file() {
            let name = Path::new("/w").join(path.strip_prefix(root).unwrap());
            found.insert(name, Arc::new(std::fs::read(&path).unwrap()));
        }
    }
}

impl Stage for OnDisk {
    fn new() -> Self {
        // What is done here is done a thousand times, and power cuts are tried elsewhere.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    fn set(self, files: &Files) -> Self {
        // Consent is bound to the folder, so that it has to stay the same one.
        let state = self.folder.path().join(".a-society");
        std::fs::remove_dir_all(state).unwrap();
        for entry in std::fs::read_dir(self.project()).unwrap() {
            remove(&entry.unwrap().path());
        }
        for (path, bytes) in files {
            self.write(path, bytes);
        }
        self
    }

    fn begin(&self, scenario: &Scenario) -> Core {
        let new = NewFlow {
            ends: a_society_facts::fact::flow::Ends::default(),
            project: "demo".parse().unwrap(),
            project_folder: self.project(),
            title: None,
            input: None,
            file: read_kept(scenario.flow.clone()).unwrap(),
            script: None,
            client: None,
        };
        let mint = Box::new(SeededMint(1));
        let core = create(&self.store(), new, At::from_ms(BEGINS_MS), mint).unwrap();
        let flow = super::super::at(&core);
        drop(core);
        self.take_over(scenario, &flow, 2).unwrap()
    }

    fn open(&self, scenario: &Scenario) -> Result<Core, String> {
        let folder = self.folder.path().join(".a-society/state/demo");
        let mut names = std::fs::read_dir(folder).unwrap();
        let name = names.next().unwrap().unwrap().file_name();
        let flow = FlowRef {
            project: "demo".parse().unwrap(),
            flow: name.to_str().unwrap().parse().unwrap(),
        };
        self.take_over(scenario, &flow, 3)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn files(&self) -> Files {
        let mut found = Files::new();
        gather(self.folder.path(), self.folder.path(), &mut found);
        found
    }

    fn write(&self, path: &Path, bytes: &[u8]) {
        let inside = path.strip_prefix("/w").unwrap();
        let path = self.folder.path().join(inside);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// How many results of tools a conversation shows.
fn results(said: &[Message]) -> usize {
    let is_result = |message: &&Message| matches!(message, Message::ToolResult { .. });
    said.iter().filter(is_result).count()
}

fn scenario(name: &str, model: Says, answers: Answers) -> Scenario {
    Scenario {
        name: name.to_owned(),
        flow: ALONE.to_owned(),
        script: None,
        model: Some(model),
        answers,
        window: 0,
        chooses: false,
        files: &[("/w/project/a.txt", "one\n"), ("/w/project/b.txt", "b\n")],
    }
}

const EDIT: (&str, &str) = ("edit_file", r#"{"path":"a.txt","old":"one","new":"two"}"#);
const OTHER: (&str, &str) = ("write_file", r#"{"path":"c.txt","content":"c\n"}"#);

/// Reads, edits a file and writes another, in one answer each.
fn edits(said: &[Message]) -> Vec<Arrival> {
    match results(said) {
        0 => calls(&[
            ("read_file", r#"{"path":"a.txt"}"#),
            ("read_file", r#"{"path":"b.txt"}"#),
            ("read_file", r#"{"path":"missing.txt"}"#),
        ]),
        3 => calls(&[EDIT, OTHER]),
        _ => closes(),
    }
}

fn allow(core: &mut Core, for_the_flow: bool) {
    let command = Command::Allow {
        consent: None,
        action: None,
        for_the_flow,
    };
    core.obey(command, None).unwrap();
}

fn allows_for_the_flow(core: &mut Core, question: &Question, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        Question::Consent { .. } => allow(core, true),
        _ => forward(core, question, put),
    }
}

fn denies(core: &mut Core, question: &Question, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        Question::Consent { consent, .. } => {
            let command = Command::Deny {
                consent: Some(consent.clone()),
                action: None,
                reason: None,
            };
            core.obey(command, None).unwrap();
        }
        Question::Text { node, .. } => {
            let command = Command::Reply {
                to: super::scripts::whom(node.as_ref()),
                text: "Do without.".to_owned(),
                asked: None,
            };
            core.obey(command, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

fn denies_with_words(core: &mut Core, question: &Question, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        Question::Consent { consent, .. } => {
            let command = Command::Deny {
                consent: Some(consent.clone()),
                action: None,
                reason: Some("Leave it as it is.".to_owned()),
            };
            core.obey(command, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

fn gives_full_access(core: &mut Core, question: &Question, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        Question::Consent { .. } => {
            let mode = ConsentMode::FullAccess;
            core.obey(Command::Mode { mode }, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

#[test]
fn a_model_whose_calls_are_consented_to_goes_on_behind_every_record() {
    for (name, answers) in [
        ("allowed", forward as Answers),
        ("allowed for the flow", allows_for_the_flow),
        ("denied", denies),
        ("denied with words", denies_with_words),
        ("full access", gives_full_access),
    ] {
        every_prefix_goes_on::<OnDisk>(&scenario(name, edits, answers), SLICES / 2);
    }
}

/// Edits a file, and closes when it heard that the file changed meanwhile.
fn edits_what_changes(said: &[Message]) -> Vec<Arrival> {
    let heard = said.iter().rev().find_map(|message| match message {
        Message::ToolResult { content, .. } => Some(content.as_str()),
        _ => None,
    });
    match heard {
        None => calls(&[EDIT]),
        Some("a.txt changed while the operator was asked; nothing was done. Read it again.") => {
            closes()
        }
        Some(other) => panic!("the model hears {other:?}"),
    }
}

fn remove(path: &Path) {
    // Whoever answers again after a death finds it done.
    let _gone = std::fs::remove_file(path);
    let _gone = std::fs::remove_dir(path);
}

fn after_a_change(core: &mut Core, question: &Question, for_the_flow: bool, change: fn(&Path)) {
    match question {
        Question::Consent { .. } => {
            let path = core.places.project.join("a.txt");
            remove(&path);
            change(&path);
            allow(core, for_the_flow);
        }
        _ => forward(core, question, &|_, _| {}),
    }
}

fn becomes_a_link(path: &Path) {
    std::os::unix::fs::symlink("/etc/hostname", path).unwrap();
}

fn becomes_a_folder(path: &Path) {
    std::fs::create_dir(path).unwrap();
}

fn becomes_another(path: &Path) {
    std::fs::write(path, "three\n").unwrap();
}

fn changes_within(path: &Path) {
    std::fs::write(path, "one and more\n").unwrap();
}

#[test]
fn a_file_that_changes_while_its_edit_is_asked_about_leaves_a_flow_that_goes_on() {
    let scenarios: [(&str, Answers); 7] = [
        ("gone", |core, asked, _| {
            after_a_change(core, asked, false, |_| {})
        }),
        ("gone, for the flow", |core, asked, _| {
            after_a_change(core, asked, true, |_| {});
        }),
        ("a link", |core, asked, _| {
            after_a_change(core, asked, false, becomes_a_link);
        }),
        ("a folder", |core, asked, _| {
            after_a_change(core, asked, false, becomes_a_folder);
        }),
        ("a folder, for the flow", |core, asked, _| {
            after_a_change(core, asked, true, becomes_a_folder);
        }),
        ("another", |core, asked, _| {
            after_a_change(core, asked, false, becomes_another);
        }),
        ("more", |core, asked, _| {
            after_a_change(core, asked, false, changes_within)
        }),
    ];
    for (name, answers) in scenarios {
        let scenario = scenario(name, edits_what_changes, answers);
        every_prefix_goes_on::<OnDisk>(&scenario, 3);
    }
}

#[test]
fn a_file_that_is_gone_when_its_edit_is_denied_leaves_a_flow_that_goes_on() {
    let scenarios: [(&str, Answers); 2] = [
        ("gone and denied", |core, asked, put| {
            remove(&core.places.project.join("a.txt"));
            denies(core, asked, put);
        }),
        ("gone and denied with words", |core, asked, put| {
            remove(&core.places.project.join("a.txt"));
            denies_with_words(core, asked, put);
        }),
    ];
    for (name, answers) in scenarios {
        every_prefix_goes_on::<OnDisk>(&scenario(name, edits, answers), SLICES / 2);
    }
}

/// Says nothing, then no block, then one that leads nowhere, and then closes.
fn mends(said: &[Message]) -> Vec<Arrival> {
    let is_answer = |message: &&Message| matches!(message, Message::Assistant { .. });
    let is_told = |message: &&Message| matches!(message, Message::User { .. });
    match (
        said.iter().filter(is_told).count(),
        said.iter().filter(is_answer).count(),
    ) {
        (0..=1, _) => says("It is done."),
        (2, _) => says("Done.\n\n```handoff\ntarget_node_id: nobody\nartifact_path: a.txt\n```"),
        (3, _) => says("Done.\n\n```handoff\n[broken\n```"),
        _ => closes(),
    }
}

#[test]
fn a_model_that_has_to_mend_its_outcome_goes_on_behind_every_record() {
    every_prefix_goes_on::<OnDisk>(&scenario("mends", mends, forward), 2);
}
