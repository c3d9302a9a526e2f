//! `show`: the state of one flow, on one screen.

use a_society_facts::At;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::FlowSummary;
use a_society_facts::view::feed::FeedItem;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::standing::{FlowStanding, NodeStanding};
use a_society_operator_ui::fold::answer_text::before_its_end;
use a_society_operator_ui::fold::asks::{OpenAsk, call_facts};
use a_society_operator_ui::server::changed;
use a_society_orchestrator::workspace::role_models::role_models;
use a_society_state::index::{Row, rows};
use a_society_state::look::Look;
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::asks;
use super::context::Context;
use super::cost;
use super::delivered;
use super::diff;
use super::nesting::parent;

use super::report::{damage_advice, damage_json, torn, torn_json};
use super::status::asked;
use super::table::{self, Cell};
use super::words;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output::Output;
use crate::text::{DAY_MS, age, count, cut, exact, one_line, plain, tokens};

/// The rows of a section.
type CellRows = Vec<Vec<Cell>>;

/// The section whose rows have a row of heads.
const COST: &str = "COST";

/// Longer texts are cut; the whole text is in the feed and in the journal.
const TEXT_COLUMNS_MAX: usize = 100;

/// The arguments of `show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
show folds the journal from the last checkpoint on, so that a long flow is shown at once. It \
changes nothing, and works beside the process that writes the flow. A damaged flow is shown as \
far as it is sound, and show then ends with 4.

Examples:
  a-society show a1b2
  a-society show a1b2 --items 30
  a-society show a1b2 --call
  a-society show a1b2 --result > result.md
  a-society show demo/a1b2 --json | jq .screen.summary")]
pub(crate) struct Arguments {
    /// The flow; the only one that is not over, or the only one at all, if left out
    #[arg(value_name = "FLOW")]
    flow: Option<String>,

    /// How many of the last feed items to show
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    items: usize,

    /// Show only the calls that wait for your consent, or the Nth of them, each with all of its text
    #[arg(long, value_name = "N", num_args = 0..=1)]
    call: Option<Option<usize>>,

    /// Show only what the flow delivered
    #[arg(long, conflicts_with = "call")]
    result: bool,
}

/// Shows it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow_or_only("show", arguments.flow.as_deref())?;
    let seen = store.look(&flow)?;
    if let Some(number) = arguments.call {
        return calls(context, &store, &flow, &seen.screen.flow, number);
    }
    if arguments.result {
        return result(context, &store, &flow, &seen);
    }
    let now = store.ground().clock.now();
    let forks = forks(&store, &flow)?;
    let made = delivered::of_closed(&store, &flow, &seen)?;
    if context.out.is_json() {
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "screen": seen.screen,
            "damage": seen.damage.as_ref().map(damage_json),
            "torn": seen.torn.as_ref().map(torn_json),
            "held_by": seen.held_by,
            "delivered": made.as_ref().map(delivered::place_as_json),
            "forks": forks.iter().map(|row| &row.flow.flow).collect::<Vec<_>>(),
        }))?;
    } else {
        let made = made.as_ref().map(delivered::in_short).unwrap_or_default();
        // The command itself reports what cannot be read.
        let files = changed(&store, &flow, None).ok();
        let files = files.map(|all| diff::rows(&all)).unwrap_or_default();
        let models = role_models(&store, &flow, &seen.screen.flow);
        let costs = cost::rows_with_budgets(&seen.screen.flow, &models);
        let shown = ShownFlow {
            items: arguments.items,
            forks: forks.as_slice(),
            made,
            costs,
            files,
            asks: asked(&store, &flow, &seen.screen.flow),
        };
        print(&mut context.out, &flow, &seen, shown, now)?;
    }
    Ok(if seen.damage.is_some() {
        ExitCode::Damaged
    } else {
        ExitCode::Ok
    })
}

