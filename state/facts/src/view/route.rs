//! Which session a fact changes, and whose feed shows it.

use super::flow::FlowState;
use crate::fact::Fact;
use crate::fact::columns::{FactSubject, SessionFact};
use crate::fact::operator::StopScope;
use crate::id::{MessageId, RoleInstance};

/// The role instance whose session a fact changes, if it changes one.
#[must_use]
pub fn session_role(fact: &Fact) -> Option<&RoleInstance> {
    let read = fact.of_session()?;
    // Most requests say nothing new about their sessions.
    if matches!(read, SessionFact::ModelRequested(f) if f.frame.is_none()) {
        return None;
    }
    fact.about().role()
}

/// The role instance whose feed shows a fact. What is about the whole flow is shown to its owner.
///
/// The state is the one *before* the fact, which still knows what the fact is about to close.
#[must_use]
pub fn feed_role<'a>(state: &'a FlowState, fact: &'a Fact) -> Option<&'a RoleInstance> {
    let role = match fact.about() {
        FactSubject::Born(owner) => return owner,
        FactSubject::Flow => None,
        FactSubject::Role(role) => Some(role),
        FactSubject::Node(node) => state.role_of(node),
        FactSubject::Staged(approval) => {
            let staged = state.staged.get(approval);
            staged.and_then(|staged| state.role_of(&staged.node))
        }
        FactSubject::Said(message) => replier(state, message),
        FactSubject::Scope(scope) => stopped(state, scope),
        FactSubject::Consent(consent) => state.consents.get(consent).map(|open| &open.role),
        FactSubject::Change(change) => state.changes.get(change).map(|change| &change.role),
        FactSubject::Report => writer(state),
    };
    role.or(state.owner.as_ref())
}

fn stopped<'a>(state: &'a FlowState, scope: &'a StopScope) -> Option<&'a RoleInstance> {
    match scope {
        StopScope::Node(node) => state.role_of(node),
        StopScope::Role(role) => Some(role),
        StopScope::All => None,
    }
}

/// The role instance that a queued reply or word was meant for.
fn replier<'a>(state: &'a FlowState, reply: &MessageId) -> Option<&'a RoleInstance> {
    let node = state
        .replies
        .iter()
        .find(|(_, said)| said.iter().any(|said| said.id == *reply));
    let role = state
        .steers
        .iter()
        .find(|(_, said)| said.iter().any(|said| said.id == *reply));
    let reflecting = state.improvement.iter().flat_map(|improvement| {
        let report = &improvement.feedback;
        (improvement.roles.iter()).chain(report.role.iter().zip(&report.work))
    });
    let mut reflecting = reflecting
        .filter(|(_, work)| work.replies.iter().any(|said| said.id == *reply))
        .map(|(role, _)| role);
    node.and_then(|(node, _)| state.role_of(node))
        .or(role.map(|(role, _)| role))
        .or_else(|| reflecting.next())
}

fn writer(state: &FlowState) -> Option<&RoleInstance> {
    state.improvement.as_ref()?.feedback.role.as_ref()
}
