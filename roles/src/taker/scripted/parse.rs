//! Reading a script: every fault with its place, not the first one only.

use std::sync::Arc;

use a_society_facts::fact::turn::Usage;

use super::item;
use super::script::{Defaults, Entry, Item, Phase, Script, ScriptFault};
use crate::yaml::{self, Budget, Number, Tree, Value};

/// Faults that are kept of one script; nobody reads further.
const MAX_FAULTS: usize = 200;

/// The most a count or a time may be: a day in milliseconds.
pub(super) const MAX_MS: u64 = 24 * 60 * 60 * 1000;

/// The most tokens that an answer may claim. JSON tells numbers above this apart no longer.
const MAX_TOKENS: u64 = 1 << 53;

/// The most turns of one role at one node that a script tells apart.
const MAX_TURN: u64 = 1_000_000;

const TOP_KEYS: &[&str] = &["script", "default"];
const ENTRY_KEYS: &[&str] = &["role", "node", "turn", "phase", "usage", "say", "mend"];
const USAGE_KEYS: &[&str] = &[
    "input-tokens",
    "output-tokens",
    "cache-read-tokens",
    "cache-write-tokens",
    "context-tokens",
    "cost-micros",
];

pub(super) fn script(text: &str) -> Result<Script, Vec<ScriptFault>> {
    let mut sink = Sink {
        text,
        faults: Vec::new(),
    };
    let script = match yaml::parse(text, Budget::SCRIPT) {
        Ok(tree) => sink.script(&tree),
        Err(fault) => {
            let at = fault.place.map_or(0, |place| place.bytes.start);
            sink.fault_at(at, format!("this is not valid YAML: {}", fault.message));
            Script::default()
        }
    };
    if sink.faults.is_empty() {
        return Ok(script);
    }
    let mut faults = sink.faults;
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults.truncate(MAX_FAULTS);
    Err(faults)
}

/// Reads values, and keeps what is wrong with them.
#[derive(Debug)]
pub(super) struct Sink<'t> {
    text: &'t str,
    faults: Vec<ScriptFault>,
}

/// The values of a mapping by their keys.
#[derive(Debug)]
pub(super) struct Fields<'t> {
    pub(super) entries: &'t [(Tree, Tree)],
}

impl<'t> Fields<'t> {
    pub(super) fn get(&self, key: &str) -> Option<&'t Tree> {
        let is_key = |tree: &Tree| matches!(&tree.value, Value::Text(text) if text == key);
        self.entries
            .iter()
            .find(|(written, _)| is_key(written))
            .map(|(_, value)| value)
    }
}

