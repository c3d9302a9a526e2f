//! Feeds: the words for the operator, and which item a fact belongs to.

use std::collections::BTreeSet;

use super::super::feed::{FeedBounds, FeedItem, FeedView, ItemKind};
use super::super::{FactView, Views};
use super::{fold, recorded};
use crate::at::At;
use crate::fact::Fact;
use crate::id::RoleInstance;
use crate::line::{Body, Recorded};
use crate::sample::{every_kind, id, walk};

#[test]
fn the_words_of_every_kind_of_fact() {
    let mut lines = Vec::new();
    for record in recorded(every_kind()) {
        let mut feed = FeedView::default();
        feed.apply(&record);
        let word = record.word();
        let Some(item) = feed.items().next() else {
            lines.push(format!("{word}: –"));
            continue;
        };
        let kind = serde_json::to_string(&item.kind).unwrap();
        let event = item.event.as_deref().unwrap_or("–");
        let text = item.text.replace('\n', " ⏎ ");
        lines.push(format!("{word}: {kind} {event} | {} | {text}", item.label));
    }
    insta::assert_snapshot!("words", lines.join("\n"));
}

#[test]
fn every_event_an_operator_knows_is_shown() {
    let mut seen = BTreeSet::new();
    let mut views = Views::default();
    for record in recorded(walk().into_iter().chain(every_kind())) {
        views.apply(&record);
        for feed in views.feeds.values() {
            seen.extend(
                feed.items()
                    .rev()
                    .take(3)
                    .filter_map(|item| item.event.clone()),
            );
        }
    }
    for event in [
        "role.active",
        "role.sent_back",
        "role.resumed",
        "activity.tool_call",
        "activity.tool_result",
        "handoff.applied",
        "repair.requested",
        "human.awaiting_input",
        "human.resumed",
        "role.configured",
        "usage.turn_summary",
        "turn.ended",
        "session.compaction_started",
        "session.compacted",
        "session.compaction_failed",
        "mcp.server_unavailable",
        "mcp.tool_unavailable",
        "provider.reasoning_trace",
        "flow.forward_pass_closed",
        "flow.completed",
        "consent.requested",
        "consent.resolved",
        "consent.mode_changed",
    ] {
        assert!(seen.contains(event), "{event} is never shown");
    }
}

#[test]
fn a_tool_item_becomes_its_result_in_place() {
    let views = fold(walk());
    let items: Vec<_> = views.feeds[&id::<RoleInstance>("writer")].items().collect();
    let tools: Vec<_> = items
        .iter()
        .filter(|i| i.kind == ItemKind::ToolSuccess)
        .collect();
    assert_eq!(tools.len(), 2);
    assert!(
        items
            .iter()
            .all(|item| item.kind != ItemKind::Tool && !item.pending)
    );
    assert!(tools[0].text.contains("CHANGES.md") && tools[0].text.contains("1.4: faster"));
}

#[test]
fn a_decision_is_told_with_the_time_at_which_it_was_made() {
    let of = |word| recorded(walk()).into_iter().find(|one| one.word() == word);
    let asked = of("consent_requested").unwrap().at;
    let decided = of("consent_resolved").unwrap().at;
    assert_ne!(asked, decided);
    let views = fold(walk());
    let told = views.feeds.values().flat_map(FeedView::items);
    let told: Vec<_> = told
        .filter(|item| item.event.as_deref() == Some("consent.resolved"))
        .map(|item| item.at)
        .collect();
    assert_eq!(told.first(), Some(&decided));
}

#[test]
fn streamed_text_extends_one_item() {
    let views = fold(walk());
    let mut owner = views.feeds[&id::<RoleInstance>("owner")].items();
    let said = owner.find(|item| item.kind == ItemKind::Assistant).unwrap();
    assert_eq!(said.text, "Who reads these notes?");
}

