//! Which model each role of a flow has, as far as that is decided before its first turn.

use std::collections::BTreeMap;

use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;
use a_society_flow::graph::Executor;
use a_society_state::{FlowRef, Store};

use crate::config::user;
use crate::project::choices::{AUTO, MODEL};
use crate::project::docs::folder::roles;
use crate::project::flow_file::{SCRIPT_NAME, read_kept};
use crate::project::place::folder_of;

/// The model that each role was given so far.
#[must_use]
pub fn configured(state: &FlowState) -> BTreeMap<RoleInstance, String> {
    let roles = state.configurations.iter();
    let models =
        roles.filter_map(|(role, kept)| Some((role.clone(), kept.settings.get(MODEL)?.clone())));
    models.collect()
}

/// Whether a script plays all roles of a flow, whichever models are chosen for them.
#[must_use]
pub fn is_scripted(store: &Store, flow: &FlowRef) -> bool {
    let script = store.place(flow).record().join(SCRIPT_NAME);
    store.ground().disk.about(&script).is_ok()
}

/// The model of each role that a model plays, as far as that is decided before its first turn.
#[must_use]
pub fn role_models(
    store: &Store,
    flow: &FlowRef,
    state: &FlowState,
) -> BTreeMap<RoleInstance, String> {
    let place = store.place(flow);
    let mut models = configured(state);
    if is_scripted(store, flow) {
        return models;
    }
    let (_, catalog) = user::catalog().unwrap_or_default();
    let source = place.whole_text(&state.graph.source).unwrap_or_default();
    let kept = read_kept(source).ok();
    let own = kept.filter(|kept| kept.defines_roles);
    let roles = own.map_or_else(
        || {
            roles(
                store.ground().disk.as_ref(),
                &folder_of(store, &flow.project),
            )
        },
        |own| own.roles,
    );
    for node in &state.graph.nodes {
        let mut defined = roles.iter();
        let defined = defined.find(|(name, _)| name.to_string() == node.role.base());
        let Some((_, role)) = defined.filter(|(_, role)| role.executor() == Executor::Model) else {
            continue;
        };
        // Where a model chooses, its choice is a fact of its own.
        let named = role.model.clone().filter(|name| name != AUTO);
        let model = named.or_else(|| catalog.model.clone());
        if let Some(model) = model {
            models.entry(node.role.clone()).or_insert(model);
        }
    }
    models
}
