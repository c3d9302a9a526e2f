//! The feed of one role, as items of the wire.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use a_society_facts::Fact;
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, CommandExit, DraftAdded, ModelAnswered,
};
use a_society_facts::id::{CallId, Seq};
use a_society_facts::view::FactView;
use a_society_facts::view::feed::{self, FeedBounds, FeedItem, FeedView, ItemKind};
use a_society_facts::view::flow::Decider;
use a_society_facts::{At, Recorded};
use a_society_orchestrator::{canonical, requested_files};
use serde::Deserialize;

use super::edit::{Edit, is_edit, several};
use super::limits::{
    ARGUMENTS_BYTES_MAX, CHANGE, CHANGES_MAX, COMMAND_BYTES_MAX, EDITED_FILES_MAX, OPEN_ITEMS_MAX,
    STREAM_BYTES_MAX,
};
use super::outcome::Tested;
use super::tasks;
use super::words;
use crate::protocol::ask::Diff;
use crate::protocol::feed::{ConsentNote, EditedFile, HandedFile, Item, ItemType, Outcome, Task};
use crate::protocol::limits::ITEM_TEXT_BYTES_MAX;

/// What a feed holds of its items.
const BOUNDS: FeedBounds = FeedBounds {
    items_max: OPEN_ITEMS_MAX,
    text_bytes_max: ITEM_TEXT_BYTES_MAX,
};

/// The tool that runs a command, and what is read of its arguments.
const COMMAND: &str = "run_command";
#[derive(Deserialize)]
struct RunCommand {
    command: String,
}

/// The feed of one role.
#[derive(Debug, Clone)]
pub(crate) struct FeedFold {
    view: FeedView,
    calls: BTreeMap<CallId, FeedCall>,
    /// The arguments of the edits, commands and task lists that the last answer wants.
    asked: BTreeMap<String, Box<str>>,
    /// What calls that have no end would change, the oldest first.
    changes: VecDeque<(CallId, Diff)>,
    streams: BTreeMap<u64, Stream>,
    /// Items that were added or changed since they were last taken, the newest of them by record.
    changed: BTreeMap<u64, u64>,
    /// Items of which only the text grew since they were last taken.
    grown: BTreeSet<u64>,
}

/// Text that streams into an item.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    /// All of it, as far as it is kept.
    pub text: String,
    /// The last record of it.
    after: Seq,
    /// What streamed after that record and is in none yet.
    ahead: String,
    /// Whether some of it was too much to keep.
    pub cut: bool,
}

#[derive(Debug, Clone)]
struct FeedCall {
    tool: String,
    began: At,
    took_ms: Option<u64>,
    exit: Option<CommandExit>,
    is_cut: bool,
    end: Option<CallEnd>,
    /// The tests it runs, if it is a command, and what they came to.
    tests: Option<Tested>,
    outcome: Option<Outcome>,
    /// How many lines it adds and removes, if it is an edit.
    lines: Option<(u64, u64)>,
    /// The files that it changes, if it is an edit of several; or that it named, if it is one that was refused.
    files: Option<Vec<EditedFile>>,
    /// The task list that it writes.
    tasks: Option<Vec<Task>>,
    /// What was asked, in a line; nothing if the call was refused.
    asked: Option<String>,
    /// The command, if it runs one.
    command: Option<String>,
    /// The file, if it changes only one, and where.
    path: Option<String>,
    line: Option<u64>,
}

/// What changed in a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FeedChange {
    /// Items, by their place in the feed.
    pub items: Vec<(u64, Item)>,
    /// Items whose text grew, and all of their text.
    pub streams: Vec<(u64, String, String)>,
    /// Items whose text no longer grows.
    pub settled: Vec<u64>,
}

impl Default for FeedFold {
    fn default() -> Self {
        Self {
            view: FeedView::bounded(BOUNDS),
            calls: BTreeMap::new(),
            asked: BTreeMap::new(),
            changes: VecDeque::new(),
            streams: BTreeMap::new(),
            changed: BTreeMap::new(),
            grown: BTreeSet::new(),
        }
    }
}

impl FeedFold {
    /// How many items the feed has.
    #[must_use]
    pub(crate) fn total(&self) -> u64 {
        self.view.items_before() + self.view.items().len() as u64
    }

