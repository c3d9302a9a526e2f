//! The fold against itself: its changes, applied one by one from any place, give what a new fold gives,
//! and the page's fold gets the same cases.

use std::collections::BTreeMap;
use std::path::PathBuf;

use a_society_facts::Fact;
use a_society_facts::fact::operator::ConsentRequested;
use a_society_facts::fact::turn::CallEnd;
use a_society_facts::id::ConsentId;
use a_society_facts::line::read;
use a_society_facts::message::Text;
use a_society_facts::{Hash, Recorded};
use serde_json::{Value, json};

use super::flow::assembled;
use super::{FlowFold, Liveness};
use crate::hub::keep::{Feed, Parts};
use crate::hub::pull::{Cursor, Present};
use crate::protocol::FlowRef;
use crate::protocol::ask::{Ask, AskKind, ModelChoice, Op};
use crate::protocol::down::{Down, Part, Put, State};
use crate::protocol::feed::{Task, TaskState};
use crate::protocol::flow::NodeState;
use crate::protocol::row::DrivenBy;

mod asks;
mod own;
mod refused;
mod standing;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The journals that the cases are made of, by name.
fn journals() -> Vec<(String, Vec<Recorded>)> {
    let kept = root().join("tests/journals");
    let mut files: Vec<PathBuf> = std::fs::read_dir(kept)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    files.sort();
    let named = files.into_iter().map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read(&path).unwrap();
        let lines = text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let records = lines.map(|line| {
            let (frame, body) = read(&mut line.to_vec()).unwrap();
            Recorded {
                seq: frame.seq,
                at: frame.at,
                body,
            }
        });
        (name, records.collect())
    });
    named.collect()
}

/// A journal in which the first write of a file waits for the operator.
fn with_a_write_that_waits() -> Vec<Recorded> {
    let (_, mut records) = journals().remove(1);
    let intended = |recorded: &Recorded| matches!(recorded.fact(), Some(Fact::CallIntended(_)));
    let place = records.iter().position(intended).unwrap();
    let Some(Fact::CallIntended(call)) = records[place].fact().cloned() else {
        unreachable!("it was looked for")
    };
    records.truncate(place + 1);
    let (seq, at) = (records[place].seq, records[place].at);
    let node = Some("start".parse().unwrap());
    let consent: ConsentId = "k1".parse().unwrap();
    let asked = ConsentRequested {
        consent: consent.clone(),
        call: call.call.clone(),
        role: call.role.clone(),
        node: node.clone(),
        tool: call.tool.clone(),
        action: call.arguments,
        // As journals without terms have it.
        shown: Text::Inline("write_file brief-install.md\nHow to install it.\n".to_owned()),
        terms: None,
        narrowed: false,
        doubt: None,
        anew: false,
    };
    let waits = json!({ "node": node, "role": call.role, "reason": "consent", "consent": consent });
    let waits = Fact::NodeSuspended(serde_json::from_value(waits).unwrap());
    records.push(Recorded::new(seq + 1, at, Fact::ConsentRequested(asked)));
    records.push(Recorded::new(seq + 2, at, waits));
    records
}

#[test]
fn an_edit_that_waits_shows_what_would_be_written_and_its_item_counts_the_lines() {
    let mut fold = fold();
    for recorded in with_a_write_that_waits() {
        fold.apply(&recorded, &shown);
    }
    let asks: Vec<Ask> = (fold.whole().into_values())
        .filter_map(|part| {
            if let Part::Ask(ask) = part {
                return Some(*ask);
            }
            None
        })
        .collect();
    let [ask] = asks.as_slice() else {
        panic!("{asks:?}")
    };
    let AskKind::Consent { diff, facts, .. } = &ask.kind else {
        panic!("{ask:?}")
    };
    let diff = diff.as_ref().unwrap();
    assert_eq!(diff.path, "brief-install.md");
    assert_eq!((&diff.old, diff.truncated), (&None, false));
    let lines: Vec<(Op, &str)> = (diff.hunks.iter())
        .flat_map(|hunk| &hunk.lines)
        .map(|line| (line.op, line.text.as_str()))
        .collect();
    assert_eq!(lines, [(Op::Add, "How to install it.")]);
    let network = facts.iter().find(|fact| fact.label == "Network").unwrap();
    assert_eq!((network.value.as_str(), network.warn), ("Not used", false));
    let counted: Vec<_> = (fold.take_feeds().into_iter())
        .flat_map(|(_, _, change)| change.items)
        .filter(|(_, item)| item.tool.is_some())
        .map(|(_, item)| (item.added, item.removed))
        .collect();
    assert_eq!(counted, [(Some(1), Some(0))]);
}

