//! Conversations that go well, on each wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use super::server::{Act, Reply, Server, stream_head};
use super::strict::{Ending, Piece};
use super::*;
use crate::wire::reader::{AnswerProgress, AskedRequest, EventReader};
use crate::wire::{anthropic, chat, responses};
use crate::{AnswerStop, FaultClass};

fn piece_names(arrivals: &[StreamArrival]) -> Vec<&'static str> {
    let mut names: Vec<&str> = arrivals
        .iter()
        .map(|arrival| match arrival {
            StreamArrival::Event(StreamEvent::Text(_)) => "text",
            StreamArrival::Event(StreamEvent::Reasoning(_)) => "reasoning",
            StreamArrival::Event(StreamEvent::CallBegun { .. }) => "begun",
            StreamArrival::Event(StreamEvent::CallArguments { .. }) => "arguments",
            StreamArrival::Event(StreamEvent::CallEnded { .. }) => "ended",
            StreamArrival::Event(StreamEvent::Usage(_)) => "usage",
            StreamArrival::Event(StreamEvent::Stalled { .. }) => "stalled",
            StreamArrival::Answer(_) => "answer",
            StreamArrival::Fault(_) => "fault",
        })
        .filter(|name| *name != "usage")
        .collect();
    names.dedup();
    names
}