/// The calls that wait for consent: what matters for the decision, and every line of what would run.
fn calls(
    context: &mut Context<'_>,
    store: &Store,
    flow: &FlowRef,
    state: &FlowState,
    number: Option<usize>,
) -> Outcome {
    let open = state.consents.iter().enumerate();
    let open = open.filter(|(at, _)| number.is_none_or(|number| at + 1 == number));
    let calls = open.map(|(_, (consent, open))| {
        let text = asks::whole(store, flow, &open.shown);
        (consent, open, call_facts(state, open), text)
    });
    let calls: Vec<_> = calls.collect();
    if context.out.is_json() {
        let calls = calls.iter().map(|(consent, open, facts, text)| {
            json!({
                "consent": consent,
                "role": open.role,
                "tool": open.tool,
                "action": open.action,
                "facts": facts,
                "text": text,
            })
        });
        context.out.value(&Value::Array(calls.collect()))?;
        return Ok(ExitCode::Ok);
    }
    for (consent, open, facts, text) in &calls {
        let head = format!("{} asks to call {} ({consent})", open.role, open.tool);
        context.out.line(&context.out.paint.yellow(&plain(&head)))?;
        for line in text.lines() {
            context.out.line(&format!("  │ {}", exact(line)))?;
        }
        for line in facts.iter().filter_map(asks::fact_line) {
            context.out.line(&line)?;
        }
    }
    match number {
        Some(number) if calls.is_empty() => return Err(no_such_call(number, state, flow)),
        None if calls.is_empty() => context.out.note("no call waits for your consent"),
        Some(_) | None => {}
    }
    Ok(ExitCode::Ok)
}

fn no_such_call(number: usize, state: &FlowState, flow: &FlowRef) -> Stop {
    let what = format!("no call {number} waits for your consent");
    let why = match state.consents.len() {
        0 => "no call waits".to_owned(),
        1 => "one call waits".to_owned(),
        many => format!("{many} calls wait"),
    };
    let hint = format!("a-society show {} --call", asks::short(flow));
    OperatorError::new(("not-found", ExitCode::NotFound), what, why, hint).into()
}

/// What the flow delivered: byte for byte, and on a terminal as text that moves no cursor.
fn result(context: &mut Context<'_>, store: &Store, flow: &FlowRef, seen: &Look) -> Outcome {
    let Some(made) = delivered::of_closed(store, flow, seen)? else {
        let name = asks::short(flow);
        let kind = ("nothing-delivered", ExitCode::NotFound);
        let (what, why) = (
            "the flow has delivered nothing",
            "its forward work is not closed, or made no file",
        );
        return Err(OperatorError::new(kind, what, why, format!("a-society status {name}")).into());
    };
    if context.out.is_json() {
        context.out.value(&delivered::as_json(&made))?;
    } else if context.out.shows_bytes() {
        let lines = delivered::text(&made).unwrap_or_else(|| vec![delivered::line(&made)]);
        for line in lines {
            context.out.line(&line)?;
        }
    } else {
        context.out.bytes(&made.bytes)?;
    }
    Ok(ExitCode::Ok)
}

/// The flows that were forked from a flow.
fn forks(store: &Store, flow: &FlowRef) -> Result<Vec<Row>, Stop> {
    let mut near = store.census()?.flows;
    near.retain(|other| other.project == flow.project && other.flow != flow.flow);
    let mut forks = rows(store, &near);
    forks.retain(|row| parent(row) == Some(&flow.flow));
    Ok(forks)
}

/// What is shown of a flow beside its state.
struct ShownFlow<'a> {
    /// So many items of its feeds.
    items: usize,
    forks: &'a [Row],
    /// What it delivered.
    made: String,
    costs: CellRows,
    files: CellRows,
    asks: Vec<OpenAsk>,
}

