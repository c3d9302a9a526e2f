//! From the text of a flow file to its graph, or to everything that is wrong with it.
//!
//! Three steps: YAML to a tree (`yaml`), the tree to a draft that says what the file says (here,
//! and `parse_role` for inline roles), the draft to a sound graph (`validate`). Each step reports
//! all of its faults; a later step leaves alone what an earlier one could not read.

use std::collections::BTreeSet;

use a_society_yaml::{ParseBudget, Span, Value, YamlFaultKind, YamlTree};

use super::diagnostic::{Code, Diagnostic, DiagnosticSink, quoted};
use super::keys;
use super::limits::MAX_FILE_BYTES;
use super::model::{FlowGraph, GraphFile};
use super::name::{self, NodeId, RoleInstance, RoleName, kebab_of};
use super::parse_role::{DraftRoles, read_budget, roles};
use super::project_file::read_ends;
use super::validate;
use super::walk::{self, CheckedFields};

/// Reads a flow file for its graph. The graph is there when no diagnostic is an error.
pub fn parse(text: &str, file_name: &str) -> (Option<FlowGraph>, Vec<Diagnostic>) {
    let (file, diagnostics) = parse_file(text, file_name);
    (file.map(|file| file.workflow), diagnostics)
}

/// Reads a whole flow file, with the roles it defines.
pub fn parse_file(text: &str, file_name: &str) -> (Option<GraphFile>, Vec<Diagnostic>) {
    parse_with(text, file_name, None)
}

/// Reads a flow file whose roles come from elsewhere, unless it defines them itself.
pub fn parse_with_roles(
    text: &str,
    file_name: &str,
    known: &BTreeSet<RoleName>,
) -> (Option<GraphFile>, Vec<Diagnostic>) {
    parse_with(text, file_name, Some(known))
}

fn parse_with(
    text: &str,
    file_name: &str,
    known: Option<&BTreeSet<RoleName>>,
) -> (Option<GraphFile>, Vec<Diagnostic>) {
    let mut sink = DiagnosticSink::new(text, file_name);
    let file = tree(&mut sink, text).and_then(|tree| read_file(&mut sink, &tree, known));
    (file, sink.finish())
}

/// The tree of a file, if it is YAML; if not, the fault is reported.
pub(super) fn tree(sink: &mut DiagnosticSink<'_>, text: &str) -> Option<YamlTree> {
    if text.len() > MAX_FILE_BYTES {
        let message = format!(
            "the file has {} bytes, and a flow file may have {MAX_FILE_BYTES}",
            text.len()
        );
        sink.error(Code::FileTooLarge, Span::default(), message, None);
        return None;
    }
    match a_society_yaml::parse(text, ParseBudget::FLOW_FILE) {
        Ok(tree) => Some(tree),
        Err(fault) => {
            let (code, hint) = match fault.kind {
                YamlFaultKind::Syntax => (Code::Syntax, syntax_hint(text, fault.span)),
                YamlFaultKind::Limit => (Code::BeyondLimit, None),
            };
            sink.error(code, fault.span, fault.message, hint);
            None
        }
    }
}

/// The two mistakes that YAML explains worst.
fn syntax_hint(text: &str, span: Span) -> Option<String> {
    let start = text.floor_char_boundary((span.start_byte as usize).min(text.len()));
    let (before, after) = text.split_at_checked(start)?;
    let is_indent = |letter: char| letter == ' ' || letter == '\t';
    let indent_before = before
        .chars()
        .rev()
        .take(1_000)
        .take_while(|letter| is_indent(*letter));
    let indent_after = after
        .chars()
        .take(1_000)
        .take_while(|letter| is_indent(*letter));
    if indent_before
        .chain(indent_after)
        .any(|letter| letter == '\t')
    {
        return Some("YAML is indented with spaces, never with tabs".to_owned());
    }
    let line_after = after.lines().next().unwrap_or_default();
    let is_second_colon = line_after.starts_with(':') || line_after.starts_with(" :");
    is_second_colon.then(|| "a text that contains `: ` must be quoted".to_owned())
}

/// A graph as the file says it, before anybody has asked whether it makes sense.
#[derive(Debug, Default)]
pub(super) struct GraphDraft {
    pub name: Option<String>,
    pub summary: Option<String>,
    /// `None` when the file's list could not be read at all.
    pub nodes: Option<Vec<DraftNode>>,
    pub edges: Option<Vec<DraftEdge>>,
}

/// A name as it is written, with its place. It may not be well formed.
#[derive(Debug, Clone)]
pub(super) struct WrittenName {
    pub text: String,
    pub span: Span,
}

