//! Reading the configuration of models, with all that is wrong at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use a_society_providers::ChatDialect;
use a_society_providers::http::{Url, Wire};
use a_society_providers::{Effort, Thinking};
use a_society_yaml::{MapEntry, Number, ParseBudget, Value, YamlTree};

use crate::reading::{DocumentSink, Fields, TextFault, read};

use super::bounds::ConfigBounds;
use super::model::{KeySource, ModelConfig, ModelsConfig, ProviderConfig};
use super::search::{ENDPOINT, SearchConfig};
use crate::cost::Price;
use crate::tool::{EditTool, Scope, ToolReach};

/// What a model can choose for a role.
const CHOICES: [&str; 3] = ["model", "skills", "mcp-servers"];

const TOP_KEYS: [&str; 7] = [
    "model",
    "choose",
    "chooser",
    "proxy",
    "trusted-certificates",
    "providers",
    "models",
];
const PROVIDER_KEYS: &[&str] = &[
    "wire",
    "base-url",
    "key",
    "headers",
    "output-limit",
    "cache-key",
    "plain-http",
];
const MODEL_KEYS: &[&str] = &[
    "provider",
    "id",
    "window",
    "max-output",
    "thinking",
    "effort",
    "efforts",
    "edit-tool",
    "images",
    "price",
];
const KEY_KEYS: &[&str] = &["env", "keyring", "file"];
const PRICE_KEYS: &[&str] = &["input", "output", "cache-read", "cache-write"];
const TOOLS_KEYS: &[&str] = &["scope", "folders", "network", "irreversible"];
const SEARCH_KEYS: &[&str] = &["endpoint", "key"];
const LIMITS_KEYS: &[&str] = &["tokens", "answers", "same-call"];

/// How the operator says that there is no budget.
const NONE: &str = "none";

/// The most tokens that a budget can have; more is a slip of the keyboard.
const MAX_BUDGET_TOKENS: u64 = 1_000_000_000_000;

/// The most answers that a turn can have.
const MAX_ANSWERS: u64 = 100_000;

/// The highest number of times that the same call may be tried. The model is warned at the third; a
/// smaller limit than one more than that would leave it no time to do something else.
const SAME_CALL: std::ops::RangeInclusive<u64> = 4..=1_000;

/// The least window in which a turn has room.
const MIN_WINDOW_TOKENS: u64 = 2_048;

/// The most tokens that a window is believed to have.
const MAX_WINDOW_TOKENS: u64 = 1_000_000_000;

/// The default size of an answer: a quarter of the window, and no more than most models can produce.
const DEFAULT_MAX_OUTPUT_TOKENS: u64 = 32_000;

/// The most that a million tokens may cost, in units of money; a higher number is a mistaken unit.
const MAX_PRICE: f64 = 1_000_000.0;

pub(super) fn models(text: &str, others: &[&str]) -> Result<ModelsConfig, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(ModelsConfig::default());
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        sink.models(tree, others)
    })
}

/// The sources of secrets under `secrets`; other keys are read elsewhere.
pub(super) fn secrets(text: &str) -> Result<BTreeMap<String, KeySource>, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(BTreeMap::new());
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        let Some(tree) = top(tree, "secrets") else {
            return BTreeMap::new();
        };
        let each = named(sink, tree, "`secrets`");
        each.into_iter()
            .filter_map(|(name, tree)| Some((name, sink.key(tree)?)))
            .collect()
    })
}

/// The search service under `search`; other keys are read elsewhere.
pub(super) fn search(text: &str) -> Result<Option<SearchConfig>, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(None);
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        let tree = top(tree, "search")?;
        let fields = sink.fields(tree, "`search`", SEARCH_KEYS)?;
        let key = sink.required(tree, &fields, "`search`", "key");
        let key = key.and_then(|tree| sink.key(tree));
        let endpoint = match fields.get("endpoint") {
            None => ENDPOINT.to_owned(),
            Some(tree) => {
                let address = sink.address(tree, "`endpoint`")?;
                if shows_keys(&address) {
                    let message = "the key would be sent over plain http, where others can read \
                                   it; use https";
                    sink.fault(tree, message);
                }
                address
            }
        };
        let key = key?;
        Some(SearchConfig { endpoint, key })
    })
}

