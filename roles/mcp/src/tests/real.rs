//! Servers that others wrote, from the registries, with pinned versions.
//!
//! The gate installs those of Node in `tests/world`, and that of Python is installed once into the target folder.
//! Where they are not, or there is no Node or Python to run them, the tests say NOT MEASURED and nothing else.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::turn::Effect;

use super::super::{
    Given, RemoteCall, RemoteCallFault, RemoteOutput, ServerLimits, ServerTools, Servers, parse,
};
use super::stand::path;

const PIP_VERSION: &str = "2026.10.19";

/// One installation at a time.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The target folder, relative to this test's executable.
fn target() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.ancestors().nth(3).unwrap().join("mcp-servers")
}

/// Whether a command succeeds; says what it is for if not.
fn succeeds(command: &mut Command, what: &str) -> bool {
    let output = command.stdin(Stdio::null()).output();
    let succeeded = output.as_ref().is_ok_and(|output| output.status.success());
    if !succeeded {
        let why = match output {
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(why) => why.to_string(),
        };
        not_measured(&format!("{what}: {why:.200}"));
    }
    succeeded
}

/// Says past the capture of tests that pass that something could not be looked at.
fn not_measured(why: &str) {
    let words = format!("NOT MEASURED: programs that others wrote: {why}");
    writeln!(std::io::stderr(), "{words}").unwrap();
}

/// Installs into a folder of its own, which gets its name only when it is whole.
fn installed(name: &str, install: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = target().join(name);
    if folder.exists() {
        return Some(folder);
    }
    let begun = target().join(format!("{name}.{}", std::process::id()));
    std::fs::create_dir_all(&begun).unwrap();
    if !install(&begun) {
        std::fs::remove_dir_all(&begun).unwrap();
        return None;
    }
    // Another process may have been faster.
    if std::fs::rename(&begun, &folder).is_err() {
        std::fs::remove_dir_all(&begun).unwrap();
    }
    Some(folder)
}

/// The main file of a server of Node.
fn of_npm(package: &str) -> Option<String> {
    if !succeeds(Command::new("node").arg("--version"), "node") {
        return None;
    }
    let modules = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/world/node_modules"
    );
    let folder = Path::new(modules).join("@modelcontextprotocol");
    let main = folder.join(package).join("dist/index.js");
    if !main.exists() {
        not_measured(&format!("{package} is not installed in tests/world"));
        return None;
    }
    Some(path(&main))
}

/// The Python that has a server installed.
fn of_pip(package: &str) -> Option<String> {
    let name = format!("{package}-{PIP_VERSION}");
    let wanted = format!("{package}=={PIP_VERSION}");
    let folder = installed(&name, |folder| {
        // Not a virtual environment, which could not be renamed.
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-input"]);
        pip.args(["--retries=0", "--timeout=60", "--target"]);
        pip.arg(folder).arg(&wanted);
        succeeds(&mut pip, &wanted)
    })?;
    Some(path(&folder))
}

fn servers(text: &str) -> Servers {
    // What an operator's own shell would give.
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    let given = Given {
        environment,
        ..Given::default()
    };
    Servers::new(parse(text).unwrap(), given, ServerLimits::default())
}

fn tools(servers: &Servers) -> std::sync::Arc<ServerTools> {
    let name = servers.names().next().unwrap().to_owned();
    servers.tools(&name, &StopSignal::default()).unwrap()
}

fn call(servers: &Servers, tool: &str, arguments: &str) -> RemoteOutput {
    within(servers, tool, arguments, Duration::from_secs(60)).unwrap()
}

fn within(
    servers: &Servers,
    tool: &str,
    arguments: &str,
    limit: Duration,
) -> Result<RemoteOutput, RemoteCallFault> {
    let tools = tools(servers);
    let call = RemoteCall {
        tool,
        definition: tools
            .named(tool)
            .unwrap_or_else(|| panic!("{tools:#?}"))
            .definition,
        arguments,
        limit: Some(limit),
        key: Some("key-1"),
    };
    servers.call(&call, &StopSignal::default())
}

