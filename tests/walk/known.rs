//! What a role knows over the end of a process, of a turn and of a flow: files that changed since,
//! commands that ended, outputs that were too long, servers that are gone.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use a_society_stand_in::{Ending, Piece, Reply, Server, Used};
use serde_json::{Value, json};

use super::models::{FLOW, Model, call, with_model, with_server};
use super::place::{Place, RUN};

type Said = Vec<(Value, Vec<Value>)>;

/// The results of tools as the last request shows them.
fn results(model: &Model) -> Vec<String> {
    let heard = model.heard().pop().unwrap();
    let request: Value = serde_json::from_str(&heard).unwrap();
    let messages = request["messages"].as_array().unwrap().iter();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let results = blocks
        .flatten()
        .filter(|block| block["type"] == "tool_result");
    results
        .map(|block| block["content"].as_str().unwrap().to_owned())
        .collect()
}

/// Another process goes on, with everything allowed.
fn gone_on(place: &Place, flow: &str) {
    assert_eq!(place.run(&["mode", flow, "full-access"]).code, 0);
    let said = place.run(&["resume", flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
}

fn reads_asks_and_edits(results: usize) -> Said {
    let edit = json!({ "path": "plan.md", "old_string": "first", "new_string": "1st" });
    let (tool, input) = match results {
        0 => ("read_file", json!({ "path": "plan.md" })),
        1 => ("run_command", json!({ "command": "true" })),
        2 | 3 => ("edit_file", edit),
        _ => return Vec::new(),
    };
    vec![call(results, tool, input)]
}

#[test]
fn another_process_says_which_lines_of_a_file_changed_since_the_role_read_it() {
    let model = Model::start_with(reads_asks_and_edits);
    let place = with_model(&model);
    place.write("demo/plan.md", "first\nsecond\nthird\n");
    let flow = place.run_until_it_waits();
    place.write("demo/plan.md", "first\n2nd\nthird\n");
    gone_on(&place, &flow);
    let results = results(&model);
    assert!(
        results[2].contains("plan.md changed since you read it. Nothing was done.")
            && results[2].ends_with("2\t-second\n2\t+2nd"),
        "{}",
        results[2]
    );
    assert!(results[3].starts_with("Edited plan.md"), "{}", results[3]);
    let plan = std::fs::read_to_string(place.workspace.path().join("demo/plan.md"));
    assert_eq!(plan.unwrap(), "1st\n2nd\nthird\n");
}

/// Two nodes of one role.
const TWO: &str = r"workflow:
  name: By a model
  nodes:
    - { id: do, role: owner, work: [ Keep a log ] }
    - { id: close, role: owner, work: [ Close it ] }
  edges:
    - { from: do, to: close }
roles:
  owner: { instructions: You keep a log. }
";

fn handoff(results: usize, path: &str) -> (Value, Vec<Value>) {
    let targets = json!([{ "target_node_id": "close", "artifact_path": path }]);
    call(results, "handoff", json!({ "targets": targets }))
}

fn leaves_a_command(results: usize) -> Said {
    match results {
        0 => {
            let command = "echo up; exec sleep 600";
            let given = json!({ "command": command, "background": true });
            vec![call(0, "run_command", given)]
        }
        1 => {
            let given = json!({ "path": "record/a.md", "content": "A.\n" });
            vec![call(1, "write_file", given)]
        }
        2 => vec![handoff(2, "record/a.md")],
        _ => Vec::new(),
    }
}

#[test]
fn the_next_packet_says_which_commands_ended_with_the_turn_before() {
    let model = Model::start_with(leaves_a_command);
    let place = with_model(&model);
    place.write("demo/flow.yaml", TWO);
    let flow = place.run_until_it_waits();
    gone_on(&place, &flow);
    let heard = model.heard().pop().unwrap();
    assert!(
        heard.contains("Ended with your last turn: c1 (echo up; exec sleep 600)."),
        "{heard}"
    );
    assert!(heard.contains("You are at node `close` for the first time."));
}

/// Starts a command beside its turn, and asks to run another one.
fn waits_beside_a_command(results: usize) -> Said {
    let run = |input: Value| vec![call(results, "run_command", input)];
    match results {
        0 => run(json!({ "command": "sleep 600", "background": true })),
        1 | 2 => run(json!({ "command": format!("echo {results}") })),
        _ => Vec::new(),
    }
}

#[test]
fn a_turn_that_waited_reads_which_commands_ended_with_the_process_meanwhile() {
    let model = Model::start_with(waits_beside_a_command);
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    let go_on = || place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    assert_eq!(go_on().code, 9, "the second command is asked about");
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    assert_eq!(go_on().code, 9, "and so is the third");
    let told = "1\n[ended with the process that ran them: c1 (sleep 600)]\n";
    assert!(results(&model)[1].ends_with(told), "{:?}", results(&model));
    gone_on(&place, &flow);
    let results = results(&model);
    assert!(results[2].ends_with("2\n"), "it is said once: {results:?}");
}

#[test]
fn a_key_that_changed_between_two_turns_of_a_process_is_sent_with_the_second() {
    let place = Place::new(TWO, "");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    place.write("demo/a.md", "A.\n");
    let file = place.workspace.path().join("key");
    std::fs::write(&file, "the-first-key").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let key = file.clone();
    let server = Server::by(move |_, number| {
        let says = match number {
            1 => {
                std::fs::write(&key, "the-second-key").unwrap();
                "```handoff\ntarget_node_id: close\nartifact_path: a.md\n```\n"
            }
            _ => "```handoff\ntype: forward-pass-closed\n```\n",
        };
        Reply::Paced(
            vec![Piece::text(says)],
            Ending::Natural,
            Used::default(),
            Duration::ZERO,
        )
    });
    let config = format!(
        "providers:\n  p: {{ wire: anthropic, base-url: '{}', key: {{ file: '{}' }} }}\n\
         models:\n  m: {{ provider: p, id: m, window: 100000 }}\nmodel: m\n",
        server.url(),
        file.display()
    );
    place.write("config.yaml", &config);
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let sent: Vec<String> = server.seen().into_iter().map(|it| it.headers).collect();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[0].contains("x-api-key: the-first-key"), "{}", sent[0]);
    assert!(sent[1].contains("x-api-key: the-second-key"), "{}", sent[1]);
}

fn hands_off_an_output(results: usize) -> Said {
    match results {
        0 => vec![call(0, "grep", json!({ "pattern": "wide" }))],
        1 => vec![handoff(1, "record/.outputs/1.1.txt")],
        2 => {
            let given = json!({ "path": "record/a.md", "content": "A.\n" });
            vec![call(2, "write_file", given)]
        }
        3 => vec![handoff(3, "record/a.md")],
        _ => Vec::new(),
    }
}

fn wide() -> String {
    format!("wide {}\n", "x".repeat(380)).repeat(200)
}

#[test]
fn what_was_too_long_for_a_message_is_not_handed_off() {
    let model = Model::start_with(hands_off_an_output);
    let place = with_model(&model);
    place.write("demo/flow.yaml", TWO);
    place.write("demo/a.txt", &wide());
    let said = place.run(&[
        "run",
        "demo/flow.yaml",
        "--until-waiting",
        "--improve",
        "none",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    let heard = model.heard();
    assert!(
        heard[1].contains("all of it: record/.outputs/"),
        "{}",
        heard[1]
    );
    assert!(
        heard[2].contains(
            "`record/.outputs/` keeps what was too long for a message and is not handed off"
        ),
        "{}",
        heard[2]
    );
}

fn reads_again_what_was_kept(results: usize) -> Said {
    let (tool, input) = match results {
        0 => ("grep", json!({ "pattern": "wide" })),
        1 => ("run_command", json!({ "command": "true" })),
        2 => (
            "grep",
            json!({ "pattern": "^a.txt:150:", "path": "record/.outputs" }),
        ),
        _ => return Vec::new(),
    };
    vec![call(results, tool, input)]
}

#[test]
fn a_fork_reads_what_its_parent_kept_of_a_long_output() {
    let model = Model::start_with(reads_again_what_was_kept);
    let place = with_model(&model);
    place.write("demo/a.txt", &wide());
    let parent = place.run_until_it_waits();
    let said = place.run(&["fork", &parent, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let fork = said.json()["flow"].as_str().unwrap().to_owned();
    std::fs::remove_dir_all(place.folder(&parent).join("record")).unwrap();
    gone_on(&place, &fork);
    let results = results(&model);
    assert!(
        results[2].contains(".txt:150:a.txt:150:wide xxx"),
        "{}",
        results[2]
    );
}

#[test]
fn a_call_of_a_server_that_is_gone_comes_back_with_the_reason() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "mcp__list__add", json!({ "word": "one" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let path = with_server(&place);
    let named = FLOW.replace("You keep a log.", "You keep a log., mcp-servers: [list]");
    place.write("demo/flow.yaml", &named);
    let flow = place.run_until_it_waits();
    // The next process starts what is no server any more.
    place.write("server.sh", "exit 3\n");
    gone_on(&place, &flow);
    let results = results(&model);
    assert!(
        results[0].contains("The server list is not there now, and with it mcp__list__add."),
        "{}",
        results[0]
    );
    assert!(!path.join("list.txt").exists());
    let last: Value = serde_json::from_str(&model.heard().pop().unwrap()).unwrap();
    let mut tools = last["tools"].as_array().unwrap().iter();
    assert!(!tools.any(|tool| tool["name"] == "mcp__list__add"));
}

#[test]
fn a_role_that_looks_back_is_given_the_guide_also_if_it_is_a_program() {
    let place = Place::new(FLOW, "");
    assert_eq!(place.run(&["init", "notes"]).code, 0);
    place.write(
        "notes/a-docs/improvement/meta-analysis.md",
        "Name the one thing to keep.\n",
    );
    let program = "executor: command\ncommand:\n  run: [sh, -c, 'echo made by $A_SOCIETY_NODE.']\n";
    place.write("notes/a-docs/roles/writer/role.yaml", program);
    let said = place.run(&["run", "notes", "--improve", "parallel", "--feedback", "no"]);
    assert_eq!(said.code, 0, "{said:?}");
    let flows = place.workspace.state().join("notes");
    let flow = std::fs::read_dir(flows).unwrap().next().unwrap().unwrap();
    for role in ["owner", "writer"] {
        let transcript = flow.path().join("roles").join(role).join("transcript.json");
        let transcript = std::fs::read_to_string(transcript).unwrap();
        assert!(
            transcript.contains("<guide>\\nName the one thing to keep.\\n</guide>"),
            "{role}: {transcript}"
        );
    }
}

#[test]
fn a_role_that_waits_for_a_model_is_tried_again_once_one_is_configured() {
    let model = Model::start_with(|_| Vec::new());
    let place = with_model(&model);
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    place.write("config.yaml", "{}\n");
    let flow = place.run_until_it_waits();
    assert_eq!(place.run(&["retry", &flow]).code, 0);
    // Nothing changed, and it asks again.
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert!(
        said.code == 10 && said.err.contains("no model is configured"),
        "{said:?}"
    );
    assert!(said.err.contains("a-society retry"), "{said:?}");
    place.write("config.yaml", &config);
    assert_eq!(place.run(&["retry", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!((said.code, model.requests()), (0, 1), "{said:?}");
}
