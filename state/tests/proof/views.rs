//! When views are written, on a clock that only the test moves.

use std::sync::Arc;

use a_society_facts::fact::flow::{FlowCreated, FlowTitled, NodeOutline, Outline};
use a_society_facts::fact::session::{MessageAdded, Origin, SessionKind, SessionOpened};
use a_society_facts::id::{FlowId, RoleInstance};
use a_society_facts::{At, Fact};
use a_society_in_memory::{FaultyDisk, ManualClock};
use a_society_state::{Flow, FlowRef, Ground, Store, process};

struct World {
    disk: FaultyDisk,
    clock: Arc<ManualClock>,
    store: Store,
}

fn world() -> World {
    let disk = FaultyDisk::new();
    disk.make_folder("/w".as_ref()).unwrap();
    let clock = Arc::new(ManualClock::from(At::from_ms(1_795_246_169_123)));
    let ground = Ground {
        disk: Arc::new(disk.clone()),
        clock: clock.clone(),
        process: process::this(&disk),
        ledger: None,
    };
    let store = Store::new(ground, "/w/state".into());
    World { disk, clock, store }
}

fn at() -> FlowRef {
    let flow: FlowId = "20260527T143000123Z-a1b2c3".parse().unwrap();
    FlowRef {
        project: "demo".parse().unwrap(),
        flow,
    }
}

fn role() -> RoleInstance {
    "writer".parse().unwrap()
}

fn flow_with_session(world: &World) -> Flow {
    let created = FlowCreated {
        ends: a_society_facts::fact::flow::Ends::default(),
        project: at().project,
        title: "A flow".into(),
        input: None,
        graph: Outline {
            name: "one".into(),
            nodes: vec![NodeOutline {
                id: "write".parse().unwrap(),
                role: role(),
                human_colab: false,
                await_all_inputs: false,
            }],
            edges: Vec::new(),
            source: "".into(),
        },
        origin: None,
        draft: false,
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    };
    let mut flow = world.store.create(at().flow, created).unwrap();
    let opened = SessionOpened {
        role: role(),
        key: "flow:f:role:writer".parse().unwrap(),
        session: "s1".parse().unwrap(),
        generation: 1,
        kind: SessionKind::Role,
        parent: None,
        user: None,
    };
    flow.append(Fact::SessionOpened(opened)).unwrap();
    flow.rest().unwrap();
    flow
}

fn title(text: &str) -> Fact {
    Fact::FlowTitled(FlowTitled { title: text.into() })
}

fn say(number: usize, text: &str) -> Fact {
    Fact::MessageAdded(MessageAdded {
        role: role(),
        message: format!("m{number}").parse().unwrap(),
        text: text.into(),
        origin: Origin::Runtime,
        node: None,
        client: None,
        request: None,
    })
}

fn shown_title(world: &World, flow: &Flow) -> String {
    let bytes = world.disk.read_file(&flow.folder().flow_view()).unwrap();
    let view: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    view["title"].as_str().unwrap().to_owned()
}

#[test]
fn a_view_follows_within_a_quarter_of_a_second_while_the_flow_moves() {
    let world = world();
    let mut flow = flow_with_session(&world);
    flow.append(title("changed")).unwrap();
    flow.tick();
    assert_eq!(shown_title(&world, &flow), "A flow", "not at once");
    for _ in 0..5 {
        world.clock.advance_ms(50);
        flow.tick();
    }
    assert_eq!(shown_title(&world, &flow), "changed");
}

