//! What a role works with, as far as it is chosen: its model, its skills, its servers.
//!
//! | who says it | how |
//! |---|---|
//! | the operator, for the role | `configure FLOW ROLE model=NAME skills=A,B mcp-servers=none` |
//! | the flow file, for the role | `model:`, `skills:`, `mcp-servers:`; `auto` leaves it to a model |
//! | the operator, for all roles | `choose: [model, skills, mcp-servers]` leaves it to a model |
//!
//! How far the tools of a role reach (`scope=`) is no choice of a model: each of the three places can
//! only take away from what the operator's configuration allows.
//!
//! The first one that chooses counts. Where there is nothing to choose from, no one is asked.

use std::collections::{BTreeMap, BTreeSet};

use a_society_base::stop::StopSignal;
use a_society_facts::fact::terms::Scope;
use a_society_flow::graph::{InlineRole, ToolScope};
use a_society_mcp::{ServerSpec, ServerTools};
use a_society_roles::taker::model::{ChoiceCandidate, ChoiceQuestion, Chooser};
use a_society_roles::tool::{Narrowing, ToolReach};
use a_society_roles::turn::step::TakerEnd;

use super::bench::Bench;
use crate::config::models::{ConfiguredModels, WishedModel};
use crate::driver::role_source::PendingChoice;

/// The key of a role's model among its settings.
pub(crate) const MODEL: &str = "model";
/// The key of its skills.
pub(crate) const SKILLS: &str = "skills";
/// The key of its servers.
pub const SERVERS: &str = "mcp-servers";
/// The key of how far its tools reach at most.
pub const SCOPE: &str = "scope";
/// The keyword with which a model chooses.
pub const AUTO: &str = "auto";
/// The keyword for "none".
pub(crate) const NONE: &str = "none";

/// How far the tools of a role reach: what the operator's configuration allows at most, narrowed by
/// the role's file and by what was chosen for the role. The journal is in the workspace, so that
/// what was chosen cannot widen anything either.
#[must_use]
pub fn reach(
    most: ToolReach,
    definition: Option<&InlineRole>,
    settings: &BTreeMap<String, String>,
) -> ToolReach {
    let permissions = definition.and_then(|role| role.permissions.as_ref());
    let in_file = permissions.map_or_else(Narrowing::default, |it| Narrowing {
        scope: it.scope.map(|scope| match scope {
            ToolScope::Sandboxed => Scope::Sandboxed,
            ToolScope::Project => Scope::Project,
            ToolScope::Full => Scope::Full,
        }),
        network: it.network,
    });
    // A word that is no scope can only be of another version: it narrows as far as there is.
    let chosen = settings.get(SCOPE);
    let chosen = chosen.map(|word| Scope::of_word(word).unwrap_or_default());
    most.narrowed(in_file).narrowed(Narrowing {
        scope: chosen,
        network: None,
    })
}

/// How many tools of a server are named to the choosing model: enough to recognise it.
const SHOWN_TOOLS: usize = 20;

/// The names that were chosen for a role or are in its file; `None` if there are none.
#[must_use]
pub fn names(
    settings: &BTreeMap<String, String>,
    key: &str,
    in_file: Option<&[String]>,
) -> Option<Vec<String>> {
    let named = match settings.get(key).map(String::as_str) {
        Some(NONE) => Vec::new(),
        Some(AUTO) => return None,
        Some(text) => {
            let each = text.split(',').map(|name| name.trim().to_owned());
            each.filter(|name| !name.is_empty()).collect()
        }
        None => in_file?.to_vec(),
    };
    (!is_auto(&named)).then_some(named)
}

fn is_auto(named: &[String]) -> bool {
    matches!(named, [only] if only == AUTO)
}

/// What is to be chosen for one role.
#[derive(Debug)]
pub(crate) struct RoleChoices<'a> {
    /// What was chosen.
    pub settings: &'a BTreeMap<String, String>,
    /// Whether what was chosen is all that is to be.
    pub is_whole: bool,
    /// What its file says.
    pub definition: Option<&'a InlineRole>,
    /// The operator's models.
    pub models: &'a ConfiguredModels,
}

