//! What the models of one flow work with: who answers, and the tools of the operator's folder.

use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::fact::operator::Grant;
use a_society_facts::id::{FlowId, NodeId, RoleInstance};
use a_society_facts::message::ToolCall;
use a_society_flow::graph::InlineRole;
use a_society_roles::mcp::{ToolDefinition, server_of};
use a_society_roles::role::definition::Skill;
use a_society_roles::skill::found;
use a_society_roles::taker::model::{Gear, ModelTaker, Remote, Unready, offered};
use a_society_roles::tool::{Definition, Owner, Setting, Toolbox};
use a_society_roles::turn::job::Job;
use a_society_roles::turn::step::End;
use a_society_roles::turn::stop::StopSignal;
use a_society_roles::turn::taker::Taker;

use crate::config::models::{self, Models, Wish};
use crate::config::{programs, user};
use crate::driver::role_source::Touched;

/// The key under which a role's chosen model is remembered.
const MODEL: &str = "model";
/// The key under which its chosen effort is.
const EFFORT: &str = "effort";

/// The folder of skills, beside the operator's configuration and in a project's documents.
const SKILLS: &str = "skills";

/// The bench of one flow.
#[derive(Debug)]
pub struct Bench {
    /// The flow.
    pub flow: FlowId,
    /// The project's folder.
    pub project: PathBuf,
    /// The flow's own folder.
    pub record: PathBuf,
    /// The operator's models.
    pub models: Models,
}

impl Bench {
    /// Whoever takes a turn of a model's role. One that cannot work says what it lacks.
    pub fn taker(
        &self,
        job: Arc<Job>,
        definition: Option<&InlineRole>,
        stop: StopSignal,
    ) -> Box<dyn Taker> {
        match self.gear(&job, definition) {
            Ok(gear) => Box::new(ModelTaker::new(job, gear, stop)),
            Err(end) => Box::new(Unready(end)),
        }
    }

    /// Whoever makes a summary of a role's session.
    ///
    /// # Errors
    /// Says in words what it lacks.
    pub fn summariser(
        &self,
        job: Arc<Job>,
        definition: Option<&InlineRole>,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String> {
        match self.gear(&job, definition) {
            Ok(gear) => Ok(Box::new(ModelTaker::summarising(job, gear, stop))),
            Err(End::Configuration { why } | End::Provider { why } | End::Aborted { why }) => {
                Err(why)
            }
            Err(End::Outcome { .. } | End::Fault(_) | End::OutputLimit) => {
                Err("it cannot be asked".to_owned())
            }
        }
    }

    fn gear(&self, job: &Job, definition: Option<&InlineRole>) -> Result<Gear, End> {
        let chosen = |key: &str| job.settings.get(key).map(String::as_str);
        let wish = Wish {
            model: chosen(MODEL).or(definition.and_then(|role| role.model.as_deref())),
            effort: chosen(EFFORT).or(definition.and_then(|role| role.effort.as_deref())),
        };
        let found = self.models.find(wish)?;
        let tools = self
            .tools(&job.role, job.node.as_ref(), found.key)
            .map_err(|why| End::Aborted { why })?;
        let mut list = tools.definitions();
        if let Some(named) = definition.and_then(|role| role.tools.as_ref()) {
            let is_named = |tool: &Definition| named.iter().any(|name| name == tool.name);
            list.retain(is_named);
        }
        Ok(Gear {
            provider: found.provider,
            model: found.model,
            offered: offered(&list),
            tools,
            remote: definition
                .and_then(|role| role.mcp_servers.clone())
                .and_then(|names| {
                    let servers = self.models.servers().ok()??;
                    Some(Remote { servers, names })
                }),
            traffic: models::traffic(),
        })
    }

    fn tools(
        &self,
        role: &RoleInstance,
        node: Option<&NodeId>,
        key: Option<String>,
    ) -> Result<Toolbox, String> {
        let owner = Owner {
            flow: self.flow.clone(),
            role: role.clone(),
            node: node.cloned(),
        };
        let mut setting = Setting::new(owner, self.project.clone(), self.record.clone());
        setting.readable = self.skill_folders();
        setting.guard = Some(programs::guard());
        setting.fetch = true;
        setting.environment = programs::environment().0.into_iter().collect();
        setting.secrets = key.into_iter().collect();
        Toolbox::open(setting)
    }

    /// The skills that a role may look up: those that its file names, or all there are. The
    /// operator's own come first.
    #[must_use]
    pub fn skills(&self, definition: Option<&InlineRole>) -> Vec<Skill> {
        let mut skills: Vec<Skill> = Vec::new();
        for folder in self.skill_folders() {
            for skill in found(&folder).skills {
                if skills.iter().all(|known| known.name != skill.name) {
                    skills.push(skill);
                }
            }
        }
        if let Some(named) = definition.and_then(|role| role.skills.as_ref()) {
            skills.retain(|skill| named.contains(&skill.name));
        }
        skills
    }

    fn skill_folders(&self) -> Vec<PathBuf> {
        let own = user::path().ok();
        let own = own.and_then(|file| Some(file.parent()?.join(SKILLS)));
        let docs = self.project.join("a-docs").join(SKILLS);
        let all = own.into_iter().chain([docs]);
        all.filter(|folder| folder.is_dir()).collect()
    }

    /// What the file of a call holds.
    #[must_use]
    pub fn touched(&self, role: &RoleInstance, call: &ToolCall) -> Touched {
        let tools = self.tools(role, None, None);
        let held = tools.ok().and_then(|tools| tools.hash_now(call).ok());
        held.map_or(Touched::Unknown, Touched::Has)
    }

    /// What an answer for the whole flow would grant.
    #[must_use]
    pub fn grant(
        &self,
        role: &RoleInstance,
        node: Option<&NodeId>,
        call: &ToolCall,
    ) -> Option<Grant> {
        if let Some(server) = server_of(&call.name) {
            let servers = self.models.servers().ok()??;
            let tools = servers.tools(server, &StopSignal::default()).ok()?;
            return tools.named(&call.name).map(ToolDefinition::grant);
        }
        let tools = self.tools(role, node, None).ok()?;
        tools.plan(call).ok()?.ask.grant()
    }
}
