//! Standing decisions about calls: the operator's for all flows, and a workspace's for its own.

use a_society_yaml::{ParseBudget, Value, YamlTree};

use crate::reading::{DocumentSink, TextFault, read};
use a_society_facts::fact::operator::{ConsentMode, ConsentRules};

use super::parse::{is_blank, top};
use crate::consent::policy;

const CONSENT: &str = "consent";
const CONSENT_KEYS: &[&str] = &["mode", "allow", "deny"];

/// Standing decisions about calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsentConfig {
    /// The operator's: the mode of flows that choose none. A workspace's: the most permissive mode that
    /// its flows may have.
    pub mode: Option<ConsentMode>,
    /// The rules.
    pub rules: ConsentRules,
}

pub(super) fn of_the_operator(text: &str) -> Result<ConsentConfig, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(ConsentConfig::default());
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        let found = top(tree, CONSENT).map(|tree| sink.consent(tree));
        found.unwrap_or_default()
    })
}

pub(super) fn of_a_workspace(text: &str) -> Result<ConsentConfig, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(ConsentConfig::default());
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        let fields = sink.fields(tree, "the configuration of a workspace", &[CONSENT]);
        let Some(tree) = fields.and_then(|fields| fields.get(CONSENT)) else {
            return ConsentConfig::default();
        };
        let found = sink.consent(tree);
        sink.only_narrows(tree, &found);
        found
    })
}

impl DocumentSink<'_> {
    fn consent(&mut self, tree: &YamlTree) -> ConsentConfig {
        let Some(fields) = self.fields(tree, "`consent`", CONSENT_KEYS) else {
            return ConsentConfig::default();
        };
        let mode = fields.get("mode");
        let mut rules = |key: &str, check: RuleCheck| {
            let tree = fields.get(key);
            tree.map_or_else(Vec::new, |tree| self.rules(tree, key, check))
        };
        let rules = ConsentRules {
            allow: rules("allow", policy::check_allow),
            deny: rules("deny", policy::check),
        };
        ConsentConfig {
            mode: mode.and_then(|tree| self.choice(tree, "`mode`", &ConsentMode::WORDS)),
            rules,
        }
    }

    fn rules(&mut self, tree: &YamlTree, key: &str, check: RuleCheck) -> Vec<String> {
        let Value::List(items) = &tree.value else {
            self.fault(
                tree,
                format!("`{key}` must be a list of rules; {}", policy::KNOWN),
            );
            return Vec::new();
        };
        if items.len() > policy::RULES_MAX {
            self.fault(
                tree,
                format!("`{key}` has more than {} rules", policy::RULES_MAX),
            );
            return Vec::new();
        }
        let mut rules = Vec::new();
        for item in items {
            let Some(rule) = self.words(item, "a rule") else {
                continue;
            };
            match check(&rule) {
                Ok(()) => rules.push(rule),
                Err(fault) => self.fault(item, fault.to_string()),
            }
        }
        rules
    }

    /// A process that can write to a workspace must not be able to grant itself permissions.
    fn only_narrows(&mut self, tree: &YamlTree, found: &ConsentConfig) {
        let Value::Map(entries) = &tree.value else {
            return;
        };
        let place = |wanted: &str| {
            let found = entries.iter().find(|entry| entry.is(wanted));
            found.map(|entry| &entry.key)
        };
        if let Some(key) = place("allow") {
            let message = "a workspace cannot allow anything, it can only deny; what may run without asking is set in the operator's own configuration or with run --allow";
            self.fault(key, message);
        }
        if let (Some(key), Some(ConsentMode::FullAccess)) = (place("mode"), found.mode) {
            let message = "a workspace cannot make a mode wider; it is `no-access` or `partial-access`, \
                           the most that its flows have";
            self.fault(key, message);
        }
    }
}

type RuleCheck = fn(&str) -> Result<(), policy::RuleFault>;

#[cfg(test)]
mod tests {
    use super::*;

    fn said(found: Result<ConsentConfig, Vec<TextFault>>) -> Vec<String> {
        let faults = found.unwrap_err();
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_operator_says_a_mode_and_rules_and_hears_of_every_one_that_is_none() {
        let text = "model: m\nconsent:\n  mode: full\n  allow: [edits:src, 'pytest *']\n  deny: ['rm *']\n";
        let found = of_the_operator(text).unwrap();
        assert_eq!(found.mode, Some(ConsentMode::FullAccess));
        assert_eq!(found.rules.allow, ["edits:src", "pytest *"]);
        assert_eq!(found.rules.deny, ["rm *"]);
        assert_eq!(of_the_operator("model: m\n"), Ok(ConsentConfig::default()));
        assert_eq!(of_the_operator(""), Ok(ConsentConfig::default()));
        let text = "consent:\n  mode: wide\n  allow: [edit, 'env *']\n  deny: all\n  ask: x\n";
        let said = said(of_the_operator(text));
        assert_eq!(said.len(), 5, "{said:#?}");
        for (line, part) in said
            .iter()
            .zip(["line 2", "`edit`", "env runs", "line 4", "`ask`"])
        {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn a_workspace_only_takes_away() {
        let text = "consent: { mode: partial-access, deny: ['rm *'] }\n";
        let found = of_a_workspace(text).unwrap();
        assert_eq!(found.mode, Some(ConsentMode::PartialAccess));
        assert_eq!(found.rules.deny, ["rm *"]);
        for (text, part) in [
            ("consent: { allow: [edits] }\n", "cannot allow anything"),
            ("consent: { allow: [] }\n", "cannot allow anything"),
            (
                "consent: { mode: full-access }\n",
                "cannot make a mode wider",
            ),
            ("consent: { mode: full }\n", "cannot make a mode wider"),
            (
                "consent: { deny: [everything] }\n",
                "`everything` is no rule",
            ),
            ("model: m\n", "`model`"),
            ("[]\n", "must be a mapping"),
        ] {
            let said = said(of_a_workspace(text));
            assert!(
                said.iter().any(|line| line.contains(part)),
                "{text}: {said:?}"
            );
        }
    }
}
