//! What answers a question at the terminal of `run`: a key that was pressed, or a line that was typed, when
//! all of it was shown.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::models::{Model, call, with_model};
use super::place::{FLOW, Place, wait_until};
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
pub(super) const SETTLED: Duration = Duration::from_millis(700);

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
    terminal.shows("of 61 lines shown; v shows the rest, then y and f work");
    sleep(SETTLED);
    terminal.press("y");
    terminal.writes("not all of it was shown; v shows the rest", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("lines 1-38 of 61");
    terminal.press("G");
    terminal.shows("echo done > done.txt");
    terminal.press("q");
    terminal.shows("y once");
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
    terminal.writes(
        "y once · f for this flow · n deny · r deny with a reason",
        1,
    );
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
    terminal.writes("1. once", 1);
    sleep(SETTLED);
    terminal.press("perhaps\n");
    terminal.writes("not understood", 1);
    terminal.press("yes\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(place.workspace.path().join("demo/made").exists());
}

#[test]
fn labelled_lines_and_numbers_are_all_that_a_screen_reader_gets() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "run_command", json!({ "command": "touch made" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = ["run", "demo/flow.yaml", "--improve", "none", "--plain"];
    let more = [("NO_COLOR", "1")];
    let mut terminal = Terminal::start_with(&place, &words, &more);
    terminal.writes("permission needed: do (owner) wants to run a command", 1);
    terminal.writes("text: touch made", 1);
    terminal.writes("1. once\r\n2. for this flow\r\n3. deny\r\n", 1);
    sleep(SETTLED);
    terminal.press("7\n");
    terminal.writes("not understood", 1);
    sleep(SETTLED);
    terminal.press("1\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(place.workspace.path().join("demo/made").exists());
    terminal.writes("you: do (owner) allowed by you: touch made", 1);
    terminal.writes("tool: do (owner) run touch made", 1);
    let written = terminal.written();
    assert!(!written.contains('\u{1b}'), "{written:?}");
    assert!(!written.replace("\r\n", "\n").contains('\r'), "{written:?}");
}

/// Two nodes that ask at once.
const TWO_ASK: &str = r"workflow:
  name: Two ask
  nodes: [{ id: begin, role: owner }, { id: left, role: ann }, { id: right, role: bob }, { id: close, role: owner }]
  edges: [{ from: begin, to: left }, { from: begin, to: right }, { from: left, to: close }, { from: right, to: close }]
roles:
  owner: { executor: scripted, instructions: You end. }
  ann: { executor: scripted, instructions: You ask. }
  bob: { executor: scripted, instructions: You ask. }
";

const BOTH: &str = r"default: forward
script:
  - { node: left, turn: 1, say: [ 'Which colour?', { signal: prompt-human } ] }
  - { node: left, turn: 2, say: [ { forward: Left. } ] }
  - { node: right, turn: 1, say: [ 'Which number?', { signal: prompt-human } ] }
  - { node: right, turn: 2, say: [ { forward: Right. } ] }
  - { node: close, turn: 1, say: [ { signal: await-handoff } ] }
";

#[test]
fn a_half_typed_answer_outlives_an_answer_from_elsewhere_and_is_offered_again() {
    let place = Place::new(TWO_ASK, BOTH);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.shows("tab next");
    terminal.shows("◆ left (ann) needs your answer");
    terminal.press("the bank's, add a rounding lin");
    terminal.shows("your answer> the bank's, add a rounding lin");
    // Tab shows the other question, and what was typed waits for the first.
    terminal.press("\t");
    terminal.shows("◆ right (bob) needs your answer");
    terminal.shows("2 of 2");
    terminal.press("\t");
    terminal.writes("◆ left (ann) needs your answer", 2);
    terminal.shows("your answer> the bank's, add a rounding lin");
    let flow = place.flow().unwrap();
    assert_eq!(
        place.run(&["reply", &flow, "--node", "left", "Red."]).code,
        0
    );
    terminal.shows("this was answered elsewhere; what you typed is kept for the next question");
    terminal.writes("◆ right (bob) needs your answer", 2);
    terminal.shows("your answer> the bank's, add a rounding lin");
    sleep(SETTLED);
    terminal.press("e\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let journal = place.journal(&flow);
    let replies = journal
        .lines()
        .filter(|line| line.contains("\"operator_replied\""));
    let replies: Vec<&str> = replies.collect();
    assert_eq!(replies.len(), 2, "{replies:?}");
    assert!(replies[0].contains("Red."), "{replies:?}");
    assert!(
        replies[1].contains("the bank's, add a rounding line\""),
        "{replies:?}"
    );
    // Nothing of it was taken for keys.
    assert!(!terminal.written().contains("does nothing here"));
    let told = terminal.scrolled();
    assert_eq!(
        told.iter()
            .filter(|row| row.contains("waits for your answer"))
            .count(),
        0,
        "{told:#?}"
    );
}

#[test]
fn the_first_line_the_last_line_and_the_end_of_a_terminal_say_what_is_what() {
    let place = Place::new(TWO_ASK, BOTH);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.shows("tab next");
    let flow = place.flow().unwrap();
    let short = flow.rsplit('-').next().unwrap().to_owned();
    let rows = terminal.scrolled();
    let head = format!("Two ask  demo/{short}  in ");
    assert!(
        rows[0].starts_with(&head) || rows[1].starts_with(&head),
        "{rows:#?}"
    );
    let head = rows.iter().find(|row| row.starts_with(&head)).unwrap();
    assert!(
        head.trim_end()
            .ends_with(" · 4 nodes · asks: edits, commands, web"),
        "{head}"
    );
    // Everything waits for the operator, and the last line of the block says so.
    terminal.shows("waiting for you · 1 of 4 done");
    terminal.press("\u{1b}");
    terminal.writes(
        "◼ stopped at left (ann): it waits for your answer, and 1 more",
        1,
    );
    terminal.writes("then go on: a-society resume", 1);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(8));
}

/// A plan that is to be approved, and a role beside it that works for long.
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
    // The question contains the artifact, which is approved when all of it was shown.
    terminal.shows("│ Step 30.");
    terminal.shows("y approve · n send back");
    // The question takes the place of the nodes, and the line below it says that another role works.
    terminal.shows("working · ");
    assert!(!terminal.screen().iter().any(|row| row.contains("● work")));
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
    // The other role's text went on above it.
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
    terminal.writes("to owner (empty goes back)> ", 1);
    terminal.press("Count in dozens.\n");
    terminal.writes("the role reads it with the next request", 1);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let heard = model.heard();
    assert!(!heard[0].contains("Count in dozens."), "{heard:?}");
    assert!(heard[1].contains("Count in dozens."), "{heard:?}");
}

/// A person who signs what was written, or sends it back.
pub(super) const SIGNED: &str = r"workflow:
  name: Signed
  nodes: [{ id: write, role: writer }, { id: sign, role: lead }, { id: close, role: writer }]
  edges: [{ from: write, to: sign }, { from: sign, to: close }]
roles:
  writer: { executor: scripted, instructions: You write. }
  lead: { executor: human }
";

pub(super) const WRITES: &str = r"default: forward
script:
  - { node: write, say: [{ forward: 'The plan has no date.' }] }
";

#[test]
fn a_person_writes_a_file_in_their_editor_and_a_key_hands_it_over_or_sends_the_work_back() {
    let place = Place::new(SIGNED, WRITES);
    // It takes what it writes from the terminal, which nothing else may read meanwhile.
    let editor = "echo the editor is here; IFS= read -r said; printf '%s\\n' \"$said\" >> \"$1\"";
    place.write("editor.sh", editor);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start_with(&place, &words, &[("EDITOR", "sh editor.sh")]);
    terminal.writes("sign (lead): your turn", 1);
    terminal.writes("The plan has no date.", 1);
    terminal.writes("b send back to write", 1);
    sleep(SETTLED);
    terminal.press("b");
    terminal.writes("what has to change?", 1);
    terminal.press("Name a date.\n");
    let flow = place.flow().unwrap();
    // It comes back when the writer has read why.
    let asks = || {
        let told = place.folder(&flow).join("roles/writer/transcript.json");
        let told = std::fs::read_to_string(told).unwrap_or_default();
        let status = place.status(&flow);
        told.contains("Name a date.") && status["waits"][0]["node"] == "sign"
    };
    wait_until("it is their turn again", asks);
    let record = place.folder(&flow).join("record");
    let reason = std::fs::read_to_string(record.join("lead-reason.md")).unwrap();
    assert_eq!(reason, "Name a date.\n");
    let told = std::fs::read_to_string(place.folder(&flow).join("roles/writer/transcript.json"));
    assert!(
        told.unwrap().contains("Name a date."),
        "the writer reads it"
    );
    sleep(SETTLED);
    terminal.press("w");
    terminal.writes("nothing for record/lead.md", 1);
    terminal.press("\n");
    terminal.writes("the editor is here", 1);
    terminal.press("Signed, with y and n in it.\n");
    terminal.writes("record/lead.md is written", 1);
    sleep(SETTLED);
    terminal.press("h");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert_eq!(
        std::fs::read_to_string(record.join("lead.md")).unwrap(),
        "Signed, with y and n in it.\n"
    );
    let made = place.run(&["status", &flow, "--json"]).json()["delivered"].clone();
    assert_eq!(made["path"], "record/lead.md");
}

#[test]
fn a_file_that_could_not_take_its_place_is_kept_and_an_editor_that_fails_writes_nothing() {
    let place = Place::new(SIGNED, WRITES);
    // Another process writes the file meanwhile.
    place.write(
        "editor.sh",
        "if [ -e broken ]; then rm broken; exit 3; fi\necho mine > \"$1\"\n\
         for folder in .a-society/state/demo/*/record; do echo theirs > \"$folder/lead.md\"; done\n",
    );
    place.write("broken", "");
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let more = [("EDITOR", "sh editor.sh"), ("A_SOCIETY_PLAIN", "1")];
    let mut terminal = Terminal::start_with(&place, &words, &more);
    terminal.writes("1. write or edit a file", 1);
    sleep(SETTLED);
    terminal.press("w\n");
    terminal.writes("which file?", 1);
    terminal.press("\n");
    terminal.writes("nothing was written", 1);
    sleep(SETTLED);
    terminal.press("w\n");
    terminal.writes("which file?", 2);
    terminal.press("\n");
    terminal.writes("what you wrote is in ", 1);
    sleep(SETTLED);
    terminal.press("l\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(8));
    let seen = terminal.scrolled().join(" ");
    let kept = seen.split("what you wrote is in ").nth(1).unwrap();
    let kept = kept.split_whitespace().next().unwrap();
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "mine\n");
    std::fs::remove_file(kept).unwrap();
}

/// What is written is approved, and comes back once.
pub(super) const APPROVED: &str = r"workflow:
  name: Approved
  nodes: [{ id: write, role: writer, human-colab: true }, { id: check, role: checker }, { id: close, role: writer }]
  edges: [{ from: write, to: check }, { from: check, to: close }]
roles:
  writer: { executor: scripted, instructions: You write. }
  checker: { executor: scripted, instructions: You check. }
";

pub(super) const TWICE: &str = r#"default: forward
script:
  - { node: write, turn: 1, say: [{ write: { path: plan.md, text: "1. Ask.\n2. Post.\n" } }, { handoff: { to: check, artifact: plan.md } }] }
  - { node: check, turn: 1, say: [{ write: { path: why.md, text: "No date." } }, { handoff: { to: write, artifact: why.md } }] }
  - { node: write, say: [{ write: { path: plan-2.md, text: "1. Ask.\n2. Post on Monday.\n" } }, { handoff: { to: check, artifact: plan-2.md } }] }
"#;

#[test]
fn a_second_version_is_approved_by_what_changed_and_all_of_it_is_a_key_away() {
    let place = Place::new(APPROVED, TWICE);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("y approve · n send back", 1);
    terminal.writes("2. Post.", 1);
    sleep(SETTLED);
    terminal.press("y");
    terminal.writes("record/plan-2.md to check   2nd version, +1 −1", 1);
    terminal.writes("-2. Post.", 1);
    terminal.writes("+2. Post on Monday.", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("2 │ 2. Post on Monday.");
    terminal.press("q");
    terminal.shows("+2. Post on Monday.");
    sleep(SETTLED);
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let flow = place.flow().unwrap();
    let plan = place.folder(&flow).join("record/plan-2.md");
    assert!(std::fs::read_to_string(plan).unwrap().contains("Monday"));
}

#[test]
fn programs_are_asked_for_approvals_and_words_and_answer_with_what_the_ask_names() {
    let place = Place::new(APPROVED, TWICE);
    let asks = |said: &str| -> Vec<serde_json::Value> {
        let events = said.lines().map(|line| serde_json::from_str(line).unwrap());
        events
            .filter(|one: &serde_json::Value| one["event"] == "ask" || one["event"] == "answer")
            .collect()
    };
    let run = ["run", "demo/flow.yaml", "--improve", "none", "--json"];
    let said = place.run(&run);
    assert_eq!(said.code, 8, "{said:?}");
    let [ask] = &asks(&said.out)[..] else {
        panic!("{said:?}")
    };
    assert_eq!(ask["kind"], "approval");
    let files = json!([{ "to": "check", "path": "record/plan.md", "bytes": 17 }]);
    assert_eq!(ask["files"], files);
    let flow = place.flow().unwrap();
    let decline = ["decline", &flow, ask["ask"].as_str().unwrap()];
    let declined = place.run(&[&decline[..], &["--reason", "Name the day."]].concat());
    assert_eq!(declined.code, 0, "{declined:?}");
    let said = place.run(&["resume", &flow, "--until-waiting", "--json"]);
    let told = asks(&said.out);
    let kinds: Vec<&str> = told.iter().filter_map(|ask| ask["kind"].as_str()).collect();
    assert_eq!(kinds, ["approval"], "{said:?}");
    // A role that asks for words says so, too.
    let place = Place::new(FLOW, SLOW_TO_ASK);
    let said = place.run(&run);
    let told = asks(&said.out);
    let [ask] = &told[..] else { panic!("{said:?}") };
    assert_eq!(
        (&ask["kind"], &ask["node"]),
        (&json!("text"), &json!("write"))
    );
    assert!(ask["question"].as_str().unwrap().contains("Which colour?"));
}

#[test]
fn a_screen_that_is_read_aloud_gets_numbered_questions_and_nothing_is_drawn_over() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "run_command", json!({ "command": "touch made" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    let mut terminal = Terminal::start(&place, &["watch", "--plain"]);
    terminal.writes("flow: demo/", 1);
    terminal.writes("needs you: 1 question for you", 1);
    terminal.writes("1. demo/", 1);
    terminal.writes("a number and Enter show a question", 1);
    terminal.press("7\n");
    terminal.writes("there is no question of this number", 1);
    terminal.press("1\n");
    terminal.writes("permission needed: do (owner) wants to run a command", 1);
    terminal.writes("text: touch made", 1);
    terminal.writes("1. once\r\n2. for this flow\r\n3. deny\r\n", 1);
    sleep(SETTLED);
    terminal.press("1\n");
    terminal.writes("you: demo/", 1);
    terminal.writes("needs you: nothing waits for you", 1);
    terminal.press("q\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let written = terminal.written();
    assert!(!written.contains('\u{1b}'), "{written:?}");
    assert!(!written.replace("\r\n", "\n").contains('\r'), "{written:?}");
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(log.contains("\"answer\":\"allow_once\""), "{log}");
}

#[test]
fn ctrl_j_makes_a_new_line_and_enter_sends() {
    let place = Place::new(FLOW, SLOW_TO_ASK);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("your answer>", 1);
    terminal.writes(
        "enter sends · ctrl-j new line · ctrl-g editor · esc later",
        1,
    );
    sleep(SETTLED);
    terminal.press("Blue,");
    terminal.send("\n");
    terminal.press("and a little green.\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let journal = place.journal(&place.flow().unwrap());
    assert!(journal.contains(r"Blue,\nand a little green."), "{journal}");
}
