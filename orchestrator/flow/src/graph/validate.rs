//! From a draft to a sound graph: ids, edges, cycles, the start and the closing node.
//!
//! A fault is reported only when it is certain. An edge that leads nowhere may be the missing
//! inbound edge of a node, for example, so that such a node is not called a second start.

use std::collections::{BTreeMap, BTreeSet};

use a_society_yaml::Span;

use super::diagnostic::{Code, Diagnostic, DiagnosticSink, quoted};
use super::limits::MAX_NAMES_SHOWN;
use super::model::{Edge, FlowGraph, GraphNode, NodeIndex};
use super::order;
use super::parse::{DraftEdge, DraftNode, GraphDraft, WrittenName};

/// Turns a draft into a graph if nothing at all has been reported.
pub(super) fn validate(sink: &mut DiagnosticSink<'_>, draft: GraphDraft) -> Option<FlowGraph> {
    let nodes = draft.nodes?;
    let places = index_ids(sink, &nodes);
    let drafts = draft.edges?;
    let edges = Edges::resolve(sink, &drafts, &places);
    let has_cycle = report_cycles(sink, &nodes, &drafts, &edges);
    let known: BTreeSet<usize> = places.values().copied().collect();
    let start = find_start(sink, &nodes, &known, &edges);
    let closing =
        start.and_then(|start| find_closing(sink, &nodes, &known, &edges, start, has_cycle));
    let (start, closing) = (NodeIndex::at(start?), NodeIndex::at(closing?));
    if sink.errors() > 0 {
        return None;
    }
    let nodes: Option<Vec<GraphNode>> = nodes.into_iter().map(finished_node).collect();
    let edges = edges.joined.iter().map(|(from, to, place)| Edge {
        from: NodeIndex::at(*from),
        to: NodeIndex::at(*to),
        optional: drafts[*place].optional,
    });
    Some(FlowGraph::assemble(
        draft.name?,
        draft.summary,
        nodes?,
        edges.collect(),
        start,
        closing,
    ))
}

/// A graph made by a program instead of a file, under the same rules. Its diagnostics have no
/// places.
pub fn build(
    name: &str,
    summary: Option<&str>,
    nodes: Vec<GraphNode>,
    edges: &[(&str, &str, bool)],
) -> Result<FlowGraph, Vec<Diagnostic>> {
    let mut sink = DiagnosticSink::new("", "");
    let span = Span::default();
    let nodes: Vec<DraftNode> = nodes.into_iter().map(drafted_node).collect();
    let edges = edges.iter().map(|(from, to, optional)| DraftEdge {
        span,
        from: Some(WrittenName {
            text: (*from).to_owned(),
            span,
        }),
        to: Some(WrittenName {
            text: (*to).to_owned(),
            span,
        }),
        optional: *optional,
    });
    if name.trim().is_empty() {
        sink.error(Code::Empty, span, "`name` is empty", None);
    }
    if nodes.is_empty() {
        sink.error(Code::Empty, span, "`nodes` is empty", None);
    }
    let draft = GraphDraft {
        name: Some(name.to_owned()),
        summary: summary.map(str::to_owned),
        nodes: Some(nodes),
        edges: Some(edges.collect()),
    };
    validate(&mut sink, draft).ok_or_else(|| sink.finish())
}

fn drafted_node(node: GraphNode) -> DraftNode {
    let span = Span::default();
    DraftNode {
        span,
        written_id: Some(WrittenName {
            text: node.id.as_str().to_owned(),
            span,
        }),
        id: Some(node.id),
        role: Some(node.role),
        role_span: span,
        work: node.work,
        required_readings: node.required_readings,
        human_colab: node.human_colab,
        await_all_inputs: node.await_all_inputs,
    }
}

fn finished_node(draft: DraftNode) -> Option<GraphNode> {
    Some(GraphNode {
        id: draft.id?,
        role: draft.role?,
        work: draft.work,
        required_readings: draft.required_readings,
        human_colab: draft.human_colab,
        await_all_inputs: draft.await_all_inputs,
    })
}

/// How a message says where something else in the file is.
fn in_line(span: Span) -> String {
    if span.line == 0 {
        String::new()
    } else {
        format!(" (line {})", span.line)
    }
}

/// The written id of a node, for messages.
fn shown(node: &DraftNode) -> String {
    node.written_id
        .as_ref()
        .map_or_else(|| "a node".to_owned(), |id| quoted(&id.text))
}

/// A list of nodes, for messages; long lists are cut.
fn shown_all<'n>(nodes: impl ExactSizeIterator<Item = &'n DraftNode>, joint: &str) -> String {
    let count = nodes.len();
    let mut names: Vec<String> = nodes.take(MAX_NAMES_SHOWN).map(shown).collect();
    if count > MAX_NAMES_SHOWN {
        names.push(format!("… ({} more)", count - MAX_NAMES_SHOWN));
    }
    names.join(joint)
}

