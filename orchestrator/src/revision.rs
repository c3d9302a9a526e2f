//! What another graph would change for a flow that runs, judged before the flow gets it:
//! what is wrong with its file, what it changes, and why it would be refused.

use std::path::Path;

use a_society_facts::Verb;
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;
use a_society_flow::graph::{Diagnostic, FlowGraph, differences};
use a_society_flow::machine::{Brought, Commanded, Input, NewGraph, Refusal, decide};
use a_society_state::{FlowRef, Store};

use crate::control::fault;
use crate::control::message::ControlFault;
use crate::driver::error::DriverError;
use crate::limits::CHANGES_SAID_MAX;
use crate::project::docs::folder::over_canonical_of;
use crate::project::flow_file::{FlowFile, SNAPSHOT_NAME, inspect, read_kept};
use crate::run::{RunError, file_is_of_project, roles_before};

/// A graph as it was judged.
#[derive(Debug)]
pub struct RevisionJudgement {
    /// Everything that is remarkable about its file.
    pub diagnostics: Vec<Diagnostic>,
    /// What would be another, a sentence each; nothing if nothing would.
    pub changes: Vec<String>,
    /// Why it would be refused now; absent if it would be walked.
    pub refused: Option<ControlFault>,
    /// Each reason for that.
    pub reasons: Vec<String>,
}

/// The file of the graph that a flow walks now.
///
/// # Errors
/// When the flow cannot be read.
pub fn source_of(store: &Store, flow: &FlowRef) -> Result<String, RunError> {
    let look = store.look(flow)?;
    let text = &look.screen.flow.graph.source;
    Ok(store.place(flow).whole_text(text)?)
}

/// Judges a graph for a flow of the project in this folder. The flow itself gets no input.
///
/// # Errors
/// When the flow cannot be read.
pub fn judge(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    source: String,
) -> Result<RevisionJudgement, RunError> {
    let (file, diagnostics) = inspect(Path::new(SNAPSHOT_NAME), source);
    let Some(file) = file else {
        let refused = fault::of(&DriverError::NotAFlow(diagnostics.clone()));
        return Ok(RevisionJudgement {
            diagnostics,
            changes: Vec::new(),
            refused: Some(refused),
            reasons: Vec::new(),
        });
    };
    let look = store.look(flow)?;
    let state = &look.screen.flow;
    if !state.is_created() {
        return Err(RunError::NeverBegan);
    }
    let now = walked(store, flow, state)?;
    let disk = store.ground().disk.as_ref();
    let file = match file_is_of_project(&now, disk, project) {
        Some(home) => over_canonical_of(disk, &home, file)
            .map_err(|fault| DriverError::Graph(fault.to_string()))?,
        None => file,
    };
    let refused = refusal(&now.graph, state, &file);
    let reasons = match &refused {
        Some(Refusal::Revision { reasons }) => reasons.iter().map(ToString::to_string).collect(),
        Some(other) => vec![other.to_string()],
        None => Vec::new(),
    };
    Ok(RevisionJudgement {
        diagnostics,
        changes: changes(&now, &file),
        refused: refused.map(|refusal| fault::of(&DriverError::Refused(Box::new(refusal)))),
        reasons,
    })
}

/// The file that a flow walks now, with the roles that it has.
fn walked(store: &Store, flow: &FlowRef, state: &FlowState) -> Result<FlowFile, RunError> {
    let place = store.place(flow);
    let mut file = read_kept(place.whole_text(&state.graph.source)?)?;
    let read = |text: &Text| place.whole_text(text).ok();
    if !file.defines_roles
        && let Some(roles) = roles_before(store, flow, &read)?
    {
        (file.roles, file.defines_roles) = (roles, true);
    }
    Ok(file)
}

fn refusal(now: &FlowGraph, state: &FlowState, file: &FlowFile) -> Option<Refusal> {
    let new = NewGraph {
        graph: Box::new(file.graph.clone()),
        source: Text::Inline(file.source.clone()),
    };
    let input = Input::Commanded(Commanded {
        client: None,
        verb: Verb::Revise {
            source: String::new(),
        },
        brought: Brought::Graph(new),
    });
    decide(now, state, input).err()
}

/// What would be another: in the graph, and in roles as far as the file defines them.
fn changes(now: &FlowFile, file: &FlowFile) -> Vec<String> {
    let mut said = differences(&now.graph, &file.graph);
    if file.defines_roles {
        for (name, role) in &file.roles {
            match now.roles.get(name) {
                None if now.defines_roles => said.push(format!("the role `{name}` is new")),
                None => said.push(format!(
                    "the role `{name}` is the file's, not the project's"
                )),
                Some(before) if before != role => {
                    said.push(format!("the role `{name}` is another"))
                }
                Some(_) => {}
            }
        }
        let gone = now
            .roles
            .keys()
            .filter(|name| !file.roles.contains_key(*name));
        said.extend(gone.map(|name| format!("the role `{name}` is gone")));
    }
    let more = said.len().saturating_sub(CHANGES_SAID_MAX);
    if more > 0 {
        said.truncate(CHANGES_SAID_MAX);
        said.push(format!("and {more} more"));
    }
    said
}