#[derive(Debug, Default)]
pub(super) struct DraftNode {
    pub span: Span,
    /// As written, so that edges to a badly named node are not reported as well.
    pub written_id: Option<WrittenName>,
    pub id: Option<NodeId>,
    pub role: Option<RoleInstance>,
    pub role_span: Span,
    pub work: Option<Vec<String>>,
    pub required_readings: Option<Vec<String>>,
    pub human_colab: Option<bool>,
    pub await_all_inputs: Option<bool>,
}

#[derive(Debug, Default)]
pub(super) struct DraftEdge {
    pub span: Span,
    pub from: Option<WrittenName>,
    pub to: Option<WrittenName>,
    pub optional: bool,
}

fn read_file(
    sink: &mut DiagnosticSink<'_>,
    tree: &YamlTree,
    known: Option<&BTreeSet<RoleName>>,
) -> Option<GraphFile> {
    if matches!(tree.value, Value::Null) {
        let hint = "a flow file begins with `workflow:`".to_owned();
        sink.error(Code::Empty, tree.span, "the file is empty", Some(hint));
        return None;
    }
    let fields = CheckedFields::read(sink, tree, "a flow file", keys::FILE)?;
    let workflow = fields.required(sink, "workflow");
    let draft = workflow.and_then(|workflow| read_workflow(sink, workflow));
    let roles = fields.get("roles").map(|tree| roles(sink, tree));
    let budget = fields
        .get("budget")
        .and_then(|tree| read_budget(sink, tree));
    let ends = read_ends(sink, &fields);
    // What it holds is for other programs, and is not read here.
    let metadata = fields.get("metadata");
    if let Some(tree) = metadata.filter(|tree| !matches!(tree.value, Value::Map(_))) {
        walk::wrong_type(sink, tree, "`metadata`", "a mapping", None);
    }
    if let (Some(draft), Some(roles)) = (&draft, &roles) {
        check_roles_are_defined(sink, draft, roles);
    } else if let (Some(draft), Some(known)) = (&draft, known) {
        check_roles_are_known(sink, draft, known);
    }
    let workflow = validate::validate(sink, draft?)?;
    let roles = match roles {
        None => None,
        Some(roles) => Some(roles.finish()?),
    };
    (sink.errors() == 0).then_some(GraphFile {
        workflow,
        roles,
        budget,
        ends,
    })
}

