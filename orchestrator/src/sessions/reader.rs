//! What the tools of one role read of other sessions, and send to them.

use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_facts::id::{CallId, RoleInstance};
use a_society_facts::view::FlowSummary;
use a_society_roles::config::SessionsConfig;
use a_society_roles::tool::{HistoryAsked, ReadSessions, SendAsked, SessionsAsked};
use a_society_state::index::{Row, rows};
use a_society_state::{FlowRef, Store};
use serde_json::json;

use super::chain;
use super::history::{HistoryQuery, messages};
use super::key::{SessionAddress, SessionLost, key_of, resolve};
use super::list::{SEND, SessionQuery, kind_named, list, word_of};
use super::send::{RunPatience, WAIT_S, WAIT_S_MAX, send};
use super::sight::{FlowParents, sees};
use crate::config::user;
use crate::control::client::{Unsaid, fault_of};
use crate::control::message::ControlFault;

/// The sessions that the roles of one flow may see.
#[derive(Debug)]
pub(crate) struct FlowSessions {
    pub(crate) store: Store,
    pub(crate) flow: FlowRef,
}

impl FlowSessions {
    /// The flows of the project whose sessions may be seen.
    fn seen(&self) -> Result<Vec<FlowRef>, String> {
        let census = self.store.census().map_err(|error| error.to_string())?;
        let mut flows = census.flows;
        flows.retain(|other| other.project == self.flow.project);
        if config()?.sees_project {
            return Ok(flows);
        }
        let parents: FlowParents = rows(&self.store, &flows)
            .into_iter()
            .filter_map(|row: Row| {
                let parent = row
                    .summary
                    .and_then(|summary: FlowSummary| summary.parent)?;
                Some((row.flow.flow, parent.flow))
            })
            .collect();
        flows.retain(|other| sees(&self.flow.flow, &other.flow, &parents));
        Ok(flows)
    }

    /// The session that is called so, if it may be seen. What must not be seen must not be seen to be there.
    fn named(&self, key: &str) -> Result<SessionAddress, String> {
        let found = resolve(&self.store, key);
        let seen = self.seen()?;
        match found {
            Ok(address) if seen.contains(&address.flow) => Ok(address),
            Ok(_)
            | Err(SessionLost::Unknown(..) | SessionLost::Empty(_) | SessionLost::Several(..)) => {
                Err(format!(
                    "There is no session {key}. sessions_list names those that you may see."
                ))
            }
            Err(SessionLost::Unread(error)) => Err(error.to_string()),
        }
    }

    /// The key of the sender, if the receiver takes its messages: as the operator chose for this session, else as the
    /// rules of the configuration say.
    fn permitted(&self, own: &SessionAddress, to: &SessionAddress) -> Result<String, String> {
        let state = |flow: &FlowRef| {
            let look = self.store.look(flow);
            look.map(|look| look.screen.flow)
                .map_err(|error| error.to_string())
        };
        let receiver = state(&to.flow)?;
        let key = key_of(&receiver, &to.flow, &to.role);
        let chosen = receiver.configurations.get(&to.role);
        let chosen = chosen.and_then(|chosen| chosen.settings.get(SEND));
        let kind = receiver.sessions.get(&to.role).map(|brief| brief.kind);
        let is_permitted = match chosen.map(String::as_str) {
            Some("on") => true,
            Some("off") => false,
            Some(_) | None => {
                let kind = kind.map_or("other", word_of);
                config()?.lets_through(&key, kind, to.role.as_str(), to.flow.flow.as_str())
            }
        };
        if !is_permitted {
            return Err(format!("The operator lets no messages through to {key}."));
        }
        Ok(key_of(&state(&own.flow)?, &own.flow, &own.role))
    }
}

fn config() -> Result<SessionsConfig, String> {
    user::sessions().map_err(|error| error.to_string())
}

/// Why nothing was sent, for a model.
fn in_words(unsaid: Unsaid) -> String {
    let ControlFault { what, why, .. } = fault_of(unsaid);
    format!("Nothing was sent: {what}: {why}.")
}

impl ReadSessions for FlowSessions {
    fn list(&self, asked: &SessionsAsked) -> Result<String, String> {
        let kinds = asked.kinds.iter().flatten();
        let query = SessionQuery {
            kinds: kinds
                .map(|word| kind_named(word))
                .collect::<Result<_, _>>()?,
            limit: asked.limit,
            active_minutes: asked.active_minutes,
            message_limit: asked.message_limit.unwrap_or(0),
            ..SessionQuery::default()
        };
        let now = self.store.ground().clock.now();
        let rows = list(&self.store, &self.seen()?, &query, now);
        Ok(json!({ "count": rows.len(), "sessions": rows }).to_string())
    }

    fn history(&self, asked: &HistoryAsked) -> Result<String, String> {
        let key = asked.session_key.as_str();
        let address = self.named(key)?;
        let query = HistoryQuery {
            limit: asked.limit,
            include_tools: asked.include_tools,
        };
        let messages = messages(&self.store, &address, query).map_err(|error| error.to_string())?;
        Ok(json!({ "sessionKey": key, "messages": messages }).to_string())
    }

    fn send(
        &self,
        asked: &SendAsked,
        role: &RoleInstance,
        call: &CallId,
        stop: &StopSignal,
    ) -> Result<String, String> {
        let (flow, role) = (self.flow.clone(), role.clone());
        let own = SessionAddress { flow, role };
        let to = self.named(&asked.session_key)?;
        let sender = self.permitted(&own, &to)?;
        let seconds = asked.timeout_seconds.unwrap_or(WAIT_S).min(WAIT_S_MAX);
        if to == own {
            return Err("This is your own session, which cannot answer you.".to_owned());
        }
        let circle = seconds > 0 && chain::waits_for(&self.store, &to, &own).unwrap_or(true);
        if circle {
            return Err(format!(
                "Nothing was sent: {} waits for your answer, directly or through other sessions, so that it could not \
                 answer you. End your turn first, or do not wait.",
                asked.session_key
            ));
        }
        let name = chain::name(&self.store, &own, call)?;
        let text = format!("Message from the session {sender}:\n\n{}", asked.message);
        let patience = RunPatience {
            longest: Duration::from_secs(seconds),
            is_over: &|| stop.is_raised(),
            without_locks: false,
            later: "sessions_history shows the answer later",
        };
        let report = send(&self.store, to, name, &text, &patience).map_err(in_words)?;
        Ok(json!(report).to_string())
    }
}
