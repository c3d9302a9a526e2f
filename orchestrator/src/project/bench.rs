//! What the models of one flow work with: who answers, and the tools of the operator's folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::fact::node::Trouble;
use a_society_facts::fact::operator::{ConsentMode, ConsentRules, Grant};
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::Effect;
use a_society_facts::id::{FlowId, NodeId, RoleInstance};
use a_society_facts::message::ToolCall;
use a_society_flow::graph::InlineRole;
use a_society_mcp::{self as mcp, server_of};
use a_society_providers::{Prepared, ToolDefinition};
use a_society_roles::consent::Tier;
use a_society_roles::consent::policy::{Judged, Policy};
use a_society_roles::role::definition::Skill;
use a_society_roles::role::environment::{Commands, EnvironmentSection, environment};
use a_society_roles::skill::found;
use a_society_roles::taker::model::{Gear, ModelTaker, Remote, Unready};
use a_society_roles::tool::command::Background;
use a_society_roles::tool::{
    CallLimits, Owner, ReadSessions, ToolReach, ToolSetting, Toolbox, WorkflowCheck, canonical,
    twin,
};
use a_society_roles::turn::job::TurnJob;
use a_society_roles::turn::step::TakerEnd;
use a_society_roles::turn::taker::Taker;

use super::choices::{self, AUTO, MODEL, SERVERS, SKILLS};
use crate::config::models::{self, ConfiguredModels, WishedModel};
use crate::config::servers::{self, Roster, ServerVerdict};
use crate::config::{programs, user, workspace};
use crate::driver::role_source::{KnownCall, RoleAt, TouchedFiles};
use crate::workspace::rules as beforehand;

/// The key under which a role's chosen effort is remembered.
const EFFORT: &str = "effort";

/// The tool whose walls the environment tells of.
const RUN_COMMAND: &str = "run_command";

/// The tool that needs a service of the operator's choice.
const WEB_SEARCH: &str = "web_search";

/// The tools that read other sessions and send to them.
const SESSIONS: [&str; 3] = ["sessions_list", "sessions_history", "sessions_send"];

/// The bench of one flow.
#[derive(Debug)]
pub(crate) struct Bench {
    /// The flow.
    pub flow: FlowId,
    /// The project's folder.
    pub project: PathBuf,
    /// The workspace's folder.
    pub workspace: PathBuf,
    /// The flow's own folder.
    pub record: PathBuf,
    /// The operator's models.
    pub models: ConfiguredModels,
    /// The commands that run beside its turns.
    pub background: Background,
    /// Where roles read other sessions.
    pub sessions: Arc<dyn ReadSessions>,
}

/// A request as it could be written.
#[derive(Debug)]
pub(crate) struct WritableRequest {
    /// The model that would be asked, by its name in the configuration.
    pub model: String,
    /// The servers whose tools would be offered, and are not in it.
    pub servers: Vec<String>,
    /// Whole, and without old outputs.
    pub ways: Vec<Prepared>,
}

impl Bench {
    /// The taker of a model's turn. One that cannot work reports what it lacks.
    pub(crate) fn taker(
        &self,
        job: Arc<TurnJob>,
        definition: Option<&InlineRole>,
        check: WorkflowCheck,
        stop: StopSignal,
    ) -> Box<dyn Taker> {
        match self.gear(&job, definition, Some(check)) {
            Ok(gear) => Box::new(ModelTaker::new(job, gear, stop)),
            Err(end) => Box::new(Unready(end)),
        }
    }

