//! The addresses of sessions, and how one is found by its address.

use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;
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
        None => role_key(flow, role),
        Some(chat) if state.parent.is_none() => chat.key.to_string(),
        Some(chat) => format!("{}{FORK}{}", chat.key, flow.flow),
    }
}

/// The address of the session that a role has in a flow.
pub(super) fn role_key(flow: &FlowRef, role: &RoleInstance) -> String {
    format!("{FLOW}{}{ROLE}{role}", flow.flow)
}

/// The name of a flow and a role, in the address of the session that the role has there.
pub(super) fn split_role_key(text: &str) -> Option<(&str, RoleInstance)> {
    let (flow, role) = text.strip_prefix(FLOW)?.split_once(ROLE)?;
    Some((flow, role.parse().ok()?))
}

/// The roles that have sessions. A chat has one even before its first message.
pub(super) fn session_roles(state: &FlowState) -> Vec<&RoleInstance> {
    if state.chat.is_some() {
        let only = state.graph.nodes.first();
        return only.map(|node| &node.role).into_iter().collect();
    }
    state.sessions.keys().collect()
}

/// What a session is called.
pub(super) struct SessionNames<'a> {
    pub(super) key: String,
    id: Option<&'a str>,
    label: Option<&'a str>,
}

impl<'a> SessionNames<'a> {
    pub(super) fn of(state: &'a FlowState, flow: &FlowRef, role: &RoleInstance) -> Self {
        let brief = state.sessions.get(role);
        Self {
            key: key_of(state, flow, role),
            id: brief.map(|brief| brief.session_id.as_str()),
            label: state.chat.as_ref().and_then(|chat| chat.label.as_deref()),
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.id == Some(text) || self.label == Some(text)
    }

    /// The key, and what people call it.
    pub(super) fn described(&self) -> String {
        match self.label {
            Some(label) => format!("{} ({label})", self.key),
            None => self.key.clone(),
        }
    }

    pub(super) fn begins(&self, text: &str) -> bool {
        let others = self.id.iter().chain(&self.label);
        self.key.starts_with(text) || others.into_iter().any(|name| name.starts_with(text))
    }
}

/// Why an address finds no session.
#[derive(Debug, thiserror::Error)]
pub enum SessionLost {
    /// There is none with this name; these are there.
    #[error("there is no session {0}")]
    Unknown(String, String),
    /// The flow has none yet.
    #[error("{0} has no session yet")]
    Empty(String),
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
pub(super) fn resolve(store: &Store, text: &str) -> Result<SessionAddress, SessionLost> {
    let unknown = || SessionLost::Unknown(text.to_owned(), String::new());
    let census = store.census()?;
    if let Some((flow, role)) = split_role_key(text) {
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
        for role in session_roles(state) {
            let names = SessionNames::of(state, &flow, role);
            let (is_key, is_called) = (names.key == text, names.is(text));
            if is_key || is_called {
                let (flow, role) = (flow.clone(), role.clone());
                found.push((names.key, SessionAddress { flow, role }));
            }
        }
    }
    // A key means one session, whatever the labels of others are: of those that began under it one after another, as
    // the runs of a schedule do, the last one.
    let with_key = found.iter().filter(|(key, _)| key == text);
    if let Some((_, last)) = with_key.max_by_key(|(_, session)| &session.flow.flow) {
        return Ok(last.clone());
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
