//! How keys answer a question: which letters a kind of question takes, when they count, and what they answer.

use std::collections::BTreeMap;

use a_society_facts::Verb;
use a_society_facts::words::choices::{Choice, ONCE};
use a_society_operator_ui::fold::asks::{Answering, AskAnswer, OpenAsk, decided};
use a_society_orchestrator::machine::OperatorQuestion;

use super::card;
use super::keys::{Act, Focus, State};
use super::view::{AskView, View};
use crate::cli::card::is_failure;
use crate::cli::card_rows::Manner;
use crate::cli::own_turn;
use crate::cli::pager::{CALL, PagedText, TEXT};

/// The message for a key that came before its question could be read.
pub(super) const TOO_SOON: &str = "too soon after the last key; look at it, then press again";

/// The message for a yes to something that was not shown to its end.
const NOT_SHOWN: &str = "not all of it was shown: pgdn reads on, v shows all of it";

/// The message for an answer while another is on its way.
const BUSY: &str = "an answer is on its way";

impl State {
    /// Whether a letter means something for the chosen question.
    pub(super) fn answers(&self, ask: &AskView, letter: char) -> bool {
        let own = self.own.as_ref().is_some_and(|own| own.knows(letter));
        let known = keys(ask).iter().any(|(key, _)| *key == letter);
        own || known || (letter == 'v' && !ask.says.is_empty())
    }

    /// A letter for the chosen question.
    pub(super) fn answer(&mut self, ask: &AskView, letter: char, armed: bool) -> Option<Act> {
        if letter == 'v' && !ask.says.is_empty() {
            return Some(Act::Page(whole(ask)));
        }
        if ask.own.is_some() {
            return self.own_key(ask, letter, armed);
        }
        let (_, does) = keys(ask).into_iter().find(|(key, _)| *key == letter)?;
        let OpenAsk {
            question, choices, ..
        } = &ask.ask;
        let action = ask.ask.call.as_ref().map(|call| call.action);
        let Some(command) = decided(question, action, choices, does) else {
            let decides = matches!(does, Answering::Choose(_)) && !is_failure(question);
            // What is typed next decides, so that it begins no sooner than a decision could.
            if decides && !armed {
                TOO_SOON.clone_into(&mut self.told);
            } else {
                self.write(Focus::Text);
                self.offer_answer(ask);
            }
            return None;
        };
        if !self.may(armed) {
            return None;
        }
        if command.row().agrees && !self.has_shown(ask) {
            NOT_SHOWN.clone_into(&mut self.told);
            return None;
        }
        self.answered = Some(ask.id.clone());
        Some(Act::Say(ask.flow.clone(), command))
    }

    /// Whether an answer may be sent now; if not, the message says why.
    pub(super) fn may(&mut self, armed: bool) -> bool {
        if self.busy {
            BUSY.clone_into(&mut self.told);
        } else if !armed {
            TOO_SOON.clone_into(&mut self.told);
        }
        armed && !self.busy
    }

    /// Whether an ask was shown as far as it must be before it can be allowed.
    fn has_shown(&self, ask: &AskView) -> bool {
        card::must_rows(ask, self.columns) <= self.shown_rows
    }

    /// A letter while a turn of the operator's own is chosen.
    fn own_key(&mut self, ask: &AskView, letter: char, armed: bool) -> Option<Act> {
        self.own.as_ref().filter(|own| own.knows(letter))?;
        if !self.may(armed) {
            return None;
        }
        let act = self.own.as_mut()?.press(letter)?;
        self.own_step(ask, act)
    }

    /// What a step of the operator's own turn asks for next.
    pub(super) fn own_step(&mut self, ask: &AskView, act: own_turn::Act) -> Option<Act> {
        let own = self.own.as_ref()?;
        if own.takes_keys() {
            self.focus = Focus::Asks;
        } else {
            self.write(Focus::Text);
            self.offer_answer(ask);
        }
        match act {
            own_turn::Act::Again => None,
            own_turn::Act::Said(says) => {
                self.told = says;
                None
            }
            own_turn::Act::Read => Some(Act::Page(whole(ask))),
            own_turn::Act::Later => {
                (self.ask, self.own) = (None, None);
                "it waits for you still".clone_into(&mut self.told);
                None
            }
            own_turn::Act::Edit(_)
            | own_turn::Act::Bring(_)
            | own_turn::Act::End(_)
            | own_turn::Act::SendBack { .. }
            | own_turn::Act::Answer(_) => {
                let to = ask.ask.whom()?;
                self.answered = Some(ask.id.clone());
                if let own_turn::Act::Answer(words) = &act {
                    self.sent = Some((Focus::Text, words.clone()));
                }
                Some(Act::Own(ask.flow.clone(), to, act))
            }
        }
    }