impl RoleChoices<'_> {
    /// The keys that a model is to choose.
    #[must_use]
    pub(crate) fn open(&self) -> Vec<&'static str> {
        let everywhere = self.models.catalog().map(|catalog| catalog.choose.clone());
        let everywhere = everywhere.unwrap_or_default();
        let is_open = |key: &&'static str| match self.settings.get(*key) {
            Some(chosen) => chosen == AUTO,
            None if self.is_whole => false,
            None => match self.in_file(key) {
                Some(auto) => auto,
                None => everywhere.iter().any(|open| open == key),
            },
        };
        [MODEL, SKILLS, SERVERS]
            .into_iter()
            .filter(is_open)
            .collect()
    }

    /// Whether the file leaves it to a model; nothing if it says nothing.
    fn in_file(&self, key: &str) -> Option<bool> {
        let role = self.definition?;
        match key {
            MODEL => role.model.as_deref().map(|model| model == AUTO),
            SKILLS => role.skills.as_deref().map(is_auto),
            SERVERS => role.mcp_servers.as_deref().map(is_auto),
            _ => None,
        }
    }

    /// Who has to be asked, and about what.
    #[must_use]
    pub(crate) fn ask(
        &self,
        bench: &Bench,
        open: Vec<&str>,
        task: String,
        stop: StopSignal,
    ) -> PendingChoice {
        let mut question = ChoiceQuestion {
            task,
            single: BTreeSet::from([MODEL.to_owned()]),
            ..ChoiceQuestion::default()
        };
        for key in open {
            let mut candidates = match self.candidates(bench, key) {
                Ok(candidates) => candidates,
                Err(why) => return PendingChoice::Operator(why),
            };
            let only = (key == MODEL && candidates.len() == 1).then(|| candidates.pop());
            if let Some(only) = only.flatten() {
                question.settled.insert(key.to_owned(), only.name);
            } else if candidates.is_empty() && key != MODEL {
                question.settled.insert(key.to_owned(), NONE.to_owned());
            } else if !candidates.is_empty() {
                question.candidates.insert(key.to_owned(), candidates);
            }
        }
        if question.candidates.is_empty() {
            return match question.settled.is_empty() {
                true => PendingChoice::Nothing,
                false => PendingChoice::Settled(question.settled),
            };
        }
        let keys: Vec<&str> = question.candidates.keys().map(String::as_str).collect();
        let hint = format!("say it yourself: {}", keys.join("=…, ") + "=…");
        let chooser = self.models.catalog().ok();
        let chooser = chooser.and_then(|catalog| catalog.chooser.clone());
        let wish = WishedModel {
            model: chooser.as_deref(),
            effort: None,
        };
        match self.models.find(wish) {
            Ok(found) => {
                let taker = Chooser::new(found.provider, found.model, question, stop);
                PendingChoice::Asks(Box::new(taker))
            }
            Err(
                TakerEnd::Configuration { why }
                | TakerEnd::Provider { why, .. }
                | TakerEnd::Aborted { why, .. },
            ) => PendingChoice::Operator(format!("no model can choose ({why}); {hint}")),
            Err(
                TakerEnd::Answered
                | TakerEnd::Outcome { .. }
                | TakerEnd::OwnTurn { .. }
                | TakerEnd::Fault(_)
                | TakerEnd::OutputLimit,
            ) => PendingChoice::Operator(format!("no model can choose; {hint}")),
        }
    }

    fn candidates(&self, bench: &Bench, key: &str) -> Result<Vec<ChoiceCandidate>, String> {
        Ok(match key {
            MODEL => {
                let catalog = self.models.catalog()?;
                let each = catalog.models.iter().map(|(name, model)| ChoiceCandidate {
                    name: name.clone(),
                    about: about_model(model, catalog.model.as_ref() == Some(name)),
                });
                each.collect()
            }
            SKILLS => {
                let each = bench.all_skills().into_iter().map(|skill| ChoiceCandidate {
                    name: skill.name,
                    about: skill.description,
                });
                each.collect()
            }
            _ => {
                let startable = bench.roster()?.startable().into_iter();
                let each = startable.map(|server| ChoiceCandidate {
                    about: about_server(&server, self.models.known_tools(&server.name).as_deref()),
                    name: server.name,
                });
                each.collect()
            }
        })
    }
}

