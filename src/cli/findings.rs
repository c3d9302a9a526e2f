//! `findings`: what roles found in retrospectives, and the changes that they propose.

use std::path::PathBuf;

use a_society_facts::id::{ProjectName, RoleInstance};
use a_society_orchestrator::findings::{self, Finding, FlowFindings, Proposal};
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};
use similar::TextDiff;

use super::asks::short;
use super::context::Context;
use super::flow_files::read_text;
use super::say::{To, project_folder, role, say};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop, from_name};
use crate::text::{count, one_line, plain};

/// How much of a finding is shown in a list; all of it is shown with --full.
const FINDING_COLUMNS_MAX: usize = 100;

/// The arguments of `findings`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Findings are what roles wrote when they looked back on a flow. A finding can become a change of a \
file below the project's a-docs: you propose the whole new text of the file, look at it as a \
diff, and apply or decline it. The flow records which finding a change came from. A file that has \
changed since the proposal is not overwritten.

Examples:
  a-society findings
  a-society findings my-project --full
  a-society findings propose a1b2 writer a-docs/style.md --with style-new.md
  a-society findings diff a1b2
  a-society findings apply a1b2
  a-society findings --json | jq -r '.flows[].findings[].role'"
)]
pub(crate) struct Arguments {
    /// Only the flows of this project
    #[arg(value_name = "PROJECT")]
    project: Option<String>,

    /// Print the findings in full
    #[arg(long)]
    full: bool,

    #[command(subcommand)]
    verb: Option<FindingsCommand>,
}

/// What can be done with a finding.
#[derive(Debug, clap::Subcommand)]
enum FindingsCommand {
    /// Propose a change of a file because of what a role found
    Propose(Propose),
    /// Show what a proposal would change
    Diff(Named),
    /// Apply a proposal
    Apply(Named),
    /// Decline a proposal
    Decline(Named),
}

#[derive(Debug, clap::Args)]
struct Propose {
    #[command(flatten)]
    to: To,

    /// Whose finding; the report's role is a-society-feedback
    #[arg(value_name = "ROLE", value_parser = role)]
    role: RoleInstance,

    /// The file, from the project's folder
    #[arg(value_name = "PATH")]
    path: String,

    /// The whole new text of the file; - reads it from standard input
    #[arg(long, value_name = "FILE")]
    with: PathBuf,
}

#[derive(Debug, clap::Args)]
struct Named {
    #[command(flatten)]
    to: To,

    /// The proposal; the only open one if absent
    #[arg(value_name = "CHANGE")]
    change: Option<String>,
}

/// Lists findings, or does something with one.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        None => list(context, arguments),
        Some(FindingsCommand::Propose(propose)) => {
            let command = a_society_facts::Verb::Propose {
                role: propose.role.clone(),
                path: propose.path.clone(),
                text: read_text(&propose.with)?,
            };
            say(context, &propose.to, command)
        }
        Some(FindingsCommand::Diff(named)) => diff(context, named),
        Some(FindingsCommand::Apply(named)) => decide(context, named, true),
        Some(FindingsCommand::Decline(named)) => decide(context, named, false),
    }
}

fn decide(context: &mut Context<'_>, named: &Named, applied: bool) -> Outcome {
    let command = a_society_facts::Verb::Change {
        change: named.change.clone(),
        applied,
    };
    say(context, &named.to, command)
}

fn list(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let project: Option<ProjectName> = match &arguments.project {
        Some(name) => {
            let name = name.trim_end_matches('/');
            Some(name.parse().map_err(|bad| from_name(&bad))?)
        }
        None => None,
    };
    let store = context.store()?;
    let census = store.census()?;
    let wanted = |flow: &&FlowRef| project.as_ref().is_none_or(|name| *name == flow.project);
    let mut flows = Vec::new();
    for flow in census.flows.iter().filter(wanted) {
        let found = findings::of(&store, flow)?;
        if !found.findings.is_empty() || !found.proposals.is_empty() {
            flows.push(found);
        }
    }
    if context.out.is_json() {
        let flows: Vec<Value> = flows.iter().map(|found| as_json(&store, found)).collect();
        context.out.value(&json!({ "flows": flows }))?;
        return Ok(ExitCode::Ok);
    }
    for found in &flows {
        print(context, &store, found, arguments.full)?;
    }
    if flows.is_empty() {
        let note = "no role has looked back yet; a flow asks for it when its work is done";
        context.out.note(note);
    }
    Ok(ExitCode::Ok)
}

