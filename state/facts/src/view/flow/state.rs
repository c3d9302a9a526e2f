//! The state of a flow, as `flow.json` holds it.
//!
//! It grows with the graph, with the roles and with what is open, never with the number of facts.
//! The two exceptions are bounded by people: paths that were handed over, and proposed changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::chart::Chart;
use super::counted_commands::SeenCommands;
use super::imported::Origins;
use super::parts::{
    Account, Configuration, OpenCall, OpenConsent, OpenTurn, OperatorMessage, OperatorWait,
    RunningNode, SessionBrief, StagedHandoff, WantedRun,
};
use super::phase::{FileChangeState, FlowPhase, FlowStatus, Improvement, Notice, Parentage, Pause};
use crate::at::At;
use crate::fact::chat::ChatTerms;
use crate::fact::flow::{Ends, TokenBudget};
use crate::fact::journal::ProcessName;
use crate::fact::operator::{ConsentMode, ConsentRules, Grant};
use crate::fact::session::SessionState;
use crate::handoff::{Delivery, EdgeName};
use crate::hash::Hash;
use crate::id::{
    ApprovalId, CallId, ConsentId, FlowId, NodeId, ProjectName, RoleInstance, Seq, TurnId,
};
use crate::message::Text;

/// The state of a flow.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowState {
    /// The flow; absent before the first record.
    pub flow_id: Option<FlowId>,
    /// The project; absent until the flow is created.
    pub project: Option<ProjectName>,
    /// How people call it.
    pub title: String,
    /// Its status.
    pub status: FlowStatus,
    /// How far it came, whether it pauses or not.
    pub phase: FlowPhase,
    /// Its pause, if it pauses.
    pub paused: Option<Pause>,
    /// What it was asked to do.
    pub input: Option<Text>,
    /// Where the graph was read from.
    pub origin: Option<String>,
    /// Whether the graph is a draft.
    pub draft: bool,
    /// How it is to end, as far as that was chosen when it began.
    #[serde(default, skip_serializing_if = "Ends::is_open")]
    pub ends: Ends,
    /// The budget of tokens with which it began, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenBudget>,
    /// That it is a chat, and which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<Box<ChatTerms>>,
    /// When it was created.
    pub created_at: Option<At>,
    /// When the last fact was recorded.
    pub updated_at: Option<At>,
    /// The last record that is folded in.
    pub seq: Seq,
    /// Where it was forked from.
    pub parent: Option<Parentage>,
    /// Where it was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Origins>,

    /// The graph.
    pub graph: Chart,
    /// The role of the start node, who owns the flow.
    pub owner: Option<RoleInstance>,
    /// Nodes that were claimed at least once.
    pub visited: BTreeSet<NodeId>,
    /// Of those that were claimed more than once, how often after the first time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub entered_again: BTreeMap<NodeId, u32>,
    /// Nodes of those that still owe an edge: one that leaves them, is not optional and is not
    /// completed.
    pub owing: BTreeSet<NodeId>,
    /// Nodes whose role has them.
    pub running: BTreeMap<NodeId, RunningNode>,
    /// Nodes that wait for the operator.
    pub awaiting_operator: BTreeMap<NodeId, OperatorWait>,
    /// Nodes that wait for something to arrive.
    pub awaiting_handoff: BTreeSet<NodeId>,
    /// Nodes that the operator, or something that became available, wants to run.
    pub wanted: BTreeMap<NodeId, WantedRun>,
    /// The nodes that were at work, or waited for the operator, when the flow was cancelled.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub cut_off: BTreeSet<NodeId>,
    /// Replies that their nodes have not read, oldest first.
    pub replies: BTreeMap<NodeId, Vec<OperatorMessage>>,
    /// Messages to roles that they have not got, oldest first.
    pub steers: BTreeMap<RoleInstance, Vec<OperatorMessage>>,
    /// Handoffs that wait for the operator's decision, or that have it and are not yet applied.
    pub staged: BTreeMap<ApprovalId, StagedHandoff>,
    /// Edges whose forward work is done.
    pub completed_edges: BTreeSet<EdgeName>,
    /// What arrived and was not read, oldest first.
    pub received: Vec<Delivery>,
    /// The paths that were ever passed along each edge, by its beginning and its end.
    pub history: BTreeMap<NodeId, BTreeMap<NodeId, BTreeSet<String>>>,
    /// The same paths, whatever edge they were passed along.
    pub passed: BTreeSet<String>,

    /// The number the next turn gets.
    pub next_turn: u64,
    /// Turns that are not over.
    pub turns: BTreeMap<TurnId, OpenTurn>,
    /// Tool calls that were intended and have no result.
    pub calls: BTreeMap<CallId, OpenCall>,
    /// Requests for consent without an answer.
    pub consents: BTreeMap<ConsentId, OpenConsent>,
    /// How much the flow may do without asking.
    pub consent_mode: ConsentMode,
    /// What need not be asked again.
    pub grants: BTreeSet<Grant>,
    /// The operator's standing rules for this flow.
    #[serde(default, skip_serializing_if = "ConsentRules::is_empty")]
    pub rules: ConsentRules,
    /// The MCP servers the operator trusts, by the hash of their definitions.
    pub mcp_servers: BTreeMap<String, Hash>,
    /// The MCP servers that roles work without, and why, since the last turn of the role began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub absent_servers: BTreeMap<RoleInstance, BTreeMap<String, String>>,
    /// The roles whose model and tools are chosen.
    pub configurations: BTreeMap<RoleInstance, Configuration>,
    /// The sessions, by their roles.
    pub sessions: BTreeMap<RoleInstance, SessionBrief>,

    /// The flow's budget and what it spent.
    pub account: Account,
    /// The budgets of roles and what they spent.
    pub role_accounts: BTreeMap<RoleInstance, Account>,
    /// The improvement phase, once it is chosen.
    pub improvement: Option<Improvement>,
    /// Proposed changes to files of the project.
    pub changes: BTreeMap<String, FileChangeState>,

    /// The segment that is written to.
    pub segment: u32,
    /// The process that writes.
    pub writer: Option<ProcessName>,
    /// Blobs that are missing or damaged, and which of the two.
    pub lost_blobs: BTreeMap<Hash, String>,
    /// What recoveries and repairs did to the journal, oldest first.
    pub notices: Vec<Notice>,
    /// The commands of clients that already counted.
    pub clients: SeenCommands,
}

