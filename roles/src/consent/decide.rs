//! The decision table of consent.
//!
//! | tier | no-access | partial-access | full-access |
//! |---|---|---|---|
//! | free | allow | allow | allow |
//! | unasked | allow | allow | allow |
//! | sensitive | ask | ask | deny |
//! | trust | ask | ask | ask |
//! | edit | ask | allow with the grant of edits or of this action | allow |
//! | command | ask | allow with the grant of this action | allow |
//! | web | ask | allow with the grant of this action | allow |
//! | server tool | ask | allow with the grant of this definition or of this action | allow |
//!
//! Rules of the operator come first: what one denies is denied in every tier and mode, and what one
//! allows is allowed where this table would ask. Where a line of a command may hold what is denied and
//! that cannot be decided, no mode and no rule allows it.

use std::collections::BTreeSet;

use a_society_facts::Hash;
use a_society_facts::fact::operator::{ConsentAnswer, ConsentMode, DecidingRule, Grant};
use a_society_facts::fact::terms::ConsentTerms;

use super::policy::Judged;

/// What consent needs to know about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentQuestion {
    /// The tool.
    pub tool: String,
    /// How much is at stake.
    pub tier: Tier,
    /// The command it would run.
    pub command: Option<String>,
    /// What the operator decides about.
    pub terms: ConsentTerms,
    /// The hash of exactly what would run.
    pub action: Hash,
    /// What would run, for the operator to read: whole, and nothing in it can pretend.
    pub shown: String,
    /// What the operator's rules say about it.
    pub ruled: Option<Judged>,
}

/// How much is at stake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tier {
    /// It reads what a role may read.
    Free,
    /// A command that is listed as one that runs unasked, behind all walls.
    Unasked,
    /// It reads a file that often holds secrets.
    Sensitive,
    /// It changes a file that programs trust or run later: each time, the operator is asked.
    Trust,
    /// It changes a file in scope.
    Edit,
    /// It runs a command.
    Command,
    /// It reaches out over the network.
    Web,
    /// It calls a tool of a server.
    ServerTool {
        /// The hash of the tool's definition.
        definition: Hash,
    },
}

/// Whether a call may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not, and the model reads why.
    Deny(String),
    /// A rule of the operator answers, and the operator is not asked.
    Ruled(ConsentAnswer, DecidingRule),
    /// The operator is to be asked.
    Ask(Box<ConsentRequest>),
}

/// What the operator is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentRequest {
    /// The hash of exactly what would run.
    pub action: Hash,
    /// What would run, for the operator to read.
    pub shown: String,
    /// What the operator decides about.
    pub terms: ConsentTerms,
    /// What "for this flow" would grant; nothing if it can only be allowed once.
    pub grant: Option<Grant>,
    /// The rule that may deny it, if only a shell could decide that.
    pub doubt: Option<DecidingRule>,
}

/// Decides about one call.
#[must_use]
pub fn decide(mode: ConsentMode, grants: &BTreeSet<Grant>, ask: &ConsentQuestion) -> Decision {
    let unruled = by_the_table(mode, grants, ask);
    match (&ask.ruled, unruled) {
        (Some(Judged::Denied(by)), _) => Decision::Ruled(ConsentAnswer::Deny, by.clone()),
        (Some(Judged::Allowed(by)), Decision::Ask(_)) => {
            Decision::Ruled(ConsentAnswer::AllowOnce, by.clone())
        }
        // What the operator granted he saw; a mode has seen nothing.
        (Some(Judged::Doubtful(_)), Decision::Allow)
            if !is_granted(grants, ask) || mode != ConsentMode::PartialAccess =>
        {
            request(ask)
        }
        (Some(Judged::Allowed(_) | Judged::Doubtful(_)) | None, unruled) => unruled,
    }
}

