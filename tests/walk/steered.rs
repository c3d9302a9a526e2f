//! What the operator says to a role at work is in the body of its next request, once.

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use a_society_stand_in::{Act, Deed, Ending, Reply, Server, stream_head};
use serde_json::{Value, json};

use super::models::{FLOW, Model, SPOKEN, call, says, streamed, with_model, with_model_at};
use super::place::{LONGEST, Place, wait_until};
use crate::support::copy;

/// How long an answer may go on after the operator interrupted it.
const CUT_WITHIN_MS: i64 = 200;

pub(super) const WORDS: &str = "Keep it under two pages.";
pub(super) const MORE: &str = "And no tables.";

pub(super) fn text(word: &str, times: usize) -> (Value, Vec<Value>) {
    let pieces =
        (0..times).map(|at| json!({ "type": "text_delta", "text": format!("{word} {at}. ") }));
    (json!({ "type": "text", "text": "" }), pieces.collect())
}

/// Speaks for some seconds, lists the folder, and closes.
pub(super) fn speaks_and_looks(shown: usize) -> Vec<(Value, Vec<Value>)> {
    match shown % SPOKEN {
        0 => vec![
            text("Thinking", 1_500),
            call(0, "list_directory", json!({ "path": "." })),
        ],
        _ => Vec::new(),
    }
}

/// Speaks for a long time unless it was spoken to.
pub(super) fn speaks_until_spoken_to(shown: usize) -> Vec<(Value, Vec<Value>)> {
    match shown {
        0 => vec![
            text("Thinking", 5_000),
            call(0, "list_directory", json!({ "path": "." })),
        ],
        _ => Vec::new(),
    }
}

/// Closes after it spoke for some seconds; sooner once it was spoken to.
fn closes_slowly(shown: usize) -> Vec<(Value, Vec<Value>)> {
    let close = "\n\n```handoff\ntype: forward-pass-closed\n```\n";
    let last = json!({ "type": "text_delta", "text": close });
    let (block, mut pieces) = text("Closing", if shown == 0 { 1_500 } else { 1 });
    pieces.push(last);
    vec![(block, pieces)]
}

/// Two commands in one answer, the first of which takes a while.
fn runs_two(shown: usize) -> Vec<(Value, Vec<Value>)> {
    match shown {
        0 => vec![
            call(
                0,
                "run_command",
                json!({ "command": "sleep 1; echo first >> log.txt" }),
            ),
            call(
                1,
                "run_command",
                json!({ "command": "echo second >> log.txt" }),
            ),
        ],
        _ => Vec::new(),
    }
}

/// A flow whose model speaks, and the program that drives it.
pub(super) fn speaking(model: &Model) -> (Place, Child, String) {
    let place = with_model(model);
    let (child, _) = place.begin();
    let flow = streaming(&place, model);
    (place, child, flow)
}

