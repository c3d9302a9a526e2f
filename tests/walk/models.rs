//! Flows that a model walks, over HTTP and with real tools: to their end, and over deaths.
//!
//! The model is the stand-in for providers, over the Messages wire. What it says next depends only on how many results of tools it is shown, so that a request that is sent again after a death
//! gets the same answer.

use std::path::PathBuf;
use std::time::Duration;

use a_society_stand_in::{Ending, Piece, Reply, Server, Used};
use serde_json::{Value, json};

use super::place::{Place, RUN, wait_until};
use super::requested::holds_what_left;
use crate::support::{is_full, seed};
use a_society_facts::Fact;
use a_society_facts::fact::flow::Ends;

pub(super) const FLOW: &str = r"workflow:
  name: By a model
  nodes:
    - { id: do, role: owner, work: [ Keep a log ] }
  edges: []
roles:
  owner: { instructions: You keep a log. }
";

/// How often the program is killed; more in the whole test.
const KILLS: u64 = 12;
const KILLS_FULL: u64 = 400;

/// What each word of the operator to a role at work counts for.
pub(super) const SPOKEN: usize = 1_000;

/// A model that keeps a log with a command, writes a file, and closes.
pub(crate) struct Model {
    server: Server,
}

/// What the model says when it is shown so many results, and [`SPOKEN`] more for each word of the
/// operator: blocks with their deltas.
pub(crate) type Script = fn(usize) -> Vec<(Value, Vec<Value>)>;

impl Model {
    pub(super) fn start() -> Self {
        Self::start_with(keeps_a_log)
    }

    pub(crate) fn start_with(script: Script) -> Self {
        Self::start_refusing(script, |_| None)
    }

    /// One that refuses some requests, with these words.
    pub(super) fn start_refusing(script: Script, refuses: Refuses) -> Self {
        Self::start_asking_for_time(script, refuses, 0)
    }

    /// One that wants to be left alone for so many seconds whenever it refuses a request.
    pub(super) fn start_asking_for_time(script: Script, refuses: Refuses, seconds: u64) -> Self {
        let server = Server::by(move |seen, number| match refuses(number) {
            Some((status, why)) => refusal(status, seconds, &why),
            None => answer(&seen.body, script),
        });
        Self { server }
    }

    /// Where it is asked.
    pub(crate) fn address(&self) -> String {
        self.server.url()
    }

    /// The bodies of all requests so far. None broke the rules of its wire.
    pub(super) fn heard(&self) -> Vec<String> {
        assert_eq!(self.server.refused(), [""; 0]);
        let seen = self.server.seen().into_iter();
        seen.map(|request| request.text).collect()
    }

    pub(super) fn requests(&self) -> usize {
        self.server.seen().len()
    }
}

/// Whether the model refuses a request, by its number from 1: the status, and the body.
pub(super) type Refuses = fn(usize) -> Option<(u16, String)>;

/// A refusal that wants to be left alone for so many seconds.
pub(super) fn refusal(status: u16, seconds: u64, why: &str) -> Reply {
    let wait = match seconds {
        0 => String::new(),
        _ => format!("retry-after: {seconds}\r\n"),
    };
    let headers = format!("{wait}content-type: application/json\r\n");
    Reply::status(status, &headers, why)
}

