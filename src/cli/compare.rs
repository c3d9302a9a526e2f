//! `diff FLOW OTHER`: two runs beside each other, as the page's Compare shows them.

use a_society_facts::words::retrospective::RETROSPECTIVE;
use a_society_facts::words::runs::{
    NEITHER_HANDED_OVER, OF_THOSE_CACHED, TIME_OF_TURNS, TOKENS_IN, TOKENS_OUT,
};
use a_society_facts::words::status;
use a_society_operator_ui::fold::compare::{
    ComparedNode, ComparedText, Comparison, FileLine, FileStands, GraphChange, NodeSide, Side,
};
use a_society_operator_ui::protocol::flow::NodeState;
use a_society_operator_ui::protocol::http::Cost;
use a_society_operator_ui::server::compared;
use a_society_state::{FlowRef, Store};

use super::asks::short;
use super::diff::{body, counts, refused};
use super::table::{self, Cell};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::output::Output;
use crate::text::{count, money, one_line, plain, size, span, tokens};

/// A longer title is cut.
const TITLE_COLUMNS_MAX: usize = 60;

/// Sets two runs beside each other and prints them.
pub(crate) fn run(
    out: &mut Output,
    store: &Store,
    a: &FlowRef,
    b: &FlowRef,
    stat: bool,
) -> Outcome {
    let now = store.ground().clock.now();
    let found = compared(store, a, b, now).map_err(refused)?;
    if out.is_json() {
        out.value(&found)?;
        return Ok(ExitCode::Ok);
    }
    for (letter, side, flow) in [("A", &found.a, a), ("B", &found.b, b)] {
        let title = one_line(&side.title, TITLE_COLUMNS_MAX);
        let name = format!("{}/{}", side.project, short(flow));
        let head = format!("{letter}  {name}  {}  {title}", plain(&side.standing));
        out.line(&out.paint.bold(&head))?;
    }
    section(out, "TOTALS", &totals(&found.a, &found.b))?;
    graph(out, &found.graph)?;
    section(out, "NODES", &nodes(&found))?;
    files(out, &found.files, stat)?;
    Ok(ExitCode::Ok)
}

fn section(out: &mut Output, head: &str, rows: &[Vec<Cell>]) -> Result<(), Stop> {
    out.line("")?;
    let mut rows = rows.to_vec();
    if let Some(first) = rows.first_mut().and_then(|row| row.first_mut()) {
        *first = head.into();
    }
    for line in table::lines(&rows) {
        out.line(&line)?;
    }
    Ok(())
}

/// A number of a run in words.
type Words = fn(u64) -> String;

