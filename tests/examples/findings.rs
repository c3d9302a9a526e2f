//! What roles found, from the command line: listed, and turned into a change of the roles' texts.

use super::play::Play;
use crate::support::Said;

const STYLE: &str = "a-docs/style.md";

fn run(play: &Play, words: &[&str]) -> Said {
    play.run(
        &words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>(),
    )
}

fn played() -> (Play, String) {
    let play = Play::new("release-notes");
    let flow = play.to_the_end();
    (play, flow)
}

fn proposed(play: &Play, flow: &str, text: &str) {
    std::fs::write(play.workspace.path().join("new.md"), text).unwrap();
    let said = run(
        play,
        &[
            "findings", "propose", flow, "writer", STYLE, "--with", "new.md",
        ],
    );
    assert_eq!(said.code, 0, "{said:?}");
}

fn style(play: &Play) -> String {
    std::fs::read_to_string(play.workspace.path().join("demo").join(STYLE)).unwrap()
}

#[test]
fn findings_are_listed_over_all_flows_with_who_found_what_and_where() {
    let (play, _) = played();
    let said = run(&play, &["findings", "demo"]);
    assert_eq!(said.code, 0, "{said:?}");
    for told in [
        "editor: findings in record/findings/editor-findings.md",
        "* I took `changes.md` for a list of features",
        "a-society-feedback: report in record/feedback.md",
    ] {
        assert!(said.out.contains(told), "{told}\n{}", said.out);
    }
    let full = run(&play, &["findings", "--full"]);
    assert!(
        full.out.contains("One line in `a-docs/style.md`"),
        "{}",
        full.out
    );
    let json = run(&play, &["findings", "--json"]).json();
    let roles: Vec<&str> = (json["flows"][0]["findings"].as_array().unwrap().iter())
        .map(|finding| finding["role"].as_str().unwrap())
        .collect();
    let wanted = [
        "editor",
        "writer",
        "support",
        "engineer",
        "owner",
        "a-society-feedback",
    ];
    assert_eq!(roles, wanted);
    let other = run(&play, &["findings", "other"]);
    assert!(
        other.out.is_empty() && other.err.contains("no role has looked back"),
        "{other:?}"
    );
}

#[test]
fn a_finding_becomes_a_diff_and_a_change_once_the_operator_applies_it() {
    let (play, flow) = played();
    let before = style(&play);
    let after = format!("{before}\nWhat breaks comes first, with what to do.\n");
    proposed(&play, &flow, &after);
    assert_eq!(style(&play), before);
    let diff = run(&play, &["findings", "diff", &flow]);
    assert!(diff.out.contains("--- a/a-docs/style.md"), "{}", diff.out);
    assert!(
        diff.out
            .contains("+What breaks comes first, with what to do."),
        "{}",
        diff.out
    );
    let listed = run(&play, &["findings"]);
    assert!(
        listed.out.contains("because of writer: open"),
        "{}",
        listed.out
    );
    let said = run(&play, &["findings", "apply", &flow]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(style(&play), after);
    let json = run(&play, &["findings", "--json"]).json();
    let proposal = &json["flows"][0]["proposals"][0];
    assert_eq!(proposal["stands"], "applied");
    let finding = json["flows"][0]["findings"].as_array().unwrap();
    let of_writer = finding
        .iter()
        .find(|finding| finding["role"] == "writer")
        .unwrap();
    assert_eq!(proposal["finding"], of_writer["seq"], "where it came from");
    assert_eq!(run(&play, &["findings", "apply", &flow]).code, 6);
}

#[test]
fn a_change_of_a_file_that_somebody_changed_since_is_refused_and_may_be_declined() {
    let (play, flow) = played();
    proposed(&play, &flow, "New.\n");
    std::fs::write(play.workspace.path().join("demo").join(STYLE), "By hand.\n").unwrap();
    let said = run(&play, &["findings", "apply", &flow]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(
        said.err.contains("was changed after this was proposed"),
        "{}",
        said.err
    );
    assert_eq!(style(&play), "By hand.\n");
    let listed = run(&play, &["findings"]);
    assert!(
        listed.out.contains("open, and the file was changed since"),
        "{}",
        listed.out
    );
    assert_eq!(run(&play, &["findings", "decline", &flow]).code, 0);
    assert!(run(&play, &["findings"]).out.contains("declined"));
}

#[test]
fn a_project_may_choose_beforehand_how_its_roles_look_back() {
    let play = Play::new("release-notes");
    let defaults = play
        .workspace
        .path()
        .join("demo/a-docs/improvement/defaults.yaml");
    std::fs::write(defaults, "improve: parallel\nfeedback: no\n").unwrap();
    let said = play.run(&play.begun());
    assert_eq!(said.code, 0, "{said:?}");
    let flow = play.flow().unwrap();
    let record = play.folder(&flow).join("record");
    let graph = std::fs::read_to_string(record.join("improvement.yaml")).unwrap();
    assert!(graph.contains("mode: parallel"), "{graph}");
    assert!(!record.join("feedback.md").exists());
}

#[test]
fn every_example_of_the_demonstration_is_shown() {
    for example in ["review-loop", "release-notes"] {
        let place = crate::support::Workspace::new();
        let dir = place.path().join("shown").display().to_string();
        let said = place.run(&["demo", example, "--headless", "--dir", &dir]);
        assert_eq!(said.code, 0, "{example}: {said:?}");
    }
    let place = crate::support::Workspace::new();
    let dir = place.path().join("shown").display().to_string();
    let said = place.run(&["demo", "solo", "--headless", "--dir", &dir]);
    assert_eq!(said.code, 8, "it asks: {said:?}");
}
