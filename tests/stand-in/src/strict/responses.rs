//! Responses, strictly.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Ending, Piece, Used, close_first, ensure, halves, image, legal_tool_name, list, not_blank,
    object_text, only, sign, text,
};

/// The beginning of the ids of items that must follow their reasoning.
const THOUGHT: &str = "t_";

/// The creation time of all answers.
const CREATED: u64 = 1_779_892_200;

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
                // An answer may continue after its calls; nothing else may come before their results.
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
                output(&item["output"])?;
                let id = text(item, "call_id")?;
                close_first(&mut open, id)?;
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

/// What a call gave: a text, or parts of text and images.
fn output(output: &Value) -> Result<(), String> {
    let Some(parts) = output.as_array() else {
        return ensure(output.is_string(), "output must be a string or a list");
    };
    for part in parts {
        match text(part, "type")? {
            "input_text" => {
                only("input_text", part, &["type", "text"])?;
                not_blank(text(part, "text")?)?;
            }
            "input_image" => {
                only("input_image", part, &["type", "image_url", "detail"])?;
                let address = text(part, "image_url")?.strip_prefix("data:");
                let parts = address.and_then(|rest| rest.split_once(";base64,"));
                let (media_type, data) = parts.ok_or("image_url must be a data URL")?;
                image(media_type, data)?;
            }
            other => return Err(format!("an output cannot hold {other}")),
        }
    }
    Ok(())
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

/// An event with its number in the stream.
fn numbered(out: &mut Vec<String>, kind: &str, mut data: Value) {
    data["sequence_number"] = out.len().into();
    out.push(event(kind, data));
}

/// The answer as a whole, as far as it is.
fn whole(model: &str, status: &str, output: &[Value]) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": CREATED, "status": status, "model": model,
        "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
        "temperature": null, "top_p": null})
}

pub fn say(model: &str, pieces: &[Piece], ending: Ending, used: Used) -> String {
    let mut out = Vec::new();
    let begun = whole(model, "in_progress", &[]);
    numbered(&mut out, "response.created", json!({"response": begun}));
    let mut items = Vec::new();
    let mut thought = "";
    for piece in pieces {
        if !matches!(piece, Piece::Server | Piece::Block(..)) {
            say_item(model, piece, &mut out, &mut items, &mut thought);
        }
    }
    let (kind, status, why) = match ending {
        Ending::Natural | Ending::Pause => ("response.completed", "completed", Value::Null),
        Ending::Limit | Ending::Window => (
            "response.incomplete",
            "incomplete",
            json!({"reason": "max_output_tokens"}),
        ),
        Ending::Refusal => (
            "response.incomplete",
            "incomplete",
            json!({"reason": "content_filter"}),
        ),
    };
    let read = used.fresh + used.cache_read;
    let mut response = whole(model, status, &items);
    response["incomplete_details"] = why;
    response["usage"] = json!({"input_tokens": read, "output_tokens": 12, "total_tokens": read + 12,
        "input_tokens_details": {"cached_tokens": used.cache_read, "cache_write_tokens": used.cache_write},
        "output_tokens_details": {"reasoning_tokens": 0}});
    numbered(&mut out, kind, json!({"response": response}));
    out.concat()
}

/// A piece as an item: as it begins, the kind of its deltas, and its final form.
fn item(model: &str, piece: &Piece, index: usize, thought: &mut &'static str) -> Item {
    match piece {
        Piece::Think(words) => {
            *thought = THOUGHT;
            let id = format!("rs_{}", &sign(model, words)[..8]);
            let sealed = sign(model, &id);
            let part = json!({"type": "summary_text", "text": words});
            Item {
                begun: json!({"type": "reasoning", "id": id, "summary": []}),
                whole: json!({"type": "reasoning", "id": id, "encrypted_content": sealed,
                    "summary": [part]}),
                kind: "response.reasoning_summary_text",
                place: json!({"item_id": id, "output_index": index, "summary_index": 0}),
                part: Some(("response.reasoning_summary_part", part)),
                words: words.clone(),
            }
        }
        Piece::Call {
            id: call,
            name,
            arguments,
        } => {
            let id = format!("{thought}fc_{index}");
            Item {
                begun: json!({"type": "function_call", "id": id, "call_id": call, "name": name,
                    "arguments": "", "status": "in_progress"}),
                whole: json!({"type": "function_call", "id": id, "call_id": call, "name": name,
                    "arguments": arguments, "status": "completed"}),
                kind: "response.function_call_arguments",
                place: json!({"item_id": id, "output_index": index}),
                part: None,
                words: arguments.clone(),
            }
        }
        Piece::Text(_) | Piece::Server | Piece::Block(..) => {
            let id = format!("{thought}msg_{index}");
            let words = if let Piece::Text(words) = piece {
                words.clone()
            } else {
                String::new()
            };
            let part = json!({"type": "output_text", "text": words, "annotations": []});
            Item {
                begun: json!({"type": "message", "id": id, "role": "assistant", "content": [],
                    "status": "in_progress"}),
                whole: json!({"type": "message", "id": id, "role": "assistant", "content": [part],
                    "status": "completed"}),
                kind: "response.output_text",
                place: json!({"item_id": id, "output_index": index, "content_index": 0, "logprobs": []}),
                part: Some(("response.content_part", part)),
                words,
            }
        }
    }
}

/// An item of an answer.
struct Item {
    begun: Value,
    whole: Value,
    /// The beginning of the names of its events.
    kind: &'static str,
    /// Where its deltas belong.
    place: Value,
    /// The part that they fill, with the beginning of the names of its events.
    part: Option<(&'static str, Value)>,
    words: String,
}

impl Item {
    /// What an event says of it, beside where it belongs.
    fn placed(&self, member: &str, value: impl Into<Value>) -> Value {
        let mut data = self.place.clone();
        data[member] = value.into();
        data
    }
}

fn say_item(
    model: &str,
    piece: &Piece,
    out: &mut Vec<String>,
    items: &mut Vec<Value>,
    thought: &mut &'static str,
) {
    let index = items.len();
    let item = item(model, piece, index, thought);
    let added = json!({"output_index": index, "item": item.begun});
    numbered(out, "response.output_item.added", added);
    if let Some((kind, part)) = &item.part {
        let mut empty = part.clone();
        empty["text"] = "".into();
        numbered(out, &format!("{kind}.added"), item.placed("part", empty));
    }
    for half in halves(&item.words) {
        numbered(
            out,
            &format!("{}.delta", item.kind),
            item.placed("delta", half),
        );
    }
    let words = item.words.clone();
    let done = match piece {
        Piece::Call { name, .. } => {
            let mut done = item.placed("arguments", words);
            done["name"] = name.clone().into();
            done
        }
        Piece::Think(_) | Piece::Text(_) | Piece::Server | Piece::Block(..) => {
            item.placed("text", words)
        }
    };
    numbered(out, &format!("{}.done", item.kind), done);
    if let Some((kind, part)) = &item.part {
        numbered(
            out,
            &format!("{kind}.done"),
            item.placed("part", part.clone()),
        );
    }
    let done = json!({"output_index": index, "item": item.whole});
    numbered(out, "response.output_item.done", done);
    items.push(item.whole);
}
