//! `configure`: the operator chooses a role's model, and how hard it is to think.

use std::collections::BTreeMap;

use a_society_facts::id::RoleInstance;
use a_society_orchestrator::control::message::Command;

use super::context::Context;
use super::say::{To, role, say};
use crate::operator_error::Outcome;

/// The arguments of `configure`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The choice counts from the role's next turn on and is remembered for the role instance. What is
not named stays as it was chosen before, or as the flow file and the configuration have it, and is
not chosen by a model any more. Several skills or servers stand with commas between them; `none` is
none of them, and `auto` lets a model choose.

Examples:
  a-society configure a1b2 writer model=sonnet
  a-society configure a1b2 owner model=opus effort=high
  a-society configure a1b2 writer skills=tables,maps mcp-servers=none
  a-society configure a1b2 painter model=auto")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The role instance
    #[arg(value_name = "ROLE", value_parser = role)]
    role: RoleInstance,

    /// What is chosen: model=NAME, effort=LEVEL, skills=NAME,…, mcp-servers=NAME,…
    #[arg(value_name = "KEY=VALUE", required = true, value_parser = setting)]
    settings: Vec<(String, String)>,
}

/// The settings that there are.
const KEYS: [&str; 4] = ["model", "effort", "skills", "mcp-servers"];

fn setting(text: &str) -> Result<(String, String), String> {
    let Some((key, value)) = text.split_once('=') else {
        return Err("it has no =; write it as model=NAME".to_owned());
    };
    if !KEYS.contains(&key) {
        return Err(format!(
            "there is no setting {key:?}; there are: {}",
            KEYS.join(", ")
        ));
    }
    if value.is_empty() {
        return Err(format!("{key} has no value"));
    }
    Ok((key.to_owned(), value.to_owned()))
}

/// Configures.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let settings: BTreeMap<String, String> = arguments.settings.iter().cloned().collect();
    let role = arguments.role.clone();
    let command = Command::Configure { role, settings };
    say(context, &arguments.to, command, "configured")
}
