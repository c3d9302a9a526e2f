//! What stands for messages when no model can be had that would summarise them: their beginnings.

use a_society_facts::message::Message;

/// How many messages are quoted: the first, which says what it was all about, and the last ones.
const QUOTED_MESSAGES: usize = 15;

/// How much of each is quoted.
const QUOTED_BYTES: usize = 500;

/// The beginnings of the first and the last messages, and how many lie between them.
#[must_use]
pub fn digest(messages: &[Message]) -> String {
    let texts: Vec<(&'static str, String)> = messages
        .iter()
        .map(text_of)
        .filter(|(_, text)| !text.trim().is_empty())
        .collect();
    let left_out = texts.len().saturating_sub(QUOTED_MESSAGES);
    let mut lines = vec![
        "No model made a summary. These are the beginnings of what was said; look up what you need \
         again."
            .to_owned(),
    ];
    for (place, (who, text)) in texts.iter().enumerate() {
        if place == 0 || place > left_out {
            lines.push(format!("[{who}] {}", beginning(text.trim())));
        } else if place == 1 {
            lines.push(format!("[… {left_out} messages are left out here]"));
        }
    }
    lines.join("\n\n")
}

fn text_of(message: &Message) -> (&'static str, String) {
    match message {
        Message::User { content } => ("told", content.clone()),
        Message::Assistant { content } => ("said", content.clone()),
        Message::AssistantToolCalls { calls, text } => {
            let called = calls
                .iter()
                .map(|call| format!("{} {}", call.name, call.input.get()));
            let said = text.iter().cloned().chain(called);
            ("said and called", said.collect::<Vec<_>>().join("\n"))
        }
        Message::ToolResult { content, .. } => ("result", content.clone()),
    }
}

fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTED_BYTES);
    match text.get(..end) {
        Some(head) if end < text.len() => format!("{head}\n[… {} bytes in all]", text.len()),
        Some(_) | None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Message {
        Message::User {
            content: text.to_owned(),
        }
    }

    #[test]
    fn the_first_and_the_last_messages_are_quoted_and_the_others_counted() {
        let many: Vec<Message> = (0..40).map(|n| told(&format!("message {n}."))).collect();
        let text = digest(&many);
        for (n, quoted) in [(0, true), (1, false), (25, false), (26, true), (39, true)] {
            assert_eq!(
                text.contains(&format!("message {n}.")),
                quoted,
                "{n}: {text}"
            );
        }
        assert!(text.contains("25 messages are left out"), "{text}");
        let few = digest(&many[..QUOTED_MESSAGES]);
        assert!(!few.contains("left out here"), "{few}");
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let text = digest(&[told(&"ü".repeat(400))]);
        assert!(text.contains("[… 800 bytes in all]"), "{text}");
        assert!(text.matches('ü').count() == QUOTED_BYTES / 2);
    }
}
