//! What compaction, trimming, restoring, resetting and forking do to a session. Messages are moved,
//! never copied: an archive may be as large as the session was.

use std::collections::BTreeMap;
use std::mem;

use super::entry::SessionEntry;
use super::view::{Archive, ArchiveKind, NodeMark, SessionView};
use crate::at::At;
use crate::fact::session::{
    ArchiveRestored, MessagesTrimmed, Origin, SessionCompacted, SessionKind, SessionRenewed,
    SessionState, Trigger,
};
use crate::fact::turn::TurnEnd;
use crate::id::Seq;
use crate::message::Message;

impl SessionView {
    /// Takes all but the last messages out, and says where the cut was.
    fn cut(&mut self, kept_last: u64) -> (Vec<SessionEntry>, usize) {
        let kept = usize::try_from(kept_last).unwrap_or(usize::MAX);
        let cut = self.messages.len().saturating_sub(kept);
        let kept = self.messages.split_off(cut);
        (mem::replace(&mut self.messages, kept), cut)
    }

    /// The node's exchanges begin where they began, or with the message that replaces those from `first` to `cut`.
    fn shift_mark(&mut self, first: usize, cut: usize) {
        if let Some(mark) = &mut self.node
            && mark.start >= first
        {
            mark.start = if mark.start < cut {
                first
            } else {
                mark.start - cut + first + 1
            };
        }
    }

    /// The person of a chat sends a message. An exchange before it that failed is rolled back: what a model
    /// sees are exchanges that are complete, and the journal has all of them.
    pub(super) fn exchange_begins(&mut self) {
        if !self.is_chat() {
            return;
        }
        if self.is_undone
            && let Some(start) = self.exchange
        {
            // What the operator put in beside the exchange is no part of it.
            let undone = self.messages.split_off(start);
            let beside = |entry: &SessionEntry| entry.origin == Some(Origin::Injection);
            self.messages.extend(undone.into_iter().filter(beside));
            self.weigh();
        }
        if self.is_undone || self.exchange.is_none() {
            self.exchange = Some(self.messages.len());
        }
        self.is_undone = false;
    }

    /// A turn of a chat is over: its exchange is complete, or may be rolled back, or goes on with what the person says
    /// after a denial.
    pub(super) fn exchange_ended(&mut self, end: TurnEnd) {
        if !self.is_chat() {
            return;
        }
        match end {
            TurnEnd::Outcome => (self.exchange, self.is_undone) = (None, false),
            TurnEnd::Stopped | TurnEnd::Failed | TurnEnd::TurnLimit => self.is_undone = true,
            TurnEnd::Waiting => {}
        }
    }

    fn is_chat(&self) -> bool {
        self.kind == SessionKind::Other
    }

    pub(super) fn compacted(&mut self, seq: Seq, at: At, f: &SessionCompacted) {
        // A failed exchange is in the summary by now.
        (self.exchange, self.is_undone) = (None, false);
        let message = Message::User {
            content: f.replacement.shown(),
        };
        let mut entry = SessionEntry::new(message, Some(f.message.clone()), seq, at)
            .with_blob_of(&f.replacement);
        entry.origin = Some(Origin::Compaction);
        entry.node.clone_from(&f.node);
        let mark = self.node.clone();
        let (mut kept, cut) = self.cut(f.kept_last);
        let first = usize::try_from(f.kept_first).unwrap_or(usize::MAX);
        let archived = kept.split_off(first.min(kept.len()));
        let kept_first = kept.len();
        kept.push(entry.clone());
        self.messages.splice(0..0, kept);
        self.shift_mark(kept_first, cut);
        self.archives.push(Archive {
            id: f.compaction.clone(),
            kind: ArchiveKind::Compact,
            seq,
            trigger: f.trigger,
            node_id: f.node.as_ref().map(ToString::to_string).unwrap_or_default(),
            compacted_at: at,
            archived_transcript_history: archived,
            replacement_message: Some(entry),
            strategy: Some(f.strategy),
            tokens_before: f.tokens_before,
            why: f.why.clone(),
            mark,
            kept_first,
            stayed: Vec::new(),
        });
        self.compaction = None;
        self.latest_context_usage = 0;
        self.usage.context = 0;
        self.last_activity_at = Some(at);
        self.weigh();
    }

    pub(super) fn restored(&mut self, f: &ArchiveRestored) {
        (self.exchange, self.is_undone) = (None, false);
        if let Some(place) = self.archives.iter().position(|a| a.id == f.archive) {
            let archive = self.archives.remove(place);
            // The next request fills what it filled then, and the messages since.
            self.latest_context_usage = self
                .latest_context_usage
                .saturating_add(archive.tokens_before);
            self.usage.context = self.latest_context_usage;
            match archive.kind {
                ArchiveKind::Compact => self.restore_compacted(archive),
                ArchiveKind::Trim | ArchiveKind::Reset => self.restore_cut(archive),
            }
        }
        self.weigh();
    }

    /// The history comes back before everything, with those of its messages that had stayed where they had been.
    fn restore_cut(&mut self, archive: Archive) {
        let mut stayed: BTreeMap<usize, SessionEntry> = BTreeMap::new();
        let (mut out_before_mark, mut lost_before_mark) = (0, 0);
        let old_start = archive.mark.as_ref().map_or(0, |mark| mark.start);
        let start = self.node.as_ref().map_or(0, |mark| mark.start);
        for (place, id) in archive.stayed {
            let is_it = |entry: &SessionEntry| entry.id.as_ref() == Some(&id);
            if let Some(at) = self.messages.iter().position(is_it) {
                stayed.insert(place, self.messages.remove(at));
                out_before_mark += usize::from(at + stayed.len() <= start);
            } else {
                lost_before_mark += usize::from(place < old_start);
            }
        }
        let mut history = Vec::new();
        let mut archived = archive.archived_transcript_history.into_iter();
        loop {
            let kept = stayed.remove(&history.len());
            match kept.or_else(|| archived.next()) {
                Some(entry) => history.push(entry),
                None => break,
            }
        }
        history.extend(stayed.into_values());
        let length = history.len();
        if let Some(mark) = &mut self.node {
            let same = archive.mark.as_ref().filter(|old| old.node == mark.node);
            mark.start = match same {
                Some(old) if old.start < length => old.start - lost_before_mark,
                Some(_) | None => mark.start + length - out_before_mark,
            };
        }
        self.messages.splice(0..0, history);
    }

