//! What the operator types while a flow is watched: keys, or lines.

use std::io::{self, IsTerminal, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use rustix::termios::{InputModes, LocalModes, OptionalActions, QueueSelector, Termios};
use rustix::termios::{tcflush, tcgetattr, tcsetattr};

use super::signals::Waker;
use crate::frame::CursorPosition;
use crate::output::bracket_pastes;

/// Pieces that were typed and not looked at. More are dropped: none of them answers anything.
const PIECES_MAX: usize = 64;

/// The longest line that is waited for.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Standard input, read on a thread of its own, because reading waits.
pub(crate) struct Prompt {
    pieces: Receiver<Vec<u8>>,
    /// A piece that ended a wait.
    first: Option<Vec<u8>>,
    /// What ends a wait for them, with a piece in which nothing is; gone with the thread that reads.
    waker: Weak<SyncSender<Vec<u8>>>,
    /// What ends another wait whenever something is typed.
    wakers: Arc<Mutex<Option<Waker>>>,
    /// The beginning of a line.
    line: Vec<u8>,
    /// Keys that may be the beginning of what the terminal was asked for, while it was.
    report: Option<Vec<u8>>,
    /// Where the terminal said that its cursor is.
    position: Option<CursorPosition>,
    /// How the terminal was, while it hands over keys instead of lines.
    before: Option<Termios>,
    /// What asks the thread to leave standard input alone, what it says then, and what wakes it again.
    bell: PipeWriter,
    resting: Receiver<()>,
    wake: SyncSender<()>,
}

/// While it exists, the process does not read standard input.
#[derive(Debug)]
pub(crate) struct Rest {
    wake: SyncSender<()>,
}

impl Drop for Rest {
    fn drop(&mut self) {
        let _woken = self.wake.try_send(());
    }
}

/// How long the thread may take to leave standard input alone.
const RESTS_WITHIN: Duration = Duration::from_secs(1);

/// Waits for something to read. Whether it is the bell.
fn is_rung(bell: &PipeReader) -> bool {
    let stdin = io::stdin();
    let mut ends = [
        PollFd::new(&stdin, PollFlags::IN),
        PollFd::new(bell, PollFlags::IN),
    ];
    while poll(&mut ends, None) == Err(Errno::INTR) {}
    ends[1].revents().contains(PollFlags::IN)
}

/// How long a terminal may take to hand over what it holds of a line.
const UNFINISHED: Duration = Duration::from_millis(50);

/// How long the answer of a terminal is waited for before another program reads from it.
const ANSWERS_WITHIN: Duration = Duration::from_millis(100);

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Keys.
    Keys(Vec<u8>),
    /// A line.
    Line(String),
    /// Nothing yet.
    Nothing,
    /// There will be nothing more.
    End,
}

