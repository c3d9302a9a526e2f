//! What a role reads of messages when no model can make a summary: their beginnings.

use a_society_facts::message::Message;

use super::compaction::{bounded, former_summary, is_replacement};

/// How many messages are quoted: the first, which says what it was all about, and the last ones.
const QUOTED_MESSAGES: usize = 15;

/// How much of each is quoted at most.
const QUOTED_BYTES: usize = 500;

/// The beginnings of the first and the last messages, and how many messages are between them, in
/// about so many bytes. A former summary stays, as far as there is room, and `why` says why there is
/// no new one.
#[must_use]
pub fn digest(messages: &[&Message], why: &str, most_bytes: usize) -> String {
    let head = format!(
        "No summary could be made ({}). The oldest messages were left out; these are their \
         beginnings. Look up what you need again.",
        bounded(why, QUOTED_BYTES, "[...]")
    );
    beginnings(head, messages, most_bytes)
}

/// The same below another first line.
pub(crate) fn beginnings(head: String, messages: &[&Message], most_bytes: usize) -> String {
    let former = messages.iter().find_map(|message| former_of(message));
    let texts: Vec<(&'static str, String)> = messages
        .iter()
        .filter(|message| former_of(message).is_none())
        .map(|message| text_of(message))
        .filter(|(_, text)| !text.trim().is_empty())
        .collect();
    let left_out = texts.len().saturating_sub(QUOTED_MESSAGES);
    let share = most_bytes / (2 * QUOTED_MESSAGES);
    let each = share.min(QUOTED_BYTES);
    let mut lines = vec![head];
    if let Some(former) = former {
        let note = "[the rest was left out]";
        lines.push(bounded(former, most_bytes / 2, note));
    }
    for (place, (who, text)) in texts.iter().enumerate() {
        if place == 0 || place > left_out {
            lines.push(format!("[{who}] {}", beginning(text.trim(), each)));
        } else if place == 1 {
            lines.push(format!("[... {left_out} messages are left out here]"));
        }
    }
    lines.join("\n\n")
}

fn former_of(message: &Message) -> Option<&str> {
    if let Message::User { content } = message {
        is_replacement(content).then(|| former_summary(content).unwrap_or_default())
    } else {
        None
    }
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

fn beginning(text: &str, most_bytes: usize) -> String {
    bounded(
        text,
        most_bytes,
        &format!("[... {} bytes in all]", text.len()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Message {
        Message::User {
            content: text.to_owned(),
        }
    }

    fn of(messages: &[Message]) -> String {
        let all: Vec<&Message> = messages.iter().collect();
        digest(&all, "the summary was empty", 100_000)
    }

    #[test]
    fn the_first_and_the_last_messages_are_quoted_and_the_others_counted() {
        let many: Vec<Message> = (0..40).map(|n| told(&format!("message {n}."))).collect();
        let text = of(&many);
        for (n, quoted) in [(0, true), (1, false), (25, false), (26, true), (39, true)] {
            assert_eq!(
                text.contains(&format!("message {n}.")),
                quoted,
                "{n}: {text}"
            );
        }
        assert!(text.contains("25 messages are left out"), "{text}");
        assert!(text.contains("(the summary was empty)"), "{text}");
        let few = of(&many[..QUOTED_MESSAGES]);
        assert!(!few.contains("left out here"), "{few}");
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let text = of(&[told(&"ü".repeat(400))]);
        assert!(text.contains("[... 800 bytes in all]"), "{text}");
        assert!(text.matches('ü').count() == QUOTED_BYTES / 2);
    }

    #[test]
    fn a_former_summary_stays_without_its_frame_and_all_of_it_is_bounded() {
        let former = "<summary id=\"k1\">It read a.txt.</summary>\n<request>Go.</request>\n";
        let mut messages = vec![told(former)];
        messages.extend((0..40).map(|_| told(&"x".repeat(4_000))));
        let all: Vec<&Message> = messages.iter().collect();
        let text = digest(&all, "it was empty", 4_000);
        assert!(
            text.contains("It read a.txt.") && !text.contains("<request>"),
            "{text}"
        );
        assert!(text.len() < 5_000, "{}", text.len());
    }
}
