//! Messages over a server's pipes, within bounds.
//!
//! The SDK would take any line; here a line has a length, lines that are no messages have a
//! number, and whatever breaks the protocol ends the connection with a reason.

use std::borrow::Cow;
use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, OnceLock};

use a_society_base::redact::Redactor;
use a_society_base::thread::{self, NoThread};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot};

use super::limits::{MESSAGE_BYTES_MAX, MESSAGES_WAITING, NOISE_LINES_MAX};
use super::plain;
use super::process::StderrTail;

/// How much of a line that breaks the protocol is repeated.
const LINE_SHOWN_BYTES: usize = 120;

/// How much of it is looked through for secrets first.
const LINE_LOOKED_AT_BYTES: usize = 4 * 1024;

/// The two pipes as the SDK wants them.
#[derive(Debug)]
pub(super) struct Pipes {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    outgoing: Option<mpsc::Sender<Outgoing>>,
}

/// Why we ended a connection, set once.
pub(super) type CloseReason = Arc<OnceLock<String>>;

/// A message, and whom to tell when it is written.
type Outgoing = (Vec<u8>, oneshot::Sender<std::io::Result<()>>);

/// Why a message cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendFault {
    #[error("the server does not listen any more")]
    Closed,
    #[error("{0}")]
    Pipe(#[from] std::io::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

impl Pipes {
    pub(super) fn new(
        stdin: ChildStdin,
        stdout: ChildStdout,
        aside: StderrTail,
        verdict: CloseReason,
        redactor: Arc<Redactor>,
    ) -> Result<Self, NoThread> {
        let (arrived, incoming) = mpsc::channel(MESSAGES_WAITING);
        thread::begin("listen", move || {
            if let Err(why) = read(stdout, &arrived, &aside, &redactor) {
                let _first = verdict.set(why);
            }
        })?;
        let (outgoing, to_write) = mpsc::channel(MESSAGES_WAITING);
        thread::begin("speak", move || write(stdin, to_write))?;
        Ok(Self {
            incoming,
            outgoing: Some(outgoing),
        })
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = SendFault;

    fn name() -> Cow<'static, str> {
        "pipes".into()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), SendFault>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let (tell, told) = oneshot::channel();
            let outgoing = outgoing.ok_or(SendFault::Closed)?;
            let sent = outgoing.send((line, tell)).await;
            sent.map_err(|_| SendFault::Closed)?;
            told.await.map_err(|_| SendFault::Closed)??;
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), SendFault> {
        // The writer ends when its channel has no sender, and closes the server's input with it.
        self.outgoing = None;
        self.incoming.close();
        Ok(())
    }
}

fn write(mut stdin: impl Write, mut lines: mpsc::Receiver<Outgoing>) {
    while let Some((line, tell)) = lines.blocking_recv() {
        let written = stdin.write_all(&line).and_then(|()| stdin.flush());
        let is_over = written.is_err();
        drop(tell.send(written));
        if is_over {
            return;
        }
    }
}

/// Reads messages until the stream ends, the receiver is dropped, or the protocol is broken.
fn read(
    stream: impl Read,
    arrived: &mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
    aside: &StderrTail,
    redactor: &Redactor,
) -> Result<(), String> {
    let mut stream = BufReader::new(stream);
    let mut noise = 0_u32;
    let mut line = Vec::new();
    while next_line(&mut stream, &mut line)? {
        match message(&line) {
            PipeLine::Empty => {}
            PipeLine::Message(message) => {
                if arrived.blocking_send(*message).is_err() {
                    return Ok(());
                }
            }
            PipeLine::Noise => {
                noise += 1;
                if noise > NOISE_LINES_MAX {
                    return Err(format!(
                        "it printed more than {NOISE_LINES_MAX} lines that are no messages, the \
                         last of them {}",
                        shown(&line, redactor)
                    ));
                }
                aside.push(&line);
                aside.push(b"\n");
            }
            PipeLine::Broken(why) => {
                return Err(format!(
                    "it sent a message that cannot be read ({why}): {}",
                    shown(&line, redactor)
                ));
            }
        }
    }
    Ok(())
}

/// What a line is.
enum PipeLine {
    Empty,
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    Noise,
    Broken(String),
}

