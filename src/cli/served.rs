//! What the page's server asks of the workspace: to start flows, to go on with them, and what there
//! is.

mod settings;

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
use a_society_operator_ui::server::{Actions, Begun, Chosen};
use a_society_orchestrator::config::servers::{Roster, lists_in};
use a_society_orchestrator::config::user;
use a_society_orchestrator::config::withheld::Withheld;
use a_society_orchestrator::project::docs::folder::{
    defaults, is_project, over_canonical, roles as project_roles, workflow_of,
};
use a_society_orchestrator::project::draft;
use a_society_orchestrator::project::flow_file::{self, FlowFile};
use a_society_orchestrator::project::place::servers_named;
use a_society_orchestrator::run::{self, NewFlow, RunError};
use a_society_orchestrator::sent;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::read_whole;
use a_society_state::{FlowRef, Store};
use serde_json::{Value, json};

use super::flow_files::{inspect_project, read_text, script_path};
use super::notify::Notifier;
use super::run::project_around;
use super::say::project_folder;
use super::serve::lies_within;
use crate::new_project::{self, EXAMPLE_FILES, INITIALIZATION};
use crate::operator_error::Stop;
use crate::workspace;

/// How many entries of folders are looked at for flow files; a workspace may be the folder of all.
const ENTRIES_LOOKED_AT_MAX: usize = 2_000;

/// How deep they are looked for.
const FLOW_FILES_DEPTH_MAX: usize = 2;

/// How much of a request a page is sent. A window of a million tokens is about so long.
const REQUEST_BYTES_MAX: usize = 4 << 20;

/// Flow files are written by hand; what is larger is something else.
pub(super) const FLOW_FILE_BYTES_MAX: u64 = 256 * 1024;

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

    /// What a new flow is made of, and the file beside which its script lies.
    fn read(&self, new: &Wanted) -> Result<(ProjectName, FlowFile, Option<PathBuf>), Fault> {
        match &new.from {
            NewFrom::File(path) => self.of_file(Path::new(path)),
            NewFrom::Project(name) => {
                let (name, folder) = self.project(name)?;
                let project = self.sound(&folder)?;
                Ok((name, project.canonical, Some(workflow_of(&folder))))
            }
            NewFrom::Draft(name) => {
                let (name, folder) = self.project(name)?;
                let disk = self.store.ground().disk.as_ref();
                let file = if is_project(disk, &folder) {
                    draft::of_project(&self.sound(&folder)?)
                } else {
                    draft::alone()
                };
                Ok((name, file.map_err(|error| from_run(&error.into()))?, None))
            }
        }
    }

    fn of_file(&self, path: &Path) -> Result<(ProjectName, FlowFile, Option<PathBuf>), Fault> {
        if !lies_within(self.root(), path) {
            let why = "only files of the workspace are run, by their path in it";
            return Err(unfit(
                format!("{} is not a file of the workspace", path.display()),
                why,
            ));
        }
        let whole = self.root().join(path);
        let text = read_text(&whole).map_err(from_stop)?;
        let (file, diagnostics) = flow_file::inspect(path, text);
        let file = file.ok_or_else(|| {
            let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            let why = first.map(ToString::to_string).unwrap_or_default();
            unfit(format!("{} is not a flow file", path.display()), &why)
        })?;
        let beside = whole.parent().unwrap_or(self.root());
        let project = project_around(&self.store, beside).map_err(from_stop)?;
        let folder = project_folder(&self.store, &project);
        let disk = self.store.ground().disk.as_ref();
        if file.defines_roles || !is_project(disk, &folder) {
            return Ok((project, file, Some(whole)));
        }
        let canonical = self.sound(&folder)?;
        let file = over_canonical(&canonical, file).map_err(|fault| {
            unfit(
                format!("{} does not fit its project", path.display()),
                &fault.to_string(),
            )
        })?;
        Ok((project, file, Some(whole)))
    }

    /// What was chosen beforehand: when the flow began, or else for all of its project.
    fn chosen(&self, flow: &FlowRef, ends: Ends) -> Chosen {
        let disk = self.store.ground().disk.as_ref();
        let chosen = defaults(disk, &project_folder(&self.store, &flow.project));
        Chosen {
            improve: ends.improve.or(chosen.improve),
            feedback: ends.feedback.or(chosen.feedback),
        }
    }

    fn project(&self, name: &str) -> Result<(ProjectName, PathBuf), Fault> {
        let name: ProjectName = name.parse().map_err(|bad: a_society_facts::id::BadName| {
            unfit("there is no such project".to_owned(), &bad.to_string())
        })?;
        let folder = project_folder(&self.store, &name);
        Ok((name, folder))
    }

    fn sound(
        &self,
        folder: &Path,
    ) -> Result<a_society_orchestrator::project::docs::folder::Project, Fault> {
        let (project, diagnostics) = inspect_project(folder);
        project.ok_or_else(|| {
            let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            let why = first.map(ToString::to_string).unwrap_or_default();
            unfit(format!("{} is not a sound project", folder.display()), &why)
        })
    }
}

