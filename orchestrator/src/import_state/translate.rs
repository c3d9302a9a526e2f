//! The files of a flow as facts: its state, and what was open.

use a_society_facts::fact::flow::FlowCreated;
use a_society_facts::fact::imported::{FlowImported, ImportedFile, PassedAlong};
use a_society_facts::fact::operator::{ConsentMode, ConsentModeChanged, Grant, GrantAdded};
use a_society_facts::handoff::{Delivery, EdgeName, HandoffWay};
use a_society_facts::id::{FlowId, NodeId};
use a_society_facts::message::Text;
use a_society_facts::{At, Fact};
use a_society_flow::machine::outline;
use a_society_state::disk::Disk;

use super::names::Names;
use super::sketch::ImportSketch;
use super::source::ForeignFlow;
use super::version11::STATE_VERSION;
use super::{choices, improve, open, sessions};
use crate::config::models::Catalog;
use crate::run::usual_tokens;

/// The name of a graph that its owner has still to write.
const DRAFT_NAME: &str = "Draft Owner Intake";

/// Says the whole flow in facts; `without_place` is what is known to be shown by no view.
///
/// # Errors
/// Describes the contradictions that no flow can have.
pub(super) fn translate(
    disk: &dyn Disk,
    source: &ForeignFlow,
    catalog: &Catalog,
    sketch: &mut ImportSketch<'_>,
    without_place: Vec<String>,
) -> Result<Names, String> {
    let mut names = Names::of(source);
    created(sketch, source)?;
    imported(sketch, disk, source, &mut names, without_place)?;
    consent(sketch, source)?;
    choices::import(sketch, source, catalog);
    improve::close(sketch, source)?;
    let mut at_work = match improve::reached(source) {
        improve::ForeignProgress::Forward => open::at_work(source),
        improve::ForeignProgress::Choice
        | improve::ForeignProgress::Improving
        | improve::ForeignProgress::FeedbackConsent
        | improve::ForeignProgress::Feedback => improve::at_work(source),
        improve::ForeignProgress::Completed => sessions::AtWork::new(),
    };
    at_work.retain(|role, _| source.sessions.contains_key(role));
    let tails = sessions::import(sketch, source, &at_work)?;
    if improve::reached(source) == improve::ForeignProgress::Forward {
        open::import(sketch, disk, source, &mut names, &tails);
    }
    improve::import(sketch, disk, source, &mut names, &tails)?;
    sessions::feeds(sketch, source)?;
    Ok(names)
}

fn created(sketch: &mut ImportSketch<'_>, source: &ForeignFlow) -> Result<(), String> {
    let graph = &source.graph.graph;
    let text: Text = sketch.text(source.graph.source.clone());
    let created = Fact::FlowCreated(FlowCreated {
        ends: a_society_facts::fact::flow::Ends::default(),
        project: source.flow.project.clone(),
        title: graph.name().to_owned(),
        input: None,
        graph: outline(graph, text),
        origin: Some(format!("state version {STATE_VERSION}")),
        draft: graph.name() == DRAFT_NAME && graph.nodes().len() == 1,
        tokens: usual_tokens(),
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    });
    match moment(&source.flow.flow) {
        Some(at) => sketch.say_at(at, created),
        None => sketch.say(created),
    }
}

/// The moment in a flow's name, at which it was made.
fn moment(flow: &FlowId) -> Option<At> {
    let name = flow.as_str();
    let part = |from: usize, to: usize| name.get(from..to);
    let (date, time) = (part(0, 8)?, part(9, 18)?);
    let text = format!(
        "{}-{}-{}T{}:{}:{}.{}Z",
        date.get(0..4)?,
        date.get(4..6)?,
        date.get(6..8)?,
        time.get(0..2)?,
        time.get(2..4)?,
        time.get(4..6)?,
        time.get(6..9)?
    );
    text.parse().ok()
}

