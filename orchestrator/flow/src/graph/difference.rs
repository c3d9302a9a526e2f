//! What differs between two graphs, in sentences: what an operator reads before one takes the place of
//! the other.

use std::collections::BTreeSet;

use super::model::{FlowGraph, GraphNode};
use super::name::{EdgeId, NodeId};

/// Everything that is another in the new graph, in the order of the graphs; nothing if they walk alike.
#[must_use]
pub fn differences(old: &FlowGraph, new: &FlowGraph) -> Vec<String> {
    let mut said = Vec::new();
    if old.name() != new.name() {
        said.push(format!(
            "it is called {:?}, not {:?}",
            new.name(),
            old.name()
        ));
    }
    if old.summary() != new.summary() {
        said.push("its summary is another".to_owned());
    }
    nodes(old, new, &mut said);
    edges(old, new, &mut said);
    said
}

fn nodes(old: &FlowGraph, new: &FlowGraph, said: &mut Vec<String>) {
    for node in new.nodes() {
        match old.node(&node.id) {
            None => said.push(format!("the node `{}` of `{}` is new", node.id, node.role)),
            Some(before) => changed(before, node, said),
        }
    }
    let gone = old.nodes().iter().filter(|node| !new.has_node(&node.id));
    said.extend(gone.map(|node| format!("the node `{}` of `{}` is gone", node.id, node.role)));
    // Which of several that may run comes first depends on it.
    let kept = |graph: &FlowGraph, other: &FlowGraph| -> Vec<NodeId> {
        let ids = graph.nodes().iter().map(|node| node.id.clone());
        ids.filter(|id| other.has_node(id)).collect()
    };
    if kept(old, new) != kept(new, old) {
        said.push("nodes are in another order".to_owned());
    }
}

fn changed(before: &GraphNode, node: &GraphNode, said: &mut Vec<String>) {
    let id = &node.id;
    if before.role != node.role {
        said.push(format!(
            "the node `{id}` is `{}`'s, not `{}`'s",
            node.role, before.role
        ));
    }
    if before.work() != node.work() {
        said.push(format!("the node `{id}` has other work"));
    }
    if before.required_readings() != node.required_readings() {
        said.push(format!("the node `{id}` has other readings"));
    }
    if before.is_human_colab() != node.is_human_colab() {
        said.push(if node.is_human_colab() {
            format!("the handoffs of `{id}` wait for you")
        } else {
            format!("the handoffs of `{id}` no longer wait for you")
        });
    }
    if before.awaits_all_inputs() != node.awaits_all_inputs() {
        said.push(if node.awaits_all_inputs() {
            format!("the node `{id}` waits for all of its inputs")
        } else {
            format!("the node `{id}` no longer waits for all of its inputs")
        });
    }
}

fn edges(old: &FlowGraph, new: &FlowGraph, said: &mut Vec<String>) {
    let optional = |graph: &FlowGraph, edge: &EdgeId| {
        let found = graph.edge(edge);
        found.map(|index| graph.edge_at(index).optional)
    };
    for edge in new.edge_ids() {
        match (optional(old, &edge), optional(new, &edge)) {
            (None, Some(true)) => said.push(format!("the edge `{edge}` is new and optional")),
            (None, _) => said.push(format!("the edge `{edge}` is new")),
            (Some(false), Some(true)) => said.push(format!("the edge `{edge}` is optional")),
            (Some(true), Some(false)) => {
                said.push(format!("the edge `{edge}` is no longer optional"));
            }
            (Some(_), _) => {}
        }
    }
    let kept: BTreeSet<EdgeId> = new.edge_ids().collect();
    let gone = old.edge_ids().filter(|edge| !kept.contains(edge));
    said.extend(gone.map(|edge| format!("the edge `{edge}` is gone")));
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const OLD: &str = "
workflow:
  name: t
  nodes:
    - { id: a, role: owner }
    - { id: b, role: writer, work: [Write.] }
    - { id: c, role: editor }
    - { id: z, role: owner }
  edges: [{ from: a, to: b }, { from: b, to: c }, { from: c, to: z }, { from: b, to: z, optional: true }]
";

    fn graph(text: &str) -> FlowGraph {
        let (graph, faults) = parse(text, "flow.yaml");
        graph.unwrap_or_else(|| panic!("{faults:?}"))
    }

    #[test]
    fn a_graph_that_walks_alike_is_no_other_however_it_is_written() {
        let comment = OLD.replace("name: t", "name: t # the same");
        let said = OLD.replace(
            "{ id: a, role: owner }",
            "{ id: a, role: owner, human-colab: false }",
        );
        for same in [OLD, &comment, &said] {
            assert_eq!(differences(&graph(OLD), &graph(same)), [""; 0]);
        }
    }

    #[test]
    fn each_thing_that_is_another_is_said_once() {
        for (what, with, expected) in [
            ("name: t", "name: u", vec!["it is called \"u\", not \"t\""]),
            (
                "name: t",
                "name: t\n  summary: s",
                vec!["its summary is another"],
            ),
            (
                "id: b, role: writer",
                "id: b, role: writer_2",
                vec!["the node `b` is `writer_2`'s, not `writer`'s"],
            ),
            (
                "[Write.]",
                "[Write it.]",
                vec!["the node `b` has other work"],
            ),
            (
                "[Write.]",
                "[Write.], required_readings: [x.md]",
                vec!["the node `b` has other readings"],
            ),
            (
                "id: c, role: editor",
                "id: c, role: editor, human-colab: true",
                vec!["the handoffs of `c` wait for you"],
            ),
            (
                "id: c, role: editor",
                "id: c, role: editor, await-all-inputs: true",
                vec!["the node `c` waits for all of its inputs"],
            ),
            (
                ", optional: true",
                "",
                vec!["the edge `b → z` is no longer optional"],
            ),
            (
                "{ from: a, to: b }",
                "{ from: a, to: b }, { from: a, to: c, optional: true }",
                vec!["the edge `a → c` is new and optional"],
            ),
            (
                "    - { id: c, role: editor }\n    - { id: z, role: owner }\n  edges: [{ from: a, to: b }, { from: b, to: c }, { from: c, to: z }, ",
                "    - { id: x, role: editor }\n    - { id: z, role: owner }\n  edges: [{ from: a, to: b }, { from: b, to: x }, { from: x, to: z }, ",
                vec![
                    "the node `x` of `editor` is new",
                    "the node `c` of `editor` is gone",
                    "the edge `b → x` is new",
                    "the edge `x → z` is new",
                    "the edge `b → c` is gone",
                    "the edge `c → z` is gone",
                ],
            ),
            (
                "    - { id: b, role: writer, work: [Write.] }\n    - { id: c, role: editor }\n",
                "    - { id: c, role: editor }\n    - { id: b, role: writer, work: [Write.] }\n",
                vec!["nodes are in another order"],
            ),
        ] {
            let new = OLD.replace(what, with);
            assert_ne!(new, OLD, "{what}");
            assert_eq!(differences(&graph(OLD), &graph(&new)), expected);
        }
    }
}
