//! `sessions`: the sessions of the workspace, the messages of one, by its key, and messages to a chat.

use a_society_facts::At;
use a_society_facts::fact::session::SessionState;
use a_society_facts::id::ProjectName;
use a_society_orchestrator::sessions::history::{HistoryQuery, messages};
use a_society_orchestrator::sessions::list::{
    SessionQuery, SessionRow, kind_named, list, state_named,
};
use serde_json::{Value, json};

use super::context::Context;
use super::session_ref::SessionNamed;
use super::sessions_send::{self, RunWaitArguments, SessionsSendArguments};
use super::table::{self, Cell};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, from_name};
use crate::text::{age, one_line, plain};

/// The arguments of `sessions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Chats and role instances of flows have sessions, each with a key that stays the same: \
flow:FLOW:role:ROLE for a role. session works on one session of a flow; sessions lists and reads \
those of the whole workspace, and sends messages to chats.

Examples:
  a-society sessions ls
  a-society sessions ls --active-minutes 60 --kind role
  a-society sessions history main --limit 20
  a-society sessions send notes 'Which colour?' --wait 60")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: SessionsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionsCommand {
    /// List the sessions of the workspace, the last active first
    Ls(SessionsLsArguments),
    /// Print the last messages of a session
    History(HistoryArguments),
    /// Send a message to a chat, and print what it answers
    Send(SessionsSendArguments),
    /// Wait for the answer to a message that was sent
    Wait(RunWaitArguments),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
As JSON, a row has every field that is known of a session, among them its model, its tokens and \
the path of its transcript.

Examples:
  a-society sessions ls --project demo --role writer
  a-society sessions ls --json --messages 2 | jq '.sessions[].messages'")]
struct SessionsLsArguments {
    /// Only those of this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,

    /// Only those of this kind: main, role, child, group, cron, hook, node or other; may be repeated
    #[arg(long, value_name = "KIND", value_parser = kind_named)]
    kind: Vec<a_society_facts::fact::session::SessionKind>,

    /// Only those of this role instance
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,

    /// Only those in this state; may be repeated
    #[arg(long, value_name = "STATE", value_parser = state_named)]
    state: Vec<SessionState>,

    /// Only the chat with this label
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,

    /// Only those that were active in the last minutes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    active_minutes: Option<u64>,

    /// How many rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=200))]
    limit: u64,

    /// How many of the last messages of each, without results of tools; with --json
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=20))]
    messages: u64,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  a-society sessions history flow:20260527T143000000Z-a1b2c3:role:writer
  a-society sessions history 'my chat' --limit 5 --tools
  a-society sessions history main --json | jq -r '.messages[-1].content'")]
struct HistoryArguments {
    #[command(flatten)]
    of: SessionNamed,

    /// How many messages
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,

    /// Results of tools, too
    #[arg(long)]
    tools: bool,
}

/// Lists sessions or reads one.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        SessionsCommand::Ls(arguments) => ls(context, arguments),
        SessionsCommand::History(arguments) => history(context, arguments),
        SessionsCommand::Send(arguments) => sessions_send::send(context, arguments),
        SessionsCommand::Wait(arguments) => sessions_send::wait(context, arguments),
    }
}

fn ls(context: &mut Context<'_>, arguments: &SessionsLsArguments) -> Outcome {
    let project: Option<ProjectName> = match &arguments.project {
        Some(name) => Some(name.parse().map_err(|bad| from_name(&bad))?),
        None => None,
    };
    let store = context.store()?;
    let mut flows = store.census()?.flows;
    flows.retain(|flow| project.as_ref().is_none_or(|name| *name == flow.project));
    let query = SessionQuery {
        kinds: arguments.kind.clone(),
        role: arguments.role.clone(),
        states: arguments.state.clone(),
        label: arguments.label.clone(),
        active_minutes: arguments.active_minutes,
        limit: Some(arguments.limit),
        message_limit: arguments.messages,
    };
    let now = store.ground().clock.now();
    let rows = list(&store, &flows, &query, now);
    if context.out.is_json() {
        let value = json!({ "count": rows.len(), "sessions": rows });
        context.out.value(&value)?;
        return Ok(ExitCode::Ok);
    }
    if rows.is_empty() {
        context.out.line("no session")?;
        return Ok(ExitCode::Ok);
    }
    for line in table::lines(&cells(&rows, now)) {
        context.out.line(&line)?;
    }
    Ok(ExitCode::Ok)
}

fn cells(rows: &[SessionRow], now: At) -> Vec<Vec<Cell>> {
    let head = ["KEY", "NAME", "MESSAGES", "TOKENS", "AGE", "NOW"];
    let mut cells: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    cells.extend(rows.iter().map(|row| {
        let doing = match (row.running, row.state) {
            (true, _) => "a turn is open",
            (false, SessionState::Expired) => "closed",
            (false, SessionState::Created | SessionState::Active) => "",
        };
        let name = row.label.as_ref().unwrap_or(&row.display_name);
        vec![
            plain(&row.key).into_owned().into(),
            one_line(name, 40).into(),
            row.message_count.to_string().into(),
            row.total_tokens.to_string().into(),
            age(now.ms() - row.updated_at).into(),
            doing.into(),
        ]
    }));
    cells
}

fn history(context: &mut Context<'_>, arguments: &HistoryArguments) -> Outcome {
    let (store, address) = arguments.of.found(context)?;
    let query = HistoryQuery {
        limit: Some(arguments.limit),
        include_tools: arguments.tools,
    };
    let read = messages(&store, &address, query)?;
    if context.out.is_json() {
        let (project, flow) = (&address.flow.project, &address.flow.flow);
        let value = json!({
            "project": project,
            "flow": flow,
            "role": address.role,
            "messages": read,
        });
        context.out.value(&value)?;
        return Ok(ExitCode::Ok);
    }
    for message in &read {
        for line in lines(message) {
            context.out.line(&plain(&line))?;
        }
    }
    Ok(ExitCode::Ok)
}

/// A message for people: who said it, and then what.
fn lines(message: &Value) -> Vec<String> {
    let text = |name: &str| {
        message
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let at = text("at");
    let (who, said) = match text("role") {
        "tool_result" => (format!("result of {}", text("toolName")), text("content")),
        "assistant_tool_calls" => {
            let calls = message.get("calls").and_then(Value::as_array);
            let name = |call: &Value| call.get("name").and_then(Value::as_str).map(str::to_owned);
            let names: Vec<String> = calls.into_iter().flatten().filter_map(name).collect();
            (
                format!("assistant, calls {}", names.join(", ")),
                text("text"),
            )
        }
        role => (role.to_owned(), text("content")),
    };
    let mut lines = vec![format!("--- {who}, {at}")];
    lines.extend(said.trim_end().lines().map(str::to_owned));
    lines
}
