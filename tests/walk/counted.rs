//! Commands that are given twice under one name count once; a flow that never began does no harm.

use super::place::{ASKING, FLOW, Place};

/// A flow that waits for an answer of its operator.
fn waiting() -> (Place, String) {
    let place = Place::new(FLOW, ASKING);
    assert_eq!(place.run(&["run", "demo/flow.yaml"]).code, 8);
    let flow = place.flow().unwrap();
    (place, flow)
}

/// How often the journal contains a fact.
fn count(place: &Place, flow: &str, fact: &str) -> usize {
    let log = place.run(&["log", flow, "--json"]).out;
    log.matches(&format!("\"fact\":\"{fact}\"")).count()
}

fn said(place: &Place, words: &[&str]) -> String {
    let said = place.run(words);
    assert_eq!(said.code, 0, "{words:?}: {said:?}");
    said.out
}

#[test]
fn every_command_that_is_said_again_under_its_name_counts_once() {
    let (place, flow) = waiting();
    let revised = FLOW.replace("role: writer", "role: writer, work: [Write more.]");
    place.write("demo/revised.yaml", &revised);
    let pairs: [(&[&str], &[&str], &str); 3] = [
        (
            &["pause", &flow, "--client-id", "p"],
            &["unpause", &flow, "--client-id", "u"],
            "flow_paused",
        ),
        (
            &["revise", &flow, "demo/revised.yaml", "--client-id", "r"],
            &["revise", &flow, "demo/flow.yaml", "--client-id", "back"],
            "graph_revised",
        ),
        (
            &["reopen", &flow, "ask", "--client-id", "o"],
            &["mode", &flow, "full-access", "--client-id", "m"],
            "node_reopened",
        ),
    ];
    for (once, undone, fact) in pairs {
        let before = count(&place, &flow, fact);
        assert!(!said(&place, once).contains("counts once"), "{once:?}");
        assert!(!said(&place, undone).contains("counts once"), "{undone:?}");
        let after = count(&place, &flow, fact);
        assert!(after > before, "{once:?}");
        // Said again, it would lead to something by now.
        assert!(said(&place, once).contains("counts once"), "{once:?}");
        assert!(said(&place, undone).contains("counts once"), "{undone:?}");
        assert_eq!(count(&place, &flow, fact), after, "{once:?}");
    }
    assert_eq!(place.status(&flow)["status"], "running");
    let cancel = &["cancel", &flow, "--client-id", "c"];
    said(&place, cancel);
    assert!(said(&place, cancel).contains("counts once"));
}

#[test]
fn a_retry_that_is_said_again_does_not_try_again() {
    // Without a script a model's role has no taker, so that each try fails at once.
    let flow = FLOW.replace(
        "writer: { executor: scripted }",
        "writer: { instructions: Write. }",
    );
    let place = Place::new(&flow, "default: forward\nscript: []\n");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    assert_eq!(place.run(&["run", "demo/flow.yaml"]).code, 12);
    let flow = place.flow().unwrap();
    let retry = &["retry", &flow, "--node", "ask", "--client-id", "again"];
    said(&place, retry);
    assert_eq!(place.run(&["resume", &flow]).code, 12, "it fails again");
    assert!(said(&place, retry).contains("counts once"));
    assert_eq!(count(&place, &flow, "node_retried"), 1);
    assert_eq!(place.status(&flow)["waits"].as_array().unwrap().len(), 1);
}

#[test]
fn a_flow_that_never_began_is_told_in_words_blocks_nobody_and_goes_when_it_is_pruned() {
    let (place, flow) = waiting();
    // What a process leaves that dies before it records anything, and one that dies a moment later.
    let state = place.workspace.state().join("demo");
    let nothing = "20260101T000000000Z-aaaaaa";
    std::fs::create_dir_all(state.join(nothing).join("record")).unwrap();
    let begun = "20260101T000000001Z-bbbbbb";
    let journal = std::fs::read_to_string(place.workspace.segment(&flow)).unwrap();
    let journal = journal.replace(&flow, begun);
    let first = journal.lines().next().unwrap();
    assert!(!first.contains("flow_created"), "{first}");
    std::fs::create_dir_all(state.join(begun).join("journal")).unwrap();
    // The name is in the line, so that its sum is another one; a torn line is what is left as well.
    std::fs::write(place.workspace.segment(begun), &first[..first.len() / 2]).unwrap();
    for flow in [nothing, begun] {
        let said = place.run(&["ls", "--json"]).json();
        let rows = said["flows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["flow"] == flow).unwrap();
        assert_eq!(row["status"], "empty", "{row}");
        let told = place.run(&["status", flow]);
        assert_eq!(told.code, 0, "{told:?}");
        assert!(told.out.contains("it never began"), "{told:?}");
        for words in [
            &["resume", flow][..],
            &["reply", flow, "x"],
            &["pause", flow],
        ] {
            let refused = place.run(words);
            assert_eq!(refused.code, 6, "{words:?}: {refused:?}");
            assert!(refused.err.contains("error[flow-empty]"), "{refused:?}");
        }
        let row = place.run(&["ls", "--json"]).json();
        assert!(row.to_string().contains("\"status\":\"empty\""), "{row}");
    }
    let listed = place.run(&["ls"]).out;
    assert_eq!(
        listed.matches("nothing was ever recorded in it").count(),
        2,
        "{listed}"
    );
    let pruned = place.run(&["prune", "--older-than", "0s", "--yes", "--json"]);
    assert_eq!(
        pruned.json()["removed"].as_array().unwrap().len(),
        2,
        "{pruned:?}"
    );
    assert_eq!(place.flow(), Some(flow));
}
