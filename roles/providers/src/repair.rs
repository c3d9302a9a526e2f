//! Making any history one that every provider accepts.
//!
//! A history is cut by crashes, stops, compaction and changes of provider. Before each request it
//! goes through here: each call has exactly one result, at once after its message and in its
//! order; no result is without a call; no call's name in the transcript is used twice; speakers
//! alternate, the first and the last is not the model; no text is blank; blocks of another
//! provider or model are gone. What is well already is borrowed and not copied.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use a_society_facts::message::{Message, ToolCall};

use super::blocks::{Blocks, SaidBlocks};
use super::request::HistoryMessage;

/// The result of a call whose own result was lost: the call may or may not have run.
pub(crate) const UNKNOWN_OUTCOME: &str = "The outcome is unknown: the work was interrupted before the result of this call was saved. Check what happened before you repeat it.";

/// The result of a call that returned no text.
const NO_OUTPUT: &str = "(no output)";

/// What a history begins with whose beginning is gone.
const BEGINNING_GONE: &str = "(The beginning of this conversation is no longer kept.)";

/// What a history ends with that would end with the model's own words.
const GO_ON: &str = "Continue.";

/// The most text one message may have: below what any provider takes in one string.
const MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// The end of a text that was cut.
const CUT: &str = "\n[… cut here]";

/// How long the name of a tool may be, for every provider.
const NAME_BYTES: usize = 64;

/// The history as this provider and model get it.
#[cfg(test)]
#[must_use]
pub(crate) fn repair<'a>(
    history: &'a [HistoryMessage],
    provider: &str,
    model: &str,
) -> Vec<Cow<'a, HistoryMessage>> {
    mend(history, &Before::default(), provider, model).messages
}

/// What is known of the beginning of a history that was mended before, when its rest is.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Which side spoke last; absent if the history is empty.
    pub(super) last: Option<SpeakingSide>,
    /// The names of its calls, as they were mended.
    known_ids: HashSet<String>,
    /// The calls that have no result, by the names that they came with: one that comes late would
    /// change how the beginning is mended.
    unanswered: HashSet<String>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeakingSide {
    /// The user, or what answers a call.
    User,
    /// The model.
    Model,
}

impl SpeakingSide {
    pub(super) const fn of(message: &Message) -> Self {
        match message {
            Message::User { .. } | Message::ToolResult { .. } => Self::User,
            Message::Assistant { .. } | Message::AssistantToolCalls { .. } => Self::Model,
        }
    }
}

/// A history, or the rest of one, as a provider and a model get it.
#[derive(Debug)]
pub(super) struct Mended<'a> {
    /// The messages.
    pub(super) messages: Vec<Cow<'a, HistoryMessage>>,
    /// By which message of the history each of them was begun.
    begun: Vec<usize>,
    /// The results that were found, by their place here and in the history.
    found: Vec<(usize, usize)>,
    /// The calls without one, by the place where it would be.
    missing: Vec<(usize, &'a str)>,
    /// Whether it holds a result that a call before it was mended without.
    late: bool,
}

/// A place at which a history can be parted: whatever comes after it, what is before it is mended in
/// the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartingPoint {
    /// How many mended messages are before it.
    pub(super) mended: usize,
    /// How many messages of the history are.
    pub(super) history: usize,
}

