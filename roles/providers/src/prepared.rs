//! A request that is ready to be sent.

use std::collections::BTreeSet;

use a_society_facts::Hash;

use super::body::RequestBody;

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
