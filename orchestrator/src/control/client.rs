//! Says a command to a flow: to the process that drives it, or, if none does, by opening it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use a_society_facts::Verb;
use a_society_facts::id::ClientId;
use a_society_flow::machine::has_more_to_start;
use a_society_state::watch::{FolderWatch, News};
use a_society_state::{Error, FlowRef, Store};

use super::limits::{ANSWER_TIMEOUT, MESSAGE_BYTES_MAX, NEWS_MAX, PAUSE_BETWEEN_TRIES, TRIES_MAX};
use super::message::{
    ControlFault, ControlFaultCode, ControlReply, ControlRequest, Taken, VERSION,
};
use super::{fault, socket};
use crate::mint::SystemMint;
use crate::run::{RunError, reopen};

/// Who took a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObeyedBy {
    /// The process that drives the flow.
    ByDriver,
    /// This process, which opened the flow for it.
    ByUs {
        /// Whether the flow has something to start because of it.
        goes_on: bool,
    },
}

/// Why a command was not delivered, or failed.
#[derive(Debug, thiserror::Error)]
pub enum Unsaid {
    /// It was delivered, and failed.
    #[error(transparent)]
    Fault(#[from] ControlFault),
    /// The flow cannot be opened.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A process holds the flow and cannot be talked to.
    #[error("{holder} holds the flow and does not listen: {why}")]
    Deaf {
        /// Who.
        holder: String,
        /// What the system says.
        why: io::Error,
    },
    /// It was sent, and the answer did not come.
    #[error("the answer did not come: {0}")]
    NoAnswer(io::Error),
}

impl Unsaid {
    /// Whether the process that drove the flow was on its way out when it was spoken to.
    fn says_that_it_left(&self) -> bool {
        match self {
            Self::Fault(fault) => fault.code == ControlFaultCode::FlowGone,
            Self::NoAnswer(error) => matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::ConnectionReset
                    | io::ErrorKind::BrokenPipe
            ),
            Self::Run(_) | Self::Deaf { .. } => false,
        }
    }
}

/// Why a verb was not said, or failed.
#[must_use]
pub fn fault_of(unsaid: Unsaid) -> ControlFault {
    let why = unsaid.to_string();
    let (code, what, hint) = match unsaid {
        Unsaid::Fault(fault) => return fault,
        Unsaid::Deaf { .. } => (
            ControlFaultCode::FlowBusy,
            "another process holds this flow and does not listen",
            "stop that process, then try again",
        ),
        Unsaid::NoAnswer(_) => (
            ControlFaultCode::NoAnswer,
            "the process that drives the flow did not answer",
            "look whether it was done before you try again: a-society status FLOW",
        ),
        Unsaid::Run(_) => (
            ControlFaultCode::FlowStopped,
            "the flow cannot be driven",
            "a-society verify FLOW",
        ),
    };
    ControlFault {
        code,
        what: what.to_owned(),
        why,
        r#try: hint.to_owned(),
    }
}

/// Says a command to a flow.
///
/// # Errors
/// When it failed, or no process could take it.
pub fn say(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    command: Verb,
    client: ClientId,
) -> Result<(Taken, ObeyedBy), Unsaid> {
    let place = store.place(flow);
    let request = ControlRequest {
        v: VERSION,
        client: Some(client),
        command,
    };
    // Before the first try, so that nothing is missed between a try and the next.
    let watch = FolderWatch::new().ok();
    let watch = watch.filter(|watch| watch.add(place.path()).is_ok());
    let (mut tries, mut news) = (1, 1);
    loop {
        let again = tries < TRIES_MAX && news < NEWS_MAX;
        if let Some(holder) = place.holder().map_err(RunError::from)? {
            match socket::connect(&place) {
                Ok(stream) => match ask(&stream, &request) {
                    // The client id makes a second delivery harmless.
                    Err(unsaid) if again && unsaid.says_that_it_left() => {}
                    said => return said.map(|taken| (taken, ObeyedBy::ByDriver)),
                },
                // It is about to listen, or about to go.
                Err(_) if again => {}
                Err(why) => return Err(Unsaid::Deaf { holder, why }),
            }
        } else {
            match by_us(store, flow, project, &request) {
                Err(Unsaid::Run(RunError::State(Error::Busy { .. }))) if again => {}
                said => return said,
            }
        }
        // A driver that comes makes its socket here, and one that goes removes it and closes its lock.
        match watch.as_ref().map(|watch| watch.wait(PAUSE_BETWEEN_TRIES)) {
            Some(Ok(News::Of(changed))) if changed.is_empty() => tries += 1,
            Some(Ok(News::Of(_) | News::All)) => news += 1,
            Some(Err(_)) | None => {
                std::thread::sleep(PAUSE_BETWEEN_TRIES);
                tries += 1;
            }
        }
    }
}

fn by_us(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    request: &ControlRequest,
) -> Result<(Taken, ObeyedBy), Unsaid> {
    let (mut core, _) = reopen(store, flow, project.to_owned(), Box::new(SystemMint))?;
    let mut before = core.pending();
    let taken = core.obey(request.command.clone(), request.client.clone());
    let taken = taken.and_then(|taken| {
        core.finish_asides()?;
        let seq = core.flow().position().seq;
        if taken.facts == 0 {
            // It counted before, and its client may have gone before anything was started.
            before.clear();
        }
        let goes_on = has_more_to_start(&before, &core.pending());
        Ok((Taken { seq, ..taken }, ObeyedBy::ByUs { goes_on }))
    });
    core.close().map_err(RunError::from)?;
    taken.map_err(|error| match error.into_state() {
        Ok(error) => Unsaid::Run(RunError::State(error)),
        Err(error) => Unsaid::Fault(fault::of(&error)),
    })
}

/// Says a request over a connection and waits for its answer.
///
/// # Errors
/// When it failed, or the answer did not come.
pub(crate) fn ask(stream: &UnixStream, request: &ControlRequest) -> Result<Taken, Unsaid> {
    let mut line = serde_json::to_vec(request).map_err(|error| Unsaid::NoAnswer(error.into()))?;
    line.push(b'\n');
    if line.len() as u64 > MESSAGE_BYTES_MAX {
        // The other side would close the connection before it had read all of it.
        return Err(fault::too_long().into());
    }
    match exchange(stream, &line).map_err(Unsaid::NoAnswer)? {
        ControlReply::Ok(taken) => Ok(taken),
        ControlReply::Error(fault) => Err(fault.into()),
    }
}

fn exchange(mut stream: &UnixStream, line: &[u8]) -> io::Result<ControlReply> {
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(line)?;
    let mut answer = Vec::new();
    BufReader::new(stream)
        .take(MESSAGE_BYTES_MAX)
        .read_until(b'\n', &mut answer)?;
    if answer.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&answer)?)
}
