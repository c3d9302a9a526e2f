//! From a role's wish for a model to everything that its taker needs.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::node::Trouble;
use a_society_facts::message::Message;
use a_society_mcp::{self as mcp, ServerSpec, ServerTools, Servers};
use a_society_providers::http::{HttpProvider, Timeouts, Transport};
use a_society_providers::retry::Lanes;
use a_society_providers::{
    Effort, FaultClass, ModelRequest, Provider, RequestFault, Secret, StreamArrival, Thinking,
};
use a_society_roles::config::ConfigBounds;
pub use a_society_roles::config::{
    ModelConfig as ModelSpec, ModelsConfig as Catalog, ProviderConfig as ProviderSpec,
};
use a_society_roles::cost::Price;
use a_society_roles::taker::model::{Model, Traffic};
use a_society_roles::tool::{EditTool, SearchService, ToolReach};
use a_society_roles::turn::step::TakerEnd;
use a_society_state::clock::{Clock, SystemClock};

use super::servers::Roster;
use super::user::{self, ConfigError, ConsentConfig};

/// All providers share one client and its connections. It is made by the first configuration that
/// is read.
static TRANSPORT: OnceLock<Arc<Transport>> = OnceLock::new();

/// All roles of this process share what each provider lets through.
static LANES: LazyLock<Arc<Lanes>> = LazyLock::new(Arc::default);

/// The time that waits are measured by. It begins when it is asked for first.
static CLOCK: LazyLock<SystemClock> = LazyLock::new(SystemClock::default);

/// What the models of all flows of this process have in common.
#[must_use]
pub(crate) fn traffic() -> Traffic {
    Traffic {
        lanes: Arc::clone(&LANES),
        now_ms: Arc::new(|| CLOCK.elapsed_us() / 1000),
    }
}

/// What a part of the configuration says, for as long as the file does not change. A fault is not kept: what the
/// operator mends counts the next time.
#[derive(Debug)]
struct ConfigPart<T>(Mutex<Option<ReadPart<T>>>);

#[derive(Debug)]
struct ReadPart<T> {
    /// The text of the file; absent for what does not come from it.
    of: Option<String>,
    is: T,
}

impl<T> Default for ConfigPart<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> ConfigPart<T> {
    /// What does not come from the file.
    const fn fixed(is: T) -> Self {
        Self(Mutex::new(Some(ReadPart { of: None, is })))
    }

    fn get(&self, read: impl FnOnce() -> Result<T, ConfigError>) -> Result<T, String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ReadPart { of: None, is }) = &*kept {
            return Ok(is.clone());
        }
        let text = user::text().map_err(|error| error.to_string())?;
        let text = text.map(|(_, text)| text).unwrap_or_default();
        if let Some(said) = kept.as_ref().filter(|said| said.of.as_ref() == Some(&text)) {
            return Ok(said.is.clone());
        }
        let is = read().map_err(|error| error.to_string())?;
        let of = Some(text);
        Ok(kept.insert(ReadPart { of, is }).is.clone())
    }
}

/// The models of the operator's configuration, read when one is needed first, and anew when the file has changed:
/// what the operator changes counts for turns that begin afterwards.
#[derive(Debug, Default)]
pub(crate) struct ConfiguredModels {
    catalog: ConfigPart<Arc<Catalog>>,
    /// The providers that roles asked for, by name.
    providers: Mutex<BTreeMap<String, Keyed>>,
    servers: Mutex<Option<KeptServers>>,
    search: ConfigPart<Option<SearchService>>,
    reach: ConfigPart<ToolReach>,
    consent: ConfigPart<ConsentConfig>,
    bounds: ConfigPart<ConfigBounds>,
}

/// A provider, and what it was made of.
#[derive(Debug)]
struct Keyed {
    spec: ProviderSpec,
    key: Option<String>,
    provider: Arc<dyn Provider>,
}

/// The servers of a flow, and what they were made of.
#[derive(Debug)]
struct KeptServers {
    specs: Vec<ServerSpec>,
    servers: Arc<Servers>,
    secrets: Vec<String>,
}

