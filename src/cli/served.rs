//! What the page's server asks of the workspace: to start flows, to go on with them, and what there
//! is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use a_society_facts::fact::flow::Ends;
use a_society_facts::id::{ProjectName, Seq};
use a_society_operator_ui::fold::reach;
use a_society_operator_ui::protocol::ask::ModelChoice;
use a_society_operator_ui::protocol::down::Fault;
use a_society_operator_ui::protocol::http::{NewFlow as Wanted, NewFrom, ProjectRow, SentRequest};
use a_society_operator_ui::protocol::made::{MadeProject, NewProject};
use a_society_operator_ui::protocol::settings::{Setting, SettingDone, SkillSetting, Trial, Tried};
use a_society_operator_ui::server::{Actions, Begun, configuring};
use a_society_orchestrator::config::export_filter::Withheld;
use a_society_orchestrator::config::user;
use a_society_orchestrator::project::docs::folder::{roles as project_roles, workflow_of};
use a_society_orchestrator::project::flow_file::FlowFile;
use a_society_orchestrator::run::{self, Amendment, NewChat, NewFlow, RunError};
use a_society_orchestrator::sent_request;
use a_society_orchestrator::workspace::belonging::project_of_all;
use a_society_orchestrator::workspace::chat_context::chat_context;
use a_society_orchestrator::workspace::flow_files::{flow_files, script_beside};
use a_society_orchestrator::workspace::material::{
    Unfit, chat_in, draft_in, file_of_workspace, sound_project,
};
use a_society_orchestrator::workspace::projects::project_folders;
use a_society_orchestrator::workspace::settings;
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::flow_files::read_text;
use super::notify::Notifier;
use super::say::project_folder;
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

    /// What a new flow is made of, and the file whose folder holds its script.
    fn read(&self, new: &Wanted) -> Result<(ProjectName, FlowFile, Option<PathBuf>), Fault> {
        let disk = self.store.ground().disk.as_ref();
        match &new.from {
            NewFrom::File(path) => {
                let found = file_of_workspace(&self.store, Path::new(path)).map_err(unfit)?;
                Ok((found.0, found.1, Some(found.2)))
            }
            NewFrom::Project(name) => {
                let (name, folder) = self.project(name)?;
                let project = sound_project(disk, &folder, &mut |_| {}).map_err(unfit)?;
                Ok((name, project.canonical, Some(workflow_of(&folder))))
            }
            NewFrom::Draft(name) => {
                let (name, _) = self.project(name)?;
                let file = draft_in(&self.store, &name, &mut |_| {}).map_err(unfit)?;
                Ok((name, file, None))
            }
            NewFrom::Chat(with) => {
                let name = match &with.project {
                    Some(name) => self.project(name)?.0,
                    None => project_of_all(&self.store).map_err(|error| unfit(error.into()))?,
                };
                let role = with.role.as_deref();
                let file = chat_in(&self.store, &name, role, &mut |_| {}).map_err(unfit)?;
                Ok((name, file, None))
            }
        }
    }

    fn project(&self, name: &str) -> Result<(ProjectName, PathBuf), Fault> {
        let name: ProjectName = name.parse().map_err(|bad: a_society_facts::id::BadName| {
            unread("there is no such project".to_owned(), &bad.to_string())
        })?;
        let folder = project_folder(&self.store, &name);
        Ok((name, folder))
    }
}

impl Actions for Workspace {
    fn start(&self, new: &Wanted) -> Result<Begun, Fault> {
        let (project, file, beside) = self.read(new)?;
        let disk = self.store.ground().disk.as_ref();
        let script = beside.and_then(|path| script_beside(disk, &path));
        let script = script
            .map(|path| read_text(&path))
            .transpose()
            .map_err(from_stop)?;
        let ends = Ends {
            improve: new.improve,
            feedback: new.feedback,
        };
        let folder = project_folder(&self.store, &project);
        let chat = matches!(new.from, NewFrom::Chat(_)).then(|| NewChat {
            label: new.title.clone().filter(|title| !title.trim().is_empty()),
            context: chat_context(&self.store, &folder, &folder, None, BTreeMap::new()),
            max_turns: None,
        });
        let made = NewFlow {
            ends,
            project: project.clone(),
            project_folder: folder,
            title: new.title.clone().filter(|title| !title.trim().is_empty()),
            input: new.input.clone().filter(|input| !input.trim().is_empty()),
            file,
            script,
            tokens: None,
            mode: new.mode,
            rules: configuring::rules_of(new)?,
            chat,
            client: None,
        };
        let now = self.store.ground().clock.now();
        let driven = run::start(&self.store, made, now, None).map_err(|error| from_run(&error))?;
        let flow = FlowRef {
            project,
            flow: driven.handle.id().clone(),
        };
        // It tells for as long as the flow is driven.
        Notifier::leave(&flow, &driven.handle, &self.store);
        Ok(Begun { flow, driven })
    }

    fn resume(&self, flow: &FlowRef) -> Result<Begun, Fault> {
        let project = project_folder(&self.store, &flow.project);
        let resumed = run::resume(&self.store, flow, project, None, Amendment::default());
        let (driven, _) = resumed.map_err(|error| from_run(&error))?;
        Notifier::leave(flow, &driven.handle, &self.store);
        Ok(Begun {
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

fn unfit(why: Unfit) -> Fault {
    let what = match &why {
        Unfit::Project { folder, .. } => format!("{} is not a sound project", folder.display()),
        Unfit::Outside(path) => format!("{} is not a file of the workspace", path.display()),
        Unfit::Stranger { file, .. } | Unfit::Overlay { file, .. } => {
            format!("{} does not fit its project", file.display())
        }
        Unfit::NoSuchRole { .. } | Unfit::NotAModel(_) => why.to_string(),
        Unfit::File(error) => error.to_string(),
        Unfit::State(error) => error.to_string(),
    };
    let first = why.first_error().map(ToString::to_string);
    unread(what, &first.unwrap_or_else(|| why.to_string()))
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

fn from_run(error: &RunError) -> Fault {
    let code = match error {
        RunError::State(a_society_state::Error::Busy { .. }) => "flow-busy",
        RunError::File(_) => "flow-file-unfit",
        RunError::State(_) | RunError::Driver(_) | RunError::Record(_) | RunError::NeverBegan => {
            "flow-stopped"
        }
    };
    Fault {
        code: code.to_owned(),
        what: "the flow cannot be driven".to_owned(),
        why: error.to_string(),
        r#try: "a-society verify FLOW".to_owned(),
    }
}
