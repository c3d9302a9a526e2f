//! `serve`: the operator's page and all flows of the workspace, until it is interrupted.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::fact::journal::ProcessName;
use a_society_facts::view::FlowSummary;
use a_society_facts::view::standing::FlowStanding;
use a_society_operator_ui::hub::Hubs;
use a_society_operator_ui::protocol::down::Mode;
use a_society_operator_ui::server::actions::{Actions, adopt, adopt_own};
use a_society_operator_ui::server::dev::DevSource;
use a_society_operator_ui::server::{self, Identity, Options, Secrets, Server};
use a_society_orchestrator::config::user;
use a_society_orchestrator::mint::{Mint, SystemMint};
use a_society_orchestrator::schedules::scheduler::{ScheduleNews, Scheduler};
use a_society_orchestrator::webhooks::began_by_itself;
use a_society_state::disk::RealDisk;
use a_society_state::files::read_whole;
use a_society_state::{Store, process};
use serde_json::json;

use super::browser;
use super::context::Context;
use super::notify::Notifier;
use super::replay::{self, Speed};
use super::served::Workspace;
use super::signals::Interrupts;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop, from_io};
use crate::output_file::write_private;
use crate::text::plain;
use crate::workspace;

/// The port, unless another is wanted: the same each time, so that a bookmark stays good.
const PORT: u16 = 4780;

/// The default number of sockets that are open at once.
const SOCKETS: u16 = server::limits::SOCKETS_MAX;

/// An interruption ends this sooner.
const LINGER: Duration = Duration::from_secs(60);

/// How many microseconds flows may take to reach a recorded point when the server ends.
const DRAIN_US_MAX: u64 = 60_000_000;

/// The file that says how the running server is reached.
const SERVER_FILE: &str = "server.json";

/// It holds three short members; what is longer is not ours.
const SERVER_FILE_BYTES_MAX: u64 = 4 * 1024;

/// The largest file of certificates or of a key; a chain of ten is a tenth of it.
const PEM_BYTES_MAX: u64 = 256 * 1024;

/// A server on this machine answers in far less; a start does not wait longer for one that does not.
const KNOCK: Duration = Duration::from_millis(200);

/// The arguments of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
serve prints an address for your browser. The part after # is a token that signs in the first \
browser that opens it, with all your rights. For another browser, or after a cookie was deleted, \
--link prints a new address. Without a token the server shows nothing, not even to this machine. \
Flows that no process drives are shown as stopped; they go on when you say so, or at once with \
--resume. schedules: of your configuration say what it begins at due times; schedules ls lists \
them. A flow that waits for a provider's limit to reset goes on by itself at that time; pause \
it if it should not. Ctrl-C lets running turns reach a recorded point; nothing recorded is lost.

It listens on this machine only. Another address is refused unless the connection is encrypted, \
with --tls-cert and --tls-key, or you also say --insecure-lan: then everybody on the way can read \
the token and act as you. A tunnel, such as ssh -L, is as good as encryption. A browser that uses \
a name instead of the address needs that name in --allow-host.

Examples:
  a-society serve
  a-society serve --open --resume
  a-society serve --link
  a-society serve --port 0 --json | jq -r .url
  a-society serve --listen 0.0.0.0 --allow-host box.lan --tls-cert cert.pem --tls-key key.pem
  a-society serve --journal tests/journals/v1/journal/00000001.jsonl --speed 20")]
pub(crate) struct Arguments {
    /// The port; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,

    /// Open the page in your browser
    #[arg(long)]
    open: bool,

    /// Resume every flow that is stopped
    #[arg(long)]
    resume: bool,

    /// Print an address for another browser of the server that runs here, and end
    #[arg(long, conflicts_with_all = ["open", "resume", "journal"])]
    link: bool,

    /// Listen on another address than this machine's own; needs encryption or --insecure-lan
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,

    /// Another name by which a browser reaches this server
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,

