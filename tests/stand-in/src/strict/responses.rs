//! Responses, strictly.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Ending, Piece, Used, ensure, halves, legal_tool_name, list, not_blank, object_text, only, sign,
    text,
};

/// The beginning of the ids of items that must follow their reasoning.
const THOUGHT: &str = "t_";

pub fn check(request: &Value) -> Result<(), String> {
    only(
        "the request",
        request,
        &[
            "model",
            "stream",
            "store",
            "max_output_tokens",
            "instructions",
            "tools",
            "parallel_tool_calls",
            "reasoning",
            "include",
            "prompt_cache_key",
            "input",
        ],
    )?;
    ensure(
        request["store"] == false,
        "these tests keep nothing at the provider",
    )?;
    let model = text(request, "model")?;
    for tool in request["tools"].as_array().into_iter().flatten() {
        only(
            "a tool",
            tool,
            &["type", "name", "description", "parameters", "strict"],
        )?;
        legal_tool_name(text(tool, "name")?)?;
    }
    items(list(request, "input")?, model)
}

fn items(items: &[Value], model: &str) -> Result<(), String> {
    let mut known: HashSet<String> = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    let mut has_thought = false;
    for item in items {
        let kind = text(item, "type")?;
        let is_theirs =
            matches!(item["role"].as_str(), Some("user")) || kind == "function_call_output";
        ensure(
            before != "reasoning" || !is_theirs,
            "an item of type 'reasoning' was provided without its required following item",
        )?;
        has_thought &= !is_theirs;
        let id = item["id"].as_str().unwrap_or_default();
        ensure(
            !id.starts_with(THOUGHT) || has_thought,
            format!("{id} was provided without its required 'reasoning' item"),
        )?;
        match kind {
            "message" => {
                // An answer may speak on after its calls; nobody else may speak before their results.
                let is_answer = item["role"] == "assistant";
                ensure(
                    is_answer || open.is_empty(),
                    format!("no tool output found for {open:?}"),
                )?;
                message(item)?;
            }
            "reasoning" => {
                let sealed = sign(model, text(item, "id")?);
                ensure(
                    text(item, "encrypted_content")? == sealed,
                    "the encrypted content could not be verified",
                )?;
                has_thought = true;
            }
            "function_call" => {
                let id = text(item, "call_id")?;
                ensure(known.insert(id.to_owned()), "call ids must be unique")?;
                legal_tool_name(text(item, "name")?)?;
                object_text(text(item, "arguments")?)?;
                open.push(id.to_owned());
            }
            "function_call_output" => {
                only("an output", item, &["type", "call_id", "output"])?;
                let id = text(item, "call_id")?;
                ensure(
                    open.first().is_some_and(|first| first == id),
                    format!("no call {id} is open: {open:?}"),
                )?;
                open.remove(0);
            }
            other => return Err(format!("{other} is no item")),
        }
        before = kind;
    }
    ensure(
        before != "reasoning",
        "a 'reasoning' item needs its following item",
    )?;
    ensure(
        open.is_empty(),
        format!("no tool output found for {open:?}"),
    )
}

fn message(item: &Value) -> Result<(), String> {
    only(
        "a message",
        item,
        &["type", "id", "role", "status", "content"],
    )?;
    let wanted = match text(item, "role")? {
        "user" => "input_text",
        "assistant" => "output_text",
        other => return Err(format!("{other} is no role here")),
    };
    for part in list(item, "content")? {
        ensure(
            part["type"] == wanted,
            format!("{} is not {wanted}", part["type"]),
        )?;
        not_blank(text(part, "text")?)?;
    }
    Ok(())
}

pub fn event(kind: &str, mut data: Value) -> String {
    data["type"] = kind.into();
    format!("event: {kind}\ndata: {data}\n\n")
}

pub fn say(model: &str, pieces: &[Piece], ending: Ending, used: Used) -> String {
    let mut out = event(
        "response.created",
        json!({"response": {"status": "in_progress", "output": []}}),
    );
    let mut items = Vec::new();
    let mut thought = "";
    for piece in pieces {
        if !matches!(piece, Piece::Server | Piece::Block(..)) {
            out += &say_item(model, piece, &mut items, &mut thought);
        }
    }
    let usage = json!({"input_tokens": used.fresh + used.cache_read, "output_tokens": 12,
                       "input_tokens_details": {"cached_tokens": used.cache_read}});
    let (kind, why) = match ending {
        Ending::Natural | Ending::Pause => ("response.completed", Value::Null),
        Ending::Limit | Ending::Window => (
            "response.incomplete",
            json!({"reason": "max_output_tokens"}),
        ),
        Ending::Refusal => ("response.incomplete", json!({"reason": "content_filter"})),
    };
    out + &event(
        kind,
        json!({"response": {"output": items, "usage": usage, "incomplete_details": why}}),
    )
}

fn say_item(
    model: &str,
    piece: &Piece,
    items: &mut Vec<Value>,
    thought: &mut &'static str,
) -> String {
    let index = items.len();
    let (mut whole, kind, words) = match piece {
        Piece::Think(words) => {
            *thought = THOUGHT;
            let id = format!("rs_{}", &sign(model, words)[..8]);
            let sealed = sign(model, &id);
            (
                json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": words}],
                           "encrypted_content": sealed}),
                "response.reasoning_summary_text.delta",
                words,
            )
        }
        Piece::Text(words) => (
            json!({"type": "message", "id": format!("{thought}msg_{index}"), "role": "assistant",
                       "status": "completed", "content": [{"type": "output_text", "text": words}]}),
            "response.output_text.delta",
            words,
        ),
        Piece::Call {
            id,
            name,
            arguments,
        } => (
            json!({"type": "function_call", "id": format!("{thought}fc_{index}"), "call_id": id,
                       "name": name, "arguments": arguments, "status": "completed"}),
            "response.function_call_arguments.delta",
            arguments,
        ),
        Piece::Server | Piece::Block(..) => (Value::Null, "", &String::new()),
    };
    let begun = match piece {
        Piece::Call { id, name, .. } => {
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": ""})
        }
        Piece::Think(_) => json!({"type": "reasoning", "summary": []}),
        Piece::Text(_) | Piece::Server | Piece::Block(..) => {
            json!({"type": "message", "role": "assistant", "content": []})
        }
    };
    let mut out = event(
        "response.output_item.added",
        json!({"output_index": index, "item": begun}),
    );
    for half in halves(words) {
        out += &event(kind, json!({"output_index": index, "delta": half}));
    }
    if let Piece::Text(words) = piece {
        out += &event(
            "response.output_text.done",
            json!({"output_index": index, "text": words}),
        );
    }
    if !matches!(piece, Piece::Think(_)) {
        whole["status"] = "completed".into();
    }
    out += &event(
        "response.output_item.done",
        json!({"output_index": index, "item": whole}),
    );
    items.push(whole);
    out
}
