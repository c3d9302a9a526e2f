//! A flow in a listing: what it is, its state, and what it waits for.

use serde::{Deserialize, Serialize};

use super::flow::{FlowState, FlowStatus, HeldRequest, OpenTurn, Parentage, SessionBrief};
use crate::at::At;
use crate::fact::node::WaitReason;
use crate::id::{FlowId, NodeId, ProjectName, RoleInstance, Seq};

/// One thing a flow waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// The node, except in the improvement phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Who waits.
    pub role: RoleInstance,
    /// For what.
    pub reason: WaitReason,
    /// Since when.
    pub since: At,
    /// When it goes on by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<At>,
    /// Whether the operator plays the role that waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own_turn: bool,
    /// Whether the operator answered it, and the role only has to take that up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answered: bool,
}

impl Wait {
    /// Whether nothing of it goes on before the operator answers. A chat that was answered asks for nothing.
    #[must_use]
    pub const fn is_asked(&self) -> bool {
        self.until.is_none() && !self.is_answered && !matches!(self.reason, WaitReason::Message)
    }

    /// Whether a chat waits for the next message.
    #[must_use]
    pub(crate) const fn is_message(&self) -> bool {
        !self.is_answered && matches!(self.reason, WaitReason::Message)
    }
}

/// A flow in a listing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowSummary {
    /// The project.
    pub project: Option<ProjectName>,
    /// The flow.
    pub flow_id: Option<FlowId>,
    /// How people call it.
    pub title: String,
    /// Its status.
    pub status: FlowStatus,
    /// What it waits for.
    pub waits: Vec<Wait>,
    /// How many nodes, or roles that reflect, are at work.
    pub running: usize,
    /// When the first request is sent again, if every turn waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<At>,
    /// What kind of failure that request met, in one stable word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_class: Option<String>,
    /// The same, with what it waits for, if its provider lets it wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldRequest>,
    /// Whether every role that is at work waits until its session is compacted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compacting: bool,
    /// When it was created.
    pub created_at: Option<At>,
    /// When the last fact was recorded.
    pub updated_at: Option<At>,
    /// The last record.
    pub seq: Seq,
    /// What was lost or damaged, one sentence each.
    pub damage: Vec<String>,
    /// Where it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parentage>,
    /// Tokens spent.
    pub tokens: u64,
    /// Money spent, in millionths of its unit.
    pub cost_micros: u64,
    /// Whether it is a chat.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_chat: bool,
    /// Whether it is a chat that was closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
    /// How many nodes its graph has.
    #[serde(default)]
    pub nodes: usize,
    /// How many of them have nothing left to do.
    #[serde(default)]
    pub done: usize,
}

impl FlowSummary {
    /// The summary of a state.
    #[must_use]
    pub fn of(state: &FlowState) -> Self {
        let waits = state.waits().map(|(node, waiting)| Wait {
            node: node.cloned(),
            role: waiting.role.clone(),
            reason: waiting.reason,
            since: waiting.since,
            until: state.goes_on_at(waiting),
            is_own_turn: waiting.is_own_turn,
            is_answered: !state.is_asked(node, waiting),
        });
        let lost = state
            .lost_blobs
            .iter()
            .map(|(blob, why)| format!("The blob {blob} is lost: {why}."));
        let cut = state.notices.iter().filter(|notice| notice.lossy);
        Self {
            project: state.project.clone(),
            flow_id: state.flow_id.clone(),
            title: state.title.clone(),
            status: state.status,
            waits: waits.collect(),
            running: running(state),
            retry_at: retry_at(state),
            retry_class: retry_class(state),
            held: held(state),
            compacting: compacting(state),
            created_at: state.created_at,
            updated_at: state.updated_at,
            seq: state.seq,
            damage: cut.map(|notice| notice.text.clone()).chain(lost).collect(),
            parent: state.parent.clone(),
            tokens: state.account.spent.tokens,
            cost_micros: state.account.spent.cost_micros,
            is_chat: state.chat.is_some(),
            is_closed: state.is_closed_chat(),
            nodes: state.graph.nodes.len(),
            done: state.done_nodes(),
        }
    }

    /// When the first limit resets for which a role waits, if one does.
    #[must_use]
    pub fn resets_at(&self) -> Option<At> {
        self.waits.iter().filter_map(|wait| wait.until).min()
    }

    /// Whether nothing of it will run any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.status.is_over()
    }

    /// The word for its status.
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        self.status.word()
    }

    /// Takes over what every fact changes, for facts that change nothing else of a summary.
    pub(super) fn tick(&mut self, state: &FlowState) {
        self.seq = state.seq;
        self.updated_at = state.updated_at;
    }
}

/// When the first request is sent again, if every open turn waits for that.
fn retry_at(state: &FlowState) -> Option<At> {
    let turns = state.turns.values();
    let each: Option<Vec<At>> = turns.map(OpenTurn::again_at).collect();
    each?.into_iter().min()
}

/// What kind of failure the first of them met.
fn retry_class(state: &FlowState) -> Option<String> {
    let first = retry_at(state)?;
    let mut turns = state.turns.values();
    let turn = turns.find(|turn| turn.again_at() == Some(first))?;
    turn.request.as_ref()?.failure_class.clone()
}

/// What the first of them waits for, if its provider lets it wait.
fn held(state: &FlowState) -> Option<HeldRequest> {
    let first = retry_at(state)?;
    let mut turns = state.turns.values().filter_map(|turn| turn.held.as_ref());
    turns.find(|held| held.until == first).cloned()
}

/// Whether a session is being compacted, and no role is at work whose session is not.
fn compacting(state: &FlowState) -> bool {
    let compacts = |session: &SessionBrief| session.compaction.is_some();
    let mut turns = state.turns.values();
    state.sessions.values().any(compacts)
        && turns.all(|turn| state.sessions.get(&turn.role).is_some_and(compacts))
}

fn running(state: &FlowState) -> usize {
    let reflecting = state.improvement.iter().flat_map(|improvement| {
        let work = improvement.feedback.work.iter();
        improvement.roles.values().chain(work)
    });
    let at_work = reflecting.filter(|role| role.findings.is_none() && role.waiting.is_none());
    state.running.len() + at_work.count()
}
