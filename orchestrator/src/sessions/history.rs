//! The last messages of one session.

use std::convert::Infallible;

use a_society_facts::message::{Message, Text};
use a_society_facts::view::route::session_role;
use a_society_facts::view::session::SessionEntry;
use a_society_facts::view::{FactView as _, session::SessionView};
use a_society_state::{Error, Store};
use serde_json::{Value, json};

use super::key::SessionAddress;

/// How many messages there are without a limit.
const MESSAGES: u64 = 200;

/// How many messages there are at most.
const MESSAGES_MAX: u64 = 1_000;

/// How long they are at most, together. The newest is there however long it is.
const BYTES_MAX: usize = 6 * 1024 * 1024;

/// Which messages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryQuery {
    /// How many; more than 1,000 are 1,000.
    pub limit: Option<u64>,
    /// Whether results of tools are among them.
    pub include_tools: bool,
}

/// The last messages of a session, as `transcript.json` has them, oldest first. Results of tools are left out before
/// the last ones are taken.
///
/// # Errors
/// When the journal cannot be read.
pub fn messages(
    store: &Store,
    address: &SessionAddress,
    query: HistoryQuery,
) -> Result<Vec<Value>, Error> {
    let SessionAddress { flow, role } = address;
    let mut session = SessionView::new(role.clone(), Some(flow.flow.clone()));
    store.follow(flow)?.read(&mut |recorded| {
        if recorded.fact().and_then(session_role) == Some(role) {
            session.apply(recorded);
        }
    })?;
    let place = store.place(flow);
    let whole = |text: &Text| Ok::<_, Infallible>(place.text_or_beginning(text));
    let limit = query.limit.unwrap_or(MESSAGES).min(MESSAGES_MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_asked = |entry: &&SessionEntry| {
        query.include_tools || !matches!(&*entry.message, Message::ToolResult { .. })
    };
    let newest_first = session.messages.iter().rev().filter(is_asked).take(limit);
    let mut bytes = 0;
    let mut taken: Vec<Value> = Vec::new();
    for entry in newest_first {
        let Ok(message) = entry.whole(whole);
        let mut value = json!(&*message);
        if let Some(map) = value.as_object_mut() {
            map.insert("seq".to_owned(), json!(entry.seq));
            map.insert("at".to_owned(), json!(entry.at));
        }
        bytes += value.to_string().len();
        if bytes > BYTES_MAX && !taken.is_empty() {
            break;
        }
        taken.push(value);
    }
    taken.reverse();
    Ok(taken)
}
