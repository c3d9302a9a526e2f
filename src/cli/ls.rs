//! `ls`: the flows of a workspace, one line each.

use a_society_facts::At;
use a_society_facts::id::ProjectName;
use a_society_facts::view::standing::Standing;
use a_society_facts::view::summary::Summary;
use a_society_state::FlowRef;
use a_society_state::index::{FOREIGN_WORD, Row, rows};
use a_society_state::store::Stranger;
use serde_json::{Value, json};

use super::context::Context;
use super::nesting::{nested, parent};
use super::table::{self, Cell};
use super::words;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop, from_name};
use crate::paint::Paint;
use crate::text::{age, count, money, one_line, plain};

/// Longer titles are cut, so that a flow stays on one line of a usual terminal.
const TITLE_COLUMNS_MAX: usize = 40;
/// The same for what is waited for.
const WAITS_COLUMNS_MAX: usize = 48;

/// The arguments of `ls`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Forks stand under the flows they come from. The bold part of an id is enough to name the flow. AGE is
the time since its last fact. Only the ends of journals are looked at here, and damaged flows are
listed with the rest; verify reads every byte.

Examples:
  a-society ls
  a-society ls --all --project demo
  a-society ls --json | jq -r '.flows[] | select(.waiting_for != []) | .flow'")]
pub(crate) struct Arguments {
    /// Only the flows of this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,

    /// Flows that are over, too
    #[arg(long)]
    all: bool,
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
    let all = listed.len();
    listed.retain(|row| arguments.all || is_open(row));
    let hidden = all - listed.len();
    let listed = nested(listed);
    let now = store.ground().clock.now();
    if context.out.is_json() {
        let flows: Vec<Value> = listed.iter().map(|(_, row)| as_json(row)).collect();
        let strangers: Vec<Value> = census.strangers.iter().map(stranger_json).collect();
        let found = json!({ "flows": flows, "hidden": hidden, "strangers": strangers });
        context.out.value(&found)?;
    } else {
        print(context, &listed, &marks, now)?;
        remark(context, &census.strangers, (listed.len(), hidden));
    }
    Ok(ExitCode::Ok)
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
    listed: &[(usize, Row)],
    marks: &Marks,
    now: At,
) -> Result<(), Stop> {
    if listed.is_empty() {
        return Ok(());
    }
    let paint = context.out.paint;
    let heads = [
        "PROJECT",
        "FLOW",
        "TITLE",
        "STATUS",
        "WAITING FOR",
        "COST",
        "AGE",
    ];
    let mut cells = vec![
        heads
            .map(|head| Cell::painted(head, paint.dim(head)))
            .to_vec(),
    ];
    let rows = listed.iter();
    cells.extend(rows.map(|(depth, row)| in_cells((*depth, row), marks, now, paint)));
    let mut lines = table::lines(&cells).into_iter();
    context.out.line(&lines.next().unwrap_or_default())?;
    for ((_, row), line) in listed.iter().zip(lines) {
        context.out.line(&line)?;
        for remark in remarks(row) {
            context.out.line(&format!("  {}", paint.yellow(&remark)))?;
        }
    }
    Ok(())
}

fn in_cells((depth, row): (usize, &Row), marks: &Marks, now: At, paint: Paint) -> Vec<Cell> {
    let id = row.flow.flow.as_str();
    let (title, waits, old) = match &row.summary {
        Some(summary) => (
            titled(depth, row, &summary.title),
            one_line(&words::waits(summary).join(", "), WAITS_COLUMNS_MAX),
            summary
                .updated_at
                .map_or_else(String::new, |at| age(now.ms() - at.ms())),
        ),
        None => (String::new(), String::new(), String::new()),
    };
    let status = status(row, now);
    let painted = if row.damage.is_some() {
        paint.red(&status)
    } else if waits.is_empty() {
        status.clone()
    } else {
        paint.yellow(&status)
    };
    let cost = row
        .summary
        .as_ref()
        .map_or(0, |summary| summary.cost_micros);
    let cost = if cost > 0 { money(cost) } else { String::new() };
    vec![
        row.flow.project.as_str().into(),
        Cell::painted(id, marks.painted(&row.flow, paint)),
        title.into(),
        Cell::painted(&status, painted),
        waits.into(),
        cost.into(),
        old.into(),
    ]
}

/// The title of a flow. A fork's stands under the one of its parent, or names it.
fn titled(depth: usize, row: &Row, title: &str) -> String {
    let title = one_line(title, TITLE_COLUMNS_MAX);
    match (depth, parent(row)) {
        (0, Some(parent)) => format!("{title} (fork of {parent})"),
        (0, None) => title,
        (deep, _) => format!("{}└ {title}", "  ".repeat(deep - 1)),
    }
}

fn status(row: &Row, now: At) -> String {
    if let Some(word) = harmed(row) {
        return word.to_owned();
    }
    let standing = standing(row);
    standing.map_or_else(|| "empty".to_owned(), |standing| standing.words(now))
}

/// What a readable flow is doing now.
fn standing(row: &Row) -> Option<Standing> {
    let summary = row.summary.as_ref()?;
    Some(Standing::of(summary, row.held_by.is_some()))
}

/// The word for a flow that cannot be read.
fn harmed(row: &Row) -> Option<&'static str> {
    row.damage.as_ref()?;
    Some(if row.damage_word == Some(FOREIGN_WORD) {
        "not imported"
    } else {
        "damaged"
    })
}

/// What stands below a row, because a column has no room for it.
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

/// What is said about the listing and is not part of it.
fn remark(context: &mut Context<'_>, strangers: &[Stranger], (shown, hidden): (usize, usize)) {
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

fn as_json(row: &Row) -> Value {
    let summary = row.summary.as_ref();
    let damage = row
        .damage
        .as_ref()
        .map(|says| json!({ "word": row.damage_word, "says": says }));
    json!({
        "project": row.flow.project,
        "flow": row.flow.flow,
        "title": summary.map(|s| &s.title),
        "status": harmed(row).unwrap_or_else(|| summary.map_or("empty", Summary::status_word)),
        "standing": standing(row).map(Standing::word),
        "retry_at": summary.and_then(|s| s.retry_at),
        "resets_at": summary.and_then(Summary::resets_at),
        "waiting_for": summary.map(words::waits).unwrap_or_default(),
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
}