/// What a server is good for: what the operator says, or else what it runs, and its tools if it runs
/// already. None is started to be asked: that is recorded first, and only for a role that uses it.
fn about_server(server: &ServerSpec, known: Option<&ServerTools>) -> String {
    let mut about = server.about.clone().unwrap_or_else(|| server.brief());
    // Their names only: what a server says of its tools are the words of a stranger.
    let tools = known.map_or(&[][..], |tools| &tools.offered);
    let tools = tools.iter().take(SHOWN_TOOLS);
    let tools: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
    if !tools.is_empty() {
        about.extend([format!("; its tools: {}", tools.join(", "))]);
    }
    about
}

fn about_model(model: &a_society_roles::config::ModelConfig, usual: bool) -> String {
    let mut parts = vec![
        format!("{} of {}", model.id, model.provider),
        format!("reads {} tokens", model.window_tokens),
    ];
    if let Some(price) = &model.price {
        let cost = |input, output| {
            price.of(&a_society_facts::fact::turn::Usage {
                input_tokens: input,
                output_tokens: output,
                ..a_society_facts::fact::turn::Usage::default()
            })
        };
        parts.push(format!(
            "a million tokens cost {} in and {} out, in millionths",
            cost(1_000_000, 0),
            cost(0, 1_000_000)
        ));
    }
    if usual {
        parts.push("the usual one".to_owned());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use a_society_flow::graph::Permissions;

    use super::*;

    #[test]
    fn a_scope_of_a_file_or_a_choice_only_takes_away_and_a_strange_word_takes_all() {
        let file = |scope, network| InlineRole {
            permissions: Some(Permissions {
                scope,
                network,
                ..Permissions::default()
            }),
            ..InlineRole::default()
        };
        let full = || ToolReach {
            scope: Scope::Full,
            folders: vec!["/f".into()],
            network: true,
            irreversible: Vec::new(),
        };
        let chosen = |word: &str| BTreeMap::from([(SCOPE.to_owned(), word.to_owned())]);
        let nothing = BTreeMap::new();
        for (most, role, settings, wanted) in [
            (full(), None, &nothing, "scope full, network on"),
            (
                full(),
                None,
                &chosen("project"),
                "scope project, network on",
            ),
            (
                full(),
                Some(file(Some(ToolScope::Sandboxed), Some(false))),
                &chosen("full"),
                "scope sandboxed, network off",
            ),
            (
                ToolReach::default(),
                Some(file(Some(ToolScope::Full), Some(true))),
                &chosen("full"),
                "scope sandboxed, network off",
            ),
            (
                full(),
                None,
                &chosen("everything"),
                "scope sandboxed, network on",
            ),
        ] {
            assert_eq!(reach(most, role.as_ref(), settings).words(), wanted);
        }
    }

    #[test]
    fn a_server_is_offered_with_what_the_operator_says_of_it_or_with_what_it_runs() {
        let text = "mcp-servers:\n  \
                    files: { command: cat, args: [a], description: Reads the archive. }\n  \
                    web: { url: 'https://x.example/mcp' }\n";
        let servers = a_society_mcp::parse(text).unwrap();
        let about: Vec<String> = servers.iter().map(|it| about_server(it, None)).collect();
        assert_eq!(
            about,
            ["Reads the archive.", "web is at `https://x.example/mcp`"]
        );
    }

    #[test]
    fn what_was_chosen_counts_before_what_the_file_says() {
        let file = vec!["a".to_owned(), "b".to_owned()];
        let auto = vec![AUTO.to_owned()];
        let chosen = |text: &str| BTreeMap::from([(SKILLS.to_owned(), text.to_owned())]);
        let nothing = BTreeMap::new();
        for (settings, in_file, wanted) in [
            (&nothing, None, None),
            (&nothing, Some(&file), Some("a b")),
            (&nothing, Some(&auto), None),
            (&chosen("c, d"), Some(&file), Some("c d")),
            (&chosen("none"), Some(&file), Some("")),
            (&chosen("auto"), Some(&file), None),
        ] {
            let found = names(settings, SKILLS, in_file.map(Vec::as_slice));
            assert_eq!(found.map(|names| names.join(" ")).as_deref(), wanted);
        }
    }
}
