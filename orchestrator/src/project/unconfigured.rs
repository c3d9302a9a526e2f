//! Names of models, servers and skills that are not configured, found before a flow runs.
//!
//! What cannot be read is not judged: a flow file is sound on a machine that has no configuration, too.

use std::collections::BTreeSet;
use std::path::Path;

use a_society_facts::fact::operator::ConsentRules;
use a_society_flow::graph::{Executor, InlineRole, nearest};
use a_society_roles::consent::policy::server_of_rule;

use super::bench::skill_folders;
use super::choices::{AUTO, NONE};
use crate::config::servers::{Roster, lists_in, lists_of};
use crate::config::skill;
use crate::config::user::{self, ConfigError};

/// What is configured, as far as it is readable.
#[derive(Debug, Clone, Default)]
pub struct Configured {
    models: Option<BTreeSet<String>>,
    servers: Option<BTreeSet<String>>,
    skills: BTreeSet<String>,
    /// Why the operator's configuration was not judged.
    unread: Option<String>,
}

/// A name that is not configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnconfiguredName {
    /// The name.
    pub name: String,
    /// Its description, without who names it: "the model `x`, which is not configured".
    pub what: String,
    /// What to try.
    pub hint: String,
}

impl Configured {
    /// What the operator configured, and what this project and this workspace bring with them.
    #[must_use]
    pub fn read(project: &Path, workspace: Option<&Path>) -> Self {
        let (models, unread) = match user::catalog() {
            Ok(read) => (Some(read), None),
            Err(ConfigError::Nowhere) => (None, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let models = models.map(|(_, config)| config.models.into_keys().collect());
        let mut lists = lists_of(project, workspace.unwrap_or(project));
        lists.extend(workspace.map(lists_in).unwrap_or_default());
        let servers = Roster::read(&lists).ok();
        let servers = servers.map(|it| it.entries.into_iter().map(|entry| entry.name).collect());
        let folders = skill_folders(project).into_iter();
        let skills = folders.flat_map(|folder| skill::found(&folder).skills);
        Self {
            models,
            servers,
            skills: skills.map(|skill| skill.name).collect(),
            unread,
        }
    }

    /// Why names of models were not looked up, if the operator's configuration cannot be read.
    #[must_use]
    pub fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// What a role names that is not there. A role that a script plays needs no model.
    #[must_use]
    pub fn missing(&self, role: &InlineRole, is_scripted: bool) -> Vec<UnconfiguredName> {
        if role.executor() != Executor::Model {
            return Vec::new();
        }
        let model = role.model.iter().filter(|_| !is_scripted);
        let servers = role.mcp_servers.iter().flatten();
        let skills = role.skills.iter().flatten();
        let add_model = "add it with a-society models add";
        let add_server = "add it under mcp-servers: of your configuration, or in a .mcp.json here";
        let add_skill = "write it with a-society skills add, or take it over with a-society skills import FOLDER";
        let models =
            model.filter_map(|name| absent(name, "model", self.models.as_ref(), add_model));
        let servers = servers
            .filter_map(|name| absent(name, "MCP server", self.servers.as_ref(), add_server));
        let skills = skills.filter_map(|name| absent(name, "skill", Some(&self.skills), add_skill));
        models.chain(servers).chain(skills).collect()
    }

    /// The rules about servers that are not there: such a rule never answers anything.
    #[must_use]
    pub fn idle_rules(&self, rules: &ConsentRules) -> Vec<String> {
        let all = rules.allow.iter().chain(&rules.deny);
        let idle = all.filter_map(|rule| {
            let name = server_of_rule(rule)?;
            let hint = "a-society mcp ls lists them";
            let missing = absent(&name, "MCP server", self.servers.as_ref(), hint)?;
            Some(format!(
                "{rule} is about {}; {}",
                missing.what, missing.hint
            ))
        });
        idle.collect()
    }
}

fn absent(
    name: &str,
    kind: &str,
    configured: Option<&BTreeSet<String>>,
    otherwise: &str,
) -> Option<UnconfiguredName> {
    let known = configured.filter(|known| !known.contains(name))?;
    if name == AUTO || name == NONE {
        return None;
    }
    let names = || known.iter().map(String::as_str);
    let hint = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("none is configured; {otherwise}"),
        None => format!(
            "there are {}; {otherwise}",
            names().collect::<Vec<_>>().join(", ")
        ),
    };
    Some(UnconfiguredName {
        name: name.to_owned(),
        what: format!("the {kind} `{name}`, which is not configured"),
        hint,
    })
}
