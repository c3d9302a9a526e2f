//! The messages with which turns begin.

use super::definition::{
    ArtifactArrival, ArtifactContent, DraftingBriefing, Entrance, EntryKind, FeedbackBriefing,
    FlowInput, Picture, ReadingText, Received, ReflectionBriefing, SentArtifact,
};
use super::prompt::document;
use super::quote::{name, names, tagged};
use crate::handoff::{AllowedOutcomes, endings};
use std::borrow::Cow;

/// How the graph of a flow is written, for those who draft one.
const GRAPH_FORMAT: &str = include_str!("graph_format.yaml");

/// What a role reads when its node is entered.
#[must_use]
pub fn entry_packet(entrance: &Entrance) -> String {
    let mut lines = Vec::new();
    if !entrance.is_operators {
        lines.push(opening(entrance));
    }
    if entrance.kind == EntryKind::First {
        lines.extend(entrance.input.as_ref().map(input));
        lines.extend(task(entrance));
    }
    lines.extend(entrance.picture.received.iter().map(received));
    lines.extend(surroundings(&entrance.picture));
    lines.extend(entrance.draft.iter().flat_map(draft));
    if entrance.kind == EntryKind::Reopened {
        lines.push(
            "Correct what was sent back, save it under a new name and hand it off, or hand back if the cause is in what came to you."
                .to_owned(),
        );
    }
    if entrance.is_operators {
        if lines.is_empty() {
            lines.push("Nothing came in for this turn.".to_owned());
        }
        return whole(&lines);
    }
    if entrance.is_human_colab {
        lines.push(
            "The operator approves what goes forward from here; settle open points with \
             ask_operator first."
                .to_owned(),
        );
    }
    lines.push(endings(&entrance.allowed));
    whole(&lines)
}

/// What a role reads when the operator answered it: the answer, and nothing of ours.
#[cfg(test)]
#[must_use]
pub(crate) fn reply_packet(reply: &str) -> String {
    reply.to_owned()
}

/// How the message begins to a role whose process ended while it was at work.
pub(crate) const INTERRUPTED: &str = "The runtime stopped during your turn and runs again.";

/// What a role reads when the process ended while it was at work, before it is asked again.
#[must_use]
pub fn interrupted_message(allowed: &AllowedOutcomes) -> String {
    format!(
        "{INTERRUPTED} What you said and all results above count; check what a result calls \"outcome unknown\" before you repeat it. Background \
         commands have ended. Go on where you stopped.\n{}\n",
        endings(allowed)
    )
}

/// What a role reads once whose session speaks of a folder that the flow does not have any more.
#[must_use]
pub fn moved_message() -> &'static str {
    "This flow moved. Paths start at the project folder, record/ is the shared folder; older paths \
     above still resolve. Your tools are those listed now.\n"
}

/// What a role reads when it is to look back on its own work.
#[must_use]
pub fn reflection_packet(reflection: &ReflectionBriefing) -> String {
    let mut lines = vec![
        "The work of this flow is done. Look back on your part: what helped, what cost time, what \
         was unclear in your instructions, in what you received or in the flow, what should change. \
         Name places."
            .to_owned(),
    ];
    lines.extend((reflection.guide.iter()).map(|guide| tagged("guide", &[], guide.trim_end())));
    if !reflection.findings.is_empty() {
        lines.push("Others' findings: confirm, contradict or extend them.".to_owned());
        lines.extend(reflection.findings.iter().map(findings));
    }
    lines.push(format!(
        "Write to {}, change nothing else, then call handoff with type meta-analysis-complete.",
        name(&reflection.findings_path)
    ));
    whole(&lines)
}

/// What the feedback role reads.
#[must_use]
pub fn feedback_packet(feedback: &FeedbackBriefing) -> String {
    let mut lines = vec![format!(
        "The flow \"{}\" is done; you took no part. Write one report from the findings below for \
         those who maintain the project: group them, say who found what, keep observation and \
         conclusion apart, name contradictions; end with recommended changes, most useful first, \
         each with its file or role.",
        feedback.flow_title
    )];
    if feedback.findings.is_empty() {
        lines.push("No role left any findings. Say so in the report.".to_owned());
    }
    lines.extend(feedback.findings.iter().map(findings));
    lines.push(format!(
        "Write to {}, change nothing else, then call handoff with type backward-pass-complete.",
        name(&feedback.report_path)
    ));
    whole(&lines)
}

fn findings(reading: &ReadingText) -> String {
    let path = [("path", reading.path.as_str())];
    tagged("findings", &path, reading.text.trim_end())
}

