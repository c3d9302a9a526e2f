//! Reaching a server over HTTP: the client, and what goes with each request.
//!
//! No redirect is followed, no proxy of the environment is used, and a name leads only to
//! addresses that were checked. A call carries its key as a header too, so that a server that
//! honours it takes the same call twice as one.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Once};

use futures_core::Stream;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::address::{self, CheckedResolver};
use super::limits::{
    CONNECT_LIMIT, MESSAGE_BYTES_MAX, RELISTEN_MAX, RELISTEN_PAUSE_MAX, SESSION_ID_BYTES_MAX,
};
use super::plain;

/// The field of a call's metadata that holds its key.
pub(super) const KEY_FIELD: &str = "a-society/idempotency-key";

const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// The SDK's client with our rules around it.
#[derive(Debug, Clone)]
pub(super) struct GuardedClient(reqwest::Client);

type HttpFault = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type SseEvents = Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>;

/// A connection to be opened.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    is_private: bool,
) -> Result<StreamableHttpClientTransport<GuardedClient>, String> {
    let url = address::check(url, is_private)?;
    let mut all = Headers::new();
    for (name, value) in headers {
        address::check_header(name)?;
        let shown = plain::line(name);
        // The value may be a secret; it is not repeated.
        let unfit = |_| format!("The value of the header `{shown}` is not fit to be sent.");
        let mut value = HeaderValue::from_str(value).map_err(unfit)?;
        value.set_sensitive(true);
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{shown}` is not the name of a header."))?;
        all.insert(name, value);
    }
    let client = client(url.scheme() == "https", is_private)
        .map_err(|why| format!("No HTTP client can be made: {why}."))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(all)
        .max_sse_event_size(MESSAGE_BYTES_MAX)
        // What may have been done is not sent again by itself.
        .reinit_on_expired_session(false);
    config.retry_config = Arc::new(relisten());
    Ok(StreamableHttpClientTransport::with_client(
        GuardedClient(client),
        config,
    ))
}

/// A stream that breaks off is listened to again from where it broke; nothing is sent again.
fn relisten() -> ExponentialBackoff {
    let mut policy = ExponentialBackoff::default();
    policy.max_times = Some(RELISTEN_MAX);
    policy.max_delay = Some(RELISTEN_PAUSE_MAX);
    policy
}

fn client(is_https_only: bool, is_private: bool) -> reqwest::Result<reqwest::Client> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Another thread that installed one first installed the same.
        let _was_first = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .https_only(is_https_only)
        .connect_timeout(CONNECT_LIMIT)
        .dns_resolver(Arc::new(CheckedResolver { is_private }))
        .build()
}

impl StreamableHttpClient for GuardedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpFault> {
        let max = MESSAGE_BYTES_MAX;
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            headers,
            max,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        mut headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, HttpFault> {
        let key = key_of(&message).and_then(|key| HeaderValue::from_str(key).ok());
        if let Some(key) = key {
            headers.insert(KEY_HEADER, key);
        }
        let posted = self.0.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            headers,
            max_sse_event_size,
        );
        checked(posted.await?)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpFault> {
        self.0
            .delete_session(uri, session_id, auth_header, headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<SseEvents, HttpFault> {
        let max = MESSAGE_BYTES_MAX;
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            headers,
            max,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<SseEvents, HttpFault> {
        let opened = self.0.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            headers,
            max_sse_event_size,
        );
        opened.await
    }
}

fn key_of(message: &ClientJsonRpcMessage) -> Option<&str> {
    let JsonRpcMessage::Request(request) = message else {
        return None;
    };
    if !matches!(request.request, ClientRequest::CallToolRequest(_)) {
        return None;
    }
    request.request.get_meta().get(KEY_FIELD)?.as_str()
}

/// A session's id comes back with every request, as a header. It must be nothing but an id.
fn checked(response: StreamableHttpPostResponse) -> Result<StreamableHttpPostResponse, HttpFault> {
    let session_id = match &response {
        StreamableHttpPostResponse::Json(_, session_id)
        | StreamableHttpPostResponse::Sse(_, session_id) => session_id.as_deref(),
        // Future kinds included, which bring no session as far as anybody knows.
        StreamableHttpPostResponse::Accepted | _ => None,
    };
    if session_id.is_none_or(is_session_id) {
        return Ok(response);
    }
    let words = "the id of its session is not valid".into();
    Err(StreamableHttpError::UnexpectedServerResponse(words))
}

fn is_session_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= SESSION_ID_BYTES_MAX
        && id.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m15_an_id_of_a_session_that_could_be_more_than_one_is_refused() {
        for id in ["1", "6f1ed002-ab5c-4c3f", "abc/=~"] {
            assert!(is_session_id(id), "{id}");
        }
        let long = "x".repeat(SESSION_ID_BYTES_MAX + 1);
        for id in ["", "a\r\nX: y", "a b", "a\tb", "\u{e4}", &long] {
            assert!(!is_session_id(id), "{id:?}");
        }
    }

    #[test]
    fn a_value_that_is_no_header_is_refused_and_not_repeated() {
        let headers = [("Authorization".to_owned(), "canary\r\nX: y".to_owned())].into();
        let refused = transport("https://example.com/", &headers, false);
        let why = refused.err().unwrap();
        assert!(
            why.contains("`Authorization`") && !why.contains("canary"),
            "{why}"
        );
    }
}