    pub(super) fn trimmed(&mut self, seq: Seq, at: At, f: &MessagesTrimmed) {
        let mark = self.node.clone();
        let (all, cut) = self.cut(f.kept_last);
        let (mut archived, mut stayed, mut stays) = (Vec::new(), Vec::new(), Vec::new());
        for (place, entry) in all.into_iter().enumerate() {
            match entry.id.clone().filter(|id| f.kept.contains(id)) {
                Some(id) => {
                    stayed.push((place, id));
                    stays.push(entry);
                }
                None => archived.push(entry),
            }
        }
        if let Some(mark) = &mut self.node {
            let early = stayed.iter().filter(|(place, _)| *place < mark.start);
            mark.start = early.count() + mark.start.saturating_sub(cut);
        }
        self.exchange = self.exchange.map(|start| {
            let early = stayed.iter().filter(|(place, _)| *place < start);
            early.count() + start.saturating_sub(cut)
        });
        self.messages.splice(0..0, stays);
        self.archives.push(Archive {
            mark,
            stayed,
            ..self.archive_of_cut(&f.archive, ArchiveKind::Trim, (seq, at), archived)
        });
        self.forget_context(at);
    }

    /// A new incarnation begins. What the one before spent is spent.
    pub(super) fn renewed(&mut self, seq: Seq, at: At, f: &SessionRenewed) {
        let all = mem::take(&mut self.messages);
        let archive = self.archive_of_cut(&f.archive, ArchiveKind::Reset, (seq, at), all);
        self.archives.push(archive);
        self.node = None;
        (self.exchange, self.is_undone) = (None, false);
        self.session_id = Some(f.session.clone());
        self.generation = f.generation;
        self.state = SessionState::Created;
        self.created_at = Some(at);
        // The new incarnation read no file.
        self.seen.clear();
        self.forget_context(at);
    }

    fn archive_of_cut(
        &self,
        id: &str,
        kind: ArchiveKind,
        (seq, at): (Seq, At),
        history: Vec<SessionEntry>,
    ) -> Archive {
        let node = self.node.as_ref().map(|mark| mark.node.to_string());
        Archive {
            id: id.to_owned(),
            kind,
            seq,
            trigger: Trigger::Manual,
            node_id: node.unwrap_or_default(),
            compacted_at: at,
            archived_transcript_history: history,
            replacement_message: None,
            strategy: None,
            tokens_before: self.latest_context_usage,
            why: None,
            mark: None,
            kept_first: 0,
            stayed: Vec::new(),
        }
    }

    /// How much the next request fills is not known any more.
    fn forget_context(&mut self, at: At) {
        self.latest_context_usage = 0;
        self.usage.context = 0;
        self.last_activity_at = Some(at);
        self.weigh();
    }

    /// The history comes back in place of its summary. If that message is itself in
    /// an archive by now, the history comes before everything.
    fn restore_compacted(&mut self, archive: Archive) {
        let history = archive.archived_transcript_history;
        let (length, first) = (history.len(), archive.kept_first);
        let replacement = archive.replacement_message.and_then(|it| it.id);
        let stands_for = |entry: &SessionEntry| replacement.is_some() && entry.id == replacement;
        let (at, gone) = match self.messages.iter().position(stands_for) {
            Some(at) => (at, 1),
            None => (0, 0),
        };
        self.messages.splice(at..at + gone, history);
        let Some(mark) = &mut self.node else {
            return;
        };
        let same = archive.mark.as_ref().filter(|old| old.node == mark.node);
        mark.start = match same {
            // They begin before the history.
            Some(NodeMark { start, .. }) if *start < first && mark.start < at => mark.start,
            // The node has gone on since: its exchanges begin where they had begun.
            Some(NodeMark { start, .. }) if mark.start <= at => {
                at + start.saturating_sub(first).min(length)
            }
            Some(_) | None if mark.start <= at => mark.start,
            Some(_) | None => mark.start + length - gone,
        };
        mark.start = mark.start.min(self.messages.len());
    }

    /// Begins with another session's messages, as far as they were there at a record. What was
    /// compacted later is not taken in its shortened form: text from past the point is not ours.
    pub(crate) fn begin_from(&mut self, other: &Self, at_seq: Seq) {
        let mut all: Vec<&SessionEntry> = other.messages.iter().collect();
        let later = other.archives.iter().rev();
        for archive in later.filter(|archive| archive.seq > at_seq) {
            let replacement = archive.replacement_message.as_ref();
            let replacement = replacement.and_then(|entry| entry.id.as_ref());
            let stands_for =
                |entry: &&SessionEntry| replacement.is_some() && entry.id.as_ref() == replacement;
            let at = all.iter().position(stands_for);
            let gone = at.map_or(0..0, |at| at..at + 1);
            all.splice(gone, archive.archived_transcript_history.iter());
        }
        let early = all.into_iter().filter(|entry| entry.seq <= at_seq);
        self.messages = early.cloned().collect();
        self.system_prompt.clone_from(&other.system_prompt);
        self.fingerprint = other.fingerprint;
        self.node = None;
        self.weigh();
    }
}
