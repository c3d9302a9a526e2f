//! What the page's server asks of the workspace: to start flows, to go on with them, and what there
//! is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use a_society_facts::fact::flow::Ends;
use a_society_facts::id::{BadName, ProjectName, Seq};
use a_society_operator_ui::fold::reach;
use a_society_operator_ui::protocol::ask::ModelChoice;
use a_society_operator_ui::protocol::down::Fault;
use a_society_operator_ui::protocol::http::{NewFlow as Wanted, NewFrom, ProjectRow, SentRequest};
use a_society_operator_ui::protocol::made::{MadeProject, NewProject};
use a_society_operator_ui::protocol::settings::{Setting, SettingDone, SkillSetting, Trial, Tried};
use a_society_operator_ui::server::{Actions, configuring};
use a_society_orchestrator::config::export_filter::Withheld;
use a_society_orchestrator::config::user;
use a_society_orchestrator::project::docs::folder::roles as project_roles;
use a_society_orchestrator::run::{self, Amendment};
use a_society_orchestrator::sent_request;
use a_society_orchestrator::workspace::begin::{
    BegunFlow, FlowChoices, FlowOrigin, NotBegun, begin,
};
use a_society_orchestrator::workspace::belonging::project_of_all;
use a_society_orchestrator::workspace::flow_files::flow_files;
use a_society_orchestrator::workspace::projects::project_folders;
use a_society_orchestrator::workspace::settings;
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::begin::not_begun;
use super::notify::Notifier;
use super::say::{from_run, project_folder};
use crate::new_project::{self, EXAMPLE_FILES, INITIALIZATION};
use crate::operator_error::Stop;
use crate::workspace;

/// How much of a request a page is sent. A window of a million tokens is about so long.
const REQUEST_BYTES_MAX: usize = 4 << 20;

/// The workspace of a server.
#[derive(Debug)]
pub(crate) struct Workspace {
    store: Store,
    /// Found when the first file leaves: the keys may have to be asked for.
    withheld: OnceLock<Withheld>,
}

impl Workspace {
    /// Around these flows.
    pub(crate) const fn new(store: Store) -> Self {
        Self {
            store,
            withheld: OnceLock::new(),
        }
    }

    fn root(&self) -> &Path {
        workspace::folder_of(&self.store)
    }

    /// What the page wants a new flow to begin from.
    fn origin(&self, new: &Wanted) -> Result<FlowOrigin, Fault> {
        Ok(match &new.from {
            NewFrom::File(path) => FlowOrigin::File(PathBuf::from(path)),
            NewFrom::Project(name) => FlowOrigin::Project(project_named(name)?),
            NewFrom::Draft(name) => FlowOrigin::Draft(project_named(name)?),
            NewFrom::Chat(with) => FlowOrigin::Chat {
                project: match &with.project {
                    Some(name) => project_named(name)?,
                    None => project_of_all(&self.store)
                        .map_err(|error| from_stop(not_begun(NotBegun::Unfit(error.into()))))?,
                },
                role: with.role.clone(),
                label: new.title.clone(),
                context: None,
            },
        })
    }
}

impl Actions for Workspace {
    fn start(&self, new: &Wanted) -> Result<BegunFlow, Fault> {
        let choices = FlowChoices {
            title: new.title.clone(),
            input: new.input.clone(),
            ends: Ends {
                improve: new.improve,
                feedback: new.feedback,
            },
            mode: new.mode,
            rules: configuring::rules_of(new)?,
            ..FlowChoices::default()
        };
        // The page has no place for what is remarkable about a flow that begins.
        let begun = begin(&self.store, self.origin(new)?, choices, &mut |_| {})
            .map_err(|error| from_stop(not_begun(error)))?;
        // It tells for as long as the flow is driven.
        Notifier::leave(&begun.flow, &begun.driven.handle, &self.store);
        Ok(begun)
    }

    fn resume(&self, flow: &FlowRef) -> Result<BegunFlow, Fault> {
        let project = project_folder(&self.store, &flow.project);
        let resumed = run::resume(&self.store, flow, project, None, Amendment::default());
        let (driven, _) = resumed.map_err(|error| from_stop(from_run(error)))?;
        Notifier::leave(flow, &driven.handle, &self.store);
        Ok(BegunFlow {
            flow: flow.clone(),
            driven,
        })
    }

