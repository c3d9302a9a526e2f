//! What a flow file may say, fault by fault: each row is a file and everything found in it.

use std::fmt::Write as _;

use super::*;

/// Wraps nodes and edges into a file; nodes begin in line 4.
fn flow(nodes: &str, edges: &str) -> String {
    let edges = if edges.is_empty() {
        " []\n".to_owned()
    } else {
        format!("\n{edges}")
    };
    format!("workflow:\n  name: t\n  nodes:\n{nodes}  edges:{edges}")
}

/// Diagnostics as `G012 9:15`.
fn found(text: &str) -> Vec<String> {
    let (graph, diagnostics) = parse(text, "flow.yaml");
    let has_error = diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(graph.is_none(), has_error, "{diagnostics:#?}");
    let short =
        |found: &Diagnostic| format!("{} {}:{}", found.code.as_str(), found.line, found.column);
    diagnostics.iter().map(short).collect()
}

/// Compares every row before it fails, so that a change of the parser is seen as a whole.
fn check(table: &[(&str, String, &[&str])]) {
    let rows = table
        .iter()
        .map(|(name, text, expected)| (name, found(text), expected));
    let wrong: Vec<String> = rows
        .filter(|(_, found, expected)| found != *expected)
        .map(|(name, found, expected)| format!("{name}: {found:?} instead of {expected:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const A_B_Z: &str = "  - { id: a, role: owner }
  - { id: b, role: writer }
  - { id: z, role: owner }
";

#[test]
fn sound_files_of_many_shapes_have_no_diagnostics() {
    let line = flow(A_B_Z, "  - { from: a, to: b }\n  - { from: b, to: z }\n");
    let table: &[(&str, String, &[&str])] = &[
        ("a line", line.clone(), &[]),
        ("with CRLF", line.replace('\n', "\r\n"), &[]),
        ("with a byte order mark", format!("\u{feff}{line}"), &[]),
        (
            "as JSON",
            r#"{"workflow":{"name":"t","nodes":[{"id":"a","role":"o"}],"edges":[]}}"#.into(),
            &[],
        ),
        ("one node", flow("  - { id: a, role: owner }\n", ""), &[]),
        (
            "other names than the reference's, and a leaf that is nobody's end",
            flow(
                "  - { id: 1st, role: boss_3 }\n  - { id: side, role: scribe }\n  - { id: last, role: boss_3 }\n",
                "  - { from: 1st, to: side }\n  - { from: 1st, to: last }\n",
            ),
            &[],
        ),
        (
            "yes and no are text in YAML 1.2",
            flow("  - { id: no, role: yes, work: [on, off] }\n", ""),
            &[],
        ),
        (
            "aliases",
            flow(
                "  - { id: a, role: owner, work: &w [x] }\n  - { id: b, role: owner, work: *w }\n",
                "  - { from: a, to: b, optional: true }\n",
            ),
            &[],
        ),
    ];
    check(table);
}

#[test]
fn a_file_that_is_no_flow_file_says_what_it_is() {
    check(&[
        ("empty", String::new(), &["G008 1:1"]),
        ("only a comment", "# nothing\n".into(), &["G008 1:1"]),
        ("a list", "- a\n".into(), &["G006 1:1"]),
        ("a text", "hello".into(), &["G006 1:1"]),
        ("no workflow", "roles: {}\n".into(), &["G007 1:1"]),
        ("an empty workflow", "workflow:\n".into(), &["G006 1:9"]),
        (
            "a workflow without anything",
            "workflow: {}\n".into(),
            &["G007 1:11"; 3],
        ),
        (
            "two documents",
            "workflow: {}\n---\nworkflow: {}\n".into(),
            &["G002 2:1"],
        ),
        ("a tab", "workflow:\n\tname: t\n".into(), &["G002 2:2"]),
        ("not closed", "workflow: [\n".into(), &["G002 1:11"]),
    ]);
}

#[test]
fn keys_and_types_are_checked_everywhere_and_all_at_once() {
    let node = |more: &str| flow(&format!("  - {{ id: a, role: owner, {more} }}\n"), "");
    check(&[
        ("an unknown key", node("wrok: [x]"), &["G005 4:27"]),
        (
            "two unknown keys",
            node("x: 1, y: 2"),
            &["G005 4:27", "G005 4:33"],
        ),
        ("a merge key", node("<<: { work: [x] }"), &["G005 4:27"]),
        ("a key twice", node("role: owner"), &["G004 4:27"]),
        (
            "a key three times",
            node("role: x, role: y"),
            &["G004 4:27", "G004 4:36"],
        ),
        ("a list as a key", node("[x]: y"), &["G006 4:27"]),
        ("work that is text", node("work: x"), &["G006 4:33"]),
        ("work that is nothing", node("work:"), &["G006 4:31"]),
        (
            "work with bad items",
            node("work: [1, '', x, [y], ~]"),
            &["G006 4:34", "G008 4:37", "G006 4:44", "G006 4:49"],
        ),
        (
            "a boolean in words",
            node("human-colab: yes"),
            &["G006 4:40"],
        ),
        (
            "readings that are a mapping",
            node("required_readings: { a: b }"),
            &["G006 4:46"],
        ),
        (
            "a name that is a number",
            "workflow: { name: 7, nodes: [{ id: a, role: o }], edges: [] }".into(),
            &["G006 1:19"],
        ),
        ("no nodes", flow("", ""), &["G006 3:8"]),
        (
            "an empty list of nodes",
            "workflow: { name: t, nodes: [], edges: [] }".into(),
            &["G008 1:29"],
        ),
        ("a node that is text", flow("  - a\n", ""), &["G006 4:5"]),
        (
            "a node without id and role",
            flow("  - { work: [x] }\n", ""),
            &["G007 4:5"; 2],
        ),
        (
            "an edge that is a list",
            flow("  - { id: a, role: o }\n", "  - [a, b]\n"),
            &["G006 6:5"],
        ),
        (
            "an edge without ends",
            flow("  - { id: a, role: o }\n", "  - {}\n"),
            &["G007 6:5"; 2],
        ),
    ]);
}

#[test]
fn names_are_checked_and_a_bad_one_is_reported_once() {
    check(&[
        (
            "a bad id that an edge uses",
            flow(
                "  - { id: A b, role: owner }\n  - { id: z, role: owner }\n",
                "  - { from: A b, to: z }\n",
            ),
            &["G009 4:11"],
        ),
        (
            "an id that is a number",
            flow("  - { id: 7, role: owner }\n", ""),
            &["G006 4:11"],
        ),
        (
            "a bad role",
            flow("  - { id: a, role: Owner }\n", ""),
            &["G010 4:20"],
        ),
        (
            "a bad instance",
            flow("  - { id: a, role: owner_x }\n", ""),
            &["G010 4:20"],
        ),
        (
            "an id twice",
            flow(
                "  - { id: a, role: owner }\n  - { id: a, role: owner }\n",
                "",
            ),
            &["G011 5:11"],
        ),
    ]);
}

#[test]
fn edges_are_checked_and_later_faults_are_only_reported_when_they_are_certain() {
    let edges = |edges: &str| flow(A_B_Z, edges);
    let line = "  - { from: a, to: b }\n  - { from: b, to: z }\n";
    check(&[
        (
            "an unknown target",
            edges("  - { from: a, to: bb }\n  - { from: b, to: z }\n"),
            &["G012 8:20"],
        ),
        (
            "an unknown source",
            edges("  - { from: a, to: b }\n  - { from: bb, to: z }\n"),
            &["G012 9:13"],
        ),
        (
            "both ends unknown",
            edges("  - { from: p, to: q }\n"),
            &["G017 5:5", "G012 8:13", "G012 8:20"],
        ),
        (
            "a self-edge",
            edges(&format!("{line}  - {{ from: b, to: b }}\n")),
            &["G013 10:5"],
        ),
        (
            "a duplicate edge",
            edges(&format!("{line}{line}")),
            &["G014 10:5", "G014 11:5"],
        ),
        (
            "a reverse edge",
            edges(&format!("{line}  - {{ from: b, to: a }}\n")),
            &["G015 10:5"],
        ),
        (
            "two starts",
            edges("  - { from: b, to: z }\n"),
            &["G017 5:5"],
        ),
        ("no edges", edges(""), &["G017 5:5"]),
    ]);
}

#[test]
fn the_closing_node_is_the_only_end_of_the_owner() {
    let edges = |edges: &str| flow(A_B_Z, edges);
    check(&[
        (
            "two ends of the owner",
            flow(
                "  - { id: a, role: owner }\n  - { id: y, role: owner }\n  - { id: z, role: owner }\n",
                "  - { from: a, to: y }\n  - { from: a, to: z }\n",
            ),
            &["G019 6:5"],
        ),
        (
            "no end of the owner",
            flow(
                "  - { id: a, role: owner }\n  - { id: b, role: writer }\n",
                "  - { from: a, to: b }\n",
            ),
            &["G018 5:20"],
        ),
        (
            "another instance of the owner is not the owner",
            flow(
                "  - { id: a, role: owner }\n  - { id: b, role: owner_2 }\n",
                "  - { from: a, to: b }\n",
            ),
            &["G018 5:20"],
        ),
        (
            "a cycle behind the start",
            edges("  - { from: a, to: b }\n  - { from: b, to: z }\n  - { from: z, to: x }\n")
                .replace("  edges:", "  - { id: x, role: writer }\n  edges:")
                + "  - { from: x, to: b }\n",
            &["G016 12:5"],
        ),
    ]);
}

#[test]
fn a_cycle_is_named_by_its_nodes_and_two_cycles_are_two_diagnostics() {
    let nodes: String = ["s", "a", "b", "c", "p", "q", "r"]
        .iter()
        .map(|id| format!("  - {{ id: {id}, role: owner }}\n"))
        .collect();
    let pairs = ["s a", "a b", "b c", "c a", "c p", "p q", "q r", "r p"];
    let edges: String = pairs
        .iter()
        .map(|pair| pair.split_once(' ').unwrap())
        .map(|(from, to)| format!("  - {{ from: {from}, to: {to} }}\n"))
        .collect();
    let (_, diagnostics) = parse(&flow(&nodes, &edges), "flow.yaml");
    let messages: Vec<&str> = diagnostics
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    let expected = [
        "edges form a cycle: `a` → `b` → `c` → `a`",
        "edges form a cycle: `p` → `q` → `r` → `p`",
    ];
    assert_eq!(messages, expected);
}

/// A one-node flow whose owner is defined inline, in line 7.
fn roles(roles: &str) -> String {
    format!(
        "{}roles:\n  owner: {roles}\n",
        flow("  - { id: a, role: owner }\n", "")
    )
}

#[test]
fn inline_roles_are_checked_key_by_key() {
    check(&[
        ("instructions are enough", roles("{ instructions: x }"), &[]),
        ("a model needs instructions", roles("{}"), &["G024 7:10"]),
        ("a person needs nothing", roles("{ executor: human }"), &[]),
        (
            "an unknown executor",
            roles("{ executor: modle }"),
            &["G022 7:22"],
        ),
        (
            "an unknown key",
            roles("{ instructions: x, tool: [y] }"),
            &["G005 7:29"],
        ),
        (
            "a command needs its program",
            roles("{ executor: command }"),
            &["G024 7:10"],
        ),
        (
            "a program needs its executor",
            roles("{ instructions: x, command: { run: [y] } }"),
            &["G024 7:38"],
        ),
        (
            "a command has no model",
            roles("{ executor: command, command: { run: [y] }, model: m }"),
            &["G024 7:61"],
        ),
        (
            "a command that runs nothing",
            roles("{ executor: command, command: { run: [] } }"),
            &["G008 7:47"],
        ),
        (
            "a limit of nothing",
            roles("{ executor: command, command: { run: [x], time-limit-seconds: 0 } }"),
            &["G023 7:72"],
        ),
        (
            "a limit that is no number",
            roles("{ instructions: x, budget: { turns: many } }"),
            &["G006 7:46"],
        ),
    ]);
}

#[test]
fn roles_and_nodes_must_fit_together() {
    check(&[
        (
            "exit codes",
            roles(
                "{ executor: command, command: { run: [x], on-exit: { 0: forward, 0: backward, 256: forward, 07: forward, otherwise: explode } } }",
            ),
            &["G004 7:75", "G023 7:88", "G023 7:102", "G022 7:126"],
        ),
        (
            "roles that are a list",
            format!("{}roles: [x]\n", flow("  - { id: a, role: owner }\n", "")),
            &["G020 4:20", "G006 6:8"],
        ),
        (
            "a role that is not used",
            format!(
                "{}  spare: {{ executor: human }}\n",
                roles("{ instructions: x }")
            ),
            &["G021 8:3"],
        ),
        (
            "a role twice",
            format!(
                "{}  owner: {{ executor: human }}\n",
                roles("{ instructions: x }")
            ),
            &["G004 8:3"],
        ),
        (
            "a role's instance",
            format!(
                "{}  owner_2: {{ executor: human }}\n",
                roles("{ instructions: x }")
            ),
            &["G010 8:3"],
        ),
        (
            "a role that is not defined",
            format!(
                "{}roles:\n  owner: {{ executor: human }}\n",
                flow(A_B_Z, "  - { from: a, to: b }\n  - { from: b, to: z }\n")
            ),
            &["G020 5:20"],
        ),
    ]);
}

#[test]
fn a_broken_file_is_explained_in_full_with_excerpts_and_hints() {
    let text = "workflow:
  nmae: Release notes
  nodes:
    - id: owner-intake
      role: owner
      human_colab: yes
    - id: Writer
      role: writer
      work: \"one bullet\"
    - { id: review, role: reviewer, await-all-inputs: on }
    - { id: end, role: owner }
  edges:
    - { from: owner-intake, to: Writer }
    - { from: Writer, to: reviw }
    - { from: review, to: Writer, optinal: true }
    - { from: review, to: end }
    - { from: end, to: review }
";
    let (graph, diagnostics) = parse(text, "flows/release.yaml");
    assert!(graph.is_none());
    let shown: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn a_diagnostic_is_plain_json_for_programs() {
    let (_, diagnostics) = parse("workflow: {}\n", "flow.yaml");
    insta::assert_json_snapshot!(diagnostics[0]);
}

/// A chain of nodes with a fan at its end, as large as asked.
fn large(count: usize) -> String {
    let mut nodes = String::new();
    let mut edges = String::new();
    for number in 0..count {
        let role = if number % 100 == 0 {
            "owner".into()
        } else {
            format!("role-{}", number % 7)
        };
        writeln!(
            nodes,
            "  - id: n{number}\n    role: {role}\n    work: [\"step {number}\"]"
        )
        .unwrap();
        writeln!(edges, "  - {{ from: n{number}, to: n{} }}", number + 1).unwrap();
    }
    writeln!(nodes, "  - {{ id: n{count}, role: owner }}").unwrap();
    flow(&nodes, &edges)
}

#[test]
fn ten_thousand_nodes_are_read_and_their_neighbours_are_found() {
    let (graph, diagnostics) = parse(&large(10_000), "flow.yaml");
    let graph = graph.unwrap_or_else(|| panic!("{diagnostics:?}"));
    assert_eq!(graph.nodes().len(), 10_001);
    let order = graph.topological_order();
    assert!(order.is_sorted(), "a chain is in file order");
    assert_eq!(graph.distances_from_start()[10_000], 10_000);
    let last = graph.index_of(&node_id("n10000").unwrap()).unwrap();
    assert_eq!(last, graph.closing());
    assert_eq!(graph.predecessors(last).count(), 1);
    assert_eq!(graph.role_instances().count(), 8);
    assert_eq!(graph.improvement_steps(|_| true).len(), 8);
}

#[test]
fn a_large_file_in_which_everything_is_wrong_gets_a_bounded_answer() {
    let text = large(10_000)
        .replace("to: n", "to: x")
        .replace("role: ", "rolle: ");
    let (graph, diagnostics) = parse(&text, "flow.yaml");
    assert!(graph.is_none());
    assert_eq!(diagnostics.len(), limits::MAX_DIAGNOSTICS + 1);
    assert_eq!(diagnostics.last().unwrap().code, Code::TooMany);
}

#[test]
fn a_mapping_with_a_hundred_thousand_keys_is_no_trap() {
    let mut text = String::from("workflow:\n");
    for number in 0..100_000 {
        writeln!(text, "  k{number}: 1\n  name: x").unwrap();
    }
    let (_, diagnostics) = parse(&text, "flow.yaml");
    assert_eq!(diagnostics.len(), limits::MAX_DIAGNOSTICS + 1);
}

#[test]
fn files_that_are_too_large_too_deep_or_multiply_themselves_are_refused() {
    let bomb = "workflow: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n".to_owned();
    let mut billion = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..10 {
        let items = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(billion, "a{level}: &a{level} [{items}]").unwrap();
    }
    check(&[
        (
            "a small one is only wrong",
            bomb,
            &["G006 1:14", "G005 2:1", "G005 3:1"],
        ),
        ("a billion laughs", billion, &["G003 6:34"]),
        (
            "10 MB and a byte",
            " ".repeat(limits::MAX_FILE_BYTES + 1),
            &["G001 0:0"],
        ),
        ("200,000 brackets", "[".repeat(200_000), &["G003 1:34"]),
        ("200,000 dashes", "- ".repeat(200_000), &["G003 1:65"]),
    ]);
}

#[test]
fn a_graph_can_be_built_by_a_program_under_the_same_rules() {
    let node =
        |id: &str, role: &str| GraphNode::new(node_id(id).unwrap(), role_instance(role).unwrap());
    let nodes = vec![node("a", "owner"), node("b", "writer"), node("z", "owner")];
    let graph = build(
        "t",
        None,
        nodes.clone(),
        &[("a", "b", false), ("b", "z", true)],
    )
    .unwrap();
    assert_eq!(graph.owner().as_str(), "owner");
    assert_eq!(
        graph
            .edge_ids()
            .map(|edge| edge.to_string())
            .collect::<Vec<_>>(),
        ["a → b", "b → z"]
    );
    assert!(
        graph
            .edge_at(graph.outgoing(graph.index_of(&nodes[1].id).unwrap())[0])
            .optional
    );

    let faults = build(
        "t",
        None,
        nodes,
        &[("a", "b", false), ("b", "c", false), ("b", "a", false)],
    );
    let shown: Vec<String> = faults
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
