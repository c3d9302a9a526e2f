//! What does not fit on the screen, on a screen of its own: only what was on it to its end can be allowed, its keys
//! answer nothing, and the terminal is as it was before, however it ends.

use std::thread::sleep;

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::json;

use super::models::{Model, call, with_model};
use super::place::{Place, wait_until};
use super::prompted::{APPROVED, SETTLED};
use super::watched::Terminal;

/// The operator is to approve a plan of so many lines, whose end turns text around and moves the cursor.
fn asking(lines: usize) -> Place {
    let steps = "Step.\\n".repeat(lines);
    let script = format!(
        "default: forward\nscript:\n  - {{ node: write, turn: 1, say: [{{ write: {{ path: plan.md, \
         text: \"{steps}Then \\u202etxt\\e[2J.\\nThe end.\\n\" }} }}, {{ handoff: {{ to: check, \
         artifact: plan.md }} }}] }}\n"
    );
    Place::new(APPROVED, &script)
}

const RUN: [&str; 4] = ["run", "demo/flow.yaml", "--improve", "none"];

/// Rows and columns.
const SMALL: (u16, u16) = (24, 80);

const NOT_SHOWN: &str = "not all of it was shown; v shows the rest, then y works";

fn is_approved(place: &Place) -> bool {
    let journal = place.journal(&place.flow().unwrap());
    journal.contains("\"handoff_decided\"")
}

/// Whether the terminal takes lines and shows what is typed, as a shell leaves it.
pub(super) fn takes_lines(terminal: &Terminal) -> bool {
    let modes = tcgetattr(&terminal.keys).unwrap().local_modes;
    modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
}

/// Waits until everything that was switched on for a screen is switched off again.
pub(super) fn restores(terminal: &Terminal) {
    wait_until("the terminal is as it was", || {
        let written = terminal.written();
        let last = |on: &str, off: &str| written.rfind(on) <= written.rfind(off);
        last("\u{1b}[?1049h", "\u{1b}[?1049l")
            && last("\u{1b}[?25l", "\u{1b}[?25h")
            && last("\u{1b}[?2004h", "\u{1b}[?2004l")
            && takes_lines(terminal)
    });
}

#[test]
fn a_handoff_is_approved_only_when_its_end_was_on_the_screen_and_the_pagers_keys_answer_nothing() {
    let place = asking(60);
    let mut terminal = Terminal::start_sized(&place, &RUN, (&[], SMALL));
    terminal.shows("of 62 lines shown; v shows the rest, then y works");
    assert!(!terminal.screen().iter().any(|row| row.contains("The end.")));
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows(NOT_SHOWN);
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("lines 1-22 of 62 · space on · b back · / search · n next · q close");
    terminal.shows("◆ write wants to hand over record/plan.md to check");
    terminal.shows(" 1 │ Step.");
    // Closed before its end, nothing of it counts.
    terminal.press("yq");
    terminal.shows("it was closed before its end; v shows it again");
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows(NOT_SHOWN);
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("lines 1-22 of 62");
    terminal.press("/the END\r");
    terminal.shows("62 │ The end.");
    terminal.shows("61 │ Then \\u{202e}txt\\u{1b}[2J.");
    terminal.shows("end of text");
    terminal.press("y");
    terminal.shows("y does nothing here: space on");
    terminal.press("q");
    terminal.shows("y approve · n send back");
    assert!(!is_approved(&place));
    sleep(SETTLED);
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(is_approved(&place));
    restores(&terminal);
    // What was there before it is there still, and nothing of it is among the finished lines.
    let told = terminal.scrolled().join("\n");
    assert!(
        told.contains("Approved  demo/") && !told.contains("end of text"),
        "{told}"
    );
}