pub(super) fn streaming(place: &Place, model: &Model) -> String {
    wait_until("the flow begins", || place.flow().is_some());
    let flow = place.flow().unwrap();
    let begin = Instant::now();
    while model.requests() != 1 || facts(place, &flow, "draft_added").len() < 2 {
        // What the flow did instead says more than that it took too long.
        assert!(
            begin.elapsed() < LONGEST,
            "the model does not speak in its first request; {} came, and the journal holds:\n{}",
            model.requests(),
            place.run(&["log", &flow]).out
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    flow
}

/// The facts of a kind, in order.
pub(super) fn facts(place: &Place, flow: &str, kind: &str) -> Vec<Value> {
    let log = place.run(&["log", flow, "--json"]).out;
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["fact"] == kind).collect()
}

fn ms(fact: &Value) -> i64 {
    let at = fact["at"].as_str().unwrap();
    at.parse::<a_society_facts::At>().unwrap().ms()
}

/// How often a role reads these words in a request.
pub(super) fn times(body: &str, words: &str) -> usize {
    body.matches(&format!("<operator>{words}</operator>"))
        .count()
}

pub(super) fn feed(place: &Place, flow: &str, role: &str) -> String {
    let feed = place.folder(flow).join(format!("roles/{role}/feed.json"));
    std::fs::read_to_string(feed).unwrap()
}

#[test]
fn a_role_at_work_hears_the_operator_at_the_next_request_of_its_turn_and_once() {
    let model = Model::start_with(speaks_and_looks);
    let (place, mut child, flow) = speaking(&model);
    for words in [WORDS, MORE] {
        let said = place.run(&["steer", &flow, "owner", words, "--client-id", &words[..3]]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let heard = model.heard();
    assert_eq!(heard.len(), 2, "no request more than without the words");
    for words in [WORDS, MORE] {
        let all: Vec<usize> = heard.iter().map(|body| times(body, words)).collect();
        assert_eq!(all, [0, 1], "{words}");
    }
    assert_eq!(
        facts(&place, &flow, "turn_started").len(),
        1,
        "the same turn"
    );
    assert!(facts(&place, &flow, "reply_returned").is_empty());
    let feed = feed(&place, &flow, "owner");
    assert_eq!(feed.matches("Heard at request 2.").count(), 2, "{feed}");
}

/// The beginning of an answer that does not end.
const BEGINS: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",",
    "\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,",
    "\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"Thinking, and thinking on.\"}}\n\n",
);

#[test]
fn the_connection_of_an_interrupted_answer_is_closed_and_the_next_request_comes_within_200_ms() {
    let now = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(since.as_millis()).unwrap()
    };
    let (gone, asked) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
    let (sees_it_go, sees_request) = (Arc::clone(&gone), Arc::clone(&asked));
    let server = Server::by(move |_, number| {
        if number == 1 {
            let gone = Arc::clone(&sees_it_go);
            let goes = Deed::new(move || gone.store(now(), Ordering::SeqCst));
            let begins = Act::Send(BEGINS.into());
            return Reply::Do(vec![stream_head(), begins, Act::Stall, Act::Let(goes)]);
        }
        sees_request.store(now(), Ordering::SeqCst);
        let close = "Done.\n\n```handoff\ntype: forward-pass-closed\n```\n";
        streamed(vec![says(&[close])], Ending::Natural, 100)
    });
    let place = with_model_at(&server.url(), "anthropic");
    let (mut child, flow) = place.begin();
    wait_until("the model speaks", || {
        !facts(&place, &flow, "draft_added").is_empty()
    });
    let said = place.run(&["steer", &flow, "owner", "--now", WORDS]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(server.hears_the_other_side_go());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    wait_until("both are seen", || gone.load(Ordering::SeqCst) > 0);
    let steered = ms(&facts(&place, &flow, "operator_steered")[0]);
    for (what, at) in [("the connection", gone), ("the request", asked)] {
        let took = at.load(Ordering::SeqCst) - steered;
        assert!((0..=CUT_WITHIN_MS).contains(&took), "{what}: {took} ms");
    }
    assert_eq!(times(&server.seen()[1].text, WORDS), 1);
}

#[test]
fn an_answer_that_is_interrupted_ends_at_once_is_kept_and_the_turn_goes_on_with_the_words() {
    let model = Model::start_with(speaks_until_spoken_to);
    let (place, mut child, flow) = speaking(&model);
    let said = place.run(&["steer", &flow, "owner", "--now", WORDS]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let heard = model.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(times(&heard[1], WORDS), 1, "{}", heard[1]);
    assert!(
        heard[1].contains("Thinking 0. "),
        "what was said so far: {}",
        heard[1]
    );
    assert!(!heard[1].contains("Thinking 4999."), "it was cut off");
    let steered = ms(&facts(&place, &flow, "operator_steered")[0]);
    let asked = ms(&facts(&place, &flow, "model_requested")[1]);
    assert!(
        asked - steered <= CUT_WITHIN_MS,
        "it took {} ms",
        asked - steered
    );
    assert_eq!(
        facts(&place, &flow, "turn_started").len(),
        1,
        "the same turn"
    );
    let transcript = place.folder(&flow).join("roles/owner/transcript.json");
    let transcript: Value = serde_json::from_slice(&std::fs::read(transcript).unwrap()).unwrap();
    let kept = &transcript["transcriptHistory"][1];
    assert_eq!(kept["interrupted"], true, "{kept}");
}

#[test]
fn words_that_come_while_a_role_says_how_it_ends_are_heard_before_its_turn_is_over() {
    let model = Model::start_with(closes_slowly);
    let (place, mut child, flow) = speaking(&model);
    assert_eq!(place.run(&["steer", &flow, "owner", WORDS]).code, 0);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let heard = model.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(times(&heard[1], WORDS), 1, "{}", heard[1]);
    assert!(heard[1].contains("nothing was handed off"), "{}", heard[1]);
    assert_eq!(place.status(&flow)["status"], "completed");
}

#[test]
fn a_call_that_runs_comes_to_its_end_and_those_after_it_do_not_run_when_the_operator_interrupts() {
    let model = Model::start_with(runs_two);
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let mut child = place.start(&["resume", &flow, "--improve", "none"]);
    wait_until("the command runs", || {
        !facts(&place, &flow, "call_started").is_empty()
    });
    assert_eq!(
        place.run(&["steer", &flow, "owner", "--now", WORDS]).code,
        0
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let log = std::fs::read_to_string(place.workspace.path().join("demo/log.txt")).unwrap();
    assert_eq!(log, "first\n");
    let heard = model.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(times(&heard[1], WORDS), 1);
    assert!(
        heard[1].contains("Not run: the operator spoke first."),
        "{}",
        heard[1]
    );
}

/// Copies a place and cuts the journal of its flow behind so many records; its views are gone.
fn cut(place: &Place, flow: &str, records: usize) -> Place {
    let copied = Place::new(FLOW, "");
    std::fs::remove_dir_all(copied.workspace.path()).unwrap();
    copy(place.workspace.path(), copied.workspace.path());
    let folder = copied.folder(flow);
    let journal = folder.join("journal/00000001.jsonl");
    let whole = std::fs::read_to_string(&journal).unwrap();
    let kept: String = whole.split_inclusive('\n').take(records).collect();
    std::fs::write(&journal, kept).unwrap();
    for view in ["flow.json", "views.json"] {
        drop(std::fs::remove_file(folder.join(view)));
    }
    drop(std::fs::remove_dir_all(folder.join("roles")));
    copied
}

/// Whether the test steers the model, so that it has to speak for so long.
static IS_SPOKEN_TO: AtomicBool = AtomicBool::new(true);

fn long() -> usize {
    if IS_SPOKEN_TO.load(Ordering::Relaxed) {
        1_500
    } else {
        20
    }
}

#[test]
fn however_a_steered_flow_is_cut_off_its_words_are_heard_once_and_none_is_lost() {
    let model = Model::start_with(|shown| match shown {
        0 => vec![
            text("Thinking", long()),
            call(0, "list_directory", json!({ "path": "." })),
        ],
        1 | 1_001 => vec![
            text("Looking", long()),
            call(1, "list_directory", json!({ "path": "." })),
        ],
        _ => Vec::new(),
    });
    let (place, mut child, flow) = speaking(&model);
    assert_eq!(place.run(&["steer", &flow, "owner", WORDS]).code, 0);
    wait_until("it heard", || model.requests() == 2);
    assert_eq!(place.run(&["steer", &flow, "owner", "--now", MORE]).code, 0);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    IS_SPOKEN_TO.store(false, Ordering::Relaxed);
    let journal = std::fs::read_to_string(place.folder(&flow).join("journal/00000001.jsonl"));
    let journal = journal.unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.contains("\"operator_steered\""))
        .unwrap();
    for records in first + 1..lines.len() {
        let cut = cut(&place, &flow, records);
        let said = cut.run(&["resume", &flow, "--improve", "none", "--feedback", "no"]);
        let last = lines[records - 1];
        let last = &last[..last.floor_char_boundary(200)];
        let over = said.err.contains("over");
        assert!(said.code == 0 || over, "behind {last}: {said:?}");
        assert_eq!(cut.status(&flow)["status"], "completed", "behind {last}");
        let recorded = lines[..records].join("\n");
        let body = model.heard().pop().unwrap();
        for words in [WORDS, MORE] {
            let said = recorded.contains(words);
            let heard = facts(&cut, &flow, "message_added");
            let heard = heard.iter().filter(|fact| {
                fact["origin"] == "steer" && fact["text"].as_str().unwrap().contains(words)
            });
            assert_eq!(heard.count(), usize::from(said), "{words} behind {last}");
            if !over {
                assert_eq!(
                    times(&body, words),
                    usize::from(said),
                    "{words} behind {last}"
                );
            }
        }
        assert_eq!(cut.run(&["verify", &flow]).code, 0, "behind {last}");
    }
}