impl Sink<'_> {
    pub(super) fn fault(&mut self, tree: &Tree, message: impl Into<String>) {
        self.fault_at(tree.place.bytes.start, message);
    }

    fn fault_at(&mut self, byte: usize, message: impl Into<String>) {
        let at = self.text.floor_char_boundary(byte.min(self.text.len()));
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        self.faults.push(ScriptFault {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        });
    }

    /// A mapping with these keys and no others.
    pub(super) fn fields<'t>(
        &mut self,
        tree: &'t Tree,
        what: &str,
        keys: &[&str],
    ) -> Option<Fields<'t>> {
        let Value::Map(entries) = &tree.value else {
            let message = format!("{what} is {} and must be a mapping", tree.value.kind());
            self.fault(tree, message);
            return None;
        };
        for (key, _) in entries {
            match &key.value {
                Value::Text(text) if keys.contains(&text.as_str()) => {}
                Value::Text(text) => self.fault(key, unknown_key(text, what, keys)),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::List(_)
                | Value::Map(_) => {
                    let message =
                        format!("a key of {what} is {} and must be text", key.value.kind());
                    self.fault(key, message);
                }
            }
        }
        Some(Fields { entries })
    }

    pub(super) fn required<'t>(
        &mut self,
        tree: &Tree,
        fields: &Fields<'t>,
        what: &str,
        key: &str,
    ) -> Option<&'t Tree> {
        let found = fields.get(key);
        if found.is_none() {
            self.fault(tree, format!("{what} needs `{key}`"));
        }
        found
    }

    /// A text, perhaps an empty one.
    pub(super) fn text(&mut self, tree: &Tree, what: &str) -> Option<String> {
        if let Value::Text(text) = &tree.value {
            return Some(text.clone());
        }
        let kind = tree.value.kind();
        let hint = match &tree.value {
            Value::Bool(_) | Value::Number(_) => "; quotes make it text",
            Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => "",
        };
        self.fault(tree, format!("{what} is {kind} and must be text{hint}"));
        None
    }

    /// A text that says something.
    pub(super) fn words(&mut self, tree: &Tree, what: &str) -> Option<String> {
        let text = self.text(tree, what)?;
        if text.trim().is_empty() {
            self.fault(tree, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    /// A whole number within bounds.
    pub(super) fn number(&mut self, tree: &Tree, what: &str, from: u64, to: u64) -> Option<u64> {
        if let Value::Number(Number::Whole(number)) = &tree.value
            && let Ok(number) = u64::try_from(*number)
            && (from..=to).contains(&number)
        {
            return Some(number);
        }
        self.fault(
            tree,
            format!("{what} must be a whole number from {from} to {to}"),
        );
        None
    }

    pub(super) fn boolean(&mut self, tree: &Tree, what: &str) -> Option<bool> {
        if let Value::Bool(value) = &tree.value {
            return Some(*value);
        }
        self.fault(tree, format!("{what} must be `true` or `false`"));
        None
    }

    /// One of a closed set of words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        tree: &Tree,
        what: &str,
        all: &[(T, &str)],
    ) -> Option<T> {
        if let Value::Text(text) = &tree.value
            && let Some((found, _)) = all.iter().find(|(_, word)| word == text)
        {
            return Some(*found);
        }
        let words: Vec<String> = all.iter().map(|(_, word)| format!("`{word}`")).collect();
        self.fault(tree, format!("{what} must be one of {}", words.join(", ")));
        None
    }

    fn name<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
        tree: &Tree,
        what: &str,
    ) -> Option<T> {
        let text = self.text(tree, what)?;
        match text.parse() {
            Ok(name) => Some(name),
            Err(why) => {
                self.fault(tree, why.to_string());
                None
            }
        }
    }

    fn script(&mut self, tree: &Tree) -> Script {
        let Some(fields) = self.fields(tree, "a script", TOP_KEYS) else {
            return Script::default();
        };
        let default = fields
            .get("default")
            .and_then(|tree| self.choice(tree, "`default`", &[(Defaults::Forward, "forward")]));
        if fields.get("script").is_none() && fields.get("default").is_none() {
            self.fault(tree, "a script needs `script`, `default`, or both");
        }
        let entries = fields
            .get("script")
            .map_or(Vec::new(), |tree| self.entries(tree));
        Script { entries, default }
    }

    fn entries(&mut self, tree: &Tree) -> Vec<Arc<Entry>> {
        let Value::List(items) = &tree.value else {
            let kind = tree.value.kind();
            self.fault(
                tree,
                format!("`script` is {kind} and must be a list of entries"),
            );
            return Vec::new();
        };
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        for item in items {
            let Some(entry) = self.entry(item) else {
                continue;
            };
            if let Some(first) = entries.iter().find(|first| first.covers(&entry)) {
                let line = first.line;
                let message = format!(
                    "this entry is never used, because the one in line {line} fits every turn \
                     that it fits"
                );
                self.fault(item, message);
            }
            entries.push(Arc::new(entry));
        }
        entries
    }

    fn entry(&mut self, tree: &Tree) -> Option<Entry> {
        let what = "an entry";
        let fields = self.fields(tree, what, ENTRY_KEYS)?;
        let faults_before = self.faults.len();
        let role = fields
            .get("role")
            .and_then(|tree| self.name(tree, "`role`"));
        let node = fields
            .get("node")
            .and_then(|tree| self.name(tree, "`node`"));
        let turn = fields
            .get("turn")
            .and_then(|tree| self.number(tree, "`turn`", 1, MAX_TURN));
        let phase = fields.get("phase").and_then(|tree| self.phase(tree));
        let usage = fields.get("usage").map(|tree| self.usage(tree));
        let say = self
            .required(tree, &fields, what, "say")
            .map(|tree| item::say(self, tree));
        let mend = fields.get("mend").map(|tree| self.mend(tree));
        if fields.get("role").is_none() && fields.get("node").is_none() {
            self.fault(tree, "an entry needs `role`, `node`, or both");
        }
        let phase = phase.unwrap_or(Phase::Forward);
        if let Some(node) = fields.get("node").filter(|_| phase != Phase::Forward) {
            self.fault(node, "only turns of the phase `forward` have a node");
        }
        (self.faults.len() == faults_before).then(|| Entry {
            line: tree.place.line,
            role,
            node,
            turn: turn.and_then(|turn| u32::try_from(turn).ok()),
            phase,
            say: say.unwrap_or_default(),
            mend: mend.unwrap_or_default(),
            usage: usage.unwrap_or_default(),
        })
    }

    fn phase(&mut self, tree: &Tree) -> Option<Phase> {
        let all = [
            (Phase::Forward, "forward"),
            (Phase::MetaAnalysis, "meta-analysis"),
            (Phase::Feedback, "feedback"),
        ];
        self.choice(tree, "`phase`", &all)
    }

    fn usage(&mut self, tree: &Tree) -> Usage {
        let Some(fields) = self.fields(tree, "`usage`", USAGE_KEYS) else {
            return Usage::default();
        };
        let mut count = |key: &str| {
            let found = fields.get(key)?;
            self.number(found, &format!("`{key}`"), 0, MAX_TOKENS)
        };
        Usage {
            input_tokens: count("input-tokens").unwrap_or(0),
            output_tokens: count("output-tokens").unwrap_or(0),
            cache_read_tokens: count("cache-read-tokens").unwrap_or(0),
            cache_write_tokens: count("cache-write-tokens").unwrap_or(0),
            context_tokens: count("context-tokens").unwrap_or(0),
            cost_micros: count("cost-micros").unwrap_or(0),
        }
    }

    fn mend(&mut self, tree: &Tree) -> Vec<Vec<Item>> {
        let Value::List(items) = &tree.value else {
            let kind = tree.value.kind();
            self.fault(
                tree,
                format!("`mend` is {kind} and must be a list of `say`s"),
            );
            return Vec::new();
        };
        let mut all = Vec::new();
        for tree in items {
            let what = "an item of `mend`";
            let Some(fields) = self.fields(tree, what, &["say"]) else {
                continue;
            };
            if let Some(tree) = self.required(tree, &fields, what, "say") {
                all.push(item::say(self, tree));
            }
        }
        all
    }
}

fn unknown_key(text: &str, what: &str, keys: &[&str]) -> String {
    let shown: String = text.chars().take(60).collect();
    if let Some(near) = keys.iter().find(|key| is_near(text, key)) {
        return format!("{what} has no key `{shown}`; did you mean `{near}`?");
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!(
        "{what} has no key `{shown}`; its keys are {}",
        keys.join(", ")
    )
}

/// Whether somebody may have meant the key: other joints and cases, or a letter or two that differ.
fn is_near(text: &str, key: &str) -> bool {
    let bare = |text: &str| -> Vec<char> {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        letters.take(40).flat_map(char::to_lowercase).collect()
    };
    let (text, key) = (bare(text), bare(key));
    let allowed = if key.len() < 4 { 1 } else { 2 };
    distance(&text, &key) <= allowed
}

/// How many letters must be changed, added or taken away.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in to.iter().enumerate() {
            let change = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}
