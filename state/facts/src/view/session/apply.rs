//! How facts change a session. Facts about other sessions leave it as it was.

use std::mem;
use std::sync::Arc;

use super::draft::AnswerDraft;
use super::entry::SessionEntry;
use super::view::{NodeMark, SessionView};
use crate::at::At;
use crate::fact::Fact;
use crate::fact::columns::SessionFact;
use crate::fact::node::WaitReason;
use crate::fact::session::{
    MessageAdded, MessageInjected, Origin, SessionOpened, SessionState, Speaker,
};
use crate::fact::turn::{
    CallEnd, CallFinished, DraftAdded, DraftDiscarded, DraftKept, DraftKind, ModelAnswered,
    ModelRequested, TurnEnded, TurnStarted,
};
use crate::id::Seq;
use crate::limits::SEEN_FILES_MAX;
use crate::line::{Body, Recorded};
use crate::message::{AnswerText, Message};
use crate::view::FactView;
use crate::view::route::session_role;

impl FactView for SessionView {
    fn apply(&mut self, recorded: &Recorded) {
        let fact = match &recorded.body {
            Body::Known(fact) => fact,
            Body::Foreign { .. } => return,
        };
        if let Fact::SegmentStarted(segment) = fact {
            self.flow = Some(segment.flow.clone());
            return;
        }
        if session_role(fact) != Some(&self.role) {
            return;
        }
        if let Some(fact) = fact.of_session() {
            self.journal_seq = recorded.seq;
            self.fold(recorded.seq, recorded.at, fact);
        }
    }
}

impl SessionView {
    fn fold(&mut self, seq: Seq, at: At, fact: SessionFact<'_>) {
        match fact {
            // Where another program had asked for consent, the turn stays as it was left.
            SessionFact::NodeSuspended(f) => {
                self.is_active &= f.reason == WaitReason::Consent && f.consent.is_none();
            }
            SessionFact::NodeWoken(_) => self.is_active = self.turn.is_some(),
            SessionFact::TurnStarted(f) => self.turn_started(at, f),
            SessionFact::TurnResumed(f) => {
                self.is_active |= !self.asides.contains(&f.turn);
            }
            SessionFact::TurnEnded(f) => self.turn_ended(seq, at, f),
            SessionFact::ModelRequested(f) => self.requested(f),
            SessionFact::DraftAdded(f) => self.draft_added(seq, at, f),
            SessionFact::DraftKept(f) => self.draft_kept(seq, at, f),
            SessionFact::DraftDiscarded(f) => self.draft_discarded(f),
            SessionFact::ModelAnswered(f) => self.answered(seq, at, f),
            SessionFact::CallFinished(f) => self.call_finished(seq, at, f),
            SessionFact::SessionOpened(f) => self.opened(at, f),
            SessionFact::SystemPromptBuilt(f) => {
                self.system_prompt = Some(f.text.clone());
                self.fingerprint = Some(f.fingerprint);
            }
            SessionFact::MessageAdded(f) => self.message_added(seq, at, f),
            SessionFact::SessionImported(f) => self.imported(seq, at, f),
            SessionFact::CompactionStarted(f) => self.compaction = Some(f.compaction.clone()),
            SessionFact::SessionCompacted(f) => self.compacted(seq, at, f),
            SessionFact::CompactionFailed(_) => self.compaction = None,
            SessionFact::MessageInjected(f) => self.injected(seq, at, f),
            SessionFact::MessagesTrimmed(f) => self.trimmed(seq, at, f),
            SessionFact::SessionClosed(_) => {
                self.state = SessionState::Expired;
                self.last_activity_at = Some(at);
            }
            SessionFact::SessionRenewed(f) => self.renewed(seq, at, f),
            SessionFact::ArchiveRestored(f) => self.restored(f),
        }
    }

    pub(super) fn touch(&mut self, at: At) {
        self.last_activity_at = Some(at);
        if self.state != SessionState::Expired {
            self.state = SessionState::Active;
        }
    }

    fn opened(&mut self, at: At, f: &SessionOpened) {
        self.key = Some(f.key.clone());
        self.session_id = Some(f.session.clone());
        self.generation = f.generation;
        self.kind = f.kind;
        self.parent.clone_from(&f.parent);
        self.user.clone_from(&f.user);
        self.state = SessionState::Created;
        self.created_at = Some(at);
        self.last_activity_at = Some(at);
    }

    /// Within a turn, what the model said and what it is given for it stay together.
    fn injected(&mut self, seq: Seq, at: At, f: &MessageInjected) {
        self.touch(at);
        let content = f.text.shown();
        let message = match f.speaker {
            Speaker::User | Speaker::System => Message::User { content },
            Speaker::Assistant => Message::Assistant { content },
        };
        let mut entry = SessionEntry::new(message, Some(f.message.clone()), seq, at);
        entry.origin = Some(Origin::Injection);
        entry.is_system = f.speaker == Speaker::System;
        let entry = entry.with_blob_of(&f.text);
        if self.turn.is_some() {
            self.injected.push(entry);
        } else {
            self.push(entry);
        }
    }

    fn turn_started(&mut self, at: At, f: &TurnStarted) {
        if f.cause.is_aside() {
            self.asides.insert(f.turn);
            return;
        }
        self.turn = Some(f.turn);
        self.is_active = true;
        self.turns = self.turns.saturating_add(1);
        self.touch(at);
    }

    fn turn_ended(&mut self, seq: Seq, at: At, f: &TurnEnded) {
        if self.asides.remove(&f.turn) {
            return;
        }
        self.turn = None;
        self.is_active = false;
        self.leave_draft(seq, at);
        self.exchange_ended(f.end);
        for entry in mem::take(&mut self.injected) {
            self.push(entry);
        }
        self.last_activity_at = Some(at);
    }

