//! Any history becomes one that every provider takes.
//!
//! A history grows by answers that each of the wires really read, of two models each, and suffers what
//! histories suffer: calls without results, results in the wrong place, turns that were stopped, text
//! that a crash cut off, beginnings that compaction replaced. The result is then sent to every wire and
//! model, and the strict server's rules decide whether it is accepted.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use a_society_facts::message::{Image, ImageKind, Message, ToolCall};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::value::RawValue;

use super::strict::{self, Ending, Piece, Used};
use super::talk::read;
use super::*;
use crate::repair::repair;

const MODELS: [&str; 2] = ["m-1", "m-2"];

/// What happens to a session next.
#[derive(Debug, Clone)]
enum Happening {
    /// A message of the operator.
    Told(String),
    /// A model answers.
    Answered {
        wire: usize,
        model: usize,
        pieces: Vec<Piece>,
        ending: Ending,
    },
    /// The open calls get results, but these do not.
    Ran { missing: u8, is_error: bool },
    /// One call is denied, and no other runs.
    Denied,
    /// A crash left a beginning of an answer.
    CutOff(String),
    /// The messages before this one are gone.
    Trimmed(u8),
    /// A summary replaces everything.
    Compacted(String),
    /// One message is gone.
    Lost(u8),
    /// Two messages changed places.
    Swapped(u8, u8),
    /// One message is there twice.
    Doubled(u8),
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}",
        1 => Just(String::new()),
        1 => Just(" \n".to_owned()),
        1 => Just("\u{6f22}\u{1f600}\u{0}\u{7f}".to_owned()),
    ]
}

