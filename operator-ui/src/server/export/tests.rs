//! Files that show a flow: nothing is missing at any event, nothing secret is in them, and nothing that
//! was written can get out of them.

mod past;
mod requests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::fact::journal::ProcessName;
use a_society_state::clock::CountingClock;
use a_society_state::disk::RealDisk;
use a_society_state::layout::FlowFolder;
use a_society_state::{FlowRef, Ground, Store};
use serde_json::{Value, json};

use super::document::document;
use super::gather::gather;
use super::json::{Json, Member};
use super::limits::FILE_BYTES_MAX;
use super::page::fitting;
use super::scrub::Scrub;
use super::wanted::{Failed, Part, Wanted};
use crate::hub::Hubs;
use crate::protocol::exported::{Exported, Moment};
use crate::server::feed_at;

const JOURNALS: [&str; 4] = ["every-kind", "fan-out", "human-gate", "review-loop"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A workspace with one flow.
struct Stage {
    _folder: tempfile::TempDir,
    hubs: Arc<Hubs>,
    flow: FlowRef,
}

fn stage(journal: &str) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join(".a-society/state");
    let text = std::fs::read(root().join(format!("tests/journals/{journal}.jsonl"))).unwrap();
    let first = text.split(|byte| *byte == b'\n').next().unwrap();
    let first: Value = serde_json::from_slice(first).unwrap();
    let flow = FlowRef {
        project: "demo".parse().unwrap(),
        flow: first["flow"].as_str().unwrap().parse().unwrap(),
    };
    let segment = FlowFolder::at(state.join("demo").join(flow.flow.as_str())).segment(1);
    std::fs::create_dir_all(segment.parent().unwrap()).unwrap();
    std::fs::write(segment, &text).unwrap();
    let ground = Ground {
        disk: Arc::new(RealDisk),
        clock: Arc::new(CountingClock::from(At::from_ms(1_779_892_200_000))),
        process: ProcessName {
            pid: 4711,
            start_ticks: 1,
            boot_id: "test".to_owned(),
        },
        ledger: None,
    };
    let hubs = Hubs::new(Store::new(ground, state), "epoch".to_owned(), None);
    Stage {
        _folder: folder,
        hubs,
        flow,
    }
}

fn told(stage: &Stage, redact: &dyn Fn(&str) -> String, without: &[Part]) -> (String, u64) {
    let wanted = Wanted {
        redact,
        without: without.iter().copied().collect(),
        shrinks: false,
        build: "test",
        workspace: "/somewhere/orchard/",
        project: Path::new("/somewhere/orchard"),
    };
    let gathered = gather(&stage.hubs, &stage.flow).unwrap();
    let data = fitting(&stage.hubs, &stage.flow, &gathered, &wanted, FILE_BYTES_MAX).unwrap();
    (data.json, data.withheld)
}

/// The views after a record, as the page puts them together.
fn merged(moments: &[Moment], upto: u64) -> BTreeMap<String, Value> {
    let mut views: BTreeMap<String, Value> = BTreeMap::new();
    for moment in moments.iter().filter(|moment| moment.seq <= upto) {
        for (key, view) in &moment.set {
            views.remove(key);
            if !view.is_null() {
                views.insert(key.clone(), view.clone());
            }
        }
        for (key, some) in &moment.merge {
            let view = views.get_mut(key).and_then(Value::as_object_mut).unwrap();
            view.extend(some.clone());
        }
    }
    views
}

#[test]
fn what_each_record_changed_makes_the_flow_as_it_was_at_every_record() {
    for name in JOURNALS {
        let stage = stage(name);
        let gathered = gather(&stage.hubs, &stage.flow).unwrap();
        for seq in 1..=gathered.seq {
            let views = merged(&gathered.moments, seq);
            let Ok(mut then) = feed_at::driven_state(&stage.hubs, &stage.flow, Some(seq)) else {
                assert!(!views.contains_key("flow"), "{name} at {seq}");
                continue;
            };
            // Streamed text moves the number of the last record and no view.
            then.flow.row.seq = 0;
            then.flow.row.updated_at.clear();
            let then = serde_json::to_value(&then).unwrap();
            let mut now = json!({
                "flow": views["flow"], "order": views.get("order").cloned().unwrap_or(json!([])), "nodes": {}, "edges": {}, "roles": {}, "asks": {},
                "changes": {}, "improvement": views.get("improvement"),
            });
            now["flow"]["seq"] = json!(0);
            now["flow"]["updated_at"] = json!("");
            for (key, view) in &views {
                if let Some((family, name)) = key.split_once('/') {
                    now[format!("{family}s")][name] = view.clone();
                }
            }
            assert_eq!(now, then, "{name} at {seq}");
        }
    }
}

