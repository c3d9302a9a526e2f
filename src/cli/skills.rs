//! `skills`: what roles may look up: listed, shown, written, taken over and taken out.

use std::path::{Path, PathBuf};

use a_society_orchestrator::config::editing::skills::{look, put, remove};
use a_society_orchestrator::config::skill::{NewSkill, import};
use a_society_orchestrator::config::user;
use a_society_orchestrator::workspace::skills::{Skills, skill_json};
use serde_json::json;

use super::context::Context;
use super::flow_files::read_text;
use super::models::{refused, unusable};
use super::table::{self, Cell};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::output_file::whole_path;
use crate::text::{count, plain};

/// The arguments of `skills`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A skill is a folder with a SKILL.md, whose head says its name and when to use it. Roles that \
models take read these two, and the rest when they need it. Skills are in the folder skills \
beside your configuration, and in a-docs/skills of a project; of two with one name yours counts. \
Those of a project are listed and shown here, and changed in its files.

A skill is checked before it is imported: no links, no hidden files, limits on number, size and \
depth, and a head that hides nothing. It is imported whole or not at all. Read it before you let \
a role follow it.

Examples:
  a-society skills ls
  a-society skills add tables --description 'Before you lay out a table.' --text tables.md
  a-society skills show tables
  a-society skills edit tables --text tables.md
  a-society skills rm tables --dry-run
  a-society skills import ~/downloads/review")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: SkillsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SkillsCommand {
    /// List the skills, the roles that name them, and folders that are not valid
    Ls {
        /// A project's folder: only its skills and your own are listed
        #[arg(value_name = "PROJECT")]
        project: Option<PathBuf>,
    },
    /// Show a skill, and what roles read of it
    Show {
        /// The skill
        #[arg(value_name = "SKILL")]
        name: String,
        /// The folder of the project whose skill it is; one of your own if absent
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Write a skill of your own
    Add {
        /// Its name: lower-case letters, digits and dashes
        #[arg(value_name = "SKILL")]
        name: String,
        /// When a role uses it; part of a role's prompt
        #[arg(long, value_name = "TEXT")]
        description: String,
        /// The file with what it says, or - for standard input
        #[arg(long, value_name = "FILE")]
        text: PathBuf,
    },
    /// Change a skill of your own
    Edit {
        /// The skill
        #[arg(value_name = "SKILL")]
        name: String,
        /// When a role uses it
        #[arg(long, value_name = "TEXT", required_unless_present = "text")]
        description: Option<String>,
        /// The file with what it says, or - for standard input
        #[arg(long, value_name = "FILE")]
        text: Option<PathBuf>,
    },
    /// Remove a skill of your own, with all its files
    Rm {
        /// The skill
        #[arg(value_name = "SKILL")]
        name: String,
        /// Print what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Check a folder, and import it as a skill
    Import {
        /// The folder that holds its SKILL.md
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// Looks after the skills.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    match &arguments.verb {
        SkillsCommand::Ls { project } => list(context, project.as_deref()),
        SkillsCommand::Show { name, project } => show(context, name, project.as_deref()),
        SkillsCommand::Add {
            name,
            description,
            text,
        } => {
            let new = NewSkill {
                name: name.clone(),
                description: description.clone(),
                text: read_text(text)?,
            };
            write(context, &new, None)
        }
        SkillsCommand::Edit {
            name,
            description,
            text,
        } => edit(context, name, description.as_deref(), text.as_deref()),
        SkillsCommand::Rm { name, dry_run } => rm(context, name, *dry_run),
        SkillsCommand::Import { folder } => take_over(context, folder),
    }
}

fn skills(context: &mut Context<'_>) -> Result<Skills, Stop> {
    let store = context.store().ok();
    Skills::read(store.as_ref()).map_err(refused)
}

fn list(context: &mut Context<'_>, project: Option<&Path>) -> Outcome {
    let own = user::skills().map_err(unusable)?;
    let mut skills = skills(context)?;
    if let Some(project) = project {
        let folder = whole_path(project)?;
        let name = folder.file_name().map(|name| name.to_string_lossy());
        let is_of = |it: &Option<String>| it.is_none() || it.as_deref() == name.as_deref();
        skills.list.rows.retain(|row| is_of(&row.project));
        skills.list.broken.retain(|broken| is_of(&broken.project));
    }
    if context.out.is_json() {
        let mut told = skills.as_json();
        told["folder"] = json!(own);
        context.out.value(&told)?;
        return Ok(ExitCode::Ok);
    }
    let head = ["SKILL", "FROM", "NAMED BY", "WHEN IT IS USED"];
    let mut rows: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    for row in &skills.list.rows {
        let from = match (&row.project, row.is_hidden) {
            (None, _) => "you".to_owned(),
            (Some(project), false) => project.clone(),
            (Some(project), true) => format!("{project}; yours counts"),
        };
        let told = [
            row.skill.name.clone(),
            from,
            skills.named_by(row).join(", "),
            row.skill.description.clone(),
        ];
        rows.push(told.map(|text| plain(&text).into_owned().into()).into());
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
        context.out.note(
            "write one: a-society skills add; or take one over: a-society skills import FOLDER",
        );
    }
    for broken in &skills.list.broken {
        let line = format!("{} is no skill: {}", broken.path.display(), broken.why);
        context.out.note(&plain(&line));
    }
    for (name, by) in &skills.list.missing {
        let by: Vec<String> = (by.iter())
            .map(|by| format!("{} of {}", by.role, by.project))
            .collect();
        let line = format!(
            "{name} is missing: {} name it, and work without",
            by.join(", ")
        );
        context.out.note(&plain(&line));
    }
    Ok(ExitCode::Ok)
}

fn show(context: &mut Context<'_>, name: &str, project: Option<&Path>) -> Outcome {
    let folder = project.map(whole_path).transpose()?;
    let shown = look(name, folder.as_deref()).map_err(refused)?;
    let own = folder.as_deref().and_then(Path::file_name);
    let own = own.map(|name| name.to_string_lossy().into_owned());
    let skills = skills(context)?;
    let row = skills.named(name, own.as_deref());
    let by = row.map(|row| skills.named_by(row)).unwrap_or_default();
    if context.out.is_json() {
        context.out.value(&skill_json(&shown, &by))?;
        return Ok(ExitCode::Ok);
    }
    context
        .out
        .line(&plain(&shown.sight.path.display().to_string()))?;
    for fault in &shown.sight.faults {
        context.out.line(&plain(&format!("fault: {fault}")))?;
    }
    if let Some(told) = &shown.told {
        context.out.line("a role that may use it reads:")?;
        context.out.line(&format!("    {}", plain(told)))?;
    }
    if !by.is_empty() {
        let line = format!("named by {}", by.join(", "));
        context.out.line(&plain(&line))?;
    }
    for (path, bytes) in &shown.sight.files {
        let line = format!("    {} ({bytes} bytes)", path.display());
        context.out.line(&plain(&line))?;
    }
    context.out.line("")?;
    for line in shown.sight.text.lines() {
        context.out.line(&plain(line))?;
    }
    Ok(ExitCode::Ok)
}

fn edit(
    context: &mut Context<'_>,
    name: &str,
    description: Option<&str>,
    text: Option<&Path>,
) -> Outcome {
    let was = look(name, None).map_err(refused)?.sight;
    let new = NewSkill {
        name: name.to_owned(),
        description: description.map_or(was.description, str::to_owned),
        text: text.map(read_text).transpose()?.unwrap_or(was.text),
    };
    write(context, &new, Some(&was.version.to_string()))
}

fn write(context: &mut Context<'_>, new: &NewSkill, over: Option<&str>) -> Outcome {
    let told = put(new, over, true).map_err(refused)?;
    let path = user::skills().map_err(unusable)?.join(&new.name);
    if context.out.is_json() {
        let done = json!({ "name": new.name, "folder": path, "told": told });
        context.out.value(&done)?;
        return Ok(ExitCode::Ok);
    }
    let is = if over.is_some() { "changed" } else { "added" };
    let line = format!("{} is {is} in {}", new.name, path.display());
    context.out.line(&plain(&line))?;
    context.out.line("a role that may use it reads:")?;
    context.out.line(&format!("    {}", plain(&told)))?;
    let note = format!(
        "roles that name skills read of it when they name it: skills: [{}]",
        new.name
    );
    context.out.note(&note);
    Ok(ExitCode::Ok)
}

fn rm(context: &mut Context<'_>, name: &str, is_dry: bool) -> Outcome {
    let skills = skills(context)?;
    let row = skills.named(name, None);
    let by = row.map(|row| skills.named_by(row)).unwrap_or_default();
    let mut sight = look(name, None).map_err(refused)?.sight;
    if !is_dry {
        sight = remove(name, &sight.version.to_string()).map_err(refused)?;
    }
    let folder = sight.path.parent().unwrap_or(&sight.path);
    if context.out.is_json() {
        let files: Vec<_> = sight.files.iter().map(|(path, _)| path).collect();
        context.out.value(&json!({
            "dry_run": is_dry, "name": name, "folder": folder, "files": files, "named_by": by,
        }))?;
        return Ok(ExitCode::Ok);
    }
    let is = if is_dry {
        "would be removed"
    } else {
        "is removed"
    };
    let files = count(sight.files.len(), "file");
    let line = format!("{} {is}, with {files}", folder.display());
    context.out.line(&plain(&line))?;
    for (path, bytes) in &sight.files {
        let line = format!("    {} ({bytes} bytes)", path.display());
        context.out.line(&plain(&line))?;
    }
    if !by.is_empty() {
        let line = format!("{} name it, and work without", by.join(", "));
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
