//! What a call that asks for consent would do, as data: what a page and a terminal show beside its text,
//! and never read out of it. A model chooses names, paths and commands; it does not choose these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::older;
use crate::Hash;

/// What the operator decides about. Its text is whole in
/// [`shown`](super::operator::ConsentRequested::shown): the command, the differences, the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum ConsentTerms {
    /// A command runs.
    Command(CommandTerms),
    /// Files change.
    Files {
        /// Each of them.
        files: Vec<FileTerms>,
    },
    /// Files are read that may hold secrets, or that nothing is known of.
    Reading {
        /// Each of them, from the project on.
        paths: Vec<String>,
    },
    /// A request leaves this machine.
    Web {
        /// The host that gets it.
        host: String,
    },
    /// A tool of a server is called.
    Server(ServerTerms),
    /// Nothing leaves the session of the role.
    Session,
}

/// How a command would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandTerms {
    /// The folder, from the project on.
    pub folder: String,
    /// How far the tools of the role reach.
    pub scope: Scope,
    /// Whether it reaches the network.
    pub network: bool,
    /// The walls that it would run without, in words for the operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Whether it would run without any wall. Journals without it say so in the only wall that is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare: Option<bool>,
    /// How long it may take.
    pub limit_ms: u64,
    /// Whether the turn goes on beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

impl CommandTerms {
    /// Whether the command would run without any wall.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.bare.unwrap_or_else(|| older::is_bare(&self.missing))
    }
}

/// How far tools reach. Ordered: what is smaller reaches less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The project and the record folder.
    #[default]
    Sandboxed,
    /// These, and the folders that the operator named besides, for reading.
    Project,
    /// Everything may be read, and commands run without walls. Files are still written only in the
    /// project and the record folder.
    Full,
}

impl Scope {
    /// Every scope, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Sandboxed, Self::Project, Self::Full];

    /// The narrower of two scopes. There is no way to a wider one.
    #[must_use]
    pub fn narrowed(self, to: Self) -> Self {
        self.min(to)
    }

    /// The scope of a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }

    /// One word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sandboxed => "sandboxed",
            Self::Project => "project",
            Self::Full => "full",
        }
    }
}

/// What would happen to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTerms {
    /// Where it is, from the project on.
    pub path: String,
    /// What would happen to it.
    pub change: FileEffect,
}

/// What would happen to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileEffect {
    /// It is new.
    Create,
    /// It is there, and gets another text.
    Change,
    /// It is removed.
    Delete,
    /// It stays as it is.
    Nothing,
}

/// The server whose tool is called, as the operator configured it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTerms {
    /// Its name.
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// The hash of the tool's definition and of how its server is reached.
    pub definition: Hash,
    /// How it is reached; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<ServerReach>,
}

/// A server that a role works with only once the operator approved it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingServer {
    /// Its name.
    pub server: String,
    /// The hash of how it is reached, which is what the operator approves.
    pub definition: Hash,
    /// How it would be reached.
    pub reached: ServerReach,
}

/// How a server is reached. What looks like a secret is blanked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerReach {
    /// A program that speaks on its pipes.
    Program {
        /// The program and its arguments. No shell reads them.
        run: Vec<String>,
        /// The folder in which it runs.
        folder: String,
        /// Its own variables.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        variables: BTreeMap<String, ShownValue>,
        /// The variables that it inherits.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inherits: Vec<String>,
    },
    /// An address.
    Web {
        /// The address.
        url: String,
        /// Whether its name may lead into a private network.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        private: bool,
        /// What is sent with every request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, ShownValue>,
    },
}

/// A value that a server gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownValue {
    /// The value itself.
    Plain(String),
    /// The name of a secret, whose value is never shown.
    Secret(String),
    /// A value that is not recorded, because the name of its variable suggests a secret.
    Withheld,
}

impl ConsentTerms {
    /// The files that it is about.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let (files, paths): (&[FileTerms], &[String]) = match self {
            Self::Files { files } => (files, &[]),
            Self::Reading { paths } => (&[], paths),
            Self::Command(_) | Self::Web { .. } | Self::Server(_) | Self::Session => (&[], &[]),
        };
        let changed = files.iter().map(|file| file.path.as_str());
        changed.chain(paths.iter().map(String::as_str))
    }
}

/// What a request is about, in few words: its files, or its text.
#[must_use]
pub fn subject(terms: Option<&ConsentTerms>, text: &str) -> String {
    let paths: Vec<&str> = terms.iter().flat_map(|terms| terms.paths()).collect();
    match paths.as_slice() {
        [] => text.to_owned(),
        paths => paths.join(", "),
    }
}