impl Actions for Workspace {
    fn start(&self, new: &Wanted) -> Result<Begun, Fault> {
        let (project, file, beside) = self.read(new)?;
        let script = beside.and_then(|path| script_path(&path, None));
        let script = script
            .map(|path| read_text(&path))
            .transpose()
            .map_err(from_stop)?;
        let ends = Ends {
            improve: new.improve,
            feedback: new.feedback,
        };
        let made = NewFlow {
            ends,
            project: project.clone(),
            project_folder: project_folder(&self.store, &project),
            title: new.title.clone().filter(|title| !title.trim().is_empty()),
            input: new.input.clone().filter(|input| !input.trim().is_empty()),
            file,
            script,
            tokens: None,
            mode: new.mode,
            rules: settings::rules_of(new)?,
            client: None,
        };
        let now = self.store.ground().clock.now();
        let driven = run::start(&self.store, made, now, None).map_err(|error| from_run(&error))?;
        let flow = FlowRef {
            project,
            flow: driven.handle.id().clone(),
        };
        // It tells for as long as the flow is driven.
        drop(Notifier::begin(&flow, &driven.handle));
        // Its file may say more than the operator did.
        let seen = driven.handle.seen();
        let chosen = self.chosen(&flow, seen.map_or(ends, |seen| seen.state.ends));
        Ok(Begun {
            flow,
            driven,
            chosen,
        })
    }

    fn resume(&self, flow: &FlowRef) -> Result<Begun, Fault> {
        let project = project_folder(&self.store, &flow.project);
        let resumed = run::resume(&self.store, flow, project, None, Default::default());
        let (driven, _) = resumed.map_err(|error| from_run(&error))?;
        drop(Notifier::begin(flow, &driven.handle));
        let look = self.store.look(flow);
        let ends = look.map_or_else(|_| Ends::default(), |look| look.screen.flow.ends);
        Ok(Begun {
            flow: flow.clone(),
            driven,
            chosen: self.chosen(flow, ends),
        })
    }

    fn project_folder(&self, flow: &FlowRef) -> PathBuf {
        project_folder(&self.store, &flow.project)
    }

