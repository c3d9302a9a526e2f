//! What a session held when its flow was imported.

use std::mem;

use super::entry::SessionEntry;
use super::view::{Archive, ArchiveKind, NodeMark, SessionView};
use crate::at::At;
use crate::fact::imported::{
    ImportedArchive, ImportedHistory, ImportedMessage, SessionImported, These,
};
use crate::fact::session::Strategy;
use crate::id::Seq;

impl SessionView {
    pub(super) fn imported(&mut self, seq: Seq, at: At, f: &SessionImported) {
        for message in &f.messages {
            self.push(entry(seq, at, message));
        }
        match &f.these {
            Some(These::Archive(archive)) => self.archived(seq, archive),
            Some(These::History(history)) => self.stood(at, history),
            None => {}
        }
        self.weigh();
    }

    fn archived(&mut self, seq: Seq, f: &ImportedArchive) {
        self.archives.push(Archive {
            id: f.id.clone(),
            kind: ArchiveKind::Compact,
            seq,
            trigger: f.trigger,
            node_id: f.node_id.clone(),
            compacted_at: f.compacted_at,
            archived_transcript_history: mem::take(&mut self.messages),
            replacement_message: Some(entry(seq, f.compacted_at, &f.replacement)),
            strategy: Some(Strategy::NodeSummary),
            tokens_before: 0,
            why: None,
            mark: None,
            kept_first: 0,
            stayed: Vec::new(),
        });
    }

    fn stood(&mut self, at: At, f: &ImportedHistory) {
        let exchanges = usize::try_from(f.exchanges).unwrap_or(usize::MAX);
        self.node = f.node.clone().map(|node| NodeMark {
            node,
            named: f.named.clone(),
            start: self.messages.len().saturating_sub(exchanges),
        });
        self.latest_context_usage = f.context_tokens;
        self.usage.context = f.context_tokens;
        self.is_active = f.is_active;
        self.touch(at);
    }
}

fn entry(seq: Seq, at: At, message: &ImportedMessage) -> SessionEntry {
    let mut entry = SessionEntry::new(message.said.clone(), Some(message.id.clone()), seq, at);
    entry.blob = message.whole.as_ref().map(|kept| (kept.blob, kept.bytes));
    entry
}