impl Mended<'_> {
    /// Whether this can follow what was mended before it.
    pub(super) fn follows(&self, before: &Before) -> bool {
        let first = self
            .messages
            .first()
            .map(|said| SpeakingSide::of(&said.message));
        match before.last {
            None => true,
            Some(last) => first.is_some_and(|first| first != last) && !self.late,
        }
    }

    /// The places at which it can be parted, in order. Another side begins to speak there, and every
    /// result of a call before it has come.
    pub(super) fn parts(&self) -> Vec<PartingPoint> {
        let mut parts = Vec::new();
        let mut found = self.found.iter().peekable();
        let mut last_result = None;
        for (mended, pair) in self.messages.windows(2).enumerate() {
            let mended = mended + 1;
            while let Some((_, place)) = found.next_if(|(at, _)| *at < mended) {
                last_result = last_result.max(Some(*place));
            }
            let [before, after] = pair else { continue };
            let changes = SpeakingSide::of(&before.message) != SpeakingSide::of(&after.message);
            let answers = matches!(*after.message, Message::ToolResult { .. });
            let Some(history) = self.begun.get(mended).copied() else {
                continue;
            };
            if changes && !answers && last_result.is_none_or(|place| place < history) {
                parts.push(PartingPoint { mended, history });
            }
        }
        parts
    }

    /// Takes what is before a part into account.
    pub(super) fn settle(&self, part: PartingPoint, before: &mut Before) {
        let settled = self.messages.get(..part.mended).unwrap_or(&[]);
        before.last = settled.last().map(|said| SpeakingSide::of(&said.message));
        for said in settled {
            if let Message::AssistantToolCalls { calls, .. } = &*said.message {
                let ids = calls.iter().map(|call| call.id.clone());
                before.known_ids.extend(ids);
            }
        }
        let missing = self.missing.iter().filter(|(at, _)| *at < part.mended);
        let missing = missing.map(|(_, id)| (*id).to_owned());
        before.unanswered.extend(missing);
    }
}

/// Mends a history, or what follows a beginning that is mended already.
pub(super) fn mend<'a>(
    history: &'a [HistoryMessage],
    before: &Before,
    provider: &str,
    model: &str,
) -> Mended<'a> {
    let places = CallPlaces::of(history);
    let late = (before.unanswered.iter()).any(|id| places.answered.contains_key(id.as_str()));
    let mut mending = Mending {
        history,
        before,
        places,
        known_ids: HashSet::new(),
        at: 0,
        out: Vec::with_capacity(history.len()),
        begun: Vec::with_capacity(history.len()),
        found: Vec::new(),
        missing: Vec::new(),
    };
    for (at, said) in history.iter().enumerate() {
        mending.at = at;
        mending.take(at, said, provider, model);
    }
    mending.close(late)
}

/// Where calls are made and answered.
#[derive(Debug)]
struct CallPlaces<'a> {
    /// The messages that make a call of this name, in order.
    made: HashMap<&'a str, Vec<usize>>,
    /// The messages that answer one.
    answered: HashMap<&'a str, Vec<usize>>,
}

impl<'a> CallPlaces<'a> {
    fn of(history: &'a [HistoryMessage]) -> Self {
        let mut made: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut answered: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, said) in history.iter().enumerate() {
            match &*said.message {
                Message::AssistantToolCalls { calls, .. } => {
                    for call in calls {
                        made.entry(&call.id).or_default().push(at);
                    }
                }
                Message::ToolResult { call_id, .. } => {
                    answered.entry(call_id).or_default().push(at);
                }
                Message::User { .. } | Message::Assistant { .. } => {}
            }
        }
        Self { made, answered }
    }

    /// The result of a call that the message at this place makes: the first one that no other
    /// call has, before a later message uses the name again.
    fn result(&mut self, id: &str, at: usize) -> Option<usize> {
        let next = self.made.get(id)?.iter().find(|made| **made > at).copied();
        let results = self.answered.get_mut(id)?;
        let found = results
            .iter()
            .position(|result| *result > at && next.is_none_or(|next| *result < next))?;
        Some(results.remove(found))
    }
}

