//! `transcript.json`, written straight from the session: no message is copied for it.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::draft::Draft;
use super::entry::Entry;
use super::view::SessionView;

/// Messages, and the text that is being streamed after them.
struct History<'a> {
    messages: &'a [Entry],
    draft: Option<&'a Draft>,
}

impl Serialize for History<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = self.messages.len() + usize::from(self.draft.is_some());
        let mut seq = serializer.serialize_seq(Some(length))?;
        for message in self.messages {
            seq.serialize_element(message)?;
        }
        if let Some(draft) = self.draft {
            seq.serialize_element(draft)?;
        }
        seq.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeContext<'a> {
    node_id: &'a str,
    exchanges: History<'a>,
}

impl Serialize for SessionView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_seed(&mut map)?;
        self.write_more(&mut map)?;
        map.end()
    }
}

fn some<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

impl SessionView {
    /// Writes `transcript.json` after what `out` holds.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let before = out.len();
        if serde_json::to_writer(&mut *out, self).is_err() {
            // Every key of every map here is a text, so this cannot happen; and if it did, a view
            // that is cut off would be worse than one that is plainly not there.
            out.truncate(before);
        }
        out.push(b'\n');
    }

    fn history<'a>(&'a self, messages: &'a [Entry]) -> History<'a> {
        History {
            messages,
            draft: self.draft.as_ref(),
        }
    }

    /// The members of a `RoleSession`, under exactly their names and in their order.
    fn write_seed<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("roleName", &self.role)?;
        let flow = self.flow.as_ref().map_or("", |flow| flow.as_str());
        map.serialize_entry("logicalSessionId", &format!("{flow}__{}", self.role))?;
        map.serialize_entry("transcriptHistory", &self.history(&self.messages))?;
        if let Some(mark) = &self.node {
            let context = NodeContext {
                node_id: mark.node.as_str(),
                exchanges: self.history(self.exchanges()),
            };
            map.serialize_entry("currentNodeContext", &context)?;
        }
        map.serialize_entry("compactionArchives", &self.archives)?;
        map.serialize_entry("isActive", &self.is_active)?;
        let node = self.node.as_ref().map(|mark| &mark.node);
        some(map, "currentNodeId", node)?;
        let prompt = self.system_prompt.as_ref().map(crate::message::Text::shown);
        some(map, "systemPrompt", prompt.as_ref())?;
        map.serialize_entry("latestContextUsage", &self.latest_context_usage)
    }

    /// What we know besides.
    fn write_more<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        some(map, "key", self.key.as_ref())?;
        some(map, "sessionId", self.session_id.as_ref())?;
        map.serialize_entry("generation", &self.generation)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("state", &self.state)?;
        some(map, "stateReason", self.expiry.as_ref())?;
        map.serialize_entry("surfaces", &self.surfaces)?;
        some(map, "parent", self.parent.as_ref())?;
        some(map, "user", self.user.as_ref())?;
        some(map, "label", self.label.as_ref())?;
        map.serialize_entry("metadata", &self.metadata)?;
        some(map, "sendPolicy", self.send_policy.as_ref())?;
        map.serialize_entry("settings", &self.settings)?;
        map.serialize_entry("usage", &self.usage)?;
        map.serialize_entry("turns", &self.turns)?;
        some(map, "turn", self.turn.as_ref())?;
        some(map, "compaction", self.compaction.as_ref())?;
        if !self.trims.is_empty() {
            map.serialize_entry("trimArchives", &self.trims)?;
        }
        if !self.incarnations.is_empty() {
            map.serialize_entry("previousIncarnations", &self.incarnations)?;
        }
        let prompt = self.system_prompt.as_ref();
        some(map, "systemPromptBlob", prompt.and_then(|text| text.blob()))?;
        some(map, "systemPromptFingerprint", self.fingerprint.as_ref())?;
        some(map, "createdAt", self.created_at.as_ref())?;
        some(map, "lastActivityAt", self.last_activity_at.as_ref())?;
        map.serialize_entry("journalSeq", &self.journal_seq)
    }
}