    /// Whether so much changed that it has to be taken, or the oldest of it would be lost.
    #[must_use]
    pub(crate) fn is_full(&self) -> bool {
        // One record of an import brings less than three quarters of what is held.
        self.changed.len() >= OPEN_ITEMS_MAX / 4
    }

    /// The items that are held, oldest first.
    pub(crate) fn held(&self) -> impl DoubleEndedIterator<Item = &FeedItem> {
        self.view.items()
    }

    /// Takes the next fact that this feed shows.
    pub(crate) fn apply(&mut self, recorded: &Recorded) {
        let Some(fact) = recorded.fact() else {
            return;
        };
        self.note(recorded, fact);
        self.view.apply(recorded);
        let touched: Vec<u64> = self.view.touched().to_vec();
        if let Fact::DraftAdded(draft) = fact {
            self.streamed(&touched, recorded, draft);
            return;
        }
        for number in touched {
            self.changed.insert(number, recorded.seq);
            if self.view.item_at(number).is_none_or(|item| !item.pending) {
                self.streams.remove(&number);
                self.grown.remove(&number);
            }
        }
    }

    fn streamed(&mut self, touched: &[u64], recorded: &Recorded, draft: &DraftAdded) {
        let Some(number) = touched.last().copied() else {
            return;
        };
        if !self.streams.contains_key(&number) {
            self.changed.insert(number, recorded.seq);
        }
        let stream = self.streams.entry(number).or_default();
        stream.after = recorded.seq;
        // What was ahead is in this record, as far as it came.
        stream.ahead.clear();
        if stream.cut || stream.text.len() + draft.text.len() > STREAM_BYTES_MAX {
            stream.cut = true;
        } else {
            stream.text.push_str(&draft.text);
            self.grown.insert(number);
        }
    }