    /// Encrypt with this certificate: a PEM file, the server's own first and then those that vouch for it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The certificate's private key: a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Send everything unencrypted, the token too
    #[arg(long)]
    insecure_lan: bool,

    /// How many sockets are open at once
    #[arg(long, value_name = "N", default_value_t = SOCKETS, value_parser = clap::value_parser!(u16).range(1..))]
    sockets_max: u16,

    /// Show a journal as if it were written now, instead of the workspace
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// How fast the journal is written: 0 all at once, 1 as it was, 20 twenty times as fast
    #[arg(long, value_name = "FACTOR", default_value = "0", requires = "journal")]
    speed: Speed,

    /// What time it is for a journal: the machine's, or the journal's own
    #[arg(
        long,
        value_name = "CLOCK",
        value_enum,
        default_value_t,
        requires = "journal"
    )]
    clock: replay::ReplayClock,
}

/// Serves.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    if arguments.link {
        return print_link(context);
    }
    let listen = listen(arguments)?;
    let identity = identity(arguments)?;
    let interrupts = Interrupts::listen()?;
    let played = match &arguments.journal {
        Some(journal) => Some(replay::begin(
            context,
            journal,
            arguments.speed,
            arguments.clock,
        )?),
        None => None,
    };
    let store = match &played {
        Some(played) => played.store(),
        None => context.store()?,
    };
    let mode = if played.is_some() {
        Mode::Replay
    } else {
        Mode::Live
    };
    let wanted = Wanted {
        listen,
        hosts: arguments.allow_host.clone(),
        identity,
        sockets_max: usize::from(arguments.sockets_max),
        mode,
        dev: worked_on(context, listen)?,
    };
    let (mut server, actions) = start(&store, wanted)?;
    let told = if played.is_none() {
        tell_file(context, &store, &server)?
    } else {
        None
    };
    announce(context, arguments, &server)?;
    if played.is_none() {
        resume(context, &store, &server, &actions, arguments.resume);
    }
    let mut schedules = played.is_none().then(|| Scheduler::new(&store));
    while interrupts.count() == 0 {
        let longest = match &mut schedules {
            Some(schedules) => run_schedules(context, schedules, &server, &store),
            None => LINGER,
        };
        interrupts.wait(longest);
    }
    end(context, &mut server, &interrupts);
    if let Some(path) = told {
        // The next server writes it anew; an old one does no harm, as its token is worth nothing.
        drop(store.ground().disk.remove_file(&path));
    }
    Ok(ExitCode::Ok)
}

fn listen(arguments: &Arguments) -> Result<SocketAddr, Stop> {
    let address = arguments.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let guarded = arguments.insecure_lan || arguments.tls_cert.is_some();
    if !address.is_loopback() && !guarded {
        return Err(OperatorError::new(
            ("not-secure", ExitCode::Usage),
            format!("{address} is not this machine alone"),
            "the connection is not encrypted, and everyone who reads it can act as you",
            "encrypt with --tls-cert and --tls-key, use a tunnel such as ssh -L, or accept that with --insecure-lan",
        )
        .into());
    }
    Ok(SocketAddr::new(address, arguments.port))
}

/// Who the server is to those who connect over TLS, if it is to be encrypted.
fn identity(arguments: &Arguments) -> Result<Option<Identity>, Stop> {
    let (Some(certificate), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) else {
        return Ok(None);
    };
    let read = |path: &PathBuf| {
        let read = read_whole(&RealDisk, path, PEM_BYTES_MAX);
        read.map_err(|error| unfit_identity(&path.display().to_string(), &error.to_string()))
    };
    let (chain, secret) = (read(certificate)?, read(key)?);
    let found = Identity::read(&chain, &secret);
    found.map(Some).map_err(|error| {
        let files = format!("{} and {}", certificate.display(), key.display());
        unfit_identity(&files, &error.to_string())
    })
}