/// What is measured of a node: its head, its figure, and that in words.
type ComparedColumn = (&'static str, fn(&Cost) -> u64, Words);

/// A difference with its sign; nothing where there is none, or too little to show.
fn signed(a: u64, b: u64, words: Words) -> String {
    let by = words(a.abs_diff(b));
    match by == words(0) {
        true => String::new(),
        false if b > a => format!("+{by}"),
        false => format!("−{by}"),
    }
}

fn number(text: String) -> Cell {
    Cell::from(text).at_right()
}

fn totals(a: &Side, b: &Side) -> Vec<Vec<Cell>> {
    let input = |cost: &Cost| cost.tokens.saturating_sub(cost.output);
    let (x, y) = (&a.cost, &b.cost);
    let plain_number: Words = |number| number.to_string();
    let measures: [(&str, u64, u64, Words); 8] = [
        ("duration", a.ms, b.ms, span),
        ("turns", x.turns, y.turns, plain_number),
        (TIME_OF_TURNS, x.ms, y.ms, span),
        ("requests", x.requests, y.requests, plain_number),
        (TOKENS_IN, input(x), input(y), tokens),
        (OF_THOSE_CACHED, x.cached, y.cached, tokens),
        (TOKENS_OUT, x.output, y.output, tokens),
        ("cost", x.cost_micros, y.cost_micros, money),
    ];
    let head = ["", "A", "B", "B − A"].map(|head| number(head.to_owned()));
    let mut rows = vec![head.to_vec()];
    let used = measures.into_iter().filter(|(_, a, b, _)| a + b > 0);
    rows.extend(used.map(|(name, a, b, words)| {
        vec![
            name.into(),
            number(words(a)),
            number(words(b)),
            number(signed(a, b, words)),
        ]
    }));
    rows
}

fn graph(out: &mut Output, change: &GraphChange) -> Result<(), Stop> {
    out.line("")?;
    if *change == GraphChange::default() {
        return out.line("GRAPH  the same nodes and edges");
    }
    out.line("GRAPH")?;
    for (which, all) in [
        ("node only in A", &change.nodes_a),
        ("node only in B", &change.nodes_b),
        ("edge only in A", &change.edges_a),
        ("edge only in B", &change.edges_b),
    ] {
        for name in all {
            let name = name.replacen('/', " → ", 1);
            out.line(&format!("  {which}: {}", plain(&name)))?;
        }
    }
    Ok(())
}

fn nodes(found: &Comparison) -> Vec<Vec<Cell>> {
    let sides = |line: &ComparedNode| [line.a.as_ref().map(cost), line.b.as_ref().map(cost)];
    let all: Vec<[Option<Cost>; 2]> = found.nodes.iter().map(sides).collect();
    let measures: [ComparedColumn; 4] = [
        ("TURNS", |cost| cost.turns, |number| number.to_string()),
        ("TIME", |cost| cost.ms, span),
        ("TOKENS", |cost| cost.tokens, tokens),
        ("COST", |cost| cost.cost_micros, money),
    ];
    let used = measures.into_iter().filter(|(_, of, _)| {
        let mut costs = all.iter().flatten().flatten();
        costs.any(|cost| of(cost) > 0)
    });
    let used: Vec<ComparedColumn> = used.collect();
    let mut head: Vec<Cell> = ["", "ROLE", "IN A", "IN B"].map(Cell::from).to_vec();
    for (name, ..) in &used {
        head.push(number(format!("{name} A")));
        head.push(number("B".to_owned()));
    }
    let mut rows = vec![head];
    for (line, sides) in found.nodes.iter().zip(&all) {
        let name = if line.node.is_empty() {
            RETROSPECTIVE
        } else {
            &line.node
        };
        let mark = if line.differs { "≠" } else { " " };
        let mut row = vec![
            Cell::from(format!("{mark} {}", plain(name))),
            plain(&line.role).into_owned().into(),
            stands(line, line.a.as_ref()).into(),
            stands(line, line.b.as_ref()).into(),
        ];
        for (_, of, words) in &used {
            for side in sides {
                let known = side.as_ref().map_or(0, of);
                let text = (known > 0).then(|| words(known));
                row.push(number(text.unwrap_or_default()));
            }
        }
        rows.push(row);
    }
    rows
}

fn cost(side: &NodeSide) -> Cost {
    side.cost.clone()
}

/// The state of a node in a run: a sign and a word.
fn stands(line: &ComparedNode, side: Option<&NodeSide>) -> String {
    let Some(side) = side else {
        return "not there".to_owned();
    };
    if line.node.is_empty() {
        return String::new();
    }
    let (sign, word) = match side.state {
        NodeState::NotReached => ("·", status::NOT_REACHED),
        NodeState::Ready => ("·", status::READY),
        NodeState::Running => ("●", status::WORKING),
        NodeState::NeedsYou => ("?", status::WAITING_FOR_YOU),
        NodeState::Suspended => ("…", status::WAITING),
        NodeState::Done => ("✓", status::DONE),
        NodeState::Failed => ("✗", status::FAILED),
        NodeState::Interrupted => ("◼", status::STOPPED),
    };
    format!("{sign} {word}")
}

fn files(out: &mut Output, all: &[FileLine], stat: bool) -> Result<(), Stop> {
    out.line("")?;
    let other = all.iter().filter(|line| line.stands != FileStands::Same);
    let changed = other.count();
    let of = count(all.len(), "artifact");
    let head = match (all.len(), changed) {
        (0, _) => NEITHER_HANDED_OVER.to_owned(),
        (_, 0) => format!("{of}, all the same"),
        (_, changed) => format!("{of}, of which {changed} not the same"),
    };
    out.line(&format!("ARTIFACTS  {head}"))?;
    for line in all {
        let path = out.paint.bold(&plain(&line.path));
        let bytes = |text: &Option<_>| {
            let text: Option<&ComparedText> = text.as_ref();
            text.map_or(0, |text| text.bytes)
        };
        let (a, b) = (size(bytes(&line.a)), size(bytes(&line.b)));
        let stands = match line.stands {
            FileStands::Same => format!("the same, {a}"),
            FileStands::A => format!("only in A, {a}"),
            FileStands::B => format!("only in B, {b}"),
            FileStands::Differs => match &line.diff {
                Some(diff) => {
                    let (come, go) = counts(diff);
                    let more = if diff.truncated { " and more" } else { "" };
                    format!("differs, +{come} −{go}{more}")
                }
                None => format!("differs, {a} and {b}; not compared as text"),
            },
        };
        out.line(&format!("{path}  {stands}"))?;
        if let Some(diff) = line.diff.as_ref().filter(|_| !stat) {
            body(out, diff)?;
        }
    }
    Ok(())
}