/// What the server for everything does in the same way over pipes and over HTTP.
fn does_everything(servers: &Servers) {
    let offered = tools(servers);
    assert!(offered.offered.len() >= 8, "{offered:#?}");
    assert_eq!(offered.refused, []);
    let name = |raw: &str| format!("mcp__everything__{raw}");
    let echo = call(servers, &name("echo"), r#"{"message":"hello"}"#);
    assert_eq!((echo.text.as_str(), echo.is_error), ("Echo: hello", false));
    let sum = call(servers, &name("get-sum"), r#"{"a":2,"b":3}"#);
    assert!(sum.text.contains('5'), "{}", sum.text);
    let wrong = call(servers, &name("get-sum"), r#"{"a":"two"}"#);
    assert!(wrong.is_error, "{}", wrong.text);
    let picture = call(servers, &name("get-tiny-image"), "{}");
    assert!(
        picture.text.contains("[a picture of type image/png"),
        "{}",
        picture.text
    );
    assert!(picture.whole.is_some());
    let limit = Duration::from_millis(200);
    let long = r#"{"duration":20,"steps":2}"#;
    let fault = within(
        servers,
        &name("trigger-long-running-operation"),
        long,
        limit,
    )
    .unwrap_err();
    assert_eq!(fault, RemoteCallFault::TimedOut { limit });
    let echo = call(servers, &name("echo"), r#"{"message":"again"}"#);
    assert_eq!(echo.text, "Echo: again");
    assert_eq!(servers.health()[0].starts, 1);
}

#[test]
fn the_server_for_everything_works_over_pipes() {
    let Some(main) = of_npm("server-everything") else {
        return;
    };
    let text = format!("mcp-servers: {{everything: {{command: node, args: ['{main}', stdio]}}}}\n");
    does_everything(&servers(&text));
}

/// A server that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn the_server_for_everything_works_over_http() {
    let Some(main) = of_npm("server-everything") else {
        return;
    };
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut node = Command::new("node");
    node.args([main.as_str(), "streamableHttp"])
        .env("PORT", port.to_string());
    node.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _running = Running(node.spawn().unwrap());
    let is_there = (0..2_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    assert!(is_there, "the server did not begin to listen");
    let text = format!("mcp-servers: {{everything: {{url: 'http://127.0.0.1:{port}/mcp'}}}}\n");
    does_everything(&servers(&text));
}

#[test]
fn the_server_for_files_reads_and_writes_within_its_folder_only() {
    let Some(main) = of_npm("server-filesystem") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let root = path(&folder.path().canonicalize().unwrap());
    let text = format!(
        "mcp-servers: {{files: {{command: node, args: ['{main}', '{root}'], read-only: [read_text_file]}}}}\n"
    );
    let servers = servers(&text);
    let offered = tools(&servers);
    let effect = |name: &str| offered.named(name).unwrap().effect;
    assert_eq!(effect("mcp__files__read_text_file"), Effect::Pure);
    assert_eq!(effect("mcp__files__write_file"), Effect::Mutating);
    let arguments = format!(r#"{{"path":"{root}/a.txt","content":"grüße"}}"#);
    assert!(!call(&servers, "mcp__files__write_file", &arguments).is_error);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a.txt")).unwrap(),
        "grüße"
    );
    let arguments = format!(r#"{{"path":"{root}/a.txt"}}"#);
    assert_eq!(
        call(&servers, "mcp__files__read_text_file", &arguments).text,
        "grüße"
    );
    let outside = call(
        &servers,
        "mcp__files__read_text_file",
        r#"{"path":"/etc/hostname"}"#,
    );
    assert!(outside.is_error, "{}", outside.text);
}

#[test]
fn the_server_for_time_works() {
    if !succeeds(Command::new("python3").arg("--version"), "python3") {
        return;
    }
    let Some(folder) = of_pip("mcp-server-time") else {
        return;
    };
    let text = format!(
        "mcp-servers:\n  time:\n    command: python3\n    args: [-m, mcp_server_time, --local-timezone, UTC]\n    env: {{PYTHONPATH: '{folder}'}}\n"
    );
    let servers = servers(&text);
    let arguments = r#"{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}"#;
    let converted = call(&servers, "mcp__time__convert_time", arguments);
    assert!(
        converted.text.contains("21:00") && !converted.is_error,
        "{}",
        converted.text
    );
}
