//! What programs that take turns inherit of the environment.
//!
//! A program gets what it needs to be found, to speak a language and to keep temporary files, and
//! nothing that was put into the environment for another purpose, such as a key.

use std::sync::OnceLock;

use a_society_roles::taker::command::InheritedVariables;
use a_society_roles::tool::Guard;

/// The variables that are handed on.
const HANDED_ON: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "TERM",
];

/// The environment of programs.
#[must_use]
pub(crate) fn environment() -> InheritedVariables {
    let given = HANDED_ON.iter().filter_map(|name| {
        let value = std::env::var(name).ok()?;
        Some(((*name).to_owned(), value))
    });
    InheritedVariables(given.collect())
}

/// The word by which this program guards a command.
pub(crate) const GUARD_WORD: &str = "__guard";

/// The system that commands run on.
#[must_use]
pub(crate) const fn system() -> &'static str {
    std::env::consts::OS
}

/// The path of this program.
#[must_use]
pub(crate) fn own() -> &'static str {
    // It stays where it is, and asking the system takes longer than the rest of a role's tools.
    static OWN: OnceLock<String> = OnceLock::new();
    let path = || std::env::current_exe().unwrap_or_default();
    OWN.get_or_init(|| path().display().to_string())
}

/// How this program is started to guard a command: by its own path, because the programs that set up
/// walls before it have a `/proc/self/exe` of their own.
#[must_use]
pub(crate) fn guard() -> Guard {
    Guard {
        run: vec![own().to_owned(), GUARD_WORD.to_owned()],
    }
}
