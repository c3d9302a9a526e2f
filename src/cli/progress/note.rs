//! The facts that are worth a line and have no event of their own.

use a_society_facts::Fact;
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
use a_society_operator_ui::fold::answer_text::before_its_end;
use serde::Serialize;
use serde_json::Value;

use super::event::{About, What};
use crate::text::{and, one_line};

/// So much of a reply is in its line; all of it is in the feed.
const REPLY_COLUMNS_MAX: usize = 100;

/// How much a note wants to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    Info,
    /// Something is not as it should be, and the flow goes on or asks.
    Warning,
    /// Something is lost.
    Error,
}

/// The facts, the text for each, and how much it wants to be seen.
const NOTES: [(&str, &str, Level); 22] = [
    ("flow_created", "created", Level::Info),
    ("flow_forked", "is a fork", Level::Info),
    ("graph_revised", "walks a revised graph", Level::Info),
    ("flow_paused", "pauses", Level::Info),
    ("flow_unpaused", "goes on", Level::Info),
    ("flow_cancelled", CANCELLED, Level::Warning),
    ("forward_pass_closed", FORWARD_WORK_IS_DONE, Level::Info),
    ("flow_completed", COMPLETED, Level::Info),
    ("node_reopened", "is reopened", Level::Info),
    ("node_retried", "is retried", Level::Info),
    ("handoff_staged", WANTS_TO_HAND_OVER, Level::Info),
    ("handoff_decided", "the handoff was decided", Level::Info),
    (
        "repair_requested",
        "must correct its outcome",
        Level::Warning,
    ),
    ("turn_resumed", "goes on where it was", Level::Info),
    ("consent_ruled", "is decided by a rule", Level::Info),
    ("operator_replied", "is answered", Level::Info),
    (
        "reply_returned",
        "what you said is given back",
        Level::Warning,
    ),
    ("stop_requested", "is stopped", Level::Warning),
    ("mcp_server_unavailable", WITHOUT_SERVER, Level::Warning),
    ("budget_reached", "reached a budget", Level::Warning),
    (
        "recovery_truncated",
        "a torn end of the journal was cut",
        Level::Warning,
    ),
    ("blob_lost", "a blob is lost", Level::Error),
];

/// The facts of the retrospective, likewise.
const IMPROVEMENT: [(&str, &str, Level); 6] = [
    ("improvement_chosen", RETROSPECTIVE, Level::Info),
    ("reflection_started", LOOKS_BACK, Level::Info),
    ("findings_recorded", WROTE_ITS_FINDINGS, Level::Info),
    ("feedback_decided", FEEDBACK_REPORT, Level::Info),
    ("feedback_started", WRITES_THE_REPORT, Level::Info),
    ("feedback_recorded", WROTE_THE_REPORT, Level::Info),
];

/// The note of a fact, if it is worth one.
pub(super) fn of(fact: &Fact) -> Option<About> {
    let word = fact.word();
    let mut all = NOTES.iter().chain(&IMPROVEMENT);
    let (code, says, level) = all.find(|(shown, ..)| *shown == word)?;
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
    } else if let Fact::OperatorReplied(replied) = fact {
        // The block that ends a person's own turn has a line of its own.
        let text = replied.text.shown();
        let text = one_line(before_its_end(&text), REPLY_COLUMNS_MAX);
        let parts = [*says, &text].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(": ")
    } else {
        let more = details(&says_more);
        let parts = std::iter::once((*says).to_owned()).chain(more);
        parts.collect::<Vec<_>>().join(": ")
    };
    let named = |name: &str| says_more.get(name).and_then(Value::as_str);
    let node = named("node").and_then(|name| name.parse().ok());
    let role = named("role").and_then(|name| name.parse().ok());
    let what = What::Note {
        level: *level,
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
    let deliveries: Vec<Delivery> = deliveries
        .into_iter()
        .flatten()
        .filter_map(|delivery| serde_json::from_value(delivery.clone()).ok())
        .collect();
    if !deliveries.is_empty() {
        details.push(go(&deliveries));
    }
    details
}

/// Where artifacts go; the receivers of one are named together.
pub(super) fn go(deliveries: &[Delivery]) -> String {
    let mut each: Vec<(String, Vec<&str>)> = Vec::new();
    for delivery in deliveries {
        let back = match delivery.way {
            HandoffWay::Forward => "",
            HandoffWay::Backward => " back",
        };
        let what = format!("{}{back}", delivery.artifact.path);
        let to = delivery.receiver().as_str();
        match each.iter_mut().find(|(known, _)| *known == what) {
            Some((_, receivers)) => receivers.push(to),
            None => each.push((what, vec![to])),
        }
    }
    let each = each
        .iter()
        .map(|(what, to)| format!("{what} to {}", and(to)));
    each.collect::<Vec<_>>().join(", ")
}
