//! Two windows of one flow that break off all the time, a server that is killed in the middle of a
//! stream, and questions that both windows answer: nothing is lost, nothing is there twice, and one of
//! two answers counts.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{PATIENCE, Place, Server, Window};
use crate::support::Workspace;

/// How often both windows together break off in the slice, and in the whole.
const RECONNECTS: (usize, usize) = (40, 1_000);

/// How many nodes ask something, in the slice and in the whole.
const ASKING: (usize, usize) = (3, 24);

/// How long a window listens for something new before it breaks off.
const QUIET: Duration = Duration::from_millis(40);

fn either<T>((slice, whole): (T, T)) -> T {
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    if full { whole } else { slice }
}

/// A chain of nodes that each stream, ask, stream again and hand on.
fn stage(asking: usize) -> Workspace {
    let workspace = Workspace::new();
    let mut flow =
        String::from("workflow:\n  name: Questions\n  nodes:\n    - { id: begin, role: owner }\n");
    let mut edges = String::from("  edges:\n");
    let mut script = String::from("default: forward\nscript:\n");
    let mut before = "begin".to_owned();
    for number in 0..asking {
        let node = format!("n{number}");
        let text =
            "I look at it from one side and then from another, and then I say what I think. ";
        writeln!(flow, "    - {{ id: {node}, role: writer }}").unwrap();
        writeln!(edges, "    - {{ from: {before}, to: {node} }}").unwrap();
        writeln!(
            script,
            "  - node: {node}\n    turn: 1\n    say:\n      \
             - stream: {{ text: '{text}{text}', pieces: 30, every-ms: 5 }}\n      \
             - signal: prompt-human\n  \
             - node: {node}\n    say:\n      \
             - stream: {{ text: '{text}{text}', pieces: 30, every-ms: 5 }}\n      \
             - forward: 'What {node} thinks.'"
        )
        .unwrap();
        before = node;
    }
    writeln!(flow, "    - {{ id: end, role: owner }}").unwrap();
    writeln!(edges, "    - {{ from: {before}, to: end }}").unwrap();
    let roles = "roles:\n  owner: { executor: scripted }\n  writer: { executor: scripted }\n";
    std::fs::create_dir(workspace.path().join("demo")).unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(workspace.path().join("demo").join(name), text).unwrap();
    };
    write("flow.yaml", &[flow.as_str(), &edges, roles].concat());
    write("script.yaml", &script);
    workspace
}

/// What everybody in a test shares.
struct Ground {
    place: Mutex<Place>,
    over: AtomicBool,
    begun: Instant,
}

impl Ground {
    fn place(&self) -> Place {
        assert!(
            self.begun.elapsed() < PATIENCE * 10,
            "it does not come to its end"
        );
        self.place.lock().unwrap().clone()
    }
}

