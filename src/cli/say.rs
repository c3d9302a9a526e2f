//! Saying something to a flow: to the process that drives it, or by opening it.

use std::path::{Path, PathBuf};

use a_society_facts::id::{ClientId, NodeId, ProjectName, RoleInstance};
use a_society_facts::view::flow::FlowState;
use a_society_facts::{Verb, Whom};
use a_society_orchestrator::control::client::{self, ObeyedBy, Unsaid};
use a_society_orchestrator::control::message::{ControlFault, ControlFaultCode, Taken};
use a_society_orchestrator::mint::{self, SystemMint};
use a_society_orchestrator::pasted_secrets::holds_a_secret;
use a_society_orchestrator::project::place;
use a_society_orchestrator::run::RunError;
use a_society_state::{FlowRef, Store};
use serde_json::json;

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};

/// What every command to a flow takes.
#[derive(Debug, clap::Args)]
pub(crate) struct To {
    /// The flow
    #[arg(value_name = "FLOW")]
    flow: String,

    /// A name for this command: repeated under the same name, it counts once
    #[arg(long, value_name = "ID", value_parser = client_id)]
    client_id: Option<ClientId>,
}

/// What a command to a flow takes whose flow need not be named.
#[derive(Debug, clap::Args)]
pub(crate) struct ToOnly {
    /// The flow; the only one that is not over, or the only one at all, if left out
    #[arg(value_name = "FLOW")]
    flow: Option<String>,

    /// A name for this command: repeated under the same name, it counts once
    #[arg(long, value_name = "ID", value_parser = client_id)]
    client_id: Option<ClientId>,
}

impl ToOnly {
    /// The flow that is meant.
    ///
    /// # Errors
    /// When none is, or several could be.
    pub(crate) fn resolved(&self, context: &mut Context<'_>, verb: &str) -> Result<To, Stop> {
        let (_, flow) = context.flow_or_only(verb, self.flow.as_deref())?;
        Ok(To {
            flow: flow.to_string(),
            client_id: self.client_id.clone(),
        })
    }
}

impl To {
    /// A flow by what was typed for it, and nothing else.
    pub(crate) fn flow_named(flow: &str) -> Self {
        Self {
            flow: flow.to_owned(),
            client_id: None,
        }
    }

    /// A flow by its whole name.
    pub(super) fn whole(flow: &FlowRef, client_id: Option<ClientId>) -> Self {
        Self {
            flow: flow.to_string(),
            client_id,
        }
    }

    /// The flow as it was typed.
    pub(crate) fn flow(&self) -> &str {
        &self.flow
    }
}

/// Reads the name of a command.
pub(super) fn client_id(text: &str) -> Result<ClientId, String> {
    text.parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())
}

/// Which of those that wait is meant.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct Who {
    /// The node
    #[arg(long, value_name = "NODE", value_parser = node)]
    node: Option<NodeId>,

    /// The role instance, such as owner or owner_2
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,
}

/// Reads a node id.
pub(crate) fn node(text: &str) -> Result<NodeId, String> {
    text.parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())
}

/// Reads a role instance.
pub(crate) fn role(text: &str) -> Result<RoleInstance, String> {
    text.parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())
}

impl Who {
    /// Whom a command means: the only one that waits if none is named.
    pub(crate) fn whom(&self) -> Whom {
        match (&self.node, &self.role) {
            (Some(node), _) => Whom::Node(node.clone()),
            (None, Some(role)) => Whom::Role(role.clone()),
            (None, None) => Whom::Only,
        }
    }
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) store: Store,
    pub(crate) flow: FlowRef,
    pub(crate) taken: Taken,
    pub(crate) heard: ObeyedBy,
}

