//! What is typed at a terminal and not sent when its process dies: the next one opens the field with it. No journal knows of
//! it, and what was sent is not offered again.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::ptsname;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::models::{Model, call, with_model};
use super::place::{ASKING, FLOW, Place, signal, wait_until};
use super::prompted::SETTLED;
use super::watched::Terminal;

const OFFERED: &str = "what you had typed when the terminal ended is in the field again";

const ROUND: [&str; 4] = ["run", "demo/flow.yaml", "--improve", "none"];

fn kept(place: &Place) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(place.workspace.state().join(".unsent"));
    let paths = listed
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect()
}

fn is_kept(place: &Place, words: &str) -> bool {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    kept(place).iter().any(|path| read(path).contains(words))
}

fn kill(mut terminal: Terminal) {
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
}

fn paste(terminal: &mut Terminal, words: &str) {
    terminal.press(&format!("\u{1b}[200~{words}\u{1b}[201~"));
}

#[test]
fn an_answer_that_was_half_typed_when_the_process_was_killed_is_in_the_field_again() {
    let place = Place::new(FLOW, ASKING);
    let mut terminal = Terminal::start(&place, &ROUND);
    terminal.shows("your answer>");
    paste(&mut terminal, "A dark bl");
    terminal.shows("your answer> A dark bl");
    wait_until("it is kept", || is_kept(&place, "A dark bl"));
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let path = kept(&place).remove(0);
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    kill(terminal);
    let flow = place.flow().unwrap();
    assert!(!place.journal(&flow).contains("A dark bl"));
    let resume = ["resume", &flow, "--improve", "none"];
    let terminal = Terminal::start(&place, &resume);
    terminal.writes(OFFERED, 1);
    terminal.shows("your answer> A dark bl");
    // Killed once more, it is not lost either.
    wait_until("it is kept", || is_kept(&place, "A dark bl"));
    kill(terminal);
    let mut terminal = Terminal::start(&place, &resume);
    terminal.shows("your answer> A dark bl");
    sleep(SETTLED);
    terminal.press("ue.\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(place.journal(&flow).contains("\"text\":\"A dark blue.\""));
    assert_eq!(kept(&place), [""; 0].map(PathBuf::from));
    assert!(!terminal.written().contains("it was not sent"));
}

#[test]
fn a_reason_and_words_for_a_role_are_offered_where_they_were_typed_and_nowhere_else() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "run_command",
            serde_json::json!({ "command": "sleep 20; touch made" }),
        )],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let mut terminal = Terminal::start(&place, &ROUND);
    terminal.shows("y once");
    sleep(SETTLED);
    terminal.press("r");
    terminal.shows("why? (empty goes back)>");
    paste(&mut terminal, "Ask the edi");
    wait_until("it is kept", || is_kept(&place, "Ask the edi"));
    kill(terminal);
    let flow = place.flow().unwrap();
    let resume = ["resume", &flow, "--improve", "none"];
    let mut terminal = Terminal::start(&place, &resume);
    terminal.shows("y once");
    assert!(
        !terminal.written().contains("Ask the edi"),
        "a key decides first"
    );
    sleep(SETTLED);
    terminal.press("r");
    terminal.writes(OFFERED, 1);
    terminal.shows("back)> Ask the edi");
    // Left with Esc it is there when the field is opened again, and gone once the question is answered.
    terminal.press("\u{1b}");
    terminal.shows("y once");
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows("run sleep 20");
    wait_until("it is not kept", || !is_kept(&place, "Ask the edi"));
    sleep(SETTLED);
    terminal.press("s");
    terminal.shows("to owner (empty goes back)>");
    paste(&mut terminal, "Count in doz");
    wait_until("it is kept", || is_kept(&place, "steer owner"));
    terminal.press("\u{3}");
    kill(terminal);
    assert!(is_kept(&place, "Count in doz"));
    assert!(!place.journal(&flow).contains("Count in doz"));
}

