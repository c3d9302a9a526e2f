//! `ls`: the flows of a workspace, one line each.

use a_society_facts::At;
use a_society_facts::id::ProjectName;
use a_society_facts::view::flow::FlowStatus;
use a_society_facts::view::standing::FlowStanding;
use a_society_facts::view::{FlowSummary, Wait};
use a_society_operator_ui::fold::asks::OpenAsk;
use a_society_state::index::{FOREIGN_WORD, Row, rows};
use a_society_state::{FlowRef, Store, Stranger};
use serde_json::{Value, json};

use super::context::Context;
use super::nesting::{NestedRow, nested, parent};
use super::status::asked;
use super::table::{self, Cell, Column};
use super::words;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop, from_name};
use crate::paint::Paint;
use crate::text::{age, count, money, one_line, plain, width, wrapped};

/// The word for a flow that another program keeps.
const NOT_IMPORTED: &str = "not imported";

/// The arguments of `ls`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Chats have a list of their own, --chats. Forks are listed below the flows they come from. The bold part of an id is enough to name the \
flow. AGE is the time since the last fact. ls looks only at the ends of journals and lists \
damaged flows with the rest; verify reads every byte.

When piped, columns are separated by two or more spaces and nothing is truncated; - marks an unknown \
value. Use --json in programs.

Examples:
  a-society ls
  a-society ls --all --project demo
  a-society ls --chats
  a-society ls --json | jq -r '.flows[] | select(.waiting_for != []) | .flow'")]
pub(crate) struct Arguments {
    /// Only the flows of this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,

    /// Flows that are over, too
    #[arg(long)]
    all: bool,

    /// Chats in the place of flows
    #[arg(long)]
    chats: bool,
}

impl Arguments {
    /// All chats that can be gone on with.
    pub(crate) const fn of_chats() -> Self {
        Self {
            project: None,
            all: false,
            chats: true,
        }
    }
}

/// Lists them.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let project: Option<ProjectName> = match &arguments.project {
        Some(name) => Some(name.parse().map_err(|bad| from_name(&bad))?),
        None => None,
    };
    let store = context.store()?;
    let census = store.census()?;
    let marks = Marks::of(&census.flows);
    let wanted = |flow: &&FlowRef| project.as_ref().is_none_or(|name| *name == flow.project);
    let chosen: Vec<FlowRef> = census.flows.iter().filter(wanted).cloned().collect();
    let mut listed = rows(&store, &chosen);
    listed.retain(|row| is_chat(row) == arguments.chats);
    let all = listed.len();
    listed.retain(|row| arguments.all || is_open(row));
    let hidden = all - listed.len();
    let mut listed = nested(listed);
    for one in &mut listed {
        one.asks = asks_of(&store, &one.row);
    }
    let now = store.ground().clock.now();
    if context.out.is_json() {
        let flows: Vec<Value> = listed.iter().map(as_json).collect();
        let strangers: Vec<Value> = census.strangers.iter().map(stranger_json).collect();
        let found = json!({ "flows": flows, "hidden": hidden, "strangers": strangers });
        context.out.value(&found)?;
    } else {
        print(context, &listed, &marks, now)?;
        let others = chosen.len() > all && !arguments.chats;
        remark(context, &census.strangers, listed.len(), hidden);
        if others && all == 0 {
            context
                .out
                .note("chats are listed by: a-society ls --chats");
        }
    }
    Ok(ExitCode::Ok)
}

/// Whether it is a chat; of what is damaged, nothing is known.
fn is_chat(row: &Row) -> bool {
    row.summary.as_ref().is_some_and(|summary| summary.is_chat)
}

/// What a flow asks. Only one that may ask is folded: where something waits, or the flow as a whole does, or a process
/// drives it and nothing of it works.
fn asks_of(store: &Store, row: &Row) -> Vec<OpenAsk> {
    let may_ask = |summary: &FlowSummary| {
        let rests = row.held_by.is_some() && summary.running == 0;
        let is_whole = matches!(
            summary.status,
            FlowStatus::Paused(_)
                | FlowStatus::AwaitingImprovementChoice
                | FlowStatus::AwaitingFeedbackConsent
        );
        !summary.is_over() && (is_whole || rests || summary.waits.iter().any(Wait::is_asked))
    };
    if row.damage.is_some() || !row.summary.as_ref().is_some_and(may_ask) {
        return Vec::new();
    }
    let Ok(seen) = store.look(&row.flow) else {
        return Vec::new();
    };
    asked(store, &row.flow, &seen.screen.flow)
}