impl FlowState {
    /// Whether it is a chat that was closed.
    #[must_use]
    pub fn is_closed_chat(&self) -> bool {
        let mut sessions = self.sessions.values();
        self.chat.is_some() && sessions.any(|session| session.state == SessionState::Expired)
    }

    /// Writes `flow.json` after what `out` holds.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let before = out.len();
        if serde_json::to_writer(&mut *out, self).is_err() {
            // Every key of every map here is a text, so this cannot happen; and if it did, a view
            // that is cut off would be worse than one that is plainly not there.
            out.truncate(before);
        }
        out.push(b'\n');
    }

    /// Roughly how long `flow.json` is, without writing it.
    #[must_use]
    pub fn approx_bytes(&self) -> u64 {
        const EACH_SMALL: usize = 120;
        const EACH_LARGE: usize = 600;
        let small = self.graph.nodes.len()
            + self.graph.edges.len()
            + self.visited.len()
            + self.completed_edges.len()
            + self.grants.len()
            + self.rules.len()
            + self.clients.len()
            + self.lost_blobs.len();
        let carried = |delivery: &Delivery| delivery.artifact.text.as_ref().map_or(0, String::len);
        let received = (self.running.values()).flat_map(|running| &running.received);
        let texts: usize = self.received.iter().chain(received).map(carried).sum();
        let large = self.running.len()
            + self.awaiting_operator.len()
            + self.received.len()
            + self.turns.len()
            + self.calls.len()
            + self.consents.len()
            + self.sessions.len()
            + self.role_accounts.len()
            + self.changes.len()
            + self.notices.len()
            + self.history.len();
        (2048 + small * EACH_SMALL + large * EACH_LARGE + texts) as u64
    }
}
