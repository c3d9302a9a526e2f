//! Providers and models, as they are configured.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use a_society_providers::ChatDialect;
use a_society_providers::Secret;
use a_society_providers::http::{Endpoint, Wire};
use a_society_providers::{Effort, Thinking};

use crate::reading::TextFault;

use super::parse;
use crate::cost::Price;
use crate::tool::EditTool;

/// Everything about models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelsConfig {
    /// The providers by their names.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// The models by their names.
    pub models: BTreeMap<String, ModelConfig>,
    /// The model of roles that name none.
    pub model: Option<String>,
    /// What a model chooses for roles that name none: `model`, `skills`, `mcp-servers`.
    pub choose: Vec<String>,
    /// The model that chooses; the one of roles that name none if absent.
    pub chooser: Option<String>,
    /// A proxy through which all providers are reached.
    pub proxy: Option<String>,
    /// Files with certificates to trust.
    pub trusted_certificates: Vec<PathBuf>,
}

impl ModelsConfig {
    /// Reads the models' part of a configuration, or reports everything that is wrong with it. The keys
    /// of `others` are read elsewhere and skipped here.
    ///
    /// # Errors
    ///
    /// If anything is wrong; the faults come in the order of the file.
    pub(crate) fn parse(text: &str, others: &[&str]) -> Result<Self, Vec<TextFault>> {
        parse::models(text, others)
    }

    /// A model and its provider.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<(&ModelConfig, &ProviderConfig)> {
        let model = self.models.get(model)?;
        Some((model, self.providers.get(&model.provider)?))
    }
}

/// A provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderConfig {
    /// Its name.
    pub name: String,
    /// How it is spoken to.
    pub wire: Wire,
    /// Its address.
    pub base_url: String,
    /// Where its key is.
    pub key: Option<KeySource>,
    /// More headers.
    pub headers: Vec<(String, String)>,
    /// How it differs from others on its wire.
    pub chat: ChatDialect,
}

impl ProviderConfig {
    /// The provider with its key, which the caller has fetched.
    #[must_use]
    pub fn endpoint(&self, key: Option<Secret>) -> Endpoint {
        Endpoint {
            name: self.name.clone(),
            wire: self.wire,
            base_url: self.base_url.clone(),
            key,
            headers: self.headers.clone(),
            chat: self.chat,
        }
    }
}

/// Where a key is. It is never in the configuration itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In a variable of the environment.
    Env(String),
    /// In the keyring of the system, under this name.
    Keyring(String),
    /// In a file that only its owner may read.
    File(PathBuf),
}

impl KeySource {
    /// How the file says it: `env`, `keyring` or `file`, and the name there.
    #[must_use]
    pub fn parts(&self) -> (&'static str, String) {
        match self {
            Self::Env(name) => ("env", name.clone()),
            Self::Keyring(name) => ("keyring", name.clone()),
            Self::File(path) => ("file", path.display().to_string()),
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
            Self::Keyring(name) => write!(f, "the keyring, as {name}"),
        }
    }
}

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// Its name here.
    pub name: String,
    /// Its provider.
    pub provider: String,
    /// Its name there.
    pub id: String,
    /// How many tokens a conversation with it may have, its answer included.
    pub window_tokens: u64,
    /// The most tokens of one answer.
    pub max_output_tokens: u64,
    /// How it takes its effort.
    pub thinking: Thinking,
    /// Its effort, unless a role says otherwise.
    pub effort: Option<Effort>,
    /// The efforts to choose from.
    pub efforts: Vec<Effort>,
    /// By which tool it changes parts of files; what its family is trained on, if absent.
    pub edit_tool: Option<EditTool>,
    /// Whether it gets the images that its calls read.
    pub images: bool,
    /// What it costs, if that is known.
    pub price: Option<Price>,
}

impl ModelConfig {
    /// Whether the model gets images, spoken to on a wire.
    #[must_use]
    pub const fn gets_images(&self, wire: Wire) -> bool {
        self.images && wire.takes_images()
    }

    /// By which tool the model changes parts of files, spoken to on a wire. GPT-5 and Codex models are
    /// trained on patches, and their makers offer them on this wire.
    #[must_use]
    pub fn edit_tool(&self, wire: Wire) -> EditTool {
        let id = self.id.to_lowercase();
        let is_trained = id.contains("gpt-5") || id.contains("codex");
        let usual = if wire == Wire::Responses && is_trained {
            EditTool::Patch
        } else {
            EditTool::Replace
        };
        self.edit_tool.unwrap_or(usual)
    }
}
