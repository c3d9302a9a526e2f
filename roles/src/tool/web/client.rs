//! One request to one host, whose addresses were checked.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::mpsc;

use a_society_base::address::{is_local_name, is_public};
use a_society_base::stop::StopSignal;
use a_society_base::{runtime, thread};
use reqwest::{Client, Method, redirect};
use url::{Host, Url};

use super::super::limits::{FETCH_BYTES, FETCH_TIME};
use super::super::refusal::{CallRefusal, RefusalKind};

/// The user agent of requests for pages.
const AGENT: &str = concat!("a-society/", env!("CARGO_PKG_VERSION"));

/// Finds the addresses of a name.
type Resolve = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// How the web is reached.
#[derive(Clone)]
pub(in super::super) struct Web {
    resolve: Arc<Resolve>,
    /// Whether an address may be spoken to.
    is_open: fn(IpAddr) -> bool,
    /// Whether a page may be asked for in clear text. Only a test has reason to.
    takes_http: bool,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Web")
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) struct WebRequest {
    pub url: Url,
    pub method: Method,
    pub bearer: Option<String>,
    pub json: Option<String>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WebResponse {
    pub status: u16,
    pub kind: String,
    /// Where it leads, if it leads elsewhere.
    pub location: Option<String>,
    pub body: Vec<u8>,
    pub is_cut: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WebFault {
    /// The turn was stopped.
    Stopped,
    /// It took too long.
    TimedOut,
    /// It may not be asked.
    Refused(CallRefusal),
    /// It went wrong.
    Failed(String),
}

impl Web {
    /// The public internet.
    pub(in super::super) fn public() -> Self {
        Self {
            resolve: Arc::new(|name, port| Ok((name, port).to_socket_addrs()?.collect())),
            is_open: is_public,
            takes_http: false,
        }
    }

    /// A web of a test's own, with this machine in it.
    #[cfg(test)]
    pub(super) fn of_test(
        resolve: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
        is_open: fn(IpAddr) -> bool,
    ) -> Self {
        Self {
            resolve: Arc::new(resolve),
            is_open,
            takes_http: true,
        }
    }

    /// Reads an address that a model wrote.
    pub(super) fn url(&self, text: &str) -> Result<Url, CallRefusal> {
        let bad = |why: &str| CallRefusal::new(RefusalKind::Arguments, format!("{text:?} {why}"));
        let closed =
            |why: &str| CallRefusal::new(RefusalKind::OutOfReach, format!("{text:?} {why}"));
        if text
            .chars()
            .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
        {
            return Err(bad("has a character in it that no address has."));
        }
        let url = Url::parse(text).map_err(|why| bad(&format!("is no address: {why}.")))?;
        match url.scheme() {
            "https" => {}
            "http" if self.takes_http => {}
            "http" => return Err(closed("is not encrypted. Use https.")),
            _ => return Err(closed("is no https address.")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(closed("has a name or a password in it."));
        }
        let is_local = "belongs to this machine or to a network around it, which is out of reach.";
        match url.host() {
            None => return Err(bad("names no host.")),
            Some(Host::Domain(name)) if name.contains('%') => return Err(bad("names no host.")),
            Some(Host::Domain(name)) if is_local_name(name) => return Err(closed(is_local)),
            Some(Host::Domain(_)) => {}
            Some(Host::Ipv4(address)) if (self.is_open)(address.into()) => {}
            Some(Host::Ipv6(address)) if (self.is_open)(address.into()) => {}
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(closed(is_local)),
        }
        Ok(url)
    }

    /// Asks, and waits for the answer, the time limit or the stop. The addresses of the host are
    /// found once, and all of them have to be open.
    pub(super) fn ask(
        &self,
        ask: WebRequest,
        is_trusted: bool,
        stop: &StopSignal,
    ) -> Result<WebResponse, WebFault> {
        let (tell, heard) = mpsc::sync_channel(2);
        let (web, at_stop) = (self.clone(), tell.clone());
        // A thread that waits for a name or a server cannot be woken; the wait ends here instead, and
        // the thread with its own time limit.
        let answer = move || drop(tell.send(web.answer(ask, is_trusted)));
        thread::begin("fetch", answer).map_err(|why| WebFault::Failed(format!("{why}.")))?;
        stop.when_raised(move || drop(at_stop.try_send(Err(WebFault::Stopped))));
        heard
            .recv_timeout(FETCH_TIME)
            .unwrap_or(Err(WebFault::TimedOut))
    }

    fn answer(&self, ask: WebRequest, is_trusted: bool) -> Result<WebResponse, WebFault> {
        let addresses = self.addresses(&ask.url, is_trusted)?;
        let name = ask.url.host_str().unwrap_or_default().to_owned();
        // There may be one already, which is as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(AGENT)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .timeout(FETCH_TIME)
            .pool_max_idle_per_host(0)
            .resolve_to_addrs(&name, &addresses)
            .build()
            .map_err(|why| WebFault::Failed(told(&why)))?;
        let runtime = runtime::shared().map_err(WebFault::Failed)?;
        runtime.block_on(exchange(client, ask))
    }

    fn addresses(&self, url: &Url, is_trusted: bool) -> Result<Vec<SocketAddr>, WebFault> {
        let port = url.port_or_known_default().unwrap_or(443);
        let found = match url.host() {
            Some(Host::Domain(name)) => {
                let found = (self.resolve)(name, port);
                found
                    .map_err(|why| WebFault::Failed(format!("{name} could not be found: {why}.")))?
            }
            Some(Host::Ipv4(address)) => vec![(address, port).into()],
            Some(Host::Ipv6(address)) => vec![(address, port).into()],
            None => Vec::new(),
        };
        if found.is_empty() {
            return Err(WebFault::Failed("The host has no address.".to_owned()));
        }
        if is_trusted || found.iter().all(|address| (self.is_open)(address.ip())) {
            return Ok(found);
        }
        Err(WebFault::Refused(CallRefusal::new(
            RefusalKind::OutOfReach,
            format!(
                "{} leads to an address of this machine or of a network around it, which is out \
                 of reach.",
                url.host_str().unwrap_or_default()
            ),
        )))
    }
}

async fn exchange(client: Client, ask: WebRequest) -> Result<WebResponse, WebFault> {
    let mut request = client.request(ask.method, ask.url);
    if let Some(bearer) = ask.bearer {
        request = request.bearer_auth(bearer);
    }
    if let Some(json) = ask.json {
        request = request
            .header("content-type", "application/json")
            .body(json);
    }
    let failed = |why: &reqwest::Error| {
        if why.is_timeout() {
            WebFault::TimedOut
        } else {
            WebFault::Failed(told(why))
        }
    };
    let mut response = request.send().await.map_err(|why| failed(&why))?;
    let header = |name: &str| {
        let value = response.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let (kind, location) = (
        header("content-type").unwrap_or_default(),
        header("location"),
    );
    let status = response.status().as_u16();
    let (mut body, mut is_cut) = (Vec::new(), false);
    while let Some(chunk) = response.chunk().await.map_err(|why| failed(&why))? {
        let room = FETCH_BYTES - body.len();
        body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(WebResponse {
        status,
        kind,
        location,
        body,
        is_cut,
    })
}

/// A fault with what caused it, which is what tells something.
fn told(why: &dyn std::error::Error) -> String {
    let mut text = why.to_string();
    let mut cause = why.source();
    while let Some(why) = cause {
        text = format!("{text}: {why}");
        cause = why.source();
    }
    text
}
