//! `status`: the state of a flow, what works, and what it waits for, in a few lines.

use std::borrow::Cow;
use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::fact::operator::{ConsentMode, McpServerUnavailable};
use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::standing::{FlowStanding, NodeStanding};
use a_society_facts::words::calls::WITHOUT_SERVER;
use a_society_operator_ui::fold::asks::{OpenAsk, open};
use a_society_orchestrator::config::user::ToolReach;
use a_society_orchestrator::delivered::Delivered;
use a_society_orchestrator::graph;
use a_society_orchestrator::machine::{OperatorQuestion, Work, pending};
use a_society_orchestrator::project::reaches;
use a_society_orchestrator::workspace::settings::reach_json;
use a_society_state::disk::Disk;
use a_society_state::look::Look;
use a_society_state::process::command_line;
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::asks;
use super::context::Context;
use super::cost;
use super::delivered;
use super::progress::board::stands;
use super::report::damage_json;
use super::say::goes_on;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::output::Output;
use crate::text::{age, one_line, plain, wrapped};

/// The text of rules is cut to this, so that it takes a few lines; `--json` has all of them.
const CONSENT_COLUMNS_MAX: usize = 300;

/// The commands that drive flows.
const DRIVING: [&str; 4] = ["run", "resume", "serve", "demo"];

/// The arguments of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
status changes nothing, and works beside the process that drives the flow. show prints more.

Examples:
  a-society status a1b2
  a-society status a1b2 --json | jq -r '.waits[].answers[0]'")]
pub(crate) struct Arguments {
    /// The flow; the only one that is not over, or the only one at all, if left out
    #[arg(value_name = "FLOW")]
    flow: Option<String>,
}

/// Says it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow_or_only("status", arguments.flow.as_deref())?;
    let seen = store.look(&flow)?;
    let state = &seen.screen.flow;
    let work = works_and_asks(&store, &flow, state)?;
    let asks = open(state, &work);
    let project = super::say::project_folder(&store, &flow.project);
    let reaches = reaches::of(&store, &flow, &project, state);
    let made = delivered::of_closed(&store, &flow, &seen)?;
    let code = if seen.damage.is_some() {
        ExitCode::Damaged
    } else {
        ExitCode::Ok
    };
    if context.out.is_json() {
        let reaches = reaches.as_ref().ok();
        let value = as_json(&flow, &seen, &asks, reaches, made.as_ref());
        context.out.value(&value)?;
        return Ok(code);
    }
    let now = store.ground().clock.now();
    let out = &mut context.out;
    if !state.is_created() && seen.damage.is_none() {
        out.line(&format!(
            "{flow}: nothing was ever recorded in it; it never began"
        ))?;
        return Ok(code);
    }
    tell_head(out, store.ground().disk.as_ref(), &flow, &seen, now)?;
    for (node, running) in &state.running {
        let since = age(now.ms() - running.since.ms());
        let stands = stands(state, node, now, seen.held_by.is_some(), false);
        let (role, word) = (&running.role, plain(&stands.word));
        out.line(&format!("{node} ({role}): {word}, since {since}"))?;
    }
    let name = asks::short(&flow);
    limited(out, &flow, &seen, now)?;
    if let Some(made) = &made {
        out.line(&delivered::line(made))?;
    }
    for ask in &asks {
        let shown = shown_by(name, ask, state);
        for line in asks::lines_of(out, name, ask, &shown) {
            out.line(&line)?;
        }
    }
    servers(out, state)?;
    let over = state.status.is_over();
    if !over {
        allowed(out, state, reaches.iter().flatten())?;
    }
    if let Some(damage) = &seen.damage {
        let says = damage.to_string();
        out.line(&out.paint.red(&plain(&says)))?;
    } else if seen.held_by.is_none() && !over {
        out.line(&format!("go on: {}", goes_on(state, name)))?;
    }
    Ok(code)
}

/// The command that holds a flow, such as `run` or `serve`, or its process where the system does not say.
fn driver<'h>(disk: &dyn Disk, held_by: &'h str) -> Cow<'h, str> {
    let pid = held_by.strip_prefix("process ");
    let Some(pid) = pid.and_then(|pid| pid.parse().ok()) else {
        return Cow::Borrowed(held_by);
    };
    let mut words = command_line(disk, pid).into_iter().skip(1);
    let verb = words.find(|word| DRIVING.contains(&word.as_str()));
    verb.map_or(Cow::Borrowed(held_by), Cow::Owned)
}