/// The edge that a key such as `a=>b` names, and which way along it work went.
fn along(source: &ForeignFlow, key: &str) -> Option<(EdgeName, HandoffWay)> {
    let (from, to) = key.split_once("=>")?;
    let (from, to): (NodeId, NodeId) = (from.parse().ok()?, to.parse().ok()?);
    let graph = &source.graph.graph;
    let there = EdgeName {
        from: from.clone(),
        to: to.clone(),
    };
    if graph.edge(&there).is_some() {
        return Some((there, HandoffWay::Forward));
    }
    let back = EdgeName { from: to, to: from };
    graph
        .edge(&back)
        .is_some()
        .then_some((back, HandoffWay::Backward))
}

/// The artifacts that wait for nodes.
fn received(
    sketch: &mut ImportSketch<'_>,
    disk: &dyn Disk,
    source: &ForeignFlow,
    names: &mut Names,
) -> Vec<Delivery> {
    let mut received = Vec::new();
    for (key, paths) in &source.run.receiving_handoff {
        let Some((edge, way)) = along(source, key) else {
            continue;
        };
        for path in paths {
            received.push(Delivery {
                edge: edge.clone(),
                way,
                artifact: names.artifact(disk, sketch, path),
            });
        }
    }
    received
}

fn imported(
    sketch: &mut ImportSketch<'_>,
    disk: &dyn Disk,
    source: &ForeignFlow,
    names: &mut Names,
    without_place: Vec<String>,
) -> Result<(), String> {
    let run = &source.run;
    let files = source.files.iter();
    let files = files.map(|file| ImportedFile {
        path: file.path.clone(),
        blob: sketch.keep(file.bytes.clone()),
        bytes: file.bytes.len() as u64,
    });
    let files: Vec<ImportedFile> = files.collect();
    let in_graph = |node: &String| {
        let node: NodeId = node.parse().ok()?;
        source.graph.graph.has_node(&node).then_some(node)
    };
    let mut visited: Vec<NodeId> = run.visited_node_ids.iter().filter_map(in_graph).collect();
    // Nodes that ran or waited had been entered.
    let open = run
        .running_nodes
        .iter()
        .chain(run.awaiting_human_nodes.keys());
    for node in open.filter_map(in_graph) {
        if !visited.contains(&node) {
            visited.push(node);
        }
    }
    let completed = run.completed_handoffs.iter();
    let completed = completed
        .filter_map(|key| along(source, key))
        .filter(|(_, way)| *way == HandoffWay::Forward)
        .map(|(edge, _)| edge)
        .collect();
    let mut passed = Vec::new();
    for (key, paths) in &run.history_handoff {
        if let Some((edge, way)) = along(source, key) {
            let paths: Vec<String> = paths.iter().map(|path| names.here(path)).collect();
            let files = paths.iter();
            let files = files.filter_map(|path| names.file(disk, sketch, way, path));
            let files = files.collect();
            passed.push(PassedAlong { edge, paths, files });
        }
    }
    let received = received(sketch, disk, source, names);
    let awaiting_handoff = run.awaiting_handoff.iter().filter_map(in_graph).collect();
    sketch.say(Fact::FlowImported(FlowImported {
        state_version: STATE_VERSION.to_owned(),
        files,
        without_place,
        visited,
        completed,
        passed,
        received,
        awaiting_handoff,
        ailments: source.ailments.clone(),
    }))
}

fn consent(sketch: &mut ImportSketch<'_>, source: &ForeignFlow) -> Result<(), String> {
    let Some(consent) = &source.run.consent_state else {
        return Ok(());
    };
    let mode = consent.mode.unwrap_or_default();
    if mode != ConsentMode::NoAccess {
        sketch.say(Fact::ConsentModeChanged(ConsentModeChanged {
            mode,
            client: None,
        }))?;
    }
    let mut grants = Vec::new();
    if mode == ConsentMode::PartialAccess {
        // In that mode edits were not asked about.
        grants.push(Grant::Edits);
    }
    let commands = consent.bash.allowed_commands.values();
    grants.extend(commands.map(|allowed| Grant::Command(allowed.command.clone())));
    for grant in grants {
        if !sketch.state.grants.contains(&grant) {
            sketch.say(Fact::GrantAdded(GrantAdded { grant }))?;
        }
    }
    Ok(())
}