fn unfit_identity(files: &str, why: &str) -> Stop {
    OperatorError::new(
        ("tls-unfit", ExitCode::Usage),
        format!("{files} cannot be used for TLS"),
        why,
        "name a chain of certificates and its private key as PEM files, such as mkcert or your authority made",
    )
    .into()
}

/// What is wanted of a server.
struct Wanted {
    listen: SocketAddr,
    hosts: Vec<String>,
    identity: Option<Identity>,
    sockets_max: usize,
    mode: Mode,
    dev: Option<DevSource>,
}

impl Wanted {
    /// What a command wants that shows its own flow: this machine only, on any port.
    fn beside() -> Self {
        Self {
            dev: None,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            hosts: Vec::new(),
            identity: None,
            sockets_max: usize::from(SOCKETS),
            mode: Mode::Live,
        }
    }
}

/// Starts a server of a workspace.
///
/// # Errors
/// When the address is taken, or the system refuses.
fn start(store: &Store, wanted: Wanted) -> Result<(Server, Arc<dyn Actions>), Stop> {
    let refused = |error: std::io::Error| from_io("serve", "the page", &error);
    let epoch = format!("{:032x}", SystemMint.number());
    let actions: Arc<dyn Actions> = Arc::new(Workspace::new(store.clone()));
    let hubs = Hubs::new(store.clone(), epoch, user::reach().ok());
    let folder = workspace::folder_of(store);
    let options = Options {
        listen: wanted.listen,
        hosts: wanted.hosts,
        identity: wanted.identity,
        head_timeout: server::limits::HEAD_TIMEOUT,
        sockets_max: wanted.sockets_max,
        secrets: Secrets::new().map_err(refused)?,
        workspace: folder.display().to_string(),
        build: env!("CARGO_PKG_VERSION").to_owned(),
        mode: wanted.mode,
        dev: wanted.dev,
    };
    let server = server::start(hubs, Arc::clone(&actions), options);
    let server = server.map_err(|error| taken(store, wanted.listen, &error))?;
    Ok((server, actions))
}

/// The source of the page's files while they are worked on, after a note about it.
///
/// # Errors
/// client.
fn worked_on(context: &mut Context<'_>, listen: SocketAddr) -> Result<Option<DevSource>, Stop> {
    let Some(value) = &context.environment.page else {
        return Ok(None);
    };
    let value = value.to_string_lossy();
    let unfit = |why: &str| {
        OperatorError::new(
            ("page-unfit", ExitCode::Usage),
            format!("A_SOCIETY_UI_DEV names {}", plain(&value)),
            why,
            "name an address of this machine, such as http://127.0.0.1:5173, and listen on this machine only",
        )
    };
    let from = DevSource::named(&value).map_err(unfit)?;
    if !listen.ip().is_loopback() {
        return Err(unfit("a development server gives its files to everyone").into());
    }
    let words = format!("the page's files come from {from} (A_SOCIETY_UI_DEV)");
    context.out.note(&words);
    Ok(Some(from))
}

fn taken(store: &Store, listen: SocketAddr, error: &std::io::Error) -> Stop {
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return from_io("listen at", &listen.to_string(), error).into();
    }
    let file = store.root().parent().map(|folder| folder.join(SERVER_FILE));
    let ours = file.and_then(|file| running(store, &file));
    if let Some(ours) = ours.filter(|ours| ours.address.port() == listen.port()) {
        return OperatorError::new(
            ("served-already", ExitCode::Busy),
            format!("this workspace is served already, at {}", ours.url),
            "one server shows all of its flows to any number of browsers",
            "a-society serve --link",
        )
        .into();
    }
    OperatorError::new(
        ("address-taken", ExitCode::Busy),
        format!("another program listens at {listen}"),
        "only one program can; it may be another a-society serve",
        "open that one, or take another port with --port 0",
    )
    .into()
}