/// How the flow is called, what it is doing, what it cost, and who drives it.
fn tell_head(
    out: &mut Output,
    disk: &dyn Disk,
    flow: &FlowRef,
    seen: &Look,
    now: At,
) -> Result<(), Stop> {
    let state = &seen.screen.flow;
    let title = one_line(&state.title, 60);
    let status = seen.standing_words(now).unwrap_or_default();
    let cost = cost::in_short(&state.account);
    let cost: String = cost.iter().map(|part| format!(" · {part}")).collect();
    let driver = match &seen.held_by {
        Some(held_by) => format!(" · driven by {}", plain(&driver(disk, held_by))),
        None => String::new(),
    };
    let old = state.updated_at.map(|at| age(now.ms() - at.ms()));
    let old = old.map_or_else(String::new, |old| format!(" · {old}"));
    let rest = |name: &str| format!("  {name}  {status}{old}{cost}{driver}");
    // A terminal is short of room, and its rows break at words.
    let rows = if out.is_terminal() {
        let (columns, _) = out.size();
        let name = format!("{}/{}", flow.project, asks::short(flow));
        wrapped(&format!("{title}{}", rest(&name)), columns)
    } else {
        vec![format!("{title}{}", rest(&flow.to_string()))]
    };
    for row in rows {
        let line = match row.strip_prefix(&title) {
            Some(rest) => format!("{}{rest}", out.paint.bold(&title)),
            None => row,
        };
        out.line(&line)?;
    }
    Ok(())
}

/// The command that shows the call that an ask is about.
fn shown_by(name: &str, ask: &OpenAsk, state: &FlowState) -> String {
    let OperatorQuestion::Consent { consent, .. } = &ask.question else {
        return String::new();
    };
    let at = state.consents.keys().position(|open| open == consent);
    at.map(|at| format!("  (show {name} --call {})", at + 1))
        .unwrap_or_default()
}

/// Which roles wait for a limit of their provider to reset.
fn limited(out: &mut Output, flow: &FlowRef, seen: &Look, now: At) -> Result<(), Stop> {
    let name = asks::short(flow);
    for (node, waiting) in seen.screen.flow.waits() {
        if let Some(at) = waiting.until {
            let role = &waiting.role;
            let resets = FlowStanding::Limited(at).words(now);
            let who = node.map_or_else(|| role.to_string(), |node| format!("{node} ({role})"));
            let to = asks::named(node, role);
            let then = if seen.held_by.is_some() {
                "and then it goes on by itself; try now: "
            } else {
                "and it goes on then if the flow is driven (by serve or resume); try at once: "
            };
            out.line(&format!(
                "{who}: {resets}, {then}a-society retry {name} {to}"
            ))?;
        }
    }
    Ok(())
}

/// The same for programs.
fn as_json(
    flow: &FlowRef,
    seen: &Look,
    asks: &[OpenAsk],
    reaches: Option<&BTreeMap<RoleInstance, ToolReach>>,
    made: Option<&Delivered>,
) -> Value {
    let state = &seen.screen.flow;
    let running = state.running.iter().map(|(node, running)| {
        let standing = NodeStanding::of(state, node, seen.held_by.is_some()).word();
        json!({ "node": node, "role": running.role, "since": running.since, "standing": standing })
    });
    json!({
        "project": flow.project,
        "flow": flow.flow,
        "title": state.title,
        "status": if state.is_created() { state.status.word() } else { "empty" },
        "standing": seen.standing().map(FlowStanding::word),
        "retry_at": seen.screen.summary.retry_at,
        "resets_at": seen.screen.summary.resets_at(),
        "seq": state.seq,
        "running": running.collect::<Vec<_>>(),
        "waits": asks::as_json(flow, asks),
        "consent": {
            "mode": state.consent_mode,
            "allow": state.rules.allow,
            "deny": state.rules.deny,
        },
        "tools": reaches.map(|reaches| {
            let each = reaches.iter();
            each.map(|(role, reach)| (role.to_string(), reach_json(reach)))
                .collect::<serde_json::Map<_, _>>()
        }),
        "absent_servers": absent(state)
            .map(|(role, server, why)| json!({
                "role": role, "server": server, "why": why, "try": McpServerUnavailable::hint(),
            }))
            .collect::<Vec<_>>(),
        "cost": cost::as_json(state),
        "delivered": made.map(delivered::place_as_json),
        "driven_by": seen.held_by,
        "damage": seen.damage.as_ref().map(damage_json),
    })
}

