//! A flow's own snapshot laid over the project's canonical graph, field by field.
//!
//! The snapshot says which nodes and edges there are. Where it leaves a field of a node out, the
//! canonical node of the same id counts; an empty list is written and counts. The result has the
//! snapshot's structure, so that it is sound.

use super::model::{FlowGraph, GraphNode};

/// The contract of a running flow's graph.
pub fn overlay_graph(canonical: &FlowGraph, snapshot: &FlowGraph) -> FlowGraph {
    let mut contract = snapshot.clone();
    contract.summary = snapshot
        .summary
        .clone()
        .or_else(|| canonical.summary.clone());
    for node in &mut contract.nodes {
        if let Some(below) = canonical.node(&node.id) {
            overlay_node(below, node);
        }
    }
    contract
}

/// `id` and `role` are required, so that they are always the snapshot's.
fn overlay_node(below: &GraphNode, node: &mut GraphNode) {
    fill(&mut node.work, &below.work);
    fill(&mut node.required_readings, &below.required_readings);
    fill(&mut node.human_colab, &below.human_colab);
    fill(&mut node.await_all_inputs, &below.await_all_inputs);
}

fn fill<T: Clone>(field: &mut Option<T>, below: &Option<T>) {
    if field.is_none() {
        field.clone_from(below);
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_file;
    use super::*;

    fn read(text: &str) -> FlowGraph {
        let (file, diagnostics) = parse_file(text, "flow.yaml");
        let file = file.unwrap_or_else(|| panic!("{diagnostics:?}"));
        file.workflow
    }

    const CANONICAL: &str = "
workflow:
  name: canonical
  summary: from below
  nodes:
    - { id: a, role: owner, work: [below], required_readings: [$X], human-colab: true }
    - { id: b, role: writer, await-all-inputs: true }
    - { id: gone, role: writer }
    - { id: z, role: owner }
  edges: [{ from: a, to: b }, { from: b, to: gone }, { from: gone, to: z }]
roles:
  owner: { instructions: below, model: small }
  writer: { executor: human }
";

    const SNAPSHOT: &str = "
workflow:
  name: snapshot
  nodes:
    - { id: z, role: owner }
    - { id: b, role: writer_2, await-all-inputs: false }
    - { id: new, role: owner, work: [over] }
    - { id: a, role: owner, work: [], human-colab: false }
  edges: [{ from: a, to: b }, { from: a, to: new }, { from: new, to: z }, { from: b, to: z }]
roles:
  owner: { instructions: over }
  writer: { executor: command, command: { run: [make] } }
";

    #[test]
    fn nodes_and_edges_are_the_snapshots_and_missing_fields_come_from_below() {
        let contract = overlay_graph(&read(CANONICAL), &read(SNAPSHOT));
        let ids: Vec<&str> = contract
            .nodes()
            .iter()
            .map(|node| node.id.as_str())
            .collect();
        assert_eq!(ids, ["z", "b", "new", "a"]);
        assert_eq!(contract.edges().len(), 4);
        assert_eq!(
            (contract.name(), contract.summary()),
            ("snapshot", Some("from below"))
        );
        let [_, b, new, a] = contract.nodes() else {
            panic!("four nodes")
        };
        assert_eq!(b.role.as_str(), "writer_2");
        assert_eq!(b.await_all_inputs, Some(false));
        assert_eq!(new.work(), ["over"]);
        assert_eq!(a.work, Some(vec![]), "an empty list is a list");
        assert_eq!(a.required_readings(), ["$X"]);
        assert_eq!(a.human_colab, Some(false));
    }

    #[test]
    fn a_snapshot_laid_over_itself_is_itself() {
        let graph = read(SNAPSHOT);
        assert_eq!(overlay_graph(&graph, &graph), graph);
    }
}
