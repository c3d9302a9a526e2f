//! Requests as they left for their models, written anew from the journal.

use a_society_facts::id::Seq;
use a_society_orchestrator::sent_request;
use a_society_state::FlowRef;

use super::app::App;
use super::limits::REQUEST_BYTES_MAX;
use crate::protocol::down::Fault;
use crate::protocol::http::SentRequest;

/// A request by its record.
pub(super) fn sent(app: &App, flow: &FlowRef, seq: Seq) -> Result<SentRequest, Fault> {
    let project = app.project_folder(flow);
    let found = sent_request::request(&app.hubs.store, flow, &project, seq);
    let found = found.map_err(|error| Fault {
        code: "not-found".to_owned(),
        what: "this request cannot be shown".to_owned(),
        why: error.to_string(),
        r#try: "a-society session export FLOW ROLE".to_owned(),
    })?;
    let body = String::from_utf8_lossy(&found.body);
    Ok(SentRequest {
        seq,
        model: found.asked.model,
        hash: found.asked.hash.to_string(),
        total_bytes: found.body.len() as u64,
        body: body
            .get(..body.floor_char_boundary(REQUEST_BYTES_MAX))
            .unwrap_or_default()
            .to_owned(),
        differs: found.differs,
    })
}
