//! `diff`: what the roles of a flow changed in files, or two runs beside each other.

use a_society_facts::At;
use a_society_facts::id::RoleInstance;
use a_society_facts::words::permissions::allowed_by;
use a_society_operator_ui::protocol::ask::{Diff, Hunk, Op};
use a_society_operator_ui::protocol::down::Fault;
use a_society_operator_ui::protocol::http::{Author, Changes};
use a_society_operator_ui::server::changed;

use serde_json::{Value, json};

use super::context::Context;
use super::say::role;
use super::table::Cell;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output::Output;
use crate::paint::Paint;
use crate::text::{DAY_MS, count, plain, printed, size};

/// The arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
diff shows what the tools of roles wrote, edited and removed, file by file, with the nodes and \
turns that did it, and who allowed it where that was asked; the turns of a role are counted \
through the flow. It is read from the journal, so it is there even when the files have changed \
since. A call that was denied or failed changed nothing. What a command did to files is not known \
here.

What a file held before a tool changed it is kept up to 1 MiB, with secrets masked. Journals of \
earlier versions and longer texts show only what the calls themselves contain.

With another flow in place of a path, two runs are compared as on the page: time, turns, tokens \
and money, what only one graph has, every node, and the artifacts with their differences. ≠ marks \
the nodes at which the runs differ. A word that is both a changed file and a flow means the file.

Examples:
  a-society diff a1b2
  a-society diff a1b2 --role writer
  a-society diff a1b2 --stat
  a-society diff a1b2 src/post.rs
  a-society diff a1b2 --json | jq -r '.diffs[].path'
  a-society diff a1b2 c3d4
  a-society diff a1b2 c3d4 --stat
  a-society diff a1b2 c3d4 --json | jq '.nodes[] | select(.differs) | .node'")]
pub(crate) struct Arguments {
    /// The flow; the only one that is not over, or the only one at all, if left out
    #[arg(value_name = "FLOW")]
    flow: Option<String>,

    /// Only these files, by their paths from the project's folder; or the flow to compare with
    #[arg(value_name = "PATH|OTHER")]
    paths: Vec<String>,

    /// Only what this role changed
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,

    /// Only the files, with the numbers of lines added and removed
    #[arg(long)]
    stat: bool,
}

