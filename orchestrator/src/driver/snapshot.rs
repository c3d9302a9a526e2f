//! A role writes the graph of its flow: the write counts if the flow may walk that graph from now on.
//!
//! The file is judged when the call that wrote it has ended and before that is recorded, so that a
//! crash in between judges it again. A graph that does not fit is refused with every reason, and
//! the file gets its earlier text back.

use a_society_facts::Fact;
use a_society_facts::fact::flow::FlowTitled;
use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::OpenCall;
use a_society_flow::machine::{Input, NewGraph, Revise, decide};
use a_society_roles::tool::requested_changes;
use a_society_state::atomic::replace;

use super::error::DriverError;
use super::pen::FlowPen;
use crate::project::draft::DRAFT_NAME;
use crate::project::flow_file::{FlowFile, SNAPSHOT_NAME};

/// Takes over the graph that a call wrote, if it wrote one. Says why it does not count, if it
/// does not.
pub(super) fn take_snapshot(
    pen: &mut FlowPen,
    call: &OpenCall,
    written: Option<Result<FlowFile, String>>,
) -> Result<Option<String>, DriverError> {
    let Some(written) = written else {
        return Ok(None);
    };
    let before = pen.flow.whole_text(&pen.state().graph.source)?;
    let why = match written {
        Ok(file) => walk_from_now_on(pen, &file, &call.role)?,
        Err(why) => Some(why),
    };
    let Some(why) = why else { return Ok(None) };
    let path = pen.places.record.join(SNAPSHOT_NAME);
    replace(pen.flow.disk(), &path, before.as_bytes())?;
    Ok(Some(format!(
        "This graph was refused, and {SNAPSHOT_NAME} says again what it said before:\n{why}"
    )))
}

/// Walks this graph from now on, unless the machine refuses.
fn walk_from_now_on(
    pen: &mut FlowPen,
    file: &FlowFile,
    by: &RoleInstance,
) -> Result<Option<String>, DriverError> {
    if let Some(why) = takes_operator_out(pen, file) {
        return Ok(Some(why));
    }
    let names_draft = pen.state().draft && pen.state().title == DRAFT_NAME;
    let graph = NewGraph {
        graph: Box::new(file.graph.clone()),
        source: pen.flow.keep_text(file.source.clone())?,
    };
    let by = by.clone();
    let input = Input::Revise(Revise { graph, by });
    if let Err(refusal) = decide(&pen.graph, pen.state(), input.clone()) {
        return Ok(Some(refusal.to_string()));
    }
    if names_draft {
        // The draft had no name of its own; now its work has one. It is recorded first, because a
        // flow that is no draft any more would not be named.
        let title = file.graph.name().to_owned();
        pen.append(Fact::FlowTitled(FlowTitled { title }))?;
    }
    pen.input(input)?;
    pen.roles.revised(file);
    pen.keep_records();
    Ok(None)
}

/// Which nodes the operator would not take part in any more; only the operator can want that.
fn takes_operator_out(pen: &FlowPen, file: &FlowFile) -> Option<String> {
    let nodes = pen.graph.nodes().iter();
    let gone: Vec<&str> = nodes
        .filter(|node| node.is_human_colab())
        .filter(|node| {
            let kept = file.graph.node(&node.id);
            !kept.is_some_and(|kept| kept.is_human_colab())
        })
        .map(|node| node.id.as_str())
        .collect();
    (!gone.is_empty()).then(|| {
        format!(
            "the operator takes part at {}; a role cannot take that away, so leave the node \
             there with `human-colab: true`",
            gone.join(", ")
        )
    })
}

/// Whether a call is about the graph's file, however its tool, its path and its members are spelled.
pub(super) fn names_snapshot(tool: &str, arguments: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct NamedPath {
        path: String,
    }
    let named: Result<NamedPath, _> = serde_json::from_str(arguments);
    let named = named.into_iter().map(|named| named.path);
    let changed = requested_changes(tool, arguments).into_iter();
    let mut paths = named.chain(changed.map(|change| change.path));
    paths.any(|path| path.contains(SNAPSHOT_NAME))
}
