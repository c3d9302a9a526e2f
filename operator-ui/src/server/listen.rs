//! The listener: connections are accepted, bounded and timed here, below every route.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a_society_orchestrator::runtime;
use a_society_orchestrator::webhooks::Webhooks;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::access::{Access, Secrets, scheme};
use super::actions::Actions;
use super::app::{App, Tracks};
use super::dev::DevSource;
use super::limits::{
    CONNECTIONS_MAX, END_TIMEOUT, HEAD_BYTES_MAX, HEADERS_MAX, READERS_MAX, WAITS_MAX, WORKERS_MAX,
};
use super::tls::Identity;
use super::{configuring, routes};
use crate::hub::Hubs;
use crate::protocol::down::Mode;

/// How a server is set up.
#[derive(Debug)]
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Other hosts by which it is reached, each without a port.
    pub hosts: Vec<String>,
    /// Who it is over TLS; without it nothing is encrypted.
    pub identity: Option<Identity>,
    /// How long a client may take for the head of a request, and then for its body.
    pub head_timeout: Duration,
    /// How many sockets are open at once.
    pub sockets_max: usize,
    /// What the operator knows.
    pub secrets: Secrets,
    /// The workspace, as it is shown.
    pub workspace: String,
    /// The version of the program.
    pub build: String,
    /// Whether what is shown is happening.
    pub mode: Mode,
    /// From where the page's files come instead of the program itself. Only debug builds look.
    pub dev: Option<DevSource>,
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    runtime: &'static Runtime,
    /// Accepts connections; absent once the server has ended.
    accepting: Option<AbortHandle>,
    app: Arc<App>,
    sockets_max: usize,
    address: SocketAddr,
    /// By which it is reached: an address, or the name it was given.
    host: String,
    secure: bool,
}

/// With which byte a client begins that speaks TLS.
const HANDSHAKE: [u8; 1] = [22];

/// The answer to a client that does not.
const NOT_ENCRYPTED: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 51\r\nConnection: close\r\n\r\nThis server is encrypted: its address is https://.\n";

/// Starts a server on the process's runtime. It listens when this returns.
///
/// # Errors
/// When the address is taken, or the system refuses.
pub fn start(hubs: Arc<Hubs>, actions: Arc<dyn Actions>, options: Options) -> io::Result<Server> {
    let runtime = runtime::shared().map_err(io::Error::other)?;
    let listener = runtime.block_on(TcpListener::bind(options.listen))?;
    let address = listener.local_addr()?;
    let port = address.port();
    let mut hosts = vec![format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if address.is_ipv6() || !address.ip().is_loopback() {
        hosts.push(format!("[::1]:{port}"));
        hosts.push(address.to_string());
    }
    let mut named = options.hosts.iter().map(|host| format!("{host}:{port}"));
    hosts.extend(named.clone());
    // The address that means "all addresses" is not one to connect to.
    let host = if address.ip().is_unspecified() {
        named.next().unwrap_or_else(|| format!("localhost:{port}"))
    } else {
        address.to_string()
    };
    let secure = options.identity.is_some();
    let tls = options
        .identity
        .map(|identity| TlsAcceptor::from(identity.0));
    let app = Arc::new(App {
        hubs,
        access: Access::new(options.secrets, hosts, port, secure),
        actions,
        workspace: options.workspace,
        build: options.build,
        mode: options.mode,
        dev: options.dev.filter(|_| cfg!(debug_assertions)),
        patience: options.head_timeout,
        sockets: Arc::new(Semaphore::new(options.sockets_max)),
        readers: Arc::new(Semaphore::new(READERS_MAX)),
        workers: Arc::new(Semaphore::new(WORKERS_MAX)),
        waits: Arc::new(Semaphore::new(WAITS_MAX)),
        tracks: Tracks::default(),
        webhooks: Webhooks::default(),
        indexes: AtomicBool::new(false),
        ends: AtomicBool::new(false),
        ending: Notify::new(),
        over: watch::Sender::new(false),
    });
    app.hubs.configured(configuring::choices());
    let router = routes::router(Arc::clone(&app));
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX + options.sockets_max));
    let door = Door {
        router,
        tls,
        head_timeout: options.head_timeout,
    };
    let accepting = runtime.spawn(accept(listener, door, places));
    Ok(Server {
        runtime,
        accepting: Some(accepting.abort_handle()),
        app,
        sockets_max: options.sockets_max,
        address,
        host,
        secure,
    })
}

