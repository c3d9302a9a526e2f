//! What is refused on each wire, rule by rule: one request that keeps them all, and each broken alone.

use serde_json::{Value, json};

use super::{check, sign};
use crate::Wire;

const MODEL: &str = "m-1";

/// A change of a request, and the words of its refusal.
type Broken = (&'static str, Value, &'static str);

/// A request with the value at a path replaced.
fn with(request: &Value, path: &str, value: &Value) -> Value {
    let mut request = request.clone();
    match request.pointer_mut(path) {
        Some(place) => *place = value.clone(),
        None => {
            let (parent, name) = path.rsplit_once('/').unwrap();
            request.pointer_mut(parent).unwrap()[name] = value.clone();
        }
    }
    request
}

/// The whole request is accepted, and with each of the changes it is refused.
fn holds(wire: Wire, request: &Value, broken: &[Broken]) {
    assert_eq!(check(wire, request), Ok(()), "{wire:?}");
    for (path, value, why) in broken {
        let said = check(wire, &with(request, path, value));
        let said = said.expect_err(&format!("{wire:?}: {path} = {value}"));
        assert!(said.contains(why), "{wire:?}: {path} = {value}: {said}");
    }
}

/// A result with an image on the Messages wire.
fn block(media_type: &str, data: &str) -> Value {
    let source = json!({ "type": "base64", "media_type": media_type, "data": data });
    json!([{ "type": "text", "text": "A picture." }, { "type": "image", "source": source }])
}

/// The same on the Responses wire.
fn part(media_type: &str, data: &str) -> Value {
    let address = format!("data:{media_type};base64,{data}");
    json!([{ "type": "input_text", "text": "A picture." }, { "type": "input_image", "image_url": address }])
}

#[test]
fn an_image_is_taken_whose_bytes_are_what_its_type_says() {
    let gif = "R0lGODlhCgAUAA==";
    let long = "R0lG".repeat(1_400_000);
    for (media_type, data, expected) in [
        ("image/gif", gif, ""),
        ("image/png", gif, "the image does not look like image/png"),
        ("image/tiff", gif, "image/tiff is no type of an image"),
        ("image/gif", "R0lG?", "the image is no base64"),
        ("image/gif", &long, "image exceeds 5 MB maximum"),
    ] {
        let messages = with(
            &messages(),
            "/messages/2/content/0/content",
            &block(media_type, data),
        );
        let responses = with(&responses(), "/input/3/output", &part(media_type, data));
        for (wire, request) in [(Wire::Anthropic, messages), (Wire::Responses, responses)] {
            let said = check(wire, &request).err().unwrap_or_default();
            assert!(said.starts_with(expected), "{media_type}: {said}");
            assert_eq!(said.is_empty(), expected.is_empty(), "{said}");
        }
    }
    let elsewhere = json!([{ "type": "input_image", "image_url": "https://example.com/a.gif" }]);
    let request = with(&responses(), "/input/3/output", &elsewhere);
    let said = check(Wire::Responses, &request).unwrap_err();
    assert!(said.contains("must be a data URL"), "{said}");
}

fn messages() -> Value {
    let thought = json!({ "type": "thinking", "thinking": "Hm.", "signature": sign(MODEL, "Hm.") });
    let call = json!({ "type": "tool_use", "id": "t1", "name": "look", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "t1", "content": "seen" });
    let words = json!({ "type": "text", "text": "Look." });
    json!({
        "model": MODEL, "max_tokens": 4096, "stream": true,
        "system": [{ "type": "text", "text": "You look." }],
        "tools": [{ "name": "look", "description": "Looks.", "input_schema": { "type": "object" } }],
        "thinking": { "type": "enabled", "budget_tokens": 1024 },
        "messages": [
            { "role": "user", "content": [words] },
            { "role": "assistant", "content": [thought, call] },
            { "role": "user", "content": [result] },
        ],
    })
}

#[test]
fn the_messages_wire_refuses_what_breaks_the_rules_of_a_request() {
    holds(
        Wire::Anthropic,
        &messages(),
        &[
            ("/stream", json!(false), "only answers in a stream"),
            ("/max_tokens", Value::Null, "max_tokens is required"),
            ("/temprature", json!(1), "unknown field temprature"),
            (
                "/messages",
                json!([]),
                "must be a list with something in it",
            ),
            (
                "/messages/0/content/0/text",
                json!(" \n"),
                "non-whitespace text",
            ),
            ("/system/0/text", json!(""), "non-whitespace text"),
            ("/messages/1/role", json!("user"), "roles must alternate"),
            (
                "/messages/0/role",
                json!("assistant"),
                "roles must alternate",
            ),
            (
                "/thinking/budget_tokens",
                json!(4096),
                "budget_tokens is out of range",
            ),
            (
                "/tools/0/input_schema",
                json!({}),
                "input_schema must be an object",
            ),
        ],
    );
}

