//! What `run` tells while it drives a flow: on a terminal, line by line, and to programs.

use std::time::Duration;

use a_society_stand_in::{Ending, Piece, Reply, Server, Used};
use serde_json::Value;

use super::beforehand::command;
use super::models::{says, with_model_at};
use super::place::Place;
use super::watched::Terminal;

/// Words that are longer than the terminal is wide.
const WORDS: [&str; 6] = [
    "The three failures have one ca",
    "use: `post` rounds each line before it sums. I will change the order and add a test for half cents, because ",
    "nothing proves it today.\n\n- first the order,\n",
    "- then the test.\n\n```rust\nfn round(cents: i64) -> i64 { cents } // ",
    "a line of code that is longer than the terminal is wide, and that stays one line wherever it is copied to, also when there is a lot more of it than usual\n",
    "```\nThat is all.",
];

/// A role that speaks slowly enough to be listened to, and then runs two commands.
fn speaking() -> Server {
    Server::by(|seen, _| {
        let messages = seen.body["messages"].as_array().unwrap();
        let mine = messages.iter().filter(|one| one["role"] == "assistant");
        let said = match mine.count() {
            0 => {
                let mut said = vec![says(&WORDS)];
                said.extend(command(0, "sleep 1; echo one; echo two"));
                said
            }
            1 => command(1, "exit 3"),
            _ => vec![says(&[
                "Done.\n\n```handoff\ntype: forward-pass-closed\n```\n",
            ])],
        };
        let pieces = said.into_iter();
        let pieces = pieces.map(|(block, deltas)| Piece::Block(block, deltas));
        let used = Used {
            fresh: 100,
            ..Used::default()
        };
        let pause = Duration::from_millis(120);
        Reply::Paced(pieces.collect(), Ending::Natural, used, pause)
    })
}