/// What is found for a wish.
#[derive(Debug)]
pub(crate) struct ResolvedModel {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: Model,
    /// By which tool it changes parts of files.
    pub edit_tool: EditTool,
    /// The provider's key, so that no tool shows it to anybody.
    pub key: Option<String>,
}

/// What a role wishes for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WishedModel<'a> {
    /// The model, by its name in the configuration.
    pub model: Option<&'a str>,
    /// How hard it is to think.
    pub effort: Option<&'a str>,
}

impl ConfiguredModels {
    /// The MCP servers that may be started. None runs before it is needed, and all end with the
    /// flow, or when the operator changed what there is.
    ///
    /// # Errors
    /// When a secret that the configuration names for them is not to be had.
    pub(crate) fn servers(&self, roster: &Roster) -> Result<Arc<Servers>, String> {
        let mut kept = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let specs = roster.startable();
        if let Some(kept) = kept.as_ref().filter(|kept| kept.specs == specs) {
            return Ok(Arc::clone(&kept.servers));
        }
        let given = user::given().map_err(|error| error.to_string())?;
        let secrets = given.secrets.values().cloned().collect();
        let limits = mcp::ServerLimits::default();
        let servers = Arc::new(Servers::new(specs.clone(), given, limits));
        *kept = Some(KeptServers {
            specs,
            servers: Arc::clone(&servers),
            secrets,
        });
        Ok(servers)
    }

    /// What a server that runs already offers. None is started for it.
    #[must_use]
    pub(crate) fn known_tools(&self, server: &str) -> Option<Arc<ServerTools>> {
        let kept = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref()?.servers.known_tools(server)
    }

    /// The secrets that servers were given, so that no tool shows them to anybody.
    #[must_use]
    pub(crate) fn secrets(&self) -> Vec<String> {
        let kept = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref()
            .map(|kept| kept.secrets.clone())
            .unwrap_or_default()
    }

    /// Who answers `web_search`.
    ///
    /// # Errors
    /// Describes why there is none.
    pub(crate) fn search(&self) -> Result<SearchService, String> {
        let nobody = || "the configuration has no `search`".to_owned();
        self.search.get(user::search)?.ok_or_else(nobody)
    }

    /// How far tools reach at most.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub(crate) fn reach(&self) -> Result<ToolReach, String> {
        self.reach.get(user::reach)
    }

    /// What the operator says beforehand about calls.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub(crate) fn consent(&self) -> Result<ConsentConfig, String> {
        self.consent.get(user::consent)
    }

    /// What stops a turn that goes nowhere. A configuration that cannot be used names no model either,
    /// and that is reported.
    #[must_use]
    pub(crate) fn bounds(&self) -> ConfigBounds {
        self.bounds.get(user::bounds).unwrap_or_default()
    }

    /// The operator's models.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub(crate) fn catalog(&self) -> Result<Arc<Catalog>, String> {
        let read = || user::catalog().map(|(_, catalog)| Arc::new(catalog));
        self.catalog.get(read)
    }

    /// The model that is wished for, or the default one, and the provider that answers for it.
    ///
    /// # Errors
    /// How a turn ends that has no model to take it.
    pub(crate) fn find(&self, wish: WishedModel<'_>) -> Result<ResolvedModel, TakerEnd> {
        let catalog = self.catalog().map_err(choose)?;
        let only = (catalog.models.len() == 1).then(|| catalog.models.keys().next());
        let only = only.flatten().map(String::as_str);
        // Where there is one model only, there is nothing to choose.
        let name = wish.model.or(catalog.model.as_deref()).or(only);
        let Some(name) = name else {
            return Err(choose(there_are(&catalog)));
        };
        let Some(spec) = catalog.models.get(name) else {
            return Err(choose(format!(
                "there is no model {name:?}; {}",
                there_are(&catalog)
            )));
        };
        let effort = match wish.effort {
            None => spec.effort,
            Some(word) => Some(word.parse::<Effort>().map_err(|()| {
                let words = Effort::ALL.map(Effort::word).join(", ");
                choose(format!("there is no effort {word:?}; there are: {words}"))
            })?),
        };
        let (provider, key) = self.provider(&catalog, &spec.provider)?;
        let wire = catalog.providers.get(&spec.provider);
        let images = wire.is_some_and(|found| spec.gets_images(found.wire));
        let model = Model {
            name: name.to_owned(),
            id: spec.id.clone(),
            window: spec.window_tokens,
            max_output: spec.max_output_tokens,
            thinking: spec.thinking,
            effort,
            images,
            prices: spec.price,
        };
        let edit_tool = wire.map_or(EditTool::Replace, |found| spec.edit_tool(found.wire));
        Ok(ResolvedModel {
            provider,
            model,
            edit_tool,
            key,
        })
    }

    /// A provider by its name, and its key. It is made anew only when its key or its definition
    /// has changed.
    fn provider(
        &self,
        catalog: &Catalog,
        name: &str,
    ) -> Result<(Arc<dyn Provider>, Option<String>), TakerEnd> {
        let Some(spec) = catalog.providers.get(name) else {
            return Err(choose(format!("there is no provider {name:?}")));
        };
        let key = spec.key.as_ref().map(user::key).transpose();
        let key = key.map_err(|why| TakerEnd::provider(Trouble::Key, why))?;
        let mut made = self
            .providers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &&Keyed| known.key == key && known.spec == *spec;
        if let Some(known) = made.get(name).filter(is_same) {
            return Ok((Arc::clone(&known.provider), key));
        }
        let endpoint = spec.endpoint(key.as_deref().map(Secret::new));
        let new = HttpProvider::new(endpoint, transport(catalog)?);
        let new: Arc<dyn Provider> = Arc::new(new.map_err(|fault| TakerEnd::Provider {
            trouble: fault.class.trouble(),
            class: Some(fault.class.word().to_owned()),
            why: fault.message,
            servers: Vec::new(),
            again_in_ms: None,
        })?);
        let keyed = Keyed {
            spec: spec.clone(),
            key: key.clone(),
            provider: Arc::clone(&new),
        };
        made.insert(name.to_owned(), keyed);
        Ok((new, key))
    }
}

