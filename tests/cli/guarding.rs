//! `__guard`: the program as the guard of a command.

use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use crate::support::Workspace;

/// The guard's output for this input, and nothing more.
fn guarded(workspace: &Workspace, told: &str) -> String {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_a-society"))
        .arg("__guard")
        .current_dir(workspace.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = guard.stdin.take().unwrap();
    stdin.write_all(told.as_bytes()).unwrap();
    let mut said = String::new();
    if told.ends_with("go\n") {
        // The end of its input stops it, and there is nothing to stop.
        guard
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
    }
    drop(stdin);
    if let Some(mut stdout) = guard.stdout.take() {
        stdout.read_to_string(&mut said).unwrap();
    }
    guard.wait().unwrap();
    said
}

#[test]
fn the_program_guards_a_command_and_opens_its_gate_only_at_the_word() {
    let workspace = Workspace::new();
    let folder = workspace.path().canonicalize().unwrap();
    let stat = folder.metadata().unwrap();
    let order = serde_json::json!({
        "run": ["/bin/sh", "-c", "echo ran; echo ran > ran.txt"],
        "variables": [["PATH", "/usr/bin:/bin"]],
        "folder": folder,
        "folder_id": format!("{}:{}", stat.dev(), stat.ino()),
        "time_limit_ms": 60_000,
        "walls": {
            "are_up": false, "writable": [], "readable": [], "hidden": null, "record": "",
            "network": false, "must_all": false, "spaces": "none",
        },
    });
    for begun in [
        "",
        "{}\n",
        "not an order\ngo\n",
        &format!("{order}\n"),
        &format!("{order}\nno\n"),
    ] {
        assert!(!guarded(&workspace, begun).contains("ran"), "{begun}");
        assert!(!folder.join("ran.txt").exists(), "{begun}");
    }
    let said = guarded(&workspace, &format!("{order}\ngo\n"));
    assert!(
        said.contains("ran\n") && said.contains(r#"{"end":{"exited":0}"#),
        "{said}"
    );
    assert!(folder.join("ran.txt").exists());
}