    /// The taker that summarises a role's session.
    ///
    /// # Errors
    /// Says in words what it lacks.
    pub(crate) fn summariser(
        &self,
        job: Arc<TurnJob>,
        definition: Option<&InlineRole>,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String> {
        let gear = self.gear(&job, definition, None).map_err(models::lacks)?;
        Ok(Box::new(ModelTaker::summarising(job, gear, stop)))
    }

    /// The ways in which the next request of a job could be written. No request is sent, and no server
    /// of tools is started.
    ///
    /// # Errors
    /// Says in words what it lacks.
    pub(crate) fn written(
        &self,
        job: Arc<TurnJob>,
        definition: Option<&InlineRole>,
    ) -> Result<WritableRequest, String> {
        let check = WorkflowCheck(Arc::new(|_| Ok(())));
        let mut gear = self
            .gear(&job, definition, Some(check))
            .map_err(models::lacks)?;
        let model = gear.model.name.clone();
        let remote = gear.remote.take();
        let ways = ModelTaker::ways(job, gear).map_err(|fault| fault.message)?;
        Ok(WritableRequest {
            model,
            servers: remote.map(|remote| remote.names).unwrap_or_default(),
            ways,
        })
    }

    fn gear(
        &self,
        job: &TurnJob,
        definition: Option<&InlineRole>,
        check: Option<WorkflowCheck>,
    ) -> Result<Gear, TakerEnd> {
        let found = self.models.find(wish(definition, &job.settings))?;
        let in_file = definition.and_then(|role| role.mcp_servers.as_deref());
        let names = choices::names(&job.settings, SERVERS, in_file);
        let remote = self.remote(&names.unwrap_or_default(), &job.servers)?;
        let search = self.models.search();
        let mut setting = self.setting(&job.role, job.node.as_ref());
        self.reach(definition, &job.settings)
            .map_err(|why| TakerEnd::provider(Trouble::Configuration, why))?
            .apply(&mut setting);
        let policy = self
            .policy(&job.rules)
            .map_err(|why| TakerEnd::provider(Trouble::Configuration, why))?;
        setting.policy = Arc::new(policy);
        setting.search = search.as_ref().ok().cloned();
        let named = definition.and_then(|role| role.tools.as_deref());
        setting.sessions = reads_sessions(named).then(|| Arc::clone(&self.sessions));
        setting.lineage.clone_from(&job.lineage);
        setting.check_workflow = check;
        setting.window_tokens = found.model.window;
        setting.edit_tool = found.edit_tool;
        setting.images = found.model.images;
        setting.begun.clone_from(&job.begun);
        setting.left_running.clone_from(&job.left_running);
        setting.said.clone_from(&job.history);
        setting.secrets = found.key.into_iter().chain(self.models.secrets()).collect();
        setting.limits = CallLimits::of_window(found.model.window);
        let environment = self.environment(job, definition, &setting);
        let tools = Toolbox::open(setting).map_err(|why| TakerEnd::Aborted { why, class: None })?;
        tools.remember(Arc::clone(&job.seen));
        let named = definition.and_then(|role| role.tools.as_deref());
        let is_named = |tool: &&ToolDefinition, named: &[String]| {
            let tool = Some(tool.name.as_str());
            (named.iter().map(|name| canonical(name)))
                .any(|name| name == tool || name.and_then(twin) == tool)
        };
        let all = tools.definitions();
        let offered = match named {
            None => Arc::clone(all),
            Some(named) => all
                .iter()
                .filter(|tool| is_named(tool, named))
                .cloned()
                .collect(),
        };
        Ok(Gear {
            provider: found.provider,
            model: found.model,
            offered,
            ends_by_call: named.is_none_or(|named| !named.is_empty()),
            tools,
            remote,
            missing: missing(named.unwrap_or_default(), search.err()),
            environment,
            traffic: models::traffic(),
            bounds: self.models.bounds(),
        })
    }

    /// The last part of the system prompt, as it is in this process.
    fn environment(
        &self,
        job: &TurnJob,
        definition: Option<&InlineRole>,
        setting: &ToolSetting,
    ) -> String {
        let mut skills = chosen(
            skills_in(&setting.readable, &self.project),
            definition,
            &job.settings,
        );
        skills.retain(|skill| Path::new(&skill.path).is_absolute());
        let named = definition.and_then(|role| role.tools.as_deref());
        let runs = named.is_none_or(|named| named.iter().any(|name| name == RUN_COMMAND));
        let commands = setting.guard.as_ref().filter(|_| runs);
        environment(&EnvironmentSection {
            role: &job.role,
            flow_title: (!job.allowed.answers).then_some(job.flow_title.as_str()),
            project: &self.project,
            os: programs::system(),
            date: &job.date,
            commands: commands.map(|_| Commands {
                scope: setting.scope,
                network: setting.network,
            }),
            output_bound: &setting.limits.output_bound(),
            skills: &skills,
        })
    }

    /// The servers that a role names, if all of them may be used.
    fn remote(
        &self,
        names: &[String],
        trusted: &BTreeMap<String, Hash>,
    ) -> Result<Option<Remote>, TakerEnd> {
        if names.is_empty() {
            return Ok(None);
        }
        let unready = |why: String| TakerEnd::provider(Trouble::ToolServer, why);
        let roster = self.roster().map_err(unready)?;
        let (mut newly, mut waits, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            match roster.judge(name, trusted.get(name).copied()) {
                // A missing server is reported when its tools are wanted.
                ServerVerdict::Known | ServerVerdict::Unknown => {}
                ServerVerdict::Trusted(definition) => newly.push((name.clone(), definition)),
                ServerVerdict::Waits(why, server) => {
                    waits.push(why);
                    waiting.push(server);
                }
            }
        }
        if !waits.is_empty() {
            return Err(TakerEnd::Provider {
                trouble: Trouble::ToolServer,
                why: waits.join("\n"),
                class: None,
                servers: waiting,
                again_in_ms: None,
            });
        }
        Ok(Some(Remote {
            servers: self.models.servers(&roster).map_err(unready)?,
            names: names.to_vec(),
            newly,
        }))
    }

    pub(super) fn roster(&self) -> Result<Roster, String> {
        let lists = servers::lists_of(&self.project, &self.workspace);
        Roster::read(&lists).map_err(|error| error.to_string())
    }

    fn setting(&self, role: &RoleInstance, node: Option<&NodeId>) -> ToolSetting {
        let owner = Owner {
            flow: self.flow.clone(),
            role: role.clone(),
            node: node.cloned(),
        };
        let mut setting = ToolSetting::new(owner, self.project.clone(), self.record.clone());
        setting.readable = skill_folders(&self.project);
        setting.guard = Some(programs::guard());
        setting.fetch = true;
        setting.background = self.background.clone();
        setting.environment = programs::environment().0.into_iter().collect();
        setting
    }

    /// The skills that a role may look up: those that were chosen for it or that its file names, or
    /// all there are.
    #[must_use]
    pub(crate) fn skills(
        &self,
        definition: Option<&InlineRole>,
        settings: &BTreeMap<String, String>,
    ) -> Vec<Skill> {
        chosen(self.all_skills(), definition, settings)
    }

    /// The skills that there are. The operator's own come first. Those of the project have paths from
    /// its folder.
    #[must_use]
    pub(crate) fn all_skills(&self) -> Vec<Skill> {
        skills_in(&skill_folders(&self.project), &self.project)
    }

    /// How many tokens the model of a role reads at most, if known.
    #[must_use]
    pub(crate) fn window(
        &self,
        definition: Option<&InlineRole>,
        settings: &BTreeMap<String, String>,
    ) -> Option<u64> {
        let found = self.models.find(wish(definition, settings)).ok()?;
        Some(found.model.window)
    }

    /// How far the tools of a role reach.
    ///
    /// # Errors
    /// When the operator's configuration cannot be used.
    pub(crate) fn reach(
        &self,
        definition: Option<&InlineRole>,
        settings: &BTreeMap<String, String>,
    ) -> Result<ToolReach, String> {
        let most = self.models.reach()?;
        Ok(choices::reach(most, definition, settings))
    }

    /// All rules about calls: those of the flow, of the operator's configuration, and what the workspace
    /// denies besides.
    ///
    /// # Errors
    /// When one of them cannot be read: a rule that is not understood must not be taken for none.
    pub(crate) fn policy(&self, rules: &ConsentRules) -> Result<Policy, String> {
        beforehand::policy(rules, &self.models.consent()?.rules, &self.workspace)
    }

    /// What the rules say about a call that is asked about. Without its server nothing more is known of a
    /// server's tool than what was asked.
    #[must_use]
    pub(crate) fn ruled(
        &self,
        whose: RoleAt<'_>,
        reach: ToolReach,
        rules: &ConsentRules,
        call: &ToolCall,
        known: KnownCall<'_>,
    ) -> Option<Judged> {
        let KnownCall { terms, effect } = known;
        let mut setting = self.judging(whose, reach);
        setting.policy = Arc::new(self.policy(rules).ok()?);
        let tools = Toolbox::open(setting).ok()?;
        if server_of(&call.name).is_none() {
            return tools.plan(call).ok()?.ask.ruled;
        }
        let Some(ConsentTerms::Server(server)) = terms else {
            return None;
        };
        let definition = server.definition;
        let tier = Tier::ServerTool { definition };
        let is_irreversible = effect == Effect::Irreversible;
        let (name, raw) = (&server.server, &server.tool);
        tools.ruled_remote(&call.name, &tier, name, raw, is_irreversible)
    }

    /// The most that flows of the workspace may do without asking, if it says so. A file that cannot be
    /// read lets nothing through.
    #[must_use]
    pub(crate) fn most(&self) -> Option<ConsentMode> {
        match workspace::consent(&self.workspace) {
            Ok(consent) => consent.mode,
            Err(_) => Some(ConsentMode::NoAccess),
        }
    }

    /// Removes what a killed process left of a call beside its files. One that cannot be removed does
    /// no harm.
    pub(crate) fn clear_halves(&self, role: &RoleInstance, call: &ToolCall) {
        if let Ok(tools) = Toolbox::open(self.setting(role, None)) {
            drop(tools.clear_halves(call));
        }
    }

    /// What the files of a call hold.
    #[must_use]
    pub(crate) fn touched(&self, role: &RoleInstance, call: &ToolCall) -> TouchedFiles {
        let tools = Toolbox::open(self.setting(role, None));
        let held = tools.ok().and_then(|tools| tools.hashes_now(call).ok());
        held.map_or(TouchedFiles::Unknown, TouchedFiles::Has)
    }

    /// The setting for calls that are only judged.
    fn judging(&self, whose: RoleAt<'_>, reach: ToolReach) -> ToolSetting {
        let mut setting = self.setting(whose.role, whose.node);
        reach.apply(&mut setting);
        setting.only_judges = true;
        setting.search = self.models.search().ok();
        setting.check_workflow = Some(WorkflowCheck(Arc::new(|_| Ok(()))));
        setting
    }

    /// What an answer for the whole flow would grant. A server of tools that does not run is started for it, and
    /// is waited for until the signal is raised.
    #[must_use]
    pub(crate) fn grant(
        &self,
        whose: RoleAt<'_>,
        reach: ToolReach,
        call: &ToolCall,
        stop: &StopSignal,
    ) -> Option<Grant> {
        if let Some(server) = server_of(&call.name) {
            let roster = self.roster().ok()?;
            let servers = self.models.servers(&roster).ok()?;
            let tools = servers.tools(server, stop).ok()?;
            return tools.named(&call.name).map(mcp::RemoteTool::grant);
        }
        let tools = Toolbox::open(self.judging(whose, reach)).ok()?;
        tools.plan(call).ok()?.ask.grant()
    }
}

/// The skills of these folders.
fn skills_in(folders: &[PathBuf], project: &Path) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    for folder in folders {
        for mut skill in found(folder).skills {
            if let Ok(rest) = Path::new(&skill.path).strip_prefix(project) {
                skill.path = rest.display().to_string();
            }
            if skills.iter().all(|known| known.name != skill.name) {
                skills.push(skill);
            }
        }
    }
    skills
}

