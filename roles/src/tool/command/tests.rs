//! Commands, run by this test binary as their guard.

use std::time::Instant;

use serde_json::json;

use super::*;
use crate::tool::tests::stage::{Stage, done, finish, output, plan};

/// With the mark of a call among its variables this is not a test but a guard: see `stage`.
#[test]
fn a_guard_without_an_order_does_nothing() {
    if std::env::var_os("A_SOCIETY_CALL").is_some() {
        let _code = guard(std::io::stdin(), std::io::stdout());
        return;
    }
    assert_eq!(guard(std::io::empty(), std::io::sink()), 125);
}

#[test]
fn a_command_gives_its_exit_code_and_both_outputs() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let said = output(
        &tools,
        "run_command",
        json!({ "command": "echo out; echo err >&2" }),
    );
    assert_eq!(said, "[exit code 0]\nout\n[stderr]\nerr\n");
    let failed = done(&tools, "run_command", json!({ "command": "exit 3" })).unwrap();
    assert_eq!(
        (failed.end, failed.output.as_str()),
        (CallEnd::Failed, "[exit code 3]\n")
    );
    let killed = done(&tools, "run_command", json!({ "command": "kill -9 $$" })).unwrap();
    assert!(
        killed.output.starts_with("[ended by signal 9]"),
        "{}",
        killed.output
    );
}
