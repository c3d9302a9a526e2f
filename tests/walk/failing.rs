//! A role that fails: the messages, the exit code of the command, and what makes it go on.

use super::models::{FLOW as LOG, Model, with_model, with_server};
use super::place::Place;

const FLOW: &str = r"workflow:
  name: Broken
  nodes:
    - { id: ask, role: owner }
    - { id: make, role: maker }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: make }
    - { from: make, to: close }
roles:
  owner: { executor: scripted }
  maker: { executor: command, command: { run: [./tool.sh, now] } }
";

#[test]
fn a_program_that_cannot_be_started_is_a_failure_and_is_run_once_it_is_there() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new(FLOW, "default: forward\n");
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none"]);
    assert_eq!(said.code, 12, "{said:?}");
    assert!(
        said.err.contains("./tool.sh could not be started"),
        "{said:?}"
    );
    assert!(!said.whole().contains("os error"), "{said:?}");
    let flow = place.flow().unwrap();
    let status = place.run(&["status", &flow]);
    assert!(
        status.out.contains("./tool.sh could not be started"),
        "{status:?}"
    );
    // Opened again it is no other question, and nothing is run a second time by itself.
    let again = place.run(&["resume", &flow, "--improve", "none", "--json"]);
    assert_eq!(again.code, 12, "{again:?}");
    let tool = place.workspace.path().join("demo/tool.sh");
    std::fs::write(&tool, "#!/bin/sh\necho \"made $1\" | tee -a made.txt\n").unwrap();
    // Which is there, and may not be run.
    assert_eq!(place.run(&["retry", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(said.code, 12, "{said:?}");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(place.run(&["retry", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let made = place.workspace.path().join("demo/made.txt");
    assert_eq!(std::fs::read_to_string(made).unwrap(), "made now\n");
}

#[test]
fn a_server_of_tools_that_cannot_start_is_said_with_its_name_the_reason_and_what_to_try() {
    let model = Model::start_with(|_| Vec::new());
    let place = with_model(&model);
    let path = with_server(&place);
    let config = path.join("config.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let broken = "  broken: { command: no-such-server, args: [x] }\n  dies: { command: /bin/sh, args: [-c, 'echo no \
                  licence >&2; exit 3'] }\n";
    std::fs::write(&config, text + broken).unwrap();
    let servers = "You keep a log., mcp-servers: [list, broken, dies, nowhere]";
    place.write("demo/flow.yaml", &LOG.replace("You keep a log.", servers));
    let said = place.run(&[
        "run",
        "demo/flow.yaml",
        "--until-waiting",
        "--improve",
        "none",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    let status = place.run(&["status", &flow]).out;
    let feed = place.folder(&flow).join("roles/owner/feed.json");
    let feed = std::fs::read_to_string(feed).unwrap();
    for text in [&said.err, &status, &feed] {
        for told in [
            "broken: It is gone: its program was not found (exit code 127)",
            "dies: ",
            "no licence",
            "nowhere: It is not configured.",
            "a-society mcp ls",
            "with the next turn of the role",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
        assert!(
            !text.contains("os error") && !text.contains("list: It"),
            "{text}"
        );
    }
    assert!(
        status.contains("owner works without the MCP server broken: It"),
        "{status}"
    );
    let json = place.status(&flow);
    let absent = json["absent_servers"].as_array().unwrap();
    let names: Vec<&str> = absent
        .iter()
        .map(|it| it["server"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["broken", "dies", "nowhere"], "{json}");
    // Fold by fold it is the same.
    let flow_json = std::fs::read(place.folder(&flow).join("flow.json")).unwrap();
    assert_eq!(place.run(&["rebuild", &flow]).code, 0);
    assert_eq!(
        std::fs::read(place.folder(&flow).join("flow.json")).unwrap(),
        flow_json
    );
}

#[test]
fn a_server_that_starts_again_is_no_longer_said_to_be_missing() {
    let model = Model::start_with(|results| match results {
        0 => vec![super::models::says(&[
            "Which?\n\n```handoff\ntype: prompt-human\n```\n",
        ])],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let path = with_server(&place);
    place.write(
        "demo/flow.yaml",
        &LOG.replace("You keep a log.", "You keep a log., mcp-servers: [list]"),
    );
    let server = std::fs::read_to_string(path.join("server.sh")).unwrap();
    place.write("server.sh", "exit 3\n");
    let flow = place.run_until_it_waits();
    assert_eq!(place.status(&flow)["absent_servers"][0]["server"], "list");
    place.write("server.sh", &server);
    assert_eq!(place.run(&["reply", &flow, "Any."]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert!((0..=12).contains(&said.code), "{said:?}");
    assert_eq!(
        place.status(&flow)["absent_servers"],
        serde_json::json!([]),
        "{said:?}"
    );
}
