//! What happens in a flow while it is watched: one line an event, for people and for programs.
//!
//! Events are facts of the journal, read beside whoever writes it. Only those are shown that an
//! operator would tell somebody; `log` prints all.

use std::borrow::Cow;
use std::ops::ControlFlow;

use a_society_facts::fact::node::WaitReason;
use a_society_facts::id::Seq;
use a_society_facts::{Body, Fact, Recorded};
use a_society_state::journal::follow::Follower;
use serde_json::{Value, json};

use super::words;
use crate::operator_error::Stop;
use crate::output::Output;
use crate::text::one_line;

/// What an event says is cut to this, so that it stays on a line or two.
const SAYS_COLUMNS_MAX: usize = 140;

/// The facts that are shown, and what is said of each.
const SHOWN: [(&str, &str); 33] = [
    ("flow_created", "created"),
    ("flow_forked", "is a fork"),
    ("graph_revised", "walks a revised graph"),
    ("flow_paused", "pauses"),
    ("flow_unpaused", "goes on"),
    ("flow_cancelled", "cancelled"),
    ("forward_pass_closed", "the forward work is done"),
    ("flow_completed", "completed"),
    ("node_reopened", "is reopened"),
    ("node_retried", "is tried again"),
    ("node_claimed", "works"),
    ("handoff_applied", "hands over"),
    ("handoff_staged", "wants to hand over"),
    ("handoff_decided", "is decided"),
    ("handoff_awaited", "waits for a handoff"),
    ("node_suspended", "waits for you"),
    ("repair_requested", "must mend its outcome"),
    ("turn_resumed", "goes on where it was"),
    ("model_failed", "gets no answer"),
    ("consent_ruled", "is decided by a rule"),
    ("call_started", "runs a tool"),
    ("operator_replied", "is answered"),
    ("reply_returned", "what you said is given back"),
    ("stop_requested", "is stopped"),
    ("improvement_chosen", "improvement is chosen"),
    ("reflection_started", "looks back"),
    ("findings_recorded", "wrote its findings"),
    ("feedback_decided", "the feedback report is decided"),
    ("feedback_started", "writes the feedback report"),
    ("feedback_recorded", "wrote the feedback report"),
    ("budget_reached", "reached a budget"),
    ("recovery_truncated", "a torn end of the journal was cut"),
    ("blob_lost", "a blob is lost"),
];

/// Prints every event that a journal holds and that was not printed before,
/// after a record.
///
/// # Errors
/// When the journal cannot be read, or nobody reads what is printed.
pub(crate) fn print_new(out: &mut Output, follower: &mut Follower, after: Seq) -> Result<(), Stop> {
    let mut failed = None;
    let read = follower.read_lines(&mut |recorded, _| {
        if recorded.seq <= after {
            return ControlFlow::Continue(());
        }
        match print(out, recorded) {
            Ok(()) => ControlFlow::Continue(()),
            Err(stop) => {
                failed = Some(stop);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(stop) = failed {
        return Err(stop);
    }
    read?;
    out.flush()
}

fn print(out: &mut Output, recorded: &Recorded) -> Result<(), Stop> {
    let word = recorded.word();
    let Some((_, says)) = SHOWN.iter().find(|(shown, _)| *shown == word) else {
        return Ok(());
    };
    let payload = payload(recorded);
    if out.is_json() {
        return out.value(&as_json(recorded, payload));
    }
    let time = recorded.at.to_string();
    // The time of day is enough for somebody who watches.
    let time = time.get(11..19).unwrap_or(&time).to_owned();
    let says = match &recorded.body {
        Body::Known(Fact::ConsentRuled(ruled)) => {
            Cow::Owned(format!("{}: {}", ruled.words(), ruled.about))
        }
        Body::Known(_) | Body::Foreign { .. } => Cow::Borrowed(*says),
    };
    let line = one_line(&in_words(&payload, &says), SAYS_COLUMNS_MAX);
    out.line(&format!("{}  {line}", out.paint.dim(&time)))
}

fn payload(recorded: &Recorded) -> Value {
    let mut bytes = Vec::new();
    match &recorded.body {
        Body::Known(fact) => {
            // A fact that was read from JSON can be written as JSON; if not, its word must do.
            let _written = fact.write_payload(&mut bytes);
        }
        Body::Foreign { payload, .. } => bytes.extend_from_slice(payload.get().as_bytes()),
    }
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// What is told of a fact to programs: all of it, but not the source of a graph.
fn as_json(recorded: &Recorded, mut payload: Value) -> Value {
    if let Some(members) = payload.as_object_mut() {
        members.remove("graph");
    }
    json!({
        "event": recorded.word(),
        "seq": recorded.seq,
        "at": recorded.at,
        "says": payload,
    })
}

fn in_words(payload: &Value, says: &str) -> String {
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    let who = match (text("node"), text("role")) {
        (Some(node), Some(role)) => format!("{node} ({role}) "),
        (Some(one), None) | (None, Some(one)) => format!("{one} "),
        (None, None) => String::new(),
    };
    let mut line = format!("{who}{says}");
    for detail in details(payload) {
        line.push_str(": ");
        line.push_str(&detail);
    }
    line
}

/// What makes an event more than its name.
fn details(payload: &Value) -> Vec<String> {
    let mut details = Vec::new();
    let wait = payload.get("reason").cloned();
    let wait = wait.and_then(|reason| serde_json::from_value::<WaitReason>(reason).ok());
    let trouble = payload.get("trouble").cloned();
    let trouble = trouble.and_then(|trouble| serde_json::from_value(trouble).ok());
    details.extend(wait.map(|reason| words::waits_for(reason, trouble).to_owned()));
    let until = payload.get("until").and_then(Value::as_str);
    details.extend(until.map(|at| format!("goes on by itself at {at}")));
    let named = ["title", "tool", "class", "summary", "mode", "why", "detail"];
    let plain = named.iter().filter_map(|name| payload.get(name)?.as_str());
    details.extend(plain.map(str::to_owned));
    let artifact = |value: &Value| Some(value.get("artifact")?.get("path")?.as_str()?.to_owned());
    let deliveries = payload.get("deliveries").and_then(Value::as_array);
    let deliveries: Vec<String> = deliveries
        .into_iter()
        .flatten()
        .filter_map(|delivery| {
            let back = delivery.get("way").and_then(Value::as_str) == Some("backward");
            let receiver = if back { "from" } else { "to" };
            let to = delivery.get(receiver)?.as_str()?;
            let word = if back { "back to" } else { "to" };
            Some(format!("{} {word} {to}", artifact(delivery)?))
        })
        .collect();
    if !deliveries.is_empty() {
        details.push(deliveries.join(", "));
    }
    if let Some(Value::String(question)) = payload.get("question") {
        details.push(format!("\"{question}\""));
    }
    details
}