    /// Takes text that goes on after a record and is in none yet. Says whether it is news.
    pub(crate) fn ahead(&mut self, after: Seq, text: &str) -> bool {
        let mut streams = self.streams.iter_mut();
        let Some((number, stream)) = streams.find(|(_, stream)| stream.after == after) else {
            return false;
        };
        let fits = !stream.cut && stream.text.len() + text.len() <= STREAM_BYTES_MAX;
        let grows = text.len() > stream.ahead.len();
        if fits && grows {
            text.clone_into(&mut stream.ahead);
            self.grown.insert(*number);
        }
        fits && grows
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts are not about calls"
    )]
    fn note(&mut self, recorded: &Recorded, fact: &Fact) {
        match fact {
            Fact::ModelAnswered(f) => self.answered(f),
            Fact::CallIntended(f) => self.intended(recorded, f),
            Fact::CallStarted(f) => {
                if let Some(call) = self.calls.get_mut(&f.call) {
                    call.began = recorded.at;
                }
            }
            Fact::CallFinished(f) => self.finished(recorded, f),
            _ => {}
        }
    }

    fn answered(&mut self, f: &ModelAnswered) {
        // Only the calls of the last answer can begin next.
        self.asked = (f.calls.iter())
            .filter(|call| is_read(&call.name))
            .filter(|call| call.input.get().len() <= ARGUMENTS_BYTES_MAX)
            .map(|call| (call.id.clone(), call.input.get().into()))
            .collect();
    }

    fn intended(&mut self, recorded: &Recorded, f: &CallIntended) {
        let input = self.asked.remove(&f.tool_call);
        let command = (input.as_deref())
            .filter(|_| canonical(&f.tool) == Some(COMMAND))
            .and_then(|input| serde_json::from_str(input).ok())
            .map(|given: RunCommand| given.command);
        let tests = command.as_deref().and_then(Tested::of);
        let tasks = input.as_deref().and_then(|input| tasks::written(f, input));
        let edits = input.map(|input| Edit::each(f, &input)).unwrap_or_default();
        let compared = edits.iter().map(|edit| edit.compared(&CHANGE));
        let (mut changes, lines): (Vec<Diff>, Vec<Option<(u64, u64)>>) = compared.unzip();
        let files = several(&edits).then(|| {
            let each = edits.iter().zip(&lines).take(EDITED_FILES_MAX);
            let each = each.map(|(edit, lines)| EditedFile {
                path: edit.path().to_owned(),
                added: lines.map(|(added, _)| added),
                removed: lines.map(|(_, removed)| removed),
                gone: edit.is_gone(),
            });
            each.collect::<Vec<_>>()
        });
        let only = edits.first().filter(|_| files.is_none());
        let path = only.map(|edit| edit.path().to_owned());
        let line = f.changed_place().0.filter(|_| path.is_some());
        // One change can be shown beside a question; several are part of its text.
        if files.is_none() && changes.len() == 1 {
            self.changes
                .extend(changes.pop().map(|it| (f.call.clone(), it)));
        }
        let sum = |all: (u64, u64), one: (u64, u64)| (all.0 + one.0, all.1 + one.1);
        let lines: Option<Vec<(u64, u64)>> = lines.into_iter().collect();
        let lines = lines.and_then(|lines| lines.into_iter().reduce(sum));
        if self.changes.len() > CHANGES_MAX {
            self.changes.pop_front();
        }
        let call = FeedCall {
            tool: f.tool.clone(),
            began: recorded.at,
            took_ms: None,
            exit: None,
            is_cut: false,
            end: None,
            tests,
            outcome: None,
            lines,
            files,
            tasks,
            asked: Some(f.summary.clone()),
            command: command.map(|command| one_line(&command)),
            path,
            line,
        };
        self.calls.insert(f.call.clone(), call);
    }

    /// What a call that has no end would change in a file.
    pub(crate) fn change(&self, call: &CallId) -> Option<&Diff> {
        let mut changes = self.changes.iter();
        let (_, diff) = changes.find(|(of, _)| of == call)?;
        Some(diff)
    }

    fn finished(&mut self, recorded: &Recorded, f: &CallFinished) {
        // A call that was refused has no other record than this one.
        let refused = self.asked.remove(&f.tool_call);
        let call = self
            .calls
            .entry(f.call.clone())
            .or_insert_with(|| FeedCall {
                tool: f.tool.clone(),
                began: recorded.at,
                took_ms: None,
                exit: None,
                is_cut: false,
                end: None,
                tests: None,
                outcome: None,
                lines: None,
                files: refused.and_then(|input| named_files(&f.tool, &input)),
                tasks: None,
                asked: None,
                command: None,
                path: None,
                line: None,
            });
        call.took_ms = u64::try_from(recorded.at.ms() - call.began.ms()).ok();
        let shown = f.output.shown();
        call.exit = f.command_exit();
        call.is_cut = f.is_cut();
        call.end = f.end.is_error().then_some(f.end);
        // A command that was stopped or ran out of time has not come to anything.
        let has_ended = call.exit.and_then(CommandExit::code).is_some();
        let ended = call.tests.filter(|_| has_ended);
        call.outcome = ended.and_then(|tests| tests.outcome(&shown));
        self.changes.retain(|(of, _)| *of != f.call);
    }

    /// Hands out what changed since this was last asked.
    pub(crate) fn take(&mut self) -> FeedChange {
        let mut change = FeedChange::default();
        for (number, seq) in std::mem::take(&mut self.changed) {
            let Some(item) = self.view.item_at(number) else {
                continue;
            };
            let streams = self.streams.get(&number).filter(|stream| !stream.cut);
            if !item.pending {
                change.settled.push(number);
            }
            let item = self.item(item, seq, streams.is_some());
            change.items.push((number, item));
        }
        // A call that is over and was handed out has nothing more to say.
        self.calls.retain(|_, call| call.took_ms.is_none());
        for number in std::mem::take(&mut self.grown) {
            let item = self.view.item_at(number);
            if let (Some(item), Some(stream)) = (item, self.streams.get(&number)) {
                let text = [stream.text.as_str(), &stream.ahead].concat();
                change.streams.push((number, item.id.clone(), text));
            }
        }
        change
    }

    fn item(&self, item: &FeedItem, seq: u64, streams: bool) -> Item {
        // Only the call's own item, which each of its records changes, shows its state: in other items
        // it would depend on how much of the call was known when they were sent.
        let own = item.call_id.as_deref().filter(|_| is_call(item.kind));
        let call = own.and_then(|id| self.calls.get(&id.parse::<CallId>().ok()?));
        let lines = call.and_then(|call| call.lines);
        let exit = call.and_then(|call| call.exit);
        // One that was refused or broken off has written nothing.
        let wrote = call.filter(|_| item.kind != ItemKind::ToolError);
        Item {
            id: wire_id(item),
            first: first_of(item),
            seq,
            at: words::at(item.at),
            r#type: kind(item.kind),
            event: item.event.clone(),
            label: item.label.clone(),
            text: item.text.clone(),
            // What streams on is brought by its stream.
            full_bytes: if streams { None } else { item.full_bytes },
            node: item.node.as_ref().map(ToString::to_string),
            turn: item.turn.map(|turn| turn.0),
            call_id: item.call_id.clone(),
            tool: call.map(|call| call.tool.clone()),
            pending: item.pending,
            interrupted: item.interrupted,
            discarded: item.discarded,
            took_ms: call.and_then(|call| call.took_ms),
            added: lines.map(|(added, _)| added),
            removed: lines.map(|(_, removed)| removed),
            exit: exit.and_then(CommandExit::code),
            signal: exit.and_then(CommandExit::signal),
            cut: call.is_some_and(|call| call.is_cut),
            end: call.and_then(|call| call.end),
            outcome: call.and_then(|call| call.outcome.clone()),
            files: call.and_then(|call| call.files.clone()),
            consent: item.consent.as_ref().map(note),
            again_at: item.again_at.map(words::at),
            tasks: wrote.and_then(|call| call.tasks.clone()),
            asked: call.and_then(|call| call.asked.clone()),
            command: call.and_then(|call| call.command.clone()),
            path: call.and_then(|call| call.path.clone()),
            line: call.and_then(|call| call.line),
            deliveries: item.deliveries.iter().map(handed).collect(),
        }
    }
}

