//! The one kind of error an operator sees: a stable code, what happened, why, and what to try.

use std::io;

use a_society_facts::id::{BadName, FlowId};
use a_society_facts::reason::in_words;
use a_society_state::Error;
use a_society_state::journal::verdict::{Damage, Harm};
use a_society_state::ledger::LedgerError;
use serde::Serialize;

use crate::exit_code::ExitCode;

/// An error as the operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperatorError {
    /// A stable word for programs, such as `flow-not-found`.
    pub(crate) code: &'static str,
    /// The exit code.
    pub(crate) exit: ExitCode,
    /// What happened.
    pub(crate) what: String,
    /// Why.
    pub(crate) why: String,
    /// What to try.
    pub(crate) hint: String,
    /// Whether people have read above it why, so that only programs need it.
    pub(crate) is_told: bool,
}

/// Why a command stopped before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something went wrong.
    Error(Box<OperatorError>),
    /// The reader of our output is gone. That is not an error.
    OutputClosed,
}

/// What a command comes to: the exit code it ends with, or why it stopped.
pub(crate) type Outcome = Result<ExitCode, Stop>;

impl OperatorError {
    /// An error.
    pub(crate) fn new(
        (code, exit): (&'static str, ExitCode),
        what: impl Into<String>,
        why: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code,
            exit,
            what: in_words(&what.into()).into_owned(),
            why: in_words(&why.into()).into_owned(),
            hint: hint.into(),
            is_told: false,
        }
    }

    /// One whose cause was printed with its place, unless for programs.
    pub(crate) fn told(self) -> Self {
        Self {
            is_told: true,
            ..self
        }
    }

    /// The error as JSON, on one line.
    pub(crate) fn as_json(&self) -> String {
        #[derive(Serialize)]
        struct Shown<'a> {
            code: &'a str,
            what: &'a str,
            why: &'a str,
            r#try: &'a str,
            exit_code: u8,
        }
        #[derive(Serialize)]
        struct Envelope<'a> {
            error: Shown<'a>,
        }
        let envelope = Envelope {
            error: Shown {
                code: self.code,
                what: &self.what,
                why: &self.why,
                r#try: &self.hint,
                exit_code: self.exit.number(),
            },
        };
        // Texts are always JSON; were they not, the code alone would still be printed.
        serde_json::to_string(&envelope)
            .unwrap_or_else(|_| format!("{{\"error\":{{\"code\":\"{}\"}}}}", self.code))
    }
}

impl From<OperatorError> for Stop {
    fn from(error: OperatorError) -> Self {
        Self::Error(Box::new(error))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        OperatorError::from(error).into()
    }
}

impl From<Error> for OperatorError {
    fn from(error: Error) -> Self {
        match error {
            Error::Io {
                doing,
                path,
                source,
            } => from_io(doing, &path.display().to_string(), &source),
            Error::Busy { holder } => busy(&holder),
            Error::NoLocks { path, source } => Self::new(
                ("no-locks", ExitCode::Failed),
                "this file system has no locks",
                format!("{}: {source}", path.display()),
                "keep the workspace on a local file system, which has them; or, if no other process will \
                 ever write it, say --unsafe-no-lock",
            ),
            Error::Damaged(damage) => from_damage(&damage),
            Error::NoFlow(wanted) => Self::new(
                ("flow-not-found", ExitCode::NotFound),
                format!("there is no flow {wanted:?} here"),
                "no flow id starts with that, and no part of one after its dash",
                "a-society ls --all",
            ),
            Error::Ambiguous { prefix, candidates } => Self::new(
                ("flow-ambiguous", ExitCode::Usage),
                format!("{prefix:?} fits several flows"),
                candidates.join(", "),
                "type more of the id, or PROJECT/ID",
            ),
            Error::Exists(flow) => Self::new(
                ("flow-exists", ExitCode::Refused),
                format!("the flow {flow} exists already"),
                "a flow is never overwritten",
                "import it under another project with --project",
            ),
            Error::Foreign(flow) => foreign(&flow),
            Error::NotForkable { at, why } => not_forkable(at, why),
            Error::Ledger(error) => from_ledger(&error),
            Error::MovedOn => moved_on(),
            Error::Name(bad) => from_name(&bad),
            Error::DiskFull => disk_full("the disk is full"),
            Error::Poisoned { why } => Self::new(
                ("disk-failed", ExitCode::Failed),
                "the disk failed while this flow was written, so the writing stopped",
                why,
                "look at the disk, then: a-society verify",
            ),
            Error::Illegal { seq, why } => Self::new(
                ("fact-illegal", ExitCode::Refused),
                format!("record {seq} was refused"),
                why,
                "see the flow's state: a-society show FLOW",
            ),
            Error::CannotWrite(why) => Self::new(
                ("record-too-long", ExitCode::Refused),
                "a record was refused",
                why.to_string(),
                "large contents go into files of the record folder",
            ),
            Error::Unfit { path, what } => Self::new(
                ("unfit", ExitCode::Failed),
                format!("{} {what}", path.display()),
                "it is not what this program made or expects",
                "look at it; nothing was changed",
            ),
        }
    }
}

fn busy(holder: &str) -> OperatorError {
    OperatorError::new(
        ("flow-busy", ExitCode::Busy),
        "another process writes this flow",
        format!("its lock is held by {holder}"),
        "end that process, or wait until it is done; meanwhile watch, status and log show the flow, and \
         what you say to it (reply, allow, steer, stop, pause …) reaches that process",
    )
}

