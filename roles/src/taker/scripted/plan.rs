//! From the items of an entry to the answers of a turn.

use a_society_facts::fact::turn::{DraftKind, Effect};
use serde_json::value::RawValue;

use super::json;
use super::script::{CallItem, ScriptEntry, ScriptItem, ScriptedText, SignalWord};
use crate::handoff::{NamedTarget, RoleOutcome, Signal, fenced, handoff_block};
use crate::port::RecordPath;
use crate::turn::job::TurnJob;

/// One answer, and the calls that it asks for.
#[derive(Debug, Default)]
pub(super) struct ScriptedAnswer {
    pub events: Vec<ScriptedEvent>,
    pub calls: Vec<ScriptedCall>,
    /// Whether the provider stops it for its output limit.
    pub is_cut_off: bool,
}

/// The events of a streamed answer.
#[derive(Debug, Clone)]
pub(super) enum ScriptedEvent {
    Draft {
        kind: DraftKind,
        text: String,
    },
    Wait {
        ms: u64,
    },
    Fail {
        class: String,
        error: String,
        retry_in_ms: Option<u64>,
        resets_in_ms: Option<u64>,
    },
}

/// A call that an answer asks for.
#[derive(Debug)]
pub(super) struct ScriptedCall {
    pub tool: String,
    pub input: Box<RawValue>,
    pub effect: Effect,
    pub summary: String,
    pub deed: ScriptedDeed,
}

/// What a call comes to.
#[derive(Debug)]
pub(super) enum ScriptedDeed {
    /// It only says that it did something.
    Pretend {
        output: String,
        fails: bool,
        takes_ms: u64,
    },
    /// A file is written.
    Write { path: RecordPath, text: String },
}

impl ScriptedAnswer {
    /// All of its text.
    pub(super) fn text(&self) -> String {
        self.events.iter().filter_map(ScriptedEvent::text).collect()
    }
}

impl ScriptedEvent {
    /// The part of the answer that it is.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Draft {
                kind: DraftKind::Text,
                text,
            } => Some(text),
            Self::Draft {
                kind: DraftKind::Reasoning,
                ..
            }
            | Self::Wait { .. }
            | Self::Fail { .. } => None,
        }
    }
}

/// Every answer of a turn: first the scripted one, then those to each request for a correction.
pub(super) fn plan(entry: &ScriptEntry, job: &TurnJob) -> Vec<ScriptedAnswer> {
    let mut planner = Planner {
        job,
        done: Vec::new(),
        current: ScriptedAnswer::default(),
    };
    for items in std::iter::once(&entry.say).chain(&entry.mend) {
        items.iter().for_each(|item| planner.item(item));
        planner.next_answer();
    }
    planner.done
}

#[derive(Debug)]
struct Planner<'j> {
    job: &'j TurnJob,
    done: Vec<ScriptedAnswer>,
    current: ScriptedAnswer,
}