/// A journal up to the first answer that wants tools, in which it wants others.
fn with_calls(calls: &[(&str, Value, &str)]) -> Vec<Recorded> {
    let mut records = journals().remove(0).1;
    let wants_tools = |recorded: &Recorded| matches!(recorded.fact(), Some(Fact::ModelAnswered(f)) if !f.calls.is_empty());
    let place = records.iter().position(wants_tools).unwrap();
    records.truncate(place + 1);
    let Some(Fact::ModelAnswered(mut answered)) = records[place].fact().cloned() else {
        unreachable!("it was looked for")
    };
    let (first, at, role) = (records[place].seq, records[place].at, answered.role.clone());
    let wanted = calls.iter().enumerate();
    let wanted = wanted.map(
        |(n, (tool, input, _))| json!({ "id": format!("t{n}"), "name": tool, "input": input }),
    );
    answered.calls = wanted
        .map(|call| serde_json::from_value(call).unwrap())
        .collect();
    let turn = answered.turn;
    records[place] = Recorded::new(first, at, Fact::ModelAnswered(answered));
    let mut seq = first;
    for (n, (tool, input, end)) in calls.iter().enumerate() {
        let hash = Hash::of(input.to_string().as_bytes());
        let call = json!({ "call": format!("c{}", 70 + n), "turn": turn, "role": role, "tool_call": format!("t{n}"), "tool": tool, "ordinal": n, "arguments": hash, "effect": "idempotent", "idempotency_key": hash, "summary": "told", "end": end, "output": "told", "message": format!("m{}", 70 + n) });
        for fact in [
            Fact::CallIntended(serde_json::from_value(call.clone()).unwrap()),
            Fact::CallFinished(serde_json::from_value(call).unwrap()),
        ] {
            seq += 1;
            records.push(Recorded::new(seq, at, fact));
        }
    }
    records
}

#[test]
fn the_task_list_that_a_role_wrote_last_is_in_its_item_and_with_the_role() {
    let first = json!({ "todos": [{ "content": "Read", "status": "in_progress" }] });
    let second = json!({ "items": [{ "text": "Read", "status": "completed" }, { "text": "Write", "status": "in_progress" }, { "text": "Send", "status": "pending" }] });
    let refused = json!({ "items": [{ "text": "Rest", "status": "pending" }] });
    let mut fold = fold();
    for recorded in with_calls(&[
        ("TodoWrite", first, "done"),
        ("todo", second, "done"),
        ("todo", refused, "failed"),
    ]) {
        fold.apply(&recorded, &shown);
    }
    let told = |tasks: &[Task]| -> Vec<(String, TaskState)> {
        let each = tasks.iter().map(|task| (task.text.clone(), task.state));
        each.collect()
    };
    let now = [
        ("Read".to_owned(), TaskState::Done),
        ("Write".to_owned(), TaskState::InProgress),
        ("Send".to_owned(), TaskState::Open),
    ];
    let Some(Part::Role(role)) = fold.whole().remove("role/writer") else {
        panic!("there is a role")
    };
    assert_eq!(told(&role.tasks), now);
    let items = (fold.take_feeds().into_iter()).flat_map(|(_, _, change)| change.items);
    let lists: Vec<_> = items
        .filter_map(|(_, item)| item.tool.is_some().then_some(item.tasks))
        .map(|tasks| tasks.map(|tasks| told(&tasks)))
        .collect();
    let before = vec![("Read".to_owned(), TaskState::InProgress)];
    assert_eq!(lists, [Some(before), Some(now.to_vec()), None]);
}

#[test]
fn a_call_that_did_not_do_what_it_was_asked_says_how_it_ended() {
    let ends = [
        ("done", None),
        ("failed", Some(CallEnd::Failed)),
        ("stopped", Some(CallEnd::Stopped)),
        ("denied", Some(CallEnd::Denied)),
        ("timed_out", Some(CallEnd::TimedOut)),
        ("not_run", Some(CallEnd::NotRun)),
        ("unknown", Some(CallEnd::Unknown)),
    ];
    let mut fold = fold();
    for recorded in with_calls(&ends.map(|(end, _)| ("run", json!({ "end": end }), end))) {
        fold.apply(&recorded, &shown);
    }
    let items = (fold.take_feeds().into_iter()).flat_map(|(_, _, change)| change.items);
    let calls = items.filter(|(_, item)| item.tool.is_some());
    let told: Vec<_> = calls.map(|(_, item)| item.end).collect();
    assert_eq!(told, ends.map(|(_, end)| end));
}