/// What the file says that another server looks for.
#[derive(Debug, serde::Deserialize)]
struct Told {
    url: String,
    /// The address for the next browser; servers before did without.
    #[serde(default)]
    link: Option<String>,
    address: SocketAddr,
    process: ProcessName,
}

/// Writes a file with the server's address and token, readable for the operator's other programs only.
///
/// One whose server still answers keeps its place: the first server to end would otherwise remove the
/// other's.
fn tell_file(
    context: &mut Context<'_>,
    store: &Store,
    server: &Server,
) -> Result<Option<PathBuf>, Stop> {
    let Some(folder) = store.root().parent() else {
        return Ok(None);
    };
    let path = folder.join(SERVER_FILE);
    if let Some(url) = answers_already(store, &path, server.address()) {
        context.out.note(&plain(&format!(
            "another server of this workspace answers at {url}; {SERVER_FILE} still names that one"
        )));
        return Ok(None);
    }
    let told = json!({
        "url": server.origin(),
        "link": server.link(),
        "address": server.address(),
        "token": server.token(),
        "pid": store.ground().process.pid,
        "process": store.ground().process,
    });
    write_private(&path, &told.to_string())?;
    let file = path.clone();
    server.on_new_link(move |link| {
        // A file that cannot be written names an address that was used, which opens nothing: the browser
        // says so, and the next one that signs in writes it again.
        let mut told = told.clone();
        told["link"] = link.into();
        drop(write_private(&file, &told.to_string()));
    });
    Ok(Some(path))
}

/// Where the server that a file names is reached, if it still runs: the very process that wrote it, and
/// not another that has its number or its address by now. At the address of this server only this server answers.
fn answers_already(store: &Store, path: &Path, ours: SocketAddr) -> Option<String> {
    let other = running(store, path)?;
    (other.address != ours).then_some(other.url)
}

fn running(store: &Store, path: &Path) -> Option<Told> {
    let disk = store.ground().disk.as_ref();
    let bytes = read_whole(disk, path, SERVER_FILE_BYTES_MAX).ok()?;
    let told: Told = serde_json::from_slice(&bytes).ok()?;
    if process::named(disk, told.process.pid) != told.process {
        return None;
    }
    // A process that was killed keeps its number until its parent has waited for it.
    TcpStream::connect_timeout(&told.address, KNOCK).ok()?;
    Some(told)
}

/// The address for the next browser of the server that runs, if one does.
pub(crate) fn link_of(store: &Store) -> Option<String> {
    let path = store.root().parent()?.join(SERVER_FILE);
    running(store, &path)?.link
}

/// Prints the address for the next browser of the server that runs.
fn print_link(context: &mut Context<'_>) -> Outcome {
    let store = context.store()?;
    let Some(link) = link_of(&store) else {
        return Err(OperatorError::new(
            ("no-server", ExitCode::NotFound),
            "no server of this workspace runs",
            "an address for a browser is made by the server that it leads to",
            "start one, which prints the first: a-society serve",
        )
        .into());
    };
    if context.out.is_json() {
        context.out.value(&json!({ "url": link }))?;
    } else {
        context.out.line(&link)?;
    }
    Ok(ExitCode::Ok)
}

fn announce(context: &mut Context<'_>, arguments: &Arguments, server: &Server) -> Result<(), Stop> {
    let url = server.link();
    if context.out.is_json() {
        context.out.value(&json!({
            "url": url,
            "address": server.address().to_string(),
            "token": server.token(),
        }))?;
    } else {
        context.out.line(&url)?;
    }
    context.out.flush()?;
    if !server.address().ip().is_loopback() && arguments.tls_cert.is_none() {
        let warning = "warning: everybody on the network can read what is sent, the token too";
        context.out.note(warning);
    }
    context.out.note("Ctrl-C ends it");
    if arguments.open {
        open(context, &url);
    }
    Ok(())
}

