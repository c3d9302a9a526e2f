//! The messages with which turns begin.

use super::definition::{
    Arrival, Entrance, EntryKind, Feedback, FlowInput, Owed, Picture, Received, Reflection, Sent,
};
use super::prompt::readings;
use super::quote::{fenced, name, names, tagged};
use crate::handoff::{Outcome, handoff_block};

/// What a role reads when its node is entered.
#[must_use]
pub fn entry_packet(entrance: &Entrance) -> String {
    let mut parts = vec![opening(entrance)];
    if entrance.kind == EntryKind::First {
        parts.extend(entrance.input.as_ref().map(input));
        parts.extend(task(entrance));
    }
    parts.extend(received(&entrance.picture));
    parts.extend(surroundings(&entrance.picture));
    parts.push(closing(entrance.kind).to_owned());
    paragraphs(&parts)
}

/// What a role reads when the operator answered it: the answer, and nothing of ours.
#[must_use]
pub fn reply_packet(reply: &str) -> String {
    reply.to_owned()
}

/// What a role reads when the process ended while it was at work, before it is asked again.
#[must_use]
pub fn interrupted_message() -> &'static str {
    "You were interrupted in the middle of your turn: the runtime stopped and has been started \
     again. If a message of yours above breaks off, that is where it happened.\n\n\
     What you said and what your tools returned until then is kept and still counts. Where a \
     result says that its outcome is unknown, find out what happened before you do it again. Go \
     on from where you stopped, do not begin the task anew, and end the turn with a `handoff` \
     block as always.\n"
}

/// What a role reads when it is to look back on its own work.
#[must_use]
pub fn reflection_packet(reflection: &Reflection) -> String {
    let path = name(&within(&reflection.record, &reflection.findings_path));
    let mut parts = vec![
        "The forward work of this flow is done. Now look back on it.".to_owned(),
        format!(
            "You are still {}, and everything above is your own work. Ask yourself what helped, \
             what cost time, what was unclear or missing in your instructions, in what you were \
             handed and in the flow itself, and what should be changed so that the next flow goes \
             better. Tell what happened in this flow, with its places, and leave out what is only \
             general.",
            name(reflection.role.as_str())
        ),
    ];
    if let Some(guide) = &reflection.guide {
        parts.push(format!(
            "This project asks for:\n\n{}",
            fenced(guide).trim_end()
        ));
    }
    if !reflection.findings.is_empty() {
        let intro = "Other roles have looked back already. Their findings are below; confirm, \
                     contradict or extend them, and do not repeat them.";
        parts.push(readings(intro, &reflection.findings));
    }
    parts.push(format!(
        "Write your findings to exactly {path}. Do not change anything else. Then end the turn \
         with:\n\n{}",
        block(&Outcome::MetaAnalysisComplete {
            findings_path: reflection.findings_path.clone(),
        })
    ));
    paragraphs(&parts)
}

/// What the feedback role reads.
#[must_use]
pub fn feedback_packet(feedback: &Feedback) -> String {
    let path = name(&within(&feedback.record, &feedback.report_path));
    let mut parts = vec![format!(
        "The flow {} is done, and those who worked in it have looked back. You were not one of \
         them. Write one report from their findings, for the people who maintain the project and \
         its roles.",
        name(&feedback.flow_title)
    )];
    parts.push(if feedback.findings.is_empty() {
        "No role left any findings. Say so in the report.".to_owned()
    } else {
        readings("These are all of their findings:", &feedback.findings)
    });
    parts.push(
        "Put together what belongs together, say who said it, and keep apart what was seen from \
         what is concluded. Where findings contradict each other, say so. End with the changes \
         that you recommend, the most useful one first, each with the file or the role that it \
         is about."
            .to_owned(),
    );
    parts.push(format!(
        "Write the report to exactly {path}. Do not change anything else. Then end the turn \
         with:\n\n{}",
        block(&Outcome::BackwardPassComplete {
            artifact_path: feedback.report_path.clone(),
        })
    ));
    paragraphs(&parts)
}

/// A file of the record folder, by the path under which every tool finds it.
fn within(record: &str, path: &str) -> String {
    format!("{}/{path}", record.trim_end_matches('/'))
}

