//! Which session a command means, where a flow or a chat and perhaps a role are named.

use a_society_facts::id::RoleInstance;
use a_society_facts::view::FlowState;

use super::asks::short;
use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop};

/// The role whose session is meant: the one that is named, or else the only one that has a session.
///
/// # Errors
/// When there is no such flow, or several sessions and none was named.
pub(super) fn role_of(
    context: &mut Context<'_>,
    flow: &str,
    named: Option<&RoleInstance>,
) -> Result<RoleInstance, Stop> {
    if let Some(named) = named {
        return Ok(named.clone());
    }
    let (store, flow) = context.flow(flow)?;
    let state = store.look(&flow)?.screen.flow;
    let roles = roles(&state);
    match roles.as_slice() {
        [only] => Ok(only.clone()),
        several => {
            let what = format!(
                "{flow} has {} sessions, and no role was named",
                several.len()
            );
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            let why = match names.is_empty() {
                true => "no role of it has a session yet".to_owned(),
                false => format!("there are sessions of: {}", names.join(", ")),
            };
            let hint = format!("a-society session ls {}", short(&flow));
            Err(OperatorError::new(("usage", ExitCode::Usage), what, why, hint).into())
        }
    }
}

/// The roles that have sessions. A chat has one even before its first message.
fn roles(state: &FlowState) -> Vec<RoleInstance> {
    if state.chat.is_some() {
        let only = state.graph.nodes.first();
        return only.map(|node| node.role.clone()).into_iter().collect();
    }
    let roles = state.sessions.keys();
    roles.cloned().collect()
}
