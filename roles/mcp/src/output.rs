//! Results of calls, as a model gets them.

use a_society_base::redact::Redactor;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use super::limits::OUTPUT_BYTES_MAX;
use super::plain;

/// What a call brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteOutput {
    /// What the model gets.
    pub text: String,
    /// Everything there was, if the model gets only a part of it: the text, or the result as JSON
    /// if there was more than text.
    pub whole: Option<Vec<u8>>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

impl RemoteOutput {
    /// A result as its server gave it, without secrets. They are taken out before it is cut, so
    /// that no half of one is left.
    pub(super) fn of(result: &CallToolResult, redactor: &Redactor) -> Self {
        let parts: Vec<ResultPart> = result.content.iter().map(part).collect();
        let is_left_out = parts.iter().any(|part| part.is_left_out);
        let texts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
        let mut text = texts.join("\n");
        if let Some(structured) = &result.structured_content
            && text.trim().is_empty()
        {
            text = structured.to_string();
        }
        let text = redactor.redact(&text);
        let is_error = result.is_error == Some(true);
        let shown = plain::ends(&text, OUTPUT_BYTES_MAX);
        let whole = if is_left_out {
            let whole = serde_json::to_string(result).ok();
            whole.map(|whole| redactor.redact(&whole).into_bytes())
        } else if shown == text {
            None
        } else {
            Some(text.into_bytes())
        };
        Self {
            text: shown,
            whole,
            is_error,
        }
    }

    /// The error that a server sent instead of a result.
    pub(super) fn fault(words: &str, redactor: &Redactor) -> Self {
        Self {
            text: plain::ends(&redactor.redact(words), OUTPUT_BYTES_MAX),
            whole: None,
            is_error: true,
        }
    }
}

/// A part of a result.
struct ResultPart {
    text: String,
    is_left_out: bool,
}

fn part(block: &ContentBlock) -> ResultPart {
    let text = |text: &str| ResultPart {
        text: text.to_owned(),
        is_left_out: false,
    };
    let left_out = |kind: &str, of: &str, bytes: usize| ResultPart {
        text: format!(
            "[{kind} of type {}, {bytes} bytes in base64, is left out here]",
            plain::line(of)
        ),
        is_left_out: true,
    };
    match block {
        ContentBlock::Text(block) => text(&block.text),
        ContentBlock::Image(block) => left_out("a picture", &block.mime_type, block.data.len()),
        ContentBlock::Audio(block) => left_out("a sound", &block.mime_type, block.data.len()),
        ContentBlock::Resource(block) => match &block.resource {
            ResourceContents::TextResourceContents {
                uri, text: words, ..
            } => text(&format!("[{}]\n{words}", plain::line(uri))),
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => {
                let of = mime_type.as_deref().unwrap_or("unknown");
                left_out("a file", of, blob.len())
            }
            // The SDK may learn of more; so may we, when it does.
            _ => left_out("a resource", "unknown", 0),
        },
        ContentBlock::ResourceLink(link) => text(&format!(
            "[a resource: {} {}]",
            plain::line(&link.name),
            plain::line(&link.uri)
        )),
        _ => left_out("a part", "unknown", 0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn output(result: Value) -> RemoteOutput {
        let redactor = Redactor::new(&["canary-s3cret".to_owned()]);
        RemoteOutput::of(&serde_json::from_value(result).unwrap(), &redactor)
    }

    #[test]
    fn texts_come_as_they_are_and_pictures_are_named() {
        let plain = output(
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
        );
        assert_eq!(
            (plain.text.as_str(), plain.whole, plain.is_error),
            ("a\nb", None, false)
        );
        let picture = output(json!({
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            ],
            "isError": true,
        }));
        assert_eq!(
            picture.text,
            "see\n[a picture of type image/png, 4 bytes in base64, is left out here]"
        );
        let whole = String::from_utf8(picture.whole.unwrap()).unwrap();
        assert!(picture.is_error && whole.contains("AAAA"));
    }

    #[test]
    fn k05_no_part_of_a_secret_is_left_where_a_text_is_cut() {
        let half = OUTPUT_BYTES_MAX / 2;
        for before in [half - 3, half - 10, half + 3] {
            let text = format!(
                "{}canary-s3cret{}",
                "x".repeat(before),
                "y".repeat(half * 2)
            );
            let cut = output(json!({"content": [{"type": "text", "text": text}]}));
            let whole = String::from_utf8(cut.whole.unwrap()).unwrap();
            assert!(
                !cut.text.contains("can") && !whole.contains("can"),
                "{before}"
            );
        }
    }

    #[test]
    fn a_structured_result_without_text_is_shown_as_json() {
        let structured = output(json!({"content": [], "structuredContent": {"sum": 3}}));
        assert_eq!(structured.text, "{\"sum\":3}");
        let both =
            json!({"content": [{"type": "text", "text": "3"}], "structuredContent": {"sum": 3}});
        assert_eq!(output(both).text, "3");
    }

    #[test]
    fn a_long_text_is_kept_whole_beside_its_ends() {
        let text = format!("begin{}end", "x".repeat(OUTPUT_BYTES_MAX));
        let long = output(json!({"content": [{"type": "text", "text": text}]}));
        assert!(long.text.starts_with("begin") && long.text.ends_with("end"));
        assert!(long.text.len() < OUTPUT_BYTES_MAX + 100);
        assert_eq!(long.whole.unwrap(), text.into_bytes());
    }
}
