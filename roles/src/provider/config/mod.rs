//! Reading the models of a configuration: every fault with its place, not the first one only.
//!
//! ```yaml
//! providers:
//!   anthropic:
//!     wire: anthropic                    # or openai-chat, or openai-responses
//!     base-url: https://api.anthropic.com   # the wire's own home if absent
//!     key: { env: ANTHROPIC_API_KEY }    # or { file: ~/keys/anthropic }, or { keyring: anthropic }
//!     headers: { X-Team: writers }
//! models:
//!   sonnet:
//!     provider: anthropic
//!     id: claude-sonnet-4-5              # its name with its provider
//!     window: 200000                     # tokens; without it sessions are never made shorter
//!     max-output: 16000
//!     thinking: levels                   # how it takes its effort: fixed, levels, or budget
//!     effort: medium
//!     prices: { input: 3, output: 15, cache-read: 0.3, cache-write: 3.75 }   # for a million tokens
//! default-model: sonnet
//! ```
//!
//! The file is the operator's own and lies outside every workspace. Keys do not stand in it, only
//! where they are. Other keys of it are not looked at.

pub mod edit;

use std::collections::BTreeMap;
use std::fmt;

use super::http::Wire;
use super::request::{Effort, Thinking};
use crate::cost::Price;
use crate::yaml::{self, Budget, Number, Tree, Value};

/// Faults that are kept of one file; nobody reads further.
const FAULTS_MAX: usize = 100;

/// What an answer may have when the file does not say: what every model of the last years takes.
const MAX_OUTPUT: u64 = 8_192;

/// No window and no answer is longer; a number above it is a slip.
const TOKENS_MAX: u64 = 1_000_000_000;

/// No price for a million tokens is higher; a number above it is a slip.
const PRICE_MAX: f64 = 1_000_000.0;

const PROVIDER_KEYS: &[&str] = &["wire", "base-url", "key", "headers"];
const MODEL_KEYS: &[&str] = &[
    "provider",
    "id",
    "window",
    "max-output",
    "thinking",
    "effort",
    "prices",
];
const PRICE_KEYS: &[&str] = &["input", "output", "cache-read", "cache-write"];

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In this variable.
    Env(String),
    /// In this file, which nobody else may read.
    File(String),
    /// In the system's keyring, under this name.
    Keyring(String),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "the file {path}"),
            Self::Keyring(name) => write!(f, "the keyring, as {name}"),
        }
    }
}

/// A provider, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSpec {
    /// How it is spoken to.
    pub wire: Wire,
    /// Its address.
    pub base_url: String,
    /// Where its key is, if it wants one.
    pub key: Option<KeySource>,
    /// More headers.
    pub headers: Vec<(String, String)>,
}

/// A model, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSpec {
    /// The provider's name in the configuration.
    pub provider: String,
    /// Its name with its provider.
    pub id: String,
    /// How many tokens it reads at most; 0 if nobody says.
    pub window: u64,
    /// How many tokens one answer may have.
    pub max_output: u64,
    /// How it takes its effort.
    pub thinking: Thinking,
    /// How hard it is to think, unless somebody chooses.
    pub effort: Option<Effort>,
    /// What it costs, if that is known.
    pub prices: Option<Price>,
}

/// The providers and models of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The providers, by their names.
    pub providers: BTreeMap<String, ProviderSpec>,
    /// The models, by their names.
    pub models: BTreeMap<String, ModelSpec>,
    /// The model of roles that name none.
    pub default_model: Option<String>,
}

/// Something wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Reads the providers and models of a configuration.
///
/// # Errors
///
/// Everything that is wrong with them.
pub fn parse(text: &str) -> Result<Catalog, Vec<ConfigFault>> {
    let mut sink = Sink { faults: Vec::new() };
    let catalog = match yaml::parse(text, Budget::BLOCK) {
        // An empty file says nothing, and nothing is wrong with that.
        Ok(tree) if matches!(tree.value, Value::Null) => Catalog::default(),
        Ok(tree) => sink.catalog(&tree),
        Err(fault) => {
            let line = fault.place.map_or(1, |place| place.line);
            sink.fault(line, format!("this is not valid YAML: {}", fault.message));
            Catalog::default()
        }
    };
    if sink.faults.is_empty() {
        return Ok(catalog);
    }
    let mut faults = sink.faults;
    faults.sort_by_key(|fault| fault.line);
    faults.truncate(FAULTS_MAX);
    Err(faults)
}

