//! What the operator says for all flows beside the rules: the mode, how far tools reach, limits, notifications.

use std::path::Path;

pub use a_society_roles::config::edit::PolicyEdit;
use a_society_roles::config::edit::{said_of, with_policy};
use a_society_roles::config::{
    ConfigBounds, NotifyConfig, TextFault, parse_limits, parse_notify, parse_tools,
};
use a_society_roles::tool::ToolReach;

use super::super::user::{ConfigError, folder};
use super::{EditRefusal, Sheet};
use crate::pasted_secrets::holds_a_secret;

/// The policies of all flows beside the rules and the mode; defaults where the configuration has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfiguredPolicies {
    /// How far tools reach, with folders as they are written.
    pub reach: ToolReach,
    /// What stops a flow that makes no progress.
    pub limits: ConfigBounds,
    /// The command to notify.
    pub notify: Option<NotifyConfig>,
}

/// The policies that the configuration has.
///
/// # Errors
/// When the configuration is invalid there.
pub(crate) fn said(sheet: &Sheet) -> Result<ConfiguredPolicies, EditRefusal> {
    let faulty = |faults: Vec<TextFault>| {
        let path = sheet.path.clone();
        EditRefusal::from(ConfigError::Faulty { path, faults })
    };
    Ok(ConfiguredPolicies {
        reach: parse_tools(&sheet.text).map_err(faulty)?,
        limits: parse_limits(&sheet.text).map_err(faulty)?,
        notify: parse_notify(&sheet.text).map_err(faulty)?,
    })
}

/// Another text of the configuration, and what it says there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPolicies {
    /// The text.
    pub text: String,
    /// The lines about it; nothing if all of it was taken out.
    pub shown: String,
}

/// The text with something else said for all flows.
///
/// # Errors
/// When it means nothing, names a folder that is not there, looks like a secret, or the text cannot be changed.
pub fn changed(sheet: &Sheet, policy: &PolicyEdit) -> Result<ChangedPolicies, EditRefusal> {
    if let PolicyEdit::Notify { command, .. } = policy
        && command.iter().any(|word| holds_a_secret(word))
    {
        return Err(EditRefusal::usage(
            "the command is not taken",
            "something in it looks like a secret, and keys never pass through here",
            "let the command read it from a file",
        ));
    }
    let text = with_policy(&sheet.text, policy)?;
    if let PolicyEdit::Reach { folders, .. } = policy {
        for written in folders {
            // A folder that is not there would stop the tools of every role.
            folder(Path::new(written)).map_err(|why| {
                let hint = "make the folder, or name another one";
                EditRefusal::usage("the configuration was not changed", why, hint)
            })?;
        }
    }
    let shown = said_of(&text, policy).to_owned();
    Ok(ChangedPolicies { text, shown })
}