fn print(
    context: &mut Context<'_>,
    store: &Store,
    found: &FlowFindings,
    full: bool,
) -> Result<(), Stop> {
    let out = &mut context.out;
    let name = format!("{}/{}", found.flow.project, short(&found.flow));
    let title = one_line(&found.title, FINDING_COLUMNS_MAX);
    let heading = out.paint.bold(&name);
    out.line(&format!("{heading}  {title}"))?;
    for finding in &found.findings {
        let role = finding.role.as_str();
        let what = if finding.is_report {
            "report"
        } else {
            "findings"
        };
        // Records of earlier versions leave the folder out.
        let within = finding
            .path
            .strip_prefix("record/")
            .unwrap_or(&finding.path);
        out.line(&format!("  {role}: {what} in record/{}", plain(within)))?;
        for line in lines(finding, full) {
            out.line(&format!("    {line}"))?;
        }
    }
    for proposal in &found.proposals {
        let state = stands(store, found, proposal);
        let (role, path) = (&proposal.change.role, plain(&proposal.change.path));
        let line = format!("  {}: {path}, because of {role}: {state}", proposal.name);
        out.line(&line)?;
    }
    Ok(())
}

/// A finding as lines that are fit for a terminal: its points, or all of it.
fn lines(finding: &Finding, full: bool) -> Vec<String> {
    let Some(text) = &finding.text else {
        return vec!["(no text)".to_owned()];
    };
    if full {
        return text.lines().map(|line| plain(line).into_owned()).collect();
    }
    let is_point = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    };
    let mut points = text.lines().filter(is_point);
    let mut shown: Vec<String> = Vec::new();
    if let Some(first) = points.next() {
        shown.push(one_line(first, FINDING_COLUMNS_MAX));
    }
    let more = points.count();
    if more > 0 {
        shown.push(format!("… {} more, with --full", count(more, "line")));
    }
    shown
}

/// The state of a proposal, in words.
fn stands(store: &Store, found: &FlowFindings, proposal: &Proposal) -> &'static str {
    let now = now(store, &found.flow, proposal);
    proposal.stands(now.as_deref()).words()
}

/// What the file of a proposal says now.
fn now(store: &Store, flow: &FlowRef, proposal: &Proposal) -> Option<String> {
    let project = project_folder(store, &flow.project);
    findings::file_now(store, &project, &proposal.change.path)
}

fn as_json(store: &Store, found: &FlowFindings) -> Value {
    let findings = found.findings.iter().map(|finding| {
        json!({
            "role": finding.role,
            "seq": finding.seq,
            "path": finding.path,
            "text": finding.text,
            "report": finding.is_report,
        })
    });
    let proposals = found.proposals.iter().map(|proposal| {
        json!({
            "change": proposal.name,
            "role": proposal.change.role,
            "finding": proposal.change.finding,
            "path": proposal.change.path,
            "at": proposal.change.at,
            "stands": stands(store, found, proposal),
            "applied": proposal.change.applied,
            "after": proposal.after,
        })
    });
    json!({
        "project": found.flow.project,
        "flow": found.flow.flow,
        "title": found.title,
        "findings": findings.collect::<Vec<_>>(),
        "proposals": proposals.collect::<Vec<_>>(),
    })
}

fn diff(context: &mut Context<'_>, named: &Named) -> Outcome {
    let (store, flow) = context.flow(named.to.flow())?;
    let found = findings::of(&store, &flow)?;
    let is_meant = |proposal: &&Proposal| match &named.change {
        Some(name) => proposal.name == *name,
        None => proposal.change.applied.is_none(),
    };
    let meant: Vec<&Proposal> = found.proposals.iter().filter(is_meant).collect();
    if meant.is_empty() {
        return Err(OperatorError::new(
            ("proposal-not-found", ExitCode::NotFound),
            "there is no such proposal",
            "no open proposal of this flow has that name",
            "a-society findings",
        )
        .into());
    }
    let mut shown = Vec::new();
    for proposal in meant {
        let before = now(&store, &flow, proposal).unwrap_or_default();
        let (path, stands) = (&proposal.change.path, stands(&store, &found, proposal));
        let text = match &proposal.after {
            Some(after) => unified(path, &before, after),
            None => String::new(),
        };
        if context.out.is_json() {
            shown.push(json!({
                "change": proposal.name,
                "path": path,
                "stands": stands,
                "diff": text,
            }));
            continue;
        }
        let line = format!("{} ({stands})", proposal.name);
        context.out.line(&line)?;
        for line in text.lines() {
            let line = plain(line);
            let paint = context.out.paint;
            let painted = match line.chars().next() {
                Some('+') => paint.green(&line),
                Some('-') => paint.red(&line),
                Some(_) | None => line.into_owned(),
            };
            context.out.line(&painted)?;
        }
    }
    if context.out.is_json() {
        context.out.value(&json!({ "proposals": shown }))?;
    }
    Ok(ExitCode::Ok)
}

/// The change as a diff that tools read, too.
fn unified(path: &str, before: &str, after: &str) -> String {
    let (from, to) = (format!("a/{path}"), format!("b/{path}"));
    TextDiff::from_lines(before, after)
        .unified_diff()
        .header(&from, &to)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_as_the_lines_that_go_and_come() {
        let shown = unified("style.md", "One.\nTwo.\n", "One.\nThree.\n");
        let wanted = "--- a/style.md\n+++ b/style.md\n@@ -1,2 +1,2 @@\n One.\n-Two.\n+Three.\n";
        assert_eq!(shown, wanted);
    }
}
