//! The block below what is finished: who works and what waits, what it took and what it cost.

use a_society_facts::At;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::FlowSummary;
use a_society_facts::view::flow::{CallState, FlowState, OpenCall};
use a_society_facts::view::standing::{FlowStanding, NodeStanding};
use a_society_facts::words::retrospective::{LOOKS_BACK, WROTE_ITS_FINDINGS};
use a_society_facts::words::status::{NOT_REACHED, WAITING_FOR_YOU};

use a_society_orchestrator::driver::handle::Seen;

use super::teller::Teller;
use crate::cli::cost;
use crate::cli::words;
use crate::frame::ScreenSize;
use crate::output::Output;
use crate::paint::Paint;
use crate::text::{age, clock, money, one_line, tokens, width};

/// The block is never taller than this.
pub(crate) const ROWS_MAX: usize = 12;

/// So many nodes have a key.
const KEYS: usize = 9;

/// The sign of a node that is done.
const DONE_SIGN: &str = "✓";

/// The state of a node: a sign, a word, and its weight on the screen.
#[derive(Debug, Clone)]
pub(crate) struct NodeSign {
    pub(crate) sign: &'static str,
    pub(crate) word: String,
    weight: u8,
}

impl NodeSign {
    /// Whether the node works, or waits for something.
    const fn is_busy(&self) -> bool {
        self.weight >= 2
    }
}

/// The screen that the block has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoardSpace {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

/// On a smaller screen the block is one line.
const SMALLEST: (usize, usize) = (40, 8);

impl BoardSpace {
    /// The room of a screen of so many columns and rows.
    pub(crate) fn of(ScreenSize { columns, rows }: ScreenSize) -> Self {
        let is_small = columns < SMALLEST.0 || rows < SMALLEST.1;
        let lines = if is_small {
            1
        } else {
            (rows / 2).clamp(3, ROWS_MAX)
        };
        Self { columns, lines }
    }

    /// What is left beside so many lines.
    pub(crate) fn beside(self, lines: usize) -> Self {
        let lines = self.lines.saturating_sub(lines).max(1);
        Self { lines, ..self }
    }
}

/// The block as lines.
pub(crate) fn lines(
    out: &Output,
    seen: &Seen,
    teller: &Teller,
    followed: Option<&RoleInstance>,
    now: At,
    room: BoardSpace,
) -> Vec<String> {
    let state = &seen.state;
    let footer = footer_line(out, state, now);
    if room.lines == 1 {
        return vec![footer];
    }
    let reflections = reflections(out, state);
    let rows_max = room.lines.saturating_sub(2 + reflections.len()).max(1);
    let (rows, left_out) = rows(seen, teller, followed, now, rows_max);
    let mut lines = laid(&rows, &out.paint, room.columns);
    if !left_out.is_empty() {
        lines.push(out.paint.dim(&format!(" … {left_out}")));
    }
    lines.extend(reflections);
    lines.push(footer);
    lines
}

/// That the role of a chat is at work, for how long, and how it is stopped.
pub(super) fn chat_line(out: &Output, seen: &Seen, now: At) -> Option<String> {
    let turns = seen.state.running.values().map(|running| running.since);
    let ms = (now.ms() - turns.min()?.ms()).max(0).unsigned_abs();
    Some(
        out.paint
            .dim(&format!("● working {} · esc stops", clock(ms))),
    )
}

/// How far the flow is and who is at work, as one labelled line.
pub(crate) fn spoken(seen: &Seen, teller: &Teller, now: At) -> String {
    let (rows, _) = rows(seen, teller, None, now, seen.state.graph.nodes.len());
    let working = rows.iter().filter(|row| row.stands.weight == 2);
    let working = working.map(|row| format!("{} {} {}", row.node, row.stands.word, row.took));
    let parts = footer(&seen.state, now).into_iter().chain(working);
    let parts: Vec<String> = parts.map(|part| part.trim().to_owned()).collect();
    format!("progress: {}", parts.join("; "))
}

