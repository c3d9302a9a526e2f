//! How servers are reached: one client, which keeps its connections, for all providers.

use std::error::Error as _;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Proxy};

use super::conversation_cache::SentHistories;
use crate::fault::{FaultClass, RequestFault};
use crate::limits;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Connecting.
    pub connect: Duration,
    /// Until an answer begins.
    pub first_byte: Duration,
    /// Nothing at all, within an answer.
    pub idle: Duration,
    /// Only signs of life, within an answer.
    pub only_pings: Duration,
    /// One answer.
    pub whole: Duration,
    /// After how long without data the operator is notified, and how often again.
    pub stalled: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: limits::CONNECT,
            first_byte: limits::FIRST_BYTE,
            idle: limits::IDLE,
            only_pings: limits::ONLY_PINGS,
            whole: limits::WHOLE_ANSWER,
            stalled: limits::STALLED,
        }
    }
}

/// Reaches servers.
#[derive(Debug, Default)]
pub struct Transport {
    timeouts: Timeouts,
    proxy: Option<String>,
    trusted: Vec<Vec<u8>>,
    /// Made when it is needed first: reading the system's certificates takes a while.
    client: OnceLock<Result<Client, String>>,
    /// One that trusts no certificate, for addresses without TLS on a machine without certificates.
    plain: OnceLock<Result<Client, String>>,
    /// The last request of each conversation.
    pub(super) sent: SentHistories,
}

impl Transport {
    /// A transport with these limits of time, through this proxy, and with certificates that are
    /// trusted besides those of the system, each as PEM. No proxy is taken from the environment.
    #[must_use]
    pub fn new(timeouts: Timeouts, proxy: Option<String>, trusted: Vec<Vec<u8>>) -> Self {
        Self {
            timeouts,
            proxy,
            trusted,
            client: OnceLock::new(),
            plain: OnceLock::new(),
            sent: SentHistories::default(),
        }
    }

    /// One that keeps the beginnings of conversations of any length.
    #[cfg(test)]
    pub(crate) fn keeping_all(mut self) -> Self {
        self.sent = SentHistories::keeping(usize::MAX);
        self
    }

    /// How many messages of a conversation are kept as they were written.
    #[cfg(test)]
    pub(crate) fn kept(&self, key: &str) -> usize {
        self.sent.kept(key)
    }

    pub(super) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// What makes connections to addresses with TLS, or without.
    pub(super) fn client(&self, is_secure: bool) -> Result<&Client, RequestFault> {
        let mut made = self.client.get_or_init(|| self.make(true));
        if made.is_err() && !is_secure && self.proxy.is_none() {
            made = self.plain.get_or_init(|| self.make(false));
        }
        made.as_ref()
            .map_err(|why| RequestFault::new(FaultClass::Invalid, why.clone()))
    }

    fn make(&self, trusts: bool) -> Result<Client, String> {
        // An earlier call has installed the same one.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .referer(false)
            .no_proxy()
            .user_agent(concat!("a-society/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.timeouts.connect);
        if !trusts {
            builder = builder.tls_certs_only([]);
        }
        if let Some(proxy) = &self.proxy {
            let proxy =
                Proxy::all(proxy).map_err(|why| format!("the proxy cannot be used: {why}"))?;
            builder = builder.proxy(proxy);
        }
        for pem in &self.trusted {
            let certificate = Certificate::from_pem(pem)
                .map_err(|why| format!("a trusted certificate cannot be read: {why}"))?;
            builder = builder.tls_certs_merge([certificate]);
        }
        builder
            .build()
            .map_err(|why| format!("connections cannot be made: {}", causes(&why)))
    }
}

/// The fault of a request that was not answered.
pub(super) fn unanswered(error: &reqwest::Error) -> RequestFault {
    // The address may carry a key, and the endpoint is known anyway.
    if error.is_builder() {
        let why = format!("the request cannot be sent: {}", causes(error));
        return RequestFault::new(FaultClass::Invalid, why);
    }
    if let Some(why) = untrusted(error) {
        let why = format!("the provider's certificate is not to be trusted: {why}");
        return RequestFault::new(FaultClass::Tls, why);
    }
    let why = format!("the provider was not reached: {}", causes(error));
    RequestFault::new(FaultClass::Network, why)
}

/// What is wrong with a certificate, if that is why there is no connection.
fn untrusted(error: &reqwest::Error) -> Option<String> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
            return Some(why.to_string());
        }
        // What an error of the system wraps is not its source.
        let wrapped = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        cause = match wrapped {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// The causes of an error, without its address.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut words = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let word = error.to_string();
        if words.last() != Some(&word) {
            words.push(word);
        }
        cause = error.source();
    }
    if words.is_empty() {
        if error.is_timeout() {
            return "it took too long".to_owned();
        }
        return "the connection failed".to_owned();
    }
    words.join(": ")
}
