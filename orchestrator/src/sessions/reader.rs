//! What the tools of one role read of other sessions.

use a_society_facts::view::FlowSummary;
use a_society_roles::tool::{HistoryAsked, ReadSessions, SessionsAsked};
use a_society_state::index::{Row, rows};
use a_society_state::{FlowRef, Store};
use serde_json::json;

use super::history::{HistoryQuery, messages};
use super::key::{SessionLost, resolve};
use super::list::{SessionQuery, kind_named, list};
use super::sight::{FlowParents, sees};

/// The sessions that the roles of one flow may read.
#[derive(Debug)]
pub(crate) struct FlowSessions {
    pub(crate) store: Store,
    pub(crate) flow: FlowRef,
}

impl FlowSessions {
    /// The flows of the project whose sessions may be read.
    fn seen(&self) -> Result<Vec<FlowRef>, String> {
        let census = self.store.census().map_err(|error| error.to_string())?;
        let mut flows = census.flows;
        flows.retain(|other| other.project == self.flow.project);
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
        let found = resolve(&self.store, key);
        let seen = self.seen()?;
        let address = match found {
            Ok(address) if seen.contains(&address.flow) => address,
            // What must not be read must not be seen to be there.
            Ok(_) | Err(SessionLost::Unknown(_) | SessionLost::Several(..)) => {
                return Err(format!(
                    "There is no session {key}. sessions_list names those that you may read."
                ));
            }
            Err(SessionLost::Unread(error)) => return Err(error.to_string()),
        };
        let query = HistoryQuery {
            limit: asked.limit,
            include_tools: asked.include_tools,
        };
        let messages = messages(&self.store, &address, query).map_err(|error| error.to_string())?;
        Ok(json!({ "sessionKey": key, "messages": messages }).to_string())
    }
}