/// Opens a page, and says so if that cannot be done.
fn open(context: &mut Context<'_>, url: &str) {
    if let Err(why) = browser::open(url) {
        context.out.note(&format!(
            "no browser could be opened ({why}); open the address yourself"
        ));
    }
}

/// Goes on with what only waits for a limit to reset, and with what a schedule or a webhook began; or with every flow
/// without a driver.
fn resume(
    context: &mut Context<'_>,
    store: &Store,
    server: &Server,
    actions: &Arc<dyn Actions>,
    all: bool,
) {
    let Ok(census) = store.census() else { return };
    let rows = a_society_state::index::rows(store, &census.flows);
    let stopped = rows.into_iter().filter(|row| {
        let goes_on = row
            .summary
            .as_ref()
            .is_some_and(|summary| !summary.is_over() && (all || is_limited(summary)));
        let goes_on = goes_on
            || (row.standing() == Some(FlowStanding::Stopped) && began_by_itself(store, &row.flow));
        goes_on && row.held_by.is_none() && row.damage.is_none()
    });
    for row in stopped {
        match actions.resume(&row.flow) {
            Ok(begun) if began_by_itself(store, &row.flow) => adopt_own(server.hubs(), begun),
            Ok(begun) => adopt(server.hubs(), begun),
            Err(fault) => {
                let line = format!("{} does not go on: {}: {}", row.flow, fault.what, fault.why);
                context.out.note(&plain(&line));
            }
        }
    }
}

/// Begins what is due, and returns how long nothing else is.
fn run_schedules(
    context: &mut Context<'_>,
    schedules: &mut Scheduler,
    server: &Server,
    store: &Store,
) -> Duration {
    let mut news = ScheduleNews::default();
    let longest = schedules.look(&mut news);
    for begun in news.begun {
        Notifier::leave(&begun.flow, &begun.driven.handle, store);
        adopt_own(server.hubs(), begun);
    }
    for note in news.notes {
        context.out.note(&plain(&note));
    }
    Duration::from_millis(longest)
}

/// Whether a flow only waits for limits of providers to reset, and would go on by itself.
fn is_limited(summary: &FlowSummary) -> bool {
    matches!(FlowStanding::of(summary, true), FlowStanding::Limited(_))
}

/// Ends in good order: turns that run reach a recorded point, unless the operator has no patience.
fn end(context: &mut Context<'_>, server: &mut Server, interrupts: &Interrupts) {
    let driven = server.hubs().driven();
    for (_, handle) in &driven {
        handle.drain();
    }
    if !driven.is_empty() {
        context.out.note(
            "interrupted: nothing new is started, and running turns reach a recorded point; again \
             to end at once",
        );
    }
    let before = interrupts.count();
    let hubs = Arc::clone(server.hubs());
    if let Ok(rests) = hubs.rest_bell() {
        let clock = &hubs.store.ground().clock;
        let until = clock.elapsed_us().saturating_add(DRAIN_US_MAX);
        while !hubs.driven().is_empty() && interrupts.count() == before {
            let left = until.saturating_sub(clock.elapsed_us());
            if left == 0 {
                break;
            }
            interrupts.wait_beside(Some(rests.as_fd()), Duration::from_micros(left));
        }
    }
    server.end();
}

/// A server beside a command that drives a flow itself.
///
/// # Errors
/// When the system refuses.
pub(crate) fn beside(context: &mut Context<'_>, store: &Store) -> Result<Server, Stop> {
    let mut wanted = Wanted::beside();
    wanted.dev = worked_on(context, wanted.listen)?;
    let (server, _) = start(store, wanted)?;
    context.out.note(&format!("the page: {}", server.link()));
    Ok(server)
}

/// Waits for an interruption while a page shows what there is.
pub(crate) fn linger(context: &mut Context<'_>, interrupts: &Interrupts) {
    context.out.note("the page still shows it; Ctrl-C ends it");
    let before = interrupts.count();
    while interrupts.count() == before {
        interrupts.wait(LINGER);
    }
}
