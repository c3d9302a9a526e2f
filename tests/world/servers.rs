//! The official servers of the Model Context Protocol: what they offer arrives at the model, what it calls
//! changes something, and their death is reported.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::aimock::{Aimock, calls, texts, when};
use super::installed::{package, python};
use super::site::Site;

/// How long anything may take before the test says what it waited for.
const LONGEST: Duration = Duration::from_secs(60);

/// A flow of one node whose role has these servers.
fn flow(servers: &str) -> String {
    format!(
        "workflow:\n  name: Use them\n  nodes:\n    - {{ id: use, role: owner, work: [ Use the servers. ] }}\n  \
         edges: []\nroles:\n  owner: {{ instructions: You use servers., mcp-servers: [{servers}] }}\n"
    )
}

/// The main file of a server.
fn main_file(name: &str) -> Option<PathBuf> {
    Some(package(&format!("@modelcontextprotocol/{name}"))?.join("dist/index.js"))
}

/// What the model says at last.
fn ends() -> Value {
    calls("handoff", &json!({ "type": "forward-pass-closed" }))
}

pub(super) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONGEST, "it took too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program that ends with its test.
pub(super) struct Running(pub(super) Child);

impl Running {
    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a server says itself that it offers, asked past the program: descriptions and schemas by name.
fn offers(main: &PathBuf, words: &[&str]) -> BTreeMap<String, (Value, Value)> {
    let mut node = Command::new("node");
    node.arg(main).args(words);
    node.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut server = Running(node.spawn().unwrap());
    let mut asks = server.0.stdin.take().unwrap();
    let client = json!({ "name": "test", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    for request in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ] {
        writeln!(asks, "{request}").unwrap();
    }
    let lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let mut said = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let list = said
        .find(|said| said["id"] == 2)
        .expect("it lists its tools");
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            let about = (tool["description"].clone(), tool["inputSchema"].clone());
            (tool["name"].as_str().unwrap().to_owned(), about)
        })
        .collect()
}

/// Holds a request to what a server offers: every tool of it is there, as it describes it.
fn holds_all(request: &Value, server: &str, offered: &BTreeMap<String, (Value, Value)>) {
    assert!(!offered.is_empty());
    let tools = request["body"]["tools"].as_array().unwrap();
    for (name, (description, schema)) in offered {
        let name = format!("mcp__{server}__{name}");
        let tool = tools
            .iter()
            .find(|tool| tool["function"]["name"] == name.as_str());
        let tool = &tool.unwrap_or_else(|| panic!("{name} did not arrive"))["function"];
        assert_eq!(&tool["parameters"], schema, "{name}");
        // It is surrounded by words that name its server.
        let (said, description) = (tool["description"].as_str(), description.as_str());
        assert!(
            said.unwrap().contains(description.unwrap()),
            "{name}: {said:?}"
        );
    }
    let ours = format!("mcp__{server}__");
    let arrived = tools.iter().filter(|tool| {
        tool["function"]["name"]
            .as_str()
            .unwrap()
            .starts_with(&ours)
    });
    assert_eq!(arrived.count(), offered.len(), "{server}");
}

/// A model that calls a tool of each of three servers, and writes a letter with one of them.
fn uses_three(letter: &Path) -> Vec<Value> {
    let entity = json!({ "name": "Mond", "entityType": "cat", "observations": ["sleeps on \u{6f22}\u{5b57}"] });
    vec![
        when(
            json!({ "userMessage": "node `use`", "hasToolResult": false }),
            calls(
                "mcp__memory__create_entities",
                &json!({ "entities": [entity] }),
            ),
        ),
        when(
            json!({ "toolResultContains": "Mond" }),
            calls(
                "mcp__files__write_file",
                &json!({ "path": letter, "content": "Gr\u{fc}\u{df}e.\n" }),
            ),
        ),
        when(
            json!({ "toolResultContains": "letter.txt" }),
            calls(
                "mcp__everything__echo",
                &json!({ "message": "from a role" }),
            ),
        ),
        when(json!({ "toolResultContains": "Echo: from a role" }), ends()),
    ]
}