/// Finds the first node of every id, and reports the others.
fn index_ids<'n>(
    sink: &mut DiagnosticSink<'_>,
    nodes: &'n [DraftNode],
) -> BTreeMap<&'n str, usize> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, node) in nodes.iter().enumerate() {
        let Some(id) = &node.written_id else { continue };
        let first = *places.entry(id.text.as_str()).or_insert(place);
        if first != place {
            let message = format!("there is another node {}", quoted(&id.text));
            let hint = nodes[first]
                .written_id
                .as_ref()
                .filter(|first| first.span.line > 0)
                .map(|first| format!("the first one is in line {}", first.span.line));
            sink.error(Code::DuplicateNode, id.span, message, hint);
        }
    }
    places
}

/// The edges of a draft that join two different nodes in a direction of their own.
#[derive(Debug, Default)]
struct Edges {
    /// From, to, and the place in the file's list.
    joined: Vec<(usize, usize, usize)>,
    /// Edges whose `from` is not known: each may be the outgoing edge of any node.
    without_from: usize,
    /// Edges whose `to` is not known: each may be the inbound edge of any node.
    without_to: usize,
    /// Nodes that an edge leaves, whether or not it is known where to.
    is_left: BTreeSet<usize>,
    is_entered: BTreeSet<usize>,
}

impl Edges {
    fn resolve(
        sink: &mut DiagnosticSink<'_>,
        drafts: &[DraftEdge],
        places: &BTreeMap<&str, usize>,
    ) -> Self {
        let mut edges = Self::default();
        let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (place, draft) in drafts.iter().enumerate() {
            let from = find_end(sink, draft.from.as_ref(), "from", places);
            let to = find_end(sink, draft.to.as_ref(), "to", places);
            edges.without_from += usize::from(from.is_none());
            edges.without_to += usize::from(to.is_none());
            let is_good = match (from, to) {
                (Some(from), Some(to)) => is_new_edge(sink, drafts, &mut known, from, to, place),
                (Some(_), None) | (None, Some(_)) | (None, None) => true,
            };
            if !is_good {
                continue;
            }
            edges.is_left.extend(from);
            edges.is_entered.extend(to);
            if let (Some(from), Some(to)) = (from, to) {
                edges.joined.push((from, to, place));
            }
        }
        edges
    }
}

fn find_end(
    sink: &mut DiagnosticSink<'_>,
    end: Option<&WrittenName>,
    key: &str,
    places: &BTreeMap<&str, usize>,
) -> Option<usize> {
    let end = end?;
    let found = places.get(end.text.as_str()).copied();
    if found.is_none() {
        let message = format!("`{key}` names {}, which is not a node", quoted(&end.text));
        let hint = sink.nearest.did_you_mean(&end.text, places.keys().copied());
        sink.error(Code::UnknownNode, end.span, message, hint);
    }
    found
}

/// Whether an edge differs from all edges before it.
fn is_new_edge(
    sink: &mut DiagnosticSink<'_>,
    drafts: &[DraftEdge],
    known: &mut BTreeMap<(usize, usize), usize>,
    from: usize,
    to: usize,
    place: usize,
) -> bool {
    let draft = &drafts[place];
    let (from_name, to_name) = match (&draft.from, &draft.to) {
        (Some(from), Some(to)) => (from.text.as_str(), to.text.as_str()),
        (Some(_), None) | (None, Some(_)) | (None, None) => return false,
    };
    if from == to {
        let message = format!("the edge leads from {} to itself", quoted(from_name));
        let hint = "a role goes on by itself until it hands over; no edge is needed".to_owned();
        sink.error(Code::SelfEdge, draft.span, message, Some(hint));
        return false;
    }
    if let Some(first) = known.get(&(from, to)) {
        let message = format!("there is another edge `{from_name}` → `{to_name}`");
        let first = drafts[*first].span;
        let hint = (first.line > 0).then(|| format!("the first one is in line {}", first.line));
        sink.error(Code::DuplicateEdge, draft.span, message, hint);
        return false;
    }
    if let Some(forward) = known.get(&(to, from)) {
        let forward = in_line(drafts[*forward].span);
        let message = format!(
            "the edge `{from_name}` → `{to_name}` is the reverse of `{to_name}` → `{from_name}`{forward}"
        );
        let hint = format!(
            "remove it: `{from_name}` may already hand work back to `{to_name}`, as along every forward edge"
        );
        sink.error(Code::ReverseEdge, draft.span, message, Some(hint));
        return false;
    }
    known.insert((from, to), place);
    true
}

