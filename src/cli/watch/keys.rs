//! What a key does: pure, so that every rule of answering is a test.
//!
//! Nothing that appears takes the keys: an ask is chosen by the operator alone, a letter answers it
//! only while the list of asks has the keys, and only when it has been on the screen, and no key was
//! pressed, for a while. What is typed as a text decides only where such a letter asked for a reason.
//! Words for a role at work decide nothing; they go to the role whose feed was shown when they were begun.

use std::collections::BTreeMap;

use a_society_facts::fact::operator::{SteerWhen, StopScope};
use a_society_facts::id::RoleInstance;
use a_society_facts::view::standing::FlowStanding;
use a_society_facts::{Verb, Whom};
use a_society_state::FlowRef;
use a_society_state::unsent::UnsentText;

use super::answer;
use super::hints;
use super::layout::{self, Layout};
use super::view::{AskView, Feed, FlowLine, View, name};
use crate::cli::card;
use crate::cli::own_turn::{self, Own};
use crate::cli::pager::PagedText;

/// How long an ask must have been chosen, and no key pressed, before a letter answers it, as at the cursor of `run`.
pub(crate) const ARMED_AFTER_MS: u64 = card::SETTLED_MS.unsigned_abs();

/// The second dot that stops a turn counts within this time, and not as one burst with the first.
const SECOND_DOT_MS: std::ops::Range<u64> = 50..2_000;

/// How many lines a page of a feed or of an ask is moved at once.
const PAGE_LINES: usize = 6;

/// A key, as far as anything depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Paste(String),
    NewLine,
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
    /// The nodes of the flow that is open.
    Nodes,
    /// The feed.
    Feed,
    /// What the flow that is open cost.
    Cost,
    /// The files of its record.
    Files,
    /// The line in which a text is typed.
    Text,
    /// The line in which words for a role at work are typed.
    Steer,
    /// The line that filters the lists.
    Filter,
    /// The line in which a command is typed.
    Command,
}

impl Focus {
    /// Whether it is a line in which something is typed.
    pub(crate) const fn is_field(self) -> bool {
        matches!(
            self,
            Self::Text | Self::Steer | Self::Filter | Self::Command
        )
    }
}

/// Whom the operator speaks to, fixed when the first letter is typed: another feed that is shown
/// meanwhile does not redirect the words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steered {
    pub(crate) flow: FlowRef,
    pub(crate) role: RoleInstance,
    pub(crate) when: SteerWhen,
}

/// Whose turn stops at the next dot, and when the first was pressed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stopping {
    flow: FlowRef,
    role: RoleInstance,
    at_ms: u64,
}

/// What the operator does at the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) focus: Focus,
    /// What had the keys before a line was opened.
    pub(super) before: Focus,
    /// The ask that is chosen.
    pub(crate) ask: Option<String>,
    /// The flow that is looked at.
    pub(crate) flow: Option<FlowRef>,
    /// The flow that is open.
    pub(crate) opened: Option<FlowRef>,
    /// The node that is chosen in it.
    pub(crate) node: usize,
    /// The role whose feed is shown.
    pub(crate) role: Option<RoleInstance>,
    /// The feed as it was when it was held.
    pub(crate) held: Option<Feed>,
    /// How many lines the feed is scrolled up.
    pub(crate) feed_up: usize,
    /// How many lines the costs or the files are scrolled down.
    pub(crate) down: usize,
    /// How many lines what is asked is scrolled down.
    pub(crate) says_down: usize,
    /// Down to which row it was shown.
    pub(crate) shown_rows: usize,
    /// How large the screen is.
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    /// Whether the keys are explained.
    pub(crate) help: bool,
    /// What the lists are filtered by.
    pub(crate) filter: String,
    /// The command that is typed.
    pub(crate) command: String,
    /// What is typed.
    pub(crate) text: String,
    /// What was typed for other questions.
    pub(super) drafts: BTreeMap<String, String>,
    /// Whom the operator speaks to.
    pub(crate) steered: Option<Steered>,
    /// How far the operator came with a turn of their own, while it is chosen.
    pub(crate) own: Option<Own>,
    /// What is typed for a role at work, and for which one.
    pub(crate) words: String,
    pub(super) addressed: Option<Steered>,
    /// What another process left that was typed there.
    pub(super) left: Vec<UnsentText>,
    /// Whether the line that is open began with such a text.
    pub(super) is_offered: bool,
    /// A text that is on its way, and where it was typed. What is refused comes back.
    pub(crate) sent: Option<(Focus, String)>,
    /// The question that was answered here last.
    pub(super) answered: Option<String>,
    /// Whose turn stops at the next dot, and when the first was pressed.
    pub(super) stopping: Option<Stopping>,
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
    Page(PagedText),
    /// Resume a flow without a driver.
    Resume(FlowRef),
    /// Run another command of this program on the terminal.
    Run(Vec<String>),
    /// Open the page in the browser.
    Browse,
    /// Give the terminal a text for its clipboard, which is this.
    Copy(String, &'static str),
    /// End.
    Quit,
    /// End because of Ctrl-C.
    Interrupted,
}

