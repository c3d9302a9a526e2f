//! `session exists`, `length`, `snapshot` and `tree`: looking at a session without changing anything.

use a_society_facts::fact::session::SessionState;
use a_society_facts::id::{FlowId, RoleInstance};
use a_society_facts::view::Views;
use a_society_facts::view::session::{SessionView, Texts};
use a_society_orchestrator::sessions::key::SessionAddress;
use a_society_state::index::{Row, rows};
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::context::Context;
use super::nesting::{NestedRow, nested, parent};
use super::session::{no_session, sessions};
use super::session_ref::{SessionNamed, flow_of};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::text::plain;

/// The arguments of `session exists`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
exists prints true or false, and ends with exit code 0 or 3. A chat that was closed does not exist \
until it is opened again. A name that fits several flows is an error all the same.

Examples:
  a-society session exists c3d4 && echo 'go on'
  a-society session exists a1b2 writer --json | jq .exists")]
pub(crate) struct ExistsArguments {
    #[command(flatten)]
    of: SessionNamed,
}

/// The arguments of `session length`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
length prints how many messages the session holds now. Those in archives do not count.

Examples:
  a-society session length c3d4
  a-society session length a1b2 writer --json | jq .length")]
pub(crate) struct LengthArguments {
    #[command(flatten)]
    of: SessionNamed,
}

/// The arguments of `session snapshot`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
snapshot prints the session as JSON, with its messages, its archives, and the flows that it comes \
from and that come from it. If there is no such session it prints null, with exit code 3. A chat \
that was closed is printed, too.

Examples:
  a-society session snapshot c3d4 | jq '.transcriptHistory | length'
  a-society session snapshot a1b2 writer | jq .children")]
pub(crate) struct SnapshotArguments {
    #[command(flatten)]
    of: SessionNamed,
}

/// The arguments of `session tree`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
tree prints the first flow or chat that this one comes from, and below it everything that was \
forked from there, with the record at which each fork begins.

Examples:
  a-society session tree c3d4
  a-society session tree c3d4 --json | jq -r .root")]
pub(crate) struct TreeArguments {
    /// The flow or chat, or the key, id or label of its session; a beginning is enough
    #[arg(value_name = "REF")]
    of: String,
}

/// A session that is there.
struct SessionFound {
    store: Store,
    flow: FlowRef,
    role: RoleInstance,
    views: Views,
}

/// The session that is meant.
fn found(context: &mut Context<'_>, of: &SessionNamed) -> Result<SessionFound, Stop> {
    let (store, SessionAddress { flow, role }) = of.found(context)?;
    let views = sessions(&store, &flow)?;
    // A chat has a session even before its first message.
    let node = views.flow.graph.nodes.first();
    let mut node = node.filter(|_| views.flow.chat.is_some()).into_iter();
    if views.session(&role).is_none() && !node.any(|node| node.role == role) {
        return Err(no_session(&role, &views));
    }
    Ok(SessionFound {
        store,
        flow,
        role,
        views,
    })
}

/// The same, where a session that is not there is no error.
fn perhaps(context: &mut Context<'_>, of: &SessionNamed) -> Result<Option<SessionFound>, Stop> {
    match found(context, of) {
        Ok(found) => Ok(Some(found)),
        Err(Stop::Error(error)) if matches!(error.code, "flow-not-found" | "no-session") => {
            Ok(None)
        }
        Err(stop) => Err(stop),
    }
}

/// Prints whether a session is there.
pub(crate) fn exists(context: &mut Context<'_>, arguments: &ExistsArguments) -> Outcome {
    let found = perhaps(context, &arguments.of)?;
    let exists = found.is_some_and(|found| {
        let session = found.views.session(&found.role);
        session.is_none_or(|session| session.state != SessionState::Expired)
    });
    if context.out.is_json() {
        context.out.value(&json!({ "exists": exists }))?;
    } else {
        context.out.line(&exists.to_string())?;
    }
    Ok(if exists {
        ExitCode::Ok
    } else {
        ExitCode::NotFound
    })
}

/// Prints how many messages a session holds.
pub(crate) fn length(context: &mut Context<'_>, arguments: &LengthArguments) -> Outcome {
    let found = found(context, &arguments.of)?;
    let session = found.views.session(&found.role);
    let length = session.map_or(0, |session| session.messages.len());
    if context.out.is_json() {
        let (project, flow, role) = (&found.flow.project, &found.flow.flow, &found.role);
        let value = json!({ "project": project, "flow": flow, "role": role, "length": length });
        context.out.value(&value)?;
    } else {
        context.out.line(&length.to_string())?;
    }
    Ok(ExitCode::Ok)
}