#[test]
fn a_call_is_allowed_for_the_flow_once_its_end_was_read() {
    let model = Model::start_with(|results| match results {
        0 => {
            let command = format!("{}echo done > done.txt", "true\n".repeat(60));
            vec![call(0, "run_command", json!({ "command": command }))]
        }
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let mut terminal = Terminal::start_sized(&place, &RUN, (&[], SMALL));
    terminal.shows("of 61 lines shown; v shows the rest, then y and f work");
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("lines 1-22 of 61");
    terminal.press(" ");
    terminal.shows("lines 23-44 of 61");
    terminal.press(" ");
    // What this program knows of the call comes after its text, and bears no bar.
    terminal.shows("network: ");
    terminal.press("G");
    terminal.shows("end of call");
    terminal.press("q");
    terminal.shows("y once · f for this flow");
    sleep(SETTLED);
    terminal.press("f");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(place.workspace.path().join("demo/done.txt").exists());
    restores(&terminal);
}

#[test]
fn a_program_that_is_asked_to_end_while_a_text_is_read_leaves_the_terminal_as_it_was() {
    let place = asking(60);
    let mut terminal = Terminal::start_sized(&place, &RUN, (&[], SMALL));
    terminal.shows("of 62 lines shown");
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("lines 1-22 of 62");
    assert!(!takes_lines(&terminal));
    let pid = Pid::from_child(&terminal.child);
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    terminal.writes("interrupted: nothing new is started", 1);
    restores(&terminal);
    assert!(!is_approved(&place));
}

#[test]
fn a_text_is_closed_when_it_is_answered_from_elsewhere() {
    let place = asking(60);
    let mut terminal = Terminal::start_sized(&place, &RUN, (&[], SMALL));
    terminal.shows("of 62 lines shown");
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("lines 1-22 of 62");
    let flow = place.flow().unwrap();
    let approved = place.run(&["approve", &flow]);
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    terminal.writes("this was answered elsewhere", 1);
    restores(&terminal);
}

/// A question of many lines.
fn long_question() -> Place {
    let steps = "Step.\\n".repeat(60);
    let script = format!(
        "default: forward\nscript:\n  - {{ node: write, turn: 1, say: [ \"{steps}Which \
         colour?\", {{ signal: prompt-human }} ] }}\n"
    );
    Place::new(super::place::FLOW, &script)
}

#[test]
fn a_question_that_does_not_fit_is_read_with_a_key_that_is_no_letter_and_stays_among_the_lines() {
    let place = long_question();
    let mut terminal = Terminal::start_sized(&place, &RUN, (&[], SMALL));
    terminal.shows("of 61 lines shown; alt-v shows the rest");
    terminal.press("vio");
    terminal.shows("your answer> vio");
    sleep(SETTLED);
    terminal.press("\u{1b}v");
    terminal.shows("lines 1-22 of 61");
    terminal.press("G");
    terminal.shows("61 │ Which colour?");
    terminal.press("q");
    terminal.shows("your answer> vio");
    sleep(SETTLED);
    terminal.press("let\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let journal = place.journal(&place.flow().unwrap());
    assert!(journal.contains("\"text\":\"violet\""), "{journal}");
    let told = terminal.scrolled().join("\n");
    assert_eq!(told.matches("│ Step.").count(), 60, "{told}");
}

#[test]
fn where_whole_lines_are_typed_all_of_it_is_printed() {
    let place = asking(60);
    let mut terminal =
        Terminal::start_with(&place, &RUN, &[("A_SOCIETY_PLAIN", "1"), ("NO_COLOR", "1")]);
    terminal.writes("lines shown; ", 1);
    sleep(SETTLED);
    terminal.press("yes\n");
    terminal.writes(
        "not all of it was shown; type more shows the rest, then y works",
        1,
    );
    sleep(SETTLED);
    terminal.press("more\n");
    terminal.writes("text: Then \\u{202e}txt\\u{1b}[2J.", 1);
    sleep(SETTLED);
    terminal.press("yes\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(!terminal.written().contains('\u{1b}'));
}

#[test]
fn the_screen_of_watch_approves_what_does_not_fit_only_when_its_end_was_read() {
    let place = asking(60);
    let said = place.run(&[&RUN[..], &["--until-waiting"]].concat());
    assert_eq!(said.code, 8, "{said:?}");
    let flow = place.flow().unwrap();
    let mut terminal = Terminal::start_sized(&place, &["watch"], (&[], SMALL));
    terminal.shows("1 needs you");
    terminal.press("\u{1b}[B");
    terminal.shows("y approve");
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows("not all of it was shown");
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("space on · b back");
    terminal.press("q");
    terminal.shows("it was closed before its end");
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("space on · b back");
    terminal.press("Gy");
    terminal.shows("│ The end.");
    terminal.shows("y does nothing here");
    terminal.press("q");
    terminal.shows("1 needs you");
    sleep(SETTLED);
    assert!(!is_approved(&place));
    terminal.press("y");
    terminal.shows("approved");
    sleep(SETTLED);
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(is_approved(&place));
    restores(&terminal);
    let goes_on = ["resume", &flow, "--until-waiting", "--improve", "none"];
    assert_eq!(place.run(&goes_on).code, 0);
}
