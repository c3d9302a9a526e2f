//! What is typed on the screen and not sent: all of it as the next process gets it, and what another process left.

use a_society_state::unsent::UnsentText;

use super::keys::{Focus, State};
use super::view::{AskView, View};
use crate::cli::drafts::{self, COMMAND};

impl State {
    /// Everything that is typed and not sent.
    pub(super) fn unsent(&self, view: &View) -> Vec<UnsentText> {
        let of =
            |ask: &AskView, text: &str| UnsentText::of(&ask.flow, self.about(ask), text.to_owned());
        let drafts =
            (self.drafts.iter()).filter_map(|(id, text)| Some(of(view.ask(Some(id))?, text)));
        let open = view.ask(self.ask.as_ref()).map(|ask| of(ask, &self.text));
        let words = self.addressed.as_ref().map(|to| {
            UnsentText::of(
                &to.flow,
                drafts::of_role(to.role.as_str()),
                self.words.clone(),
            )
        });
        let command = UnsentText {
            flow: None,
            about: COMMAND.to_owned(),
            text: self.command.clone(),
        };
        let all = self.left.iter().cloned().chain(drafts).chain(open);
        all.chain(words).chain([command]).collect()
    }

    /// What a question is named, or the step of a turn.
    fn about(&self, ask: &AskView) -> String {
        match (&ask.own, &self.own) {
            (Some(_), Some(own)) => drafts::of_step(ask.node(), own),
            (Some(_) | None, _) => drafts::of_question(&ask.ask.question),
        }
    }

    /// Puts into the line of an answer what another process left for this question.
    pub(super) fn offer_answer(&mut self, ask: &AskView) {
        if self.text.is_empty() {
            let about = self.about(ask);
            let left = self.take_left(|left| left.is_for(&ask.flow) && left.about == about);
            self.text = left.unwrap_or_default();
        }
    }

    /// The same for words to the role that is spoken to.
    pub(super) fn offer_words(&mut self) {
        let Some(to) = self.steered.clone().filter(|_| self.words.is_empty()) else {
            return;
        };
        let about = drafts::of_role(to.role.as_str());
        let left = self.take_left(|left| left.is_for(&to.flow) && left.about == about);
        self.words = left.unwrap_or_default();
    }

    /// Opens the line for a command, likewise.
    pub(super) fn write_command(&mut self) {
        self.write(Focus::Command);
        if self.command.is_empty() {
            let left = self.take_left(|left| left.about == COMMAND);
            self.command = left.unwrap_or_default();
        }
    }

    fn take_left(&mut self, is_it: impl Fn(&UnsentText) -> bool) -> Option<String> {
        let at = self.left.iter().position(is_it)?;
        self.is_offered = true;
        Some(self.left.remove(at).text)
    }
}
