//! Secrets are removed from what a turn says before anything of it is recorded or shown.
//!
//! The model itself reads its own words unchanged for the rest of the turn: what was removed is kept
//! in memory until the turn ends, and nowhere else. A process that continues the turn after a crash
//! knows only what is recorded.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use a_society_base::redact::{RedactedStream, Redactor};
use a_society_facts::fact::turn::{DraftKind, RawValueEq};
use a_society_facts::id::{MessageId, TurnId};
use a_society_facts::message::{Message, ToolCall};
use a_society_facts::reason::in_words;
use a_society_facts::view::session::SessionEntry;
use a_society_providers::Blocks;
use a_society_roles::turn::job::TurnJob;
use a_society_roles::turn::step::{Choose, CompactStep, TakerEnd, TurnStep};

/// Knows secrets by their form only, for takers that know no values.
static FORMS: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(&[]));

/// Knows secrets by their form only.
pub(super) fn by_form() -> Redactor {
    FORMS.clone()
}

/// Removes secrets from what one turn says.
#[derive(Debug)]
pub(super) struct SecretFilter {
    redactor: Redactor,
    text: Option<RedactedStream>,
    thought: Option<RedactedStream>,
    /// The answer that was filtered last, if that changed it.
    changed: Option<Spoken>,
}

/// An answer as the model gave it.
#[derive(Debug)]
pub(super) struct Spoken {
    message: Arc<Message>,
    blocks: Option<Arc<RawValueEq>>,
}

/// The answers of open turns that hold secrets, as the models gave them.
#[derive(Debug, Default)]
pub(super) struct SpokenInTurns(BTreeMap<TurnId, BTreeMap<MessageId, Spoken>>);

impl SecretFilter {
    pub(super) fn new(redactor: Option<Redactor>) -> Self {
        Self {
            redactor: redactor.unwrap_or_else(by_form),
            text: None,
            thought: None,
            changed: None,
        }
    }

    pub(super) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// What is certain of a streamed text once this piece has arrived.
    pub(super) fn piece(&mut self, kind: DraftKind, piece: &str) -> String {
        let redactor = &self.redactor;
        let stream = match kind {
            DraftKind::Text => &mut self.text,
            DraftKind::Reasoning => &mut self.thought,
        };
        let fresh = || RedactedStream::new(redactor.clone());
        stream.get_or_insert_with(fresh).push(piece)
    }

    /// What a streamed text still holds back; the text ends with it.
    pub(super) fn rest(&mut self, kind: DraftKind) -> String {
        let stream = match kind {
            DraftKind::Text => self.text.take(),
            DraftKind::Reasoning => self.thought.take(),
        };
        stream.map(RedactedStream::finish).unwrap_or_default()
    }

    /// The answer that was filtered last, as the model gave it, if that changed it.
    pub(super) const fn take_changed(&mut self) -> Option<Spoken> {
        self.changed.take()
    }

    /// Why something failed, which people read.
    fn reason(&self, why: &mut String) {
        *why = in_words(why).into_owned();
        self.clean(why);
    }

    fn clean(&self, text: &mut String) {
        *text = self.redactor.redact(text);
    }

    fn answer(
        &mut self,
        text: &mut String,
        calls: &mut [ToolCall],
        blocks: &mut Option<Box<RawValueEq>>,
    ) {
        let (said, asked, told) = (text.clone(), calls.to_vec(), blocks.clone());
        self.clean(text);
        for call in calls.iter_mut() {
            call.input = self.redactor.redact_json(&call.input);
        }
        // Signed blocks cannot be edited, so those that hold a secret are not kept at all.
        blocks.take_if(|kept| {
            let known = Blocks::from_fact(kept);
            known.is_some_and(|known| known.hold_secrets(&self.redactor))
        });
        if said == *text && told == *blocks && asked == calls {
            return;
        }
        let message = if asked.is_empty() {
            Message::Assistant { content: said }
        } else {
            let text = (!said.is_empty()).then_some(said);
            Message::AssistantToolCalls { calls: asked, text }
        };
        self.changed = Some(Spoken {
            message: Arc::new(message),
            blocks: told.map(Arc::from),
        });
    }

