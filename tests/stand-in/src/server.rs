//! A server of models that follows a script and refuses what the real ones refuse.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::Wire;
use crate::strict::{self, Ending, Piece, Used};

/// What the server does with one request that it accepts.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Answers with these pieces, and counts what it has cached.
    Say(Vec<Piece>, Ending),
    /// The same, counted as the test wants it, with a pause after each event.
    Paced(Vec<Piece>, Ending, Used, Duration),
    /// Does these things.
    Do(Vec<Act>),
}

/// One thing that a server does.
#[derive(Debug, Clone)]
pub enum Act {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes again and again, with this time between, until the client is gone.
    Repeat(Duration, Vec<u8>),
    /// Sends what there is by then, with this time between, until there is no more.
    Pour(Duration, Source),
    /// Does nothing for a while.
    Wait(Duration),
    /// Lets the test do something of its own, such as to look at the clock.
    Let(Deed),
    /// Does nothing until the other side is gone.
    Stall,
    /// Breaks the connection.
    Reset,
}

/// Something that a test does between two things of the server.
#[derive(Clone)]
pub struct Deed(Arc<dyn Fn() + Send + Sync>);

impl Deed {
    pub fn new(deed: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(deed))
    }
}

/// Gives what is to be sent by now, or nothing once that is all.
#[derive(Clone)]
pub struct Source(Arc<dyn Fn() -> Option<Vec<u8>> + Send + Sync>);

impl Source {
    pub fn new(source: impl Fn() -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("something of the test's own")
    }
}

impl std::fmt::Debug for Deed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("something of the test's own")
    }
}

impl Act {
    /// Does it. Nothing is returned when the connection is of no more use.
    pub(crate) fn done(self, connection: &mut TcpStream, tell_gone: &Sender<()>) -> Option<()> {
        match self {
            Self::Send(bytes) => connection.write_all(&bytes).ok(),
            Self::Repeat(pause, bytes) => {
                while connection.write_all(&bytes).is_ok() {
                    thread::sleep(pause);
                }
                tell_gone.send(()).ok()
            }
            Self::Pour(pause, Source(source)) => {
                while let Some(bytes) = source() {
                    connection.write_all(&bytes).ok()?;
                    thread::sleep(pause);
                }
                Some(())
            }
            Self::Wait(time) => {
                thread::sleep(time);
                Some(())
            }
            Self::Let(Deed(deed)) => {
                deed();
                Some(())
            }
            Self::Stall => {
                // Reads until the other side closes or breaks the connection.
                let _rest = connection.read_to_end(&mut Vec::new());
                tell_gone.send(()).ok()
            }
            Self::Reset => {
                rustix::net::sockopt::set_socket_linger(&*connection, Some(Duration::ZERO))
                    .unwrap();
                None
            }
        }
    }
}

impl Reply {
    /// A stream that says exactly this and then ends.
    pub fn stream(events: &str) -> Self {
        Self::Do(vec![stream_head(), Act::Send(events.into())])
    }

    fn into_acts(self) -> Vec<Act> {
        match self {
            Self::Do(acts) => acts,
            Self::Say(..) | Self::Paced(..) => Vec::new(),
        }
    }

    /// A response with a status, headers and a body.
    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nrequest-id: req_7\r\nconnection: close\r\n{headers}\r\n"
        );
        Self::Do(vec![Act::Send(head.into()), Act::Send(body.into())])
    }
}

/// The beginning of a stream.
pub fn stream_head() -> Act {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_7\r\nconnection: close\r\n\r\n";
    Act::Send(head.into())
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Where it went.
    pub path: String,
    /// Its head, in small letters.
    pub headers: String,
    /// What it says.
    pub body: Value,
    /// The same, as it left.
    pub text: String,
}

/// A server on loopback. It ends with the test.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Gets one message for each connection whose client went away while it was being answered.
    gone: Mutex<Receiver<()>>,
}

/// What a server does about a request with its number.
type Judge = Box<dyn Fn(&Seen, usize) -> Reply + Send + Sync>;

/// What a server does next.
enum Plan {
    /// One after the other.
    InOrder(Mutex<VecDeque<Reply>>),
    /// What a request makes of it, with its number from 1.
    By(Judge),
}

struct Shared {
    plan: Plan,
    seen: Mutex<Vec<Seen>>,
    refused: Mutex<Vec<String>>,
    /// The beginnings of conversations that are cached, as their text.
    cached: Mutex<Vec<String>>,
    tell_gone: Sender<()>,
}

