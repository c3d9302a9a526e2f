//! What holds for every text and for every graph.

use proptest::prelude::*;

use super::*;

/// A sound file with random structure: edges lead from earlier to later nodes, every node has an
/// inbound edge from the first one's side, and one last node closes.
fn any_file() -> impl Strategy<Value = GraphFile> {
    (2usize..30).prop_flat_map(|count| {
        let nodes = prop::collection::vec(any_node_parts(), count);
        let edges = prop::collection::vec((0..count, 0..count, any::<bool>()), 0..count * 2);
        (
            nodes,
            edges,
            any_text(),
            prop::option::of(any_text()),
            any::<bool>(),
        )
            .prop_map(|(parts, edges, name, summary, has_roles)| {
                let nodes = parts
                    .into_iter()
                    .enumerate()
                    .map(|(place, parts)| any_node(place, parts));
                let nodes = with_ends(nodes.collect());
                let edges = sound_edges(nodes.len(), &edges);
                let named: Vec<(String, String, bool)> = edges
                    .into_iter()
                    .map(|(from, to, optional)| (format!("n{from}"), format!("n{to}"), optional))
                    .collect();
                let borrowed: Vec<(&str, &str, bool)> = named
                    .iter()
                    .map(|(from, to, optional)| (from.as_str(), to.as_str(), *optional))
                    .collect();
                let workflow = build(&name, summary.as_deref(), nodes, &borrowed).unwrap();
                let roles = has_roles.then(|| roles_of(&workflow, &name));
                GraphFile {
                    workflow,
                    roles,
                    budget: None,
                    ends: FlowDefaults::default(),
                }
            })
    })
}

type NodeParts = (
    u8,
    Option<Vec<String>>,
    Option<Vec<String>>,
    Option<bool>,
    Option<bool>,
);

fn any_node_parts() -> impl Strategy<Value = NodeParts> {
    let texts = || prop::option::of(prop::collection::vec(any_text(), 0..3));
    (
        0u8..6,
        texts(),
        texts(),
        any::<Option<bool>>(),
        any::<Option<bool>>(),
    )
}

/// Texts that YAML finds hard: indicators, spaces, breaks, control characters, other scripts.
fn any_text() -> impl Strategy<Value = String> {
    let hard = prop::sample::select(vec![
        "-",
        "no",
        "~",
        "null",
        "true",
        "0x1F",
        "1e3",
        "a: b",
        "# x",
        " lead",
        "trail ",
        "a\nb\n",
        "\n\nx",
        "x\r\ny",
        "\tx",
        "'\"",
        "{a}",
        "[a",
        "&a",
        "*a",
        "!t",
        "|",
        ">",
        "%",
        "@",
        "`",
        "=",
        "<<",
        "\u{feff}x",
        "\u{85}x",
        "\u{2028}x",
        "\u{0}x",
        "\u{7f}x",
        "日本語",
        "x\n y\n  z",
        "---",
        "...",
        "  two\n one",
        "x: \n",
        "?",
        "- a",
    ]);
    prop_oneof![
        hard.prop_map(str::to_owned),
        "\\PC{0,12}",
        ".{0,12}",
        "[ -~\n]{0,40}"
    ]
    .prop_map(|text| {
        if text.trim().is_empty() {
            "x".to_owned()
        } else {
            text
        }
    })
}

fn any_node(place: usize, (role, work, readings, human, all): NodeParts) -> GraphNode {
    let role = if role < 4 {
        format!("role-{role}")
    } else {
        format!("role-1_{}", role)
    };
    let id = node_id(&format!("n{place}")).unwrap();
    GraphNode {
        work,
        required_readings: readings,
        human_colab: human,
        await_all_inputs: all,
        ..GraphNode::new(id, role_instance(&role).unwrap())
    }
}

/// The first and the last node are the owner's.
fn with_ends(mut nodes: Vec<GraphNode>) -> Vec<GraphNode> {
    let last = nodes.len() - 1;
    for place in [0, last] {
        nodes[place].role = role_instance("owner").unwrap();
    }
    nodes
}

fn sound_edges(count: usize, wanted: &[(usize, usize, bool)]) -> Vec<(usize, usize, bool)> {
    let mut edges = std::collections::BTreeMap::new();
    for (left, right, optional) in wanted {
        if left != right {
            edges.insert((*left.min(right), *left.max(right)), *optional);
        }
    }
    for node in 1..count {
        if !edges.keys().any(|(_, to)| *to == node) {
            edges.insert((node - 1, node), false);
        }
    }
    edges
        .into_iter()
        .map(|((from, to), optional)| (from, to, optional))
        .collect()
}

