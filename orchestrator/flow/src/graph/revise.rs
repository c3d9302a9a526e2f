//! Whether a running flow's snapshot may be replaced by another one.
//!
//! A revision may add, remove and reconnect whatever has not mattered yet. What has happened or is
//! happening must still have a place: nodes that live, edges that were walked, roles that work.
//! Every reason against a revision is given at once; without a reason it counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::model::FlowGraph;
use super::name::{EdgeId, NodeId, RoleInstance};

/// What a running flow holds on to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LiveFacts {
    /// Nodes whose role is taking a turn.
    pub running: BTreeSet<NodeId>,
    /// Nodes that await the operator or a handoff, with the role instance that waits.
    pub waiting: BTreeMap<NodeId, RoleInstance>,
    /// Nodes that have been entered.
    pub visited: BTreeSet<NodeId>,
    /// Nodes with queued operator input or queued artifacts.
    pub queued: BTreeSet<NodeId>,
    /// Nodes with a staged handoff that awaits approval, with its targets.
    pub staged: BTreeMap<NodeId, BTreeSet<NodeId>>,
    /// Forward edges that are completed at present.
    pub completed: BTreeSet<EdgeId>,
    /// Handoffs that are received and unread: from the sender to the receiver, in either direction
    /// of an edge.
    pub received: BTreeSet<EdgeId>,
    /// Nodes that appear in a handoff of the flow's history.
    pub in_handoffs: BTreeSet<NodeId>,
}

/// What makes a node stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Its role is taking a turn.
    Running,
    /// It awaits the operator or a handoff.
    Waiting,
    /// It has a staged handoff.
    Staged,
    /// It has queued input.
    Queued,
    /// It has been entered.
    Visited,
    /// It appears in a handoff.
    InHandoff,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "it is running",
            Self::Waiting => "it is waiting",
            Self::Staged => "its handoff awaits approval",
            Self::Queued => "it has queued input",
            Self::Visited => "it has been visited",
            Self::InHandoff => "it appears in a handoff",
        })
    }
}

/// One reason against a revision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum RevisionObstacle {
    /// A node that must stay is not in the new graph.
    NodeGone {
        /// The node.
        node: NodeId,
        /// Everything that makes it stay.
        because: Vec<Hold>,
    },
    /// The role instance of a node that waits or runs has changed.
    RoleChanged {
        /// The node.
        node: NodeId,
        /// Whose turn or wait it is.
        was: RoleInstance,
        /// Whom the new graph names.
        now: RoleInstance,
    },
    /// A completed edge is no forward edge of the new graph.
    CompletedEdgeGone {
        /// The edge.
        edge: EdgeId,
    },
    /// A received handoff joins nodes that are no neighbours in the new graph.
    ReceivedEdgeGone {
        /// From the sender to the receiver.
        edge: EdgeId,
    },
    /// A staged handoff leads to a node that is no longer its neighbour.
    StagedEdgeGone {
        /// From the sender to the target.
        edge: EdgeId,
    },
}

impl fmt::Display for RevisionObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeGone { node, because } => {
                write!(f, "the node `{node}` must stay:")?;
                for (position, hold) in because.iter().enumerate() {
                    write!(f, "{} {hold}", if position == 0 { "" } else { "," })?;
                }
                Ok(())
            }
            Self::RoleChanged { node, was, now } => {
                write!(
                    f,
                    "the node `{node}` is at work as `{was}` and cannot become `{now}`'s"
                )
            }
            Self::CompletedEdgeGone { edge } => {
                write!(
                    f,
                    "the edge `{edge}` is completed and must stay a forward edge"
                )
            }
            Self::ReceivedEdgeGone { edge } => {
                write!(
                    f,
                    "a handoff `{edge}` is unread, so that its ends must stay neighbours"
                )
            }
            Self::StagedEdgeGone { edge } => {
                write!(
                    f,
                    "a handoff `{edge}` awaits approval, so that its edge must stay"
                )
            }
        }
    }
}