/// Prints it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow_or_only("diff", arguments.flow.as_deref())?;
    if let Some(role) = &arguments.role {
        let seen = store.look(&flow)?;
        let state = &seen.screen.flow;
        if !state.graph.nodes.iter().any(|node| node.role == *role) && state.session(role).is_none()
        {
            return Err(unknown(
                role,
                state.graph.nodes.iter().map(|node| &node.role),
            ));
        }
    }
    let mut all = changed(&store, &flow, arguments.role.as_ref()).map_err(refused)?;
    let wanted = |path: &str| {
        let inside = |folder: &String| {
            let rest = path.strip_prefix(folder.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        arguments.paths.is_empty() || arguments.paths.iter().any(inside)
    };
    all.diffs.retain(|diff| wanted(&diff.path));
    all.by.retain(|path, _| wanted(path));
    if let ([typed], true, None) = (&arguments.paths[..], all.diffs.is_empty(), &arguments.role)
        && let Ok((_, other)) = context.flow(typed)
    {
        return super::compare::run(&mut context.out, &store, &flow, &other, arguments.stat);
    }
    let now = store.ground().clock.now();
    let out = &mut context.out;
    if out.is_json() {
        out.value(&all)?;
        return Ok(ExitCode::Ok);
    }
    if all.diffs.is_empty() {
        out.note(&match &arguments.paths[..] {
            [] => "no file was changed by a tool".to_owned(),
            paths => {
                let paths = paths.join(", ");
                format!(
                    "no tool changed {}, and no flow to compare with has that name",
                    plain(&paths)
                )
            }
        });
        return Ok(ExitCode::Ok);
    }
    for diff in &all.diffs {
        out.line(&head(diff, &all, now, &out.paint))?;
        if !arguments.stat {
            body(out, diff)?;
        }
    }
    Ok(ExitCode::Ok)
}

/// How many files changed and how much, in a line, if any did.
pub(crate) fn in_short(all: &Changes) -> Option<String> {
    let files = all.diffs.len();
    if files == 0 {
        return None;
    }
    let sum = |(come, go), diff| {
        let (more, less) = counts(diff);
        (come + more, go + less)
    };
    let (come, go) = all.diffs.iter().fold((0, 0), sum);
    Some(format!("{}, +{come} −{go}", count(files, "file")))
}

/// The same for programs.
pub(crate) fn in_numbers(all: &Changes) -> Value {
    let each = all.diffs.iter().map(counts);
    let (added, removed) = each.fold((0, 0), |(come, go), (more, less)| (come + more, go + less));
    json!({ "files": all.diffs.len(), "added": added, "removed": removed })
}

/// A row for each file: its path, how much of it changed, and who did it.
pub(crate) fn rows(all: &Changes) -> Vec<Vec<Cell>> {
    let row = |diff: &Diff| {
        let (come, go) = counts(diff);
        let by = all.by.get(&diff.path).map(|by| authors(by));
        vec![
            plain(&diff.path).into_owned().into(),
            format!("+{come} −{go}").into(),
            plain(&by.unwrap_or_default()).into_owned().into(),
        ]
    };
    all.diffs.iter().map(row).collect()
}

/// How many lines come and how many go, as far as they are shown.
pub(super) fn counts(diff: &Diff) -> (usize, usize) {
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    lines.fold((0, 0), |(come, go), line| match line.op {
        Op::Add => (come + 1, go),
        Op::Remove => (come, go + 1),
        Op::Keep => (come, go),
    })
}

/// The file, how much of it changed, who did it, and who allowed that.
fn head(diff: &Diff, all: &Changes, now: At, paint: &Paint) -> String {
    let (come, go) = counts(diff);
    let more = if diff.truncated { " and more" } else { "" };
    let by = all.by.get(&diff.path).into_iter().flatten();
    let by: Vec<String> = by.map(|author| allowed(author, now)).collect();
    let by = match by.is_empty() {
        true => String::new(),
        false => format!("  {}", by.join("; ")),
    };
    let path = paint.bold(&plain(&diff.path));
    format!("{path}  +{come} −{go}{more}{}", paint.dim(&plain(&by)))
}

/// The node and turn that changed a file, and who allowed it at what time, if that was asked about.
fn allowed(author: &Author, now: At) -> String {
    let node = author.node.as_ref().unwrap_or(&author.role);
    let turn = format!("{node}, turn {}", author.turn);
    let Some(allowed) = &author.allowed else {
        return turn;
    };
    let who = allowed.rule.as_deref().unwrap_or("you");
    let at: Result<At, _> = allowed.at.parse();
    let is_recent = at.is_ok_and(|at| now.ms() - at.ms() < DAY_MS);
    // Today the time says enough.
    let day = allowed.at.get(..10).filter(|_| !is_recent);
    let day = day.map(|day| format!("{day} ")).unwrap_or_default();
    let time = allowed.at.get(11..16).unwrap_or_default();
    format!("{turn}, {}", allowed_by(&format!("{who} {day}{time}")))
}

fn authors(by: &[Author]) -> String {
    let each = by.iter();
    let each = each.map(|author| format!("{}, turn {}", author.role, author.turn));
    each.collect::<Vec<_>>().join("; ")
}

pub(super) fn body(out: &mut Output, diff: &Diff) -> Result<(), Stop> {
    let path = plain(&diff.path).into_owned();
    let old = match &diff.old {
        Some(_) => format!("a/{path}"),
        None => "/dev/null".to_owned(),
    };
    out.line(&format!("--- {old}"))?;
    out.line(&format!("+++ b/{path}"))?;
    for hunk in &diff.hunks {
        out.line(&out.paint.dim(&place(hunk)))?;
        for line in &hunk.lines {
            let text = printed(&line.text);
            let line = match line.op {
                Op::Add => out.paint.green(&format!("+{text}")),
                Op::Remove => out.paint.red(&format!("-{text}")),
                Op::Keep => format!(" {text}"),
            };
            out.line(&line)?;
        }
    }
    if let Some(bytes) = diff.unkept_bytes {
        let size = size(bytes);
        let why = format!("… the earlier text of {size} is not kept; the limit is 1 MiB");
        out.line(&out.paint.dim(&why))?;
    } else if diff.truncated {
        out.line(&out.paint.dim("… not all of it is shown or known"))?;
    }
    out.line("")
}

/// The place of a hunk, as other tools read it.
fn place(hunk: &Hunk) -> String {
    let without = |op: Op| {
        let lines = hunk.lines.iter();
        lines.filter(|line| line.op != op).count()
    };
    let (old, new) = (without(Op::Add), without(Op::Remove));
    // An empty side begins before its first line.
    let start = |start: u64, lines: usize| {
        if lines == 0 {
            start.saturating_sub(1)
        } else {
            start
        }
    };
    format!(
        "@@ -{},{old} +{},{new} @@",
        start(hunk.old_start, old),
        start(hunk.new_start, new)
    )
}

pub(super) fn refused(fault: Fault) -> Stop {
    OperatorError::new(
        ("unreadable", ExitCode::Damaged),
        fault.what,
        fault.why,
        fault.r#try,
    )
    .into()
}

fn unknown<'a>(role: &RoleInstance, roles: impl Iterator<Item = &'a RoleInstance>) -> Stop {
    let mut roles: Vec<&str> = roles.map(RoleInstance::as_str).collect();
    roles.sort_unstable();
    roles.dedup();
    OperatorError::new(
        ("role-not-found", ExitCode::NotFound),
        format!("the flow has no role {role}"),
        format!("its roles are {}", roles.join(", ")),
        "name one of them".to_owned(),
    )
    .into()
}