#[test]
fn a_node_whose_model_cannot_be_reached_has_failed_and_one_that_waits_for_words_needs_you() {
    for (reason, state) in [
        ("provider", NodeState::Failed),
        ("budget", NodeState::NeedsYou),
        ("prompt_human", NodeState::NeedsYou),
    ] {
        let mut records = with_a_write_that_waits();
        let last = records.pop().unwrap();
        records.pop();
        let waits = json!({ "node": "outline", "role": "owner", "reason": reason });
        let waits = Fact::NodeSuspended(serde_json::from_value(waits).unwrap());
        records.push(Recorded::new(last.seq - 1, last.at, waits));
        let mut fold = fold();
        for recorded in &records {
            fold.apply(recorded, &shown);
        }
        let Some(Part::Node(node)) = fold.whole().remove("node/outline") else {
            panic!("there is a node")
        };
        assert_eq!(node.state, state, "{reason}: {}", node.words);
    }
}

#[test]
fn a_role_says_its_models_window_and_its_servers_as_its_file_or_the_operator_named_them() {
    let (_, mut records) = journals().remove(2);
    let place = (records.iter())
        .position(|recorded| matches!(recorded.fact(), Some(Fact::FlowCreated(_))))
        .unwrap();
    let Some(Fact::FlowCreated(mut created)) = records[place].fact().cloned() else {
        unreachable!("it was looked for")
    };
    let scripted = "  planner:\n    executor: scripted\n";
    let named = "  planner:\n    mcp-servers: [ledger]\n";
    let source = created.graph.source.shown();
    assert!(source.contains(scripted));
    created.graph.source = Text::Inline(source.replace(scripted, named));
    let (seq, at) = (records[place].seq, records[place].at);
    records[place] = Recorded::new(seq, at, Fact::FlowCreated(created));
    let (seq, at) = records.last().map(|last| (last.seq, last.at)).unwrap();
    let flow = FlowRef {
        project: "demo".to_owned(),
        flow: "f".to_owned(),
    };
    let models = vec![ModelChoice {
        name: "scripted".to_owned(),
        words: String::new(),
        window_tokens: 9_000,
    }];
    let mut fold = FlowFold::new(flow, models);
    let role = |fold: &FlowFold, name: &str| {
        let part = fold.whole().remove(&format!("role/{name}"));
        let Some(Part::Role(role)) = part else {
            panic!("{part:?}")
        };
        (role.window_tokens, role.mcp)
    };
    for recorded in &records {
        fold.apply(recorded, &shown);
    }
    let ledger = || vec!["ledger".to_owned()];
    assert_eq!(role(&fold, "planner"), (Some(9_000), ledger()));
    assert_eq!(role(&fold, "owner"), (Some(9_000), Vec::new()));
    // A person has no model, and no window.
    assert_eq!(role(&fold, "lead"), (None, Vec::new()));
    for (name, servers, expected) in [
        ("planner", "none", Vec::new()),
        (
            "owner",
            "books, ledger",
            vec!["books".to_owned(), "ledger".to_owned()],
        ),
    ] {
        let settings = json!({ "mcp-servers": servers });
        let configured = json!({ "role": name, "settings": settings, "by": "operator" });
        let configured = Fact::RoleConfigured(serde_json::from_value(configured).unwrap());
        fold.apply(&Recorded::new(seq + 1, at, configured), &shown);
        assert_eq!(role(&fold, name), (Some(9_000), expected));
    }
}

