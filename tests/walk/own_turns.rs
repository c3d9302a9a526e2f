//! A turn that a person takes at a terminal, in `run` and in `watch`: the file that changed, and what the role to whom
//! it went reads.

use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep;

use super::place::{Place, RUN};
use super::prompted::{APPROVED, SETTLED, SIGNED, TWICE, WRITES};
use super::watched::Terminal;

const DOWN: &str = "\u{1b}[B";

/// A text as a terminal pastes it, and Enter.
fn pasted(text: &str) -> String {
    format!("\u{1b}[200~{text}\u{1b}[201~\r")
}

fn record(place: &Place) -> PathBuf {
    place.folder(&place.flow().unwrap()).join("record")
}

/// The transcript of a role.
fn transcript(place: &Place, role: &str) -> String {
    let flow = place.folder(&place.flow().unwrap());
    std::fs::read_to_string(flow.join(format!("roles/{role}/transcript.json"))).unwrap()
}

/// Opens `watch` and chooses the one question.
fn chosen(place: &Place, more: &[(&str, &str)]) -> Terminal {
    let mut terminal = Terminal::start_with(place, &["watch"], more);
    terminal.shows("1 needs you");
    terminal.press(DOWN);
    terminal
}

fn ends(mut terminal: Terminal) {
    sleep(SETTLED);
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_came_in_is_shown_to_a_person_with_lines_that_look_like_words_for_a_model() {
    let script = "default: forward\nscript:\n  - { node: write, say: [{ forward: \"You are at node `x`, it says.\\nEnd this turn with one of: tea.\" }] }\n";
    let place = Place::new(SIGNED, script);
    let said = place.run(&RUN);
    assert_eq!(said.code, 8, "{said:?}");
    for line in [
        "You are at node `x`, it says.",
        "End this turn with one of: tea.",
    ] {
        assert!(said.err.contains(line), "{line}: {said:?}");
    }
    // An answer that ends nothing is why they are asked again.
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["reply", &flow, "Tea."]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    let again = "your turn: Choose what happens next: hand over, send back or wait.";
    assert!(said.err.contains(again), "{said:?}");
}

#[test]
fn a_turn_is_sent_back_and_then_written_in_an_editor_on_the_screen_of_watch_as_in_run() {
    let place = Place::new(SIGNED, WRITES);
    let editor = "echo the editor is here; IFS= read -r said; printf '%s\\n' \"$said\" >> \"$1\"";
    place.write("editor.sh", editor);
    let said = place.run(&RUN);
    assert_eq!(said.code, 8);
    assert!(said.err.contains("sign (lead)  your turn\n"), "{said:?}");
    // Nor does the output in a pipe show a person the model's part of the packet.
    for words in ["You are at node", "End this turn with"] {
        assert!(!format!("{said:?}").contains(words), "{said:?}");
    }
    assert!(said.err.contains("The plan has no date."), "{said:?}");
    let mut terminal = chosen(&place, &[]);
    terminal.shows("sign: lead, your turn");
    terminal.shows("The plan has no date.");
    terminal.shows("b send back to write");
    sleep(SETTLED);
    terminal.press("b");
    terminal.shows("what has to change?");
    terminal.press(&pasted("Name a date."));
    terminal.shows("answered");
    ends(terminal);
    let reason = record(&place).join("lead-reason.md");
    assert_eq!(std::fs::read_to_string(reason).unwrap(), "Name a date.\n");
    let flow = place.flow().unwrap();
    let goes_on = ["resume", &flow, "--until-waiting", "--improve", "none"];
    assert_eq!(place.run(&goes_on).code, 8);
    let told = transcript(&place, "writer");
    assert!(told.contains("Name a date."), "the writer reads it: {told}");
    let mut terminal = chosen(&place, &[("EDITOR", "sh editor.sh")]);
    terminal.shows("w write or edit a file");
    sleep(SETTLED);
    terminal.press("w");
    terminal.shows("nothing for record/lead.md");
    terminal.press("\r");
    terminal.writes("the editor is here", 1);
    terminal.press("Signed, with q and h in it.\n");
    terminal.shows("record/lead.md is written");
    sleep(SETTLED);
    terminal.press("h");
    terminal.shows("answered");
    ends(terminal);
    let made = std::fs::read_to_string(record(&place).join("lead.md")).unwrap();
    assert_eq!(made, "Signed, with q and h in it.\n");
    assert_eq!(place.run(&goes_on).code, 0);
    let told = transcript(&place, "writer");
    assert!(told.contains("Signed, with q and h in it."), "{told}");
}

/// No text, and with what a terminal would obey.
const PICTURE: [u8; 7] = [0x89, b'P', 0xff, 0, 0x1b, b'\n', 0xfe];

#[test]
fn a_file_of_the_project_is_handed_over_where_it_is_and_one_from_outside_of_it_as_a_copy() {
    let place = Place::new(SIGNED, WRITES);
    let project = place.workspace.path().join("demo");
    std::fs::create_dir(project.join("img")).unwrap();
    std::fs::write(project.join("img/logo.png"), PICTURE).unwrap();
    std::fs::write(place.workspace.path().join("secret"), "outside").unwrap();
    std::os::unix::fs::symlink("../../secret", project.join("img/link.png")).unwrap();
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("f choose a file of the project", 1);
    let secret = place.workspace.path().join("secret");
    let tried = [
        (
            "img/link.png",
            "img/link.png cannot be handed over: it is a link",
        ),
        ("../secret", "../secret cannot be handed over: out of reach"),
        (
            secret.to_str().unwrap(),
            "record/secret holds the 7 bytes of",
        ),
        (
            "img/logo.png",
            "img/logo.png is there, 7 bytes; h hands it over",
        ),
    ];
    for (number, (path, said)) in tried.into_iter().enumerate() {
        sleep(SETTLED);
        terminal.press("f");
        terminal.writes("which file? a path in the project", number + 1);
        terminal.press(&format!("{path}\n"));
        terminal.writes(said, 1);
    }
    sleep(SETTLED);
    terminal.press("h");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let told = transcript(&place, "writer");
    assert!(told.contains("img/logo.png"), "{told}");
    assert!(!told.contains("record/logo.png"), "{told}");
    let kept = std::fs::read(project.join("img/logo.png")).unwrap();
    assert_eq!(kept, PICTURE);
    for name in ["logo.png", "link.png"] {
        assert!(!record(&place).join(name).exists(), "{name}");
    }
    let copied = std::fs::read(record(&place).join("secret")).unwrap();
    assert_eq!(copied, b"outside");
}

#[test]
fn ctrl_c_in_the_editor_ends_no_flow() {
    let place = Place::new(SIGNED, WRITES);
    // As a terminal does it: everybody on it gets the signal.
    place.write(
        "editor.sh",
        "kill -INT 0\nsleep 0.3\necho Signed. > \"$1\"\n",
    );
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let editor = [("EDITOR", "trap '' INT; sh editor.sh")];
    let mut terminal = Terminal::start_with(&place, &words, &editor);
    terminal.writes("w write or edit a file", 1);
    sleep(SETTLED);
    terminal.press("w");
    terminal.writes("which file?", 1);
    terminal.press("\n");
    terminal.writes("record/lead.md is written", 1);
    sleep(SETTLED);
    terminal.press("h");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let made = std::fs::read_to_string(record(&place).join("lead.md")).unwrap();
    assert_eq!(made, "Signed.\n");
    assert!(!terminal.scrolled().join("\n").contains("interrupted"));
}

#[test]
fn the_screen_shows_a_second_version_as_what_changed_and_a_key_approves_it() {
    let place = Place::new(APPROVED, TWICE);
    assert_eq!(place.run(&RUN).code, 8);
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["approve", &flow]).code, 0);
    let goes_on = ["resume", &flow, "--until-waiting", "--improve", "none"];
    assert_eq!(place.run(&goes_on).code, 8);
    let mut terminal = chosen(&place, &[]);
    terminal.shows("2nd version, +1 −1");
    terminal.shows("-2. Post.");
    terminal.shows("+2. Post on Monday.");
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows("approved");
    ends(terminal);
    assert_eq!(place.run(&goes_on).code, 0);
    let told = transcript(&place, "checker");
    assert!(told.contains("Post on Monday."), "{told}");
}

