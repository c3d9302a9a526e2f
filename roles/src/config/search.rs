//! Who answers `web_search`, as it is configured.

use super::model::KeySource;

/// Where searches go if the configuration says nothing else: the service whose manner they have.
pub(super) const ENDPOINT: &str = "https://api.tavily.com/search";

/// A search service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchConfig {
    /// The address that takes a query, in Tavily's manner.
    pub endpoint: String,
    /// Where its key is.
    pub key: KeySource,
}