#[test]
fn a_revised_graph_that_defines_no_roles_leaves_them_where_they_come_from() {
    let (_, records) = journals().remove(2);
    let created = records.iter().find_map(|recorded| match recorded.fact() {
        Some(Fact::FlowCreated(created)) => Some(created.clone()),
        _ => None,
    });
    let mut graph = created.unwrap().graph;
    let named = "  planner:\n    executor: scripted\n    mcp-servers: [ledger]\n";
    let scripted = "  planner:\n    executor: scripted\n";
    let whole = graph.source.shown().replace(scripted, named);
    let (without, _) = whole.split_once("roles:\n").unwrap();
    let servers = |fold: &FlowFold| {
        let part = fold.whole().remove("role/planner");
        let Some(Part::Role(role)) = part else {
            panic!("{part:?}")
        };
        role.mcp
    };
    let mut fold = fold();
    let mut revise = |fold: &mut FlowFold, seq, source: &str| {
        graph.source = Text::Inline(source.to_owned());
        let revised = json!({ "graph": graph, "by": "operator" });
        let revised = Fact::GraphRevised(serde_json::from_value(revised).unwrap());
        fold.apply(&Recorded::new(seq, records[0].at, revised), &shown);
    };
    for recorded in &records {
        fold.apply(recorded, &shown);
    }
    let last = records.last().unwrap().seq;
    revise(&mut fold, last + 1, &whole);
    assert_eq!(servers(&fold), ["ledger"]);
    revise(&mut fold, last + 2, without);
    assert_eq!(servers(&fold), ["ledger"]);
}

fn shown(text: &Text) -> String {
    text.shown()
}

fn fold() -> FlowFold {
    let flow = FlowRef {
        project: "demo".to_owned(),
        flow: "f".to_owned(),
    };
    let mut fold = FlowFold::new(flow, Vec::new());
    fold.driven(Liveness {
        driven_by: Some(DrivenBy::Server),
        holder: Some("process 1".to_owned()),
    });
    fold
}

fn as_json(parts: BTreeMap<String, Option<Part>>) -> BTreeMap<String, Option<Value>> {
    let each = |(key, part): (String, Option<Part>)| (key, part.map(|part| json!(part)));
    parts.into_iter().map(each).collect()
}

#[test]
fn what_is_told_part_by_part_is_what_is_made_anew() {
    for (name, records) in journals() {
        let mut fold = fold();
        let mut known: BTreeMap<String, Value> = BTreeMap::new();
        for recorded in &records {
            fold.apply(recorded, &shown);
            for (key, part) in as_json(fold.take()) {
                match part {
                    Some(part) => drop(known.insert(key, part)),
                    None => drop(known.remove(&key)),
                }
            }
            let anew = fold
                .whole()
                .into_iter()
                .map(|(key, part)| (key, json!(part)));
            let anew: BTreeMap<String, Value> = anew.collect();
            // The head says the last record, which streamed text moves without touching a part.
            for (key, part) in anew.iter().filter(|(key, _)| *key != "flow") {
                assert_eq!(
                    known.get(key),
                    Some(part),
                    "{name}, record {}: {key}",
                    recorded.seq
                );
            }
            assert_eq!(known.len(), anew.len(), "{name}, record {}", recorded.seq);
        }
    }
}

#[test]
fn a_role_says_when_its_failed_request_is_made_again_until_it_is_made_or_its_turn_ends_or_begins_anew()
 {
    let at = |ms: i64| a_society_facts::At::from_ms(1_795_246_169_000 + ms);
    let of = |more: Value| {
        let mut said = json!({ "turn": 1, "attempt": 1, "role": "owner", "request": 1 });
        let said_of_it = said.as_object_mut().unwrap();
        said_of_it.extend(more.as_object().unwrap().clone());
        said
    };
    let failed = |ms: Option<u64>| {
        let f = of(json!({ "class": "rate_limit", "error": "x", "retry_in_ms": ms }));
        Fact::ModelFailed(serde_json::from_value(f).unwrap())
    };
    let hash = Hash::of(b"");
    let requested = of(json!({ "model": "m", "hash": hash }));
    let requested = Fact::ModelRequested(serde_json::from_value(requested).unwrap());
    let ended =
        of(json!({ "end": "stopped", "usage": a_society_facts::fact::turn::Usage::default() }));
    let ended = Fact::TurnEnded(serde_json::from_value(ended).unwrap());
    let resumed = json!({ "turn": 1, "attempt": 2, "role": "owner" });
    let resumed = Fact::TurnResumed(serde_json::from_value(resumed).unwrap());
    let started = json!({ "turn": 1, "attempt": 1, "role": "owner", "cause": "node" });
    let started = Fact::TurnStarted(serde_json::from_value(started).unwrap());
    for after in [requested.clone(), failed(None), ended, resumed] {
        let mut state = a_society_facts::view::flow::FlowState::default();
        let mut hear = |ms, fact| {
            a_society_facts::view::FactView::apply(&mut state, &Recorded::new(1, at(ms), fact));
            let turn = state.turns.iter().next();
            turn.and_then(|(_, turn)| turn.again_at())
        };
        hear(3, started.clone());
        hear(4, requested.clone());
        assert_eq!(hear(5, failed(Some(40_000))), Some(at(40_005)));
        assert_eq!(hear(6, after.clone()), None, "{after:?}");
    }
}

