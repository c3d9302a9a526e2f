//! `skills`: which skills roles may look up, and taking over others.

use std::path::{Path, PathBuf};

use a_society_orchestrator::config::skill::{found, import};
use a_society_orchestrator::config::user;
use a_society_orchestrator::project::bench::skill_folders;
use serde_json::json;

use super::context::Context;
use super::models::unusable;
use super::table::{self, Cell};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome};
use crate::output_file::whole_path;
use crate::text::plain;

/// The arguments of `skills`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A skill is a folder with a SKILL.md, whose head says its name and when it is used. Roles that models
take are told these and read the rest when they need it. Skills lie in the folder skills beside your
configuration, and in a-docs/skills of a project; of two with one name yours counts.

A skill that is imported is looked at first: no links, no hidden files, bounded in number, size and
depth, and a head that hides nothing. It is there as a whole or not at all. Read what it says before
you let a role follow it.

Examples:
  a-society skills ls
  a-society skills ls my-project
  a-society skills import ~/downloads/review")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the skills, and the folders that are none
    Ls {
        /// A project's folder, whose skills are listed too
        #[arg(value_name = "PROJECT")]
        project: Option<PathBuf>,
    },
    /// Take a skill over from a folder, with a check
    Import {
        /// The folder that holds its SKILL.md
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// Looks after the skills.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        Verb::Ls { project } => list(context, project.as_deref()),
        Verb::Import { folder } => take_over(context, folder),
    }
}

fn list(context: &mut Context<'_>, project: Option<&Path>) -> Outcome {
    let own = user::skills().map_err(unusable)?;
    let folders = match project {
        Some(project) => skill_folders(&whole_path(project)?),
        None => vec![own.clone()],
    };
    let found: Vec<_> = folders.iter().map(|folder| found(folder)).collect();
    let skills = || found.iter().flat_map(|found| &found.skills);
    let faults = || found.iter().flat_map(|found| &found.faults);
    if context.out.is_json() {
        let skills: Vec<_> = skills()
            .map(|it| json!({ "name": it.name, "description": it.description, "path": it.path }))
            .collect();
        let faults: Vec<_> = faults()
            .map(|(path, why)| json!({ "path": path, "why": why.0 }))
            .collect();
        context
            .out
            .value(&json!({ "folder": own, "skills": skills, "faults": faults }))?;
        return Ok(ExitCode::Ok);
    }
    let head = ["SKILL", "PATH", "WHEN IT IS USED"];
    let mut rows: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    for skill in skills() {
        let told = [&skill.name, &skill.path, &skill.description];
        rows.push(told.map(|text| plain(text).into_owned().into()).into());
    }
    if rows.len() > 1 {
        for line in table::lines(&rows) {
            context.out.line(&line)?;
        }
    } else {
        let own = own.display().to_string();
        context
            .out
            .line(&format!("there is no skill in {}", plain(&own)))?;
        context
            .out
            .note("take one over: a-society skills import FOLDER");
    }
    for (path, why) in faults() {
        let line = format!("{} is no skill: {why}", path.display());
        context.out.note(&plain(&line));
    }
    Ok(ExitCode::Ok)
}

fn take_over(context: &mut Context<'_>, folder: &Path) -> Outcome {
    let own = user::skills().map_err(unusable)?;
    let from = whole_path(folder)?;
    let heading = import(&from, &own).map_err(|faults| {
        OperatorError::new(
            ("skill-unfit", ExitCode::Failed),
            format!("{} was not taken over", from.display()),
            faults.to_string(),
            "mend the folder, or a copy of it, and import that",
        )
    })?;
    let path = own.join(&heading.name);
    if context.out.is_json() {
        let done = json!({
            "name": heading.name,
            "description": heading.description,
            "folder": path,
        });
        context.out.value(&done)?;
        return Ok(ExitCode::Ok);
    }
    let line = format!("{} is in {}", heading.name, path.display());
    context.out.line(&plain(&line))?;
    context
        .out
        .note(&plain(&format!("used: {}", heading.description)));
    Ok(ExitCode::Ok)
}
