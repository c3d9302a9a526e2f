//! How the server answers: JSON, or a fault in the operator's words; and what every answer says about
//! what a browser may do with it.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;

use crate::protocol::down::Fault;

/// What a browser may do with what we send: run our own script and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self'; \
    manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
    form-action 'none'; require-trusted-types-for 'script'";

/// What a browser may do with what is no page, should it show it as one: nothing.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// The headers of every answer: its type is what it declares, and other origins may not use it.
const ALWAYS: [(&str, &str); 2] = [
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// What a page says beside that.
const OF_A_PAGE: [(&str, &str); 4] = [
    ("content-security-policy", POLICY),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// Says with every answer what a browser may do with it. A page and a worker bring the policy that holds in them; a
/// script and a style have that of the page that they are of, and two dozen of them come before it is drawn.
pub(super) fn guard(headers: &mut HeaderMap) {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is = |name: &str| kind.is_some_and(|kind| kind.starts_with(name.as_bytes()));
    let more: &[(&str, &str)] = if is("text/html") {
        &OF_A_PAGE
    } else if is("text/javascript") || is("text/css") {
        &[]
    } else {
        &[("content-security-policy", NOTHING)]
    };
    for (name, value) in ALWAYS.iter().chain(more) {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
}

/// The policy of a worker, which is the one of its own script.
pub(super) fn of_a_worker(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
}

/// An answer.
pub(super) type Answer = Response<Body>;

fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Answer {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A text that is JSON already.
pub(super) fn json_text(text: String) -> Answer {
    answer(StatusCode::OK, JSON, text)
}

/// A value as JSON.
pub(super) fn json<T: Serialize>(value: &T) -> Answer {
    json_text(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
}

/// Plain text, which no browser takes for anything else.
pub(super) fn plain(body: impl Into<Body>) -> Answer {
    answer(StatusCode::OK, "text/plain; charset=utf-8", body)
}

/// A document of ours that a browser keeps.
pub(super) const PAGE: &str = "text/html; charset=utf-8";

/// JSON that a browser keeps.
pub(super) const JSON: &str = "application/json";

/// What a browser keeps and never shows as a page of ours.
pub(super) fn download(name: &str, kind: &'static str, text: String) -> Answer {
    let mut answer = answer(StatusCode::OK, kind, text);
    // Of an archive that was brought in the name may be anything.
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let name: String = name.chars().filter(is_plain).collect();
    let how = format!("attachment; filename=\"{name}\"");
    let how = HeaderValue::from_str(&how).unwrap_or(HeaderValue::from_static("attachment"));
    answer.headers_mut().insert(CONTENT_DISPOSITION, how);
    answer
}

/// A fault.
pub(super) fn fault(status: StatusCode, fault: &Fault) -> Answer {
    let text = serde_json::to_string(fault).unwrap_or_default();
    answer(status, "application/json", text)
}

/// A fault that needs few words.
pub(super) fn refused(status: StatusCode, why: &str) -> Answer {
    let (code, hint) = match status {
        StatusCode::UNAUTHORIZED => (
            "no-token",
            "open the address that a-society serve printed, or that a-society serve --link prints for another browser",
        ),
        StatusCode::FORBIDDEN => ("forbidden", "open the address that a-society serve printed"),
        StatusCode::NOT_FOUND => ("not-found", "go to the list of flows"),
        StatusCode::SERVICE_UNAVAILABLE => ("busy", "try again in a moment"),
        _ => ("message-unfit", "load the page anew"),
    };
    let said = Fault {
        code: code.to_owned(),
        what: "this was not done".to_owned(),
        why: why.to_owned(),
        r#try: hint.to_owned(),
    };
    fault(status, &said)
}
