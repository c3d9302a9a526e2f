//! What of the old files the new views do not show, member by member.
//!
//! The state of the new flow is written in the shape of the old file, and the two are compared.
//! What the new views show besides does not matter; what they lack, or show differently, is
//! listed. A list that means a set is compared as a set.

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::Grant;
use a_society_facts::handoff::HandoffWay;
use a_society_facts::id::RoleInstance;
use a_society_facts::message::Text;
use a_society_facts::view::Views;
use a_society_facts::view::flow::{FlowPhase, OperatorMessage, OperatorWait, Reflecting};
use serde_json::{Map, Value, json};

use super::choices::MODEL_FILE;
use super::names::Names;
use super::source::{ForeignFile, ForeignFlow};
use crate::limits::WITHOUT_PLACE_MAX;
use crate::project::choices::MODEL;
use crate::project::records::IMPROVEMENT_NAME;

/// The members of a source's files that the views do not show as they are, such as
/// `flow.json: /workspaceRoot`.
pub(super) fn compare(source: &ForeignFlow, names: &Names, views: &Views) -> Vec<String> {
    let mut found = Differences {
        file: "flow.json".to_owned(),
        list: Vec::new(),
    };
    let ours = flow(&source.json, names, views);
    found.members(&source.json, &ours, &mut String::new());
    for (role, (_, old)) in &source.sessions {
        found.file = format!("roles/{role}/transcript.json");
        let session = views.session(role).map(serde_json::to_value);
        let ours = session.and_then(Result::ok).unwrap_or(Value::Null);
        found.members(old, &ours, &mut String::new());
    }
    for (role, (_, old)) in &source.feeds {
        found.file = format!("roles/{role}/feed.json");
        let feed = views.feed(role);
        let items = feed.map(|feed| feed.items().map(serde_json::to_value).collect());
        let items: Result<Vec<Value>, _> = items.unwrap_or_else(|| Ok(Vec::new()));
        let ours = items.map_or(Value::Null, Value::Array);
        found.members(old, &ours, &mut String::new());
    }
    let shown = ["flow.json", "transcript.json", "feed.json"];
    for ForeignFile { path, bytes } in &source.files {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some(old) = chosen(path, bytes, views) {
            found.file.clone_from(path);
            let ours = json!({ "modelId": old["modelId"], "selectedAt": old["selectedAt"] });
            found.members(&old, &ours, &mut String::new());
        } else if !shown.contains(&name) {
            found.list.push(format!("{path}: the whole file"));
        }
    }
    found.list.truncate(WITHOUT_PLACE_MAX);
    found.list
}

/// What a file says of the model of a role, if it was chosen for it.
fn chosen(path: &str, bytes: &[u8], views: &Views) -> Option<Value> {
    let (role, file) = path.strip_prefix("roles/")?.split_once('/')?;
    let chosen = views.flow.configurations.get(role)?;
    let is_there = file == MODEL_FILE && chosen.settings.contains_key(MODEL);
    is_there.then(|| serde_json::from_slice(bytes).ok())?
}

#[derive(Debug, Default)]
struct Differences {
    file: String,
    list: Vec<String>,
}

impl Differences {
    fn note(&mut self, pointer: &str) {
        let pointer = if pointer.is_empty() { "/" } else { pointer };
        self.list.push(format!("{}: {pointer}", self.file));
    }

    fn members(&mut self, old: &Value, ours: &Value, pointer: &mut String) {
        let length = pointer.len();
        match (old, ours) {
            (Value::Object(old), Value::Object(ours)) => {
                for (key, value) in old {
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    let nothing = Value::Null;
                    self.members(value, ours.get(key).unwrap_or(&nothing), pointer);
                    pointer.truncate(length);
                }
            }
            (Value::Array(old), Value::Array(ours)) if old.len() == ours.len() => {
                for (place, (value, our)) in old.iter().zip(ours).enumerate() {
                    pointer.extend([format!("/{place}")]);
                    self.members(value, our, pointer);
                    pointer.truncate(length);
                }
            }
            (old, ours) if old == ours || (is_nothing(old) && is_nothing(ours)) => {}
            _ => self.note(pointer),
        }
    }
}

/// Whether a value says nothing: it may as well be absent.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.iter().all(is_nothing),
        Value::Object(members) => members.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The state of the new flow in the shape of the old `flow.json`.
