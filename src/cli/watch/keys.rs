//! What a key does: pure, so that every rule of answering is a test.
//!
//! Nothing that appears takes the keys: an ask is chosen by the operator alone, a letter answers it
//! only while the list of asks has the keys, and only when it has been on the screen, and no key was
//! pressed, for a while. What is typed as a text decides only where such a letter asked for a reason.
//! Words for a role at work decide nothing; they go to the role whose feed was shown when they were begun.

use std::collections::BTreeMap;

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::id::RoleInstance;
use a_society_facts::{Verb, Whom};
use a_society_state::FlowRef;

use super::draw::{SAYS_LINES, rows};
use super::view::{AskKind, AskView, View};
use crate::cli::own_turn::{self, Own};

/// The message for a key that came before its question could be read.
const TOO_SOON: &str = "too soon after the last key; look at it, then press again";

/// The message for a yes to something that was not shown to its end.
const NOT_SHOWN: &str = "not all of it was shown: pgdn reads on, v shows all of it";

/// How long an ask must have been chosen, and no key pressed, before a letter answers it. Typing has
/// shorter pauses, and an answer needs reading first anyway.
pub(crate) const ARMED_AFTER_MS: u64 = 400;

/// The longest text that is typed here; a longer one is given with `reply FLOW -` or `steer FLOW ROLE -`.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// How many lines a page of a feed or of an ask is moved at once.
const PAGE_LINES: usize = 6;

/// A key, as far as anything depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Paste(String),
    Enter,
    Esc,
    Tab,
    BackTab,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Backspace,
    Interrupt,
    Other,
}

/// What has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Focus {
    /// The list of asks.
    #[default]
    Asks,
    /// The list of flows.
    Flows,
    /// The feed.
    Feed,
    /// The line in which a text is typed.
    Text,
    /// The line in which words for a role at work are typed.
    Steer,
}

/// Whom the operator speaks to, fixed when the first letter is typed: another feed that is shown
/// meanwhile does not redirect the words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steered {
    pub(crate) flow: FlowRef,
    pub(crate) role: RoleInstance,
    pub(crate) when: SteerWhen,
    /// What had the keys before.
    from: Focus,
}

/// What the operator does at the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) focus: Focus,
    /// The ask that is chosen.
    pub(crate) ask: Option<String>,
    /// The flow that is looked at.
    pub(crate) flow: Option<FlowRef>,
    /// The role whose feed is shown.
    pub(crate) role: Option<RoleInstance>,
    /// How many lines the feed is scrolled up.
    pub(crate) feed_up: usize,
    /// How many lines what is asked is scrolled down.
    pub(crate) says_down: usize,
    /// Down to which row it was shown.
    pub(crate) shown_rows: usize,
    /// How wide the screen is.
    pub(crate) columns: u16,
    /// What is typed.
    pub(crate) text: String,
    /// Whom the operator speaks to.
    pub(crate) steered: Option<Steered>,
    /// How far the operator came with a turn of their own, while it is chosen.
    pub(crate) own: Option<Own>,
    /// What is typed for a role at work.
    pub(crate) words: String,
    /// A text that is on its way, and where it was typed. What is refused comes back.
    pub(crate) sent: Option<(Focus, String)>,
    /// The last message about an answer.
    pub(crate) told: String,
    /// Whether an answer is on its way.
    pub(crate) busy: bool,
    /// When the last key was pressed, and when the ask was chosen.
    pub(crate) last_key_ms: u64,
    pub(crate) chosen_ms: u64,
}

/// What a key leads to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    /// Say something to a flow.
    Say(FlowRef, Verb),
    /// Carry out a step of the operator's own turn.
    Own(FlowRef, Whom, own_turn::Act),
    /// Show all that is to be read before an answer.
    Page(Vec<String>),
    /// End.
    Quit,
}

impl State {
    /// Forgets what is not there any more. Nothing that is new is chosen.
    pub(crate) fn settle(&mut self, view: &View) {
        if self.ask.is_some() && view.ask(self.ask.as_ref()).is_none() {
            (self.ask, self.own) = (None, None);
            self.says_down = 0;
            if self.focus == Focus::Text {
                self.focus = Focus::Asks;
                self.told = "it is not asked any more; what you typed is kept".to_owned();
            }
        }
    }