impl Server {
    /// One that does these things, one after the other.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(Plan::InOrder(Mutex::new(replies.into_iter().collect())))
    }

    /// One whose replies depend on the requests, each with its number from 1. What breaks the rules of
    /// its wire is refused before.
    pub fn by(plan: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::with(Plan::By(Box::new(plan)))
    }

    fn with(plan: Plan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell_gone, gone) = channel();
        let shared = Arc::new(Shared {
            plan,
            seen: Mutex::default(),
            refused: Mutex::default(),
            cached: Mutex::default(),
            tell_gone,
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { return };
                let serving = Arc::clone(&accepting);
                thread::spawn(move || serving.serve(connection));
            }
        });
        Self {
            address,
            shared,
            gone: Mutex::new(gone),
        }
    }

    /// Where it is asked.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far, whether it was refused or not.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// What it refused, and why.
    pub fn refused(&self) -> Vec<String> {
        self.shared.refused.lock().unwrap().clone()
    }

    /// Says, in whatever thread, whether it was asked anything yet.
    pub fn is_asked(&self) -> impl Fn() -> bool + Send + use<> {
        let shared = Arc::clone(&self.shared);
        move || !shared.seen.lock().unwrap().is_empty()
    }

    /// Waits until the other side of a connection has gone away.
    pub fn hears_the_other_side_go(&self) -> bool {
        let gone = self.gone.lock().unwrap();
        gone.recv_timeout(Duration::from_secs(20)).is_ok()
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a stand-in at {}", self.address)
    }
}

impl Shared {
    fn serve(&self, mut connection: TcpStream) -> Option<()> {
        connection.set_nodelay(true).ok()?;
        let (path, headers, body) = read_request(&connection)?;
        let text = String::from_utf8(body).ok()?;
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        let seen = Seen {
            path,
            headers,
            body,
            text,
        };
        let number = {
            let mut all = self.seen.lock().unwrap();
            all.push(seen.clone());
            all.len()
        };
        for act in self.acts(&seen, number)? {
            act.done(&mut connection, &self.tell_gone)?;
        }
        Some(())
    }

    /// What is done about a request.
    fn acts(&self, seen: &Seen, number: usize) -> Option<Vec<Act>> {
        let Some(wire) = Wire::at(&seen.path) else {
            return Some(Reply::status(404, "", "{}").into_acts());
        };
        if let Err(why) = strict::check(wire, &seen.body) {
            self.refused.lock().unwrap().push(why.clone());
            return Some(Reply::status(400, "", &wire.refusal(&why)).into_acts());
        }
        let reply = match &self.plan {
            Plan::InOrder(replies) => replies.lock().unwrap().pop_front()?,
            Plan::By(plan) => plan(seen, number),
        };
        let model = seen.body["model"].as_str().unwrap_or_default();
        Some(match reply {
            Reply::Do(acts) => acts,
            Reply::Say(pieces, ending) => {
                let used = self.count(wire, &seen.body);
                let events = strict::say(wire, model, &pieces, ending, used);
                vec![stream_head(), Act::Send(events.into())]
            }
            Reply::Paced(pieces, ending, used, pause) => {
                let events = strict::say(wire, model, &pieces, ending, used);
                let sends = events
                    .split_inclusive("\n\n")
                    .map(|event| Act::Send(event.into()));
                let paced = sends.flat_map(|send| [send, Act::Wait(pause)]);
                std::iter::once(stream_head()).chain(paced).collect()
            }
        })
    }

    /// What of a request is cached, as its wire does it: up to the marks that it sets, or as far
    /// as it begins like one before.
    fn count(&self, wire: Wire, request: &Value) -> Used {
        let mut cached = self.cached.lock().unwrap();
        let text = unmarked(request);
        let read = cached
            .iter()
            .map(|known| common(known, &text))
            .max()
            .unwrap_or(0);
        let marks = request.to_string().contains("\"cache_control\"");
        let caches = marks || wire != Wire::Anthropic;
        let read = if caches { read } else { 0 };
        let fresh = (text.len() - read) as u64;
        if caches {
            cached.push(text);
        }
        let writes = if wire == Wire::Anthropic && marks {
            fresh
        } else {
            0
        };
        Used {
            fresh: fresh - writes,
            cache_read: read as u64,
            cache_write: writes,
        }
    }
}

/// The conversation without the marks for the cache, which move.
fn unmarked(request: &Value) -> String {
    let messages = request.get("messages").or_else(|| request.get("input"));
    let text = format!("{}{}", request["system"], messages.unwrap_or(&Value::Null));
    text.replace(r#""cache_control":{"type":"ephemeral"},"#, "")
}

fn common(one: &str, two: &str) -> usize {
    one.bytes()
        .zip(two.bytes())
        .take_while(|(a, b)| a == b)
        .count()
}

fn read_request(connection: &TcpStream) -> Option<(String, String, Vec<u8>)> {
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let headers = head.to_lowercase();
    let length = headers.split("content-length: ").nth(1)?;
    let length: usize = length.split("\r\n").next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, headers, body))
}
