//! Who gets the operator's messages: over the page's socket, roles that are no model at work in a node,
//! and a model whose process is killed. A message without a receiver is refused or given back, with a
//! reason.

use std::time::Duration;

use a_society_stand_in::{Ending, Server as Provider};
use serde_json::{Value, json};

use super::models::{Model, SPOKEN, call, says, streamed, with_model, with_model_at};
use super::place::{Place, wait_until};
use super::steered::{
    MORE, WORDS, facts, feed, speaks_and_looks, speaks_until_spoken_to, streaming, text, times,
};
use crate::served::client::{PATIENCE, Server, Window};
use crate::support::{is_full, seed};

/// What was answered to a steer over the socket.
fn over_the_socket(server: &Server, flow: &Value, (words, when): (&str, &str)) -> Value {
    let mut window = Window::new(flow, &["owner"]);
    let mut connection = window.connect(&server.place).unwrap();
    let command = json!({ "do": "steer", "role": "owner", "text": words, "when": when });
    let name = format!("say-{}", words.len());
    let order = json!({ "t": "do", "cmd": name, "flow": flow, "command": command });
    connection.say(&order).unwrap();
    while !window.acks.contains_key(&name) {
        let message = connection.hear(PATIENCE).unwrap();
        window.hear(&connection, &message);
    }
    window.acks[&name].clone()
}

fn is_done(place: &Place, flow: &str) -> bool {
    !facts(place, flow, "forward_pass_closed").is_empty()
}

#[test]
fn words_over_the_page_s_socket_are_in_the_next_request_of_the_role() {
    type Speaks = fn(usize) -> Vec<(Value, Vec<Value>)>;
    let ways: [(&str, Speaks); 2] = [
        ("queue", speaks_and_looks),
        ("interrupt", speaks_until_spoken_to),
    ];
    for (when, speaks) in ways {
        let model = Model::start_with(speaks);
        let place = with_model(&model);
        // A project that leaves open how its flows end: this one waits for that when its roles are done.
        std::fs::create_dir(place.workspace.path().join("demo/a-docs")).unwrap();
        let server = Server::start(&place.workspace, &[]);
        let body = json!({ "from": { "file": "demo/flow.yaml" } }).to_string();
        let row = server.place.ask("POST", "/api/flows", &body).unwrap();
        let flow = json!({ "project": row["project"], "flow": row["flow"] });
        let name = streaming(&place, &model);
        let ack = over_the_socket(&server, &flow, (WORDS, when));
        assert_eq!(ack["ok"], json!(true), "{ack}");
        // Said again, as after a broken connection, it counts once.
        let again = over_the_socket(&server, &flow, (WORDS, when));
        assert_eq!(again["ok"], json!(true), "{again}");
        wait_until("it was asked again", || model.requests() == 2);
        wait_until("it ended", || is_done(&place, &name));
        let heard = model.heard();
        let all: Vec<usize> = heard.iter().map(|body| times(body, WORDS)).collect();
        assert_eq!(all, [0, 1], "{when}");
        let cut = !heard[1].contains("Thinking 1499.");
        assert_eq!(cut, when == "interrupt", "{when}");
        // A role that takes no turn does not get it, and the page gets the reason.
        let late = over_the_socket(&server, &flow, (MORE, when));
        assert_eq!(late["ok"], json!(false), "{late}");
        assert!(late.to_string().contains("owner is not at work"), "{late}");
    }
}

/// A program that keeps its input, in one file for each turn, and waits to be let go on.
const PROGRAM: &str = r#"workflow:
  name: A program
  nodes:
    - { id: order, role: owner }
    - { id: build, role: builder }
    - { id: check, role: builder }
    - { id: close, role: owner }
  edges:
    - { from: order, to: build }
    - { from: build, to: check }
    - { from: check, to: close }
roles:
  owner: { executor: scripted }
  builder:
    executor: command
    command:
      run:
        - sh
        - -c
        - |
          cd "$A_SOCIETY_RECORD"
          cat > "told-$A_SOCIETY_NODE.json"
          while [ ! -e "go-$A_SOCIETY_NODE" ]; do sleep 0.02; done
          echo Built.
      on-exit: { 0: forward }
