//! `session`: what roles remember, making it shorter, and taking that back.

use a_society_facts::fact::session::{Strategy, Trigger};
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::view::Views;
use a_society_facts::view::session::{Archive, ArchiveKind, SessionEntry, SessionView, Texts};
use a_society_orchestrator::sessions::chat_flow::{ChatFlowFault, chat_flow};
use a_society_orchestrator::sessions::key::SessionAddress;
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::context::Context;
use super::say::{deliver, role};
use super::session_ref::{SessionNamed, SessionTo, flow_and_role, flow_of};
use super::session_text::markdown;
use super::table::{self, Cell};
use super::{
    session_compact, session_cut, session_inject, session_life, session_look, session_request,
};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::plain;

/// The arguments of `session`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each role instance of a flow has a session: everything it received and said. Compacting replaces \
the history with a summary; the history is archived and can be restored. Nothing is lost either \
way: the journal has all of it.

Examples:
  a-society session ls a1b2
  a-society session compact a1b2 writer
  a-society session trim a1b2 writer --keep 12
  a-society session reset c3d4
  a-society session archives a1b2 writer --json
  a-society session restore a1b2 writer k7
  a-society session export a1b2 writer > writer.json
  a-society session request a1b2 57")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: SessionCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionCommand {
    /// List the sessions of a flow
    Ls(Ls),
    /// Replace a role's history with a summary
    Compact(session_compact::CompactArguments),
    /// Leave out the oldest messages
    Trim(session_cut::TrimArguments),
    /// Begin anew: nothing from before is remembered
    Reset(session_cut::ResetArguments),
    /// Close a chat: it takes no messages until it is opened again
    Close(session_life::CloseArguments),
    /// Open a chat that was closed
    Open(session_life::OpenArguments),
    /// Put a message into a session
    Inject(session_inject::InjectArguments),
    /// Print whether there is such a session
    Exists(session_look::ExistsArguments),
    /// Print how many messages a session holds
    Length(session_look::LengthArguments),
    /// Print a session with what it comes from and what comes from it, as JSON
    Snapshot(session_look::SnapshotArguments),
    /// Print what a session comes from and its forks
    Tree(session_look::TreeArguments),
    /// List the archived histories
    Archives(Archives),
    /// Restore an archived history
    Restore(Restore),
    /// Print a session, as JSON or Markdown
    Export(Export),
    /// Print a request as it left for its model
    Request(session_request::Arguments),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society session ls a1b2
  a-society session ls a1b2 --json | jq '.sessions[].context_tokens'")]
struct Ls {
    /// The flow or chat, or the key, id or label of a session of it; a beginning is enough
    #[arg(value_name = "REF")]
    of: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society session archives a1b2
  a-society session archives a1b2 writer --json")]
struct Archives {
    /// The session: its key, id or label, or its flow or chat; a beginning is enough
    #[arg(value_name = "REF")]
    of: String,

    /// The role instance; all of them if absent and a flow is named
    #[arg(value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
What replaced the history is removed, and everything said since follows it. A history that had \
nearly filled the window is compacted again with the role's next request. Of archives that trim or \
reset made, the last one is restored first.

Examples:
  a-society session restore a1b2 writer k7")]
#[command(allow_missing_positional = true)]
struct Restore {
    #[command(flatten)]
    to: SessionTo,

    /// The role instance; may be left out where only one has a session, as in a chat
    #[arg(value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,

    /// The archive, as `session archives` names it
    #[arg(value_name = "ARCHIVE")]
    archive: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
As JSON, export prints what transcript.json in the flow's folder holds, folded from the journal: \
the present messages, the system prompt, and the archived histories. As Markdown (md) it prints the \
present messages for people to read. It changes nothing, and works beside the process that drives \
the flow. Secrets in what tools returned were removed before it was recorded.

As a flow file (flow) a chat is a chain of nodes that its role takes: each has what was asked in one \
turn as its work, and hands what it made to the next. Turns that were stopped or failed are left \
out. The role is described in the file, and the chat's transcript is in it below metadata, where a \
flow file has room for it. Read it before you share or run it: it holds what you typed.

Examples:
  a-society session export a1b2 writer > writer.json
  a-society session export c3d4 --format flow > nightly.yaml && a-society run nightly.yaml
  a-society session export c3d4 --format md > chat.md
  a-society session export a1b2 writer --at 120 | jq '.transcriptHistory | length'")]
struct Export {
    #[command(flatten)]
    of: SessionNamed,