fn paragraphs(parts: &[String]) -> String {
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

fn block(outcome: &Outcome) -> String {
    handoff_block(outcome).trim_end().to_owned()
}

fn opening(entrance: &Entrance) -> String {
    let node = name(&entrance.node);
    let at = &entrance.at;
    match entrance.kind {
        EntryKind::First => format!("You are at the node {node} for the first time. It is {at}."),
        EntryKind::Again => format!("You are at the node {node} again. It is {at}."),
        EntryKind::Reopened => format!(
            "The node {node} is open again, because work of yours was sent back. It is {at}."
        ),
    }
}

/// What the flow was asked to do, or where it stands.
fn input(input: &FlowInput) -> String {
    match input {
        FlowInput::Whole(text) => tagged("input", &[], text),
        FlowInput::At(path) => {
            format!("The flow's input is {path}; read it when you need it.")
        }
    }
}

/// What is said at the first entry only.
fn task(entrance: &Entrance) -> Vec<String> {
    let mut parts = Vec::new();
    if entrance.is_human_colab {
        parts.push(
            "The operator takes part at this node: what you hand forward from here goes on only \
             when the operator has approved it. Talk with the operator before you do so; whenever \
             you need an answer, ask and end the turn with `type: prompt-human`."
                .to_owned(),
        );
    }
    if !entrance.work.is_empty() {
        let bullets: Vec<String> = entrance
            .work
            .iter()
            .map(|bullet| format!("* {}", bullet.trim().replace('\n', "\n  ")))
            .collect();
        parts.push(format!("Your task here:\n\n{}", bullets.join("\n")));
    }
    let is_known = |path: &String| entrance.known_readings.contains(path);
    let mut new = entrance.readings.clone();
    new.retain(|reading| !is_known(&reading.path));
    if !new.is_empty() {
        parts.push(readings("Read this for your task:", &new));
    }
    parts
}

fn received(picture: &Picture) -> Vec<String> {
    let mut parts: Vec<String> = picture.received.iter().map(artifact).collect();
    if !picture.dropped.is_empty() {
        let dropped: Vec<String> = picture
            .dropped
            .iter()
            .map(|sent| format!("* {} from {}", name(&sent.path), name(&sent.node)))
            .collect();
        parts.push(format!(
            "This arrived earlier and no longer counts, because you asked for a correction:\n\n{}",
            dropped.join("\n")
        ));
    }
    parts
}

fn artifact(received: &Received) -> String {
    let (from, path) = (name(&received.from), name(&received.path));
    let intro = match received.arrival {
        Arrival::Forward => format!("From {from} you received {path}"),
        Arrival::Corrected => {
            format!("From {from} you received {path}, corrected after you had sent it back")
        }
        Arrival::SentBack => format!("{from} sent work back to you, with {path}"),
    };
    match &received.text {
        Some(text) if text.trim().is_empty() => format!("{intro}. The file is empty."),
        Some(text) => format!("{intro}:\n\n{}", fenced(text).trim_end()),
        None => format!("{intro}. It is no text; open it with your tools."),
    }
}

fn surroundings(picture: &Picture) -> Option<String> {
    let mut lines = Vec::new();
    if !picture.not_yet_received.is_empty() {
        let nodes = names(picture.not_yet_received.iter().map(String::as_str));
        lines.push(format!("* not yet received: from {nodes}"));
    }
    let sent: Vec<String> = picture.sent.iter().map(sent_line).collect();
    if !sent.is_empty() {
        lines.push(format!("* already handed on: {}", sent.join(", ")));
    }
    let owed: Vec<String> = picture.not_yet_sent.iter().map(owed_line).collect();
    if !owed.is_empty() {
        lines.push(format!("* not yet handed on: to {}", owed.join(", ")));
    }
    (!lines.is_empty()).then(|| format!("Around you:\n\n{}", lines.join("\n")))
}

fn sent_line(sent: &Sent) -> String {
    format!("{} to {}", name(&sent.path), name(&sent.node))
}

fn owed_line(owed: &Owed) -> String {
    let node = name(&owed.node);
    if owed.is_optional {
        format!("{node} (only if it is needed)")
    } else {
        node
    }
}

fn closing(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::First => {
            "Do your task, write what you hand over to files, and end the turn with a `handoff` \
             block."
        }
        EntryKind::Again => {
            "Go on with your task in the light of this, and end the turn with a `handoff` block."
        }
        EntryKind::Reopened => {
            "Correct what was sent back, write the result to a new file, and hand it forward \
             again, or hand back if the cause lies before you."
        }
    }
}
