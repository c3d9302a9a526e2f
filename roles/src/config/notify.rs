//! The operator's notification command, and the occasions on which it runs.

use a_society_yaml::{ParseBudget, Value, YamlTree};

use crate::reading::{DocumentSink, TextFault, read};

use super::parse::{is_blank, top};

const NOTIFY: &str = "notify";
const NOTIFY_KEYS: &[&str] = &["command", "on"];

/// More words than a command of one line has.
const ARGUMENTS_MAX: usize = 64;

/// An occasion to notify the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occasion {
    /// The flow waits for an answer or for consent.
    Waits,
    /// It is done.
    Done,
    /// A role failed, or cannot ask its model.
    Failed,
    /// A budget is used up.
    Budget,
}

impl Occasion {
    /// Every one, with its word.
    pub(crate) const WORDS: [(Self, &'static str); 4] = [
        (Self::Waits, "waits"),
        (Self::Done, "done"),
        (Self::Failed, "failed"),
        (Self::Budget, "budget"),
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(known, _)| *known == self);
        found.map_or("", |(_, word)| word)
    }
}

/// The command, and when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyConfig {
    /// The program and its arguments. No shell reads them.
    pub command: Vec<String>,
    /// The occasions on which it runs.
    pub on: Vec<Occasion>,
}

pub(super) fn read_notify(text: &str) -> Result<Option<NotifyConfig>, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(None);
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        top(tree, NOTIFY).and_then(|tree| sink.notify(tree))
    })
}

impl DocumentSink<'_> {
    fn notify(&mut self, tree: &YamlTree) -> Option<NotifyConfig> {
        let fields = self.fields(tree, "`notify`", NOTIFY_KEYS)?;
        let command = self.required(tree, &fields, "`notify`", "command")?;
        let command = self.program(command)?;
        let on = match fields.get("on") {
            None => Occasion::WORDS.map(|(occasion, _)| occasion).to_vec(),
            Some(tree) => {
                let items = self.items(tree, "`on`", "`waits`, `done`, `failed` and `budget`")?;
                let each = items
                    .iter()
                    .map(|item| self.choice(item, "an item of `on`", &Occasion::WORDS));
                each.collect::<Option<Vec<Occasion>>>()?
            }
        };
        Some(NotifyConfig { command, on })
    }

    /// A program of the operator and its arguments.
    pub(super) fn program(&mut self, command: &YamlTree) -> Option<Vec<String>> {
        let words = self.items(command, "`command`", "the program and its arguments")?;
        if words.is_empty() || words.len() > ARGUMENTS_MAX {
            let message =
                format!("`command` is a program and its arguments, at most {ARGUMENTS_MAX} words");
            self.fault(command, message);
            return None;
        }
        let words = words
            .iter()
            .map(|word| self.text(word, "a word of `command`"));
        words.collect()
    }

    fn items<'t>(&mut self, tree: &'t YamlTree, what: &str, of: &str) -> Option<&'t [YamlTree]> {
        if let Value::List(items) = &tree.value {
            return Some(items);
        }
        self.fault(tree, format!("{what} must be a list of {of}"));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_of_everything_or_of_what_is_named() {
        assert_eq!(read_notify("model: m\n"), Ok(None));
        let all = read_notify("notify: { command: [notify-send, a flow] }\n").unwrap();
        let all = all.unwrap();
        assert_eq!(all.command, ["notify-send", "a flow"]);
        assert_eq!(all.on.len(), Occasion::WORDS.len());
        let some = "notify:\n  command: [mail]\n  on: [done, budget]\n";
        let some = read_notify(some).unwrap().unwrap();
        assert_eq!(some.on, [Occasion::Done, Occasion::Budget]);
    }

    #[test]
    fn what_names_no_command_or_an_unknown_occasion_is_refused_with_its_place() {
        for (text, says) in [
            ("notify: { on: [done] }", "command"),
            ("notify: { command: 'mail me' }", "must be a list"),
            ("notify: { command: [] }", "at most 64 words"),
            ("notify: { command: [mail, 3] }", "must be text"),
            (
                "notify: { command: [mail], on: [ready] }",
                "`waits`, `done`, `failed`, `budget`",
            ),
            ("notify: { commands: [mail], command: [mail] }", "commands"),
        ] {
            let faults = read_notify(text).unwrap_err();
            let said = faults[0].to_string();
            assert!(said.contains(says), "{text}: {said}");
        }
    }
}
