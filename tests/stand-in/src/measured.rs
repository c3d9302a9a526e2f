//! The stand-in as figures need it: it keeps connections, as providers do, and counts its own time. It takes
//! requests as bytes and neither checks nor keeps them, because that takes the longer the larger a session is,
//! and the figures are those of the program.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::Act;

/// What one request and its answer took.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// From the first byte of the request to its last.
    pub hearing: Duration,
    /// From the last byte of the request to the last byte of the answer.
    pub answering: Duration,
    /// How long the body of the request is.
    pub bytes: usize,
}

/// A server on loopback that ends with the process. What it answers depends on the body of each
/// request; each exchange is reported when it is over.
#[derive(Debug)]
pub struct Measured {
    /// Where it is asked.
    pub url: String,
}

/// The answers, and the receiver of the reports.
struct Serving<P, T> {
    plan: P,
    told: T,
}

impl Measured {
    /// Starts one. The acts of an answer begin with [`kept_head`] and end with [`kept_end`].
    pub fn start(
        plan: impl Fn(&[u8]) -> Vec<Act> + Send + Sync + 'static,
        told: impl Fn(Exchange) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = Arc::new(Serving { plan, told });
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let serving = Arc::clone(&serving);
                // A client that goes away ends its connection.
                thread::spawn(move || serving.serve(&connection));
            }
        });
        Self { url }
    }
}

impl<P: Fn(&[u8]) -> Vec<Act>, T: Fn(Exchange)> Serving<P, T> {
    fn serve(&self, connection: &TcpStream) -> Option<()> {
        connection.set_nodelay(true).ok()?;
        let mut speaking = connection.try_clone().ok()?;
        let mut reader = BufReader::with_capacity(256 * 1024, connection);
        let (mut line, mut body) = (String::new(), Vec::new());
        let (tell_gone, _gone) = channel();
        loop {
            let begun = read_request(&mut reader, &mut line, &mut body)?;
            let heard = Instant::now();
            for act in (self.plan)(&body) {
                act.done(&mut speaking, &tell_gone)?;
            }
            (self.told)(Exchange {
                hearing: heard - begun,
                answering: heard.elapsed(),
                bytes: body.len(),
            });
        }
    }
}

/// Reads a request, and says when it began.
fn read_request(
    reader: &mut impl BufRead,
    line: &mut String,
    body: &mut Vec<u8>,
) -> Option<Instant> {
    let (mut length, mut begun) = (0, None);
    loop {
        line.clear();
        if reader.read_line(line).ok()? == 0 {
            return None;
        }
        begun.get_or_insert_with(Instant::now);
        let head = line.trim().to_ascii_lowercase();
        if let Some(value) = head.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if head.is_empty() {
            break;
        }
    }
    body.resize(length, 0);
    reader.read_exact(body).ok()?;
    begun
}

/// The beginning of a stream on a connection that is kept.
pub fn kept_head() -> Act {
    const HEAD: &str =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    Act::Send(HEAD.into())
}

/// Events of such a stream, as its bytes.
pub fn kept_part(events: &str) -> Vec<u8> {
    format!("{:x}\r\n{events}\r\n", events.len()).into_bytes()
}

/// The end of such a stream.
pub fn kept_end() -> Act {
    Act::Send(b"0\r\n\r\n".into())
}
