//! What answers a question at the terminal of `run`: a key that was pressed, or a line that was typed, when
//! all of it was shown.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::models::{Model, call, with_model};
use super::place::{FLOW, Place};
use super::watched::Terminal;

/// Says much before it asks.
const SLOW_TO_ASK: &str = r"default: forward
script:
  - node: write
    turn: 1
    say:
      - stream: { text: 'I think about the colours of all the doors in this street.', pieces: 12, every-ms: 60 }
      - call: { tool: read_file, input: { path: a.md }, output: nothing, takes-ms: 20 }
      - Which colour?
      - signal: prompt-human
  - node: write
    turn: 2
    say:
      - write: { path: notes.md, text: 'The notes.' }
      - handoff: { to: close, artifact: notes.md }
";

/// Longer than a question has to be shown before a line counts.
const SETTLED: Duration = Duration::from_millis(700);

#[test]
fn a_line_that_was_typed_before_a_question_was_shown_does_not_answer_it() {
    let place = Place::new(FLOW, SLOW_TO_ASK);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("write", 1);
    terminal.press("Red, and at once\n");
    terminal.writes("several keys at once do nothing", 1);
    terminal.writes("your answer>", 1);
    sleep(SETTLED);
    terminal.press("Blue\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let journal = place.journal(&place.flow().unwrap());
    let replies = journal
        .lines()
        .filter(|line| line.contains("\"operator_replied\""));
    let replies: Vec<&str> = replies.collect();
    assert_eq!(replies.len(), 1, "{replies:?}");
    assert!(replies[0].contains("Blue"), "{replies:?}");
}

#[test]
fn a_call_that_was_not_shown_whole_is_allowed_only_when_it_was() {
    let model = Model::start_with(|results| match results {
        0 => {
            let lines = "true\n".repeat(60);
            let command = format!("{lines}echo done > done.txt");
            vec![call(0, "run_command", json!({ "command": command }))]
        }
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    let done = || place.workspace.path().join("demo/done.txt").exists();
    terminal.writes("more lines]", 1);
    terminal.writes("v the whole call", 1);
    sleep(SETTLED);
    terminal.press("y");
    terminal.writes("no such answer", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.writes("echo done > done.txt", 1);
    terminal.writes("y once", 1);
    // A key that was on its way is no answer to what has just been shown, nor are several at once.
    terminal.press("y");
    terminal.writes("before you could read", 1);
    sleep(SETTLED);
    terminal.press("yes\n");
    terminal.writes("several keys at once", 1);
    assert!(!done());
    sleep(SETTLED);
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(done());
}

#[test]
fn a_call_that_is_denied_with_a_reason_is_not_run_and_its_role_reads_why() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "run_command", json!({ "command": "touch made" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("y once · f for this flow · n deny · r deny and say why", 1);
    sleep(SETTLED);
    terminal.press("r");
    terminal.writes("why?", 1);
    terminal.press("Ask the editor first.\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(!place.workspace.path().join("demo/made").exists());
    let heard = model.heard();
    assert!(heard[1].contains("Ask the editor first."), "{heard:?}");
}

#[test]
fn whole_lines_answer_where_that_is_asked_for() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "run_command", json!({ "command": "touch made" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start_with(&place, &words, &[("A_SOCIETY_PLAIN", "1")]);
    terminal.writes("allow? [yes/flow", 1);
    sleep(SETTLED);
    terminal.press("perhaps\n");
    terminal.writes("not understood", 1);
    terminal.press("yes\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(place.workspace.path().join("demo/made").exists());
}

/// A plan that is to be approved, and somebody beside it who works for long.
const BESIDE: &str = r"workflow:
  name: Two at once
  nodes:
    - { id: ask, role: owner }
    - { id: plan, role: planner, human-colab: true }
    - { id: work, role: worker }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: plan }
    - { from: ask, to: work }
    - { from: plan, to: close }
    - { from: work, to: close }
roles:
  owner: { executor: scripted, instructions: You ask. }
  planner: { executor: scripted, instructions: You plan. }
  worker: { executor: scripted, instructions: You work. }
";

const LONG_AT_WORK: &str = r"default: forward
script:
  - node: work
    turn: 1
    say:
      - stream: { text: 'I count every single stone in this very long street, one by one.', pieces: 60, every-ms: 100 }
      - forward: All of them.
  - node: plan
    say:
      - forward: PLAN
  # The plan comes first.
  - node: close
    turn: 1
    say: [ { signal: await-handoff } ]
";

#[test]
fn what_one_role_asks_is_answered_with_a_key_while_another_works_on() {
    let steps: Vec<String> = (1..=30).map(|step| format!("Step {step}.\\n")).collect();
    let plan = format!("\"{}\"", steps.concat());
    let place = Place::new(BESIDE, &LONG_AT_WORK.replace("PLAN", &plan));
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    // What would be handed over stands in the question, and is approved when all of it was shown.
    terminal.writes("│ Step 24.", 1);
    terminal.writes("v all of it, which can be approved then", 1);
    terminal.shows("●  work");
    sleep(SETTLED);
    terminal.press("y");
    terminal.writes("no such answer", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.writes("│ Step 30.", 1);
    terminal.writes("y approve · n send back", 1);
    sleep(SETTLED);
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let journal = place.journal(&place.flow().unwrap());
    let at = |words: &str| {
        journal
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {journal}"))
    };
    let worked = at("\"handoff_applied\",\"node\":\"work\"");
    assert!(
        at("\"handoff_decided\"") < worked,
        "it was answered meanwhile"
    );
    // What the other role said meanwhile was held back, and is there whole.
    let told = terminal.scrolled().join("\n");
    assert!(
        told.contains("every single stone in this very long street"),
        "{told}"
    );
}

#[test]
fn words_said_to_a_role_at_work_leave_with_its_next_request() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "run_command", json!({ "command": "sleep 3" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = ["run", "demo/flow.yaml", "--allow", "commands"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.shows("run sleep 3");
    terminal.press("?");
    terminal.writes("s say something to the role", 1);
    sleep(SETTLED);
    terminal.press("s");
    terminal.writes("to owner (nothing to go back)> ", 1);
    terminal.press("Count in dozens.\n");
    terminal.writes("it is heard with the next request", 1);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let heard = model.heard();
    assert!(!heard[0].contains("Count in dozens."), "{heard:?}");
    assert!(heard[1].contains("Count in dozens."), "{heard:?}");
}