/// Reads values, and keeps what is wrong with them.
#[derive(Debug)]
struct Sink {
    faults: Vec<ConfigFault>,
}

impl Sink {
    fn fault(&mut self, line: usize, message: impl Into<String>) {
        let message = message.into();
        self.faults.push(ConfigFault { line, message });
    }

    fn catalog(&mut self, tree: &Tree) -> Catalog {
        let mut catalog = Catalog::default();
        let fields = self.fields(tree, "the configuration", None);
        if let Some(tree) = fields.get("providers") {
            for (name, tree) in self.named(tree, "providers") {
                if let Some(provider) = self.provider(tree) {
                    catalog.providers.insert(name, provider);
                }
            }
        }
        let models = fields.get("models").map(|tree| self.named(tree, "models"));
        for (name, tree) in models.into_iter().flatten() {
            if let Some(model) = self.model(tree, &catalog.providers) {
                catalog.models.insert(name, model);
            }
        }
        if let Some(tree) = fields.get("default-model") {
            catalog.default_model = self.text(tree, "default-model");
            let known = |name: &String| catalog.models.contains_key(name);
            if self.faults.is_empty() && !catalog.default_model.as_ref().is_some_and(known) {
                self.fault(tree.place.line, "default-model names no model of this file");
            }
        }
        catalog
    }

    fn provider(&mut self, tree: &Tree) -> Option<ProviderSpec> {
        let fields = self.fields(tree, "a provider", Some(PROVIDER_KEYS));
        let wire = self.word(
            tree,
            &fields,
            "wire",
            &Wire::ALL.map(|wire| (wire.word(), wire)),
        )?;
        let base_url = match fields.get("base-url") {
            Some(tree) => self.url(tree)?,
            None => wire.home().to_owned(),
        };
        let key = match fields.get("key") {
            Some(tree) => Some(self.key(tree)?),
            None => None,
        };
        let mut headers = Vec::new();
        if let Some(tree) = fields.get("headers") {
            for (name, tree) in self.pairs(tree, "headers") {
                headers.push((name, self.text(tree, "a header")?));
            }
        }
        Some(ProviderSpec {
            wire,
            base_url,
            key,
            headers,
        })
    }

    fn url(&mut self, tree: &Tree) -> Option<String> {
        let text = self.text(tree, "base-url")?;
        let is_web = text.starts_with("https://") || text.starts_with("http://");
        // A key in an address would be in every error and every log.
        if !is_web || text.contains('@') {
            self.fault(
                tree.place.line,
                "base-url must begin with https:// or http:// and holds no user or key",
            );
            return None;
        }
        Some(text)
    }

    fn key(&mut self, tree: &Tree) -> Option<KeySource> {
        const HOW: &str = "a key is named by where it is: { env: NAME }, { file: PATH } or \
                           { keyring: NAME }; it does not stand in the file itself";
        if !matches!(tree.value, Value::Map(_)) {
            self.fault(tree.place.line, HOW);
            return None;
        }
        let pairs = self.pairs(tree, "key");
        let [(how, place)] = &pairs[..] else {
            self.fault(tree.place.line, HOW);
            return None;
        };
        let place = self.text(place, "key")?;
        match how.as_str() {
            "env" => Some(KeySource::Env(place)),
            "file" => Some(KeySource::File(place)),
            "keyring" => Some(KeySource::Keyring(place)),
            _ => {
                self.fault(tree.place.line, HOW);
                None
            }
        }
    }

