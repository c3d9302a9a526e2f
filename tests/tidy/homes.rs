//! The few places that may touch the world, each with its reason.
//!
//! Printing, the environment, the clock, the file system, sockets and programs each have a home. Code
//! elsewhere asks the home, so that a test can put something else in its place. `docs/homes.md` is
//! this table.

use std::fmt::Write;

use super::repository::{TextFile, rust_files};
use super::rust::{is_for_tests, lines_with, shipped_code};
use super::{Finding, assert_kept};

/// Something that only few places may do.
struct Touch {
    /// What is done, to be read after "only these may".
    what: &'static str,
    /// How it looks in code.
    needles: &'static [&'static str],
    /// Files, or folders with a closing slash, and why each is one.
    homes: &'static [(&'static str, &'static str)],
}

const TOUCHES: [Touch; 7] = [
    Touch {
        what: "print",
        needles: &[
            "println!",
            "eprintln!",
            "print!",
            "eprint!",
            "stdout()",
            "stderr()",
        ],
        homes: &[(
            "src/output.rs",
            "data goes to stdout, the rest to stderr, decided once",
        )],
    },
    Touch {
        what: "read the environment",
        needles: &["std::env", "env::", "temp_dir", "home_dir"],
        homes: &[
            (
                "src/environment.rs",
                "the command line's arguments, folder and variables, read once",
            ),
            (
                "orchestrator/src/config/",
                "settings are resolved here and handed on as values",
            ),
        ],
    },
    Touch {
        what: "ask the clock",
        needles: &[
            "SystemTime::now",
            "Instant::now",
            "Timestamp::now",
            "Zoned::now",
        ],
        homes: &[
            (
                "state/src/clock.rs",
                "stamps facts; everything else gets time as data",
            ),
            (
                "roles/src/tool/stopwatch.rs",
                "how long a search or a command of a tool takes; no fact has its time from there",
            ),
            (
                "roles/base/src/process/tree.rs",
                "how long processes that were asked to end still take; no fact has its time from there",
            ),
            (
                "roles/providers/src/http/exchange.rs",
                "how long a stream has been silent, by the clock of its timers; no fact has its time from there",
            ),
            (
                "orchestrator/src/config/cached_file.rs",
                "how long ago the configuration changed, by the clock of its file system",
            ),
        ],
    },
    Touch {
        what: "touch the file system",
        needles: &[
            "std::fs",
            "fs::",
            "File::open",
            "File::create",
            "OpenOptions",
        ],
        homes: &[
            (
                "state/src/disk/real.rs",
                "the `Disk` port; the faulty disk of the tests replaces it",
            ),
            (
                "src/output_file.rs",
                "files that an operator names on the command line",
            ),
            (
                "state/src/watch.rs",
                "the system tells it what changes under the state root; it opens nothing",
            ),
            (
                "orchestrator/src/control/socket.rs",
                "a socket is made for its owner only, and reached through its folder",
            ),
            (
                "orchestrator/src/config/user.rs",
                "the operator's own configuration and key files, outside every workspace",
            ),
            (
                "orchestrator/src/config/cached_file.rs",
                "whether that configuration changed since it was read",
            ),
            (
                "orchestrator/src/config/servers.rs",
                "reads the lists of MCP servers that a workspace would like to have",
            ),
            (
                "roles/base/src/process/tree.rs",
                "reads the system's list of processes, to end all that a program started",
            ),
            (
                "roles/src/tool/files/",
                "the one resolver of paths that a model wrote, beneath folders that are open",
            ),
            (
                "roles/src/tool/find/walk.rs",
                "goes through what the resolver opened, each folder opened in the one above it",
            ),
            (
                "roles/src/tool/command/",
                "the guard of commands: the folder of a command, and the walls it puts up",
            ),
            (
                "roles/src/skill/",
                "finds the skills of a folder, and takes others over",
            ),
        ],
    },
    Touch {
        what: "use sockets",
        needles: &[
            "os::unix::net",
            "std::net",
            "rustix::net",
            "tokio::net",
            "reqwest::",
        ],
        homes: &[
            (
                "orchestrator/src/control/",
                "the operator's other processes talk to the one that drives a flow",
            ),
            (
                "operator-ui/src/server/listen.rs",
                "the operator's browser comes in here, and nothing else",
            ),
            (
                "operator-ui/src/server/dev.rs",
                "in debug builds the page's files may come from a development server of this machine",
            ),
            (
                "src/cli/serve.rs",
                "reads the address at which the page is served",
            ),
            (
                "roles/base/src/address.rs",
                "says which addresses belong to the public internet; it opens nothing",
            ),
            (
                "roles/mcp/src/",
                "MCP servers are reached, and every address that their names lead to is judged",
            ),
            (
                "roles/providers/src/http/",
                "models are reached over HTTP, within limits of time and size",
            ),
            (
                "roles/src/tool/web/",
                "pages and searches, to hosts whose addresses were checked",
            ),
        ],
    },
    Touch {
        what: "start programs",
        needles: &["process::Command", "process::{Command", ".spawn()"],
        homes: &[
            (
                "roles/base/src/process/supervise.rs",
                "the one supervisor: programs of roles at their gate, MCP servers, and the operator's notification command; each ends with its whole tree",
            ),
            (
                "orchestrator/src/config/user.rs",
                "asks the system's keyring for a key, by the keyring's own program",
            ),
            (
                "orchestrator/src/sessions/start.rs",
                "starts this program to drive a chat that gets a message and has no driver; it goes on when the sender ends",
            ),
            (
                "src/cli/own_command.rs",
                "starts other commands of this program from the screen of watch, when the operator presses their key",
            ),
            (
                "src/cli/browser.rs",
                "opens the page in the operator's browser, when that is asked for",
            ),
            (
                "src/cli/editor.rs",
                "opens the operator's own editor for a file of their turn, when they press its key",
            ),
            (
                "roles/src/tool/command/",
                "starts the guard of a command, and the guard the command",
            ),
        ],
    },
    Touch {
        what: "know where things of a flow lie",
        needles: &[
            "FlowFolder",
            "state::layout",
            "blob::",
            "lock::",
            "store.folder(",
            "flow.folder()",
            "flow().folder()",
            "opened.folder()",
        ],
        homes: &[(
            "state/",
            "the floors above ask `Store`, `Flow` and `FlowPlace` for texts, the record and the holder",
        )],
    },
];