fn handed(delivered: &feed::DeliveredItem) -> HandedFile {
    HandedFile {
        path: delivered.path.clone(),
        to: delivered.to.to_string(),
        back: delivered.back,
    }
}

/// A command in a line, as it is shown beside its sign.
fn one_line(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    words::excerpt(&line, COMMAND_BYTES_MAX)
}

/// The files that a call which was refused names.
fn named_files(tool: &str, input: &str) -> Option<Vec<EditedFile>> {
    let named = requested_files(tool, input)
        .into_iter()
        .take(EDITED_FILES_MAX)
        .map(|path| EditedFile {
            path,
            added: None,
            removed: None,
            gone: false,
        });
    Some(named.collect()).filter(|files: &Vec<_>| !files.is_empty())
}

/// Whether the arguments of a tool's calls are read.
fn is_read(tool: &str) -> bool {
    is_edit(tool) || tasks::is_list(tool) || canonical(tool) == Some(COMMAND)
}

/// Whether an item is a call.
const fn is_call(kind: ItemKind) -> bool {
    match kind {
        ItemKind::Tool | ItemKind::ToolSuccess | ItemKind::ToolError => true,
        ItemKind::Assistant
        | ItemKind::User
        | ItemKind::Event
        | ItemKind::Error
        | ItemKind::Handoff
        | ItemKind::Resume
        | ItemKind::Repair
        | ItemKind::Reasoning
        | ItemKind::Activation => false,
    }
}

/// The record that began an item. One that was imported has the id it had, and never changes.
fn first_of(item: &FeedItem) -> Seq {
    begun(&item.id).unwrap_or(item.seq)
}

fn begun(id: &str) -> Option<Seq> {
    id.strip_prefix('f')?.parse().ok()
}

/// The id of an item on the wire. The ids of imported items count from one in every feed, and one
/// record brings many: there they bear the record as well.
pub(crate) fn wire_id(item: &FeedItem) -> String {
    match begun(&item.id) {
        Some(_) => item.id.clone(),
        None => format!("f{}.{}", item.seq, item.id),
    }
}

/// The record that began the item of an id.
pub(crate) fn first_of_id(id: &str) -> Option<Seq> {
    let number = id.strip_prefix('f')?;
    number.split('.').next()?.parse().ok()
}