    /// Takes the result of a message. Typed text that is refused is not lost.
    pub(crate) fn hear(&mut self, came: Result<String, String>) {
        self.busy = false;
        let sent = self.sent.take();
        match came {
            Ok(told) => self.told = told,
            Err(why) => {
                self.told = why;
                match sent {
                    Some((Focus::Steer, words)) if self.words.is_empty() => self.words = words,
                    Some((_, text)) if self.text.is_empty() => self.text = text,
                    Some(_) | None => {}
                }
            }
        }
    }

    /// Whether a letter answers now.
    pub(crate) fn is_armed(&self, now_ms: u64) -> bool {
        let since = self.last_key_ms.max(self.chosen_ms);
        now_ms.saturating_sub(since) >= ARMED_AFTER_MS
    }

    /// Handles a key.
    pub(crate) fn press(&mut self, view: &View, key: &Key, now_ms: u64) -> Option<Act> {
        let armed = self.is_armed(now_ms);
        self.last_key_ms = now_ms;
        if *key == Key::Interrupt {
            return Some(Act::Quit);
        }
        match self.focus {
            Focus::Text => return self.typed(view, key),
            Focus::Steer => return self.worded(key),
            Focus::Asks | Focus::Flows | Focus::Feed => {}
        }
        match key {
            Key::Char('q') | Key::Esc => return Some(Act::Quit),
            Key::Char('s') => self.speak_to(view, SteerWhen::Queue),
            Key::Char('S') => self.speak_to(view, SteerWhen::Interrupt),
            Key::Tab => self.focus = self.next_focus(),
            Key::BackTab => self.focus = self.next_focus_back(),
            Key::Up => self.step(view, false, now_ms),
            Key::Down => self.step(view, true, now_ms),
            Key::Left => self.turn(view, false),
            Key::Right => self.turn(view, true),
            Key::PageUp => self.page(false),
            Key::PageDown => self.page(true),
            Key::Char(letter) if self.focus == Focus::Asks => {
                return self.answer(view, *letter, armed);
            }
            Key::Char(_)
            | Key::Paste(_)
            | Key::Enter
            | Key::Backspace
            | Key::Interrupt
            | Key::Other => {}
        }
        None
    }

    const fn next_focus(&self) -> Focus {
        match self.focus {
            Focus::Asks => Focus::Flows,
            Focus::Flows => Focus::Feed,
            Focus::Feed | Focus::Text | Focus::Steer => Focus::Asks,
        }
    }

    const fn next_focus_back(&self) -> Focus {
        match self.focus {
            Focus::Asks => Focus::Feed,
            Focus::Feed => Focus::Flows,
            Focus::Flows | Focus::Text | Focus::Steer => Focus::Asks,
        }
    }

    fn step(&mut self, view: &View, down: bool, now_ms: u64) {
        match self.focus {
            Focus::Asks => {
                let at = view
                    .asks
                    .iter()
                    .position(|ask| Some(&ask.id) == self.ask.as_ref());
                if let Some(ask) = next(&view.asks, at, down) {
                    self.choose(ask, now_ms);
                }
            }
            Focus::Flows => {
                let at = view
                    .flows
                    .iter()
                    .position(|line| Some(&line.flow) == self.flow.as_ref());
                if let Some(line) = next(&view.flows, at, down) {
                    self.look_at(line.flow.clone(), None);
                }
            }
            Focus::Feed if down => self.feed_up = self.feed_up.saturating_sub(1),
            Focus::Feed => self.feed_up = self.feed_up.saturating_add(1),
            Focus::Text | Focus::Steer => {}
        }
    }

    /// Choosing an ask shows where it comes from.
    fn choose(&mut self, ask: &AskView, now_ms: u64) {
        if self.ask.as_ref() != Some(&ask.id) {
            self.ask = Some(ask.id.clone());
            self.chosen_ms = now_ms;
            (self.says_down, self.shown_rows) = (0, SAYS_LINES);
            self.text.clear();
            self.own = match &ask.kind {
                AskKind::Own { turn, .. } => Some(Own::clone(turn)),
                AskKind::Text { .. }
                | AskKind::Consent { .. }
                | AskKind::Approval { .. }
                | AskKind::Improvement { .. }
                | AskKind::Feedback
                | AskKind::Unpause
                | AskKind::Configuration { .. }
                | AskKind::Typed { .. } => None,
            };
        }
        self.look_at(ask.flow.clone(), ask.role.clone());
    }

    fn look_at(&mut self, flow: FlowRef, role: Option<RoleInstance>) {
        self.flow = Some(flow);
        self.role = role;
        self.feed_up = 0;
    }