#[test]
fn a_flow_that_rests_has_views_that_say_everything() {
    let world = world();
    let mut flow = flow_with_session(&world);
    flow.append(title("changed")).unwrap();
    flow.append(say(1, "hello")).unwrap();
    flow.rest().unwrap();
    assert_eq!(shown_title(&world, &flow), "changed");
    let index = world.disk.read_file(&flow.folder().views()).unwrap();
    let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
    let end = flow.position().seq;
    assert_eq!(index["position"]["seq"], end);
    let views = index["views"].as_object().unwrap();
    assert!(views.values().all(|mark| mark["seq"] == end), "{index}");
    let transcript = flow.folder().role(&role()).join("transcript.json");
    let transcript = String::from_utf8(world.disk.read_file(&transcript).unwrap()).unwrap();
    assert!(transcript.contains("hello"));
}

#[test]
fn views_never_say_more_than_is_durable() {
    let world = world();
    let mut flow = flow_with_session(&world);
    flow.append(title("changed")).unwrap();
    world.clock.advance_ms(200);
    flow.tick();
    assert_eq!(shown_title(&world, &flow), "changed");
    assert_eq!(
        flow.durable(),
        flow.position().seq,
        "what a view shows was synced before"
    );
}

#[test]
fn a_giant_session_is_not_rewritten_as_fast_as_it_moves() {
    let world = world();
    let mut flow = flow_with_session(&world);
    let long = "x".repeat(50_000);
    for number in 0..200 {
        flow.append(say(number, &long)).unwrap();
    }
    flow.rest().unwrap();
    let (journal_before, views_before) = flow.written_bytes();
    // A second of steady small messages in a session of ten megabytes.
    for number in 200..300 {
        flow.append(say(number, "and a little more")).unwrap();
        world.clock.advance_ms(10);
        flow.tick();
    }
    let (journal, views) = flow.written_bytes();
    let session = 10_000_000;
    assert!(journal - journal_before < 100_000);
    assert!(
        views - views_before < 2 * session,
        "{} bytes in a second",
        views - views_before
    );
    flow.rest().unwrap();
    let transcript = flow.folder().role(&role()).join("transcript.json");
    let transcript = String::from_utf8(world.disk.read_file(&transcript).unwrap()).unwrap();
    assert_eq!(transcript.matches("and a little more").count(), 100);
}

/// How many bytes went into views while a flow wrote so much in a second, in texts of a kilobyte.
fn written_in_a_second(kilobytes: usize) -> u64 {
    let world = world();
    let mut flow = flow_with_session(&world);
    flow.rest().unwrap();
    let before = flow.written_bytes().1;
    let text = "x".repeat(1024);
    for number in 0..kilobytes {
        flow.append(say(number, &text)).unwrap();
        if number % (kilobytes / 8) == 0 {
            world.clock.advance_ms(125);
            flow.tick();
        }
    }
    flow.written_bytes().1 - before
}

#[test]
fn views_of_a_flow_that_races_take_a_small_part_of_what_it_says() {
    let said = 8 * 1024 * 1024;
    let written = written_in_a_second(said / 1024);
    assert!(written < said as u64 / 8, "{written} bytes for {said}");
    // One that moves no faster than people read is followed all the time.
    let said = 64 * 1024;
    let written = written_in_a_second(said / 1024);
    assert!(written > 2 * said as u64, "{written} bytes for {said}");
}

#[test]
fn a_view_that_somebody_changed_is_rebuilt_by_the_next_open() {
    let world = world();
    let flow = flow_with_session(&world);
    let path = flow.folder().flow_view();
    let good = world.disk.read_file(&path).unwrap();
    flow.close().unwrap();
    world.disk.write_file(&path, b"{}").unwrap();
    let (flow, report) = world.store.open(&at()).unwrap();
    assert!(report.views_rebuilt);
    flow.close().unwrap();
    let again = world.disk.read_file(&path).unwrap();
    let (good, again): (serde_json::Value, serde_json::Value) = (
        serde_json::from_slice(&good).unwrap(),
        serde_json::from_slice(&again).unwrap(),
    );
    assert_eq!(good["title"], again["title"]);
    let (_, report) = world.store.open(&at()).unwrap();
    assert!(!report.views_rebuilt, "and then it verifies");
}
