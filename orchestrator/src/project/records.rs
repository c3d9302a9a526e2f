//! What the runtime itself writes into a record folder: what the flow is, and how its roles look
//! back.
//!
//! All of them come from the facts and from the graph, so that they come back with the same bytes;
//! nothing here reads them. `input.md` is what the flow was asked to do, for roles to read again; the
//! others are YAML for people and programs that look, and every text in them is quoted as JSON quotes
//! it, which is also how YAML does.

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::Improvement;
use a_society_flow::graph::FlowGraph;
use a_society_flow::machine::{findings_path, report_path};

/// What the flow is.
pub(crate) const RECORD_NAME: &str = "record.yaml";

/// What the flow was asked to do, byte for byte.
pub(crate) const INPUT_NAME: &str = "input.md";

/// The graph along which roles look back.
pub(crate) const IMPROVEMENT_NAME: &str = "improvement.yaml";

/// The record: the flow's names, and what its snapshot says about the work.
#[must_use]
pub(crate) fn record(graph: &FlowGraph, state: &FlowState) -> String {
    let mut lines = vec![
        "# Written by the runtime; what is changed here is written over.".to_owned(),
        "record:".to_owned(),
    ];
    let mut add = |key: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("  {key}: {}", quoted(&value))));
    };
    add("flow", state.flow_id.as_ref().map(ToString::to_string));
    add("project", state.project.as_ref().map(ToString::to_string));
    add("title", Some(state.title.clone()));
    add("created", state.created_at.map(|at| at.to_string()));
    add("name", Some(graph.name().to_owned()));
    add("summary", graph.summary().map(str::to_owned));
    add("owner", Some(graph.owner().to_string()));
    add(
        "forked-from",
        state.parent.as_ref().map(|p| p.flow.to_string()),
    );
    whole(lines)
}

/// The graph of the improvement phase, once it has begun: who looks back after whom. An edge leads
/// from the role that writes findings to the one that gets them.
#[must_use]
pub(crate) fn improvement(state: &FlowState) -> Option<String> {
    let improvement = state.improvement.as_ref()?;
    let mode = match improvement.mode {
        ImprovementMode::GraphBased => "graph-based",
        ImprovementMode::Parallel => "parallel",
        ImprovementMode::None => return None,
    };
    let mut lines = vec![
        "# Written by the runtime; what is changed here is written over.".to_owned(),
        "improvement:".to_owned(),
        format!("  mode: {mode}"),
        "  nodes:".to_owned(),
    ];
    lines.extend(improvement.plan.iter().map(|step| {
        let findings = quoted(&findings_path(&step.role));
        format!("    - {{ role: {}, findings: {findings} }}", step.role)
    }));
    let edges: Vec<String> = edges(improvement).collect();
    if edges.is_empty() {
        lines.push("  edges: []".to_owned());
    } else {
        lines.push("  edges:".to_owned());
        lines.extend(edges);
    }
    if let Some(role) = &improvement.feedback.role {
        let report = quoted(report_path());
        lines.push(format!("  feedback: {{ role: {role}, report: {report} }}"));
    }
    Some(whole(lines))
}

fn edges(improvement: &Improvement) -> impl Iterator<Item = String> {
    improvement.plan.iter().flat_map(|step| {
        let to = &step.role;
        let line = move |from| format!("    - {{ from: {from}, to: {to} }}");
        step.after.iter().map(line)
    })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn whole(lines: Vec<String>) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}