"#;

/// The input of the program for a node, once it runs for it.
fn told(place: &Place, flow: &str, node: &str) -> String {
    let path = place.folder(flow).join(format!("record/told-{node}.json"));
    wait_until("the program runs", || {
        std::fs::read_to_string(&path).is_ok_and(|told| told.trim_end().ends_with('}'))
    });
    std::fs::read_to_string(path).unwrap()
}

fn let_go(place: &Place, flow: &str, node: &str) {
    let path = place.folder(flow).join(format!("record/go-{node}"));
    std::fs::write(path, "").unwrap();
}

#[test]
fn a_program_hears_the_operator_when_its_next_turn_begins_and_gets_back_what_no_turn_can_hear() {
    let place = Place::new(PROGRAM, "default: forward\nscript: []\n");
    let (child, flow) = place.begin();
    assert_eq!(times(&told(&place, &flow, "build"), WORDS), 0);
    let said = place.run(&["steer", &flow, "builder", WORDS]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("its next turn begins"), "{said:?}");
    let_go(&place, &flow, "build");
    assert_eq!(times(&told(&place, &flow, "check"), WORDS), 1);
    // None of its turns is left that could take this.
    let said = place.run(&["steer", &flow, "builder", "--now", MORE]);
    assert_eq!(said.code, 0, "{said:?}");
    let_go(&place, &flow, "check");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stderr);
    let returned = facts(&place, &flow, "reply_returned");
    let [returned] = &returned[..] else {
        panic!("one is given back: {returned:?}");
    };
    let why = "the flow ended before it was carried out";
    assert_eq!(returned["why"], why);
    assert!(feed(&place, &flow, "builder").contains(why));
    let shown = shown.lines().find(|line| line.contains("given back"));
    assert!(shown.is_some_and(|line| line.contains(why)), "{output:?}");
}

/// A person who signs after an owner who takes its time.
const PERSON: &str = r"workflow:
  name: A person
  nodes:
    - { id: plan, role: owner }
    - { id: sign, role: lead }
    - { id: close, role: owner }
  edges:
    - { from: plan, to: sign }
    - { from: sign, to: close }
roles:
  owner: { executor: scripted }
  lead: { executor: human }
";

#[test]
fn a_person_reads_the_operator_with_its_turn_and_is_answered_once_it_waits() {
    let slow = "default: forward\nscript:\n  - { node: plan, say: [ { wait-ms: 3000 }, { forward: Go on. } ] }\n";
    let place = Place::new(PERSON, slow);
    let child = place.start(&["run", "demo/flow.yaml", "--until-waiting"]);
    wait_until("the flow begins", || place.flow().is_some());
    let flow = place.flow().unwrap();
    let said = place.run(&["steer", &flow, "lead", WORDS]);
    assert_eq!(said.code, 0, "{said:?}");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(times(&shown, WORDS), 1, "{shown}");
    // A role that waits for words gets them as an answer, and the refusal says how.
    let refused = place.run(&["steer", &flow, "lead", "--now", MORE]);
    assert_eq!(refused.code, 6, "{refused:?}");
    let name = flow.rsplit('-').next().unwrap();
    let says = format!(
        "error[not-working]: lead is not at work, so it cannot be steered\n  why: sign (lead) waits for your \
         answer\n  try: a-society reply {name} --node sign \"…\"\n"
    );
    assert_eq!(refused.err, says, "{refused:?}");
    assert!(facts(&place, &flow, "reply_returned").is_empty());
}

/// Closes at once, and takes its time when it looks back.
fn looks_back_slowly(body: &Value) -> Vec<(Value, Vec<Value>)> {
    let told = body["messages"].to_string();
    if !told.contains("meta-analysis-complete") {
        return vec![says(&["```handoff\ntype: forward-pass-closed\n```\n"])];
    }
    let path = "record/findings/owner-findings.md";
    if !told.contains("tool_result") {
        let write = json!({ "path": path, "content": "It went well.\n" });
        return vec![text("Looking", 700), call(0, "write_file", write)];
    }
    let ends = format!("```handoff\ntype: meta-analysis-complete\nfindings_path: {path}\n```\n");
    vec![says(&[&ends])]
}

