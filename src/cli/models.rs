//! `models`: which models take turns, and whether they answer.

use a_society_orchestrator::config::edit::{
    EditFault, NewModel, NewProvider, with_default, with_model,
};
use a_society_orchestrator::config::models::{Catalog, try_out};
use a_society_orchestrator::config::user::{self, ConfigError, Reach};
use serde_json::json;

use super::context::Context;
use super::table::{self, Cell};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::plain;

/// The arguments of `models`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Models are configured in one file of yours outside every workspace; `models ls` says where. It holds
no keys, only where they are: in a variable, in a file that nobody else may read, or in the
system's keyring. Nothing in a workspace can name a provider or a key.

Examples:
  a-society models add sonnet --wire anthropic --id claude-sonnet-4-5 --window 200000 \\
      --prices 3,15 --key-env ANTHROPIC_API_KEY
  a-society models add local --wire openai-chat --base-url http://127.0.0.1:11434/v1 \\
      --id qwen3 --window 32000
  a-society models test sonnet
  a-society models use sonnet
  a-society models ls")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the models
    Ls,
    /// Add a model, and its provider if that is new
    Add(Box<Add>),
    /// Send one small request and say what is wrong
    Test {
        /// The model; the default one if absent
        #[arg(value_name = "MODEL")]
        name: Option<String>,
    },
    /// Make a model the one of roles that name none
    Use {
        /// The model
        #[arg(value_name = "MODEL")]
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// How it is called here
    #[arg(value_name = "MODEL", value_parser = name)]
    name: String,

    /// Its name with its provider
    #[arg(long, value_name = "ID")]
    id: String,

    /// Its provider, by its name here; the wire's name if absent
    #[arg(long, value_name = "NAME", value_parser = name)]
    provider: Option<String>,

    /// How a new provider is spoken to
    #[arg(long, value_name = "WIRE", value_parser = ["anthropic", "openai-chat", "openai-responses"])]
    wire: Option<String>,

    /// Where a new provider is, if not at the wire's home
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// The variable that holds its key
    #[arg(long, value_name = "NAME", group = "key")]
    key_env: Option<String>,

    /// The file that holds its key, which only you may read
    #[arg(long, value_name = "PATH", group = "key")]
    key_file: Option<String>,

    /// The name of its key in the system's keyring
    #[arg(long, value_name = "NAME", group = "key")]
    key_keyring: Option<String>,

    /// How many tokens it reads at most
    #[arg(long, value_name = "TOKENS")]
    window: u64,

    /// How many tokens one answer may have
    #[arg(long, value_name = "TOKENS")]
    max_output: Option<u64>,

    /// Send it the images that it reads; not on openai-chat
    #[arg(long)]
    images: bool,

    /// The prices for a million tokens in and out
    #[arg(long, value_name = "IN,OUT", value_parser = prices)]
    prices: Option<(String, String)>,
}

fn name(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !text.is_empty() && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("a name has letters, digits, -, _ and .".to_owned())
    }
}

fn prices(text: &str) -> Result<(String, String), String> {
    let is_price = |text: &&str| text.parse::<f64>().is_ok_and(|price| price >= 0.0);
    text.split_once(',')
        .map(|(input, output)| (input.trim(), output.trim()))
        .filter(|(input, output)| is_price(input) && is_price(output))
        .map(|(input, output)| (input.to_owned(), output.to_owned()))
        .ok_or_else(|| "two prices with a comma between them, such as 3,15".to_owned())
}

/// Looks after the models.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        Verb::Ls => list(context),
        Verb::Add(add) => self::add(context, add),
        Verb::Test { name } => test(context, name.as_deref()),
        Verb::Use { name } => make_default(context, name),
    }
}

