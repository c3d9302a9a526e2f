//! A graph as text for people and for drawing programs, and a flow file as YAML.

use std::fmt::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

use super::model::{Edge, FlowGraph, GraphFile, GraphNode, NodeIndex};

/// A flow file that could not be written as YAML. No sound file is known to do that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderFault(String);

impl fmt::Display for RenderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the flow file cannot be written as YAML: {}", self.0)
    }
}

impl std::error::Error for RenderFault {}

/// The file as YAML that reads back to the same file.
pub fn to_yaml(file: &GraphFile) -> Result<String, RenderFault> {
    a_society_yaml::render(file).map_err(RenderFault)
}

/// The file as YAML with what other programs may want to know of it. Reading it back gives the same file.
pub fn to_yaml_with_metadata(file: &GraphFile, metadata: &Value) -> Result<String, RenderFault> {
    #[derive(Serialize)]
    struct WithMetadata<'f> {
        #[serde(flatten)]
        file: &'f GraphFile,
        metadata: &'f Value,
    }
    a_society_yaml::render(&WithMetadata { file, metadata }).map_err(RenderFault)
}

/// Writing into a `String` cannot fail, so that nothing is lost by not looking.
fn line(out: &mut String, text: fmt::Arguments<'_>) {
    let _written = out.write_fmt(text);
    out.push('\n');
}

/// The words after a node's role that say how it differs from a plain node.
fn marks(graph: &FlowGraph, index: NodeIndex, node: &GraphNode) -> Vec<&'static str> {
    let all = [
        (index == graph.start(), "start"),
        (index == graph.closing(), "closing"),
        (node.is_human_colab(), "human-colab"),
        (node.awaits_all_inputs(), "await-all-inputs"),
    ];
    all.into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, word)| word)
        .collect()
}

/// One line per node, each after its predecessors.
pub fn to_text(graph: &FlowGraph) -> String {
    let mut out = String::new();
    let (nodes, edges) = (graph.nodes().len(), graph.edges().len());
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    line(
        &mut out,
        format_args!(
            "{} ({nodes} node{}, {edges} edge{}, owner {})",
            one_line(graph.name()),
            plural(nodes),
            plural(edges),
            graph.owner(),
        ),
    );
    if let Some(summary) = graph.summary() {
        line(&mut out, format_args!("{}", one_line(summary)));
    }
    out.push('\n');
    let width = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0).min(40);
    let id_width = width(&mut graph.nodes().iter().map(|node| node.id.as_str().len()));
    let role_width = width(&mut graph.nodes().iter().map(|node| node.role.as_str().len()));
    for index in graph.topological_order() {
        let node = graph.node_at(index);
        let name = format!("{:id_width$}  {:role_width$}", node.id, node.role);
        let row = [
            name,
            marks_text(graph, index, node),
            targets_text(graph, index),
        ]
        .concat();
        line(&mut out, format_args!("{}", row.trim_end()));
    }
    out
}

fn marks_text(graph: &FlowGraph, index: NodeIndex, node: &GraphNode) -> String {
    let marks = marks(graph, index, node);
    if marks.is_empty() {
        String::new()
    } else {
        format!("  [{}]", marks.join(", "))
    }
}

