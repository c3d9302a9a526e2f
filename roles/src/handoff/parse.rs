//! From the text of a turn to its outcome, or to the one fault that the role must mend.
//!
//! The last block tagged `handoff` counts. Blocks within other blocks are quotations and never count;
//! in an answer that was cut off, a block that is not closed does not count either. Where the meaning
//! is certain, the form is free: other words for the keys, marks around values, tags for fences.

use std::ops::Range;

use a_society_yaml::{self as yaml, MapEntry, ParseBudget, Span, Value, YamlTree};

use super::FaultCode;
use super::call::bare;
use super::fault::{FaultSpan, HandoffFault};
use super::fence::{self, BlockBody, FencedBlock, TextLine};
use super::limits::{MAX_BLOCK_BYTES, MAX_QUOTED_CHARS, MAX_TARGETS};
use super::outcome::{NamedTarget, RoleOutcome};

/// The tag of the block.
const TAG: &str = "handoff";

/// The names of a receiver; the first is the one that is shown.
const NODE: &[&str] = &["target_node_id", "target", "node", "target_node", "node_id"];

/// The names of what it receives.
const ARTIFACT: &[&str] = &["artifact_path", "artifact", "path", "file"];

/// Every signal with the names of the field it carries.
const SIGNALS: &[(&str, Option<&[&str]>)] = &[
    ("prompt-human", None),
    ("await-handoff", None),
    ("forward-pass-closed", None),
    (
        "meta-analysis-complete",
        Some(&["findings_path", "artifact_path", "path"]),
    ),
    (
        "backward-pass-complete",
        Some(&["artifact_path", "report_path", "path"]),
    ),
];

/// Reads how a turn ended whose last words are these, and whole.
pub(crate) fn parse_outcome(text: &str) -> Result<RoleOutcome, HandoffFault> {
    read(text, true)
}

/// Reads how a turn ended whose last words may be cut off: half of a path is a path, so that only a
/// closed block counts.
pub(crate) fn parse_cut_outcome(text: &str) -> Result<RoleOutcome, HandoffFault> {
    read(text, false)
}

fn read(text: &str, is_whole: bool) -> Result<RoleOutcome, HandoffFault> {
    let blocks = fence::blocks(text, TAG);
    let Some(block) = counts(text, &blocks) else {
        return Err(missing_block(text, &blocks));
    };
    if !block.is_closed && !is_whole {
        let message = "the last handoff block is never closed, so that it may be cut off; \
            end it with a fence of its own";
        return Err(fault_at(
            text,
            FaultCode::MissingBlock,
            &block.opening.line,
            message,
        ));
    }
    if block.body.len() > MAX_BLOCK_BYTES {
        let message = format!(
            "the handoff block has {} bytes and may have {MAX_BLOCK_BYTES}",
            block.body.len()
        );
        return Err(fault_at(
            text,
            FaultCode::InvalidTargetShape,
            &block.opening.line,
            message,
        ));
    }
    let body = BlockBody::of(text, &block);
    BlockReader { text, body: &body }.outcome()
}

