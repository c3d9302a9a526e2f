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
fn a_project_in_an_older_form_is_checked_with_warnings_rewritten_and_runs() {
    let place = with_project();
    let role = "notes/a-docs/roles/owner";
    let read = |name: &str| std::fs::read_to_string(place.workspace.path().join(name)).unwrap();
    let readings = format!("{role}/required-readings.yaml");
    let ownership = format!("{role}/ownership.yaml");
    place.write(
        &readings,
        "# What it reads.\nrole: owner\nrequired_readings: []\n",
    );
    place.write(
        &ownership,
        "role: owner\nsurfaces:\n  - path: plans\n    scope: all of it\n",
    );
    std::fs::create_dir(place.workspace.path().join("notes/plans")).unwrap();
    let before = place.run(&["check", "notes", "--json"]).json();
    assert_eq!(before["sound"], true, "{before}");
    assert_eq!(before.to_string().matches("G032").count(), 3, "{before}");
    let fixed = place.run(&["check", "notes", "--fix"]);
    assert_eq!(fixed.code, 0, "{fixed:?}");
    assert_eq!(fixed.err.matches("rewrote ").count(), 2, "{fixed:?}");
    let after = place.run(&["check", "notes", "--json"]).json();
    assert!(!after.to_string().contains("G032"), "{after}");
    assert!(read(&readings).starts_with("# What it reads.\n"));
    assert!(!read(&readings).contains("role:"), "{}", read(&readings));
    assert!(
        read(&ownership).starts_with("owns:\n"),
        "{}",
        read(&ownership)
    );
    // The second time there is nothing left to do.
    assert!(
        !place
            .run(&["check", "notes", "--fix"])
            .err
            .contains("rewrote")
    );
    let said = place.run(&["run", "notes", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
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
        said.err.contains("a role that is not defined"),
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
    let named = said.err.lines().find(|line| line.starts_with("flow "));
    let named = named.unwrap().split(' ').nth(1).unwrap();
    let flow = named.rsplit('/').next().unwrap().to_owned();
    assert_eq!(place.run(&["reply", &flow, "That one."]).code, 0);
    let said = place.run(&["resume", &flow]);
    assert_eq!(said.code, 12, "{said:?}");
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
    std::fs::remove_dir_all(place.workspace.path().join(".a-society")).unwrap();
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

#[test]
fn a_folder_that_holds_work_is_taken_over_and_a_new_one_is_begun_with_questions() {
    let place = Place::new(FLOW, SLOW);
    std::fs::create_dir_all(place.workspace.path().join("old/src")).unwrap();
    place.write("old/src/main.c", "int main() { return 0; }\n");
    for (name, told) in [("old", "Look through the project"), ("new", "is to become")] {
        let said = place.run(&["init", name, "--json"]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.json()["takeover"], name == "old");
        let checked = place.run(&["check", name]);
        assert_eq!(checked.code, 0, "{checked:?}");
        // The owner asks, fills the folder with the answers, and the health checks see it.
        let script = "\
script:
  - { node: look, turn: 1, say: [ 'What comes again and again?', { signal: prompt-human } ] }
  - { node: look, say: [ { forward: 'What I heard.' } ] }
  - { node: fill, say: [ { forward: 'Which files say what.' } ] }
  - { node: accept, say: [ 'Sound.', { signal: forward-pass-closed } ] }
";
        place.write("asks.yaml", script);
        let file = format!("{name}/a-docs/initialization/flow.yaml");
        let run = place.run(&["run", &file, "--script", "asks.yaml", "--improve", "none"]);
        assert_eq!(run.code, 8, "{run:?}");
        let journal = journal(&place, name);
        assert!(journal.contains(told), "{name}");
        assert!(
            journal.contains("You decide what is made in this project"),
            "{name}"
        );
        let flows = std::fs::read_dir(place.workspace.state().join(name)).unwrap();
        let flow = flows.last().unwrap().unwrap().file_name();
        let flow = format!("{name}/{}", flow.to_str().unwrap());
        assert_eq!(place.run(&["reply", &flow, "Releases."]).code, 0);
        assert_eq!(place.run(&["resume", &flow, "--improve", "none"]).code, 8);
        assert_eq!(place.run(&["approve", &flow]).code, 0);
        let ended = place.run(&["resume", &flow, "--improve", "none"]);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
}

#[test]
fn without_a_name_every_project_of_the_workspace_is_checked() {
    let place = with_project();
    assert_eq!(place.run(&["init", "other"]).code, 0);
    let said = place.run(&["check"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "notes: sound\nother: sound\n")
    );
    place.write(
        "other/a-docs/improvement/defaults.yaml",
        "mode: full-access\n",
    );
    let said = place.run(&["check"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("defaults.yaml") && said.out.contains("notes: sound"),
        "{}",
        said.out
    );
    let json = place.run(&["check", "--json"]).json();
    assert_eq!(json["projects"].as_array().unwrap().len(), 2, "{json}");
}

#[test]
fn a_graph_that_a_role_writes_counts_only_if_it_fits_and_gives_no_role_more_than_words() {
    let good = "\
workflow: { name: Mine, nodes: [ { id: owner-intake, role: owner }, { id: done, role: owner } ], edges: [ { from: owner-intake, to: done } ] }
roles: { owner: { instructions: Decide. } }
";
    let cases = [
        (good.to_owned(), None),
        (good.replace("owner-intake", "begin"), Some("owner-intake")),
        (
            good.replace(
                "Decide. }",
                "Decide., executor: command, command: { run: [ make ] } }",
            ),
            Some("are the operator's"),
        ),
        (good.replace("edges", "egdes"), Some("egdes")),
    ];
    for (graph, refused) in cases {
        let place = Place::new(FLOW, SLOW);
        let quoted = serde_json::Value::from(graph.clone()).to_string();
        let script = format!(
            "script:\n  - {{ node: owner-intake, say: [ {{ write: {{ path: workflow.yaml, text: {quoted} }} }}, 'Done.', {{ signal: prompt-human }} ] }}\n"
        );
        place.write("draft.yaml", &script);
        let said = place.run(&[
            "run",
            "--draft",
            "--project",
            "demo",
            "--script",
            "draft.yaml",
        ]);
        assert_eq!(said.code, 8, "{said:?}");
        let flow = place.flow().unwrap();
        let log = place.run(&["log", &flow, "--json"]).out;
        let record = place
            .workspace
            .flow_folder(&flow)
            .join("record/workflow.yaml");
        let kept = std::fs::read_to_string(record).unwrap();
        match refused {
            None => {
                assert!(log.contains("\"fact\":\"graph_revised\""), "{log}");
                assert_eq!(kept, graph);
                assert_eq!(place.status(&flow)["title"], "Mine");
            }
            Some(why) => {
                assert!(!log.contains("\"fact\":\"graph_revised\""), "{log}");
                let told = log
                    .lines()
                    .find(|line| line.contains("This graph was refused"));
                assert!(
                    told.is_some_and(|told| told.contains(why)),
                    "{why}: {told:?}"
                );
                assert!(kept.starts_with("# A draft"), "{kept}");
            }
        }
    }
}

/// A draft in the project whose owner writes this graph and then asks; its id and its log.
fn drafted(place: &Place, graph: &str) -> (String, String) {
    let quoted = serde_json::Value::from(graph).to_string();
    let script = format!(
        "default: forward\nscript:\n  - {{ node: owner-intake, turn: 1, say: [ {{ write: {{ path: workflow.yaml, text: {quoted} }} }}, 'Done.', {{ signal: prompt-human }} ] }}\n"
    );
    place.write("draft.yaml", &script);
    let said = place.run(&[
        "run",
        "notes",
        "--draft",
        "--script",
        "draft.yaml",
        "--json",
    ]);
    assert_eq!(said.code, 8, "{said:?}");
    let last = said.out.lines().last().unwrap();
    let last: serde_json::Value = serde_json::from_str(last).unwrap();
    let flow = last["flow"].as_str().unwrap().to_owned();
    let log = place.run(&["log", &flow, "--json"]).out;
    (flow, log)
}

#[test]
fn a_role_of_a_project_writes_a_graph_for_the_roles_of_the_project_and_for_no_others() {
    let place = with_project();
    let graph = "workflow: { name: Mine, nodes: [ { id: owner-intake, role: owner }, { id: write, role: writer }, { id: done, role: owner } ], edges: [ { from: owner-intake, to: write }, { from: write, to: done } ] }\n";
    for (more, taken) in [
        ("", true),
        (
            "roles: { owner: { instructions: x }, writer: { instructions: y } }\n",
            false,
        ),
    ] {
        let (_, log) = drafted(&place, &format!("{graph}{more}"));
        assert_eq!(log.contains("\"fact\":\"graph_revised\""), taken, "{log}");
        assert_eq!(log.contains("come from its project"), !taken, "{log}");
    }
}

/// What a node of a graph that a role writes leaves out, the project's node of the same id says.
#[test]
fn a_graph_that_a_role_of_a_project_writes_is_laid_over_the_one_of_the_project() {
    let place = with_project();
    let graph = "\
# Mine.
workflow:
  name: Mine
  nodes:
    - { id: owner-intake, role: owner }
    - { id: ask, role: owner }
    - { id: done, role: owner }
  edges: [ { from: owner-intake, to: ask }, { from: ask, to: done } ]
";
    let (flow, log) = drafted(&place, graph);
    let revised: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("\"fact\":\"graph_revised\""))
        .collect();
    assert_eq!(revised.len(), 1, "{log}");
    assert!(
        revised[0].contains("Say in one or two sentences"),
        "{}",
        revised[0]
    );
    let record = place.workspace.state().join("notes").join(&flow);
    let kept = std::fs::read_to_string(record.join("record/workflow.yaml")).unwrap();
    assert!(kept.contains("Say in one or two sentences"), "{kept}");

    // So does one that the operator revises the flow with.
    let own = graph.replace("name: Mine", "name: Ours");
    place.write("own.yaml", &own);
    let said = place.run(&["revise", &flow, "own.yaml"]);
    assert_eq!(said.code, 0, "{said:?}");
    let log = place.run(&["log", &flow, "--json"]).out;
    let revised = log
        .lines()
        .rfind(|line| line.contains("\"fact\":\"graph_revised\""));
    let revised = revised.unwrap();
    assert!(
        revised.contains("Ours") && revised.contains("Say in one"),
        "{revised}"
    );
}

/// A workspace that is a project itself: the files of its own a-docs work on all of it.
#[test]
fn a_file_of_the_workspaces_own_a_docs_works_on_the_workspace() {
    let place = Place::new(FLOW, SLOW);
    assert_eq!(place.run(&["init", "."]).code, 0);
    let file = "a-docs/initialization/flow.yaml";
    let script = "default: forward\nscript:\n  - { node: look, turn: 1, say: [ 'What?', { signal: prompt-human } ] }\n";
    place.write("asks.yaml", script);
    let run = place.run(&["run", file, "--script", "asks.yaml"]);
    assert_eq!(run.code, 8, "{run:?}");
    assert_eq!(
        projects_of(&place),
        ["demo", "project"],
        "a-docs is no project"
    );
    assert!(journal(&place, "project").contains("Rules for every role"));
}

/// The names of the folders of flows.
fn projects_of(place: &Place) -> Vec<String> {
    let found = std::fs::read_dir(place.workspace.state()).unwrap();
    let mut names: Vec<String> = found
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A graph whose writer is a program, which says where it works.
const WHERE: &str = r"workflow:
  name: Hello
  nodes:
    - { id: ask, role: owner }
    - { id: write, role: writer }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: write }
    - { from: write, to: close }
roles:
  owner: { executor: scripted }
  writer: { executor: command, command: { run: [sh, -c, 'pwd > where.txt; echo done'] } }
";

#[test]
fn a_flow_file_in_a_folder_that_only_keeps_files_works_on_the_repository_around_it() {
    let place = Place::new(FLOW, SLOW);
    let root = place.workspace.path();
    for folder in ["flows/deep", "app/a-docs", "own/.git", "src", ".git"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for folder in ["flows", "flows/deep", "own"] {
        place.write(&format!("{folder}/flow.yaml"), WHERE);
        place.write(&format!("{folder}/script.yaml"), "default: forward\n");
    }
    place.write("demo/flow.yaml", WHERE);
    place.write("demo/script.yaml", "default: forward\n");
    let whole = root.canonicalize().unwrap();
    let works_in = |words: &[&str]| {
        let said = place.run(&[&["run"], words, &["--improve", "none", "--json"]].concat());
        assert_eq!(said.code, 0, "{said:?}");
        let first = said.out.lines().next().unwrap();
        let first: serde_json::Value = serde_json::from_str(first).unwrap();
        assert_eq!(first["event"], "flow");
        let project = first["project"].as_str().unwrap().to_owned();
        assert_eq!(first["title"], "Hello", "{first}");
        let folder = first["folder"].as_str().unwrap().replace("WORKSPACE", "");
        // Where its program really was.
        let seen = root.join(folder.trim_start_matches('/')).join("where.txt");
        let seen = std::fs::read_to_string(&seen).unwrap();
        let there = whole.join(folder.trim_start_matches('/'));
        let there: std::path::PathBuf = there.components().collect();
        assert_eq!(seen.trim_end(), there.to_str().unwrap(), "{words:?}");
        (folder, project)
    };
    let own = whole.file_name().unwrap().to_str().unwrap();
    // The folder of a test begins with a dot, which no project's name does.
    let own = if own.starts_with('.') { "project" } else { own };
    for words in [
        &["flows/flow.yaml"][..],
        &["flows/deep/flow.yaml"],
        &["demo/../flows/flow.yaml"],
        &["own/flow.yaml", "--project", "."],
        &["demo/flow.yaml", "--project", "."],
    ] {
        assert_eq!(
            works_in(words),
            (String::new(), own.to_owned()),
            "{words:?}"
        );
    }
    // A repository of its own, one that had flows, and the one that is named.
    assert_eq!(works_in(&["own/flow.yaml"]), ("/own".into(), "own".into()));
    assert_eq!(
        works_in(&["demo/flow.yaml"]),
        ("/demo".into(), "demo".into())
    );
    assert_eq!(
        works_in(&["flows/flow.yaml", "--project", "src"]),
        ("/src".into(), "src".into())
    );
    let mut wanted = vec!["demo", "own", own, "src"];
    wanted.sort_unstable();
    assert_eq!(projects_of(&place), wanted);
    // And the operator is notified.
    let said = place.run(&["run", "flows/flow.yaml", "--improve", "none"]);
    assert!(said.err.contains(" in WORKSPACE\n"), "{said:?}");
}