/// Prints a session with what it comes from and what comes from it.
pub(crate) fn snapshot(context: &mut Context<'_>, arguments: &SnapshotArguments) -> Outcome {
    let Some(found) = perhaps(context, &arguments.of)? else {
        context.out.value(&Value::Null)?;
        return Ok(ExitCode::NotFound);
    };
    let SessionFound {
        store,
        flow,
        role,
        views,
    } = found;
    let mut bytes = Vec::new();
    let empty = SessionView::new(role.clone(), Some(flow.flow.clone()));
    let session = views.session(&role).unwrap_or(&empty);
    let place = store.place(&flow);
    session.write_json(&mut bytes, Texts(&|hash| place.text_of(hash)));
    let mut value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let kin = FlowKin::of(&store, &flow)?;
    if let Some(map) = value.as_object_mut() {
        map.insert("project".into(), json!(flow.project));
        map.insert("flow".into(), json!(flow.flow));
        map.insert("forkedFrom".into(), json!(kin.parent()));
        map.insert("children".into(), json!(kin.children()));
        map.insert("root".into(), json!(kin.root));
    }
    context.out.value(&value)?;
    Ok(ExitCode::Ok)
}

/// A flow, what it comes from, and everything that comes from that.
struct FlowKin {
    flow: FlowId,
    root: FlowId,
    all: Vec<NestedRow>,
}

impl FlowKin {
    fn of(store: &Store, flow: &FlowRef) -> Result<Self, Stop> {
        let mut flows = store.census()?.flows;
        flows.retain(|other| other.project == flow.project);
        flows.sort_by(|one, other| one.flow.cmp(&other.flow));
        let placed = nested(rows(store, &flows));
        let at = placed.iter().position(|one| one.row.flow.flow == flow.flow);
        let at = at.unwrap_or_default();
        let root = placed.iter().take(at + 1).rposition(|one| one.depth == 0);
        let all: Vec<NestedRow> = placed.into_iter().skip(root.unwrap_or(at)).collect();
        let more = all.iter().skip(1).position(|one| one.depth == 0);
        let length = more.map_or(all.len(), |more| more + 1);
        let all: Vec<NestedRow> = all.into_iter().take(length).collect();
        let root = all.first().map_or(&flow.flow, |first| &first.row.flow.flow);
        Ok(Self {
            flow: flow.flow.clone(),
            root: root.clone(),
            all,
        })
    }

    fn parent(&self) -> Option<&FlowId> {
        let mut all = self.all.iter();
        parent(&all.find(|one| one.row.flow.flow == self.flow)?.row)
    }

    fn children(&self) -> Vec<&FlowId> {
        let ours = |row: &&Row| parent(row) == Some(&self.flow);
        let rows = self.all.iter().map(|one| &one.row);
        rows.filter(ours).map(|row| &row.flow.flow).collect()
    }
}

/// The record of its parent at which a fork begins.
fn begins_at(row: &Row) -> Option<u64> {
    let parentage = row.summary.as_ref()?.parent.as_ref()?;
    Some(parentage.at_seq)
}

/// Prints the forks around a flow or a chat.
pub(crate) fn tree(context: &mut Context<'_>, arguments: &TreeArguments) -> Outcome {
    let (store, flow) = flow_of(context, &arguments.of)?;
    let kin = FlowKin::of(&store, &flow)?;
    if context.out.is_json() {
        let each = kin.all.iter().map(|one| {
            let summary = one.row.summary.as_ref();
            json!({
                "flow": one.row.flow.flow,
                "depth": one.depth,
                "parent": parent(&one.row),
                "at_seq": begins_at(&one.row),
                "title": summary.map(|summary| &summary.title),
            })
        });
        let each: Vec<Value> = each.collect();
        let (project, id) = (&flow.project, &flow.flow);
        let value = json!({ "project": project, "flow": id, "root": kin.root, "tree": each });
        context.out.value(&value)?;
        return Ok(ExitCode::Ok);
    }
    for one in &kin.all {
        let row = &one.row;
        let at = begins_at(row).map_or_else(String::new, |at| format!(" (from record {at})"));
        let here = if row.flow.flow == flow.flow { " *" } else { "" };
        let title = row.summary.as_ref().map_or("", |summary| &summary.title);
        let indent = "  ".repeat(one.depth);
        let line = format!("{indent}{}  {}{at}{here}", row.flow.flow, plain(title));
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}
