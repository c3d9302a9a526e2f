//! `models edit` and `models rm`.

use a_society_orchestrator::config::editing::Sheet;
use a_society_orchestrator::config::editing::models::{
    ChangedConfig, ModelChanges, ModelToRemove, NewPrices, changed, prices, removed,
};
use serde_json::{Value, json};

use super::super::context::Context;
use super::figures::{self, key_place as key, shown};
use super::refused;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;
use crate::text::plain;

/// The arguments of `models edit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only what you name changes; every other byte of the file stays. A combination that does not fit \
is refused, and nothing is written. The key belongs to the provider, so its place changes for all \
models of that provider. The address cannot be changed here: add the model under another name \
with --provider.

Examples:
  a-society models edit local --window 64000
  a-society models edit sonnet --prices 3,15,0.3,3.75 --max-output 40000
  a-society models edit sonnet --id claude-sonnet-5-5 --images true")]
pub(super) struct Edit {
    /// The model
    #[arg(value_name = "MODEL")]
    name: String,

    /// Its provider's name for it
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// How many tokens it reads at most
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,

    /// How many tokens one answer may have
    #[arg(long, value_name = "TOKENS")]
    max_output: Option<u64>,

    /// Whether it is sent the images that it reads; not on openai-chat
    #[arg(long, value_name = "TRUE|FALSE")]
    images: Option<bool>,

    /// How it is given its effort
    #[arg(long, value_name = "WAY", value_parser = ["fixed", "levels", "budget"])]
    thinking: Option<String>,

    /// Its effort
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,

    /// The prices for a million tokens in and out, and from and into the cache
    #[arg(long, visible_alias = "price", value_name = "IN,OUT[,READ[,WRITE]]", value_parser = prices)]
    prices: Option<NewPrices>,

    /// The variable that holds the key of its provider
    #[arg(long, value_name = "NAME", group = "key")]
    key_env: Option<String>,

    /// The file that holds the key of its provider, which only you may read
    #[arg(long, value_name = "PATH", group = "key")]
    key_file: Option<String>,

    /// The name of its provider's key in the system's keyring
    #[arg(long, value_name = "NAME", group = "key")]
    key_keyring: Option<String>,
}

/// Changes members of a model, and says which.
pub(super) fn edit(context: &mut Context<'_>, edit: &Edit) -> Outcome {
    let changes = ModelChanges {
        id: edit.id.clone(),
        window: edit.window,
        max_output: edit.max_output,
        images: edit.images,
        thinking: edit.thinking.clone(),
        effort: edit.effort.clone(),
        prices: edit.prices.clone(),
        key: key([&edit.key_env, &edit.key_file, &edit.key_keyring]),
    };
    let sheet = Sheet::read().map_err(refused)?;
    let changed = changed(&sheet, &edit.name, &changes).map_err(refused)?;
    let path = sheet.save(&changed.text).map_err(refused)?;
    let differences = differences(&changed);
    if context.out.is_json() {
        let each = differences.iter();
        let each = each.map(|(name, from, to)| json!({ "member": name, "from": from, "to": to }));
        context.out.value(&json!({
            "model": edit.name,
            "file": path,
            "changes": each.collect::<Vec<_>>(),
        }))?;
        return Ok(ExitCode::Ok);
    }
    let file = path.display().to_string();
    if differences.is_empty() && changes.key.is_none() {
        let line = format!("{} is so already in {file}", edit.name);
        context.out.line(&plain(&line))?;
        return Ok(ExitCode::Ok);
    }
    context
        .out
        .line(&plain(&format!("{} is changed in {file}", edit.name)))?;
    for (name, from, to) in &differences {
        let name = name.replace('_', "-");
        context
            .out
            .line(&format!("  {name}: {} -> {}", shown(from), shown(to)))?;
    }
    if let Some((how, place)) = &changes.key {
        let provider = &changed.after.provider;
        let line = format!("  key of {provider}, for all of its models: {how} {place}");
        context.out.line(&plain(&line))?;
    }
    Ok(ExitCode::Ok)
}

fn differences(changed: &ChangedConfig) -> Vec<(&'static str, Value, Value)> {
    let before = figures::members(&changed.before);
    let after = figures::members(&changed.after);
    let both = before.into_iter().zip(after);
    both.filter(|((_, from), (_, to))| from != to)
        .map(|((name, from), (_, to))| (name, from, to))
        .collect()
}

/// The arguments of `models rm`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The lines of the model are removed; every other byte of the file stays, comments included. The \
default model is removed only if --default names another one.

Examples:
  a-society models rm local
  a-society models rm sonnet --default local
  a-society models rm private --provider")]
pub(super) struct Rm {
    /// The model
    #[arg(value_name = "MODEL")]
    name: String,

    /// The model of roles that name none, from now on
    #[arg(long, value_name = "MODEL")]
    default: Option<String>,

    /// Remove its provider, too, if no other model uses it
    #[arg(long)]
    provider: bool,
}

/// Takes a model out.
pub(super) fn rm(context: &mut Context<'_>, rm: &Rm) -> Outcome {
    let sheet = Sheet::read().map_err(refused)?;
    let how = ModelToRemove {
        default: rm.default.as_deref(),
        with_provider: rm.provider,
    };
    let removed = removed(&sheet, &rm.name, how).map_err(refused)?;
    let path = sheet.save(&removed.text).map_err(refused)?;
    let provider = &removed.provider;
    let users = removed.config.models.iter();
    let users = users.filter(|(_, spec)| spec.provider == *provider);
    let users: Vec<&str> = users.map(|(name, _)| name.as_str()).collect();
    let is_gone = !removed.config.providers.contains_key(provider);
    if context.out.is_json() {
        context.out.value(&json!({
            "removed": rm.name,
            "file": path,
            "default": removed.config.model,
            "provider": {
                "name": provider,
                "removed": is_gone,
                "models": users,
            },
        }))?;
        return Ok(ExitCode::Ok);
    }
    let file = path.display().to_string();
    let line = format!("{} is no longer in {file}", rm.name);
    context.out.line(&plain(&line))?;
    if is_gone {
        context.out.line(&format!(
            "its provider {provider} is not there any more either"
        ))?;
    } else if users.is_empty() {
        let note = format!("its provider {provider} stays, though no model has it");
        context.out.note(&note);
    } else if rm.provider {
        let note = format!("its provider {provider} stays: {} has it", users.join(", "));
        context.out.note(&note);
    }
    match &removed.config.model {
        Some(model) if rm.default.is_some() => {
            context
                .out
                .note(&format!("roles that name no model use {model}"));
        }
        None if removed.config.models.is_empty() => {
            context.out.note("no model is configured any more");
        }
        None => {
            let note = "roles that name no model have none: a-society models use MODEL";
            context.out.note(note);
        }
        Some(_) => {}
    }
    if removed.comment_stays {
        let note = "the comment above it is still there; it may be about the model";
        context.out.note(note);
    }
    Ok(ExitCode::Ok)
}
