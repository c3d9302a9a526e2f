//! `models`: which models take turns, and whether they answer.

mod add;
mod change;
pub(super) mod figures;
mod known;

use a_society_facts::words::settings::model_answers;
use a_society_orchestrator::config::catalogue::typed;
use a_society_orchestrator::config::editing::models::{NewPrices, with_usual};
use a_society_orchestrator::config::editing::{EditRefusal, Grade, Sheet, search};
use a_society_orchestrator::config::models::{Catalog, try_out};
use a_society_orchestrator::config::user::{self, ConfigError};
use a_society_orchestrator::workspace::settings::reach_json;
use serde_json::json;

use super::context::Context;
use super::duration::Duration;
use super::table::{self, Cell};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::{plain, tokens};

/// The arguments of `models`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Models are configured in one file of yours outside every workspace; `models ls` prints its path. \
It holds no keys, only where they are: in a variable, in a file that only you may read, or in the \
system's keyring. Nothing in a workspace can name a provider or a key.

Examples:
  a-society models add sonnet --id claude-sonnet-5-5
  a-society models add local --wire openai-chat --base-url http://127.0.0.1:11434/v1 \\
      --id qwen3 --window 32000
  a-society models test sonnet
  a-society models test --search
  a-society models use sonnet
  a-society models edit local --window 64000
  a-society models rm local --provider
  a-society models catalogue
  a-society models ls")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: ModelsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ModelsCommand {
    /// List the models
    Ls,
    /// Add a model, and its provider if that is new
    Add(Box<add::Add>),
    /// Change members of a model
    Edit(Box<change::Edit>),
    /// Remove a model
    Rm(change::Rm),
    /// List the known models, with their windows and prices
    Catalogue(known::Arguments),
    /// Send one small request, and report what is wrong
    Test {
        /// The model; the default one if absent
        #[arg(value_name = "MODEL", conflicts_with = "search")]
        name: Option<String>,
        /// Send one search to the service that answers web_search instead
        #[arg(long)]
        search: bool,
        /// How long to wait for the model's answer, such as 2m for one that is loaded first
        #[arg(
            long,
            value_name = "DURATION",
            default_value = "30s",
            conflicts_with = "search"
        )]
        wait: Duration,
    },
    /// Make a model the default for roles that name none
    Use {
        /// The model
        #[arg(value_name = "MODEL")]
        name: String,
    },
}

/// Looks after the models.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        ModelsCommand::Ls => list(context),
        ModelsCommand::Add(add) => add::run(context, add),
        ModelsCommand::Edit(edit) => change::edit(context, edit),
        ModelsCommand::Rm(rm) => change::rm(context, rm),
        ModelsCommand::Catalogue(arguments) => known::run(context, arguments),
        ModelsCommand::Test { search: true, .. } => test_search(context),
        ModelsCommand::Test { name, wait, .. } => test(context, name.as_deref(), *wait),
        ModelsCommand::Use { name } => make_default(context, name),
    }
}

fn list(context: &mut Context<'_>) -> Outcome {
    let (path, catalog) = user::catalog().map_err(unusable)?;
    if context.out.is_json() {
        let models = catalog.models.iter().map(|(name, spec)| {
            let mut model = json!({
                "name": name,
                "provider": spec.provider,
                "address": address(&catalog, &spec.provider),
                "default": catalog.model.as_ref() == Some(name),
                "key": figures::key(&catalog, &spec.provider).words,
            });
            if let Some(members) = model.as_object_mut() {
                members.extend(figures::object(spec));
            }
            model
        });
        let models: Vec<_> = models.collect();
        context.out.value(&json!({
            "file": path,
            "models": models,
            "search": search_state().0,
            "tools": user::reach().ok().map(|reach| reach_json(&reach)),
        }))?;
        return Ok(ExitCode::Ok);
    }
    if catalog.models.is_empty() {
        let line = format!(
            "no model is configured in {}",
            plain(&path.display().to_string())
        );
        context.out.line(&line)?;
        context
            .out
            .note("add one: a-society models add NAME --wire WIRE --id ID --window TOKENS");
        context
            .out
            .note("or one that is known: a-society models catalogue");
        return Ok(ExitCode::Ok);
    }
    for line in table::lines(&rows(&catalog)) {
        context.out.line(&line)?;
    }
    let from = plain(&path.display().to_string()).into_owned();
    let note =
        format!("from {from}; prices in dollars for a million tokens, ? where none is known");
    context.out.note(&note);
    let search = search_state().1;
    context.out.note(&format!("web_search: {}", plain(&search)));
    let reach = match user::reach() {
        Ok(reach) => format!("at most {}", reach.words()),
        Err(error) => format!("none works: {error}"),
    };
    context.out.note(&format!("tools: {}", plain(&reach)));
    Ok(ExitCode::Ok)
}

