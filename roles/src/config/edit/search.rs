//! Sets and removes the service that answers `web_search`.

use super::super::parse_search;
use super::{ConfigEditFault, layout, quoted};

const SEARCH: &str = "search";

/// The configuration with a search service: where its key is, and its address if it is not the usual one.
///
/// # Errors
///
/// When it is faulty or would be, or the text is laid out otherwise.
pub fn with_search(
    text: &str,
    how: &str,
    place: &str,
    endpoint: Option<&str>,
) -> Result<String, ConfigEditFault> {
    let before = parse_search(text).map_err(ConfigEditFault::Faulty)?;
    let key = format!("{{ {how}: {} }}", quoted(place));
    let mut lines = vec![format!("key: {key}")];
    lines.extend(endpoint.map(|url| format!("endpoint: {}", quoted(url))));
    let by_hand =
        || ConfigEditFault::Unclear(format!("under `{SEARCH}`, say {}", lines.join(", ")));
    let bare = match before {
        None => Some(text.to_owned()),
        Some(_) => layout::without(text, &[SEARCH]),
    };
    let after = bare.and_then(|bare| layout::put_under(&bare, SEARCH, &lines));
    let after = after.ok_or_else(by_hand)?;
    match parse_search(&after) {
        Ok(Some(now)) if now.key.parts() == (how, place.to_owned()) => Ok(after),
        Ok(_) => Err(by_hand()),
        Err(faults) => Err(ConfigEditFault::Unfit(faults)),
    }
}

/// The configuration without a search service.
///
/// # Errors
///
/// When it is faulty, or the text is laid out otherwise.
pub fn without_search(text: &str) -> Result<String, ConfigEditFault> {
    if parse_search(text)
        .map_err(ConfigEditFault::Faulty)?
        .is_none()
    {
        return Ok(text.to_owned());
    }
    let by_hand = || ConfigEditFault::Unclear(format!("take `{SEARCH}` out"));
    let after = layout::without(text, &[SEARCH]).ok_or_else(by_hand)?;
    match parse_search(&after) {
        Ok(None) => Ok(after),
        Ok(Some(_)) | Err(_) => Err(by_hand()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_service_is_said_said_otherwise_and_taken_out() {
        let text = "# mine\nmodel: m   # usual\n";
        let after = with_search(text, "env", "SEARCH_KEY", None).unwrap();
        assert_eq!(
            after,
            format!("{text}search:\n  key: {{ env: \"SEARCH_KEY\" }}\n")
        );
        let other = Some("https://search.example.com/v1");
        let other = with_search(&after, "keyring", "search", other).unwrap();
        let found = parse_search(&other).unwrap().unwrap();
        assert_eq!(found.endpoint, "https://search.example.com/v1");
        assert_eq!(without_search(&other).unwrap(), text);
        assert_eq!(without_search(text).unwrap(), text);
        let refused = with_search(text, "env", "not a name", None).unwrap_err();
        assert!(matches!(refused, ConfigEditFault::Unfit(_)), "{refused:?}");
    }
}
