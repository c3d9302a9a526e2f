//! Reading the items of a `say`.

use a_society_yaml::{MapEntry, Value, YamlTree};

use crate::reading::{DocumentSink, Fields};
use a_society_facts::fact::turn::Effect;

use super::json;
use super::parse::MAX_MS;
use super::script::{CallItem, ScriptItem, ScriptedText, SignalWord};
use crate::handoff::{MAX_TARGETS, NamedTarget};
use crate::port::RecordPath;

/// More pieces than this are no stream that anybody watches.
const MAX_PIECES: u64 = 100_000;

const ITEM_KEYS: &[&str] = &[
    "text",
    "stream",
    "reasoning",
    "call",
    "write",
    "report",
    "wait-ms",
    "fault",
    "cut",
    "handoff",
    "signal",
    "raw",
    "forward",
    "back",
    "output-limit",
];

/// Reads the list of a `say`. Whatever cannot be read is reported and left out.
pub(super) fn say(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Vec<ScriptItem> {
    let Value::List(trees) = &tree.value else {
        let kind = tree.value.kind();
        sink.fault(tree, format!("`say` is {kind} and must be a list"));
        return Vec::new();
    };
    if trees.is_empty() {
        sink.fault(tree, "`say` is empty, and a turn must say something");
    }
    let mut items = Vec::new();
    let mut end: Option<&YamlTree> = None;
    for tree in trees {
        if end.take().is_some() {
            sink.fault(
                tree,
                "nothing can follow here, because the item before ends the turn",
            );
        }
        let Some(item) = item(sink, tree) else {
            continue;
        };
        if item.ends_turn() {
            end = Some(tree);
        }
        items.push(item);
    }
    if let (Some(last), Some(tree)) = (items.last(), trees.last())
        && items.len() == trees.len()
        && !last.is_said()
    {
        let message = "the list ends without saying how the turn ends; end it with `handoff`, \
                       `signal`, `forward`, or text";
        sink.fault(tree, message);
    }
    items
}

impl ScriptItem {
    /// Whether nothing can come after it.
    fn ends_turn(&self) -> bool {
        match self {
            Self::Handoff(_)
            | Self::Signal(_)
            | Self::Raw(_)
            | Self::Forward(_)
            | Self::Back(_)
            | Self::OutputLimit => true,
            Self::Say(_)
            | Self::Reasoning(_)
            | Self::Wait { .. }
            | Self::Fault { .. }
            | Self::Call(_)
            | Self::Write { .. }
            | Self::Report(_) => false,
        }
    }

    /// Whether a turn may end after it: the role said something, or the request failed.
    fn is_said(&self) -> bool {
        match self {
            Self::Say(_) | Self::Fault { .. } => true,
            Self::Reasoning(_)
            | Self::Wait { .. }
            | Self::Call(_)
            | Self::Write { .. }
            | Self::Report(_)
            | Self::Handoff(_)
            | Self::Signal(_)
            | Self::Raw(_)
            | Self::Forward(_)
            | Self::Back(_)
            | Self::OutputLimit => self.ends_turn(),
        }
    }
}

fn item(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<ScriptItem> {
    // A plain text is the most frequent item.
    if let Value::Text(_) = &tree.value {
        return sink
            .words(tree, "an item")
            .map(|text| ScriptItem::Say(ScriptedText::whole(text)));
    }
    let fields = sink.fields(tree, "an item", ITEM_KEYS)?;
    let [MapEntry { key, value }] = fields.entries else {
        sink.fault(
            tree,
            "an item has exactly one key; begin each with a dash of its own",
        );
        return None;
    };
    let Value::Text(key) = &key.value else {
        return None;
    };
    match key.as_str() {
        "text" => sink
            .words(value, "`text`")
            .map(|text| ScriptItem::Say(ScriptedText::whole(text))),
        "stream" => stream(sink, value),
        "reasoning" => sink.words(value, "`reasoning`").map(ScriptItem::Reasoning),
        "call" => call(sink, value),
        "write" => write(sink, value),
        "report" => sink.text(value, "`report`").map(ScriptItem::Report),
        "wait-ms" => sink
            .number(value, "`wait-ms`", 0, MAX_MS)
            .map(|ms| ScriptItem::Wait { ms }),
        "fault" => fault(sink, value),
        "cut" => cut(sink, value),
        "handoff" => handoff(sink, value),
        "signal" => sink
            .choice(value, "`signal`", SignalWord::ALL)
            .map(ScriptItem::Signal),
        "raw" => sink.text(value, "`raw`").map(ScriptItem::Raw),
        "forward" => sink.text(value, "`forward`").map(ScriptItem::Forward),
        "back" => sink.text(value, "`back`").map(ScriptItem::Back),
        "output-limit" => {
            only_true(sink, value, "`output-limit`").map(|()| ScriptItem::OutputLimit)
        }
        // Unknown keys have been reported.
        _ => None,
    }
}

fn only_true(sink: &mut DocumentSink<'_>, tree: &YamlTree, what: &str) -> Option<()> {
    let is_true = sink.boolean(tree, what)?;
    if !is_true {
        sink.fault(
            tree,
            format!("{what} can only be `true`; leave it out otherwise"),
        );
    }
    is_true.then_some(())
}

fn stream(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<ScriptItem> {
    let what = "`stream`";
    let fields = sink.fields(tree, what, &["text", "pieces", "every-ms"])?;
    let text = sink.required(tree, &fields, what, "text");
    let text = text.and_then(|tree| sink.words(tree, "`text`"));
    let pieces = fields
        .get("pieces")
        .map_or(Some(1), |tree| sink.number(tree, "`pieces`", 1, MAX_PIECES));
    let every_ms = millis(sink, &fields, "every-ms");
    Some(ScriptItem::Say(ScriptedText {
        text: text?,
        pieces: u32::try_from(pieces?).unwrap_or(1),
        every_ms: every_ms?,
    }))
}

/// A time that is zero if it is not there.
fn millis(sink: &mut DocumentSink<'_>, fields: &Fields<'_>, key: &str) -> Option<u64> {
    fields.get(key).map_or(Some(0), |tree| {
        sink.number(tree, &format!("`{key}`"), 0, MAX_MS)
    })
}

fn call(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<ScriptItem> {
    let what = "`call`";
    let keys = ["tool", "input", "output", "effect", "fails", "takes-ms"];
    let fields = sink.fields(tree, what, &keys)?;
    let tool = sink.required(tree, &fields, what, "tool");
    let tool = tool.and_then(|tree| sink.words(tree, "`tool`"));
    let input = match fields.get("input") {
        Some(tree) => input(sink, tree),
        None => Some(json::empty_object()),
    };
    let output = fields
        .get("output")
        .map_or(Some(String::new()), |tree| sink.text(tree, "`output`"));
    let effect = fields
        .get("effect")
        .map_or(Some(Effect::Pure), |tree| effect(sink, tree));
    let fails = fields
        .get("fails")
        .map_or(Some(false), |tree| sink.boolean(tree, "`fails`"));
    let takes_ms = millis(sink, &fields, "takes-ms");
    Some(ScriptItem::Call(CallItem {
        tool: tool?,
        input: input?,
        output: output?,
        effect: effect?,
        fails: fails?,
        takes_ms: takes_ms?,
    }))
}

fn input(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<Box<serde_json::value::RawValue>> {
    if !matches!(tree.value, Value::Map(_)) {
        let kind = tree.value.kind();
        sink.fault(tree, format!("`input` is {kind} and must be a mapping"));
        return None;
    }
    match json::from_yaml(tree) {
        Ok(input) => Some(input),
        Err((place, why)) => {
            sink.fault(place, why);
            None
        }
    }
}

fn effect(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<Effect> {
    if matches!(&tree.value, Value::Text(text) if text == "checkable") {
        let message = "a call that only pretends changes no file that could be checked; \
                       use `write` to write one";
        sink.fault(tree, message);
        return None;
    }
    let all = [
        (Effect::Pure, "pure"),
        (Effect::Idempotent, "idempotent"),
        (Effect::Mutating, "mutating"),
        (Effect::Irreversible, "irreversible"),
    ];
    sink.choice(tree, "`effect`", &all)
}

fn write(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<ScriptItem> {
    let what = "`write`";
    let fields = sink.fields(tree, what, &["path", "text"])?;
    let path = sink.required(tree, &fields, what, "path");
    let path = path.and_then(|tree| path_of(sink, tree));
    let text = sink.required(tree, &fields, what, "text");
    let text = text.and_then(|tree| sink.text(tree, "`text`"));
    Some(ScriptItem::Write {
        path: path?,
        text: text?,
    })
}

fn path_of(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<RecordPath> {
    let text = sink.text(tree, "`path`")?;
    match RecordPath::parse(text.strip_prefix("record/").unwrap_or(&text)) {
        Ok(path) => Some(path),
        Err(why) => {
            sink.fault(tree, why);
            None
        }
    }
}

fn fault(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<ScriptItem> {
    let what = "`fault`";
    let fields = sink.fields(
        tree,
        what,
        &["class", "message", "retry-in-ms", "resets-in-ms"],
    )?;
    let class = sink.required(tree, &fields, what, "class");
    let class = class.and_then(|tree| class_of(sink, tree))?;
    let message = match fields.get("message") {
        Some(tree) => sink.words(tree, "`message`")?,
        None => format!("the script lets this request fail: {class}"),
    };
    let retry_in_ms = retry(sink, &fields)?;
    let resets_in_ms = match fields.get("resets-in-ms") {
        Some(tree) => Some(sink.number(tree, "`resets-in-ms`", 0, MAX_MS)?),
        None => None,
    };
    Some(ScriptItem::Fault {
        class,
        message,
        retry_in_ms,
        resets_in_ms,
    })
}

fn class_of(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<String> {
    let class = sink.words(tree, "`class`")?;
    let fits = |letter: char| letter.is_ascii_lowercase() || matches!(letter, '_' | '-');
    if class.chars().all(fits) {
        return Some(class);
    }
    sink.fault(
        tree,
        "`class` is one word of lowercase letters, such as `overloaded`",
    );
    None
}

/// The outer `None` is a fault, the inner one says that there is no retry.
fn retry(sink: &mut DocumentSink<'_>, fields: &Fields<'_>) -> Option<Option<u64>> {
    match fields.get("retry-in-ms") {
        Some(tree) => sink.number(tree, "`retry-in-ms`", 0, MAX_MS).map(Some),
        None => Some(None),
    }
}

/// A stream that breaks off is a fault of its own class.
fn cut(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<ScriptItem> {
    let retry_in_ms = if matches!(tree.value, Value::Map(_)) {
        let fields = sink.fields(tree, "`cut`", &["retry-in-ms"])?;
        retry(sink, &fields)?
    } else {
        only_true(sink, tree, "`cut`")?;
        None
    };
    Some(ScriptItem::Fault {
        class: "stream_cut".to_owned(),
        message: "the stream broke off before the answer was whole".to_owned(),
        retry_in_ms,
        resets_in_ms: None,
    })
}

fn handoff(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<ScriptItem> {
    let one = std::slice::from_ref(tree);
    let items = match &tree.value {
        Value::List(items) => items.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => one,
    };
    if items.is_empty() || items.len() > MAX_TARGETS {
        sink.fault(
            tree,
            format!("`handoff` needs from 1 to {MAX_TARGETS} targets"),
        );
        return None;
    }
    let targets: Vec<Option<NamedTarget>> = items.iter().map(|item| target(sink, item)).collect();
    targets
        .into_iter()
        .collect::<Option<Vec<NamedTarget>>>()
        .map(ScriptItem::Handoff)
}

fn target(sink: &mut DocumentSink<'_>, tree: &YamlTree) -> Option<NamedTarget> {
    let what = "a target";
    let fields = sink.fields(tree, what, &["to", "artifact"])?;
    let to = sink.required(tree, &fields, what, "to");
    let to = to.and_then(|tree| sink.words(tree, "`to`"));
    let artifact = sink.required(tree, &fields, what, "artifact");
    let artifact = artifact.and_then(|tree| sink.words(tree, "`artifact`"));
    Some(NamedTarget {
        target_node_id: to?,
        artifact_path: artifact?,
    })
}