#[test]
fn an_answer_is_heard_while_it_comes_and_whole_at_the_end() {
    for wire in Wire::ALL {
        let pieces = vec![
            Piece::Think("Let me look. \u{1f914}".into()),
            Piece::text("I look at \u{6f22}\u{5b57}."),
            Piece::call("call_a", r#"{"path": "a.md"}"#),
            Piece::call("call_b", r#"{"path":"b.md"}"#),
        ];
        let server = Server::start([Reply::Say(pieces, Ending::Natural)]);
        let heard = arrivals(&provider(wire, &server), &[user("Look.")]);
        let calls: &[&str] = match wire {
            // This wire says only at the very end that calls are whole.
            Wire::Chat => &["begun", "arguments", "begun", "arguments", "ended"],
            Wire::Anthropic | Wire::Responses => {
                &["begun", "arguments", "ended", "begun", "arguments", "ended"]
            }
        };
        let expected = [&["reasoning", "text"], calls, &["answer"]].concat();
        assert_eq!(piece_names(&heard), expected, "{wire}");
        assert_eq!(texts(&heard), "I look at \u{6f22}\u{5b57}.", "{wire}");
        let Some(StreamArrival::Answer(answer)) = heard.last() else {
            panic!("{wire}: {heard:?}");
        };
        assert_eq!(answer.stop, AnswerStop::Tools, "{wire}");
        assert_eq!(answer.text, "I look at \u{6f22}\u{5b57}.", "{wire}");
        assert_eq!(answer.request_id.as_deref(), Some("req_7"));
        let inputs: Vec<&str> = answer.calls.iter().map(|call| call.input.get()).collect();
        assert_eq!(
            inputs,
            [r#"{"path": "a.md"}"#, r#"{"path":"b.md"}"#],
            "{wire}"
        );
        assert!(
            answer.calls.iter().all(|call| call.fault.is_none()),
            "{wire}"
        );
        assert!(
            answer.usage_is_known && answer.usage.output_tokens == 12,
            "{wire}"
        );
        assert_eq!(server.refused(), [""; 0], "{wire}");
    }
}

#[test]
fn each_wire_is_spoken_at_its_own_path_with_its_own_key() {
    for (wire, path, header) in [
        (Wire::Anthropic, "/v1/messages", format!("x-api-key: {KEY}")),
        (
            Wire::Chat,
            "/v1/chat/completions",
            format!("authorization: bearer {KEY}"),
        ),
        (
            Wire::Responses,
            "/v1/responses",
            format!("authorization: bearer {KEY}"),
        ),
    ] {
        let server = Server::start([Reply::Say(vec![Piece::text("Hi.")], Ending::Natural)]);
        let provider = provider(wire, &server);
        let answer = ask(&provider, &[user("Hello.")]).unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.stop),
            ("Hi.", AnswerStop::End)
        );
        let seen = &server.seen()[0];
        assert_eq!(seen.path, path);
        assert!(seen.headers.contains(&header), "{}", seen.headers);
        assert!(!format!("{provider:?}").contains(KEY), "{provider:?}");
    }
}

#[test]
fn reasoning_is_given_back_unchanged_while_calls_are_answered_and_caches_hold() {
    for wire in Wire::ALL {
        let first = vec![
            Piece::Think("First this.".into()),
            Piece::text(" \n"),
            Piece::call("call_a", r#"{"path":"a"}"#),
            Piece::call("call_b", r#"{"path":"b"}"#),
        ];
        let replies = [
            Reply::Say(first, Ending::Natural),
            Reply::Say(vec![Piece::text("Done.")], Ending::Natural),
        ];
        let server = Server::start(replies);
        let provider = provider(wire, &server);
        let mut history = vec![user("Look.")];
        let answer = ask(&provider, &history).unwrap();
        let written = match wire {
            Wire::Anthropic => answer.usage.cache_write_tokens,
            Wire::Chat | Wire::Responses => answer.usage.input_tokens,
        };
        assert!(written > 0 && answer.usage.cache_read_tokens == 0, "{wire}");
        let answered = said(&answer, 1);
        history.push(answered.clone());
        history.extend(results(&answered));
        let answer = ask(&provider, &history).unwrap_or_else(|why| panic!("{wire}: {why}"));
        assert!(
            answer.usage.cache_read_tokens > 0,
            "{wire}: {:?}",
            answer.usage
        );
        assert_eq!(answer.text, "Done.", "{wire}");
        assert_eq!(server.refused(), [""; 0], "{wire}");
        let again = server.seen()[1].body.to_string();
        assert!(again.contains("First this."), "{wire}: {again}");
        assert!(
            again.contains("call_a") && again.contains("call_b"),
            "{wire}: {again}"
        );
    }
}

#[test]
fn another_model_never_sees_the_reasoning_of_the_first() {
    for wire in Wire::ALL {
        let first = vec![
            Piece::Think("Secret.".into()),
            Piece::call("call_a", r#"{"path":"a"}"#),
        ];
        let replies = [
            Reply::Say(first, Ending::Natural),
            Reply::Say(vec![Piece::text("Done.")], Ending::Natural),
        ];
        let server = Server::start(replies);
        let provider = provider(wire, &server);
        let mut history = vec![user("Look.")];
        let answered = said(&ask(&provider, &history).unwrap(), 1);
        history.push(answered.clone());
        history.extend(results(&answered));
        let tools = tools();
        for thinking in [Thinking::Levels, Thinking::Budget] {
            let other = ModelRequest {
                model: "m-2",
                thinking,
                ..request(&history, &tools)
            };
            let body =
                String::from_utf8(provider.prepare(&other).unwrap().body.whole().into_owned())
                    .unwrap();
            assert!(!body.contains("Secret."), "{wire}: {body}");
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            assert_eq!(strict::check(wire, &body), Ok(()), "{wire}");
        }
    }
}

#[test]
fn a_paused_answer_is_sent_again_as_it_is() {
    let wire = Wire::Anthropic;
    let replies = [
        Reply::Say(vec![Piece::text("I search."), Piece::Server], Ending::Pause),
        Reply::Say(vec![Piece::text("Found.")], Ending::Natural),
    ];
    let server = Server::start(replies);
    let provider = provider(wire, &server);
    let mut history = vec![user("Look.")];
    let answer = ask(&provider, &history).unwrap();
    assert_eq!(answer.stop, AnswerStop::Paused);
    history.push(said(&answer, 1));
    assert_eq!(ask(&provider, &history).unwrap().text, "Found.");
    let last = &server.seen()[1].body["messages"][1]["content"][1];
    assert_eq!(
        (&last["type"], &last["input"]["query"]),
        (&"server_tool_use".into(), &"x".into())
    );
}

#[test]
fn a_request_is_named_by_the_hash_of_the_very_bytes_that_leave() {
    for wire in Wire::ALL {
        let server = Server::start([Reply::Say(vec![Piece::text("Hi.")], Ending::Natural)]);
        let provider = provider(wire, &server);
        let (history, tools) = ([user("Hello.")], tools());
        let prepared = provider.prepare(&request(&history, &tools)).unwrap();
        assert_eq!(
            prepared.hash,
            a_society_facts::Hash::of(&prepared.body.whole())
        );
        let again = provider.prepare(&request(&history, &tools)).unwrap();
        assert_eq!(prepared.hash, again.hash);
        let sent: serde_json::Value = serde_json::from_slice(&prepared.body.whole()).unwrap();
        let mut stream = provider.start(prepared, &StopSignal::default());
        while stream.next_arrival().is_some() {}
        assert_eq!(server.seen()[0].body, sent);
    }
}

#[test]
fn a_long_body_arrives_as_it_was_named_whoever_kept_its_beginning() {
    for wire in Wire::ALL {
        let replies = [1, 2].map(|_| Reply::Say(vec![Piece::text("Hi.")], Ending::Natural));
        let server = Server::start(replies);
        let provider = provider(wire, &server);
        let tools = tools();
        let mut history: Vec<HistoryMessage> = (0..9)
            .flat_map(|_| {
                let content = "\u{6f22}\n".repeat(32 * 1024);
                [user(&content), Message::Assistant { content }.into()]
            })
            .collect();
        for turn in 0..2 {
            history.push(user("Hello."));
            let prepared = provider.prepare(&request(&history, &tools)).unwrap();
            let sent: serde_json::Value = serde_json::from_slice(&prepared.body.whole()).unwrap();
            assert_eq!(
                prepared.hash,
                a_society_facts::Hash::of(&prepared.body.whole())
            );
            assert!(prepared.body.clone().into_pieces().len() > 1);
            let mut stream = provider.start(prepared, &StopSignal::default());
            while stream.next_arrival().is_some() {}
            assert!(server.seen()[turn].body == sent, "{wire}");
        }
    }
}

#[test]
fn a_raised_signal_ends_a_stream_that_waits_and_closes_its_connection() {
    for wire in Wire::ALL {
        let server = Server::start([Reply::Do(vec![stream_head(), Act::Stall])]);
        let provider = provider(wire, &server);
        let (history, tools) = ([user("Hello.")], tools());
        let prepared = provider.prepare(&request(&history, &tools)).unwrap();
        let stop = StopSignal::default();
        let mut stream = provider.start(prepared, &stop);
        let is_asked = server.is_asked();
        let raiser = std::thread::spawn(move || {
            // Not before the server has the request: without one it cannot notice a client that goes.
            for _ in 0..4_000 {
                if is_asked() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(50));
            stop.raise();
        });
        let Some(StreamArrival::Fault(fault)) = stream.next_arrival() else {
            panic!("{wire}: the stream did not end");
        };
        assert_eq!(fault.class, FaultClass::Stopped, "{wire}");
        assert!(server.hears_the_other_side_go(), "{wire}");
        raiser.join().unwrap();
    }
}

#[test]
fn a_stream_that_nobody_reads_any_more_closes_its_connection() {
    let begun = strict::chat::chunk(&serde_json::json!({"content": "Hi"}), None);
    let acts = vec![stream_head(), Act::Send(begun.into()), Act::Stall];
    let server = Server::start([Reply::Do(acts)]);
    let provider = provider(Wire::Chat, &server);
    let (history, tools) = ([user("Hello.")], tools());
    let prepared = provider.prepare(&request(&history, &tools)).unwrap();
    let mut stream = provider.start(prepared, &StopSignal::default());
    assert!(matches!(
        stream.next_arrival(),
        Some(StreamArrival::Event(StreamEvent::Text(_)))
    ));
    drop(stream);
    assert!(server.hears_the_other_side_go());
}

#[test]
fn each_wire_is_told_what_to_cache_in_its_own_way() {
    let history = [
        user("One."),
        Message::Assistant {
            content: "Two.".into(),
        }
        .into(),
        user("Three."),
    ];
    let tools = tools();
    let sent = |wire, cache_key| {
        let provider = provider_at(wire, "http://127.0.0.1:1", short_times());
        let request = ModelRequest {
            cache_key,
            ..request(&history, &tools)
        };
        let body = provider.prepare(&request).unwrap().body;
        serde_json::from_slice::<serde_json::Value>(&body.whole()).unwrap()
    };
    let marked = sent(Wire::Anthropic, Some("k"));
    let mark = serde_json::json!({"type": "ephemeral"});
    assert_eq!(marked["system"][0]["cache_control"], mark);
    assert_eq!(marked["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(
        marked["messages"][1]["content"][0].get("cache_control"),
        None
    );
    assert_eq!(marked["messages"][2]["content"][0]["cache_control"], mark);
    assert!(
        !sent(Wire::Anthropic, None)
            .to_string()
            .contains("cache_control")
    );
    assert_eq!(sent(Wire::Responses, Some("k"))["prompt_cache_key"], "k");
    assert_eq!(sent(Wire::Responses, None).get("prompt_cache_key"), None);
    assert_eq!(sent(Wire::Chat, Some("k")).get("prompt_cache_key"), None);
}

/// A conversation whose last round has so many calls.
fn with_round_of(calls: usize) -> Vec<HistoryMessage> {
    let call = |at: usize| a_society_facts::message::ToolCall {
        id: format!("c{at}"),
        name: "list_directory".to_owned(),
        input: RawValue::from_string("{}".to_owned()).unwrap(),
    };
    let asked: HistoryMessage = Message::AssistantToolCalls {
        calls: (0..calls).map(call).collect(),
        text: None,
    }
    .into();
    let found = results(&asked);
    [user("Look."), asked].into_iter().chain(found).collect()
}

#[test]
fn from_each_mark_of_a_long_round_what_was_cached_before_is_in_sight() {
    // So far does the provider look back.
    const IN_SIGHT: usize = 20;
    let tools = tools();
    let provider = provider_at(Wire::Anthropic, "http://127.0.0.1:1", short_times());
    for calls in 1..=20 {
        let history = with_round_of(calls);
        let request = ModelRequest {
            cache_key: Some("k"),
            ..request(&history, &tools)
        };
        let body = provider.prepare(&request).unwrap().body;
        let sent: serde_json::Value = serde_json::from_slice(&body.whole()).unwrap();
        let turns = sent["messages"].as_array().unwrap();
        let blocks = turns
            .iter()
            .flat_map(|it| it["content"].as_array().unwrap());
        let marked: Vec<usize> = (blocks.enumerate())
            .filter(|(_, block)| block.get("cache_control").is_some())
            .map(|(at, _)| at)
            .collect();
        let last = 2 * calls;
        assert_eq!(
            (marked[0], marked.last()),
            (0, Some(&last)),
            "{calls} calls"
        );
        let wanted = if 2 * calls > 15 { 3 } else { 2 };
        assert_eq!(marked.len(), wanted, "{calls} calls: {marked:?}");
        let gaps = marked.windows(2).map(|pair| pair[1] - pair[0]);
        // Between the calls of one answer no mark is possible.
        let out_of_sight = gaps.filter(|gap| *gap > IN_SIGHT.max(calls + 1)).count();
        assert_eq!(out_of_sight, 0, "{calls} calls: {marked:?}");
    }
}

#[test]
fn an_answer_may_take_as_long_as_it_likes_while_it_goes_on() {
    let times = short_times();
    let chunk = strict::chat::chunk(&serde_json::json!({"content": "x"}), None);
    let pause = Duration::from_millis(40);
    // Longer than nothing, and longer than only signs of life, may last.
    let pieces = 2 * times.only_pings.as_millis() / pause.as_millis();
    let mut acts = vec![stream_head()];
    for _ in 0..pieces {
        acts.extend([Act::Send(chunk.clone().into()), Act::Wait(pause)]);
    }
    let end = strict::chat::chunk(&serde_json::json!({}), Some("stop"));
    acts.push(Act::Send(end.into()));
    let server = Server::start([Reply::Do(acts)]);
    let provider = provider_at(Wire::Chat, &server.url(), times);
    let answer = ask(&provider, &[user("Hello.")]).unwrap();
    assert_eq!(answer.text.len() as u128, pieces);
}

#[test]
fn plain_reasoning_is_given_back_until_its_calls_are_answered_and_not_after_that() {
    let stream: String = [
        strict::chat::chunk(&serde_json::json!({"reasoning_content": "I should "}), None),
        strict::chat::chunk(&serde_json::json!({"reasoning_content": "read."}), None),
        strict::chat::chunk(
            &serde_json::json!({"tool_calls": [{"index": 0, "id": "call_a",
            "function": {"name": "list_directory", "arguments": "{}"}}]}),
            Some("tool_calls"),
        ),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let answer = read(Wire::Chat, "m-1", &[stream.as_bytes()]).unwrap();
    let answered = said(&answer, 1);
    let mut history = vec![user("Look."), answered.clone()];
    history.extend(results(&answered));
    let (provider, tools) = (
        provider_at(Wire::Chat, "http://127.0.0.1:1", short_times()),
        tools(),
    );
    let sent = |history: &[HistoryMessage]| {
        let body = provider.prepare(&request(history, &tools)).unwrap().body;
        let body: serde_json::Value = serde_json::from_slice(&body.whole()).unwrap();
        assert_eq!(strict::check(Wire::Chat, &body), Ok(()));
        body["messages"][2].clone()
    };
    assert_eq!(sent(&history)["reasoning_content"], "I should read.");
    history.push(user("And now?"));
    let later = sent(&history);
    assert_eq!(
        (later.get("reasoning_content"), &later["role"]),
        (None, &"assistant".into())
    );
}

#[test]
fn what_a_server_puts_beside_its_calls_goes_back_to_it_and_content_may_come_in_parts() {
    let signed = serde_json::json!({"google": {"thought_signature": "c2lnbmVk"}});
    let parts = serde_json::json!([
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "I look."},
    ]);
    let stream: String = [
        strict::chat::chunk(&serde_json::json!({"content": parts}), None),
        strict::chat::chunk(&serde_json::json!({"tool_calls": [
            {"index": 0, "id": "call_a", "function": {"name": "list_directory", "arguments": "{}"}},
            {"index": 1, "id": "call_b", "function": {"name": "list_directory", "arguments": "{}"},
             "extra_content": signed},
        ]}), Some("tool_calls")),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let answer = read(Wire::Chat, "m-1", &[stream.as_bytes()]).unwrap();
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("I look.", 2));
    let answered = said(&answer, 1);
    let mut history = vec![user("Look."), answered.clone()];
    history.extend(results(&answered));
    let (provider, tools) = (
        provider_at(Wire::Chat, "http://127.0.0.1:1", short_times()),
        tools(),
    );
    let sent = |model| {
        let request = ModelRequest {
            model,
            ..request(&history, &tools)
        };
        let body = provider.prepare(&request).unwrap().body;
        let body: serde_json::Value = serde_json::from_slice(&body.whole()).unwrap();
        assert_eq!(strict::check(Wire::Chat, &body), Ok(()));
        body["messages"][2]["tool_calls"].clone()
    };
    assert_eq!(sent("m-1")[1]["extra_content"], signed);
    assert_eq!(sent("m-1")[0].get("extra_content"), None);
    assert_eq!(sent("m-2")[1].get("extra_content"), None);
}

#[test]
fn the_next_request_goes_over_the_same_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    // It serves one connection only: a client that opens a second one waits for ever.
    let serving = std::thread::spawn(move || {
        let (connection, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(&connection);
        for _ in 0..3 {
            hear(&mut reader);
            let body = hi();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            let chunk = format!("{head}{:x}\r\n{body}\r\n", body.len());
            (&connection).write_all(chunk.as_bytes()).unwrap();
            // The end comes after the answer is whole.
            std::thread::sleep(Duration::from_millis(20));
            (&connection).write_all(b"0\r\n\r\n").unwrap();
        }
    });
    let provider = provider_at(Wire::Chat, &url, short_times());
    for _ in 0..3 {
        assert_eq!(ask(&provider, &[user("Hello.")]).unwrap().text, "Hi.");
        // As long as a tool takes.
        std::thread::sleep(Duration::from_millis(60));
    }
    serving.join().unwrap();
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_is_not_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        for _ in 0..5 {
            let (connection, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(&connection);
            hear(&mut reader);
            let body = hi();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ";
            let answer = format!("{head}{}\r\n\r\n{body}", body.len());
            (&connection).write_all(answer.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let provider = provider_at(Wire::Chat, &url, short_times());
    for _ in 0..5 {
        assert_eq!(ask(&provider, &[user("Hello.")]).unwrap().text, "Hi.");
        std::thread::sleep(Duration::from_millis(60));
    }
    serving.join().unwrap();
}

/// Reads a whole request.
fn hear(reader: &mut BufReader<&TcpStream>) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0);
    }
    let length = head.to_lowercase();
    let length = length.split("content-length: ").nth(1).unwrap();
    let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
    reader.read_exact(&mut vec![0; length]).unwrap();
}

/// A whole answer.
fn hi() -> String {
    let said = [Piece::text("Hi.")];
    strict::say(
        Wire::Chat,
        "m-1",
        &said,
        Ending::Natural,
        Default::default(),
    )
}

pub(super) fn reader(wire: Wire, model: &str) -> Box<dyn EventReader> {
    let tools = tools();
    let needing = tools.iter().filter(|tool| tool.needs_arguments());
    let asked = AskedRequest {
        provider: wire.word().into(),
        model: model.into(),
        needs_arguments: needing.map(|tool| tool.name.clone()).collect(),
        offered: tools.iter().map(|tool| tool.name.clone()).collect(),
        sent_bytes: 1_000,
        request_id: None,
    };
    match wire {
        Wire::Anthropic => Box::new(anthropic::Messages::new(asked)),
        Wire::Chat => Box::new(chat::Chunks::new(asked)),
        Wire::Responses => Box::new(responses::ResponsesReader::new(asked)),
    }
}

/// Reads a stream that arrives in these pieces.
pub(super) fn read(wire: Wire, model: &str, pieces: &[&[u8]]) -> Result<ModelAnswer, RequestFault> {
    use crate::sse::{Decoder, SseItem};
    let mut reader = reader(wire, model);
    let mut decoder = Decoder::default();
    for piece in pieces {
        let mut items = Vec::new();
        decoder.feed(piece, &mut items).unwrap();
        for item in items {
            if let SseItem::Event(event) = item
                && reader.take(&event, &mut Vec::new())? == AnswerProgress::Whole
            {
                return reader.finish();
            }
        }
    }
    reader.finish()
}

#[test]
fn an_answer_is_the_same_wherever_its_stream_is_cut_in_pieces() {
    let words = "a\u{e9}\u{6f22}\u{1f600}\u{5d0}\u{939}";
    let pieces = [
        Piece::text(words),
        Piece::call("call_a", &format!(r#"{{"path":"{words}"}}"#)),
    ];
    for wire in Wire::ALL {
        let sample = strict::say(wire, "m-1", &pieces, Ending::Natural, Default::default());
        let bytes = sample.as_bytes();
        let check = |pieces: &[&[u8]]| {
            let answer = read(wire, "m-1", pieces).unwrap();
            assert_eq!(answer.text, words);
            assert_eq!(
                answer.calls[0].input.get(),
                format!(r#"{{"path":"{words}"}}"#)
            );
        };
        for first in 0..=bytes.len() {
            check(&[&bytes[..first], &bytes[first..]]);
        }
        // Two cuts: all there are in the whole test, and always those within one character and the
        // bytes around it, wherever it is.
        if full() {
            let words = [Piece::text(words)];
            let sample = strict::say(wire, "m-1", &words, Ending::Natural, Default::default());
            let bytes = sample.as_bytes();
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let answer = read(wire, "m-1", &pieces).unwrap();
                    assert_eq!(answer.text, "a\u{e9}\u{6f22}\u{1f600}\u{5d0}\u{939}");
                }
            }
        }
        let wide = bytes.iter().enumerate().filter(|(_, byte)| **byte >= 0x80);
        for (at, _) in wide {
            for second in at..=(at + 4).min(bytes.len()) {
                check(&[&bytes[..at], &bytes[at..second], &bytes[second..]]);
            }
        }
    }
}

fn full() -> bool {
    std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1")
}
