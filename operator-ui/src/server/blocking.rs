//! Work that reads the disk: on threads that may wait, and never on too many.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Builder;

use axum::http::StatusCode;
use tokio::sync::oneshot;

use super::app::Shared;
use super::reply::{Answer, fault, refused};
use crate::protocol::down::Fault;

/// Runs what reads the disk, and answers with what it made or why it could not.
pub(super) async fn read<F>(app: &Shared, work: F) -> Answer
where
    F: FnOnce(&Shared) -> Result<Answer, Fault> + Send + 'static,
{
    let Ok(place) = Arc::clone(&app.readers).acquire_owned().await else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "the server ends");
    };
    let app = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || {
        let answer = work(&app);
        drop(place);
        answer
    });
    answer_of(done.await.ok())
}

/// Runs what waits for an answer, and tells it when the wait is over: the client has left, or the server ends.
pub(super) async fn waiting<F>(app: &Shared, work: F) -> Answer
where
    F: FnOnce(&Shared, &dyn Fn() -> bool) -> Result<Answer, Fault> + Send + 'static,
{
    let Ok(place) = Arc::clone(&app.waits).try_acquire_owned() else {
        let why = "too many requests wait for answers; ask with wait 0, and later again";
        return refused(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    let here = Arc::new(());
    let client = Arc::downgrade(&here);
    let app = Arc::clone(app);
    let (done, answered) = oneshot::channel();
    // The threads of the runtime are few, and those that read the disk need them.
    let waits = Builder::new().name("answer".to_owned()).spawn(move || {
        let is_over = || client.strong_count() == 0 || app.ends.load(Ordering::SeqCst);
        let answer = work(&app, &is_over);
        drop(place);
        // A client that has left does not take it.
        drop(done.send(answer));
    });
    if waits.is_err() {
        let why = "the system has no thread left";
        return refused(StatusCode::SERVICE_UNAVAILABLE, why);
    }
    let answer = answer_of(answered.await.ok());
    // A client that leaves drops it before.
    drop(here);
    answer
}

fn answer_of(done: Option<Result<Answer, Fault>>) -> Answer {
    match done {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => fault(status_of(&error), &error),
        None => refused(
            StatusCode::INTERNAL_SERVER_ERROR,
            "it ended before it was done",
        ),
    }
}

fn status_of(fault: &Fault) -> StatusCode {
    match fault.code.as_str() {
        "no-such-flow" | "not-found" | "model-not-found" | "provider-not-found"
        | "server-not-found" | "rule-not-found" | "skill-not-found" | "search-not-found"
        | "part-not-found" | "no-session" | "no-run" => StatusCode::NOT_FOUND,
        "message-unfit" | "flow-file-unfit" | "usage" => StatusCode::BAD_REQUEST,
        "command-refused"
        | "command-ambiguous"
        | "not-forkable"
        | "not-written"
        | "not-removed"
        | "file-exists"
        | "project-unfit"
        | "configuration-changed"
        | "configuration-unchanged"
        | "model-exists"
        | "model-in-use"
        | "provider-differs"
        | "server-exists"
        | "skill-exists"
        | "server-waits"
        | "secret-differs"
        | "definition-changed" => StatusCode::CONFLICT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// That something is not there.
pub(super) fn missing(what: &str, why: &str) -> Fault {
    Fault {
        code: "not-found".to_owned(),
        what: what.to_owned(),
        why: why.to_owned(),
        r#try: "go to the list of flows".to_owned(),
    }
}

/// That the state could not be read.
pub(super) fn unread(error: &a_society_state::Error) -> Fault {
    let code = if error.is_not_found() {
        "not-found"
    } else {
        "disk-failed"
    };
    Fault {
        code: code.to_owned(),
        what: "the flow cannot be read".to_owned(),
        why: error.to_string(),
        r#try: "a-society verify FLOW".to_owned(),
    }
}