/// Those of the skills that were chosen for a role or that its file names, or all.
fn chosen(
    mut skills: Vec<Skill>,
    definition: Option<&InlineRole>,
    settings: &BTreeMap<String, String>,
) -> Vec<Skill> {
    let in_file = definition.and_then(|role| role.skills.as_deref());
    if let Some(named) = choices::names(settings, SKILLS, in_file) {
        skills.retain(|skill| named.contains(&skill.name));
    }
    skills
}

/// The model that a role is to have, as it was chosen or as its file says.
fn wish<'a>(
    definition: Option<&'a InlineRole>,
    settings: &'a BTreeMap<String, String>,
) -> WishedModel<'a> {
    let chosen = |key: &str| settings.get(key).map(String::as_str);
    let named = chosen(MODEL).or(definition.and_then(|role| role.model.as_deref()));
    WishedModel {
        model: named.filter(|name| *name != AUTO),
        effort: chosen(EFFORT).or(definition.and_then(|role| role.effort.as_deref())),
    }
}

/// What a role names and cannot have, with the reason.
fn missing(named: &[String], no_search: Option<String>) -> Vec<(String, String)> {
    let is_named = (named.iter()).any(|name| canonical(name) == Some(WEB_SEARCH));
    let told = |why| (WEB_SEARCH.to_owned(), format!("it is off: {why}"));
    no_search
        .filter(|_| is_named)
        .into_iter()
        .map(told)
        .collect()
}

/// Whether a role has the tools that read other sessions: only where it names one of them, as most work needs no more
/// than what is handed over.
fn reads_sessions(named: Option<&[String]>) -> bool {
    let is_one = |name: &String| SESSIONS.contains(&name.as_str());
    named.is_some_and(|named| named.iter().any(is_one))
}

/// Where the skills of a project's roles lie: the operator's own, and those of its documents.
#[must_use]
pub(crate) fn skill_folders(project: &Path) -> Vec<PathBuf> {
    let all = user::skills().into_iter().chain([docs_skills(project)]);
    all.filter(|folder| folder.is_dir()).collect()
}

/// Where the skills of a project's own documents lie.
#[must_use]
pub(crate) fn docs_skills(project: &Path) -> PathBuf {
    project.join("a-docs/skills")
}