#[test]
fn what_does_not_count_stays_in_the_feed_and_says_so() {
    let views = fold(walk());
    let mut writer = views.feeds[&id::<RoleInstance>("writer")].items();
    let gone = writer.find(|item| item.discarded).unwrap();
    assert_eq!(gone.text, "all");
    let transcript = serde_json::to_string(&views.sessions[&id::<RoleInstance>("writer")]).unwrap();
    assert!(!transcript.contains(r#""content":"all""#));
}

#[test]
fn a_summary_in_the_making_is_not_shown_as_said() {
    let views = fold(walk());
    let mut writer = views.feeds[&id::<RoleInstance>("writer")].items();
    assert!(!writer.any(|item| item.text.contains("written and sent back")));
}

/// What facts say in a feed, an item each.
fn told(facts: &[&str]) -> Vec<String> {
    let mut feed = FeedView::default();
    for (number, line) in facts.iter().enumerate() {
        let payload: serde_json::Value = serde_json::from_str(line).unwrap();
        let word = payload["fact"].as_str().unwrap();
        feed.apply(&Recorded {
            seq: number as u64 + 1,
            at: At::from_ms(number as i64 * 1_000),
            body: Body::Known(Fact::read(word, line.as_bytes()).unwrap().unwrap()),
        });
    }
    let item = |item: &FeedItem| format!("{}|{}", item.label, item.text);
    feed.items().map(item).collect()
}

#[test]
fn what_another_item_says_has_none_of_its_own() {
    let hash = "0".repeat(64);
    let begins = r#"{"fact":"turn_started","turn":1,"attempt":1,"role":"writer","node":"draft","cause":"node"}"#;
    let call = |tool: &str, end: &str| {
        let intended = format!(
            r#"{{"fact":"call_intended","call":"1.1","turn":1,"role":"writer","tool_call":"c","ordinal":0,"tool":"{tool}","arguments":"{hash}","effect":"mutating","idempotency_key":"{hash}","summary":"{tool} {{}}"}}"#
        );
        let finished = format!(
            r#"{{"fact":"call_finished","call":"1.1","turn":1,"role":"writer","tool_call":"c","tool":"{tool}","end":"{end}","output":"There is no node x.","message":"m-2"}}"#
        );
        told(&[begins, &intended, &finished])
    };
    // The handoff and the question are items; the call by which they came is no item, unless it was refused.
    assert_eq!(call("handoff", "done"), [""; 0]);
    assert_eq!(call("ask_operator", "done"), [""; 0]);
    assert_eq!(call("handoff", "failed"), ["handoff|There is no node x."]);
    // So are the request for consent and the staged handoff that a role waits with.
    let waits = |reason: &str, label: &str| {
        let facts = [
            format!(
                r#"{{"fact":"node_suspended","node":"draft","role":"writer","reason":"{reason}"}}"#
            ),
            format!(
                r#"{{"fact":"node_woken","node":"draft","role":"writer","reason":"{reason}"}}"#
            ),
        ];
        let told = told(&[&facts[0], &facts[1]]);
        assert_eq!(
            told.first()
                .map_or("", |first| first.split('|').next().unwrap()),
            label,
            "{told:?}"
        );
    };
    waits("consent", "");
    waits("handoff_approval", "");
    waits("prompt_human", "Waits for your answer");
}

#[test]
fn a_context_that_is_compacted_is_one_item_and_no_turn_of_its_own() {
    let told = told(&[
        r#"{"fact":"turn_started","turn":1,"attempt":1,"role":"writer","node":"draft","cause":"node"}"#,
        r#"{"fact":"turn_started","turn":2,"attempt":1,"role":"writer","node":"draft","cause":"compaction"}"#,
        r#"{"fact":"model_answered","turn":2,"attempt":1,"role":"writer","request":1,"message":"m-1","text":"It was long.","stop":"end","usage":{"input_tokens":3000,"output_tokens":200}}"#,
        r#"{"fact":"turn_ended","turn":2,"attempt":1,"role":"writer","end":"outcome"}"#,
        r#"{"fact":"session_compacted","role":"writer","compaction":"k","trigger":"auto","strategy":"llm","node":"draft","message":"m-3","replacement":"It was long.","kept_last":2,"tokens_before":128000}"#,
    ]);
    assert_eq!(told, ["Context compacted from 128k tokens|"]);
}

#[test]
fn a_call_that_the_operator_stopped_says_so() {
    let told = told(&[
        r#"{"fact":"call_finished","call":"1.1","turn":1,"role":"writer","tool_call":"c","tool":"run","end":"stopped","output":"","message":"m-2"}"#,
    ]);
    assert_eq!(told, ["run (stopped by you)|"]);
}

#[test]
fn a_closed_forward_pass_asks_nothing() {
    // Whether a retrospective is asked for depends on what was chosen beforehand; the question has a card of its own.
    let told = told(&[r#"{"fact":"forward_pass_closed","node":"close"}"#]);
    assert_eq!(
        told,
        ["Forward pass closed|Everything the graph asks for is done."]
    );
}

#[test]
fn item_ids_are_unique_in_a_feed() {
    for feed in fold(walk()).feeds.values() {
        let ids: BTreeSet<_> = feed.items().map(|item| item.id.as_str()).collect();
        assert_eq!(ids.len(), feed.items().len());
    }
}

#[test]
fn a_bounded_feed_is_the_end_of_the_whole_one() {
    let owners: Vec<_> = {
        let views = fold(walk());
        let owned = |fact: &Fact| super::super::route::feed_role(&views.flow, fact).is_some();
        recorded(walk())
            .filter(|r| r.fact().is_some_and(owned))
            .collect()
    };
    let mut whole = FeedView::default();
    let mut end = FeedView::bounded(FeedBounds {
        items_max: 10,
        text_bytes_max: 8,
    });
    for record in &owners {
        whole.apply(record);
        end.apply(record);
    }
    let skipped = whole.items().len() - 10;
    assert_eq!(end.items_before(), skipped as u64);
    for (long, short) in whole.items().skip(skipped).zip(end.items()) {
        assert_eq!(
            (&long.id, long.kind, long.seq),
            (&short.id, short.kind, short.seq)
        );
        assert!(long.text.starts_with(&short.text) && short.text.len() <= 8);
        assert_eq!(
            short.full_bytes.is_some(),
            long.text.len() > short.text.len()
        );
    }
}