/// A window that breaks off so often, and then until the flow is over. It answers what it sees asked.
fn window(ground: &Ground, flow: &Value, (name, rounds): (&str, usize)) -> Window {
    let mut window = Window::new(flow, &["owner", "writer"]);
    let mut round = 0;
    while round < rounds || !ground.over.load(Ordering::SeqCst) {
        let Some(mut connection) = window.connect(&ground.place()) else {
            // There is no server just now.
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        round += 1;
        let mut said: Vec<String> = Vec::new();
        // Mostly it breaks off before it has everything.
        for _ in 0..4 + round % 23 {
            let Some(message) = connection.hear(QUIET) else {
                break;
            };
            window.hear(&connection, &message);
            for (cmd, command) in answers(&window, name) {
                if !window.acks.contains_key(&cmd) && !said.contains(&cmd) {
                    let order = json!({ "t": "do", "cmd": cmd, "flow": flow, "command": command });
                    said.push(cmd);
                    // Without an acknowledgement it is sent again.
                    if connection.say(&order).is_none() {
                        break;
                    }
                }
            }
        }
        if window.parts("flow").iter().any(|head| head["over"] == true) {
            ground.over.store(true, Ordering::SeqCst);
        }
    }
    window
}

/// What a window answers to what it sees asked, by the names of the commands. The names are the same
/// whenever it is asked the same, so that an answer that was sent twice counts once.
fn answers(window: &Window, name: &str) -> Vec<(String, Value)> {
    let asks = window.parts("ask/").into_iter();
    let answers = asks.filter_map(|ask| match ask["kind"]["kind"].as_str().unwrap() {
        "text" => {
            let node = ask["node"].as_str().unwrap();
            let to = json!({ "node": node });
            let text = format!("{name} says yes to {node}");
            let command = json!({ "do": "reply", "to": to, "text": text, "asked": ask["since"] });
            Some((format!("{name}-{node}"), command))
        }
        "improvement" => {
            let command = json!({ "do": "improve", "mode": "none" });
            Some((format!("{name}-improve"), command))
        }
        _ => None,
    });
    answers.collect()
}

/// Follows until everything is there that a newcomer gets.
fn settled(mut window: Window, place: &Place) -> Window {
    let mut connection = window.connect(place).unwrap();
    while !window.is_caught_up() {
        let message = connection.hear(PATIENCE).unwrap();
        window.hear(&connection, &message);
    }
    // No record shows the driver, so this may still be on its way.
    while let Some(message) = connection.hear(QUIET * 10) {
        window.hear(&connection, &message);
    }
    window
}

#[test]
fn however_often_windows_break_off_and_servers_die_nothing_is_lost_or_doubled_and_one_answer_counts()
 {
    let (reconnects, asking) = (either(RECONNECTS), either(ASKING));
    let workspace = stage(asking);
    let mut server = Server::start(&workspace, &[]);
    let wanted = json!({ "from": { "file": "demo/flow.yaml" } }).to_string();
    let row = server.place.ask("POST", "/api/flows", &wanted).unwrap();
    let flow = json!({ "project": row["project"], "flow": row["flow"] });
    let ground = Ground {
        place: Mutex::new(server.place.clone()),
        over: AtomicBool::new(false),
        begun: Instant::now(),
    };
    let mut kills = 0;
    let windows: Vec<Window> = std::thread::scope(|scope| {
        let threads = ["one", "two"].map(|name| {
            let (ground, flow) = (&ground, &flow);
            scope.spawn(move || window(ground, flow, (name, reconnects / 2)))
        });
        while !ground.over.load(Ordering::SeqCst) && !threads.iter().any(|it| it.is_finished()) {
            // Not in step with anything that the flow does.
            std::thread::sleep(Duration::from_millis(230 + kills * 37 % 310));
            server.kill();
            kills += 1;
            server = Server::start(&workspace, &["--resume"]);
            *ground.place.lock().unwrap() = server.place.clone();
        }
        let windows = threads.map(|thread| thread.join().unwrap());
        windows.into_iter().collect()
    });
    assert!(kills > 1, "it was over before anything could happen to it");

    let journal = workspace.run(&["log", flow["flow"].as_str().unwrap(), "--json"]);
    counted_once(&journal.out, &windows, asking);
    let snaps: usize = windows.iter().map(|window| window.followed[&3].snaps).sum();
    assert_eq!(
        snaps,
        windows.len(),
        "a cursor of a feed was good all the time"
    );
    let fresh = settled(Window::new(&flow, &["owner", "writer"]), &server.place);
    for window in windows {
        let window = settled(window, &server.place);
        for (id, there) in &fresh.followed {
            assert_eq!(window.followed[id].items, there.items, "subscription {id}");
            assert_eq!(window.followed[id].parts, there.parts, "subscription {id}");
        }
    }
    let verified = workspace.run(&["verify", flow["flow"].as_str().unwrap()]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

/// Of two answers to a question one is in the journal, once, and it is the one that was acknowledged.
fn counted_once(journal: &str, windows: &[Window], asking: usize) {
    let mut replies: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in journal.lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        if fact["fact"] == "operator_replied" {
            let text = fact["text"].as_str().unwrap().to_owned();
            let node = text.rsplit(' ').next().unwrap().to_owned();
            replies.entry(node).or_default().push(text);
        }
    }
    assert_eq!(replies.len(), asking);
    for (node, texts) in replies {
        assert_eq!(texts.len(), 1, "{node} was answered twice");
        let names = ["one", "two"];
        let acks = names.iter().zip(windows).filter_map(|(name, window)| {
            let ack = window.acks.get(&format!("{name}-{node}"))?;
            Some((*name, ack["ok"] == true))
        });
        for (name, counts) in acks {
            let in_journal = texts[0].starts_with(name);
            assert_eq!(counts, in_journal, "{name} was told otherwise of {node}");
        }
    }
}
