//! Another size of the terminal while an answer is typed: on one that cuts rows off, on one that never says where its cursor is,
//! and in tmux, which breaks them anew.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use super::place::{FLOW, Place, wait_until};
use super::watched::Terminal;

const ROUND: [&str; 4] = ["run", "demo/flow.yaml", "--improve", "none"];

const ASKS_POSITION: &str = "\u{1b}[6n";

/// Lines that are wider than a narrow terminal, and then a question of such lines.
fn asking() -> Place {
    let lines = (1..=30).map(|at| {
        format!("line-{at:02} of what was finished long ago and stays as it is for ever\\n")
    });
    let text: String = lines.collect();
    let question = "Which of these two totals of the month is the right one for the whole year?";
    let script = format!(
        "default: forward\nscript:\n  - {{ node: write, turn: 1, say: [ {{ stream: {{ text: \"{text}\", pieces: 4, \
         every-ms: 20 }} }}, {{ call: {{ tool: read_file, input: {{ path: a.md }}, output: nothing }} }}, '{question}', \
         {{ signal: prompt-human }} ] }}\n"
    );
    Place::new(FLOW, &script)
}

fn times(rows: &[String], words: &str) -> usize {
    rows.iter().filter(|row| row.contains(words)).count()
}

/// Checks that the finished lines are there once, in their order.
fn finished(rows: &[String]) {
    let numbers = rows.iter().filter_map(|row| row.strip_prefix("line-"));
    let numbers: Vec<usize> = numbers
        .filter_map(|row| row.get(..2)?.parse().ok())
        .collect();
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>(), "{rows:#?}");
}

/// Resizes the terminal through these widths, and answers it or not.
fn dragged(answers: bool) {
    let place = asking();
    let mut terminal = Terminal::start_sized(&place, &ROUND, (&[], (40, 100)));
    terminal.shows("your answer>");
    terminal.press("abc");
    terminal.shows("your answer> abc");
    let mut asked = 0;
    let mut answer = |terminal: &mut Terminal| {
        let written = terminal.written();
        let times = written.matches(ASKS_POSITION).count();
        if answers && times > asked {
            let (row, column) = terminal.cursor();
            terminal.send(&format!("\u{1b}[{row};{column}R"));
        }
        asked = times;
        times
    };
    for columns in [60, 45, 100] {
        let before = answer(&mut terminal);
        terminal.resize(40, columns);
        wait_until("it asks", || answer(&mut terminal) > before);
        let drawn = terminal.written().len();
        wait_until("it draws anew", || {
            answer(&mut terminal);
            terminal.written()[drawn..].contains("your answer> abc")
        });
        terminal.shows("your answer> abc");
        let rows = terminal.screen();
        for words in ["your answer> abc", "◆ write", "enter sends"] {
            assert_eq!(times(&rows, words), 1, "{columns}: {words}: {rows:#?}");
        }
    }
    // What the terminal said is nothing that was typed.
    terminal.press("d");
    terminal.shows("your answer> abcd");
    finished(&terminal.scrolled());
}

#[test]
fn where_rows_are_cut_off_one_block_is_left_and_the_cursors_place_is_no_text() {
    dragged(true);
}

#[test]
fn a_terminal_that_never_says_where_its_cursor_is_is_drawn_on_as_before() {
    dragged(false);
}

/// A server of tmux that ends with the test.
struct Tmux {
    socket: std::path::PathBuf,
}

impl Tmux {
    fn command(&self, words: &[&str]) -> Option<String> {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(&self.socket)
            .args(["-f", "/dev/null"]);
        let output = command.args(words).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// All rows, those that were broken put together again.
    fn rows(&self) -> Vec<String> {
        let all = self.command(&["capture-pane", "-p", "-J", "-S", "-"]);
        let all = all.unwrap_or_default();
        all.lines().map(|row| row.trim_end().to_owned()).collect()
    }

    fn shows(&self, words: &str) {
        wait_until(words, || times(&self.rows(), words) > 0);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.command(&["kill-server"]);
    }
}

#[test]
fn in_tmux_which_breaks_rows_anew_each_finished_line_and_one_block_are_left() {
    if Command::new("tmux").arg("-V").output().is_err() {
        let mut told = std::io::stderr();
        let line = "NOT MEASURED: rows that a terminal breaks anew; tmux is not installed\n";
        told.write_all(line.as_bytes()).unwrap();
        return;
    }
    let place = asking();
    let program = place.workspace.command(&ROUND);
    let tmux = Tmux {
        socket: place.workspace.path().join("tmux.sock"),
    };
    let config = place.workspace.path().join("config.yaml");
    let config = format!("A_SOCIETY_CONFIG={}", config.display());
    let folder = place.workspace.path().display().to_string();
    let size = ["-x", "100", "-y", "30"];
    let begin = [
        &["new-session", "-d", "-c", &folder][..],
        &size,
        &["env", &config],
    ]
    .concat();
    let words: Vec<String> = std::iter::once(program.get_program())
        .chain(program.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    tmux.command(&[&begin[..], &words].concat());
    tmux.command(&["set", "-g", "status", "off"]);
    tmux.shows("your answer>");
    tmux.command(&["send-keys", "-l", "abc"]);
    tmux.shows("your answer> abc");
    // It says once where its cursor is before anything happens.
    std::thread::sleep(Duration::from_millis(500));
    for columns in ["60", "45", "100", "70"] {
        tmux.command(&["resize-window", "-x", columns, "-y", "30"]);
        wait_until("it is drawn for this size", || {
            let at = tmux.command(&["display-message", "-p", "#{pane_width} #{cursor_x}"]);
            at.is_some_and(|at| at.trim() == format!("{columns} 16"))
        });
        std::thread::sleep(Duration::from_millis(600));
        let rows = tmux.rows();
        finished(&rows);
        for words in ["your answer> abc", "◆ write", "enter sends"] {
            assert_eq!(times(&rows, words), 1, "{columns}: {words}: {rows:#?}");
        }
    }
    tmux.command(&["send-keys", "-l", "d"]);
    tmux.shows("your answer> abcd");
    finished(&tmux.rows());
}
