//! Two runs beside each other: what each came to, what it took at each node, and which artifacts differ.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::protocol::ask::Diff;
use crate::protocol::flow::{FlowState, NodeState};
use crate::protocol::http::{Cost, Costs, Files};

/// Two runs.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The first.
    pub a: Side,
    /// The second.
    pub b: Side,
    /// What only one of their graphs has.
    pub graph: GraphChange,
    /// The nodes of either, in the order of the first graph. What belongs to none has no name.
    pub nodes: Vec<ComparedNode>,
    /// The last version of each artifact: what differs first, then what only one has.
    pub files: Vec<FileLine>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct Side {
    /// Its project.
    pub project: String,
    /// Its id.
    pub flow: String,
    /// Its title.
    pub title: String,
    /// Its state, in words.
    pub standing: String,
    /// How long it lasted, or lasts until now if it is driven.
    pub ms: u64,
    /// What it used in all.
    pub cost: Cost,
}

/// What only one of two graphs has.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct GraphChange {
    /// Nodes of the first alone.
    pub nodes_a: Vec<String>,
    /// Nodes of the second alone.
    pub nodes_b: Vec<String>,
    /// Edges of the first alone, as `from/to`.
    pub edges_a: Vec<String>,
    /// Edges of the second alone.
    pub edges_b: Vec<String>,
}

/// What one run did at a node.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct NodeSide {
    /// Its state there.
    pub state: NodeState,
    /// The same in words.
    pub words: String,
    /// What it used there.
    pub cost: Cost,
}

/// A node of either run.
#[derive(Debug, Serialize)]
pub struct ComparedNode {
    /// Which; nothing for what belongs to no node, such as looking back.
    pub node: String,
    /// Whose.
    pub role: String,
    /// In the first run.
    pub a: Option<NodeSide>,
    /// In the second.
    pub b: Option<NodeSide>,
    /// Whether they did not do the same there. How long a turn took differs each time, and is no difference.
    pub differs: bool,
}

/// How an artifact compares between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileStands {
    /// Both have it, with other bytes.
    Differs,
    /// Only the first has it.
    A,
    /// Only the second has it.
    B,
    /// Both have the same.
    Same,
}

/// The last version of an artifact in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedText {
    /// The hash of its bytes.
    pub hash: String,
    /// How many.
    pub bytes: u64,
}

/// An artifact of either run.
#[derive(Debug, Serialize)]
pub struct FileLine {
    /// Its path.
    pub path: String,
    /// How it compares.
    pub stands: FileStands,
    /// In the first run.
    pub a: Option<ComparedText>,
    /// In the second.
    pub b: Option<ComparedText>,
    /// What differs, if both are texts that are short enough to be compared.
    pub diff: Option<Diff>,
}

/// One run as it was folded.
pub(crate) struct FoldedRun {
    pub(crate) side: Side,
    pub(crate) state: FlowState,
    pub(crate) costs: Costs,
    pub(crate) files: Files,
}

/// Sets two runs beside each other. The texts of artifacts are not compared yet.
pub(crate) fn beside(a: FoldedRun, b: FoldedRun) -> Comparison {
    Comparison {
        graph: graph_change(&a.state, &b.state),
        nodes: node_lines(&a, &b),
        files: file_lines(&a.files, &b.files),
        a: a.side,
        b: b.side,
    }
}

impl FoldedRun {
    /// What it did at a node.
    fn at(&self, node: &str) -> Option<NodeSide> {
        let cost = self
            .costs
            .nodes
            .iter()
            .find(|cost| cost.name == node)
            .cloned();
        if node.is_empty() {
            return cost.map(|cost| NodeSide {
                state: NodeState::Done,
                words: String::new(),
                cost,
            });
        }
        let view = self.state.nodes.get(node)?;
        let nothing = || Cost {
            name: node.to_owned(),
            ..Cost::default()
        };
        Some(NodeSide {
            state: view.state,
            words: view.words.clone(),
            cost: cost.unwrap_or_else(nothing),
        })
    }
}

/// Names in the order of the first; those that only the second has come after the one that they follow there.
fn union(a: &[String], b: &[String]) -> Vec<String> {
    let mut all = a.to_vec();
    for (number, name) in b.iter().enumerate() {
        if all.contains(name) {
            continue;
        }
        let before = b[..number].iter().rev();
        let mut before = before.filter_map(|one| all.iter().position(|there| there == one));
        let at = before.next().map_or(0, |at| at + 1);
        all.insert(at, name.clone());
    }
    all
}

