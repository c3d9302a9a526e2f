//! A flow's line in the list of all flows.

use a_society_facts::At;
use a_society_facts::view::FlowSummary;
use a_society_facts::view::flow::{FlowState, HeldRequest};
use a_society_facts::view::standing::FlowStanding;
use a_society_facts::words::calls::failure;

use super::words;
use crate::protocol::row::{AbsentServer, Again, Doing, DrivenBy, FlowRef, FlowRow, Parent};

/// The line of a flow that was folded.
#[must_use]
pub(crate) fn row(flow: &FlowRef, state: &FlowState, driven_by: Option<DrivenBy>) -> FlowRow {
    let summary = FlowSummary::of(state);
    let mut row = short_row(flow, &summary, driven_by);
    row.phase = words::phase(state.phase);
    row.workflow = Some(state.graph.name.clone()).filter(|name| !name.is_empty());
    row.nodes = state.graph.nodes.len() as u64;
    let done = state
        .graph
        .nodes
        .iter()
        .filter(|node| state.is_done(&node.id));
    row.nodes_done = done.count() as u64;
    let roles: std::collections::BTreeSet<_> =
        state.graph.nodes.iter().map(|node| &node.role).collect();
    row.roles = roles.len() as u64;
    if !row.over {
        row.absent = absent(state);
    }
    row.parent = state.parent.as_ref().map(|parent| Parent {
        flow: parent.flow.to_string(),
        at_seq: parent.at_seq,
    });
    row
}

fn absent(state: &FlowState) -> Vec<AbsentServer> {
    let each = state.absent_servers.iter();
    let each = each.flat_map(|(role, servers)| {
        servers.iter().map(|(server, why)| AbsentServer {
            role: role.to_string(),
            server: server.clone(),
            why: why.clone(),
        })
    });
    each.collect()
}

/// The line of a flow of which only the summary is known.
#[must_use]
pub(crate) fn short_row(
    flow: &FlowRef,
    summary: &FlowSummary,
    driven_by: Option<DrivenBy>,
) -> FlowRow {
    let over = summary.is_over();
    let standing = FlowStanding::of(summary, driven_by.is_some());
    let why = summary.retry_class.as_deref().and_then(failure);
    FlowRow {
        project: flow.project.clone(),
        flow: flow.flow.clone(),
        title: summary.title.clone(),
        status: summary.status_word().to_owned(),
        phase: crate::protocol::row::Phase::Forward,
        waits: if over {
            0
        } else {
            (summary.waits.iter())
                .filter(|wait| wait.is_asked())
                .count() as u64
        },
        running: summary.running as u64,
        nodes_done: 0,
        nodes: 0,
        roles: 0,
        created_at: words::maybe_at(summary.created_at),
        updated_at: words::maybe_at(summary.updated_at),
        seq: summary.seq,
        tokens: summary.tokens,
        cost_micros: summary.cost_micros,
        parent: None,
        damage: summary.damage.clone(),
        harm: None,
        driven_by,
        over,
        stopped: !over
            && driven_by.is_none()
            && !matches!(standing, FlowStanding::YourTurn | FlowStanding::Closed),
        standing: doing(standing),
        again: (goes_on(standing))
            .map(|again| because(again, why))
            .map(|again| held(again, summary.held.as_ref())),
        chat: summary.is_chat,
        workflow: None,
        absent: Vec::new(),
    }
}

const fn doing(standing: FlowStanding) -> Doing {
    match standing {
        FlowStanding::Working => Doing::Working,
        FlowStanding::Retrying(_) => Doing::Retrying,
        FlowStanding::Limited(_) => Doing::Limited,
        FlowStanding::Compacting => Doing::Compacting,
        FlowStanding::Waiting => Doing::Waiting,
        FlowStanding::YourTurn => Doing::YourTurn,
        FlowStanding::Closed => Doing::Closed,
        FlowStanding::Paused => Doing::Paused,
        FlowStanding::Stopped => Doing::Stopped,
        FlowStanding::Damaged => Doing::Damaged,
        FlowStanding::Unreachable => Doing::Unreachable,
        FlowStanding::Completed => Doing::Completed,
        FlowStanding::Cancelled => Doing::Cancelled,
    }
}

/// When a flow goes on by itself, if it waits for that.
fn goes_on(standing: FlowStanding) -> Option<Again> {
    match standing {
        FlowStanding::Retrying(at) => Some(again(at, false)),
        FlowStanding::Limited(at) => Some(again(at, true)),
        FlowStanding::Working
        | FlowStanding::Compacting
        | FlowStanding::Waiting
        | FlowStanding::YourTurn
        | FlowStanding::Closed
        | FlowStanding::Paused
        | FlowStanding::Stopped
        | FlowStanding::Damaged
        | FlowStanding::Unreachable
        | FlowStanding::Completed
        | FlowStanding::Cancelled => None,
    }
}

/// What goes on by itself at a moment.
pub(super) fn again(at: At, limit: bool) -> Again {
    Again {
        at: words::at(at),
        limit,
        held_by: None,
        failing: false,
        why: None,
    }
}

/// The same, with why a request failed that is sent again.
pub(super) fn because(again: Again, why: Option<&str>) -> Again {
    let why = why.filter(|_| !again.limit).map(str::to_owned);
    Again { why, ..again }
}

/// The same, with the provider that lets a request wait.
pub(super) fn held(again: Again, by: Option<&HeldRequest>) -> Again {
    match by {
        Some(held) if !again.limit => Again {
            held_by: Some(held.provider.clone()),
            failing: held.failing,
            why: None,
            ..again
        },
        Some(_) | None => again,
    }
}