/// Says a command to a flow.
///
/// # Errors
/// When there is no such flow, it refuses, or no driver could take the command.
pub(crate) fn deliver(context: &mut Context<'_>, to: &To, verb: Verb) -> Result<Said, Stop> {
    let (store, flow) = context.flow(&to.flow)?;
    if verb.row().typed.is_some_and(holds_a_secret) {
        context.out.note(SECRET);
    }
    let client = match &to.client_id {
        Some(client) => client.clone(),
        None => mint::name(&mut SystemMint, "cli").map_err(a_society_state::Error::from)?,
    };
    let project = project_folder(&store, &flow.project);
    let said = client::say(&store, &flow, &project, verb, client);
    let (taken, heard) = said.map_err(from_unsaid)?;
    Ok(Said {
        store,
        flow,
        taken,
        heard,
    })
}

/// The warning about input that contains a secret.
pub(crate) const SECRET: &str = "something in it looks like a secret, and is blanked out; keep keys \
                                 in files or variables that the configuration names";

/// Sends a command to a flow and prints the result.
///
/// # Errors
/// As [`deliver`].
pub(crate) fn say(context: &mut Context<'_>, to: &To, verb: Verb) -> Outcome {
    let row = verb.row();
    let (done, is_unrecorded, is_setting) = (row.done, row.is_unrecorded, row.sets.is_some());
    let said = deliver(context, to, verb)?;
    let again = !is_unrecorded && said.taken.facts == 0;
    tell(
        context,
        &said,
        if again {
            "this command was already taken, and counts once"
        } else {
            done
        },
    )?;
    if is_setting {
        tell_unused(context, &said)?;
    }
    Ok(ExitCode::Ok)
}

/// What is set in a flow that is over waits for a node that is reopened, or a fork.
fn tell_unused(context: &mut Context<'_>, said: &Said) -> Result<(), Stop> {
    let status = said.store.look(&said.flow)?.screen.flow.status;
    if !status.is_over() || context.out.is_json() {
        return Ok(());
    }
    let name = super::asks::short(&said.flow);
    context.out.note(&format!(
        "the flow is {}, so that nothing uses this now; it counts once a node runs again \
         (a-society reopen {name} NODE), and in a fork (a-society fork {name})",
        status.word()
    ));
    Ok(())
}

/// Prints the result of a command, in these words.
///
/// # Errors
/// When it cannot be printed, or the flow cannot be looked at.
fn tell(context: &mut Context<'_>, said: &Said, words: &str) -> Result<(), Stop> {
    let Said {
        store,
        flow,
        taken,
        heard,
    } = said;
    let driven = *heard == ObeyedBy::ByDriver;
    if context.out.is_json() {
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "seq": taken.seq,
            "facts": taken.facts,
            "driven": driven,
        }))?;
        return Ok(());
    }
    context
        .out
        .line(&format!("{flow}: {words} (record {})", taken.seq))?;
    // A flow that is over has nothing to go on with.
    let state = store.look(flow)?.screen.flow;
    if !driven && !state.status.is_over() {
        let command = goes_on(&state, super::asks::short(flow));
        let note = format!("it has no driver now; continue with: {command}");
        context.out.note(&note);
    }
    Ok(())
}

/// The folder of a flow's project: the one of its name in the workspace, or the workspace itself.
pub(crate) fn project_folder(store: &Store, project: &ProjectName) -> PathBuf {
    place::folder_of(store, project)
}

