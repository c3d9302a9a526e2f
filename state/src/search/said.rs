//! The messages in the sessions of a flow, one after another, from the records that complete them.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::id::{FlowId, NodeId, RoleInstance, Seq, TurnId};
use a_society_facts::message::{Message, Text, ToolCall};
use a_society_facts::view::route::session_role;
use a_society_facts::view::session::{NodeMark, SessionEntry};
use a_society_facts::view::{FactView as _, session::SessionView};
use a_society_facts::{At, Recorded};
use serde_json::Value;

use super::limits::TEXT_BYTES_MAX;
use crate::place::FlowPlace;

/// Who said a message, or what it is if it was not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaidBy {
    /// The title of the flow or chat.
    Title,
    /// The system prompt.
    System,
    /// What the role was sent: a packet, words of the operator, a note of the program.
    User,
    /// The model, with the calls that it made.
    Assistant,
    /// A tool.
    ToolResult,
}

/// A message of a session, at the record that completed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidMessage {
    /// Whose session it is in; the title of a flow is in none.
    pub role: Option<RoleInstance>,
    /// The record.
    pub seq: Seq,
    /// Which message of that record, counted from 0.
    pub nth: u32,
    /// When.
    pub at: At,
    /// The node at which the role was.
    pub node: Option<NodeId>,
    /// Who said it.
    pub by: SaidBy,
    /// The turn whose text it is.
    pub(super) turn: Option<TurnId>,
    /// The text, as far as it is searched.
    pub text: String,
}

/// Reads records of one flow, of which it keeps no message.
#[derive(Debug)]
pub(super) struct SaidReader {
    flow: FlowId,
    sessions: BTreeMap<RoleInstance, SessionView>,
}

impl SaidReader {
    pub(super) const fn new(flow: FlowId) -> Self {
        Self {
            flow,
            sessions: BTreeMap::new(),
        }
    }

    /// Goes on with a role that was at a node.
    pub(super) fn stands_at(&mut self, role: &RoleInstance, node: NodeId) {
        self.session(role).node = Some(NodeMark {
            node,
            named: None,
            start: 0,
        });
    }

    /// Whether text of a role streams whose end is not read yet.
    pub(super) fn streams(&self, role: &RoleInstance) -> bool {
        let session = self.sessions.get(role);
        session.is_some_and(|session| session.draft.is_some())
    }

    /// Whether what follows can be read without what was read so far, but for the nodes.
    pub(super) fn is_between(&self) -> bool {
        let mut sessions = self.sessions.values();
        sessions.all(|session| session.draft.is_none() && session.asides.is_empty())
    }

    /// Reads a record, and passes on what it completes.
    pub(super) fn read(
        &mut self,
        place: &FlowPlace,
        recorded: &Recorded,
        each: &mut dyn FnMut(SaidMessage),
    ) {
        let Some(fact) = recorded.fact() else { return };
        if let Some(title) = title(fact) {
            each(SaidMessage {
                role: None,
                seq: recorded.seq,
                nth: 0,
                at: recorded.at,
                node: None,
                by: SaidBy::Title,
                turn: None,
                text: title.to_owned(),
            });
        }
        let Some(role) = session_role(fact) else {
            return;
        };
        let session = self.session(role);
        session.apply(recorded);
        let node = session.node.as_ref().map(|mark| mark.node.clone());
        // Neither archives nor messages are needed any more, and a long flow has many.
        session.archives.clear();
        let injected = std::mem::take(&mut session.injected);
        let messages = std::mem::take(&mut session.messages);
        if let Some(mark) = &mut session.node {
            mark.start = 0;
        }
        let mut nth = 0;
        let mut pass = |by, text: String, node: Option<NodeId>, turn| {
            each(SaidMessage {
                role: Some(role.clone()),
                seq: recorded.seq,
                nth,
                at: recorded.at,
                node,
                by,
                turn,
                text,
            });
            nth += 1;
        };
        if let Fact::SystemPromptBuilt(built) = fact {
            pass(
                SaidBy::System,
                whole(place, &built.text),
                node.clone(),
                None,
            );
        }
        for entry in injected.iter().chain(&messages) {
            let (by, text) = said(place, entry);
            let node = entry.node.clone().or_else(|| node.clone());
            pass(by, text, node, entry.turn);
        }
    }

    fn session(&mut self, role: &RoleInstance) -> &mut SessionView {
        let new = || SessionView::new(role.clone(), Some(self.flow.clone()));
        self.sessions.entry(role.clone()).or_insert_with(new)
    }
}

/// The title that a fact gives to its flow.
fn title(fact: &Fact) -> Option<&str> {
    if let Fact::FlowCreated(created) = fact {
        return Some(&created.title);
    }
    if let Fact::FlowTitled(titled) = fact {
        return Some(&titled.title);
    }
    None
}

/// The message that some records say, of which the last completes it: those before it are the text that streamed.
pub(super) fn reread(
    place: &FlowPlace,
    records: &[Recorded],
    turn: Option<TurnId>,
    nth: u32,
) -> Option<SaidMessage> {
    let (last, before) = records.split_last()?;
    let role = last.fact().and_then(session_role);
    let is_of_text = |recorded: &&Recorded| match recorded.fact() {
        Some(Fact::DraftAdded(draft)) => Some(draft.turn) == turn && Some(&draft.role) == role,
        _ => false,
    };
    let mut reader = SaidReader::new(place.flow().flow.clone());
    let mut found = None;
    for recorded in before.iter().filter(is_of_text).chain([last]) {
        reader.read(place, recorded, &mut |message| {
            if message.seq == last.seq && message.nth == nth {
                found = Some(message);
            }
        });
    }
    found
}

fn said(place: &FlowPlace, entry: &SessionEntry) -> (SaidBy, String) {
    let read = |text: &Text| Ok::<_, std::convert::Infallible>(whole(place, text));
    let Ok(message) = entry.whole(read);
    match &*message {
        Message::User { content } => (SaidBy::User, beginning(content.clone())),
        Message::Assistant { content } => (SaidBy::Assistant, beginning(content.clone())),
        Message::AssistantToolCalls { calls, text } => {
            let mut all = text.clone().unwrap_or_default();
            for call in calls {
                add_call(call, &mut all);
            }
            (SaidBy::Assistant, beginning(all))
        }
        Message::ToolResult { content, .. } => (SaidBy::ToolResult, beginning(content.clone())),
    }
}

fn whole(place: &FlowPlace, text: &Text) -> String {
    beginning(place.text_or_beginning(text))
}

fn beginning(mut text: String) -> String {
    let end = text.floor_char_boundary(text.len().min(TEXT_BYTES_MAX));
    text.truncate(end);
    text
}

/// A call as it is searched: its tool, and the values of its arguments without the marks of JSON.
fn add_call(call: &ToolCall, out: &mut String) {
    let mut line = |text: &str| {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text);
    };
    line(&call.name);
    match serde_json::from_str(call.input.get()) {
        Ok(Value::Object(arguments)) => arguments.values().for_each(|it| values(it, &mut line)),
        Ok(other) => values(&other, &mut line),
        Err(_) => line(call.input.get()),
    }
}

fn values(value: &Value, line: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => line(text),
        Value::Array(list) => list.iter().for_each(|it| values(it, line)),
        Value::Object(map) => map.values().for_each(|it| values(it, line)),
        Value::Number(number) => line(&number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}
