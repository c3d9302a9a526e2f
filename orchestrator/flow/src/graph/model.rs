//! What a flow file says, once it is known to be sound: the graph, with its neighbours indexed.
//!
//! A [`FlowGraph`] exists only after validation, so that its questions have plain answers: there
//! is one start node and one closing node, every edge end exists, and there is no cycle. Nodes and
//! edges keep the order of the file, because the order in which nodes are claimed depends on it.

use std::collections::BTreeMap;

use serde::ser::{SerializeSeq as _, SerializeStruct as _};
use serde::{Serialize, Serializer};

use super::name::{EdgeId, NodeId, RoleInstance, RoleName};
use super::project_file::FlowDefaults;
use super::role::{InlineRole, RoleBudget};

/// A whole flow file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphFile {
    /// The graph.
    pub workflow: FlowGraph,
    /// The roles, when the file defines them itself; otherwise they come from the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<BTreeMap<RoleName, InlineRole>>,
    /// What the whole flow may spend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<RoleBudget>,
    /// How the flow ends.
    #[serde(flatten)]
    pub ends: FlowDefaults,
}

/// A node as the file has it. A field that is `None` was not written, which matters to the overlay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphNode {
    /// Unique in its graph.
    pub id: NodeId,
    /// Who works here.
    pub role: RoleInstance,
    /// The task, in bullets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<Vec<String>>,
    /// Index variables or project-relative paths, injected when the node is first entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_readings: Option<Vec<String>>,
    /// Whether forward handoffs are staged for the operator.
    #[serde(rename = "human-colab", skip_serializing_if = "Option::is_none")]
    pub human_colab: Option<bool>,
    /// Whether the node waits for every inbound edge.
    #[serde(rename = "await-all-inputs", skip_serializing_if = "Option::is_none")]
    pub await_all_inputs: Option<bool>,
}

impl GraphNode {
    /// A node that says nothing but who works there.
    #[cfg(test)]
    pub(crate) fn new(id: NodeId, role: RoleInstance) -> Self {
        Self {
            id,
            role,
            work: None,
            required_readings: None,
            human_colab: None,
            await_all_inputs: None,
        }
    }

    /// The task bullets; none when the file has none.
    pub fn work(&self) -> &[String] {
        self.work.as_deref().unwrap_or_default()
    }

    /// The readings; none when the file has none.
    pub fn required_readings(&self) -> &[String] {
        self.required_readings.as_deref().unwrap_or_default()
    }

    /// Whether forward handoffs are staged for the operator.
    pub fn is_human_colab(&self) -> bool {
        self.human_colab.unwrap_or(false)
    }

    /// Whether the node waits for every inbound edge.
    pub(crate) fn awaits_all_inputs(&self) -> bool {
        self.await_all_inputs.unwrap_or(false)
    }
}

/// The place of a node in [`FlowGraph::nodes`]. It is only good for the graph that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub(super) u32);

/// The place of an edge in [`FlowGraph::edges`]. It is only good for the graph that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeIndex(pub(super) u32);

impl NodeIndex {
    /// As a position in a slice that runs parallel to the nodes.
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }

    /// A file of at most a million values has far fewer nodes than this.
    pub(super) fn at(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }
}

impl EdgeIndex {
    /// As a position in a slice that runs parallel to the edges.
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }

    pub(super) fn at(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }
}

/// A forward edge between two nodes of one graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where forward work comes from.
    pub from: NodeIndex,
    /// Where forward work goes to.
    pub to: NodeIndex,
    /// Whether the edge may stay unused for the whole flow.
    pub optional: bool,
}

/// A sound graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowGraph {
    pub(super) name: String,
    pub(super) summary: Option<String>,
    pub(super) nodes: Vec<GraphNode>,
    pub(super) edges: Vec<Edge>,
    by_id: BTreeMap<NodeId, NodeIndex>,
    by_ends: BTreeMap<(NodeIndex, NodeIndex), EdgeIndex>,
    /// Per node, in file order.
    outgoing: Vec<Vec<EdgeIndex>>,
    incoming: Vec<Vec<EdgeIndex>>,
    /// Every role instance with its nodes, in file order of first nodes.
    instances: Vec<(RoleInstance, Vec<NodeIndex>)>,
    instance_places: BTreeMap<RoleInstance, usize>,
    start: NodeIndex,
    closing: NodeIndex,
}

impl FlowGraph {
    /// Builds the indexes of a graph that validation has found sound.
    pub(super) fn assemble(
        name: String,
        summary: Option<String>,
        nodes: Vec<GraphNode>,
        edges: Vec<Edge>,
        start: NodeIndex,
        closing: NodeIndex,
    ) -> Self {
        let mut graph = Self {
            name,
            summary,
            by_id: BTreeMap::new(),
            by_ends: BTreeMap::new(),
            outgoing: vec![Vec::new(); nodes.len()],
            incoming: vec![Vec::new(); nodes.len()],
            instances: Vec::new(),
            instance_places: BTreeMap::new(),
            nodes,
            edges,
            start,
            closing,
        };
        graph.index_edges();
        graph.index_nodes();
        graph
    }

    fn index_edges(&mut self) {
        for (position, edge) in self.edges.iter().enumerate() {
            let index = EdgeIndex::at(position);
            self.by_ends.insert((edge.from, edge.to), index);
            self.outgoing[edge.from.position()].push(index);
            self.incoming[edge.to.position()].push(index);
        }
    }

