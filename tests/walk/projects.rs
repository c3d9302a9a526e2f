//! Projects from the command line: made, checked, run, and broken.

use super::place::{FLOW, Place, SLOW};

fn with_project() -> Place {
    let place = Place::new(FLOW, SLOW);
    let said = place.run(&["init", "notes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("a-society run notes"), "{}", said.err);
    place
}

/// The journal of the only flow of a project.
fn journal(place: &Place, project: &str) -> String {
    let flows = place.workspace.state().join(project);
    let flow = std::fs::read_dir(flows).unwrap().next().unwrap().unwrap();
    std::fs::read_to_string(flow.path().join("journal/00000001.jsonl")).unwrap()
}

#[test]
fn a_project_that_was_just_made_is_sound_and_runs_with_its_own_roles() {
    let place = with_project();
    let checked = place.run(&["check", "notes"]);
    assert_eq!((checked.code, checked.out.as_str()), (0, "notes: sound\n"));
    let said = place.run(&["run", "notes", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let journal = journal(&place, "notes");
    for told in [
        "You decide what is made in this project",
        "Rules for every role",
        "No word that could be left out",
    ] {
        assert!(journal.contains(told), "no role was told: {told}");
    }
    let drawn = place.run(&["graph", "notes"]);
    assert!(
        drawn.out.starts_with("First flow (3 nodes"),
        "{}",
        drawn.out
    );
}

#[test]
fn everything_that_is_wrong_with_a_project_is_said_at_once_and_it_does_not_run() {
    let place = with_project();
    let docs = "notes/a-docs";
    std::fs::remove_file(place.workspace.path().join("notes/a-docs/agents.md")).unwrap();
    place.write(
        &format!("{docs}/roles/writer/required-readings.yaml"),
        "- $STILE\n",
    );
    place.write(
        &format!("{docs}/roles/owner/role.yaml"),
        "executor: robot\n",
    );
    let graph = std::fs::read_to_string(
        place
            .workspace
            .path()
            .join("notes/a-docs/workflow/main.yaml"),
    );
    let graph = graph.unwrap().replace("role: writer", "role: wirter");
    place.write(&format!("{docs}/workflow/main.yaml"), &graph);
    let said = place.run(&["check", "notes"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!(said.whole());
    let run = place.run(&["run", "notes"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("error[project-unfit]"), "{}", run.err);
    let json = place.run(&["check", "notes", "--json"]).json();
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 4, "{json}");
}

#[test]
fn a_flow_file_without_roles_is_laid_over_the_graph_of_its_project() {
    let place = with_project();
    let own = "\
workflow:
  name: Shorter
  nodes:
    - { id: ask, role: owner }
    - { id: close, role: owner }
  edges: [ { from: ask, to: close } ]
";
    place.write("notes/own.yaml", own);
    place.write("notes/script.yaml", "default: forward\nscript: []\n");
    let said = place.run(&["run", "notes/own.yaml", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let journal = journal(&place, "notes");
    assert!(
        journal.contains("Say in one or two sentences"),
        "the work of the project's node"
    );
    place.write("notes/own.yaml", &own.replace("role: owner", "role: boss"));
    let said = place.run(&["run", "notes/own.yaml"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.err.contains("a role that nobody defines"),
        "{}",
        said.err
    );
}

#[test]
fn a_project_that_breaks_while_its_flow_runs_is_told_before_the_flow_closes() {
    let place = with_project();
    let script = "\
default: forward
script:
  - { node: write, turn: 1, say: [ 'Which?', { signal: prompt-human } ] }
";
    place.write("notes/a-docs/workflow/script.yaml", script);
    let said = place.run(&["run", "notes"]);
    assert_eq!(said.code, 8, "{said:?}");
    std::fs::remove_file(place.workspace.path().join("notes/a-docs/agents.md")).unwrap();
    let flow = said
        .out
        .lines()
        .next()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap()
        .to_owned();
    assert_eq!(place.run(&["reply", &flow, "That one."]).code, 0);
    let said = place.run(&["resume", &flow]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(
        journal(&place, "notes").contains("health_check"),
        "{said:?}"
    );
}

#[test]
fn a_project_lies_directly_in_its_workspace() {
    let place = with_project();
    let said = place.run(&["init", "deep/er"]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(
        said.err.contains("whose projects are its own folders"),
        "{}",
        said.err
    );
    let said = place.run(&["run", "notes", "--project", "other"]);
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn outside_of_any_workspace_a_new_project_is_one_itself() {
    let place = Place::new(FLOW, SLOW);
    std::fs::remove_dir(place.workspace.path().join(".a-society")).unwrap();
    let said = place.run(&["init", "mine"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.contains("cd mine && a-society run ."),
        "{}",
        said.err
    );
    let said = place.run(&["run", "mine", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.contains("the workspace is WORKSPACE/mine"),
        "{}",
        said.err
    );
}