fn link(origin: &str, launch: &str) -> String {
    format!("{origin}#token={launch}")
}

/// So many places, as a semaphore counts them.
fn all(places: usize) -> u32 {
    u32::try_from(places).unwrap_or(u32::MAX)
}

/// What every connection is received with.
#[derive(Clone)]
struct Door {
    router: Router,
    tls: Option<TlsAcceptor>,
    head_timeout: Duration,
}

/// Accepts connections until it is aborted, which ends those that are open, too.
async fn accept(listener: TcpListener, door: Door, places: Arc<Semaphore>) {
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                // Small frames leave at once.
                drop(stream.set_nodelay(true));
                let door = door.clone();
                open.spawn(async move {
                    match door.tls.clone() {
                        None => converse(stream, door).await,
                        Some(tls) => encrypted(stream, door, &tls).await,
                    }
                    drop(place);
                });
            }
            // No descriptor is left, perhaps. Another try at once would only burn time.
            Err(_) => tokio::time::sleep(END_TIMEOUT / 10).await,
        }
    }
}

/// Agrees on keys and converses. An unencrypted client gets an error.
async fn encrypted(mut stream: TcpStream, door: Door, tls: &TlsAcceptor) {
    let begins = timeout(door.head_timeout, async {
        let mut first = [0];
        let is_there = stream.peek(&mut first).await.is_ok_and(|read| read > 0);
        if is_there && first != HANDSHAKE {
            // The request is read first, or the answer would be lost with the connection.
            let mut head = vec![0; HEAD_BYTES_MAX];
            drop(stream.read(&mut head).await);
            drop(stream.write_all(NOT_ENCRYPTED.as_bytes()).await);
            drop(stream.shutdown().await);
            return None;
        }
        tls.accept(stream).await.ok()
    });
    if let Ok(Some(stream)) = begins.await {
        converse(stream, door).await;
    }
}

async fn converse<S>(stream: S, door: Door)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(door.head_timeout)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .half_close(false);
    let service = TowerToHyperService::new(door.router);
    let connection = http
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // Whatever went wrong concerns this client alone, and it knows.
    drop(connection.await);
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page, without the token.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}/", scheme(self.secure), self.host)
    }

    /// The address to open in the next browser, once, with a token behind the `#`, which no server is
    /// sent.
    #[must_use]
    pub fn link(&self) -> String {
        let launch = self.app.access.secrets().launch();
        link(&self.origin(), &launch)
    }

    /// Has each new address to open, before the browser that used the last one is answered. The function
    /// may wait for a disk.
    pub fn on_new_link(&self, hear: impl Fn(&str) + Send + 'static) {
        let origin = self.origin();
        let secrets = self.app.access.secrets();
        secrets.hear_launches(move |launch| hear(&link(&origin, launch)));
    }

    /// The token, for programs.
    #[must_use]
    pub fn token(&self) -> &str {
        self.app.access.secrets().token()
    }

    /// The hubs.
    #[must_use]
    pub fn hubs(&self) -> &Arc<Hubs> {
        &self.app.hubs
    }

    /// Ends: followers are notified, nothing new is accepted, and what is read or carried out is waited for a while.
    pub fn end(&mut self) {
        self.app.ends.store(true, Ordering::SeqCst);
        self.app.ending.notify_waiters();
        self.app.hubs.end();
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        let app = &self.app;
        self.runtime.block_on(async {
            // Followers are notified that it ends; each has its place until it is gone.
            let gone = app.sockets.acquire_many(all(self.sockets_max));
            drop(timeout(END_TIMEOUT / 20, gone).await);
            accepting.abort();
            app.over.send_replace(true);
            let at_rest = async {
                drop(app.readers.acquire_many(all(READERS_MAX)).await);
                drop(app.workers.acquire_many(all(WORKERS_MAX)).await);
            };
            drop(timeout(END_TIMEOUT, at_rest).await);
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
