//! Turns of two requests and one call: in an empty session, in a long one, and two hundred in a row.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::pupil::{Bodies, Pupil, Work};
use crate::run::{Bench, line, median, ms, timed};
use crate::server::{Manner, Server, Spent, words};

/// What a turn took, in milliseconds, and what it wrote.
struct Turn {
    whole: f64,
    /// Beyond the server's own time.
    beyond: f64,
    bare: f64,
    syncs: f64,
    bytes: f64,
    journal: f64,
    hearing: f64,
    body: f64,
    /// Of the process that takes it.
    cpu: f64,
    /// The longest body of all.
    longest: usize,
}

/// A file system in memory, whose syncs take nothing.
const MEMORY: &str = "/dev/shm";

fn take(root: &Path, work: Work, turns: usize) -> Turn {
    let manner = Manner::Writes {
        deltas: 20,
        bytes: 40,
    };
    let server = Server::start(manner);
    let mut pupil = Pupil::start(root, &server, work);
    if !matches!(work, Work::Bare(..)) {
        Bench::settle();
    }
    pupil.go();
    let said = pupil.hear();
    let spent: Spent = server.take_all(turns * 2);
    assert_eq!(spent.requests as usize, turns * 2);
    let per = |value: f64| value / turns as f64;
    let number = |key: &str| {
        let found = said[key].as_f64();
        // What asks and does nothing else writes nothing.
        let nothing = matches!(work, Work::Bare(..)).then_some(0.0);
        found.or(nothing).unwrap_or_else(|| panic!("{key}: {said}"))
    };
    let whole = per(number("wall_us") / 1000.0);
    Turn {
        whole,
        beyond: whole - per(ms(spent.answering)),
        bare: per(number("bare_us") / 1000.0),
        syncs: per(number("syncs")),
        bytes: per(number("bytes")),
        journal: per(said["kinds"]["journal"].as_f64().unwrap_or(0.0)),
        hearing: per(ms(spent.hearing)),
        body: spent.bytes as f64 / f64::from(spent.requests),
        cpu: per(number("cpu_us") / 1000.0),
        longest: spent.longest,
    }
}

#[derive(Serialize)]
struct Plain<'a> {
    role: &'static str,
    content: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// How long it takes to serialise and to send a body of so many messages, and nothing else.
fn bare_request(messages: usize) -> f64 {
    let server = Server::start(Manner::Writes {
        deltas: 1,
        bytes: 1,
    });
    let texts: Vec<String> = (0..messages).map(|_| words(1024)).collect();
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    stream.set_nodelay(true).unwrap();
    let took = (0..9).map(|_| {
        let (time, ()) = timed(|| {
            let messages = texts.iter().enumerate().map(|(at, text)| Plain {
                role: if at % 2 == 0 { "user" } else { "assistant" },
                content: [Part { kind: "text", text }],
            });
            let body = serde_json::to_vec(&messages.collect::<Vec<_>>()).unwrap();
            let head = format!(
                "POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&body).unwrap();
            let mut end = Vec::new();
            while !end.ends_with(b"\r\n0\r\n\r\n") {
                let mut some = [0; 4096];
                let count = stream.read(&mut some).unwrap();
                end.extend_from_slice(&some[..count]);
            }
        });
        ms(time)
    });
    median(took.collect())
}

/// A turn in an empty session, and one in a session of 10,000 messages and 10 MB.
pub(crate) fn a_turn(bench: &Bench) {
    let (rounds, turns, messages) = bench.either((7, 20, 10_000), (3, 6, 1_000));
    let (mut empty, mut grown) = (Vec::new(), Vec::new());
    let (mut light, mut heavy) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // The first node's turn of a long session is the one that was there before.
        let long = Work::Grown(turns + 1, messages);
        let folder = |what: &str| bench.folder(&format!("{what}-{round}"));
        empty.push(take(&folder("empty"), Work::Empty(turns), turns));
        grown.push(take(&folder("grown"), long, turns));
        let memory = || tempfile::tempdir_in(MEMORY).unwrap();
        light.push(take(memory().path(), Work::Empty(turns), turns));
        heavy.push(take(memory().path(), long, turns));
    }
    let shown = |all: &[Turn]| {
        format!(
            "{:.2} ms beyond the server's own time, of which {:.1} syncs took {:.2} ms when measured bare \
             ({:.2} ms in all)",
            of(all, |turn| turn.beyond),
            of(all, |turn| turn.syncs),
            of(all, |turn| turn.bare),
            of(all, |turn| turn.whole),
        )
    };
    line(
        "a turn of two requests of 20 deltas and one file written, over HTTP, in an empty session",
        "≤ 1.5 ms beyond the server's own time",
        &format!(
            "{}; {:.2} ms in memory",
            shown(&empty),
            of(&light, |turn| turn.beyond)
        ),
    );
    let request = bare_request(messages);
    line(
        &format!("the same in a session of {messages} messages of 1 KB"),
        "≤ 15 ms",
        &format!(
            "{}; {:.2} ms in memory; two requests of {:.1} MB, serialised and sent by the barest program, take {:.2} ms; the server \
             heard them for {:.2} ms",
            shown(&grown),
            of(&heavy, |turn| turn.beyond),
            of(&grown, |turn| turn.body) / 1e6,
            2.0 * request,
            of(&grown, |turn| turn.hearing),
        ),
    );
    line(
        "bytes written a turn, empty and long",
        "about what the turn said",
        &format!(
            "{:.1} KB and {:.1} KB, of which {:.1} KB and {:.1} KB are the journal's and the rest views (the \
             turn said about 2.8 KB and was told 1.8 KB)",
            of(&empty, |turn| turn.bytes) / 1e3,
            of(&grown, |turn| turn.bytes) / 1e3,
            of(&empty, |turn| turn.journal) / 1e3,
            of(&grown, |turn| turn.journal) / 1e3
        ),
    );
}

