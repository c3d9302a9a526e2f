//! Which models there are: the part of the user's `config.yaml` about providers and models.
//!
//! ```yaml
//! model: sonnet                       # the one that roles take which name none
//! choose: [skills]                    # what a model chooses for roles that name none
//! chooser: small                      # the model that chooses, if not the one above
//! proxy: http://proxy.example:3128    # for all providers; none is taken from elsewhere
//! trusted-certificates: [/etc/ssl/ours.pem]
//!
//! providers:
//!   anthropic:
//!     wire: anthropic                 # or openai-chat, openai-responses
//!     key: { env: ANTHROPIC_API_KEY } # or { keyring: … }, { file: … }; never the key itself
//!   local:
//!     wire: openai-chat
//!     base-url: http://127.0.0.1:11434/v1
//!
//! models:
//!   sonnet:
//!     provider: anthropic
//!     id: claude-sonnet-4-5
//!     window: 200000                  # tokens
//!     max-output: 32000               # tokens
//!     thinking: budget                # or levels, fixed
//!     effort: medium                  # unless a role sets its own
//!     efforts: [low, medium, high]    # those to choose from; all, if absent
//!     edit-tool: replace              # or patch; what the model is trained on, if absent
//!     images: true                    # it is sent the images that it reads; not on openai-chat
//!     price: { input: 3.00, output: 15.00, cache-read: 0.30, cache-write: 3.75 }
//!   small:
//!     provider: local
//!     id: qwen3:8b
//!     window: 32000
//! ```
//!
//! Prices are for a million tokens. A model without prices costs nothing that is known, and no
//! budget in money holds it back. A provider on the Chat Completions wire may say
//! `output-limit: max-tokens` or `max-completion-tokens`, `cache-key: true`, and any provider
//! `headers:`. A key over plain `http://` is refused, except to this machine, unless the provider
//! says `plain-http: true`.

mod bounds;
pub mod catalogue;
mod consent;
pub mod edit;
mod model;
mod notify;
mod parse;
mod schedules;
mod search;
mod sessions;
#[cfg(test)]
mod tests;
mod timing;
mod ui;

use std::collections::BTreeMap;

pub use bounds::ConfigBounds;
pub use consent::ConsentConfig;
pub use model::{KeySource, ModelConfig, ModelsConfig, ProviderConfig};
pub use notify::{NotifyConfig, Occasion};
pub use schedules::{ScheduleConfig, SchedulesConfig, StartFrom, WebhookConfig};
pub(crate) use search::SearchConfig;
pub use sessions::SessionsConfig;
pub use timing::Timing;
pub use ui::UiConfig;

use crate::tool::ToolReach;
pub use a_society_yaml::TextFault;

/// Keys of the user's configuration that are about something else.
pub(crate) const OTHERS: &[&str] = &[
    "consent",
    "limits",
    "mcp-servers",
    "notify",
    "schedules",
    "secrets",
    "search",
    "sessions",
    "skills",
    "tools",
    "ui",
    "webhooks",
];

/// Reads the part of a configuration that is about models.
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse(text: &str) -> Result<ModelsConfig, Vec<TextFault>> {
    ModelsConfig::parse(text, OTHERS)
}

/// Reads where the secrets are that a configuration names under `secrets`, for MCP servers.
///
/// ```yaml
/// secrets:
///   github: { env: GITHUB_TOKEN }      # or { file: … }, or { keyring: … }
/// ```
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse_secrets(text: &str) -> Result<BTreeMap<String, KeySource>, Vec<TextFault>> {
    parse::secrets(text)
}

/// Reads the service that answers `web_search`; there is none if a configuration has no `search`.
///
/// ```yaml
/// search:
///   key: { env: TAVILY_API_KEY }               # or { file: … }, or { keyring: … }
///   endpoint: https://api.tavily.com/search    # or another service of the same manner
/// ```
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse_search(text: &str) -> Result<Option<SearchConfig>, Vec<TextFault>> {
    parse::search(text)
}

/// Reads how far the tools of roles reach at most; as little as there is, if a configuration has no
/// `tools`.
///
/// ```yaml
/// tools:
///   scope: project              # or sandboxed, full
///   folders: [~/reference]      # what may be read besides, from the scope `project` on
///   network: true               # whether commands may use the network behind their walls
///   irreversible: [make ship]   # what cannot be taken back; after a crash the flow waits
/// ```
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse_tools(text: &str) -> Result<ToolReach, Vec<TextFault>> {
    parse::tools(text)
}

/// Reads what stops a flow that goes nowhere; each bound has a default.
///
/// ```yaml
/// limits:
///   tokens: 20000000      # of a flow, unless its file or --budget says otherwise; or none
///   answers: 200          # of one turn
///   same-call: 5          # the same call with the same result in a turn
/// ```
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse_limits(text: &str) -> Result<ConfigBounds, Vec<TextFault>> {
    parse::limits(text)
}

/// Reads the notification command; `None` if a configuration has no `notify`.
///
/// ```yaml
/// notify:
///   command: [notify-send, a-society]   # no shell reads it; a JSON object comes on its standard input
///   on: [waits, done, failed, budget]   # all of them, if not said
/// ```
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse_notify(text: &str) -> Result<Option<NotifyConfig>, Vec<TextFault>> {
    notify::read_notify(text)
}

/// Reads how the terminal looks; as usual, if a configuration has no `ui`.
///
/// ```yaml
/// ui:
///   plain: true   # labelled lines, as with --plain
/// ```
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse_ui(text: &str) -> Result<UiConfig, Vec<TextFault>> {
    ui::read_ui(text)
}

/// Reads what the operator says beforehand about calls, for all flows; nothing, if a configuration has no
/// `consent`.
///
/// ```yaml
/// consent:
///   mode: partial                       # of flows that choose none; or ask, full
///   allow: [edits:src, 'pytest *']      # what runs without asking
///   deny: [web, 'rm *', mcp:mail/send]  # what never runs, whatever is allowed elsewhere
/// ```
///
/// # Errors
///
/// If anything is wrong; the faults come in the order of the file.
pub fn parse_consent(text: &str) -> Result<ConsentConfig, Vec<TextFault>> {
    consent::of_the_operator(text)
}

/// Reads what the configuration of a workspace says about calls, which only takes away: `deny`, and a `mode`
/// that is the most that its flows have.
///
/// # Errors
///
/// If anything is wrong, or would allow something; the faults come in the order of the file.
pub fn parse_workspace(text: &str) -> Result<ConsentConfig, Vec<TextFault>> {
    consent::of_a_workspace(text)
}
