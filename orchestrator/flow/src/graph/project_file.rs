//! The small YAML files of a project: what a role has to read, what it owns, and who takes its
//! turns. They are read by the same means as flow files, so that their faults look the same.

use a_society_facts::fact::flow::Ends;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_yaml::{Value, YamlTree};
use serde::{Serialize, Serializer};

use super::diagnostic::{Code, Diagnostic, DiagnosticSink};
use super::parse::tree;
use super::parse_role::read_settings;
use super::role::InlineRole;
use super::walk::{self, CheckedFields};

/// An item of a list, and the line in which it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    /// The path or the variable.
    pub text: String,
    /// Counted from 1.
    pub line: u32,
    /// The roles that share it by agreement, if it is a surface.
    pub shared_with: Vec<String>,
}

/// A file that holds one list.
#[derive(Debug, Clone, Copy)]
pub struct ListFile {
    /// The key under which the list may be.
    key: &'static str,
    /// All keys that are read, older ones included.
    keys: &'static [&'static str],
    /// An older name of the key.
    old_key: Option<&'static str>,
    /// Whether an item may say more than its path.
    has_details: bool,
}

/// The key with which older files name their role. The folder says it already.
const OLD_ROLE_KEY: &str = "role";

/// What a role reads.
pub const READINGS_FILE: ListFile = ListFile {
    key: "required_readings",
    keys: &["required_readings", OLD_ROLE_KEY],
    old_key: None,
    has_details: false,
};

/// What a role owns.
pub const OWNERSHIP_FILE: ListFile = ListFile {
    key: "owns",
    keys: &["owns", "surfaces", OLD_ROLE_KEY],
    old_key: Some("surfaces"),
    has_details: true,
};

/// The keys of an owned surface that says more than its path.
const SURFACE_KEYS: &[&str] = &["path", "scope", "shared_with"];

/// Reads a file that holds a list, alone or under its key. An empty file is an empty list. An older
/// form is read with a warning.
pub fn parse_list(
    text: &str,
    file_name: &str,
    form: ListFile,
) -> (Option<Vec<ListItem>>, Vec<Diagnostic>) {
    let mut sink = DiagnosticSink::new(text, file_name);
    let list = tree(&mut sink, text).and_then(|tree| {
        let items = match &tree.value {
            Value::Null => return Some(Vec::new()),
            Value::Map(_) => keyed_list(&mut sink, &tree, form)?.clone(),
            Value::List(_) | Value::Text(_) | Value::Number(_) | Value::Bool(_) => tree,
        };
        let what = format!("`{}`", form.key);
        let items = walk::list(&mut sink, &items, &what)?;
        let items = items.iter().map(|item| listed(&mut sink, item, form));
        Some(items.flatten().collect())
    });
    let is_sound = sink.errors() == 0;
    (list.filter(|_| is_sound), sink.finish())
}

/// The list under its key, or under its older one.
fn keyed_list<'t>(
    sink: &mut DiagnosticSink<'_>,
    tree: &'t YamlTree,
    form: ListFile,
) -> Option<&'t YamlTree> {
    let fields = CheckedFields::read(sink, tree, "this file", form.keys)?;
    let hint = || Some("`a-society check --fix` rewrites it".to_owned());
    if let Some(role) = fields.get(OLD_ROLE_KEY) {
        let message = "`role` has no effect: the folder names the role";
        sink.warning(Code::OldForm, role.span, message, hint());
    }
    let old = form.old_key.and_then(|key| Some((key, fields.get(key)?)));
    if let Some((key, list)) = old
        && fields.get(form.key).is_none()
    {
        let message = format!("`{key}` is an older name of `{}`", form.key);
        sink.warning(Code::OldForm, list.span, message, hint());
        return Some(list);
    }
    fields.required(sink, form.key)
}