#[derive(Debug)]
struct Mending<'a, 'b> {
    history: &'a [HistoryMessage],
    before: &'b Before,
    places: CallPlaces<'a>,
    known_ids: HashSet<Cow<'a, str>>,
    /// The message of the history that is looked at.
    at: usize,
    out: Vec<Cow<'a, HistoryMessage>>,
    begun: Vec<usize>,
    found: Vec<(usize, usize)>,
    missing: Vec<(usize, &'a str)>,
}

impl<'a> Mending<'a, '_> {
    fn take(&mut self, at: usize, said: &'a HistoryMessage, provider: &str, model: &str) {
        match &*said.message {
            Message::User { content } => self.user(said, content),
            Message::Assistant { content } => {
                let said = with_own_blocks(said, provider, model);
                // Reasoning that led to no word is worth nothing; work of the provider is.
                let works = said.blocks().is_some_and(Blocks::hold_work);
                if !content.trim().is_empty() || works {
                    self.assistant(said);
                }
            }
            Message::AssistantToolCalls { calls, text } if calls.is_empty() => {
                let content = text.clone().unwrap_or_default();
                if !content.trim().is_empty() {
                    self.assistant(Cow::Owned(Message::Assistant { content }.into()));
                }
            }
            Message::AssistantToolCalls { calls, text } => {
                let said = with_own_blocks(said, provider, model);
                self.calls(at, said, calls, text.as_deref());
            }
            // Results are taken with their calls; one without a call is dropped.
            Message::ToolResult { .. } => {}
        }
    }

    fn user(&mut self, said: &'a HistoryMessage, content: &str) {
        if content.trim().is_empty() {
            return;
        }
        if let Some(last) = self.out.last_mut()
            && let Message::User { content: before } = &*last.message
        {
            let content = within(format!("{before}\n\n{content}"));
            last.to_mut().message = Arc::new(Message::User { content });
            return;
        }
        let is_well = content.len() <= MESSAGE_BYTES && said.blocks.is_none();
        self.push(if is_well {
            Cow::Borrowed(said)
        } else {
            let content = within(content.to_owned());
            Cow::Owned(Message::User { content }.into())
        });
    }

    /// Adds a message. The first of a history is the user's.
    fn push(&mut self, said: Cow<'a, HistoryMessage>) {
        let is_first = self.out.is_empty() && self.before.last.is_none();
        if is_first && !matches!(*said.message, Message::User { .. }) {
            self.out.push(as_user(BEGINNING_GONE));
            self.begun.push(self.at);
        }
        self.out.push(said);
        self.begun.push(self.at);
    }

    /// Adds words of the model, to its last ones if nothing came between.
    fn assistant(&mut self, said: Cow<'a, HistoryMessage>) {
        let follows = self
            .out
            .last()
            .is_some_and(|last| matches!(*last.message, Message::Assistant { .. }));
        let Some(before) = self.out.pop_if(|_| follows) else {
            return self.push(bounded(said));
        };
        let joined = join(before.into_owned(), said.into_owned());
        // It stays where the first of the two began.
        self.out.push(bounded(Cow::Owned(joined)));
    }

    fn calls(
        &mut self,
        at: usize,
        said: Cow<'a, HistoryMessage>,
        calls: &'a [ToolCall],
        text: Option<&str>,
    ) {
        let results: Vec<Option<usize>> = calls
            .iter()
            .map(|call| self.places.result(&call.id, at))
            .collect();
        let is_blank = text.is_some_and(|text| text.trim().is_empty());
        if !is_blank && self.are_well(calls) {
            self.assistant(said);
            for (call, result) in calls.iter().zip(results) {
                self.result(call, &call.id, result);
            }
            return;
        }
        let mended: Vec<ToolCall> = calls.iter().map(|call| self.call(call)).collect();
        let names = |calls: &[ToolCall]| -> Vec<String> {
            calls.iter().map(|call| call.name.clone()).collect()
        };
        let same_tools = names(&mended) == names(calls);
        let blocks = said.into_owned().blocks.filter(|_| same_tools);
        let text = text.filter(|_| !is_blank).map(ToOwned::to_owned);
        let message = Message::AssistantToolCalls {
            calls: mended.clone(),
            text,
        };
        let message = Arc::new(message);
        self.assistant(Cow::Owned(HistoryMessage { message, blocks }));
        for ((call, asked), result) in mended.iter().zip(calls).zip(results) {
            self.result(call, &asked.id, result);
        }
    }