fn read_workflow(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<GraphDraft> {
    let fields = CheckedFields::read(sink, tree, "a workflow", keys::WORKFLOW)?;
    let name = fields.required(sink, "name");
    let nodes = fields.required(sink, "nodes");
    let edges = fields.required(sink, "edges");
    Some(GraphDraft {
        name: name.and_then(|tree| owned_text(sink, tree, "`name`")),
        summary: fields
            .get("summary")
            .and_then(|tree| owned_text(sink, tree, "`summary`")),
        nodes: nodes.and_then(|tree| read_nodes(sink, tree)),
        edges: edges.and_then(|tree| read_edges(sink, tree)),
    })
}

fn owned_text(sink: &mut DiagnosticSink<'_>, tree: &YamlTree, what: &str) -> Option<String> {
    walk::text(sink, tree, what).map(str::to_owned)
}

fn read_nodes(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<Vec<DraftNode>> {
    let items = walk::list(sink, tree, "`nodes`")?;
    if items.is_empty() {
        let hint = "a flow has at least the node of its owner".to_owned();
        sink.error(Code::Empty, tree.span, "`nodes` is empty", Some(hint));
        return None;
    }
    Some(items.iter().map(|item| read_node(sink, item)).collect())
}

fn read_node(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> DraftNode {
    let mut node = DraftNode {
        span: tree.span,
        role_span: tree.span,
        ..DraftNode::default()
    };
    let Some(fields) = CheckedFields::read(sink, tree, "a node", keys::NODE) else {
        return node;
    };
    if let Some(written) = fields
        .required(sink, "id")
        .and_then(|tree| written(sink, tree, "`id`"))
    {
        node.id = node_id(sink, &written);
        node.written_id = Some(written);
    }
    if let Some(written) = fields
        .required(sink, "role")
        .and_then(|tree| written(sink, tree, "`role`"))
    {
        node.role_span = written.span;
        node.role = role_instance(sink, &written);
    }
    node.work = fields
        .get("work")
        .and_then(|tree| walk::texts(sink, tree, "`work`"));
    node.required_readings = fields
        .get("required_readings")
        .and_then(|tree| walk::texts(sink, tree, "`required_readings`"));
    node.human_colab = fields
        .get("human-colab")
        .and_then(|tree| walk::boolean(sink, tree, "`human-colab`"));
    node.await_all_inputs = fields
        .get("await-all-inputs")
        .and_then(|tree| walk::boolean(sink, tree, "`await-all-inputs`"));
    node
}

fn written(sink: &mut DiagnosticSink<'_>, tree: &YamlTree, what: &str) -> Option<WrittenName> {
    let text = walk::text(sink, tree, what)?.to_owned();
    Some(WrittenName {
        text,
        span: tree.span,
    })
}

fn node_id(sink: &mut DiagnosticSink<'_>, written: &WrittenName) -> Option<NodeId> {
    match name::node_id(&written.text) {
        Ok(id) => Some(id),
        Err(fault) => {
            let message = format!("{} cannot be a node id: {fault}", quoted(&written.text));
            sink.error(
                Code::BadNodeId,
                written.span,
                message,
                kebab_hint(&written.text),
            );
            None
        }
    }
}

fn role_instance(sink: &mut DiagnosticSink<'_>, written: &WrittenName) -> Option<RoleInstance> {
    match name::role_instance(&written.text) {
        Ok(role) => Some(role),
        Err(fault) => {
            let message = format!("{} cannot be a role: {fault}", quoted(&written.text));
            sink.error(
                Code::BadRoleInstance,
                written.span,
                message,
                kebab_hint(&written.text),
            );
            None
        }
    }
}

pub(super) fn kebab_hint(text: &str) -> Option<String> {
    kebab_of(text)
        .filter(|name| name != text)
        .map(|name| format!("`{name}` would do"))
}

fn read_edges(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<Vec<DraftEdge>> {
    let items = walk::list(sink, tree, "`edges`")?;
    Some(items.iter().map(|item| read_edge(sink, item)).collect())
}

fn read_edge(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> DraftEdge {
    let mut edge = DraftEdge {
        span: tree.span,
        ..DraftEdge::default()
    };
    let Some(fields) = CheckedFields::read(sink, tree, "an edge", keys::EDGE) else {
        return edge;
    };
    edge.from = fields
        .required(sink, "from")
        .and_then(|tree| written(sink, tree, "`from`"));
    edge.to = fields
        .required(sink, "to")
        .and_then(|tree| written(sink, tree, "`to`"));
    let optional = fields.get("optional");
    edge.optional = optional
        .and_then(|tree| walk::boolean(sink, tree, "`optional`"))
        .unwrap_or(false);
    edge
}

/// A role that the project does not have is reported where a node names it.
fn check_roles_are_known(
    sink: &mut DiagnosticSink<'_>,
    draft: &GraphDraft,
    known: &BTreeSet<RoleName>,
) {
    for node in draft.nodes.iter().flatten() {
        let Some(role) = &node.role else { continue };
        let base = name::base_role(role);
        if known.contains(&base) {
            continue;
        }
        let message = format!("the role `{base}` is not among the roles of the project");
        let names = known.iter().map(RoleName::as_str);
        let near = sink.nearest.did_you_mean(base.as_str(), names);
        let hint = near.unwrap_or_else(|| format!("describe it in a-docs/roles/{base}/main.md"));
        sink.error(Code::UndefinedRole, node.role_span, message, Some(hint));
    }
}

/// A file that defines roles defines all of them, so that a misspelt role is found at once.
fn check_roles_are_defined(sink: &mut DiagnosticSink<'_>, draft: &GraphDraft, roles: &DraftRoles) {
    let mut users: BTreeSet<String> = BTreeSet::new();
    for node in draft.nodes.iter().flatten() {
        let Some(role) = &node.role else { continue };
        let base = name::base_role(role);
        users.insert(base.as_str().to_owned());
        if !roles.names.contains_key(base.as_str()) {
            let message = format!("the role `{base}` is not among the roles of this file");
            let names = roles.names.keys().map(String::as_str);
            let hint = sink
                .nearest
                .did_you_mean(base.as_str(), names)
                .or_else(|| Some(format!("define `{base}` under `roles`")));
            sink.error(Code::UndefinedRole, node.role_span, message, hint);
        }
    }
    for (name, span) in &roles.names {
        // A name that is not well formed has been reported, and no node can use it.
        if !users.contains(name) && RoleName::parse(name).is_ok() {
            let message = format!("no node has the role {}", quoted(name));
            sink.warning(Code::UnusedRole, *span, message, None);
        }
    }
}
