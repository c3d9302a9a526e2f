//! The facts that are worth a line and have no event of their own.

use a_society_facts::fact::Fact;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::handoff::{Delivery, HandoffWay};
use a_society_facts::words::asks::{FORWARD_WORK_IS_DONE, WANTS_TO_HAND_OVER};
use a_society_facts::words::calls::WITHOUT_SERVER;
use a_society_facts::words::choices::{self, Choice};
use a_society_facts::words::retrospective::{
    FEEDBACK_REPORT, LOOKS_BACK, RETROSPECTIVE, WRITES_THE_REPORT, WROTE_ITS_FINDINGS,
    WROTE_THE_REPORT, order,
};
use a_society_facts::words::status::{CANCELLED, COMPLETED};
use serde_json::Value;

use super::event::{About, What};

/// The facts, and the text for each.
const NOTES: [(&str, &str); 22] = [
    ("flow_created", "created"),
    ("flow_forked", "is a fork"),
    ("graph_revised", "walks a revised graph"),
    ("flow_paused", "pauses"),
    ("flow_unpaused", "goes on"),
    ("flow_cancelled", CANCELLED),
    ("forward_pass_closed", FORWARD_WORK_IS_DONE),
    ("flow_completed", COMPLETED),
    ("node_reopened", "is reopened"),
    ("node_retried", "is retried"),
    ("handoff_staged", WANTS_TO_HAND_OVER),
    ("handoff_decided", "the handoff was decided"),
    ("repair_requested", "must correct its outcome"),
    ("turn_resumed", "goes on where it was"),
    ("consent_ruled", "is decided by a rule"),
    ("operator_replied", "is answered"),
    ("reply_returned", "what you said is given back"),
    ("stop_requested", "is stopped"),
    ("mcp_server_unavailable", WITHOUT_SERVER),
    ("budget_reached", "reached a budget"),
    ("recovery_truncated", "a torn end of the journal was cut"),
    ("blob_lost", "a blob is lost"),
];

/// The facts of the improvement phase, likewise.
const IMPROVEMENT: [(&str, &str); 6] = [
    ("improvement_chosen", RETROSPECTIVE),
    ("reflection_started", LOOKS_BACK),
    ("findings_recorded", WROTE_ITS_FINDINGS),
    ("feedback_decided", FEEDBACK_REPORT),
    ("feedback_started", WRITES_THE_REPORT),
    ("feedback_recorded", WROTE_THE_REPORT),
];

/// The note of a fact, if it is worth one.
pub(super) fn of(fact: &Fact) -> Option<About> {
    let word = fact.word();
    let mut all = NOTES.iter().chain(&IMPROVEMENT);
    let (code, says) = all.find(|(shown, _)| *shown == word)?;
    let says_more = payload(fact);
    let text = if let Fact::ConsentRuled(ruled) = fact {
        format!("{}: {}", ruled.words(), ruled.about)
    } else if let Fact::McpServerUnavailable(absent) = fact {
        format!("{says} {}", absent.words())
    } else if let Fact::ImprovementChosen(chosen) = fact {
        match chosen.mode {
            ImprovementMode::None => order(chosen.mode).to_owned(),
            ImprovementMode::GraphBased | ImprovementMode::Parallel => {
                format!("{says} {}", order(chosen.mode))
            }
        }
    } else if let Fact::FeedbackDecided(decided) = fact {
        let choice = if decided.granted {
            Choice::Grant
        } else {
            Choice::Refuse
        };
        choices::done(choice).to_owned()
    } else if let Fact::HandoffDecided(decided) = fact {
        let how = choices::done(Choice::of_handoff(decided.approved));
        format!("the handoff was {how}")
    } else {
        let more = details(&says_more);
        let parts = std::iter::once((*says).to_owned()).chain(more);
        parts.collect::<Vec<_>>().join(": ")
    };
    let named = |name: &str| says_more.get(name).and_then(Value::as_str);
    let node = named("node").and_then(|name| name.parse().ok());
    let role = named("role").and_then(|name| name.parse().ok());
    let what = What::Note {
        code,
        text,
        says: says_more,
    };
    Some((None, node, role, what))
}

/// All that a fact says, but not the source of a graph.
fn payload(fact: &Fact) -> Value {
    let mut bytes = Vec::new();
    // A fact that was read from JSON can be written as JSON; if not, its word must do.
    let _written = fact.write_payload(&mut bytes);
    let mut payload: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if let Some(members) = payload.as_object_mut() {
        members.remove("graph");
    }
    payload
}

/// What makes it more than its name.
fn details(payload: &Value) -> Vec<String> {
    let named = [
        "title", "server", "class", "summary", "mode", "why", "detail",
    ];
    let plain = named.iter().filter_map(|name| payload.get(name)?.as_str());
    let mut details: Vec<String> = plain.map(str::to_owned).collect();
    let deliveries = payload.get("deliveries").and_then(Value::as_array);
    let deliveries: Vec<String> = deliveries
        .into_iter()
        .flatten()
        .filter_map(|delivery| serde_json::from_value(delivery.clone()).ok())
        .map(|delivery| goes(&delivery))
        .collect();
    if !deliveries.is_empty() {
        details.push(deliveries.join(", "));
    }
    details
}

/// Where an artifact goes.
pub(super) fn goes(delivery: &Delivery) -> String {
    let back = match delivery.way {
        HandoffWay::Forward => "",
        HandoffWay::Backward => "back ",
    };
    format!(
        "{} {back}to {}",
        delivery.artifact.path,
        delivery.receiver()
    )
}