fn whole(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn opening(entrance: &Entrance) -> String {
    let node = name(&entrance.node);
    let at = &entrance.at;
    match entrance.kind {
        EntryKind::First => format!("You are at node {node} for the first time. It is {at}."),
        EntryKind::Again => format!("You are at node {node} again. It is {at}."),
        EntryKind::Reopened => format!(
            "You are at node {node} again, because work of yours was sent back. It is {at}."
        ),
    }
}

/// A text without the times at which the packets in it were written, and without how long the commands took
/// whose results are in it, so that two can be compared.
#[must_use]
pub fn timeless(text: &str) -> Cow<'_, str> {
    let opens = |line: &str| line.starts_with("You are at node ");
    let ended = ["[exit ", "[signal ", "[stopped, "];
    let took =
        |line: &str| line.ends_with(" s]") && ended.iter().any(|head| line.starts_with(head));
    if !text.lines().any(|line| opens(line) || took(line)) {
        return Cow::Borrowed(text);
    }
    let without = |line| match str::rsplit_once(line, " It is ") {
        Some((before, _)) if opens(line) => before.to_owned(),
        Some(_) | None => match line.rsplit_once(", ") {
            Some((before, _)) if took(line) => format!("{before}]"),
            Some(_) | None => line.to_owned(),
        },
    };
    Cow::Owned(text.split('\n').map(without).collect::<Vec<_>>().join("\n"))
}

fn input(input: &FlowInput) -> String {
    match input {
        FlowInput::Whole(text) => tagged("input", &[], text),
        FlowInput::At(path) => {
            format!("The flow's input is {path}; read it when you need it.")
        }
    }
}

/// The part of the first entry only.
fn task(entrance: &Entrance) -> Vec<String> {
    let mut parts = Vec::new();
    if entrance.work.is_empty() && !entrance.is_operators {
        parts.push(
            "No task list is written for this node: do what your role is for with what you \
             received."
                .to_owned(),
        );
    } else if !entrance.work.is_empty() {
        let bullets: Vec<String> = entrance
            .work
            .iter()
            .map(|bullet| format!("- {}", bullet.trim().replace('\n', "\n  ")))
            .collect();
        parts.push(tagged("task", &[], &bullets.join("\n")));
    }
    let is_known = |path: &String| entrance.known_readings.contains(path);
    let new = entrance.readings.iter();
    parts.extend(new.filter(|it| !is_known(&it.path)).map(document));
    parts
}

fn received(received: &Received) -> String {
    let tag = match received.arrival {
        ArtifactArrival::Forward | ArtifactArrival::Corrected => "received",
        ArtifactArrival::SentBack => "returned",
    };
    let bytes = received.bytes.to_string();
    let mut attributes = vec![("from", received.from.as_str()), ("path", &received.path)];
    if received.arrival == ArtifactArrival::Corrected {
        attributes.push(("corrected", "true"));
    }
    let instead = match &received.content {
        ArtifactContent::Whole(text) if text.trim().is_empty() => "The file is empty.",
        ArtifactContent::Whole(text) => return tagged(tag, &attributes, text),
        ArtifactContent::TooLong => "Too long to show; use read_file or grep.",
        ArtifactContent::NotText => "Not text; use your tools if you need it.",
    };
    attributes.push(("bytes", &bytes));
    let attributes: Vec<(&str, &str)> = attributes;
    tagged(tag, &attributes, instead)
}

fn surroundings(picture: &Picture) -> Vec<String> {
    let mut lines = Vec::new();
    if !picture.dropped.is_empty() {
        let dropped: Vec<String> = (picture.dropped.iter())
            .map(|sent| format!("{} from {}", name(&sent.path), name(&sent.node)))
            .collect();
        lines.push(format!(
            "No longer counts, because you asked for a correction: {}.",
            dropped.join(", ")
        ));
    }
    let mut told = Vec::new();
    if !picture.not_yet_received.is_empty() {
        let nodes = names(picture.not_yet_received.iter().map(String::as_str));
        told.push(format!("Still to come: from {nodes}."));
    }
    if !picture.sent.is_empty() {
        let sent: Vec<String> = picture.sent.iter().map(sent_line).collect();
        told.push(format!("Already handed off: {}.", sent.join(", ")));
    }
    if !told.is_empty() {
        lines.push(told.join(" "));
    }
    lines
}

fn sent_line(sent: &SentArtifact) -> String {
    format!("{} to {}", name(&sent.path), name(&sent.node))
}

/// The material for a role that writes the graph of a flow.
fn draft(draft: &DraftingBriefing) -> Vec<String> {
    let mut parts = vec![tagged("graph-format", &[], GRAPH_FORMAT)];
    if !draft.roles.is_empty() {
        let roles: Vec<String> = (draft.roles.iter())
            .map(|(role, line)| format!("- {role}: {line}"))
            .collect();
        parts.push(tagged("roles", &[], &roles.join("\n")));
    }
    if let Some(graph) = &draft.graph {
        let path = [("path", graph.path.as_str())];
        parts.push(tagged("graph", &path, &graph.text));
    }
    parts
}
