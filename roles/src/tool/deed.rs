//! What calls will do, with everything that they need for it.

use std::path::PathBuf;

use a_society_facts::Hash;
use url::Url;

use super::arguments::{CommandOutput, HistoryAsked, SendAsked, SessionsAsked};
use super::command::frame::GuardOrder;
use super::edit::LineCounts;
use super::files::Located;
use super::find::{Glob, Grep};

/// What a call will do, with everything that it needs for it.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// It reads.
    Read(ReadPlan),
    /// It writes a file, which has this path.
    Write(Box<Writing>, PathBuf),
    /// It changes the files of a patch.
    Patch(Box<Patching>),
    /// It runs a command.
    Command(Box<CommandLaunch>),
    /// It asks for what a command beside the turn wrote.
    Output(Box<CommandOutput>),
    /// It returns the task list; this is the result.
    Todo(String),
    /// It reads of other sessions.
    Sessions(Box<SessionReading>),
    /// It sends a message to another session.
    Send(Box<SendAsked>),
    /// It reads a page.
    Fetch(Box<Fetch>),
    /// It searches the web.
    Search(Box<Query>),
    /// It returns this and does nothing.
    Say(String),
}

/// What is read.
#[derive(Debug, Clone)]
pub(super) enum ReadPlan {
    /// A file, from a line on, and how many lines at most; 0 if absent.
    File(Located, u64, u64),
    Folder(Located),
    Grep(Located, Box<Grep>),
    Glob(Located, Glob),
}

impl ReadPlan {
    pub(super) fn located(&self) -> &Located {
        match self {
            Self::File(located, ..)
            | Self::Folder(located)
            | Self::Grep(located, _)
            | Self::Glob(located, _) => located,
        }
    }
}

/// A file with its new content.
#[derive(Debug, Clone)]
pub(super) struct Writing {
    pub located: Located,
    pub before: Option<Hash>,
    pub content: String,
    /// The result for the model when it is done.
    pub done: String,
}

/// The files of a patch, as they are to be.
#[derive(Debug, Clone)]
pub(super) struct Patching(pub Vec<Changing>);

/// A file of a patch.
#[derive(Debug, Clone)]
pub(super) struct Changing {
    pub located: Located,
    pub real: PathBuf,
    pub before: Option<Hash>,
    /// Nothing if the file is removed.
    pub after: Option<Hash>,
    /// What is written; nothing if the file is removed, or if an earlier process had changed it.
    pub content: Option<String>,
    /// What it held; nothing if it did not exist, or if an earlier process had changed it.
    pub earlier: Option<String>,
    /// How many lines are added and removed.
    pub lines: LineCounts,
    /// Whether an earlier process had changed it.
    pub is_done: bool,
    /// What the operator reads of it.
    pub consent: String,
    /// The result for the model when it is changed.
    pub told: String,
}

/// A command with everything that it needs.
#[derive(Debug, Clone)]
pub(super) struct CommandLaunch {
    pub order: GuardOrder,
    /// The command as it was asked for.
    pub command: String,
    /// Whether the turn goes on while it runs.
    pub in_background: bool,
}

/// A page that is to be read.
#[derive(Debug, Clone)]
pub(super) struct Fetch {
    pub url: Url,
}

/// A search.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub endpoint: Url,
    pub text: String,
    pub results: u64,
}

/// What is read of other sessions.
#[derive(Debug, Clone)]
pub(super) enum SessionReading {
    List(SessionsAsked),
    History(HistoryAsked),
}