    fn model(
        &mut self,
        tree: &Tree,
        providers: &BTreeMap<String, ProviderSpec>,
    ) -> Option<ModelSpec> {
        let fields = self.fields(tree, "a model", Some(MODEL_KEYS));
        let provider = self.needed(tree, &fields, "provider");
        let id = self.needed(tree, &fields, "id");
        let window = self.tokens(&fields, "window", 0);
        let max_output = self.tokens(&fields, "max-output", MAX_OUTPUT);
        let thinking = match fields.get("thinking") {
            None => Some(Thinking::Fixed),
            Some(_) => self.word(
                tree,
                &fields,
                "thinking",
                &[
                    ("fixed", Thinking::Fixed),
                    ("levels", Thinking::Levels),
                    ("budget", Thinking::Budget),
                ],
            ),
        };
        let effort = match fields.get("effort") {
            None => Some(None),
            Some(_) => {
                let levels = Effort::ALL.map(|level| (level.word(), level));
                self.word(tree, &fields, "effort", &levels).map(Some)
            }
        };
        let prices = match fields.get("prices") {
            None => Some(None),
            Some(tree) => self.prices(tree).map(Some),
        };
        let provider = provider?;
        if self.faults.is_empty() && !providers.contains_key(&provider) {
            let known: Vec<&str> = providers.keys().map(String::as_str).collect();
            let message = format!(
                "there is no provider {provider:?}; there are: {}",
                known.join(", ")
            );
            self.fault(tree.place.line, message);
        }
        Some(ModelSpec {
            provider,
            id: id?,
            window: window?,
            max_output: max_output?,
            thinking: thinking?,
            effort: effort?,
            prices: prices?,
        })
    }

    fn prices(&mut self, tree: &Tree) -> Option<Price> {
        let fields = self.fields(tree, "prices", Some(PRICE_KEYS));
        let input = self.price(&fields, "input", 0)?;
        Some(Price {
            input,
            output: self.price(&fields, "output", 0)?,
            // Without a price of its own, cached input costs what other input does.
            cache_read: self.price(&fields, "cache-read", input)?,
            cache_write: self.price(&fields, "cache-write", input)?,
        })
    }

    fn price(&mut self, fields: &Fields<'_>, key: &str, otherwise: u64) -> Option<u64> {
        let Some(tree) = fields.get(key) else {
            return Some(otherwise);
        };
        let number = match tree.value {
            Value::Number(Number::Whole(whole)) => whole as f64,
            Value::Number(Number::Fraction(fraction)) => fraction,
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => -1.0,
        };
        if !(0.0..=PRICE_MAX).contains(&number) {
            self.fault(
                tree.place.line,
                format!("{key} is a price for a million tokens, such as 3 or 0.25"),
            );
            return None;
        }
        Some((number * 1_000_000.0).round() as u64)
    }

    fn tokens(&mut self, fields: &Fields<'_>, key: &str, otherwise: u64) -> Option<u64> {
        let Some(tree) = fields.get(key) else {
            return Some(otherwise);
        };
        let number = match tree.value {
            Value::Number(Number::Whole(whole)) => u64::try_from(whole).ok(),
            Value::Number(Number::Fraction(_))
            | Value::Null
            | Value::Bool(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => None,
        };
        let number = number.filter(|number| (1..=TOKENS_MAX).contains(number));
        if number.is_none() {
            self.fault(
                tree.place.line,
                format!("{key} is a number of tokens, such as 200000"),
            );
        }
        number
    }

    fn word<T: Copy>(
        &mut self,
        of: &Tree,
        fields: &Fields<'_>,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let choices: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let Some(tree) = fields.get(key) else {
            let message = format!("{key} is missing; it is one of {}", choices.join(", "));
            self.fault(of.place.line, message);
            return None;
        };
        let text = self.text(tree, key)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let message = format!("{key} is one of {}, not {text:?}", choices.join(", "));
            self.fault(tree.place.line, message);
        }
        found.map(|(_, meant)| *meant)
    }

    fn needed(&mut self, of: &Tree, fields: &Fields<'_>, key: &str) -> Option<String> {
        match fields.get(key) {
            Some(tree) => self.text(tree, key),
            None => {
                self.fault(of.place.line, format!("{key} is missing"));
                None
            }
        }
    }

    fn text(&mut self, tree: &Tree, what: &str) -> Option<String> {
        match &tree.value {
            Value::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Text(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Map(_) => {
                let kind = tree.value.kind();
                self.fault(tree.place.line, format!("{what} is a text, not {kind}"));
                None
            }
        }
    }

    /// The values of a mapping whose keys are names that the operator chose.
    fn named<'t>(&mut self, tree: &'t Tree, what: &str) -> Vec<(String, &'t Tree)> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let pairs = self.pairs(tree, what);
        for (name, tree) in &pairs {
            if name.is_empty() || !name.chars().all(fits) {
                let message = format!("{name:?} is no name: letters, digits, -, _ and . are");
                self.fault(tree.place.line, message);
            }
        }
        pairs
    }

    fn pairs<'t>(&mut self, tree: &'t Tree, what: &str) -> Vec<(String, &'t Tree)> {
        let Value::Map(entries) = &tree.value else {
            let kind = tree.value.kind();
            self.fault(tree.place.line, format!("{what} is a mapping, not {kind}"));
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for (key, value) in entries {
            if let Value::Text(name) = &key.value {
                pairs.push((name.clone(), value));
            } else {
                self.fault(key.place.line, format!("a key of {what} is not text"));
            }
        }
        pairs
    }

    fn fields<'t>(&mut self, tree: &'t Tree, what: &str, known: Option<&[&str]>) -> Fields<'t> {
        let pairs = self.pairs(tree, what);
        for (key, value) in &pairs {
            if known.is_some_and(|known| !known.contains(&key.as_str())) {
                let known = known.unwrap_or_default().join(", ");
                let message = format!("{what} has no {key:?}; it has: {known}");
                self.fault(value.place.line, message);
            }
        }
        pairs.into_iter().collect()
    }
}