/// The table as a document.
pub(super) fn as_markdown() -> String {
    let mut page = String::from(
        "# Homes: the places that may touch the world\n\n\
         Printing, the environment, the clock, the file system, sockets and programs each have a home. Code\n\
         elsewhere asks the home. Tests, benchmarks and examples are free. This page is generated from\n\
         `tests/tidy/homes.rs`, which also checks it; to change it, change that table and run\n\
         `A_SOCIETY_UPDATE=1 cargo test --test it generated_files`.\n\n\
         | Only these may … | Place | Why there | How it looks in code |\n|---|---|---|---|\n",
    );
    for touch in &TOUCHES {
        let looks: Vec<String> = touch.needles.iter().map(|it| format!("`{it}`")).collect();
        for (place, why) in touch.homes {
            // Writing to a string cannot fail.
            writeln!(
                page,
                "| {} | `{place}` | {why} | {} |",
                touch.what,
                looks.join(" ")
            )
            .expect("a string takes every text");
        }
    }
    page
}

#[test]
fn the_world_is_touched_only_at_home() {
    let files = rust_files();
    let findings: Vec<Finding> = files.iter().flat_map(away_from_home).collect();
    assert_kept(
        "only these places touch the world (docs/homes.md)",
        &findings,
    );
}

fn away_from_home(file: &TextFile) -> Vec<Finding> {
    // A build script runs when the program is built, and is no part of it.
    if is_for_tests(&file.path) || file.path.ends_with("/build.rs") {
        return Vec::new();
    }
    let code = shipped_code(&file.text);
    TOUCHES
        .iter()
        .filter(|touch| !is_home(touch, &file.path))
        .flat_map(|touch| found_in(&code, touch, &file.path))
        .collect()
}

fn is_home(touch: &Touch, path: &str) -> bool {
    touch
        .homes
        .iter()
        .any(|(home, _)| path == *home || home.ends_with('/') && path.starts_with(home))
}

fn found_in(code: &str, touch: &Touch, path: &str) -> Vec<Finding> {
    let homes: Vec<&str> = touch.homes.iter().map(|(home, _)| *home).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for needle in touch.needles {
        for line in lines_with(code, needle) {
            let what = format!(
                "`{needle}`: only {} may {}",
                homes.join(" and "),
                touch.what
            );
            if findings.iter().all(|known| known.line != line) {
                findings.push(Finding::new(path, line, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let file = TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        away_from_home(&file)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn printing_away_from_home_is_found_with_its_line() {
        assert_eq!(
            findings("state/src/open.rs", "//! x\nfn f() { eprintln!(\"y\") }\n"),
            ["  state/src/open.rs:2: `eprintln!`: only src/output.rs may print"]
        );
    }

    #[test]
    fn each_touch_is_found_in_each_of_its_looks() {
        for touch in &TOUCHES {
            for needle in touch.needles {
                let text = format!("fn f() {{ {needle} }}");
                assert_eq!(findings("src/cli/ls.rs", &text).len(), 1, "{needle}");
            }
        }
    }

    #[test]
    fn imports_are_found_too() {
        for text in [
            "use std::fs;",
            "use std::{fs, io};\nfn f() { fs::read(p) }",
            "use std::env;",
        ] {
            assert_eq!(findings("src/cli/ls.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_home_may_do_its_own_thing_and_nothing_else() {
        assert_eq!(findings("src/output.rs", "fn f() { println!() }"), [""; 0]);
        assert_eq!(
            findings("orchestrator/src/config/raw.rs", "use std::env;"),
            [""; 0]
        );
        assert_eq!(findings("src/output.rs", "use std::env;").len(), 1);
        assert_eq!(
            findings("src/output.rs.rs", "fn f() { println!() }").len(),
            1
        );
    }

    #[test]
    fn tests_comments_and_strings_are_free() {
        let text =
            "// std::fs\nfn f() { g(\"println!\") }\n#[cfg(test)]\nmod tests { use std::fs; }";
        assert_eq!(findings("src/cli/ls.rs", text), [""; 0]);
        assert_eq!(findings("tests/cli/ls.rs", "use std::fs;"), [""; 0]);
    }

    #[test]
    fn what_only_looks_similar_is_free() {
        let text = "fn f() { env!(\"X\"); command.current_dir(p); crate::environment::read(); }";
        assert_eq!(findings("src/cli/ls.rs", text), [""; 0]);
    }
}