fn transport(catalog: &Catalog) -> Result<Arc<Transport>, TakerEnd> {
    if let Some(made) = TRANSPORT.get() {
        return Ok(Arc::clone(made));
    }
    let trusted = catalog
        .trusted_certificates
        .iter()
        .map(|path| user::file(path));
    let trusted: Result<Vec<Vec<u8>>, String> = trusted.collect();
    let trusted = trusted.map_err(|why| TakerEnd::provider(Trouble::Configuration, why))?;
    let made = Transport::new(Timeouts::default(), catalog.proxy.clone(), trusted);
    Ok(Arc::clone(TRANSPORT.get_or_init(|| Arc::new(made))))
}

fn choose(why: String) -> TakerEnd {
    TakerEnd::Configuration { why }
}

/// Which models can be chosen, or how to add one.
#[must_use]
pub fn there_are(catalog: &Catalog) -> String {
    let names: Vec<&str> = catalog.models.keys().map(String::as_str).collect();
    if names.is_empty() {
        "no model is configured; add one with a-society models add, and choose it for the role"
            .to_owned()
    } else {
        format!("there are: {}", names.join(", "))
    }
}

/// A provider of the configuration by its name, for trying it out.
///
/// # Errors
/// How a turn would end that needs it.
pub(crate) fn of(catalog: &Catalog, name: &str) -> Result<ResolvedModel, TakerEnd> {
    let models = ConfiguredModels {
        catalog: ConfigPart::fixed(Arc::new(catalog.clone())),
        ..ConfiguredModels::default()
    };
    models.find(WishedModel {
        model: Some(name),
        effort: None,
    })
}

/// The result of a trial of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTrial {
    /// Its answer, in a few words.
    pub said: String,
    /// The tokens it read.
    pub input_tokens: u64,
    /// The tokens it wrote.
    pub output_tokens: u64,
    /// What that cost, in millionths; 0 if no price is known.
    pub cost_micros: u64,
}

/// What is wanting where a model cannot be asked, in words.
pub(crate) fn lacks(end: TakerEnd) -> String {
    match end {
        TakerEnd::Configuration { why }
        | TakerEnd::Provider { why, .. }
        | TakerEnd::Aborted { why, .. } => why,
        TakerEnd::Answered
        | TakerEnd::Outcome { .. }
        | TakerEnd::OwnTurn { .. }
        | TakerEnd::Fault(_)
        | TakerEnd::OutputLimit => "it cannot be asked".to_owned(),
    }
}