/// The values of a mapping by their keys.
type Fields<'t> = BTreeMap<String, &'t Tree>;

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "
providers:
  anthropic:
    wire: anthropic
    key: { env: ANTHROPIC_API_KEY }
  local:
    wire: openai-chat
    base-url: http://127.0.0.1:11434/v1
    headers: { X-Team: writers }
models:
  sonnet:
    provider: anthropic
    id: claude-sonnet-4-5
    window: 200000
    max-output: 16000
    thinking: levels
    effort: medium
    prices: { input: 3, output: 15, cache-read: 0.3, cache-write: 3.75 }
  small: { provider: local, id: qwen3 }
default-model: sonnet
mcp-servers: { files: { command: npx } }
";

    #[test]
    fn a_configuration_gives_its_providers_and_models() {
        let catalog = parse(GOOD).unwrap();
        assert_eq!(catalog.default_model.as_deref(), Some("sonnet"));
        let anthropic = &catalog.providers["anthropic"];
        assert_eq!(anthropic.base_url, "https://api.anthropic.com");
        assert_eq!(
            anthropic.key,
            Some(KeySource::Env("ANTHROPIC_API_KEY".into()))
        );
        let sonnet = &catalog.models["sonnet"];
        let prices = sonnet.prices.unwrap();
        assert_eq!((prices.input, prices.cache_read), (3_000_000, 300_000));
        assert_eq!(
            (sonnet.effort, sonnet.thinking),
            (Some(Effort::Medium), Thinking::Levels)
        );
        assert_eq!(catalog.models["small"].max_output, MAX_OUTPUT);
    }

    #[test]
    fn an_empty_configuration_names_no_model() {
        assert_eq!(parse("").unwrap(), Catalog::default());
        assert_eq!(parse("# nothing yet\n").unwrap(), Catalog::default());
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once_with_its_line() {
        let text = "
providers:
  a: { wire: http, key: sk-123456 }
  b: { wire: openai-chat, base-url: 'https://me:key@example.com', colour: red }
models:
  x: { provider: b }
  y: { provider: nowhere, id: y, window: -1, effort: huge, prices: { input: free } }
default-model: z
";
        let faults = parse(text).unwrap_err();
        let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
        for part in [
            "line 3: wire is one of anthropic, openai-chat, openai-responses",
            "line 4: a provider has no \"colour\"",
            "line 4: base-url must begin",
            "line 6: id is missing",
            "line 7: window is a number of tokens",
            "line 7: effort is one of",
            "line 7: input is a price",
        ] {
            assert!(
                shown.iter().any(|line| line.starts_with(part)),
                "{part}: {shown:#?}"
            );
        }
    }

    #[test]
    fn a_key_that_stands_in_the_file_is_refused_and_not_repeated() {
        let text = "providers:\n  a: { wire: anthropic, key: sk-ant-0123456789 }\n";
        let faults = parse(text).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert!(!faults[0].to_string().contains("sk-ant"), "{}", faults[0]);
    }

    #[test]
    fn a_model_of_no_provider_and_a_default_of_no_model_are_named() {
        for (text, part) in [
            (
                "models:\n  x: { provider: p, id: x }\n",
                "no provider \"p\"",
            ),
            ("default-model: z\n", "default-model names no model"),
        ] {
            let faults = parse(text).unwrap_err();
            assert!(faults[0].to_string().contains(part), "{}", faults[0]);
        }
    }
}
