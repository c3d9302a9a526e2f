//! Which sessions the tools of a role reach beyond its flow, and to which of them they may send.

use std::str::FromStr;

use a_society_yaml::{ParseBudget, Value, YamlTree};

use crate::reading::{DocumentSink, TextFault, read};

use super::parse::{is_blank, top};

const SESSIONS: &str = "sessions";
const SESSIONS_KEYS: &[&str] = &["see", "send", "compaction"];
const COMPACTION_KEYS: &[&str] = &["command", "seconds"];
const SEND_KEYS: &[&str] = &["default", "rules"];
const RULE_KEYS: &[&str] = &["match", "action"];
const MATCH_KEYS: &[&str] = &[
    "surface",
    "channel",
    "chat-type",
    "kind",
    "role",
    "flow",
    "key-prefix",
];

/// How long a program that compacts may take if the configuration does not say.
const COMPACTOR_S: u64 = 60;

/// Less than the operator waits for it.
const COMPACTOR_S_MAX: u64 = 300;

/// More rules than are written by hand.
const RULES_MAX: usize = 1_000;

/// The surface of every session of this program.
const INTERNAL: &str = "internal";

/// Every chat is between two.
const DIRECT: &str = "direct";

/// How far sessions see one another, and which take messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionsConfig {
    /// Whether sessions see all others of their project, and not only those of their flow and its forks.
    pub sees_project: bool,
    denies: bool,
    rules: Vec<SendRule>,
    /// The program that compacts sessions with the strategy `custom`, with its arguments; none if there are no words.
    pub compactor: Vec<String>,
    /// How long it may take.
    pub compactor_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SendRule {
    denies: bool,
    fields: Vec<(&'static str, String)>,
}

impl SessionsConfig {
    /// Whether the rules let a message through to a session with this canonical key: a rule that denies decides before
    /// one that allows, and where none matches the default does.
    #[must_use]
    pub fn lets_through(&self, key: &str, kind: &str, role: &str, flow: &str) -> bool {
        let to = MessageReceiver {
            key,
            kind,
            role,
            flow,
        };
        let mut decided = self.rules.iter().filter(|rule| rule.matches(&to));
        let is_allowed = decided.clone().any(|rule| !rule.denies);
        let is_denied = decided.any(|rule| rule.denies);
        !is_denied && (is_allowed || !self.denies)
    }
}

/// The session that a message would go to.
#[derive(Debug, Clone, Copy)]
struct MessageReceiver<'a> {
    key: &'a str,
    kind: &'a str,
    role: &'a str,
    flow: &'a str,
}

impl SendRule {
    fn matches(&self, to: &MessageReceiver<'_>) -> bool {
        self.fields.iter().all(|(field, value)| match *field {
            "surface" | "channel" => value == INTERNAL,
            "chat-type" => value == DIRECT,
            "kind" => value == to.kind,
            "role" => value == to.role,
            "flow" => value == to.flow,
            _ => to.key.starts_with(value),
        })
    }
}

/// Reads how far sessions see one another, and which of them take messages of others.
///
/// ```yaml
/// sessions:
///   see: project                        # or flow: those of the flow and its forks
///   send:
///     default: allow                    # or deny
///     rules:
///       - { match: { kind: cron }, action: deny }
///   compaction:
///     command: [summarise, --short]     # of the strategy custom; no shell reads it
///     seconds: 60                       # how long it may take
/// ```
///
/// The faults come in the order of the file.
impl FromStr for SessionsConfig {
    type Err = Vec<TextFault>;

    fn from_str(text: &str) -> Result<Self, Vec<TextFault>> {
        if is_blank(text) {
            return Ok(Self::default());
        }
        let found = read(text, ParseBudget::BLOCK, |sink, tree| {
            top(tree, SESSIONS).and_then(|tree| sink.sessions(tree))
        })?;
        Ok(found.unwrap_or_default())
    }
}