#[test]
fn a_terminal_shows_each_word_once_and_code_unbroken_and_then_what_ran_and_what_it_cost() {
    let model = speaking();
    let place = with_model_at(&model.url(), "anthropic");
    let words = ["run", "demo/flow.yaml", "--allow", "commands"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.shows("run sleep 1; echo one; echo two");
    // The words of the role are on the screen before its turn is over.
    terminal.shows("because nothing");
    terminal.shows("is done · ");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let rows = terminal.scrolled();
    let told: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
    let prose: String = told.join(" ");
    let all: String = WORDS.concat();
    let first: Vec<&str> = all.split("\n\n").collect();
    assert_eq!(prose.matches(first[0]).count(), 1, "{told:#?}");
    let code = all
        .lines()
        .find(|line| line.starts_with("fn round"))
        .unwrap();
    let unbroken: String = rows.concat();
    assert_eq!(unbroken.matches(code).count(), 1, "{told:#?}");
    for (line, times) in [
        ("- first the order,", 1),
        ("- then the test.", 1),
        ("That is all.", 1),
        ("run sleep 1; echo one; echo two: exit 0 (", 1),
        ("run exit 3: exit 3 (", 1),
        ("tokens", 2),
        ("ROLE   MODEL  TURNS", 1),
    ] {
        let found = told.iter().filter(|row| row.contains(line)).count();
        assert!(found >= times, "{line}: {told:#?}");
        if times == 1 {
            assert_eq!(found, 1, "{line}: {told:#?}");
        }
    }
    assert!(!prose.contains("thinks"), "the block is gone: {told:#?}");
}

#[test]
fn programs_get_the_text_the_tools_and_the_tokens_of_a_flow_as_they_come() {
    let model = speaking();
    let place = with_model_at(&model.url(), "anthropic");
    let words = ["run", "demo/flow.yaml", "--allow", "commands", "--json"];
    let said = place.run(&words);
    assert_eq!(said.code, 0, "{said:?}");
    let events: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |event: &str| -> Vec<&Value> {
        let all = events.iter().filter(|one| one["event"] == *event);
        all.collect()
    };
    assert_eq!(events[0]["event"], "flow");
    assert_eq!(events.last().unwrap()["event"], "end");
    let flow = &events[0]["flow"];
    assert!(events.iter().all(|one| one["flow"] == *flow), "{events:#?}");
    // The pieces of a text, put together at their offsets, are the text.
    let turn = &of("text")[0]["turn"];
    let mut text = String::new();
    for piece in of("text").iter().filter(|piece| piece["turn"] == *turn) {
        if piece["offset"] == 0 {
            text.clear();
        }
        assert_eq!(piece["offset"], text.len(), "{piece}");
        text.push_str(piece["delta"].as_str().unwrap());
        if text == WORDS.concat() {
            break;
        }
    }
    assert_eq!(text, WORDS.concat());
    assert_eq!(of("said")[0]["text"], WORDS.concat());
    let ran: Vec<(&Value, &Value)> = of("tool_end")
        .iter()
        .map(|end| (&end["does"], &end["exit"]))
        .collect();
    assert_eq!(
        ran,
        [
            (&"run sleep 1; echo one; echo two".into(), &0.into()),
            (&"run exit 3".into(), &3.into())
        ]
    );
    for event in ["tool", "tool_end"] {
        let named: Vec<&Value> = of(event).iter().map(|one| &one["command"]).collect();
        assert_eq!(named, ["sleep 1; echo one; echo two", "exit 3"], "{event}");
    }
    assert!(of("tool_end")[0]["ms"].as_u64().unwrap() >= 900);
    let spent: u64 = of("usage")
        .iter()
        .map(|usage| usage["input"].as_u64().unwrap())
        .sum();
    let end = events.last().unwrap();
    assert_eq!(end["usage"]["all"]["input"], spent);
    assert_eq!(end["usage"]["roles"]["owner"]["input"], spent);
    let states: Vec<&Value> = of("node").iter().map(|node| &node["state"]).collect();
    assert_eq!(states, ["working", "done"]);
    let status: Value =
        serde_json::from_str(&place.run(&["status", flow.as_str().unwrap(), "--json"]).out)
            .unwrap();
    assert_eq!(status["cost"], end["usage"]);
}

#[test]
fn what_tools_print_is_shown_when_its_key_was_pressed() {
    let model = speaking();
    let place = with_model_at(&model.url(), "anthropic");
    let words = ["run", "demo/flow.yaml", "--allow", "commands"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.shows("The three failures");
    terminal.press("t");
    terminal.shows("up to 3 lines of what tools print are shown");
    terminal.press("a");
    terminal.shows("all of what every role says is printed");
    terminal.shows("is done · ");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let rows = terminal.scrolled();
    let found = |line: &str| rows.iter().any(|row| row.trim_end() == line);
    assert!(found("  │ one") && found("  │ two"), "{rows:#?}");
}

/// Two programs, the second of which fails.
const PROGRAMS: &str = r"workflow:
  name: Programs
  nodes: [{ id: begin, role: owner }, { id: pause, role: clock }, { id: fails, role: broken }, { id: close, role: owner }]
  edges: [{ from: begin, to: pause }, { from: pause, to: fails }, { from: fails, to: close }]
roles:
  clock: { executor: command, command: { run: [sh, -c, 'echo ticks'] } }
  broken: { executor: command, command: { run: [sh, -c, 'echo a `date +%Y` of the month; exit 3'] } }
  owner: { executor: scripted, instructions: You begin and close. }
";

#[test]
fn how_a_program_ended_is_one_line_and_code_in_a_question_has_no_lines_of_backticks() {
    let place = Place::new(PROGRAMS, "default: forward\n");
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.shows("◆ fails (broken) needs your answer");
    terminal.shows("your answer>");
    let rows = terminal.scrolled();
    let found = |words: &str| rows.iter().filter(|row| row.contains(words)).count();
    let ticks = "pause (clock)  sh -c echo ticks: exit 0 (1 line)";
    assert_eq!(found(ticks), 1, "{rows:#?}");
    assert_eq!(found("pause:"), 0, "{rows:#?}");
    assert_eq!(found("The command ended with exit code 0."), 0, "{rows:#?}");
    // The question is read in its card alone.
    assert_eq!(found("The command ended with exit code 3."), 1, "{rows:#?}");
    assert_eq!(
        found("│ The command ended with exit code 3."),
        1,
        "{rows:#?}"
    );
    assert_eq!(found("│ a 20"), 1, "{rows:#?}");
    assert_eq!(found("```"), 0, "{rows:#?}");
    terminal.press("\u{1b}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(8));
    let flow = place.flow().unwrap();
    let piped = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(piped.code, 8, "{piped:?}");
    // Programs get it as before.
    let place = Place::new(PROGRAMS, "default: forward\n");
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none", "--json"]);
    assert!(
        said.out.contains("The command ended with exit code 0."),
        "{said:?}"
    );
}

/// A program whose own words look like our report, one whose code sends the work back once, and one that a signal ends.
pub(super) const EXITS: &str = r#"workflow:
  name: Exits
  nodes: [{ id: opens, role: owner }, { id: says, role: herald }, { id: tries, role: tester }, { id: dies, role: mortal }, { id: close, role: owner }]
  edges: [{ from: opens, to: says }, { from: says, to: tries }, { from: tries, to: dies }, { from: dies, to: close }]
roles:
  herald:
    executor: command
    command:
      run:
        - sh
        - -c
        - |
          echo 'The herald was here.' > "$A_SOCIETY_RECORD/here-$$.md"
          echo 'The command ended with exit code 0. So says the herald.'
          printf '\n```handoff\ntarget_node_id: tries\nartifact_path: record/here-%s.md\n```\n' $$
  tester:
    executor: command
    command:
      run: [sh, -c, 'test -e "$A_SOCIETY_RECORD/tried" || { touch "$A_SOCIETY_RECORD/tried"; exit 4; }']
      on-exit: { 0: forward, 4: backward }
  mortal: { executor: command, command: { run: [sh, -c, 'kill -s KILL $$'] } }
  owner: { executor: scripted, instructions: You close. }
"#;

/// The calls that ended, each with its code and the signal.
fn exits(events: &str) -> Vec<(Value, Value)> {
    let events = events.lines();
    let events = events.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ends =
        events.filter(|event| event["event"] == "tool_end" || event["fact"] == "call_finished");
    ends.map(|end| (end["exit"].clone(), end["signal"].clone()))
        .collect()
}

#[test]
fn how_a_program_ended_is_data_and_what_it_says_itself_is_shown_whatever_it_looks_like() {
    let place = Place::new(EXITS, "default: forward\n");
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let said = place.run(&words);
    assert_eq!(said.code, 8, "{said:?}");
    let lines = |words: &str| said.err.lines().filter(|line| line.contains(words)).count();
    assert_eq!(lines("So says the herald."), 2, "{said:?}");
    assert_eq!(lines("tries (tester)  sh -c test"), 2, "{said:?}");
    assert_eq!(lines(": exit 4 (0 lines)"), 1, "{said:?}");
    assert_eq!(
        lines("sh -c kill -s KILL $$: signal 9 (0 lines)"),
        1,
        "{said:?}"
    );
    // The line of its call says it, or the question: once when it is asked, and once where the run ends.
    assert_eq!(lines("ended with exit code 4"), 0, "{said:?}");
    assert_eq!(lines("The command was ended by signal 9."), 2, "{said:?}");
    let kept = exits(&place.journal(&place.flow().unwrap()));
    let place = Place::new(EXITS, "default: forward\n");
    let told = place.run(&[&words[..], &["--json"]].concat());
    let (code, none) = (Value::from, Value::Null);
    let expected = [
        // The scripted role wrote a file, and ran no program.
        (none.clone(), none.clone()),
        (code(0), none.clone()),
        (code(4), none.clone()),
        (code(0), none.clone()),
        (code(0), none.clone()),
        (none, code(9)),
    ];
    assert_eq!(kept, expected);
    assert_eq!(exits(&told.out), expected);
}
