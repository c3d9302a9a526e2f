//! The session of one role instance.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::draft::AnswerDraft;
use super::entry::SessionEntry;
use crate::at::At;
use crate::fact::request::RequestFrame;
use crate::fact::session::{SessionKind, SessionParent, SessionState, Strategy, Trigger};
use crate::fact::turn::Usage;
use crate::hash::Hash;
use crate::id::{FlowId, MessageId, NodeId, RoleInstance, Seq, SessionId, SessionKey, TurnId};
use crate::message::Text;

/// Where the exchanges of the current node begin.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeMark {
    /// The node.
    pub node: NodeId,
    /// The node that an imported session named beside it, where it was another one.
    pub named: Option<NodeId>,
    /// Its first message, counted from the beginning of the history.
    pub start: usize,
}

/// Why messages are in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveKind {
    /// A summary replaced them.
    Compact,
    /// They were the oldest, and nothing replaced them.
    Trim,
    /// The session began anew.
    Reset,
}

/// Messages that are not in the session any more, and what replaced them.
#[derive(Debug, Clone, PartialEq)]
pub struct Archive {
    /// The name of the archive, which is that of its compaction if there was one.
    pub id: String,
    /// Why they are in it.
    pub kind: ArchiveKind,
    /// The record that made it.
    pub seq: Seq,
    /// Who asked.
    pub trigger: Trigger,
    /// The node that was active; empty if none was.
    pub node_id: String,
    /// When.
    pub compacted_at: At,
    /// The history that was replaced.
    pub archived_transcript_history: Vec<SessionEntry>,
    /// What replaced it, if something did.
    pub replacement_message: Option<SessionEntry>,
    /// How it was compacted, if it was.
    pub strategy: Option<Strategy>,
    /// The context before, in tokens.
    pub tokens_before: u64,
    /// Why no model's summary was to be had.
    pub why: Option<String>,
    /// Where the current node's exchanges began in the history that was replaced.
    pub(super) mark: Option<NodeMark>,
    /// How many messages stayed before it.
    pub(super) kept_first: usize,
    /// The messages among those of the archive that stayed, each with its place.
    pub(super) stayed: Vec<(usize, MessageId)>,
}

/// What a session used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SessionUsage {
    /// How much of the window the last request filled.
    pub context: u64,
    /// Input, cached input included.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Both.
    pub total: u64,
    /// Cost, in millionths of its unit.
    #[serde(rename = "costMicros")]
    pub cost_micros: u64,
}

impl SessionUsage {
    pub(super) fn add(&mut self, usage: &Usage) {
        self.input = self.input.saturating_add(usage.all_input_tokens());
        self.output = self.output.saturating_add(usage.output_tokens);
        self.total = self.input.saturating_add(self.output);
        self.cost_micros = self.cost_micros.saturating_add(usage.cost_micros);
    }
}