/// Whether a flow still wants to be looked at.
fn is_open(row: &Row) -> bool {
    row.damage.is_some()
        || !row
            .summary
            .as_ref()
            .is_some_and(|summary| summary.is_over())
}

fn print(
    context: &mut Context<'_>,
    listed: &[NestedRow],
    marks: &Marks,
    now: At,
) -> Result<(), Stop> {
    if listed.is_empty() {
        return Ok(());
    }
    if context.out.is_spoken() {
        for line in spoken(listed, now) {
            context.out.line(&line)?;
        }
        return Ok(());
    }
    if context.out.is_terminal() {
        let (columns, _) = context.out.size();
        for line in screen(listed, marks, now, columns, context.out.paint) {
            context.out.line(&line)?;
        }
        return Ok(());
    }
    for line in piped(listed, marks, now, context.out.paint) {
        context.out.line(&line)?;
    }
    Ok(())
}

/// What a cell says of which nothing is known, so that every row has as many.
const NOTHING: &str = "-";

/// The flows for who reads them later, and for programs: the columns of a screen, nothing cut.
fn piped(listed: &[NestedRow], marks: &Marks, now: At, paint: Paint) -> Vec<String> {
    let heads = ["FLOW", "STATE", "DONE", "COST", "AGE", "TITLE"];
    let heads = heads.map(|head| Cell::painted(head, paint.dim(head)));
    let mut cells = vec![heads.to_vec()];
    let rows = listed.iter();
    cells.extend(rows.map(|one| in_cells(one, marks, now, paint)));
    let mut lines = table::lines(&cells).into_iter();
    let mut shown: Vec<String> = lines.next().into_iter().collect();
    for (NestedRow { row, .. }, line) in listed.iter().zip(lines) {
        shown.push(line);
        let remarks = remarks(row).into_iter();
        shown.extend(remarks.map(|remark| format!("  {}", paint.yellow(&remark))));
    }
    shown
}

fn in_cells(listed: &NestedRow, marks: &Marks, now: At, paint: Paint) -> Vec<Cell> {
    let NestedRow { depth, row, .. } = listed;
    let known = |text: String| {
        if text.is_empty() {
            NOTHING.to_owned()
        } else {
            text
        }
    };
    let summary = row.summary.as_ref();
    let title = summary.map(|summary| titled(*depth, row, &summary.title, usize::MAX));
    let named = format!("{}/{}", row.flow.project, marks.painted(&row.flow, paint));
    let (state, painted) = in_words(listed, status(row, now), paint);
    let numbers = [done(row), cost(row), old(row, now)];
    let mut cells = vec![
        Cell::painted(row.flow.to_string(), named),
        Cell::painted(state, painted),
    ];
    cells.extend(numbers.map(|number| Cell::from(known(number))));
    cells.push(known(title.unwrap_or_default()).into());
    cells
}

/// A state with how many questions wait, and the same as it is painted.
fn in_words(listed: &NestedRow, mut state: String, paint: Paint) -> (String, String) {
    let asks = listed.asks.len();
    if asks > 1 {
        let more = format!(" ({asks})");
        state.push_str(&more);
    }
    let painted = if listed.row.damage.is_some() {
        paint.red(&state)
    } else if asks > 0 {
        paint.yellow(&state)
    } else {
        state.clone()
    };
    (state, painted)
}

/// How many nodes are done; nothing is known of a flow that never began.
fn done(row: &Row) -> String {
    let summary = row.summary.as_ref();
    let done = summary.filter(|summary| summary.nodes > 0);
    done.map_or_else(String::new, |summary| {
        format!("{}/{}", summary.done, summary.nodes)
    })
}

/// What it cost, if it cost anything.
fn cost(row: &Row) -> String {
    let summary = row.summary.as_ref();
    let cost = summary.map_or(0, |summary| summary.cost_micros);
    if cost > 0 { money(cost) } else { String::new() }
}

/// How long ago its last fact was recorded.
fn old(row: &Row, now: At) -> String {
    let at = row.summary.as_ref().and_then(|summary| summary.updated_at);
    at.map_or_else(String::new, |at| age(now.ms() - at.ms()))
}

/// The widths under which the money, the nodes and the title leave the row of a flow.
const COST_FROM: usize = 70;
const DONE_FROM: usize = 60;
const TITLE_FROM: usize = 50;

