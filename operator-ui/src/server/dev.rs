//! The page's files from a development server of this machine, in debug builds, so that what is changed
//! in them is seen at once. Everything below `/api` stays here.
//!
//! Nothing of the operator goes there: no cookie, no token, no client address.

use std::net::SocketAddr;
use std::{fmt, io};

use axum::body::Body;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, HOST, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::limits::DEV_TIMEOUT;
use super::reply::{Answer, plain};

/// What of a request the development server needs to know.
const ASKED: [HeaderName; 2] = [ACCEPT, IF_NONE_MATCH];

/// What of its answer a browser needs to know.
const ANSWERED: [HeaderName; 3] = [CONTENT_TYPE, ETAG, CACHE_CONTROL];

/// From where files are taken: an address of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DevSource(SocketAddr);

impl DevSource {
    /// What a value of `A_SOCIETY_UI_DEV` names.
    ///
    /// # Errors
    /// Says why no files are taken from there.
    pub fn named(value: &str) -> Result<Self, &'static str> {
        let rest = value.strip_prefix("http://");
        let rest = rest.ok_or("it does not begin with http://")?;
        let address: Result<SocketAddr, _> = rest.strip_suffix('/').unwrap_or(rest).parse();
        let address = address.map_err(|_| "it is not the number of an address with a port")?;
        if address.ip().is_loopback() {
            Ok(Self(address))
        } else {
            Err("it is not an address of this machine alone")
        }
    }
}

impl fmt::Display for DevSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.0)
    }
}

/// What a browser may do with a page that comes from there. The development server puts styles into
/// the page by script, tells of changes over a socket of its own, and shows its errors as markup.
pub(super) fn policy(from: DevSource) -> HeaderValue {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
         connect-src 'self' {from} ws://{}; img-src 'self' data:; font-src 'self'; \
         manifest-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'none'",
        from.0
    );
    // An address is digits, colons and brackets.
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// A file from there.
pub(super) async fn pass(from: DevSource, uri: &Uri, method: Method, head: &HeaderMap) -> Answer {
    match timeout(DEV_TIMEOUT, fetched(from, uri, method, head)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => silent(from, &error.to_string()),
        Err(_) => silent(from, "it takes too long"),
    }
}

fn silent(from: DevSource, why: &str) -> Answer {
    let mut answer = plain(format!(
        "The page's files are taken from {from}, and nothing comes from there: {why}.\n\
         Start it with `npm run dev` in operator-ui/web, or start this without A_SOCIETY_UI_DEV.\n"
    ));
    *answer.status_mut() = StatusCode::BAD_GATEWAY;
    answer
}

async fn fetched(
    from: DevSource,
    uri: &Uri,
    method: Method,
    head: &HeaderMap,
) -> io::Result<Answer> {
    let stream = TcpStream::connect(from.0).await?;
    let joined = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = joined.map_err(io::Error::other)?;
    // It ends when the file is there, or when the client is gone.
    drop(tokio::spawn(connection));
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(method).uri(path);
    request = request.header(HOST, from.0.to_string());
    for name in ASKED {
        for value in head.get_all(&name) {
            request = request.header(&name, value);
        }
    }
    let request = request.body(Body::empty()).map_err(io::Error::other)?;
    let answer = sender.send_request(request).await;
    let (parts, body) = answer.map_err(io::Error::other)?.into_parts();
    let mut answer = Response::new(Body::new(body));
    *answer.status_mut() = parts.status;
    for name in ANSWERED {
        if let Some(value) = parts.headers.get(&name) {
            answer.headers_mut().insert(name, value.clone());
        }
    }
    Ok(answer)
}
