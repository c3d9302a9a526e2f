//! `transcript.json`, written straight from the session: no message is copied for it.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::draft::AnswerDraft;
use super::entry::{SessionEntry, Texts, WithTexts};
use super::view::{Archive, ArchiveKind, SessionView};
use crate::message::Text;

/// Messages, and the text that is being streamed after them.
struct WrittenHistory<'a> {
    messages: &'a [SessionEntry],
    draft: Option<&'a AnswerDraft>,
    texts: Texts<'a>,
}

impl Serialize for WrittenHistory<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = self.messages.len() + usize::from(self.draft.is_some());
        let mut seq = serializer.serialize_seq(Some(length))?;
        for of in self.messages {
            let texts = self.texts;
            seq.serialize_element(&WithTexts { of, texts })?;
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
    exchanges: WrittenHistory<'a>,
}

impl Serialize for WithTexts<'_, SessionView> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.of.write_seed(&mut map, self.texts)?;
        self.of.write_more(&mut map)?;
        map.end()
    }
}

impl Serialize for SessionView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let texts = Texts::BEGINNINGS;
        WithTexts { of: self, texts }.serialize(serializer)
    }
}

impl Serialize for WithTexts<'_, Archive> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (archive, texts) = (self.of, self.texts);
        let history = WithTexts {
            of: archive.archived_transcript_history.as_slice(),
            texts,
        };
        let replacement = archive.replacement_message.as_ref();
        let replacement = replacement.map(|of| WithTexts { of, texts });
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &archive.id)?;
        let kind = Some(archive.kind).filter(|kind| *kind != ArchiveKind::Compact);
        some(&mut map, "kind", kind.as_ref())?;
        map.serialize_entry("trigger", &archive.trigger)?;
        map.serialize_entry("nodeId", &archive.node_id)?;
        map.serialize_entry("compactedAt", &archive.compacted_at)?;
        map.serialize_entry("archivedTranscriptHistory", &history)?;
        some(&mut map, "replacementMessage", replacement.as_ref())?;
        some(&mut map, "strategy", archive.strategy.as_ref())?;
        map.serialize_entry("tokensBefore", &archive.tokens_before)?;
        some(&mut map, "why", archive.why.as_ref())?;
        map.end()
    }
}

/// The archives of a session.
struct WrittenArchives<'a> {
    all: &'a [Archive],
    texts: Texts<'a>,
}

impl Serialize for WrittenArchives<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let texts = self.texts;
        serializer.collect_seq(self.all.iter().map(|of| WithTexts { of, texts }))
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
    /// Writes `transcript.json` after what `out` holds, with the texts that are kept as blobs.
    pub fn write_json(&self, out: &mut Vec<u8>, texts: Texts<'_>) {
        let before = out.len();
        if serde_json::to_writer(&mut *out, &WithTexts { of: self, texts }).is_err() {
            // Every key of every map here is a text, so this cannot happen; and if it did, a view
            // that is cut off would be worse than one that is plainly not there.
            out.truncate(before);
        }
        out.push(b'\n');
    }

    /// One archive of the session, as `transcript.json` has it.
    #[must_use]
    pub fn archive_json(&self, id: &str, texts: Texts<'_>) -> Option<Vec<u8>> {
        let of = self.archives.iter().find(|archive| archive.id == id)?;
        serde_json::to_vec(&WithTexts { of, texts }).ok()
    }

    fn history<'a>(&'a self, messages: &'a [SessionEntry], texts: Texts<'a>) -> WrittenHistory<'a> {
        WrittenHistory {
            messages,
            draft: self.draft.as_ref(),
            texts,
        }
    }

    /// The members of a `RoleSession`, under exactly their names and in their order.
    fn write_seed<M: SerializeMap>(&self, map: &mut M, texts: Texts<'_>) -> Result<(), M::Error> {
        map.serialize_entry("roleName", &self.role)?;
        let flow = self.flow.as_ref().map_or("", |flow| flow.as_str());
        map.serialize_entry("logicalSessionId", &format!("{flow}__{}", self.role))?;
        map.serialize_entry("transcriptHistory", &self.history(&self.messages, texts))?;
        if let Some(mark) = &self.node {
            let context = NodeContext {
                node_id: mark.node.as_str(),
                exchanges: self.history(self.exchanges(), texts),
            };
            map.serialize_entry("currentNodeContext", &context)?;
        }
        let all = self.archives.as_slice();
        map.serialize_entry("compactionArchives", &WrittenArchives { all, texts })?;
        map.serialize_entry("isActive", &self.is_active)?;
        let mark = self.node.as_ref();
        let node = mark.map(|mark| mark.named.as_ref().unwrap_or(&mark.node));
        some(map, "currentNodeId", node)?;
        let whole = |text: &Text| text.blob().and_then(|kept| (texts.0)(kept.blob));
        let prompt = self.system_prompt.as_ref();
        let prompt = prompt.map(|text| whole(text).unwrap_or_else(|| text.shown()));
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
        some(map, "parent", self.parent.as_ref())?;
        some(map, "user", self.user.as_ref())?;
        map.serialize_entry("usage", &self.usage)?;
        map.serialize_entry("turns", &self.turns)?;
        some(map, "turn", self.turn.as_ref())?;
        some(map, "compaction", self.compaction.as_ref())?;
        let prompt = self.system_prompt.as_ref();
        some(map, "systemPromptBlob", prompt.and_then(|text| text.blob()))?;
        some(map, "systemPromptFingerprint", self.fingerprint.as_ref())?;
        some(map, "createdAt", self.created_at.as_ref())?;
        some(map, "lastActivityAt", self.last_activity_at.as_ref())?;
        map.serialize_entry("journalSeq", &self.journal_seq)
    }
}