    fn turn(&mut self, view: &View, right: bool) {
        let Some(chosen) = &view.chosen else { return };
        let shown = chosen.feed(self.role.as_ref()).map(|feed| &feed.role);
        let at = chosen
            .feeds
            .iter()
            .position(|feed| Some(&feed.role) == shown);
        if let Some(feed) = next(&chosen.feeds, at, right) {
            self.role = Some(feed.role.clone());
            self.feed_up = 0;
        }
    }

    fn page(&mut self, down: bool) {
        if self.focus == Focus::Asks {
            self.says_down = if down {
                self.says_down.saturating_add(PAGE_LINES)
            } else {
                self.says_down.saturating_sub(PAGE_LINES)
            };
            self.shown_rows = self
                .shown_rows
                .max(self.says_down.saturating_add(SAYS_LINES));
            return;
        }
        self.feed_up = if down {
            self.feed_up.saturating_sub(PAGE_LINES)
        } else {
            self.feed_up.saturating_add(PAGE_LINES)
        };
    }

    /// A letter while the list of asks has the keys.
    fn answer(&mut self, view: &View, letter: char, armed: bool) -> Option<Act> {
        let ask = view.ask(self.ask.as_ref())?;
        match (&ask.kind, letter) {
            (_, 'v') if !ask.says.is_empty() => return Some(Act::Page(ask.says.clone())),
            (AskKind::Own { .. }, letter) => return self.own_key(ask, letter, armed),
            (AskKind::Text { .. }, 'r') | (AskKind::Configuration { .. }, 'm') => {
                self.focus = Focus::Text;
                return None;
            }
            // What is typed next decides, so that it begins no sooner than a decision could.
            (AskKind::Consent { .. } | AskKind::Approval { .. }, 'r') if armed => {
                self.focus = Focus::Text;
                return None;
            }
            (AskKind::Consent { .. } | AskKind::Approval { .. }, 'r') => {
                TOO_SOON.clone_into(&mut self.told);
                return None;
            }
            _ => {}
        }
        let command = decision(ask, letter)?;
        if self.busy {
            "an answer is on its way".clone_into(&mut self.told);
            return None;
        }
        if !armed {
            TOO_SOON.clone_into(&mut self.told);
            return None;
        }
        let says_yes = matches!(command, Verb::Allow { .. } | Verb::Approve { .. });
        if says_yes && !self.has_shown(ask) {
            NOT_SHOWN.clone_into(&mut self.told);
            return None;
        }
        Some(Act::Say(ask.flow.clone(), command))
    }

    /// Whether an ask was shown as far as it must be before it can be allowed.
    fn has_shown(&self, ask: &AskView) -> bool {
        let must = ask.says.get(..ask.must_show).unwrap_or(&ask.says);
        rows(must, self.columns) <= self.shown_rows
    }

    /// A letter while a turn of the operator's own is chosen.
    fn own_key(&mut self, ask: &AskView, letter: char, armed: bool) -> Option<Act> {
        let own = self.own.as_mut().filter(|own| own.knows(letter))?;
        if self.busy {
            "an answer is on its way".clone_into(&mut self.told);
            return None;
        }
        if !armed {
            TOO_SOON.clone_into(&mut self.told);
            return None;
        }
        let act = own.press(letter)?;
        self.own_step(ask, act)
    }

