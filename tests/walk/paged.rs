//! What does not fit on the screen, in the operator's own pager: what the pager was given, and that nothing else reads
//! its keys.

use std::thread::sleep;

use serde_json::json;

use super::models::{Model, call, with_model};
use super::place::{Place, wait_until};
use super::prompted::{APPROVED, SETTLED};
use super::watched::Terminal;

/// Keeps what it is given and the line that is typed, and is sent what Ctrl-C sends.
const PAGER: &str = "cat > seen.txt
echo the pager is here >&2
IFS= read -r key <&2
printf '%s' \"$key\" > key.txt
kill -INT 0
sleep 0.3
";

/// The operator is to approve a plan of so many lines, whose end turns text around and moves the cursor.
fn asking(lines: usize) -> Place {
    let steps = "Step.\\n".repeat(lines);
    let script = format!(
        "default: forward\nscript:\n  - {{ node: write, turn: 1, say: [{{ write: {{ path: plan.md, \
         text: \"{steps}Then \\u202etxt\\e[2J.\\nThe end.\\n\" }} }}, {{ handoff: {{ to: check, \
         artifact: plan.md }} }}] }}\n"
    );
    let place = Place::new(APPROVED, &script);
    place.write("pager.sh", PAGER);
    place
}

const RUN: [&str; 4] = ["run", "demo/flow.yaml", "--improve", "none"];

const PAGED: (&str, &str) = ("PAGER", "trap '' INT; sh pager.sh");

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.workspace.path().join(name)).unwrap_or_default()
}

fn assert_given_whole(place: &Place) {
    let seen = read(place, "seen.txt");
    assert_eq!(seen.matches("Step.\n").count(), 60, "{seen:?}");
    assert!(seen.contains("Then \\u{202e}txt\\u{1b}[2J.\n"), "{seen:?}");
    assert!(seen.contains("The end.\n"), "{seen:?}");
    assert!(!seen.contains('\u{1b}') && !seen.contains('\u{202e}'));
    // It was meant for the pager, and answered nothing.
    assert_eq!(read(place, "key.txt"), "y");
}

fn is_approved(place: &Place) -> bool {
    let journal = place.journal(&place.flow().unwrap());
    journal.contains("\"handoff_decided\"")
}

#[test]
fn a_pager_gets_all_of_it_which_can_be_approved_then_and_its_keys_answer_nothing() {
    let place = asking(60);
    let mut terminal = Terminal::start_with(&place, &RUN, &[PAGED]);
    terminal.writes("v all of it, which can be approved then", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.writes("the pager is here", 1);
    terminal.press("y\n");
    terminal.writes("y approve", 1);
    assert_given_whole(&place);
    sleep(SETTLED);
    assert!(!is_approved(&place));
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(is_approved(&place));
    assert!(!terminal.scrolled().join("\n").contains("interrupted"));
}

#[test]
fn a_call_that_a_pager_showed_whole_is_allowed_with_a_key() {
    let model = Model::start_with(|results| match results {
        0 => {
            let command = format!("{}echo done > done.txt", "true\n".repeat(60));
            vec![call(0, "run_command", json!({ "command": command }))]
        }
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let pager = ("PAGER", "cat > seen.txt");
    let mut terminal = Terminal::start_with(&place, &RUN, &[pager]);
    terminal.writes("v the whole call, which can be allowed then", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.writes("y once", 1);
    let seen = read(&place, "seen.txt");
    assert!(seen.contains("echo done > done.txt\n"), "{seen:?}");
    sleep(SETTLED);
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(place.workspace.path().join("demo/done.txt").exists());
}

#[test]
fn a_pager_that_fails_or_is_left_early_is_told_and_only_what_was_shown_can_be_approved() {
    let place = asking(40_000);
    place.write("pager.sh", "if [ -e left ]; then exit 3; fi; touch left");
    let mut terminal = Terminal::start_with(&place, &RUN, &[("PAGER", "sh pager.sh")]);
    terminal.writes("v all of it, which can be approved then", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.writes("the pager was left before it had all of it", 1);
    sleep(SETTLED);
    terminal.press("y");
    terminal.writes("y does nothing here", 1);
    sleep(SETTLED);
    terminal.press("v");
    terminal.writes("│ The end.", 1);
    terminal.writes("ended with exit status: 3", 1);
    sleep(SETTLED);
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(is_approved(&place));
}

#[test]
fn without_colours_and_where_whole_lines_are_typed_all_of_it_is_printed_and_no_pager_runs() {
    for variable in [("NO_COLOR", "1"), ("A_SOCIETY_PLAIN", "1")] {
        let place = asking(60);
        let mut terminal = Terminal::start_with(&place, &RUN, &[PAGED, variable]);
        terminal.writes("lines shown; ", 1);
        sleep(SETTLED);
        let (shows, approves, before) = match variable.0 {
            "NO_COLOR" => ("v", "y", "│"),
            _ => ("more\n", "yes\n", "text:"),
        };
        terminal.press(shows);
        terminal.writes(&format!("{before} Then \\u{{202e}}txt\\u{{1b}}[2J."), 1);
        sleep(SETTLED);
        terminal.press(approves);
        assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
        assert!(!place.workspace.path().join("seen.txt").exists());
    }
}

#[test]
fn the_screen_of_watch_approves_what_does_not_fit_only_when_a_pager_showed_it() {
    let place = asking(60);
    let said = place.run(&[&RUN[..], &["--until-waiting"]].concat());
    assert_eq!(said.code, 8, "{said:?}");
    let flow = place.flow().unwrap();
    let mut terminal = Terminal::start_with(&place, &["watch"], &[PAGED]);
    terminal.shows("1 needs you");
    terminal.press("\u{1b}[B");
    terminal.shows("y approve");
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows("not all of it was shown");
    sleep(SETTLED);
    terminal.press("v");
    terminal.writes("the pager is here", 1);
    terminal.press("y\n");
    wait_until("the pager ends", || !read(&place, "key.txt").is_empty());
    assert_given_whole(&place);
    sleep(SETTLED);
    assert!(!is_approved(&place));
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows("approved");
    sleep(SETTLED);
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(is_approved(&place));
    let goes_on = ["resume", &flow, "--until-waiting", "--improve", "none"];
    assert_eq!(place.run(&goes_on).code, 0);
}