/// A hub without a thread, which publishes after each record.
struct Hub {
    fold: FlowFold,
    parts: Parts,
    feeds: BTreeMap<String, Feed>,
    head: u64,
    at: String,
}

impl Hub {
    fn new() -> Self {
        Self {
            fold: fold(),
            parts: Parts::default(),
            feeds: BTreeMap::new(),
            head: 0,
            at: String::new(),
        }
    }

    fn hear(&mut self, recorded: &Recorded) {
        self.fold.apply(recorded, &shown);
        self.head = recorded.seq;
        self.at = super::words::at(recorded.at);
        let parts = self.fold.take();
        if !parts.is_empty() {
            self.parts.put(parts, self.head, false);
        }
        for (role, _, change) in self.fold.take_feeds() {
            let feed = self.feeds.entry(role.to_string()).or_default();
            feed.put(change.into());
        }
    }

    fn pull(&mut self, cursor: &mut Cursor) -> Vec<Down> {
        let epoch = self.fold.epoch();
        let present = Present {
            epoch: &epoch,
            head: self.head,
            at: &self.at,
        };
        let out = cursor.parts(&present, &mut self.parts, crate::hub::flow::whole);
        out.iter()
            .map(|out| serde_json::from_str(&out.frame(7)).unwrap())
            .collect()
    }

    fn pull_feed(&mut self, role: &str, cursor: &mut Cursor) -> Vec<Down> {
        let epoch = self.fold.epoch();
        let present = Present {
            epoch: &epoch,
            head: self.head,
            at: &self.at,
        };
        let feed = self.feeds.entry(role.to_owned()).or_default();
        let mut all = Vec::new();
        loop {
            let (out, more) = cursor.feed(&present, feed, true);
            all.extend(
                out.iter()
                    .map(|out| serde_json::from_str(&out.frame(7)).unwrap()),
            );
            if !more {
                return all;
            }
        }
    }
}

/// A client, as a page folds.
#[derive(Debug, Default, Clone, PartialEq)]
struct Client {
    seq: u64,
    epoch: String,
    parts: BTreeMap<String, Value>,
    items: Vec<(String, Value)>,
}

impl Client {
    fn hear(&mut self, down: Down) {
        match down {
            Down::Snap {
                seq, epoch, state, ..
            } => {
                (self.seq, self.epoch) = (seq, epoch);
                match state {
                    State::Flow(state) => self.parts = parts_of(&json!(state)),
                    State::Feed(state) => {
                        let items = state
                            .items
                            .into_iter()
                            .map(|item| (item.id.clone(), json!(item)));
                        self.items = items.collect();
                    }
                    State::Inbox(_) => unreachable!("nobody asked for it"),
                }
            }
            Down::Ev { from, to, put, .. } => {
                assert_eq!(from, self.seq, "a hole");
                self.seq = to;
                match put {
                    Some(Put::Items(items)) => self.items(items.into_iter().map(|it| json!(it))),
                    Some(Put::Parts(parts)) => {
                        for (key, part) in parts {
                            match part {
                                Some(part) => drop(self.parts.insert(key, json!(part))),
                                None => drop(self.parts.remove(&key)),
                            }
                        }
                    }
                    None => {}
                }
            }
            Down::Delta {
                item, offset, text, ..
            } => {
                let (_, kept) = self.items.iter_mut().find(|(id, _)| *id == item).unwrap();
                let before = kept["text"].as_str().unwrap();
                assert_eq!(before.len() as u64, offset);
                kept["text"] = json!(format!("{before}{text}"));
            }
            Down::CaughtUp { seq, .. } => assert_eq!(seq, self.seq),
            other @ (Down::Hello { .. } | Down::Ack(_) | Down::Gone { .. } | Down::Pong { .. }) => {
                unreachable!("{other:?}")
            }
        }
    }

