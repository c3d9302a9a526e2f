//! `models add`.

use a_society_orchestrator::config::catalogue::{Catalogue, KnownModel};
use a_society_orchestrator::config::editing::Sheet;
use a_society_orchestrator::config::editing::models::{NewOne, NewPrices, added, prices};
use a_society_orchestrator::config::models::{Catalog, ModelSpec, ProviderSpec};
use serde_json::{Value, json};

use super::super::context::Context;
use super::figures::{self, name};
use super::refused;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;
use crate::text::{plain, tokens};

/// The arguments of `models add`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A model that the catalogue knows (models catalogue) needs no more than its name: its window, \
longest answer, prices, address and the variable of its key are taken from there, and the output \
says so. What you say yourself overrides the catalogue. An answer gets at most a fifth of the \
window, so that there is room for it until the session is compacted.

An address, wire or key that differs from those of the configured provider is refused, because \
requests and the key would go elsewhere than you meant; --provider with a new name creates \
another provider.

Examples:
  a-society models add claude-sonnet-5-5
  a-society models add sonnet --id claude-sonnet-5-5 --key-keyring anthropic
  a-society models add local --wire openai-chat --base-url http://127.0.0.1:11434/v1 \\
      --id qwen3 --window 32000
  a-society models add private --provider vault --wire openai-chat \\
      --base-url https://llm.example.com/v1 --key-env VAULT_KEY --window 32000 --prices 0.5,1.5")]
pub(super) struct Add {
    /// Its name here
    #[arg(value_name = "MODEL", value_parser = name)]
    name: String,

    /// Its provider's name for it; its name here if absent
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Its provider, by its name here; if absent the wire's name, or the one of the catalogue
    #[arg(long, value_name = "NAME", value_parser = name)]
    provider: Option<String>,

    /// The wire of a new provider
    #[arg(long, value_name = "WIRE", value_parser = ["anthropic", "openai-chat", "openai-responses"])]
    wire: Option<String>,

    /// The address of a new provider, if not the wire's usual one
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

    /// How many tokens it reads at most; needed if the catalogue does not know the model
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,

    /// How many tokens one answer may have
    #[arg(long, value_name = "TOKENS")]
    max_output: Option<u64>,

    /// Send it the images that it reads; not on openai-chat
    #[arg(long)]
    images: bool,

    /// The prices for a million tokens in and out, and from and into the cache
    #[arg(long, visible_alias = "price", value_name = "IN,OUT[,READ[,WRITE]]", value_parser = prices)]
    prices: Option<NewPrices>,
}

impl Add {
    fn wanted(&self) -> NewOne {
        NewOne {
            name: self.name.clone(),
            id: self.id.clone(),
            provider: self.provider.clone(),
            wire: self.wire.clone(),
            base_url: self.base_url.clone(),
            key: figures::key_place([&self.key_env, &self.key_file, &self.key_keyring]),
            window: self.window,
            max_output: self.max_output,
            images: self.images,
            prices: self.prices.clone(),
        }
    }
}

/// Adds a model, and says where requests and the key go.
pub(super) fn run(context: &mut Context<'_>, add: &Add) -> Outcome {
    let sheet = Sheet::read().map_err(refused)?;
    let catalogue = Catalogue::shipped().unwrap_or_default();
    let wanted = add.wanted();
    let added = added(&sheet, &catalogue, &wanted).map_err(refused)?;
    let path = sheet.save(&added.text).map_err(refused)?;
    let Some((spec, at)) = added.config.find(&add.name) else {
        return Ok(ExitCode::Ok);
    };
    let answer = AddedModel {
        done: format!("{} is in {}", add.name, path.display()),
        is_new: added.is_new,
        known: catalogue
            .find(wanted.id())
            .filter(|_| !added.taken.is_empty()),
        now: &added.config,
        as_of: &catalogue.as_of,
        taken: &added.taken,
        spec,
        at,
    };
    answer.give(context)
}

/// What was added.
struct AddedModel<'a> {
    done: String,
    is_new: bool,
    known: Option<KnownModel<'a>>,
    now: &'a Catalog,
    as_of: &'a str,
    taken: &'a [&'static str],
    spec: &'a ModelSpec,
    at: &'a ProviderSpec,
}

impl AddedModel<'_> {
    fn give(&self, context: &mut Context<'_>) -> Outcome {
        let (spec, at) = (self.spec, self.at);
        let key = figures::key(self.now, &spec.provider);
        let is_default = self.now.model.as_ref() == Some(&spec.name);
        if context.out.is_json() {
            context.out.value(&self.json(is_default, &key.json))?;
            return Ok(ExitCode::Ok);
        }
        context.out.line(&plain(&self.done))?;
        let newness = if self.is_new {
            "new"
        } else {
            "configured before"
        };
        let window = format!(
            "{} tokens, {} of one answer",
            tokens(spec.window_tokens),
            tokens(spec.max_output_tokens)
        );
        let words = [
            (
                "provider",
                format!("{} ({newness}), wire {}", at.name, at.wire),
            ),
            ("address", at.base_url.clone()),
            ("key", key.words),
            ("id", spec.id.clone()),
            ("window", window),
            ("prices", figures::prices_words(spec)),
        ];
        for (what, words) in words {
            context
                .out
                .line(&format!("  {what:<9} {}", plain(&words)))?;
        }
        if let Some(known) = self.known {
            context.out.line(&self.source(known))?;
        }
        if is_default {
            context.out.note("roles that name no model use it");
        }
        let name = &spec.name;
        if key.is_ready {
            context
                .out
                .note(&format!("try it: a-society models test {name}"));
        } else {
            let hint = format!("once its key is there, try it: a-society models test {name}");
            context.out.note(&hint);
        }
        Ok(ExitCode::Ok)
    }

    fn json(&self, is_default: bool, key: &Value) -> Value {
        let (spec, at) = (self.spec, self.at);
        let catalogue = self.known.map(|known| {
            json!({
                "as_of": self.as_of,
                "members": self.taken,
                "dearer_above": known.dearer_above,
            })
        });
        json!({
            "done": self.done,
            "model": spec.name,
            "default": is_default,
            "provider": {
                "name": at.name,
                "wire": at.wire.word(),
                "address": at.base_url,
                "new": self.is_new,
            },
            "key": key,
            "members": figures::object(spec),
            "catalogue": catalogue,
        })
    }

    /// What was taken from the catalogue, of which day, and what it leaves out.
    fn source(&self, known: KnownModel<'_>) -> String {
        let taken: Vec<String> = self.taken.iter().map(|it| it.replace('_', "-")).collect();
        let mut words = format!("{} from the catalogue of {}", taken.join(", "), self.as_of);
        if known.model.max_output_tokens > self.spec.max_output_tokens {
            let most = tokens(known.model.max_output_tokens);
            words.extend([format!("; the model can answer with {most} tokens")]);
        }
        if !self.taken.contains(&"prices") {
            return words;
        }
        if let Some(above) = known.dearer_above {
            let above = tokens(above);
            words.extend([format!(
                "; requests above {above} tokens cost more than is counted here"
            )]);
        }
        if self.at.base_url != known.provider.base_url {
            let maker = &known.provider.name;
            words.extend([format!(
                "; the prices are {maker}'s own, and this address may have others"
            )]);
        }
        words
    }
}
