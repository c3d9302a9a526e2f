//! What the facts need to know of a graph.

use a_society_facts::fact::flow::{EdgeOutline, NodeOutline, Outline};
use a_society_facts::message::Text;

use crate::graph::FlowGraph;

/// A graph and its file, as `flow_created` and `graph_revised` carry them.
#[must_use]
pub fn outline(graph: &FlowGraph, source: Text) -> Outline {
    let node = |node: &crate::graph::GraphNode| NodeOutline {
        id: node.id.clone(),
        role: node.role.clone(),
        human_colab: node.is_human_colab(),
        await_all_inputs: node.awaits_all_inputs(),
    };
    let names = graph.edge_ids().zip(graph.edges());
    Outline {
        name: graph.name().to_owned(),
        nodes: graph.nodes().iter().map(node).collect(),
        edges: names
            .map(|(edge, kind)| EdgeOutline {
                edge,
                optional: kind.optional,
            })
            .collect(),
        source,
    }
}
