//! A role that fails: what is said, with which code the command ends, and what makes it go on.

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
        said.out.contains("./tool.sh could not be started"),
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