fn node_lines(a: &FoldedRun, b: &FoldedRun) -> Vec<ComparedNode> {
    let mut names = union(&a.state.order, &b.state.order);
    names.push(String::new());
    let lines = names.into_iter().filter_map(|node| {
        let (one, other) = (a.at(&node), b.at(&node));
        if one.is_none() && other.is_none() {
            return None;
        }
        let view = a
            .state
            .nodes
            .get(&node)
            .or_else(|| b.state.nodes.get(&node));
        let differs = match (&one, &other) {
            (Some(one), Some(other)) => {
                one.state != other.state || one.cost.turns != other.cost.turns
            }
            (_, _) => true,
        };
        Some(ComparedNode {
            role: view.map(|view| view.role.clone()).unwrap_or_default(),
            node,
            a: one,
            b: other,
            differs,
        })
    });
    lines.collect()
}

fn graph_change(a: &FlowState, b: &FlowState) -> GraphChange {
    let only = |one: BTreeSet<&String>, other: BTreeSet<&String>| {
        let only = one.difference(&other);
        only.map(|name| (*name).clone()).collect::<Vec<String>>()
    };
    let nodes = |state: &'_ FlowState| state.nodes.keys().cloned().collect::<BTreeSet<String>>();
    let edges = |state: &'_ FlowState| state.edges.keys().cloned().collect::<BTreeSet<String>>();
    let (nodes_a, nodes_b) = (nodes(a), nodes(b));
    let (edges_a, edges_b) = (edges(a), edges(b));
    GraphChange {
        nodes_a: only(nodes_a.iter().collect(), nodes_b.iter().collect()),
        nodes_b: only(nodes_b.iter().collect(), nodes_a.iter().collect()),
        edges_a: only(edges_a.iter().collect(), edges_b.iter().collect()),
        edges_b: only(edges_b.iter().collect(), edges_a.iter().collect()),
    }
}

/// The last version of each artifact, and what was delivered.
fn texts(files: &Files) -> BTreeMap<String, ComparedText> {
    let mut all = BTreeMap::new();
    for file in &files.files {
        if let Some(last) = file.versions.last() {
            let (hash, bytes) = (last.hash.clone(), last.bytes);
            all.insert(file.path.clone(), ComparedText { hash, bytes });
        }
    }
    if let Some(made) = &files.delivered {
        let (hash, bytes) = (made.hash.clone(), made.bytes);
        all.insert(made.path.clone(), ComparedText { hash, bytes });
    }
    all
}

fn file_lines(a: &Files, b: &Files) -> Vec<FileLine> {
    let (one, other) = (texts(a), texts(b));
    let paths: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let lines = paths.into_iter().map(|path| {
        let (x, y) = (one.get(path).cloned(), other.get(path).cloned());
        let stands = match (&x, &y) {
            (Some(x), Some(y)) if x.hash == y.hash => FileStands::Same,
            (Some(_), Some(_)) => FileStands::Differs,
            (_, None) => FileStands::A,
            (None, _) => FileStands::B,
        };
        FileLine {
            path: path.clone(),
            stands,
            a: x,
            b: y,
            diff: None,
        }
    });
    let mut lines: Vec<FileLine> = lines.collect();
    lines.sort_by_key(|line| line.stands);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http::{DeliveredFile, FileVersion, FileVersions};

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_node_that_only_one_run_has_stands_where_its_own_graph_has_it() {
        let all = union(&names(&["a", "c"]), &names(&["a", "b", "c", "d"]));
        assert_eq!(all, names(&["a", "b", "c", "d"]));
        assert_eq!(
            union(&names(&["a"]), &names(&["x", "a"])),
            names(&["x", "a"])
        );
    }

    #[test]
    fn artifacts_differ_by_their_bytes_and_what_differs_comes_first() {
        let files = |pairs: &[(&str, &str)]| {
            let files = pairs.iter().map(|(path, hash)| FileVersions {
                path: (*path).to_owned(),
                versions: vec![FileVersion {
                    seq: 1,
                    hash: (*hash).to_owned(),
                    bytes: 1,
                    from: String::new(),
                    to: String::new(),
                    superseded: false,
                    by: None,
                    waits: false,
                }],
            });
            Files {
                files: files.collect(),
                delivered: None,
            }
        };
        let a = files(&[("same.md", "1"), ("n.md", "2"), ("mine.md", "4")]);
        let mut b = files(&[("same.md", "1"), ("n.md", "3"), ("yours.md", "5")]);
        b.delivered = Some(DeliveredFile {
            node: "x".to_owned(),
            path: "end.md".to_owned(),
            hash: "9".to_owned(),
            bytes: 3,
        });
        let lines = file_lines(&a, &b);
        let lines: Vec<(&str, FileStands)> = lines
            .iter()
            .map(|line| (line.path.as_str(), line.stands))
            .collect();
        assert_eq!(
            lines,
            [
                ("n.md", FileStands::Differs),
                ("mine.md", FileStands::A),
                ("end.md", FileStands::B),
                ("yours.md", FileStands::B),
                ("same.md", FileStands::Same),
            ]
        );
    }
}