impl Planner<'_> {
    fn item(&mut self, item: &ScriptItem) {
        match item {
            ScriptItem::Say(stream) => self.say(stream),
            ScriptItem::Reasoning(text) => self.event(ScriptedEvent::Draft {
                kind: DraftKind::Reasoning,
                text: text.clone(),
            }),
            ScriptItem::Wait { ms } => self.event(ScriptedEvent::Wait { ms: *ms }),
            ScriptItem::Fault {
                class,
                message,
                retry_in_ms,
                resets_in_ms,
            } => self.event(ScriptedEvent::Fail {
                class: class.clone(),
                error: message.clone(),
                retry_in_ms: *retry_in_ms,
                resets_in_ms: *resets_in_ms,
            }),
            ScriptItem::Call(call) => self.current.calls.push(pretend(call)),
            ScriptItem::Write { path, text } => self.write(path.clone(), text),
            ScriptItem::Report(text) => self.write(self.report_path(), text),
            ScriptItem::Handoff(targets) => self.outcome(&RoleOutcome::Handoff(targets.clone())),
            ScriptItem::Signal(word) => self.outcome(&self.signal(*word)),
            ScriptItem::Raw(body) => self.say(&ScriptedText::whole(fenced(body))),
            ScriptItem::Forward(text) => self.hand_all(&self.job.allowed.forward, text),
            ScriptItem::Back(text) => self.hand_all(&self.job.allowed.backward, text),
            ScriptItem::OutputLimit => {
                self.event(ScriptedEvent::Wait { ms: 0 });
                self.current.is_cut_off = true;
            }
        }
    }

    /// Whatever follows a call belongs to the next answer.
    fn event(&mut self, event: ScriptedEvent) {
        if !self.current.calls.is_empty() {
            self.next_answer();
        }
        self.current.events.push(event);
    }

    fn next_answer(&mut self) {
        self.done.push(std::mem::take(&mut self.current));
    }

    /// Parts of an answer are paragraphs of their own.
    fn say(&mut self, stream: &ScriptedText) {
        let begins = !self.current.calls.is_empty() || self.current.text().is_empty();
        let mut before = if begins { "" } else { "\n\n" };
        for (index, piece) in pieces(&stream.text, stream.pieces).into_iter().enumerate() {
            if index > 0 && stream.every_ms > 0 {
                self.event(ScriptedEvent::Wait {
                    ms: stream.every_ms,
                });
            }
            self.event(ScriptedEvent::Draft {
                kind: DraftKind::Text,
                text: format!("{before}{piece}"),
            });
            before = "";
        }
    }

    fn outcome(&mut self, outcome: &RoleOutcome) {
        self.say(&ScriptedText::whole(handoff_block(outcome)));
    }

    fn write(&mut self, path: RecordPath, text: &str) {
        let path_text = path.project_path();
        self.current.calls.push(ScriptedCall {
            tool: "write_file".to_owned(),
            input: json::object(&[("path", &path_text), ("content", text)]),
            effect: Effect::Checkable,
            summary: format!("write_file {path_text} ({} bytes)", text.len()),
            deed: ScriptedDeed::Write {
                path,
                text: text.to_owned(),
            },
        });
    }

    /// Writes an artifact for each of these neighbours and hands over; with none, closes or waits.
    fn hand_all(&mut self, neighbours: &[String], text: &str) {
        let mut targets = Vec::new();
        for neighbour in neighbours {
            let path = self.artifact_path(neighbour);
            targets.push(NamedTarget {
                target_node_id: neighbour.clone(),
                artifact_path: path.project_path(),
            });
            self.write(path, text);
        }
        let outcome = if !targets.is_empty() {
            RoleOutcome::Handoff(targets)
        } else if self
            .job
            .allowed
            .signals
            .contains(&Signal::ForwardPassClosed)
        {
            RoleOutcome::ForwardPassClosed
        } else {
            RoleOutcome::AwaitHandoff
        };
        self.outcome(&outcome);
    }

    /// A new file for each round, because an artifact is passed once.
    fn artifact_path(&self, neighbour: &str) -> RecordPath {
        let from = self
            .job
            .node
            .as_ref()
            .map_or(self.job.role.as_str(), |node| node.as_str());
        let round = match self.job.turns_before {
            0 => String::new(),
            before => format!("-{}", before.saturating_add(1)),
        };
        RecordPath::of_name(&format!("{from}-to-{neighbour}{round}.md"))
    }

    fn signal(&self, word: SignalWord) -> RoleOutcome {
        match word {
            SignalWord::PromptHuman => RoleOutcome::PromptHuman,
            SignalWord::AwaitHandoff => RoleOutcome::AwaitHandoff,
            SignalWord::ForwardPassClosed => RoleOutcome::ForwardPassClosed,
            SignalWord::MetaAnalysisComplete => RoleOutcome::MetaAnalysisComplete {
                findings_path: self.assigned().to_owned(),
            },
            SignalWord::BackwardPassComplete => RoleOutcome::BackwardPassComplete {
                artifact_path: self.assigned().to_owned(),
            },
        }
    }

    /// The file that the turn must write, as it was assigned.
    fn assigned(&self) -> &str {
        let path = |signal: &'_ Signal| match signal {
            Signal::MetaAnalysisComplete { .. } | Signal::BackwardPassComplete { .. } => true,
            Signal::PromptHuman | Signal::AwaitHandoff | Signal::ForwardPassClosed => false,
        };
        let signals = &self.job.allowed.signals;
        match signals.iter().find(|signal| path(signal)) {
            Some(Signal::MetaAnalysisComplete { findings_path }) => findings_path,
            Some(Signal::BackwardPassComplete { artifact_path }) => artifact_path,
            Some(Signal::PromptHuman | Signal::AwaitHandoff | Signal::ForwardPassClosed) | None => {
                "record/report.md"
            }
        }
    }

    /// The same file from within the record folder.
    fn report_path(&self) -> RecordPath {
        let assigned = self.assigned();
        let within = assigned.strip_prefix("record/").unwrap_or(assigned);
        RecordPath::parse(within).unwrap_or_else(|_| RecordPath::of_name(within))
    }
}

fn pretend(call: &CallItem) -> ScriptedCall {
    ScriptedCall {
        tool: call.tool.clone(),
        input: call.input.clone(),
        effect: call.effect,
        summary: summary(&call.tool, call.input.get()),
        deed: ScriptedDeed::Pretend {
            output: call.output.clone(),
            fails: call.fails,
            takes_ms: call.takes_ms,
        },
    }
}

/// One line for the operator: the tool and how its arguments begin.
fn summary(tool: &str, input: &str) -> String {
    const SHOWN_CHARS: usize = 100;
    match input.char_indices().nth(SHOWN_CHARS) {
        None if input == "{}" => tool.to_owned(),
        None => format!("{tool} {input}"),
        Some((end, _)) => format!("{tool} {}…", &input[..end]),
    }
}

/// A text in so many pieces of nearly the same length, none of them empty.
fn pieces(text: &str, count: u32) -> Vec<&str> {
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(at, letter)| at + letter.len_utf8())
        .collect();
    let count = usize::try_from(count)
        .unwrap_or(1)
        .clamp(1, ends.len().max(1));
    let mut start = 0;
    let mut found = Vec::with_capacity(count);
    for number in 1..=count {
        let end = match (ends.len() * number / count).checked_sub(1) {
            Some(last) => ends[last],
            None => 0,
        };
        found.push(&text[start..end]);
        start = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_text_and_none_is_empty() {
        for text in ["a", "äöü", "Word for word, piece by piece."] {
            for count in 1..40 {
                let found = pieces(text, count);
                assert_eq!(found.concat(), text);
                assert!(found.iter().all(|piece| !piece.is_empty()), "{found:?}");
            }
        }
        assert_eq!(pieces("abcdef", 3), ["ab", "cd", "ef"]);
    }
}