fn by_the_table(mode: ConsentMode, grants: &BTreeSet<Grant>, ask: &ConsentQuestion) -> Decision {
    match (&ask.tier, mode) {
        (Tier::Free | Tier::Unasked, _) => Decision::Allow,
        (Tier::Sensitive, ConsentMode::FullAccess) => Decision::Deny(format!(
            "{} may hold secrets. It is read only when the operator is asked, and this flow does \
             not ask. Go on without it, or ask the operator for what you need.",
            ask.terms.paths().collect::<Vec<_>>().join(", ")
        )),
        (Tier::Sensitive, ConsentMode::NoAccess | ConsentMode::PartialAccess)
        | (Tier::Trust, _) => request(ask),
        (
            Tier::Edit | Tier::Command | Tier::Web | Tier::ServerTool { .. },
            ConsentMode::FullAccess,
        ) => Decision::Allow,
        (
            Tier::Edit | Tier::Command | Tier::Web | Tier::ServerTool { .. },
            ConsentMode::NoAccess,
        ) => request(ask),
        (
            Tier::Edit | Tier::Command | Tier::Web | Tier::ServerTool { .. },
            ConsentMode::PartialAccess,
        ) => {
            if is_granted(grants, ask) {
                Decision::Allow
            } else {
                request(ask)
            }
        }
    }
}

impl ConsentQuestion {
    /// What "for this flow" would grant; nothing if it can only be allowed once.
    #[must_use]
    pub fn grant(&self) -> Option<Grant> {
        match &self.tier {
            Tier::Free | Tier::Unasked | Tier::Sensitive | Tier::Trust => None,
            Tier::Edit => Some(Grant::Edits),
            Tier::Command | Tier::Web => Some(self.exact_grant()),
            Tier::ServerTool { definition } => Some(Grant::McpTool {
                tool: self.tool.clone(),
                definition: *definition,
            }),
        }
    }

    /// A command is granted with the hash of all that it depends on: the same words in another
    /// folder, with other variables or behind fewer walls are another command.
    fn exact_grant(&self) -> Grant {
        let host = match &self.terms {
            ConsentTerms::Web { host } => Some(host),
            ConsentTerms::Command(_)
            | ConsentTerms::Files { .. }
            | ConsentTerms::Reading { .. }
            | ConsentTerms::Server(_)
            | ConsentTerms::Session => None,
        };
        let words = self.command.as_ref().or(host);
        let words = words.map_or(self.tool.as_str(), String::as_str);
        Grant::Command(format!("{} {words}", self.action))
    }
}

fn is_granted(grants: &BTreeSet<Grant>, ask: &ConsentQuestion) -> bool {
    ask.grant().is_some_and(|grant| grants.contains(&grant))
}

