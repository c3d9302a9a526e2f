//! The lines in which something is typed: an answer, words for a role, a filter, a command. Esc and Ctrl-C leave a
//! line as it is, and what is in it is there when it is opened again.

use a_society_facts::Verb;
use a_society_facts::fact::operator::SteerWhen;

use super::keys::{Act, Focus, Key, State, Steered};
use super::view::View;
use crate::cli::own_command;

/// The longest text that is typed here; a longer one is given with `reply FLOW -` or `steer FLOW ROLE -`.
const TEXT_BYTES_MAX: usize = 16 * 1024;

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

impl State {
    /// Opens a line; what had the keys has them again when it is left.
    pub(super) const fn write(&mut self, field: Focus) {
        if !self.focus.is_field() {
            self.before = self.focus;
        }
        (self.focus, self.is_offered) = (field, false);
    }

    /// Handles a key while a line is open.
    pub(super) fn in_field(&mut self, view: &View, key: &Key) -> Option<Act> {
        match self.focus {
            Focus::Text => self.typed(view, key),
            Focus::Steer => self.worded(key),
            Focus::Filter => {
                self.filtered(key);
                None
            }
            Focus::Command => self.commanded(view, key),
            Focus::Asks
            | Focus::Flows
            | Focus::Nodes
            | Focus::Feed
            | Focus::Cost
            | Focus::Files => None,
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
    pub(super) fn speak_to(&mut self, view: &View, when: SteerWhen) {
        let shown = view.chosen.as_ref();
        let found = shown.and_then(|flow| Some((flow, flow.feed(self.role.as_ref())?)));
        let Some((flow, feed)) = found else {
            "no role is at work here yet, so that no role would read it".clone_into(&mut self.told);
            return;
        };
        self.steered = Some(Steered {
            flow: flow.flow.clone(),
            role: feed.role.clone(),
            when,
        });
        self.addressed.clone_from(&self.steered);
        self.write(Focus::Steer);
        self.offer_words();
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
        self.focus = self.before;
        self.steered.take()
    }

    /// A key while the filter is typed; the lists follow it at once.
    fn filtered(&mut self, key: &Key) {
        if *key == Key::Esc {
            self.filter.clear();
        }
        match written(&mut self.filter, &flat(key)) {
            Written::Ended | Written::Left => self.focus = self.before,
            Written::Full | Written::Typed => {}
        }
    }

    /// A key while a command is typed.
    fn commanded(&mut self, view: &View, key: &Key) -> Option<Act> {
        match written(&mut self.command, &flat(key)) {
            Written::Left => self.focus = self.before,
            Written::Ended => return self.run(view),
            Written::Full | Written::Typed => {}
        }
        None
    }

    /// Runs the command that was typed, with the chosen flow in the place of FLOW.
    fn run(&mut self, view: &View) -> Option<Act> {
        let mut words = match own_command::words(&self.command) {
            Ok(words) => words,
            Err(why) => {
                self.told = why;
                return None;
            }
        };
        words.drain(..usize::from(words.first().is_some_and(|word| word == "a-society")));
        let flow = self.flow.as_ref().or(self.opened.as_ref());
        let flow = flow.or(view.chosen.as_ref().map(|chosen| &chosen.flow));
        for word in words.iter_mut().filter(|word| *word == "FLOW") {
            if let Some(flow) = flow {
                *word = flow.to_string();
            }
        }
        match words.first().map(String::as_str) {
            Some("watch") => {
                "this is watch; q ends it".clone_into(&mut self.told);
                return None;
            }
            None => {
                self.focus = self.before;
                return None;
            }
            Some(_) => {}
        }
        self.focus = self.before;
        self.command.clear();
        match words.as_slice() {
            [only] if only == "q" || only == "quit" => Some(Act::Quit),
            _ => Some(Act::Run(words)),
        }
    }
}

/// The same for a line that has no second one.
fn flat(key: &Key) -> Key {
    if *key == Key::NewLine {
        return Key::Other;
    }
    if let Key::Paste(text) = key {
        return Key::Paste(text.replace(['\n', '\r', '\t'], " "));
    }
    key.clone()
}

fn written(text: &mut String, key: &Key) -> Written {
    let room = TEXT_BYTES_MAX.saturating_sub(text.len());
    match key {
        Key::Char(letter) if letter.len_utf8() <= room => text.push(*letter),
        Key::Paste(pasted) if pasted.len() <= room => text.push_str(pasted),
        Key::NewLine if room > 0 => text.push('\n'),
        Key::Char(_) | Key::Paste(_) | Key::NewLine => return Written::Full,
        Key::Backspace => {
            text.pop();
        }
        Key::Esc | Key::Interrupt => return Written::Left,
        Key::Enter => return Written::Ended,
        Key::Tab
        | Key::BackTab
        | Key::Up
        | Key::Down
        | Key::Left
        | Key::Right
        | Key::PageUp
        | Key::PageDown
        | Key::Other => {}
    }
    Written::Typed
}