    fn request(&self, flow: &FlowRef, seq: Seq) -> Result<SentRequest, Fault> {
        let project = project_folder(&self.store, &flow.project);
        let found = sent::request(&self.store, flow, &project, seq).map_err(|error| Fault {
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
        let disk = self.store.ground().disk.as_ref();
        let flows = self
            .store
            .census()
            .map(|census| census.flows)
            .unwrap_or_default();
        let own = self
            .root()
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let mut names: Vec<(String, PathBuf)> = own
            .map(|own| (own, self.root().to_owned()))
            .into_iter()
            .collect();
        let entries = disk.list(self.root()).unwrap_or_default();
        let folders = entries
            .into_iter()
            .filter(|entry| entry.kind == Kind::Folder && !entry.name.starts_with('.'));
        names.extend(folders.map(|entry| (entry.name.clone(), self.root().join(&entry.name))));
        let rows = names.into_iter().filter_map(|(name, folder)| {
            let parsed: ProjectName = name.parse().ok()?;
            let chosen = defaults(disk, &folder);
            Some(ProjectRow {
                improve: chosen.improve,
                feedback: chosen.feedback,
                ready: is_project(disk, &folder),
                flows: flows.iter().filter(|flow| flow.project == parsed).count() as u64,
                name,
            })
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
            "models" => {
                let named = models_named(&self.store, &self.projects());
                Some(settings::models(&named))
            }
            "catalogue" => Some(settings::catalogue()),
            "permissions" => {
                let mut page = permissions();
                page["rules"] = settings::said_beforehand(self.root());
                Some(page)
            }
            "mcp" => Some(servers(self.store.ground().disk.as_ref(), self.root())),
            "skills" => Some(settings::skills(&self.store)),
            "roles" => Some(roles(&self.store, &self.projects())),
            "flow-files" => {
                let disk = self.store.ground().disk.as_ref();
                Some(json!({ "files": flow_files(disk, self.root()) }))
            }
            _ => None,
        }
    }

    fn skill(&self, name: &str, project: Option<&str>) -> Result<Value, Fault> {
        settings::skill(&self.store, name, project)
    }

    fn change_skill(&self, setting: &SkillSetting) -> Result<SettingDone, Fault> {
        settings::change_skill(setting)
    }

    fn models(&self) -> Vec<ModelChoice> {
        settings::choices()
    }

    fn configure(&self, setting: &Setting) -> Result<SettingDone, Fault> {
        settings::configure(setting)
    }

    fn try_out(&self, trial: &Trial) -> Result<Tried, Fault> {
        settings::trial(trial, self.root())
    }
}

/// Which roles of the projects name each model.
fn models_named(store: &Store, projects: &[ProjectRow]) -> settings::NamedBy {
    let disk = store.ground().disk.as_ref();
    let mut named = settings::NamedBy::new();
    for row in projects.iter().filter(|row| row.ready) {
        let Ok(project) = row.name.parse::<ProjectName>() else {
            continue;
        };
        for (name, role) in project_roles(disk, &project_folder(store, &project)) {
            if let Some(model) = role.model {
                let by = format!("{}/{name}", row.name);
                named.entry(model).or_default().push(by);
            }
        }
    }
    named
}

/// The roles of the projects, as their files have them.
fn roles(store: &Store, projects: &[ProjectRow]) -> Value {
    let disk = store.ground().disk.as_ref();
    let most = user::reach().ok();
    let each = projects.iter().filter(|row| row.ready).filter_map(|row| {
        let project: ProjectName = row.name.parse().ok()?;
        let folder = project_folder(store, &project);
        let roles = project_roles(disk, &folder)
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
        Some(json!({ "project": row.name, "roles": roles.collect::<Vec<Value>>() }))
    });
    json!({ "projects": each.collect::<Vec<Value>>() })
}

/// The first line of instructions that is no heading.
fn first_words(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Flow files of a workspace, by their paths in it: what is offered where one is to be chosen.
pub(super) fn flow_files(disk: &dyn Disk, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![(PathBuf::new(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        for entry in disk.list(&root.join(&folder)).unwrap_or_default() {
            let path = folder.join(&entry.name);
            looked_at += 1;
            if entry.name.starts_with('.') || looked_at > ENTRIES_LOOKED_AT_MAX {
                continue;
            }
            match entry.kind {
                Kind::Folder if depth < FLOW_FILES_DEPTH_MAX => folders.push((path, depth + 1)),
                Kind::File if is_flow_file(disk, &root.join(&path), &entry.name) => {
                    found.extend(path.to_str().map(str::to_owned));
                }
                Kind::Folder | Kind::File | Kind::Other => {}
            }
        }
    }
    found.sort();
    found
}

/// Whether a file is YAML that begins a workflow on one of its lines.
fn is_flow_file(disk: &dyn Disk, path: &Path, name: &str) -> bool {
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    let bytes = is_yaml.then(|| read_whole(disk, path, FLOW_FILE_BYTES_MAX).ok());
    let text = bytes.flatten().and_then(|it| String::from_utf8(it).ok());
    text.is_some_and(|text| text.lines().any(|line| line.starts_with("workflow:")))
}

fn servers(disk: &dyn Disk, root: &Path) -> Value {
    let mut page = match Roster::read(&lists_in(root)) {
        Ok(roster) => super::mcp::as_json(&roster, &servers_named(disk, root)),
        Err(error) => json!({ "servers": [], "missing": [], "faults": [error.to_string()] }),
    };
    settings::own_servers(&mut page);
    page
}

/// How far tools reach at most, and what the modes of a flow mean.
fn permissions() -> Value {
    let tools = match user::reach() {
        Ok(reach) => super::models::reach_json(&reach),
        Err(error) => json!({ "fault": error.to_string() }),
    };
    json!({
        "tools": tools,
        "modes": [
            { "mode": "no-access", "words": "Always asks, even for what you allowed before." },
            { "mode": "partial-access", "words": "Does not ask again for what you allowed for the flow." },
            { "mode": "full-access", "words": "Never asks." },
        ]
    })
}

fn unfit(what: String, why: &str) -> Fault {
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
        Stop::OutputClosed => unfit("it could not be read".to_owned(), ""),
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