fn flow(old: &Value, names: &Names, views: &Views) -> Value {
    let state = &views.flow;
    let waits = state.awaiting_operator.iter();
    let waits = waits.map(|(node, waiting)| {
        let said = json!({ "role": waiting.role, "reason": reason(waiting) });
        (node.to_string(), said)
    });
    let replies = state.replies.iter();
    let replies = replies.filter_map(|(node, said)| Some((node.to_string(), input(said.last()?))));
    let staged = state.staged.values().map(|staged| {
        let targets = staged.deliveries.iter().map(|delivery| {
            let path = names.there(&delivery.artifact.path);
            json!({ "target_node_id": delivery.receiver(), "artifact_path": path })
        });
        (staged.node.to_string(), targets.collect())
    });
    let mut received: Map<String, Value> = Map::new();
    for delivery in &state.received {
        let (from, to) = match delivery.way {
            HandoffWay::Forward => (&delivery.edge.from, &delivery.edge.to),
            HandoffWay::Backward => (&delivery.edge.to, &delivery.edge.from),
        };
        let list = received.entry(format!("{from}=>{to}")).or_insert(json!([]));
        if let Value::Array(list) = list {
            list.push(names.there(&delivery.artifact.path).into());
        }
    }
    let completed = state.completed_edges.iter();
    let completed = completed.map(|edge| format!("{}=>{}", edge.from, edge.to));
    let visited = state.visited.iter().map(ToString::to_string);
    let running = state.running.keys().map(ToString::to_string);
    let awaiting = state.awaiting_handoff.iter().map(ToString::to_string);
    let imported = state.imported.as_ref();
    json!({
        "flowId": state.flow_id,
        "projectNamespace": state.project,
        "stateVersion": imported.map(|origins| &origins.state_version),
        "status": status(state.phase),
        "runningNodes": in_order_of(&old["runningNodes"], running),
        "awaitingHumanNodes": waits.collect::<Map<_, _>>(),
        "pendingHumanInputs": replies.collect::<Map<_, _>>(),
        "pendingHandoffApprovals": staged.collect::<Map<_, _>>(),
        "visitedNodeIds": in_order_of(&old["visitedNodeIds"], visited),
        "completedHandoffs": in_order_of(&old["completedHandoffs"], completed),
        "receivingHandoff": received,
        "historyHandoff": history(&old["historyHandoff"], names, views),
        "awaitingHandoff": in_order_of(&old["awaitingHandoff"], awaiting),
        "improvementPhase": improvement(&old["improvementPhase"], names, views),
        "consentState": consent(&old["consentState"], views),
    })
}

/// The members of a set, those of an old list first and in its order.
fn in_order_of(old: &Value, ours: impl Iterator<Item = String>) -> Value {
    let mut ours: Vec<String> = ours.collect();
    let listed = old.as_array().map(Vec::as_slice).unwrap_or_default();
    let place = |name: &String| {
        let same = |other: &Value| other.as_str() == Some(name);
        listed.iter().position(same).unwrap_or(listed.len())
    };
    ours.sort_by_key(place);
    ours.into()
}

fn reason(waiting: &OperatorWait) -> Value {
    // The words are the same, but for how they are joined.
    let word = serde_json::to_value(waiting.reason).unwrap_or_default();
    word.as_str().map(|word| word.replace('_', "-")).into()
}

fn input(said: &OperatorMessage) -> Value {
    let text = match &said.text {
        Text::Inline(text) => text.clone(),
        Text::Blob(_) => said.text.shown(),
    };
    json!({ "text": text, "receivedAt": said.at })
}

const fn status(phase: FlowPhase) -> &'static str {
    match phase {
        FlowPhase::Forward | FlowPhase::Improving | FlowPhase::Feedback | FlowPhase::Cancelled => {
            "running"
        }
        FlowPhase::ImprovementChoice => "awaiting_improvement_choice",
        FlowPhase::FeedbackConsent => "awaiting_feedback_consent",
        FlowPhase::Completed => "completed",
    }
}

/// What was ever passed along each edge. Here both ways along an edge are one.
fn history(old: &Value, names: &Names, views: &Views) -> Value {
    let state = &views.flow;
    let none = Map::new();
    let old = old.as_object().unwrap_or(&none);
    let kept = old.iter().map(|(key, paths)| {
        let ends = key.split_once("=>");
        let along = ends.and_then(|(from, to)| {
            let there = state.history.get(from).and_then(|to_all| to_all.get(to));
            there.or_else(|| state.history.get(to).and_then(|to_all| to_all.get(from)))
        });
        let all = along.into_iter().flatten().map(|path| names.there(path));
        let all: Vec<String> = all.collect();
        let listed = paths.as_array().map(Vec::as_slice).unwrap_or_default();
        let known = |path: &&Value| path.as_str().is_some_and(|p| all.iter().any(|a| a == p));
        let shown: Vec<&Value> = listed.iter().filter(known).collect();
        (key.clone(), json!(shown))
    });
    Value::Object(kept.collect())
}

