//! What a role is asked to do in one turn.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::fact::operator::ConsentRules;
use a_society_facts::fact::turn::{FileChange, RawValueEq, StopReason};
use a_society_facts::id::{FlowId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::Message;

use crate::handoff::AllowedOutcomes;

/// One turn, as its taker sees it.
#[derive(Debug, Clone)]
pub struct TurnJob {
    /// The flow.
    pub flow: FlowId,
    /// The turn.
    pub turn: TurnId,
    /// Which try at it.
    pub attempt: u32,
    /// Who takes it.
    pub role: RoleInstance,
    /// The node, except in the improvement phase.
    pub node: Option<NodeId>,
    /// How many turns this role instance has begun at this node before this one.
    pub turns_before: u32,
    /// Whether a crash cut off an earlier try of this turn.
    pub resumed: bool,
    /// The system prompt.
    pub system_prompt: String,
    /// The whole conversation of the session, this turn's packet included.
    pub history: Vec<Arc<Message>>,
    /// Blocks that a provider wants back unchanged, by the place of their answer in the history.
    pub provider_blocks: BTreeMap<usize, Arc<RawValueEq>>,
    /// Where the exchanges of the present node begin in the history.
    pub exchanges_from: usize,
    /// How many tokens the last request filled, as far as its provider counted.
    pub context_tokens: u64,
    /// What was chosen for the role: its model, how hard it is to think, and so on.
    pub settings: BTreeMap<String, String>,
    /// The files that the role knows as they are, each by its path with its hash.
    pub seen: Arc<BTreeMap<String, Hash>>,
    /// The files of calls of this turn that an earlier try began, as they were to be changed, by the ids
    /// under which the transcript knows the calls.
    pub begun: BTreeMap<String, Vec<FileChange>>,
    /// The commands that run beside this turn as far as its session says, by their numbers.
    pub left_running: BTreeMap<u32, String>,
    /// The MCP servers that the flow trusts, by the hashes of their definitions.
    pub servers: BTreeMap<String, Hash>,
    /// The operator's standing decisions about calls of this flow.
    pub rules: ConsentRules,
    /// What this turn was begun with: the entry packet, or the operator's reply.
    pub packet: String,
    /// What the turn may end with.
    pub allowed: AllowedOutcomes,
    /// How many answers of this turn are recorded already; the next request continues from there.
    pub answers_before: u32,
    /// What the flow is called.
    pub flow_title: String,
    /// The name of the project, if the flow has one.
    pub project_name: Option<String>,
    /// The day on which the turn began.
    pub date: String,
    /// The flow and those it was forked from, whose old paths still mean this flow's files.
    pub lineage: Vec<FlowId>,
    /// The nodes that the role can ever hand to, in the order of the graph; nothing while the flow
    /// has no graph of its own.
    pub neighbours: Option<Arc<[String]>>,
    /// Whether the role has the node that closes the flow.
    pub closes: bool,
    /// Why the last of them ended.
    pub last_stop: Option<StopReason>,
    /// The folder of the flow's own files.
    pub record: PathBuf,
    /// The folder of the project.
    pub project: PathBuf,
}

/// What a turn begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BegunWith {
    /// The packet of a node that was entered, or of a phase.
    Packet,
    /// What the operator answered.
    Reply,
    /// Either of them, and then the outcome that it led to could not be applied. The last words of
    /// the history say why.
    Repair,
}
