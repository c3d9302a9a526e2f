//! The sessions of the workspace for other programs: their list, the messages of one, a message to a chat, and its
//! run. Each is what `a-society sessions` prints with `--json`.

use std::time::Duration;

use a_society_facts::fact::session::SessionKind;
use a_society_facts::id::ClientId;
use a_society_orchestrator::mint::{self, SystemMint};
use a_society_orchestrator::sessions::history::{HistoryQuery, messages};
use a_society_orchestrator::sessions::key::{SessionAddress, SessionLost};
use a_society_orchestrator::sessions::list::{SessionQuery, kind_named, list, state_named};
use a_society_orchestrator::sessions::report::{RunReport, RunStatus};
use a_society_orchestrator::sessions::send::{self, RunPatience, WAIT_S, WAIT_S_MAX};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::app::Shared;
use super::blocking::unread;
use super::commands::from_unsaid;
use super::reply::{self, Answer};
use crate::protocol::Fault;

/// Which sessions are listed. The bounds are those of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SessionListRequest {
    project: Option<String>,
    /// Several words, with commas between them.
    kind: Option<String>,
    role: Option<String>,
    /// As above.
    state: Option<String>,
    label: Option<String>,
    active_minutes: Option<u64>,
    limit: Option<u64>,
    messages: u64,
}

/// Whose messages are read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryRequest {
    of: String,
    limit: Option<u64>,
    #[serde(default)]
    tools: bool,
}

/// A message to a chat.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageRequest {
    to: String,
    text: String,
    /// The name of the message: repeated under the same name, it counts once.
    client: Option<String>,
    /// How many seconds its answer is waited for.
    wait: Option<u64>,
}

/// A run that is waited for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunRequest {
    run: String,
    wait: Option<u64>,
}

pub(super) fn listed(app: &Shared, asked: &SessionListRequest) -> Result<Answer, Fault> {
    let unfit = |why: String| fault("usage", "the sessions were not listed", &why);
    let words = |words: &Option<String>| -> Vec<String> {
        let words = words.iter().flat_map(|words| words.split(','));
        words.map(str::to_owned).collect()
    };
    let kinds = words(&asked.kind).into_iter().map(|word| kind_named(&word));
    let kinds: Vec<SessionKind> = kinds.collect::<Result<_, _>>().map_err(unfit)?;
    let states = words(&asked.state).into_iter();
    let states = states.map(|word| state_named(&word));
    let query = SessionQuery {
        kinds,
        role: asked.role.clone(),
        states: states.collect::<Result<_, _>>().map_err(unfit)?,
        label: asked.label.clone(),
        active_minutes: asked.active_minutes,
        limit: asked.limit,
        message_limit: asked.messages,
    };
    let store = &app.hubs.store;
    let mut flows = store.census().map_err(|error| unread(&error))?.flows;
    let project = asked.project.as_deref();
    flows.retain(|flow| project.is_none_or(|project| project == flow.project.as_str()));
    let rows = list(store, &flows, &query, store.ground().clock.now());
    Ok(reply::json(
        &json!({ "count": rows.len(), "sessions": rows }),
    ))
}

pub(super) fn history(app: &Shared, asked: &HistoryRequest) -> Result<Answer, Fault> {
    let store = &app.hubs.store;
    let address = SessionAddress::named(store, &asked.of, None).map_err(lost)?;
    let query = HistoryQuery {
        limit: asked.limit,
        include_tools: asked.tools,
    };
    let read = messages(store, &address, query).map_err(|error| unread(&error))?;
    Ok(reply::json(&json!({
        "project": address.flow.project,
        "flow": address.flow.flow,
        "role": address.role,
        "messages": read,
    })))
}

impl MessageRequest {
    /// Sends it, and waits for its answer until the wait is over. The run goes on without it.
    pub(super) fn send(&self, app: &Shared, is_over: &dyn Fn() -> bool) -> Result<Answer, Fault> {
        let store = &app.hubs.store;
        let address = SessionAddress::named(store, &self.to, None).map_err(lost)?;
        let client: ClientId = match &self.client {
            Some(client) => client
                .parse()
                .map_err(|bad| fault("usage", "nothing was sent", &format!("{bad}")))?,
            None => mint::name(&mut SystemMint, "send")
                .map_err(|error| unread(&a_society_state::Error::from(error)))?,
        };
        let patience = patience(self.wait, is_over)?;
        let sent = send::send(store, address, client, &self.text, &patience);
        Ok(answer(&sent.map_err(from_unsaid)?))
    }
}

impl RunRequest {
    /// Waits for it.
    pub(super) fn report(&self, app: &Shared, is_over: &dyn Fn() -> bool) -> Result<Answer, Fault> {
        let patience = patience(self.wait, is_over)?;
        let waited = send::wait(&app.hubs.store, &self.run, &patience);
        match waited.map_err(from_unsaid)? {
            Some(report) => Ok(answer(&report)),
            None => Err(Fault {
                r#try: "send a message: POST /api/sessions/send".to_owned(),
                ..fault(
                    "no-run",
                    "there is no such run",
                    "no message was sent under this name, or its chat was removed",
                )
            }),
        }
    }
}

fn patience(wait: Option<u64>, is_over: &dyn Fn() -> bool) -> Result<RunPatience<'_>, Fault> {
    let seconds = wait.unwrap_or(WAIT_S);
    if seconds > WAIT_S_MAX {
        let why = format!("{WAIT_S_MAX} seconds are the longest wait");
        return Err(fault("usage", "it cannot be waited for so long", &why));
    }
    Ok(RunPatience {
        longest: Duration::from_secs(seconds),
        is_over,
        without_locks: false,
        later: "ask for it again: GET /api/sessions/run",
    })
}

/// A run that goes on is accepted, and no more.
fn answer(report: &RunReport) -> Answer {
    let mut answer = reply::json(report);
    if matches!(report.status, RunStatus::Accepted | RunStatus::Timeout) {
        *answer.status_mut() = StatusCode::ACCEPTED;
    }
    answer
}

fn fault(code: &str, what: &str, why: &str) -> Fault {
    Fault {
        code: code.to_owned(),
        what: what.to_owned(),
        why: why.to_owned(),
        r#try: "list the sessions: GET /api/sessions".to_owned(),
    }
}

fn lost(lost: SessionLost) -> Fault {
    let why = lost.to_string();
    match lost {
        SessionLost::Unread(error) => unread(&error),
        SessionLost::Unknown(_, known) if known.is_empty() => {
            fault("no-session", "there is no such session", &why)
        }
        SessionLost::Unknown(_, known) => {
            let why = format!("{why}; there are: {known}");
            fault("no-session", "there is no such session", &why)
        }
        SessionLost::Empty(_) => fault("no-session", "there is no session yet", &why),
        SessionLost::Several(..) => fault("command-ambiguous", "several sessions fit", &why),
    }
}
