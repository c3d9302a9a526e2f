//! Signed requests of other programs: no token lets them in, and no browser sends them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use a_society_orchestrator::webhooks::{NotReceived, ReceivedRequest, WebhookRequest};
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::json;
use tokio::time::timeout;

use super::actions::adopt_own;
use super::app::{App, Shared};
use super::limits::{HOOK_BYTES_MAX, HOOK_FLOWS_MAX};
use super::reply::{Answer, fault, json, refused};
use crate::protocol::down::{Fault, Mode};

/// Takes a request: 202 once its flow is durable.
pub(super) async fn deliver(
    State(app): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let Ok(bytes) = timeout(app.patience, to_bytes(body, HOOK_BYTES_MAX)).await else {
        return refused(StatusCode::REQUEST_TIMEOUT, "it did not come in time");
    };
    let Ok(bytes) = bytes else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, "it is too long");
    };
    let Ok(place) = Arc::clone(&app.workers).try_acquire_owned() else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "the server is busy");
    };
    let done = tokio::task::spawn_blocking(move || {
        let answer = take(&app, &name, &headers, &bytes);
        drop(place);
        answer
    });
    done.await.unwrap_or_else(|_| {
        refused(
            StatusCode::INTERNAL_SERVER_ERROR,
            "it ended before it was done",
        )
    })
}

fn take(app: &App, name: &str, headers: &HeaderMap, body: &[u8]) -> Answer {
    let of = |header: &str| {
        let value = headers.get(header).and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    };
    let request = WebhookRequest {
        name,
        id: of("webhook-id"),
        timestamp: of("webhook-timestamp"),
        signature: of("webhook-signature"),
        body,
    };
    if app.mode != Mode::Live {
        return not_received(NotReceived::NotSigned);
    }
    if app.ends.load(Ordering::SeqCst) || app.hubs.driven().len() >= HOOK_FLOWS_MAX {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "the server is busy");
    }
    match app.webhooks.receive(&app.hubs.store, &request) {
        Ok(received) => accepted(app, received),
        Err(not) => not_received(not),
    }
}

fn accepted(app: &App, received: ReceivedRequest) -> Answer {
    let ReceivedRequest { flow, key, begun } = received;
    if let Some(begun) = begun {
        app.actions.begun(&begun);
        adopt_own(&app.hubs, begun);
    }
    let mut answer = json(&json!({ "flow": flow.to_string(), "key": key }));
    *answer.status_mut() = StatusCode::ACCEPTED;
    answer
}

fn not_received(not: NotReceived) -> Answer {
    let (status, code, why) = match not {
        NotReceived::NotSigned => (
            StatusCode::UNAUTHORIZED,
            "not-signed",
            "no webhook of this name takes this signature at this time".to_owned(),
        ),
        NotReceived::NotText => (
            StatusCode::BAD_REQUEST,
            "message-unfit",
            "the body is not UTF-8".to_owned(),
        ),
        NotReceived::TooMany => (
            StatusCode::TOO_MANY_REQUESTS,
            "busy",
            "too many requests came within a minute".to_owned(),
        ),
        NotReceived::Unfit(why) => (StatusCode::CONFLICT, "flow-file-unfit", why),
        NotReceived::Later(why) => (StatusCode::SERVICE_UNAVAILABLE, "busy", why),
    };
    let said = Fault {
        code: code.to_owned(),
        what: "nothing began".to_owned(),
        why,
        r#try: "see docs/guide/schedules.md, Webhooks".to_owned(),
    };
    fault(status, &said)
}
