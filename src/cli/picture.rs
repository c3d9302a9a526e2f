//! The live picture of a flow: who works and what waits, in a few calm lines.

use a_society_facts::At;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::flow::FlowState;
use a_society_orchestrator::driver::handle::Seen;
use a_society_state::FlowRef;

use super::table::{self, Cell};
use super::words;
use crate::output::Output;
use crate::text::{age, one_line};

/// Lines that stand above and below the nodes.
const LINES_AROUND: usize = 4;

/// How a node stands: a sign, a word, and how much it wants to be seen.
pub(crate) struct Stands {
    pub(crate) sign: &'static str,
    pub(crate) word: String,
    weight: u8,
}

/// The picture as lines, at most so many.
pub(crate) fn lines(
    out: &Output,
    flow: &FlowRef,
    seen: &Seen,
    now: At,
    lines_max: usize,
) -> Vec<String> {
    let state = &seen.state;
    let title = one_line(&state.title, 60);
    let status = state.status.word().replace('_', " ");
    let mut lines = vec![format!(
        "{}  {status}, {}  {}",
        out.paint.bold(&title),
        progress(state),
        out.paint.dim(&flow.to_string()),
    )];
    let roles = state
        .improvement
        .iter()
        .map(|it| it.plan.len())
        .sum::<usize>();
    let room = lines_max.saturating_sub(LINES_AROUND + roles).max(1);
    let (rows, left_out) = rows(out, seen, now, room);
    lines.extend(
        table::lines(&rows)
            .into_iter()
            .map(|line| format!("  {line}")),
    );
    if left_out > 0 {
        lines.push(out.paint.dim(&format!("  … and {left_out} more")));
    }
    lines.extend(reflections(out, state));
    lines
}

/// How far the forward work is: the nodes that were there and have nothing left to do.
fn progress(state: &FlowState) -> String {
    let rests = |node: &&NodeId| {
        let busy = state.running.contains_key(*node) || state.awaiting_operator.contains_key(*node);
        !busy && !state.awaiting_handoff.contains(*node) && !state.wanted.contains_key(*node)
    };
    let done = state.visited.iter().filter(rests).count();
    format!("{done} of {} done", state.graph.nodes.len())
}

/// The nodes, in the order of the file. If there is no room for all, those that work or wait come
/// before those that are done or far away.
fn rows(out: &Output, seen: &Seen, now: At, room: usize) -> (Vec<Vec<Cell>>, usize) {
    let state = &seen.state;
    let nodes = state.graph.nodes.iter();
    let mut all: Vec<(usize, Stands, &NodeId, &RoleInstance)> = nodes
        .enumerate()
        .map(|(at, node)| {
            let mut stands = stands(state, &node.id, now);
            if let Some(seconds) = seen.silent.get(&node.role)
                && state.running.contains_key(&node.id)
            {
                stands.word = format!("{}; {}", stands.word, words::silent(*seconds));
            }
            (at, stands, &node.id, &node.role)
        })
        .collect();
    let left_out = all.len().saturating_sub(room);
    if left_out > 0 {
        all.sort_by_key(|(at, stands, ..)| (std::cmp::Reverse(stands.weight), *at));
        all.truncate(room);
        all.sort_by_key(|(at, ..)| *at);
    }
    let rows = all.into_iter().map(|(_, stands, node, role)| {
        let sign = match stands.weight {
            3 => out.paint.yellow(stands.sign),
            2 => out.paint.bold(stands.sign),
            1 => out.paint.green(stands.sign),
            0..=u8::MAX => out.paint.dim(stands.sign),
        };
        vec![
            Cell::painted(stands.sign, sign),
            node.as_str().into(),
            Cell::painted(role.as_str(), out.paint.dim(role.as_str())),
            stands.word.into(),
        ]
    });
    (rows.collect(), left_out)
}

pub(crate) fn stands(state: &FlowState, node: &NodeId, now: At) -> Stands {
    let new = |sign, word: String, weight| Stands { sign, word, weight };
    if let Some(running) = state.running.get(node) {
        let since = age(now.ms() - running.since.ms());
        return new("●", format!("works, {since}"), 2);
    }
    if let Some(waiting) = state.awaiting_operator.get(node) {
        return new(
            "?",
            format!("waits for {}", words::waiting(waiting, now)),
            3,
        );
    }
    if state.awaiting_handoff.contains(node) {
        return new("…", "waits for a handoff".to_owned(), 2);
    }
    if state.wanted.contains_key(node) || state.deliverable(node).next().is_some() {
        return new("·", "is next".to_owned(), 1);
    }
    if state.visited.contains(node) {
        return new("✓", "done".to_owned(), 1);
    }
    new("·", String::new(), 0)
}

/// Roles that look back, once the forward work is done.
fn reflections(out: &Output, state: &FlowState) -> Vec<String> {
    let improvement = state.improvement.iter();
    let plan = improvement.flat_map(|improvement| &improvement.plan);
    plan.map(|step| {
        let role = state.reflecting(&step.role);
        let (sign, word) = match role {
            Some(role) if role.findings.is_some() => (out.paint.green("✓"), "wrote its findings"),
            Some(role) if role.waiting.is_some() => (out.paint.yellow("?"), "waits for you"),
            Some(_) => (out.paint.bold("●"), "looks back"),
            None => (out.paint.dim("·"), ""),
        };
        format!("  {sign}  {}  {word}", step.role)
            .trim_end()
            .to_owned()
    })
    .collect()
}
