//! The one interface of all providers.

use std::collections::BTreeSet;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;

use super::body::RequestBody;
use super::fault::RequestFault;
use super::frame::ProviderSpeech;
use super::request::ModelRequest;
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

/// A request as it will be sent.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The model.
    pub model: String,
    /// The bytes of the body.
    pub body: RequestBody,
    /// Their hash, by which the journal names the request.
    pub hash: Hash,
    /// The tools that cannot be called without arguments.
    pub needs_arguments: BTreeSet<String>,
    /// The tools that it offers.
    pub offered: BTreeSet<String>,
}
