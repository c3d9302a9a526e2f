//! The graph of a flow with its neighbours indexed, so that a question about one node costs what
//! the node has and not the size of the graph.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fact::flow::{EdgeOutline, NodeOutline, Outline};
use crate::handoff::EdgeName;
use crate::id::NodeId;

/// An outline with its indexes. It is written and read as the outline alone.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    outline: Outline,
    places: BTreeMap<NodeId, usize>,
    leaving: Vec<Vec<usize>>,
    entering: Vec<Vec<usize>>,
}

impl Chart {
    /// A node by its id.
    #[must_use]
    pub fn node(&self, id: &NodeId) -> Option<&NodeOutline> {
        self.outline.nodes.get(*self.places.get(id)?)
    }

    /// Where a node stands in the file.
    #[must_use]
    pub fn place(&self, id: &NodeId) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// An edge by its ends.
    #[must_use]
    pub fn edge(&self, name: &EdgeName) -> Option<&EdgeOutline> {
        self.leaving(&name.from).find(|edge| edge.edge == *name)
    }

    /// The edges that leave a node, in the order of the file.
    pub fn leaving(&self, node: &NodeId) -> impl Iterator<Item = &EdgeOutline> {
        self.edges_at(&self.leaving, node)
    }

    /// The edges that enter a node, in the order of the file.
    pub fn entering(&self, node: &NodeId) -> impl Iterator<Item = &EdgeOutline> {
        self.edges_at(&self.entering, node)
    }

    fn edges_at<'a>(
        &'a self,
        lists: &'a [Vec<usize>],
        node: &NodeId,
    ) -> impl Iterator<Item = &'a EdgeOutline> {
        let list = self.place(node).and_then(|place| lists.get(place));
        (list.into_iter().flatten()).filter_map(|edge| self.outline.edges.get(*edge))
    }
}

impl From<Outline> for Chart {
    fn from(outline: Outline) -> Self {
        let mut places = BTreeMap::new();
        for (place, node) in outline.nodes.iter().enumerate() {
            places.entry(node.id.clone()).or_insert(place);
        }
        let mut leaving = vec![Vec::new(); outline.nodes.len()];
        let mut entering = leaving.clone();
        for (number, edge) in outline.edges.iter().enumerate() {
            if let Some(from) = places.get(&edge.edge.from) {
                leaving[*from].push(number);
            }
            if let Some(to) = places.get(&edge.edge.to) {
                entering[*to].push(number);
            }
        }
        Self {
            outline,
            places,
            leaving,
            entering,
        }
    }
}

impl Deref for Chart {
    type Target = Outline;

    fn deref(&self) -> &Outline {
        &self.outline
    }
}

impl PartialEq for Chart {
    fn eq(&self, other: &Self) -> bool {
        self.outline == other.outline
    }
}

impl Serialize for Chart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.outline.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Chart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Outline::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{id, walk};

    #[test]
    fn a_chart_answers_as_its_outline_does_and_reads_back_from_it() {
        let graph = walk().into_iter().find_map(|fact| match fact {
            crate::Fact::FlowCreated(created) => Some(created.graph),
            _ => None,
        });
        let outline = graph.unwrap();
        let chart = Chart::from(outline.clone());
        for node in &outline.nodes {
            assert_eq!(chart.node(&node.id), outline.node(&node.id));
            assert!(chart.leaving(&node.id).eq(outline.leaving(&node.id)));
            assert!(chart.entering(&node.id).eq(outline.entering(&node.id)));
        }
        for edge in &outline.edges {
            assert_eq!(chart.edge(&edge.edge), outline.edge(&edge.edge));
        }
        assert_eq!(chart.node(&id("no-such-node")), None);
        let json = serde_json::to_string(&outline).unwrap();
        assert_eq!(serde_json::to_string(&chart).unwrap(), json);
        assert_eq!(serde_json::from_str::<Chart>(&json).unwrap(), chart);
    }
}
