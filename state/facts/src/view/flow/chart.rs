//! The graph of a flow with its neighbours indexed, so that a question about one node costs what
//! the node has and not the size of the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fact::flow::{EdgeOutline, NodeOutline, Outline};
use crate::handoff::EdgeName;
use crate::id::{NodeId, RoleInstance};

/// An outline with its indexes. It is written and read as the outline alone, and cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Chart(Arc<Indexed>);

#[derive(Debug, Default)]
struct Indexed {
    outline: Outline,
    places: BTreeMap<NodeId, usize>,
    leaving: Vec<Vec<usize>>,
    entering: Vec<Vec<usize>>,
    /// The neighbours of each role, by its name without a number.
    around: BTreeMap<String, Arc<[String]>>,
}

impl Chart {
    /// A node by its id.
    #[must_use]
    pub fn node(&self, id: &NodeId) -> Option<&NodeOutline> {
        self.nodes.get(self.place(id)?)
    }

    /// The index of a node in the file.
    #[must_use]
    pub(crate) fn place(&self, id: &NodeId) -> Option<usize> {
        self.0.places.get(id).copied()
    }

    /// An edge by its ends.
    #[must_use]
    pub(crate) fn edge(&self, name: &EdgeName) -> Option<&EdgeOutline> {
        self.leaving(&name.from).find(|edge| edge.edge == *name)
    }

    /// The nodes before and after those that the instances of a role have, in the order of the file.
    #[must_use]
    pub fn around(&self, role: &RoleInstance) -> Arc<[String]> {
        self.0.around.get(role.base()).cloned().unwrap_or_default()
    }

    /// The edges that leave a node, in the order of the file.
    pub fn leaving(&self, node: &NodeId) -> impl Iterator<Item = &EdgeOutline> {
        self.edges_at(&self.0.leaving, node)
    }

    /// The edges that enter a node, in the order of the file.
    pub fn entering(&self, node: &NodeId) -> impl Iterator<Item = &EdgeOutline> {
        self.edges_at(&self.0.entering, node)
    }

    fn edges_at<'a>(
        &'a self,
        lists: &'a [Vec<usize>],
        node: &NodeId,
    ) -> impl Iterator<Item = &'a EdgeOutline> {
        let list = self.place(node).and_then(|place| lists.get(place));
        (list.into_iter().flatten()).filter_map(|edge| self.edges.get(*edge))
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
        let around = around(&outline, &places);
        Self(Arc::new(Indexed {
            outline,
            places,
            leaving,
            entering,
            around,
        }))
    }
}

/// The neighbours of all roles: every edge makes one of either end for the role of the other.
fn around(outline: &Outline, places: &BTreeMap<NodeId, usize>) -> BTreeMap<String, Arc<[String]>> {
    let mut around: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for edge in &outline.edges {
        let ends = [&edge.edge.from, &edge.edge.to].map(|end| places.get(end).copied());
        let [Some(from), Some(to)] = ends else {
            continue;
        };
        for (mine, other) in [(from, to), (to, from)] {
            let role = outline.nodes[mine].role.base();
            around.entry(role).or_default().insert(other);
        }
    }
    let named = |(role, nodes): (&str, BTreeSet<usize>)| {
        let names = nodes.iter().map(|node| outline.nodes[*node].id.to_string());
        (role.to_owned(), names.collect())
    };
    around.into_iter().map(named).collect()
}

impl Deref for Chart {
    type Target = Outline;

    fn deref(&self) -> &Outline {
        &self.0.outline
    }
}

impl PartialEq for Chart {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Serialize for Chart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.outline.serialize(serializer)
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
        let graph = walk().into_iter().find_map(|fact| {
            let crate::Fact::FlowCreated(created) = fact else {
                return None;
            };
            Some(created.graph)
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
        for node in &outline.nodes {
            let of_role = |id: &NodeId| {
                let other = outline.node(id).unwrap();
                other.role.base() == node.role.base()
            };
            let edges = || outline.edges.iter().map(|edge| &edge.edge);
            let is_around = |id: &NodeId| {
                edges().any(|edge| {
                    (edge.from == *id && of_role(&edge.to))
                        || (edge.to == *id && of_role(&edge.from))
                })
            };
            let around = outline.nodes.iter().map(|node| &node.id);
            let around: Vec<String> = (around.filter(|id| is_around(id)))
                .map(ToString::to_string)
                .collect();
            assert!(!around.is_empty());
            assert_eq!(*chart.around(&node.role), *around);
        }
        assert!(chart.around(&id("nobody")).is_empty());
        let json = serde_json::to_string(&outline).unwrap();
        assert_eq!(serde_json::to_string(&chart).unwrap(), json);
        assert_eq!(serde_json::from_str::<Chart>(&json).unwrap(), chart);
    }
}