    /// Whether all calls of a message can stay as they are; then their names are taken. Most are,
    /// and are not copied to find out.
    fn are_well(&mut self, calls: &'a [ToolCall]) -> bool {
        for (taken, call) in calls.iter().enumerate() {
            let is_well = is_legal_name(&call.name)
                && is_object(call)
                && self.is_new(Cow::Borrowed(&call.id));
            if !is_well {
                for call in &calls[..taken] {
                    self.known_ids.remove(call.id.as_str());
                }
                return false;
            }
        }
        true
    }

    /// Takes the name of a call, if no other call has it.
    fn is_new(&mut self, id: Cow<'a, str>) -> bool {
        !self.before.known_ids.contains(id.as_ref()) && self.known_ids.insert(id)
    }

    /// A call with a name of its own, a legal tool and an object for its arguments.
    fn call(&mut self, call: &ToolCall) -> ToolCall {
        let mut id = call.id.clone();
        let mut again = 1_u32;
        while !self.is_new(Cow::Owned(id.clone())) {
            again += 1;
            id = format!("{}~{again}", call.id);
        }
        ToolCall {
            id,
            name: legal_name(&call.name),
            input: if is_object(call) {
                call.input.clone()
            } else {
                super::wire::empty_object()
            },
        }
    }

    fn result(&mut self, call: &ToolCall, asked: &'a str, place: Option<usize>) {
        let found = place.and_then(|place| Some((place, self.history.get(place)?)));
        let Some((place, said)) = found else {
            self.missing.push((self.out.len(), asked));
            return self.push(Cow::Owned(unknown(call).into()));
        };
        self.found.push((self.out.len(), place));
        if let Message::ToolResult {
            call_id,
            tool_name,
            content,
            is_error,
            image,
        } = &*said.message
        {
            let is_well = *call_id == call.id
                && *tool_name == call.name
                && !content.trim().is_empty()
                && content.len() <= MESSAGE_BYTES
                && said.blocks.is_none();
            self.push(if is_well {
                Cow::Borrowed(said)
            } else {
                let content = match content.trim() {
                    "" => NO_OUTPUT.to_owned(),
                    _ => within(content.clone()),
                };
                let message = Message::ToolResult {
                    call_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    content,
                    is_error: *is_error,
                    image: image.clone(),
                };
                Cow::Owned(message.into())
            });
        }
    }

    fn close(mut self, late: bool) -> Mended<'a> {
        if self.out.is_empty() && self.before.last.is_none() {
            self.push(as_user(BEGINNING_GONE));
        }
        if let Some(last) = self.out.last()
            && matches!(*last.message, Message::Assistant { .. })
            && !last.blocks().is_some_and(|blocks| blocks.paused)
        {
            self.at = self.history.len();
            self.push(as_user(GO_ON));
        }
        Mended {
            messages: self.out,
            begun: self.begun,
            found: self.found,
            missing: self.missing,
            late,
        }
    }
}

fn as_user<'a>(content: &str) -> Cow<'a, HistoryMessage> {
    let content = content.to_owned();
    Cow::Owned(Message::User { content }.into())
}

fn unknown(call: &ToolCall) -> Message {
    Message::ToolResult {
        call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: UNKNOWN_OUTCOME.to_owned(),
        is_error: true,
        image: None,
    }
}

fn with_own_blocks<'a>(
    said: &'a HistoryMessage,
    provider: &str,
    model: &str,
) -> Cow<'a, HistoryMessage> {
    let is_own = |blocks: &Blocks| blocks.are_of(provider, model) && !blocks.blocks.is_empty();
    if said.blocks.is_none() || said.blocks().is_some_and(is_own) {
        return Cow::Borrowed(said);
    }
    Cow::Owned(HistoryMessage {
        message: Arc::clone(&said.message),
        blocks: None,
    })
}

