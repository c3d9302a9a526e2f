//! A model that is taken out, and one whose members change.

use super::super::{ModelConfig, ModelsConfig, parse};
use super::{ConfigEditFault, NewPrices, faults_are_new, layout, no_model, plain, quoted};

/// How a model is taken out.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelToRemove<'a> {
    /// The model of roles that name none, from then on.
    pub default: Option<&'a str>,
    /// Whether its provider goes, too, if no other model has it.
    pub with_provider: bool,
}

/// A configuration without a model that it had.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The text.
    pub text: String,
    /// What it says.
    pub config: ModelsConfig,
    /// The model's provider.
    pub provider: String,
    /// Whether a comment above the model is still there.
    pub comment_stays: bool,
}

/// What changes of a model; the rest stays.
#[derive(Debug, Clone, Default)]
pub struct ModelChanges {
    /// Its name with its provider.
    pub id: Option<String>,
    /// The tokens that it reads at most.
    pub window: Option<u64>,
    /// The tokens of one answer.
    pub max_output: Option<u64>,
    /// Whether it gets the images that it reads.
    pub images: Option<bool>,
    /// How it takes its effort, by its word.
    pub thinking: Option<String>,
    /// Its effort, by its word.
    pub effort: Option<String>,
    /// Its prices; those that are absent stay as they are.
    pub prices: Option<NewPrices>,
    /// How the key of its provider is found: `env`, `file` or `keyring`, and where.
    pub key: Option<(String, String)>,
}

impl ModelChanges {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        members(self).is_empty() && self.prices.is_none() && self.key.is_none()
    }
}

/// A configuration with a changed model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedConfig {
    /// The text.
    pub text: String,
    /// The model before.
    pub before: ModelConfig,
    /// The model now.
    pub after: ModelConfig,
}

/// The configuration without a model. The only one takes the lines that name it with it.
///
/// # Errors
///
/// When the configuration is faulty, there is no such model, it is the default one or the one that chooses while
/// there are others, or the text is laid out otherwise.
pub fn without_model(
    text: &str,
    name: &str,
    how: ModelToRemove<'_>,
) -> Result<Removed, ConfigEditFault> {
    let before = parse(text).map_err(ConfigEditFault::Faulty)?;
    let gone = before
        .models
        .get(name)
        .ok_or_else(|| no_model(&before, name))?;
    let provider = gone.provider.clone();
    let mut expected = before.clone();
    expected.models.remove(name);
    let is_last = expected.models.is_empty();
    let others: Vec<String> = expected.models.keys().cloned().collect();
    let by_hand = || ConfigEditFault::Unclear(format!("take `{name}` out of `models`"));
    let mut after = layout::without(text, &["models", name]).ok_or_else(by_hand)?;
    if let Some(default) = how.default {
        if !expected.models.contains_key(default) {
            return Err(no_model(&expected, default));
        }
        after = layout::set_top(&after, "model", &plain(default)).ok_or_else(by_hand)?;
        expected.model = Some(default.to_owned());
    } else if before.model.as_deref() == Some(name) {
        if !is_last {
            let model = name.to_owned();
            return Err(ConfigEditFault::IsDefault { model, others });
        }
        after = layout::without(&after, &["model"]).ok_or_else(by_hand)?;
        expected.model = None;
    }
    if before.chooser.as_deref() == Some(name) {
        if !is_last {
            return Err(ConfigEditFault::IsChooser(name.to_owned()));
        }
        after = layout::without(&after, &["chooser"]).ok_or_else(by_hand)?;
        expected.chooser = None;
    }
    let is_used = expected.models.values().any(|it| it.provider == provider);
    if how.with_provider && !is_used {
        after = layout::without(&after, &["providers", &provider]).ok_or_else(by_hand)?;
        expected.providers.remove(&provider);
    }
    if parse(&after).as_ref() != Ok(&expected) {
        return Err(by_hand());
    }
    Ok(Removed {
        text: after,
        config: expected,
        provider,
        comment_stays: layout::is_commented(text, &["models", name]),
    })
}

