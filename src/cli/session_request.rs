//! `session request`: a request as it left for its model, written anew from the journal.

use a_society_facts::Hash;
use a_society_facts::id::Seq;
use a_society_orchestrator::sent_request::{self, RequestUnwritten};
use serde_json::{Value, json};

use super::context::Context;
use super::say::project_folder;
use super::session_ref::flow_of;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};

/// The arguments of `session request`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
request prints the body that left for the model at a record model_requested, or what a script or \
a command was given. Those bytes are not stored: they are written again from the journal alone, \
and the recorded hash tells whether they are the same. Nothing is sent, and no configuration is \
read. A journal of an older version does not say what its requests were made of: for these the \
role is taken as it is configured today, and each difference is reported.

--comparable leaves out what differs from run to run without meaning anything: the folder, the \
system and the day, the time in each packet, how long commands took, and the names of caches. \
This way two runs of a flow can be compared, for example before and after a change of a role.

Examples:
  a-society log a1b2 --json | grep model_requested
  a-society session request a1b2 57 | jq '.messages | length'
  a-society session request a1b2 57 --json | jq .same
  a-society session request a1b2 57 --comparable > one.json
  a-society session request c3d4 57 --comparable | diff one.json -")]
pub(crate) struct Arguments {
    /// The flow or chat, or the key, id or label of a session of it; a beginning is enough
    #[arg(value_name = "REF")]
    of: String,

    /// The record that says that the model was asked
    #[arg(value_name = "SEQ")]
    seq: Seq,

    /// Leave out what differs from run to run: folder, day, times, names of caches
    #[arg(long)]
    comparable: bool,
}

/// Prints a request.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = flow_of(context, &arguments.of)?;
    let project = project_folder(&store, &flow.project);
    let found = if arguments.comparable {
        sent_request::comparable(&store, &flow, arguments.seq)
    } else {
        sent_request::request(&store, &flow, &project, arguments.seq)
    };
    let found = found.map_err(unwritten)?;
    if context.out.is_json() {
        let body: Value = serde_json::from_slice(&found.body).unwrap_or_default();
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "seq": arguments.seq,
            "role": found.asked.role,
            "turn": found.asked.turn,
            "request": found.asked.request,
            "model": found.asked.model,
            "hash": found.asked.hash,
            "comparable": arguments.comparable.then(|| Hash::of(&found.body)),
            "same": found.differs.is_none() && !arguments.comparable,
            "differs": found.differs,
            "body": body,
        }))?;
        return Ok(ExitCode::Ok);
    }
    context.out.bytes(&found.body)?;
    let said = match &found.differs {
        None if arguments.comparable => {
            let hash = Hash::of(&found.body);
            format!("this is the request without what differs from run to run; its hash is {hash}")
        }
        None => "these are the bytes that left: their hash is the recorded one".to_owned(),
        Some(why) => format!("these are not the very bytes that left: {why}"),
    };
    context.out.note(&said);
    Ok(ExitCode::Ok)
}

fn unwritten(error: RequestUnwritten) -> Stop {
    let hint = match &error {
        RequestUnwritten::State(_) | RequestUnwritten::Lost(_) => "a-society verify FLOW",
        RequestUnwritten::NoRequest(_) => "a-society log FLOW --json | grep model_requested",
        RequestUnwritten::NoModel(_) => "a-society session export FLOW ROLE",
        RequestUnwritten::Unsaid => "a-society session request FLOW SEQ, without --comparable",
        RequestUnwritten::Unready(_) => "a-society models ls",
    };
    match error {
        RequestUnwritten::State(error) => error.into(),
        other @ (RequestUnwritten::NoRequest(_)
        | RequestUnwritten::NoModel(_)
        | RequestUnwritten::Unsaid
        | RequestUnwritten::Lost(_)
        | RequestUnwritten::Unready(_)) => {
            let kind = ("no-request", ExitCode::Refused);
            let what = "this request cannot be shown";
            OperatorError::new(kind, what, other.to_string(), hint).into()
        }
    }
}
