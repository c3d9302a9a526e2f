//! What is configured, as far as a page shows and changes it.

use std::collections::BTreeMap;

use a_society_orchestrator::config::user;
use a_society_orchestrator::project::docs::folder::roles as project_roles;
use a_society_orchestrator::project::place::workspace_of;
use a_society_orchestrator::workspace::flow_files::flow_files;
use a_society_orchestrator::workspace::projects::project_folders;
use a_society_orchestrator::workspace::settings;
use a_society_state::Store;
use serde_json::{Value, json};

use super::app::App;
use super::configuring;
use crate::fold::reach;
use crate::protocol::Fault;
use crate::protocol::http::{Models, ProjectRow, Projects};
use crate::protocol::settings::{Setting, SettingDone};

pub(super) fn projects(app: &App) -> Projects {
    let folders = project_folders(&app.hubs.store).into_iter();
    let rows = folders.map(|project| ProjectRow {
        name: project.name.to_string(),
        improve: project.ends.improve,
        feedback: project.ends.feedback,
        ready: project.is_ready,
        bare: !project.is_project,
        flows: project.flows,
    });
    Projects {
        projects: rows.collect(),
    }
}

/// The models there are now: the file may have changed since it was read, from the terminal, too.
pub(super) fn models(app: &App) -> Models {
    let models = configuring::choices();
    app.hubs.configured(models.clone());
    Models { models }
}

/// Changes the configuration. Flows and their questions take it up with their next turns.
pub(super) fn configure(app: &App, setting: &Setting) -> Result<SettingDone, Fault> {
    let done = configuring::configure(setting)?;
    app.hubs.configured(configuring::choices());
    Ok(done)
}

/// What is configured, for one page of the settings; nothing if there is no such page.
pub(super) fn page(store: &Store, page: &str) -> Option<Value> {
    let root = workspace_of(store);
    match page {
        "models" => Some(settings::models(store)),
        "catalogue" => Some(settings::catalogue()),
        "permissions" => Some(settings::permissions(root)),
        "mcp" => Some(settings::servers(store)),
        "skills" => Some(configuring::skills(store)),
        "roles" => Some(roles(store)),
        "flow-files" => {
            let files = flow_files(store.ground().disk.as_ref(), root);
            Some(json!({ "files": files }))
        }
        _ => None,
    }
}

/// The roles of the projects, as their files have them.
fn roles(store: &Store) -> Value {
    let disk = store.ground().disk.as_ref();
    let most = user::reach().ok();
    let projects = project_folders(store).into_iter();
    let each = projects.filter(|project| project.is_ready).map(|project| {
        let roles = project_roles(disk, &project.folder)
            .into_iter()
            .map(|(name, role)| {
                let reach = reach::words(most.as_ref(), Some(&role), &BTreeMap::new());
                json!({
                    "name": name,
                    "instructions": role.instructions.as_deref().and_then(first_words),
                    "executor": role.executor().as_str(),
                    "model": role.model,
                    "skills": role.skills.unwrap_or_default(),
                    "mcp_servers": role.mcp_servers.unwrap_or_default(),
                    "readings": role.required_readings.unwrap_or_default(),
                    "reach": reach,
                })
            });
        json!({ "project": project.name, "roles": roles.collect::<Vec<Value>>() })
    });
    json!({ "projects": each.collect::<Vec<Value>>() })
}

/// The first line of instructions that is no heading.
fn first_words(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with('#'))
}
