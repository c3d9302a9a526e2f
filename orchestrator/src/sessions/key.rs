//! The addresses of sessions, and how one is found by its address.

use a_society_facts::id::RoleInstance;
use a_society_facts::view::FlowState;
use a_society_facts::view::flow::SessionBrief;
use a_society_state::{FlowRef, Store};

/// Begins the address of a role's session.
const FLOW: &str = "flow:";

/// Stands between the flow and the role instance in an address.
const ROLE: &str = ":role:";

/// Stands between the address of a chat and the fork of it.
const FORK: &str = ":fork:";

/// A session with the flow or chat that has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionAddress {
    /// The flow or chat.
    pub flow: FlowRef,
    /// Whose session it is.
    pub role: RoleInstance,
}

/// The address of a session as text. A fork has the records of the flow that it comes from, the keys that are
/// recorded there among them, so that the address says which of the two is meant.
pub(super) fn key_of(state: &FlowState, flow: &FlowRef, role: &RoleInstance) -> String {
    match &state.chat {
        None => format!("{FLOW}{}{ROLE}{role}", flow.flow),
        Some(chat) if state.parent.is_none() => chat.key.to_string(),
        Some(chat) => format!("{}{FORK}{}", chat.key, flow.flow),
    }
}

/// Why an address finds no session.
#[derive(Debug, thiserror::Error)]
pub enum SessionLost {
    /// There is none.
    #[error("there is no session {0}")]
    Unknown(String),
    /// There are several.
    #[error("{0} may be any of: {1}")]
    Several(String, String),
    /// The state cannot be read.
    #[error(transparent)]
    Unread(#[from] a_society_state::Error),
}

/// The session with this key, this id, or this label.
///
/// # Errors
/// When there is no such session, or when several have the label.
pub fn resolve(store: &Store, text: &str) -> Result<SessionAddress, SessionLost> {
    let unknown = || SessionLost::Unknown(text.to_owned());
    let census = store.census()?;
    if let Some((flow, role)) = text
        .strip_prefix(FLOW)
        .and_then(|rest| rest.split_once(ROLE))
    {
        let role: RoleInstance = role.parse().map_err(|_| unknown())?;
        let mut flows = census.flows.into_iter();
        let flow = flows.find(|other| other.flow.as_str() == flow);
        let address = flow.map(|flow| SessionAddress { flow, role });
        let is_there = |address: &SessionAddress| {
            let look = store.look(&address.flow);
            look.is_ok_and(|look| look.screen.flow.sessions.contains_key(&address.role))
        };
        return address.filter(is_there).ok_or_else(unknown);
    }
    let mut found: Vec<(String, SessionAddress)> = Vec::new();
    for flow in census.flows {
        let Ok(look) = store.look(&flow) else {
            continue;
        };
        let state = &look.screen.flow;
        for (role, brief) in &state.sessions {
            let key = key_of(state, &flow, role);
            if is_called(state, brief, &key, text) {
                let (flow, role) = (flow.clone(), role.clone());
                found.push((key, SessionAddress { flow, role }));
            }
        }
    }
    // A key means one session, whatever the labels of others are.
    if let Some(at) = found.iter().position(|(key, _)| key == text) {
        return Ok(found.swap_remove(at).1);
    }
    match found.as_slice() {
        [(_, only)] => Ok(only.clone()),
        [] => Err(unknown()),
        several => {
            let keys: Vec<&str> = several.iter().map(|(key, _)| key.as_str()).collect();
            Err(SessionLost::Several(text.to_owned(), keys.join(", ")))
        }
    }
}

fn is_called(state: &FlowState, brief: &SessionBrief, key: &str, text: &str) -> bool {
    let label = state.chat.as_ref().and_then(|chat| chat.label.as_deref());
    key == text || brief.session_id.as_str() == text || label == Some(text)
}