#[test]
fn the_messages_wire_refuses_calls_without_results_and_thoughts_of_others() {
    let request = messages();
    let part = |path: &str| request.pointer(path).unwrap();
    let (words, result) = (part("/messages/0/content/0"), part("/messages/2/content/0"));
    let (thought, call) = (part("/messages/1/content/0"), part("/messages/1/content/1"));
    let twice = json!([thought, call, call]);
    holds(
        Wire::Anthropic,
        &request,
        &[
            (
                "/messages/2/content/0/tool_use_id",
                json!("t2"),
                "must answer",
            ),
            ("/messages/2/content", json!([words]), "must answer"),
            (
                "/messages/2/content",
                json!([words, result]),
                "must come first",
            ),
            (
                "/messages/2/content",
                json!([result, result]),
                "must answer",
            ),
            ("/messages/1/content", twice, "tool_use ids must be unique"),
            ("/messages/1/content/1/id", json!("a b"), "is no id"),
            (
                "/messages/1/content/1/input",
                json!("{}"),
                "must be an object",
            ),
            (
                "/messages/1/content/1/name",
                json!("l o"),
                "is no name of a tool",
            ),
            (
                "/messages/1/content/0/thinking",
                json!("Ho."),
                "invalid signature",
            ),
            (
                "/messages/1/content",
                json!([call]),
                "must start with a thinking block",
            ),
            // A thought of another model is refused.
            ("/model", json!("m-2"), "invalid signature"),
        ],
    );
}

fn chat() -> Value {
    let function = json!({ "name": "look", "arguments": "{}" });
    let call = json!({ "id": "c1", "type": "function", "function": function });
    json!({
        "model": MODEL, "stream": true,
        "tools": [{ "type": "function", "function": { "name": "look", "parameters": {} } }],
        "messages": [
            { "role": "system", "content": "You look." },
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": "seen" },
        ],
    })
}

#[test]
fn the_chat_wire_refuses_what_breaks_its_rules() {
    let request = chat();
    let call = &request["messages"][2]["tool_calls"][0];
    holds(
        Wire::Chat,
        &request,
        &[
            ("/stream", json!(false), "only answers in a stream"),
            (
                "/max_output_tokens",
                json!(1),
                "unknown field max_output_tokens",
            ),
            (
                "/messages/1/content",
                json!(""),
                "must contain non-whitespace text",
            ),
            (
                "/messages/1/role",
                json!("assistant"),
                "roles must alternate",
            ),
            ("/messages/1/role", json!("developer"), "is no role here"),
            (
                "/messages/3/tool_call_id",
                json!("c2"),
                "no call c2 is open",
            ),
            (
                "/messages/3/role",
                json!("user"),
                "must be followed by tool messages",
            ),
            ("/messages/3/content", json!([]), "content must be text"),
            (
                "/messages/2/tool_calls",
                json!([call, call]),
                "ids of calls must be unique",
            ),
            (
                "/messages/2/tool_calls",
                json!([]),
                "content or tool_calls is required",
            ),
            (
                "/messages/2/tool_calls/0/id",
                json!(""),
                "a call needs an id",
            ),
            (
                "/messages/2/tool_calls/0/function/arguments",
                json!("[]"),
                "must be a JSON object",
            ),
            (
                "/messages/2/tool_calls/0/function/arguments",
                json!({}),
                "arguments must be text",
            ),
            (
                "/messages/2/tool_calls/0/function/name",
                json!("l.o"),
                "is no name of a tool",
            ),
        ],
    );
}

fn responses() -> Value {
    let [words, thought, call, output] = items();
    json!({
        "model": MODEL, "stream": true, "store": false, "instructions": "You look.",
        "tools": [{ "type": "function", "name": "look", "parameters": {}, "strict": false }],
        "input": [words, thought, call, output],
    })
}

fn items() -> [Value; 4] {
    let thought = json!({ "type": "reasoning", "id": "rs_1", "summary": [],
        "encrypted_content": sign(MODEL, "rs_1") });
    let call = json!({ "type": "function_call", "id": "t_fc_1", "call_id": "c1", "name": "look",
        "arguments": "{}" });
    let output = json!({ "type": "function_call_output", "call_id": "c1", "output": "seen" });
    let part = json!({ "type": "input_text", "text": "Look." });
    let words = json!({ "type": "message", "role": "user", "content": [part] });
    [words, thought, call, output]
}

#[test]
fn the_responses_wire_refuses_what_breaks_its_rules() {
    let [words, thought, call, output] = items();
    let request = responses();
    holds(
        Wire::Responses,
        &request,
        &[
            ("/stream", json!(false), "only answers in a stream"),
            ("/messages", json!([]), "unknown field messages"),
            ("/store", json!(true), "keep nothing at the provider"),
            (
                "/input/0/content/0/text",
                json!(" "),
                "must contain non-whitespace text",
            ),
            (
                "/input/0/content/0/type",
                json!("output_text"),
                "is not input_text",
            ),
            ("/input/0/role", json!("tool"), "is no role here"),
            (
                "/input/1/encrypted_content",
                json!("x"),
                "could not be verified",
            ),
            (
                "/input",
                json!([words, call, output]),
                "without its required 'reasoning' item",
            ),
            (
                "/input",
                json!([words, thought, output]),
                "without its required following item",
            ),
            (
                "/input",
                json!([words, thought]),
                "needs its following item",
            ),
            (
                "/input",
                json!([words, thought, call]),
                "no tool output found",
            ),
            (
                "/input",
                json!([words, thought, call, words]),
                "no tool output found",
            ),
            (
                "/input",
                json!([words, thought, call, call, output]),
                "call ids must be unique",
            ),
            ("/input/3/call_id", json!("c2"), "no call c2 is open"),
            ("/input/2/arguments", json!("null"), "must be a JSON object"),
            ("/input/3/type", json!("image"), "image is no item"),
        ],
    );
}
