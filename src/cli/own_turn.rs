//! A turn that the operator takes, ended at the cursor of `run` or on the screen of `watch`: the file is written in
//! an editor or chosen by its path, and a key hands it over, sends the work back, waits or closes. Pure.
//!
//! What is chosen becomes an [`Act`], which `turn_files` carries out for both.

use a_society_facts::words::choices::LATER;
use a_society_facts::words::handoffs::{
    CLOSE_THE_FLOW, FINISH, HAND_OVER, WAIT_FOR_MORE, hand_over_to, send_back_to,
};
use a_society_operator_ui::protocol::ask::OwnTurn;
use a_society_orchestrator::record::named_in_record;
use a_society_orchestrator::record::own::{OwnTurnEnding, free_name};

/// A turn, and how far the operator came with ending it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Own {
    turn: OwnTurn,
    role: String,
    /// The files that can be handed over, with their sizes.
    files: Vec<(String, u64)>,
    /// The file that was written or chosen last.
    written: Option<String>,
    /// Whether anything came in that can be read.
    has_text: bool,
    step: Step,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// What is to be done.
    Way,
    /// Which file is to be written.
    Edits,
    /// Which file is to be handed over.
    Chooses,
    /// Which file of the project, or of the machine, is to be handed over.
    Brings,
    /// To whom it goes.
    Addresses(String),
    /// What has to change.
    Complains,
    /// Anything, in words.
    Talks,
}

/// What was chosen comes to this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// This file is to be written in an editor.
    Edit(String),
    /// This file of the project, or of the machine, is to be handed over.
    Bring(String),
    /// The turn ends.
    End(OwnTurnEnding),
    /// The turn ends with these words in a new file, which goes back.
    SendBack {
        /// To whom.
        to: Vec<String>,
        /// The file.
        path: String,
        /// What it says.
        words: String,
    },
    /// The role is answered in words.
    Answer(String),
    /// All of what came in is to be shown.
    Read,
    /// The turn is left for later.
    Later,
    /// Prints this, and asks again.
    Said(String),
    /// Asks for the next thing.
    Again,
}

impl Own {
    pub(crate) fn new(
        turn: OwnTurn,
        role: String,
        files: Vec<(String, u64)>,
        has_text: bool,
    ) -> Self {
        Self {
            has_text,
            turn,
            role,
            files,
            written: None,
            step: Step::Way,
        }
    }

    /// Whether a key is waited for, and not a line.
    pub(crate) fn takes_keys(&self) -> bool {
        self.step == Step::Way
    }

