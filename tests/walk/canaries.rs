//! Secrets of six kinds on every way into a flow, and where they must not come out.
//!
//! They are in what the operator types, in the environment, in the configuration, in files, in what commands print, in what a
//! server answers and complains, and in what the provider says when it fails. Afterwards every file
//! of the workspace, all output, all messages of the control socket, the environment of
//! every child and every request to the model are searched for them. Pages of the web cannot be reached from
//! here; `roles/src/tool/web/tests.rs` has them.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::json;

use super::models::{FLOW, Model, call, with_model};
use super::place::Place;

/// The variable, the secret in it, and the part of that which nothing may show. Put together here,
/// so that no scanner takes this file for a leak.
fn canaries() -> [(&'static str, String, &'static str); 6] {
    let pem = |what: &str| format!("-----{what} PRIVATE KEY-----");
    [
        (
            "ANTHROPIC_API_KEY",
            format!("sk-ant-{}", "api03-CANARYCANARYCANARY"),
            "api03-CANARY",
        ),
        (
            "AWS_ACCESS_KEY_ID",
            format!("AKIA{}", "CANARYCANARY1234"),
            "CANARYCANARY1234",
        ),
        (
            "GITHUB_TOKEN",
            format!("ghp_{}", "CANARYcanaryCANARYcanary0123456789ab"),
            "CANARYcanary",
        ),
        (
            "SESSION",
            format!(
                "{}.{}.{}",
                "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0", "c2lnbmF0dXJl"
            ),
            "c2lnbmF0dXJl",
        ),
        (
            "SIGNING_KEY",
            format!("{}\nMIIEvQIBADANBgkq\n{}", pem("BEGIN"), pem("END")),
            "MIIEvQIBADANBgkq",
        ),
        (
            "DATABASE_URL",
            format!("postgres://{}@db.example/x", "user:CANARY-pass"),
            "CANARY-pass",
        ),
    ]
}

/// All of them in one text, as a file holds it.
fn together() -> String {
    canaries()
        .map(|(name, canary, _)| format!("{name}={canary}\n"))
        .concat()
}

/// What is seeded with secrets, and therefore not searched.
const SEEDED: [&str; 3] = ["canaries.txt", "server.sh", "config.yaml"];

/// Answers with all secrets, complains with them, and then dies complaining.
const SERVER: &str = r#"#!/bin/sh
env > "$FOLDER/mcp-env.txt"
cat "$FOLDER/canaries.txt" >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"list","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"add","description":"Adds.","inputSchema":{"type":"object"}}]}}' ;;
    *'"die"'*) cat "$FOLDER/canaries.txt" >&2; exit 1 ;;
    *'"tools/call"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":TEXT}]}}' ;;
  esac
done
"#;

fn script(results: usize) -> Vec<(serde_json::Value, Vec<serde_json::Value>)> {
    let shell = "cat canaries.txt; cat canaries.txt >&2; env > command-env.txt; echo $GITHUB_TOKEN";
    match results {
        0 => vec![call(0, "read_file", json!({ "path": "../canaries.txt" }))],
        1 => vec![call(1, "read_file", json!({ "path": "canaries.txt" }))],
        2 => vec![call(2, "search_files", json!({ "path": ".", "text": "=" }))],
        3 => vec![call(3, "run_command", json!({ "command": shell }))],
        4 => vec![call(4, "mcp__list__add", json!({ "word": "one" }))],
        5 => vec![call(5, "mcp__list__add", json!({ "word": "die" }))],
        _ => Vec::new(),
    }
}

/// The provider repeats secrets when it is overloaded, and when it does not know a key.
fn refuses(request: usize) -> Option<(u16, String)> {
    let status = match request {
        2 => 529,
        4 => 401,
        _ => return None,
    };
    let error = json!({ "type": "error", "error": {
        "type": "api_error", "message": format!("no good: {}", together()),
    } });
    Some((status, error.to_string()))
}

/// Runs the program with all secrets in its environment.
fn run(place: &Place, words: &[&str], said: &mut Vec<u8>) -> Output {
    let output = command(place, words).output().unwrap();
    said.extend_from_slice(&output.stdout);
    said.extend_from_slice(&output.stderr);
    output
}