    /// What a step of the operator's own turn asks for next.
    fn own_step(&mut self, ask: &AskView, act: own_turn::Act) -> Option<Act> {
        let own = self.own.as_ref()?;
        self.focus = if own.takes_keys() {
            Focus::Asks
        } else {
            Focus::Text
        };
        match act {
            own_turn::Act::Again => None,
            own_turn::Act::Said(says) => {
                self.told = says;
                None
            }
            own_turn::Act::Read => Some(Act::Page(ask.says.clone())),
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
                if let own_turn::Act::Answer(words) = &act {
                    self.sent = Some((Focus::Text, words.clone()));
                }
                Some(Act::Own(ask.flow.clone(), to.clone(), act))
            }
        }
    }

    /// A key while an answer is typed. Nothing here decides.
    fn typed(&mut self, view: &View, key: &Key) -> Option<Act> {
        match written(&mut self.text, key) {
            Written::Full => {
                "the text is full; give a longer one with: a-society reply FLOW -"
                    .clone_into(&mut self.told);
            }
            Written::Left => {
                self.focus = Focus::Asks;
                if let Some(own) = &mut self.own {
                    own.back();
                }
            }
            Written::Ended if !self.busy => return self.send(view),
            Written::Ended | Written::Typed => {}
        }
        None
    }

    /// Words for the role whose feed is shown are typed from here on.
    fn speak_to(&mut self, view: &View, when: SteerWhen) {
        let shown = view.chosen.as_ref();
        let found = shown.and_then(|flow| Some((flow, flow.feed(self.role.as_ref())?)));
        let Some((flow, feed)) = found else {
            "no role is at work here yet, so that nobody would hear it".clone_into(&mut self.told);
            return;
        };
        self.steered = Some(Steered {
            flow: flow.flow.clone(),
            role: feed.role.clone(),
            when,
            from: self.focus,
        });
        self.focus = Focus::Steer;
    }

    /// A key while words for a role are typed.
    fn worded(&mut self, key: &Key) -> Option<Act> {
        match written(&mut self.words, key) {
            Written::Full => {
                "the text is full; give a longer one with: a-society steer FLOW ROLE -"
                    .clone_into(&mut self.told);
            }
            Written::Left => {
                self.stop_speaking();
            }
            Written::Ended if !self.busy && !self.words.trim().is_empty() => {
                let to = self.stop_speaking()?;
                let text = std::mem::take(&mut self.words);
                self.sent = Some((Focus::Steer, text.clone()));
                let (role, when) = (to.role, to.when);
                return Some(Act::Say(to.flow, Verb::Steer { role, text, when }));
            }
            Written::Ended | Written::Typed => {}
        }
        None
    }

    fn stop_speaking(&mut self) -> Option<Steered> {
        let to = self.steered.take();
        self.focus = to.as_ref().map_or(Focus::Asks, |to| to.from);
        to
    }

    fn send(&mut self, view: &View) -> Option<Act> {
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
        self.sent = Some((Focus::Text, std::mem::take(&mut self.text)));
        self.focus = Focus::Asks;
        Some(Act::Say(flow, command))
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

/// The one after or before, or the first or last if none is chosen.
fn next<T>(all: &[T], at: Option<usize>, forwards: bool) -> Option<&T> {
    match (at, forwards) {
        (None, true) => all.first(),
        (None, false) => all.last(),
        (Some(at), true) => all.get(at + 1),
        (Some(at), false) => at.checked_sub(1).and_then(|before| all.get(before)),
    }
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
            let retry = may_retry.then_some(("t", "try again"));
            [("r", "reply")].into_iter().chain(retry).collect()
        }
        AskKind::Consent { scope, .. } => {
            let whole = scope.as_ref().map(|_| ("f", "allow for this flow"));
            let rest = [("n", "deny"), ("r", "deny with a reason")];
            let all = [("y", "allow once")].into_iter().chain(whole).chain(rest);
            all.collect()
        }
        AskKind::Approval { .. } => vec![
            ("y", "approve"),
            ("n", "decline"),
            ("r", "decline with a reason"),
        ],
        AskKind::Improvement { modes } => {
            let all = [
                (
                    "g",
                    "in the order of the graph",
                    ImprovementMode::GraphBased,
                ),
                ("p", "all at once", ImprovementMode::Parallel),
                ("n", "not this time", ImprovementMode::None),
            ];
            let offered = all.into_iter().filter(|(.., mode)| modes.contains(mode));
            offered.map(|(key, words, _)| (key, words)).collect()
        }
        AskKind::Feedback => vec![("y", "write the report"), ("n", "no report")],
        AskKind::Unpause => vec![("u", "let it go on")],
        AskKind::Configuration { .. } => vec![("m", "choose, as model=NAME")],
        // The turn itself says which keys it takes.
        AskKind::Own { .. } | AskKind::Typed { .. } => Vec::new(),
    }
}

/// What a key did to a text that is typed.
enum Written {
    /// It is part of the text now, took a part away, or means nothing here.
    Typed,
    /// There is no room for it.
    Full,
    /// The text is over.
    Ended,
    /// The text is left as it is.
    Left,
}

fn written(text: &mut String, key: &Key) -> Written {
    let room = TEXT_BYTES_MAX.saturating_sub(text.len());
    match key {
        Key::Char(letter) if letter.len_utf8() <= room => text.push(*letter),
        Key::Paste(pasted) if pasted.len() <= room => text.push_str(pasted),
        Key::Char(_) | Key::Paste(_) => return Written::Full,
        Key::Backspace => {
            text.pop();
        }
        Key::Esc => return Written::Left,
        Key::Enter => return Written::Ended,
        Key::Tab
        | Key::BackTab
        | Key::Up
        | Key::Down
        | Key::Left
        | Key::Right
        | Key::PageUp
        | Key::PageDown
        | Key::Interrupt
        | Key::Other => {}
    }
    Written::Typed
}