/// Why a command failed, as the operator sees it.
pub(crate) fn from_fault(fault: ControlFault) -> OperatorError {
    let kind = match fault.code {
        ControlFaultCode::CommandRefused => ("command-refused", ExitCode::Refused),
        ControlFaultCode::CommandAmbiguous => ("command-ambiguous", ExitCode::Usage),
        ControlFaultCode::FlowFileUnfit => ("flow-file-unfit", ExitCode::Failed),
        ControlFaultCode::MessageUnfit => ("message-unfit", ExitCode::Failed),
        ControlFaultCode::NewerVersion => ("newer-version", ExitCode::Failed),
        ControlFaultCode::FlowGone => ("flow-gone", ExitCode::Failed),
        ControlFaultCode::FlowStopped => ("flow-stopped", ExitCode::Failed),
        ControlFaultCode::FlowBusy => ("flow-busy", ExitCode::Busy),
        ControlFaultCode::NoAnswer => ("no-answer", ExitCode::Failed),
        ControlFaultCode::DiskFull => ("disk-full", ExitCode::DiskFull),
        ControlFaultCode::DiskFailed => ("disk-failed", ExitCode::Failed),
        ControlFaultCode::Unknown => ("unknown", ExitCode::Failed),
    };
    OperatorError::new(kind, fault.what, fault.why, fault.r#try)
}

pub(super) fn from_unsaid(unsaid: Unsaid) -> Stop {
    match unsaid {
        Unsaid::Run(error) => from_run(error),
        unsaid @ (Unsaid::Fault(_) | Unsaid::Deaf { .. } | Unsaid::NoAnswer(_)) => {
            from_fault(client::fault_of(unsaid)).into()
        }
    }
}

/// Why a flow cannot be started or gone on with.
pub(crate) fn from_run(error: RunError) -> Stop {
    let (code, what) = match &error {
        RunError::State(_) => return from_state(error),
        RunError::NeverBegan => {
            let what = "this flow never began";
            let hint =
                "start it anew: a-society run FILE; what is left of it goes with: a-society prune";
            let kind = ("flow-empty", ExitCode::Refused);
            return OperatorError::new(kind, what, error.to_string(), hint).into();
        }
        RunError::Driver(_) => ("flow-stopped", "the flow cannot be driven"),
        RunError::File(_) => ("flow-file-unfit", "a file of the flow cannot be used"),
        RunError::Record(_) => ("record-unfit", "the record folder cannot be used"),
    };
    OperatorError::new(
        (code, ExitCode::Failed),
        what,
        error.to_string(),
        "a-society verify FLOW",
    )
    .into()
}

fn from_state(error: RunError) -> Stop {
    match error {
        RunError::State(error) => error.into(),
        error @ (RunError::Driver(_)
        | RunError::File(_)
        | RunError::Record(_)
        | RunError::NeverBegan) => from_run(error),
    }
}

/// The text that is meant where a file can be named, too: what was typed, what the file behind `@` holds,
/// or standard input for `-`. A text that begins with `@` is typed with two of them.
///
/// # Errors
/// When it cannot be read, or says nothing.
pub(crate) fn text_or_file(typed: &str) -> Result<String, Stop> {
    match typed.strip_prefix('@') {
        None => text(typed),
        Some(literal) if literal.starts_with('@') => text(literal),
        Some(path) => said(super::flow_files::read_text(Path::new(path))?),
    }
}

/// The text that is meant: what was typed, or standard input for `-`.
///
/// # Errors
/// When it cannot be read, or says nothing.
pub(crate) fn text(typed: &str) -> Result<String, Stop> {
    let text = if typed == "-" {
        super::flow_files::read_text(Path::new("-"))?
    } else {
        typed.to_owned()
    };
    said(text)
}

/// A text that says something.
fn said(text: String) -> Result<String, Stop> {
    if text.trim().is_empty() {
        return Err(OperatorError::new(
            ("usage", ExitCode::Usage),
            "there is no text",
            "it is empty, or has only blanks",
            "type one in quotes, or give it on standard input with -",
        )
        .into());
    }
    Ok(text)
}

/// The command that goes on with a flow, or with a chat.
pub(crate) fn goes_on(state: &FlowState, name: &str) -> String {
    goes_on_with(state.chat.is_some(), name)
}

/// The same by what is known of it.
pub(crate) fn goes_on_with(is_chat: bool, name: &str) -> String {
    if is_chat {
        format!("a-society chat --resume {name}")
    } else {
        format!("a-society resume {name}")
    }
}