/// Gives every reason why `new` may not take the place of `old`; none means that it may.
pub(crate) fn check_revision(
    old: &FlowGraph,
    new: &FlowGraph,
    live: &LiveFacts,
) -> Vec<RevisionObstacle> {
    let mut reasons: Vec<RevisionObstacle> = holds(live)
        .into_iter()
        .filter(|(node, _)| !new.has_node(node))
        .map(|(node, because)| RevisionObstacle::NodeGone {
            node,
            because: because.into_iter().collect(),
        })
        .collect();
    reasons.extend(changed_roles(old, new, live));
    reasons.extend(lost_edges(new, live));
    reasons
}

/// Every node that must stay, with everything that makes it stay.
fn holds(live: &LiveFacts) -> BTreeMap<NodeId, BTreeSet<Hold>> {
    let mut holds: BTreeMap<NodeId, BTreeSet<Hold>> = BTreeMap::new();
    let mut hold = |nodes: &mut dyn Iterator<Item = &NodeId>, why: Hold| {
        for node in nodes {
            holds.entry(node.clone()).or_default().insert(why);
        }
    };
    hold(&mut live.running.iter(), Hold::Running);
    hold(&mut live.waiting.keys(), Hold::Waiting);
    hold(&mut live.staged.keys(), Hold::Staged);
    hold(&mut live.queued.iter(), Hold::Queued);
    hold(&mut live.visited.iter(), Hold::Visited);
    hold(&mut live.in_handoffs.iter(), Hold::InHandoff);
    hold(&mut live.staged.values().flatten(), Hold::InHandoff);
    hold(&mut ends(&live.completed), Hold::InHandoff);
    hold(&mut ends(&live.received), Hold::InHandoff);
    holds
}

fn ends(edges: &BTreeSet<EdgeId>) -> impl Iterator<Item = &NodeId> {
    edges.iter().flat_map(|edge| [&edge.from, &edge.to])
}

/// A turn or a wait belongs to one instance's session. Nodes at rest may change hands.
fn changed_roles<'g>(
    old: &'g FlowGraph,
    new: &'g FlowGraph,
    live: &'g LiveFacts,
) -> impl Iterator<Item = RevisionObstacle> {
    let waiting = live.waiting.iter();
    let running = live
        .running
        .iter()
        .filter(|node| !live.waiting.contains_key(*node));
    let running = running.filter_map(|node| Some((node, &old.node(node)?.role)));
    waiting.chain(running).filter_map(|(node, was)| {
        let now = &new.node(node)?.role;
        (now != was).then(|| RevisionObstacle::RoleChanged {
            node: node.clone(),
            was: was.clone(),
            now: now.clone(),
        })
    })
}

