//! Who may connect: a client with the right host, the right origin, and the token.
//!
//! A client on this machine proves nothing: any page of a browser is one, and any program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use sha2::{Digest, Sha256};

/// How many bytes a secret has.
const SECRET_BYTES: usize = 32;

/// What only the operator knows.
#[derive(Clone)]
pub struct Secrets {
    /// What the operator's programs show with each request.
    token: String,
    /// What the address that is opened next ends with. A browser takes it once, and another takes its
    /// place: an address that is left in a history or a log is worth nothing.
    launch: Arc<Mutex<String>>,
    /// What a browser that took one has from then on.
    session: String,
    heard: Arc<Mutex<Option<Hear>>>,
}

/// What is called with each new launch token.
type Hear = Box<dyn Fn(&str) + Send>;

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// New ones.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            token: random()?,
            launch: Arc::new(Mutex::new(random()?)),
            session: random()?,
            heard: Arc::default(),
        })
    }

    /// Has each new launch token from now on.
    pub(crate) fn hear_launches(&self, hear: impl Fn(&str) + Send + 'static) {
        *self.hearer() = Some(Box::new(hear));
    }

    /// Passes on the launch token that is good now. One call waits for another, so that the token of the
    /// later one is passed on last.
    pub(crate) fn pass_launch_on(&self) {
        if let Some(hear) = self.hearer().as_ref() {
            hear(&self.launch());
        }
    }

    fn hearer(&self) -> MutexGuard<'_, Option<Hear>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the operator's programs show.
    #[must_use]
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether a text is what the operator's programs show.
    #[must_use]
    pub(crate) fn is_token(&self, text: &str) -> bool {
        same(text, &self.token)
    }

    /// What the address that is opened next ends with.
    #[must_use]
    pub(crate) fn launch(&self) -> String {
        self.next_launch().clone()
    }

    /// Whether a text is what the address to open ends with, which it is once.
    #[must_use]
    pub(crate) fn take_launch(&self, text: &str) -> bool {
        let mut launch = self.next_launch();
        if !same(text, &launch) {
            return false;
        }
        // Without a new one, no client may follow the one that used this.
        let Ok(next) = random() else { return false };
        *launch = next;
        true
    }

    fn next_launch(&self) -> MutexGuard<'_, String> {
        self.launch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0_u8; SECRET_BYTES];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two texts are the same. How long it takes says nothing about where they differ.
fn same(one: &str, other: &str) -> bool {
    let digest = |text: &str| Sha256::digest(text.as_bytes());
    let (one, other) = (digest(one), digest(other));
    let differs = one
        .iter()
        .zip(other.iter())
        .fold(0, |sum, (a, b)| sum | (a ^ b));
    differs == 0
}

/// The rules of one server.
#[derive(Debug, Clone)]
pub struct Access {
    secrets: Secrets,
    hosts: Vec<String>,
    origins: Vec<String>,
    cookie: String,
    secure: bool,
}

/// What a route requires of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Any client with the right address: there is no data.
    Nobody,
    /// A request that is signed. Its handler looks at the signature.
    Signature,
    /// The operator.
    Operator,
    /// The operator, and a page of ours if it is a browser.
    Page,
}

/// Why a client is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The status.
    pub status: StatusCode,
    /// Why, in words.
    pub why: &'static str,
}

/// How an address begins.
pub(super) const fn scheme(secure: bool) -> &'static str {
    if secure { "https" } else { "http" }
}

const fn refused(status: StatusCode, why: &'static str) -> Refused {
    Refused { status, why }
}

impl Access {
    /// The rules of a server that is reached by these hosts, each with its port, encrypted or not.
    #[must_use]
    pub(crate) fn new(secrets: Secrets, hosts: Vec<String>, port: u16, secure: bool) -> Self {
        let scheme = scheme(secure);
        let of = |host: &String| format!("{scheme}://{host}");
        // A browser leaves the port out where it goes without saying.
        let known = if secure { ":443" } else { ":80" };
        let hosts: Vec<String> = (hosts.iter())
            .flat_map(|host| [Some(host.as_str()), host.strip_suffix(known)])
            .flatten()
            .map(str::to_owned)
            .collect();
        let origins = hosts.iter().map(of).collect();
        Self {
            secrets,
            hosts,
            origins,
            cookie: format!("a_society_{port}"),
            secure,
        }
    }

    /// What only the operator knows.
    #[must_use]
    pub(crate) const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The cookie that a browser gets for the token.
    #[must_use]
    pub(crate) fn set_cookie(&self) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict{secure}",
            self.cookie, self.secrets.session
        )
    }

    /// Judges a request.
    ///
    /// # Errors
    /// Says why it is turned away.
    pub(crate) fn judge(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        wants: Wants,
    ) -> Result<(), Refused> {
        self.host(uri, headers)?;
        let origin = self.origin(headers)?;
        if matches!(wants, Wants::Nobody | Wants::Signature) {
            return Ok(());
        }
        if self.has_token(headers) {
            return Ok(());
        }
        if !self.has_cookie(headers) {
            return Err(refused(StatusCode::UNAUTHORIZED, "this needs the token"));
        }
        // A browser says where a change or a socket comes from. What does not say it is no browser,
        // and a cookie is not for it.
        let changes = !matches!(*method, Method::GET | Method::HEAD);
        if (changes || wants == Wants::Page) && !origin {
            return Err(refused(
                StatusCode::UNAUTHORIZED,
                "without an origin this needs the token",
            ));
        }
        Ok(())
    }

    /// The host is one of ours, and there is exactly one.
    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(refused(StatusCode::BAD_REQUEST, "one host is wanted"));
        };
        let host = host.to_str().unwrap_or_default();
        if uri
            .authority()
            .is_some_and(|authority| authority.as_str() != host)
        {
            return Err(refused(StatusCode::BAD_REQUEST, "two hosts are named"));
        }
        if self.hosts.iter().any(|known| known == host) {
            return Ok(());
        }
        Err(refused(
            StatusCode::FORBIDDEN,
            "this is not a host of this server",
        ))
    }

    /// The page comes from our own origin. Returns whether the browser sent one at all.
    fn origin(&self, headers: &HeaderMap) -> Result<bool, Refused> {
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
            return Err(refused(StatusCode::FORBIDDEN, "another site asks"));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else {
            return Ok(false);
        };
        let known = origin
            .to_str()
            .is_ok_and(|origin| self.origins.iter().any(|it| it == origin));
        if known && origins.next().is_none() {
            return Ok(true);
        }
        Err(refused(StatusCode::FORBIDDEN, "another origin asks"))
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let said = headers
            .get(AUTHORIZATION)
            .and_then(|said| said.to_str().ok());
        let token = said.and_then(|said| said.strip_prefix("Bearer "));
        token.is_some_and(|token| self.secrets.is_token(token))
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let lines = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).map(str::trim);
        pairs.any(|pair| {
            let named = pair.strip_prefix(&self.cookie);
            let value = named.and_then(|rest| rest.strip_prefix('='));
            value.is_some_and(|value| same(value, &self.secrets.session))
        })
    }
}
