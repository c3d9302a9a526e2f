//! Changing a configuration as a person would: lines are put in, and everything else stays as it
//! was written, comments included.

mod change;
pub(crate) mod layout;
mod policy;
mod rules;
mod search;
mod servers;
#[cfg(test)]
mod tests;

pub use change::{
    ChangedConfig, ModelChanges, ModelToRemove, Removed, with_changes, without_model,
};
pub use policy::{PolicyEdit, said_of, with_policy};
pub use rules::{RuleSide, with_rule, without_rule};
pub use search::{with_search, without_search};
pub use servers::{NewSecret, with_server, without_server};

use super::{KeySource, ModelsConfig, ProviderConfig, TextFault, parse};
use crate::reading::is_near;

/// The provider of a model that is to be added: a new one, or one that is there already.
#[derive(Debug, Clone)]
pub struct NewProvider {
    /// Its name.
    pub name: String,
    /// Its wire, by its word; nothing is added without one.
    pub wire: Option<String>,
    /// Its address, if it is not the wire's home.
    pub base_url: Option<String>,
    /// How its key is found: `env`, `file` or `keyring`, and where.
    pub key: Option<(String, String)>,
}

/// A model that is to be added.
#[derive(Debug, Clone)]
pub struct NewModel {
    /// Its name.
    pub name: String,
    /// Its provider's name.
    pub provider: String,
    /// Its name with its provider.
    pub id: String,
    /// The tokens that it reads at most.
    pub window: u64,
    /// The tokens of one answer.
    pub max_output: Option<u64>,
    /// Whether it gets the images that it reads.
    pub images: bool,
    /// Its prices.
    pub prices: Option<NewPrices>,
}

/// Prices for a million tokens, as they were typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrices {
    /// Input.
    pub input: String,
    /// Output.
    pub output: String,
    /// Input from the cache; as much as input if absent.
    pub cache_read: Option<String>,
    /// Input into the cache; as much as input if absent.
    pub cache_write: Option<String>,
}

impl NewPrices {
    fn members(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let members = [
            ("input", Some(&self.input)),
            ("output", Some(&self.output)),
            ("cache-read", self.cache_read.as_ref()),
            ("cache-write", self.cache_write.as_ref()),
        ];
        members
            .into_iter()
            .filter_map(|(key, price)| Some((key, price?.as_str())))
    }

    fn written(&self) -> String {
        let members = self.members().map(|(key, price)| format!("{key}: {price}"));
        format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
    }
}

/// Why a configuration cannot be changed by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigEditFault {
    /// It was faulty before.
    Faulty(Vec<TextFault>),
    /// It would be faulty.
    Unfit(Vec<TextFault>),
    /// There is something of that name.
    Taken(String),
    /// The provider exists already, with other values.
    Differs {
        /// Its name.
        provider: String,
        /// What the configuration says instead.
        has: String,
    },
    /// There is no model of that name.
    NoModel {
        /// The name.
        model: String,
        /// Names that may have been meant.
        near: Vec<String>,
        /// All names.
        others: Vec<String>,
    },
    /// There is no provider of that name, and the change does not say how to reach a new one.
    NoProvider {
        /// The name.
        provider: String,
        /// All names.
        others: Vec<String>,
    },
    /// Roles that name no model take this one.
    IsDefault {
        /// The model.
        model: String,
        /// The others.
        others: Vec<String>,
    },
    /// There is no such rule in that list.
    NoRule {
        /// The rule.
        rule: String,
        /// The list.
        list: &'static str,
        /// Those that are there.
        others: Vec<String>,
    },
    /// There is no server of that name.
    NoServer(String),
    /// A secret of that name is kept elsewhere already.
    SecretDiffers(String),
    /// This one chooses for roles.
    IsChooser(String),
    /// The text is laid out so that the lines cannot be put in; these would have to be.
    ByHand(String),
    /// The text is laid out so that it cannot be changed; this would have to be done.
    Unclear(String),
}

/// The configuration with a provider, if one is given, and a model more. The first model is the
/// default one.
///
/// # Errors
///
/// When it is faulty, the name is taken, or the text is laid out otherwise.
pub fn with_model(
    text: &str,
    provider: Option<&NewProvider>,
    model: &NewModel,
) -> Result<String, ConfigEditFault> {
    let before = parse(text).map_err(ConfigEditFault::Faulty)?;
    if before.models.contains_key(&model.name) {
        return Err(ConfigEditFault::Taken(model.name.clone()));
    }
    let mut blocks: Vec<(&str, Vec<String>)> = Vec::new();
    if let Some(provider) = provider {
        match (before.providers.get(&provider.name), &provider.wire) {
            (Some(there), _) => agrees(there, provider)?,
            (None, Some(wire)) => blocks.push(("providers", provider_lines(provider, wire))),
            (None, None) => {
                return Err(ConfigEditFault::NoProvider {
                    provider: provider.name.clone(),
                    others: before.providers.keys().cloned().collect(),
                });
            }
        }
    }
    blocks.push(("models", model_lines(model)));
    let by_hand = || {
        let block = |(key, lines): &(&str, Vec<String>)| {
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            format!("{key}:\n{lines}")
        };
        ConfigEditFault::ByHand(blocks.iter().map(block).collect())
    };
    let mut after = text.to_owned();
    for (key, lines) in &blocks {
        after = layout::put_under(&after, key, lines).ok_or_else(by_hand)?;
    }
    if before.model.is_none() {
        after = layout::set_top(&after, "model", &plain(&model.name)).ok_or_else(by_hand)?;
    }
    match parse(&after) {
        Ok(now) if now.models.contains_key(&model.name) && keeps(&before, &now) => Ok(after),
        Ok(_) | Err(_) if faults_are_new(&after) => Err(ConfigEditFault::Unfit(
            parse(&after).err().unwrap_or_default(),
        )),
        Ok(_) | Err(_) => Err(by_hand()),
    }
}