    /// As it was at this record; as it is now if absent
    #[arg(long, value_name = "SEQ")]
    at: Option<Seq>,

    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: ExportFormat,
}

/// The forms of a session that is printed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ExportFormat {
    /// All of it, for programs
    Json,
    /// Its present messages, for people
    Md,
    /// A chat as a flow file, with a node for each turn that came to an answer
    Flow,
}

/// Looks after sessions.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        SessionCommand::Ls(ls) => list(context, ls),
        SessionCommand::Compact(compact) => session_compact::run(context, compact),
        SessionCommand::Trim(trim) => session_cut::trim(context, trim),
        SessionCommand::Reset(reset) => session_cut::reset(context, reset),
        SessionCommand::Close(close) => session_life::close(context, close),
        SessionCommand::Open(open) => session_life::open(context, open),
        SessionCommand::Inject(inject) => session_inject::run(context, inject),
        SessionCommand::Exists(exists) => session_look::exists(context, exists),
        SessionCommand::Length(length) => session_look::length(context, length),
        SessionCommand::Snapshot(snapshot) => session_look::snapshot(context, snapshot),
        SessionCommand::Tree(tree) => session_look::tree(context, tree),
        SessionCommand::Archives(archives) => self::archives(context, archives),
        SessionCommand::Restore(restore) => self::restore(context, restore),
        SessionCommand::Export(export) => self::export(context, export),
        SessionCommand::Request(request) => session_request::run(context, request),
    }
}

/// Prints a session as its view on disk has it, or its messages, folded up to a record.
fn export(context: &mut Context<'_>, export: &Export) -> Outcome {
    let (store, SessionAddress { flow, role }) = export.of.found(context)?;
    if let ExportFormat::Flow = export.format {
        let file =
            chat_flow(&store, &flow, export.at).map_err(|fault| no_flow_file(&flow, fault))?;
        context.out.bytes(file.as_bytes())?;
        return Ok(ExitCode::Ok);
    }
    let mut views = Views::default();
    store.follow(&flow)?.read(&mut |recorded| {
        if export.at.is_none_or(|at| recorded.seq <= at) {
            views.apply(recorded);
        }
    })?;
    let Some(session) = views.session(&role) else {
        return Err(no_session(&role, &views));
    };
    let place = store.place(&flow);
    let read = |hash| place.text_of(hash);
    let bytes = match export.format {
        ExportFormat::Json => {
            let mut bytes = Vec::new();
            session.write_json(&mut bytes, Texts(&read));
            bytes
        }
        ExportFormat::Md | ExportFormat::Flow => {
            markdown(&views.flow.title, session, Texts(&read)).into_bytes()
        }
    };
    context.out.bytes(&bytes)?;
    Ok(ExitCode::Ok)
}

pub(super) fn no_flow_file(flow: &FlowRef, fault: ChatFlowFault) -> Stop {
    let what = format!("there is no flow file of {}/{}", flow.project, flow.flow);
    let r#try = match fault {
        ChatFlowFault::Unread(error) => return error.into(),
        ChatFlowFault::NoChat => format!(
            "fork it, or read its own file: a-society show {}",
            flow.flow
        ),
        ChatFlowFault::NoTurn => format!("say something: a-society chat --resume {}", flow.flow),
        ChatFlowFault::NoRole(_) => {
            "describe the role again in the project's a-docs/roles".to_owned()
        }
        ChatFlowFault::Unwritten(_) => {
            format!("export it as JSON: a-society session export {}", flow.flow)
        }
    };
    OperatorError::new(
        ("no-flow-file", ExitCode::Failed),
        what,
        fault.to_string(),
        r#try,
    )
    .into()
}

/// The sessions of a flow, folded from its journal.
pub(super) fn sessions(store: &Store, flow: &FlowRef) -> Result<Views, Stop> {
    let mut views = Views::default();
    store
        .follow(flow)?
        .read(&mut |recorded| drop(views.apply(recorded)))?;
    Ok(views)
}

fn list(context: &mut Context<'_>, ls: &Ls) -> Outcome {
    let (store, flow) = flow_of(context, &ls.of)?;
    let views = sessions(&store, &flow)?;
    if context.out.is_json() {
        let each = views.sessions.iter().map(|(role, session)| {
            json!({
                "role": role,
                "key": session.key,
                "session": session.session_id,
                "generation": session.generation,
                "state": session.state,
                "messages": session.messages.len(),
                "bytes": bytes(&session.messages),
                "context_tokens": session.latest_context_usage,
                "cost_micros": session.usage.cost_micros,
                "node": session.node.as_ref().map(|mark| &mark.node),
                "running": views.flow.main_turn_of(role).is_some(),
                "compacting": session.compaction.is_some(),
                "archives": session.archives.len(),
            })
        });
        let each: Vec<Value> = each.collect();
        let (project, flow) = (&flow.project, &flow.flow);
        let value = json!({ "project": project, "flow": flow, "sessions": each });
        context.out.value(&value)?;
        return Ok(ExitCode::Ok);
    }
    if views.sessions.is_empty() {
        context.out.line("no role has a session yet")?;
        return Ok(ExitCode::Ok);
    }
    let head = ["ROLE", "MESSAGES", "BYTES", "CONTEXT", "ARCHIVES", "NOW"];
    let mut rows: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    for (role, session) in &views.sessions {
        let now = if session.compaction.is_some() {
            "is being compacted"
        } else if views.flow.main_turn_of(role).is_some() {
            "a turn is open"
        } else {
            ""
        };
        rows.push(vec![
            role.to_string().into(),
            session.messages.len().to_string().into(),
            bytes(&session.messages).to_string().into(),
            session.latest_context_usage.to_string().into(),
            session.archives.len().to_string().into(),
            now.into(),
        ]);
    }
    for line in table::lines(&rows) {
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

/// How long messages are in a transcript.
pub(super) fn bytes(messages: &[SessionEntry]) -> u64 {
    messages.iter().map(SessionEntry::approx_bytes).sum()
}

pub(super) const fn word(strategy: Option<Strategy>) -> &'static str {
    match strategy {
        Some(Strategy::NodeSummary | Strategy::Llm) => "a model's summary",
        Some(Strategy::Truncate) => "the beginnings of its messages",
        Some(Strategy::ObservationMask) => "the same without long outputs",
        Some(Strategy::Custom) => "a program's summary",
        None => "nothing",
    }
}

const fn reason(kind: ArchiveKind, trigger: Trigger) -> &'static str {
    match (kind, trigger) {
        (ArchiveKind::Compact, Trigger::Manual) => "compacted",
        (ArchiveKind::Compact, Trigger::Auto) => "compacted (auto)",
        (ArchiveKind::Trim, _) => "trimmed",
        (ArchiveKind::Reset, _) => "reset",
    }
}

