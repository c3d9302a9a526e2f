//! Requests in a file: shared parts are written once, each request can be restored to the byte, none
//! contains a secret, and what is too much is left out by name.

use a_society_facts::fact::turn::ModelRequested;
use a_society_facts::id::TurnId;
use a_society_orchestrator::sent_request::WrittenModelRequest;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::limits::TEXT_BYTES_MAX;
use super::super::pieces::{in_pieces, strings};
use super::super::requests::Requests;
use super::super::scrub::Scrub;
use super::super::without_secrets;
use crate::protocol::exported::ExportedRequests;

fn request(role: &str, body: &Value) -> WrittenModelRequest {
    WrittenModelRequest {
        asked: ModelRequested {
            turn: TurnId(1),
            attempt: 1,
            role: role.parse().unwrap(),
            request: 1,
            model: "m".to_owned(),
            hash: "0".repeat(64).parse().unwrap(),
            frame: None,
        },
        body: body.to_string().into_bytes(),
        differs: None,
    }
}

/// The n-th request of a conversation.
fn body(n: usize, said: &dyn Fn(usize) -> String) -> Value {
    let message = |k: usize| {
        let mut block = json!({ "type": "text", "text": said(k) });
        if k + 1 == n {
            // Where the cache ends moves with every request.
            block["cache_control"] = json!({ "type": "ephemeral" });
        }
        json!({ "role": if k.is_multiple_of(2) { "user" } else { "assistant" }, "content": [block] })
    };
    let messages: Vec<Value> = (0..n).map(message).collect();
    json!({ "max_tokens": 8192, "system": "You write.", "tools": [{ "name": "read_file" }], "messages": messages })
}

/// A request of a file, as the page puts it together.
fn together(told: &ExportedRequests, seq: u64) -> String {
    fn numbers(told: &ExportedRequests, seq: u64) -> Vec<u32> {
        let request = &told.sent[&seq.to_string()];
        let before = request.after.map(|seq| numbers(told, seq));
        let same = before.unwrap_or_default();
        let same = &same[..usize::try_from(request.same).unwrap()];
        [same, &request.pieces].concat()
    }
    let text = |number: u32| told.pieces[usize::try_from(number).unwrap()].as_str();
    numbers(told, seq).into_iter().map(text).collect()
}

fn told(requests: Requests, redact: &dyn Fn(&str) -> String) -> ExportedRequests {
    requests.done(&mut Scrub::new(redact))
}

#[test]
fn every_request_can_be_put_together_to_the_byte_and_all_take_little_more_than_the_last() {
    let said = |k: usize| format!("{k}: {} \"quoted\" \u{1f980}", "words ".repeat(300));
    let mut requests = Requests::within(1 << 20);
    for n in 1..=60 {
        // Two roles take turns; each goes on with its own.
        for (role, seq) in [("owner", 2 * n), ("writer", 2 * n + 1)] {
            requests.hear(seq as u64, &request(role, &body(n, &said)));
        }
    }
    let told = told(requests, &str::to_owned);
    for n in 1..=60 {
        let left = body(n, &said).to_string();
        for seq in [2 * n, 2 * n + 1] {
            assert_eq!(together(&told, seq as u64), left);
            let sent = &told.sent[&seq.to_string()];
            assert_eq!(
                (sent.total_bytes, &sent.differs),
                (left.len() as u64, &None)
            );
        }
    }
    let last = body(60, &said).to_string().len();
    let all = serde_json::to_string(&told).unwrap().len();
    assert!(
        all < 2 * last,
        "{all} bytes for 120 requests, {last} in one"
    );
}

#[test]
fn a_secret_in_a_request_is_taken_out_however_it_is_written_and_the_request_says_so() {
    let canary = "canary\n\"s3cret\" 0123456789";
    let redact = |text: &str| text.replace(canary, "[secret withheld]");
    let said = |k: usize| match k {
        3 => format!("{} the key is {canary}", "long ".repeat(100)),
        4 => canary.to_owned(),
        _ => format!("message {k}"),
    };
    let mut requests = Requests::within(1 << 20);
    for n in 1..=6 {
        requests.hear(n as u64, &request("owner", &body(n, &said)));
    }
    let mut elsewhere = request("owner", &body(4, &said));
    elsewhere.differs = Some("the role would now ask other".to_owned());
    requests.hear(7, &elsewhere);
    let told = told(requests, &redact);
    let text = serde_json::to_string(&told).unwrap();
    assert!(!text.contains("s3cret") && text.contains("[secret withheld]"));
    for n in 1..=6 {
        let differs = told.sent[&n.to_string()].differs.as_deref();
        let out = "secrets were taken out of it for this file, and before that its hash was the recorded one";
        assert_eq!(differs, (n >= 4).then_some(out), "{n}");
        let shown: Value = serde_json::from_str(&together(&told, n as u64)).unwrap();
        let clean = |k: usize| redact(&said(k));
        assert_eq!(shown, body(n, &clean), "{n}");
    }
    assert_eq!(
        told.sent["7"].differs.as_deref(),
        Some("the role would now ask other; and secrets were taken out of it for this file")
    );
}

