//! The small YAML files of a project: what a role has to read, what it owns, and who takes its
//! turns. They are read by the same means as flow files, so that their faults look the same.

use a_society_facts::fact::improvement::ImprovementMode;

use super::diagnostic::{Code, Diagnostic, Sink};
use super::parse::tree;
use super::parse_role::read_settings;
use super::role::InlineRole;
use super::walk::{self, Fields};
use super::yaml::{Tree, Value};

/// A text of a list, and the line in which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What it says.
    pub text: String,
    /// Counted from 1.
    pub line: u32,
}

/// Reads a file that holds a list of texts, alone or under the one key that it may have. An empty
/// file is an empty list.
pub fn parse_list(
    text: &str,
    file_name: &str,
    key: &'static [&'static str; 1],
) -> (Option<Vec<Listed>>, Vec<Diagnostic>) {
    let mut sink = Sink::new(text, file_name);
    let list = tree(&mut sink, text).and_then(|tree| {
        let items = match &tree.value {
            Value::Null => return Some(Vec::new()),
            Value::Map(_) => {
                let fields = Fields::read(&mut sink, &tree, "this file", key)?;
                fields.required(&mut sink, key[0])?.clone()
            }
            Value::List(_) | Value::Text(_) | Value::Number(_) | Value::Bool(_) => tree,
        };
        let what = format!("`{}`", key[0]);
        let items = walk::list(&mut sink, &items, &what)?;
        let mut listed = Vec::new();
        for item in items {
            let said = walk::text(&mut sink, item, &format!("an item of {what}"));
            listed.extend(said.map(|said| Listed {
                text: said.to_owned(),
                line: item.span.line,
            }));
        }
        Some(listed)
    });
    let is_sound = sink.errors() == 0;
    (list.filter(|_| is_sound), sink.finish())
}

/// Reads a file that holds one role: the keys of a role in a flow file. Who the role is and how it
/// works may stand elsewhere.
pub fn parse_role(text: &str, file_name: &str) -> (Option<InlineRole>, Vec<Diagnostic>) {
    let mut sink = Sink::new(text, file_name);
    let role = tree(&mut sink, text).and_then(|tree| read_settings(&mut sink, &tree));
    let is_sound = sink.errors() == 0;
    (role.filter(|_| is_sound), sink.finish())
}

/// What a project chooses beforehand, where nobody says otherwise. It chooses how work goes on, and
/// never what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Defaults {
    /// How roles look back.
    pub improve: Option<ImprovementMode>,
    /// Whether a feedback report is written.
    pub feedback: Option<bool>,
}

const DEFAULTS: &[&str] = &["improve", "feedback"];

/// The ways to look back, by the words that people use for them.
const WAYS: [(&str, ImprovementMode); 3] = [
    ("graph", ImprovementMode::GraphBased),
    ("parallel", ImprovementMode::Parallel),
    ("none", ImprovementMode::None),
];

/// Reads what a project chooses beforehand.
pub fn parse_defaults(text: &str, file_name: &str) -> (Option<Defaults>, Vec<Diagnostic>) {
    let mut sink = Sink::new(text, file_name);
    let defaults = tree(&mut sink, text).and_then(|tree| {
        if matches!(tree.value, Value::Null) {
            return Some(Defaults::default());
        }
        let fields = Fields::read(&mut sink, &tree, "this file", DEFAULTS)?;
        let improve = fields.get("improve");
        let feedback = fields.get("feedback");
        Some(Defaults {
            improve: improve.and_then(|tree| way(&mut sink, tree)),
            feedback: feedback.and_then(|tree| yes_or_no(&mut sink, tree)),
        })
    });
    let is_sound = sink.errors() == 0;
    (defaults.filter(|_| is_sound), sink.finish())
}

fn way(sink: &mut Sink<'_>, tree: &Tree) -> Option<ImprovementMode> {
    let word = walk::text(sink, tree, "`improve`")?;
    let found = WAYS.iter().find(|(known, _)| *known == word);
    if found.is_none() {
        let message = "`improve` is `graph`, `parallel` or `none`".to_owned();
        sink.error(Code::WrongType, tree.span, message, None);
    }
    found.map(|(_, mode)| *mode)
}

fn yes_or_no(sink: &mut Sink<'_>, tree: &Tree) -> Option<bool> {
    match &tree.value {
        Value::Bool(value) => Some(*value),
        Value::Text(word) if word == "yes" => Some(true),
        Value::Text(word) if word == "no" => Some(false),
        Value::Null | Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
            let message = "`feedback` is `yes` or `no`".to_owned();
            sink.error(Code::WrongType, tree.span, message, None);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[&str; 1] = &["required_readings"];

    fn texts(text: &str) -> Option<Vec<(String, u32)>> {
        let (list, _) = parse_list(text, "x.yaml", KEY);
        let items = list?.into_iter();
        Some(items.map(|item| (item.text, item.line)).collect())
    }

    #[test]
    fn a_list_may_stand_alone_or_under_its_key_and_nothing_is_an_empty_one() {
        let wanted = Some(vec![("$A".to_owned(), 1), ("b.md".to_owned(), 2)]);
        assert_eq!(texts("- $A\n- b.md\n"), wanted);
        let wanted = Some(vec![("$A".to_owned(), 2)]);
        assert_eq!(texts("required_readings:\n  - $A\n"), wanted);
        assert_eq!(texts("# nothing yet\n"), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_list_of_texts_is_told_with_its_place() {
        for (text, code, line) in [
            ("readings: []\n", "G005", 1),
            ("- a\n- 3\n", "G006", 2),
            ("hello\n", "G006", 1),
            ("- [a\n", "G002", 1),
        ] {
            let (list, found) = parse_list(text, "x.yaml", KEY);
            assert_eq!(list, None, "{text}");
            assert_eq!(found[0].code.as_str(), code, "{text}: {found:?}");
            assert_eq!(found[0].line, line, "{text}: {found:?}");
        }
    }

    #[test]
    fn a_project_chooses_beforehand_in_words_and_nothing_else() {
        let read = |text: &str| parse_defaults(text, "defaults.yaml");
        for (text, improve, feedback) in [
            (
                "improve: graph\nfeedback: no\n",
                Some(ImprovementMode::GraphBased),
                Some(false),
            ),
            ("improve: none\n", Some(ImprovementMode::None), None),
            ("feedback: true\n", None, Some(true)),
            ("# nothing\n", None, None),
        ] {
            assert_eq!(read(text).0, Some(Defaults { improve, feedback }), "{text}");
        }
        for (text, code) in [
            ("improve: sometimes\n", "G006"),
            ("feedback: 3\n", "G006"),
            ("mode: full-access\n", "G005"),
        ] {
            let (defaults, found) = read(text);
            assert_eq!(defaults, None, "{text}");
            assert_eq!(found[0].code.as_str(), code, "{text}");
        }
    }

    #[test]
    fn a_role_file_says_who_takes_its_turns_and_need_not_say_how_it_works() {
        let (role, found) = parse_role("executor: human\n", "role.yaml");
        assert_eq!(role.unwrap().executor().as_str(), "human", "{found:?}");
        assert!(parse_role("model: small\n", "role.yaml").0.is_some());
        let (role, found) = parse_role("executor: command\n", "role.yaml");
        assert!(role.is_none(), "{found:?}");
    }
}