/// The columns of a screen: their least widths, and the blanks behind each. The title takes the rest.
const FLOW: Column = Column::new(12, 1);
const STATE: Column = Column::new(18, 1);
const DONE: Column = Column::new(4, 1);
const COST: Column = Column::new(7, 1);
const AGE: Column = Column::new(5, 2);

/// The flows on a screen: no row is wider, numbers are whole, and the title, which may be cut, comes last. On a
/// narrow one it has a row of its own.
fn screen(
    listed: &[NestedRow],
    marks: &Marks,
    now: At,
    columns: usize,
    paint: Paint,
) -> Vec<String> {
    let all = [
        ("FLOW", FLOW, true),
        ("STATE", STATE, true),
        ("DONE", DONE, columns >= DONE_FROM),
        ("COST", COST, columns >= COST_FROM),
        ("AGE", AGE, true),
    ];
    let shown = || all.iter().filter(|(_, _, is_shown)| *is_shown);
    let head = |(column, (head, ..)): (usize, &(&str, Column, bool))| {
        let cell = Cell::painted(*head, paint.dim(head));
        if column < 2 { cell } else { cell.at_right() }
    };
    let wide: Vec<Column> = shown().map(|(_, wide, _)| *wide).collect();
    let mut cells: Vec<Vec<Cell>> = vec![shown().enumerate().map(head).collect()];
    cells.extend((listed.iter()).map(|one| on_screen(one, marks, now, columns, paint)));
    let room = columns.saturating_sub(table::width_of(&cells, &wide) + 1);
    let titles = |room: usize| {
        let titles = listed.iter().map(move |NestedRow { depth, row, .. }| {
            let title = row.summary.as_ref().map(|summary| summary.title.as_str());
            titled(*depth, row, title.unwrap_or_default(), room)
        });
        titles.collect::<Vec<String>>()
    };
    let below = if columns >= TITLE_FROM {
        if let Some(heads) = cells.first_mut() {
            heads.push(Cell::painted("TITLE", paint.dim("TITLE")));
        }
        for (row, title) in cells.iter_mut().skip(1).zip(titles(room)) {
            row.push(title.into());
        }
        Vec::new()
    } else {
        titles(columns.saturating_sub(3))
    };
    let mut lines = table::lines_of(&cells, &wide).into_iter();
    let mut shown: Vec<String> = lines.next().into_iter().collect();
    for (number, line) in lines.enumerate() {
        shown.push(line);
        shown.extend(below.get(number).map(|title| format!("  {title}")));
        let remarks = listed.get(number).map(|one| remarks(&one.row));
        let remarks = remarks.unwrap_or_default();
        let remarks = remarks
            .iter()
            .flat_map(|remark| wrapped(remark, columns.saturating_sub(3)));
        shown.extend(remarks.map(|remark| format!("  {}", paint.yellow(&remark))));
    }
    shown
}

/// The flows for a screen that is read aloud: a line for each value, with its name.
fn spoken(listed: &[NestedRow], now: At) -> Vec<String> {
    let mut lines = Vec::new();
    for NestedRow { depth, row, asks } in listed {
        let summary = row.summary.as_ref();
        let title = summary.map(|summary| titled(*depth, row, &summary.title, usize::MAX));
        let waits = summary.map(|summary| words::waits(asks, summary).join(", "));
        let done = summary.filter(|summary| summary.nodes > 0);
        let done = done.map(|summary| format!("{} of {}", summary.done, summary.nodes));
        let cost = summary.map(|summary| summary.cost_micros);
        let at = summary.and_then(|summary| summary.updated_at);
        let values = [
            ("flow", Some(row.flow.to_string())),
            ("title", title),
            ("state", Some(status(row, now))),
            ("waits for", waits),
            ("done", done),
            ("cost", cost.filter(|cost| *cost > 0).map(money)),
            ("age", at.map(|at| age(now.ms() - at.ms()))),
        ];
        let values = values.into_iter();
        let values = values.filter_map(|(name, value)| Some((name, value?)));
        let values = values.filter(|(_, value)| !value.is_empty());
        lines.extend(values.map(|(name, value)| format!("{name}: {value}")));
        lines.extend(
            remarks(row)
                .into_iter()
                .map(|remark| format!("note: {remark}")),
        );
    }
    lines
}

