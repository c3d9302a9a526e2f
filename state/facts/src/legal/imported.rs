//! When a flow may be recorded as imported: before anything of its own happened in it.

use super::Illegal;
use super::flow::in_phase;
use super::session::known;
use crate::fact::imported::{FeedImported, FlowImported, SessionImported};
use crate::fact::session::SessionState;
use crate::view::FlowState;
use crate::view::flow::FlowPhase;

/// Its state is recorded once, for a flow in which nothing has happened, and only with names of its
/// graph.
pub(super) fn flow(state: &FlowState, f: &FlowImported) -> Result<(), Illegal> {
    in_phase(state, FlowPhase::Forward)?;
    let begun = !state.visited.is_empty() || !state.sessions.is_empty() || state.next_turn > 1;
    if state.imported.is_some() || begun {
        return Err(Illegal::AlreadyCreated);
    }
    let nodes = f.visited.iter().chain(&f.awaiting_handoff);
    for node in nodes {
        super::node::node(state, node)?;
    }
    let received = f.received.iter().map(|delivery| &delivery.edge);
    for edge in f.completed.iter().chain(received) {
        if state.graph.edge(edge).is_none() {
            return Err(Illegal::UnknownEdge { edge: edge.clone() });
        }
    }
    Ok(())
}

fn of_imported(state: &FlowState) -> Result<(), Illegal> {
    if state.imported.is_none() {
        return Err(Illegal::Nothing {
            what: "importing into a flow that was not imported",
        });
    }
    Ok(())
}

/// A session is imported before it is used; with its history it is whole.
pub(super) fn session(state: &FlowState, f: &SessionImported) -> Result<(), Illegal> {
    of_imported(state)?;
    let session = known(state, &f.role)?;
    if session.state != SessionState::Created {
        return Err(Illegal::Session {
            role: f.role.clone(),
            why: "it was used already",
        });
    }
    Ok(())
}

pub(super) fn feed(state: &FlowState, _: &FeedImported) -> Result<(), Illegal> {
    of_imported(state)
}
