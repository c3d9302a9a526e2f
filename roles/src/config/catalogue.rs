//! Models that are known without being asked about: their windows, answers and prices, and the day on which these were right.

use std::collections::BTreeMap;

use a_society_yaml::{MapEntry, ParseBudget, Value};

use crate::reading::{TextFault, is_near, read};

use super::edit::NewPrices;
use super::{ModelConfig, ModelsConfig, ProviderConfig};
use crate::cost::Price;

/// The file, which is part of the program.
const TEXT: &str = include_str!("catalogue.yaml");

/// What the file says besides a configuration.
const AS_OF: &str = "as-of";
const DEARER: &str = "dearer-above";

/// The most tokens that a threshold of prices is believed to have.
const MAX_DEARER: u64 = 1_000_000_000;

/// One part of so many of the window is the most that an answer gets: a session is compacted when its window is full up to
/// there, and most providers count the answer's room into the window before they begin.
const ANSWER_SHARE: u64 = 5;

/// The known models.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// The day, as `2026-10-21`.
    pub as_of: String,
    config: ModelsConfig,
    dearer: BTreeMap<String, u64>,
}

/// A known model.
#[derive(Debug, Clone, Copy)]
pub struct KnownModel<'c> {
    /// The model, as it would be configured.
    pub model: &'c ModelConfig,
    /// Where its maker answers for it.
    pub provider: &'c ProviderConfig,
    /// From how many tokens of a request on it costs more.
    pub dearer_above: Option<u64>,
}

impl Catalogue {
    /// Reads the catalogue of this program.
    ///
    /// # Errors
    ///
    /// Never in a program whose tests passed.
    pub fn shipped() -> Result<Self, Vec<TextFault>> {
        Self::read(TEXT)
    }

    fn read(text: &str) -> Result<Self, Vec<TextFault>> {
        let config = ModelsConfig::parse(text, &[AS_OF, DEARER])?;
        read(text, ParseBudget::BLOCK, |sink, tree| {
            let mut catalogue = Self {
                config,
                ..Self::default()
            };
            let Value::Map(entries) = &tree.value else {
                return catalogue;
            };
            for MapEntry { key, value } in entries {
                match &key.value {
                    Value::Text(key) if key == AS_OF => {
                        catalogue.as_of = sink.words(value, AS_OF).unwrap_or_default();
                    }
                    Value::Text(key) if key == DEARER => {
                        let Value::Map(each) = &value.value else {
                            sink.fault(value, "`dearer-above` must be a mapping of models");
                            continue;
                        };
                        for each in each {
                            let name = sink.words(&each.key, "a model");
                            let tokens = sink.number(&each.value, "a threshold", 1, MAX_DEARER);
                            catalogue.dearer.extend(name.zip(tokens));
                        }
                    }
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Text(_)
                    | Value::List(_)
                    | Value::Map(_) => {}
                }
            }
            catalogue
        })
    }

    /// A model by its name with its provider.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<KnownModel<'_>> {
        let (model, provider) = self.config.find(id)?;
        Some(KnownModel {
            model,
            provider,
            dearer_above: self.dearer.get(id).copied(),
        })
    }

    /// All models, by their names.
    pub fn models(&self) -> impl Iterator<Item = KnownModel<'_>> {
        self.config.models.keys().filter_map(|id| self.find(id))
    }

    /// Names that may have been meant by one that is not known.
    #[must_use]
    pub fn near(&self, id: &str) -> Vec<&str> {
        let names = self.config.models.keys().map(String::as_str);
        names.filter(|name| is_near(id, name)).collect()
    }
}

impl KnownModel<'_> {
    /// The tokens of one answer in a window of this size.
    #[must_use]
    pub fn max_output(&self, window: u64) -> u64 {
        let most = (window / ANSWER_SHARE).max(1);
        self.model.max_output_tokens.min(most)
    }

    /// The prices, as a person would type them.
    #[must_use]
    pub fn prices(&self) -> Option<NewPrices> {
        self.model.price.as_ref().map(typed)
    }
}

/// Prices, as a person would type them. A price equal to that of input is left out.
#[must_use]
pub fn typed(price: &Price) -> NewPrices {
    let other = |micros: u64| (micros != price.input).then(|| decimal(micros));
    NewPrices {
        input: decimal(price.input),
        output: decimal(price.output),
        cache_read: other(price.cache_read),
        cache_write: other(price.cache_write),
    }
}

/// Millionths as a number with as many places as it needs.
fn decimal(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use a_society_providers::http::Url;

    #[test]
    fn every_model_of_the_catalogue_has_figures_that_can_be() {
        let catalogue = Catalogue::shipped().unwrap();
        let date: Vec<u32> = catalogue
            .as_of
            .split('-')
            .map(|part| part.parse().unwrap())
            .collect();
        assert!(date[0] >= 2026 && (1..=12).contains(&date[1]) && (1..=31).contains(&date[2]));
        assert!(catalogue.models().count() >= 36);
        for known in catalogue.models() {
            let (model, id) = (known.model, &known.model.id);
            assert_eq!(model.name, *id, "a model is found by its id");
            assert!((32_000..=4_000_000).contains(&model.window_tokens), "{id}");
            let output = known.max_output(model.window_tokens);
            assert!((4_096..=400_000).contains(&output), "{id}: {output}");
            // A session that is about to be compacted still has room for a whole answer.
            assert!(output <= model.window_tokens / 5, "{id}: {output}");
            let price = model.price.expect(id);
            // A hundredth of a cent up to a hundred dollars for a million tokens; more is a slip of the unit.
            for price in [
                price.input,
                price.output,
                price.cache_read,
                price.cache_write,
            ] {
                assert!((1_000..=100_000_000).contains(&price), "{id}: {price}");
            }
            assert!(
                price.cache_read <= price.input && price.input <= price.output,
                "{id}"
            );
            assert!(price.cache_write <= price.input * 2, "{id}");
            assert!(
                known.dearer_above.is_none_or(|it| it < model.window_tokens),
                "{id}"
            );
        }
    }

    #[test]
    fn every_provider_of_the_catalogue_is_reached_over_tls_with_a_key_of_its_own() {
        let catalogue = Catalogue::shipped().unwrap();
        let mut keys = Vec::new();
        for (name, provider) in &catalogue.config.providers {
            let url = Url::parse(&provider.base_url).unwrap();
            assert_eq!(url.scheme(), "https", "{name}");
            assert!(url.host_str().unwrap().contains('.'), "{name}");
            keys.push(provider.key.clone().expect(name));
            let mut models = catalogue.models();
            assert!(
                models.any(|it| it.model.provider == *name),
                "{name} has no model"
            );
        }
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{key}");
        }
        for name in catalogue.dearer.keys() {
            assert!(catalogue.find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn prices_are_typed_as_somebody_would_type_them() {
        for (micros, text) in [
            (3_000_000, "3"),
            (75_000, "0.075"),
            (0, "0"),
            (1_250_000, "1.25"),
        ] {
            assert_eq!(decimal(micros), text);
        }
    }
}
