//! Flows that a model walks with real tools on a real folder. The model is played by a provider that
//! says what follows from the conversation alone, so that it can answer from any point.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::fact::flow::TokenBudget;
use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::message::Message;
use a_society_facts::{At, Verb};
use a_society_flow::machine::OperatorQuestion;
use a_society_providers::{AnswerStop, StreamArrival};
use a_society_state::FlowRef;
use a_society_state::disk::RealDisk;

use super::super::super::core::{Core, CoreParts};
use super::super::model::{ALONE, Actors, Puppet, Says, answer, calls, closes, says};
use super::folder::{Folder, remove};
use super::scripts::{forward, only_flow, patient};
use super::wires::Wire;
use super::{Answers, Begins, Files, SLICES, Scenario, Stage, every_prefix_goes_on};
use crate::mint::SeededMint;
use crate::project::flow_file::read_kept;
use crate::record::Places;
use crate::run::{NewFlow, create};

const BEGINS_MS: i64 = 1_795_246_169_123;

/// A flow of a model in a folder that vanishes.
pub(super) struct OnDisk(Folder, Wire);

impl OnDisk {
    fn take_over(&self, scenario: &Scenario, flow: &FlowRef, seed: u64) -> Result<Core, String> {
        let store = self.0.store();
        let (opened, _) = store.open(flow).map_err(|error| error.to_string())?;
        let record = opened.folder().record();
        let puppet = scenario.model.map(Puppet::that_says).unwrap_or_default();
        let puppet = Arc::new(puppet);
        let wired = scenario.wired.as_ref();
        let server = scenario.server.then(|| super::wires::server(self.0.path()));
        let actors = Actors {
            puppet,
            project: self.0.project(),
            record: record.clone(),
            window: scenario.window,
            max_output: 100,
            most: None,
            chooses: scenario.chooses,
            earlier: "",
            wire: wired.map(|wired| self.1.provider(wired)),
            server,
            hangs: None,
            lanes: Arc::default(),
        };
        let parts = CoreParts {
            roles: Box::new(actors),
            mint: Box::new(SeededMint(seed)),
            places: Places {
                record,
                project: self.0.project(),
                lineage: Vec::new(),
            },
            turns_at_once: 4,
            room: crate::driver::room::Room::new(4),
        };
        Core::take_over(opened, parts).map_err(|error| error.to_string())
    }
}

impl Stage for OnDisk {
    fn new() -> Self {
        Self(Folder::new(), Wire::default())
    }

    fn set(self, files: &Files) -> Self {
        self.0.set(files);
        self
    }

    fn begin(&self, scenario: &Scenario) -> Core {
        let Begins::File(flow) = &scenario.flow else {
            panic!("a model walks a file");
        };
        let new = NewFlow {
            ends: a_society_facts::fact::flow::Ends::default(),
            project: "demo".parse().unwrap(),
            project_folder: self.0.project(),
            title: None,
            input: None,
            file: read_kept(flow.clone()).unwrap(),
            script: None,
            tokens: scenario.tokens.map(TokenBudget::AtMost),
            mode: None,
            rules: a_society_facts::fact::operator::ConsentRules::default(),
            chat: None,
            client: None,
        };
        let (mint, at) = (Box::new(SeededMint(1)), At::from_ms(BEGINS_MS));
        let core = create(&self.0.store(), new, at, mint).unwrap();
        let flow = super::super::at(&core);
        drop(core);
        self.take_over(scenario, &flow, 2).unwrap()
    }

