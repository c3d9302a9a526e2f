//! One item of a feed.

use serde::{Deserialize, Serialize};

use crate::at::At;
use crate::fact::operator::{AnsweredBefore, ConsentAnswer, DecidingRule};
use crate::handoff::{Delivery, HandoffWay};
use crate::id::{NodeId, Seq, TurnId};

/// When something is done again by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NextTry {
    /// After so many milliseconds.
    In(u64),
    /// At this moment.
    At(At),
}

/// What kind of item it is, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemKind {
    /// The role says something.
    Assistant,
    /// The operator says something.
    User,
    /// Something happened.
    Event,
    /// Something went wrong.
    Error,
    /// Work went from one node to another.
    Handoff,
    /// Something goes on.
    Resume,
    /// A role has to correct its outcome.
    Repair,
    /// The model thinks.
    Reasoning,
    /// A tool is at work.
    Tool,
    /// A tool did what it was asked.
    ToolSuccess,
    /// A tool did not.
    ToolError,
    /// A node begins.
    Activation,
}

/// One item of a feed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedItem {
    /// Its id, which never changes: the record that began it.
    pub id: String,
    /// What kind of item it is.
    #[serde(rename = "type")]
    pub kind: ItemKind,
    /// A few words.
    pub label: String,
    /// The rest.
    pub text: String,
    /// The event it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The record that last changed it.
    pub seq: Seq,
    /// When it began; of what the operator decided, when they did.
    pub at: At,
    /// The node it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The turn it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The call, the compaction or the request it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Whether it is not over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// Whether it was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether it does not count any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
    /// How long the text is in full, where only its beginning is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_bytes: Option<u64>,
    /// How the program that began it showed what a model thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_display: Option<String>,
    /// The request for consent that it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentItem>,
    /// When what failed is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<At>,
    /// What is handed over, in its order; absent where nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<DeliveredItem>,
}

/// One file that is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredItem {
    /// Its path.
    pub path: String,
    /// The node that gets it.
    pub to: NodeId,
    /// Whether the work is sent back with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub back: bool,
}

impl DeliveredItem {
    pub(super) fn each(deliveries: &[Delivery]) -> Vec<Self> {
        let item = |delivery: &Delivery| Self {
            path: delivery.artifact.path.clone(),
            to: delivery.receiver().clone(),
            back: delivery.way == HandoffWay::Backward,
        };
        deliveries.iter().map(item).collect()
    }
}

/// A request for consent and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentItem {
    /// The tool.
    pub tool: String,
    /// What it is about, in a line: a command, files, or how the text begins.
    pub about: String,
    /// The answer; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ConsentAnswer>,
    /// The rule that gave it, if the operator was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<DecidingRule>,
    /// What else gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beforehand: Option<AnsweredBefore>,
}

/// An answer, and what gave it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConsentReply {
    pub(super) answer: ConsentAnswer,
    pub(super) by: Option<DecidingRule>,
    pub(super) beforehand: Option<AnsweredBefore>,
}

impl ConsentItem {
    /// Notes the answer.
    pub(super) fn take(&mut self, reply: ConsentReply) {
        self.answer = Some(reply.answer);
        self.by = reply.by;
        self.beforehand = reply.beforehand;
    }
}

impl FeedItem {
    /// The same item with no more than so much text, without copying the rest.
    pub(super) fn shortened(&self, text_bytes_max: usize) -> Self {
        let text = beginning(&self.text, text_bytes_max);
        let full = self.text.len() as u64;
        let cut = text.len() < self.text.len();
        Self {
            id: self.id.clone(),
            kind: self.kind,
            label: self.label.clone(),
            text: text.to_owned(),
            event: self.event.clone(),
            seq: self.seq,
            at: self.at,
            node: self.node.clone(),
            turn: self.turn,
            call_id: self.call_id.clone(),
            pending: self.pending,
            interrupted: self.interrupted,
            discarded: self.discarded,
            full_bytes: self.full_bytes.or(cut.then_some(full)),
            reasoning_display: self.reasoning_display.clone(),
            consent: self.consent.clone(),
            again_at: self.again_at,
            deliveries: self.deliveries.clone(),
        }
    }

    /// Roughly how many bytes it takes in `feed.json`.
    #[must_use]
    pub(crate) fn approx_bytes(&self) -> u64 {
        let about = self.consent.as_ref().map_or(0, |note| note.about.len());
        let paths: usize = self.deliveries.iter().map(|it| it.path.len() + 40).sum();
        (self.text.len() + self.label.len() + about + paths + 160) as u64
    }
}

/// The longest beginning of a text that is no longer than so many bytes and cuts no character.
pub(super) fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_never_cuts_a_character() {
        assert_eq!(beginning("aé", 2), "a");
        assert_eq!(beginning("aé", 3), "aé");
        assert_eq!(beginning("aé", 9), "aé");
        assert_eq!(beginning("é", 0), "");
    }
}
