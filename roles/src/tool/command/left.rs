//! Commands that ran beside a turn in a process that has ended while the turn waited: its role reads of them with
//! the next result of a tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use a_society_facts::message::{Message, ToolCall};
use serde_json::Value;

use super::background::NAME_CHARS;
use crate::role::packet::INTERRUPTED;

/// What follows the number of a command that goes on beside its turn, in the line before its output.
pub(super) const RUNS_ON: &str = " runs; read it with command_output]";
/// How the line begins that names commands which ended with their process.
const ENDED: &str = "[ended with the process that ran them: ";

/// The commands that a turn started beside it, by their numbers, as far as no message reports that they
/// ended.
#[must_use]
pub fn left_running(said: &[Arc<Message>]) -> BTreeMap<u32, String> {
    let mut left = BTreeMap::new();
    let mut calls: BTreeMap<&str, &ToolCall> = BTreeMap::new();
    for message in said {
        match &**message {
            Message::AssistantToolCalls { calls: asked, .. } => {
                calls.extend(asked.iter().map(|call| (call.id.as_str(), call)));
            }
            // It says that all of them have ended.
            Message::User { content } if content.starts_with(INTERRUPTED) => left.clear(),
            Message::ToolResult {
                call_id, content, ..
            } => {
                let call = calls.get(call_id.as_str());
                let asked = call.and_then(|call| serde_json::from_str(call.input.get()).ok());
                take(&mut left, &asked.unwrap_or_default(), content);
            }
            Message::User { .. } | Message::Assistant { .. } => {}
        }
    }
    left
}

/// What a result says about commands beside the turn.
fn take(left: &mut BTreeMap<u32, String>, asked: &Value, content: &str) {
    if content
        .lines()
        .last()
        .is_some_and(|last| last.starts_with(ENDED))
    {
        left.clear();
    }
    let begun = content
        .strip_prefix("[c")
        .and_then(|rest| rest.split_once(RUNS_ON));
    if let Some(number) = begun.and_then(|(number, _)| number.parse().ok()) {
        let command = asked["command"].as_str().unwrap_or_default();
        let line: Vec<&str> = command.split_whitespace().collect();
        left.insert(number, line.join(" ").chars().take(NAME_CHARS).collect());
        return;
    }
    // Its output was asked for, by whatever name of the member.
    let named = asked.as_object().into_iter().flatten();
    let named = named.filter_map(|(_, value)| value.as_str()?.strip_prefix('c')?.parse().ok());
    for number in named {
        if !content.starts_with(&format!("[c{number} runs")) {
            left.remove(&number);
        }
    }
}

/// The line that names these commands for their role; empty if there are none.
pub(in crate::tool) fn ended_line(left: &BTreeMap<u32, String>) -> String {
    if left.is_empty() {
        return String::new();
    }
    let names = left.iter().map(|(number, command)| match command.as_str() {
        "" => format!("c{number}"),
        command => format!("c{number} ({command})"),
    });
    let names: Vec<String> = names.collect();
    format!("{ENDED}{}]\n", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(id: &str, content: &str) -> Arc<Message> {
        Arc::new(Message::ToolResult {
            call_id: id.to_owned(),
            tool_name: "run_command".to_owned(),
            content: content.to_owned(),
            is_error: false,
            image: None,
        })
    }

    fn asks(id: &str, input: &str) -> Arc<Message> {
        let call = format!(r#"{{"id":"{id}","name":"run_command","input":{input}}}"#);
        Arc::new(Message::AssistantToolCalls {
            calls: vec![serde_json::from_str(&call).unwrap()],
            text: None,
        })
    }

    #[test]
    fn a_command_is_left_until_a_result_or_a_message_says_that_it_ended() {
        let begun = [
            asks("a", r#"{"command":"sleep  60","background":true}"#),
            result("a", "[c1 runs; read it with command_output]\n"),
            asks("b", r#"{"id":"c1"}"#),
            result("b", "[c1 runs, 2.0 s]\n"),
        ];
        let left = left_running(&begun);
        assert_eq!(
            ended_line(&left),
            "[ended with the process that ran them: c1 (sleep 60)]\n"
        );
        let read = [
            asks("c", r#"{"bash_id":"c1"}"#),
            result("c", "[exit 0, 3.0 s]\n"),
        ];
        let told = [result("d", &format!("done\n{}", ended_line(&left)))];
        let again = format!("{INTERRUPTED} What you said counts.");
        let interrupted = [Arc::new(Message::User { content: again })];
        for end in [&read[..], &told, &interrupted] {
            let all = [&begun[..], end].concat();
            assert_eq!(left_running(&all), BTreeMap::new());
        }
        assert_eq!(ended_line(&BTreeMap::new()), "");
    }
}