impl Prompt {
    /// Begins to read, if a person sits at standard input and the system has a thread left.
    pub(crate) fn open() -> Option<Self> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let (typed, pieces) = sync_channel(PIECES_MAX);
        let typed = Arc::new(typed);
        let waker = Arc::downgrade(&typed);
        let wakers: Arc<Mutex<Option<Waker>>> = Arc::default();
        let waiting = Arc::clone(&wakers);
        let (mut rung, bell) = io::pipe().ok()?;
        let (rests, resting) = sync_channel(1);
        let (wake, woken) = sync_channel(1);
        std::thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || {
                let mut piece = [0; 4096];
                loop {
                    if is_rung(&rung) {
                        let _rung = rung.read(&mut piece);
                        if rests.send(()).is_err() || woken.recv().is_err() {
                            return;
                        }
                        continue;
                    }
                    let Ok(bytes @ 1..) = io::stdin().lock().read(&mut piece) else {
                        return;
                    };
                    // Unexpected input is dropped, so that a key is taken when it is pressed.
                    let piece = piece[..bytes].to_vec();
                    if matches!(typed.try_send(piece), Err(TrySendError::Disconnected(_))) {
                        return;
                    }
                    let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(wake) = &*waiting {
                        wake();
                    }
                }
            })
            .ok()?;
        Some(Self {
            pieces,
            waker,
            wakers,
            first: None,
            line: Vec::new(),
            report: None,
            position: None,
            before: None,
            bell,
            resting,
            wake,
        })
    }

    /// What ends a wait here from another thread.
    pub(crate) fn waker(&self) -> impl Fn() -> bool + Send + 'static {
        let waker = Weak::clone(&self.waker);
        move || {
            let Some(typed) = waker.upgrade() else {
                return false;
            };
            // A queue that is full ends the wait already.
            let _woken = typed.try_send(Vec::new());
            true
        }
    }

    /// Ends this wait, too, whenever something is typed.
    pub(crate) fn wakes(self, waker: impl Fn() -> bool + Send + 'static) -> Self {
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        *wakers = Some(Box::new(waker));
        drop(wakers);
        self
    }

    /// Whether something was typed that is not taken yet.
    pub(crate) fn is_typed(&mut self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Leaves standard input to another program until what is given back is gone.
    pub(crate) fn rest(&self) -> Rest {
        let mut bell = &self.bell;
        if bell.write_all(&[0]).is_ok() {
            // One that reads no more has nothing to leave alone.
            let _resting = self.resting.recv_timeout(RESTS_WITHIN);
        }
        Rest {
            wake: self.wake.clone(),
        }
    }

    /// Takes keys from here on, one by one and without showing them, or whole lines. Signals and what is
    /// printed are as before.
    pub(crate) fn take_keys(&mut self, wanted: bool) {
        if !wanted && self.report.take().is_some() && self.position.is_none() {
            // What the terminal was asked for is not for what reads next.
            let _answer = self.pieces.recv_timeout(ANSWERS_WITHIN);
        }
        let had = self.before.is_some();
        self.set_keys(wanted);
        match (had, self.before.is_some()) {
            (false, true) => bracket_pastes(true),
            (true, false) => bracket_pastes(false),
            (true, true) | (false, false) => {}
        }
    }

    fn set_keys(&mut self, wanted: bool) {
        match (wanted, self.before.take()) {
            (true, None) => {
                let Ok(before) = tcgetattr(io::stdin()) else {
                    return;
                };
                let mut keys = before.clone();
                keys.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
                // Enter and Ctrl-J are two keys.
                keys.input_modes -= InputModes::ICRNL;
                if tcsetattr(io::stdin(), OptionalActions::Now, &keys).is_ok() {
                    self.before = Some(before);
                }
            }
            (true, before) => self.before = before,
            (false, Some(before)) => {
                // A terminal that is gone cannot be set, and does not need to be.
                let _set = tcsetattr(io::stdin(), OptionalActions::Now, &before);
            }
            (false, None) => {}
        }
        self.line.clear();
    }

    /// Drops what was typed until now: it answers nothing that was not on the screen. Says whether there
    /// was anything.
    pub(crate) fn forget(&mut self) -> bool {
        let stdin = io::stdin();
        let waits = rustix::io::ioctl_fionread(&stdin).unwrap_or_default();
        // What cannot be flushed is read, and dropped with the pieces below.
        let _flushed = tcflush(&stdin, QueueSelector::IFlush);
        let first = self.first.take();
        let dropped = self.pieces.try_iter().count();
        self.line.clear();
        waits > 0 || dropped > 0 || first.is_some()
    }

    /// Takes the line that is being typed out of the terminal, where whole lines are typed.
    pub(crate) fn unfinished(&mut self) -> Option<String> {
        if self.before.is_some() {
            return None;
        }
        // A terminal that hands over keys gives what it held for the line.
        self.set_keys(true);
        let mut line = Vec::new();
        while let Ok(piece) = self.pieces.recv_timeout(UNFINISHED) {
            line.extend(piece);
        }
        self.set_keys(false);
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        (!line.is_empty()).then_some(line)
    }

    /// Waits until something is typed, but not for longer than this. Whether something was.
    pub(crate) fn wait(&mut self, longest: Duration) -> bool {
        if self.first.is_none() {
            match self.pieces.recv_timeout(longest) {
                Ok(piece) => self.first = Some(piece),
                Err(RecvTimeoutError::Timeout) => {}
                // Nothing will come, and the wait is one still.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(longest),
            }
        }
        self.first.is_some()
    }

    /// Waits for the terminal to say where its cursor is, from here on. What it says is no key.
    pub(crate) fn expect_position(&mut self) {
        self.report = Some(Vec::new());
        self.position = None;
    }

    /// What it said since, once.
    pub(crate) const fn take_position(&mut self) -> Option<CursorPosition> {
        self.position.take()
    }

    /// Waits no longer: what looked like its answer was typed.
    pub(crate) fn expect_nothing(&mut self) {
        if let Some(keys) = self.report.take().filter(|keys| !keys.is_empty()) {
            self.first = Some(match self.first.take() {
                Some(after) => [keys, after].concat(),
                None => keys,
            });
        }
    }

    /// What was typed since the last look.
    pub(crate) fn heard(&mut self) -> Heard {
        let heard = self.typed();
        if self.report.is_some()
            && let Heard::Keys(keys) = heard
        {
            return self.without_report(keys);
        }
        heard
    }

    /// Keys without what the terminal was asked for.
    fn without_report(&mut self, keys: Vec<u8>) -> Heard {
        let mut keys = [self.report.take().unwrap_or_default(), keys].concat();
        match report_in(&keys) {
            CursorReport::Whole { from, to, position } => {
                self.position = Some(position);
                keys.drain(from..to);
            }
            CursorReport::Begun { from } => self.report = Some(keys.split_off(from)),
            CursorReport::None => self.report = Some(Vec::new()),
        }
        if keys.is_empty() {
            Heard::Nothing
        } else {
            Heard::Keys(keys)
        }
    }

    fn typed(&mut self) -> Heard {
        let mut keys = Vec::new();
        loop {
            let piece = self.first.take().map_or_else(|| self.pieces.try_recv(), Ok);
            match piece {
                Ok(piece) if self.before.is_some() => keys.extend(piece),
                Ok(piece) => {
                    self.line.extend(piece);
                    if let Some(line) = self.whole_line() {
                        return Heard::Line(line);
                    }
                }
                Err(TryRecvError::Empty) if keys.is_empty() => return Heard::Nothing,
                Err(TryRecvError::Disconnected) if keys.is_empty() => return Heard::End,
                Err(_) => return Heard::Keys(keys),
            }
        }
    }

    /// A line, once its end was typed or it is too long.
    fn whole_line(&mut self) -> Option<String> {
        let ends = self.line.ends_with(b"\n") || self.line.len() > LINE_BYTES_MAX;
        let line = ends.then(|| std::mem::take(&mut self.line))?;
        Some(
            String::from_utf8_lossy(&line)
                .trim_end_matches(['\r', '\n'])
                .to_owned(),
        )
    }
}