/// The same work several times, and after each the barest client that sends and receives as much.
fn beside_bare(
    bench: &Bench,
    (what, rounds): (&str, usize),
    (work, turns): (Work, usize),
    bodies: fn(&Turn) -> Bodies,
) -> (Vec<Turn>, Vec<Turn>) {
    let pair = |round| {
        let root = bench.folder(&format!("{what}-{round}"));
        let turn = take(&root, work, turns);
        let bare = take(&root, Work::Bare(turns, bodies(&turn)), turns);
        (turn, bare)
    };
    (0..rounds).map(pair).unzip()
}

/// The processor's time of a turn in an empty session, one turn after the other.
pub(crate) fn processor(bench: &Bench) {
    let (rounds, turns) = bench.either((5, 200), (3, 20));
    let same = |turn: &Turn| Bodies::Same(turn.body as usize);
    let work = (Work::Empty(turns), turns);
    let (all, bare) = beside_bare(bench, ("processor", rounds), work, same);
    line(
        "a turn of two requests and one file written, over HTTP: processor, and time beyond the server's own",
        "≤ 1.0 ms, ≤ 1.5 ms with 3 syncs",
        &format!(
            "{:.2} ms of processor, {:.2} ms beyond the server's own time with {:.1} syncs, which take {:.2} ms \
             bare; the barest client takes {:.2} ms of processor for as many bytes",
            of(&all, |turn| turn.cpu),
            of(&all, |turn| turn.beyond),
            of(&all, |turn| turn.syncs),
            of(&all, |turn| turn.bare),
            of(&bare, |turn| turn.cpu),
        ),
    );
}

/// One node, two hundred beside one another, and one again.
pub(crate) fn fan_out(bench: &Bench) {
    let (rounds, count) = bench.either((5, 200), (3, 20));
    let turns = count + 2;
    let same = |turn: &Turn| Bodies::Same(turn.body as usize);
    let work = (Work::Fan(count), turns);
    let (all, bare) = beside_bare(bench, ("fan", rounds), work, same);
    line(
        &format!("1 → {count} → 1 over HTTP, two requests and one file written a node"),
        "≤ 250 ms",
        &format!(
            "{:.0} ms; {:.2} ms of processor and {:.2} syncs a node; the barest client takes {:.0} ms for as many \
             requests, one after the other, and {:.2} ms of processor a node",
            of(&all, |turn| turn.whole) * turns as f64,
            of(&all, |turn| turn.cpu),
            of(&all, |turn| turn.syncs),
            of(&bare, |turn| turn.whole) * turns as f64,
            of(&bare, |turn| turn.cpu),
        ),
    );
}

/// A thousand nodes of one role, whose session grows with each.
pub(crate) fn chain(bench: &Bench) {
    let (rounds, turns) = bench.either((3, 1_000), (3, 60));
    let growing = |turn: &Turn| Bodies::Growing(turn.longest);
    let work = (Work::Long(turns), turns);
    let (all, bare) = beside_bare(bench, ("chain", rounds), work, growing);
    let beyond = all
        .iter()
        .zip(&bare)
        .map(|(turn, bare)| turn.whole - bare.whole);
    line(
        &format!(
            "a chain of {turns} nodes of one role over HTTP, a node, without sending its bodies"
        ),
        "≤ 2.5 ms",
        &format!(
            "{:.2} ms of {:.2} ms; {:.2} ms of processor; the barest client takes {:.2} ms and {:.2} ms of processor \
             to send as much, {:.1} MB at the end; {:.1} syncs take {:.2} ms bare",
            median(beyond.collect()),
            of(&all, |turn| turn.whole),
            of(&all, |turn| turn.cpu),
            of(&bare, |turn| turn.whole),
            of(&bare, |turn| turn.cpu),
            of(&all, |turn| turn.longest as f64) / 1e6,
            of(&all, |turn| turn.syncs),
            of(&all, |turn| turn.bare),
        ),
    );
}

fn of(all: &[Turn], value: fn(&Turn) -> f64) -> f64 {
    median(all.iter().map(value).collect())
}

/// Everything in a folder, in bytes.
fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => size_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// A flow of two hundred turns and 1.2 million tokens of four bytes.
pub(crate) fn two_hundred_turns(bench: &Bench) {
    let turns = bench.either(200, 20);
    // With a file of 12 KB that is read once a turn 24 KB, or 6,000 tokens, a turn.
    let server = Server::start(Manner::Reads {
        deltas: 60,
        bytes: 100,
    });
    let root = bench.folder("disk");
    let mut pupil = Pupil::start(&root, &server, Work::Long(turns));
    pupil.go();
    let said: Value = pupil.hear();
    let folder = Path::new(said["folder"].as_str().unwrap());
    let journal = size_of(&folder.join("journal"));
    line(
        &format!(
            "a flow of {turns} turns and {:.2} million tokens: bytes on the disk",
            turns as f64 * 0.006
        ),
        "≤ 20 MB",
        &format!(
            "{:.1} MB, of which the journal has {:.1} MB; {:.1} MB were written in all",
            size_of(folder) as f64 / 1e6,
            journal as f64 / 1e6,
            said["bytes"].as_f64().unwrap() / 1e6
        ),
    );
}