fn list(context: &mut Context<'_>) -> Outcome {
    let (path, catalog) = user::catalog().map_err(unusable)?;
    if context.out.is_json() {
        let models = catalog.models.iter().map(|(name, spec)| {
            json!({
                "name": name,
                "provider": spec.provider,
                "id": spec.id,
                "window": spec.window_tokens,
                "max_output": spec.max_output_tokens,
                "images": spec.images,
                "default": catalog.model.as_ref() == Some(name),
                "key": key_state(&catalog, &spec.provider),
            })
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
        return Ok(ExitCode::Ok);
    }
    let head = ["MODEL", "PROVIDER", "ID", "WINDOW", "IMAGES", "KEY"];
    let mut rows: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    for (name, spec) in &catalog.models {
        let is_default = catalog.model.as_ref() == Some(name);
        let shown = if is_default {
            format!("{name} (default)")
        } else {
            name.clone()
        };
        rows.push(vec![
            shown.into(),
            spec.provider.as_str().into(),
            plain(&spec.id).into_owned().into(),
            spec.window_tokens.to_string().into(),
            (if spec.images { "yes" } else { "no" }).into(),
            key_state(&catalog, &spec.provider).into(),
        ]);
    }
    for line in table::lines(&rows) {
        context.out.line(&line)?;
    }
    context
        .out
        .note(&format!("from {}", plain(&path.display().to_string())));
    let search = search_state().1;
    context.out.note(&format!("web_search: {}", plain(&search)));
    let reach = match user::reach() {
        Ok(reach) => format!("at most {}", reach.words()),
        Err(error) => format!("none works: {error}"),
    };
    context.out.note(&format!("tools: {}", plain(&reach)));
    Ok(ExitCode::Ok)
}

/// How far tools reach, for programs.
pub(super) fn reach_json(reach: &Reach) -> serde_json::Value {
    json!({
        "scope": reach.scope.word(),
        "folders": reach.folders,
        "network": reach.reaches_network(),
    })
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

/// Whether a provider's key is where it should be; the key itself is not shown.
fn key_state(catalog: &Catalog, provider: &str) -> String {
    let spec = catalog.providers.get(provider);
    match spec.and_then(|spec| spec.key.as_ref()) {
        None => "none needed".to_owned(),
        Some(source) => match user::key(source) {
            Ok(_) => format!("in {source}"),
            Err(why) => why,
        },
    }
}

fn add(context: &mut Context<'_>, add: &Add) -> Outcome {
    let text = user::text().map_err(unusable)?;
    let text = text.map(|(_, text)| text).unwrap_or_default();
    let provider = add.provider.clone().or_else(|| add.wire.clone());
    let Some(provider) = provider else {
        return Err(OperatorError::new(
            ("usage", ExitCode::Usage),
            "it is not clear who answers for the model",
            "neither --provider nor --wire was given",
            "name a configured provider with --provider, or a new one with --wire",
        )
        .into());
    };
    let keys = [
        ("env", &add.key_env),
        ("file", &add.key_file),
        ("keyring", &add.key_keyring),
    ];
    let key = keys
        .into_iter()
        .find_map(|(how, place)| Some((how.to_owned(), place.clone()?)));
    let new = NewProvider {
        name: provider.clone(),
        wire: add.wire.clone(),
        base_url: add.base_url.clone(),
        key,
    };
    let model = NewModel {
        name: add.name.clone(),
        provider,
        id: add.id.clone(),
        window: add.window,
        max_output: add.max_output,
        images: add.images,
        prices: add.prices.clone(),
    };
    let changed = with_model(&text, Some(&new), &model).map_err(unchanged)?;
    let path = user::save(&changed).map_err(unusable)?;
    done(context, &format!("{} is in {}", add.name, path.display()))?;
    context
        .out
        .note(&format!("try it: a-society models test {}", add.name));
    Ok(ExitCode::Ok)
}

fn make_default(context: &mut Context<'_>, name: &str) -> Outcome {
    let text = user::text().map_err(unusable)?;
    let text = text.map(|(_, text)| text).unwrap_or_default();
    let changed = with_default(&text, name).map_err(unchanged)?;
    let path = user::save(&changed).map_err(unusable)?;
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

fn test(context: &mut Context<'_>, named: Option<&str>) -> Outcome {
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
    let trial = try_out(&catalog, &name).map_err(|why| {
        OperatorError::new(
            ("model-failed", ExitCode::Failed),
            format!("{name} does not answer"),
            why,
            format!("mend it in {}, then try again", path.display()),
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
        let line = format!(
            "{name} answers: {} ({} tokens in, {} out)",
            plain(&trial.said),
            trial.input_tokens,
            trial.output_tokens
        );
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

/// The configuration, or something beside it, cannot be used.
pub(super) fn unusable(error: ConfigError) -> Stop {
    OperatorError::new(
        ("configuration-unfit", ExitCode::Failed),
        "the configuration cannot be used",
        error.to_string(),
        "mend the file, or name another one in A_SOCIETY_CONFIG",
    )
    .into()
}

fn unchanged(fault: EditFault) -> Stop {
    let (why, hint) = match fault {
        EditFault::Faulty(faults) => {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            (lines.join("\n"), "mend it, and try again".to_owned())
        }
        EditFault::Taken(name) => (
            format!("there is a model {name} already"),
            "choose another name, or change the file".to_owned(),
        ),
        EditFault::Differs { provider, has } => (
            format!("the provider {provider} is there already, and has {has}"),
            "leave that out to use it as it is, or name a new one with --provider NAME".to_owned(),
        ),
        EditFault::ByHand(lines) => (
            "the file is laid out so that lines cannot be put in safely".to_owned(),
            format!("put these in by hand:\n{lines}"),
        ),
    };
    OperatorError::new(
        ("configuration-unchanged", ExitCode::Failed),
        "the configuration was not changed",
        why,
        hint,
    )
    .into()
}
