//! Thirty flows of another program, each of another kind: in what shape their graph is, their state,
//! and what their sessions hold. Each goes on to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Old;
use super::going_on::to_the_end_of;

/// The shape of a graph: its edges, and the role of each node.
type Shape = (
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

/// Four nodes in a row.
const LINE: Shape = (
    &[
        ("owner-intake", "write"),
        ("write", "review"),
        ("review", "owner-close"),
    ],
    &[
        ("owner-intake", "owner"),
        ("write", "writer"),
        ("review", "editor"),
        ("owner-close", "owner"),
    ],
);

/// Three at once, of which two are instances of one role, and one that waits for all.
const FAN: Shape = (
    &[
        ("owner-intake", "write"),
        ("owner-intake", "write-too"),
        ("owner-intake", "review"),
        ("write", "owner-close"),
        ("write-too", "owner-close"),
        ("review", "owner-close"),
    ],
    &[
        ("owner-intake", "owner"),
        ("write", "writer"),
        ("write-too", "writer_2"),
        ("review", "editor"),
        ("owner-close", "owner"),
    ],
);

/// The state of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stood {
    /// `write` waits for the operator, for this reason.
    Waits(&'static str),
    /// `write` ran when the program was killed.
    Ran,
    /// How roles reflect is to be chosen.
    Choice,
    /// All but the owner have reflected, and the owner did when the program was killed.
    Reflected,
    /// The decision about a report is open.
    Feedback,
    /// It is over: how roles reflected, and whether a report was written.
    Over(&'static str, bool),
}

/// What the session of the writer holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Held {
    /// A question and an answer.
    Plain,
    /// An answer that had to be mended.
    Mended,
    /// An answer that reached the provider's limit.
    CutOff,
    /// Several calls at once.
    AtOnce,
    /// Text that was streaming.
    Streaming,
    /// A command that may have run.
    Commanding,
    /// A call that waits for consent.
    Asking,
    /// A summary that the operator asked for.
    Shortened,
    /// Very many messages, and a summary that came by itself.
    Long,
}

use Held::{Asking, AtOnce, Commanding, CutOff, Long, Mended, Plain, Shortened, Streaming};
use Stood::{Choice, Feedback, Over, Ran, Reflected, Waits};

/// How many messages the long session holds.
const LONG_MESSAGES: usize = 655;

const KINDS: [(Shape, Stood, Held); 30] = [
    (LINE, Over("none", false), Plain),
    (FAN, Over("graph-based", true), Plain),
    (LINE, Over("parallel", false), Mended),
    (LINE, Waits("prompt-human"), Plain),
    (LINE, Waits("prompt-human"), Shortened),
    (LINE, Waits("handoff-approval"), Plain),
    (LINE, Waits("handoff-approval"), Mended),
    (LINE, Waits("handoff-approval"), CutOff),
    (LINE, Waits("handoff-approval"), AtOnce),
    (LINE, Waits("handoff-approval"), Shortened),
    (LINE, Waits("handoff-approval"), Long),
    (LINE, Waits("consent"), Asking),
    (LINE, Waits("role-configuration"), Plain),
    (LINE, Waits("autonomous-abort"), Plain),
    (LINE, Waits("autonomous-abort"), Commanding),
    (LINE, Choice, Plain),
    (LINE, Choice, Mended),
    (LINE, Choice, CutOff),
    (LINE, Choice, AtOnce),
    (FAN, Choice, Plain),
    (FAN, Choice, Shortened),
    (LINE, Feedback, Mended),
    (LINE, Feedback, CutOff),
    (LINE, Feedback, AtOnce),
    (FAN, Feedback, Plain),
    (LINE, Ran, Long),
    (LINE, Ran, Streaming),
    (LINE, Ran, Commanding),
    (FAN, Reflected, Plain),
    (LINE, Ran, Plain),
];

/// The name of the flow of a kind.
fn id(number: usize) -> String {
    format!("20260302T0800000{number:02}Z-bbb0{number:02}")
}

/// The flow of a kind, as the other program left it.
struct Kept {
    id: String,
    shape: Shape,
    stood: Stood,
    held: Held,
}

impl Kept {
    fn of(number: usize) -> Self {
        let (shape, stood, held) = KINDS[number];
        let id = id(number);
        Self {
            id,
            shape,
            stood,
            held,
        }
    }

    /// A file of the record folder, as that program named it.
    fn record(&self, name: &str) -> String {
        format!(".a-society/state/demo/{}/record/{name}", self.id)
    }

    fn is_forward(&self) -> bool {
        matches!(self.stood, Waits(_) | Ran)
    }

    /// The edges along which work had gone.
    fn done(&self) -> Vec<(&'static str, &'static str)> {
        let edges = self.shape.0.iter().copied();
        let forward = self.is_forward();
        edges
            .filter(|(from, _)| !forward || *from == "owner-intake")
            .collect()
    }

    fn roles(&self) -> BTreeMap<&'static str, Vec<&'static str>> {
        let mut roles: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let entered = |node: &str| !self.is_forward() || ["owner-intake", "write"].contains(&node);
        for (node, role) in self.shape.1.iter().filter(|(node, _)| entered(node)) {
            roles.entry(role).or_default().push(node);
        }
        roles
    }

    fn flow(&self) -> Value {
        let done = self.done();
        let edges: Vec<String> = done
            .iter()
            .map(|(from, to)| format!("{from}=>{to}"))
            .collect();
        let history: serde_json::Map<String, Value> = done
            .iter()
            .map(|(from, to)| {
                let path = self.record(&format!("{from}-{to}.md"));
                (format!("{from}=>{to}"), json!([path]))
            })
            .collect();
        let nodes = self.roles().into_values().flatten();
        let mut waits = json!({});
        let mut staged = json!({});
        if let Waits(reason) = self.stood {
            waits = json!({ "write": { "role": "writer", "reason": reason } });
            if reason == "handoff-approval" {
                let artifact = self.record("notes.md");
                let to = json!({ "target_node_id": "review", "artifact_path": artifact });
                staged = json!({ "write": [to] });
            }
        }
        let status = match self.stood {
            Waits(_) | Ran | Reflected => "running",
            Choice => "awaiting_improvement_choice",
            Feedback => "awaiting_feedback_consent",
            Over(..) => "completed",
        };
        let running: &[&str] = if self.stood == Ran { &["write"] } else { &[] };
        let mut flow = json!({
            "flowId": self.id, "workspaceRoot": "/old/workspace", "projectNamespace": "demo",
            "recordFolderPath": format!("/old/workspace/{}", self.record("").trim_end_matches('/')),
            "runningNodes": running,
            "awaitingHumanNodes": waits, "pendingHumanInputs": {}, "pendingHandoffApprovals": staged,
            "visitedNodeIds": nodes.collect::<Vec<_>>(), "completedHandoffs": edges,
            "receivingHandoff": {}, "historyHandoff": history, "awaitingHandoff": [],
            "status": status, "stateVersion": "11", "feedbackContext": { "kind": "standard" },
            "consentState": { "mode": "no-access", "bash": { "allowedCommands": {} } },
        });
        if let Some(phase) = self.improvement() {
            flow["improvementPhase"] = phase;
        }
        flow
    }

    fn improvement(&self) -> Option<Value> {
        let (status, mode, granted) = match self.stood {
            Waits(_) | Ran => return None,
            Choice => return Some(json!({ "status": "awaiting_choice", "singleRole": false })),
            Reflected => ("running", "graph-based", None),
            Feedback => ("awaiting_feedback_consent", "graph-based", Some("pending")),
            Over("none", _) => ("skipped", "none", None),
            Over(mode, granted) => {
                let said = if granted { "granted" } else { "denied" };
                ("completed", mode, Some(said))
            }
        };
        let roles: Vec<&str> = self.roles().into_keys().collect();
        let reflects = |role: &&str| self.stood == Reflected && *role == "owner";
        let (runs, done): (Vec<&str>, Vec<&str>) = roles.into_iter().partition(reflects);
        let done = if mode == "none" { Vec::new() } else { done };
        let found: serde_json::Map<String, Value> = done
            .iter()
            .map(|role| {
                let path = self.record(&format!("findings/{role}-findings.md"));
                ((*role).to_owned(), path.into())
            })
            .collect();
        let report = (granted == Some("granted")).then(|| self.record("feedback.md"));
        Some(json!({
            "status": status, "mode": mode, "completedRoles": done, "runningRoles": runs,
            "findingsProduced": found, "feedbackConsent": granted, "feedbackArtifactPath": report,
            "singleRole": false,
        }))
    }

    /// The session of a role: what it holds, and the node that it is at.
    fn session(&self, role: &str, nodes: &[&str]) -> Value {
        let node = nodes.last().copied().unwrap_or_default();
        let (mut all, archives) = if role == "writer" {
            held(self.held, node)
        } else {
            let handed = said("Done.");
            (
                vec![user(&format!("You are active at {node}.")), handed],
                None,
            )
        };
        let mut at = node.to_owned();
        let reflects = matches!(
            self.stood,
            Reflected | Feedback | Over("graph-based" | "parallel", _)
        );
        if reflects {
            at = format!("{role}-meta-analysis");
            all.push(user("Reflect."));
            let text = if self.stood == Reflected {
                "What would I do dif"
            } else {
                "I would ask."
            };
            all.push(said(text));
        }
        // There a role stays active while it waits for a person, too.
        let active = match self.stood {
            Ran | Waits(_) => role == "writer",
            Reflected => role == "owner",
            Choice | Feedback | Over(..) => false,
        };
        let mut session = json!({
            "roleName": role, "logicalSessionId": format!("{}__{role}", self.id),
            "transcriptHistory": all,
            "currentNodeContext": { "nodeId": at, "exchanges": all }, "currentNodeId": node,
            "isActive": active, "latestContextUsage": 1200,
            "systemPrompt": format!("Record folder: /old/workspace/{}\n", self.record("").trim_end_matches('/')),
        });
        if let Some(archives) = archives {
            session["compactionArchives"] = archives;
        }
        session
    }

    /// Writes all of it.
    fn write(&self, folder: &Path) {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("flow.json", self.flow().to_string());
        write("record/workflow.yaml", self.graph());
        write("record/script.yaml", self.script());
        write("record/notes.md", "The notes.\n".to_owned());
        for (from, to) in self.done() {
            write(
                &format!("record/{from}-{to}.md"),
                format!("From {from} to {to}.\n"),
            );
        }
        for (role, nodes) in self.roles() {
            write(
                &format!("record/findings/{role}-findings.md"),
                "Ask earlier.\n".to_owned(),
            );
            write(
                &format!("roles/{role}/transcript.json"),
                self.session(role, &nodes).to_string(),
            );
            let item = json!({ "id": "1", "type": "activation", "label": "Activation", "text": "Active." });
            write(
                &format!("roles/{role}/feed.json"),
                json!([item]).to_string(),
            );
        }
        if matches!(self.stood, Over(_, true)) {
            write("record/feedback.md", "Ask for whom.\n".to_owned());
        }
    }

    fn graph(&self) -> String {
        let nodes = self.shape.1.iter().map(|(node, role)| {
            let all = if *node == "owner-close" {
                ", await-all-inputs: true"
            } else {
                ""
            };
            format!("    - {{ id: {node}, role: {role}{all} }}\n")
        });
        let edges = self.shape.0.iter();
        let edges = edges.map(|(from, to)| format!("    - {{ from: {from}, to: {to} }}\n"));
        format!(
            "workflow:\n  name: Release notes\n  nodes:\n{}  edges:\n{}",
            nodes.collect::<String>(),
            edges.collect::<String>()
        )
    }

    /// What takes its turns from here on.
    fn script(&self) -> String {
        let nodes = self.shape.1.iter();
        let roles: BTreeSet<&str> = nodes.map(|(_, role)| *role).collect();
        let reflects = roles.into_iter().map(|role| {
            let report = "report: \"Ask earlier.\"";
            looks_back(role, "meta-analysis", report, "meta-analysis-complete")
        });
        let reflects: String = reflects.collect();
        let report = "report: \"Ask for whom.\"";
        let reports = looks_back(
            "a-society-feedback",
            "feedback",
            report,
            "backward-pass-complete",
        );
        format!("default: forward\nscript:\n{reflects}{reports}")
    }
}

fn looks_back(role: &str, phase: &str, says: &str, signal: &str) -> String {
    format!(
        "  - {{ role: {role}, phase: {phase}, say: [ {{ {says} }}, {{ signal: {signal} }} ] }}\n"
    )
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn said(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// An answer with calls, each by its id, its tool and its arguments.
fn calls(list: &[(&str, &str, Value)]) -> Value {
    let each = list.iter();
    let each = each.map(|(id, name, input)| json!({ "id": id, "name": name, "input": input }));
    let each: Vec<Value> = each.collect();
    json!({ "role": "assistant_tool_calls", "calls": each, "text": "I look." })
}

fn result(id: &str) -> Value {
    json!({
        "role": "tool_result", "callId": id, "toolName": "read_file", "content": "ok", "isError": false,
    })
}

/// What a session holds that was at a node, and what of it had been put aside.
fn held(held: Held, node: &str) -> (Vec<Value>, Option<Value>) {
    let entry = user(&format!("You are active at {node}."));
    let asks = said("For whom are the notes?\n\n```handoff\ntype: prompt-human\n```");
    let read = || json!({ "path": "CHANGES.md" });
    let summary = user("Compaction 5f0c. You write the notes of 2.1. Go on.");
    let archive = |trigger: &str| {
        json!([{
            "id": "5f0c1c1e-52f1-4b50-8d0a-2b5a3c0e9d11", "trigger": trigger, "nodeId": node,
            "compactedAt": "2026-03-02T08:20:00.125Z",
            "archivedTranscriptHistory": [entry, asks], "replacementMessage": summary,
        }])
    };
    let all = match held {
        Plain => vec![entry, asks],
        Mended => vec![
            entry,
            said("Done."),
            user("Your turn has no outcome."),
            asks,
        ],
        CutOff => vec![
            entry,
            said("It is fas"),
            user("Your answer was cut off."),
            asks,
        ],
        AtOnce => {
            let both = calls(&[("t1", "read_file", read()), ("t2", "read_file", read())]);
            vec![entry, both, result("t1"), result("t2"), asks]
        }
        Streaming => vec![entry, said("The notes begin with what is fas")],
        Commanding => {
            let command = json!({ "command": "make notes" });
            vec![entry, calls(&[("t3", "run_command", command)])]
        }
        Asking => {
            let write = json!({ "path": "NOTES.md", "content": "It is faster.\n" });
            vec![entry, calls(&[("t4", "write_file", write)])]
        }
        Shortened => {
            return (
                vec![summary.clone(), said("For whom are the notes?")],
                Some(archive("manual")),
            );
        }
        Long => {
            let rounds = (1..=(LONG_MESSAGES - 1) / 2).map(|number| format!("t{number}"));
            let rounds = rounds.flat_map(|id| [calls(&[(&id, "read_file", read())]), result(&id)]);
            return (
                std::iter::once(summary.clone()).chain(rounds).collect(),
                Some(archive("auto")),
            );
        }
    };
    (all, None)
}

#[test]
fn all_kinds_of_flows_are_imported_whole_and_go_on_to_their_ends() {
    let place = Old::with(&[]);
    let folder = |number: usize| -> PathBuf { place.workspace.flow_folder(&id(number)) };
    for number in 0..KINDS.len() {
        Kept::of(number).write(&folder(number));
    }
    let said = place.import();
    for flow in said.as_array().unwrap() {
        assert_eq!(flow["outcome"], "imported", "{flow}");
    }
    for (number, (_, stood, held)) in KINDS.iter().enumerate() {
        let kept = Kept::of(number);
        let what = format!("{number} {stood:?} {held:?}");
        for (role, nodes) in kept.roles() {
            let path = folder(number).join(format!("roles/{role}/transcript.json"));
            let (old, new) = (kept.session(role, &nodes), super::json(&path));
            // Here a turn runs where it says so; what a node waits for is in `flow.json`. A call that
            // waited for consent is asked about by its turn, which is open again.
            let runs = match kept.stood {
                Waits(reason) => role == "writer" && reason == "consent",
                Ran | Reflected | Choice | Feedback | Over(..) => old["isActive"] == true,
            };
            assert_eq!(new["isActive"], runs, "{what} {role}");
            for member in [
                "currentNodeContext",
                "currentNodeId",
                "compactionArchives",
                "systemPrompt",
            ] {
                if old[member].is_null() {
                    continue;
                }
                // Text that was cut off is there as well, marked as such.
                super::members::says(
                    &old[member],
                    &new[member],
                    &format!("{what} {role} {member}"),
                );
            }
        }
        if !matches!(stood, Over(..)) {
            to_the_end_of(&place, &id(number), &what);
        }
        let state = super::json(&folder(number).join("flow.json"));
        assert_eq!(state["phase"], "completed", "{what}");
        let said = place.run(&["verify", &id(number), "--json"]);
        assert_eq!(said.code, 0, "{what}: {said:?}");
    }
}
