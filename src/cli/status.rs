//! `status`: how a flow stands, what works, and what it waits for, in a few lines.

use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;
use a_society_orchestrator::config::user::Reach;
use a_society_orchestrator::graph;
use a_society_orchestrator::machine::{Work, pending};
use a_society_orchestrator::project::reaches;
use a_society_state::{Store, blob};
use serde_json::json;

use super::asks;
use super::context::Context;
use super::delivered;
use super::models::reach_json;
use super::report::damage_json;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::output::Output;
use crate::text::{age, one_line};

/// The arguments of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is changed, and it works beside the process that drives the flow. show says more.

Examples:
  a-society status a1b2
  a-society status a1b2 --json | jq -r '.waits[].answers[0]'")]
pub(crate) struct Arguments {
    /// The flow
    #[arg(value_name = "FLOW")]
    flow: String,
}

/// Says it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow(&arguments.flow)?;
    let seen = store.look(&flow)?;
    let state = &seen.screen.flow;
    let work = works_and_asks(&store, &flow, state)?;
    let asks = asks::of(&flow, state, &work);
    let project = super::say::project_folder(&store, &flow.project);
    let reaches = reaches::of(&store, &flow, &project, state);
    let made = delivered::of_closed(&store, &flow, &seen)?;
    let code = if seen.damage.is_some() {
        ExitCode::Damaged
    } else {
        ExitCode::Ok
    };
    if context.out.is_json() {
        let running = state.running.iter().map(
            |(node, running)| json!({ "node": node, "role": running.role, "since": running.since }),
        );
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "title": state.title,
            "status": if state.is_created() { state.status.word() } else { "empty" },
            "seq": state.seq,
            "running": running.collect::<Vec<_>>(),
            "waits": asks::as_json(&asks),
            "tools": reaches.as_ref().ok().map(|reaches| {
                let each = reaches.iter();
                each.map(|(role, reach)| (role.to_string(), reach_json(reach)))
                    .collect::<serde_json::Map<_, _>>()
            }),
            "delivered": made.as_ref().map(delivered::place_as_json),
            "driven_by": seen.held_by,
            "damage": seen.damage.as_ref().map(damage_json),
        }))?;
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
    let title = out.paint.bold(&one_line(&state.title, 60));
    let status = state.status.word().replace('_', " ");
    out.line(&format!("{title}  {flow}  {status}"))?;
    for (node, running) in &state.running {
        let since = age(now.ms() - running.since.ms());
        out.line(&format!("{node} ({}) works, since {since}", running.role))?;
    }
    if let Some(made) = &made {
        out.line(&delivered::line(made))?;
    }
    for line in asks::lines(out, &asks) {
        out.line(&line)?;
    }
    let over = state.status.is_over();
    for (role, reach) in reaches.iter().flatten().filter(|_| !over) {
        tools(out, role, reach)?;
    }
    let name = asks::short(&flow);
    if let Some(damage) = &seen.damage {
        let says = damage.to_string();
        out.line(&out.paint.red(&crate::text::plain(&says)))?;
    } else if seen.held_by.is_none() && !over {
        out.line(&format!("nobody drives it; go on: a-society resume {name}"))?;
    }
    Ok(code)
}

/// How far the tools of a role reach. The narrowest reach is what everybody expects, and is not worth a
/// line.
fn tools(out: &mut Output, role: &RoleInstance, reach: &Reach) -> Result<(), Stop> {
    if reach.words() == Reach::default().words() {
        return Ok(());
    }
    out.line(&format!("tools of {role}: {}", reach.words()))
}

/// What the machine says must go on or be asked.
pub(crate) fn works_and_asks(
    store: &Store,
    flow: &a_society_state::FlowRef,
    state: &FlowState,
) -> Result<Vec<Work>, Stop> {
    let disk = store.ground().disk.as_ref();
    let source = blob::get_text(disk, &store.folder(flow), &state.graph.source)?;
    let (graph, _) = graph::parse(&source, "workflow.yaml");
    Ok(graph.map_or_else(Vec::new, |graph| pending(&graph, state)))
}
