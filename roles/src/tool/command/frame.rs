//! The protocol between a guard and the process that started it.
//!
//! The guard reads two lines, the order and the word that opens the gate, and reports in frames: a
//! letter, a length, and as many bytes.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// The line with which a guard begins, behind whatever its program says before.
pub(super) const READY: &str = "a-society guard 1";

/// The line that opens the gate.
pub(super) const GO: &str = "go";

/// The largest frame: what is read at once from an output, and every report, fit.
pub(super) const FRAME_BYTES: usize = 64 * 1024;

/// How many bytes may precede the line with which a guard begins.
const PREAMBLE_BYTES: usize = 4096;

/// What a guard is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct GuardOrder {
    /// The program and its arguments.
    pub run: Vec<String>,
    /// All of its variables.
    pub variables: Vec<(String, String)>,
    /// Where it runs.
    pub folder: String,
    /// What that folder is, so that nothing else can have taken its place.
    pub folder_id: String,
    /// How long it may take.
    pub time_limit_ms: u64,
    /// The walls.
    pub walls: Walls,
}

/// Behind which walls a program runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Walls {
    /// Whether there are walls at all.
    pub are_up: bool,
    /// Folders that may be written.
    pub writable: Vec<String>,
    /// Folders and files that may be read and run.
    pub readable: Vec<String>,
    /// The folder of the state of flows, of which nothing is to be seen but the record folder.
    pub hidden: Option<String>,
    /// The record folder.
    pub record: String,
    /// Whether the network may be used.
    pub network: bool,
    /// Whether nothing runs when one of them is missing.
    pub must_all: bool,
    /// In which spaces the guard runs.
    pub spaces: Spaces,
}

/// Spaces of its own for a guard: its processes, its mounts, its network.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Spaces {
    /// None: those of everybody.
    #[default]
    None,
    /// Made for the guard, which hides in them what is to be hidden.
    Own,
    /// Made by bubblewrap, this program, which has hidden it already.
    Bubblewrap(String),
}

impl Spaces {
    /// Whether there are any.
    pub(super) fn are_there(&self) -> bool {
        *self != Self::None
    }
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CommandEnd {
    /// It was not started, and why.
    NotStarted(String),
    /// By itself.
    Exited(u8),
    /// By a signal that was not ours.
    Signalled(i32),
    /// At its time limit.
    TimedOut,
    /// It was stopped.
    Stopped,
}

/// What a guard says last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GuardReport {
    /// How it ended.
    pub end: CommandEnd,
    /// Walls that could not be put up.
    pub missing: Vec<String>,
    /// Processes that live on nevertheless.
    pub survivors: Vec<u32>,
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GuardFrame {
    /// A piece of what the command wrote, in the order in which it did.
    Output(Vec<u8>),
    /// The end.
    End(GuardReport),
}

/// Writes one frame.
pub(super) fn write(frame: &GuardFrame, to: &mut impl Write) -> io::Result<()> {
    let json;
    let (kind, bytes) = match frame {
        GuardFrame::Output(bytes) => (b'o', bytes.as_slice()),
        GuardFrame::End(report) => {
            json = serde_json::to_vec(report)?;
            (b'x', json.as_slice())
        }
    };
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    to.write_all(&[kind])?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

/// Reads one frame; nothing at the end.
pub(super) fn read(from: &mut impl Read) -> io::Result<Option<GuardFrame>> {
    let mut kind = [0];
    if from.read(&mut kind)? == 0 {
        return Ok(None);
    }
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > FRAME_BYTES {
        return Err(io::Error::other("a frame is too large"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    match kind {
        [b'o'] => Ok(Some(GuardFrame::Output(bytes))),
        [b'x'] => Ok(Some(GuardFrame::End(serde_json::from_slice(&bytes)?))),
        [_] => Err(io::Error::other("a frame is of no known kind")),
    }
}

/// Reads up to the line with which a guard begins.
pub(super) fn await_ready(from: &mut impl Read) -> io::Result<()> {
    let mut line = Vec::new();
    for _ in 0..PREAMBLE_BYTES {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        match byte {
            [b'\n'] if line == READY.as_bytes() => return Ok(()),
            [b'\n'] => line.clear(),
            [byte] => line.push(byte),
        }
    }
    Err(io::Error::other("it does not say that it is a guard"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_and_torn_ones_are_faults() {
        let report = GuardReport {
            end: CommandEnd::Exited(3),
            missing: vec!["x".to_owned()],
            survivors: vec![7],
        };
        let frames = [
            GuardFrame::Output(b"a\0\xff".to_vec()),
            GuardFrame::Output(Vec::new()),
            GuardFrame::End(report),
        ];
        let mut bytes = b"running 1 test\na-society guard 1\n".to_vec();
        for frame in &frames {
            write(frame, &mut bytes).unwrap();
        }
        let mut from = bytes.as_slice();
        await_ready(&mut from).unwrap();
        for frame in frames {
            assert_eq!(read(&mut from).unwrap(), Some(frame));
        }
        assert_eq!(read(&mut from).unwrap(), None);
        let torn = &bytes[bytes.len() - 3..];
        assert!(read(&mut &torn[..]).is_err());
        assert!(read(&mut b"o\xff\xff\xff\xff".as_slice()).is_err());
    }
}