#[test]
fn what_the_official_servers_offer_arrives_and_calls_of_it_change_files_and_memory() {
    let (Some(files), Some(memory), Some(everything)) = (
        main_file("server-filesystem"),
        main_file("server-memory"),
        main_file("server-everything"),
    ) else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (letter, facts) = (root.join("letter.txt"), root.join("memory.jsonl"));
    let Some(model) = Aimock::start(&uses_three(&letter)) else {
        return;
    };
    let configured = format!(
        "mcp-servers:\n  files: {{ command: node, args: ['{}', '{}'] }}\n  \
         memory: {{ command: node, args: ['{}'], env: {{ MEMORY_FILE_PATH: '{}' }} }}\n  \
         everything: {{ command: node, args: ['{}', stdio] }}\n",
        files.display(),
        root.display(),
        memory.display(),
        facts.display(),
        everything.display(),
    );
    let site = Site::new(
        &flow("files, memory, everything"),
        &model,
        "openai-responses",
        &configured,
    );
    let mut said = site.begin();
    for tool in [
        "mcp__memory__create_entities",
        "mcp__files__write_file",
        "mcp__everything__echo",
    ] {
        assert!(
            said.code == 9 && said.err.contains(tool),
            "{tool}: {said:?}"
        );
        site.allow();
        said = site.resume();
    }
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        std::fs::read_to_string(&letter).unwrap(),
        "Gr\u{fc}\u{df}e.\n"
    );
    let remembered = std::fs::read_to_string(&facts).unwrap();
    assert!(
        remembered.contains("sleeps on \u{6f22}\u{5b57}"),
        "{remembered}"
    );

    let heard = model.answered();
    assert_eq!(heard.len(), 4);
    let root = root.to_str().unwrap();
    for (name, main, words) in [
        ("files", &files, vec![root]),
        ("memory", &memory, vec![]),
        ("everything", &everything, vec!["stdio"]),
    ] {
        holds_all(&heard[0], name, &offers(main, &words));
    }
    assert!(texts(&heard[3], "tool")[2].contains("Echo: from a role"));
}

/// A server that listens, once it does.
fn over_http(main: &PathBuf) -> (Running, u16) {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut node = Command::new("node");
    node.arg(main)
        .arg("streamableHttp")
        .env("PORT", port.to_string());
    node.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let running = Running(node.spawn().unwrap());
    wait_until("the server listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    (running, port)
}

#[test]
fn the_death_of_a_server_over_http_is_told_to_the_model_that_calls_it() {
    let Some(main) = main_file("server-everything") else {
        return;
    };
    let echo = |message: &str| calls("mcp__everything__echo", &json!({ "message": message }));
    let answers = [
        when(json!({ "toolResultContains": "Echo: once" }), echo("twice")),
        when(
            json!({ "toolResultContains": "The server everything is not there now" }),
            ends(),
        ),
        when(
            json!({ "userMessage": "node `use`", "hasToolResult": false }),
            echo("once"),
        ),
    ];
    let Some(model) = Aimock::start(&answers) else {
        return;
    };
    let (mut server, port) = over_http(&main);
    let configured =
        format!("mcp-servers:\n  everything: {{ url: 'http://127.0.0.1:{port}/mcp' }}\n");
    let site = Site::new(&flow("everything"), &model, "openai-chat", &configured);
    let said = site.begin();
    assert_eq!(said.code, 9, "{said:?}");
    site.allow();
    let said = site.resume();
    assert!(said.code == 9 && said.err.contains("twice"), "{said:?}");
    let heard = model.answered();
    holds_all(&heard[0], "everything", &offers(&main, &["stdio"]));
    server.end();
    site.allow();
    let said = site.resume();
    assert_eq!(said.code, 0, "{said:?} {:?}", model.results());
    let heard = model.answered();
    let results = texts(&heard[2], "tool");
    let told = results[1];
    assert!(
        told.contains("It cannot be reached: ") && !told.contains("::"),
        "{told}"
    );
}

/// Ends every process whose command line has a word in it, as a fault would.
fn ended(word: &str) -> usize {
    let listed = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let has_word = |process: &PathBuf| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        // Its supervisor has the word in its own line as well.
        line.starts_with(b"node\0") && String::from_utf8_lossy(&line).contains(word)
    };
    let found = listed.map(|entry| entry.path()).filter(has_word);
    let end = |process: PathBuf| {
        let id = process.file_name().unwrap().to_owned();
        Command::new("kill")
            .args(["-s", "KILL"])
            .arg(id)
            .status()
            .unwrap()
            .success()
    };
    found.filter(|process| end(process.clone())).count()
}

