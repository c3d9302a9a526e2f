//! Which part of something a request is for.

/// The windows of what is read.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Window {
    pub(super) role: String,
    pub(super) before: Option<u64>,
    pub(super) at: Option<u64>,
    pub(super) limit: Option<usize>,
    pub(super) offset: Option<usize>,
    pub(super) from: Option<usize>,
    pub(super) kind: Option<String>,
    pub(super) seg: Option<String>,
    pub(super) path: Option<String>,
    pub(super) a: Option<String>,
    pub(super) b: Option<String>,
    pub(super) q: Option<String>,
    pub(super) flow: Option<String>,
    pub(super) project: Option<String>,
    /// The flow before which a list of flows goes on.
    pub(super) start: Option<String>,
}