/// The block that counts: the last one that is tagged as one; else the text between tags, or the last
/// block of all if it is data that can mean nothing else.
fn counts<'t>(text: &'t str, blocks: &[FencedBlock<'t>]) -> Option<FencedBlock<'t>> {
    let is_tagged =
        |block: &&FencedBlock<'_>| is_nearly_tagged(block.opening.tag) || is_data_tagged(block);
    if let Some(block) = blocks.iter().rev().find(is_tagged) {
        return Some(block.clone());
    }
    if let Some(block) = fence::between(text, TAG, blocks) {
        return Some(block);
    }
    let last = blocks.last()?;
    let is_data = matches!(last.opening.tag, "yaml" | "yml" | "json");
    (is_data && last.is_closed && means_outcome(text, last)).then(|| last.clone())
}

/// Whether a block is tagged as a format, and as a handoff besides.
fn is_data_tagged(block: &FencedBlock<'_>) -> bool {
    let is_format = matches!(block.opening.tag, "yaml" | "yml" | "json");
    is_format && is_nearly_tagged(block.opening.second)
}

/// Whether a block has what an outcome has, in the right words.
fn means_outcome(text: &str, block: &FencedBlock<'_>) -> bool {
    let body = BlockBody::of(text, block);
    let reader = BlockReader { text, body: &body };
    let has_keys = body.text.contains("target_node_id") || body.text.contains("type");
    block.body.len() <= MAX_BLOCK_BYTES && has_keys && reader.outcome().is_ok()
}

/// What a turn says before the block that counts; all of it if there is none.
pub fn words_before_block(text: &str) -> &str {
    let blocks = fence::blocks(text, TAG);
    let counting = counts(text, &blocks);
    counting
        .map_or(text, |block| &text[..block.opening.line.start])
        .trim()
}

fn span_of(text: &str, bytes: &Range<usize>, line: usize) -> FaultSpan {
    let start = text.floor_char_boundary(bytes.start);
    let end = text.ceil_char_boundary(bytes.end.max(bytes.start));
    FaultSpan {
        bytes: start..end.min(text.len()),
        line,
    }
}

fn fault_at(
    text: &str,
    code: FaultCode,
    line: &TextLine<'_>,
    message: impl Into<String>,
) -> HandoffFault {
    let span = Some(span_of(text, &line.bytes(), line.number));
    HandoffFault {
        code,
        message: message.into(),
        span,
        is_silent: false,
    }
}

/// There is no block that counts; says what there is instead, because that is what to mend.
fn missing_block(text: &str, blocks: &[FencedBlock<'_>]) -> HandoffFault {
    let code = FaultCode::MissingBlock;
    let quoted = blocks
        .iter()
        .rev()
        .find_map(|block| Some((block, block.inner?)));
    if let Some((block, inner)) = quoted {
        let around = block.opening.line.number;
        let message = if block.is_closed {
            format!(
                "the handoff block in line {} is inside the block that begins in line {around}, \
                 and a quoted block does not count",
                inner.number
            )
        } else {
            format!(
                "the handoff block in line {} is inside the block that begins in line {around} \
                 and is never closed",
                inner.number
            )
        };
        return fault_at(text, code, &inner, message);
    }
    if let Some(line) = fence::lines(text)
        .filter(|line| is_hidden_fence(line.text))
        .last()
    {
        let message = "the handoff block is indented or quoted; its fence must begin the line";
        return fault_at(text, code, &line, message);
    }
    let last_line = fence::lines(text).last();
    let line = last_line.map_or(1, |line| line.number);
    HandoffFault {
        code,
        message: "the turn ended without a handoff block".to_owned(),
        span: Some(span_of(text, &(text.len()..text.len()), line)),
        is_silent: true,
    }
}

fn is_nearly_tagged(tag: &str) -> bool {
    let letters = tag.chars().filter(char::is_ascii_alphanumeric);
    letters
        .map(|letter| letter.to_ascii_lowercase())
        .eq(TAG.chars())
}

/// A fence with the right tag behind characters that take its meaning away.
fn is_hidden_fence(line: &str) -> bool {
    let before = |letter: char| letter.is_whitespace() || matches!(letter, '>' | '-' | '*');
    let bare = line.trim_start_matches(before);
    let tag = bare.trim_start_matches(['`', '~']);
    bare.len() >= tag.len() + 3 && tag.split_whitespace().next() == Some(TAG)
}

/// A model's own words as a message repeats them: on one line, and never long.
fn quoted_words(text: &str) -> String {
    let flat = |letter: char| {
        if letter.is_control() || letter == '`' {
            ' '
        } else {
            letter
        }
    };
    let mut shown: String = text.chars().take(MAX_QUOTED_CHARS).map(flat).collect();
    if text.chars().nth(MAX_QUOTED_CHARS).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Reads one block.
#[derive(Debug)]
struct BlockReader<'t> {
    text: &'t str,
    body: &'t BlockBody,
}

type HandoffResult<T> = Result<T, HandoffFault>;

impl BlockReader<'_> {
    fn outcome(&self) -> HandoffResult<RoleOutcome> {
        let parsed = yaml::parse(&self.body.text, ParseBudget::BLOCK);
        // Marks around a name are not YAML, and mean nothing.
        let parsed = parsed.or_else(|fault| {
            let bare = self.body.text.replace('`', " ");
            let is_fenced = self.body.text.contains("```");
            let again = (bare != self.body.text && !is_fenced)
                .then(|| yaml::parse(&bare, ParseBudget::BLOCK));
            again.and_then(Result::ok).ok_or(fault)
        });
        let tree = parsed.map_err(|fault| {
            let message = format!("the handoff block is not valid YAML: {}", fault.message);
            self.fault(FaultCode::YamlParse, fault.span, message)
        })?;
        match &tree.value {
            Value::List(items) => self.targets(&tree, items),
            Value::Map(entries) => self.map(&tree, entries),
            Value::Null => Err(self.shape(&tree, "the handoff block is empty")),
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                let kind = tree.value.kind();
                let message = format!(
                    "the handoff block is {kind}; it must be a target, a list of targets, or a signal"
                );
                Err(self.shape(&tree, message))
            }
        }
    }

    fn map(&self, tree: &YamlTree, entries: &[MapEntry]) -> HandoffResult<RoleOutcome> {
        if let Some(listed) = find(entries, "targets")
            && let Value::List(items) = &listed.value
        {
            return self.targets(listed, items);
        }
        match find(entries, "type") {
            Some(kind) if !is_text(kind, TAG) => self.signal(entries, kind),
            Some(_) | None => Ok(RoleOutcome::Handoff(vec![self.target(tree, entries)?])),
        }
    }

    fn targets(&self, list: &YamlTree, items: &[YamlTree]) -> HandoffResult<RoleOutcome> {
        if items.is_empty() {
            return Err(self.shape(list, "the list of targets is empty"));
        }
        if items.len() > MAX_TARGETS {
            let message = format!(
                "the block has {} targets and may have {MAX_TARGETS}",
                items.len()
            );
            return Err(self.shape(list, message));
        }
        let targets: HandoffResult<Vec<NamedTarget>> =
            items.iter().map(|item| self.list_item(item)).collect();
        targets.map(RoleOutcome::Handoff)
    }

    fn list_item(&self, item: &YamlTree) -> HandoffResult<NamedTarget> {
        let Value::Map(entries) = &item.value else {
            let kind = item.value.kind();
            let message = format!(
                "an item of the list is {kind}; each must have `target_node_id` and `artifact_path`"
            );
            return Err(self.shape(item, message));
        };
        if find(entries, "type").is_some_and(|kind| !is_text(kind, TAG)) {
            let message = "a signal is in a list; it must be the whole block";
            return Err(self.shape(item, message));
        }
        self.target(item, entries)
    }

    /// Unknown keys are comments for people; the artifact repeats what they say.
    fn target(&self, map: &YamlTree, entries: &[MapEntry]) -> HandoffResult<NamedTarget> {
        Ok(NamedTarget {
            target_node_id: self.field(map, entries, NODE, "a target")?,
            artifact_path: self.field(map, entries, ARTIFACT, "a target")?,
        })
    }

    fn signal(&self, entries: &[MapEntry], kind: &YamlTree) -> HandoffResult<RoleOutcome> {
        let Value::Text(name) = &kind.value else {
            let message = format!("`type` is {} and must name a signal", kind.value.kind());
            return Err(self.fault(FaultCode::UnknownSignalType, kind.span, message));
        };
        let name = &bare(name);
        let Some((_, field)) = SIGNALS.iter().find(|(signal, _)| signal == name) else {
            return Err(self.unknown_signal(kind, name));
        };
        let what = quoted_words(name);
        let path = match field {
            Some(fields) => self.field(kind, entries, fields, &what)?,
            None => String::new(),
        };
        let names_node = |entry: &&MapEntry| is_one_of(&entry.key, &NODE[..2]);
        if let Some(MapEntry { key: written, .. }) = entries.iter().find(names_node) {
            let message = format!("{what} names a node; give a signal or targets, not both");
            return Err(self.shape(written, message));
        }
        match name.as_str() {
            "prompt-human" => Ok(RoleOutcome::PromptHuman),
            "await-handoff" => Ok(RoleOutcome::AwaitHandoff),
            "forward-pass-closed" => Ok(RoleOutcome::ForwardPassClosed),
            "meta-analysis-complete" => Ok(RoleOutcome::MetaAnalysisComplete {
                findings_path: path,
            }),
            "backward-pass-complete" => Ok(RoleOutcome::BackwardPassComplete {
                artifact_path: path,
            }),
            _ => Err(self.unknown_signal(kind, name)),
        }
    }

    fn unknown_signal(&self, kind: &YamlTree, name: &str) -> HandoffFault {
        let signals: Vec<String> = SIGNALS
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        let message = format!(
            "{} is no signal; the signals are {}, and a handoff to nodes has no `type`",
            quoted_words(name),
            signals.join(", ")
        );
        self.fault(FaultCode::UnknownSignalType, kind.span, message)
    }

    /// A required text, under one of its names.
    fn field(
        &self,
        map: &YamlTree,
        entries: &[MapEntry],
        keys: &[&str],
        what: &str,
    ) -> HandoffResult<String> {
        let key = keys.first().copied().unwrap_or_default();
        let exact = keys.iter().find_map(|key| find(entries, key));
        let near = || {
            let near = entries.iter().find(|entry| is_one_of(&entry.key, keys));
            near.map(|entry| &entry.value)
        };
        let Some(found) = exact.or_else(near) else {
            let message = format!("{what} has no `{key}`");
            return Err(self.fault(FaultCode::MissingRequiredField, map.span, message));
        };
        match &found.value {
            Value::Text(text) if !bare(text).is_empty() => Ok(bare(text)),
            Value::Text(_) | Value::Null => {
                let message = format!("`{key}` of {what} is empty");
                Err(self.fault(FaultCode::MissingRequiredField, found.span, message))
            }
            Value::Bool(_) | Value::Number(_) => {
                let message = format!(
                    "`{key}` of {what} is {}; quotes make it text",
                    found.value.kind()
                );
                Err(self.shape(found, message))
            }
            Value::List(_) | Value::Map(_) => {
                let message = format!(
                    "`{key}` of {what} is {} and must be one text; several targets are a list of targets",
                    found.value.kind()
                );
                Err(self.shape(found, message))
            }
        }
    }

    fn shape(&self, tree: &YamlTree, message: impl Into<String>) -> HandoffFault {
        self.fault(FaultCode::InvalidTargetShape, tree.span, message)
    }

    fn fault(&self, code: FaultCode, span: Span, message: impl Into<String>) -> HandoffFault {
        let (bytes, line) = self.body.place(&span.bytes());
        HandoffFault {
            code,
            message: message.into(),
            span: Some(span_of(self.text, &bytes, line)),
            is_silent: false,
        }
    }
}

fn is_text(tree: &YamlTree, text: &str) -> bool {
    matches!(&tree.value, Value::Text(written) if written == text)
}

fn find<'t>(entries: &'t [MapEntry], key: &str) -> Option<&'t YamlTree> {
    let found = entries.iter().find(|entry| entry.is(key));
    found.map(|entry| &entry.value)
}

/// One of these names, also with other cases or joints, such as `artifact-path` or `targetNodeId`.
fn is_one_of(written: &YamlTree, keys: &[&str]) -> bool {
    let letters = |text: &str| -> String {
        text.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase()
    };
    match &written.value {
        Value::Text(text) => keys.iter().any(|key| letters(text) == letters(key)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => false,
    }
}
