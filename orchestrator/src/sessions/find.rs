//! The session that a person means: by its key, its id or the label of its chat, by its flow, or by the beginning of
//! one of these.
//!
//! The tools of a role name sessions by their whole keys only, see [`super::key::resolve`].

use std::collections::BTreeSet;

use a_society_facts::id::RoleInstance;
use a_society_state::{FlowRef, Store};

use super::key::{
    SessionAddress, SessionLost, SessionNames, key_of, role_key, session_roles, split_role_key,
};

/// How many sessions an error names.
const NAMED_MAX: usize = 10;

/// What a name may mean.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Meant {
    flow: FlowRef,
    /// Absent if the name is that of a flow.
    role: Option<RoleInstance>,
    /// How an error names it.
    key: String,
}

impl SessionAddress {
    /// The session that is meant by a name, and by a role where the name is that of a flow. Without a role it is the only
    /// session of the flow.
    ///
    /// # Errors
    /// When there is no such session, or when several could be meant.
    pub fn named(
        store: &Store,
        text: &str,
        role: Option<&RoleInstance>,
    ) -> Result<Self, SessionLost> {
        let meant = only(store, text, candidates(store, text, role)?)?;
        let flow = meant.flow;
        if let Some(role) = role.cloned().or(meant.role) {
            return Ok(Self { flow, role });
        }
        let state = store.look(&flow)?.screen.flow;
        match session_roles(&state).as_slice() {
            [] => Err(SessionLost::Empty(flow.to_string())),
            [role] => {
                let role = (*role).clone();
                Ok(Self { flow, role })
            }
            several => {
                let keys = several.iter().map(|role| key_of(&state, &flow, role));
                Err(SessionLost::Several(text.to_owned(), listed(keys)))
            }
        }
    }

    /// The flow or chat that is meant by its own name or by that of one of its sessions, and whose session it is then.
    ///
    /// # Errors
    /// When there is none, or when several could be meant.
    pub fn flow_named(
        store: &Store,
        text: &str,
    ) -> Result<(FlowRef, Option<RoleInstance>), SessionLost> {
        let mut found = candidates(store, text, None)?;
        found.dedup_by(|other, one| {
            let is_same = one.flow == other.flow;
            if is_same {
                one.role = None;
            }
            is_same
        });
        let meant = only(store, text, found)?;
        Ok((meant.flow, meant.role))
    }
}

/// The only one of those that a name may mean.
fn only(store: &Store, text: &str, mut found: Vec<Meant>) -> Result<Meant, SessionLost> {
    if found.len() > 1 {
        let keys = found.into_iter().map(|one| one.key);
        return Err(SessionLost::Several(text.to_owned(), listed(keys)));
    }
    match found.pop() {
        Some(only) => Ok(only),
        None => Err(SessionLost::Unknown(text.to_owned(), known(store))),
    }
}

/// What a name may mean, sorted. Whole names and those of flows come before beginnings of others.
fn candidates(
    store: &Store,
    text: &str,
    role: Option<&RoleInstance>,
) -> Result<Vec<Meant>, SessionLost> {
    let flows = store.census()?.flows;
    let of_flow = |flow: FlowRef| Meant {
        key: flow.to_string(),
        role: None,
        flow,
    };
    let is_whole = |flow: &&FlowRef| flow.flow.as_str() == text || flow.to_string() == text;
    if let Some(flow) = flows.iter().find(is_whole) {
        return Ok(vec![of_flow(flow.clone())]);
    }
    if let Some((flow, named)) = split_role_key(text) {
        let found = flows.into_iter().filter(|known| known.is_named(flow));
        return Ok(found.map(|flow| of_role(flow, &named)).collect());
    }
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let begun = flows.iter().filter(|flow| flow.is_named(text));
    let mut whole: BTreeSet<Meant> = begun.cloned().map(of_flow).collect();
    let mut parts: BTreeSet<Meant> = BTreeSet::new();
    let mut keyed: Option<Meant> = None;
    for flow in flows {
        // A journal that cannot be read has no names but that of its flow.
        let Ok(look) = store.look(&flow) else {
            continue;
        };
        let state = &look.screen.flow;
        for named in session_roles(state) {
            let names = SessionNames::of(state, &flow, named);
            let meant = Meant {
                flow: flow.clone(),
                role: Some(named.clone()),
                key: names.described(),
            };
            if names.key == text {
                // Of those that began under it one after another, as the runs of a schedule do, it means the last one.
                let last = keyed.as_ref().map(|other| &other.flow.flow);
                if last.is_none_or(|last| *last < flow.flow) {
                    keyed = Some(meant);
                }
            } else if names.is(text) {
                whole.retain(|other| other.flow != flow);
                whole.insert(meant);
            } else if names.begins(text) && role.is_none_or(|role| role == named) {
                parts.insert(meant);
            }
        }
    }
    if let Some(keyed) = keyed {
        return Ok(vec![keyed]);
    }
    if whole.iter().any(|meant| meant.role.is_some()) {
        // A label may be the beginning of the name of any flow.
        whole.retain(|meant| meant.role.is_some() || letters(&meant.flow) == text);
    }
    let found = if whole.is_empty() { parts } else { whole };
    Ok(found.into_iter().collect())
}

/// What people call a flow: the end of its name.
fn letters(flow: &FlowRef) -> &str {
    let name = flow.flow.as_str();
    name.rsplit_once('-').map_or(name, |(_, letters)| letters)
}

fn of_role(flow: FlowRef, role: &RoleInstance) -> Meant {
    Meant {
        key: role_key(&flow, role),
        role: Some(role.clone()),
        flow,
    }
}

/// The sessions that there are, the newest first.
fn known(store: &Store) -> String {
    let Ok(census) = store.census() else {
        return String::new();
    };
    let mut flows = census.flows;
    flows.sort_by(|one, other| other.flow.cmp(&one.flow));
    let mut keys: Vec<String> = Vec::new();
    for flow in flows {
        if keys.len() > NAMED_MAX {
            break;
        }
        if let Ok(look) = store.look(&flow) {
            let state = &look.screen.flow;
            keys.extend(
                session_roles(state)
                    .into_iter()
                    .map(|role| SessionNames::of(state, &flow, role).described()),
            );
        }
    }
    listed(keys.into_iter())
}

/// So many names as an error has room for.
fn listed(keys: impl Iterator<Item = String>) -> String {
    let mut keys: Vec<String> = keys.collect();
    if keys.len() > NAMED_MAX {
        keys.truncate(NAMED_MAX);
        keys.push("and more".to_owned());
    }
    keys.join(", ")
}
