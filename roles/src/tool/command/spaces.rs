//! Spaces of its own for a guard: its processes, its mounts, its network.
//!
//! They are made by the system's own tool, for any user, where the system allows it, and else by
//! bubblewrap, which some systems allow what they deny to others. In them the guard or bubblewrap
//! is the first process, so that nothing that was started can outlive it, and the rest of the
//! machine's processes are out of sight.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::frame::{Spaces, Walls};
use super::wall;

/// The system's own tool.
const TOOL: &str = "/usr/bin/unshare";

/// Its options.
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

/// Where bubblewrap is.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// The options of bubblewrap: the same, and that everything stays where it is.
const BUBBLEWRAP_WORDS: [&str; 14] = [
    "--die-with-parent",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--bind",
    "/",
    "/",
    "--dev-bind",
    "/dev",
    "/dev",
    "--tmpfs",
    "/dev/shm",
    "--proc",
    "/proc",
];

/// The words that are put before a guard.
pub(super) fn words(walls: &Walls) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(ToString::to_string));
    match &walls.spaces {
        Spaces::None => return words,
        Spaces::Own => {
            add(&[TOOL]);
            add(&WORDS);
            if !walls.network {
                add(&["--net"]);
            }
        }
        Spaces::Bubblewrap(program) => {
            add(&[program]);
            add(&BUBBLEWRAP_WORDS);
            if !walls.network {
                add(&["--unshare-net"]);
            }
            for folder in &walls.writable {
                for inside in wall::repositories(Path::new(folder)) {
                    let inside = inside.to_string_lossy();
                    add(&["--ro-bind", &inside, &inside]);
                }
            }
            if let Some(hidden) = &walls.hidden {
                add(&["--tmpfs", hidden]);
                let within = walls
                    .readable
                    .iter()
                    .filter(|it| Path::new(it).starts_with(hidden));
                for path in within {
                    add(&["--ro-bind-try", path, path]);
                }
                add(&["--bind", &walls.record, &walls.record]);
            }
        }
    }
    add(&["--"]);
    words
}

/// The spaces that this system lets us have. Tried once.
pub(super) fn found() -> Spaces {
    static FOUND: OnceLock<Spaces> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let all = [Spaces::Own, Spaces::Bubblewrap(BUBBLEWRAP.to_owned())];
        all.into_iter().find(works).unwrap_or_default()
    });
    found.clone()
}

/// Whether something can be started in them.
pub(super) fn works(spaces: &Spaces) -> bool {
    let walls = Walls {
        spaces: spaces.clone(),
        ..Walls::default()
    };
    let words = words(&walls);
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
}
