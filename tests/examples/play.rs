//! An example played by the real program, with an operator who answers what it asks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;

use serde_json::Value;

use super::{Kind, kind, normal};
use crate::support::{Said, Workspace};

/// No example asks for more than a few answers; one that does goes round in circles.
const ROUNDS_MAX: usize = 40;

/// A copy of an example in a workspace of its own.
pub(super) struct Play {
    pub(super) workspace: Workspace,
    pub(super) name: String,
}

impl Play {
    pub(super) fn new(name: &str) -> Self {
        let workspace = Workspace::new();
        let place = workspace.path().join("demo");
        copy(&super::folder().join(name), &place);
        Self {
            workspace,
            name: name.to_owned(),
        }
    }

    /// What takes the flow on: it is begun, or it is resumed.
    pub(super) fn words(&self) -> Vec<String> {
        self.begun().into_iter().chain(self.choice()).collect()
    }

    /// The same, and nothing is chosen when the forward work is done.
    pub(super) fn begun(&self) -> Vec<String> {
        let begun = self.flow();
        let words: &[&str] = match (&begun, kind(&self.name)) {
            (Some(flow), _) => &["resume", flow],
            (None, Kind::File) => &["run", "demo/flow.yaml", "--project", "demo"],
            (None, Kind::Project) => &["run", "demo"],
            (None, Kind::Draft) => &[
                "run",
                "--draft",
                "--project",
                "demo",
                "--script",
                "demo/script.yaml",
            ],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// What is chosen when the forward work is done.
    fn choice(&self) -> Vec<String> {
        let words: &[&str] = match kind(&self.name) {
            Kind::File => &["--improve", "none"],
            Kind::Project | Kind::Draft => &["--improve", "graph", "--feedback", "yes"],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    pub(super) fn run(&self, words: &[String]) -> Said {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.workspace.run(&words)
    }

    /// Starts the program and does not wait for it.
    pub(super) fn start(&self, words: &[String]) -> Child {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = self.workspace.command(&words);
        let quiet = std::process::Stdio::null;
        command.stdout(quiet()).stderr(quiet()).spawn().unwrap()
    }

    /// The flow, once its first fact is there.
    pub(super) fn flow(&self) -> Option<String> {
        let found = std::fs::read_dir(self.workspace.state().join("demo")).ok()?;
        let mut names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.find(|name| {
            let journal = std::fs::read_to_string(self.workspace.segment(name));
            journal.is_ok_and(|text| {
                let mut whole = text
                    .split_inclusive('\n')
                    .filter(|line| line.ends_with('\n'));
                whole.any(|line| line.contains("\"fact\":\"flow_created\""))
            })
        })
    }

    /// The operator's answers to everything that waits. A repeated answer has the same name.
    pub(super) fn answers(&self, flow: &str) -> Vec<Vec<String>> {
        let said = self.run(&["status", flow, "--json"].map(str::to_owned));
        assert_eq!(said.code, 0, "{}: {said:?}", self.name);
        let status = said.json();
        let waits = status["waits"].as_array().cloned().unwrap_or_default();
        let once = format!("after-{}", status["seq"]);
        let answer = |wait| self.answer(flow, wait, &once);
        waits.iter().map(answer).collect()
    }

    fn answer(&self, flow: &str, wait: &Value, once: &str) -> Vec<String> {
        let who = wait["who"].as_str().unwrap_or_default();
        let node = who.split(' ').next().unwrap_or_default();
        let words: &[&str] = match (node, wait["waits_for"].as_str().unwrap_or_default()) {
            ("propose", "your approval of a handoff") => {
                &["approve", flow, "--client-id", "approval"]
            }
            ("propose", _) => &["reply", flow, "Twelve, inside.", "--client-id", "people"],
            ("sign", _) => {
                let path = self.folder(flow).join("record/approval.md");
                std::fs::write(path, "It may go on.\n").unwrap();
                &[
                    "reply",
                    flow,
                    "forward: approval.md",
                    "--client-id",
                    "signed",
                ]
            }
            ("owner-intake", _) => &[
                "reply",
                flow,
                "A note for the neighbours: the water is off on Friday.",
                "--client-id",
                "wanted",
            ],
            ("report", _) => &["retry", flow, "--node", "report", "--client-id", once],
            // Its program was running when the process was killed.
            ("build" | "test", _) => &[
                "reply",
                flow,
                "Run it again.",
                "--node",
                node,
                "--client-id",
                once,
            ],
            ("the", "your choice: run a retrospective?") => {
                let choice = self.choice();
                let how = choice.get(1).map_or("none", String::as_str);
                let words = ["improve", flow, how, "--client-id", "choice"];
                return words.map(str::to_owned).to_vec();
            }
            ("the", _) => &["feedback", flow, "yes", "--client-id", "report"],
            _ => panic!("{}: nobody knows an answer to {wait}", self.name),
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Goes on, and answers, until the flow is over.
    pub(super) fn to_the_end(&self) -> String {
        for _ in 0..ROUNDS_MAX {
            let said = self.run(&self.words());
            let flow = self
                .flow()
                .unwrap_or_else(|| panic!("{}: {said:?}", self.name));
            match said.code {
                0 => return flow,
                8..=12 => {
                    for answer in self.answers(&flow) {
                        let said = self.run(&answer);
                        assert_eq!(said.code, 0, "{}: {answer:?}: {said:?}", self.name);
                    }
                }
                _ => panic!("{}: {said:?}", self.name),
            }
        }
        panic!("{} does not come to its end", self.name);
    }

    pub(super) fn folder(&self, flow: &str) -> PathBuf {
        self.workspace.flow_folder(flow)
    }

    /// The views of a flow byte for byte, by their paths.
    pub(super) fn views(&self, flow: &str) -> BTreeMap<String, String> {
        let root = self.folder(flow);
        let mut views = BTreeMap::new();
        gather(&root, &root.join("roles"), &mut views);
        let flow = std::fs::read_to_string(root.join("flow.json")).unwrap();
        views.insert("flow.json".to_owned(), flow);
        views
    }

    /// The views and the files of the record, as the rule has them.
    pub(super) fn normal(&self, flow: &str) -> BTreeMap<String, String> {
        let root = self.folder(flow);
        let mut found = self.views(flow);
        gather(&root, &root.join("record"), &mut found);
        let workspace = self.workspace.path();
        for (path, text) in &mut found {
            let is_json = Path::new(path).extension().is_some_and(|it| it == "json");
            *text = if is_json {
                serde_json::to_string_pretty(&normal::json(text, workspace)).unwrap() + "\n"
            } else {
                normal::text(text, workspace)
            };
        }
        found
    }
}

/// A copy of an example, with faster scripts. The expected results stay where they are.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "expected" {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(to, text.replace("every-ms: 100", "every-ms: 2")).unwrap();
        }
    }
}

fn gather(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, found);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}
