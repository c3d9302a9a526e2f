//! `mcp`: which MCP servers there are, and which of them the operator lets run.

use a_society_facts::words::settings::{
    SERVER_CHANGED, SERVER_IS_APPROVED, SERVER_IS_HIDDEN, SERVER_IS_WANTED, SERVER_IS_YOURS,
};
use a_society_orchestrator::config::servers::{
    BEGINNING, Roster, ServerEntry, ServerStanding, approve, lists_in, revoke,
};
use a_society_orchestrator::config::user;
use a_society_orchestrator::project::place::{NameUses, NamedBy, servers_named};
use a_society_orchestrator::workspace::settings::servers_json;
use serde_json::json;

use super::context::Context;
use super::mcp_change;
use super::models::unusable;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::plain;
use crate::workspace;

/// The arguments of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Your own servers are configured under mcp-servers: of your configuration. A flow trusts a server \
as it is when one of its roles first uses it; when its definition changes, the role waits until \
you approve the new one. A server that a .mcp.json of the workspace or of a project names is not \
started before you have approved exactly that definition, and you are asked again when it \
changes. Approvals are kept beside your configuration, outside every workspace. Servers that \
roles of the workspace's projects name are listed with those roles; a role works without the \
tools of a server that is not configured.

Examples:
  a-society mcp ls
  a-society mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/docs
  a-society mcp test files
  a-society mcp rm files
  a-society mcp approve tickets 3f5c0a91b2de
  a-society retry a1b2
  a-society mcp revoke tickets")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: McpCommand,
}

#[derive(Debug, clap::Subcommand)]
enum McpCommand {
    /// List the servers, what each would run, and whether it may
    Ls,
    /// Add a server of your own, or replace one
    Add(Box<mcp_change::Add>),
    /// Remove a server of your own
    Rm {
        /// The server
        #[arg(value_name = "SERVER")]
        name: String,
    },
    /// Start a server, list its tools, and end it
    Test {
        /// The server
        #[arg(value_name = "SERVER")]
        name: String,
    },
    /// Approve a server as it is now
    Approve {
        /// The server
        #[arg(value_name = "SERVER")]
        name: String,
        /// What you have seen: the hash of its definition, or its first 12 digits
        #[arg(value_name = "HASH")]
        hash: String,
    },
    /// Revoke an approval
    Revoke {
        /// The server
        #[arg(value_name = "SERVER")]
        name: String,
    },
}

/// Looks after the servers.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        McpCommand::Ls => {
            let store = context.store().ok();
            let named = store.map(|store| {
                servers_named(store.ground().disk.as_ref(), workspace::folder_of(&store))
            });
            let roster = roster(context)?;
            list(context, &roster, &named.unwrap_or_default())
        }
        McpCommand::Add(wanted) => mcp_change::add(context, wanted),
        McpCommand::Rm { name } => mcp_change::rm(context, name),
        McpCommand::Test { name } => mcp_change::test(context, name),
        McpCommand::Approve { name, hash } => {
            let roster = roster(context)?;
            let_run(context, &roster, name, hash)
        }
        McpCommand::Revoke { name } => {
            let roster = roster(context)?;
            take_back(context, &roster, name)
        }
    }
}

/// The servers of the operator and of the workspace. Outside a workspace there are the operator's own.
fn roster(context: &mut Context<'_>) -> Result<Roster, Stop> {
    let store = context.store().ok();
    let lists = store.map(|store| lists_in(workspace::folder_of(&store)));
    Roster::read(&lists.unwrap_or_default()).map_err(unusable)
}

/// The state of a server, for people.
pub(super) const fn words(standing: ServerStanding) -> &'static str {
    match standing {
        ServerStanding::Own => SERVER_IS_YOURS,
        ServerStanding::Approved => SERVER_IS_APPROVED,
        ServerStanding::Changed => SERVER_CHANGED,
        ServerStanding::Wanted => SERVER_IS_WANTED,
        ServerStanding::Hidden => SERVER_IS_HIDDEN,
    }
}

/// The servers that roles name and no list has.
fn missing<'n>(roster: &Roster, named: &'n NameUses) -> impl Iterator<Item = &'n String> {
    named.keys().filter(|name| roster.named(name).is_none())
}

/// The roles that name a server, in words.
fn roles_in_words(by: &[NamedBy]) -> String {
    let roles: Vec<String> = (by.iter())
        .map(|by| format!("{} of {}", by.role, by.project))
        .collect();
    roles.join(", ")
}

