//! The first line of a flow that is driven: which one it is, where its roles work, and what they ask about.

use a_society_facts::At;
use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::view::flow::FlowState;
use a_society_facts::words::permissions::mode_means;
use a_society_orchestrator::config::user;
use a_society_orchestrator::workspace::role_models::role_models;
use a_society_state::{FlowRef, Store};
use serde_json::json;

use crate::cli::asks::short;
use crate::cli::context::Context;
use crate::cli::progress;
use crate::cli::say::project_folder;
use crate::operator_error::Stop;
use crate::text::{at_home, count, one_line, plain, wrapped};

/// A longer title is cut.
const TITLE_COLUMNS_MAX: usize = 60;

/// The kinds of calls that are asked about, as rules name them.
const ASKED_ABOUT: [&str; 3] = ["edits", "commands", "web"];

/// Tells it: to programs as the first object, to people as a line.
///
/// # Errors
/// When the flow cannot be read, or the output is closed.
pub(super) fn tell(
    context: &mut Context<'_>,
    store: &Store,
    flow: &FlowRef,
    is_resumed: bool,
    is_quiet: bool,
) -> Result<(), Stop> {
    let out = &mut context.out;
    if is_quiet && !out.is_json() {
        return Ok(());
    }
    let begun = store.look(flow)?.screen.flow;
    let folder = project_folder(store, &flow.project);
    if out.is_json() {
        // A program may allow or steer from here on.
        let nodes = begun.graph.nodes.iter();
        let models = role_models(store, flow, &begun);
        let nodes = nodes.map(|node| {
            let model = models.get(&node.role);
            json!({ "id": node.id, "role": node.role, "model": model })
        });
        let at = begun.created_at.unwrap_or(At::from_ms(0));
        let first = json!({
            "project": flow.project,
            "title": begun.title,
            "chat": begun.chat.is_some().then_some(true),
            "folder": folder,
            "nodes": nodes.collect::<Vec<_>>(),
            "mode": begun.consent_mode,
            "resumed": is_resumed,
        });
        out.value(&progress::aside(flow, at, "flow", first))?;
        return out.flush();
    }
    let folder = at_home(&folder, context.environment.home.as_deref());
    if begun.chat.is_some() {
        let role = begun.graph.nodes.first().map(|node| node.role.to_string());
        let name = short(flow);
        let line = format!("{} · {folder} · chat {name}", role.unwrap_or_default());
        out.line(&plain(&line))?;
        return out.flush();
    }
    if !out.is_terminal() {
        out.line(&format!("flow {flow} in {folder}"))?;
        return out.flush();
    }
    let title = one_line(&begun.title, TITLE_COLUMNS_MAX);
    let nodes = count(begun.graph.nodes.len(), "node");
    let name = format!("{}/{}", flow.project, short(flow));
    let rest = format!("  {name}  in {folder} · {nodes} · {}", asks_about(&begun));
    let (columns, _) = out.size();
    let rows = wrapped(&format!("{title}{rest}"), columns);
    let bold = out.paint.bold(&title);
    for row in rows {
        match row.strip_prefix(&title) {
            Some(rest) => out.line(&format!("{bold}{rest}"))?,
            None => out.line(&row)?,
        }
    }
    out.flush()
}

/// What the operator is asked about before it runs.
pub(super) fn asks_about(state: &FlowState) -> String {
    let configured = user::consent().unwrap_or_default().rules;
    let is_decided = |kind: &&str| {
        let mut rules = (state.rules.allow.iter())
            .chain(&state.rules.deny)
            .chain(&configured.allow)
            .chain(&configured.deny);
        rules.any(|rule| rule == kind)
    };
    let asked = ASKED_ABOUT.iter().filter(|kind| !is_decided(kind));
    let asked: Vec<&str> = asked.copied().collect();
    match state.consent_mode {
        ConsentMode::FullAccess => mode_means(state.consent_mode).to_owned(),
        ConsentMode::NoAccess | ConsentMode::PartialAccess if asked.is_empty() => {
            "asks nothing that its rules decide".to_owned()
        }
        ConsentMode::NoAccess => format!("asks: {}", asked.join(", ")),
        ConsentMode::PartialAccess => format!("asks once: {}", asked.join(", ")),
    }
}
