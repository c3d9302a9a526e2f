//! Facts about a flow that another program began: its state when it was taken over, and the contents of
//! its sessions and feeds.
//!
//! They give the state only. How it came about was never recorded here, and nothing is made up for it:
//! no turn, no claim and no handoff. Whatever was open when the flow was taken over has ordinary facts,
//! after these, because this program goes on with it.

use serde::{Deserialize, Serialize};

use crate::at::At;
use crate::fact::session::Trigger;
use crate::handoff::{Delivery, EdgeName, HandoffWay};
use crate::hash::Hash;
use crate::id::{MessageId, NodeId, RoleInstance};
use crate::message::{BlobText, Message};
use crate::view::feed::ItemKind;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowImported {
    /// The version of the state it was kept in, as its files name it.
    pub state_version: String,
    /// The files it was read from, each kept as a blob, byte for byte.
    pub files: Vec<ImportedFile>,
    /// What of them no view shows, by file and member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_place: Vec<String>,
    /// Nodes that had been entered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visited: Vec<NodeId>,
    /// Edges whose forward work was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<EdgeName>,
    /// What had ever been passed along an edge, either way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<PassedAlong>,
    /// What had arrived and was not read, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub received: Vec<Delivery>,
    /// Nodes that waited for something to arrive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting_handoff: Vec<NodeId>,
    /// What the health checks of its project found at that time; absent if they did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ailments: Option<Vec<String>>,
}

/// A file that a flow was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedFile {
    /// Its path in the flow's folder.
    pub path: String,
    /// The blob that holds it.
    pub blob: Hash,
    /// Its size.
    pub bytes: u64,
}

/// What had been passed along an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedAlong {
    /// The edge.
    #[serde(flatten)]
    pub edge: EdgeName,
    /// The paths.
    pub paths: Vec<String>,
    /// The files as they were when the flow was imported, as far as they were there; each is a blob.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PassedFile>,
}

/// A file that had been passed along an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedFile {
    /// Which way along it.
    pub way: HandoffWay,
    /// Its path.
    pub path: String,
    /// The blob that holds it.
    pub blob: Hash,
    /// Its size.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionImported {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// Messages that follow those that were imported before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<ImportedMessage>,
    /// What the messages since the last such word are; absent while more of them follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub these: Option<These>,
}

/// A message of a session that was imported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedMessage {
    /// Its id from now on.
    pub id: MessageId,
    /// The message.
    pub said: Message,
    /// The blob that holds its whole content, of which the message then has only the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<BlobText>,
}

/// What imported messages are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum These {
    /// A history that had been compacted.
    Archive(ImportedArchive),
    /// The history as it was; nothing more is imported into the session.
    History(ImportedHistory),
}

/// A history that had been compacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedArchive {
    /// The compaction.
    pub id: String,
    /// Who had asked.
    pub trigger: Trigger,
    /// The node that was active; empty if none was.
    pub node_id: String,
    /// When.
    pub compacted_at: At,
    /// What took the history's place.
    pub replacement: ImportedMessage,
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedHistory {
    /// The current node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The node that the other program named beside it, where it was another one: it went on naming the
    /// last node of the work while a role looked back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<NodeId>,
    /// How many of the last messages are exchanges of that node.
    #[serde(default)]
    pub exchanges: u64,
    /// How much of the window the last request filled.
    #[serde(default)]
    pub context_tokens: u64,
    /// Whether its role was at work on its last message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_active: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedImported {
    /// The role instance whose session it is.
    pub role: RoleInstance,
    /// How many items were imported before these; none of another origin stays before the first.
    #[serde(default)]
    pub after: u64,
    /// The items that follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ImportedItem>,
}

/// An item of a feed that was imported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedItem {
    /// Its id.
    pub id: String,
    /// What kind of item it is.
    #[serde(rename = "type")]
    pub kind: ItemKind,
    /// A few words.
    pub label: String,
    /// The rest.
    pub text: String,
    /// How the program that began it showed what a model thought.
    #[serde(
        default,
        rename = "reasoningDisplay",
        skip_serializing_if = "Option::is_none"
    )]
    pub reasoning_display: Option<String>,
}