/// The configuration with some members of a model changed.
///
/// # Errors
///
/// When the configuration is faulty or would be, there is no such model, or the text is laid out otherwise.
pub fn with_changes(
    text: &str,
    name: &str,
    changes: &ModelChanges,
) -> Result<ChangedConfig, ConfigEditFault> {
    let before = parse(text).map_err(ConfigEditFault::Faulty)?;
    let was = before
        .models
        .get(name)
        .ok_or_else(|| no_model(&before, name))?;
    let members = members(changes);
    let by_hand = || {
        let wanted: Vec<String> = members
            .iter()
            .map(|(key, value)| format!("{key}: {value}"))
            .collect();
        ConfigEditFault::Unclear(format!("under `{name}`, say {}", wanted.join(", ")))
    };
    let mut after = text.to_owned();
    for (key, value) in &members {
        let path = ["models", name, key];
        after = layout::set(&after, &path, value, &["window"]).ok_or_else(by_hand)?;
    }
    if let Some(prices) = &changes.prices {
        after = with_prices(&after, name, was, prices).ok_or_else(by_hand)?;
    }
    if let Some((how, place)) = &changes.key {
        let path = ["providers", &was.provider, "key"];
        let value = format!("{{ {how}: {} }}", quoted(place));
        let by_hand =
            || ConfigEditFault::Unclear(format!("under `{}`, say key: {value}", was.provider));
        after = layout::set(&after, &path, &value, &["base-url", "wire"]).ok_or_else(by_hand)?;
    }
    let now = match parse(&after) {
        Ok(now) => now,
        Err(faults) if faults_are_new(&after) => return Err(ConfigEditFault::Unfit(faults)),
        Err(_) => return Err(by_hand()),
    };
    let Some(is) = now.models.get(name).filter(|is| has(is, was, changes)) else {
        return Err(by_hand());
    };
    let mut expected = before.clone();
    expected.models.insert(name.to_owned(), is.clone());
    if let (Some((how, place)), Some(provider)) =
        (&changes.key, expected.providers.get_mut(&was.provider))
    {
        let found = now.providers.get(&was.provider);
        provider.key = found.and_then(|it| it.key.clone());
        let parts = provider.key.as_ref().map(|key| key.parts());
        if parts != Some((how.as_str(), place.clone())) {
            return Err(by_hand());
        }
    }
    if now != expected {
        return Err(by_hand());
    }
    Ok(ChangedConfig {
        before: was.clone(),
        after: is.clone(),
        text: after,
    })
}

fn members(changes: &ModelChanges) -> Vec<(&'static str, String)> {
    let number = |number: u64| number.to_string();
    let members = [
        ("id", changes.id.as_deref().map(quoted)),
        ("window", changes.window.map(number)),
        ("max-output", changes.max_output.map(number)),
        ("images", changes.images.map(|images| images.to_string())),
        ("thinking", changes.thinking.clone()),
        ("effort", changes.effort.clone()),
    ];
    members
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}

fn with_prices(text: &str, name: &str, was: &ModelConfig, prices: &NewPrices) -> Option<String> {
    if was.price.is_none() {
        let after = ["max-output", "window"];
        return layout::set(text, &["models", name, "price"], &prices.written(), &after);
    }
    let mut text = text.to_owned();
    for (key, value) in prices.members() {
        let path = ["models", name, "price", key];
        text = layout::set(&text, &path, value, &["cache-read", "output"])?;
    }
    Some(text)
}

/// Whether a model is what it was but for the changes, and what follows from them.
fn has(is: &ModelConfig, was: &ModelConfig, changes: &ModelChanges) -> bool {
    is.provider == was.provider
        && is.id == *changes.id.as_ref().unwrap_or(&was.id)
        && is.window_tokens == changes.window.unwrap_or(was.window_tokens)
        && is.images == changes.images.unwrap_or(was.images)
        && changes
            .max_output
            .is_none_or(|tokens| is.max_output_tokens == tokens)
        && (changes.prices.is_some() || is.price == was.price)
        && (changes.thinking.is_some() || is.thinking == was.thinking)
        && (changes.effort.is_some() || is.effort == was.effort)
}