/// A state for a column of the screen: what has a number in it stays whole.
fn state(row: &Row, now: At) -> String {
    let state = status(row, now);
    if state.contains(|letter: char| letter.is_ascii_digit()) {
        return state;
    }
    let word = row.standing().filter(|_| row.damage.is_none());
    one_line(word.map_or(&state, |standing| standing.word()), STATE.least)
}

fn on_screen(
    listed: &NestedRow,
    marks: &Marks,
    now: At,
    columns: usize,
    paint: Paint,
) -> Vec<Cell> {
    let row = &listed.row;
    // The end of an id names its flow whatever is left of its project.
    let named = |flow: &str, project: &str| format!("{project}/{flow}");
    let project = row.flow.project.as_str();
    let room = FLOW.least.saturating_sub(width(tail(&row.flow)) + 1).max(1);
    let short = one_line(project, room);
    // Where the end of an id is no name, all of it is one.
    let (name, painted) = match marks.enough(&row.flow) {
        Some(_) => (
            named(tail(&row.flow), &short),
            named(&marks.tail(&row.flow, paint), &short),
        ),
        None => (row.flow.to_string(), row.flow.to_string()),
    };
    let (state, painted_state) = in_words(listed, state(row, now), paint);
    let mut cells = vec![
        Cell::painted(name, painted),
        Cell::painted(state, painted_state),
    ];
    if columns >= DONE_FROM {
        cells.push(Cell::from(done(row)).at_right());
    }
    if columns >= COST_FROM {
        cells.push(Cell::from(cost(row)).at_right());
    }
    cells.push(Cell::from(old(row, now)).at_right());
    cells
}

/// The title of a flow. A fork is listed under its parent, or names it.
fn titled(depth: usize, row: &Row, title: &str, columns_max: usize) -> String {
    let (before, after) = match (depth, parent(row)) {
        (0, Some(parent)) => (String::new(), format!(" (fork of {parent})")),
        (0, None) => (String::new(), String::new()),
        (deep, _) => (format!("{}└ ", "  ".repeat(deep - 1)), String::new()),
    };
    let room = columns_max.saturating_sub(width(&before) + width(&after));
    format!("{before}{}{after}", one_line(title, room))
}

fn status(row: &Row, now: At) -> String {
    if row.damage_word == Some(FOREIGN_WORD) {
        return NOT_IMPORTED.to_owned();
    }
    row.standing_words(now)
        .unwrap_or_else(|| "empty".to_owned())
}

/// The word for a flow that cannot be read.
fn harmed(row: &Row) -> Option<&'static str> {
    row.damage.as_ref()?;
    Some(if row.damage_word == Some(FOREIGN_WORD) {
        NOT_IMPORTED
    } else {
        row.standing()
            .map_or(FlowStanding::Damaged.word(), FlowStanding::word)
    })
}

/// The lines below a row, for which no column has room.
fn remarks(row: &Row) -> Vec<String> {
    let damage = row.damage.as_deref().map(|says| plain(says).into_owned());
    let notes = row.summary.iter().flat_map(|summary| &summary.damage);
    let nothing = (row.damage.is_none() && row.summary.is_none())
        .then(|| "nothing was ever recorded in it".to_owned());
    damage
        .into_iter()
        .chain(notes.map(|note| plain(note).into_owned()))
        .chain(nothing)
        .collect()
}

/// The notes about the listing that are not part of it.
fn remark(context: &mut Context<'_>, strangers: &[Stranger], shown: usize, hidden: usize) {
    for stranger in strangers {
        let path = stranger.path.display().to_string();
        let note = format!("not a flow: {}: {}", plain(&path), plain(&stranger.why));
        context.out.note(&context.out.paint_err.dim(&note));
    }
    if hidden > 0 {
        let over = count(hidden, "flow");
        let verb = if hidden == 1 { "is" } else { "are" };
        let note = format!("{over} {verb} over and not shown; see: a-society ls --all");
        context.out.note(&note);
    } else if shown == 0 {
        context.out.note("there are no flows here");
    }
}

fn stranger_json(stranger: &Stranger) -> Value {
    json!({ "path": stranger.path.display().to_string(), "why": stranger.why })
}

