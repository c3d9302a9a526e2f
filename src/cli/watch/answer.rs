//! How keys answer a question: which letters a kind of question takes, when they count, and what they answer.

use std::collections::BTreeMap;

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::words::choices::{ANSWER, Choice, ONCE, label};
use a_society_facts::words::retrospective::order;
use a_society_facts::{Verb, Whom};

use super::card;
use super::keys::{Act, Focus, State};
use super::view::{AskKind, AskView, View};
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
        let known = |kind| hints(kind).iter().any(|(key, _)| key.starts_with(letter));
        own || known(&ask.kind) || (letter == 'v' && !ask.says.is_empty())
    }

    /// A letter for the chosen question.
    pub(super) fn answer(&mut self, ask: &AskView, letter: char, armed: bool) -> Option<Act> {
        match (&ask.kind, letter) {
            (_, 'v') if !ask.says.is_empty() => return Some(Act::Page(whole(ask))),
            (AskKind::Own { .. }, letter) => return self.own_key(ask, letter, armed),
            (AskKind::Text { .. }, 'r') | (AskKind::Configuration { .. }, 'm') => {
                self.write(Focus::Text);
                self.offer_answer(ask);
                return None;
            }
            // What is typed next decides, so that it begins no sooner than a decision could.
            (AskKind::Consent { .. } | AskKind::Approval { .. }, 'r') if armed => {
                self.write(Focus::Text);
                self.offer_answer(ask);
                return None;
            }
            (AskKind::Consent { .. } | AskKind::Approval { .. }, 'r') => {
                TOO_SOON.clone_into(&mut self.told);
                return None;
            }
            _ => {}
        }
        let command = decision(ask, letter)?;
        if !self.may(armed) {
            return None;
        }
        let says_yes = matches!(command, Verb::Allow { .. } | Verb::Approve { .. });
        if says_yes && !self.has_shown(ask) {
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
                let AskKind::Own { to, .. } = &ask.kind else {
                    return None;
                };
                self.answered = Some(ask.id.clone());
                if let own_turn::Act::Answer(words) = &act {
                    self.sent = Some((Focus::Text, words.clone()));
                }
                Some(Act::Own(ask.flow.clone(), to.clone(), act))
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
        let command = match &ask.kind {
            AskKind::Text { to, .. } if !text.is_empty() => Verb::Reply {
                to: to.clone(),
                text: text.to_owned(),
                asked: None,
            },
            AskKind::Configuration { role } => {
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
            AskKind::Consent {
                consent, action, ..
            } if !text.is_empty() => Verb::Deny {
                consent: Some(consent.clone()),
                action: Some(*action),
                reason: Some(text.to_owned()),
            },
            AskKind::Approval { approval } if !text.is_empty() => Verb::Decline {
                approval: Some(approval.clone()),
                reason: Some(text.to_owned()),
            },
            AskKind::Text { .. }
            | AskKind::Own { .. }
            | AskKind::Consent { .. }
            | AskKind::Approval { .. }
            | AskKind::Improvement { .. }
            | AskKind::Feedback
            | AskKind::Unpause
            | AskKind::Typed { .. } => return None,
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
    let (of, manner) = match &ask.kind {
        AskKind::Consent { .. } => (CALL, Manner::Exact),
        AskKind::Text { .. } => (TEXT, Manner::Prose),
        AskKind::Own { .. }
        | AskKind::Approval { .. }
        | AskKind::Improvement { .. }
        | AskKind::Feedback
        | AskKind::Unpause
        | AskKind::Configuration { .. }
        | AskKind::Typed { .. } => (TEXT, Manner::Exact),
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

/// What a letter decides about an ask.
fn decision(ask: &AskView, letter: char) -> Option<Verb> {
    let consented = |consent: &_, action, for_the_flow| Verb::Allow {
        consent: Some(Clone::clone(consent)),
        action: Some(action),
        for_the_flow,
    };
    match (&ask.kind, letter) {
        (
            AskKind::Consent {
                consent, action, ..
            },
            'y',
        ) => Some(consented(consent, *action, false)),
        (
            AskKind::Consent {
                consent,
                action,
                scope: Some(_),
                ..
            },
            'f',
        ) => Some(consented(consent, *action, true)),
        (
            AskKind::Consent {
                consent, action, ..
            },
            'n',
        ) => {
            let denied = Verb::Deny {
                consent: Some(consent.clone()),
                action: Some(*action),
                reason: None,
            };
            Some(denied)
        }
        (AskKind::Approval { approval }, 'y') => {
            let approval = Some(approval.clone());
            Some(Verb::Approve { approval })
        }
        (AskKind::Approval { approval }, 'n') => {
            let approval = Some(approval.clone());
            let reason = None;
            Some(Verb::Decline { approval, reason })
        }
        (AskKind::Improvement { modes }, 'g' | 'p' | 'n') => {
            let mode = match letter {
                'g' => ImprovementMode::GraphBased,
                'p' => ImprovementMode::Parallel,
                _ => ImprovementMode::None,
            };
            let offered = modes.contains(&mode);
            offered.then_some(Verb::Improve { mode })
        }
        (AskKind::Feedback, 'y') => Some(Verb::Feedback { granted: true }),
        (AskKind::Feedback, 'n') => Some(Verb::Feedback { granted: false }),
        (AskKind::Unpause, 'u') => Some(Verb::Unpause {}),
        (
            AskKind::Text {
                to,
                may_retry: true,
            },
            't',
        ) => {
            let to: Whom = to.clone();
            Some(Verb::Retry { to })
        }
        _ => None,
    }
}

/// The keys that answer an ask, for the line of hints.
pub(crate) fn hints(kind: &AskKind) -> Vec<(&'static str, &'static str)> {
    match kind {
        AskKind::Text { may_retry, .. } => {
            let retry = may_retry.then_some(("t", label(Choice::Retry)));
            [("r", ANSWER)].into_iter().chain(retry).collect()
        }
        AskKind::Consent { scope, .. } => {
            let whole = scope.as_ref().map(|_| ("f", "flow"));
            let rest = [("n", label(Choice::Deny)), ("r", "reason")];
            let all = [("y", ONCE)].into_iter().chain(whole).chain(rest);
            all.collect()
        }
        AskKind::Approval { .. } => vec![
            ("y", label(Choice::Approve)),
            ("n", label(Choice::Decline)),
            ("r", "reason"),
        ],
        AskKind::Improvement { modes } => {
            let all = [
                ("g", ImprovementMode::GraphBased),
                ("p", ImprovementMode::Parallel),
                ("n", ImprovementMode::None),
            ];
            let offered = all.into_iter().filter(|(_, mode)| modes.contains(mode));
            offered.map(|(key, mode)| (key, order(mode))).collect()
        }
        AskKind::Feedback => vec![("y", label(Choice::Grant)), ("n", label(Choice::Refuse))],
        AskKind::Unpause => vec![("u", label(Choice::Continue))],
        AskKind::Configuration { .. } => vec![("m", "choose, as model=NAME")],
        // The turn itself says which keys it takes.
        AskKind::Own { .. } | AskKind::Typed { .. } => Vec::new(),
    }
}