    /// A draft that was neither kept nor discarded is kept as it is: text that was shown does not
    /// disappear silently.
    fn leave_draft(&mut self, seq: Seq, at: At) {
        if let Some(draft) = self.draft.take() {
            let message = Message::Assistant {
                content: draft.text,
            };
            let mut entry = SessionEntry::new(message, None, seq, at);
            entry.turn = Some(draft.turn);
            entry.interrupted = true;
            self.push(entry);
        }
    }

    fn draft_added(&mut self, seq: Seq, at: At, f: &DraftAdded) {
        if f.kind == DraftKind::Reasoning || self.asides.contains(&f.turn) {
            return;
        }
        let goes_on = |draft: &AnswerDraft| draft.turn == f.turn && draft.request == f.request;
        if !self.draft.as_ref().is_some_and(goes_on) {
            self.leave_draft(seq, at);
        }
        self.draft
            .get_or_insert_with(|| AnswerDraft::begin(f.turn, f.request, seq, at))
            .push(&f.text);
    }

    fn draft_kept(&mut self, seq: Seq, at: At, f: &DraftKept) {
        if self.asides.contains(&f.turn) {
            return;
        }
        let Some(draft) = self.draft.take() else {
            return;
        };
        let message = Message::Assistant {
            content: draft.text,
        };
        let mut entry = SessionEntry::new(message, Some(f.message.clone()), seq, at);
        entry.turn = Some(f.turn);
        entry.interrupted = true;
        self.push(entry);
    }

    fn draft_discarded(&mut self, f: &DraftDiscarded) {
        if !self.asides.contains(&f.turn) {
            self.draft = None;
        }
    }

    fn answered(&mut self, seq: Seq, at: At, f: &ModelAnswered) {
        self.usage.add(&f.usage);
        if self.asides.contains(&f.turn) {
            return;
        }
        self.last_activity_at = Some(at);
        self.usage.context = f.usage.window_tokens();
        self.latest_context_usage = self.usage.context;
        let mut draft = self.draft.take();
        if let Some(draft) = &mut draft {
            // It stays for as long as the session does, and what it grew by with it.
            draft.text.shrink_to_fit();
        }
        let (text, mismatch) = match &f.text {
            AnswerText::Inline(text) => (text.clone(), false),
            AnswerText::Drafted(drafted) => match draft {
                Some(draft) if draft.is(drafted) => (draft.text, false),
                Some(draft) => (draft.text, true),
                None => (String::new(), drafted.drafted_bytes > 0),
            },
        };
        let message = if !f.calls.is_empty() {
            Message::AssistantToolCalls {
                calls: f.calls.clone(),
                text: (!text.is_empty()).then_some(text),
            }
        } else if text.is_empty() && f.provider_blocks.is_none() {
            return;
        } else {
            Message::Assistant { content: text }
        };
        let mut entry = SessionEntry::new(message, Some(f.message.clone()), seq, at);
        entry.turn = Some(f.turn);
        entry.mismatch = mismatch;
        entry.provider_blocks = f.provider_blocks.as_deref().cloned().map(Arc::new);
        self.push(entry);
    }

    fn call_finished(&mut self, seq: Seq, at: At, f: &CallFinished) {
        if self.asides.contains(&f.turn) {
            return;
        }
        let message = Message::ToolResult {
            call_id: f.tool_call.clone(),
            tool_name: f.tool.clone(),
            content: f.output.shown(),
            is_error: f.end.is_error(),
            image: f.image.clone(),
        };
        let mut entry = SessionEntry::new(message, Some(f.message.clone()), seq, at);
        entry.turn = Some(f.turn);
        self.push(entry.with_blob_of(&f.output));
        for file in &f.seen {
            // Of more files than that, a role does not know what it saw.
            if self.seen.len() < SEEN_FILES_MAX || self.seen.contains_key(&file.path) {
                self.seen.insert(file.path.clone(), file.hash);
            }
        }
        self.last_activity_at = Some(at);
    }

    fn requested(&mut self, f: &ModelRequested) {
        if let Some(frame) = &f.frame
            && !self.asides.contains(&f.turn)
        {
            self.frame = Some(frame.clone());
        }
    }

    fn message_added(&mut self, seq: Seq, at: At, f: &MessageAdded) {
        self.touch(at);
        if f.origin == Origin::Reply {
            self.exchange_begins();
        }
        match (&f.node, f.origin) {
            (Some(node), origin) => {
                let here = self.node.as_ref().is_some_and(|mark| mark.node == *node);
                if !here || origin == Origin::Entry {
                    self.node = Some(NodeMark {
                        node: node.clone(),
                        named: None,
                        start: self.messages.len(),
                    });
                    self.before_node_bytes = self.live_bytes;
                }
            }
            // Reflection belongs to no node; it looks back on all of them.
            (None, Origin::Improvement) => self.node = None,
            (None, _) => {}
        }
        let message = Message::User {
            content: f.text.shown(),
        };
        let mut entry = SessionEntry::new(message, Some(f.message.clone()), seq, at);
        entry.origin = Some(f.origin);
        entry.node.clone_from(&f.node);
        self.push(entry.with_blob_of(&f.text));
    }
}

impl CallEnd {
    /// Whether what the model gets is an error.
    #[must_use]
    pub fn is_error(self) -> bool {
        match self {
            Self::Done | Self::Recovered => false,
            Self::Failed
            | Self::Denied
            | Self::Stopped
            | Self::TimedOut
            | Self::NotRun
            | Self::Unknown => true,
        }
    }
}
