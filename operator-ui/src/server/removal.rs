//! What the removal of a flow would be, and removing it: the same as in a terminal.

use a_society_state::FlowRef;
use a_society_state::removal::{self, NotRemoved, Stays};

use super::app::Shared;
use super::blocking::unread;
use crate::fold::words;
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;
use crate::protocol::workspace::{Removal, RemovalFork, RemovalPart, Remove};

/// What would go.
pub(super) fn plan(app: &Shared, flow: &FlowRef) -> Result<Removal, Fault> {
    let plan = removal::plan(&app.hubs.store, flow).map_err(|error| unread(&error))?;
    Ok(on_wire(app, flow, plan))
}

/// Removes a flow as its plan was read, and lets all who follow it know.
pub(super) fn remove(app: &Shared, flow: &FlowRef, seen: &Remove) -> Result<Removal, Fault> {
    if app.hubs.handle(flow).is_some() {
        return Err(stays(app, flow, &Stays::Held("this server".to_owned())));
    }
    let removed = removal::remove(&app.hubs.store, flow, seen.seq);
    let removed = removed.map_err(|error| match error {
        NotRemoved::Stays(why) => stays(app, flow, &why),
        NotRemoved::WentOn { .. } => Fault {
            code: "not-removed".to_owned(),
            what: "the flow was not removed".to_owned(),
            why: error.to_string(),
            r#try: "look at it again".to_owned(),
        },
        NotRemoved::State(error) => unread(&error),
    })?;
    app.hubs.leaves(flow);
    Ok(on_wire(app, flow, removed))
}

fn on_wire(app: &Shared, flow: &FlowRef, plan: removal::Removal) -> Removal {
    let (files, bytes) = (plan.files(), plan.bytes());
    let workspace = app.hubs.store.root().parent().and_then(|our| our.parent());
    let within = workspace.and_then(|folder| plan.folder.strip_prefix(folder).ok());
    Removal {
        seq: plan.seq,
        title: plan.title,
        updated_at: plan.updated_at.map(words::at),
        folder: within.unwrap_or(&plan.folder).display().to_string(),
        files,
        bytes,
        parts: plan.parts.into_iter().map(part).collect(),
        forks: plan.forks.into_iter().map(fork).collect(),
        refused: plan.stays.map(|why| stays(app, flow, &why)),
    }
}

fn part(part: removal::Part) -> RemovalPart {
    RemovalPart {
        name: part.name,
        files: part.files,
        bytes: part.bytes,
    }
}

fn fork(fork: removal::Fork) -> RemovalFork {
    RemovalFork {
        flow: wire_ref(&fork.flow),
        title: fork.title,
    }
}

/// That a flow stays, why, and what would let it go.
fn stays(app: &Shared, flow: &FlowRef, why: &Stays) -> Fault {
    let ours = app.hubs.handle(flow).is_some();
    let (why, hint) = match why {
        Stays::Held(_) if ours => (
            "this server drives it, and it is not over".to_owned(),
            "wait until it is done, or cancel it",
        ),
        Stays::Held(_) => (
            why.to_string(),
            "end that process, or wait until it is done",
        ),
        Stays::NotOver => (why.to_string(), "cancel it first"),
        Stays::Damaged(_) => (why.to_string(), "a-society repair FLOW"),
        Stays::Foreign => (why.to_string(), "a-society import-state"),
    };
    Fault {
        code: "not-removed".to_owned(),
        what: "the flow stays".to_owned(),
        why,
        r#try: hint.to_owned(),
    }
}
