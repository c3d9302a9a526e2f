//! Standing rules about calls: added for all flows, and removed.

use std::path::Path;

use a_society_facts::fact::operator::ConsentRules;
pub use a_society_roles::config::edit::RuleSide;
use a_society_roles::config::edit::{with_rule, without_rule};

use super::super::user::ConsentConfig;
use super::super::workspace;
use super::{EditRefusal, Sheet};
use crate::pasted_secrets::holds_a_secret;

/// All standing rules, by where they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingRules {
    /// In the operator's configuration.
    pub own: ConsentConfig,
    /// In the workspace's, which only takes away.
    pub workspace: ConsentConfig,
}

/// The standing rules for all flows, or for those of a workspace.
///
/// # Errors
/// When one of the files is invalid.
pub fn said(sheet: &Sheet, folder: Option<&Path>) -> Result<StandingRules, EditRefusal> {
    let own = super::super::user::consent_of(&sheet.path, &sheet.text)?;
    let workspace = folder.map(workspace::consent).transpose()?;
    Ok(StandingRules {
        own,
        workspace: workspace.unwrap_or_default(),
    })
}

/// The text with rules more. Those that are there already stay once.
///
/// # Errors
/// When one of them is invalid, looks like a secret, or the text cannot be changed.
pub fn added(sheet: &Sheet, rules: &ConsentRules) -> Result<String, EditRefusal> {
    changed(sheet, rules, |text, list, rule| {
        if holds_a_secret(rule) {
            return Err(EditRefusal::usage(
                "the rule is not taken",
                "something in it looks like a secret, which is not recorded",
                "say it without",
            ));
        }
        Ok(with_rule(text, list, rule)?)
    })
}

/// The text without rules.
///
/// # Errors
/// When one of them is not there, or the text cannot be changed.
pub fn removed(sheet: &Sheet, rules: &ConsentRules) -> Result<String, EditRefusal> {
    changed(sheet, rules, |text, list, rule| {
        Ok(without_rule(text, list, rule)?)
    })
}

fn changed(
    sheet: &Sheet,
    rules: &ConsentRules,
    change: impl Fn(&str, RuleSide, &str) -> Result<String, EditRefusal>,
) -> Result<String, EditRefusal> {
    let mut text = sheet.text.clone();
    let lists = [
        (RuleSide::Allow, &rules.allow),
        (RuleSide::Deny, &rules.deny),
    ];
    for (list, rules) in lists {
        for rule in rules {
            text = change(&text, list, rule)?;
        }
    }
    Ok(text)
}