fn print(
    out: &mut Output,
    flow: &FlowRef,
    seen: &Look,
    shown: ShownFlow<'_>,
    now: At,
) -> Result<(), Stop> {
    let ShownFlow {
        items,
        forks,
        made,
        costs,
        files,
        asks,
    } = shown;
    let waits = words::waits(&asks, &seen.screen.summary).join(", ");
    head(out, flow, seen, made, &waits, now)?;
    let state = &seen.screen.flow;
    section(out, "NODES", &nodes(state, now, seen.held_by.is_some()))?;
    section(out, COST, &costs)?;
    section(out, "ASKS", &questions(state, &asks, now))?;
    section(out, "FILES", &files)?;
    section(out, "SESSIONS", &sessions(state, now))?;
    section(out, "TURNS", &turns(state, now))?;
    section(out, "FORKS", &forks_in_cells(forks))?;
    section(out, "JOURNAL", &notices(state))?;
    section(out, "LOST BLOBS", &lost(state))?;
    let short = out.is_terminal().then_some(now);
    section(out, &format!("LAST {items}"), &feeds(seen, items, short))
}

fn head(
    out: &mut Output,
    flow: &FlowRef,
    seen: &Look,
    made: String,
    waits: &str,
    now: At,
) -> Result<(), Stop> {
    let summary = &seen.screen.summary;
    let title = one_line(&summary.title, TEXT_COLUMNS_MAX);
    let title = if title.is_empty() {
        "(no title)".to_owned()
    } else {
        title
    };
    out.line(&out.paint.bold(&title))?;
    let moment = |at: Option<At>| {
        at.map(|at| format!("{at} ({} ago)", age(now.ms() - at.ms())))
            .unwrap_or_default()
    };
    let spent = cost::in_short(&seen.screen.flow.account).join(" · ");
    let status = seen.standing_words(now);
    let status = status.unwrap_or_else(|| "nothing was ever recorded".to_owned());
    let held = seen.held_by.as_deref().unwrap_or("nobody");
    let rows = [
        ("flow", flow.to_string()),
        ("fork of", fork_of(summary)),
        ("status", status),
        ("delivered", made),
        ("waiting for", one_line(waits, TEXT_COLUMNS_MAX)),
        ("created", moment(summary.created_at)),
        ("last fact", moment(summary.updated_at)),
        ("records", summary.seq.to_string()),
        ("spent", spent),
        ("written by", plain(held).into_owned()),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    if out.is_spoken() {
        for (name, value) in rows {
            out.line(&format!("{name}: {value}"))?;
        }
        return damage(out, flow, seen);
    }
    let rows: Vec<Vec<Cell>> = rows
        .map(|(name, value)| {
            vec![
                "".into(),
                Cell::painted(name, out.paint.dim(name)),
                value.into(),
            ]
        })
        .collect();
    for line in table::lines(&rows) {
        out.line(&line)?;
    }
    damage(out, flow, seen)
}

fn fork_of(summary: &FlowSummary) -> String {
    let parent = summary.parent.as_ref();
    parent.map_or_else(String::new, |parent| {
        format!("{} at record {}", parent.flow, parent.at_seq)
    })
}

fn damage(out: &mut Output, flow: &FlowRef, seen: &Look) -> Result<(), Stop> {
    if let Some(damage) = &seen.damage {
        let says = out.paint.red(&plain(&damage.to_string()));
        out.line(&format!("\n{says}"))?;
        out.line("what follows is folded from the records before it")?;
        out.line(&format!("try: {}", plain(&damage_advice(flow, damage))))?;
    }
    if let Some(tail) = &seen.torn
        && seen.held_by.is_none()
    {
        out.line(&format!("\n{}", out.paint.yellow(&torn(tail))))?;
    }
    Ok(())
}

fn section(out: &mut Output, name: &str, rows: &[Vec<Cell>]) -> Result<(), Stop> {
    if rows.is_empty() {
        return Ok(());
    }
    if out.is_spoken() {
        let has_heads = name == COST;
        let label = name.to_lowercase();
        for line in table::spoken(rows, has_heads) {
            out.line(&format!("{label}: {line}"))?;
        }
        return Ok(());
    }
    let heading = out.paint.bold(name);
    out.line(&format!("\n{heading}"))?;
    let (columns, _) = out.size();
    for line in table::lines(rows) {
        let line = format!("  {line}");
        // Text comes last in a row, and is cut at its end where there is an end.
        let line = match out.is_terminal() {
            true => cut_at(&line, columns.saturating_sub(1)),
            false => line,
        };
        out.line(&line)?;
    }
    Ok(())
}

/// A painted line of at most so many columns, with a sign that there was more.
fn cut_at(line: &str, columns: usize) -> String {
    let fits = cut(line, columns);
    if fits.len() >= line.len() {
        return fits;
    }
    format!("{}…", cut(line, columns.saturating_sub(1)))
}

fn forks_in_cells(forks: &[Row]) -> Vec<Vec<Cell>> {
    let summaries = forks
        .iter()
        .filter_map(|row| Some((row, row.summary.as_ref()?)));
    summaries
        .map(|(row, summary)| {
            let at = summary.parent.as_ref().map_or(0, |parent| parent.at_seq);
            vec![
                row.flow.flow.as_str().into(),
                format!("at record {at}").into(),
                row.standing().map_or("", FlowStanding::word).into(),
                one_line(&summary.title, TEXT_COLUMNS_MAX).into(),
            ]
        })
        .collect()
}

fn nodes(state: &FlowState, now: At, is_driven: bool) -> Vec<Vec<Cell>> {
    let nodes = state.graph.nodes.iter();
    nodes
        .map(|node| {
            let (word, more) = node_stands(state, &node.id, now, is_driven);
            vec![
                node.id.as_str().into(),
                node.role.as_str().into(),
                word.into(),
                more.into(),
            ]
        })
        .collect()
}

/// The state of a node, and details.
fn node_stands(state: &FlowState, node: &NodeId, now: At, is_driven: bool) -> (String, String) {
    let word = words::node(NodeStanding::of(state, node, is_driven), now);
    let running = state.running.get(node);
    let details = running.map(|running| {
        let since = age(now.ms() - running.since.ms());
        format!("{}, since {since}", running.turn)
    });
    let arrived = || match state.deliverable(node).count() {
        0 => String::new(),
        arrived => format!("{arrived} arrived"),
    };
    (word, details.unwrap_or_else(arrived))
}

fn sessions(state: &FlowState, now: At) -> Vec<Vec<Cell>> {
    let sessions = state.sessions.iter();
    sessions
        .map(|(role, session)| {
            let life = if session.is_active {
                "at work"
            } else {
                words::session_state(session.state)
            };
            let used = age(now.ms() - session.last_activity_at.ms());
            vec![
                role.to_string().into(),
                life.into(),
                count(
                    usize::try_from(session.messages).unwrap_or(usize::MAX),
                    "message",
                )
                .into(),
                format!("{} tokens in the window", tokens(session.context_tokens)).into(),
                format!("used {used} ago").into(),
            ]
        })
        .collect()
}

fn turns(state: &FlowState, now: At) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (id, turn) in &state.turns {
        let since = age(now.ms() - turn.since.ms());
        rows.push(vec![
            id.to_string().into(),
            turn.role.to_string().into(),
            format!("for {}", words::cause(turn.cause)).into(),
            format!(
                "attempt {}, request {}, since {since}",
                turn.attempt, turn.requests
            )
            .into(),
        ]);
        let calls = state.calls.values().filter(|call| call.turn == *id);
        rows.extend(calls.map(|call| {
            let says = format!(
                "{} {}",
                call.tool,
                one_line(&call.summary, TEXT_COLUMNS_MAX)
            );
            vec![
                "".into(),
                "call".into(),
                words::call_state(call.state).into(),
                plain(&says).into_owned().into(),
            ]
        }));
    }
    rows
}

