//! The block below what is finished: who works and what waits, what it took and what it cost.

use a_society_facts::At;
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_facts::view::flow::{CallState, FlowState, OpenCall, OpenTurn, RequestState};
use a_society_facts::view::standing::left;
use a_society_orchestrator::driver::handle::Seen;

use super::event::Teller;
use crate::cli::cost;
use crate::cli::table::{self, Cell};
use crate::cli::words;
use crate::output::Output;
use crate::text::{age, money, plain, span, tokens};

/// The block is never taller than this.
pub(crate) const ROWS_MAX: usize = 12;

/// So many nodes have a key.
const KEYS: usize = 9;

/// The state of a node: a sign, a word, and its weight on the screen.
pub(crate) struct Stands {
    pub(crate) sign: &'static str,
    pub(crate) word: String,
    weight: u8,
}

/// The block as lines, at most so many.
pub(crate) fn lines(
    out: &Output,
    (seen, teller): (&Seen, &Teller),
    now: At,
    lines_max: usize,
) -> Vec<String> {
    let state = &seen.state;
    let reflections = reflections(out, state);
    let room = lines_max.saturating_sub(2 + reflections.len()).max(1);
    let (rows, left_out) = rows(out, (seen, teller), now, room);
    let mut lines: Vec<String> = table::lines(&rows)
        .into_iter()
        .map(|line| format!(" {line}"))
        .collect();
    if left_out > 0 {
        lines.push(out.paint.dim(&format!(" … and {left_out} more")));
    }
    lines.extend(reflections);
    lines.push(out.paint.dim(&footer(state, now)));
    lines
}

/// How far the flow is, what it took and what it cost.
fn footer(state: &FlowState, now: At) -> String {
    let status = state.status.word().replace('_', " ");
    let mut parts = vec![status, progress(state)];
    let began = state.created_at.map(|at| now.ms() - at.ms());
    parts.extend(began.map(|ms| span(ms.max(0).unsigned_abs())));
    parts.extend(cost::in_short(&state.account));
    parts.join(" · ")
}

/// How far the forward work is.
fn progress(state: &FlowState) -> String {
    let done = state.done_nodes();
    format!("{done} of {} done", state.graph.nodes.len())
}

/// The nodes, in the order of the file. If there is no room for all, those that work or wait come
/// before those that are done or far away.
fn rows(
    out: &Output,
    (seen, teller): (&Seen, &Teller),
    now: At,
    room: usize,
) -> (Vec<Vec<Cell>>, usize) {
    let state = &seen.state;
    let nodes = state.graph.nodes.iter();
    let mut all: Vec<(usize, Stands, &NodeId, &RoleInstance)> = nodes
        .enumerate()
        .map(|(at, node)| {
            let mut stands = stands(state, &node.id, now);
            if let Some(running) = state.running.get(&node.id) {
                let turn = state.turns.get(&running.turn);
                let doing = turn.map(|turn| doing(state, turn, (teller, running.turn), now));
                if let Some((sign, word)) = doing {
                    (stands.sign, stands.word) = (sign, word);
                }
                if let Some(seconds) = seen.silent.get(&node.role) {
                    stands.word = format!("{}; {}", stands.word, words::silent(*seconds));
                }
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
    let rows = all.into_iter().map(|(at, stands, node, role)| {
        // The key that follows its role.
        let number = if at < KEYS {
            (at + 1).to_string()
        } else {
            String::new()
        };
        let sign = match stands.weight {
            3 => out.paint.yellow(stands.sign),
            2 => out.paint.bold(stands.sign),
            1 => out.paint.green(stands.sign),
            0..=u8::MAX => out.paint.dim(stands.sign),
        };
        // A node that was not reached cost nothing, whatever its role spent elsewhere.
        let account = state.role_accounts.get(role);
        let account =
            account.filter(|_| state.visited.contains(node) || state.running.contains_key(node));
        let account = account.map(|account| &account.spent);
        let known = |number: u64, words: fn(u64) -> String| match number {
            0 => String::new(),
            number => words(number),
        };
        let running = state.running.get(node);
        let since = running.map(|running| age(now.ms() - running.since.ms()));
        vec![
            Cell::painted(number.as_str(), out.paint.dim(&number)),
            Cell::painted(stands.sign, sign),
            node.as_str().into(),
            Cell::painted(role.as_str(), out.paint.dim(role.as_str())),
            since.unwrap_or_default().into(),
            known(account.map_or(0, |spent| spent.tokens), tokens).into(),
            known(account.map_or(0, |spent| spent.cost_micros), money).into(),
            plain(&stands.word).into_owned().into(),
        ]
    });
    (rows.collect(), left_out)
}

/// What a turn does right now.
fn doing(
    state: &FlowState,
    turn: &OpenTurn,
    (teller, id): (&Teller, TurnId),
    now: At,
) -> (&'static str, String) {
    let again = turn.request.as_ref().and_then(|request| {
        let failed = request.state == RequestState::Failed;
        request.again_at.filter(|_| failed)
    });
    let session = state.session(&turn.role);
    let runs = |call: &&OpenCall| call.turn == id && call.state == CallState::Started;
    let word = if let Some(at) = again {
        return ("↻", format!("next try in {}", left(at, now)));
    } else if session.is_some_and(|session| session.compaction.is_some()) {
        "compacts its context".to_owned()
    } else if let Some(call) = state.calls.values().find(runs) {
        call.summary.clone()
    } else if teller.speaks(&turn.role) {
        "writes".to_owned()
    } else if turn.request.is_some() {
        "thinks".to_owned()
    } else {
        "works".to_owned()
    };
    ("●", word)
}

pub(crate) fn stands(state: &FlowState, node: &NodeId, now: At) -> Stands {
    let new = |sign, word: String, weight| Stands { sign, word, weight };
    if let Some(running) = state.running.get(node) {
        let since = age(now.ms() - running.since.ms());
        return new("●", format!("works, {since}"), 2);
    }
    if let Some(waiting) = state.awaiting_operator.get(node) {
        let sign = if waiting.until.is_some() { "↻" } else { "?" };
        return new(
            sign,
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
