//! Random steps at the terminal of `run`: what streams, what is asked, what is typed and pasted, and the size of the terminal
//! change as they like. Each finished line is there once and in its order, nothing is decided by accident, and the terminal is
//! as it was when the program ends.

use std::fmt::Write as _;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::paged::restores;
use super::place::Place;
use super::prompted::SETTLED;
use super::watched::Terminal;
use crate::support::{is_full, seed};

/// How many steps the slice has, and the whole.
const STEPS: u64 = 150;
const STEPS_FULL: u64 = 1_000;

/// More than are walked in all steps.
const NODES: usize = 120;

/// So many lines each node streams, each with a number of its own.
const LINES: usize = 8;

/// The columns that a terminal has at most here.
const COLUMNS_MAX: u16 = 120;

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn one<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.roll(all.len() as u64)).unwrap()]
    }
}

/// A chain of nodes that stream numbered lines. Of three, one asks and one hands over what is approved.
fn chain() -> Place {
    let (mut nodes, mut edges, mut script) = (String::new(), String::new(), String::new());
    for at in 0..NODES {
        let colab = if at % 3 == 1 {
            ", human-colab: true"
        } else {
            ""
        };
        writeln!(nodes, "    - {{ id: n{at}, role: writer{colab} }}").unwrap();
        if at > 0 {
            writeln!(edges, "    - {{ from: n{}, to: n{at} }}", at - 1).unwrap();
        }
        let lines = (0..LINES).map(|line| {
            let number = at * LINES + line;
            format!("line-{number:05} of the month, 台帳 and 👩\u{200d}👩\u{200d}👧, in the order of the bank\\n")
        });
        let text = lines.collect::<String>();
        let stream = format!("{{ stream: {{ text: \"{text}\", pieces: 24, every-ms: 12 }} }}");
        let asks = at % 3 == 2;
        let end = if asks {
            "{ signal: prompt-human }"
        } else {
            "{ forward: Done. }"
        };
        writeln!(
            script,
            "  - {{ node: n{at}, turn: 1, say: [ {stream}, {end} ] }}"
        )
        .unwrap();
        if asks {
            writeln!(
                script,
                "  - {{ node: n{at}, turn: 2, say: [ {{ forward: Done. }} ] }}"
            )
            .unwrap();
        }
    }
    let flow = format!(
        "workflow:\n  name: Random\n  nodes:\n{nodes}  edges:\n{edges}roles:\n  writer: {{ executor: scripted, \
         instructions: You write. }}\n"
    );
    Place::new(&flow, &format!("default: forward\nscript:\n{script}"))
}

/// The same output on a terminal that is so high that nothing ever scrolls, and so wide that no row is too long.
struct Tall {
    parser: vt100::Parser,
    read: usize,
}

/// As many rows as all finished lines and a block take.
const ROWS: u16 = 4_000;

const ASKS_POSITION: &str = "\u{1b}[6n";

impl Tall {
    fn new() -> Self {
        let size = |number| std::num::NonZeroU16::new(number).unwrap();
        Self {
            parser: vt100::Parser::new(size(ROWS), size(COLUMNS_MAX + 1), 0),
            read: 0,
        }
    }

    /// Reads on, and gives the answers to what the terminal was asked.
    fn read_on(&mut self, written: &str) -> Vec<String> {
        let mut answers = Vec::new();
        while let Some(at) = written[self.read..].find(ASKS_POSITION) {
            let end = self.read + at + ASKS_POSITION.len();
            self.parser.process(&written.as_bytes()[self.read..end]);
            self.read = end;
            let (row, column) = self.parser.screen().cursor_position();
            answers.push(format!("\u{1b}[{};{}R", row + 1, column + 1));
        }
        // The rest may be cut within a sequence, which the parser puts together.
        self.parser.process(&written.as_bytes()[self.read..]);
        self.read = written.len();
        answers
    }

    fn rows(&self) -> Vec<String> {
        let rows = self.parser.screen().rows(0, COLUMNS_MAX + 1);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }
}

fn step(dice: &mut Dice, terminal: &mut Terminal, decided: &mut usize) {
    match dice.roll(12) {
        0..=2 => {
            let text = ["a", "bc ", "漢", "👩\u{200d}👧", "post ", "x\\"];
            let words: String = (0..=dice.roll(3)).map(|_| dice.one(&text)).collect();
            terminal.send(&words);
        }
        3 => terminal.send("\u{1b}[200~pasted y and f\nin two lines\u{1b}[201~"),
        4 => {
            let keys = [
                "\t", "\u{1b}[A", "\u{7f}", "\u{15}", "?", "t", "a", "0", "\n", "\u{17}",
            ];
            terminal.send(dice.one(&keys));
        }
        5 => terminal.send("\r"),
        6 | 7 => {
            let rows = u16::try_from(10 + dice.roll(30)).unwrap();
            let columns = u16::try_from(45 + dice.roll(u64::from(COLUMNS_MAX) - 45)).unwrap();
            terminal.resize(rows, columns);
        }
        8 => {
            sleep(SETTLED);
            terminal.send("y");
            *decided += 1;
            sleep(SETTLED);
        }
        _ => sleep(Duration::from_millis(dice.roll(60))),
    }
}

#[test]
fn however_one_types_and_resizes_each_finished_line_is_there_once_and_in_its_order() {
    let steps = if is_full() { STEPS_FULL } else { STEPS };
    let place = chain();
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start_sized(&place, &words, (&[], (24, 80)));
    terminal.shows("line-00000");
    let mut dice = Dice(seed() | 1);
    let (mut tall, mut decided) = (Tall::new(), 0);
    for number in 0..steps {
        step(&mut dice, &mut terminal, &mut decided);
        sleep(Duration::from_millis(15));
        let answers = tall.read_on(&terminal.written());
        // A terminal that is slow, or knows nothing of it, does not answer.
        if number % 4 != 0 {
            for answer in answers {
                terminal.send(&answer);
            }
        }
        assert!(
            terminal.child.try_wait().unwrap().is_none(),
            "it ended: {:#?}",
            terminal.screen()
        );
    }
    kill_process(Pid::from_child(&terminal.child), Signal::TERM).unwrap();
    let (code, written) = terminal.all_written();
    assert_eq!(code, Some(130));
    restores(&terminal);
    tall.read_on(&written);
    let rows = tall.rows();
    let numbers: Vec<usize> = rows
        .iter()
        .filter_map(|row| row.strip_prefix("line-")?.get(..5)?.parse().ok())
        .collect();
    let wanted: Vec<usize> = (0..numbers.len()).collect();
    assert!(numbers.len() > LINES * 2, "{rows:#?}");
    assert_eq!(numbers, wanted, "seed {}: {rows:#?}", seed());
    let heads = rows
        .iter()
        .filter(|row| row.contains(&format!(" of {NODES} done")));
    assert!(heads.count() <= 1, "seed {}: {rows:#?}", seed());
    for sequence in ["\u{1b}[2J", "\u{1b}[3J", "\u{1b}[?1049h"] {
        assert!(!written.contains(sequence), "{sequence:?}");
    }
    let mut sequences = written.split("\u{1b}[").skip(1);
    let scrolls = sequences.find(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
        end.is_some_and(|end| rest[end..].starts_with('r'))
    });
    assert_eq!(scrolls, None, "no region scrolls");
    let journal = place.journal(&place.flow().unwrap());
    let approvals = journal.matches("\"fact\":\"handoff_decided\"").count();
    assert!(approvals <= decided, "{approvals} of {decided}");
}