/// How long a trial waits for its answer where nothing else is asked for: models that think, and those that are loaded
/// first, need some of it, and a person looks on.
pub const TRIAL_WAIT: Duration = Duration::from_secs(30);

/// Sends one small request to a model, and waits at most so long for its answer.
///
/// # Errors
/// Says in words what is wrong, and what to do.
pub fn try_out(catalog: &Catalog, name: &str, wait: Duration) -> Result<ModelTrial, String> {
    let found = of(catalog, name).map_err(lacks)?;
    let asked = Message::User {
        content: "Answer with the single word: ready".to_owned(),
    };
    let request = ModelRequest {
        model: &found.model.id,
        system: "",
        environment: "",
        messages: &[asked.into()],
        tools: &[],
        effort: None,
        thinking: Thinking::Fixed,
        max_output_tokens: TRIAL_TOKENS.min(found.model.max_output.max(1)),
        images: false,
        cache_key: None,
        shared_key: None,
    };
    let prepared = found
        .provider
        .prepare(&request)
        .map_err(|fault| in_words(&fault))?;
    let stop = StopSignal::default();
    // Dropped when this returns, which ends the thread.
    let (_waits, over) = mpsc::channel::<()>();
    let late = stop.clone();
    let watch = move || {
        if over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            late.raise();
        }
    };
    let watched = std::thread::Builder::new().spawn(watch);
    watched.map_err(|error| error.to_string())?;
    let mut stream = found.provider.start(prepared, &stop);
    loop {
        match stream.next_arrival() {
            Some(StreamArrival::Event(_)) => {}
            Some(StreamArrival::Answer(answer)) => {
                let cost = |price: &Price| price.of(&answer.usage);
                return Ok(ModelTrial {
                    said: answer.text.trim().chars().take(SAID_CHARS).collect(),
                    input_tokens: answer.usage.input_tokens + answer.usage.cache_read_tokens,
                    output_tokens: answer.usage.output_tokens,
                    cost_micros: found.model.prices.as_ref().map_or(0, cost),
                });
            }
            Some(StreamArrival::Fault(_)) if stop.is_raised() => {
                return Err(format!(
                    "there was no answer within {} s (is the address right? a model that is loaded first takes longer)",
                    wait.as_secs()
                ));
            }
            Some(StreamArrival::Fault(fault)) => return Err(in_words(&fault)),
            None => return Err("the answer ended before it was whole".to_owned()),
        }
    }
}

/// How long a trial's answer may be: room for models that think before they say one word.
const TRIAL_TOKENS: u64 = 512;

/// How much of a trial's answer is shown.
const SAID_CHARS: usize = 200;

fn in_words(fault: &RequestFault) -> String {
    let hint = match fault.class {
        FaultClass::Network => "is the address right, and does anything answer there?",
        FaultClass::Tls => "the certificate is not to be trusted; is the address right?",
        FaultClass::Timeout | FaultClass::Stalled => "nothing came in time; try again later",
        FaultClass::Key => "the key is missing or wrong",
        FaultClass::Forbidden => "the key may not use this model",
        FaultClass::NotFound => "there is no such model or address; look at id and base-url",
        FaultClass::NotAProvider => "is the address right, and does it answer with a stream?",
        FaultClass::RateLimit | FaultClass::Overloaded | FaultClass::Server => {
            "the provider is busy or failing; try again later"
        }
        FaultClass::SpendLimit => "the money or the quota is used up",
        FaultClass::Redirected => "the address leads elsewhere; name the right one",
        FaultClass::CutOff | FaultClass::Garbled | FaultClass::BadRequest | FaultClass::Invalid => {
            "does the provider speak this wire?"
        }
        FaultClass::Conflict
        | FaultClass::TooLarge
        | FaultClass::WindowFull
        | FaultClass::Policy
        | FaultClass::CircuitOpen
        | FaultClass::Stopped => "the provider says why",
    };
    format!("{fault} ({hint})")
}
