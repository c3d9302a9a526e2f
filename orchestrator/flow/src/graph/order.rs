//! Orders and distances in a graph. Nothing here recurses: a chain may be 10,000 nodes long.

use std::collections::{BTreeSet, VecDeque};

use super::model::{FlowGraph, NodeIndex};

impl FlowGraph {
    /// Every node after all of its predecessors; among free nodes, file order decides.
    pub(crate) fn topological_order(&self) -> Vec<NodeIndex> {
        let mut open_edges: Vec<usize> = self
            .indexed_nodes()
            .map(|(index, _)| self.incoming(index).len())
            .collect();
        let mut free = BTreeSet::from([self.start()]);
        let mut order = Vec::with_capacity(self.nodes().len());
        while let Some(node) = free.pop_first() {
            order.push(node);
            for next in self.successors(node) {
                open_edges[next.position()] -= 1;
                if open_edges[next.position()] == 0 {
                    free.insert(next);
                }
            }
        }
        order
    }

    /// The length of the shortest way from the start to each node, in the order of the nodes.
    pub(crate) fn distances_from_start(&self) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.nodes().len()];
        distances[self.start().position()] = 0;
        let mut queue = VecDeque::from([self.start()]);
        while let Some(node) = queue.pop_front() {
            let distance = distances[node.position()] + 1;
            for next in self.successors(node) {
                if distances[next.position()] == u32::MAX {
                    distances[next.position()] = distance;
                    queue.push_back(next);
                }
            }
        }
        distances
    }

    /// The given nodes and everything that forward edges lead to from them.
    #[cfg(test)]
    pub(crate) fn reachable_from(
        &self,
        sources: impl IntoIterator<Item = NodeIndex>,
    ) -> BTreeSet<NodeIndex> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<NodeIndex> = sources.into_iter().collect();
        while let Some(node) = open.pop() {
            if reached.insert(node) {
                open.extend(self.successors(node));
            }
        }
        reached
    }
}

/// Neighbour lists by position, for graphs that are not known to be sound yet.
pub(super) fn neighbours(
    node_count: usize,
    edges: impl IntoIterator<Item = (usize, usize)>,
) -> Vec<Vec<usize>> {
    let mut successors = vec![Vec::new(); node_count];
    for (from, to) in edges {
        successors[from].push(to);
    }
    successors
}

/// One shortest cycle for every knot of nodes that reach one another, each beginning with its
/// first node in file order. A graph without cycles gives none.
pub(super) fn cycles(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let (knot_of, sizes) = Knots::of(successors);
    let mut first_of: Vec<Option<usize>> = vec![None; sizes.len()];
    for (node, knot) in knot_of.iter().enumerate() {
        first_of[*knot].get_or_insert(node);
    }
    let mut firsts: Vec<usize> = first_of
        .into_iter()
        .zip(&sizes)
        .filter(|(_, size)| **size > 1)
        .filter_map(|(first, _)| first)
        .collect();
    firsts.sort_unstable();
    firsts
        .into_iter()
        .map(|first| shortest_cycle(successors, &knot_of, first))
        .collect()
}

/// Breadth first from a node until it is met again, staying within its knot.
fn shortest_cycle(successors: &[Vec<usize>], knot_of: &[usize], first: usize) -> Vec<usize> {
    let mut came_from = std::collections::BTreeMap::new();
    let mut queue = VecDeque::from([first]);
    while let Some(node) = queue.pop_front() {
        for next in &successors[node] {
            if *next == first {
                let mut cycle = vec![node];
                while let Some(before) = came_from.get(&cycle[cycle.len() - 1]) {
                    cycle.push(*before);
                }
                cycle.reverse();
                return cycle;
            }
            if knot_of[*next] == knot_of[first] && !came_from.contains_key(next) {
                came_from.insert(*next, node);
                queue.push_back(*next);
            }
        }
    }
    Vec::new()
}

/// Tarjan's strongly connected components, with the recursion unrolled into `visits`.
#[derive(Debug, Default)]
struct Knots {
    /// When each node was first seen, counted from 1; 0 means never.
    seen_at: Vec<usize>,
    /// The earliest node on the stack that each node leads back to.
    leads_to: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    clock: usize,
    knot_of: Vec<usize>,
    sizes: Vec<usize>,
}

impl Knots {
    /// The knot of every node, and how many nodes every knot has.
    fn of(successors: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
        let count = successors.len();
        let mut knots = Self {
            seen_at: vec![0; count],
            leads_to: vec![0; count],
            on_stack: vec![false; count],
            knot_of: vec![0; count],
            ..Self::default()
        };
        for node in 0..count {
            if knots.seen_at[node] == 0 {
                knots.visit(successors, node);
            }
        }
        (knots.knot_of, knots.sizes)
    }

    fn visit(&mut self, successors: &[Vec<usize>], root: usize) {
        // Each entry is a node and how many of its successors have been looked at.
        let mut visits = vec![(root, 0)];
        self.enter(root);
        while let Some((node, looked_at)) = visits.last_mut() {
            let node = *node;
            if let Some(next) = successors[node].get(*looked_at) {
                *looked_at += 1;
                if self.seen_at[*next] == 0 {
                    self.enter(*next);
                    visits.push((*next, 0));
                } else if self.on_stack[*next] {
                    self.leads_to[node] = self.leads_to[node].min(self.seen_at[*next]);
                }
                continue;
            }
            visits.pop();
            if let Some((parent, _)) = visits.last() {
                self.leads_to[*parent] = self.leads_to[*parent].min(self.leads_to[node]);
            }
            if self.leads_to[node] == self.seen_at[node] {
                self.cut_off(node);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.clock += 1;
        self.seen_at[node] = self.clock;
        self.leads_to[node] = self.clock;
        self.on_stack[node] = true;
        self.stack.push(node);
    }

    /// Everything on the stack down to the node is one knot.
    fn cut_off(&mut self, node: usize) {
        let knot = self.sizes.len();
        let mut size = 0;
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            self.knot_of[member] = knot;
            size += 1;
            if member == node {
                break;
            }
        }
        self.sizes.push(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(node_count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
        cycles(&neighbours(node_count, edges.iter().copied()))
    }

    #[test]
    fn a_graph_without_cycles_gives_none() {
        assert_eq!(
            found(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]),
            Vec::<Vec<usize>>::new()
        );
    }

    #[test]
    fn each_knot_gives_its_shortest_cycle_from_its_first_node() {
        let edges = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 1),
            (2, 1),
            (3, 4),
            (4, 5),
            (5, 6),
            (6, 4),
        ];
        assert_eq!(found(7, &edges), vec![vec![1, 2], vec![4, 5, 6]]);
    }

    #[test]
    fn a_ring_of_a_hundred_thousand_nodes_is_one_cycle_and_needs_no_recursion() {
        let count = 100_000;
        let edges: Vec<_> = (0..count).map(|node| (node, (node + 1) % count)).collect();
        let cycles = found(count, &edges);
        assert_eq!(cycles.len(), 1);
        assert_eq!(cycles[0].len(), count);
    }
}