/// A person and a role that works for long, beside each other.
const BESIDE: &str = r"workflow:
  name: Beside
  nodes: [{ id: ask, role: owner }, { id: sign, role: lead }, { id: work, role: worker }, { id: close, role: owner }]
  edges: [{ from: ask, to: sign }, { from: ask, to: work }, { from: sign, to: close }, { from: work, to: close }]
roles:
  owner: { executor: scripted, instructions: You ask. }
  worker: { executor: scripted, instructions: You work. }
  lead: { executor: human }
";

const LONG_AT_WORK: &str = r"default: forward
script:
  - node: work
    turn: 1
    say:
      - stream: { text: 'I count every single stone in this very long street, one by one.', pieces: 60, every-ms: 150 }
      - forward: All of them.
  - { node: close, turn: 1, say: [{ signal: await-handoff }] }
";

#[test]
fn a_turn_that_ends_on_the_screen_of_watch_is_told_to_the_process_that_drives_the_flow() {
    let place = Place::new(BESIDE, LONG_AT_WORK);
    place.write("editor.sh", "echo Signed beside. > \"$1\"");
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut driver = place.workspace.command(&words);
    let mut driver = driver
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut terminal = chosen(&place, &[("EDITOR", "sh editor.sh")]);
    terminal.shows("w write or edit a file");
    sleep(SETTLED);
    terminal.press("w");
    terminal.shows("nothing for record/lead.md");
    terminal.press("\r");
    terminal.shows("record/lead.md is written");
    sleep(SETTLED);
    terminal.press("h");
    terminal.shows("answered (record");
    ends(terminal);
    assert_eq!(
        driver.wait().unwrap().code(),
        Some(0),
        "nobody else drove it"
    );
    let told = transcript(&place, "owner");
    assert!(told.contains("Signed beside."), "{told}");
}
