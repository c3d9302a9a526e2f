//! Rules about calls that the operator gives a flow, checked before they are recorded.

use std::path::Path;

use a_society_facts::fact::operator::{ConsentRules, RuleOrigin};
use a_society_roles::consent::policy::Policy;

use crate::config::{policy as rule, workspace};
use crate::pasted_secrets::holds_a_secret;

/// The rules, each once.
///
/// # Errors
/// With the first that cannot be read, or that holds what looks like a secret.
pub fn checked_rules(allow: &[String], deny: &[String]) -> Result<ConsentRules, String> {
    // Rules are recorded as they are written.
    if allow.iter().chain(deny).any(|rule| holds_a_secret(rule)) {
        return Err("something in it looks like a secret, which is not recorded".to_owned());
    }
    for rule in allow {
        rule::check_allow(rule).map_err(|fault| fault.to_string())?;
    }
    for rule in deny {
        rule::check(rule).map_err(|fault| fault.to_string())?;
    }
    let mut rules = ConsentRules::default();
    rules.add(&ConsentRules {
        allow: allow.to_vec(),
        deny: deny.to_vec(),
    });
    Ok(rules)
}

/// All rules about calls: those of a flow, of the operator's configuration, and what the workspace denies
/// besides.
///
/// # Errors
/// When one of them cannot be read: a rule that is not understood must not be taken for none.
pub(crate) fn policy(
    flow: &ConsentRules,
    own: &ConsentRules,
    folder: &Path,
) -> Result<Policy, String> {
    let workspace = workspace::consent(folder).map_err(|error| error.to_string())?;
    let mut all = Policy::default();
    for (rules, origin) in [
        (flow, RuleOrigin::Flow),
        (own, RuleOrigin::Configuration),
        (&workspace.rules, RuleOrigin::Workspace),
    ] {
        let policy = Policy::read(rules, origin).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("\n")
        })?;
        all = all.and(policy);
    }
    Ok(all)
}
