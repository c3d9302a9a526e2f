//! Anthropic Messages, strictly.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Ending, IMAGES, Piece, Used, ensure, halves, image, legal_tool_name, list, not_blank, only,
    sign, text,
};

pub fn check(request: &Value) -> Result<(), String> {
    only(
        "the request",
        request,
        &[
            "model",
            "max_tokens",
            "stream",
            "system",
            "tools",
            "thinking",
            "output_config",
            "messages",
        ],
    )?;
    let model = text(request, "model")?;
    let limit = request["max_tokens"]
        .as_u64()
        .ok_or("max_tokens is required")?;
    for tool in request["tools"].as_array().into_iter().flatten() {
        only(
            "a tool",
            tool,
            &["name", "description", "input_schema", "cache_control"],
        )?;
        legal_tool_name(text(tool, "name")?)?;
        ensure(
            tool["input_schema"]["type"] == "object",
            "input_schema must be an object",
        )?;
    }
    for part in request["system"].as_array().into_iter().flatten() {
        not_blank(text(part, "text")?)?;
    }
    let marks = request.to_string().matches("\"cache_control\"").count();
    ensure(marks <= 4, format!("{marks} blocks with cache_control"))?;
    if let Some(budget) = request["thinking"]["budget_tokens"].as_u64() {
        ensure(
            (1_024..limit).contains(&budget),
            "budget_tokens is out of range",
        )?;
    }
    let messages = list(request, "messages")?;
    let images = request.to_string().matches("\"media_type\"").count();
    ensure(images <= IMAGES, format!("{images} images"))?;
    conversation(messages, model)?;
    if request["thinking"]["type"] == "enabled" {
        begins_with_thinking(messages)?;
    }
    Ok(())
}

fn conversation(messages: &[Value], model: &str) -> Result<(), String> {
    let mut known: HashSet<String> = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        only("a message", message, &["role", "content"])?;
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        ensure(
            message["role"] == expected,
            format!("messages.{at}: roles must alternate"),
        )?;
        let content = list(message, "content")?;
        if expected == "user" {
            results(content, std::mem::take(&mut open))?;
        } else {
            open = said(content, model, &mut known)?;
        }
    }
    let last = &messages[messages.len() - 1];
    let paused = list(last, "content")?
        .last()
        .is_some_and(|block| block["type"] == "server_tool_use");
    ensure(
        last["role"] == "user" || paused,
        "the conversation must end with a user message",
    )?;
    ensure(
        open.is_empty(),
        "tool_use ids were found without tool_result blocks",
    )
}

fn results(content: &[Value], open: Vec<String>) -> Result<(), String> {
    let mut found = Vec::new();
    let mut seen_text = false;
    for block in content {
        match text(block, "type")? {
            "text" => {
                only("text", block, &["type", "text", "cache_control"])?;
                seen_text = true;
                not_blank(text(block, "text")?)?;
            }
            "tool_result" => {
                only(
                    "tool_result",
                    block,
                    &[
                        "type",
                        "tool_use_id",
                        "content",
                        "is_error",
                        "cache_control",
                    ],
                )?;
                outcome(&block["content"])?;
                ensure(!seen_text, "tool_result blocks must come first")?;
                found.push(text(block, "tool_use_id")?.to_owned());
            }
            other => return Err(format!("a user cannot say {other}")),
        }
    }
    ensure(
        found == open,
        format!("tool_result blocks {found:?} must answer {open:?}"),
    )
}

/// What a call gave: a text, or blocks of text and images.
fn outcome(content: &Value) -> Result<(), String> {
    let Some(parts) = content.as_array() else {
        return ensure(content.is_string(), "content must be a string or a list");
    };
    for part in parts {
        match text(part, "type")? {
            "text" => {
                only("text", part, &["type", "text"])?;
                not_blank(text(part, "text")?)?;
            }
            "image" => {
                only("image", part, &["type", "source"])?;
                let source = &part["source"];
                only("source", source, &["type", "media_type", "data"])?;
                ensure(source["type"] == "base64", "source must be base64")?;
                image(text(source, "media_type")?, text(source, "data")?)?;
            }
            other => return Err(format!("a tool_result cannot hold {other}")),
        }
    }
    Ok(())
}