fn questions(state: &FlowState, asks: &[OpenAsk], now: At) -> Vec<Vec<Cell>> {
    let since = |at: At| Cell::from(format!("since {}", age(now.ms() - at.ms())));
    let asked = asks.iter().map(|ask| {
        let role = ask.role.as_ref().map_or("the flow", RoleInstance::as_str);
        let who = ask.node().map_or(role, NodeId::as_str);
        let says = match &ask.call {
            Some(call) => one_line(&call.about, TEXT_COLUMNS_MAX),
            None => one_line(ask.says.as_deref().unwrap_or_default(), TEXT_COLUMNS_MAX),
        };
        vec![
            who.into(),
            ask.wants().into(),
            since(ask.since),
            says.into(),
        ]
    });
    let limited = state
        .waits()
        .filter(|(_, waiting)| state.goes_on_at(waiting).is_some());
    let limited = limited.map(|(node, waiting)| {
        let who = node.map_or(waiting.role.as_str(), NodeId::as_str);
        let what = words::waiting(waiting, now);
        vec![who.into(), what.into(), since(waiting.since), "".into()]
    });
    asked.chain(limited).collect()
}

fn notices(state: &FlowState) -> Vec<Vec<Cell>> {
    let notices = state.notices.iter();
    notices
        .map(|notice| {
            let kept = notice.quarantine.as_ref();
            let kept = kept.map_or_else(String::new, |name| format!("kept as quarantine/{name}"));
            vec![
                format!("record {}", notice.seq).into(),
                plain(&notice.text).into_owned().into(),
                plain(&kept).into_owned().into(),
            ]
        })
        .collect()
}