/// Where the node hands forward to; a `?` marks an optional edge.
fn targets_text(graph: &FlowGraph, index: NodeIndex) -> String {
    let targets = graph
        .outgoing(index)
        .iter()
        .map(|edge| graph.edge_at(*edge));
    let target = |edge: &Edge| {
        let mark = if edge.optional { "?" } else { "" };
        format!("{}{mark}", graph.node_at(edge.to).id)
    };
    let targets: Vec<String> = targets.map(target).collect();
    if targets.is_empty() {
        String::new()
    } else {
        format!("  → {}", targets.join(", "))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A Mermaid flowchart. Nodes are numbered, because ids such as `end` are words of Mermaid's.
pub fn to_mermaid(graph: &FlowGraph) -> String {
    let mut out = String::new();
    line(
        &mut out,
        format_args!(
            "---\ntitle: {}\n---\nflowchart TD",
            in_quotes(&one_line(graph.name()))
        ),
    );
    for (index, node) in graph.indexed_nodes() {
        let (open, close) = if index == graph.start() || index == graph.closing() {
            ("([", "])")
        } else if node.is_human_colab() {
            ("{{", "}}")
        } else {
            ("[", "]")
        };
        let number = index.position();
        line(
            &mut out,
            format_args!(
                "    n{number}{open}\"{}<br/>{}\"{close}",
                node.id, node.role
            ),
        );
    }
    for edge in graph.edges() {
        let arrow = if edge.optional { "-.->" } else { "-->" };
        let (from, to) = (edge.from.position(), edge.to.position());
        line(&mut out, format_args!("    n{from} {arrow} n{to}"));
    }
    out
}

/// A Graphviz digraph.
pub fn to_dot(graph: &FlowGraph) -> String {
    let mut out = String::from("digraph flow {\n");
    line(
        &mut out,
        format_args!("    label={};", in_quotes(&one_line(graph.name()))),
    );
    line(
        &mut out,
        format_args!("    node [shape=box, style=rounded];"),
    );
    for (index, node) in graph.indexed_nodes() {
        let marks = marks(graph, index, node);
        let line_width = if marks.contains(&"start") || marks.contains(&"closing") {
            2
        } else {
            1
        };
        line(
            &mut out,
            format_args!(
                "    \"{}\" [label=\"{}\\n{}\", penwidth={line_width}];",
                node.id, node.id, node.role,
            ),
        );
    }
    for edge in graph.edges() {
        let style = if edge.optional { " [style=dashed]" } else { "" };
        let (from, to) = (&graph.node_at(edge.from).id, &graph.node_at(edge.to).id);
        line(&mut out, format_args!("    \"{from}\" -> \"{to}\"{style};"));
    }
    out.push_str("}\n");
    out
}

/// A text in double quotes, for Graphviz and for Mermaid's title, which is YAML.
fn in_quotes(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::super::parse_file;
    use super::*;

    const FLOW: &str = r#"
workflow:
  name: Release "notes"
  summary: |
    What is new,
    in words.
  nodes:
    - { id: owner-intake, role: owner }
    - { id: writer, role: writer, work: ["Write: it", "- twice"], human-colab: true }
    - { id: legal, role: writer_2 }
    - { id: end, role: owner, await-all-inputs: true }
  edges:
    - { from: owner-intake, to: writer }
    - { from: writer, to: legal, optional: true }
    - { from: legal, to: end }
    - { from: writer, to: end }
roles:
  owner: { instructions: "Own it.\n" }
  writer:
    executor: command
    command: { run: [sh, -c, "true"], on-exit: { 0: forward, otherwise: prompt-human } }
"#;

    fn file() -> GraphFile {
        let (file, diagnostics) = parse_file(FLOW, "flow.yaml");
        file.unwrap_or_else(|| panic!("{diagnostics:?}"))
    }

    #[test]
    fn the_text_shows_one_line_per_node_in_the_order_of_the_work() {
        insta::assert_snapshot!(to_text(&file().workflow));
    }

    #[test]
    fn mermaid_gets_numbers_for_ids_and_dashes_for_optional_edges() {
        insta::assert_snapshot!(to_mermaid(&file().workflow));
    }

    #[test]
    fn dot_gets_quoted_names() {
        insta::assert_snapshot!(to_dot(&file().workflow));
    }

    #[test]
    fn yaml_reads_back_to_the_same_file() {
        let text = to_yaml(&file()).unwrap();
        let (again, diagnostics) = parse_file(&text, "again.yaml");
        assert_eq!(again.as_ref(), Some(&file()), "{text}\n{diagnostics:?}");
        insta::assert_snapshot!(text);
    }
}
