//! What a panic leaves at a terminal: each test runs itself once more on one, as a process that panics.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroU16;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::cli::pager::screen::{OwnScreen, read};
use crate::cli::pager::{PagedText, Pager};
use crate::output::{Manner, Output};

/// Set for the process that panics.
const PANICS: &str = "A_SOCIETY_TEST_PANICS";

const WHY: &str = "the ground is gone";

/// What a process left.
struct Left {
    written: String,
    /// Whether the terminal takes lines and shows what is typed, as a shell leaves it.
    takes_lines: bool,
}

impl Left {
    /// The rows of the screen.
    fn screen(&self) -> Vec<String> {
        let size = |number| NonZeroU16::new(number).unwrap();
        let mut terminal = vt100::Parser::new(size(100), size(80), 0);
        terminal.process(self.written.as_bytes());
        let rows = terminal.screen().rows(0, 80);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// Checks that everything was switched off before the reason was printed.
    fn is_restored(&self) {
        assert!(self.takes_lines);
        let (before, after) = self.written.split_once(WHY).expect(&self.written);
        for (on, off) in [
            ("\u{1b}[?1049h", "\u{1b}[?1049l"),
            ("\u{1b}[?25l", "\u{1b}[?25h"),
            ("\u{1b}[?2004h", "\u{1b}[?2004l"),
        ] {
            assert!(before.rfind(on) <= before.rfind(off), "{on:?}: {before:?}");
            assert!(!after.contains(on), "{on:?}: {after:?}");
        }
        let rows = self.screen();
        assert!(rows.iter().any(|row| row.contains(WHY)), "{rows:#?}");
    }
}

/// Runs a test once more, at a terminal; nothing in the process that was run so.
fn again(test: &str) -> Option<Left> {
    if std::env::var_os(PANICS).is_some() {
        return None;
    }
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let end = || File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap());
    let kept = end();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("tests::{test}"), "--nocapture"])
        .env(PANICS, "1")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::from(end()))
        .stdout(Stdio::from(end()))
        .stderr(Stdio::from(end()))
        .spawn()
        .unwrap();
    let mut ours = File::from(ours);
    let mut terminal = ours.try_clone().unwrap();
    let read = std::thread::spawn(move || {
        let (mut all, mut piece) = (Vec::new(), [0; 4096]);
        // It ends when no process has the other end any more.
        while let Ok(read @ 1..) = terminal.read(&mut piece) {
            all.extend_from_slice(&piece[..read]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let ended = child.wait().unwrap();
    assert_ne!(ended.code(), Some(0), "it panicked");
    let modes = tcgetattr(&mut ours).unwrap().local_modes;
    drop(kept);
    Some(Left {
        written: read.join().unwrap(),
        takes_lines: modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG),
    })
}

#[test]
fn a_panic_while_a_text_is_read_leaves_its_screen_before_the_reason_is_printed() {
    if let Some(left) =
        again("a_panic_while_a_text_is_read_leaves_its_screen_before_the_reason_is_printed")
    {
        return left.is_restored();
    }
    let mut pager = Pager::new(PagedText {
        head: "a text".to_owned(),
        of: "text",
        manner: crate::cli::card_rows::Manner::Prose,
        lines: vec!["its line".to_owned(); 60],
        facts: Vec::new(),
    });
    let read = read(&mut pager, false, || panic!("{WHY}"));
    drop(read);
}

#[test]
fn a_panic_on_the_screen_of_watch_leaves_it_before_the_reason_is_printed() {
    if let Some(left) =
        again("a_panic_on_the_screen_of_watch_leaves_it_before_the_reason_is_printed")
    {
        return left.is_restored();
    }
    let mut own = OwnScreen::enter().unwrap();
    crate::output::bracket_pastes(true);
    own.terminal
        .draw(|frame| frame.render_widget("NEED YOU", frame.area()))
        .unwrap();
    panic!("{WHY}");
}

#[test]
fn a_panic_below_finished_lines_erases_the_block_and_says_why_in_its_place() {
    if let Some(left) =
        again("a_panic_below_finished_lines_erases_the_block_and_says_why_in_its_place")
    {
        left.is_restored();
        let rows = left.screen();
        let is_there = |words: &str| rows.iter().any(|row| row.contains(words));
        assert!(is_there("a finished line"), "{rows:#?}");
        assert!(!is_there("a row of the block"), "{rows:#?}");
        return;
    }
    let mut out = Output::new(Manner::default());
    let block = [
        "a row of the block",
        "your answer> Bl",
        "a row of the block, too",
    ];
    let block = block.map(str::to_owned);
    out.draw_at(&["a finished line".to_owned()], &block, 80, Some(1))
        .unwrap();
    panic!("{WHY}");
}
