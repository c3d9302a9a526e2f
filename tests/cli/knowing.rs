//! What `check` and `run` know of the operator's configuration: names that are not configured.

use std::fs;

use crate::support::Workspace;

const CONFIG: &str = "providers:
  p: { wire: openai-chat, base-url: http://127.0.0.1:9/v1 }
models:
  sonnet: { provider: p, id: x, window: 100000 }
mcp-servers:
  files: { command: npx }
consent:
  allow: ['mcp:file', 'mcp:files/read', edits]
  deny: ['mcp:gti/push']
";

fn flow(model: &str, servers: &str, skills: &str) -> String {
    format!(
        "workflow:
  name: Known
  nodes:
    - {{ id: draft, role: owner }}
    - {{ id: close, role: owner }}
  edges: [ {{ from: draft, to: close }} ]
roles:
  owner:
    instructions: Own it.   # with {servers}
    model: {model}
    mcp-servers: {servers}
    skills: {skills}
"
    )
}

fn place() -> Workspace {
    let workspace = Workspace::new();
    fs::write(workspace.path().join("config.yaml"), CONFIG).unwrap();
    let skill = workspace.path().join("skills/spelling");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: spelling\ndescription: Spells.\n---\nSpell.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    workspace
}

#[test]
fn a_role_that_names_what_nobody_configured_is_warned_about_with_the_nearest_name() {
    let workspace = place();
    let write = |text: String| fs::write(workspace.path().join("flow.yaml"), text).unwrap();
    write(flow("sonet", "[fiels, issues]", "[speling, auto]"));
    let said = workspace.run(&["check", "flow.yaml"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let placed = "warning[G033]: the role `owner` names the model `sonet`, which is not configured\n  \
                  --> flow.yaml:10:12\n   |\n10 |     model: sonet\n   |            ^^^^^\n   \
                  = hint: did you mean `sonnet`?\n";
    assert!(said.out.contains(placed), "{}", said.out);
    for told in [
        "names the MCP server `fiels`, which is not configured\n  --> flow.yaml:11:19\n",
        "did you mean `files`?",
        "names the MCP server `issues`",
        "hint: there are files; add it under mcp-servers:",
        "names the skill `speling`, which is not configured",
        "did you mean `spelling`?",
        "warning: consent: mcp:file is about the MCP server `file`, which is not configured; did you mean \
         `files`?",
        "warning: consent: mcp:gti/push is about",
        "flow.yaml: 6 warnings",
    ] {
        assert!(said.out.contains(told), "{told}: {}", said.out);
    }
    let json = workspace.run(&["check", "flow.yaml", "--json"]).json();
    assert_eq!(json["sound"], true);
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 4, "{json}");
    assert_eq!(
        json["configuration_warnings"].as_array().unwrap().len(),
        2,
        "{json}"
    );

    // What is there, and what leaves the choice open, is not remarked upon.
    for (model, servers) in [("sonnet", "[files]"), ("auto", "[auto]")] {
        write(flow(model, servers, "[auto]"));
        let said = workspace.run(&["check", "flow.yaml"]);
        assert!(said.out.ends_with("flow.yaml: 2 warnings\n"), "{said:?}");
    }
    // A list of the workspace counts as well as the operator's own.
    let list = r#"{ "mcpServers": { "issues": { "command": "npx" } } }"#;
    fs::write(workspace.path().join(".mcp.json"), list).unwrap();
    write(flow("sonnet", "[issues]", "[auto]"));
    let said = workspace.run(&["check", "flow.yaml"]);
    assert!(!said.out.contains("G033"), "{said:?}");
    // A role that a script plays needs no model.
    fs::write(workspace.path().join("script.yaml"), "default: forward\n").unwrap();
    write(flow("sonet", "[issues]", "[auto]"));
    let said = workspace.run(&["check", "flow.yaml"]);
    assert!(!said.out.contains("G033"), "{said:?}");
}

#[test]
fn a_role_of_a_project_is_warned_about_at_the_line_of_its_own_file() {
    let workspace = place();
    assert_eq!(workspace.run(&["init", "notes"]).code, 0);
    let folder = workspace.path().join("notes/a-docs/roles/writer");
    fs::write(folder.join("role.yaml"), "executor: model\nmodel: sonne\n").unwrap();
    fs::remove_file(workspace.path().join("notes/a-docs/workflow/script.yaml")).unwrap_or(());
    let said = workspace.run(&["check", "notes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .contains("the role `writer` names the model `sonne`"),
        "{said:?}"
    );
    assert!(
        said.out.contains("notes/a-docs/roles/writer/role.yaml:2:8"),
        "{said:?}"
    );
}

#[test]
fn a_configuration_that_cannot_be_read_is_a_warning_and_none_at_all_is_not() {
    let workspace = place();
    fs::write(
        workspace.path().join("flow.yaml"),
        flow("sonet", "[]", "[]"),
    )
    .unwrap();
    fs::write(
        workspace.path().join("config.yaml"),
        "models: { x: { windows: 1 } }\n",
    )
    .unwrap();
    let said = workspace.run(&["check", "flow.yaml"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out
            .contains("warning: WORKSPACE/config.yaml cannot be used"),
        "{said:?}"
    );
    fs::remove_file(workspace.path().join("config.yaml")).unwrap();
    let said = workspace.run(&["check", "flow.yaml"]);
    assert!(
        said.out
            .contains("none is configured; add it with a-society models add"),
        "{said:?}"
    );
}

#[test]
fn a_rule_about_a_server_that_nobody_configured_is_told_before_the_flow_runs() {
    let workspace = place();
    fs::write(
        workspace.path().join("flow.yaml"),
        flow("sonnet", "[files]", "[]"),
    )
    .unwrap();
    fs::write(workspace.path().join("script.yaml"), "default: forward\n").unwrap();
    let rules = [
        "--allow",
        "mcp:fiels,edits",
        "--deny",
        "mcp:files/write,mcp:nothing-near",
    ];
    let run = [&["run", "flow.yaml", "--improve", "none"], &rules[..]].concat();
    let said = workspace.run(&run);
    assert_eq!(said.code, 0, "{said:?}");
    let told: Vec<&str> = said
        .err
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .collect();
    assert_eq!(
        told,
        [
            "warning: the rule mcp:fiels is about the MCP server `fiels`, which is not configured; did you \
             mean `files`?",
            "warning: the rule mcp:nothing-near is about the MCP server `nothing-near`, which is not \
             configured; there are files; a-society mcp ls lists them",
        ]
    );
    let said = workspace.run(&[&run[..], &["--json"]].concat());
    let first = said.err.lines().next().unwrap();
    let first: serde_json::Value = serde_json::from_str(first).unwrap();
    assert!(
        first["warning"].as_str().unwrap().contains("mcp:fiels"),
        "{said:?}"
    );
}