/// The last line of the block above the keys. On a narrow screen the time goes first, then the tokens, and no number is
/// ever cut.
pub(crate) fn footer_line(out: &Output, state: &FlowState, now: At) -> String {
    let (columns, _) = out.size();
    let mut parts = footer(state, now);
    while parts.len() > 2 && width(&parts.join(SEPARATOR)) >= columns {
        parts.remove(2);
    }
    out.paint.dim(&parts.join(SEPARATOR))
}

const SEPARATOR: &str = " · ";

/// How far the flow is, what it took and what it cost.
fn footer(state: &FlowState, now: At) -> Vec<String> {
    // The block is drawn by the process that drives the flow.
    let summary = FlowSummary::of(state);
    let standing = summary.words(FlowStanding::of(&summary, true), now);
    let mut parts = vec![standing, progress(state)];
    let began = state.created_at.map(|at| now.ms() - at.ms());
    parts.extend(began.map(|ms| clock(ms.max(0).unsigned_abs())));
    parts.extend(cost::in_short(&state.account));
    parts
}

/// How far the forward work is.
pub(crate) fn progress(state: &FlowState) -> String {
    let done = state.done_nodes();
    format!("{done} of {} done", state.graph.nodes.len())
}

/// A node as it is shown.
#[derive(Debug, Clone)]
struct NodeRow {
    /// The key that follows its role.
    number: String,
    stands: NodeSign,
    node: String,
    role: String,
    /// Whether its role's words stream.
    is_followed: bool,
    took: String,
    tokens: String,
    cost: String,
}

/// The nodes, in the order of the file. If there is no room for all, those that work or wait have rows, and the others are
/// counted.
fn rows(
    seen: &Seen,
    teller: &Teller,
    followed: Option<&RoleInstance>,
    now: At,
    room: usize,
) -> (Vec<NodeRow>, String) {
    let state = &seen.state;
    let nodes = state.graph.nodes.iter();
    let mut all: Vec<(usize, NodeSign, &NodeId, &RoleInstance)> = nodes
        .enumerate()
        .map(|(at, node)| {
            let running = state.running.contains_key(&node.id);
            let speaks = running && teller.speaks(&node.role);
            // The block is drawn by the process that drives the flow.
            let mut stands = stands(state, &node.id, now, true, speaks);
            if let Some(seconds) = seen.silent.get(&node.role).filter(|_| running) {
                stands.word = format!("{}; {}", stands.word, words::silent(*seconds));
            }
            (at, stands, &node.id, &node.role)
        })
        .collect();
    let mut left_out = String::new();
    if all.len() > room {
        // Those that work or wait have rows, and of the others it is enough to know how many there are.
        all.sort_by_key(|(at, stands, ..)| (std::cmp::Reverse(stands.weight), *at));
        let busy = all.iter().take_while(|(_, stands, ..)| stands.is_busy());
        let rest = all.split_off(busy.count().min(room));
        left_out = counted(rest.iter().map(|(_, stands, ..)| stands));
        all.sort_by_key(|(at, ..)| *at);
    }
    let rows = all.into_iter().map(|(at, stands, node, role)| {
        let number = if at < KEYS {
            (at + 1).to_string()
        } else {
            String::new()
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
        let since = state
            .running
            .get(node)
            .map(|running| now.ms() - running.since.ms());
        let took = since.or_else(|| teller.took(node));
        NodeRow {
            number,
            stands,
            node: node.to_string(),
            role: role.to_string(),
            is_followed: followed == Some(role) && state.running.contains_key(node),
            took: took.map(age).unwrap_or_default(),
            tokens: known(account.map_or(0, |spent| spent.tokens), tokens),
            cost: known(account.map_or(0, |spent| spent.cost_micros), money),
        }
    });
    (rows.collect(), left_out)
}

/// How many nodes have no row, by what they do.
fn counted<'a>(left_out: impl Iterator<Item = &'a NodeSign> + Clone) -> String {
    let count = |is: fn(&NodeSign) -> bool| left_out.clone().filter(|stands| is(stands)).count();
    let (done, unreached) = (
        count(|stands| stands.sign == DONE_SIGN),
        count(|stands| stands.word.is_empty()),
    );
    let others = left_out.count() - done - unreached;
    let parts = [(others, "more"), (done, "done"), (unreached, NOT_REACHED)];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    parts.join(", ")
}

