//! What the operator types at the screen of `watch` is in the body of a role's next request.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::models::{Model, SPOKEN};
use super::place::{FLOW, Place, RUN, SLOW, wait_until};
use super::steered::{WORDS, speaking, speaks_until_spoken_to, times};

/// How long the terminal waits for something to show before it looks whether it was closed.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// The size of a terminal, unless a test wants another: rows and columns.
const SIZE: (u16, u16) = (40, 200);

/// As far up as tests scroll.
const ROWS_SCROLLED: u16 = 1_000;

/// A terminal with a program on it.
pub(super) struct Terminal {
    pub(super) keys: File,
    /// The sizes it has had, each with how much was written before it.
    sizes: Vec<(usize, (u16, u16))>,
    shown: Arc<Mutex<String>>,
    /// Whether the test has closed it.
    closed: Arc<AtomicBool>,
    pub(super) child: Child,
}

impl Terminal {
    pub(super) fn start(place: &Place, words: &[&str]) -> Self {
        Self::start_with(place, words, &[])
    }

    /// The same, with these variables.
    pub(super) fn start_with(place: &Place, words: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_sized(place, words, (variables, SIZE))
    }

    /// The same, of so many rows and columns.
    pub(super) fn start_sized(
        place: &Place,
        words: &[&str],
        (variables, size): (&[(&str, &str)], (u16, u16)),
    ) -> Self {
        Self::start_command(place.workspace.command(words), variables, size)
    }

    /// The same with the terminal as the one that controls the program, as a shell gives it: Ctrl-C at it is a signal.
    pub(super) fn start_in_control(place: &Place, words: &[&str], size: (u16, u16)) -> Self {
        let program = place.workspace.command(words);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program.get_program());
        command
            .args(program.get_args())
            .current_dir(place.workspace.path())
            .env_clear();
        for (name, value) in program.get_envs() {
            command.env(name, value.unwrap());
        }
        // Its own programs are looked for nowhere.
        command.env("PATH", std::env::var_os("PATH").unwrap());
        Self::start_command(command, &[], size)
    }

    fn start_command(mut command: Command, variables: &[(&str, &str)], size: (u16, u16)) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        tcsetwinsize(&keys, window(size)).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end = || File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap());
        command.env("TERM", "xterm-256color");
        if command.get_program() != "setsid" {
            // What is sent to the group of the program is sent to no other process, as at a terminal of its own.
            command.process_group(0);
        }
        command.envs(variables.iter().copied());
        let child = command
            .stdin(Stdio::from(end()))
            .stdout(Stdio::from(end()))
            .stderr(Stdio::from(end()))
            .spawn()
            .unwrap();
        let keys = File::from(keys);
        let shown = Arc::new(Mutex::new(String::new()));
        let closed = Arc::new(AtomicBool::new(false));
        let (mut screen, all) = (keys.try_clone().unwrap(), Arc::clone(&shown));
        let is_closed = Arc::clone(&closed);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            let mut came = Vec::new();
            while !is_closed.load(Ordering::Acquire) {
                let mut asked = [PollFd::new(&screen, PollFlags::IN)];
                if poll(&mut asked, Some(&LOOK)).unwrap() == 0 {
                    continue;
                }
                // The other end is closed.
                let Ok(read @ 1..) = screen.read(&mut piece) else {
                    return;
                };
                came.extend_from_slice(&piece[..read]);
                // The bytes of a letter may come apart.
                let whole = match std::str::from_utf8(&came) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    Ok(_) | Err(_) => came.len(),
                };
                let text: Vec<u8> = came.drain(..whole).collect();
                all.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&text));
            }
        });
        Self {
            keys,
            sizes: vec![(0, size)],
            shown,
            closed,
            child,
        }
    }

    /// Gives it another size, as when its window is.
    pub(super) fn resize(&mut self, rows: u16, columns: u16) {
        let shown = self.shown.lock().unwrap();
        self.sizes.push((shown.len(), (rows, columns)));
        tcsetwinsize(&self.keys, window((rows, columns))).unwrap();
    }

    /// Where the cursor is, as a terminal reports it: row and column from 1 on.
    pub(super) fn cursor(&self) -> (u16, u16) {
        let (row, column) = self.emulated().screen().cursor_position();
        (row + 1, column + 1)
    }

    fn emulated(&self) -> vt100::Parser {
        let shown = self.shown.lock().unwrap();
        let mut terminal = parser(self.sizes[0].1, ROWS_SCROLLED.into());
        for (number, (from, size)) in self.sizes.iter().enumerate() {
            terminal.screen_mut().set_size(sized(size.0), sized(size.1));
            let to = self
                .sizes
                .get(number + 1)
                .map_or(shown.len(), |next| next.0);
            terminal.process(shown[*from..to].as_bytes());
        }
        terminal
    }

    /// Waits until these words were written so often, wherever they are.
    pub(super) fn writes(&self, words: &str, times: usize) {
        wait_until(words, || {
            let written = self.shown.lock().unwrap();
            written.matches(words).count() >= times
        });
    }

    /// Everything that was written so far.
    pub(super) fn written(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    /// The same on a terminal that says of itself what it is; nothing is the same as an empty word.
    fn start_as(place: &Place, words: &[&str], kind: Option<&str>) -> Self {
        Self::start_with(place, words, &[("TERM", kind.unwrap_or_default())])
    }

    /// All that was written, once the program has ended.
    pub(super) fn all_written(&mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        // The last of it may be on its way still.
        std::thread::sleep(std::time::Duration::from_millis(200));
        (code, self.shown.lock().unwrap().clone())
    }

    /// Waits until these words are on the screen.
    pub(super) fn shows(&self, words: &str) {
        wait_until(words, || {
            let screen = self.screen();
            // Blanks at the end of a row are no different from no text.
            screen.iter().any(|row| row.contains(words.trim_end()))
        });
    }

    /// The rows of the screen.
    pub(super) fn screen(&self) -> Vec<String> {
        let terminal = self.emulated();
        let (_, columns) = terminal.screen().size();
        terminal.screen().rows(0, columns.get()).collect()
    }

    /// Everything that was printed and not drawn over, as far up as one can scroll.
    pub(super) fn scrolled(&self) -> Vec<String> {
        screen(
            &self.shown.lock().unwrap(),
            (ROWS_SCROLLED, self.sizes[0].1.1),
        )
    }

    /// Closes the terminal, as a window that is shut or a line that breaks does.
    fn hang_up(&mut self) {
        self.closed.store(true, Ordering::Release);
        self.keys = File::open("/dev/null").unwrap();
    }

    /// Presses keys; the Enter of a terminal is a carriage return.
    pub(super) fn press(&mut self, keys: &str) {
        self.send(&keys.replace('\n', "\r"));
    }

    /// Sends these bytes.
    pub(super) fn send(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }
}