/// The models as a table.
fn rows(catalog: &Catalog) -> Vec<Vec<Cell>> {
    let head = [
        "MODEL", "PROVIDER", "ADDRESS", "ID", "WINDOW", "IN", "OUT", "IMAGES", "KEY",
    ];
    let mut rows: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    for (name, spec) in &catalog.models {
        let is_default = catalog.model.as_ref() == Some(name);
        let shown = if is_default {
            format!("{name} (default)")
        } else {
            name.clone()
        };
        let prices = spec.price.as_ref().map(typed);
        let price = |of: fn(&NewPrices) -> &String| {
            let price = prices.as_ref().map(of);
            price.cloned().unwrap_or_else(|| "?".to_owned())
        };
        rows.push(vec![
            shown.into(),
            spec.provider.as_str().into(),
            plain(address(catalog, &spec.provider)).into_owned().into(),
            plain(&spec.id).into_owned().into(),
            spec.window_tokens.to_string().into(),
            price(|prices| &prices.input).into(),
            price(|prices| &prices.output).into(),
            (if spec.images { "yes" } else { "no" }).into(),
            figures::key(catalog, &spec.provider).words.into(),
        ]);
    }
    rows
}

/// Where the requests for a provider's models go.
fn address<'c>(catalog: &'c Catalog, provider: &str) -> &'c str {
    let found = catalog.providers.get(provider);
    found.map(|it| it.base_url.as_str()).unwrap_or_default()
}

/// Whether `web_search` works: where it asks, and the words for it.
fn search_state() -> (Option<String>, String) {
    match user::search() {
        Ok(Some(service)) => {
            let words = format!("on, at {}", service.endpoint);
            (Some(service.endpoint), words)
        }
        Ok(None) => (None, "off, the file has no `search`".to_owned()),
        Err(why) => (None, format!("off, {why}")),
    }
}

fn make_default(context: &mut Context<'_>, name: &str) -> Outcome {
    let sheet = Sheet::read().map_err(refused)?;
    let changed = with_usual(&sheet, name).map_err(refused)?;
    let path = sheet.save(&changed).map_err(refused)?;
    done(
        context,
        &format!("roles that name no model use {name} ({})", path.display()),
    )
}

fn done(context: &mut Context<'_>, what: &str) -> Outcome {
    if context.out.is_json() {
        context.out.value(&json!({ "done": what }))?;
    } else {
        context.out.line(&plain(what))?;
    }
    Ok(ExitCode::Ok)
}

fn test(context: &mut Context<'_>, named: Option<&str>, wait: Duration) -> Outcome {
    let (path, catalog) = user::catalog().map_err(unusable)?;
    let name = named.or(catalog.model.as_deref());
    let Some(name) = name.map(str::to_owned) else {
        return Err(OperatorError::new(
            ("no-model", ExitCode::NotFound),
            "there is no model to test",
            format!("{} names none", path.display()),
            "a-society models add",
        )
        .into());
    };
    if !context.out.is_json() {
        let provider = catalog.models.get(&name).map(|spec| &spec.provider);
        let at = provider.map_or("", |provider| address(&catalog, provider));
        context
            .out
            .note(&plain(&format!("asking {name} at {at} …")));
        context.out.flush()?;
    }
    let most = std::time::Duration::from_millis(wait.ms.unsigned_abs());
    let trial = try_out(&catalog, &name, most).map_err(|why| {
        OperatorError::new(
            ("model-failed", ExitCode::Failed),
            format!("{name} does not answer"),
            why,
            format!(
                "correct it in {}, or wait longer: a-society models test {name} --wait 2m",
                path.display()
            ),
        )
    })?;
    if context.out.is_json() {
        context.out.value(&json!({
            "model": name,
            "said": trial.said,
            "input_tokens": trial.input_tokens,
            "output_tokens": trial.output_tokens,
            "cost_micros": trial.cost_micros,
        }))?;
    } else {
        let line = model_answers(
            &name,
            &plain(&trial.said),
            &tokens(trial.input_tokens),
            &tokens(trial.output_tokens),
        );
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

fn test_search(context: &mut Context<'_>) -> Outcome {
    let found = search::try_out().map_err(refused)?.map_err(|why| {
        OperatorError::new(
            ("search-failed", ExitCode::Failed),
            "web_search does not work",
            why,
            "mend `search` in the configuration, then try again: a-society models ls says where it is",
        )
    })?;
    if context.out.is_json() {
        context
            .out
            .value(&json!({ "search": true, "found": found }))?;
    } else {
        let line = format!("web_search works: {}", search::found_words(&found));
        context.out.line(&plain(&line))?;
    }
    Ok(ExitCode::Ok)
}

/// The configuration, or something beside it, cannot be used.
pub(super) fn unusable(error: ConfigError) -> Stop {
    refused(error.into())
}

/// Why the configuration stays as it is.
pub(super) fn refused(refusal: EditRefusal) -> Stop {
    let exit = match refusal.grade {
        Grade::Usage => ExitCode::Usage,
        Grade::NotFound => ExitCode::NotFound,
        Grade::Refused => ExitCode::Refused,
        Grade::Failed => ExitCode::Failed,
    };
    OperatorError::new(
        (refusal.code, exit),
        refusal.what,
        refusal.why,
        refusal.hint.in_terminal(),
    )
    .into()
}