fn improvement(old: &Value, names: &Names, views: &Views) -> Value {
    let state = &views.flow;
    let phase = match state.phase {
        FlowPhase::Forward | FlowPhase::Cancelled => return Value::Null,
        FlowPhase::ImprovementChoice => "awaiting_choice",
        FlowPhase::Improving | FlowPhase::Feedback => "running",
        FlowPhase::FeedbackConsent => "awaiting_feedback_consent",
        FlowPhase::Completed if old["status"] == "skipped" => "skipped",
        FlowPhase::Completed => "completed",
    };
    let Some(improvement) = &state.improvement else {
        return json!({ "status": phase, "singleRole": single(views) });
    };
    let is_done = |(_, work): &(&RoleInstance, &Reflecting)| work.findings.is_some();
    let roles = || improvement.roles.iter();
    let waits = roles().filter_map(|(role, work)| {
        let waiting = work.waiting.as_ref()?;
        Some((role.to_string(), json!({ "reason": reason(waiting) })))
    });
    let replies =
        roles().filter_map(|(role, work)| Some((role.to_string(), input(work.replies.last()?))));
    let findings = roles().filter_map(|(role, work)| {
        let path = names.there(&work.findings.as_ref()?.path);
        Some((role.to_string(), json!(path)))
    });
    let done = roles().filter(is_done).map(|(role, _)| role.to_string());
    let running = roles().filter(|role| !is_done(role));
    let running = running.map(|(role, _)| role.to_string());
    let report = improvement.feedback.report();
    // The graph of the phase is written anew; its path stays.
    let graph = old["improvementWorkflowPath"].as_str();
    let graph = graph.filter(|path| names.within(path) == IMPROVEMENT_NAME);
    let consent = match (improvement.feedback.granted, state.phase) {
        (Some(true), _) => json!("granted"),
        (Some(false), _) => json!("denied"),
        (None, FlowPhase::FeedbackConsent) => json!("pending"),
        (None, _) => Value::Null,
    };
    let mode = match improvement.mode {
        ImprovementMode::GraphBased => "graph-based",
        ImprovementMode::Parallel => "parallel",
        ImprovementMode::None => "none",
    };
    json!({
        "status": phase,
        "mode": mode,
        "completedRoles": in_order_of(&old["completedRoles"], done),
        "runningRoles": in_order_of(&old["runningRoles"], running),
        "awaitingHumanRoles": waits.collect::<Map<_, _>>(),
        "pendingHumanInputs": replies.collect::<Map<_, _>>(),
        "findingsProduced": findings.collect::<Map<_, _>>(),
        "improvementWorkflowPath": graph,
        "feedbackArtifactPath": report.map(|report| names.there(&report.path)),
        "feedbackConsent": consent,
        "singleRole": single(views),
    })
}

fn single(views: &Views) -> bool {
    let mut nodes = views.flow.graph.nodes.iter();
    let first = nodes.next().map(|node| node.role.base());
    nodes.all(|node| Some(node.role.base()) == first)
}

fn consent(old: &Value, views: &Views) -> Value {
    let allowed = old["bash"]["allowedCommands"].as_object();
    let commands = allowed.into_iter().flatten().filter_map(|(key, allowed)| {
        let command = allowed["command"].as_str()?;
        let grant = Grant::Command(command.to_owned());
        let known = views.flow.grants.contains(&grant);
        known.then(|| (key.clone(), json!({ "command": command })))
    });
    json!({
        "mode": views.flow.consent_mode,
        "bash": { "allowedCommands": commands.collect::<Map<_, _>>() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_different_is_named_and_what_is_more_is_not() {
        for (old, ours, expected) in [
            (json!({"a": 1}), json!({"a": 1, "b": 2}), vec![]),
            (json!({"a": 1}), json!({"a": 2}), vec!["f: /a"]),
            (
                json!({"a/b": [1, {"c": "x"}]}),
                json!({"a/b": [1, {}]}),
                vec!["f: /a~1b/1/c"],
            ),
            (json!({"a": []}), json!({}), vec![]),
            (json!({"a": null, "b": {"c": {}}}), json!({}), vec![]),
            (json!({"a": false}), json!({}), vec!["f: /a"]),
            (json!([1, 2]), json!([1]), vec!["f: /"]),
        ] {
            let mut found = Differences {
                file: "f".into(),
                ..Differences::default()
            };
            found.members(&old, &ours, &mut String::new());
            assert_eq!(found.list, expected, "{old} against {ours}");
        }
    }

    #[test]
    fn a_set_is_compared_as_a_set() {
        let ours = ["b", "a", "c"].map(str::to_owned).into_iter();
        assert_eq!(
            in_order_of(&json!(["c", "b"]), ours),
            json!(["c", "b", "a"])
        );
    }
}