    fn items(&mut self, items: impl Iterator<Item = Value>) {
        for item in items {
            let id = item["id"].as_str().unwrap().to_owned();
            match self.items.iter_mut().find(|(known, _)| *known == id) {
                Some((_, known)) => *known = item,
                None => self.items.push((id, item)),
            }
        }
    }
}

/// The parts of a whole state, by key.
fn parts_of(state: &Value) -> BTreeMap<String, Value> {
    let mut parts = BTreeMap::from([("flow".to_owned(), state["flow"].clone())]);
    if !state["improvement"].is_null() {
        parts.insert("improvement".to_owned(), state["improvement"].clone());
    }
    for (group, prefix) in [
        ("nodes", "node"),
        ("edges", "edge"),
        ("roles", "role"),
        ("asks", "ask"),
        ("changes", "change"),
    ] {
        for (name, part) in state[group].as_object().unwrap() {
            parts.insert(format!("{prefix}/{name}"), part.clone());
        }
    }
    parts.insert("order".to_owned(), state["order"].clone());
    parts
}

#[test]
fn who_comes_at_any_record_and_goes_at_any_other_ends_with_what_a_newcomer_gets() {
    for (name, records) in journals() {
        let roles: Vec<String> = {
            let mut hub = Hub::new();
            records.iter().for_each(|recorded| hub.hear(recorded));
            hub.feeds.keys().cloned().collect()
        };
        // One client for each place to come, which goes after a while and comes back with its cursor.
        for come in (0..records.len()).step_by(records.len() / 12 + 1) {
            let away = come + records.len() / 5;
            let back = away + records.len() / 4;
            let mut hub = Hub::new();
            let mut client = Client::default();
            let mut feeds: Vec<Client> = vec![Client::default(); roles.len()];
            let mut cursor = Cursor::new(None, None, None);
            let mut cursors = vec![Cursor::new(None, None, Some(1_000)); roles.len()];
            for (place, recorded) in records.iter().enumerate() {
                hub.hear(recorded);
                if place == back {
                    cursor = Cursor::new(Some(client.seq), Some(client.epoch.clone()), None);
                    for (feed, cursor) in feeds.iter().zip(&mut cursors) {
                        *cursor =
                            Cursor::new(Some(feed.seq), Some(feed.epoch.clone()), Some(1_000));
                    }
                }
                if place < come || (away..back).contains(&place) {
                    continue;
                }
                hub.pull(&mut cursor)
                    .into_iter()
                    .for_each(|down| client.hear(down));
                for ((role, feed), cursor) in roles.iter().zip(&mut feeds).zip(&mut cursors) {
                    for down in hub.pull_feed(role, cursor) {
                        feed.hear(down);
                    }
                }
            }
            if back >= records.len() {
                cursor = Cursor::new(Some(client.seq), Some(client.epoch.clone()), None);
                for (feed, cursor) in feeds.iter().zip(&mut cursors) {
                    *cursor = Cursor::new(Some(feed.seq), Some(feed.epoch.clone()), Some(1_000));
                }
            }
            hub.pull(&mut cursor)
                .into_iter()
                .for_each(|down| client.hear(down));
            for ((role, feed), cursor) in roles.iter().zip(&mut feeds).zip(&mut cursors) {
                for down in hub.pull_feed(role, cursor) {
                    feed.hear(down);
                }
            }
            let mut fresh = Client::default();
            for down in hub.pull(&mut Cursor::new(None, None, None)) {
                fresh.hear(down);
            }
            assert_eq!(client.parts, fresh.parts, "{name}, from {come}");
            for (role, feed) in roles.iter().zip(&feeds) {
                let mut fresh = Client::default();
                for down in hub.pull_feed(role, &mut Cursor::new(None, None, Some(1_000))) {
                    fresh.hear(down);
                }
                assert_eq!(feed.items, fresh.items, "{name}, {role}, from {come}");
            }
        }
    }
}

/// A journal in which the first call was cut off, was run again, and left a process behind.
fn with_a_call_that_runs_again() -> Vec<Recorded> {
    let (_, records) = journals().remove(1);
    let mut with = Vec::new();
    for recorded in records {
        let (at, fact) = (recorded.at, recorded.fact().cloned().unwrap());
        let next = |with: &Vec<Recorded>| with.len() as u64 + 1;
        if let Fact::CallFinished(call) = &fact {
            let again =
                json!({ "call": call.call, "role": call.role, "why": "it changed nothing" });
            let again = Fact::CallRerun(serde_json::from_value(again).unwrap());
            with.push(Recorded::new(next(&with), at, again));
        }
        with.push(Recorded::new(next(&with), at, fact.clone()));
        if let Fact::CallFinished(call) = &fact {
            let process = json!({ "pid": 7, "start_ticks": 1, "boot_id": "b" });
            let left = json!({ "call": call.call, "role": call.role, "process": process });
            let left = Fact::CallReaped(serde_json::from_value(left).unwrap());
            with.push(Recorded::new(next(&with), at, left));
        }
    }
    with
}