impl DocumentSink<'_> {
    fn sessions(&mut self, tree: &YamlTree) -> Option<SessionsConfig> {
        let fields = self.fields(tree, "`sessions`", SESSIONS_KEYS)?;
        let sees_project = match fields.get("see") {
            Some(tree) => self.choice(tree, "`see`", &[(false, "flow"), (true, "project")])?,
            None => false,
        };
        let (mut denies, mut rules) = (false, Vec::new());
        if let Some(tree) = fields.get("send") {
            let send = self.fields(tree, "`send`", SEND_KEYS)?;
            if let Some(tree) = send.get("default") {
                denies = self.action(tree, "`default`")?;
            }
            if let Some(tree) = send.get("rules") {
                rules = self.send_rules(tree)?;
            }
        }
        let (mut compactor, mut seconds) = (Vec::new(), COMPACTOR_S);
        if let Some(tree) = fields.get("compaction") {
            let given = self.fields(tree, "`compaction`", COMPACTION_KEYS)?;
            let command = self.required(tree, &given, "`compaction`", "command")?;
            compactor = self.program(command)?;
            if let Some(tree) = given.get("seconds") {
                seconds = self.number(tree, "`seconds`", 1, COMPACTOR_S_MAX)?;
            }
        }
        Some(SessionsConfig {
            sees_project,
            denies,
            rules,
            compactor,
            compactor_ms: seconds * 1_000,
        })
    }

    /// Whether it is denied.
    fn action(&mut self, tree: &YamlTree, what: &str) -> Option<bool> {
        self.choice(tree, what, &[(false, "allow"), (true, "deny")])
    }

    fn send_rules(&mut self, tree: &YamlTree) -> Option<Vec<SendRule>> {
        let Value::List(items) = &tree.value else {
            self.fault(tree, "`rules` must be a list of rules");
            return None;
        };
        if items.len() > RULES_MAX {
            self.fault(tree, format!("`rules` has at most {RULES_MAX} rules"));
            return None;
        }
        items.iter().map(|item| self.send_rule(item)).collect()
    }

    fn send_rule(&mut self, tree: &YamlTree) -> Option<SendRule> {
        let fields = self.fields(tree, "a rule of `send`", RULE_KEYS)?;
        let action = self.required(tree, &fields, "a rule of `send`", "action")?;
        let denies = self.action(action, "`action`")?;
        let Some(tree) = fields.get("match") else {
            let fields = Vec::new();
            return Some(SendRule { denies, fields });
        };
        let given = self.fields(tree, "`match`", MATCH_KEYS)?;
        let mut fields = Vec::new();
        for name in MATCH_KEYS {
            if let Some(value) = given.get(name) {
                fields.push((*name, self.words(value, &format!("`{name}`"))?));
            }
        }
        Some(SendRule { denies, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets_through(rules: &str) -> bool {
        let text = format!("sessions: {{ send: {rules} }}\n");
        SessionsConfig::from_str(&text).unwrap().lets_through(
            "cron:nightly",
            "cron",
            "assistant",
            "20260527T143000000Z-a1b2c3",
        )
    }

    #[test]
    fn a_rule_that_denies_comes_before_one_that_allows_and_both_before_the_default() {
        let deny = "{ match: { kind: cron }, action: deny }";
        let allow = "{ match: { key-prefix: 'cron:' }, action: allow }";
        let other = "{ match: { kind: cron, role: writer }, action: deny }";
        assert!(lets_through("{ default: allow }") && !lets_through("{ default: deny }"));
        assert!(!lets_through(&format!("{{ rules: [{allow}, {deny}] }}")));
        assert!(lets_through(&format!(
            "{{ default: deny, rules: [{other}, {allow}] }}"
        )));
        assert!(!lets_through("{ rules: [{ action: deny }] }"));
        for field in [
            "surface: internal",
            "channel: internal",
            "chat-type: direct",
        ] {
            assert!(!lets_through(&format!(
                "{{ rules: [{{ match: {{ {field} }}, action: deny }}] }}"
            )));
        }
        assert!(lets_through(
            "{ rules: [{ match: { surface: discord }, action: deny }] }"
        ));
    }

    #[test]
    fn a_program_that_compacts_has_words_and_a_time() {
        let of = |text: &str| {
            let config = SessionsConfig::from_str(text).unwrap();
            (config.compactor, config.compactor_ms)
        };
        let words = || vec!["short".to_owned(), "-x".to_owned()];
        let text = "sessions: { compaction: { command: [short, -x], seconds: 9 } }\n";
        assert_eq!(of(text), (words(), 9_000));
        let text = "sessions: { compaction: { command: [short, -x] } }\n";
        assert_eq!(of(text), (words(), 60_000));
        assert_eq!(of("sessions: { see: flow }\n").0, [""; 0]);
    }

    #[test]
    fn sessions_see_their_flow_unless_it_says_project() {
        let sees = |text: &str| SessionsConfig::from_str(text).map(|config| config.sees_project);
        assert_eq!(sees("model: m\n"), Ok(false));
        assert_eq!(sees("sessions: { see: project }\n"), Ok(true));
        for (text, says) in [
            ("sessions: { see: all }", "`flow`, `project`"),
            ("sessions: { sees: flow }", "sees"),
            (
                "sessions: { send: { rules: [{ match: { shape: a } }] } }",
                "action",
            ),
            (
                "sessions: { send: { rules: [{ match: { shape: a }, action: deny }] } }",
                "shape",
            ),
            ("sessions: { send: { default: ask } }", "`allow`, `deny`"),
            ("sessions: { compaction: { seconds: 5 } }", "command"),
            (
                "sessions: { compaction: { command: [] } }",
                "at most 64 words",
            ),
            (
                "sessions: { compaction: { command: [short], seconds: 301 } }",
                "from 1 to 300",
            ),
        ] {
            let faults = SessionsConfig::from_str(text).unwrap_err();
            assert!(faults[0].to_string().contains(says), "{text}: {faults:?}");
        }
    }
}
