//! Spaces of its own for a guard: its processes, its mounts, its network.
//!
//! They are made by the system's own tool, for any user, where the system allows it. In them the
//! guard is the first process, so that nothing that it started can outlive it, and the rest of the
//! machine's processes are out of sight.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The tool.
const TOOL: &str = "/usr/bin/unshare";

/// What it is told. The network is left out when it may be used.
const WORDS: [&str; 9] = [
    "--user",
    "--map-current-user",
    "--keep-caps",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child=KILL",
    "--mount-proc",
    "--ipc",
];

/// The words that are put before a guard.
pub(super) fn words(network: bool) -> Vec<String> {
    let mut words = vec![TOOL.to_owned()];
    words.extend(WORDS.iter().map(ToString::to_string));
    if !network {
        words.push("--net".to_owned());
    }
    words.push("--".to_owned());
    words
}

/// Whether this system lets us have them. Tried once.
pub(super) fn are_there() -> bool {
    static ARE_THERE: OnceLock<bool> = OnceLock::new();
    *ARE_THERE.get_or_init(|| {
        let words = words(false);
        let Some((tool, words)) = words.split_first() else {
            return false;
        };
        let tried = Command::new(tool)
            .args(words)
            .arg("/bin/true")
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    })
}
