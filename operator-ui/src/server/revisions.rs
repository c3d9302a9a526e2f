//! The graph that a flow walks, and what another one would change for it before it is applied.

use a_society_orchestrator::control::client::Unsaid;
use a_society_orchestrator::revision;
use a_society_orchestrator::run::RunError;
use a_society_state::FlowRef;

use super::app::Shared;
use super::commands::{from_unsaid, wire_fault};
use crate::protocol::Fault;
use crate::protocol::http::{GraphFinding, GraphText, JudgedGraph};

fn failed(error: RunError) -> Fault {
    from_unsaid(Unsaid::Run(error))
}

/// The file of the graph that is walked now.
pub(super) fn walked(app: &Shared, flow: &FlowRef) -> Result<GraphText, Fault> {
    let source = revision::source_of(&app.hubs.store, flow).map_err(failed)?;
    Ok(GraphText { source })
}

/// What another graph would change.
pub(super) fn judge(app: &Shared, flow: &FlowRef, source: String) -> Result<JudgedGraph, Fault> {
    let project = app.project_folder(flow);
    let judged = revision::judge(&app.hubs.store, flow, &project, source).map_err(failed)?;
    let findings = judged.diagnostics.iter().map(|found| GraphFinding {
        is_error: found.is_error(),
        line: u64::from(found.line),
        words: found.to_string(),
    });
    Ok(JudgedGraph {
        findings: findings.collect(),
        changes: judged.changes,
        refused: judged.refused.map(wire_fault),
        reasons: judged.reasons,
    })
}