/// The session of one role instance, as `transcript.json` holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    /// The flow, which is half of the session's logical id.
    pub flow: Option<FlowId>,
    /// The role instance.
    pub role: RoleInstance,
    /// The messages.
    pub messages: Vec<SessionEntry>,
    /// Messages of the operator that wait until the open turn is over.
    pub injected: Vec<SessionEntry>,
    /// The text that is being streamed; it shows after the messages.
    pub draft: Option<AnswerDraft>,
    /// The current node.
    pub node: Option<NodeMark>,
    /// Archived histories, oldest first.
    pub archives: Vec<Archive>,
    /// Whether a turn runs and does not wait for the operator.
    pub is_active: bool,
    /// The open turn that works in the session.
    pub turn: Option<TurnId>,
    /// Open turns that work beside the session; what they say is no message of it.
    pub asides: BTreeSet<TurnId>,
    /// The system prompt.
    pub system_prompt: Option<Text>,
    /// The hash of what the prompt was built from.
    pub fingerprint: Option<Hash>,
    /// How much of the window the last request filled; 0 after a compaction.
    pub latest_context_usage: u64,

    /// Its address.
    pub key: Option<SessionKey>,
    /// Its incarnation.
    pub session_id: Option<SessionId>,
    /// Which incarnation, from 1.
    pub generation: u32,
    /// What the key says it is.
    pub kind: SessionKind,
    /// Its state in its life.
    pub state: SessionState,
    /// Where it comes from.
    pub parent: Option<SessionParent>,
    /// Whose it is.
    pub user: Option<String>,
    /// What it used.
    pub usage: SessionUsage,
    /// The turns that began in it.
    pub turns: u64,
    /// The compaction that is under way.
    pub compaction: Option<String>,
    /// When it was opened.
    pub created_at: Option<At>,
    /// When it was last used.
    pub last_activity_at: Option<At>,
    /// The last record that changed it.
    pub journal_seq: Seq,
    /// The files that the role knows as they are, each by its path with its hash. They are not
    /// forgotten when messages are.
    pub seen: BTreeMap<String, Hash>,
    /// What its last request was made of besides the session.
    pub frame: Option<Box<RequestFrame>>,
    /// In a chat: where the exchange begins that is open, or that failed.
    pub(super) exchange: Option<usize>,
    /// Whether it failed, so that its messages are not there any more once the next one is.
    pub(super) is_undone: bool,
    /// Roughly how long the messages are.
    pub(super) live_bytes: u64,
    /// Of those, the ones before the current node.
    pub(super) before_node_bytes: u64,
    /// Roughly how long the archives are.
    pub(super) archived_bytes: u64,
}

impl SessionView {
    /// The session of a role instance, of which nothing is known yet.
    #[must_use]
    pub fn new(role: RoleInstance, flow: Option<FlowId>) -> Self {
        Self {
            flow,
            role,
            messages: Vec::new(),
            injected: Vec::new(),
            draft: None,
            node: None,
            archives: Vec::new(),
            is_active: false,
            turn: None,
            asides: BTreeSet::new(),
            system_prompt: None,
            fingerprint: None,
            latest_context_usage: 0,
            key: None,
            session_id: None,
            generation: 0,
            kind: SessionKind::Role,
            state: SessionState::Created,
            parent: None,
            user: None,
            usage: SessionUsage::default(),
            seen: BTreeMap::new(),
            frame: None,
            turns: 0,
            compaction: None,
            created_at: None,
            last_activity_at: None,
            journal_seq: 0,
            exchange: None,
            is_undone: false,
            live_bytes: 0,
            before_node_bytes: 0,
            archived_bytes: 0,
        }
    }

    /// The messages of the current node; all of them without a node.
    #[must_use]
    pub(crate) fn exchanges(&self) -> &[SessionEntry] {
        let start = self.node.as_ref().map_or(0, |mark| mark.start);
        self.messages.get(start..).unwrap_or(&[])
    }

    /// Roughly how long `transcript.json` is, without writing it.
    #[must_use]
    pub fn approx_bytes(&self) -> u64 {
        let draft = self.draft.as_ref().map_or(0, |draft| draft.text.len()) as u64;
        let node = match self.node {
            Some(_) => self.live_bytes.saturating_sub(self.before_node_bytes) + draft,
            None => 0,
        };
        let prompt = match &self.system_prompt {
            Some(Text::Inline(text)) => text.len(),
            Some(Text::Blob(kept)) => usize::try_from(kept.bytes).unwrap_or(usize::MAX),
            None => 0,
        };
        1024 + self.live_bytes + draft + node + self.archived_bytes + prompt as u64
    }

    pub(super) fn push(&mut self, entry: SessionEntry) {
        self.live_bytes += entry.approx_bytes();
        self.messages.push(entry);
    }

    /// Counts the messages anew, after they were moved about.
    pub(super) fn weigh(&mut self) {
        let weight =
            |entries: &[SessionEntry]| entries.iter().map(SessionEntry::approx_bytes).sum::<u64>();
        let start = self.node.as_ref().map_or(0, |mark| mark.start);
        self.live_bytes = weight(&self.messages);
        self.before_node_bytes = weight(self.messages.get(..start).unwrap_or(&[]));
        let compacted = self.archives.iter();
        self.archived_bytes = compacted
            .map(|archive| weight(&archive.archived_transcript_history))
            .sum();
    }
}
