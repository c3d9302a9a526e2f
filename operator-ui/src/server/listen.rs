//! The listener: connections are accepted, bounded and timed here, below every route.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::access::{Access, Secrets};
use super::actions::Actions;
use super::app::App;
use super::limits::{
    CONNECTIONS_MAX, END_TIMEOUT, HEAD_BYTES_MAX, HEAD_TIMEOUT, HEADERS_MAX, READERS_MAX,
};
use super::routes;
use super::track::Tracks;
use crate::hub::Hubs;
use crate::protocol::down::Mode;

/// How a server is set up.
#[derive(Debug)]
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Other hosts by which it is reached, each without a port.
    pub hosts: Vec<String>,
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
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    runtime: Option<Runtime>,
    app: Arc<App>,
    address: SocketAddr,
}

/// Starts a server. It listens when this returns.
///
/// # Errors
/// When the address is taken, or the system refuses.
pub fn start(hubs: Arc<Hubs>, actions: Arc<dyn Actions>, options: Options) -> io::Result<Server> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(READERS_MAX + 8)
        .thread_name("serve")
        .enable_io()
        .enable_time()
        .build()?;
    let listener = runtime.block_on(TcpListener::bind(options.listen))?;
    let address = listener.local_addr()?;
    let port = address.port();
    let mut hosts = vec![format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if address.is_ipv6() || !address.ip().is_loopback() {
        hosts.push(format!("[::1]:{port}"));
        hosts.push(address.to_string());
    }
    hosts.extend(options.hosts.iter().map(|host| format!("{host}:{port}")));
    let app = Arc::new(App {
        hubs,
        access: Access::new(options.secrets, hosts, port),
        actions,
        workspace: options.workspace,
        build: options.build,
        mode: options.mode,
        sockets: Arc::new(Semaphore::new(options.sockets_max)),
        readers: Arc::new(Semaphore::new(READERS_MAX)),
        tracks: Tracks::default(),
        ends: AtomicBool::new(false),
        ending: Notify::new(),
    });
    let router = routes::router(Arc::clone(&app));
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX + options.sockets_max));
    runtime.spawn(accept(listener, router, places));
    Ok(Server {
        runtime: Some(runtime),
        app,
        address,
    })
}

async fn accept(listener: TcpListener, router: Router, places: Arc<Semaphore>) {
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(stream, router.clone(), place))),
            // No descriptor is left, perhaps. Another try at once would only burn time.
            Err(_) => tokio::time::sleep(END_TIMEOUT / 10).await,
        }
    }
}

async fn converse(stream: TcpStream, router: Router, place: OwnedSemaphorePermit) {
    // Small frames leave at once.
    drop(stream.set_nodelay(true));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .half_close(false);
    let service = TowerToHyperService::new(router);
    let connection = http
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // Whatever went wrong concerns this client alone, and it knows.
    drop(connection.await);
    drop(place);
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address to open in a browser, with the token behind the `#`, which no server is sent.
    #[must_use]
    pub fn url(&self) -> String {
        format!(
            "http://{}/#token={}",
            self.address,
            self.app.access.secrets().token()
        )
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

    /// Ends: those who follow are told, and nothing new is accepted.
    pub fn end(&mut self) {
        self.app.ends.store(true, Ordering::SeqCst);
        self.app.ending.notify_waiters();
        self.app.hubs.end();
        if let Some(runtime) = self.runtime.take() {
            // Those who follow are told that it ends.
            std::thread::sleep(END_TIMEOUT / 20);
            runtime.shutdown_timeout(END_TIMEOUT);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