#[test]
fn the_page_gets_what_it_expects_and_its_tests_the_same_file() {
    let stage = stage("review-loop");
    let (text, withheld) = told(&stage, &str::to_owned, &[]);
    assert_eq!(withheld, 0);
    let exported: Exported = serde_json::from_str(&text).unwrap();
    assert_eq!(exported.workspace, "orchard");
    let head = exported.seq;
    assert_eq!(exported.events.len() as u64, head);
    let states = [3, 9, 20, 41, 60, head].map(|seq| {
        let state = feed_at::driven_state(&stage.hubs, &stage.flow, Some(seq)).unwrap();
        (seq, state)
    });
    let sessions = past::asked(&stage, &exported);
    let case = json!({ "exported": exported, "states": states, "sessions": sessions });
    let case = serde_json::to_string(&case).unwrap() + "\n";
    let path = root().join("tests/exported/review-loop.json");
    if std::env::var_os("A_SOCIETY_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &case).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == case,
        "tests/exported/review-loop.json: run with A_SOCIETY_UPDATE=1"
    );
}

#[test]
fn no_text_of_a_flow_gets_into_a_file_past_whoever_takes_secrets_out() {
    let stage = stage("review-loop");
    let (whole, _) = told(&stage, &str::to_owned, &[]);
    // Words of its title, its graph, what roles said, read and wrote, and of its addresses.
    for word in ["Review", "reviewer", "faster", "notes", "quick", "publish"] {
        assert!(whole.contains(word), "{word} is not in the flow");
        let redact = |text: &str| text.replace(word, "[secret withheld]");
        let (text, withheld) = told(&stage, &redact, &[]);
        assert!(withheld > 0, "{word}");
        let left = text
            .find(word)
            .map(|at| &text[at.saturating_sub(90)..at + 30]);
        assert_eq!(left, None, "{word} is left");
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
}

#[test]
fn what_is_left_out_is_not_in_the_file() {
    let stage = stage("review-loop");
    let (text, _) = told(&stage, &str::to_owned, &Part::ALL);
    let exported: Exported = serde_json::from_str(&text).unwrap();
    assert!(exported.bodies.is_empty() && exported.transcripts.is_empty());
    assert!(exported.requests.sent.is_empty() && exported.requests.unwritten.is_empty());
    assert!(exported.events.is_empty() && exported.blobs.is_empty());
    assert!(exported.files.files.is_empty() && exported.changes.diffs.is_empty());
    assert_eq!(exported.without, Part::ALL.map(Part::word));
    assert!(!exported.feeds.is_empty() && !exported.moments.is_empty());
    // A request is a transcript as it was sent.
    let (text, _) = told(&stage, &str::to_owned, &[Part::Transcripts]);
    let exported: Exported = serde_json::from_str(&text).unwrap();
    assert_eq!(exported.without, ["transcripts", "requests"]);
    assert!(exported.requests.unwritten.is_empty());
}

#[test]
fn a_secret_that_a_cut_would_halve_is_taken_out_before() {
    let redact = |text: &str| text.replace("canary-s3cret", "[secret withheld]");
    let mut scrub = Scrub::new(&redact);
    let text = format!("{}canary-s3cret and more", "x".repeat(20));
    let cut = scrub.beginning(&text, 26);
    assert!(!cut.contains("cana"), "{cut}");
    assert!(cut.contains("42 bytes in all"), "{cut}");
    assert_eq!(scrub.withheld, 1);
}

#[test]
fn what_was_found_once_is_found_in_parts() {
    let secret = "BEGIN\nFirstLineOfAKey12345\nLastOfAKey6789012345\nEND";
    let token = "token-0123456789abcdef";
    let redact = |text: &str| {
        let clean = text.replace(secret, "[secret withheld]\n\n\n");
        clean.replace(token, "[secret withheld]")
    };
    let mut scrub = Scrub::new(&redact);
    let clean = scrub.text(&format!("{token}\n{secret}\n{token}\nmore words after it"));
    let mark = "[secret withheld]";
    assert_eq!(
        clean,
        format!("{mark}\n{mark}\n\n\n\n{mark}\nmore words after it")
    );
    for (text, clean) in [
        ("LastOfAKey6789012345", mark.to_owned()),
        ("cut: FirstLineOfAK", format!("cut: {mark}")),
        ("the FirstLine", "the FirstLine".to_owned()),
        ("…Key6789012345, then", format!("…{mark}, then")),
        ("token-0123456", mark.to_owned()),
        ("token-0123456 token-01234567", format!("{mark} {mark}")),
        ("more words after it", "more words after it".to_owned()),
    ] {
        assert_eq!(scrub.text(text), clean);
    }
    assert_eq!(scrub.withheld, 6);
}

#[test]
fn a_line_without_secrets_stays_as_it_is_on_disk_and_one_with_them_stays_json() {
    let redact = |text: &str| text.replace("a\"b canary", "[secret withheld]");
    let mut scrub = Scrub::new(&redact);
    let plain = r#"{"b":1, "a":"x"}"#;
    assert_eq!(scrub.line(plain), plain);
    let clean = scrub.line(r#"{"seq":1,"text":"a\"b canary"}"#);
    assert_eq!(clean, r#"{"seq":1,"text":"[secret withheld]"}"#);
}

#[test]
fn what_there_is_most_of_is_left_out_until_the_rest_has_room_and_the_file_says_so() {
    let redact = |text: &str| text.to_owned();
    let stage = stage("review-loop");
    let gathered = gather(&stage.hubs, &stage.flow).unwrap();
    let wanted = |shrinks: bool| Wanted {
        redact: &redact,
        without: BTreeSet::new(),
        shrinks,
        build: "test",
        workspace: "/somewhere/orchard/",
        project: Path::new("/somewhere/orchard"),
    };
    let made = |shrinks: bool, bytes_max: usize| {
        fitting(
            &stage.hubs,
            &stage.flow,
            &gathered,
            &wanted(shrinks),
            bytes_max,
        )
    };
    let whole = made(true, FILE_BYTES_MAX).unwrap();
    assert_eq!(whole.left_out, []);
    let room = whole.json.len() * 2 / 3;
    assert!(matches!(made(false, room), Err(Failed::TooLarge { .. })));
    let fitted = made(true, room).unwrap();
    assert!(fitted.json.len() <= room);
    assert!(!fitted.left_out.is_empty());
    let read: Value = serde_json::from_str(&fitted.json).unwrap();
    for part in &fitted.left_out {
        let without = read["without"].as_array().unwrap();
        assert!(
            without.contains(&part.word().into()),
            "{part:?}: {without:?}"
        );
    }
    assert_eq!(
        read["state"],
        serde_json::from_str::<Value>(&whole.json).unwrap()["state"]
    );
    // What cannot be left out is too much for this.
    assert!(matches!(made(true, 1_000), Err(Failed::TooLarge { .. })));
}

#[test]
fn a_file_that_would_hold_too_much_says_what_there_is_most_of() {
    let redact = |text: &str| text.to_owned();
    let mut json = Json::new(Scrub::new(&redact), 200);
    json.member("v", &1).unwrap();
    let few = [Member {
        name: "a".to_owned(),
        value: "x".repeat(30),
    }];
    json.object("bodies", Some(Part::Bodies), few).unwrap();
    let many = ["y".repeat(60), "y".repeat(60), "y".repeat(60)];
    let failed = json.list("events", Some(Part::Events), many).unwrap_err();
    let Failed::TooLarge { largest } = failed else {
        panic!("{failed:?}")
    };
    assert_eq!(largest.map(|(part, _)| part), Some(Part::Events));
}

#[test]
fn nothing_in_a_flow_can_end_the_element_that_holds_it() {
    let title = "</title><script>alert(1)</script> & \"quotes\" 'and more'";
    let hostile = json!({ "text": "</script><script>alert(2)</script><!--", "v": 1 });
    let html = document(title, &hostile.to_string(), "run()", "body{}");
    assert!(!html.contains("alert(1)</script>") && !html.contains("alert(2)"));
    assert_eq!(html.matches("</script>").count(), 2);
    assert_eq!(html.matches("<script").count(), 2);
    let policy = html.split("Content-Security-Policy\" content=\"").nth(1);
    let policy = policy.unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"));
    let openings = [
        "connect-src",
        "http:",
        "https:",
        "*",
        "unsafe-eval",
        "blob:",
    ];
    let open: BTreeSet<_> = (openings.into_iter())
        .filter(|it| policy.contains(it))
        .collect();
    assert_eq!(open, BTreeSet::new());
}

#[test]
fn what_the_page_was_built_to_can_stand_in_a_document() {
    let (script, style) =
        super::document::built().expect("operator-ui/web/dist has no file/page.js");
    for text in [&script, &style] {
        let lower = text.to_lowercase();
        assert!(!lower.contains("</script") && !lower.contains("<script"));
        assert!(!lower.contains("</style"));
    }
}
