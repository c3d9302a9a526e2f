//! `configure`: the operator chooses a role's model, and how hard it is to think.

use std::collections::BTreeMap;

use a_society_facts::Verb;
use a_society_facts::fact::terms::Scope;
use a_society_facts::id::RoleInstance;
use a_society_orchestrator::config::models::there_are;
use a_society_orchestrator::config::user;
use a_society_orchestrator::project::choices::{AUTO, SCOPE};
use a_society_orchestrator::workspace::role_models::is_scripted;

use super::asks::short;
use super::context::Context;
use super::say::{To, role, say};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};

/// The arguments of `configure`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The choice counts from the role's next turn on and is kept for the role instance. What is not \
named stays as it was chosen before, or as the flow file and the configuration have it, and is no \
longer chosen by a model. Separate several skills or servers with commas; `none` takes all of them \
away, and `auto` lets a model choose. `scope` limits how far the role's tools reach: sandboxed, project \
or full. It only narrows what `tools` of the configuration allows. `send` says whether a chat takes \
messages of other sessions: on, off, or inherit, after which the configuration decides.

Examples:
  a-society configure a1b2 writer model=sonnet
  a-society configure a1b2 owner model=opus effort=high
  a-society configure a1b2 writer skills=tables,maps mcp-servers=none
  a-society configure a1b2 painter model=auto
  a-society configure a1b2 writer scope=sandboxed
  a-society configure c3d4 assistant send=off")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The role instance
    #[arg(value_name = "ROLE", value_parser = role)]
    role: RoleInstance,

    /// What is chosen: model=NAME, effort=LEVEL, skills=NAME,…, mcp-servers=NAME,…, scope=SCOPE, send=on|off|inherit
    #[arg(value_name = "KEY=VALUE", required = true, value_parser = setting)]
    settings: Vec<(String, String)>,
}

/// The settings that there are.
const KEYS: [&str; 6] = ["model", "effort", "skills", "mcp-servers", SCOPE, SEND];

/// The setting that says whether a chat takes messages of other sessions.
pub(super) const SEND: &str = "send";

/// What may be chosen there.
pub(super) const SEND_WORDS: [&str; 3] = ["on", "off", "inherit"];

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
    if key == SEND && !SEND_WORDS.contains(&value) {
        let words = SEND_WORDS.join(", ");
        return Err(format!(
            "there is no choice {value:?} of send; there are: {words}"
        ));
    }
    if key == SCOPE && Scope::of_word(value).is_none() {
        let words = Scope::ALL.map(Scope::word).join(", ");
        return Err(format!("there is no scope {value:?}; there are: {words}"));
    }
    Ok((key.to_owned(), value.to_owned()))
}

/// Configures.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let settings: BTreeMap<String, String> = arguments.settings.iter().cloned().collect();
    let wished = settings.get(SCOPE).and_then(|word| Scope::of_word(word));
    if let Some(model) = settings.get("model") {
        must_be_known(context, arguments, model)?;
    }
    let role = arguments.role.clone();
    let command = Verb::Configure { role, settings };
    let done = say(context, &arguments.to, command)?;
    if let Some(wished) = wished
        && let Ok(most) = user::reach()
        && wished > most.scope
    {
        context.out.note(&format!(
            "the configuration allows the scope {} at most, so {} is not reached; it is widened \
             there, under tools",
            most.scope.word(),
            wished.word()
        ));
    }
    Ok(done)
}

/// Refuses a model that no role could have.
fn must_be_known(context: &mut Context<'_>, arguments: &Arguments, name: &str) -> Result<(), Stop> {
    // A faulty configuration is reported by the role's next turn.
    let Ok((_, catalog)) = user::catalog() else {
        return Ok(());
    };
    let (store, flow) = context.flow(arguments.to.flow())?;
    if name == AUTO || catalog.models.contains_key(name) || is_scripted(&store, &flow) {
        return Ok(());
    }
    let hint = match catalog.models.keys().next() {
        Some(known) => {
            let (name, role) = (short(&flow), &arguments.role);
            format!("a-society configure {name} {role} model={known}")
        }
        None => "a-society models add".to_owned(),
    };
    Err(OperatorError::new(
        ("model-not-found", ExitCode::NotFound),
        format!("no model {name} is configured"),
        there_are(&catalog),
        hint,
    )
    .into())
}
