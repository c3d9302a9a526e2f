//! Who answers `web_search`.

use a_society_roles::provider::config::edit::{with_search, without_search};
use a_society_roles::provider::config::parse_search;

use super::super::user;
use super::{Place, Refusal, Sheet, check_place};

/// The service that is configured: its address, where its key is, and why that is not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its address.
    pub endpoint: String,
    /// Where its key is, in words.
    pub key: String,
    /// Why the key is not to be had; absent if it is there.
    pub missing: Option<String>,
}

/// The service that is configured, if one is.
///
/// # Errors
/// When the configuration says something about it that means nothing.
pub fn service(sheet: &Sheet) -> Result<Option<Service>, Refusal> {
    let found = parse_search(&sheet.text).map_err(|faults| {
        let path = sheet.path.clone();
        Refusal::from(user::ConfigError::Faulty { path, faults })
    })?;
    Ok(found.map(|found| Service {
        missing: user::key(&found.key).err(),
        key: found.key.to_string(),
        endpoint: found.endpoint,
    }))
}

/// The text with a service.
///
/// # Errors
/// When the key itself was given, or it does not fit.
pub fn set(sheet: &Sheet, place: &Place, endpoint: Option<&str>) -> Result<String, Refusal> {
    check_place(place)?;
    let (how, name) = place;
    Ok(with_search(&sheet.text, (how, name), endpoint)?)
}

/// The text without one.
///
/// # Errors
/// When it cannot be changed.
pub fn removed(sheet: &Sheet) -> Result<String, Refusal> {
    Ok(without_search(&sheet.text)?)
}