fn list(context: &mut Context<'_>, roster: &Roster, named: &NameUses) -> Outcome {
    if context.out.is_json() {
        context.out.value(&servers_json(roster, named))?;
        return Ok(ExitCode::Ok);
    }
    for entry in &roster.entries {
        let standing = words(entry.standing());
        let head = format!("{}  {}  {standing}", entry.name, digits(entry));
        context.out.line(&plain(&head))?;
        for line in entry.shown.lines() {
            context.out.line(&format!("    {}", plain(line)))?;
        }
        if let Some(from) = &entry.from {
            let from = from.display().to_string();
            context.out.line(&format!("    from {}", plain(&from)))?;
        }
        if let Some(by) = named.get(&entry.name) {
            let line = format!("    named by {}", roles_in_words(by));
            context.out.line(&plain(&line))?;
        }
    }
    for name in missing(roster, named) {
        let by = named.get(name).map(|by| roles_in_words(by));
        let line = format!("{name}  MISSING: no list has it, and its roles work without it");
        context.out.line(&plain(&line))?;
        let line = format!("    named by {}", by.unwrap_or_default());
        context.out.line(&plain(&line))?;
    }
    if roster.entries.is_empty() {
        let path = user::path().map_err(unusable)?;
        let line = format!("there is no MCP server in {}", path.display());
        context.out.line(&plain(&line))?;
    }
    for fault in &roster.faults {
        context.out.note(&plain(fault));
    }
    Ok(ExitCode::Ok)
}

/// As much of a hash as has to be typed.
fn digits(entry: &ServerEntry) -> String {
    entry
        .definition
        .to_string()
        .chars()
        .take(BEGINNING)
        .collect()
}

/// The server that is meant, of those that could be used.
fn named<'r>(roster: &'r Roster, name: &str) -> Result<&'r ServerEntry, Stop> {
    roster.named(name).ok_or_else(|| {
        OperatorError::new(
            ("server-not-found", ExitCode::NotFound),
            format!("there is no MCP server {name}"),
            "neither your configuration nor a .mcp.json of this workspace names it",
            "a-society mcp ls",
        )
        .into()
    })
}

fn let_run(context: &mut Context<'_>, roster: &Roster, name: &str, hash: &str) -> Outcome {
    let entry = meant(roster, name, hash)?;
    approve(entry).map_err(unusable)?;
    if context.out.is_json() {
        let done = json!({ "server": entry.name, "definition": entry.definition });
        context.out.value(&done)?;
        return Ok(ExitCode::Ok);
    }
    let may = format!("{} may run as it is:", entry.name);
    context.out.line(&plain(&may))?;
    for line in entry.shown.lines() {
        context.out.line(&format!("    {}", plain(line)))?;
    }
    context
        .out
        .note("flows that wait for it go on with: a-society retry FLOW");
    Ok(ExitCode::Ok)
}

/// The server of a name whose definition is the one that was seen. Several projects of a workspace
/// may want different ones under one name.
fn meant<'r>(roster: &'r Roster, name: &str, hash: &str) -> Result<&'r ServerEntry, Stop> {
    let present = named(roster, name)?;
    let is_long = hash.len() >= BEGINNING;
    let fits = |entry: &&ServerEntry| {
        entry.name == name && is_long && entry.definition.to_string().starts_with(hash)
    };
    roster.entries.iter().find(fits).ok_or_else(|| {
        OperatorError::new(
            ("definition-changed", ExitCode::Refused),
            format!("{name} was not approved"),
            format!(
                "{}\nits definition is {}, and not {hash}",
                present.shown, present.definition
            ),
            format!(
                "look at it, then: a-society mcp approve {name} {}",
                digits(present)
            ),
        )
        .into()
    })
}

fn take_back(context: &mut Context<'_>, roster: &Roster, name: &str) -> Outcome {
    let mut taken = 0;
    named(roster, name)?;
    for entry in roster.entries.iter().filter(|entry| entry.name == name) {
        taken += usize::from(revoke(entry).map_err(unusable)?);
    }
    if context.out.is_json() {
        context
            .out
            .value(&json!({ "server": name, "revoked": taken }))?;
    } else if taken > 0 {
        let line = format!("{name} is not approved any more");
        context.out.line(&plain(&line))?;
    } else {
        context
            .out
            .line(&plain(&format!("{name} was not approved")))?;
        let note = format!("take a server of your own out with: a-society mcp rm {name}");
        context.out.note(&plain(&note));
    }
    Ok(ExitCode::Ok)
}