/// How far tools reach, under `tools`; other keys are read elsewhere.
pub(super) fn tools(text: &str) -> Result<ToolReach, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(ToolReach::default());
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        let found = top(tree, "tools").map(|tree| sink.reach(tree));
        found.unwrap_or_default()
    })
}

/// What stops a flow that makes no progress, under `limits`; other keys are read elsewhere.
pub(super) fn limits(text: &str) -> Result<ConfigBounds, Vec<TextFault>> {
    if is_blank(text) {
        return Ok(ConfigBounds::default());
    }
    read(text, ParseBudget::BLOCK, |sink, tree| {
        let found = top(tree, "limits").and_then(|tree| sink.bounds(tree));
        found.unwrap_or_default()
    })
}

/// The value of a key at the top of the document.
pub(super) fn top<'t>(tree: &'t YamlTree, wanted: &str) -> Option<&'t YamlTree> {
    let Value::Map(entries) = &tree.value else {
        return None;
    };
    let fields = Fields { entries };
    fields.get(wanted)
}

/// What is under a key; nothing where only the key is left, as when all that was under it was taken out.
fn some<'t>(fields: &Fields<'t>, key: &str) -> Option<&'t YamlTree> {
    fields.get(key).filter(|tree| tree.value != Value::Null)
}

/// Whether a document has no line that says anything.
pub(super) fn is_blank(text: &str) -> bool {
    let says_nothing = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "---"
    };
    text.lines().all(says_nothing)
}

/// The entries of a mapping whose keys are chosen names.
fn named<'t>(
    sink: &mut DocumentSink<'_>,
    tree: &'t YamlTree,
    what: &str,
) -> Vec<(String, &'t YamlTree)> {
    let Value::Map(entries) = &tree.value else {
        let kind = tree.value.kind();
        sink.fault(
            tree,
            format!("{what} is {kind} and must be a mapping of names"),
        );
        return Vec::new();
    };
    let mut named = Vec::new();
    for MapEntry { key, value } in entries {
        let Some(name) = sink.words(key, "a name") else {
            continue;
        };
        // Names are part of file names, command lines and facts.
        let is_legal = |c: char| c.is_ascii_alphanumeric() || "-_.:/".contains(c);
        if name.len() > 100 || !name.chars().all(is_legal) {
            let message = "a name has letters, digits and `-_.:/`, at most 100".to_owned();
            sink.fault(key, message);
        }
        named.push((name, value));
    }
    named
}