fn roles_of(graph: &FlowGraph, text: &str) -> std::collections::BTreeMap<RoleName, InlineRole> {
    let command = CommandRole {
        run: vec![text.to_owned()],
        time_limit_seconds: Some(5),
        output_limit_bytes: None,
        on_exit: Some(ExitMapping {
            codes: [(0, ExitOutcome::Forward), (255, ExitOutcome::Close)].into(),
            otherwise: Some(ExitOutcome::Backward),
        }),
    };
    let role = |name: &RoleName| match name.as_str() {
        "owner" => InlineRole {
            instructions: Some(text.to_owned()),
            ..InlineRole::default()
        },
        _ => InlineRole {
            executor: Some(Executor::Command),
            command: Some(command.clone()),
            permissions: Some(Permissions {
                scope: Some(ToolScope::Sandboxed),
                edits: Some(true),
                ..Permissions::default()
            }),
            budget: Some(RoleBudget {
                tokens: Some(7),
                ..RoleBudget::default()
            }),
            ..InlineRole::default()
        },
    };
    let names = graph.role_instances().map(base_role);
    names.map(|name| (name.clone(), role(&name))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_file_reads_back_from_its_own_yaml(file in any_file()) {
        let text = to_yaml(&file).unwrap();
        let (again, diagnostics) = parse_file(&text, "again.yaml");
        prop_assert_eq!(again.as_ref(), Some(&file), "{}\n{:#?}", text, diagnostics);
    }

    #[test]
    fn a_file_reads_back_from_its_own_json(file in any_file()) {
        let text = serde_json::to_string(&file).unwrap();
        // What YAML calls unprintable has to be escaped; JSON leaves that to the writer.
        let is_unprintable = |letter: char| {
            letter.is_control() || matches!(letter, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        };
        let escaped = |letter: char| match letter {
            letter if is_unprintable(letter) => format!("\\u{:04x}", u32::from(letter)),
            letter => letter.to_string(),
        };
        let text: String = text.chars().map(escaped).collect();
        let (again, diagnostics) = parse_file(&text, "again.json");
        prop_assert_eq!(again.as_ref(), Some(&file), "{}\n{:#?}", text, diagnostics);
    }

    #[test]
    fn orders_distances_and_neighbours_fit_together(file in any_file()) {
        let graph = file.workflow;
        let order = graph.topological_order();
        prop_assert_eq!(order.len(), graph.nodes().len());
        let mut rank = vec![0; order.len()];
        for (place, node) in order.iter().enumerate() {
            rank[node.position()] = place;
        }
        let distances = graph.distances_from_start();
        for edge in graph.edges() {
            prop_assert!(rank[edge.from.position()] < rank[edge.to.position()]);
            prop_assert!(distances[edge.to.position()] <= distances[edge.from.position()] + 1);
            prop_assert!(graph.successors(edge.from).any(|node| node == edge.to));
            prop_assert!(graph.predecessors(edge.to).any(|node| node == edge.from));
            prop_assert!(graph.edge_between(edge.from, edge.to).is_some());
        }
        prop_assert_eq!(graph.reachable_from([graph.start()]).len(), graph.nodes().len());
    }

    #[test]
    fn improvement_reaches_every_role_once_and_after_what_it_reads(file in any_file()) {
        let graph = file.workflow;
        let steps = graph.improvement_steps(|_| true);
        prop_assert_eq!(steps.len(), graph.role_instances().count());
        let mut done = std::collections::BTreeSet::new();
        for step in steps {
            prop_assert!(step.after.iter().all(|role| done.contains(role)));
            prop_assert!(!step.after.contains(&step.role));
            prop_assert!(done.insert(step.role));
        }
    }

    #[test]
    fn every_rendering_names_every_node(file in any_file()) {
        let graph = file.workflow;
        for text in [to_text(&graph), to_mermaid(&graph), to_dot(&graph)] {
            for node in graph.nodes() {
                prop_assert!(text.contains(node.id.as_str()));
            }
        }
    }

    #[test]
    fn a_random_edge_added_to_a_sound_graph_is_judged_rightly(
        file in any_file(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
    ) {
        let graph = file.workflow;
        let (from, to) = (from.index(graph.nodes().len()), to.index(graph.nodes().len()));
        let name = |place: usize| graph.nodes()[place].id.as_str();
        let ids: Vec<EdgeId> = graph.edge_ids().collect();
        let mut edges: Vec<(&str, &str, bool)> =
            ids.iter().map(|edge| (edge.from.as_str(), edge.to.as_str(), false)).collect();
        edges.push((name(from), name(to), false));
        let index = NodeIndex::at;
        let built = build("t", None, graph.nodes().to_vec(), &edges);
        let expected = if from == to {
            Some(Code::SelfEdge)
        } else if graph.edge_between(index(from), index(to)).is_some() {
            Some(Code::DuplicateEdge)
        } else if graph.edge_between(index(to), index(from)).is_some() {
            Some(Code::ReverseEdge)
        } else if graph.reachable_from([index(to)]).contains(&index(from)) {
            Some(Code::Cycle)
        } else if index(from) == graph.closing() {
            Some(Code::NoClosingNode)
        } else {
            None
        };
        let codes: Vec<Code> = built.err().into_iter().flatten().map(|found| found.code).collect();
        prop_assert_eq!(codes.first().copied(), expected, "{:?}", codes);
    }
}

/// Pieces that flow files are made of, in any order: far more of them are nearly valid than of
/// random letters.
fn any_soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "workflow:",
        "name: t",
        "nodes:",
        "edges:",
        "roles:",
        "- ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "{",
        "}",
        "[",
        "]",
        "id: a",
        "role: owner",
        "from: a",
        "to: b",
        "work: [x]",
        "optional: true",
        "&x ",
        "*x",
        "<<: ",
        "? ",
        ": ",
        "|\n",
        ">-\n",
        "'",
        "\"",
        "#",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "!t ",
        "!!str ",
        "~",
        ",",
        "\u{feff}",
        "\\",
        "é",
        "\u{0}",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn no_text_makes_the_parser_panic(text in prop_oneof![any_soup(), ".{0,200}"]) {
        let (graph, diagnostics) = parse(&text, "flow.yaml");
        prop_assert_eq!(graph.is_none(), diagnostics.iter().any(Diagnostic::is_error));
        for found in &diagnostics {
            prop_assert!(!found.to_string().is_empty());
        }
    }

    #[test]
    fn a_damaged_file_never_makes_the_parser_panic(
        file in any_file(), cut in any::<prop::sample::Index>(), piece in any_soup(),
    ) {
        let mut text = to_yaml(&file).unwrap();
        let at = text.floor_char_boundary(cut.index(text.len()));
        text.insert_str(at, &piece);
        let (_, diagnostics) = parse(&text, "flow.yaml");
        for found in &diagnostics {
            prop_assert!(!found.to_string().is_empty());
        }
    }
}
