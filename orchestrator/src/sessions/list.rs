//! The list of sessions: one row each, the last active first.

use a_society_facts::At;
use a_society_facts::fact::session::{SessionKind, SessionState};
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::SessionBrief;
use a_society_state::{FlowRef, Store};
use serde::Serialize;
use serde_json::Value;

use super::history::{HistoryQuery, messages};
use super::key::{SessionAddress, key_of};

/// How many rows there are without a limit.
const ROWS: u64 = 50;

/// How many rows there are at most.
const ROWS_MAX: u64 = 200;

/// How many messages of each session there are at most.
const MESSAGES_MAX: u64 = 20;

const MINUTE_MS: i64 = 60 * 1_000;

/// The setting of a role that names its model.
const MODEL: &str = "model";

/// The setting of a role that names its effort.
const EFFORT: &str = "effort";

/// The setting of a role that says whether its session takes messages of others.
pub(super) const SEND: &str = "send";

/// Which sessions are listed, and what of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionQuery {
    /// Only these kinds; all if there are none.
    pub kinds: Vec<SessionKind>,
    /// Only those of this role instance.
    pub role: Option<String>,
    /// Only those with a state of these; all if there are none.
    pub states: Vec<SessionState>,
    /// Only the chat with this label.
    pub label: Option<String>,
    /// Only those that were active so many minutes ago or later.
    pub active_minutes: Option<u64>,
    /// How many rows; more than 200 are 200.
    pub limit: Option<u64>,
    /// How many of the last messages of each; more than 20 are 20.
    pub message_limit: u64,
}

/// The kinds of sessions, by the words that name them in queries.
const KINDS: [(&str, SessionKind); 8] = [
    ("main", SessionKind::Main),
    ("role", SessionKind::Role),
    ("child", SessionKind::Child),
    ("group", SessionKind::Group),
    ("cron", SessionKind::Cron),
    ("hook", SessionKind::Hook),
    ("node", SessionKind::Node),
    ("other", SessionKind::Other),
];

/// The word that names a kind.
pub(super) fn word_of(kind: SessionKind) -> &'static str {
    let found = KINDS.iter().find(|(_, known)| *known == kind);
    found.map_or("other", |(word, _)| word)
}

/// The kind that a word names.
///
/// # Errors
/// Says which words there are.
pub fn kind_named(word: &str) -> Result<SessionKind, String> {
    let found = KINDS.iter().find(|(name, _)| *name == word);
    found.map(|(_, kind)| *kind).ok_or_else(|| {
        let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        format!(
            "{word:?} is no kind of session; there are: {}",
            names.join(", ")
        )
    })
}

/// The state in a session's life that a word names.
///
/// # Errors
/// Says which words there are.
pub fn state_named(word: &str) -> Result<SessionState, String> {
    let unknown = |_| format!("{word:?} is no state; there are: created, active, expired");
    serde_json::from_value(Value::from(word)).map_err(unknown)
}

/// A session in the list. What is not known of it is absent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// Its address.
    pub key: String,
    /// What it is.
    pub kind: SessionKind,
    /// Where its messages come from: from this program.
    pub provider: &'static str,
    /// What people call it.
    pub display_name: String,
    /// When it was last active, in milliseconds.
    pub updated_at: i64,
    /// Its incarnation.
    pub session_id: String,
    /// The model that was chosen for its role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much of the window the last request filled.
    pub context_tokens: u64,
    /// What it spent, in and out.
    pub total_tokens: u64,
    /// The effort that was chosen for its role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<String>,
    /// Whether it has a system prompt.
    pub system_sent: bool,
    /// Whether it takes messages of others, if the operator chose that for it: on or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_policy: Option<String>,
    /// Its transcript, from the folder of the state.
    pub transcript_path: String,
    /// Its state in its life.
    pub state: SessionState,
    /// The project.
    pub project: String,
    /// The flow or chat.
    pub flow_id: String,
    /// Whose it is.
    pub role: String,
    /// The node at which its turn works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// Whether a turn of it is open.
    pub running: bool,
    /// The label of a chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How many messages it ever had.
    pub message_count: u64,
    /// Its last messages, if they were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Value>>,
    #[serde(skip)]
    address: SessionAddress,
}