/// Longer names of nodes and roles are cut.
const NAME_COLUMNS: usize = 20;

/// So much of what a node does is always shown; what costs room goes first.
const WORD_COLUMNS_MIN: usize = 16;

/// The rows on a screen of so many columns: on a narrow one without role, tokens, money and time, in this order. Numbers are
/// never cut, and none of the rows is as wide as the screen.
fn laid(rows: &[NodeRow], paint: &Paint, columns: usize) -> Vec<String> {
    type Part = fn(&NodeRow) -> &str;
    let wide = |part: Part| rows.iter().map(|row| width(part(row))).max().unwrap_or(0);
    let room = columns.saturating_sub(1);
    let node = wide(|row| &row.node).min(NAME_COLUMNS).min(room / 3);
    let word = wide(|row| &row.stands.word);
    // What is left out first comes first.
    let mut columns_of = [
        wide(|row| &row.role).min(NAME_COLUMNS),
        wide(|row| &row.tokens),
        wide(|row| &row.cost),
        wide(|row| &row.took),
    ];
    let gap = |wide: usize| if wide == 0 { 0 } else { wide + 2 };
    // What comes before the name, the gap behind it, and the sign of the one that streams.
    let fixed = " 1 ● ".chars().count() + 5;
    let wanted = word.min(WORD_COLUMNS_MIN);
    for left_out in 0..columns_of.len() {
        let needed: usize = columns_of.iter().map(|wide| gap(*wide)).sum();
        if fixed + node + needed + wanted <= room {
            break;
        }
        columns_of[left_out] = 0;
    }
    let needed: usize = columns_of.iter().map(|wide| gap(*wide)).sum();
    let word = word.min(room.saturating_sub(fixed + node + needed));
    let [role, tokens, cost, took] = columns_of;
    let padded = |text: &str, wide: usize| {
        let text = one_line(text, wide);
        let missing = " ".repeat(wide.saturating_sub(width(&text)));
        (text, missing)
    };
    let line = |row: &NodeRow| {
        let sign = match row.stands.weight {
            3 => paint.yellow(row.stands.sign),
            2 => paint.bold(row.stands.sign),
            1 => paint.green(row.stands.sign),
            0..=u8::MAX => paint.dim(row.stands.sign),
        };
        let number = match row.number.as_str() {
            "" => " ",
            number => number,
        };
        let (name, after_name) = padded(&row.node, node);
        let mut parts = vec![format!(" {} {sign} {name}{after_name}", paint.dim(number))];
        if role > 0 {
            let (text, missing) = padded(&row.role, role);
            parts.push(format!("  {}{missing}", paint.dim(&text)));
        }
        let (does, missing) = padded(&row.stands.word, word);
        let streams = if row.is_followed { "▸" } else { " " };
        parts.push(format!("  {does}{missing} {streams} "));
        for (text, wide) in [(&row.took, took), (&row.tokens, tokens), (&row.cost, cost)] {
            if wide > 0 {
                let missing = " ".repeat(wide.saturating_sub(width(text)));
                parts.push(format!("{missing}{text}  "));
            }
        }
        parts.concat().trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// What a turn at work does right now, if it is known.
fn doing(state: &FlowState, node: &NodeId, speaks: bool) -> Option<String> {
    let id = state.running.get(node)?.turn;
    let runs = |call: &&OpenCall| call.turn == id && call.state == CallState::Started;
    if let Some(call) = state.calls.values().find(runs) {
        Some(call_in_words(&call.tool, &call.summary).to_owned())
    } else if speaks {
        Some("writing".to_owned())
    } else {
        let turn = state.turns.get(&id);
        turn.and_then(|turn| turn.request.as_ref())
            .map(|_| "thinking".to_owned())
    }
}

/// What a call does, without the arguments of one that only ends a turn or asks the operator.
pub(crate) fn call_in_words<'a>(tool: &str, summary: &'a str) -> &'a str {
    match tool {
        "handoff" => "handing over",
        "ask_operator" => "asking you",
        _ => summary,
    }
}