#[test]
fn the_death_of_a_server_in_a_call_is_told_to_the_model_and_nothing_is_called_again() {
    let Some(main) = main_file("server-everything") else {
        return;
    };
    let long = json!({ "duration": 60, "steps": 2 });
    let answers = [
        when(
            json!({ "toolResultContains": "What the call did is not known" }),
            ends(),
        ),
        when(
            json!({ "userMessage": "node `use`", "hasToolResult": false }),
            calls("mcp__everything__trigger-long-running-operation", &long),
        ),
    ];
    let Some(model) = Aimock::start(&answers) else {
        return;
    };
    let word = format!("a-society-dies-in-a-call-{}", std::process::id());
    let configured = format!(
        "mcp-servers:\n  everything: {{ command: node, args: ['{}', stdio, '{word}'] }}\n",
        main.display()
    );
    let site = Site::new(&flow("everything"), &model, "anthropic", &configured);
    let said = site.begin();
    assert_eq!(said.code, 9, "{said:?}");
    site.allow();
    let mut goes_on = Running(site.resume_beside());
    let log = || site.run(&["log", &site.flow(), "--json"]).out;
    wait_until("the call has begun", || log().contains("\"call_started\""));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(ended(&word), 1);
    let code = goes_on.0.wait().unwrap().code();
    assert_eq!(code, Some(0), "{:?}", model.results());
    let heard = model.answered();
    let results = texts(&heard[1], "tool");
    assert!(heard.len() == 2 && results.len() == 1, "{results:?}");
}

fn git(folder: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    let git = git.arg("-C").arg(folder).args(words).output().unwrap();
    assert!(git.status.success(), "{git:?}");
    String::from_utf8(git.stdout).unwrap()
}

#[test]
fn a_call_of_a_server_in_python_makes_a_commit() {
    let Some(python) = python() else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = folder.path().canonicalize().unwrap();
    git(&root, &["init", "--quiet"]);
    git(&root, &["config", "user.name", "Somebody"]);
    git(&root, &["config", "user.email", "somebody@example.org"]);
    std::fs::write(root.join("a.md"), "One.\n").unwrap();
    let commit = json!({ "repo_path": root, "message": "add: one" });
    let answers = [
        when(
            json!({ "userMessage": "node `use`", "hasToolResult": false }),
            calls(
                "mcp__git__git_add",
                &json!({ "repo_path": root, "files": ["a.md"] }),
            ),
        ),
        when(
            json!({ "toolResultContains": "staged" }),
            calls("mcp__git__git_commit", &commit),
        ),
        when(json!({ "toolResultContains": "committed" }), ends()),
    ];
    let Some(model) = Aimock::start(&answers) else {
        return;
    };
    let configured = format!(
        "mcp-servers:\n  git: {{ command: '{}', args: [-m, mcp_server_git, --repository, '{}'] }}\n",
        python.display(),
        root.display()
    );
    let site = Site::new(&flow("git"), &model, "openai-chat", &configured);
    let mut said = site.begin();
    while said.code == 9 && model.answered().len() < 3 {
        site.allow();
        said = site.resume();
    }
    assert_eq!(said.code, 0, "{said:?} {:?}", model.results());
    assert_eq!(git(&root, &["log", "--format=%s"]), "add: one\n");
}