fn answer(request: &Value, script: Script) -> Reply {
    // A request for a summary has no tools, and gets the last words.
    let has_tools = request["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    let text = request.to_string();
    let said = if text.contains("You choose what one role") {
        vec![says(&[r#"{"model": "n", "skills": ["tables"]}"#])]
    } else if has_tools {
        script(results(request) + SPOKEN * text.matches("<operator>").count())
    } else {
        Vec::new()
    };
    // A chat has nothing to hand over.
    let hands_over = text.contains("\"handoff\"") || !has_tools;
    let said = if said.is_empty() && !hands_over {
        vec![says(&["All is ", "done."])]
    } else if said.is_empty() {
        vec![says(&[
            "All is ",
            "done.\n\n",
            "```handoff\ntype: ",
            "forward-pass-closed\n```\n",
        ])]
    } else {
        said
    };
    streamed(said, Ending::Natural, 100)
}

/// An answer whose request was counted as so many tokens.
pub(super) fn streamed(said: Vec<(Value, Vec<Value>)>, ending: Ending, tokens: usize) -> Reply {
    let pieces = said.into_iter();
    let pieces = pieces.map(|(block, deltas)| Piece::Block(block, deltas));
    let used = Used {
        fresh: u64::try_from(tokens).unwrap(),
        ..Used::default()
    };
    // Slow enough to be killed in between.
    Reply::Paced(pieces.collect(), ending, used, Duration::from_millis(2))
}

/// Words, in these pieces.
pub(super) fn says(words: &[&str]) -> (Value, Vec<Value>) {
    let deltas = words
        .iter()
        .map(|text| json!({ "type": "text_delta", "text": text }));
    (json!({ "type": "text", "text": "" }), deltas.collect())
}

/// How many results of tools a request shows.
fn results(request: &Value) -> usize {
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    blocks
        .flatten()
        .filter(|block| block["type"] == "tool_result")
        .count()
}

/// A call of a tool, as the wire says it.
pub(crate) fn call(results: usize, name: &str, input: Value) -> (Value, Vec<Value>) {
    let block =
        json!({ "type": "tool_use", "id": format!("toolu_{results}"), "name": name, "input": {} });
    let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
    (block, vec![delta])
}

fn keeps_a_log(results: usize) -> Vec<(Value, Vec<Value>)> {
    match results {
        0 => vec![call(
            0,
            "run_command",
            json!({ "command": "echo one >> log.txt" }),
        )],
        1 => vec![call(
            1,
            "write_file",
            json!({ "path": "notes.md", "content": "The notes.\n" }),
        )],
        2 => vec![call(
            2,
            "run_command",
            json!({ "command": "echo two >> log.txt; sleep 0.02" }),
        )],
        _ => Vec::new(),
    }
}

pub(super) fn with_model(model: &Model) -> Place {
    with_model_on(model, "anthropic")
}

/// The same, over another wire.
pub(super) fn with_model_on(model: &Model, wire: &str) -> Place {
    with_model_at(&model.address(), wire)
}

/// The same, of a provider that is asked there.
pub(super) fn with_model_at(address: &str, wire: &str) -> Place {
    let place = Place::new(FLOW, "");
    // Without a script beside it, the flow's roles are taken by who they say.
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    let config = format!(
        "providers:\n  p: {{ wire: {wire}, base-url: '{address}' }}\n\
         models:\n  m: {{ provider: p, id: m, window: 100000, price: {{ input: 3, output: 15 }} }}\n\
         model: m\n"
    );
    place.write("config.yaml", &config);
    place
}

/// Brings a flow to its first question and lets it do everything from there on.
fn allowed_everything(place: &Place) -> String {
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(said.err.contains("echo one >> log.txt"), "{}", said.err);
    let flow = place.flow().unwrap();
    let said = place.run(&["mode", &flow, "full-access"]);
    assert_eq!(said.code, 0, "{said:?}");
    flow
}

/// How each call of a flow ended: tool, id, end.
pub(super) fn calls(place: &Place, flow: &str) -> Vec<(String, String)> {
    let log = place.run(&["log", flow, "--json"]).out;
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let finished = records.filter(|record| record["fact"] == "call_finished");
    finished
        .map(|record| {
            let text = |member: &str| record[member].as_str().unwrap().to_owned();
            (text("tool"), text("end"))
        })
        .collect()
}

fn log_lines(place: &Place) -> Vec<String> {
    let log = std::fs::read_to_string(place.workspace.path().join("demo/log.txt"));
    log.unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_model_walks_a_flow_over_http_with_real_tools_and_consent() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = allowed_everything(&place);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(log_lines(&place), ["one", "two"]);
    let notes = std::fs::read_to_string(place.workspace.path().join("demo/notes.md"));
    assert_eq!(notes.unwrap(), "The notes.\n");
    let ends: Vec<(String, String)> = calls(&place, &flow);
    assert!(ends.iter().all(|(_, end)| end == "done"), "{ends:?}");
    assert_eq!((ends.len(), model.requests()), (3, 4));
    let shown = place.run(&["show", &flow]).out;
    assert!(shown.contains("spent"), "{shown}");
}

/// A graph that the flow may walk from its first node on.
const REVISED: &str = "workflow:\n  name: By a model\n  summary: Now it is said what for.\n  nodes:\n    - { id: do, role: owner, work: [ Keep a log ] }\n  edges: []\n";

fn revises(results: usize) -> Vec<(Value, Vec<Value>)> {
    let writes = |content: &str| {
        let input = json!({ "path": "record/workflow.yaml", "content": content });
        vec![call(results, "write_file", input)]
    };
    match results {
        // No graph at all; one that the flow has left already; one that fits.
        0 => writes("workflow: { name: Broken, nodes: [], edges: [] }\n"),
        1 => writes(&REVISED.replace("id: do", "id: other")),
        2 => writes(REVISED),
        _ => Vec::new(),
    }
}

/// The graph that counts according to the journal, and the one in the record folder.
fn graphs(place: &Place, flow: &str) -> (Option<String>, String) {
    let log = place.run(&["log", flow, "--json"]).out;
    let mut records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let revised = records.rfind(|record| record["fact"] == "graph_revised");
    let source = revised.map(|record| record["graph"]["source"].as_str().unwrap().to_owned());
    let file = place.folder(flow).join("record/workflow.yaml");
    (source, std::fs::read_to_string(file).unwrap())
}

fn begun_revising() -> (Model, Place, String) {
    let model = Model::start_with(revises);
    let place = with_model(&model);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(said.err.contains("workflow.yaml"), "{}", said.err);
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    (model, place, flow)
}

#[test]
fn a_model_writes_the_graph_of_its_flow_if_the_flow_may_walk_it() {
    let (model, place, flow) = begun_revising();
    assert_eq!(graphs(&place, &flow), (None, FLOW.to_owned()));
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let ends: Vec<String> = calls(&place, &flow)
        .into_iter()
        .map(|(_, end)| end)
        .collect();
    assert_eq!(ends, ["failed", "failed", "done"]);
    assert_eq!(
        graphs(&place, &flow),
        (Some(REVISED.to_owned()), REVISED.to_owned())
    );
    let told = model.heard().pop().unwrap();
    assert!(told.contains("says again what it said before"), "{told}");
}

#[test]
fn a_kill_while_a_model_writes_the_graph_leaves_file_and_journal_of_one_mind() {
    for kill in 0..(if is_full() { KILLS_FULL } else { KILLS / 2 }) {
        let (_model, place, flow) = begun_revising();
        let mut child = place.start(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        std::thread::sleep(Duration::from_millis(20 + (kill * 17 + seed()) % 120));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the flow can be opened", || {
            let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
            assert!(matches!(said.code, 0 | 5), "kill {kill}: {said:?}");
            said.code == 0
        });
        let (journal, file) = graphs(&place, &flow);
        assert_eq!(
            (journal.as_deref(), file.as_str()),
            (Some(REVISED), REVISED),
            "kill {kill}"
        );
    }
}

/// What `session archives` says of a flow's role.
fn archives(place: &Place, flow: &str) -> Vec<Value> {
    let said = place.run(&["session", "archives", flow, "owner", "--json"]);
    let value: Value = serde_json::from_str(&said.out).unwrap();
    value["archives"].as_array().unwrap().clone()
}

#[test]
fn a_session_is_made_shorter_and_restored_with_and_without_a_driver() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = allowed_everything(&place);
    // A flow of before, which asks how its role is to look back, so that it rests when its work is done.
    place.rewrite_journal(&flow, |fact| {
        if let Fact::FlowCreated(created) = fact {
            created.ends = Ends::default();
        }
    });
    let busy = place.run(&["session", "compact", &flow, "owner"]);
    assert!(
        busy.code == 6 && busy.err.contains("a turn of it is open"),
        "{busy:?}"
    );
    let mut child = place.start(&["resume", &flow]);
    wait_until("the forward work is done", || {
        place.run(&["status", &flow]).out.contains("improve")
    });
    // The process that drives the flow makes the summary.
    let said = place.run(&["session", "compact", &flow, "owner"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("a model's summary replaces"),
        "{}",
        said.out
    );
    let [archive] = &archives(&place, &flow)[..] else {
        panic!("one archive")
    };
    assert_eq!(
        (&archive["trigger"], &archive["node"]),
        (&json!("manual"), &json!("do"))
    );
    assert!(archive["bytes"].as_u64().unwrap() > 500 && archive["at"].is_string());
    let messages = archive["messages"].as_u64().unwrap();
    let name = archive["archive"].as_str().unwrap().to_owned();
    let ls = place.run(&["session", "ls", &flow, "--json"]);
    let ls: Value = serde_json::from_str(&ls.out).unwrap();
    assert_eq!(
        (
            &ls["sessions"][0]["messages"],
            &ls["sessions"][0]["archives"]
        ),
        (&json!(1), &json!(1))
    );
    let said = place.run(&["session", "restore", &flow, "owner", &name, "--json"]);
    let said: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(said["messages"].as_u64(), Some(messages));
    child.kill().unwrap();
    child.wait().unwrap();
    // It has no driver now.
    let said = place.run(&["session", "compact", &flow, "owner", "--json"]);
    let said: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        said["archive"]["messages"].as_u64(),
        Some(messages),
        "{said}"
    );
    let gone = place.run(&["session", "restore", &flow, "owner", &name]);
    assert!(
        gone.code == 6 && gone.err.contains("there is no archive"),
        "{gone:?}"
    );
    assert_eq!(place.run(&["verify", &flow]).code, 0);
}

/// A server that speaks over its pipes: it adds what it is given to a list in a file.
pub(super) const SERVER: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"list","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"add","description":"Adds a word.","inputSchema":{"type":"object","properties":{"word":{"type":"string"}}}}]}}' ;;
    *'"tools/call"'*) echo added >> "$LIST"; echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"Added."}]}}' ;;
  esac
