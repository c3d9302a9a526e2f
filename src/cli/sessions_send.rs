//! `sessions send` and `sessions wait`: a message for a chat, and its answer.

use std::time::Duration;

use a_society_facts::id::ClientId;
use a_society_orchestrator::mint::{self, SystemMint};
use a_society_orchestrator::pasted_secrets::holds_a_secret;
use a_society_orchestrator::sessions::report::{RunReport, RunStatus};
use a_society_orchestrator::sessions::send::{self, RunPatience, WAIT_S, WAIT_S_MAX};

use super::context::Context;
use super::say::{SECRET, client_id, from_unsaid, text};
use super::session_ref;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome};
use crate::text::{plain, printed};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The message begins a turn of the chat, as one of chat --resume does. A process that drives the chat \
gets it; if there is none, one is started, which goes on when this command ends. A chat that is at \
work takes the message when it has answered the one before.

Each message is a run with a name, which is printed first on stderr. When the time is over the run \
goes on, and sessions wait prints its answer later, after any crash, too. A message that is \
repeated with the same --client-id counts once.

send and wait end with 0 after an answer, with 8 while the run goes on, with 12 when it failed, \
and with 5 when the chat was busy for too long, so that nothing was sent.

Examples:
  a-society sessions send notes 'Which colour?'
  a-society sessions send 'my chat' --wait 120 - < question.md
  a-society sessions send main 'Read the log.' --no-wait --json | jq -r .runId")]
pub(super) struct SessionsSendArguments {
    /// The chat: its key, id or label; a beginning is enough
    #[arg(value_name = "REF")]
    of: String,

    /// The message; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,

    /// How many seconds to wait for the answer
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_S, value_parser = clap::value_parser!(u64).range(1..=WAIT_S_MAX))]
    wait: u64,

    /// Print the name of the run and do not wait for the answer
    #[arg(long, conflicts_with = "wait")]
    no_wait: bool,

    /// A name for this message: repeated under the same name, it counts once
    #[arg(long, value_name = "ID", value_parser = client_id)]
    client_id: Option<ClientId>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The answer is read from the journal of the chat. If the run is not over and no process drives its \
chat, one is started. wait ends with the codes of sessions send.

Examples:
  a-society sessions wait 20260527T143000000Z-a1b2c3:send-0a1b2c
  a-society sessions wait \"$run\" --wait 600 --json | jq -r .reply")]
pub(super) struct RunWaitArguments {
    /// The run, as sessions send prints it
    #[arg(value_name = "RUN")]
    run: String,

    /// How many seconds to wait; 0 only looks
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_S, value_parser = clap::value_parser!(u64).range(0..=WAIT_S_MAX))]
    wait: u64,
}

/// Sends a message, and prints its answer.
pub(super) fn send(context: &mut Context<'_>, arguments: &SessionsSendArguments) -> Outcome {
    let text = text(&arguments.text)?;
    let (store, address) = session_ref::found(context, &arguments.of, None)?;
    if holds_a_secret(&text) {
        context.out.note(SECRET);
    }
    let client = match &arguments.client_id {
        Some(client) => client.clone(),
        None => mint::name(&mut SystemMint, "send").map_err(a_society_state::Error::from)?,
    };
    let seconds = if arguments.no_wait { 0 } else { arguments.wait };
    let run = format!("{}:{client}", address.flow.flow);
    if !context.out.is_json() {
        context.out.note(&format!("run {run}"));
    }
    let later = later(&run);
    let patience = patience(seconds, &later, context.without_locks);
    let report = send::send(&store, address, client, &text, &patience).map_err(from_unsaid)?;
    print(context, &report)
}

fn later(run: &str) -> String {
    format!("wait for it: a-society sessions wait {run}")
}

const fn patience(seconds: u64, later: &str, without_locks: bool) -> RunPatience<'_> {
    RunPatience {
        longest: Duration::from_secs(seconds),
        is_over: &|| false,
        without_locks,
        later,
    }
}

/// Waits for a run, and prints its answer.
pub(super) fn wait(context: &mut Context<'_>, arguments: &RunWaitArguments) -> Outcome {
    let store = context.store()?;
    let name = &arguments.run;
    let later = later(name);
    let patience = patience(arguments.wait, &later, context.without_locks);
    let waited = send::wait(&store, name, &patience).map_err(from_unsaid)?;
    let Some(report) = waited else {
        let what = format!("there is no run {}", plain(name));
        let why = "no message was sent under this name, or its chat was removed";
        let hint = "a-society sessions send REF TEXT";
        return Err(OperatorError::new(("no-run", ExitCode::NotFound), what, why, hint).into());
    };
    print(context, &report)
}

fn print(context: &mut Context<'_>, report: &RunReport) -> Outcome {
    let code = match report.status {
        RunStatus::Ok | RunStatus::Accepted => ExitCode::Ok,
        RunStatus::Error => ExitCode::WaitsAfterFailure,
        RunStatus::Timeout => ExitCode::Waiting,
    };
    if context.out.is_json() {
        context.out.value(report)?;
        return Ok(code);
    }
    let error = report.error.as_deref().unwrap_or_default();
    match (report.status, &report.reply) {
        (_, Some(reply)) if context.out.is_terminal() => {
            for line in reply.lines() {
                context.out.line(&printed(line))?;
            }
        }
        (_, Some(reply)) => context.out.bytes(format!("{reply}\n").as_bytes())?,
        (RunStatus::Error, None) => context.out.note(&plain(&format!("no answer: {error}"))),
        (RunStatus::Accepted, None) => {
            let later = later(&report.run_id);
            context.out.note(&format!("the run goes on; {later}"));
        }
        (RunStatus::Ok | RunStatus::Timeout, None) => context.out.note(&plain(error)),
    }
    Ok(code)
}