    fn project_folder(&self, flow: &FlowRef) -> PathBuf {
        project_folder(&self.store, &flow.project)
    }

    fn request(&self, flow: &FlowRef, seq: Seq) -> Result<SentRequest, Fault> {
        let project = project_folder(&self.store, &flow.project);
        let found =
            sent_request::request(&self.store, flow, &project, seq).map_err(|error| Fault {
                code: "not-found".to_owned(),
                what: "this request cannot be shown".to_owned(),
                why: error.to_string(),
                r#try: "a-society session export FLOW ROLE".to_owned(),
            })?;
        let body = String::from_utf8_lossy(&found.body);
        Ok(SentRequest {
            seq,
            model: found.asked.model,
            hash: found.asked.hash.to_string(),
            total_bytes: found.body.len() as u64,
            body: body
                .get(..body.floor_char_boundary(REQUEST_BYTES_MAX))
                .unwrap_or_default()
                .to_owned(),
            differs: found.differs,
        })
    }

    fn projects(&self) -> Vec<ProjectRow> {
        let folders = project_folders(&self.store).into_iter();
        let rows = folders.map(|project| ProjectRow {
            name: project.name.to_string(),
            improve: project.ends.improve,
            feedback: project.ends.feedback,
            ready: project.is_ready,
            bare: !project.is_project,
            flows: project.flows,
        });
        rows.collect()
    }

    fn make_project(&self, new: &NewProject) -> Result<MadeProject, Fault> {
        let (name, folder) =
            new_project::folder_named(self.root(), &new.name).map_err(from_stop)?;
        let made = if new.example {
            new_project::make_example(&folder)
        } else {
            new_project::make(&folder)
        };
        let made = made.map_err(|stop| Fault {
            r#try: "take another name".to_owned(),
            ..from_stop(stop)
        })?;
        let below = |path: &str| format!("{name}/{path}");
        let [flow, _] = EXAMPLE_FILES;
        Ok(MadeProject {
            files: made.files.iter().map(|path| below(path)).collect(),
            takeover: made.is_takeover,
            from: if new.example {
                NewFrom::File(below(flow))
            } else {
                NewFrom::Project(name.to_string())
            },
            fills: (!new.example).then(|| below(INITIALIZATION)),
        })
    }

    fn redact(&self, text: &str) -> String {
        self.withheld
            .get_or_init(Withheld::of_operator)
            .redact(text)
    }

    fn settings(&self, page: &str) -> Option<Value> {
        match page {
            "models" => Some(settings::models(&self.store)),
            "catalogue" => Some(settings::catalogue()),
            "permissions" => Some(settings::permissions(self.root())),
            "mcp" => Some(settings::servers(&self.store)),
            "skills" => Some(configuring::skills(&self.store)),
            "roles" => Some(roles(&self.store)),
            "flow-files" => {
                let disk = self.store.ground().disk.as_ref();
                Some(json!({ "files": flow_files(disk, self.root()) }))
            }
            _ => None,
        }
    }

    fn skill(&self, name: &str, project: Option<&str>) -> Result<Value, Fault> {
        configuring::skill(&self.store, name, project)
    }

    fn change_skill(&self, setting: &SkillSetting) -> Result<SettingDone, Fault> {
        configuring::change_skill(setting)
    }

    fn models(&self) -> Vec<ModelChoice> {
        configuring::choices()
    }

    fn configure(&self, setting: &Setting) -> Result<SettingDone, Fault> {
        configuring::configure(setting)
    }

    fn try_out(&self, trial: &Trial) -> Result<Tried, Fault> {
        configuring::trial(trial, self.root())
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

fn project_named(name: &str) -> Result<ProjectName, Fault> {
    name.parse()
        .map_err(|bad: BadName| unread("there is no such project".to_owned(), &bad.to_string()))
}

fn unread(what: String, why: &str) -> Fault {
    Fault {
        code: "flow-file-unfit".to_owned(),
        what,
        why: why.to_owned(),
        r#try: "a-society check".to_owned(),
    }
}

fn from_stop(stop: Stop) -> Fault {
    match stop {
        Stop::Error(error) => Fault {
            code: error.code.to_owned(),
            what: error.what.clone(),
            why: error.why.clone(),
            r#try: error.hint.clone(),
        },
        Stop::OutputClosed => unread("it could not be read".to_owned(), ""),
    }
}