fn report_cycles(
    sink: &mut DiagnosticSink<'_>,
    nodes: &[DraftNode],
    drafts: &[DraftEdge],
    edges: &Edges,
) -> bool {
    let joined = edges.joined.iter().map(|(from, to, _)| (*from, *to));
    let cycles = order::cycles(&order::neighbours(nodes.len(), joined));
    if cycles.is_empty() {
        return false;
    }
    let place_of: BTreeMap<(usize, usize), usize> = edges
        .joined
        .iter()
        .map(|(from, to, place)| ((*from, *to), *place))
        .collect();
    for cycle in &cycles {
        let (Some(first), Some(last)) = (cycle.first(), cycle.last()) else {
            continue;
        };
        let names = shown_all(cycle.iter().map(|node| &nodes[*node]), " → ");
        let message = format!("edges form a cycle: {names} → {}", shown(&nodes[*first]));
        let hint = format!(
            "forward edges lead from the start to the end only; if {} → {} is meant to return work, remove it and hand back along the forward edges",
            shown(&nodes[*last]),
            shown(&nodes[*first]),
        );
        let span = place_of
            .get(&(*last, *first))
            .map_or(nodes[*first].span, |place| drafts[*place].span);
        sink.error(Code::Cycle, span, message, Some(hint));
    }
    true
}

/// The only node without inbound edges, if it is certain which one that is.
///
/// Only `known` nodes count: a node without an id, or with another one's, has its own fault.
fn find_start(
    sink: &mut DiagnosticSink<'_>,
    nodes: &[DraftNode],
    known: &BTreeSet<usize>,
    edges: &Edges,
) -> Option<usize> {
    let starts: Vec<usize> = known
        .iter()
        .copied()
        .filter(|node| !edges.is_entered.contains(node))
        .collect();
    if starts.len() >= 2 + edges.without_to {
        let names = shown_all(starts.iter().map(|node| &nodes[*node]), ", ");
        let message = format!("a flow starts at one node, and these have no inbound edge: {names}");
        let second = &nodes[starts[1]];
        let hint = format!("add an edge to {}, or remove the node", shown(second));
        sink.error(Code::SeveralStarts, second.span, message, Some(hint));
    }
    match starts.as_slice() {
        [start] => Some(*start),
        _ => None,
    }
}

/// The only node of the owner's role without outgoing edges, if it is certain which one that is.
fn find_closing(
    sink: &mut DiagnosticSink<'_>,
    nodes: &[DraftNode],
    known: &BTreeSet<usize>,
    edges: &Edges,
    start: usize,
    has_cycle: bool,
) -> Option<usize> {
    let owner = nodes[start].role.as_ref()?;
    let leaves: Vec<usize> = known
        .iter()
        .copied()
        .filter(|node| !edges.is_left.contains(node))
        .collect();
    let is_owners = |node: &&usize| nodes[**node].role.as_ref() == Some(owner);
    let closing: Vec<usize> = leaves.iter().filter(is_owners).copied().collect();
    if closing.len() >= 2 + edges.without_from {
        let names = shown_all(closing.iter().map(|node| &nodes[*node]), ", ");
        let message = format!(
            "a flow closes at one node of its owner `{owner}`, and these have no outgoing edge: {names}"
        );
        let second = &nodes[closing[1]];
        let hint = format!(
            "add an edge from {}, or give it another role",
            shown(second)
        );
        sink.error(Code::SeveralClosingNodes, second.span, message, Some(hint));
    }
    // A node that could not be read may be the owner's, and a cycle may hide the end.
    let is_certain =
        !has_cycle && known.len() == nodes.len() && nodes.iter().all(|node| node.role.is_some());
    if closing.is_empty() && is_certain {
        report_no_closing(sink, nodes, &leaves, start);
    }
    match closing.as_slice() {
        [closing] => Some(*closing),
        _ => None,
    }
}

fn report_no_closing(
    sink: &mut DiagnosticSink<'_>,
    nodes: &[DraftNode],
    leaves: &[usize],
    start: usize,
) {
    let Some(owner) = &nodes[start].role else {
        return;
    };
    let leaf = leaves.first().map_or(&nodes[start], |leaf| &nodes[*leaf]);
    let message = format!(
        "the flow belongs to `{owner}`, the role of its start node, and no node of `{owner}` is without outgoing edges to close it"
    );
    let is_sibling = leaf
        .role
        .as_ref()
        .is_some_and(|role| role.base() == owner.base());
    let hint = if is_sibling {
        format!(
            "{} would close the flow if its role were `{owner}`",
            shown(leaf)
        )
    } else {
        format!(
            "add a last node of `{owner}` and an edge to it from {}",
            shown(leaf)
        )
    };
    sink.error(Code::NoClosingNode, leaf.role_span, message, Some(hint));
}
