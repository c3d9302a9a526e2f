//! Who comes back to another server, and what is gone meanwhile.

use std::collections::BTreeMap;
use std::time::Duration;

use a_society_state::layout::FlowFolder;
use serde_json::{Value, json};

use super::{Stage, append, connect, hear, say, serve};

/// The journal of a flow that asks something and is answered, up to its end.
const ASKS: &str = include_str!("../../../tests/journals/human-gate.jsonl");

/// The flow of that journal.
const FLOW: &str = "20261121T145750217Z-ol8hhb";

/// What one who follows a flow has of it.
#[derive(Debug, Default, Clone)]
struct Has {
    cursor: Option<(u64, String)>,
    parts: BTreeMap<String, Value>,
}

impl Has {
    /// Follows until everything is there.
    fn follow(mut self, stage: &Stage) -> Self {
        let mut socket = connect(&stage.server);
        hear(&mut socket);
        let topic = json!({ "topic": "flow", "flow": { "project": "demo", "flow": FLOW } });
        let (since, epoch) = self.cursor.clone().unzip();
        say(
            &mut socket,
            &json!({ "t": "sub", "id": 1, "topic": topic, "since": since, "epoch": epoch }),
        );
        loop {
            let message = hear(&mut socket);
            match message["t"].as_str().unwrap() {
                "snap" => {
                    self.parts = BTreeMap::new();
                    for (name, ask) in message["state"]["asks"].as_object().unwrap() {
                        self.parts.insert(format!("ask/{name}"), ask.clone());
                    }
                    let epoch = message["epoch"].as_str().unwrap().to_owned();
                    self.cursor = Some((message["seq"].as_u64().unwrap(), epoch));
                }
                "ev" => {
                    for (key, part) in message["put"].as_object().unwrap() {
                        self.parts.insert(key.clone(), part.clone());
                    }
                    self.parts.retain(|_, part| !part.is_null());
                    self.cursor.as_mut().unwrap().0 = message["to"].as_u64().unwrap();
                }
                _ => return self,
            }
        }
    }

    fn asks(&self) -> Vec<&String> {
        self.parts
            .keys()
            .filter(|key| key.starts_with("ask/"))
            .collect()
    }
}

#[test]
fn a_question_that_was_answered_while_another_server_ran_is_not_asked_of_who_comes_back() {
    let lines: Vec<Vec<u8>> = ASKS
        .lines()
        .map(|line| format!("{line}\n").into_bytes())
        .collect();
    let asked = ASKS
        .lines()
        .position(|line| line.contains("node_suspended"))
        .unwrap();
    let mut stage = Stage::new(8);
    let root = stage.folder.path().join(".a-society/state/demo").join(FLOW);
    let journal = FlowFolder::at(root).segment(1);
    append(&journal, &lines[..=asked]);
    let window = Has::default().follow(&stage);
    assert_eq!(window.asks().len(), 1, "{:?}", window.asks());
    // No client was connected when it was answered, and the server that asked is gone.
    append(&journal, &lines[asked + 1..]);
    stage.server = serve(&stage.folder, 8);
    let fresh = Has::default().follow(&stage);
    assert_eq!(window.follow(&stage).asks(), fresh.asks());
    // The same server sends a client that comes back only what changed.
    let again = fresh.clone().follow(&stage);
    assert_eq!(again.cursor, fresh.cursor);
}

#[test]
fn whoever_reads_a_feed_of_a_journal_that_an_older_copy_replaced_is_shown_the_copy() {
    let stage = Stage::new(8);
    let root = stage.folder.path().join(".a-society/state/demo").join(FLOW);
    let journal = FlowFolder::at(root).segment(1);
    let lines: Vec<Vec<u8>> = ASKS
        .lines()
        .map(|line| format!("{line}\n").into_bytes())
        .collect();
    append(&journal, &lines);
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    let flow = json!({ "project": "demo", "flow": FLOW });
    let topic = json!({ "topic": "feed", "flow": flow, "role": "owner" });
    say(
        &mut socket,
        &json!({ "t": "sub", "id": 1, "topic": topic, "since": null, "epoch": null }),
    );
    let whole = hear(&mut socket);
    let items = |snap: &Value| snap["state"]["items"].as_array().unwrap().len();
    assert_eq!(
        (&whole["t"], &whole["seq"]),
        (&json!("snap"), &json!(lines.len()))
    );
    assert_eq!(hear(&mut socket)["t"], "caught_up");
    let older = lines.len() / 2;
    std::fs::write(&journal, lines[..older].concat()).unwrap();
    let copy = hear(&mut socket);
    assert_eq!(
        (&copy["t"], &copy["seq"]),
        (&json!("snap"), &json!(older)),
        "{copy}"
    );
    assert_ne!(copy["epoch"], whole["epoch"]);
    assert!(items(&copy) < items(&whole));
}

#[test]
fn of_a_journal_that_cannot_be_read_at_all_nothing_is_shown_until_it_is_mended() {
    let stage = Stage::new(8);
    let root = stage.folder.path().join(".a-society/state/demo").join(FLOW);
    let journal = FlowFolder::at(root).segment(1);
    let newer = ASKS.replacen("{\"v\":1", "{\"v\":9", 1);
    append(&journal, &[newer.into_bytes()]);
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    let flow = json!({ "project": "demo", "flow": FLOW });
    let topic = json!({ "topic": "flow", "flow": flow });
    say(
        &mut socket,
        &json!({ "t": "sub", "id": 1, "topic": topic, "since": null, "epoch": null }),
    );
    let heard = hear(&mut socket);
    assert_eq!(heard["t"], "gone", "{heard}");
    // A client that comes while that is known gets the same, and not a flow without anything.
    let flow = a_society_state::FlowRef {
        project: "demo".parse().unwrap(),
        flow: FLOW.parse().unwrap(),
    };
    let hub = stage.server.hubs().followed(&flow);
    assert_eq!(hub.and_then(|hub| hub.state()), None);
    std::fs::write(&journal, ASKS).unwrap();
    // Not more often than the server looks at what it follows.
    let shown = (0..600)
        .map(|id| {
            std::thread::sleep(Duration::from_millis(50));
            say(
                &mut socket,
                &json!({ "t": "sub", "id": id, "topic": topic, "since": null, "epoch": null }),
            );
            hear(&mut socket)
        })
        .find(|heard| heard["t"] != "gone");
    assert_eq!(shown.map(|heard| heard["t"].clone()), Some(json!("snap")));
}