fn piece() -> impl Strategy<Value = Piece> {
    let id = prop_oneof![3 => "call_[a-f]", 1 => "functions\\.read:[0-3]", 1 => Just(String::new()), 1 => "[a-z]{70}"];
    let name = prop_oneof![6 => Just("read_file".to_owned()), 1 => Just("list_directory".to_owned()), 1 => Just("odd.n\u{e4}me".to_owned()), 1 => Just(String::new())];
    let arguments = prop_oneof![
        5 => Just(r#"{"path":"a"}"#.to_owned()),
        1 => Just(" { } ".to_owned()),
        1 => Just(String::new()),
        1 => Just("null".to_owned()),
        1 => Just(r#"{"path":"#.to_owned()),
    ];
    prop_oneof![
        2 => words().prop_map(Piece::Think),
        3 => words().prop_map(Piece::Text),
        4 => (id, name, arguments).prop_map(|(id, name, arguments)| Piece::Call { id, name, arguments }),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    let ending = prop_oneof![
        6 => Just(Ending::Natural),
        1 => Just(Ending::Limit),
        1 => Just(Ending::Refusal),
        1 => Just(Ending::Pause),
        1 => Just(Ending::Window),
    ];
    let answered = (
        0..3_usize,
        0..2_usize,
        prop::collection::vec(piece(), 0..5),
        ending,
    );
    prop_oneof![
        5 => words().prop_map(Happening::Told),
        9 => answered.prop_map(|(wire, model, pieces, ending)| Happening::Answered { wire, model, pieces, ending }),
        6 => (0..8_u8, any::<bool>()).prop_map(|(missing, is_error)| Happening::Ran { missing, is_error }),
        1 => Just(Happening::Denied),
        2 => words().prop_map(Happening::CutOff),
        1 => any::<u8>().prop_map(Happening::Trimmed),
        1 => words().prop_map(Happening::Compacted),
        1 => any::<u8>().prop_map(Happening::Lost),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(one, two)| Happening::Swapped(one, two)),
        1 => any::<u8>().prop_map(Happening::Doubled),
    ]
}

#[derive(Debug, Default)]
struct Session {
    history: Vec<HistoryMessage>,
    answers: usize,
}

impl Session {
    fn suffer(&mut self, happening: Happening) {
        let length = self.history.len();
        let place = |at: u8| usize::from(at) % length.max(1);
        match happening {
            Happening::Told(words) => self.history.push(user(&words)),
            Happening::Answered {
                wire,
                model,
                pieces,
                ending,
            } => self.answer(Wire::ALL[wire], MODELS[model], &pieces, ending),
            Happening::Ran { missing, is_error } => self.run(missing, is_error),
            Happening::Denied => self.run(u8::MAX - 1, true),
            Happening::CutOff(words) => self
                .history
                .push(Message::Assistant { content: words }.into()),
            Happening::Trimmed(at) => drop(self.history.drain(..place(at).min(length))),
            Happening::Compacted(words) => self.history = vec![user(&words)],
            Happening::Lost(at) if length > 0 => drop(self.history.remove(place(at))),
            Happening::Swapped(one, two) if length > 0 => self.history.swap(place(one), place(two)),
            Happening::Doubled(at) if length > 0 => {
                self.history.push(self.history[place(at)].clone())
            }
            Happening::Lost(_) | Happening::Swapped(..) | Happening::Doubled(_) => {}
        }
    }

    fn answer(&mut self, wire: Wire, model: &str, pieces: &[Piece], ending: Ending) {
        let mut pieces = pieces.to_vec();
        if ending == Ending::Pause {
            // A provider pauses in work of its own.
            pieces.retain(|piece| !matches!(piece, Piece::Call { .. }));
            pieces.push(Piece::Server);
        }
        let stream = strict::say(wire, model, &pieces, ending, Used::default());
        let answer = read(wire, model, &[stream.as_bytes()]).unwrap();
        self.answers += 1;
        // Some names come again, as they do when the counting was lost.
        self.history.push(said(&answer, self.answers % 7));
    }

    /// Results of the last calls; a bit of `missing` says which have none.
    fn run(&mut self, missing: u8, is_error: bool) {
        let makes =
            |said: &&HistoryMessage| matches!(*said.message, Message::AssistantToolCalls { .. });
        let Some(last) = self.history.iter().rev().find(makes) else {
            return;
        };
        let mut results = results(last);
        for result in &mut results {
            if let Message::ToolResult {
                is_error: was,
                content,
                image,
                ..
            } = Arc::make_mut(&mut result.message)
            {
                *was = is_error;
                if missing % 3 == 1 {
                    let bytes: Arc<[u8]> = Arc::from(*b"GIF89a\x0a\0\x14\0");
                    *image = Some(Box::new(Image::of(ImageKind::Gif, bytes)));
                }
                if is_error {
                    content.clear();
                }
            }
        }
        let kept = results.into_iter().enumerate();
        let kept = kept.filter(|(at, _)| *at >= 8 || missing & (1 << at) == 0);
        self.history.extend(kept.map(|(_, result)| result));
    }
}

/// Whether every provider and model takes the history, and whether mending it again changes
/// nothing.
fn check(
    history: &[HistoryMessage],
    providers: &[HttpProvider],
    tools: &[ToolDefinition],
) -> Result<(), String> {
    for (wire, provider) in Wire::ALL.into_iter().zip(providers) {
        for (model, thinking) in MODELS.into_iter().zip([Thinking::Levels, Thinking::Budget]) {
            let once: Vec<HistoryMessage> = repair(history, wire.word(), model)
                .into_iter()
                .map(Cow::into_owned)
                .collect();
            let twice = repair(&once, wire.word(), model);
            if !twice.iter().all(|said| matches!(said, Cow::Borrowed(_)))
                || twice.len() != once.len()
            {
                return Err(format!(
                    "{wire} {model}: what is mended is mended again: {once:?}"
                ));
            }
            let request = ModelRequest {
                model,
                thinking,
                ..request(history, tools)
            };
            let body = provider
                .prepare(&request)
                .map_err(|why| why.to_string())?
                .body;
            let body: serde_json::Value =
                serde_json::from_slice(&body.whole()).map_err(|why| why.to_string())?;
            strict::check(wire, &body).map_err(|why| format!("{wire} {model}: {why}\n{body:#}"))?;
        }
    }
    Ok(())
}

fn providers() -> Vec<HttpProvider> {
    let made = Wire::ALL.map(|wire| provider_at(wire, "http://127.0.0.1:1", short_times()));
    made.into()
}

#[test]
fn whatever_happened_to_a_session_every_provider_takes_it() {
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    let cases = if full { 100_000 } else { 2_000 };
    let (providers, tools) = (providers(), tools());
    let with_blocks = Cell::new(0_u32);
    let strategy = prop::collection::vec(happening(), 0..24);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&strategy, |happenings| {
        let mut session = Session::default();
        for happening in happenings {
            session.suffer(happening);
        }
        if session.history.iter().any(|said| said.blocks.is_some()) {
            with_blocks.set(with_blocks.get() + 1);
        }
        check(&session.history, &providers, &tools).map_err(TestCaseError::fail)
    });
    if let Err(why) = result {
        panic!("{why}");
    }
    assert!(
        with_blocks.get() > cases / 4,
        "too few histories have anything to replay"
    );
}

/// A request as each wire writes it at once.
fn at_once(wire: Wire, request: &ModelRequest<'_>, history: &[Cow<'_, HistoryMessage>]) -> Vec<u8> {
    use crate::wire::{anthropic, chat, responses};
    let body = match wire {
        Wire::Anthropic => anthropic::body(request, history),
        Wire::Chat => chat::body(request, history, ChatDialect::default()),
        Wire::Responses => responses::body(request, history),
    };
    body.unwrap()
}