fn message(line: &[u8]) -> PipeLine {
    let line = line.trim_ascii();
    if line.is_empty() {
        return PipeLine::Empty;
    }
    match serde_json::from_slice(line) {
        Ok(message) => PipeLine::Message(Box::new(message)),
        // A program's own log may be JSON as well; only what claims to be a message is held to it.
        Err(why) if line.starts_with(b"{") && contains(line, b"\"jsonrpc\"") => {
            PipeLine::Broken(plain::line(&why.to_string()))
        }
        Err(_) => PipeLine::Noise,
    }
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|window| window == word)
}

/// Whether there was another line. The last one may lack its end.
fn next_line(stream: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, String> {
    line.clear();
    loop {
        let read = match stream.fill_buf() {
            Ok(read) => read,
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(why) => return Err(format!("its output cannot be read: {why}")),
        };
        if read.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(read.len(), |end| end + 1);
        let bytes = read.get(..end.unwrap_or(taken)).unwrap_or(read);
        if line.len() + bytes.len() > MESSAGE_BYTES_MAX {
            return Err(format!(
                "it sent a line of more than {MESSAGE_BYTES_MAX} bytes"
            ));
        }
        line.extend_from_slice(bytes);
        stream.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn shown(line: &[u8], redactor: &Redactor) -> String {
    // A secret that is cut here is beyond the part that is shown.
    let line = line.get(..LINE_LOOKED_AT_BYTES).unwrap_or(line);
    let line = redactor.redact(&String::from_utf8_lossy(line));
    format!("`{}`", plain::head(&plain::line(&line), LINE_SHOWN_BYTES))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages(bytes: &[u8]) -> (usize, Result<(), String>, String) {
        let (arrived, mut incoming) = mpsc::channel(1_000);
        let aside = StderrTail::default();
        let redactor = Redactor::new(&["canary-s3cret".to_owned()]);
        let end = read(bytes, &arrived, &aside, &redactor);
        drop(arrived);
        let mut count = 0;
        while incoming.try_recv().is_ok() {
            count += 1;
        }
        (count, end, aside.shown(&redactor))
    }

    const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[test]
    fn m07_noise_between_messages_is_heard_and_set_aside() {
        let text = format!("starting…\n{{\"level\":\"info\"}}\n\n{MESSAGE}\nlog\r\n{MESSAGE}");
        let (count, end, aside) = messages(text.as_bytes());
        assert_eq!((count, end), (2, Ok(())));
        assert_eq!(aside, "starting… {\"level\":\"info\"} log");
    }

    #[test]
    fn m07_what_breaks_the_protocol_ends_the_connection_with_a_reason() {
        let deep = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}1{}}}",
            "[".repeat(1000),
            "]".repeat(1000)
        );
        let table = [
            ("x\n".repeat(1000), "no messages"),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu\n".to_owned(),
                "cannot be read",
            ),
            (deep, "cannot be read"),
            ("x".repeat(MESSAGE_BYTES_MAX + 1), "a line of more than"),
            ("\u{1b}[2J\n".repeat(1000), "`\\u{1b}[2J`"),
        ];
        for (text, words) in table {
            let (count, end, _) = messages(text.as_bytes());
            let why = end.unwrap_err();
            assert!(
                count == 0 && why.contains(words) && why.len() < 1_000,
                "{why}"
            );
        }
    }

    #[test]
    fn k03_a_line_that_is_repeated_has_no_secret_in_it() {
        let line = format!("{}canary-s3cret\n", "x".repeat(LINE_SHOWN_BYTES - 6));
        let (_, end, _) = messages(line.repeat(1_000).as_bytes());
        let why = end.unwrap_err();
        assert!(!why.contains("can"), "{why}");
    }

    proptest! {
        #[test]
        fn no_bytes_stop_the_reader_from_saying_how_it_went(
            bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        ) {
            let (count, end, _) = messages(&bytes);
            prop_assert!(count == 0 || end.is_ok());
        }

        #[test]
        fn messages_are_found_however_their_bytes_are_cut(cut in 1_usize..200) {
            let text = format!("noise\n{MESSAGE}\n{MESSAGE}\n");
            let stream = BufReader::with_capacity(cut, text.as_bytes());
            let (arrived, mut incoming) = mpsc::channel(10);
            read(stream, &arrived, &StderrTail::default(), &Redactor::new(&[])).unwrap();
            prop_assert!(incoming.try_recv().is_ok() && incoming.try_recv().is_ok());
            prop_assert!(incoming.try_recv().is_err());
        }
    }
}