/// How far the tools of a role reach. The narrowest reach is what everybody expects, and is not worth a
/// line.
fn tools(out: &mut Output, role: &RoleInstance, reach: &ToolReach) -> Result<(), Stop> {
    if reach.words() == ToolReach::default().words() {
        return Ok(());
    }
    out.line(&format!("tools of {role}: {}", reach.words()))
}

/// Which servers of tools the flow knows, which are missing, and what to try.
fn servers(out: &mut Output, state: &FlowState) -> Result<(), Stop> {
    let is_absent = |name: &String| absent(state).any(|(_, server, _)| server == name);
    let there = state.mcp_servers.keys().filter(|name| !is_absent(name));
    let there: Vec<&str> = there.map(String::as_str).collect();
    if !there.is_empty() {
        let line = format!("servers of tools: {}", there.join(", "));
        out.line(&plain(&line))?;
    }
    for (role, server, why) in absent(state) {
        let line = format!("{role} {WITHOUT_SERVER} {server}: {why}");
        out.line(&out.paint.yellow(&plain(&line)))?;
        out.line(&format!("  {}", McpServerUnavailable::hint()))?;
    }
    Ok(())
}

/// The servers that roles work without, and why.
fn absent(state: &FlowState) -> impl Iterator<Item = (&RoleInstance, &str, &str)> {
    let each = state.absent_servers.iter();
    each.flat_map(|(role, servers)| {
        let servers = servers.iter();
        servers.map(move |(server, why)| (role, server.as_str(), why.as_str()))
    })
}

/// What the flow may do, where that is not what everybody expects.
fn allowed<'a>(
    out: &mut Output,
    state: &FlowState,
    reaches: impl Iterator<Item = (&'a RoleInstance, &'a ToolReach)>,
) -> Result<(), Stop> {
    if let Some(line) = consent(state) {
        out.line(&one_line(&line, CONSENT_COLUMNS_MAX))?;
    }
    for (role, reach) in reaches {
        tools(out, role, reach)?;
    }
    Ok(())
}

/// What may be done in the flow without asking, if that is more than nothing, and what never is.
fn consent(state: &FlowState) -> Option<String> {
    let mode = match state.consent_mode {
        ConsentMode::NoAccess => None,
        ConsentMode::PartialAccess => Some("consent: what was allowed for the flow".to_owned()),
        ConsentMode::FullAccess => Some("consent: it does not ask".to_owned()),
    };
    let list = |says: &str, rules: &[String]| {
        (!rules.is_empty()).then(|| format!("{says}: {}", rules.join(", ")))
    };
    let allow = list("without asking", &state.rules.allow);
    let deny = list("never", &state.rules.deny);
    let parts: Vec<String> = [mode, allow, deny].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What the machine says must go on or be asked.
pub(crate) fn works_and_asks(
    store: &Store,
    flow: &FlowRef,
    state: &FlowState,
) -> Result<Vec<Work>, Stop> {
    let source = store.place(flow).whole_text(&state.graph.source)?;
    let (graph, _) = graph::parse(&source, "workflow.yaml");
    Ok(graph.map_or_else(Vec::new, |graph| pending(&graph, state)))
}

/// What a flow asks. What the roles of a flow ask whose graph cannot be read is known all the same.
pub(crate) fn asked(store: &Store, flow: &FlowRef, state: &FlowState) -> Vec<OpenAsk> {
    let source = store.place(flow).whole_text(&state.graph.source);
    let graph = source
        .ok()
        .and_then(|source| graph::parse(&source, "workflow.yaml").0);
    if state.status.is_over() {
        return Vec::new();
    }
    let Some(graph) = graph else {
        let waits = state
            .waits()
            .filter(|(_, waiting)| state.goes_on_at(waiting).is_none());
        let asks = waits.filter_map(|(node, waiting)| OpenAsk::of_wait(state, node, &waiting.role));
        return asks.collect();
    };
    open(state, &pending(&graph, state))
}