impl Drop for Terminal {
    /// A test that failed must not leave a screen process behind.
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _waited = self.child.wait();
    }
}

fn window((rows, columns): (u16, u16)) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

fn sized(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

fn parser((rows, columns): (u16, u16), scrolled: usize) -> vt100::Parser {
    vt100::Parser::new(sized(rows), sized(columns), scrolled)
}

/// The contents of a screen of so many rows and columns after this output.
fn screen(written: &str, (rows, columns): (u16, u16)) -> Vec<String> {
    let mut terminal = parser((rows, columns), 0);
    terminal.process(written.as_bytes());
    terminal.screen().rows(0, columns).collect()
}

#[test]
fn words_that_are_typed_at_the_screen_cut_off_the_answer_and_leave_with_the_next_request() {
    let model = Model::start_with(speaks_until_spoken_to);
    let (place, mut driver, flow) = speaking(&model);
    let mut terminal = Terminal::start(&place, &["watch", &flow]);
    terminal.shows("OWNER · demo/");
    terminal.press("S");
    terminal.shows("to owner> ");
    // As a terminal pastes, so that no word comes as a burst of keys.
    terminal.press(&format!("\u{1b}[200~{WORDS}\u{1b}[201~"));
    terminal.shows(WORDS);
    assert_eq!(model.requests(), 1, "nothing is said before it is sent");
    terminal.press("\r");
    terminal.shows("sent; it cuts off the answer that arrives");
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert_eq!(driver.wait().unwrap().code(), Some(0));
    let all: Vec<usize> = (model.heard().iter())
        .map(|body| times(body, WORDS))
        .collect();
    assert_eq!(all, [0, 1]);
}

#[test]
fn words_that_a_flow_refuses_stand_in_the_line_again_with_the_reason_above() {
    let model = Model::start_with(|shown| match shown {
        shown if shown < SPOKEN => vec![super::models::says(&[
            "Which one?\n\n```handoff\ntype: prompt-human\n```\n",
        ])],
        _ => Vec::new(),
    });
    let place = super::models::with_model(&model);
    let flow = place.run_until_it_waits();
    let mut terminal = Terminal::start(&place, &["watch", &flow]);
    terminal.shows("OWNER · demo/");
    terminal.press("s");
    terminal.shows("to owner> ");
    terminal.press(&format!("\u{1b}[200~{WORDS}\u{1b}[201~"));
    terminal.shows(WORDS);
    terminal.press("\r");
    terminal.shows("not at work");
    terminal.press("s");
    terminal.shows(&format!("to owner> {WORDS}"));
    // In a line it leaves the line, and what is typed there is kept; elsewhere it ends.
    terminal.press("\u{3}");
    terminal.shows("? keys");
    terminal.press("\u{3}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    assert_eq!(model.requests(), 1);
}

#[test]
fn a_screen_whose_terminal_is_closed_ends_by_itself() {
    let place = Place::new(FLOW, SLOW);
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    let mut terminal = Terminal::start(&place, &["watch", &flow]);
    terminal.shows("OWNER · demo/");
    terminal.hang_up();
    wait_until("it ends", || terminal.child.try_wait().unwrap().is_some());
}

/// Terminals of editors and old machines, and those that say nothing of themselves.
const DUMB: [Option<&str>; 2] = [Some("dumb"), None];

#[test]
fn on_a_terminal_that_takes_lines_only_no_command_moves_the_cursor() {
    for kind in DUMB {
        let place = Place::new(FLOW, SLOW);
        let mut terminal = Terminal::start_as(&place, &RUN, kind);
        let (code, written) = terminal.all_written();
        assert_eq!(code, Some(0), "{kind:?}: {written}");
        assert!(!written.contains('\u{1b}'), "{kind:?}: {written:?}");
        assert!(
            written.contains("the forward work is done"),
            "{kind:?}: {written:?}"
        );
        let flow = place.flow().unwrap();
        for words in [
            &["ls", "--all"][..],
            &["show", &flow],
            &["status", &flow],
            &["verify"],
        ] {
            let mut terminal = Terminal::start_as(&place, words, kind);
            let (code, written) = terminal.all_written();
            assert_eq!(code, Some(0), "{words:?}: {written}");
            assert!(!written.contains('\u{1b}'), "{words:?}: {written:?}");
            // Nothing is written over either.
            let overwritten = written.replace("\r\n", "\n").contains('\r');
            assert!(!overwritten, "{words:?}: {written:?}");
        }
    }
}

#[test]
fn on_a_terminal_that_takes_lines_only_a_question_ends_the_run_and_watch_names_what_works() {
    for kind in DUMB {
        let place = Place::new(FLOW, super::place::ASKING);
        let mut terminal = Terminal::start_as(&place, &["run", "demo/flow.yaml"], kind);
        let (code, written) = terminal.all_written();
        assert_eq!(code, Some(8), "{kind:?}: {written}");
        assert!(written.contains("Which colour?"), "{kind:?}: {written:?}");
        assert!(!written.contains('\u{1b}'), "{kind:?}: {written:?}");
        let mut terminal = Terminal::start_as(&place, &["watch"], kind);
        let (code, written) = terminal.all_written();
        assert_eq!(code, Some(2), "{kind:?}: {written}");
        assert!(!written.contains('\u{1b}'), "{kind:?}: {written:?}");
        for command in ["a-society status", "a-society run"] {
            assert!(written.contains(command), "{kind:?}: {written:?}");
        }
    }
}

#[test]
fn a_tab_in_a_question_is_as_wide_as_a_tab_and_tells_itself_from_spaces() {
    let asking = super::place::ASKING.replace("'Which colour?'", "\"Which\\tcolour?\"");
    let place = Place::new(FLOW, &asking);
    let flow = place.run_until_it_waits();
    let mut terminal = Terminal::start(&place, &["watch", &flow]);
    terminal.shows("Which   colour?");
    terminal.press("\u{1b}[B");
    terminal.shows("Which→  colour?");
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}