fn note(note: &feed::ConsentItem) -> ConsentNote {
    let by = Decider::of(note.by.as_ref(), note.beforehand);
    ConsentNote {
        tool: note.tool.clone(),
        about: note.about.clone(),
        answer: note.answer,
        by: (note.answer.zip(by)).map(|(answer, by)| by.words(answer)),
    }
}

const fn kind(kind: ItemKind) -> ItemType {
    match kind {
        ItemKind::Assistant => ItemType::Assistant,
        ItemKind::User => ItemType::User,
        ItemKind::Event => ItemType::Event,
        ItemKind::Error => ItemType::Error,
        ItemKind::Handoff => ItemType::Handoff,
        ItemKind::Resume => ItemType::Resume,
        ItemKind::Repair => ItemType::Repair,
        ItemKind::Reasoning => ItemType::Reasoning,
        ItemKind::Tool => ItemType::Tool,
        ItemKind::ToolSuccess => ItemType::ToolSuccess,
        ItemKind::ToolError => ItemType::ToolError,
        ItemKind::Activation => ItemType::Activation,
    }
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::turn::DraftKind;
    use a_society_facts::id::TurnId;

    use super::*;

    fn draft(seq: Seq, text: &str) -> Recorded {
        let added = DraftAdded {
            turn: TurnId(1),
            role: "owner".parse().unwrap(),
            request: 1,
            kind: DraftKind::Text,
            text: text.to_owned(),
        };
        Recorded::new(seq, At::from_ms(0), Fact::DraftAdded(added))
    }

    #[test]
    fn a_call_says_with_which_code_or_by_which_signal_its_command_ended() {
        let mut feed = FeedFold::default();
        let call = r#""turn":1,"role":"owner","tool_call":"t","tool":"run_command""#;
        let facts = [
            format!(
                r#"{{"fact":"call_intended","call":"1.1",{call},"ordinal":0,"arguments":"HASH","effect":"mutating","idempotency_key":"HASH","summary":"sh -c x"}}"#
            ),
            format!(
                r#"{{"fact":"call_finished","call":"1.1",{call},"end":"failed","output":"ended","message":"m-1","signal":9,"cut":false}}"#
            ),
            format!(
                r#"{{"fact":"call_intended","call":"1.2",{call},"ordinal":1,"arguments":"HASH","effect":"mutating","idempotency_key":"HASH","summary":"sh -c y"}}"#
            ),
            format!(
                r#"{{"fact":"call_finished","call":"1.2",{call},"end":"done","output":"exit code 2; stdout 0 bytes, stderr 0 bytes\n","message":"m-2"}}"#
            ),
        ];
        for (number, line) in facts.iter().enumerate() {
            let line = line.replace("HASH", &"0".repeat(64));
            let word = if number % 2 == 0 {
                "call_intended"
            } else {
                "call_finished"
            };
            let fact = Fact::read(word, line.as_bytes()).unwrap().unwrap();
            feed.apply(&Recorded::new(number as u64 + 1, At::from_ms(0), fact));
        }
        let items = feed.take().items.into_iter();
        let ends: Vec<_> = items.map(|(_, item)| (item.exit, item.signal)).collect();
        assert_eq!(ends, [(None, Some(9)), (Some(2), None)]);
    }

    fn text(feed: &mut FeedFold) -> Vec<String> {
        let streams = feed.take().streams.into_iter();
        streams.map(|(_, _, text)| text).collect()
    }

    #[test]
    fn text_without_a_record_goes_on_from_the_record_it_names_and_from_no_other() {
        let mut feed = FeedFold::default();
        feed.apply(&draft(5, "One"));
        assert!(feed.ahead(5, " line"));
        assert_eq!(text(&mut feed), ["One line"]);
        // The same again is no news, and of another record it says nothing.
        assert!(!feed.ahead(5, " line") && !feed.ahead(4, " other words"));
        assert_eq!(text(&mut feed), Vec::<String>::new());
        assert!(feed.ahead(5, " line is"));
        assert_eq!(text(&mut feed), ["One line is"]);
        feed.apply(&draft(6, " line is enough"));
        assert_eq!(text(&mut feed), ["One line is enough"]);
        // What was asked before the record came is too late.
        assert!(!feed.ahead(5, " line is eno"));
        assert!(feed.ahead(6, "."));
        assert_eq!(text(&mut feed), ["One line is enough."]);
    }
}