/// Two messages of the model as one. Their blocks are kept only if both have them: a block that covers
/// a part of a message would hide the rest.
fn join(before: HistoryMessage, after: HistoryMessage) -> HistoryMessage {
    let both = before.blocks().zip(after.blocks());
    let between = if both.is_some() { "" } else { "\n\n" };
    let blocks = both.and_then(|(one, two)| {
        SaidBlocks::of(Blocks {
            blocks: [one.blocks.as_slice(), &two.blocks].concat(),
            ..two.clone()
        })
    });
    let before = match Arc::unwrap_or_clone(before.message) {
        Message::Assistant { content } => content,
        Message::AssistantToolCalls { text, .. } => text.unwrap_or_default(),
        Message::User { .. } | Message::ToolResult { .. } => String::new(),
    };
    let joined = |after: String| -> String {
        let parts = [before, after];
        let said = parts.iter().filter(|part| !part.trim().is_empty());
        said.map(String::as_str).collect::<Vec<_>>().join(between)
    };
    let message = match Arc::unwrap_or_clone(after.message) {
        Message::AssistantToolCalls { calls, text } => {
            let text = joined(text.unwrap_or_default());
            Message::AssistantToolCalls {
                calls,
                text: (!text.is_empty()).then_some(text),
            }
        }
        Message::Assistant { content } => Message::Assistant {
            content: joined(content),
        },
        other @ (Message::User { .. } | Message::ToolResult { .. }) => other,
    };
    HistoryMessage {
        message: Arc::new(message),
        blocks,
    }
}

/// The model's message with no more text than a message may have. What was cut has no blocks: they
/// would bring it back.
fn bounded(said: Cow<'_, HistoryMessage>) -> Cow<'_, HistoryMessage> {
    let length = match &*said.message {
        Message::Assistant { content } => content.len(),
        Message::AssistantToolCalls { text, .. } => text.as_ref().map_or(0, String::len),
        Message::User { .. } | Message::ToolResult { .. } => 0,
    };
    if length <= MESSAGE_BYTES {
        return said;
    }
    let mut said = said.into_owned();
    said.blocks = None;
    match Arc::make_mut(&mut said.message) {
        Message::Assistant { content } => *content = within(std::mem::take(content)),
        Message::AssistantToolCalls { text, .. } => *text = text.take().map(within),
        Message::User { .. } | Message::ToolResult { .. } => {}
    }
    Cow::Owned(said)
}

fn within(mut text: String) -> String {
    if text.len() > MESSAGE_BYTES {
        text.truncate(text.floor_char_boundary(MESSAGE_BYTES - CUT.len()));
        text.push_str(CUT);
    }
    text
}

fn is_object(call: &ToolCall) -> bool {
    call.input.get().trim_start().starts_with('{')
}

fn is_legal_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.len() <= NAME_BYTES && name.bytes().all(legal)
}

