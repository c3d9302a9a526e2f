//! The page that is embedded.

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use super::reply::{Answer, of_a_worker, refused};

/// A file of the page.
#[derive(Debug, Clone, Copy)]
struct Asset {
    path: &'static str,
    kind: &'static str,
    etag: &'static str,
    /// It, compressed.
    packed: &'static [u8],
    bytes: &'static [u8],
}

/// All of them, by name.
const ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The page of a program that was built without one.
const NO_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>a-society</title>\
    <h1>The page is not built in</h1><p>This program was built without its page. The server works, \
    and other programs can talk to it; see operator-ui/PROTOCOL.md. To have the page, build it in \
    operator-ui/web and build the program again.</p>";

/// Paths below these are places within the page, whatever they look like: the files of a flow and its
/// questions have addresses there under their own names.
const PLACES: [&str; 2] = ["p/", "inbox/"];

/// How the scripts end that run beside the page.
const WORKER: &str = ".worker.js";

fn find(path: &str) -> Option<Asset> {
    let place = ASSETS.binary_search_by(|asset| asset.path.cmp(path)).ok()?;
    ASSETS.get(place).copied()
}

/// The header in which a script of the page finds which program it came from.
const CAME_FROM: HeaderName = HeaderName::from_static("server-timing");

/// A file of the page by the path of the address. A path that names no file is a place within the page;
/// one that looks like a file but is not gives a 404. The page itself names its build in its headers,
/// so that it knows it before any program has sent its own.
pub(super) fn serve(path: &str, headers: &HeaderMap, build: &str) -> Answer {
    let mut answer = file(path, headers);
    let is_page = answer
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_page && let Ok(said) = HeaderValue::from_str(&format!("build;desc=\"{build}\"")) {
        answer.headers_mut().insert(CAME_FROM, said);
    }
    answer
}

fn file(path: &str, headers: &HeaderMap) -> Answer {
    let path = path.trim_start_matches('/');
    if let Some(asset) = find(path) {
        return answer(asset, headers);
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_file = path.starts_with("assets/")
        || path.starts_with("api/")
        || last.contains('.')
        || path.contains('%');
    if is_file && !PLACES.iter().any(|place| path.starts_with(place)) {
        return refused(StatusCode::NOT_FOUND, "there is no such file");
    }
    match find("index.html") {
        Some(page) => answer(page, headers),
        None => {
            let mut page = Response::new(Body::from(NO_PAGE));
            let kind = HeaderValue::from_static("text/html; charset=utf-8");
            page.headers_mut().insert(CONTENT_TYPE, kind);
            page
        }
    }
}

fn answer(asset: Asset, headers: &HeaderMap) -> Answer {
    let known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|tag| tag.as_bytes() == asset.etag.as_bytes());
    let packs = headers
        .get(ACCEPT_ENCODING)
        .and_then(|said| said.to_str().ok());
    let packed = packs.is_some_and(|said| said.split(',').any(|it| it.trim().starts_with("br")));
    let body = match (known, packed) {
        (true, _) => Body::empty(),
        (false, true) => Body::from(asset.packed),
        (false, false) => Body::from(asset.bytes),
    };
    let mut answer = Response::new(body);
    if known {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(ETAG, HeaderValue::from_static(asset.etag));
    // The names stay the same from build to build, so that each is asked about.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if asset.path.ends_with(WORKER) {
        of_a_worker(headers);
    }
    if packed && !known {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    answer
}
