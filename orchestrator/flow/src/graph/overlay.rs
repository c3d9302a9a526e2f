//! A flow's own snapshot laid over the project's canonical graph, field by field.
//!
//! The snapshot says which nodes and edges there are. Where it leaves a field of a node out, the
//! canonical node of the same id speaks; an empty list is written and counts. The same holds for
//! the fields of inline roles. The result has the snapshot's structure, so that it is sound.

use std::collections::BTreeMap;

use super::model::{FlowGraph, GraphFile, GraphNode};
use super::name::RoleName;
use super::role::InlineRole;

/// The contract of a running flow.
pub fn overlay(canonical: &GraphFile, snapshot: &GraphFile) -> GraphFile {
    GraphFile {
        workflow: overlay_graph(&canonical.workflow, &snapshot.workflow),
        roles: overlay_roles(canonical.roles.as_ref(), snapshot.roles.as_ref()),
        budget: (snapshot.budget.as_ref())
            .or(canonical.budget.as_ref())
            .cloned(),
        ends: snapshot.ends.or(canonical.ends),
    }
}

/// The contract of a running flow's graph.
pub fn overlay_graph(canonical: &FlowGraph, snapshot: &FlowGraph) -> FlowGraph {
    let mut contract = snapshot.clone();
    contract.summary = snapshot
        .summary
        .clone()
        .or_else(|| canonical.summary.clone());
    for node in &mut contract.nodes {
        if let Some(below) = canonical.node(&node.id) {
            overlay_node(below, node);
        }
    }
    contract
}

/// `id` and `role` are required, so that they are always the snapshot's.
fn overlay_node(below: &GraphNode, node: &mut GraphNode) {
    fill(&mut node.work, &below.work);
    fill(&mut node.required_readings, &below.required_readings);
    fill(&mut node.human_colab, &below.human_colab);
    fill(&mut node.await_all_inputs, &below.await_all_inputs);
}

fn fill<T: Clone>(field: &mut Option<T>, below: &Option<T>) {
    if field.is_none() {
        field.clone_from(below);
    }
}

type InlineRoles = BTreeMap<RoleName, InlineRole>;

fn overlay_roles(
    canonical: Option<&InlineRoles>,
    snapshot: Option<&InlineRoles>,
) -> Option<InlineRoles> {
    let (Some(canonical), Some(snapshot)) = (canonical, snapshot) else {
        return snapshot.or(canonical).cloned();
    };
    let mut roles = canonical.clone();
    for (name, over) in snapshot {
        let role = canonical
            .get(name)
            .map_or_else(|| over.clone(), |below| overlay_role(below, over));
        roles.insert(name.clone(), role);
    }
    Some(roles)
}

fn overlay_role(below: &InlineRole, over: &InlineRole) -> InlineRole {
    // A role that changes who takes its turns is another role: a model's keys mean nothing to it.
    if below.executor() != over.executor() {
        return over.clone();
    }
    let mut role = over.clone();
    fill(&mut role.instructions, &below.instructions);
    fill(&mut role.executor, &below.executor);
    fill(&mut role.model, &below.model);
    fill(&mut role.effort, &below.effort);
    fill(&mut role.tools, &below.tools);
    fill(&mut role.mcp_servers, &below.mcp_servers);
    fill(&mut role.skills, &below.skills);
    fill(&mut role.required_readings, &below.required_readings);
    fill(&mut role.command, &below.command);
    if let (Some(over), Some(below)) = (&role.permissions, &below.permissions) {
        role.permissions = Some(below.narrowed(over));
    }
    fill(&mut role.permissions, &below.permissions);
    fill(&mut role.budget, &below.budget);
    role
}

#[cfg(test)]
mod tests {
    use super::super::parse_file;
    use super::*;

    fn read(text: &str) -> GraphFile {
        let (file, diagnostics) = parse_file(text, "flow.yaml");
        file.unwrap_or_else(|| panic!("{diagnostics:?}"))
    }

    const CANONICAL: &str = "
workflow:
  name: canonical
  summary: from below
  nodes:
    - { id: a, role: owner, work: [below], required_readings: [$X], human-colab: true }
    - { id: b, role: writer, await-all-inputs: true }
    - { id: gone, role: writer }
    - { id: z, role: owner }
  edges: [{ from: a, to: b }, { from: b, to: gone }, { from: gone, to: z }]
roles:
  owner: { instructions: below, model: small }
  writer: { executor: human }
";

    const SNAPSHOT: &str = "
workflow:
  name: snapshot
  nodes:
    - { id: z, role: owner }
    - { id: b, role: writer_2, await-all-inputs: false }
    - { id: new, role: owner, work: [over] }
    - { id: a, role: owner, work: [], human-colab: false }
  edges: [{ from: a, to: b }, { from: a, to: new }, { from: new, to: z }, { from: b, to: z }]
roles:
  owner: { instructions: over }
  writer: { executor: command, command: { run: [make] } }
";

    #[test]
    fn nodes_and_edges_are_the_snapshots_and_missing_fields_come_from_below() {
        let contract = overlay(&read(CANONICAL), &read(SNAPSHOT)).workflow;
        let ids: Vec<&str> = contract
            .nodes()
            .iter()
            .map(|node| node.id.as_str())
            .collect();
        assert_eq!(ids, ["z", "b", "new", "a"]);
        assert_eq!(contract.edges().len(), 4);
        assert_eq!(
            (contract.name(), contract.summary()),
            ("snapshot", Some("from below"))
        );
        let [_, b, new, a] = contract.nodes() else {
            panic!("four nodes")
        };
        assert_eq!(b.role.as_str(), "writer_2");
        assert_eq!(b.await_all_inputs, Some(false));
        assert_eq!(new.work(), ["over"]);
        assert_eq!(a.work, Some(vec![]), "an empty list is a list");
        assert_eq!(a.required_readings(), ["$X"]);
        assert_eq!(a.human_colab, Some(false));
    }

    #[test]
    fn inline_roles_are_overlaid_field_by_field_unless_another_executor_takes_over() {
        let roles = overlay(&read(CANONICAL), &read(SNAPSHOT)).roles.unwrap();
        let owner = &roles["owner"];
        assert_eq!(owner.instructions.as_deref(), Some("over"));
        assert_eq!(owner.model.as_deref(), Some("small"));
        assert_eq!(roles["writer"].command.as_ref().unwrap().run, ["make"]);
    }

    #[test]
    fn a_snapshot_laid_over_itself_is_itself() {
        let file = read(SNAPSHOT);
        assert_eq!(overlay(&file, &file), file);
    }
}