fn legal_name(name: &str) -> String {
    let legal = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(legal).take(NAME_BYTES).collect();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn user(text: &str) -> HistoryMessage {
        Message::User {
            content: text.into(),
        }
        .into()
    }

    fn assistant(text: &str) -> HistoryMessage {
        Message::Assistant {
            content: text.into(),
        }
        .into()
    }

    fn calls(ids: &[&str]) -> HistoryMessage {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            name: "read_file".into(),
            input: RawValue::from_string("{}".into()).unwrap(),
        };
        Message::AssistantToolCalls {
            calls: ids.iter().map(call).collect(),
            text: None,
        }
        .into()
    }

    fn result(id: &str, content: &str) -> HistoryMessage {
        Message::ToolResult {
            call_id: id.into(),
            tool_name: "read_file".into(),
            content: content.into(),
            is_error: false,
            image: None,
        }
        .into()
    }

    fn told(history: &[HistoryMessage]) -> Vec<String> {
        let mended = repair(history, "p", "m");
        let brief = mended.iter().map(|said| match &*said.message {
            Message::User { content } => format!("user {content}"),
            Message::Assistant { content } => format!("assistant {content}"),
            Message::AssistantToolCalls { calls, .. } => {
                let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
                format!("calls {}", ids.join(" "))
            }
            Message::ToolResult {
                call_id, content, ..
            } if content == UNKNOWN_OUTCOME => format!("unknown {call_id}"),
            Message::ToolResult {
                call_id, content, ..
            } => format!("result {call_id} {content}"),
        });
        brief.collect()
    }

    #[test]
    fn a_history_that_is_well_is_only_borrowed() {
        let history = [
            user("a"),
            calls(&["1", "2"]),
            result("1", "x"),
            result("2", "y"),
            assistant("b"),
            user("c"),
        ];
        let mended = repair(&history, "p", "m");
        assert!(mended.iter().all(|said| matches!(said, Cow::Borrowed(_))));
        assert_eq!(mended.len(), history.len());
    }

    #[test]
    fn results_follow_their_calls_in_order_and_missing_ones_are_unknown() {
        let history = [
            user("a"),
            calls(&["1", "2", "3"]),
            result("3", "z"),
            user("b"),
            result("1", ""),
            result("9", "nobody's"),
        ];
        assert_eq!(
            told(&history),
            [
                "user a",
                "calls 1 2 3",
                "result 1 (no output)",
                "unknown 2",
                "result 3 z",
                "user b"
            ]
        );
    }

    #[test]
    fn names_that_are_used_again_get_new_ones_with_their_own_results() {
        let history = [
            user("a"),
            calls(&["1"]),
            calls(&["1", "1"]),
            result("1", "x"),
            result("1", "y"),
        ];
        assert_eq!(
            told(&history),
            [
                "user a",
                "calls 1",
                "unknown 1",
                "calls 1~2 1~3",
                "result 1~2 x",
                "result 1~3 y"
            ]
        );
    }

    #[test]
    fn speakers_alternate_and_nothing_is_blank() {
        let history = [
            assistant("left over"),
            assistant(" "),
            user(""),
            user("a"),
            user("b"),
            assistant("c"),
            assistant("d"),
        ];
        assert_eq!(
            told(&history),
            [
                &format!("user {BEGINNING_GONE}"),
                "assistant left over",
                "user a\n\nb",
                "assistant c\n\nd",
                "user Continue."
            ]
        );
        assert_eq!(told(&[]), [format!("user {BEGINNING_GONE}")]);
    }

    #[test]
    fn blocks_of_another_model_are_dropped_and_a_paused_answer_stays_last() {
        let blocks = |model: &str, paused| Blocks {
            provider: "p".into(),
            model: model.into(),
            paused,
            blocks: vec![RawValue::from_string("{}".into()).unwrap()],
        };
        let said = |blocks| HistoryMessage {
            blocks: SaidBlocks::of(blocks),
            ..assistant("b")
        };
        for (blocks, kept, length) in [
            (blocks("m", true), true, 2),
            (blocks("m", false), true, 3),
            (blocks("other", true), false, 3),
        ] {
            let history = [user("a"), said(blocks)];
            let mended = repair(&history, "p", "m");
            assert_eq!((mended[1].blocks.is_some(), mended.len()), (kept, length));
        }
    }

    #[test]
    fn tools_have_legal_names_and_arguments_are_objects() {
        let odd = Message::AssistantToolCalls {
            calls: vec![ToolCall {
                id: "1".into(),
                name: "functions.r\u{e9}ad".into(),
                input: RawValue::from_string("[1]".into()).unwrap(),
            }],
            text: Some("  ".into()),
        };
        let history = [user("a"), odd.into()];
        let mended = repair(&history, "p", "m");
        let Message::AssistantToolCalls { calls, text } = &*mended[1].message else {
            panic!("{mended:?}");
        };
        assert_eq!(calls[0].name, "functions_r_ad");
        assert_eq!((calls[0].input.get(), text), ("{}", &None));
    }

    #[test]
    fn a_message_that_no_provider_takes_is_cut_with_a_mark() {
        let history = [user(&"\u{6f22}".repeat(MESSAGE_BYTES / 2))];
        let mended = repair(&history, "p", "m");
        let Message::User { content } = &*mended[0].message else {
            panic!("{mended:?}");
        };
        assert!(content.len() <= MESSAGE_BYTES && content.ends_with(CUT));
    }
}