impl State {
    /// Takes over how large the screen is. What a question shows on another one was not shown on this one.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        if (self.columns, self.rows) == (columns, rows) {
            return;
        }
        (self.columns, self.rows) = (columns, rows);
        if self.shown_rows != usize::MAX {
            (self.says_down, self.shown_rows) = (0, layout::says_rows(self));
        }
    }

    /// Forgets what is not there any more. Nothing that is new is chosen.
    pub(crate) fn settle(&mut self, view: &View) {
        self.drafts
            .retain(|id, _| view.asks.iter().any(|ask| ask.id == *id));
        let is_there = |id: &String| self.asks(view).iter().any(|ask| ask.id == *id);
        if self.ask.as_ref().is_some_and(|id| !is_there(id)) {
            let was = self.ask.take();
            self.own = None;
            self.says_down = 0;
            let hidden = view.ask(was.as_ref()).is_some();
            if self.focus == Focus::Text {
                self.focus = Focus::Asks;
                self.told = "it is not asked any more; what you typed is kept".to_owned();
            } else if !hidden && was != self.answered {
                self.told = "it is not asked any more: answered elsewhere, or over".to_owned();
            }
        }
        let known = |flow: &FlowRef| view.line(flow).is_some();
        if self.opened.as_ref().is_some_and(|flow| !known(flow)) && !self.focus.is_field() {
            self.close();
        }
        // An open flow that asks nothing has no list of questions.
        if self.opened.is_some() && self.focus == Focus::Asks && self.asks(view).is_empty() {
            self.focus = Focus::Nodes;
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
                self.answered = None;
                match sent {
                    Some((Focus::Steer, words)) if self.words.is_empty() => self.words = words,
                    Some((_, text)) if self.text.is_empty() => self.text = text,
                    Some(_) | None => {}
                }
            }
        }
    }

    /// The questions that are listed: of the flow that is open, and those that the filter finds.
    pub(crate) fn asks<'v>(&self, view: &'v View) -> Vec<&'v AskView> {
        let asks = view.asks.iter().filter(|ask| {
            let is_here = (self.opened.as_ref()).is_none_or(|flow| *flow == ask.flow);
            let title = view.line(&ask.flow).map_or("", |line| &line.title);
            is_here && self.finds([&name(&ask.flow), title, &ask.head, &ask.line])
        });
        asks.collect()
    }

    /// The flows that are listed.
    pub(crate) fn flows<'v>(&self, view: &'v View) -> Vec<&'v FlowLine> {
        let flows = view.flows.iter();
        flows
            .filter(|line| self.finds([&line.name, &line.title, &line.status, ""]))
            .collect()
    }

    fn finds(&self, texts: [&str; 4]) -> bool {
        let wanted = self.filter.to_lowercase();
        let mut words = wanted.split_whitespace();
        words.all(|word| texts.iter().any(|text| text.to_lowercase().contains(word)))
    }

    /// The chosen ask, if it is listed.
    pub(crate) fn chosen<'v>(&self, view: &'v View) -> Option<&'v AskView> {
        let asks = self.asks(view);
        asks.into_iter()
            .find(|ask| Some(&ask.id) == self.ask.as_ref())
    }

    /// The ask whose letters count: the list of asks has the keys, or an answer is typed.
    pub(crate) fn asked<'v>(&self, view: &'v View) -> Option<&'v AskView> {
        let here = self.focus == Focus::Asks || self.focus == Focus::Text;
        let here = here || (self.focus.is_field() && self.before == Focus::Asks);
        self.chosen(view).filter(|_| here)
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
        if self.focus.is_field() {
            return self.in_field(view, key);
        }
        if self.help && *key != Key::Interrupt {
            self.read_help(key);
            return None;
        }
        if !matches!(key, Key::Char(letter) if !"jk".contains(*letter)) {
            self.told.clear();
        }
        let stopping = self.stopping.take();
        match key {
            Key::Interrupt => return Some(Act::Interrupted),
            Key::Esc => self.back(),
            Key::Enter => self.enter(view),
            Key::Tab => self.focus = self.next_focus(view, true),
            Key::BackTab => self.focus = self.next_focus(view, false),
            Key::Up | Key::Char('k') => self.step(view, false, now_ms),
            Key::Down | Key::Char('j') => self.step(view, true, now_ms),
            Key::Left => self.turn(view, false),
            Key::Right => self.turn(view, true),
            Key::PageUp => self.page(view, false),
            Key::PageDown => self.page(view, true),
            Key::Char(letter) => {
                let ask = self.asked(view).filter(|ask| self.answers(ask, *letter));
                return match ask {
                    Some(ask) => self.answer(ask, *letter, armed),
                    None => self.letter(view, *letter, armed, now_ms, stopping),
                };
            }
            Key::Paste(_) => "a paste answers nothing".clone_into(&mut self.told),
            Key::Backspace | Key::NewLine | Key::Other => self.unknown(view, "this key"),
        }
        None
    }

    /// A letter that answers no question.
    fn letter(
        &mut self,
        view: &View,
        letter: char,
        armed: bool,
        now_ms: u64,
        stopping: Option<Stopping>,
    ) -> Option<Act> {
        match letter {
            'q' => return Some(Act::Quit),
            '?' => (self.help, self.down) = (true, 0),
            '/' => self.write(Focus::Filter),
            ':' => self.write_command(),
            's' => self.speak_to(view, SteerWhen::Queue),
            'S' => self.speak_to(view, SteerWhen::Interrupt),
            ' ' => self.hold(view),
            'G' => (self.held, self.feed_up) = (None, 0),
            '1'..='9' => self.follow(view, letter),
            'o' => return Some(Act::Browse),
            'c' => return self.copy(view),
            '.' => return self.stop(view, armed, now_ms, stopping),
            'p' => return self.pause(view, armed),
            'R' => return self.resume(view, armed),
            'y' | 'f' | 'n' | 'r' | 'v' if self.asked(view).is_none() => {
                let says = "it answers the chosen question; choose one with ↑↓ in NEED YOU";
                says.clone_into(&mut self.told);
            }
            letter => self.unknown(view, &letter.to_string()),
        }
        None
    }

    /// A key while the keys are listed: it scrolls, or closes the list.
    fn read_help(&mut self, key: &Key) {
        let most = hints::ALL.len();
        self.down = match key {
            Key::Up | Key::Char('k') => moved(self.down, false, 1, most),
            Key::Down | Key::Char('j') => moved(self.down, true, 1, most),
            Key::PageUp => moved(self.down, false, PAGE_LINES, most),
            Key::PageDown => moved(self.down, true, PAGE_LINES, most),
            Key::Char(_)
            | Key::Paste(_)
            | Key::Enter
            | Key::Esc
            | Key::Tab
            | Key::BackTab
            | Key::Left
            | Key::Right
            | Key::Backspace
            | Key::Interrupt
            | Key::NewLine
            | Key::Other => {
                self.help = false;
                0
            }
        };
    }

    /// Says which keys work.
    fn unknown(&mut self, view: &View, key: &str) {
        let answers = self.asked(view).map(answer::hints);
        let answers = answers.unwrap_or_default().into_iter();
        let answers: Vec<String> = answers.map(|(key, does)| format!("{key} {does}")).collect();
        let answers = match answers.as_slice() {
            [] => String::new(),
            answers => format!("{}; ", answers.join(", ")),
        };
        self.told = format!("{key} does nothing here: {answers}? lists the keys");
    }

    /// The parts of the screen that take keys, in their order.
    fn parts(&self) -> &'static [Focus] {
        match &self.opened {
            Some(_) => &[
                Focus::Asks,
                Focus::Nodes,
                Focus::Feed,
                Focus::Cost,
                Focus::Files,
            ],
            None => &[Focus::Asks, Focus::Flows, Focus::Feed],
        }
    }

    fn next_focus(&mut self, view: &View, forwards: bool) -> Focus {
        self.down = 0;
        let parts = self.parts().iter().copied();
        // An open flow that asks nothing has no list of questions.
        let no_asks = self.opened.is_some() && self.asks(view).is_empty();
        let parts: Vec<Focus> = parts
            .filter(|part| !(no_asks && *part == Focus::Asks))
            .collect();
        let at = parts.iter().position(|part| *part == self.focus);
        let next = match (at, forwards) {
            (Some(at), true) => (at + 1) % parts.len(),
            (Some(at), false) => (at + parts.len() - 1) % parts.len(),
            (None, _) => 0,
        };
        parts.get(next).copied().unwrap_or_default()
    }

    /// Opens the chosen flow, or goes on to the feed within it.
    fn enter(&mut self, view: &View) {
        if self.opened.is_some() {
            self.focus = Focus::Feed;
            return;
        }
        let flow = if self.focus == Focus::Asks {
            self.chosen(view).map(|ask| ask.flow.clone())
        } else {
            self.flow.clone()
        };
        let Some(flow) = flow else {
            "choose a row with ↑↓, then enter opens its flow".clone_into(&mut self.told);
            return;
        };
        if self.focus != Focus::Asks {
            self.focus = Focus::Nodes;
        }
        self.open(flow);
    }

    /// Opens a flow.
    pub(crate) fn open(&mut self, flow: FlowRef) {
        if self.flow.as_ref() != Some(&flow) {
            self.look_at(flow.clone(), None);
        }
        (self.opened, self.node, self.down) = (Some(flow), 0, 0);
    }

    fn close(&mut self) {
        self.opened = None;
        if self.focus != Focus::Asks {
            self.focus = Focus::Flows;
        }
    }

    /// Leaves what is open, or clears the filter.
    fn back(&mut self) {
        if self.opened.is_some() {
            self.close();
        } else if !self.filter.is_empty() {
            self.filter.clear();
        } else if self.ask.is_some() && self.focus == Focus::Asks {
            (self.ask, self.own) = (None, None);
        } else {
            "there is nothing to go back to; q quits".clone_into(&mut self.told);
        }
    }

    fn step(&mut self, view: &View, down: bool, now_ms: u64) {
        match self.focus {
            Focus::Asks => self.step_asks(view, down, now_ms),
            Focus::Flows => self.step_flows(view, down, now_ms),
            Focus::Nodes if !down && self.node == 0 && !self.asks(view).is_empty() => {
                self.last_ask(view, now_ms);
            }
            Focus::Nodes => {
                let last = view.chosen.as_ref().map_or(0, |flow| flow.nodes.len());
                self.node = moved(self.node, down, 1, last.saturating_sub(1));
                let nodes = view.chosen.iter().flat_map(|flow| &flow.nodes);
                let role = nodes.map(|node| node.role.clone()).nth(self.node);
                self.show(role.and_then(|role| role.parse().ok()));
            }
            Focus::Feed => self.scroll(view, !down, 1),
            Focus::Cost | Focus::Files => self.slide(view, down, 1),
            Focus::Text | Focus::Steer | Focus::Filter | Focus::Command => {}
        }
    }

    /// One question on; after the last of them come the flows.
    fn step_asks(&mut self, view: &View, down: bool, now_ms: u64) {
        let asks = self.asks(view);
        let at = asks
            .iter()
            .position(|ask| Some(&ask.id) == self.ask.as_ref());
        match next(&asks, at, down) {
            Some(ask) => self.choose(ask, now_ms),
            None if down && self.opened.is_some() => self.focus = Focus::Nodes,
            None if down => {
                self.focus = Focus::Flows;
                if let Some(line) = self.flows(view).first() {
                    self.look_at(line.flow.clone(), None);
                }
            }
            None => {}
        }
    }

    fn step_flows(&mut self, view: &View, down: bool, now_ms: u64) {
        let flows = self.flows(view);
        let at = flows
            .iter()
            .position(|line| Some(&line.flow) == self.flow.as_ref());
        match next(&flows, at, down) {
            Some(line) => self.look_at(line.flow.clone(), None),
            None if !down => self.last_ask(view, now_ms),
            None => {}
        }
    }

    /// Goes up into the list of questions, if there are any.
    fn last_ask(&mut self, view: &View, now_ms: u64) {
        if let Some(ask) = self.asks(view).last() {
            self.focus = Focus::Asks;
            self.choose(ask, now_ms);
        }
    }

    /// Choosing an ask shows where it comes from.
    fn choose(&mut self, ask: &AskView, now_ms: u64) {
        if self.ask.as_ref() != Some(&ask.id) {
            let text = std::mem::take(&mut self.text);
            match self.ask.replace(ask.id.clone()) {
                Some(before) if !text.is_empty() => {
                    self.drafts.insert(before, text);
                }
                // What was typed for a question that is not asked any more is not lost.
                Some(_) | None => self.text = text,
            }
            if let Some(draft) = self.drafts.remove(&ask.id) {
                self.text = draft;
            }
            self.chosen_ms = now_ms;
            self.own = ask.own.as_deref().cloned();
            (self.says_down, self.shown_rows) = (0, layout::says_rows(self));
        }
        self.look_at(ask.flow.clone(), ask.ask.role.clone());
    }

    fn look_at(&mut self, flow: FlowRef, role: Option<RoleInstance>) {
        if self.flow.as_ref() != Some(&flow) || self.role != role {
            self.flow = Some(flow);
            self.show(role);
        }
    }

    /// Shows the feed of a role.
    fn show(&mut self, role: Option<RoleInstance>) {
        self.role = role;
        (self.held, self.feed_up) = (None, 0);
    }

    fn turn(&mut self, view: &View, right: bool) {
        let Some(chosen) = &view.chosen else { return };
        let shown = chosen.feed(self.role.as_ref()).map(|feed| &feed.role);
        let at = chosen
            .feeds
            .iter()
            .position(|feed| Some(&feed.role) == shown);
        if let Some(feed) = next(&chosen.feeds, at, right) {
            self.show(Some(feed.role.clone()));
        }
    }

    /// Shows the feed of the role of the node with this number.
    fn follow(&mut self, view: &View, digit: char) {
        let number = digit.to_digit(10).unwrap_or(0) as usize;
        let at = number.saturating_sub(1);
        let flow = view.chosen.as_ref();
        let Some((flow, node)) = flow.and_then(|flow| Some((flow, flow.nodes.get(at)?))) else {
            self.told = format!("there is no node {digit} here");
            return;
        };
        if flow
            .feeds
            .iter()
            .any(|feed| feed.role.as_str() == node.role)
        {
            self.node = at;
            self.show(node.role.parse().ok());
        } else {
            self.told = format!("{} has done nothing yet", node.role);
        }
    }

    /// Keeps the feed as it is, or lets it follow again.
    fn hold(&mut self, view: &View) {
        if self.held.is_some() {
            (self.held, self.feed_up) = (None, 0);
            return;
        }
        let chosen = view.chosen.as_ref();
        self.held = chosen.and_then(|flow| flow.feed(self.role.as_ref()).cloned());
    }

    /// Scrolls the feed, which stays as it is meanwhile; at its end it follows again.
    fn scroll(&mut self, view: &View, up: bool, lines: usize) {
        if up && self.held.is_none() {
            self.hold(view);
        }
        let most = Layout::of(view, self).feed_hidden(view, self);
        self.feed_up = moved(self.feed_up, up, lines, most);
        if !up && self.feed_up == 0 {
            self.held = None;
        }
    }

    /// Scrolls the costs or the files.
    fn slide(&mut self, view: &View, down: bool, lines: usize) {
        let chosen = view.chosen.as_ref();
        let all = chosen.map_or(0, |flow| {
            if self.focus == Focus::Cost {
                flow.cost.len()
            } else {
                flow.files.len()
            }
        });
        self.down = moved(self.down, down, lines, all.saturating_sub(1));
    }

    fn page(&mut self, view: &View, down: bool) {
        match self.focus {
            Focus::Asks => {
                let Some(ask) = self.chosen(view) else { return };
                let shown = layout::says_rows(self);
                let all = super::card::said(ask, self.columns).len();
                let most = all.saturating_sub(shown);
                // No row is skipped.
                self.says_down = moved(self.says_down, down, PAGE_LINES.min(shown), most);
                self.shown_rows = self.shown_rows.max(self.says_down.saturating_add(shown));
            }
            Focus::Cost | Focus::Files => self.slide(view, down, PAGE_LINES),
            Focus::Flows
            | Focus::Nodes
            | Focus::Feed
            | Focus::Text
            | Focus::Steer
            | Focus::Filter
            | Focus::Command => self.scroll(view, !down, PAGE_LINES),
        }
    }

    /// The flow that a letter is meant for: the one that was chosen, and none that only happens to be shown.
    fn meant<'v>(&mut self, view: &'v View) -> Option<&'v FlowLine> {
        let flow = self.opened.as_ref().or(self.flow.as_ref());
        let line = flow.and_then(|flow| view.line(flow));
        if line.is_none() {
            "choose a flow first, with ↑↓".clone_into(&mut self.told);
        }
        line
    }

    /// Pauses the flow, or lets a paused one go on.
    fn pause(&mut self, view: &View, armed: bool) -> Option<Act> {
        let line = self.meant(view)?;
        if !self.may(armed) {
            return None;
        }
        let verb = if line.standing == Some(FlowStanding::Paused) {
            Verb::Unpause {}
        } else {
            Verb::Pause {}
        };
        Some(Act::Say(line.flow.clone(), verb))
    }

    /// Resumes the flow if it has no driver.
    fn resume(&mut self, view: &View, armed: bool) -> Option<Act> {
        let line = self.meant(view)?;
        let over = matches!(
            line.standing,
            None | Some(FlowStanding::Completed | FlowStanding::Cancelled)
        );
        if line.is_driven || over {
            let state = if over {
                line.status.as_str()
            } else {
                "driven by a process"
            };
            self.told = format!("{} is {state}: there is nothing to resume", line.name);
            return None;
        }
        self.may(armed).then(|| Act::Resume(line.flow.clone()))
    }

    /// Stops the turn of the role whose feed is shown, at the second dot.
    fn stop(
        &mut self,
        view: &View,
        armed: bool,
        now_ms: u64,
        first: Option<Stopping>,
    ) -> Option<Act> {
        let line = self.meant(view)?;
        let chosen = view.chosen.as_ref().filter(|flow| flow.flow == line.flow);
        let Some(feed) = chosen.and_then(|flow| flow.feed(self.role.as_ref())) else {
            "no role is at work here".clone_into(&mut self.told);
            return None;
        };
        if let Some(Stopping { flow, role, at_ms }) = first
            && (&flow, &role) == (&line.flow, &feed.role)
            && SECOND_DOT_MS.contains(&now_ms.saturating_sub(at_ms))
            && !self.busy
        {
            let scope = StopScope::Role(role);
            return Some(Act::Say(flow, Verb::Stop { scope }));
        }
        if self.may(armed) {
            self.told = format!(
                "press . again to stop the turn of {} in {}",
                feed.role, line.name
            );
            self.stopping = Some(Stopping {
                flow: line.flow.clone(),
                role: feed.role.clone(),
                at_ms: now_ms,
            });
        }
        None
    }

    /// Copies what the chosen question would run, or else the name of the flow.
    fn copy(&mut self, view: &View) -> Option<Act> {
        if let Some(ask) = self.asked(view)
            && let Some(call) = &ask.call
        {
            return Some(Act::Copy(call.clone(), "the call"));
        }
        let line = self.meant(view)?;
        Some(Act::Copy(line.flow.to_string(), "the flow's name"))
    }
}

/// A place moved by so many, between none and the most.
fn moved(at: usize, on: bool, by: usize, most: usize) -> usize {
    if on {
        at.saturating_add(by).min(most)
    } else {
        at.min(most).saturating_sub(by)
    }
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
