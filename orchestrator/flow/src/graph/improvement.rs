//! The order in which roles reflect on a finished flow: against the direction of the work.
//!
//! Each role instance is represented by its first node, by distance from the start and then by
//! file order. Two such nodes are joined when a forward way leads from one to the other through
//! nodes that represent no role. Then all edges are turned round: a role starts when the roles that
//! worked directly after it are done, and reads the findings of exactly those.

use std::collections::BTreeMap;

use super::model::{FlowGraph, GraphNode, NodeIndex};
use super::name::RoleInstance;

/// One role instance's part in the reflection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImprovementStep {
    /// Who reflects.
    pub role: RoleInstance,
    /// The node that represents it.
    pub node: NodeIndex,
    /// Whose findings it reads, and after whom it therefore starts; in the order of the file.
    pub after: Vec<RoleInstance>,
}

impl FlowGraph {
    /// The reflection of everybody who took part, each step after all steps that it depends on.
    ///
    /// `took_part` says which nodes were visited. The others represent no role, and the ways through
    /// them still count.
    pub(crate) fn improvement_steps(
        &self,
        took_part: impl Fn(&GraphNode) -> bool,
    ) -> Vec<ImprovementStep> {
        let kept = self.first_nodes(took_part);
        let mut represents = vec![false; self.nodes().len()];
        for node in kept.values() {
            represents[node.position()] = true;
        }
        let mut search = KeptSearch {
            graph: self,
            represents,
            met_by: vec![None; self.nodes().len()],
        };
        let mut steps: Vec<ImprovementStep> = Vec::new();
        // Against a topological order, what a role depends on always comes before it.
        for node in self.topological_order().into_iter().rev() {
            if !search.represents[node.position()] {
                continue;
            }
            let after = search.next_kept(node);
            steps.push(ImprovementStep {
                role: self.node_at(node).role.clone(),
                node,
                after: after
                    .into_iter()
                    .map(|next| self.node_at(next).role.clone())
                    .collect(),
            });
        }
        steps
    }

    /// The nearest node of every role instance among those that took part.
    fn first_nodes(
        &self,
        took_part: impl Fn(&GraphNode) -> bool,
    ) -> BTreeMap<&RoleInstance, NodeIndex> {
        let distances = self.distances_from_start();
        let mut first: BTreeMap<&RoleInstance, NodeIndex> = BTreeMap::new();
        for (index, node) in self.indexed_nodes().filter(|(_, node)| took_part(node)) {
            let best = first.entry(&node.role).or_insert(index);
            if distances[index.position()] < distances[best.position()] {
                *best = index;
            }
        }
        first
    }
}

/// Looks for the next representing nodes. The marks are kept between searches, so that a search
/// costs what it sees and not the size of the graph.
#[derive(Debug)]
struct KeptSearch<'g> {
    graph: &'g FlowGraph,
    represents: Vec<bool>,
    /// The node whose search met this one last.
    met_by: Vec<Option<NodeIndex>>,
}

impl KeptSearch<'_> {
    fn next_kept(&mut self, from: NodeIndex) -> Vec<NodeIndex> {
        let mut found = Vec::new();
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            for next in self.graph.successors(node) {
                if self.met_by[next.position()].replace(from) == Some(from) {
                    continue;
                }
                if self.represents[next.position()] {
                    found.push(next);
                } else {
                    open.push(next);
                }
            }
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::parse;

    /// Steps as `role<-role,role`, for a graph written as `id:role` and `a>b`.
    fn steps(nodes: &str, edges: &str, left_out: &[&str]) -> Vec<String> {
        let mut text = String::from("workflow:\n  name: t\n  nodes:\n");
        for node in nodes.split_whitespace() {
            let (id, role) = node.split_once(':').unwrap();
            writeln!(text, "    - {{ id: {id}, role: {role} }}").unwrap();
        }
        text.push_str("  edges: [");
        for edge in edges.split_whitespace() {
            let (from, to) = edge.split_once('>').unwrap();
            write!(text, "{{ from: {from}, to: {to} }},").unwrap();
        }
        text.push_str("]\n");
        let (graph, diagnostics) = parse(&text, "flow.yaml");
        let graph = graph.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let steps = graph.improvement_steps(|node| !left_out.contains(&node.id.as_str()));
        let shown = |step: &super::ImprovementStep| {
            let after: Vec<&str> = step.after.iter().map(|role| role.as_str()).collect();
            format!("{}<-{}", step.role, after.join(","))
        };
        steps.iter().map(shown).collect()
    }

    #[test]
    fn a_line_of_roles_reflects_from_its_end_to_its_start() {
        let found = steps("a:owner b:writer c:editor z:owner", "a>b b>c c>z", &[]);
        assert_eq!(found, ["editor<-", "writer<-editor", "owner<-writer"]);
    }

    #[test]
    fn a_role_that_comes_back_is_represented_once_and_ways_lead_through_its_later_nodes() {
        let nodes = "a:owner b:writer c:owner d:editor z:owner";
        let found = steps(nodes, "a>b b>c c>d d>z", &[]);
        assert_eq!(found, ["editor<-", "writer<-editor", "owner<-writer"]);
    }

    #[test]
    fn a_fan_out_lets_its_branches_reflect_side_by_side() {
        let nodes = "a:owner b:one c:two d:three z:owner";
        let found = steps(nodes, "a>b a>c b>d c>d d>z", &[]);
        assert_eq!(
            found,
            ["three<-", "two<-three", "one<-three", "owner<-one,two"]
        );
    }

    #[test]
    fn the_first_node_is_the_nearest_one_and_not_the_first_of_the_file() {
        let nodes = "a:owner far:w mid:x near:w z:owner";
        let found = steps(nodes, "a>mid mid>far far>z a>near near>z", &[]);
        assert_eq!(found, ["w<-", "x<-", "owner<-x,w"]);
    }

    #[test]
    fn who_did_not_take_part_does_not_reflect_and_does_not_break_the_way() {
        let found = steps("a:owner b:writer c:editor z:owner", "a>b b>c c>z", &["b"]);
        assert_eq!(found, ["editor<-", "owner<-editor"]);
    }

    #[test]
    fn a_flow_of_one_node_has_one_step() {
        assert_eq!(steps("a:owner", "", &[]).len(), 1);
    }
}
