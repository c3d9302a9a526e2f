//! Reading a script: every fault with its place, not the first one only.

use std::sync::Arc;

use a_society_yaml::{ParseBudget, Value, YamlTree};

use crate::reading::{DocumentSink, TextFault, read};
use a_society_facts::fact::turn::Usage;

use super::item;
use super::script::{RoleScript, ScriptDefaults, ScriptEntry, ScriptItem, ScriptPhase};

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

pub(super) fn script(text: &str) -> Result<RoleScript, Vec<TextFault>> {
    read(text, ParseBudget::SCRIPT, |sink, tree| sink.script(tree))
}

impl DocumentSink<'_> {
    fn script(&mut self, tree: &YamlTree) -> RoleScript {
        let Some(fields) = self.fields(tree, "a script", TOP_KEYS) else {
            return RoleScript::default();
        };
        let default = fields.get("default").and_then(|tree| {
            self.choice(tree, "`default`", &[(ScriptDefaults::Forward, "forward")])
        });
        if fields.get("script").is_none() && fields.get("default").is_none() {
            self.fault(tree, "a script needs `script`, `default`, or both");
        }
        let entries = fields
            .get("script")
            .map_or(Vec::new(), |tree| self.entries(tree));
        RoleScript { entries, default }
    }

    fn entries(&mut self, tree: &YamlTree) -> Vec<Arc<ScriptEntry>> {
        let Value::List(items) = &tree.value else {
            let kind = tree.value.kind();
            self.fault(
                tree,
                format!("`script` is {kind} and must be a list of entries"),
            );
            return Vec::new();
        };
        let mut entries: Vec<Arc<ScriptEntry>> = Vec::new();
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

    fn entry(&mut self, tree: &YamlTree) -> Option<ScriptEntry> {
        let what = "an entry";
        let fields = self.fields(tree, what, ENTRY_KEYS)?;
        let faults_before = self.count();
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
        let phase = phase.unwrap_or(ScriptPhase::Forward);
        if let Some(node) = fields.get("node").filter(|_| phase != ScriptPhase::Forward) {
            self.fault(node, "only turns of the phase `forward` have a node");
        }
        (self.count() == faults_before).then(|| ScriptEntry {
            line: tree.span.line as usize,
            role,
            node,
            turn: turn.and_then(|turn| u32::try_from(turn).ok()),
            phase,
            say: say.unwrap_or_default(),
            mend: mend.unwrap_or_default(),
            usage: usage.unwrap_or_default(),
        })
    }

    fn phase(&mut self, tree: &YamlTree) -> Option<ScriptPhase> {
        let all = [
            (ScriptPhase::Forward, "forward"),
            (ScriptPhase::MetaAnalysis, "meta-analysis"),
            (ScriptPhase::Feedback, "feedback"),
        ];
        self.choice(tree, "`phase`", &all)
    }

    fn usage(&mut self, tree: &YamlTree) -> Usage {
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

    fn mend(&mut self, tree: &YamlTree) -> Vec<Vec<ScriptItem>> {
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
