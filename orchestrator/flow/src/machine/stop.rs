//! Stopping turns (row S8): the stop is durable, the turn is brought to its end, and its
//! node waits.

use a_society_facts::Fact;
use a_society_facts::fact::node::{NodeSuspended, WaitReason};
use a_society_facts::fact::operator::{ConsentAnswer, StopRequested, StopScope};
use a_society_facts::id::{ClientId, NodeId, RoleInstance};
use a_society_facts::view::flow::FlowState;

use super::consent::settle;
use super::refusal::Refusal;

pub(super) fn stop(
    state: &FlowState,
    scope: &StopScope,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let mut turns = state.turns.values().filter(|turn| !turn.cause.is_aside());
    let any = turns.any(|turn| meant(scope, turn.node.as_ref(), &turn.role));
    let unbegun: Vec<(&NodeId, &RoleInstance)> = (state.running.iter())
        .filter(|(node, running)| meant(scope, Some(node), &running.role))
        .filter(|(_, running)| !state.turns.contains_key(&running.turn))
        .map(|(node, running)| (node, &running.role))
        .collect();
    if !any && unbegun.is_empty() {
        return Err(Refusal::NothingToStop);
    }
    let mut facts = vec![Fact::StopRequested(StopRequested {
        scope: scope.clone(),
        client: client.cloned(),
    })];
    for (consent, open) in &state.consents {
        if meant(scope, open.node.as_ref(), &open.role) {
            facts.extend(settle(state, consent, open, ConsentAnswer::Withdrawn, None));
        }
    }
    facts.extend(unbegun.into_iter().map(|(node, role)| {
        Fact::NodeSuspended(NodeSuspended::of(
            Some(node.clone()),
            role.clone(),
            WaitReason::AutonomousAbort,
        ))
    }));
    Ok(facts)
}

fn meant<S>(scope: &StopScope, node: Option<&NodeId>, whose: &S) -> bool
where
    RoleInstance: PartialEq<S>,
{
    match scope {
        StopScope::Node(stopped) => node == Some(stopped),
        StopScope::Role(stopped) => stopped == whose,
        StopScope::All => true,
    }
}