#[test]
fn a_text_that_is_too_long_is_cut_and_a_request_never_claims_to_be_whole_then() {
    let said = |_: usize| "x".repeat(TEXT_BYTES_MAX + 1);
    let mut requests = Requests::within(1 << 20);
    requests.hear(1, &request("owner", &body(1, &said)));
    let told = told(requests, &str::to_owned);
    let shown = together(&told, 1);
    assert!(shown.contains(&format!("{} bytes in all]", TEXT_BYTES_MAX + 1)));
    assert!(serde_json::from_str::<Value>(&shown).is_ok());
    let differs = told.sent["1"].differs.as_deref().unwrap();
    assert!(differs.starts_with("long texts in it were cut for this file"));
}

#[test]
fn the_oldest_requests_go_when_there_is_too_much_and_the_file_says_how_many() {
    // Nothing in common: every one of them takes its room.
    let said = |n: usize| move |k: usize| format!("{n} {k} {}", "y".repeat(1_000));
    for bytes_max in [0, 5_000, 20_000] {
        let mut requests = Requests::within(bytes_max);
        for n in 1..=30 {
            requests.hear(n as u64, &request("owner", &body(3, &said(n))));
        }
        let told = told(requests, &str::to_owned);
        let kept = told.sent.len();
        assert_eq!(told.left_out as usize + kept, 30);
        assert!(kept < 30 && (bytes_max == 0) == (kept == 0), "{kept}");
        let pieces = serde_json::to_string(&told.pieces).unwrap().len();
        assert!(pieces <= bytes_max.max(2), "{pieces}");
        for n in 31 - kept..=30 {
            assert_eq!(together(&told, n as u64), body(3, &said(n)).to_string());
        }
    }
}

#[test]
fn json_that_leaves_by_itself_is_without_secrets_and_otherwise_what_it_was_to_the_byte() {
    let secret = "canary\n\"s3cret\" 0123456789";
    let redact = |text: &str| text.replace(secret, "[secret withheld]");
    let plain = r#"{"b": 1,  "a":["\u00e9", "x"]}"#;
    assert_eq!(without_secrets(plain, &redact), plain);
    // Its end occurs before it is recognised.
    let held = json!(["ends with et\" 0123456789", { (secret): secret }, "and more"]).to_string();
    let clean = without_secrets(&format!("{held}\n"), &redact);
    assert!(
        !clean.contains("0123456789") && !clean.contains("s3cret"),
        "{clean}"
    );
    let read: Value = serde_json::from_str(&clean).unwrap();
    assert_eq!(read[1], json!({ "[secret withheld]": "[secret withheld]" }));
    assert!(clean.ends_with("\"and more\"]\n"));
}

proptest! {
    #[test]
    fn pieces_put_together_are_the_text_and_no_cut_goes_through_a_string(
        texts in prop::collection::vec(".{0,300}", 0..6),
        noise in "[\\[\\]{}\",:\\\\a\u{e9}]{0,60}",
    ) {
        let value = json!({ "a": texts, "b": [{ "c": texts.first() }, [texts.last()]] }).to_string();
        for text in [value.as_str(), noise.as_str()] {
            prop_assert_eq!(in_pieces(text).collect::<String>(), text);
            let parts: String = strings(text).map(|(_, part)| part).collect();
            prop_assert_eq!(parts, text);
        }
        let read = |piece: &str| -> usize {
            let found = strings(piece).filter(|(is_string, _)| *is_string);
            found.filter(|(_, part)| serde_json::from_str::<String>(part).is_ok()).count()
        };
        let within: usize = in_pieces(&value).map(read).sum();
        prop_assert_eq!(within, read(&value));
    }
}
