//! What the flow knows about a role's work, in a few lines.

use super::limits::NAMES_MAX;
use crate::role::definition::{ArtifactArrival, Picture, Received, SentArtifact};
use crate::role::quote::name;

/// The handoffs around a node, without their contents. What is owed is listed with the endings.
#[must_use]
pub fn flow_facts(picture: &Picture) -> String {
    let is_back = |received: &&Received| received.arrival == ArtifactArrival::SentBack;
    let came =
        |received: &Received| format!("{} from {}", name(&received.path), name(&received.from));
    let forward = picture.received.iter().filter(|it| !is_back(it)).map(came);
    let back = picture.received.iter().filter(is_back).map(came);
    let missing = picture.not_yet_received.iter().map(|node| name(node));
    let sent = |sent: &SentArtifact| format!("{} to {}", name(&sent.path), name(&sent.node));
    let lines = [
        line("Received", forward.collect()),
        line("Sent back to you", back.collect()),
        line("Still to come from", missing.collect()),
        line("Handed off", picture.sent.iter().map(sent).collect()),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    lines.join("\n")
}

fn line(label: &str, names: Vec<String>) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let more = names.len().saturating_sub(NAMES_MAX);
    let more = match more {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    let shown: Vec<String> = names.into_iter().take(NAMES_MAX).collect();
    Some(format!("{label}: {}{more}.", shown.join(", ")))
}