fn listed(sink: &mut DiagnosticSink<'_>, item: &YamlTree, form: ListFile) -> Option<ListItem> {
    let line = item.span.line;
    if !form.has_details || !matches!(item.value, Value::Map(_)) {
        let what = format!("an item of `{}`", form.key);
        let text = walk::text(sink, item, &what)?.to_owned();
        let shared_with = Vec::new();
        return Some(ListItem {
            text,
            line,
            shared_with,
        });
    }
    let fields = CheckedFields::read(sink, item, "a surface", SURFACE_KEYS)?;
    let text = fields.required(sink, "path")?;
    let text = walk::text(sink, text, "`path`")?.to_owned();
    if let Some(scope) = fields.get("scope") {
        walk::text(sink, scope, "`scope`")?;
    }
    let shared_with = match fields.get("shared_with") {
        None => Vec::new(),
        Some(roles) => {
            let roles = walk::list(sink, roles, "`shared_with`")?.iter();
            let names = roles.map(|role| walk::text(sink, role, "a role of `shared_with`"));
            names.flatten().map(str::to_owned).collect()
        }
    };
    Some(ListItem {
        text,
        line,
        shared_with,
    })
}

/// The text of a list's file in today's form; nothing if it has that form already. Everything else in
/// it, such as comments, stays as it is.
#[must_use]
pub fn in_todays_form(text: &str, form: ListFile) -> Option<String> {
    let (_, found) = parse_list(text, "", form);
    let old = found.iter().filter(|found| found.code == Code::OldForm);
    if old.count() == 0 || found.iter().any(Diagnostic::is_error) {
        return None;
    }
    let is_key = |line: &str, key: &str| {
        let rest = line.strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if is_key(line, OLD_ROLE_KEY) {
            continue;
        }
        match form.old_key.filter(|key| is_key(line, key)) {
            Some(old) => {
                out.push_str(form.key);
                out.push_str(line.get(old.len()..).unwrap_or_default());
            }
            None => out.push_str(line),
        }
    }
    // A file in flow style, or with quoted keys, is left to its author.
    let (list, found) = parse_list(&out, "", form);
    let same = list
        == parse_list(text, "", form)
            .0
            .map(|list| renumbered(list, &out, form));
    (same && found.iter().all(|found| found.code != Code::OldForm)).then_some(out)
}

/// A list with the lines that its items have in another text.
fn renumbered(list: Vec<ListItem>, text: &str, form: ListFile) -> Vec<ListItem> {
    let lines = parse_list(text, "", form).0.unwrap_or_default();
    let lines = lines.into_iter().map(|item| item.line);
    let items = list.into_iter().zip(lines);
    items
        .map(|(item, line)| ListItem { line, ..item })
        .collect()
}

/// Reads a file that holds one role: the keys of a role in a flow file. Instructions and other texts
/// may be in other files.
pub fn parse_role(text: &str, file_name: &str) -> (Option<InlineRole>, Vec<Diagnostic>) {
    let mut sink = DiagnosticSink::new(text, file_name);
    let role = tree(&mut sink, text).and_then(|tree| read_settings(&mut sink, &tree));
    let is_sound = sink.errors() == 0;
    (role.filter(|_| is_sound), sink.finish())
}

/// The defaults of a project or a flow file, where nothing else is chosen. They choose how work goes
/// on, and never what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct FlowDefaults {
    /// How roles look back.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_way")]
    pub improve: Option<ImprovementMode>,
    /// Whether a feedback report is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<bool>,
}

impl FlowDefaults {
    /// These, and where they leave something open, those.
    #[must_use]
    pub fn or(self, those: Self) -> Self {
        Self {
            improve: self.improve.or(those.improve),
            feedback: self.feedback.or(those.feedback),
        }
    }
}

impl From<FlowDefaults> for Ends {
    fn from(defaults: FlowDefaults) -> Self {
        Self {
            improve: defaults.improve,
            feedback: defaults.feedback,
        }
    }
}

#[expect(clippy::ref_option, reason = "serde asks for it")]
fn write_way<S: Serializer>(mode: &Option<ImprovementMode>, to: S) -> Result<S::Ok, S::Error> {
    let word = WAYS.iter().find(|(_, known)| Some(*known) == *mode);
    word.map(|(word, _)| *word).serialize(to)
}

const DEFAULTS: &[&str] = &["improve", "feedback"];

/// The ways to look back, by the words that people use for them.
const WAYS: [(&str, ImprovementMode); 3] = [
    ("graph", ImprovementMode::GraphBased),
    ("parallel", ImprovementMode::Parallel),
    ("none", ImprovementMode::None),
];

