//! Who answers `web_search`.

use a_society_roles::config::edit::{with_search, without_search};
use a_society_roles::config::parse_search;
use a_society_roles::tool::try_search;

use super::super::export_filter::Withheld;
use super::super::user;
use super::{EditRefusal, Grade, SecretPlace, Sheet, check_place};

/// The placeholder of a key.
const WITHHELD: &str = "[secret withheld]";

/// The service that is configured: its address, where its key is, and why that is not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Service {
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
pub(crate) fn service(sheet: &Sheet) -> Result<Option<Service>, EditRefusal> {
    let found = parse_search(&sheet.text).map_err(|faults| {
        let path = sheet.path.clone();
        EditRefusal::from(user::ConfigError::Faulty { path, faults })
    })?;
    Ok(found.map(|found| Service {
        missing: user::key(&found.key).err(),
        key: found.key.to_string(),
        endpoint: found.endpoint,
    }))
}

/// Sends one real search to the service that is configured, and says what it found.
///
/// # Errors
/// When none is configured, or it is not clear which.
pub fn try_out() -> Result<Result<Vec<String>, String>, EditRefusal> {
    let service = match user::search() {
        Ok(Some(service)) => service,
        Ok(None) => {
            return Err(EditRefusal {
                code: "search-not-found",
                grade: Grade::NotFound,
                what: "there is no search service to test".to_owned(),
                why: "the configuration has no search".to_owned(),
                hint: "set one up first: the place of its key, and its address".into(),
            });
        }
        Err(why) => return Ok(Err(why.to_string())),
    };
    // A service may repeat the key that it was given.
    let clean = |why: String| {
        let why = why.replace(&service.key, WITHHELD);
        Withheld::of_operator().redact(&why)
    };
    Ok(try_search(&service).map_err(clean))
}

/// The text with a service.
///
/// # Errors
/// When the key itself was given, or it does not fit.
pub fn set(
    sheet: &Sheet,
    place: &SecretPlace,
    endpoint: Option<&str>,
) -> Result<String, EditRefusal> {
    check_place(place)?;
    let (how, name) = place;
    Ok(with_search(&sheet.text, how, name, endpoint)?)
}

/// The text without one.
///
/// # Errors
/// When it cannot be changed.
pub fn removed(sheet: &Sheet) -> Result<String, EditRefusal> {
    Ok(without_search(&sheet.text)?)
}

/// What a search found, in words.
#[must_use]
pub fn found_words(found: &[String]) -> String {
    match found {
        [] => "it answers, and found nothing".to_owned(),
        found => format!("it found {}", found.join(", ")),
    }
}
