//! Sessions that wait for one another: none may wait for one that waits for it, and no message causes more than so many
//! others in a row.
//!
//! Who waits for whom is read from the calls that are open in the journals. The call that asks is in its own journal
//! before it looks here, so that of several that close a circle at once the last one sees it.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::Fact;
use a_society_facts::id::{CallId, ClientId, MessageId};
use a_society_facts::message::{Message, ToolCall};
use a_society_facts::view::flow::{CallState, OpenCall};
use a_society_facts::view::route::session_role;
use a_society_facts::view::{FactView as _, session::SessionView};
use a_society_state::{Error, Store};
use serde_json::Value;

use super::key::{SessionAddress, resolve};

/// The tool whose calls wait.
const SESSIONS_SEND: &str = "sessions_send";

/// How many messages cause one another in a row. Two chats that answer each other by messages end there.
const CHAIN_MAX: u32 = 10;

/// How many sessions are looked at for one call. More would wait for longer than any of them.
const LOOKED_AT_MAX: usize = 100;

/// Precedes the number of the messages in a row, at the end of a message's name.
const VIA: &str = ".via";

/// The name of the message of a call. It bears the flow of the sender, as calls of other flows have the same ids, and
/// the place of the message in its chain.
pub(super) fn name(store: &Store, own: &SessionAddress, call: &CallId) -> Result<ClientId, String> {
    let place = place(store, own).map_err(|error| error.to_string())? + 1;
    if place > CHAIN_MAX {
        return Err(format!(
            "This message would be number {place} of messages that cause one another, and there may be \
             {CHAIN_MAX}. Answer without another message."
        ));
    }
    let name = format!("{}.{call}{VIA}{place}", own.flow.flow);
    name.parse()
        .map_err(|_| "This call has no name that a message can bear.".to_owned())
}

/// The place in its chain of the message that a session works on; 0 for one of the operator.
fn place(store: &Store, own: &SessionAddress) -> Result<u32, Error> {
    let mut sent: BTreeMap<MessageId, u32> = BTreeMap::new();
    let mut now = 0;
    store.follow(&own.flow)?.read(&mut |recorded| {
        let Some(fact) = recorded.fact() else { return };
        if let Fact::OperatorReplied(f) = fact {
            let place = f
                .client
                .as_ref()
                .and_then(|name| name.as_str().rsplit_once(VIA));
            if let Some(place) = place.and_then(|(_, place)| place.parse().ok()) {
                sent.insert(f.reply.clone(), place);
            }
        } else if let Fact::NodeClaimed(f) = fact
            && f.role == own.role
            && !f.replies.is_empty()
        {
            let places = f.replies.iter().filter_map(|reply| sent.remove(reply));
            now = places.max().unwrap_or(0);
        }
    })?;
    Ok(now)
}

/// Whether a session waits for another one, directly or through others.
pub(super) fn waits_for(
    store: &Store,
    session: &SessionAddress,
    own: &SessionAddress,
) -> Result<bool, Error> {
    let mut met = BTreeSet::new();
    let mut open = vec![session.clone()];
    while let Some(at) = open.pop() {
        if at == *own {
            return Ok(true);
        }
        if met.len() < LOOKED_AT_MAX && met.insert(at.clone()) {
            open.extend(awaited(store, &at)?);
        }
    }
    Ok(false)
}

/// The sessions for whose answers a session waits now.
fn awaited(store: &Store, address: &SessionAddress) -> Result<Vec<SessionAddress>, Error> {
    let SessionAddress { flow, role } = address;
    let look = store.look(flow)?;
    let is_wait = |call: &&OpenCall| {
        call.role == *role && call.tool == SESSIONS_SEND && call.state == CallState::Started
    };
    let calls = look.screen.flow.calls.values().filter(is_wait);
    let calls: BTreeSet<&str> = calls.map(|call| call.tool_call.as_str()).collect();
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let mut session = SessionView::new(role.clone(), Some(flow.flow.clone()));
    store.follow(flow)?.read(&mut |recorded| {
        if recorded.fact().and_then(session_role) == Some(role) {
            session.apply(recorded);
        }
    })?;
    let messages = session.messages.iter().rev();
    let said = messages.filter_map(|entry| match &*entry.message {
        Message::AssistantToolCalls { calls, .. } => Some(calls),
        Message::User { .. } | Message::Assistant { .. } | Message::ToolResult { .. } => None,
    });
    let asked = said
        .flatten()
        .filter(|call| calls.contains(call.id.as_str()));
    let keys = asked.filter_map(key_waited_for);
    Ok(keys.filter_map(|key| resolve(store, &key).ok()).collect())
}

/// The key in the arguments of a call that waits for an answer, under any of its names.
fn key_waited_for(call: &ToolCall) -> Option<String> {
    let given: Value = serde_json::from_str(call.input.get()).ok()?;
    let named = |names: [&str; 3]| names.into_iter().find_map(|name| given.get(name));
    let seconds = named(["timeoutSeconds", "timeout_seconds", "timeout"]);
    let waits = seconds.and_then(Value::as_u64) != Some(0);
    let key = named(["sessionKey", "session_key", "key"]).filter(|_| waits)?;
    key.as_str().map(str::to_owned)
}