/// An edge whose end is gone is not mentioned: the node that must stay says enough.
fn lost_edges<'g>(
    new: &'g FlowGraph,
    live: &'g LiveFacts,
) -> impl Iterator<Item = RevisionObstacle> {
    let has_ends = |edge: &&EdgeId| new.has_node(&edge.from) && new.has_node(&edge.to);
    let joins = |edge: &EdgeId| {
        let backward = EdgeId {
            from: edge.to.clone(),
            to: edge.from.clone(),
        };
        new.edge(edge).is_some() || new.edge(&backward).is_some()
    };
    let completed = live.completed.iter().filter(has_ends);
    let completed = completed.filter(|edge| new.edge(edge).is_none());
    let received = live
        .received
        .iter()
        .filter(has_ends)
        .filter(move |edge| !joins(edge));
    let staged = live.staged.iter().flat_map(|(node, targets)| {
        targets.iter().map(|target| EdgeId {
            from: node.clone(),
            to: target.clone(),
        })
    });
    let staged = staged.filter(|edge| new.edge(edge).is_none());
    let staged = staged.filter(|edge| new.has_node(&edge.from) && new.has_node(&edge.to));
    completed
        .map(|edge| RevisionObstacle::CompletedEdgeGone { edge: edge.clone() })
        .chain(received.map(|edge| RevisionObstacle::ReceivedEdgeGone { edge: edge.clone() }))
        .chain(staged.map(|edge| RevisionObstacle::StagedEdgeGone { edge }))
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
    - { id: b, role: writer }
    - { id: c, role: editor }
    - { id: z, role: owner }
  edges: [{ from: a, to: b }, { from: b, to: c }, { from: c, to: z }]
";

    /// Without `c`, with `b` given to another instance, and with `a` joined to the end.
    const NEW: &str = "
workflow:
  name: t
  nodes:
    - { id: a, role: owner }
    - { id: b, role: writer_2 }
    - { id: x, role: editor }
    - { id: z, role: owner }
  edges: [{ from: a, to: x }, { from: x, to: b }, { from: b, to: z }]
";

    fn graph(text: &str) -> FlowGraph {
        parse(text, "flow.yaml").0.unwrap()
    }

    fn id(text: &str) -> NodeId {
        text.parse().unwrap()
    }

    fn edge(from: &str, to: &str) -> EdgeId {
        EdgeId {
            from: id(from),
            to: id(to),
        }
    }

    /// The reasons of the revision above, given what lives.
    fn reasons<R>(set_up: impl FnOnce(&mut LiveFacts) -> R) -> Vec<String> {
        let mut live = LiveFacts::default();
        let _whether_new = set_up(&mut live);
        let reasons = check_revision(&graph(OLD), &graph(NEW), &live);
        reasons.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_has_not_mattered_yet_may_change_freely() {
        assert_eq!(reasons(|_| {}), Vec::<String>::new());
        assert_eq!(
            reasons(|live| live.visited = BTreeSet::from([id("a"), id("b")])),
            [""; 0]
        );
    }

    #[test]
    fn every_kind_of_life_keeps_a_node_and_all_of_them_are_named_together() {
        let expected = "the node `c` must stay: it is running, it is waiting, \
            its handoff awaits approval, it has queued input, it has been visited, \
            it appears in a handoff";
        let found = reasons(|live| {
            live.running.insert(id("c"));
            live.waiting.insert(id("c"), "editor".parse().unwrap());
            live.staged.insert(id("c"), BTreeSet::from([id("z")]));
            live.queued.insert(id("c"));
            live.visited.insert(id("c"));
            live.in_handoffs.insert(id("c"));
        });
        assert_eq!(found, [expected]);
    }

    #[test]
    fn a_waiting_node_keeps_its_role_instance_and_so_does_a_running_one() {
        let expected = ["the node `b` is at work as `writer` and cannot become `writer_2`'s"];
        let writer = "writer".parse::<RoleInstance>().unwrap();
        assert_eq!(
            reasons(|live| live.waiting.insert(id("b"), writer)),
            expected
        );
        assert_eq!(reasons(|live| live.running.insert(id("b"))), expected);
        assert_eq!(reasons(|live| live.visited.insert(id("b"))), [""; 0]);
    }

    #[test]
    fn a_completed_edge_stays_a_forward_edge() {
        let expected = ["the edge `a → b` is completed and must stay a forward edge"];
        assert_eq!(
            reasons(|live| live.completed.insert(edge("a", "b"))),
            expected
        );
    }

    #[test]
    fn a_received_handoff_keeps_its_ends_neighbours_in_either_direction() {
        let expected = ["a handoff `b → a` is unread, so that its ends must stay neighbours"];
        assert_eq!(
            reasons(|live| live.received.insert(edge("b", "a"))),
            expected
        );
        assert_eq!(
            reasons(|live| live.received.insert(edge("b", "z"))),
            [""; 0]
        );
        assert_eq!(
            reasons(|live| live.received.insert(edge("z", "b"))),
            [""; 0]
        );
    }

    #[test]
    fn a_staged_handoff_keeps_its_edge() {
        let expected = ["a handoff `a → b` awaits approval, so that its edge must stay"];
        let staged = BTreeMap::from([(id("a"), BTreeSet::from([id("b")]))]);
        assert_eq!(reasons(|live| live.staged = staged), expected);
    }

    #[test]
    fn an_edge_whose_end_is_gone_is_reported_once_through_its_node() {
        let expected = ["the node `c` must stay: it appears in a handoff"];
        assert_eq!(
            reasons(|live| live.completed.insert(edge("b", "c"))),
            expected
        );
    }

    #[test]
    fn the_same_graph_is_always_a_legal_revision() {
        let old = graph(OLD);
        let live = LiveFacts {
            visited: old.nodes().iter().map(|node| node.id.clone()).collect(),
            completed: old.edge_ids().collect(),
            received: old.edge_ids().collect(),
            waiting: old
                .nodes()
                .iter()
                .map(|node| (node.id.clone(), node.role.clone()))
                .collect(),
            ..LiveFacts::default()
        };
        assert_eq!(check_revision(&old, &old, &live), []);
    }
}