/// What keys hold of the answer of a terminal: the row and the column of its cursor.
#[derive(Debug, PartialEq, Eq)]
enum CursorReport {
    None,
    /// It begins there, at the end of what came so far.
    Begun {
        from: usize,
    },
    Whole {
        from: usize,
        to: usize,
        position: CursorPosition,
    },
}

/// A longer number is no place on a screen.
const DIGITS_MAX: usize = 5;

fn report_in(keys: &[u8]) -> CursorReport {
    let places = keys.iter().enumerate().filter(|(_, key)| **key == 0x1b);
    for (from, _) in places {
        match report_of(&keys[from..]) {
            CursorReport::None => {}
            CursorReport::Begun { .. } => return CursorReport::Begun { from },
            CursorReport::Whole { to, position, .. } => {
                let to = from + to;
                return CursorReport::Whole { from, to, position };
            }
        }
    }
    CursorReport::None
}

/// The same of keys that begin with the sign with which such an answer begins.
fn report_of(keys: &[u8]) -> CursorReport {
    let begun = CursorReport::Begun { from: 0 };
    let Some(rest) = keys.strip_prefix(b"\x1b[") else {
        return if keys.len() < 2 {
            begun
        } else {
            CursorReport::None
        };
    };
    let mut numbers = [0, 0];
    let (mut at, mut digits) = (0, 0);
    for (number, key) in rest.iter().enumerate() {
        match key {
            b'0'..=b'9' if digits < DIGITS_MAX => {
                numbers[at] = numbers[at] * 10 + usize::from(key - b'0');
                digits += 1;
            }
            b';' if at == 0 && digits > 0 => (at, digits) = (1, 0),
            b'R' if at == 1 && digits > 0 => {
                let [row, column] = numbers;
                return CursorReport::Whole {
                    from: 0,
                    to: b"\x1b[".len() + number + 1,
                    position: CursorPosition { row, column },
                };
            }
            _ => return CursorReport::None,
        }
    }
    begun
}

impl Drop for Prompt {
    /// The terminal is left as it was.
    fn drop(&mut self) {
        self.take_keys(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_a_terminal_is_found_among_keys_and_whatever_looks_similar_is_keys() {
        let position = CursorPosition {
            row: 12,
            column: 345,
        };
        for (keys, report) in [
            (
                &b"ab\x1b[12;345Rcd"[..],
                CursorReport::Whole {
                    from: 2,
                    to: 11,
                    position,
                },
            ),
            (
                b"\x1b[A\x1b[12;345R",
                CursorReport::Whole {
                    from: 3,
                    to: 12,
                    position,
                },
            ),
            (b"ab\x1b[12;", CursorReport::Begun { from: 2 }),
            (b"ab\x1b", CursorReport::Begun { from: 2 }),
            (b"\x1b[200~12;345R", CursorReport::None),
            (b"\x1b[;3R", CursorReport::None),
            (b"\x1b[123456;1R", CursorReport::None),
            (b"\x1b[1;2;3R", CursorReport::None),
            (b"12;345R", CursorReport::None),
        ] {
            assert_eq!(report_in(keys), report, "{keys:?}");
        }
    }
}