fn said(
    content: &[Value],
    model: &str,
    known: &mut HashSet<String>,
) -> Result<Vec<String>, String> {
    let mut calls = Vec::new();
    for block in content {
        match text(block, "type")? {
            "text" => {
                only("text", block, &["type", "text", "citations"])?;
                not_blank(text(block, "text")?)?;
            }
            "thinking" => {
                only("thinking", block, &["type", "thinking", "signature"])?;
                let signed = sign(model, text(block, "thinking")?);
                ensure(
                    text(block, "signature")? == signed,
                    "invalid signature in thinking block",
                )?;
            }
            "tool_use" => {
                only("tool_use", block, &["type", "id", "name", "input"])?;
                let id = text(block, "id")?;
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                ensure(
                    !id.is_empty() && id.chars().all(plain),
                    format!("{id:?} is no id"),
                )?;
                ensure(known.insert(id.to_owned()), "tool_use ids must be unique")?;
                legal_tool_name(text(block, "name")?)?;
                ensure(block["input"].is_object(), "input must be an object")?;
                calls.push(id.to_owned());
            }
            "server_tool_use" => only("server_tool_use", block, &["type", "id", "name", "input"])?,
            other => return Err(format!("an assistant cannot say {other}")),
        }
    }
    Ok(calls)
}

fn begins_with_thinking(messages: &[Value]) -> Result<(), String> {
    let last = &messages[messages.len() - 1];
    if list(last, "content")?[0]["type"] != "tool_result" {
        return Ok(());
    }
    let made = &messages[messages.len() - 2];
    ensure(
        list(made, "content")?[0]["type"] == "thinking",
        "expected `thinking`, but found `tool_use`: the final assistant message must start with a thinking block",
    )
}

pub fn event(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap_or_default()
    )
}

pub fn say(model: &str, pieces: &[Piece], ending: Ending, used: Used) -> String {
    let usage = json!({"input_tokens": used.fresh, "cache_read_input_tokens": used.cache_read,
        "cache_creation_input_tokens": used.cache_write, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut out = event(&json!({"type": "message_start", "message": message}));
    out += &event(&json!({"type": "ping"}));
    for (index, piece) in pieces.iter().enumerate() {
        let (block, deltas) = block(model, piece);
        out +=
            &event(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            out += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        out += &event(&json!({"type": "content_block_stop", "index": index}));
    }
    let has_calls = pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Call { .. }) || is_call(piece));
    let reason = match ending {
        Ending::Natural if has_calls => "tool_use",
        Ending::Natural => "end_turn",
        Ending::Limit => "max_tokens",
        Ending::Refusal => "refusal",
        Ending::Pause => "pause_turn",
        Ending::Window => "model_context_window_exceeded",
    };
    out += &event(
        &json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
                          "usage": {"output_tokens": 12}}),
    );
    out + &event(&json!({"type": "message_stop"}))
}

fn is_call(piece: &Piece) -> bool {
    matches!(piece, Piece::Block(block, _) if block["type"] == "tool_use")
}

/// The deltas of a block as a test wrote them, signed by who says them.
fn signed(model: &str, deltas: &[Value]) -> Vec<Value> {
    let thoughts = deltas.iter().filter_map(|delta| delta["thinking"].as_str());
    let signature = sign(model, &thoughts.collect::<String>());
    let mut deltas = deltas.to_vec();
    for delta in &mut deltas {
        if delta["type"] == "signature_delta" {
            delta["signature"] = signature.clone().into();
        }
    }
    deltas
}

fn block(model: &str, piece: &Piece) -> (Value, Vec<Value>) {
    match piece {
        Piece::Block(block, deltas) => (block.clone(), signed(model, deltas)),
        Piece::Think(thought) => {
            let mut deltas: Vec<Value> = halves(thought)
                .map(|it| json!({"type": "thinking_delta", "thinking": it}))
                .into();
            deltas.push(json!({"type": "signature_delta", "signature": sign(model, thought)}));
            (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                deltas,
            )
        }
        Piece::Text(words) => (
            json!({"type": "text", "text": ""}),
            halves(words)
                .map(|it| json!({"type": "text_delta", "text": it}))
                .into(),
        ),
        Piece::Call {
            id,
            name,
            arguments,
        } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            halves(arguments)
                .map(|it| json!({"type": "input_json_delta", "partial_json": it}))
                .into(),
        ),
        Piece::Server => (
            json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": "{\"query\":\"x\"}"})],
        ),
    }
}