/// The same session as a process that has just read it holds it.
fn read_again(history: &[HistoryMessage]) -> Vec<HistoryMessage> {
    let said = history.iter().map(|said| HistoryMessage {
        message: Arc::new(Message::clone(&said.message)),
        blocks: said.blocks.clone(),
    });
    said.collect()
}

#[test]
fn a_request_that_goes_on_from_the_last_is_to_the_byte_what_it_is_when_written_at_once() {
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    let cases = if full { 100_000 } else { 1_000 };
    let (tools, went_on, written) = (tools(), Cell::new(0_u32), Cell::new(0_u32));
    // Most of the time the same model is asked with the same words before the conversation.
    let asked = (happening(), 0..8_usize, 0..8_u8);
    let strategy = prop::collection::vec(asked, 0..32);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&strategy, |happenings| {
        let providers = Wire::ALL.map(|wire| {
            let transport = Transport::new(short_times(), None, Vec::new()).keeping_all();
            let transport = Arc::new(transport);
            let endpoint = endpoint(wire, "http://127.0.0.1:1");
            let made = HttpProvider::new(endpoint, Arc::clone(&transport)).unwrap();
            (wire, made, transport)
        });
        let mut session = Session::default();
        for (happening, model, way) in happenings {
            session.suffer(happening);
            if way == 1 {
                session.history = read_again(&session.history);
            }
            let model = usize::from(model == 1);
            for (wire, provider, transport) in &providers {
                let system = ["You are the owner.", "", "You are another."];
                let request = ModelRequest {
                    model: MODELS[model],
                    system: system[usize::from(way.saturating_sub(5))],
                    thinking: [Thinking::Budget, Thinking::Levels][model],
                    ..request(&session.history, &tools)
                };
                let kept = transport.kept("flow/owner");
                went_on.set(went_on.get() + u32::from(kept > 0));
                written.set(written.get() + 1);
                let prepared = provider.prepare(&request).unwrap();
                let mended = repair(&session.history, wire.word(), request.model);
                let anew = at_once(*wire, &request, &mended);
                let body = prepared.body.whole();
                let text = String::from_utf8_lossy(&body);
                prop_assert_eq!(text, String::from_utf8_lossy(&anew), "{}", wire);
                prop_assert_eq!(prepared.hash, a_society_facts::Hash::of(&anew));
            }
        }
        Ok(())
    });
    if let Err(why) = result {
        panic!("{why}");
    }
    assert!(
        went_on.get() > written.get() / 4,
        "too few requests had anything to go on from: {} of {}",
        went_on.get(),
        written.get()
    );
}

#[test]
fn the_rules_refuse_what_is_not_mended() {
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "read_file".into(),
        input: RawValue::from_string("{}".into()).unwrap(),
    };
    let calls: HistoryMessage = Message::AssistantToolCalls {
        calls: vec![call("1.0")],
        text: None,
    }
    .into();
    let result: HistoryMessage = Message::ToolResult {
        call_id: "1.0".into(),
        tool_name: "read_file".into(),
        content: "x".into(),
        is_error: false,
        image: None,
    }
    .into();
    let (tools, blank) = (tools(), user(" "));
    for (history, wires) in [
        (vec![user("a"), calls.clone()], 3),
        (vec![user("a"), result.clone()], 3),
        (vec![user("a"), calls, user("b"), result], 3),
        (vec![blank], 3),
        (vec![user("a"), user("b")], 1),
        (
            vec![
                user("a"),
                Message::Assistant {
                    content: "b".into(),
                }
                .into(),
            ],
            2,
        ),
    ] {
        let raw: Vec<Cow<'_, HistoryMessage>> = history.iter().map(Cow::Borrowed).collect();
        let request = request(&history, &tools);
        let refused = Wire::ALL.into_iter().filter(|wire| {
            let body = at_once(*wire, &request, &raw);
            let body = serde_json::from_slice(&body).unwrap();
            strict::check(*wire, &body).is_err()
        });
        assert_eq!(refused.count(), wires, "{history:?}");
    }
}
