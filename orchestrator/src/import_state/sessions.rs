//! Sessions and feeds, in their last state.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::fact::imported::{
    FeedImported, ImportedArchive, ImportedHistory, ImportedMessage, SessionImported, These,
};
use a_society_facts::fact::session::SystemPromptBuilt;
use a_society_facts::id::{MessageId, NodeId, RoleInstance};
use a_society_facts::message::{Message, Text};
use a_society_facts::{At, Fact, Hash};
use serde_json::value::RawValue;

use super::sketch::ImportSketch;
use super::source::ForeignFlow;
use super::version11::{CompactionArchive, RoleSession, message};
use crate::limits::IMPORTED_PART_BYTES;

/// The text of an open turn when its program ended. It is not imported as a message: the turn
/// goes on with it as after a crash.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ForeignTail {
    /// Nothing that is not whole.
    Whole,
    /// Text that was streaming.
    Text(String),
    /// An answer whose calls have not all come to something, with the results that are there.
    Calls(Message, Vec<Message>),
}

/// The roles that were at work, each with its node unless it reflected.
pub(super) type AtWork = BTreeMap<RoleInstance, Option<NodeId>>;

/// The sessions of a flow, and the tails of those whose role was at work.
pub(super) fn import(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    at_work: &AtWork,
) -> Result<BTreeMap<RoleInstance, ForeignTail>, String> {
    let mut tails = BTreeMap::new();
    for (role, (session, _)) in &source.sessions {
        let here = |node: &Option<NodeId>| node.is_none() || *node == current_node(session);
        let open = session.is_active && at_work.get(role).is_some_and(here);
        let told = |why| format!("roles/{role}/transcript.json: {why}");
        let tail = one(sketch, role, session, open).map_err(told)?;
        if open {
            tails.insert(role.clone(), tail);
        }
    }
    Ok(tails)
}

fn one(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    session: &RoleSession,
    open: bool,
) -> Result<ForeignTail, String> {
    sketch.open_session(role)?;
    if let Some(prompt) = session
        .system_prompt
        .clone()
        .filter(|text| !text.is_empty())
    {
        let fingerprint = Hash::of(prompt.as_bytes());
        let text = sketch.text(prompt);
        sketch.say(Fact::SystemPromptBuilt(SystemPromptBuilt {
            role: role.clone(),
            text,
            fingerprint,
            sources: Vec::new(),
        }))?;
    }
    let mut replacements = Vec::new();
    for archive in session.compaction_archives.iter().flatten() {
        replacements.push(archived(sketch, role, archive)?);
    }
    let mut messages = all(&session.transcript_history)?;
    let whole = messages.len();
    let tail = if open {
        cut(&mut messages)
    } else {
        ForeignTail::Whole
    };
    let node = current_node(session);
    let taken = whole - messages.len();
    let exchanges = exchanges(session)?.saturating_sub(taken);
    let named = named(sketch, messages, &replacements)?;
    let beside = session.current_node_id.as_deref();
    let beside = beside.and_then(|beside| beside.parse().ok());
    let history = ImportedHistory {
        named: beside.filter(|beside| node.as_ref().is_some_and(|node| node != beside)),
        exchanges: if node.is_some() { exchanges as u64 } else { 0 },
        node,
        context_tokens: tokens(session),
        is_active: open,
    };
    parts(sketch, role, named, These::History(history))?;
    Ok(tail)
}

/// How much of the window the last request filled.
pub(super) fn tokens(session: &RoleSession) -> u64 {
    let said = session.latest_context_usage.as_ref();
    said.and_then(serde_json::Number::as_u64).unwrap_or(0)
}

fn current_node(session: &RoleSession) -> Option<NodeId> {
    let context = session.current_node_context.as_ref();
    let context = context.map(|context| context.node_id.as_str());
    context
        .or(session.current_node_id.as_deref())
        .and_then(|node| node.parse().ok())
}

/// How many of the last messages are exchanges of the current node.
fn exchanges(session: &RoleSession) -> Result<usize, String> {
    let Some(context) = &session.current_node_context else {
        return Ok(0);
    };
    let said = all(&context.exchanges)?;
    let messages = all(&session.transcript_history)?;
    // Those that are no end of the history are compared later, and then reported.
    Ok(said.len().min(messages.len()))
}

fn all(raw: &[Box<RawValue>]) -> Result<Vec<Message>, String> {
    let each = raw.iter().enumerate();
    each.map(|(place, raw)| message(raw).map_err(|why| format!("message {place}: {why}")))
        .collect()
}

/// Takes what is not whole off the end of a history.
fn cut(messages: &mut Vec<Message>) -> ForeignTail {
    if matches!(messages.last(), Some(Message::Assistant { content }) if !content.is_empty()) {
        return match messages.pop() {
            Some(Message::Assistant { content }) => ForeignTail::Text(content),
            Some(_) | None => ForeignTail::Whole,
        };
    }
    let is_result = |message: &Message| matches!(message, Message::ToolResult { .. });
    let results = messages.iter().rev().take_while(|m| is_result(m)).count();
    let Some(place) = messages.len().checked_sub(results + 1) else {
        return ForeignTail::Whole;
    };
    let Some(Message::AssistantToolCalls { calls, .. }) = messages.get(place) else {
        return ForeignTail::Whole;
    };
    let answered = |id: &str| {
        let after = messages.get(place + 1..).unwrap_or_default();
        after
            .iter()
            .any(|m| matches!(m, Message::ToolResult { call_id, .. } if call_id == id))
    };
    let ids: BTreeSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    if calls.iter().all(|call| answered(&call.id)) || ids.len() < calls.len() {
        return ForeignTail::Whole;
    }
    let mut end = messages.split_off(place).into_iter();
    match end.next() {
        Some(answer) => ForeignTail::Calls(answer, end.collect()),
        None => ForeignTail::Whole,
    }
}