#[test]
fn an_item_is_the_same_however_many_records_come_at_once() {
    let mut all = journals();
    all.push(("again".to_owned(), with_a_call_that_runs_again()));
    for (name, records) in all {
        let told = |at_once: usize| {
            let (mut fold, mut items) = (fold(), BTreeMap::new());
            for some in records.chunks(at_once) {
                some.iter()
                    .for_each(|recorded| fold.apply(recorded, &shown));
                for (role, _, change) in fold.take_feeds() {
                    for (place, item) in change.items {
                        let mut item = serde_json::to_value(item).unwrap();
                        // Streamed text is sent separately.
                        if item["pending"] == true {
                            item["text"] = Value::Null;
                        }
                        items.insert((role.to_string(), place), item);
                    }
                }
            }
            items
        };
        let one_by_one = told(1);
        for at_once in [2, 3, 7, records.len()] {
            assert_eq!(told(at_once), one_by_one, "{name}, {at_once} at once");
        }
    }
}

#[test]
fn a_cursor_of_another_epoch_or_from_the_future_begins_anew() {
    let (_, records) = journals().remove(0);
    let mut hub = Hub::new();
    records.iter().for_each(|recorded| hub.hear(recorded));
    let epoch = hub.fold.epoch();
    for (since, epoch) in [
        (hub.head + 1_000, epoch.clone()),
        (u64::MAX, epoch.clone()),
        (1, "another".to_owned()),
        (1, String::new()),
    ] {
        let mut cursor = Cursor::new(Some(since), Some(epoch.clone()), None);
        let first = hub.pull(&mut cursor).remove(0);
        assert!(matches!(first, Down::Snap { .. }), "{since} {epoch}");
    }
    let mut cursor = Cursor::new(Some(1), Some(epoch), None);
    assert!(matches!(
        hub.pull(&mut cursor).remove(0),
        Down::Ev { from: 1, .. }
    ));
}

#[test]
fn what_is_as_long_as_the_graph_is_told_once_and_not_with_every_record() {
    for (name, records) in journals() {
        let mut hub = Hub::new();
        let mut cursor = Cursor::new(None, None, None);
        let (mut told, mut made) = (0, 0);
        for recorded in &records {
            hub.hear(recorded);
            let graph = |fact: &Fact| matches!(fact, Fact::FlowCreated(_) | Fact::GraphRevised(_));
            made += usize::from(recorded.fact().is_some_and(graph));
            for down in hub.pull(&mut cursor) {
                if let Down::Ev {
                    put: Some(Put::Parts(parts)),
                    ..
                } = &down
                {
                    told += usize::from(parts.contains_key("order"));
                }
            }
        }
        assert!(told <= made, "{name}: {told} times for {made} graphs");
        let nodes = hub.parts.keys("node/").len();
        let order: Vec<String> = serde_json::from_str(hub.parts.one("order").unwrap()).unwrap();
        assert_eq!(order.len(), nodes, "{name}");
    }
}

#[test]
fn the_page_folds_the_same_cases() {
    for (name, records) in journals() {
        let mut hub = Hub::new();
        let mut cursor = Cursor::new(None, None, None);
        let mut messages = Vec::new();
        let step = records.len() / 10 + 1;
        for chunk in records.chunks(step) {
            chunk.iter().for_each(|recorded| hub.hear(recorded));
            messages.extend(hub.pull(&mut cursor).into_iter().map(|down| json!(down)));
        }
        let state = assembled(hub.fold.whole());
        let case = json!({ "messages": messages, "state": state });
        let text = serde_json::to_string_pretty(&case).unwrap() + "\n";
        let path = root().join(format!("tests/corpus/{name}.json"));
        if std::env::var_os("A_SOCIETY_UPDATE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "tests/corpus/{name}.json: run with A_SOCIETY_UPDATE=1"
        );
    }
}
