//! `rules`: lists, adds and removes the operator's standing rules about calls.

use a_society_facts::fact::operator::ConsentRules;
use a_society_orchestrator::config::editing::Sheet;
use a_society_orchestrator::config::editing::rules::{added, removed, said};
use serde_json::json;

use super::consent_flags::{Rules, allowing, denying, one_list};
use super::context::Context;
use super::models::refused;
use super::say::{To, say};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome};
use crate::text::plain;
use crate::workspace;

/// The arguments of `rules`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rules say in advance what runs without asking and what never runs. Without FLOW they are those of \
your configuration, which apply to all flows; with FLOW those of that flow. run --help explains \
what a rule covers. A change counts for turns that begin afterwards; a rule that is added to a \
flow also answers what is already being asked. Rules in the configuration of a workspace are \
listed here, and changed in that file.

Examples:
  a-society rules ls
  a-society rules add --allow 'pytest *' --deny web
  a-society rules rm --allow 'pytest *'
  a-society rules ls a1b2
  a-society rules rm a1b2 --allow edits:src")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: RulesCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RulesCommand {
    /// List the rules, and where each is written
    Ls {
        /// The flow whose rules are listed; those of the configuration if absent
        #[arg(value_name = "FLOW")]
        flow: Option<String>,
    },
    /// Add a rule
    Add {
        /// The flow; all flows if absent
        #[arg(value_name = "FLOW")]
        flow: Option<String>,

        /// What runs without asking
        #[arg(long, value_name = "RULE,…", value_parser = allowing)]
        allow: Vec<Rules>,

        /// What never runs
        #[arg(long, value_name = "RULE,…", value_parser = denying)]
        deny: Vec<Rules>,
    },
    /// Remove a rule
    Rm {
        /// The flow; the configuration if absent
        #[arg(value_name = "FLOW")]
        flow: Option<String>,

        /// What no longer runs without asking
        #[arg(long, value_name = "RULE,…", value_parser = denying)]
        allow: Vec<Rules>,

        /// What no longer is denied
        #[arg(long, value_name = "RULE,…", value_parser = denying)]
        deny: Vec<Rules>,
    },
}

/// Looks after the rules.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        RulesCommand::Ls { flow: Some(flow) } => list_of_flow(context, flow),
        RulesCommand::Ls { flow: None } => list(context),
        RulesCommand::Add { flow, allow, deny } => {
            change(context, flow.as_deref(), &one_list(allow, deny), false)
        }
        RulesCommand::Rm { flow, allow, deny } => {
            change(context, flow.as_deref(), &one_list(allow, deny), true)
        }
    }
}

fn change(
    context: &mut Context<'_>,
    flow: Option<&str>,
    rules: &ConsentRules,
    back: bool,
) -> Outcome {
    if rules.is_empty() {
        return Err(OperatorError::new(
            ("usage", ExitCode::Usage),
            "no rule was given",
            "neither --allow nor --deny was given",
            "give one, such as --allow 'pytest *'",
        )
        .into());
    }
    if let Some(flow) = flow {
        let rules = rules.clone();
        let to = To::flow_named(flow);
        return say(context, &to, a_society_facts::Verb::Rules { rules, back });
    }
    let sheet = Sheet::read().map_err(refused)?;
    let change = if back { removed } else { added };
    let text = change(&sheet, rules).map_err(refused)?;
    let path = sheet.save(&text).map_err(refused)?;
    if context.out.is_json() {
        let done = json!({
            "file": path,
            "back": back,
            "allow": rules.allow,
            "deny": rules.deny,
        });
        context.out.value(&done)?;
        return Ok(ExitCode::Ok);
    }
    let is = if back { "no longer in" } else { "in" };
    for (list, rules) in [("allow", &rules.allow), ("deny", &rules.deny)] {
        for rule in rules {
            let line = format!("{list} {rule} is {is} {}", path.display());
            context.out.line(&plain(&line))?;
        }
    }
    context
        .out
        .note("it counts for turns that begin afterwards");
    Ok(ExitCode::Ok)
}

fn list(context: &mut Context<'_>) -> Outcome {
    let sheet = Sheet::read().map_err(refused)?;
    let store = context.store().ok();
    let folder = store.as_ref().map(workspace::folder_of);
    let said = said(&sheet, folder).map_err(refused)?;
    let from = [("configuration", &said.own), ("workspace", &said.workspace)];
    if context.out.is_json() {
        let each = from.map(|(from, config)| {
            json!({
                "from": from,
                "mode": config.mode,
                "allow": config.rules.allow,
                "deny": config.rules.deny,
            })
        });
        context
            .out
            .value(&json!({ "file": sheet.path, "rules": each }))?;
        return Ok(ExitCode::Ok);
    }
    let mut any = false;
    for (from, config) in from {
        for (list, rules) in [("allow", &config.rules.allow), ("deny", &config.rules.deny)] {
            for rule in rules {
                any = true;
                let line = format!("{list:<5}  {rule}  ({from})");
                context.out.line(&plain(&line))?;
            }
        }
    }
    if !any {
        context.out.line("no rules are set")?;
        let note = "add one: a-society rules add --allow 'pytest *'";
        context.out.note(note);
    }
    let path = sheet.path.display().to_string();
    context.out.note(&format!("from {}", plain(&path)));
    Ok(ExitCode::Ok)
}

fn list_of_flow(context: &mut Context<'_>, flow: &str) -> Outcome {
    let (store, flow) = context.flow(flow)?;
    let state = store.look(&flow)?.screen.flow;
    if context.out.is_json() {
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "mode": state.consent_mode,
            "allow": state.rules.allow,
            "deny": state.rules.deny,
        }))?;
        return Ok(ExitCode::Ok);
    }
    for (list, rules) in [("allow", &state.rules.allow), ("deny", &state.rules.deny)] {
        for rule in rules {
            context.out.line(&plain(&format!("{list:<5}  {rule}")))?;
        }
    }
    if state.rules.is_empty() {
        context
            .out
            .line("no rule was given to this flow; those of the configuration count")?;
    }
    Ok(ExitCode::Ok)
}
