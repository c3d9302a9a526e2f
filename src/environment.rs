//! What the process was given: arguments, the current folder, variables. Read once, here.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the process was given.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    /// The arguments, the program's own name first.
    pub(crate) arguments: Vec<OsString>,
    /// The current folder; absent if it was removed under us.
    pub(crate) folder: Option<PathBuf>,
    /// `A_SOCIETY_WORKSPACE`: the workspace, unless an argument names one.
    pub(crate) workspace: Option<PathBuf>,
    /// `HOME`: paths below it are shown from `~` on.
    pub(crate) home: Option<PathBuf>,
    /// `A_SOCIETY_PLAIN`: questions are answered with whole lines, for who has the screen read aloud.
    pub(crate) is_plain: bool,
    /// `VISUAL`, `EDITOR`, or `vi`: what a person writes a file with.
    pub(crate) editor: String,
    /// `A_SOCIETY_UI_DEV`: from where the page's files come while they are worked on.
    pub(crate) page: Option<OsString>,
    /// Where temporary files go: `TMPDIR`, or what the system uses.
    pub(crate) temporary: PathBuf,
    /// `NO_COLOR`, set to anything but nothing, or a terminal that cannot show colours.
    pub(crate) no_color: bool,
    /// `TERM` is missing or `dumb`: the terminal takes lines, and nothing that moves its cursor.
    pub(crate) is_dumb: bool,
}

impl Environment {
    /// The same for a reader that reads the screen aloud.
    pub(crate) fn spoken(&self) -> Self {
        Self {
            is_plain: true,
            ..self.clone()
        }
    }

    /// Reads it.
    pub(crate) fn read() -> Self {
        let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let is_dumb = given("TERM").is_none_or(|term| term == "dumb");
        let no_color = given("NO_COLOR").is_some() || is_dumb;
        let is_plain = given("A_SOCIETY_PLAIN").is_some();
        Self {
            arguments: std::env::args_os().collect(),
            folder: std::env::current_dir().ok(),
            workspace: given("A_SOCIETY_WORKSPACE").map(PathBuf::from),
            home: given("HOME").map(PathBuf::from),
            is_plain,
            editor: (given("VISUAL").or_else(|| given("EDITOR")))
                .and_then(|editor| editor.into_string().ok())
                .unwrap_or_else(|| "vi".to_owned()),
            // What is built to be used has its page in it.
            page: given("A_SOCIETY_UI_DEV").filter(|_| cfg!(debug_assertions)),
            temporary: std::env::temp_dir(),
            no_color,
            is_dumb,
        }
    }
}
