//! The socket of a process that drives a flow, and clients that mean no good or are confused.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::place::{FLOW, Place, SLOW, signal, wait_until};

#[test]
fn whatever_a_client_sends_it_is_answered_in_words_and_the_flow_goes_on() {
    let script = SLOW.replace("every-ms: 8 }", "every-ms: 8 }\n      - wait-ms: 30000");
    let place = Place::new(FLOW, &script);
    let child = place.start(&["run", "demo/flow.yaml"]);
    wait_until("the writer works", || {
        let flow = place.flow();
        flow.is_some_and(|flow| place.status(&flow)["running"][0]["node"] == "write")
    });
    let flow = place.flow().unwrap();
    for (sent, code) in [
        (&b"what?\n"[..], "message-unfit"),
        (b"{\"v\":1}\n", "message-unfit"),
        (
            b"{\"v\":7,\"command\":{\"do\":\"pause\"}}\n",
            "newer-version",
        ),
        (
            b"{\"v\":1,\"command\":{\"do\":\"explode\"}}\n",
            "message-unfit",
        ),
        (&vec![b'x'; 1_100_000], "message-unfit"),
    ] {
        let answer = knock(&place, &flow, sent);
        assert!(answer.contains(&format!("\"code\":\"{code}\"")), "{answer}");
    }
    let answer = knock(&place, &flow, b"{\"v\":1,\"command\":{\"do\":\"pause\"}}\n");
    assert!(answer.contains("\"ok\":{\"seq\":"), "{answer}");
    assert_eq!(place.status(&flow)["status"], "paused");
    assert_eq!(place.run(&["unpause", &flow]).code, 0);
    signal(&child, "KILL");
    child.wait_with_output().unwrap();
    // The name that the dead process left is no way to anybody, and no obstacle either.
    assert!(place.folder(&flow).join("control.sock").exists());
    assert_eq!(place.run(&["pause", &flow]).code, 0);
    assert_eq!(place.status(&flow)["status"], "paused");
}

/// Sends bytes and reads what is answered to them.
fn knock(place: &Place, flow: &str, sent: &[u8]) -> String {
    let mut stream = UnixStream::connect(reachable(place, flow)).unwrap();
    // One who sends too much is cut off while sending.
    drop(stream.write_all(sent));
    drop(stream.shutdown(std::net::Shutdown::Write));
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    String::from_utf8(answer).unwrap()
}

/// The socket by a path that is short enough.
fn reachable(place: &Place, flow: &str) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    let folder = std::fs::File::open(place.folder(flow)).unwrap();
    let path = format!("/proc/self/fd/{}/control.sock", folder.as_raw_fd());
    // The folder stays open for as long as the test runs.
    std::mem::forget(folder);
    path.into()
}