/// The state of a node, with or without a process that drives its flow, and what its turn does right now.
pub(crate) fn stands(
    state: &FlowState,
    node: &NodeId,
    now: At,
    is_driven: bool,
    speaks: bool,
) -> NodeSign {
    let standing = NodeStanding::of(state, node, is_driven);
    let doing = (standing == NodeStanding::Working).then(|| doing(state, node, speaks));
    let word = doing
        .flatten()
        .unwrap_or_else(|| words::node(standing, now));
    let (sign, word, weight) = match standing {
        NodeStanding::Working | NodeStanding::Compacting => ("●", word, 2),
        NodeStanding::Retrying(..) | NodeStanding::Held(_) => ("↻", word, 2),
        NodeStanding::Limited(_) => ("↻", word, 3),
        NodeStanding::Waiting { .. } | NodeStanding::YourTurn => ("?", word, 3),
        NodeStanding::Stopped | NodeStanding::Cancelled => ("◼", word, 2),
        NodeStanding::AwaitsHandoff => ("…", word, 2),
        NodeStanding::Ready => ("·", word, 1),
        NodeStanding::Done => (DONE_SIGN, word, 1),
        NodeStanding::NotReached => ("·", String::new(), 0),
    };
    NodeSign { sign, word, weight }
}

/// Roles that look back, once the forward work is done.
fn reflections(out: &Output, state: &FlowState) -> Vec<String> {
    let improvement = state.improvement.iter();
    let plan = improvement.flat_map(|improvement| &improvement.plan);
    plan.map(|step| {
        let role = state.reflecting(&step.role);
        let (sign, word) = match role {
            Some(role) if role.findings.is_some() => (out.paint.green("✓"), WROTE_ITS_FINDINGS),
            Some(role) if role.waiting.is_some() => (out.paint.yellow("?"), WAITING_FOR_YOU),
            Some(_) => (out.paint.bold("●"), LOOKS_BACK),
            None => (out.paint.dim("·"), ""),
        };
        format!("  {sign}  {}  {word}", step.role)
            .trim_end()
            .to_owned()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        at: usize,
        name: (&str, &str),
        sign: &'static str,
        word: &str,
        weight: u8,
        spent: [&str; 3],
    ) -> NodeRow {
        let [took, tokens, cost] = spent.map(str::to_owned);
        let word = word.to_owned();
        NodeRow {
            number: at.to_string(),
            stands: NodeSign { sign, word, weight },
            node: name.0.to_owned(),
            role: name.1.to_owned(),
            is_followed: at == 2,
            took,
            tokens,
            cost,
        }
    }

    #[test]
    fn the_rows_of_nodes_fit_every_screen() {
        let rows = [
            row(1, ("plan", "owner"), "✓", "done", 1, ["8s", "9k", "$0.02"]),
            row(
                2,
                ("backend", "writer"),
                "●",
                "run cargo test -p post -- --nocapture 台帳",
                2,
                ["38s", "31k", "$0.11"],
            ),
            row(
                3,
                ("frontend", "writer_2"),
                "↻",
                "next try in 12 s",
                2,
                ["31s", "18k", "$0.06"],
            ),
            row(
                4,
                ("a-node-with-quite-a-long-name", "editor"),
                "·",
                "",
                0,
                ["", "", ""],
            ),
        ];
        let mut all = Vec::new();
        for columns in [40, 80, 110, 200] {
            let lines = laid(&rows, &Paint::new(false), columns);
            assert!(lines.iter().all(|line| width(line) < columns), "{lines:#?}");
            all.push(format!("{columns} columns\n{}", lines.join("\n")));
        }
        insta::assert_snapshot!(all.join("\n\n"));
    }
}
