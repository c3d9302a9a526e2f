//! The keys of the screen of `watch`, pressed at a real terminal: flows are opened, filtered, resumed and left, and a
//! letter answers the question that was chosen and no other.

use std::thread::sleep;

use rustix::termios::tcgetattr;
use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::{ASKING, FLOW, Place, RUN, SLOW, signal, wait_until};
use super::prompted::SETTLED;
use super::watched::Terminal;

const DOWN: &str = "\u{1b}[B";
const USUAL: (u16, u16) = (24, 80);

fn watched(place: &Place) -> Terminal {
    Terminal::start_sized(place, &["watch"], (&[], USUAL))
}

fn ends(mut terminal: Terminal) {
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

/// The flows of the workspace, the oldest first.
fn flows(place: &Place) -> Vec<String> {
    let said = place.run(&["ls", "--all", "--json"]).json();
    let flows = said["flows"].as_array().unwrap().iter();
    flows
        .map(|row| row["flow"].as_str().unwrap().to_owned())
        .collect()
}

/// How the requests for consent of a flow were answered.
fn answers(place: &Place, flow: &str) -> Vec<String> {
    let log = place.run(&["log", flow, "--json"]).out;
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let decided = records.filter(|record| record["fact"] == "consent_resolved");
    decided.map(|record| record["answer"].to_string()).collect()
}

#[test]
fn a_flow_is_opened_and_left_and_the_lists_are_filtered_and_the_keys_explained() {
    let place = Place::new(FLOW, ASKING);
    let named = |title| [&RUN[..], &["--title", title]].concat();
    for title in ["Ledger close 台帳 📒", "Site copy"] {
        assert_eq!(place.run(&named(title)).code, 8);
    }
    let mut terminal = watched(&place);
    terminal.shows("a-society  2 need you");
    terminal.shows("answer: Which colour?");
    terminal.press("x");
    terminal.shows("x does nothing here: ? lists the keys");
    terminal.press("?");
    terminal.shows("run any command; FLOW is the chosen flow");
    terminal.press("?");
    terminal.shows("NEED YOU");
    terminal.press("/site");
    terminal.shows("FLOWS /site");
    terminal.shows(" 1-1/1");
    let rows = terminal.screen().join("\n");
    assert!(!rows.contains("Ledger"), "{rows}");
    // Ctrl-C leaves the line and keeps what is in it.
    terminal.press("\u{3}");
    terminal.shows("enter open");
    terminal.press("\u{1b}");
    terminal.shows("Ledger close 台帳 📒");
    terminal.press(DOWN);
    terminal.press("\r");
    terminal.shows("FILES OF THE RECORD");
    terminal.shows("COST");
    terminal.shows("1 ✓ ask    owner   done");
    terminal.press("\u{1b}");
    terminal.shows("FLOWS --");
    sleep(SETTLED);
    assert!(
        terminal.child.try_wait().unwrap().is_none(),
        "esc ends nothing"
    );
    ends(terminal);
}

#[test]
fn any_command_runs_where_the_screen_was_and_a_key_goes_back() {
    let place = Place::new(FLOW, ASKING);
    let flow = place.run_until_it_waits();
    let mut terminal = watched(&place);
    terminal.shows("1 needs you");
    terminal.press(DOWN);
    terminal.press(":reply FLOW 'A dark blue.'\r");
    terminal.shows("it ended with code 0; a key goes back to watch");
    terminal.press("x");
    terminal.shows("FLOWS --");
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(log.contains("A dark blue."), "{log}");
    terminal.press(":nothing\r");
    terminal.shows("it ended with code 2; a key goes back to watch");
    terminal.press("x");
    terminal.shows("FLOWS --");
    ends(terminal);
}

#[test]
fn a_letter_answers_the_chosen_question_alone_and_not_before_it_could_be_read() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "run_command",
            json!({ "command": "echo one >> log.txt" }),
        )],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    for title in ["First", "Second"] {
        let said = place.run(&[&RUN[..], &["--title", title]].concat());
        assert_eq!(said.code, 9, "{said:?}");
    }
    let [first, second] = <[String; 2]>::try_from(flows(&place)).unwrap();
    let mut terminal = watched(&place);
    terminal.shows("run a command: echo one");
    terminal.press("y");
    terminal.shows("it answers the chosen question");
    terminal.press(DOWN);
    terminal.press(DOWN);
    terminal.press("y");
    terminal.shows("too soon");
    for flow in [&first, &second] {
        assert_eq!(answers(&place, flow), Vec::<String>::new());
    }
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows("allowed once");
    assert_eq!(answers(&place, &first), Vec::<String>::new());
    assert_eq!(answers(&place, &second).len(), 1);
    // Its process has ended, and another takes the flow to its end.
    terminal.shows("1 stopped");
    sleep(SETTLED);
    terminal.press("R");
    let log = place.workspace.path().join("demo/log.txt");
    wait_until("it goes on", || log.exists());
    wait_until("it is over", || {
        place.status(&second)["status"] == "completed"
    });
    terminal.shows("is over");
    assert_eq!(answers(&place, &first), Vec::<String>::new());
    ends(terminal);
}

#[test]
fn a_flow_whose_process_was_killed_is_resumed_and_goes_on_when_the_screen_ends() {
    let place = Place::new(FLOW, SLOW);
    let (mut driver, flow) = place.begin();
    signal(&driver, "KILL");
    driver.wait().unwrap();
    let mut terminal = watched(&place);
    terminal.shows("1 stopped");
    terminal.press(DOWN);
    sleep(SETTLED);
    terminal.press("R");
    terminal.shows("goes on in a process of its own");
    ends(terminal);
    wait_until("it is over", || {
        place.status(&flow)["status"] == "completed"
    });
}

#[test]
fn ctrl_c_ends_with_130_and_the_terminal_is_as_it_was_without_a_mouse_ever_taken() {
    let place = Place::new(FLOW, ASKING);
    place.run_until_it_waits();
    let modes = |terminal: &Terminal| {
        let modes = tcgetattr(&terminal.keys).unwrap();
        (modes.input_modes, modes.output_modes, modes.local_modes)
    };
    let mut terminal = watched(&place);
    let before = modes(&terminal);
    terminal.shows("1 needs you");
    assert_ne!(modes(&terminal), before, "keys are read one by one");
    terminal.press("\u{3}");
    let (code, written) = terminal.all_written();
    assert_eq!(code, Some(130));
    assert_eq!(modes(&terminal), before);
    for restored in ["\u{1b}[?1049l", "\u{1b}[?2004l", "\u{1b}[?25h"] {
        assert!(written.contains(restored), "{restored:?}");
    }
    for mouse in [
        "\u{1b}[?1000h",
        "\u{1b}[?1002h",
        "\u{1b}[?1003h",
        "\u{1b}[?1006h",
    ] {
        assert!(!written.contains(mouse), "{mouse:?}");
    }
}
