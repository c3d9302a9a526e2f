//! A session as Markdown, for people to read.

use std::fmt::Write as _;

use a_society_facts::fact::session::Origin;
use a_society_facts::message::Message;
use a_society_facts::view::session::{SessionEntry, SessionView, Texts};

/// The messages of a session, each below who sent it. Long texts that are kept as blobs are read whole.
pub(crate) fn markdown(title: &str, session: &SessionView, texts: Texts<'_>) -> String {
    let mut out = format!("# {}\n", one_line(title));
    for entry in &session.messages {
        out.push('\n');
        out.push_str(&section(session, entry, texts));
    }
    out
}

fn section(session: &SessionView, entry: &SessionEntry, texts: Texts<'_>) -> String {
    let at = entry.at;
    let whole = entry.blob.and_then(|(blob, _)| (texts.0)(blob));
    let whole = |text: &str| whole.clone().unwrap_or_else(|| text.to_owned());
    match &*entry.message {
        Message::User { content } => {
            let who = sender(entry);
            format!("## {who}, {at}\n\n{}\n", whole(content).trim())
        }
        Message::Assistant { content } => {
            format!("## {}, {at}\n\n{}\n", session.role, whole(content).trim())
        }
        Message::AssistantToolCalls { calls, text } => {
            let mut out = format!("## {}, {at}\n", session.role);
            if let Some(text) = text {
                let _ = write!(out, "\n{}\n", whole(text).trim());
            }
            for call in calls {
                let fenced = fenced("json", call.input.get());
                let name = one_line(&call.name);
                let _ = write!(out, "\nCalls `{name}`:\n\n{fenced}");
            }
            out
        }
        Message::ToolResult {
            tool_name,
            content,
            is_error,
            ..
        } => {
            let what = if *is_error { "Error" } else { "Result" };
            let fenced = fenced("", &whole(content));
            format!("{what} of `{}`:\n\n{fenced}", one_line(tool_name))
        }
    }
}

/// Who sent what a role reads.
const fn sender(entry: &SessionEntry) -> &'static str {
    if entry.is_system {
        return "System";
    }
    match entry.origin {
        Some(Origin::Compaction) => "Summary",
        Some(Origin::Reply | Origin::Steer | Origin::Injection) | None => "You",
        Some(
            Origin::Entry
            | Origin::Repair
            | Origin::Continuation
            | Origin::Consultation
            | Origin::Improvement
            | Origin::Runtime,
        ) => "Program",
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A block whose fence is longer than any run of backticks in it.
fn fenced(language: &str, text: &str) -> String {
    let runs = text.split(|it| it != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!(
        "{fence}{language}\n{}\n{fence}\n",
        text.trim_end_matches('\n')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_block_that_it_is_in() {
        assert_eq!(fenced("json", "{}"), "```json\n{}\n```\n");
        assert_eq!(fenced("", "a\n````\nb\n"), "`````\na\n````\nb\n`````\n");
    }
}