    /// A step without the secrets in it. Streamed text is filtered apart, since it comes in pieces.
    pub(super) fn step(&mut self, step: &mut TurnStep) {
        match step {
            TurnStep::Answer {
                text,
                calls,
                provider_blocks,
                ..
            } => self.answer(text, calls, provider_blocks),
            TurnStep::Failed { error: why, .. }
            | TurnStep::Absent { why, .. }
            | TurnStep::Compact(CompactStep::Failed { why, .. })
            | TurnStep::Choose(Choose::Failed { why }) => self.reason(why),
            TurnStep::Refuse { output: text, .. }
            | TurnStep::Compact(
                CompactStep::Summary { text, .. } | CompactStep::Wrong { why: text, .. },
            )
            | TurnStep::Choose(Choose::Wrong { text, .. } | Choose::Chosen { text, .. }) => {
                self.clean(text);
            }
            TurnStep::End(end) => self.end(end),
            TurnStep::Intend(intended) | TurnStep::Begin { intended, .. } => {
                for earlier in intended
                    .texts
                    .iter_mut()
                    .filter_map(|text| text.earlier.as_mut())
                {
                    self.clean(earlier);
                }
            }
            TurnStep::Ask(_)
            | TurnStep::Draft { .. }
            | TurnStep::Stalled { .. }
            | TurnStep::Discard { .. }
            | TurnStep::Cut
            | TurnStep::Consent(_)
            | TurnStep::Start { .. }
            | TurnStep::Finish { .. }
            | TurnStep::Trust { .. }
            | TurnStep::Compact(CompactStep::Ask { .. } | CompactStep::Again(_))
            | TurnStep::Choose(Choose::Ask(_) | Choose::Again(_))
            | TurnStep::Held { .. }
            | TurnStep::Wait { .. } => {}
        }
    }

    fn end(&self, end: &mut TakerEnd) {
        match end {
            TakerEnd::Outcome { words, choices, .. } => {
                self.clean(words);
                choices.iter_mut().for_each(|choice| self.clean(choice));
            }
            TakerEnd::OwnTurn { words, again } => {
                self.clean(words);
                again.iter_mut().for_each(|why| self.clean(why));
            }
            TakerEnd::Fault(fault) => self.clean(&mut fault.message),
            TakerEnd::Aborted { why, .. }
            | TakerEnd::Provider { why, .. }
            | TakerEnd::Configuration { why } => {
                self.reason(why);
            }
            TakerEnd::Answered | TakerEnd::OutputLimit => {}
        }
    }
}

impl Default for SecretFilter {
    fn default() -> Self {
        Self::new(None)
    }
}

impl SpokenInTurns {
    /// Keeps an answer in memory, as the model gave it, until its turn ends.
    pub(super) fn keep(&mut self, turn: TurnId, message: &MessageId, spoken: Option<Spoken>) {
        if let Some(spoken) = spoken {
            let of_turn = self.0.entry(turn).or_default();
            of_turn.insert(message.clone(), spoken);
        }
    }

    /// A turn is over.
    pub(super) fn forget(&mut self, turn: TurnId) {
        self.0.remove(&turn);
    }

    /// The model reads its own answers of this turn unchanged.
    pub(super) fn put_back(&self, turn: TurnId, entries: &[SessionEntry], job: &mut TurnJob) {
        let Some(of_turn) = self.0.get(&turn) else {
            return;
        };
        for (place, entry) in entries.iter().enumerate() {
            let spoken = entry.id.as_ref().and_then(|id| of_turn.get(id));
            let Some((spoken, message)) = spoken.zip(job.history.get_mut(place)) else {
                continue;
            };
            *message = Arc::clone(&spoken.message);
            if let Some(blocks) = &spoken.blocks {
                job.provider_blocks.insert(place, Arc::clone(blocks));
            }
        }
    }
}