impl DocumentSink<'_> {
    fn models(&mut self, tree: &YamlTree, others: &[&str]) -> ModelsConfig {
        let keys: Vec<&str> = TOP_KEYS.iter().chain(others).copied().collect();
        let Some(fields) = self.fields(tree, "the configuration", &keys) else {
            return ModelsConfig::default();
        };
        let mut providers = BTreeMap::new();
        if let Some(tree) = some(&fields, "providers") {
            for (name, tree) in named(self, tree, "`providers`") {
                let provider = self.provider(&name, tree);
                providers.insert(name, provider);
            }
        }
        let mut models = BTreeMap::new();
        if let Some(tree) = some(&fields, "models") {
            for (name, tree) in named(self, tree, "`models`") {
                let model = self.model(&name, tree, &providers);
                models.insert(name, model);
            }
        }
        let mut one_of = |key: &str| {
            let tree = fields.get(key)?;
            let model = self.words(tree, &format!("`{key}`"))?;
            if !models.contains_key(&model) {
                self.fault(tree, format!("there is no model `{model}` under `models`"));
            }
            Some(model)
        };
        let (model, chooser) = (one_of("model"), one_of("chooser"));
        let choose = fields.get("choose").map(|tree| self.choices(tree));
        // Whatever is at fault was reported; what is left is only used if nothing was.
        let whole = |(name, value): (String, Option<_>)| Some((name, value?));
        ModelsConfig {
            providers: providers.into_iter().filter_map(whole).collect(),
            models: models
                .into_iter()
                .filter_map(|(name, model)| Some((name, model?)))
                .collect(),
            model,
            choose: choose.unwrap_or_default(),
            chooser,
            proxy: fields
                .get("proxy")
                .and_then(|tree| self.address(tree, "`proxy`")),
            trusted_certificates: self.certificates(&fields),
        }
    }

    fn choices(&mut self, tree: &YamlTree) -> Vec<String> {
        let Value::List(items) = &tree.value else {
            let kind = tree.value.kind();
            let message = format!(
                "`choose` is {kind} and must be a list of {}",
                CHOICES.join(", ")
            );
            self.fault(tree, message);
            return Vec::new();
        };
        let mut choices = Vec::new();
        for item in items {
            let Some(word) = self.words(item, "an item of `choose`") else {
                continue;
            };
            if CHOICES.contains(&word.as_str()) {
                choices.push(word);
            } else {
                let all = CHOICES.join(", ");
                self.fault(
                    item,
                    format!("a model cannot choose `{word}`; it can: {all}"),
                );
            }
        }
        choices
    }

    fn reach(&mut self, tree: &YamlTree) -> ToolReach {
        let Some(fields) = self.fields(tree, "`tools`", TOOLS_KEYS) else {
            return ToolReach::default();
        };
        let scopes = Scope::ALL.map(|scope| (scope, scope.word()));
        let scope = fields.get("scope");
        let scope = scope.and_then(|tree| self.choice(tree, "`scope`", &scopes));
        let network = fields.get("network");
        let network = network.and_then(|tree| self.boolean(tree, "`network`"));
        let folders = self.paths(&fields, "folders", "a folder");
        let scope = scope.unwrap_or_default();
        if let (Some(tree), Scope::Sandboxed, false) =
            (fields.get("folders"), scope, folders.is_empty())
        {
            let message = "`folders` are read from the scope `project` on; say `scope: project`";
            self.fault(tree, message);
        }
        ToolReach {
            scope,
            folders,
            network: network.unwrap_or_default(),
            irreversible: self.commands(&fields),
        }
    }

    fn bounds(&mut self, tree: &YamlTree) -> Option<ConfigBounds> {
        let fields = self.fields(tree, "`limits`", LIMITS_KEYS)?;
        let mut bounds = ConfigBounds::default();
        if let Some(tree) = fields.get("tokens") {
            let is_none = matches!(&tree.value, Value::Text(text) if text == NONE);
            bounds.tokens = if is_none {
                None
            } else {
                self.number(tree, "`tokens`", 1, MAX_BUDGET_TOKENS)
            };
        }
        if let Some(tree) = fields.get("answers")
            && let Some(answers) = self.number(tree, "`answers`", 1, MAX_ANSWERS)
        {
            bounds.answers = u32::try_from(answers).unwrap_or(bounds.answers);
        }
        if let Some(tree) = fields.get("same-call")
            && let Some(times) =
                self.number(tree, "`same-call`", *SAME_CALL.start(), *SAME_CALL.end())
        {
            bounds.same_call = u32::try_from(times).unwrap_or(bounds.same_call);
        }
        Some(bounds)
    }

    fn commands(&mut self, fields: &Fields<'_>) -> Vec<String> {
        let Some(tree) = fields.get("irreversible") else {
            return Vec::new();
        };
        let Value::List(items) = &tree.value else {
            self.fault(tree, "`irreversible` must be a list of commands");
            return Vec::new();
        };
        let commands = items.iter();
        let commands = commands.filter_map(|item| self.words(item, "a command"));
        commands.collect()
    }

    fn certificates(&mut self, fields: &Fields<'_>) -> Vec<PathBuf> {
        self.paths(fields, "trusted-certificates", "a certificate")
    }

    fn paths(&mut self, fields: &Fields<'_>, key: &str, what: &str) -> Vec<PathBuf> {
        let Some(tree) = fields.get(key) else {
            return Vec::new();
        };
        let Value::List(items) = &tree.value else {
            self.fault(tree, format!("`{key}` must be a list of paths"));
            return Vec::new();
        };
        let paths = items.iter().filter_map(|item| self.absolute(item, what));
        paths.collect()
    }

    pub(super) fn absolute(&mut self, tree: &YamlTree, what: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.words(tree, what)?);
        if path.is_relative() && !path.starts_with("~") {
            self.fault(
                tree,
                format!("{what} must be an absolute path, or begin with `~/`"),
            );
            return None;
        }
        Some(path)
    }

    fn provider(&mut self, name: &str, tree: &YamlTree) -> Option<ProviderConfig> {
        let what = format!("the provider `{name}`");
        let fields = self.fields(tree, &what, PROVIDER_KEYS)?;
        let wires = Wire::ALL.map(|wire| (wire, wire.word()));
        let wire = self.required(tree, &fields, &what, "wire");
        let wire = wire.and_then(|tree| self.choice(tree, "`wire`", &wires));
        let key = fields.get("key").and_then(|tree| self.key(tree));
        let base_url = match fields.get("base-url") {
            Some(tree) => self.address(tree, "`base-url`"),
            None => wire.map(|wire| wire.home().to_owned()),
        };
        let plain = fields
            .get("plain-http")
            .and_then(|tree| self.boolean(tree, "`plain-http`"));
        if let (Some(tree), Some(base_url), Some(_)) =
            (fields.get("base-url"), &base_url, fields.get("key"))
            && plain != Some(true)
            && shows_keys(base_url)
        {
            let message = "the key would be sent over plain http, where others can read it; use \
                           https, or say `plain-http: true`";
            self.fault(tree, message);
        }
        let chat = self.dialect(&fields, wire, base_url.as_deref());
        let headers = fields
            .get("headers")
            .map_or(Vec::new(), |tree| self.headers(tree));
        Some(ProviderConfig {
            name: name.to_owned(),
            wire: wire?,
            base_url: base_url?,
            key,
            headers,
            chat,
        })
    }

    fn dialect(
        &mut self,
        fields: &Fields<'_>,
        wire: Option<Wire>,
        url: Option<&str>,
    ) -> ChatDialect {
        let is_home = url == Some(Wire::Chat.home());
        for key in ["output-limit", "cache-key"] {
            if let (Some(tree), Some(Wire::Anthropic | Wire::Responses)) = (fields.get(key), wire) {
                self.fault(
                    tree,
                    format!("`{key}` is for the wire `{}` only", Wire::Chat),
                );
            }
        }
        let limits = [(true, "max-completion-tokens"), (false, "max-tokens")];
        let limit = fields.get("output-limit");
        let limit = limit.and_then(|tree| self.choice(tree, "`output-limit`", &limits));
        let cache = fields.get("cache-key");
        let cache = cache.and_then(|tree| self.boolean(tree, "`cache-key`"));
        ChatDialect {
            completion_tokens: limit.unwrap_or(is_home),
            cache_key: cache.unwrap_or(is_home),
        }
    }

    fn headers(&mut self, tree: &YamlTree) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for (name, value) in named(self, tree, "`headers`") {
            let carries_key = ["authorization", "x-api-key", "api-key", "cookie"];
            if carries_key.contains(&name.to_lowercase().as_str()) {
                self.fault(
                    value,
                    format!("`{name}` carries a key, which belongs under `key`"),
                );
            } else if let Some(value) = self.text(value, &format!("the header `{name}`")) {
                headers.push((name, value));
            }
        }
        headers
    }

    pub(super) fn key(&mut self, tree: &YamlTree) -> Option<KeySource> {
        if let Value::Text(_) = &tree.value {
            let message = "a key does not belong in this file: say where it is, as with \
                           `key: { env: NAME }`, `{ keyring: NAME }` or `{ file: PATH }`";
            self.fault(tree, message);
            return None;
        }
        let fields = self.fields(tree, "`key`", KEY_KEYS)?;
        let [env, keyring, file] = ["env", "keyring", "file"].map(|key| fields.get(key));
        match (env, keyring, file) {
            (Some(tree), None, None) => self.variable(tree),
            (None, Some(tree), None) => self.words(tree, "`keyring`").map(KeySource::Keyring),
            (None, None, Some(tree)) => self.absolute(tree, "`file`").map(KeySource::File),
            _ => {
                self.fault(
                    tree,
                    "`key` needs exactly one of `env`, `keyring` and `file`",
                );
                None
            }
        }
    }

    fn variable(&mut self, tree: &YamlTree) -> Option<KeySource> {
        let name = self.words(tree, "`env`")?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let looks_like_key = !name.chars().all(is_name) || name.len() > 100;
        if looks_like_key {
            // It is not repeated: it may be the key itself.
            self.fault(
                tree,
                "`env` must be the name of a variable, and not what it holds",
            );
            return None;
        }
        Some(KeySource::Env(name))
    }

    fn address(&mut self, tree: &YamlTree, what: &str) -> Option<String> {
        let text = self.words(tree, what)?;
        let Ok(url) = Url::parse(&text) else {
            self.fault(
                tree,
                format!("{what} is no address, such as https://api.example.com/v1"),
            );
            return None;
        };
        if !matches!(url.scheme(), "http" | "https") {
            self.fault(tree, format!("{what} must begin with https:// or http://"));
        } else if !url.username().is_empty() || url.password().is_some() {
            self.fault(
                tree,
                format!("{what} carries a name or a key, which do not belong there"),
            );
        } else if url.query().is_some() || url.fragment().is_some() {
            self.fault(tree, format!("{what} must end with its path"));
        }
        Some(text.trim_end_matches('/').to_owned())
    }

    fn model(
        &mut self,
        name: &str,
        tree: &YamlTree,
        providers: &BTreeMap<String, Option<ProviderConfig>>,
    ) -> Option<ModelConfig> {
        let what = format!("the model `{name}`");
        let fields = self.fields(tree, &what, MODEL_KEYS)?;
        let provider = self.required(tree, &fields, &what, "provider");
        let provider = provider.and_then(|tree| {
            let provider = self.words(tree, "`provider`")?;
            if !providers.contains_key(&provider) {
                self.fault(
                    tree,
                    format!("there is no provider `{provider}` under `providers`"),
                );
            }
            Some(provider)
        });
        let id = self.required(tree, &fields, &what, "id");
        let id = id.and_then(|tree| self.words(tree, "`id`"));
        let window = self.required(tree, &fields, &what, "window");
        let window = window
            .and_then(|tree| self.number(tree, "`window`", MIN_WINDOW_TOKENS, MAX_WINDOW_TOKENS));
        let room = window.unwrap_or(MAX_WINDOW_TOKENS);
        let max_output = match fields.get("max-output") {
            Some(tree) => self.number(tree, "`max-output`", 1, room - 1),
            None => Some(DEFAULT_MAX_OUTPUT_TOKENS.min(room / 4)),
        };
        let thinking = fields.get("thinking").and_then(|tree| {
            let all = Thinking::ALL.map(|way| (way, way.word()));
            self.choice(tree, "`thinking`", &all)
        });
        let thinking = thinking.unwrap_or_default();
        let (effort, efforts) = self.efforts(&fields, thinking);
        let edit_tool = fields.get("edit-tool");
        let edit_tool =
            edit_tool.and_then(|tree| self.choice(tree, "`edit-tool`", &EditTool::WORDS));
        let speaks = provider
            .as_ref()
            .and_then(|name| providers.get(name)?.as_ref());
        let images = fields.get("images");
        let images = images
            .and_then(|tree| self.images(tree, speaks))
            .unwrap_or_default();
        let price = fields.get("price").and_then(|tree| self.price(tree));
        Some(ModelConfig {
            name: name.to_owned(),
            provider: provider?,
            id: id?,
            window_tokens: window?,
            max_output_tokens: max_output?,
            thinking,
            effort,
            efforts,
            edit_tool,
            images,
            price,
        })
    }

    /// Whether a model gets images. One that could not be sent any is not believed to see them.
    fn images(&mut self, tree: &YamlTree, provider: Option<&ProviderConfig>) -> Option<bool> {
        let images = self.boolean(tree, "`images`")?;
        let deaf = provider.filter(|it| images && !it.wire.takes_images());
        if let Some(provider) = deaf {
            let message = format!(
                "`images` cannot be true on the wire `{}`, whose results of calls are text only; \
                 leave it out, or reach the model over `anthropic` or `openai-responses`",
                provider.wire
            );
            self.fault(tree, message);
        }
        Some(images)
    }

    fn efforts(
        &mut self,
        fields: &Fields<'_>,
        thinking: Thinking,
    ) -> (Option<Effort>, Vec<Effort>) {
        let all = Effort::ALL.map(|effort| (effort, effort.word()));
        let mut efforts = if thinking == Thinking::Fixed {
            Vec::new()
        } else {
            Effort::ALL.to_vec()
        };
        if let Some(tree) = fields.get("efforts") {
            match &tree.value {
                Value::List(items) => {
                    let chosen = items
                        .iter()
                        .filter_map(|item| self.choice(item, "an effort", &all));
                    efforts = chosen.collect();
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::Map(_) => self.fault(tree, "`efforts` must be a list"),
            }
        }
        let effort = fields.get("effort").and_then(|tree| {
            let effort = self.choice(tree, "`effort`", &all)?;
            if !efforts.is_empty() && !efforts.contains(&effort) {
                self.fault(tree, "`effort` is not one of `efforts`");
            }
            Some(effort)
        });
        for key in ["effort", "efforts"] {
            if let Some(tree) = fields.get(key).filter(|_| thinking == Thinking::Fixed) {
                let message = format!("`{key}` needs `thinking: levels` or `thinking: budget`");
                self.fault(tree, message);
            }
        }
        (effort, efforts)
    }

    fn price(&mut self, tree: &YamlTree) -> Option<Price> {
        let fields = self.fields(tree, "`price`", PRICE_KEYS)?;
        let mut money = |key: &str| {
            let found = fields.get(key)?;
            self.money(found, key)
        };
        let (input, output) = (money("input"), money("output"));
        let (read, write) = (money("cache-read"), money("cache-write"));
        for key in ["input", "output"] {
            self.required(tree, &fields, "`price`", key);
        }
        let input = input?;
        Some(Price {
            input,
            output: output?,
            // An absent price equals that of uncached input.
            cache_read: read.unwrap_or(input),
            cache_write: write.unwrap_or(input),
        })
    }

    /// A price for a million tokens, in millionths.
    fn money(&mut self, tree: &YamlTree, key: &str) -> Option<u64> {
        let price = tree.value.number().and_then(|number| match number {
            Number::Whole(whole) => i32::try_from(whole).ok().map(f64::from),
            Number::Fraction(fraction) => Some(fraction),
        });
        let price = price.filter(|price| (0.0..=MAX_PRICE).contains(price));
        if price.is_none() {
            self.fault(
                tree,
                format!("`{key}` must be a price for a million tokens, such as 3.00"),
            );
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked, and a millionth is the finest there is"
        )]
        price.map(|price| (price * 1_000_000.0).round() as u64)
    }
}

/// Whether others on the way can read what is sent to this address.
fn shows_keys(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost"
        || bare
            .parse::<core::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    url.scheme() == "http" && !is_here
}