/// The configuration with another default model.
///
/// # Errors
///
/// When it is faulty, there is no such model, or the text is laid out otherwise.
pub fn with_default(text: &str, name: &str) -> Result<String, ConfigEditFault> {
    let before = parse(text).map_err(ConfigEditFault::Faulty)?;
    if !before.models.contains_key(name) {
        return Err(no_model(&before, name));
    }
    let line = format!("model: {}", plain(name));
    let after = layout::set_top(text, "model", &plain(name));
    let after = after.ok_or_else(|| ConfigEditFault::ByHand(format!("{line}\n")))?;
    match parse(&after) {
        Ok(now) if now.model.as_deref() == Some(name) => Ok(after),
        Ok(_) => Err(ConfigEditFault::ByHand(format!("{line}\n"))),
        Err(faults) => Err(ConfigEditFault::Faulty(faults)),
    }
}

/// There is no model of this name, and these may be meant.
fn no_model(config: &ModelsConfig, name: &str) -> ConfigEditFault {
    let others = config.models.keys().cloned();
    let near = others.clone().filter(|other| is_near(name, other));
    ConfigEditFault::NoModel {
        model: name.to_owned(),
        near: near.collect(),
        others: others.collect(),
    }
}

/// Refuses values for an existing provider that differ from the configuration: requests, and the key
/// with them, would go to an unintended address.
fn agrees(there: &ProviderConfig, said: &NewProvider) -> Result<(), ConfigEditFault> {
    let differs = |has: String| {
        Err(ConfigEditFault::Differs {
            provider: said.name.clone(),
            has,
        })
    };
    if said
        .wire
        .as_ref()
        .is_some_and(|wire| *wire != there.wire.word())
    {
        return differs(format!("the wire {}", there.wire.word()));
    }
    if said
        .base_url
        .as_ref()
        .is_some_and(|url| url.trim_end_matches('/') != there.base_url)
    {
        return differs(format!("the base-url {}", there.base_url));
    }
    let is_there = |(how, place): &(String, String)| match &there.key {
        Some(KeySource::Env(name)) => how == "env" && place == name,
        Some(KeySource::Keyring(name)) => how == "keyring" && place == name,
        Some(KeySource::File(path)) => how == "file" && std::path::Path::new(place) == path,
        None => false,
    };
    if said.key.as_ref().is_some_and(|key| !is_there(key)) {
        return differs(match &there.key {
            Some(key) => format!("its key in {key}"),
            None => "no key".to_owned(),
        });
    }
    Ok(())
}

/// Whether what was there is still there.
fn keeps(before: &ModelsConfig, now: &ModelsConfig) -> bool {
    let models = before.models.iter();
    let mut providers = before.providers.iter();
    models
        .clone()
        .all(|(name, spec)| now.models.get(name) == Some(spec))
        && providers.all(|(name, spec)| now.providers.get(name) == Some(spec))
}

/// Whether a text is a configuration with faults of its own, and not merely no YAML.
fn faults_are_new(text: &str) -> bool {
    parse(text).is_err_and(|faults| {
        !faults
            .iter()
            .any(|fault| fault.message.contains("not valid YAML"))
    })
}

fn provider_lines(new: &NewProvider, wire: &str) -> Vec<String> {
    let mut lines = vec![format!("{}:", plain(&new.name)), format!("  wire: {wire}")];
    if let Some(url) = &new.base_url {
        lines.push(format!("  base-url: {}", quoted(url)));
    }
    if let Some((how, place)) = &new.key {
        lines.push(format!("  key: {{ {how}: {} }}", quoted(place)));
    }
    lines
}

fn model_lines(new: &NewModel) -> Vec<String> {
    let mut lines = vec![
        format!("{}:", plain(&new.name)),
        format!("  provider: {}", plain(&new.provider)),
        format!("  id: {}", quoted(&new.id)),
        format!("  window: {}", new.window),
    ];
    if let Some(max_output) = new.max_output {
        lines.push(format!("  max-output: {max_output}"));
    }
    if new.images {
        lines.push("  images: true".to_owned());
    }
    if let Some(prices) = &new.prices {
        lines.push(format!("  price: {}", prices.written()));
    }
    lines
}

/// A text as YAML reads it back, whatever it holds. JSON's strings are YAML's, too.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A name without quotes where YAML takes it for a text.
fn plain(name: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let means_more = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_letter)
        && !means_more.contains(&name.to_lowercase().as_str());
    if is_plain {
        name.to_owned()
    } else {
        quoted(name)
    }
}
