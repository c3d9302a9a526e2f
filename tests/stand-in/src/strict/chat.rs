//! Chat Completions, as strictly as the strictest of its servers.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Ending, Piece, Used, close_first, ensure, halves, legal_tool_name, list, not_blank,
    object_text, only, sign, text,
};

/// The creation time of all answers.
const CREATED: u64 = 1_779_892_200;

pub fn check(request: &Value) -> Result<(), String> {
    only(
        "the request",
        request,
        &[
            "model",
            "messages",
            "stream",
            "stream_options",
            "max_tokens",
            "max_completion_tokens",
            "tools",
            "reasoning_effort",
            "prompt_cache_key",
        ],
    )?;
    let model = text(request, "model")?;
    for tool in request["tools"].as_array().into_iter().flatten() {
        only("a tool", tool, &["type", "function"])?;
        legal_tool_name(text(&tool["function"], "name")?)?;
    }
    let mut messages = list(request, "messages")?;
    if let [first, rest @ ..] = messages
        && first["role"] == "system"
    {
        not_blank(text(first, "content")?)?;
        messages = rest;
    }
    conversation(messages, model)
}

fn conversation(messages: &[Value], model: &str) -> Result<(), String> {
    let last_user = messages
        .iter()
        .rposition(|message| message["role"] == "user");
    let mut known: HashSet<String> = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role")?;
        ensure(
            open.is_empty() || role == "tool",
            "an assistant message with 'tool_calls' must be followed by tool messages",
        )?;
        match role {
            "user" => {
                only("a user message", message, &["role", "content"])?;
                not_blank(text(message, "content")?)?;
                ensure(before != "user", "conversation roles must alternate")?;
            }
            "assistant" => {
                ensure(
                    matches!(before, "user" | "tool"),
                    "conversation roles must alternate",
                )?;
                let is_past = last_user.is_some_and(|user| at < user);
                ensure(
                    !is_past || message.get("reasoning_content").is_none(),
                    "reasoning_content of an earlier turn is not accepted",
                )?;
                open = said(message, model, &mut known)?;
            }
            "tool" => {
                only(
                    "a tool message",
                    message,
                    &["role", "tool_call_id", "content"],
                )?;
                text(message, "content")?;
                let id = text(message, "tool_call_id")?;
                close_first(&mut open, id)?;
            }
            other => return Err(format!("{other} is no role here")),
        }
        before = role;
    }
    ensure(
        messages[0]["role"] == "user",
        "the first message must be the user's",
    )?;
    ensure(
        open.is_empty() && before != "assistant",
        "the conversation must end with a user or tool message",
    )
}

fn said(message: &Value, model: &str, known: &mut HashSet<String>) -> Result<Vec<String>, String> {
    only(
        "an assistant message",
        message,
        &[
            "role",
            "content",
            "tool_calls",
            "reasoning_content",
            "reasoning_details",
        ],
    )?;
    for detail in message["reasoning_details"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let signed = sign(model, text(detail, "text")?);
        ensure(
            text(detail, "signature")? == signed,
            "invalid signature in reasoning_details",
        )?;
    }
    let calls = message["tool_calls"].as_array();
    match message["content"].as_str() {
        Some(words) => not_blank(words)?,
        None => ensure(
            calls.is_some_and(|calls| !calls.is_empty()),
            "content or tool_calls is required",
        )?,
    }
    let mut ids = Vec::new();
    for call in calls.into_iter().flatten() {
        only("a call", call, &["id", "type", "function", "extra_content"])?;
        let id = text(call, "id")?;
        ensure(!id.is_empty() && id.len() <= 64, "a call needs an id")?;
        ensure(known.insert(id.to_owned()), "ids of calls must be unique")?;
        legal_tool_name(text(&call["function"], "name")?)?;
        object_text(text(&call["function"], "arguments")?)?;
        ids.push(id.to_owned());
    }
    Ok(ids)
}

pub fn chunk(delta: &Value, reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    format!("data: {}\n\n", whole("m-1", &json!([choice])))
}

/// A chunk with these choices.
fn whole(model: &str, choices: &Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": CREATED, "model": model,
        "choices": choices})
}

pub fn say(model: &str, pieces: &[Piece], ending: Ending, used: Used) -> String {
    let mut out = String::from(": processing\n\n");
    out += &chunk(&json!({"role": "assistant", "content": ""}), None);
    let mut calls = 0;
    for piece in pieces {
        match piece {
            Piece::Think(thought) => {
                for (at, half) in halves(thought).into_iter().enumerate() {
                    let signature = (at == 1).then(|| sign(model, thought));
                    let detail = json!({"type": "reasoning.text", "index": 0, "text": half, "signature": signature});
                    out += &chunk(
                        &json!({"reasoning": half, "reasoning_details": [detail]}),
                        None,
                    );
                }
            }
            Piece::Text(words) => {
                for half in halves(words) {
                    out += &chunk(&json!({"content": half}), None);
                }
            }
            Piece::Call {
                id,
                name,
                arguments,
            } => {
                let begun = json!({"index": calls, "id": id, "type": "function",
                                   "function": {"name": name, "arguments": ""}});
                out += &chunk(&json!({"tool_calls": [begun]}), None);
                for half in halves(arguments) {
                    let more = json!({"index": calls, "function": {"arguments": half}});
                    out += &chunk(&json!({"tool_calls": [more]}), None);
                }
                calls += 1;
            }
            Piece::Server | Piece::Block(..) => {}
        }
    }
    let reason = match ending {
        Ending::Natural if calls > 0 => "tool_calls",
        Ending::Natural | Ending::Pause => "stop",
        Ending::Limit | Ending::Window => "length",
        Ending::Refusal => "content_filter",
    };
    out += &chunk(&json!({}), Some(reason));
    let prompt = used.fresh + used.cache_read + used.cache_write;
    let mut usage = whole(model, &json!([]));
    usage["usage"] = json!({"prompt_tokens": prompt, "completion_tokens": 12, "total_tokens": prompt + 12,
        "prompt_tokens_details": {"cached_tokens": used.cache_read, "cache_write_tokens": used.cache_write}});
    out + &format!("data: {usage}\n\ndata: [DONE]\n\n")
}
