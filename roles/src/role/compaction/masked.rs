//! What replaces messages without a model: their beginnings, or all of them without long results of tools.

use a_society_facts::message::Message;

use super::kept_outputs::shortened;
use super::limits::{MASKED_BYTES_MIN, MASKED_LINE_BYTES, MASKED_LINES_MIN, OUTPUT_CHARS};
use super::{Shares, bounded, former_summary, is_replacement};
use crate::role::digest::beginnings;

/// The beginnings of the first and the last messages.
pub(crate) fn truncated(messages: &[&Message], shares: Shares) -> String {
    let head = format!(
        "{} messages were left out; these are their beginnings. Look up what you need again.",
        messages.len()
    );
    beginnings(head, messages, shares.summary_bytes())
}

/// All messages and calls, without long results of tools.
pub(crate) fn masked(messages: &[&Message], most_chars: Option<u64>) -> String {
    let most = most_chars.map_or(OUTPUT_CHARS, |most| {
        usize::try_from(most).unwrap_or(usize::MAX)
    });
    let mut lines = vec![format!(
        "{} messages without the long results of tools. Call a tool again for what you need.",
        messages.len()
    )];
    lines.extend(messages.iter().filter_map(|message| line(message, most)));
    lines.join("\n\n")
}

/// A message; nothing if it is empty.
fn line(message: &Message, most_chars: usize) -> Option<String> {
    let said = |who: &str, text: &str| {
        (!text.trim().is_empty()).then(|| format!("[{who}] {}", text.trim()))
    };
    match message {
        Message::User { content } if is_replacement(content) => said(
            "former summary",
            former_summary(content).unwrap_or_default(),
        ),
        Message::User { content } => said("told", content),
        Message::Assistant { content } => said("said", content),
        Message::AssistantToolCalls { calls, text } => {
            let called = calls
                .iter()
                .map(|call| format!("[called {}] {}", call.name, call.input.get()));
            let text = text.as_deref().and_then(|text| said("said", text));
            let lines: Vec<String> = text.into_iter().chain(called).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
        Message::ToolResult {
            tool_name,
            content,
            is_error,
            ..
        } => {
            let how = if *is_error { "failed" } else { "returned" };
            said(&format!("{tool_name} {how}"), &mask(content, most_chars))
        }
    }
}

/// The first line of a long result, and how much there was. A short one stays.
fn mask(output: &str, most_chars: usize) -> String {
    if output.len() < MASKED_BYTES_MIN {
        return output.to_owned();
    }
    let lines = output.lines().count();
    if lines <= MASKED_LINES_MIN {
        return shortened(output, most_chars);
    }
    let first = output.lines().next().unwrap_or_default();
    let first = bounded(first, MASKED_LINE_BYTES, "[...]");
    format!(
        "{first}\n[{lines} lines, {} characters are masked]",
        output.chars().count()
    )
}

#[cfg(test)]
mod tests {
    use a_society_facts::message::ToolCall;
    use serde_json::value::RawValue;

    use super::*;

    fn user(text: &str) -> Message {
        Message::User {
            content: text.to_owned(),
        }
    }

    fn call(input: &str) -> Message {
        let input = RawValue::from_string(input.to_owned()).unwrap();
        let call = ToolCall {
            id: "c1".to_owned(),
            name: "run_command".to_owned(),
            input,
        };
        Message::AssistantToolCalls {
            calls: vec![call],
            text: Some(" ".to_owned()),
        }
    }

    fn result(text: &str, is_error: bool) -> Message {
        Message::ToolResult {
            call_id: "c1".to_owned(),
            tool_name: "run_command".to_owned(),
            content: text.to_owned(),
            is_error,
            image: None,
        }
    }

    fn of(message: &Message) -> String {
        let all = masked(&[message], None);
        let (_, rest) = all.split_once("\n\n").unwrap_or_default();
        rest.to_owned()
    }

    #[test]
    fn only_results_of_tools_are_masked_and_only_long_ones_of_many_lines() {
        let long = "a line that is long enough\n".repeat(40);
        let masked_long = "[run_command returned] a line that is long enough\n[40 lines, 1080 characters are masked]";
        let table = [
            (user(&long), format!("[told] {}", long.trim())),
            (
                Message::Assistant {
                    content: long.clone(),
                },
                format!("[said] {}", long.trim()),
            ),
            (
                call(r#"{"command":"ls"}"#),
                r#"[called run_command] {"command":"ls"}"#.to_owned(),
            ),
            (
                result("one\ntwo\nthree\nfour", true),
                "[run_command failed] one\ntwo\nthree\nfour".to_owned(),
            ),
            (
                result(&"x".repeat(700), false),
                format!("[run_command returned] {}", "x".repeat(700)),
            ),
            (result(&long, false), masked_long.to_owned()),
            (user("  "), String::new()),
        ];
        for (message, expected) in table {
            assert_eq!(of(&message), expected);
        }
    }

    #[test]
    fn the_first_line_of_a_masked_result_is_cut_between_characters() {
        let text = of(&result(
            &format!("{}\n", "\u{fc}".repeat(200)).repeat(9),
            false,
        ));
        assert_eq!(text.matches('\u{fc}').count(), MASKED_LINE_BYTES / 2);
        assert!(
            text.contains("[9 lines, 1809 characters are masked]"),
            "{text}"
        );
    }

    #[test]
    fn a_long_result_of_few_lines_has_at_most_so_many_characters() {
        let output = result(&"y".repeat(50_000), false);
        assert!(masked(&[&output], None).len() < OUTPUT_CHARS + 300);
        assert!(masked(&[&output], Some(400)).len() < 700);
    }

    #[test]
    fn messages_that_are_truncated_are_counted_and_a_former_summary_stays_without_its_frame() {
        let former = user("<summary id=\"k1\">It read a.txt.</summary>\n<request>Go.</request>\n");
        let many: Vec<Message> = (0..40).map(|n| user(&format!("message {n}."))).collect();
        let all: Vec<&Message> = [&former].into_iter().chain(&many).collect();
        for text in [truncated(&all, Shares::of(0)), masked(&all, None)] {
            assert!(
                text.starts_with("41 messages") && text.contains("It read a.txt."),
                "{text}"
            );
            assert!(!text.contains("<request>"), "{text}");
        }
        let text = truncated(&all, Shares::of(0));
        assert!(
            text.contains("message 0.")
                && !text.contains("message 9.")
                && text.contains("message 39.")
        );
    }
}