    fn index_nodes(&mut self) {
        for (position, node) in self.nodes.iter().enumerate() {
            let index = NodeIndex::at(position);
            self.by_id.insert(node.id.clone(), index);
            if let Some(place) = self.instance_places.get(&node.role) {
                self.instances[*place].1.push(index);
            } else {
                self.instance_places
                    .insert(node.role.clone(), self.instances.len());
                self.instances.push((node.role.clone(), vec![index]));
            }
        }
    }

    /// The flow's title.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the flow is for.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// All nodes, in file order.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// All nodes with their indexes, in file order.
    pub fn indexed_nodes(&self) -> impl Iterator<Item = (NodeIndex, &GraphNode)> {
        self.nodes
            .iter()
            .enumerate()
            .map(|(position, node)| (NodeIndex::at(position), node))
    }

    /// All edges, in file order.
    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The node of an index that this graph gave out.
    pub fn node_at(&self, index: NodeIndex) -> &GraphNode {
        &self.nodes[index.position()]
    }

    /// The node of an id.
    pub fn node(&self, id: &NodeId) -> Option<&GraphNode> {
        self.index_of(id).map(|index| self.node_at(index))
    }

    /// Where the node of an id is.
    pub(crate) fn index_of(&self, id: &NodeId) -> Option<NodeIndex> {
        self.by_id.get(id).copied()
    }

    /// Whether there is a node of that id.
    pub fn has_node(&self, id: &NodeId) -> bool {
        self.by_id.contains_key(id)
    }

    /// The edge of an index that this graph gave out.
    pub(crate) fn edge_at(&self, index: EdgeIndex) -> &Edge {
        &self.edges[index.position()]
    }

    /// The forward edge between two nodes.
    pub(crate) fn edge_between(&self, from: NodeIndex, to: NodeIndex) -> Option<EdgeIndex> {
        self.by_ends.get(&(from, to)).copied()
    }

    /// The forward edge of a name.
    pub fn edge(&self, id: &EdgeId) -> Option<EdgeIndex> {
        self.edge_between(self.index_of(&id.from)?, self.index_of(&id.to)?)
    }

    /// The name of an edge, as facts write it.
    pub(crate) fn edge_id(&self, index: EdgeIndex) -> EdgeId {
        let edge = self.edge_at(index);
        EdgeId {
            from: self.node_at(edge.from).id.clone(),
            to: self.node_at(edge.to).id.clone(),
        }
    }

    /// The names of all forward edges, in file order.
    pub(crate) fn edge_ids(&self) -> impl Iterator<Item = EdgeId> {
        (0..self.edges.len()).map(|position| self.edge_id(EdgeIndex::at(position)))
    }

    /// The edges out of a node, in file order.
    pub fn outgoing(&self, node: NodeIndex) -> &[EdgeIndex] {
        &self.outgoing[node.position()]
    }

    /// The edges into a node, in file order.
    pub(crate) fn incoming(&self, node: NodeIndex) -> &[EdgeIndex] {
        &self.incoming[node.position()]
    }

    /// Where a node may hand forward to.
    pub fn successors(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        self.outgoing(node)
            .iter()
            .map(|edge| self.edge_at(*edge).to)
    }

    /// Where a node may hand back to.
    pub fn predecessors(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        self.incoming(node)
            .iter()
            .map(|edge| self.edge_at(*edge).from)
    }

    /// The only node without inbound edges.
    pub fn start(&self) -> NodeIndex {
        self.start
    }

    /// The only node of the owner without outgoing edges.
    pub fn closing(&self) -> NodeIndex {
        self.closing
    }

    /// Whose flow it is: the role of the start node.
    pub fn owner(&self) -> &RoleInstance {
        &self.node_at(self.start).role
    }

    /// Every role instance, in the order of its first node in the file.
    pub fn role_instances(&self) -> impl Iterator<Item = &RoleInstance> {
        self.instances.iter().map(|(instance, _)| instance)
    }

    /// The nodes of a role instance, in file order.
    pub(crate) fn nodes_of(&self, instance: &RoleInstance) -> &[NodeIndex] {
        self.instance_places
            .get(instance)
            .map_or(&[], |place| &self.instances[*place].1)
    }
}

/// Writes the graph in the shape of a flow file.
impl Serialize for FlowGraph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut file = serializer.serialize_struct("FlowGraph", 4)?;
        file.serialize_field("name", &self.name)?;
        if let Some(summary) = &self.summary {
            file.serialize_field("summary", summary)?;
        }
        file.serialize_field("nodes", &self.nodes)?;
        file.serialize_field("edges", &FileEdges(self))?;
        file.end()
    }
}

/// The edges of a graph as a file writes them: by names, and `optional` only where it is true.
struct FileEdges<'g>(&'g FlowGraph);

#[derive(Serialize)]
struct FileEdge<'g> {
    from: &'g NodeId,
    to: &'g NodeId,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    optional: bool,
}

impl Serialize for FileEdges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut edges = serializer.serialize_seq(Some(self.0.edges.len()))?;
        for edge in &self.0.edges {
            edges.serialize_element(&FileEdge {
                from: &self.0.node_at(edge.from).id,
                to: &self.0.node_at(edge.to).id,
                optional: edge.optional,
            })?;
        }
        edges.end()
    }
}