fn foreign(flow: &FlowId) -> OperatorError {
    OperatorError::new(
        ("flow-not-imported", ExitCode::Refused),
        format!("the flow {flow} is kept by another program"),
        "it has no journal, and nothing is written beside its files",
        "take it over: a-society import-state",
    )
}

/// A refusal of the file system.
pub(crate) fn from_io(doing: &str, place: &str, source: &io::Error) -> OperatorError {
    if a_society_state::is_full(source) {
        return disk_full(&format!("could not {doing} {place}"));
    }
    let kind = source.kind();
    let (code, exit, hint) = if kind == io::ErrorKind::NotFound {
        let hint = "check the path";
        ("not-found", ExitCode::NotFound, hint)
    } else if kind == io::ErrorKind::PermissionDenied {
        let hint = "run it as the user who owns these files, or change their permissions";
        ("permission-denied", ExitCode::Failed, hint)
    } else if kind == io::ErrorKind::ReadOnlyFilesystem {
        let hint = "this file system is mounted read-only; ls, show, log and verify still work";
        ("read-only", ExitCode::Failed, hint)
    } else {
        let hint = "look at the path and the disk, then try again";
        ("io", ExitCode::Failed, hint)
    };
    OperatorError::new(
        (code, exit),
        format!("could not {doing} {place}"),
        source.to_string(),
        hint,
    )
}

/// A name that cannot be one.
pub(crate) fn from_name(bad: &BadName) -> OperatorError {
    OperatorError::new(
        ("bad-name", ExitCode::Usage),
        format!("{:?} is not a {}", bad.offered, bad.what),
        bad.why,
        "a-society ls --all shows the names there are",
    )
}

fn moved_on() -> OperatorError {
    OperatorError::new(
        ("flow-moved", ExitCode::Busy),
        "another worker went on with this flow",
        "this one was cut off, and what it had not handed in is in the flow's quarantine",
        "a-society ls, which says who works on it",
    )
}

fn from_ledger(error: &LedgerError) -> OperatorError {
    let (word, code, hint) = match error {
        LedgerError::Unreachable { .. } | LedgerError::Unsure { .. } => (
            "ledger-unreachable",
            ExitCode::Failed,
            "look whether it runs and can be reached from here; nothing that was acknowledged is lost",
        ),
        LedgerError::Refused { .. } => (
            "ledger-refused",
            ExitCode::Refused,
            "use a workspace whose flows are kept in files for that",
        ),
        LedgerError::Unfit { .. } => (
            "ledger-damaged",
            ExitCode::Damaged,
            "restore the ledger; the copy in this workspace was left as it is",
        ),
    };
    let what = "the ledger that holds the flow's journal failed";
    OperatorError::new((word, code), what, error.to_string(), hint)
}

fn not_forkable(at: u64, why: String) -> OperatorError {
    OperatorError::new(
        ("not-forkable", ExitCode::Refused),
        format!("the flow cannot be forked at record {at}"),
        why,
        "look for the record to fork at: a-society log FLOW",
    )
}

fn disk_full(what: &str) -> OperatorError {
    OperatorError::new(
        ("disk-full", ExitCode::DiskFull),
        what,
        "there is no room left on the disk, or in the quota",
        "make room, for example with: a-society prune --older-than 30d --dry-run",
    )
}

fn from_damage(damage: &Damage) -> OperatorError {
    let (code, _) = words_for(damage.harm);
    OperatorError::new(
        (code, ExitCode::Damaged),
        "the flow's journal is damaged and was left as it is",
        damage.to_string(),
        advice(damage.harm, "FLOW"),
    )
}

fn words_for(harm: Harm) -> (&'static str, &'static str) {
    match harm {
        Harm::Newer => (
            "newer-version",
            "use the newer version of a-society that wrote it",
        ),
        Harm::Device => (
            "device-error",
            "copy what can be read to another disk, and look at this one",
        ),
        Harm::NotAJournal => (
            "not-a-journal",
            "look at the journal folder: something there is not ours",
        ),
        Harm::AcknowledgedLost
        | Harm::EndMissing
        | Harm::Emptied
        | Harm::Chain
        | Harm::ForeignFlow
        | Harm::Illegal
        | Harm::SegmentMissing
        | Harm::Unexplained => ("journal-damaged", ""),
    }
}

/// What an operator should try about damage of a flow.
pub(crate) fn advice(harm: Harm, flow: &str) -> String {
    match words_for(harm) {
        (_, "") => format!("a-society repair {flow} --dry-run"),
        (_, advice) => advice.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_as_json_has_one_stable_shape() {
        let error = OperatorError::from(Error::NoFlow("x\n".to_owned()));
        let json: serde_json::Value = serde_json::from_str(&error.as_json()).unwrap();
        assert_eq!(json["error"]["code"], "flow-not-found");
        assert_eq!(json["error"]["exit_code"], 3);
        assert!(json["error"]["try"].is_string(), "{json}");
    }

    #[test]
    fn a_full_disk_has_its_own_code_wherever_it_is_met() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(from_io("write", "x", &full).exit, ExitCode::DiskFull);
        assert_eq!(
            OperatorError::from(Error::DiskFull).exit,
            ExitCode::DiskFull
        );
    }
}