#[test]
fn what_was_typed_in_run_is_offered_in_watch_and_a_command_in_the_next_watch() {
    let place = Place::new(FLOW, ASKING);
    let mut terminal = Terminal::start(&place, &ROUND);
    terminal.shows("your answer>");
    paste(&mut terminal, "A dark bl");
    wait_until("it is kept", || is_kept(&place, "A dark bl"));
    kill(terminal);
    let mut terminal = Terminal::start(&place, &["watch"]);
    terminal.shows("1 needs you");
    terminal.press(":");
    paste(&mut terminal, "status FL");
    wait_until("it is kept", || is_kept(&place, "status FL"));
    kill(terminal);
    let mut terminal = Terminal::start(&place, &["watch"]);
    terminal.shows("1 needs you");
    terminal.press(":");
    terminal.shows("status FL");
    terminal.shows(OFFERED);
    terminal.press("OW\r");
    terminal.shows("a key goes back to watch");
    terminal.press("x");
    terminal.shows("FLOWS --");
    terminal.press("\u{1b}[B");
    terminal.shows("r answer");
    sleep(SETTLED);
    terminal.press("r");
    terminal.shows("A dark bl");
    terminal.press("ue.\r");
    let flow = place.flow().unwrap();
    wait_until("it is answered", || {
        place.journal(&flow).contains("\"text\":\"A dark blue.\"")
    });
    wait_until("nothing is kept", || kept(&place).is_empty());
    sleep(SETTLED);
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_answer_that_is_left_for_later_is_in_the_field_when_the_flow_is_resumed() {
    let place = Place::new(FLOW, ASKING);
    let mut terminal = Terminal::start(&place, &ROUND);
    terminal.shows("your answer>");
    paste(&mut terminal, "A dark bl");
    terminal.shows("your answer> A dark bl");
    sleep(SETTLED);
    terminal.press("\u{1b}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(8));
    terminal.writes("you typed this, and it was not sent: A dark bl", 1);
    let flow = place.flow().unwrap();
    let terminal = Terminal::start(&place, &["resume", &flow, "--improve", "none"]);
    terminal.shows("your answer> A dark bl");
}

/// What a terminal that takes whole lines still holds of a line that was not ended.
fn held(terminal: &Terminal) -> String {
    let name = ptsname(&terminal.keys, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK;
    let end = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
    let mut modes = tcgetattr(&end).unwrap();
    modes.local_modes -= LocalModes::ICANON;
    tcsetattr(&end, OptionalActions::Now, &modes).unwrap();
    let mut line = [0; 256];
    let read = rustix::io::read(&end, &mut line).unwrap_or_default();
    String::from_utf8_lossy(&line[..read]).into_owned()
}

#[test]
fn in_plain_lines_what_was_typed_is_printed_and_a_line_without_its_end_is_only_the_terminals() {
    let place = Place::new(FLOW, ASKING);
    let mut terminal = Terminal::start(&place, &ROUND);
    terminal.shows("your answer>");
    paste(&mut terminal, "A dark bl");
    wait_until("it is kept", || is_kept(&place, "A dark bl"));
    kill(terminal);
    let flow = place.flow().unwrap();
    let resume = ["resume", &flow, "--improve", "none"];
    let plain = [&resume[..], &["--plain"]].concat();
    let mut terminal = Terminal::start(&place, &plain);
    terminal.writes("you had typed: A dark bl", 1);
    terminal.writes("your answer>", 1);
    wait_until("it is kept", || is_kept(&place, "A dark bl"));
    sleep(SETTLED);
    terminal.press("A light gr");
    // What is typed would be kept within a second.
    sleep(Duration::from_secs(3));
    assert!(!is_kept(&place, "A light gr"), "no part of a line is read");
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
    assert_eq!(held(&terminal), "A light gr");
    let mut terminal = Terminal::start(&place, &plain);
    terminal.writes("you had typed: A dark bl", 1);
    terminal.writes("your answer>", 1);
    sleep(SETTLED);
    terminal.press("A dark blue.\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert_eq!(kept(&place), [""; 0].map(PathBuf::from));
}

#[test]
fn in_plain_lines_a_line_without_its_end_is_kept_when_the_program_ends_in_order() {
    let place = Place::new(FLOW, ASKING);
    let words = [&ROUND[..], &["--plain"]].concat();
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("your answer>", 1);
    sleep(SETTLED);
    terminal.press("A light gr");
    terminal.writes("A light gr", 1);
    signal(&terminal.child, "TERM");
    terminal.child.wait().unwrap();
    terminal.writes("you typed this, and it was not sent: A light gr", 1);
    let flow = place.flow().unwrap();
    let mut terminal = Terminal::start(&place, &["resume", &flow, "--improve", "none"]);
    terminal.shows("your answer> A light gr");
    sleep(SETTLED);
    terminal.press("ey.\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(place.journal(&flow).contains("A light grey."));
}