/// The sessions of these flows that a query asks for: sorted first, then cut off at the limit. A flow that cannot be
/// read has no row.
#[must_use]
pub fn list(store: &Store, flows: &[FlowRef], query: &SessionQuery, now: At) -> Vec<SessionRow> {
    let mut rows: Vec<SessionRow> = Vec::new();
    for flow in flows {
        let Ok(look) = store.look(flow) else { continue };
        let state = &look.screen.flow;
        let of_flow = state.sessions.iter().map(|(role, brief)| {
            let (flow, role) = (flow.clone(), role.clone());
            row(state, SessionAddress { flow, role }, brief)
        });
        rows.extend(of_flow.filter(|row| fits(row, query, now)));
    }
    rows.sort_by(|one, other| {
        let newest = other.updated_at.cmp(&one.updated_at);
        newest.then_with(|| one.address.cmp(&other.address))
    });
    let limit = query.limit.unwrap_or(ROWS).min(ROWS_MAX);
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    if query.message_limit > 0 {
        let of_each = HistoryQuery {
            limit: Some(query.message_limit.min(MESSAGES_MAX)),
            include_tools: false,
        };
        for row in &mut rows {
            row.messages = messages(store, &row.address, of_each).ok();
        }
    }
    rows
}

fn row(state: &FlowState, address: SessionAddress, brief: &SessionBrief) -> SessionRow {
    let SessionAddress { flow, role } = &address;
    let chosen = state.configurations.get(role);
    let setting = |name: &str| chosen.and_then(|chosen| chosen.settings.get(name)).cloned();
    let spent = state.role_accounts.get(role);
    let turn = state.main_turn_of(role).map(|(_, turn)| turn);
    let is_fork = state.chat.is_some() && state.parent.is_some();
    let label = state.chat.as_ref().and_then(|chat| chat.label.clone());
    SessionRow {
        key: key_of(state, flow, role),
        kind: if is_fork {
            SessionKind::Child
        } else {
            brief.kind
        },
        provider: "internal",
        display_name: match &state.chat {
            Some(_) => state.title.clone(),
            None => format!("{role} of {}", state.title),
        },
        updated_at: brief.last_activity_at.ms(),
        session_id: brief.session_id.to_string(),
        model: setting(MODEL),
        context_tokens: brief.context_tokens,
        total_tokens: spent.map_or(0, |account| account.spent.tokens),
        thinking_level: setting(EFFORT),
        system_sent: brief.prompt.is_some(),
        send_policy: setting(SEND).filter(|choice| choice != "inherit"),
        transcript_path: format!(
            "{}/{}/roles/{}/transcript.json",
            flow.project,
            flow.flow,
            role.as_str()
        ),
        state: brief.state,
        project: flow.project.to_string(),
        flow_id: flow.flow.to_string(),
        role: role.to_string(),
        node_id: turn
            .and_then(|turn| turn.node.as_ref())
            .map(ToString::to_string),
        running: turn.is_some(),
        label,
        message_count: brief.messages,
        messages: None,
        address,
    }
}

fn fits(row: &SessionRow, query: &SessionQuery, now: At) -> bool {
    let since = query.active_minutes.map(|minutes| {
        let minutes = i64::try_from(minutes.max(1)).unwrap_or(i64::MAX);
        now.ms().saturating_sub(minutes.saturating_mul(MINUTE_MS))
    });
    (query.kinds.is_empty() || query.kinds.contains(&row.kind))
        && (query.states.is_empty() || query.states.contains(&row.state))
        && query.role.as_ref().is_none_or(|role| *role == row.role)
        && (query.label.is_none() || query.label == row.label)
        && since.is_none_or(|since| row.updated_at >= since)
}