fn as_json(listed: &NestedRow) -> Value {
    let NestedRow { row, asks, .. } = listed;
    let summary = row.summary.as_ref();
    let damage = row
        .damage
        .as_ref()
        .map(|says| json!({ "word": row.damage_word, "says": says }));
    json!({
        "project": row.flow.project,
        "flow": row.flow.flow,
        "title": summary.map(|s| &s.title),
        "status": harmed(row).unwrap_or_else(|| summary.map_or("empty", FlowSummary::status_word)),
        "standing": row.standing().map(FlowStanding::word),
        "retry_at": summary.and_then(|s| s.retry_at),
        "resets_at": summary.and_then(FlowSummary::resets_at),
        "waiting_for": summary.map(|summary| words::waits(asks, summary)).unwrap_or_default(),
        "tokens": summary.map(|s| s.tokens),
        "cost_micros": summary.map(|s| s.cost_micros),
        "running": summary.map(|s| s.running),
        "created_at": summary.map(|s| s.created_at),
        "updated_at": summary.map(|s| s.updated_at),
        "seq": summary.map(|s| s.seq),
        "parent": summary.and_then(|s| s.parent.as_ref()),
        "notices": summary.map(|s| &s.damage),
        "damage": damage,
        "held_by": row.held_by,
    })
}

/// How much of each id is enough to name its flow.
#[derive(Debug)]
struct Marks {
    /// Everything that what is typed is compared with, sorted: whole ids, and their ends.
    typed: Vec<String>,
}

impl Marks {
    fn of(flows: &[FlowRef]) -> Self {
        let both = |flow: &FlowRef| [flow.flow.to_string(), tail(flow).to_owned()];
        let mut typed: Vec<String> = flows.iter().flat_map(both).collect();
        typed.sort_unstable();
        Self { typed }
    }

    /// How many bytes of an id's end no other flow begins with; `None` if even all are not enough.
    fn enough(&self, flow: &FlowRef) -> Option<usize> {
        let tail = tail(flow);
        let at = self.typed.partition_point(|other| other.as_str() < tail);
        let before = at.checked_sub(1).and_then(|before| self.typed.get(before));
        let after = self.typed.get(at + 1);
        let shared = before
            .into_iter()
            .chain(after)
            .map(|other| shared_bytes(tail, other))
            .max()
            .unwrap_or(0);
        (shared < tail.len()).then_some(shared + 1)
    }

    /// The end of an id, with what is enough of it in bold.
    fn tail(&self, flow: &FlowRef, paint: Paint) -> String {
        let tail = tail(flow);
        match self.enough(flow) {
            Some(bytes) => {
                let (bold, rest) = tail.split_at(bytes);
                format!("{}{}", paint.bold(bold), paint.dim(rest))
            }
            None => tail.to_owned(),
        }
    }

    fn painted(&self, flow: &FlowRef, paint: Paint) -> String {
        let id = flow.flow.as_str();
        let start = id.len() - tail(flow).len();
        match self.enough(flow) {
            Some(bytes) => {
                let (head, rest) = id.split_at(start);
                let (bold, rest) = rest.split_at(bytes);
                format!("{}{}{}", paint.dim(head), paint.bold(bold), paint.dim(rest))
            }
            None => paint.bold(id),
        }
    }
}

fn tail(flow: &FlowRef) -> &str {
    let id = flow.flow.as_str();
    id.rsplit('-').next().unwrap_or(id)
}