    fn open(&self, scenario: &Scenario) -> Result<Core, String> {
        let flow = only_flow(&RealDisk, &self.root().join(".a-society/state"));
        self.take_over(scenario, &flow, 3)
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

/// How many results of tools a conversation shows.
pub(super) fn results(said: &[Message]) -> usize {
    let is_result = |message: &&Message| matches!(message, Message::ToolResult { .. });
    said.iter().filter(is_result).count()
}

pub(super) fn scenario(name: &str, model: Says, answers: Answers) -> Scenario {
    Scenario {
        name: name.to_owned(),
        flow: Begins::File(ALONE.to_owned()),
        script: None,
        model: Some(model),
        wired: None,
        server: false,
        steers: &[],
        answers,
        tokens: None,
        window: 0,
        chooses: false,
        files: [("a.txt", "one\n"), ("b.txt", "b\n")]
            .map(|(name, text)| (Path::new("/w/project").join(name), text.to_owned()))
            .to_vec(),
        asks: false,
    }
}

pub(super) const EDIT: (&str, &str) = ("edit_file", r#"{"path":"a.txt","old":"one","new":"two"}"#);
pub(super) const READS: [(&str, &str); 3] = [
    ("read_file", r#"{"path":"a.txt"}"#),
    ("read_file", r#"{"path":"b.txt"}"#),
    ("read_file", r#"{"path":"missing.txt"}"#),
];
pub(super) const OTHER: (&str, &str) = ("write_file", r#"{"path":"c.txt","content":"c\n"}"#);

/// Reads, edits a file and writes another, in one answer each.
pub(super) fn edits(said: &[Message]) -> Vec<StreamArrival> {
    match results(said) {
        0 => calls(&READS),
        3 => calls(&[EDIT, OTHER]),
        _ => closes(),
    }
}

fn allow(core: &mut Core, for_the_flow: bool) {
    let command = Verb::Allow {
        consent: None,
        action: None,
        for_the_flow,
    };
    core.obey(command, None).unwrap();
}

fn allows_for_the_flow(
    core: &mut Core,
    question: &OperatorQuestion,
    put: &dyn Fn(&str, Option<&str>),
) {
    match question {
        OperatorQuestion::Consent { .. } => allow(core, true),
        _ => forward(core, question, put),
    }
}

fn denies(core: &mut Core, question: &OperatorQuestion, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        OperatorQuestion::Consent { consent, .. } => {
            let command = Verb::Deny {
                consent: Some(consent.clone()),
                action: None,
                reason: None,
            };
            core.obey(command, None).unwrap();
        }
        OperatorQuestion::Text { node, .. } => {
            let command = Verb::Reply {
                to: super::scripts::whom(node.as_ref()),
                text: "Do without.".to_owned(),
                asked: None,
            };
            core.obey(command, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

fn denies_with_words(
    core: &mut Core,
    question: &OperatorQuestion,
    put: &dyn Fn(&str, Option<&str>),
) {
    match question {
        OperatorQuestion::Consent { consent, .. } => {
            let command = Verb::Deny {
                consent: Some(consent.clone()),
                action: None,
                reason: Some("Leave it as it is.".to_owned()),
            };
            core.obey(command, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

fn gives_full_access(
    core: &mut Core,
    question: &OperatorQuestion,
    put: &dyn Fn(&str, Option<&str>),
) {
    match question {
        OperatorQuestion::Consent { .. } => {
            let mode = ConsentMode::FullAccess;
            core.obey(Verb::Mode { mode }, None).unwrap();
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

/// Edits a file, and closes when a result says that the file changed meanwhile.
fn edits_what_changes(said: &[Message]) -> Vec<StreamArrival> {
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

fn after_a_change(
    core: &mut Core,
    question: &OperatorQuestion,
    for_the_flow: bool,
    change: fn(&Path),
) {
    match question {
        OperatorQuestion::Consent { .. } => {
            let path = core.pen.places.project.join("a.txt");
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
            remove(&core.pen.places.project.join("a.txt"));
            denies(core, asked, put);
        }),
        ("gone and denied with words", |core, asked, put| {
            remove(&core.pen.places.project.join("a.txt"));
            denies_with_words(core, asked, put);
        }),
    ];
    for (name, answers) in scenarios {
        every_prefix_goes_on::<OnDisk>(&scenario(name, edits, answers), SLICES / 2);
    }
}

/// Says nothing, then no block, then one that leads nowhere, and then closes.
fn mends(said: &[Message]) -> Vec<StreamArrival> {
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

/// Ends by calls: asks beside a read, hands off without a target, closes beside a call that fails, and closes.
fn ends_by_calls(said: &[Message]) -> Vec<StreamArrival> {
    const CLOSES: (&str, &str) = ("handoff", r#"{"type":"forward-pass-closed"}"#);
    match results(said) {
        0 => calls(&[
            ("read_file", r#"{"path":"a.txt"}"#),
            (
                "ask_operator",
                r#"{"question":"Which?","choices":["this","that"]}"#,
            ),
        ]),
        2 => calls(&[(
            "handoff",
            r#"{"targets":[{"target_node_id":"nobody","artifact_path":"a.txt"}]}"#,
        )]),
        3 => calls(&[("read_file", r#"{"path":"missing.txt"}"#), CLOSES]),
        _ => calls(&[CLOSES]),
    }
}

/// Works in a window that fills, so that its session is compacted on the way.
fn fills_its_window(said: &[Message]) -> Vec<StreamArrival> {
    let is_summary = match said {
        [Message::User { content }] => content.contains("The conversation:"),
        _ => false,
    };
    if is_summary {
        return says("The log was kept up to here.");
    }
    let was_shortened = said.iter().any(|message| match message {
        Message::User { content } => content.contains("The log was kept up to here."),
        _ => false,
    });
    match (was_shortened, results(said)) {
        // There must be something that a summary would free.
        (false, 0) => answer(
            &"I look at it. ".repeat(300),
            &[("read_file", r#"{"path":"a.txt"}"#)],
            900,
        ),
        (true, 0) => answer("I write.", &[OTHER], 100),
        _ => answer(
            "Done.\n\n```handoff\ntype: forward-pass-closed\n```",
            &[],
            100,
        ),
    }
}

#[test]
fn a_model_that_ends_its_turns_by_calls_goes_on_behind_every_record() {
    every_prefix_goes_on::<OnDisk>(&scenario("by calls", ends_by_calls, forward), 1);
}

#[test]
fn a_model_whose_session_is_made_shorter_goes_on_behind_every_record() {
    let mut scenario = scenario("shortened", fills_its_window, forward);
    scenario.window = 1000;
    every_prefix_goes_on::<OnDisk>(&scenario, 3);
}

fn chooses_first(said: &[Message]) -> Vec<StreamArrival> {
    let is_choice = said.iter().any(|message| match message {
        Message::User { content } => content.contains("what small is"),
        _ => false,
    });
    if is_choice {
        says(r#"{"model":"small"}"#)
    } else {
        edits(said)
    }
}

#[test]
fn a_role_whose_model_is_chosen_first_goes_on_behind_every_record() {
    let mut scenario = scenario("chosen", chooses_first, allows_for_the_flow);
    scenario.chooses = true;
    every_prefix_goes_on::<OnDisk>(&scenario, 3);
}

/// Closes, and then writes its findings and, as another role, the report.
fn looks_back(said: &[Message]) -> Vec<StreamArrival> {
    let asked = said.iter().rposition(|message| match message {
        Message::User { content } => content == "Reflection" || content == "Feedback",
        _ => false,
    });
    let Some(asked) = asked else { return closes() };
    let reflects = matches!(&said[asked], Message::User { content } if content == "Reflection");
    match (reflects, results(&said[asked..])) {
        (true, 0) => calls(&[(
            "write_file",
            r#"{"path":"record/findings/owner-findings.md","content":"Findings\n"}"#,
        )]),
        (true, _) => says(
            "Done.\n\n```handoff\ntype: meta-analysis-complete\n\
             findings_path: record/findings/owner-findings.md\n```",
        ),
        (false, 0) => calls(&[(
            "write_file",
            r#"{"path":"record/feedback.md","content":"Report\n"}"#,
        )]),
        (false, _) => says(
            "Done.\n\n```handoff\ntype: backward-pass-complete\n\
             artifact_path: record/feedback.md\n```",
        ),
    }
}

#[test]
fn a_model_that_looks_back_goes_on_behind_every_record() {
    every_prefix_goes_on::<OnDisk>(&scenario("looks back", looks_back, patient), 3);
}

/// Is cut off by its output limit, declines, and closes when it is asked again.
fn stops_early(said: &[Message]) -> Vec<StreamArrival> {
    let is_told = |message: &&Message| matches!(message, Message::User { .. });
    let stopped = |text: &str, stop: AnswerStop| {
        let mut arrivals = says(text);
        for arrival in &mut arrivals {
            if let StreamArrival::Answer(answer) = arrival {
                answer.stop = stop.clone();
            }
        }
        arrivals
    };
    match said.iter().filter(is_told).count() {
        0 | 1 => stopped("It is too long to be", AnswerStop::OutputLimit),
        2 => stopped("I would rather not.", AnswerStop::Refusal),
        _ => closes(),
    }
}

fn retries(core: &mut Core, question: &OperatorQuestion, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        OperatorQuestion::Text { node, .. } => {
            let command = Verb::Reply {
                to: super::scripts::whom(node.as_ref()),
                text: "Please go on.".to_owned(),
                asked: None,
            };
            core.obey(command, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

#[test]
fn a_model_that_stops_early_goes_on_behind_every_record() {
    every_prefix_goes_on::<OnDisk>(&scenario("stops early", stops_early, retries), 2);
}