/// A message that replaces an archive, and is in the live history as well.
type ForeignReplacement = (Message, MessageId);

fn archived(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    archive: &CompactionArchive,
) -> Result<ForeignReplacement, String> {
    let messages = all(&archive.archived_transcript_history)?;
    let named = named(sketch, messages, &[])?;
    let said = message(&archive.replacement_message)?;
    let replacement = one_named(sketch, said.clone(), None)?;
    let id = replacement.id.clone();
    let compacted_at: At = match archive.compacted_at.parse() {
        Ok(at) => at,
        Err(_) => At::from_ms(0),
    };
    let these = These::Archive(ImportedArchive {
        id: archive.id.clone(),
        trigger: archive.trigger,
        node_id: archive.node_id.clone(),
        compacted_at,
        replacement,
    });
    parts(sketch, role, named, these)?;
    Ok((said, id))
}

fn named(
    sketch: &mut ImportSketch<'_>,
    messages: Vec<Message>,
    replacements: &[ForeignReplacement],
) -> Result<Vec<ImportedMessage>, String> {
    let known = |said: &Message| {
        let mut known = replacements.iter();
        known
            .find(|(other, _)| other == said)
            .map(|(_, id)| id.clone())
    };
    let mut named = Vec::with_capacity(messages.len());
    for (place, said) in messages.into_iter().enumerate() {
        // Only the first message can replace what came before it.
        let id = if place == 0 { known(&said) } else { None };
        named.push(one_named(sketch, said, id)?);
    }
    Ok(named)
}

fn one_named(
    sketch: &mut ImportSketch<'_>,
    mut said: Message,
    id: Option<MessageId>,
) -> Result<ImportedMessage, String> {
    let id = match id {
        Some(id) => id,
        None => sketch.name("m")?,
    };
    let content = match &mut said {
        Message::User { content }
        | Message::Assistant { content }
        | Message::ToolResult { content, .. } => Some(content),
        Message::AssistantToolCalls { text, .. } => text.as_mut(),
    };
    let mut whole = None;
    if let Some(content) = content
        && let Some(kept) = sketch.too_long(content)
    {
        *content = Text::Blob(kept.clone()).shown();
        whole = Some(kept);
    }
    Ok(ImportedMessage { id, said, whole })
}

/// Says messages in records of a bounded size, the last of which says what they are.
fn parts(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    messages: Vec<ImportedMessage>,
    these: These,
) -> Result<(), String> {
    let mut part = Vec::new();
    let mut bytes = 0;
    for message in messages {
        let size = json_bytes(&message)?;
        if bytes + size > IMPORTED_PART_BYTES && !part.is_empty() {
            say(sketch, role, std::mem::take(&mut part), None)?;
            bytes = 0;
        }
        bytes += size;
        part.push(message);
    }
    say(sketch, role, part, Some(these))
}

fn say(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    messages: Vec<ImportedMessage>,
    these: Option<These>,
) -> Result<(), String> {
    sketch.say(Fact::SessionImported(SessionImported {
        role: role.clone(),
        messages,
        these,
    }))
}

fn json_bytes<T: serde::Serialize>(value: &T) -> Result<usize, String> {
    let json = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    Ok(json.len())
}

/// The feeds: after them each role's feed holds what it held, and nothing of the import.
pub(super) fn feeds(sketch: &mut ImportSketch<'_>, source: &ForeignFlow) -> Result<(), String> {
    let mut roles: BTreeSet<RoleInstance> = source.feeds.keys().cloned().collect();
    roles.extend(sketch.state.sessions.keys().cloned());
    roles.extend(sketch.state.owner.clone());
    for role in roles {
        let items = source.feeds.get(&role).map(|(items, _)| items.as_slice());
        let (mut after, mut part, mut bytes) = (0, Vec::new(), 0);
        for item in items.unwrap_or_default() {
            let size = json_bytes(item)?;
            if bytes + size > IMPORTED_PART_BYTES && !part.is_empty() {
                let items: Vec<_> = std::mem::take(&mut part);
                let count = items.len() as u64;
                feed(sketch, &role, after, items)?;
                (after, bytes) = (after + count, 0);
            }
            bytes += size;
            part.push(item.clone());
        }
        feed(sketch, &role, after, part)?;
    }
    Ok(())
}

fn feed(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    after: u64,
    items: Vec<a_society_facts::fact::imported::ImportedItem>,
) -> Result<(), String> {
    sketch.say(Fact::FeedImported(FeedImported {
        role: role.clone(),
        after,
        items,
    }))
}
