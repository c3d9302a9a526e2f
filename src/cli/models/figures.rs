//! The members of a model as they are shown and typed: for people, for programs, and on the command line.

use a_society_orchestrator::config::catalogue::typed;
use a_society_orchestrator::config::edit::NewPrices;
use a_society_orchestrator::config::models::{Catalog, ModelSpec};
use a_society_orchestrator::config::user;
use serde_json::{Map, Value, json};

use crate::text::plain;

/// A member of a model with what it says; nothing where it is not said.
pub(super) type Member = (&'static str, Value);

/// What a model reads, says and costs.
pub(super) fn members(spec: &ModelSpec) -> Vec<Member> {
    let prices = spec.price.as_ref().map(typed);
    let price = |of: fn(&NewPrices) -> Option<&String>| {
        let price = prices
            .as_ref()
            .map(|prices| of(prices).unwrap_or(&prices.input));
        price.map_or(Value::Null, |price| number(price))
    };
    vec![
        ("id", json!(spec.id)),
        ("window", json!(spec.window_tokens)),
        ("max_output", json!(spec.max_output_tokens)),
        ("images", json!(spec.images)),
        ("thinking", json!(spec.thinking.word())),
        ("effort", json!(spec.effort.map(|effort| effort.word()))),
        ("price_input", price(|it| Some(&it.input))),
        ("price_output", price(|it| Some(&it.output))),
        ("price_cache_read", price(|it| it.cache_read.as_ref())),
        ("price_cache_write", price(|it| it.cache_write.as_ref())),
    ]
}

/// A typed number for programs.
fn number(text: &str) -> Value {
    text.parse::<serde_json::Number>()
        .map_or_else(|_| json!(text), Value::Number)
}

/// The members as one object.
pub(super) fn object(spec: &ModelSpec) -> Map<String, Value> {
    let members = members(spec).into_iter();
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A value for people.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => plain(text).into_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The prices in words.
pub(super) fn prices_words(spec: &ModelSpec) -> String {
    let Some(prices) = spec.price.as_ref().map(typed) else {
        return "not known, so that no budget in money holds it back".to_owned();
    };
    let cached = |price: &Option<String>| price.clone().unwrap_or_else(|| prices.input.clone());
    format!(
        "{} in, {} out, {} and {} from and into the cache, for a million tokens",
        prices.input,
        prices.output,
        cached(&prices.cache_read),
        cached(&prices.cache_write)
    )
}

/// Where a provider's key is, and whether it is there; never the key.
pub(super) struct Key {
    /// For people.
    pub(super) words: String,
    /// For programs.
    pub(super) json: Value,
    /// Whether requests can be sent as far as the key is concerned.
    pub(super) is_ready: bool,
}

/// Looks whether a provider's key is where it should be.
pub(super) fn key(catalog: &Catalog, provider: &str) -> Key {
    let source = catalog
        .providers
        .get(provider)
        .and_then(|it| it.key.as_ref());
    let Some(source) = source else {
        return Key {
            words: "none is sent".to_owned(),
            json: Value::Null,
            is_ready: true,
        };
    };
    let found = user::key(source);
    let (how, place) = source.parts();
    Key {
        is_ready: found.is_ok(),
        json: json!({
            "from": how,
            "name": place,
            "found": found.is_ok(),
            "why": found.as_ref().err(),
        }),
        words: match found {
            Ok(_) => format!("in {source}"),
            Err(why) => why,
        },
    }
}

/// Reads `IN,OUT[,CACHE-READ[,CACHE-WRITE]]`.
pub(super) fn prices(text: &str) -> Result<NewPrices, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_price = |text: &&str| {
        let is_plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_plain && text.parse::<f64>().is_ok_and(f64::is_finite)
    };
    let get = |index: usize| parts.get(index).map(|&part| part.to_owned());
    match (get(0), get(1)) {
        (Some(input), Some(output)) if parts.len() <= 4 && parts.iter().all(is_price) => {
            Ok(NewPrices {
                input,
                output,
                cache_read: get(2),
                cache_write: get(3),
            })
        }
        _ => Err(
            "two to four prices with commas between them, such as 3,15 or 3,15,0.3,3.75".to_owned(),
        ),
    }
}

/// Reads the name of a model or a provider.
pub(super) fn name(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/".contains(letter);
    if !text.is_empty() && text.len() <= 100 && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("a name has letters, digits and -_.:/, at most 100".to_owned())
    }
}
