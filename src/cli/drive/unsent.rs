//! What is typed at the cursor of `run` and not sent: it is kept while it is typed, and offered again where it was typed,
//! also by the next process.

use a_society_operator_ui::fold::asks::OpenAsk;
use a_society_orchestrator::driver::handle::Seen;
use a_society_orchestrator::machine::OperatorQuestion;
use a_society_state::unsent::UnsentText;

use super::{Watch, rests};
use crate::cli::card::Card;
use crate::cli::drafts::{self, OFFERED_AGAIN};
use crate::cli::field::Field;
use crate::cli::prompt::Prompt;
use crate::operator_error::Stop;
use crate::text::plain;

/// The name of a text whose question is not asked any more; the next question gets it.
const KEPT: &str = "kept";

/// How the names of words for roles begin.
const STEER: &str = "steer ";

/// A text that was begun.
#[derive(Debug)]
pub(super) struct Draft {
    /// What it was typed for.
    about: String,
    pub(super) text: String,
    /// Whether another process left it, which the operator reads when it is offered.
    is_from_before: bool,
}

impl Draft {
    /// A text whose question is gone.
    pub(super) fn kept(text: String) -> Self {
        Self {
            about: KEPT.to_owned(),
            text,
            is_from_before: false,
        }
    }
}

impl Watch<'_> {
    /// Takes over what was typed for this flow at a terminal that died.
    pub(super) fn take_drafts_over(&mut self) {
        let found = self.keeper.take_over(Some(self.flow)).into_iter();
        let found = found.map(|found| Draft {
            about: found.about,
            text: found.text,
            is_from_before: true,
        });
        let (kept, drafts): (Vec<_>, Vec<_>) = found.partition(|draft| draft.about == KEPT);
        self.kept = kept.into_iter().next_back();
        self.drafts = drafts;
    }

    /// What the open field is for.
    fn about(&self) -> Option<String> {
        if let Some(role) = &self.steers {
            return Some(drafts::of_role(role.as_str()));
        }
        self.card.as_ref().map(about)
    }

    /// Everything that is typed and not sent.
    pub(super) fn unsent(&self) -> Vec<UnsentText> {
        let open = self.field.as_ref().zip(self.about());
        let open = open.map(|(field, about)| (about, field.text().to_owned()));
        let others = self.kept.iter().chain(&self.drafts);
        let others = others.map(|draft| (draft.about.clone(), draft.text.clone()));
        others
            .chain(open)
            .map(|(about, text)| UnsentText::of(self.flow, about, text))
            .collect()
    }

    /// Keeps what is typed, each second.
    pub(super) fn keep_drafts(&mut self) -> Result<(), Stop> {
        let now = self.now_ms();
        if !self.looks() || !self.keeper.is_due(now) {
            return Ok(());
        }
        let texts = self.unsent();
        match self.keeper.keep(texts) {
            Some(why) => self.say(&why),
            None => Ok(()),
        }
    }

    /// Opens the field of the question, or of the role that is spoken to, with what was typed for it.
    pub(super) fn open_field(&mut self, takes_kept: bool) -> Result<(), Stop> {
        let about = self.about();
        let at = self
            .drafts
            .iter()
            .position(|draft| Some(&draft.about) == about.as_ref());
        let draft = at.map(|at| self.drafts.remove(at));
        let draft = draft.or_else(|| self.kept.take_if(|_| takes_kept));
        let is_from_before = draft.as_ref().is_some_and(|draft| draft.is_from_before);
        let text = draft.map(|draft| draft.text).unwrap_or_default();
        self.field = Some(Field::with(text));
        if is_from_before {
            self.say(OFFERED_AGAIN)
        } else {
            Ok(())
        }
    }

    /// What was typed for a question that is shown as lines, which have no field for it. It is kept until that is answered.
    pub(super) fn typed_before(&mut self, card: &Card) -> Option<String> {
        let about = about(card);
        if let Some(kept) = self.kept.take_if(|_| card.is_text()) {
            let about = about.clone();
            self.drafts.push(Draft { about, ..kept });
        }
        let draft = self.drafts.iter().find(|draft| draft.about == about)?;
        Some(format!("you had typed: {}", plain(&draft.text)))
    }

    /// Takes the line that is being typed out of a terminal that takes whole lines: only the terminal has it until it ends.
    pub(super) fn keep_unfinished_line(&mut self) {
        let Some(about) = self.about().filter(|_| self.is_plain) else {
            return;
        };
        let line = self.prompt.as_mut().and_then(Prompt::unfinished);
        self.drafts.extend(line.map(|text| Draft {
            about,
            text,
            is_from_before: false,
        }));
    }

    /// Closes the field, and keeps what was typed in it.
    pub(super) fn close_field(&mut self) {
        let about = self.about();
        let text = self.field.take().map(|field| field.text().to_owned());
        let text = text.filter(|text| !text.trim().is_empty());
        self.drafts
            .extend(about.zip(text).map(|(about, text)| Draft {
                about,
                text,
                is_from_before: false,
            }));
    }

    /// What was typed for a question that is answered is not needed any more.
    pub(super) fn forget_drafts(&mut self) {
        if let Some(card) = &self.card {
            self.drafts
                .retain(|draft| !belongs(&draft.about, &card.question));
        }
    }

    /// Gives the next question what was typed for one that will not be asked again: nothing goes on, and it is not among
    /// those that are asked.
    pub(super) fn release_drafts(&mut self, asks: &[OpenAsk], seen: &Seen) {
        if self.kept.is_some() || !rests(seen) {
            return;
        }
        let is_asked = |about: &String| {
            let of = |ask: &OpenAsk| belongs(about, &ask.question);
            about.starts_with(STEER) || asks.iter().any(of)
        };
        let at = self
            .drafts
            .iter()
            .position(|draft| draft.is_from_before && !is_asked(&draft.about));
        self.kept = at.map(|at| self.drafts.remove(at));
    }
}

/// What a question is named, or the step of a turn.
fn about(card: &Card) -> String {
    match (card.step(), &card.question) {
        (Some(own), OperatorQuestion::Text { node, role, .. }) => {
            let node = node.as_ref().map_or(role.as_str(), |node| node.as_str());
            drafts::of_step(node, own)
        }
        (_, question) => drafts::of_question(question),
    }
}

/// Whether a text was typed for a question, or for a step of its turn.
fn belongs(about: &str, question: &OperatorQuestion) -> bool {
    let name = drafts::of_question(question);
    let is_step = |node: &str| about.starts_with(&format!("turn {node} "));
    about == name || name.strip_prefix("text ").is_some_and(is_step)
}
