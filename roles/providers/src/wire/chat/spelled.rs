//! Calls that a model spells as words, because its server does not know the form in which it was
//! trained to call. Only a message that is nothing else, and only with a name that was offered.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

const BEGIN: &str = "<tool_call>";
const END: &str = "</tool_call>";
const FENCE: &str = "```";

/// The words behind a fence that say that it holds JSON.
const JSON: [&str; 4] = ["", "json", "tool_call", "tool_code"];

/// A call as it was spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spelled {
    pub(super) name: String,
    pub(super) arguments: String,
}

/// The calls that a text is made of; nothing if it says anything else.
pub(super) fn calls(text: &str, offered: &BTreeSet<String>) -> Option<Vec<Spelled>> {
    let mut rest = text.trim();
    if let Some(fenced) = fenced(rest) {
        return Some(vec![call(fenced, offered)?]);
    }
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (body, after) = rest.strip_prefix(BEGIN)?.split_once(END)?;
        calls.push(call(body, offered)?);
        rest = after.trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

/// The content of the only fence of a text.
fn fenced(text: &str) -> Option<&str> {
    let inside = text.strip_prefix(FENCE)?.strip_suffix(FENCE)?;
    let (word, body) = inside.split_once('\n')?;
    (JSON.contains(&word.trim()) && !body.contains(FENCE)).then_some(body)
}

fn call(text: &str, offered: &BTreeSet<String>) -> Option<Spelled> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SpelledCall {
        name: String,
        #[serde(alias = "parameters")]
        arguments: Option<Value>,
    }
    let call: SpelledCall = serde_json::from_str(text.trim()).ok()?;
    if !offered.contains(&call.name) {
        return None;
    }
    let arguments = match call.arguments {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text,
        Some(whole @ Value::Object(_)) => whole.to_string(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => return None,
    };
    Some(Spelled {
        name: call.name,
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_only_calls_is_calls_and_any_other_is_words() {
        let offered: BTreeSet<String> = ["read_file".to_owned(), "todo".to_owned()].into();
        let read = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
        let spelled = |name: &str, arguments: &str| Spelled {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let one = vec![spelled("read_file", r#"{"path":"a"}"#)];
        for text in [
            format!("<tool_call>{read}</tool_call>"),
            format!("\n<tool_call>\n{read}\n</tool_call>\n"),
            format!("```json\n{read}\n```"),
            format!("```\n{read}\n```"),
            format!(
                "<tool_call>{}</tool_call>",
                read.replace("arguments", "parameters")
            ),
        ] {
            assert_eq!(calls(&text, &offered).as_ref(), Some(&one), "{text}");
        }
        let two =
            format!("<tool_call>{read}</tool_call>\n<tool_call>{{\"name\":\"todo\"}}</tool_call>");
        let both = vec![one[0].clone(), spelled("todo", "{}")];
        assert_eq!(calls(&two, &offered), Some(both));
        for text in [
            String::new(),
            "Done.".to_owned(),
            read.to_owned(),
            format!("I read it: <tool_call>{read}</tool_call>"),
            format!("<tool_call>{read}</tool_call> and then"),
            format!("<tool_call>{read}"),
            format!("<tool_call>{}</tool_call>", read.replace("read_file", "rm")),
            format!(
                "<tool_call>{}</tool_call>",
                read.replace("{\"path\": \"a\"}", "[1]")
            ),
            format!("```handoff\n{read}\n```"),
            format!("```json\n{read}\n```\n```json\n{read}\n```"),
            format!(
                "```json\n{}\n```",
                read.replace("\"name\"", "\"more\": 1, \"name\"")
            ),
        ] {
            assert_eq!(calls(&text, &offered), None, "{text}");
        }
    }
}