done
"#;

/// Configures the server, which keeps its list in the folder that is given back.
pub(super) fn with_server(place: &Place) -> PathBuf {
    let path = place.workspace.path().to_owned();
    place.write("server.sh", SERVER);
    let config = std::fs::read_to_string(path.join("config.yaml")).unwrap();
    let server = format!(
        "mcp-servers:\n  list: {{ command: /bin/sh, args: ['{0}/server.sh'], env: {{ LIST: '{0}/list.txt' }} }}\n",
        path.display()
    );
    place.write("config.yaml", &format!("{config}{server}"));
    path
}

#[test]
fn a_model_calls_a_tool_of_a_server_after_consent_to_its_definition() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "mcp__list__add", json!({ "word": "one" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let path = with_server(&place);
    let flow = FLOW.replace(
        "You keep a log.",
        "You keep a log., mcp-servers: [list, gone]",
    );
    place.write("demo/flow.yaml", &flow);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(said.err.contains("mcp__list__add"), "{}", said.err);
    assert!(!path.join("list.txt").exists());
    let flow = place.flow().unwrap();
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(
        log.contains("mcp_server_unavailable"),
        "the other server is said to be absent"
    );
    let said = place.run(&["allow", &flow, "--for-the-flow"]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        std::fs::read_to_string(path.join("list.txt")).unwrap(),
        "added\n"
    );
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(
        log.contains(r#""mcp_tool":{"tool":"mcp__list__add""#),
        "{log}"
    );
    // The server is not asked for what its tools were.
    std::fs::remove_file(path.join("server.sh")).unwrap();
    holds_what_left(&place, &flow, &model.heard());
}

#[test]
fn a_role_is_told_of_its_skills_and_reads_one_when_it_needs_it() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "list_directory", json!({ "path": "." }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let folder = place.workspace.path().join("downloads/tables");
    std::fs::create_dir_all(&folder).unwrap();
    let skill = "---\nname: tables\ndescription: How tables are set.\n---\nWith lines.\n";
    std::fs::write(folder.join("SKILL.md"), skill).unwrap();
    let imported = place.run(&["skills", "import", "downloads/tables"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    let heard = model.heard().remove(0);
    assert!(heard.contains("How tables are set.") && heard.contains("skills/tables/SKILL.md"));
    assert!(!heard.contains("With lines."), "a body is read on demand");
    let journal = place.journal(&flow);
    let folder = place.workspace.path().display().to_string();
    let named: Vec<&str> = journal.lines().filter(|it| it.contains(&folder)).collect();
    assert!(
        matches!(named[..], [line] if line.contains("# Environment")),
        "the skill stands outside the project: {named:?}"
    );
}

#[test]
fn a_model_chooses_the_model_and_the_skills_of_a_role() {
    let model = Model::start_with(|_| Vec::new());
    let place = with_model(&model);
    for (name, about) in [
        ("tables", "How tables are set."),
        ("maps", "How maps are drawn."),
    ] {
        let folder = place.workspace.path().join("skills").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let skill = format!("---\nname: {name}\ndescription: {about}\n---\nWith lines.\n");
        std::fs::write(folder.join("SKILL.md"), skill).unwrap();
    }
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let config = config.replace(
        "models:\n",
        "models:\n  n: { provider: p, id: n, window: 50000 }\n",
    );
    // The configuration leaves the servers to a model as well, and there are none to choose from.
    place.write(
        "config.yaml",
        &format!("{config}choose: [model, mcp-servers]\n"),
    );
    let flow = FLOW.replace("You keep a log.", "You keep a log., skills: [auto]");
    place.write("demo/flow.yaml", &flow);
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    let log = place.run(&["log", &flow, "--json"]).out;
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records: Vec<Value> = records.collect();
    let of = |kind: &'static str| records.iter().filter(move |record| record["fact"] == kind);
    let chosen: Vec<&Value> = of("role_configured").collect();
    let [chosen] = &chosen[..] else {
        panic!("one choice: {chosen:?}")
    };
    let wanted = json!({ "model": "n", "skills": "tables", "mcp-servers": "none" });
    assert_eq!(
        (&chosen["by"], &chosen["settings"]),
        (&json!("selection"), &wanted)
    );
    let models: Vec<&str> = of("model_requested")
        .map(|r| r["model"].as_str().unwrap())
        .collect();
    assert_eq!(
        models,
        ["m", "n"],
        "the usual one chooses, and the chosen one works"
    );
    holds_what_left(&place, &flow, &model.heard());
    let heard = model.heard().pop().unwrap();
    assert!(
        heard.contains("How tables are set.") && !heard.contains("How maps"),
        "{heard}"
    );
}

#[test]
fn without_a_model_the_flow_says_what_to_do_and_goes_on_when_there_is_one() {
    let model = Model::start();
    let place = with_model(&model);
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    place.write("config.yaml", "");
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 10, "{said:?}");
    assert!(said.err.contains("a-society models add"), "{}", said.err);
    place.write("config.yaml", &config);
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["configure", &flow, "owner", "model=m"]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert!(said.err.contains("echo one >> log.txt"), "{said:?}");
}

#[test]
fn an_address_given_for_a_provider_that_is_there_is_refused_and_not_ignored() {
    let place = with_model(&Model::start());
    let path = place.workspace.path().join("config.yaml");
    std::fs::write(&path, "").unwrap();
    let add = |name: &str, more: &[&str]| {
        let words = ["models", "add", name, "--id", "x", "--window", "8192"];
        place.run(&[&words[..], &["--wire", "openai-chat"], more].concat())
    };
    let here = ["--base-url", "http://127.0.0.1:1/v1"];
    assert_eq!(add("first", &here).code, 0);
    let before = std::fs::read_to_string(&path).unwrap();
    for (more, says) in [
        (&["--base-url", "http://127.0.0.1:2/v1"][..], "127.0.0.1:1"),
        (&["--key-env", "OTHER_KEY"], "no key"),
    ] {
        let said = add("second", more);
        assert_eq!(said.code, 6, "{said:?}");
        assert!(said.err.contains(says), "{said:?}");
        assert!(said.err.contains("--provider"), "{said:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    }
    assert_eq!(add("second", &here).code, 0, "it is the same provider");
    assert_eq!(add("third", &[]).code, 0, "nothing else is said of it");
    let said = place.run(&[
        "models",
        "add",
        "fourth",
        "--id",
        "x",
        "--window",
        "8192",
        "--provider",
        "openai-chat",
        "--base-url",
        "http://127.0.0.1:2/v1",
    ]);
    assert_eq!(
        said.code, 6,
        "without --wire it is not ignored either: {said:?}"
    );
}

#[test]
fn a_model_that_is_not_configured_cannot_be_chosen_and_those_that_can_are_named() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = allowed_everything(&place);
    let before = place.journal(&flow);
    let said = place.run(&["configure", &flow, "owner", "model=ghost"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(
        said.err.contains("no model ghost is configured") && said.err.contains("there are: m"),
        "{said:?}"
    );
    assert_eq!(place.journal(&flow), before);
    for known in ["model=m", "model=auto"] {
        let said = place.run(&["configure", &flow, "owner", known]);
        assert_eq!(said.code, 0, "{said:?}");
    }
}

#[test]
fn what_is_set_in_a_flow_that_is_over_says_that_it_counts_once_a_node_is_reopened_and_does() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = allowed_everything(&place);
    let ends = ["resume", &flow, "--until-waiting", "--improve", "none"];
    assert_eq!(place.run(&ends).code, 0);
    assert_eq!(place.status(&flow)["status"], "completed");
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let second = config.replace(
        "  m:",
        "  second: { provider: p, id: second-id, window: 9000 }\n  m:",
    );
    place.write("config.yaml", &second);
    let settings: [&[&str]; 4] = [
        &["configure", &flow, "owner", "model=second"],
        &["mode", &flow, "ask"],
        &["budget", &flow, "turns", "9"],
        &["rules", "add", &flow, "--allow", "touch *"],
    ];
    for words in settings {
        let said = place.run(words);
        assert_eq!(said.code, 0, "{said:?}");
        for part in ["is completed", "a-society reopen ", "a-society fork "] {
            assert!(said.err.contains(part), "{words:?}: {said:?}");
        }
    }
    assert_eq!(place.run(&["reopen", &flow, "do"]).code, 0);
    let said = place.run(&["mode", &flow, "full"]);
    assert!(!said.err.contains("a-society fork"), "{said:?}");
    place.run(&ends);
    let heard: Value = serde_json::from_str(model.heard().last().unwrap()).unwrap();
    assert_eq!(heard["model"], "second-id");
}

/// Whenever the program dies, no command runs twice, and one whose outcome is not known says so.
#[test]
fn a_kill_at_any_moment_of_a_models_turn_repeats_no_command_and_hides_no_doubt() {
    let kills = if is_full() { KILLS_FULL } else { KILLS };
    let model = Model::start();
    for kill in 0..kills {
        let place = with_model(&model);
        let flow = allowed_everything(&place);
        let mut child = place.start(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        // Spread over the time that an undisturbed run takes.
        std::thread::sleep(Duration::from_millis(5 + (kill * 37 + seed()) % 260));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the flow can be opened", || {
            let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
            assert!(matches!(said.code, 0 | 5), "kill {kill}: {said:?}");
            said.code == 0
        });
        let lines = log_lines(&place);
        let ends = calls(&place, &flow);
        for (word, place_of_call) in [("one", 0), ("two", 2)] {
            let times = lines.iter().filter(|line| *line == word).count();
            let (_, end) = &ends[place_of_call];
            match end.as_str() {
                "done" => assert_eq!(times, 1, "kill {kill}: {word} in {lines:?}, {ends:?}"),
                "unknown" => assert!(times <= 1, "kill {kill}: {word} in {lines:?}, {ends:?}"),
                _ => panic!("kill {kill}: {ends:?}"),
            }
        }
        let notes = std::fs::read_to_string(place.workspace.path().join("demo/notes.md"));
        assert_eq!(notes.unwrap(), "The notes.\n", "kill {kill}: {ends:?}");
    }
}

#[test]
fn the_configuration_that_the_documents_show_can_be_used_as_it_stands() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    let (yaml, _) = rest.split_once("```").unwrap();
    let place = Place::new(FLOW, "");
    place.write("config.yaml", yaml);
    let said = place.run(&["models", "ls", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let models = said.json()["models"].clone();
    assert_eq!(
        (models[0]["name"].as_str(), models[1]["name"].as_str()),
        (Some("small"), Some("sonnet"))
    );
    assert_eq!(models[1]["default"], true);
    let key = models[1]["key"].as_str().unwrap();
    assert!(
        key.contains("no key in the variable ANTHROPIC_API_KEY"),
        "{key}"
    );
}