    /// The name of what is typed now.
    pub(crate) const fn step_name(&self) -> &'static str {
        match self.step {
            Step::Way => "way",
            Step::Edits => "edits",
            Step::Chooses => "chooses",
            Step::Brings => "brings",
            Step::Addresses(_) => "addresses",
            Step::Complains => "complains",
            Step::Talks => "talks",
        }
    }

    /// A file was written or chosen.
    pub(crate) fn wrote(&mut self, path: &str, bytes: u64) {
        self.files.retain(|(there, _)| there != path);
        self.files.push((path.to_owned(), bytes));
        self.written = Some(path.to_owned());
    }

    /// Asks for nothing more than a key again.
    pub(crate) fn back(&mut self) {
        self.step = Step::Way;
    }

    /// Whether a key means something here.
    pub(crate) fn knows(&self, key: char) -> bool {
        self.keys().iter().any(|(known, _)| *known == key)
    }

    /// The keys and what they do.
    pub(crate) fn keys(&self) -> Vec<(char, String)> {
        let mut keys = Vec::new();
        let file = self.written.as_deref();
        if let Some(writes) = &self.turn.writes {
            keys.push(('w', format!("write {}", writes.path)));
            if file.is_some() {
                keys.push(('h', FINISH.to_owned()));
            }
        } else {
            keys.push(('w', "write or edit a file".to_owned()));
            keys.push(('f', "choose a file of the project".to_owned()));
        }
        if !self.turn.forward.is_empty() {
            let to = self.turn.forward.join(", ");
            let does = match file {
                Some(file) => format!("{HAND_OVER} {file} to {to}"),
                None => hand_over_to(&to),
            };
            keys.push(('h', does));
        }
        if !self.turn.backward.is_empty() {
            keys.push(('b', send_back_to(&self.turn.backward.join(", "))));
        }
        if self.turn.closes {
            keys.push(('c', CLOSE_THE_FLOW.to_owned()));
        }
        if self.turn.waits {
            keys.push(('m', WAIT_FOR_MORE.to_owned()));
        }
        keys.push(('a', "answer in words".to_owned()));
        if self.has_text {
            keys.push(('v', "all of what came in".to_owned()));
        }
        keys.push(('l', LATER.to_owned()));
        keys
    }

    /// What is asked for, before the cursor.
    pub(crate) fn mark(&self) -> String {
        let paths = || {
            let paths: Vec<&str> = self.files.iter().map(|(path, _)| path.as_str()).collect();
            if paths.is_empty() {
                String::new()
            } else {
                format!("there are {}; ", paths.join(", "))
            }
        };
        match &self.step {
            Step::Way => {
                let keys = self.keys().into_iter();
                let keys: Vec<String> = keys.map(|(key, does)| format!("{key} {does}")).collect();
                format!("{} > ", keys.join(" · "))
            }
            Step::Edits => format!("{}which file? (nothing for {})> ", paths(), self.name()),
            Step::Chooses => format!("{}which file? (empty goes back)> ", paths()),
            Step::Brings => {
                "which file? a path in the project, or a whole path (empty goes back)> ".to_owned()
            }
            Step::Addresses(_) => {
                let all = self.turn.forward.join(", ");
                format!("to whom? (nothing for all: {all})> ")
            }
            Step::Complains => "what has to change? (empty goes back)> ".to_owned(),
            Step::Talks => "your answer (empty goes back)> ".to_owned(),
        }
    }

    /// The file that is written where none is named.
    fn name(&self) -> String {
        // A file of the project is handed over as it is, and none that is written here.
        let ours = self.written.as_ref();
        let ours = ours.filter(|path| named_in_record(path).is_some());
        match (ours, &self.turn.writes) {
            (_, Some(writes)) => writes.path.clone(),
            (Some(written), None) => written.clone(),
            (None, None) => free_name(&self.role, false, &self.files),
        }
    }

    /// A key was pressed; `None` if it means nothing here.
    pub(crate) fn press(&mut self, key: char) -> Option<Act> {
        if !self.knows(key) {
            return None;
        }
        Some(match key {
            'w' if self.turn.writes.is_some() => Act::Edit(self.name()),
            'w' => self.asks(Step::Edits),
            'h' => match (&self.turn.writes, self.written.clone()) {
                (Some(writes), _) => Act::End(OwnTurnEnding::Wrote {
                    word: writes.word.clone(),
                    path: writes.path.clone(),
                }),
                (None, Some(path)) => self.address(path),
                (None, None) => self.asks(Step::Chooses),
            },
            'f' => self.asks(Step::Brings),
            'b' => self.asks(Step::Complains),
            'c' => Act::End(OwnTurnEnding::Closes),
            'm' => Act::End(OwnTurnEnding::Waits),
            'v' => Act::Read,
            'l' => Act::Later,
            _ => self.asks(Step::Talks),
        })
    }

    fn asks(&mut self, step: Step) -> Act {
        self.step = step;
        Act::Again
    }

    /// Hands a file over, once it is known to whom.
    fn address(&mut self, path: String) -> Act {
        if self.turn.forward.len() > 1 {
            return self.asks(Step::Addresses(path));
        }
        let to = self.turn.forward.clone();
        Act::End(OwnTurnEnding::Hands { to, path })
    }

    /// A line was typed.
    pub(crate) fn hear(&mut self, line: &str) -> Act {
        let line = line.trim();
        let step = std::mem::replace(&mut self.step, Step::Way);
        match step {
            // Where only lines are typed, a line of one letter is a key.
            Step::Way => {
                let mut letters = line.chars();
                match (letters.next(), letters.next()) {
                    (None, _) => Act::Again,
                    (Some(key), None) => {
                        let act = self.press(key.to_ascii_lowercase());
                        act.unwrap_or_else(|| {
                            let keys = self.keys().into_iter().map(|(key, _)| key.to_string());
                            let keys: Vec<String> = keys.collect();
                            Act::Said(format!("{key} does nothing here; {} do", keys.join(", ")))
                        })
                    }
                    (Some(_), Some(_)) => Act::Answer(line.to_owned()),
                }
            }
            Step::Edits if line.is_empty() => Act::Edit(self.name()),
            Step::Edits => Act::Edit(line.to_owned()),
            Step::Addresses(path) => self.addressed(path, line),
            Step::Chooses | Step::Brings | Step::Complains | Step::Talks if line.is_empty() => {
                Act::Again
            }
            Step::Brings => Act::Bring(line.to_owned()),
            Step::Chooses => {
                let path = line.to_owned();
                if self.files.iter().any(|(there, _)| *there == path) {
                    return self.address(path);
                }
                Act::Said(format!(
                    "there is no file {path} to hand over; w writes one, f chooses one of the project"
                ))
            }
            Step::Complains => Act::SendBack {
                to: self.turn.backward.clone(),
                path: free_name(&self.role, true, &self.files),
                words: line.to_owned(),
            },
            Step::Talks => Act::Answer(line.to_owned()),
        }
    }

    fn addressed(&mut self, path: String, line: &str) -> Act {
        let names = line.split([',', ' ']).filter(|name| !name.is_empty());
        let mut to: Vec<String> = names.map(ToOwned::to_owned).collect();
        to.dedup();
        if let Some(other) = to.iter().find(|name| !self.turn.forward.contains(name)) {
            return Act::Said(format!("{other} does not receive anything from here"));
        }
        if to.is_empty() {
            to.clone_from(&self.turn.forward);
        }
        Act::End(OwnTurnEnding::Hands { to, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(forward: &[&str], backward: &[&str]) -> Own {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let turn = OwnTurn {
            forward: names(forward),
            backward: names(backward),
            waits: true,
            closes: false,
            again: None,
            writes: None,
        };
        let files = vec![("record/plan.md".to_owned(), 9)];
        Own::new(turn, "lead".to_owned(), files, false)
    }

    fn hands(to: &[&str], path: &str) -> Act {
        let to = to.iter().map(|name| (*name).to_owned()).collect();
        let path = path.to_owned();
        Act::End(OwnTurnEnding::Hands { to, path })
    }

    #[test]
    fn a_file_that_was_written_is_handed_over_with_one_more_key() {
        let mut own = own(&["file"], &["propose"]);
        assert_eq!(own.press('w'), Some(Act::Again));
        assert!(
            own.mark().contains("nothing for record/lead.md"),
            "{}",
            own.mark()
        );
        assert_eq!(own.hear(""), Act::Edit("record/lead.md".to_owned()));
        own.wrote("record/lead.md", 12);
        assert!(
            own.mark().contains("h hand over record/lead.md to file"),
            "{}",
            own.mark()
        );
        assert_eq!(own.press('h'), Some(hands(&["file"], "record/lead.md")));
    }

    #[test]
    fn a_file_of_the_project_is_handed_over_where_it_is_and_is_none_that_is_written() {
        let mut own = own(&["file"], &[]);
        own.press('f');
        assert_eq!(own.hear("a.png"), Act::Bring("a.png".to_owned()));
        own.wrote("a.png", 7);
        own.press('w');
        assert_eq!(own.hear(""), Act::Edit("record/lead.md".to_owned()));
        assert_eq!(own.press('h'), Some(hands(&["file"], "a.png")));
    }

    #[test]
    fn a_file_that_is_there_is_handed_over_and_one_that_is_not_is_said() {
        let mut own = own(&["file"], &[]);
        assert_eq!(own.press('h'), Some(Act::Again));
        assert!(
            matches!(own.hear("record/other.md"), Act::Said(says) if says.contains("no file record/other.md"))
        );
        assert_eq!(own.press('h'), Some(Act::Again));
        assert_eq!(
            own.hear("record/plan.md"),
            hands(&["file"], "record/plan.md")
        );
        assert_eq!(own.press('b'), None, "there is nobody before it");
    }

    #[test]
    fn where_several_receive_it_some_can_be_named() {
        let mut own = own(&["api", "ui"], &[]);
        own.press('h');
        assert_eq!(own.hear("record/plan.md"), Act::Again);
        assert!(matches!(own.hear("db"), Act::Said(says) if says.starts_with("db does not")));
        for (line, to) in [("ui", &["ui"][..]), ("", &["api", "ui"][..])] {
            own.press('h');
            own.hear("record/plan.md");
            assert_eq!(own.hear(line), hands(to, "record/plan.md"));
        }
    }

    #[test]
    fn work_goes_back_with_words_and_nothing_is_sent_without_them() {
        let mut own = own(&["file"], &["propose"]);
        own.press('b');
        assert_eq!(own.hear("  "), Act::Again);
        assert!(own.takes_keys());
        own.press('b');
        let back = Act::SendBack {
            to: vec!["propose".to_owned()],
            path: "record/lead-reason.md".to_owned(),
            words: "Name a date.".to_owned(),
        };
        assert_eq!(own.hear("Name a date."), back);
        // Typed as lines, a letter is a key and anything longer an answer.
        assert_eq!(own.hear("m"), Act::End(OwnTurnEnding::Waits));
        assert_eq!(own.hear("not yet"), Act::Answer("not yet".to_owned()));
    }

    #[test]
    fn a_turn_that_looks_back_ends_when_its_one_file_was_written() {
        let mut own = own(&[], &[]);
        own.turn.waits = false;
        own.turn.writes = Some(a_society_operator_ui::protocol::ask::OwnFile {
            word: "findings".to_owned(),
            path: "record/findings/lead.md".to_owned(),
        });
        assert_eq!(own.press('h'), None);
        let path = "record/findings/lead.md".to_owned();
        assert_eq!(own.press('w'), Some(Act::Edit(path.clone())));
        own.wrote(&path, 3);
        let word = "findings".to_owned();
        assert_eq!(
            own.press('h'),
            Some(Act::End(OwnTurnEnding::Wrote { word, path }))
        );
    }
}