fn lost(state: &FlowState) -> Vec<Vec<Cell>> {
    let lost = state.lost_blobs.iter();
    lost.map(|(hash, why)| vec![hash.to_string().into(), plain(why).into_owned().into()])
        .collect()
}

/// The last items of all feeds together, in the order in which they began.
fn feeds(seen: &Look, items_max: usize, short: Option<At>) -> Vec<Vec<Cell>> {
    let feeds = seen.screen.feeds.iter();
    let mut items: Vec<(&RoleInstance, &FeedItem)> = feeds
        .flat_map(|(role, feed)| feed.items().map(move |item| (role, item)))
        .collect();
    items.retain(|(_, item)| !only_ends(item));
    items.sort_by_key(|(_, item)| (item.at, item.seq));
    let skipped = items.len().saturating_sub(items_max);
    let last = items.into_iter().skip(skipped);
    last.map(|(role, item)| {
        let stamp = item.at.to_string();
        let stamp = match short {
            // Today the time says enough, and the day on another one.
            Some(now) if now.ms() - item.at.ms() < DAY_MS => stamp.get(11..19),
            Some(_) => stamp.get(..10),
            None => None,
        }
        .map_or(stamp.clone(), str::to_owned);
        vec![
            stamp.into(),
            role.to_string().into(),
            one_line(&says(item, role.as_ref()), TEXT_COLUMNS_MAX).into(),
        ]
    })
    .collect()
}

/// Whether an item is nothing but the block that ends a turn.
pub(crate) fn only_ends(item: &FeedItem) -> bool {
    !item.text.trim().is_empty() && before_its_end(&item.text).trim().is_empty()
}

/// What an item says. Neither the role nor the tool with which the summary of a call begins is named twice.
fn says(item: &FeedItem, who: &str) -> String {
    // The block that ends a turn is for the program.
    let text = before_its_end(&item.text).trim();
    let label = item.label.as_str();
    if text.is_empty() {
        return label.to_owned();
    }
    if label == who {
        return text.to_owned();
    }
    let (tool, end) = label.split_once(' ').unwrap_or((label, ""));
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_named = first == tool || tool.split('_').any(|word| word == first);
    match (
        item.call_id.is_some() && is_named,
        end.trim_matches(['(', ')']),
    ) {
        (false, _) => format!("{label}: {text}"),
        (true, "") => text.to_owned(),
        (true, end) => format!("{end}: {text}"),
    }
}