fn command(place: &Place, words: &[&str]) -> std::process::Command {
    let mut command = place.workspace.command(words);
    command.env("PATH", "/usr/bin:/bin");
    for (name, canary, _) in canaries() {
        command.env(name, canary);
    }
    command
}

/// Sends an invalid message to the process that drives the flow.
fn knock(folder: &Path, said: &mut Vec<u8>) {
    let Ok(open) = std::fs::File::open(folder) else {
        return;
    };
    let path = format!("/proc/self/fd/{}/control.sock", open.as_raw_fd());
    let Ok(mut stream) = UnixStream::connect(path) else {
        return;
    };
    let what = json!({ "v": 1, "command": { "do": "reply", "to": "only", "text": 1 } });
    drop(stream.write_all(format!("{what}\n").as_bytes()));
    drop(stream.shutdown(std::net::Shutdown::Write));
    let before = said.len();
    drop(stream.read_to_end(said));
    said.extend_from_slice(if said.len() > before {
        b"\n[the socket answered]"
    } else {
        b""
    });
}

/// Every file below a folder, by its path and its bytes.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            files(&path, found);
        } else if kind.is_file() {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

fn holds(bytes: &[u8], core: &str) -> bool {
    bytes
        .windows(core.len())
        .any(|window| window == core.as_bytes())
}

/// A flow whose model meets all secrets, in a workspace that is ready to run it.
fn prepared(model: &Model) -> Place {
    let place = with_model(model);
    let folder = place.workspace.path().display().to_string();
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let config = config.replace(
        "wire: anthropic,",
        "wire: anthropic, key: { env: ANTHROPIC_API_KEY },",
    );
    let server = format!(
        "secrets: {{ tickets: {{ env: GITHUB_TOKEN }} }}\nmcp-servers:\n  list:\n    command: /bin/sh\n    \
         args: ['{folder}/server.sh']\n    env: {{ FOLDER: '{folder}', TOKEN: {{ secret: tickets }}, PLAIN: '{}' }}\n",
        canaries()[5].1
    );
    place.write("config.yaml", &format!("{config}{server}"));
    let text = serde_json::to_string(&together()).unwrap();
    place.write("server.sh", &SERVER.replace("TEXT", &text));
    place.write("canaries.txt", &together());
    place.write("demo/canaries.txt", &together());
    place.write(
        "demo/flow.yaml",
        &FLOW.replace("a log.", "a log., mcp-servers: [list]"),
    );
    place
}

/// Walks the flow to its end, with a key that is refused once; all output on the way.
fn walked(place: &Place) -> (String, Vec<u8>) {
    let mut said = Vec::new();
    run(place, &["models", "ls"], &mut said);
    run(place, &["mcp", "ls"], &mut said);
    run(
        place,
        &[
            "run",
            "demo/flow.yaml",
            "--until-waiting",
            "--input",
            &together(),
        ],
        &mut said,
    );
    let flow = place.flow().unwrap();
    run(place, &["mode", &flow, "full-access"], &mut said);
    // The key is refused once in between; the operator tries again.
    for _ in 0..3 {
        let mut child = command(
            place,
            &["resume", &flow, "--until-waiting", "--improve", "none"],
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
        while child.try_wait().unwrap().is_none() {
            knock(&place.folder(&flow), &mut said);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let output = child.wait_with_output().unwrap();
        said.extend([output.stdout, output.stderr].concat());
        run(place, &["status", &flow], &mut said);
        run(place, &["retry", &flow], &mut said);
    }
    for words in [["show", &flow], ["log", &flow], ["status", &flow]] {
        run(place, &words, &mut said);
    }
    (flow, said)
}

#[test]
fn no_secret_comes_out_anywhere_whatever_way_it_came_in() {
    let model = Model::start_refusing(script, refuses);
    let place = prepared(&model);
    let (flow, mut said) = walked(&place);
    let log = run(&place, &["log", &flow, "--json"], &mut said).stdout;
    let log = String::from_utf8(log).unwrap();

    // All of it happened, or the search below would find nothing for a bad reason.
    assert_eq!(place.status(&flow)["status"], "completed", "{log}");
    assert!(log.matches("[secret withheld]").count() > 12, "{log}");
    assert!(
        log.contains("overloaded") && log.contains("node_retried"),
        "{log}"
    );
    assert!(holds(&said, "[the socket answered]") && log.matches("call_finished").count() >= 5);
    let env = |name: &str| std::fs::read_to_string(place.workspace.path().join(name)).unwrap();
    assert!(env("demo/command-env.txt").contains("PATH="));

    let mut found = Vec::new();
    files(place.workspace.path(), &mut found);
    // What the operator gives a server by name is the server's.
    found.retain(|(path, _)| {
        !SEEDED.iter().any(|name| path.ends_with(name)) && !path.ends_with("mcp-env.txt")
    });
    assert!(
        found
            .iter()
            .any(|(path, _)| path.ends_with("transcript.json"))
    );
    let given = env("mcp-env.txt");
    for (name, _, core) in canaries() {
        for (path, bytes) in &found {
            assert!(!holds(bytes, core), "{name} is in {path}");
        }
        assert!(
            !holds(&said, core),
            "{name} was printed: {}",
            String::from_utf8_lossy(&said)
        );
        for request in model.heard() {
            assert!(
                !request.contains(core),
                "{name} was sent to the model: {request}"
            );
        }
        let is_given = ["GITHUB_TOKEN", "DATABASE_URL"].contains(&name);
        assert_eq!(
            given.contains(core),
            is_given,
            "{name} and the server's environment"
        );
        assert!(
            !given.contains(&format!("{name}=")),
            "{name} was inherited by the server"
        );
    }
}

/// Says all secrets, in pieces that are cut within them, thinks of them and writes them to a file.
fn tells(results: usize) -> Vec<(serde_json::Value, Vec<serde_json::Value>)> {
    let pieces = |kind: &str, member: &str| {
        let text: Vec<char> = together().chars().collect();
        let deltas = text.chunks(7).map(|piece| {
            let piece: String = piece.iter().collect();
            json!({ "type": kind, member: piece })
        });
        deltas.collect::<Vec<_>>()
    };
    match results {
        0 => vec![call(0, "run_command", json!({ "command": "true" }))],
        1 => {
            let signed = json!({ "type": "signature_delta", "signature": "c2lnbmVk" });
            let mut thoughts = pieces("thinking_delta", "thinking");
            thoughts.push(signed);
            let content = json!({ "path": "keys.txt", "content": together() });
            vec![
                (
                    json!({ "type": "thinking", "thinking": "", "signature": "" }),
                    thoughts,
                ),
                (
                    json!({ "type": "text", "text": "" }),
                    pieces("text_delta", "text"),
                ),
                call(1, "write_file", content),
            ]
        }
        _ => Vec::new(),
    }
}

#[test]
fn what_a_model_says_of_secrets_stays_in_its_turn_and_reaches_no_file_and_no_screen() {
    let model = Model::start_with(tells);
    let place = with_model(&model);
    let mut said = Vec::new();
    let printed = |words: &[&str]| {
        let output = place.workspace.command(words).output().unwrap();
        [output.stdout, output.stderr].concat()
    };
    said.extend(printed(&["run", "demo/flow.yaml", "--until-waiting"]));
    let flow = place.flow().unwrap();
    said.extend(printed(&["mode", &flow, "full-access"]));
    let resume = place.run(&["resume", &flow, "--improve", "none"]);
    said.extend(resume.err.bytes());
    assert_eq!(resume.out, together(), "who asks for the file gets it");
    for words in [["show", &flow], ["log", &flow], ["status", &flow]] {
        said.extend(printed(&words));
    }
    assert_eq!(place.status(&flow)["status"], "completed");
    let written = std::fs::read_to_string(place.workspace.path().join("demo/keys.txt"));
    assert_eq!(
        written.unwrap(),
        together(),
        "the tool got what the model said"
    );
    let last = model.heard().pop().unwrap();

    let mut found = Vec::new();
    files(&place.workspace.path().join(".a-society"), &mut found);
    assert!(
        found
            .iter()
            .any(|(path, _)| path.ends_with("transcript.json"))
    );
    for (name, canary, core) in canaries() {
        let canary = canary.lines().next().unwrap_or_default();
        assert!(
            last.contains(canary),
            "the model reads {name} in its own words: {last}"
        );
        for (path, bytes) in &found {
            assert!(!holds(bytes, core), "{name} is in {path}");
        }
        assert!(
            !holds(&said, core),
            "{name} was printed: {}",
            String::from_utf8_lossy(&said)
        );
    }
}
