//! Feeds that were imported: one record brings many items, whose ids count from one in every feed.

use std::collections::BTreeSet;

use a_society_facts::fact::imported::{FeedImported, ImportedItem};
use a_society_facts::view::feed::ItemKind;
use a_society_facts::{Fact, line};
use a_society_samples::{long, recorded};
use serde_json::{Value, json};

use super::{FLOW, Stage, append, connect, hear, say};

/// How many items each of the records brings.
const EACH: u64 = 2_900;

/// The text of one item, much longer than what a feed shows of it.
const LONG_BYTES: usize = 20_000;

fn item(number: u64) -> ImportedItem {
    ImportedItem {
        id: number.to_string(),
        kind: ItemKind::User,
        label: String::new(),
        text: if number == 7 {
            "x".repeat(LONG_BYTES)
        } else {
            number.to_string()
        },
        reasoning_display: None,
    }
}

/// The lines of a journal of which three records bring the feed of a role.
fn lines() -> Vec<Vec<u8>> {
    let imported = (0..3).map(|record| {
        Fact::FeedImported(FeedImported {
            role: "owner".parse().unwrap(),
            after: record * EACH,
            items: (1..=EACH).map(|n| item(record * EACH + n)).collect(),
        })
    });
    let mut prev = 0;
    let facts: Vec<Fact> = long(1, 7).chain(imported).collect();
    recorded(facts)
        .map(|record| {
            let mut out = Vec::new();
            let fact = record.fact().unwrap();
            prev = line::write(&mut out, record.seq, record.at, 0, prev, fact).unwrap();
            out
        })
        .collect()
}

fn get(stage: &Stage, rest: &str) -> Value {
    super::get(stage, FLOW, rest).1
}

#[test]
fn every_imported_item_is_shown_once_in_its_order_and_can_be_read_whole() {
    let stage = Stage::new(8);
    append(&stage.journal(), &lines());
    let mut socket = connect(&stage.server);
    hear(&mut socket);
    let topic =
        json!({ "topic": "feed", "flow": { "project": "demo", "flow": FLOW }, "role": "owner" });
    say(
        &mut socket,
        &json!({ "t": "sub", "id": 1, "topic": topic, "since": null, "epoch": null }),
    );
    let snap = hear(&mut socket);
    let mut items = snap["state"]["items"].as_array().unwrap().clone();
    let mut before = snap["state"]["before"].clone();
    while let Some(record) = before.as_u64() {
        let page = get(&stage, &format!("items?role=owner&before={record}"));
        let older = page["items"].as_array().unwrap().clone();
        assert!(!older.is_empty());
        items.splice(0..0, older);
        before = page["before"].clone();
    }
    let texts: Vec<&str> = items
        .iter()
        .map(|item| item["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts.len() as u64, 3 * EACH);
    for (place, text) in texts.iter().enumerate() {
        assert!(
            place == 6 || *text == (place + 1).to_string(),
            "{place}: {text}"
        );
    }
    let ids: BTreeSet<&str> = items
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), items.len());
    let firsts: Vec<u64> = items
        .iter()
        .map(|item| item["first"].as_u64().unwrap())
        .collect();
    assert!(
        firsts.is_sorted(),
        "a page puts what comes behind them by it"
    );
    let long = &items[6];
    assert_eq!(long["full_bytes"], LONG_BYTES);
    let body = get(
        &stage,
        &format!("item/{}/body", long["id"].as_str().unwrap()),
    );
    assert_eq!(body["text"].as_str().unwrap().len(), LONG_BYTES);
}