    /// Sends what was typed for the chosen question.
    pub(super) fn send(&mut self, view: &View) -> Option<Act> {
        let ask = view.ask(self.ask.as_ref())?;
        if let Some(own) = &mut self.own {
            let act = own.hear(&std::mem::take(&mut self.text));
            return self.own_step(ask, act);
        }
        let text = self.text.trim();
        let said = Some(text.to_owned()).filter(|text| !text.is_empty());
        let command = match &ask.ask.question {
            OperatorQuestion::Text { .. } => Verb::Reply {
                to: ask.ask.whom()?,
                text: said?,
                asked: None,
            },
            OperatorQuestion::Configuration { role, .. } => {
                let settings = settings(text);
                if settings.is_empty() {
                    "type settings as NAME=VALUE, such as model=fast".clone_into(&mut self.told);
                    return None;
                }
                Verb::Configure {
                    role: role.clone(),
                    settings,
                }
            }
            OperatorQuestion::Consent { consent, .. } => Verb::Deny {
                consent: Some(consent.clone()),
                action: ask.ask.call.as_ref().map(|call| call.action),
                reason: Some(said?),
            },
            OperatorQuestion::Approval { approval, .. } => Verb::Decline {
                approval: Some(approval.clone()),
                reason: Some(said?),
            },
            OperatorQuestion::Improvement { .. }
            | OperatorQuestion::Feedback
            | OperatorQuestion::Unpause { .. }
            | OperatorQuestion::Stalled => return None,
        };
        let flow = ask.flow.clone();
        self.answered = Some(ask.id.clone());
        self.sent = Some((Focus::Text, std::mem::take(&mut self.text)));
        self.focus = Focus::Asks;
        Some(Act::Say(flow, command))
    }
}

/// Everything that is to be read, for the pager.
fn whole(ask: &AskView) -> PagedText {
    let (of, manner) = match &ask.ask.question {
        OperatorQuestion::Consent { .. } => (CALL, Manner::Exact),
        OperatorQuestion::Text { .. } if ask.own.is_none() => (TEXT, Manner::Prose),
        OperatorQuestion::Text { .. }
        | OperatorQuestion::Approval { .. }
        | OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Unpause { .. }
        | OperatorQuestion::Configuration { .. }
        | OperatorQuestion::Stalled => (TEXT, Manner::Exact),
    };
    PagedText {
        head: ask.head.clone(),
        of,
        manner,
        lines: ask.says.clone(),
        facts: ask.facts.clone(),
    }
}

fn settings(text: &str) -> BTreeMap<String, String> {
    let pairs = text
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The keys that answer an ask. The turn of the operator's own says itself which keys it takes.
fn keys(ask: &AskView) -> Vec<(char, Answering)> {
    use Answering::{Choose, Configure, Improve, Pick, Reopen, Reply, Revise};
    let is_configuration = matches!(ask.ask.question, OperatorQuestion::Configuration { .. });
    let answers = ask.ask.answers().into_iter().filter(|_| ask.own.is_none());
    let keys = answers.filter_map(|AskAnswer { key, does }| {
        // Where `run` has a line to type in, this has a letter that opens one.
        let letter = match does {
            Reply => Some('r'),
            Configure => Some('m'),
            Choose(Choice::Retry) if !is_configuration => Some('t'),
            Choose(_) | Pick(_) | Improve(_) | Reopen | Revise => None,
        };
        Some((key.or(letter)?, does))
    });
    keys.collect()
}

/// The keys that answer an ask and what they do, for the line of hints.
pub(super) fn hints(ask: &AskView) -> Vec<(String, &'static str)> {
    let (picks, keys): (Vec<_>, Vec<_>) = keys(ask)
        .into_iter()
        .partition(|(_, does)| matches!(does, Answering::Pick(_)));
    let picks = match (picks.first(), picks.last()) {
        (Some((first, does)), Some((last, _))) if first != last => {
            Some((format!("{first}-{last}"), does.label()))
        }
        (first, _) => first.map(|(first, does)| (first.to_string(), does.label())),
    };
    let keys = keys.into_iter().map(|(key, does)| {
        let label = match does {
            Answering::Choose(Choice::Allow) => ONCE,
            Answering::Choose(Choice::AllowFlow) => "flow",
            Answering::Choose(Choice::DenyReason | Choice::DeclineReason) => "reason",
            Answering::Configure => "choose, as model=NAME",
            Answering::Choose(_)
            | Answering::Pick(_)
            | Answering::Reply
            | Answering::Improve(_)
            | Answering::Reopen
            | Answering::Revise => does.label(),
        };
        (key.to_string(), label)
    });
    picks.into_iter().chain(keys).collect()
}