/// Reads what a project chooses beforehand.
pub fn parse_defaults(text: &str, file_name: &str) -> (Option<FlowDefaults>, Vec<Diagnostic>) {
    let mut sink = DiagnosticSink::new(text, file_name);
    let defaults = tree(&mut sink, text).and_then(|tree| {
        if matches!(tree.value, Value::Null) {
            return Some(FlowDefaults::default());
        }
        let fields = CheckedFields::read(&mut sink, &tree, "this file", DEFAULTS)?;
        Some(read_ends(&mut sink, &fields))
    });
    let is_sound = sink.errors() == 0;
    (defaults.filter(|_| is_sound), sink.finish())
}

/// Reads how a flow ends, where a file says it.
pub(super) fn read_ends(sink: &mut DiagnosticSink<'_>, fields: &CheckedFields<'_>) -> FlowDefaults {
    FlowDefaults {
        improve: (fields.get("improve")).and_then(|tree| way(sink, tree)),
        feedback: (fields.get("feedback")).and_then(|tree| yes_or_no(sink, tree)),
    }
}

fn way(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<ImprovementMode> {
    let word = walk::text(sink, tree, "`improve`")?;
    let found = WAYS.iter().find(|(known, _)| *known == word);
    if found.is_none() {
        let message = "`improve` is `graph`, `parallel` or `none`".to_owned();
        sink.error(Code::WrongType, tree.span, message, None);
    }
    found.map(|(_, mode)| *mode)
}

fn yes_or_no(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<bool> {
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

    fn texts(text: &str) -> Option<Vec<(String, u32)>> {
        let (list, _) = parse_list(text, "x.yaml", READINGS_FILE);
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

    const OLD: &str = "# What curators own\nrole: curator\nsurfaces:\n  - path: $RULES\n    \
                       scope: all of it\n    shared_with: [owner]\n  - path: docs\n";

    #[test]
    fn an_older_form_is_read_with_a_warning_and_rewritten_without_a_loss() {
        let (list, found) = parse_list(OLD, "x.yaml", OWNERSHIP_FILE);
        let said = |list: Vec<ListItem>| -> Vec<(String, Vec<String>)> {
            let items = list.into_iter();
            items.map(|item| (item.text, item.shared_with)).collect()
        };
        let wanted = vec![
            ("$RULES".to_owned(), vec!["owner".to_owned()]),
            ("docs".to_owned(), Vec::new()),
        ];
        assert_eq!(said(list.unwrap()), wanted);
        let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
        assert_eq!(codes, ["G032", "G032"], "{found:?}");
        assert!(found.iter().all(|found| !found.is_error()), "{found:?}");

        let new = in_todays_form(OLD, OWNERSHIP_FILE).unwrap();
        assert_eq!(
            new,
            OLD.replace("role: curator\n", "")
                .replace("surfaces:", "owns:")
        );
        let (list, found) = parse_list(&new, "x.yaml", OWNERSHIP_FILE);
        assert_eq!(said(list.unwrap()), wanted);
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(in_todays_form(&new, OWNERSHIP_FILE), None, "once is enough");

        let readings = "role: curator\nrequired_readings:\n  - $LOG\n";
        let new = in_todays_form(readings, READINGS_FILE).unwrap();
        assert_eq!(new, "required_readings:\n  - $LOG\n");
    }

    #[test]
    fn a_file_that_cannot_be_rewritten_line_by_line_is_left_alone() {
        for text in [
            "{ role: curator, surfaces: [docs] }\n",
            "role: curator\nsurfaces: 3\n",
            "owns: [docs]\n",
        ] {
            assert_eq!(in_todays_form(text, OWNERSHIP_FILE), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_list_of_texts_is_told_with_its_place() {
        for (text, code, line) in [
            ("readings: []\n", "G005", 1),
            ("- a\n- 3\n", "G006", 2),
            ("hello\n", "G006", 1),
            ("- [a\n", "G002", 1),
        ] {
            let (list, found) = parse_list(text, "x.yaml", READINGS_FILE);
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
            assert_eq!(
                read(text).0,
                Some(FlowDefaults { improve, feedback }),
                "{text}"
            );
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
