//! The members of a model as they are shown and typed: for people, for programs, and on the command line.

use a_society_orchestrator::config::catalogue::typed;
use a_society_orchestrator::config::editing::SecretPlace;
use a_society_orchestrator::config::editing::models::{KeyState, NewPrices, check_name};
use a_society_orchestrator::config::models::{Catalog, ModelSpec};
use serde_json::{Map, Value, json};

use crate::text::plain;

/// A member of a model with its value; `None` where it is absent.
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
pub(super) struct ModelKey {
    /// For people.
    pub(super) words: String,
    /// For programs.
    pub(super) json: Value,
    /// Whether requests can be sent as far as the key is concerned.
    pub(super) is_ready: bool,
}

/// Looks whether a provider's key is where it should be.
pub(super) fn key(catalog: &Catalog, provider: &str) -> ModelKey {
    let state = KeyState::of(catalog, provider);
    let said = |(how, place): &SecretPlace, why: Option<&String>| json!({ "from": how, "name": place, "found": why.is_none(), "why": why });
    let source = || {
        let found = catalog.providers.get(provider);
        found
            .and_then(|it| it.key.as_ref())
            .map(|it| format!("in {it}"))
    };
    let (words, json) = match &state {
        KeyState::None => ("none is sent".to_owned(), Value::Null),
        KeyState::Found(place) => (source().unwrap_or_default(), said(place, None)),
        KeyState::Missing(place, why) => (why.clone(), said(place, Some(why))),
    };
    ModelKey {
        words,
        json,
        is_ready: state.is_ready(),
    }
}

/// The place of a key as it was given: in a variable, a file or the keyring.
pub(super) fn key_place([env, file, keyring]: [&Option<String>; 3]) -> Option<SecretPlace> {
    let places = [("env", env), ("file", file), ("keyring", keyring)];
    let mut places = places.into_iter();
    places.find_map(|(how, place)| Some((how.to_owned(), place.clone()?)))
}

/// Reads the name of a model or a provider.
pub(super) fn name(text: &str) -> Result<String, String> {
    check_name(text).map(|()| text.to_owned())
}
