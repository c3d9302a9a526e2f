//! What is typed and not sent yet, kept each second, so that a terminal that dies takes a second of typing with it at
//! most. The next `run`, `resume` or `watch` offers it again.

use a_society_orchestrator::machine::OperatorQuestion;
use a_society_state::unsent::{UnsentText, UnsentTexts};
use a_society_state::{FlowRef, Store};

use super::asks;
use super::own_turn::Own;
use crate::text::plain;

/// It is kept so often.
const EVERY_MS: i64 = 1_000;

/// What is printed when a field opens with a text from before.
pub(crate) const OFFERED_AGAIN: &str =
    "what you had typed when the terminal ended is in the field again";

/// The name of a command that was typed.
pub(crate) const COMMAND: &str = "command";

/// The texts of this process.
#[derive(Debug)]
pub(crate) struct Drafts {
    texts: UnsentTexts,
    kept_ms: i64,
    /// Whether it was reported that they cannot be kept.
    is_reported: bool,
}

impl Drafts {
    pub(crate) fn new(store: &Store) -> Self {
        Self {
            texts: UnsentTexts::new(store),
            kept_ms: 0,
            is_reported: false,
        }
    }

    /// What terminals left that died: that of one flow, or all. Where it cannot be taken over it stays where it is.
    pub(crate) fn take_over(&mut self, only: Option<&FlowRef>) -> Vec<UnsentText> {
        let is_wanted = |text: &UnsentText| only.is_none_or(|flow| text.is_for(flow));
        self.texts.take_over(is_wanted).unwrap_or_default()
    }

    /// Whether they were kept a while ago.
    pub(crate) const fn is_due(&mut self, now_ms: i64) -> bool {
        let is_due = now_ms - self.kept_ms >= EVERY_MS;
        if is_due {
            self.kept_ms = now_ms;
        }
        is_due
    }

    /// Keeps what is typed, and nothing else. Gives the reason once if that cannot be.
    pub(crate) fn keep(&mut self, mut texts: Vec<UnsentText>) -> Option<String> {
        texts.retain(|text| !text.text.trim().is_empty());
        let refused = self.texts.keep(texts).err()?;
        let is_first = !std::mem::replace(&mut self.is_reported, true);
        let why = plain(&refused.to_string()).into_owned();
        is_first.then(|| format!("what you type is not kept if the terminal dies: {why}"))
    }
}

/// The name of a question, which the next process has for it, too.
pub(crate) fn of_question(question: &OperatorQuestion) -> String {
    let (kind, name) = asks::named_by(question);
    // A budget that is raised or not is the same question.
    let kind = if kind == "budget" { "text" } else { kind };
    format!("{kind} {name}")
}

/// The name of a step of the operator's own turn at a node.
pub(crate) fn of_step(node: &str, own: &Own) -> String {
    format!("turn {node} {}", own.step_name())
}

/// The name of words for a role at work.
pub(crate) fn of_role(role: &str) -> String {
    format!("steer {role}")
}