#[test]
fn a_role_that_looks_back_hears_the_operator_with_its_next_request() {
    let provider =
        Provider::by(|seen, _| streamed(looks_back_slowly(&seen.body), Ending::Natural, 100));
    let place = with_model_at(&provider.url(), "anthropic");
    let words = [
        "run",
        "demo/flow.yaml",
        "--improve",
        "graph",
        "--feedback",
        "no",
    ];
    let mut child = place.start(&words);
    wait_until("it looks back", || provider.seen().len() == 2);
    let flow = place.flow().unwrap();
    let said = place.run(&["steer", &flow, "owner", WORDS]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(provider.refused(), [""; 0]);
    let bodies = provider
        .seen()
        .into_iter()
        .map(|seen| times(&seen.text, WORDS));
    assert_eq!(bodies.collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(facts(&place, &flow, "findings_recorded").len(), 1);
}

/// How often the program is killed after a message to it; more in the whole test.
const KILLS: u64 = 8;
const KILLS_FULL: u64 = 120;

/// Looks around twice, and speaks before each look.
fn looks_twice(shown: usize) -> Vec<(Value, Vec<Value>)> {
    let look = |at| call(at, "list_directory", json!({ "path": "." }));
    match shown % SPOKEN {
        0 => vec![text("Thinking", 60), look(0)],
        1 => vec![text("Looking", 60), look(1)],
        _ => Vec::new(),
    }
}

#[test]
fn words_are_heard_once_wherever_the_process_is_killed_after_they_were_taken() {
    let kills = if is_full() { KILLS_FULL } else { KILLS };
    for kill in 0..kills {
        let model = Model::start_with(looks_twice);
        let place = with_model(&model);
        let mut child = place.start(&["run", "demo/flow.yaml", "--until-waiting"]);
        wait_until("it is asked", || model.requests() > 0);
        let flow = place.flow().unwrap();
        let when: &[&str] = if kill % 2 == 0 { &[] } else { &["--now"] };
        let steer = [
            &["steer", &flow, "owner", WORDS, "--client-id", "once"],
            when,
        ]
        .concat();
        // Every other time the process dies while it gets the message, and what it took is unknown.
        if kill % 4 < 2 {
            let said = place.run(&steer);
            assert_eq!(said.code, 0, "kill {kill}: {said:?}");
            std::thread::sleep(Duration::from_millis((kill * 23 + seed()) % 200));
            child.kill().unwrap();
        } else {
            let speaker = place.start(&steer);
            std::thread::sleep(Duration::from_millis((kill * 7 + seed()) % 30));
            child.kill().unwrap();
            drop(speaker.wait_with_output());
        }
        child.wait().unwrap();
        if !is_done(&place, &flow) {
            let said = place.run(&steer);
            assert_eq!(said.code, 0, "kill {kill}: {said:?}");
        }
        let resumed = ["resume", &flow, "--improve", "none", "--feedback", "no"];
        let said = place.run(&resumed);
        assert_eq!(said.code, 0, "kill {kill}: {said:?}");
        let heard = model.heard();
        let all: Vec<usize> = heard.iter().map(|body| times(body, WORDS)).collect();
        let first = all.iter().position(|times| *times > 0);
        let first = first.unwrap_or_else(|| panic!("kill {kill}: nothing was heard: {all:?}"));
        // Once heard, the words are in every later request, and once in each.
        assert!(
            all[first..].iter().all(|times| *times == 1),
            "kill {kill}: {all:?}"
        );
        let said = facts(&place, &flow, "operator_steered").len();
        let told = facts(&place, &flow, "message_added");
        let told = told.iter().filter(|fact| fact["origin"] == "steer").count();
        assert_eq!((said, told), (1, 1), "kill {kill}");
        assert_eq!(place.run(&["verify", &flow]).code, 0, "kill {kill}");
    }
}
