//! What travels between nodes: artifacts, along edges, forwards or back.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::id::NodeId;

/// A file as it was when it was handed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its path, relative to the record folder or the project.
    pub path: String,
    /// The hash of its bytes.
    pub hash: Hash,
    /// Its size.
    pub bytes: u64,
    /// Its bytes, while they are few and are text. Otherwise they are kept as a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A forward edge of the graph, by its ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EdgeName {
    /// Where it begins.
    pub from: NodeId,
    /// Where it leads.
    pub to: NodeId,
}

impl fmt::Display for EdgeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}", self.from, self.to)
    }
}

/// Which way along an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoffWay {
    /// From its beginning to its end: work goes on.
    Forward,
    /// From its end to its beginning: work goes back.
    Backward,
}

/// One artifact on its way along one edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The forward edge, whichever way the artifact goes.
    #[serde(flatten)]
    pub edge: EdgeName,
    /// Which way.
    pub way: HandoffWay,
    /// The artifact.
    pub artifact: Artifact,
}

impl Delivery {
    /// The node that receives it.
    #[must_use]
    pub fn receiver(&self) -> &NodeId {
        match self.way {
            HandoffWay::Forward => &self.edge.to,
            HandoffWay::Backward => &self.edge.from,
        }
    }
}
