//! How far the tools of a flow's roles reach, for a process that shows the flow and does not drive it.

use std::collections::BTreeMap;
use std::path::Path;

use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;
use a_society_roles::tool::ToolReach;
use a_society_state::{FlowRef, Store};

use super::{choices, docs, flow_file};
use crate::config::user;
use crate::run::file_is_of_project;

/// How far the tools of each role reach whose definition is at hand.
///
/// # Errors
/// When the flow's file or the operator's configuration cannot be used, in words.
pub fn of(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    state: &FlowState,
) -> Result<BTreeMap<RoleInstance, ToolReach>, String> {
    let disk = store.ground().disk.as_ref();
    let source = store.place(flow).whole_text(&state.graph.source);
    let source = source.map_err(|error| error.to_string())?;
    let file = flow_file::read_kept(source).map_err(|error| error.to_string())?;
    let roles = match file_is_of_project(&file, disk, project) {
        Some(home) => docs::folder::roles(disk, &home),
        None => file.roles,
    };
    let most = user::reach().map_err(|error| error.to_string())?;
    let nothing = BTreeMap::new();
    let each = file.graph.role_instances().filter_map(|role| {
        let mut named = roles.iter();
        let (_, definition) = named.find(|(name, _)| name.to_string() == role.base())?;
        let chosen = state.configurations.get(role);
        let settings = chosen.map_or(&nothing, |chosen| &chosen.settings);
        let reach = choices::reach(most.clone(), Some(definition), settings);
        Some((role.clone(), reach))
    });
    Ok(each.collect())
}