fn shared_bytes(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::node::WaitReason;
    use a_society_facts::view::flow::FlowState;
    use a_society_orchestrator::machine::OperatorQuestion;

    use super::*;

    fn flow(id: &str) -> FlowRef {
        FlowRef {
            project: "demo".parse().unwrap(),
            flow: id.parse().unwrap(),
        }
    }

    #[test]
    fn as_much_of_an_id_is_bold_as_names_it() {
        let flows = [
            flow("20260527T143000123Z-a1b2c3"),
            flow("20260527T143000123Z-a1c000"),
            flow("20260527T143000123Z-b00000"),
            flow("20260527T143000123Z-200000"),
        ];
        let marks = Marks::of(&flows);
        let enough: Vec<Option<usize>> = flows.iter().map(|f| marks.enough(f)).collect();
        // The last one shares its beginning with the years of all of them.
        assert_eq!(enough, [Some(3), Some(3), Some(1), Some(3)]);
    }

    #[test]
    fn two_flows_with_one_end_are_not_told_apart_by_it() {
        let flows = [
            flow("20260527T143000123Z-a1b2c3"),
            flow("20260528T143000123Z-a1b2c3"),
        ];
        assert_eq!(Marks::of(&flows).enough(&flows[0]), None);
    }

    fn row(id: &str, title: &str, cost_micros: u64) -> NestedRow {
        let summary = FlowSummary {
            title: title.to_owned(),
            updated_at: Some(At::from_ms(0)),
            cost_micros,
            nodes: 4,
            done: 2,
            ..FlowSummary::default()
        };
        let row = Row {
            flow: flow(id),
            summary: Some(summary),
            damage: None,
            damage_word: None,
            held_by: None,
        };
        NestedRow {
            depth: 0,
            row,
            asks: Vec::new(),
        }
    }

    #[test]
    fn on_a_screen_no_row_is_wider_and_what_matters_least_goes_first() {
        let mut asks = row("20260527T143000123Z-a1b2c3", "Ledger close 台帳", 630_000);
        let text = |node: &str| {
            let question = OperatorQuestion::Text {
                node: Some(node.parse().unwrap()),
                role: "writer".parse().unwrap(),
                reason: WaitReason::PromptHuman,
            };
            OpenAsk::new(&FlowState::default(), &question)
        };
        asks.asks = vec![text("draft"), text("review")];
        if let Some(summary) = &mut asks.row.summary {
            summary.waits = vec![Wait {
                node: None,
                role: "writer".parse().unwrap(),
                reason: WaitReason::PromptHuman,
                since: At::from_ms(0),
                until: None,
                is_own_turn: false,
                is_answered: false,
            }];
        }
        let mut long = row("20260528T143000123Z-c0ffee", &"A long title ".repeat(20), 0);
        long.row.flow.project = "release-notes".parse().unwrap();
        if let Some(summary) = &mut long.row.summary {
            (summary.nodes, summary.done) = (302, 118);
            summary.cost_micros = 1_204_560_000;
            summary.retry_at = Some(At::from_ms(198_000));
            summary.running = 1;
        }
        long.row.held_by = Some("process 1".to_owned());
        let listed = [asks, row("20260527T143000123Z-b00000", "👩‍👧 Sites", 0), long];
        let flows: Vec<FlowRef> = listed.iter().map(|one| one.row.flow.clone()).collect();
        let marks = Marks::of(&flows);
        let at = |columns| {
            let now = At::from_ms(180_000);
            let lines = screen(&listed, &marks, now, columns, Paint::new(false));
            let widest = lines.iter().map(|line| width(line)).max();
            assert!(widest.unwrap() < columns, "{columns}: {lines:#?}");
            format!("{columns} columns\n{}", lines.join("\n"))
        };
        insta::assert_snapshot!([40, 55, 65, 80, 110].map(at).join("\n\n"));
    }

    #[test]
    fn in_a_pipe_no_row_is_cut_and_each_has_every_column() {
        let title = "A long title ".repeat(20);
        let listed = [
            row("20260527T143000123Z-a1b2c3", &title, 630_000),
            row("20260527T143000123Z-b00000", "Sites", 0),
        ];
        let flows: Vec<FlowRef> = listed.iter().map(|one| one.row.flow.clone()).collect();
        let lines = piped(
            &listed,
            &Marks::of(&flows),
            At::from_ms(180_000),
            Paint::new(false),
        );
        let cells = |line: &String| {
            let cells = line
                .split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty());
            cells.map(str::to_owned).collect::<Vec<String>>()
        };
        let cells: Vec<Vec<String>> = lines.iter().map(cells).collect();
        assert_eq!(cells[0], ["FLOW", "STATE", "DONE", "COST", "AGE", "TITLE"]);
        let (id, state) = (
            "demo/20260527T143000123Z-a1b2c3",
            "stopped: nobody drives it",
        );
        assert_eq!(cells[1], [id, state, "2/4", "$0.63", "3m", title.trim()]);
        assert_eq!(cells[2][2..], ["2/4", "-", "3m", "Sites"]);
    }

    #[test]
    fn a_screen_that_is_read_aloud_has_a_line_for_each_value() {
        let listed = [row("20260527T143000123Z-a1b2c3", "Ledger close", 630_000)];
        assert_eq!(
            spoken(&listed, At::from_ms(180_000)),
            [
                "flow: demo/20260527T143000123Z-a1b2c3",
                "title: Ledger close",
                "state: stopped: nobody drives it",
                "done: 2 of 4",
                "cost: $0.63",
                "age: 3m",
            ]
        );
    }
}
