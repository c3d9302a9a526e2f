//! The one interface of all providers.

use a_society_base::stop::StopSignal;

use super::fault::RequestFault;
use super::prepared::Prepared;
use super::request::ModelRequest;
use super::speech::ProviderSpeech;
use super::stream::AnswerStream;

/// Answers requests for models.
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// Its name in the configuration.
    fn name(&self) -> &str;

    /// The request as it will be sent, to the byte. Nothing leaves yet.
    ///
    /// # Errors
    ///
    /// If the request cannot be sent.
    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, RequestFault>;

    /// How it is spoken to, so that its requests can be written anew; nothing if that is unknown.
    fn speech(&self) -> Option<ProviderSpeech> {
        None
    }

    /// Whether its servers may drop a part of a request that is too long for them, and answer the
    /// rest without a word about it.
    fn may_cut(&self) -> bool {
        false
    }

    /// Sends it. The stream ends promptly when the signal is raised, and when it is dropped.
    fn start(&self, prepared: Prepared, stop: &StopSignal) -> AnswerStream;
}
