//! The operator's choices for roles: models are chosen here too, and the rest is reported.

use std::collections::BTreeMap;

use a_society_facts::fact::operator::{ChosenBy, RoleConfigured};
use a_society_facts::id::RoleInstance;
use a_society_facts::{At, Fact};

use super::sketch::ImportSketch;
use super::source::{ForeignFile, ForeignFlow};
use super::version11::{Capabilities, ForeignModelChoice};
use crate::config::models::Catalog;
use crate::project::choices::MODEL;

/// The file with the model of a role.
pub(super) const MODEL_FILE: &str = "model.json";
/// The file with its skills and servers.
pub(super) const CAPABILITIES_FILE: &str = "capabilities.json";

/// Chooses for each role the model that it had. Of a model that the configuration does not know the role
/// asks before its next turn, as of any other that is not there.
pub(super) fn import(sketch: &mut ImportSketch<'_>, source: &ForeignFlow, catalog: &Catalog) {
    for (role, choice) in chosen::<ForeignModelChoice>(sketch, source, MODEL_FILE) {
        let known = known(catalog, &choice);
        if known.is_none() {
            let missing = format!(
                "{role} worked with the model {}, which the configuration does not have: it asks for \
                 another one before its next turn",
                choice.model_id
            );
            sketch.left.push(missing);
        }
        let model = known.map_or_else(|| choice.model_id.clone(), str::to_owned);
        let at = choice.selected_at.as_deref();
        let at: Option<At> = at.and_then(|at| at.parse().ok());
        let fact = Fact::RoleConfigured(RoleConfigured {
            role: role.clone(),
            settings: BTreeMap::from([(MODEL.to_owned(), model)]),
            by: ChosenBy::Operator,
            client: None,
        });
        let what = format!("the model of {role}");
        sketch.try_all(&what, |sketch| match at {
            Some(at) => sketch.say_at(at, fact),
            None => sketch.say(fact),
        });
    }
    for (role, choice) in chosen::<Capabilities>(sketch, source, CAPABILITIES_FILE) {
        for (what, names) in [
            ("skills", choice.skills),
            ("MCP servers", choice.mcp_servers),
        ] {
            if !names.is_empty() {
                let names = names.join(", ");
                let missing = format!("{role} worked with the {what} {names}: choose them anew");
                sketch.left.push(missing);
            }
        }
    }
}

/// The name that the configuration has for a model: its own, or that of one with the provider's id.
fn known<'c>(catalog: &'c Catalog, choice: &ForeignModelChoice) -> Option<&'c str> {
    let display = choice.display_name.as_deref();
    let by_name = |name: &str| name == choice.model_id || Some(name) == display;
    let mut models = catalog.models.iter();
    let found = models
        .clone()
        .find(|(name, _)| by_name(name))
        .or_else(|| models.find(|(_, spec)| spec.id == choice.model_id));
    found.map(|(name, _)| name.as_str())
}

/// The files of this name, by their roles. An unreadable one is reported as left out.
fn chosen<T: serde::de::DeserializeOwned>(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    name: &str,
) -> Vec<(RoleInstance, T)> {
    let mut found = Vec::new();
    for ForeignFile { path, bytes } in &source.files {
        let inside = path
            .strip_prefix("roles/")
            .and_then(|path| path.split_once('/'));
        let Some((role, _)) = inside.filter(|(_, file)| *file == name) else {
            continue;
        };
        match (role.parse(), serde_json::from_slice(bytes)) {
            (Ok(role), Ok(choice)) => found.push((role, choice)),
            (Err(why), _) => sketch.left.push(format!("{path}: {why}")),
            (_, Err(why)) => sketch.left.push(format!("{path}: {why}")),
        }
    }
    found
}