pub(super) fn of_archive(role: &RoleInstance, archive: &Archive) -> Value {
    let messages = &archive.archived_transcript_history;
    json!({
        "role": role,
        "archive": archive.id,
        "kind": archive.kind,
        "trigger": archive.trigger,
        "strategy": archive.strategy,
        "node": (!archive.node_id.is_empty()).then_some(&archive.node_id),
        "at": archive.compacted_at,
        "messages": messages.len(),
        "bytes": bytes(messages),
        "tokens_before": archive.tokens_before,
        "why": archive.why,
    })
}

fn archives(context: &mut Context<'_>, arguments: &Archives) -> Outcome {
    let (store, flow, role) = flow_and_role(context, &arguments.of)?;
    let views = sessions(&store, &flow)?;
    let role = arguments.role.clone().or(role);
    if let Some(role) = &role
        && views.session(role).is_none()
    {
        return Err(no_session(role, &views));
    }
    let wanted = |other: &RoleInstance| role.as_ref().is_none_or(|only| only == other);
    let found = views.sessions.iter().filter(|(role, _)| wanted(role));
    let found: Vec<(&RoleInstance, &SessionView)> = found.collect();
    if context.out.is_json() {
        let each = found
            .iter()
            .flat_map(|(role, session)| session.archives.iter().map(|kept| of_archive(role, kept)));
        let each: Vec<Value> = each.collect();
        let (project, flow) = (&flow.project, &flow.flow);
        let value = json!({ "project": project, "flow": flow, "archives": each });
        context.out.value(&value)?;
        return Ok(ExitCode::Ok);
    }
    let head = [
        "ROLE",
        "ARCHIVE",
        "WHY",
        "NODE",
        "WHEN",
        "MESSAGES",
        "BYTES",
        "REPLACED BY",
    ];
    let mut rows: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    for (role, session) in found {
        rows.extend(session.archives.iter().map(|kept| archive_row(role, kept)));
    }
    if rows.len() == 1 {
        context.out.line("there are no archives")?;
        return Ok(ExitCode::Ok);
    }
    for line in table::lines(&rows) {
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

fn archive_row(role: &RoleInstance, kept: &Archive) -> Vec<Cell> {
    vec![
        role.to_string().into(),
        plain(&kept.id).into_owned().into(),
        reason(kept.kind, kept.trigger).into(),
        plain(&kept.node_id).into_owned().into(),
        kept.compacted_at.to_string().into(),
        kept.archived_transcript_history.len().to_string().into(),
        bytes(&kept.archived_transcript_history).to_string().into(),
        word(kept.strategy).into(),
    ]
}

pub(super) fn no_session(role: &RoleInstance, views: &Views) -> Stop {
    let names: Vec<String> = views.sessions.keys().map(ToString::to_string).collect();
    let why = if names.is_empty() {
        "no role of it has one yet".to_owned()
    } else {
        format!("there are sessions of: {}", names.join(", "))
    };
    let what = format!("{role} has no session in this flow");
    let kind = ("no-session", ExitCode::Refused);
    OperatorError::new(kind, what, why, "a-society session ls FLOW").into()
}

fn restore(context: &mut Context<'_>, arguments: &Restore) -> Outcome {
    let (to, role) = &arguments.to.found(context, arguments.role.as_ref())?;
    let command = a_society_facts::Verb::Restore {
        role: role.clone(),
        archive: arguments.archive.clone(),
    };
    let said = deliver(context, to, command)?;
    let views = sessions(&said.store, &said.flow)?;
    let session = views
        .session(role)
        .ok_or_else(|| no_session(role, &views))?;
    if context.out.is_json() {
        context.out.value(&json!({
            "project": said.flow.project,
            "flow": said.flow.flow,
            "role": role,
            "seq": said.taken.seq,
            "facts": said.taken.facts,
            "messages": session.messages.len(),
        }))?;
        return Ok(ExitCode::Ok);
    }
    context.out.line(&format!(
        "{}: the history {} is back in the session of {role} ({} messages now)",
        said.flow,
        plain(&arguments.archive),
        session.messages.len(),
    ))?;
    Ok(ExitCode::Ok)
}
