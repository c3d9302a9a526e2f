//! What the operator types while a flow is watched: keys, or lines.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{Receiver, TryRecvError, TrySendError, sync_channel};

use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios};
use rustix::termios::{tcflush, tcgetattr, tcsetattr};

/// Pieces that were typed and not looked at. More are dropped: none of them answers anything.
const PIECES_MAX: usize = 64;

/// The longest line that is waited for.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Standard input, read on a thread of its own, because reading waits.
#[derive(Debug)]
pub(crate) struct Prompt {
    pieces: Receiver<Vec<u8>>,
    /// The beginning of a line.
    line: Vec<u8>,
    /// How the terminal was, while it hands over keys instead of lines.
    before: Option<Termios>,
}

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
        std::thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || {
                let mut piece = [0; 4096];
                while let Ok(bytes @ 1..) = io::stdin().lock().read(&mut piece) {
                    // What nobody asked for is dropped, so that a key is taken when it is pressed.
                    let piece = piece[..bytes].to_vec();
                    if matches!(typed.try_send(piece), Err(TrySendError::Disconnected(_))) {
                        return;
                    }
                }
            })
            .ok()?;
        Some(Self {
            pieces,
            line: Vec::new(),
            before: None,
        })
    }

    /// Takes keys from here on, one by one and without showing them, or whole lines. Signals and what is
    /// printed are as before.
    pub(crate) fn take_keys(&mut self, wanted: bool) {
        match (wanted, self.before.take()) {
            (true, None) => {
                let Ok(before) = tcgetattr(io::stdin()) else {
                    return;
                };
                let mut keys = before.clone();
                keys.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
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
        let dropped = self.pieces.try_iter().count();
        self.line.clear();
        waits > 0 || dropped > 0
    }

    /// What was typed since the last look.
    pub(crate) fn heard(&mut self) -> Heard {
        let mut keys = Vec::new();
        loop {
            match self.pieces.try_recv() {
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

impl Drop for Prompt {
    /// The terminal is left as it was.
    fn drop(&mut self) {
        self.take_keys(false);
    }
}
