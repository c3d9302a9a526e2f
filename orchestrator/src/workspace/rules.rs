//! Rules about calls that the operator gives a flow, checked before they are recorded.

use a_society_facts::fact::operator::ConsentRules;

use crate::config::policy;
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
        policy::check_allow(rule).map_err(|fault| fault.to_string())?;
    }
    for rule in deny {
        policy::check(rule).map_err(|fault| fault.to_string())?;
    }
    let mut rules = ConsentRules::default();
    rules.add(&ConsentRules {
        allow: allow.to_vec(),
        deny: deny.to_vec(),
    });
    Ok(rules)
}
