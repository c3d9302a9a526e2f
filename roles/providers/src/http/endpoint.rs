//! A provider at an address.

use std::collections::BTreeSet;
use std::str::FromStr as _;
use std::sync::{Arc, OnceLock};

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use tokio::task::AbortHandle;

use super::connect::Transport;
use super::conversation_cache::SentHistories;
use super::exchange::exchange;
use super::pen::Pen;
use super::runtime;
use super::sending::sending;
use crate::body::RequestBody;
use crate::event::StreamArrival;
use crate::fault::{FaultClass, RequestFault};
use crate::port::Provider;
use crate::prepared::Prepared;
use crate::request::ModelRequest;
use crate::secret::Secret;
use crate::speech::{ChatDialect, ProviderSpeech, Wire};
use crate::stream::AnswerStream;
use crate::wire::reader::{AskedRequest, EventReader};
use crate::wire::{anthropic, chat, responses};

/// The version of the Anthropic API that is spoken here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Where a provider is, and what each request carries.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its name in the configuration.
    pub name: String,
    /// How it is spoken to.
    pub wire: Wire,
    /// Its address, up to where the wire's own paths begin.
    pub base_url: String,
    /// The key, if it wants one.
    pub key: Option<Secret>,
    /// More headers.
    pub headers: Vec<(String, String)>,
    /// How it differs from others on the Chat Completions wire.
    pub chat: ChatDialect,
}

/// A provider that is reached over HTTP.
#[derive(Debug)]
pub struct HttpProvider {
    endpoint: Endpoint,
    url: Url,
    headers: HeaderMap,
    transport: Arc<Transport>,
}

impl HttpProvider {
    /// The provider at an endpoint.
    ///
    /// # Errors
    ///
    /// If its address or a header is invalid.
    pub fn new(endpoint: Endpoint, transport: Arc<Transport>) -> Result<Self, RequestFault> {
        let invalid = |why: String| RequestFault::new(FaultClass::Invalid, why);
        let no_address = |why: String| invalid(format!("the address of {} {why}", endpoint.name));
        let base = endpoint.base_url.trim_end_matches('/');
        let is_none = |why| no_address(format!("is none: {why}"));
        let given = Url::parse(&endpoint.base_url).map_err(is_none)?;
        if !matches!(given.scheme(), "http" | "https") {
            return Err(no_address("must begin with https:// or http://".into()));
        }
        let url = format!("{base}{}", endpoint.wire.path(base));
        let url = Url::parse(&url).map_err(is_none)?;
        let headers = headers(&endpoint)?;
        Ok(Self {
            endpoint,
            url,
            headers,
            transport,
        })
    }

    fn pen(&self) -> Pen<'_> {
        Pen {
            provider: &self.endpoint.name,
            wire: self.endpoint.wire,
            dialect: self.endpoint.chat,
        }
    }

    fn begin(&self, prepared: Prepared, stop: &StopSignal) -> Result<AnswerStream, RequestFault> {
        let runtime =
            runtime::shared().map_err(|why| RequestFault::new(FaultClass::Invalid, why))?;
        let client = self.transport.client(self.url.scheme() == "https")?.clone();
        let asked = AskedRequest::of(&self.endpoint.name, &prepared);
        let mut request = reqwest::Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(sending(prepared.body));
        let task: Arc<OnceLock<AbortHandle>> = Arc::default();
        let ended = Arc::clone(&task);
        let (arrivals, stream) = AnswerStream::new(runtime, stop, move || {
            if let Some(task) = ended.get() {
                task.abort();
            }
        });
        let timeouts = self.transport.timeouts();
        let key = self.endpoint.key.clone();
        let wire = self.endpoint.wire;
        let read = move |asked| reader(wire, asked);
        let work = exchange(client, request, asked, read, timeouts, key, arrivals);
        let running = runtime.spawn(work).abort_handle();
        let stopped = task.get_or_init(|| running).clone();
        stop.when_raised(move || stopped.abort());
        Ok(stream)
    }
}

/// A request as a provider that is spoken to so would be sent it.
///
/// # Errors
/// If the request may not be sent.
pub(crate) fn written(
    speech: &ProviderSpeech,
    request: &ModelRequest<'_>,
) -> Result<Prepared, RequestFault> {
    let pen = Pen {
        provider: &speech.provider,
        wire: speech.wire,
        dialect: speech.dialect,
    };
    let (body, hash) = SentHistories::default()
        .write(pen, request)
        .map_err(unwritable)?;
    Ok(prepared(body, hash, request))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn unwritable(why: serde_json::Error) -> RequestFault {
    let why = format!("the request cannot be written: {why}");
    RequestFault::new(FaultClass::Invalid, why)
}

fn prepared(body: RequestBody, hash: Hash, request: &ModelRequest<'_>) -> Prepared {
    let needing = request.tools.iter().filter(|tool| tool.needs_arguments());
    let needs_arguments: BTreeSet<String> = needing.map(|tool| tool.name.clone()).collect();
    Prepared {
        model: request.model.to_owned(),
        hash,
        body,
        needs_arguments,
        offered: request.tools.iter().map(|tool| tool.name.clone()).collect(),
    }
}

fn reader(wire: Wire, asked: AskedRequest) -> Box<dyn EventReader> {
    match wire {
        Wire::Anthropic => Box::new(anthropic::Messages::new(asked)),
        Wire::Chat => Box::new(chat::Chunks::new(asked)),
        Wire::Responses => Box::new(responses::ResponsesReader::new(asked)),
    }
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, RequestFault> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if endpoint.wire == Wire::Anthropic {
        let version = HeaderValue::from_static(ANTHROPIC_VERSION);
        headers.insert("anthropic-version", version);
    }
    for (name, value) in &endpoint.headers {
        let invalid = || {
            let why = format!("the header {name:?} of {} cannot be sent", endpoint.name);
            RequestFault::new(FaultClass::Invalid, why)
        };
        let name = HeaderName::from_str(name).map_err(|_| invalid())?;
        headers.insert(name, HeaderValue::from_str(value).map_err(|_| invalid())?);
    }
    if let Some(key) = endpoint.key.as_ref().filter(|key| !key.is_empty()) {
        let (name, value) = match endpoint.wire {
            Wire::Anthropic => (
                HeaderName::from_static("x-api-key"),
                key.reveal().to_owned(),
            ),
            Wire::Chat | Wire::Responses => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let why = format!(
                "the key of {} has characters that no key has",
                endpoint.name
            );
            RequestFault::new(FaultClass::Key, why)
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, RequestFault> {
        let written = self.transport.sent.write(self.pen(), request);
        let (body, hash) = written.map_err(unwritable)?;
        Ok(prepared(body, hash, request))
    }

    fn speech(&self) -> Option<ProviderSpeech> {
        Some(ProviderSpeech {
            provider: self.endpoint.name.clone(),
            wire: self.endpoint.wire,
            dialect: self.endpoint.chat,
        })
    }

    fn may_cut(&self) -> bool {
        // Local servers speak this wire, and some of them do.
        self.endpoint.wire == Wire::Chat
    }

    fn start(&self, prepared: Prepared, stop: &StopSignal) -> AnswerStream {
        self.begin(prepared, stop)
            .unwrap_or_else(|fault| AnswerStream::of([StreamArrival::Fault(Box::new(fault))], stop))
    }
}
