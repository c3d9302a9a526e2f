//! A flow and its operator: answers, interruptions, and two processes that want the same flow.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;

use super::place::{ASKING, FLOW, Place, SLOW, signal, wait_until};

fn long() -> String {
    SLOW.replace("every-ms: 8 }", "every-ms: 8 }\n      - wait-ms: 30000")
}

#[test]
fn a_flow_that_waits_says_how_to_answer_and_goes_on_when_it_is_answered() {
    let place = Place::new(FLOW, ASKING);
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none"]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(said.err.contains("Which colour?"), "{}", said.err);
    let flow = place.flow().unwrap();
    let tail = flow.rsplit('-').next().unwrap();
    let answer = format!("a-society reply {tail} --node write TEXT");
    assert!(said.err.contains(&answer), "{}", said.err);
    assert_eq!(place.run(&["resume", &flow]).code, 8, "it still waits");
    assert_eq!(place.run(&["approve", &flow]).code, 6, "nothing is staged");
    assert_eq!(place.run(&["reply", &flow, " "]).code, 2);
    for _ in 0..2 {
        let said = place.run(&["reply", &flow, "Blue.", "--client-id", "once"]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    let log = place.run(&["log", &flow, "--json"]).out;
    assert_eq!(log.matches("\"fact\":\"operator_replied\"").count(), 1);
    let said = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        !said.out.contains("created"),
        "old events are no news: {}",
        said.out
    );
    assert_eq!(place.outcome(&flow)["notes"], "Blue notes.");
    assert_eq!(place.run(&["pause", &flow]).code, 6, "it is over");
}

#[test]
fn the_process_that_drives_a_flow_is_talked_to_and_nobody_else_may_drive_it() {
    let place = Place::new(FLOW, &long());
    let child = place.start(&["run", "demo/flow.yaml", "--improve", "none"]);
    wait_until("the writer works", || {
        let flow = place.flow();
        flow.is_some_and(|flow| place.status(&flow)["running"][0]["node"] == "write")
    });
    let flow = place.flow().unwrap();
    let about = std::fs::metadata(place.folder(&flow).join("control.sock")).unwrap();
    assert!(about.file_type().is_socket());
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    let busy = place.run(&["resume", &flow]);
    assert_eq!(busy.code, 5, "{busy:?}");
    assert!(
        busy.err.contains(&format!("process {}", child.id())),
        "{}",
        busy.err
    );
    let refused = place.run(&["reply", &flow, "x"]);
    assert_eq!(refused.code, 6, "{refused:?}");
    let stopped = place.run(&["stop", &flow, "--all", "--json"]);
    assert_eq!((stopped.code, &stopped.json()["driven"]), (0, &true.into()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(12), "{output:?}");
    assert!(!place.folder(&flow).join("control.sock").exists());
    let said = place.run(&["reply", &flow, "Go on."]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn an_interrupted_flow_comes_to_a_recorded_point_and_goes_on_later() {
    let place = Place::new(FLOW, &long());
    for name in ["INT", "TERM"] {
        let words = match place.flow() {
            None => vec!["run".to_owned(), "demo/flow.yaml".to_owned()],
            Some(flow) => vec!["resume".to_owned(), flow],
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let child = place.start(&words);
        wait_until("the writer works", || {
            let flow = place.flow();
            flow.is_some_and(|flow| {
                let status = place.status(&flow);
                status["running"][0]["node"] == "write" && !status["driven_by"].is_null()
            })
        });
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{told}");
        assert!(told.contains("a-society resume"), "{told}");
    }
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["verify", &flow]).code, 0);
}

/// Plays the process that drives the flow and is about to end: a client gets this answer, or none, and
/// finds no listener the next time.
fn leaves_under_it(answer: &str) {
    let place = Place::new(FLOW, ASKING);
    assert_eq!(place.run(&["run", "demo/flow.yaml"]).code, 8);
    let flow = place.flow().unwrap();
    let folder = place.folder(&flow);
    let lock = std::fs::File::open(folder.join("flow.lock")).unwrap();
    lock.lock().unwrap();
    let listener = UnixListener::bind(folder.join("control.sock")).unwrap();
    let bytes = answer.as_bytes().to_vec();
    let leaver = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        BufReader::new(&stream).read_line(&mut request).unwrap();
        // It goes before it answers, as a process does that had to end.
        drop((listener, lock));
        stream.write_all(&bytes).unwrap();
        request
    });
    let said = place.run(&["reply", &flow, "Blue."]);
    let request = leaver.join().unwrap();
    assert!(request.contains("Blue."), "{request}");
    assert_eq!(said.code, 0, "{answer:?}: {said:?}");
    std::fs::remove_file(folder.join("control.sock")).unwrap();
    let log = place.run(&["log", &flow, "--json"]).out;
    assert_eq!(log.matches("\"fact\":\"operator_replied\"").count(), 1);
}

#[test]
fn a_command_that_met_a_process_on_its_way_out_is_given_once_more_and_counts_once() {
    leaves_under_it(
        "{\"error\":{\"code\":\"flow-gone\",\"what\":\"w\",\"why\":\"y\",\"try\":\"t\"}}\n",
    );
    leaves_under_it("");
}