fn request(ask: &ConsentQuestion) -> Decision {
    Decision::Ask(Box::new(ConsentRequest {
        action: ask.action,
        shown: ask.shown.clone(),
        terms: ask.terms.clone(),
        grant: ask.grant(),
        doubt: match &ask.ruled {
            Some(Judged::Doubtful(by)) => Some(by.clone()),
            Some(Judged::Allowed(_) | Judged::Denied(_)) | None => None,
        },
    }))
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::operator::RuleOrigin;

    use super::*;

    fn ask(tier: Tier) -> ConsentQuestion {
        ConsentQuestion {
            tool: "tool".to_owned(),
            tier,
            command: Some("npm test".to_owned()),
            terms: ConsentTerms::Session,
            action: Hash::of(b"a"),
            shown: "shown".to_owned(),
            ruled: None,
        }
    }

    fn tiers() -> [Tier; 8] {
        let definition = Hash::of(b"d");
        [
            Tier::Free,
            Tier::Unasked,
            Tier::Sensitive,
            Tier::Trust,
            Tier::Edit,
            Tier::Command,
            Tier::Web,
            Tier::ServerTool { definition },
        ]
    }

    fn word(decision: &Decision) -> &'static str {
        match decision {
            Decision::Allow => "allow",
            Decision::Deny(_) | Decision::Ruled(ConsentAnswer::Deny, _) => "deny",
            Decision::Ruled(_, _) => "rule",
            Decision::Ask(_) => "ask",
        }
    }

    #[test]
    fn the_table_is_as_it_is_written() {
        let modes = [
            ConsentMode::NoAccess,
            ConsentMode::PartialAccess,
            ConsentMode::FullAccess,
        ];
        let rows: Vec<[&str; 3]> = tiers()
            .into_iter()
            .map(|tier| modes.map(|mode| word(&decide(mode, &BTreeSet::new(), &ask(tier.clone())))))
            .collect();
        assert_eq!(
            rows,
            [
                ["allow", "allow", "allow"],
                ["allow", "allow", "allow"],
                ["ask", "ask", "deny"],
                ["ask", "ask", "ask"],
                ["ask", "ask", "allow"],
                ["ask", "ask", "allow"],
                ["ask", "ask", "allow"],
                ["ask", "ask", "allow"],
            ]
        );
    }

    #[test]
    fn a_rule_answers_only_where_the_table_asks_and_denies_everywhere() {
        let by = || DecidingRule {
            rule: "rule".to_owned(),
            origin: RuleOrigin::Flow,
        };
        let modes = [
            ConsentMode::NoAccess,
            ConsentMode::PartialAccess,
            ConsentMode::FullAccess,
        ];
        for mode in modes {
            for tier in tiers() {
                let mut asked = ask(tier);
                let unruled = word(&decide(mode, &BTreeSet::new(), &asked));
                asked.ruled = Some(Judged::Allowed(by()));
                let allowed = word(&decide(mode, &BTreeSet::new(), &asked));
                assert_eq!(allowed == "rule", unruled == "ask", "{asked:?}");
                assert!(allowed == "rule" || allowed == unruled, "{asked:?}");
                asked.ruled = Some(Judged::Denied(by()));
                assert_eq!(word(&decide(mode, &BTreeSet::new(), &asked)), "deny");
                asked.ruled = Some(Judged::Doubtful(by()));
                assert_ne!(word(&decide(mode, &BTreeSet::new(), &asked)), "allow");
                let grants = asked.grant().into_iter().collect();
                let granted = word(&decide(mode, &grants, &asked));
                let counts = mode == ConsentMode::PartialAccess && asked.grant().is_some();
                assert_eq!(granted == "allow", counts, "{asked:?}");
            }
        }
    }

    #[test]
    fn a_grant_counts_only_in_partial_access_and_only_for_what_it_names() {
        for tier in tiers() {
            let asked = ask(tier);
            let Some(grant) = asked.grant() else {
                continue;
            };
            let grants = BTreeSet::from([grant]);
            assert_eq!(
                decide(ConsentMode::PartialAccess, &grants, &asked),
                Decision::Allow
            );
            assert_eq!(word(&decide(ConsentMode::NoAccess, &grants, &asked)), "ask");
            for other in tiers().map(ask) {
                let is_same = other.grant() == asked.grant();
                let is_allowed =
                    decide(ConsentMode::PartialAccess, &grants, &other) == Decision::Allow;
                let is_free = matches!(other.tier, Tier::Free | Tier::Unasked);
                assert_eq!(is_allowed, is_same || is_free, "{other:?} by {grants:?}");
            }
        }
    }

    #[test]
    fn c73_a_granted_command_elsewhere_is_another_command() {
        let here = ask(Tier::Command);
        let mut elsewhere = here.clone();
        elsewhere.action = Hash::of(b"b");
        let grants: BTreeSet<Grant> = here.grant().into_iter().collect();
        assert_eq!(
            word(&decide(ConsentMode::PartialAccess, &grants, &elsewhere)),
            "ask"
        );
    }

    #[test]
    fn c71_a_granted_command_is_granted_byte_for_byte() {
        let granted = ask(Tier::Command);
        let grants: BTreeSet<Grant> = granted.grant().into_iter().collect();
        for text in [
            "npm test ",
            " npm test",
            "npm  test",
            "npm test --x",
            "NPM TEST",
            "npm test\n",
            "npm test;",
        ] {
            let mut other = granted.clone();
            other.command = Some(text.to_owned());
            assert_eq!(
                word(&decide(ConsentMode::PartialAccess, &grants, &other)),
                "ask",
                "{text:?}"
            );
        }
    }

    #[test]
    fn what_may_hold_secrets_can_only_be_allowed_once() {
        assert_eq!(ask(Tier::Sensitive).grant(), None);
        assert_eq!(ask(Tier::Trust).grant(), None);
    }
}
