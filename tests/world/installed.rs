//! The programs that the gate installed, and the note where they are missing.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::is_full;

/// The folder of a package, if it is installed and Node is there to run it.
pub(super) fn package(name: &str) -> Option<PathBuf> {
    let folder = modules().join(name);
    if !folder.join("package.json").exists() {
        not_measured(&format!(
            "{name} is not installed (npm ci --ignore-scripts in tests/world)"
        ));
        return None;
    }
    let mut node = Command::new("node");
    let node = node.arg("--version").stdin(Stdio::null()).output();
    if !node.is_ok_and(|output| output.status.success()) {
        not_measured("node is missing");
        return None;
    }
    Some(folder)
}

/// Where packages lie.
pub(super) fn modules() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/world/node_modules"
    ))
}

/// Says past the capture of tests that pass that something could not be looked at.
pub(super) fn not_measured(why: &str) {
    writeln!(
        std::io::stderr(),
        "NOT MEASURED: programs that others wrote: {why}"
    )
    .unwrap();
}

/// The Python with the packages of `python/requirements.txt`, in the whole test only.
pub(super) fn python() -> Option<PathBuf> {
    if !is_full() {
        return None;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/world/python/installed");
    let python = PathBuf::from(folder).join("bin/python");
    if !python.exists() {
        not_measured("the packages of tests/world/python are not installed");
        return None;
    }
    Some(python)
}
