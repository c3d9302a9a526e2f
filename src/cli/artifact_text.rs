//! What goes from node to node, as the operator reads it: what came in for a turn of their own, and what would be
//! handed over if they approve it.

use std::time::Duration;

use a_society_facts::handoff::{Artifact, Delivery};
use a_society_facts::id::ApprovalId;
use a_society_facts::view::flow::FlowState;
use a_society_operator_ui::fold::asks::{OpenAsk, own_turn};
use a_society_operator_ui::protocol::ask::OwnTurn;
use a_society_operator_ui::server::handed_last;
use a_society_orchestrator::graph;
use a_society_state::{FlowRef, Store};
use similar::{ChangeTag, TextDiff};

use super::asks;

/// Texts that differ in very much are compared roughly after this.
const COMPARED_WITHIN: Duration = Duration::from_millis(500);

/// The number of context lines around a difference.
const LINES_AROUND: usize = 3;

/// What would be handed over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Staged {
    /// All of it.
    pub(crate) whole: String,
    /// What it changes of what went the same way before, if it does and nothing else.
    pub(crate) difference: Option<String>,
    /// Which version of that it is and how much it changes, if something went the same way before.
    pub(crate) version: Option<String>,
}

/// What would be handed over, once it is approved.
pub(crate) fn staged(
    store: &Store,
    flow: &FlowRef,
    state: &FlowState,
    approval: &ApprovalId,
) -> Option<Staged> {
    let staged = state.staged.get(approval)?;
    let whole = texts(store, flow, staged.deliveries.iter());
    let handed = handed_last(store, flow).unwrap_or_default();
    let before = staged.deliveries.iter().filter_map(|delivery| {
        let same = |(other, _): &&(Delivery, usize)| {
            other.edge == delivery.edge && other.way == delivery.way
        };
        handed.iter().find(same)
    });
    let before: Vec<&(Delivery, usize)> = before.collect();
    if before.is_empty() || before.len() < staged.deliveries.len() {
        return Some(Staged {
            whole,
            difference: None,
            version: None,
        });
    }
    let times = before.iter().map(|(_, times)| *times).max().unwrap_or(0);
    let before = texts(store, flow, before.iter().map(|(delivery, _)| delivery));
    let (difference, lines) = difference(&before, &whole);
    Some(Staged {
        difference: (before != whole).then_some(difference),
        version: Some(version(times + 1, lines)),
        whole,
    })
}

/// The heading of a card, with which version it is about.
pub(crate) fn headed(head: String, version: Option<&str>) -> String {
    match version {
        Some(version) => format!("{head}   {version}"),
        None => head,
    }
}

/// What changed, and how many lines came and went.
fn difference(before: &str, now: &str) -> (String, ChangedLines) {
    let mut config = TextDiff::configure();
    let diff = config.timeout(COMPARED_WITHIN).diff_lines(before, now);
    let count = |tag| {
        let changes = diff.iter_all_changes();
        changes.filter(|change| change.tag() == tag).count()
    };
    let lines = ChangedLines {
        came: count(ChangeTag::Insert),
        went: count(ChangeTag::Delete),
    };
    let mut unified = diff.unified_diff();
    let unified = unified
        .context_radius(LINES_AROUND)
        .missing_newline_hint(false);
    (unified.to_string(), lines)
}

/// How many lines came and went.
#[derive(Debug, Clone, Copy, Default)]
struct ChangedLines {
    came: usize,
    went: usize,
}

/// Which version something is, and how many lines came and went since the one before.
fn version(number: usize, lines: ChangedLines) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    match (lines.came, lines.went) {
        (0, 0) => format!("{number}{end} version, unchanged"),
        (come, go) => format!("{number}{end} version, +{come} −{go}"),
    }
}

/// The texts of what was handed over, each under its path where there are several.
fn texts<'d>(
    store: &Store,
    flow: &FlowRef,
    deliveries: impl Iterator<Item = &'d Delivery>,
) -> String {
    let place = store.place(flow);
    // One artifact may go to several nodes.
    let mut each: Vec<&Artifact> = Vec::new();
    for delivery in deliveries {
        if !each.contains(&&delivery.artifact) {
            each.push(&delivery.artifact);
        }
    }
    let text = |artifact: &Artifact| match &artifact.text {
        Some(text) => text.clone(),
        None => match place.whole_blob(artifact.hash).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => format!("[{} bytes that are no text]", artifact.bytes),
            Err(error) => format!("[it cannot be read: {error}]"),
        },
    };
    let several = each.len() > 1;
    let each = each.into_iter().map(|artifact| {
        let text = text(artifact);
        if several {
            format!("{}:\n{text}", artifact.path)
        } else {
            text
        }
    });
    each.collect::<Vec<_>>().join("\n")
}

/// A turn that the operator takes, with how it may end and what came in for it; `None` if the question is
/// about something else.
pub(crate) fn own_turn_of(
    store: &Store,
    flow: &FlowRef,
    state: &FlowState,
    ask: &OpenAsk,
) -> Option<(OwnTurn, String)> {
    let role = ask.role.as_ref().filter(|_| ask.is_own_turn)?;
    let source = asks::whole(store, flow, &state.graph.source);
    let (file, _) = graph::parse_file(&source, "workflow.yaml");
    let file = file?;
    let turn = own_turn(state, &file.workflow, ask.node(), role)?;
    // The views of the flow report what cannot be read.
    let handed = handed_last(store, flow).unwrap_or_default();
    let is_for = |delivery: &&Delivery| Some(delivery.receiver()) == ask.node();
    let handed = handed.iter().map(|(delivery, _)| delivery);
    let came_in = texts(store, flow, handed.filter(is_for));
    Some((turn, came_in))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_version_is_shown_as_what_changed() {
        let before = "1. Ask.\n2. Write.\n3. Post.\n4. Close the month.\n";
        let now = before.replace("Close the month", "Wait for the bank");
        let (shown, lines) = difference(before, &now);
        assert_eq!(version(2, lines), "2nd version, +1 −1");
        assert!(
            shown.contains("\n-4. Close the month.\n+4. Wait for the bank.\n"),
            "{shown}"
        );
        assert!(shown.contains("\n 3. Post.\n"), "{shown}");
    }
    #[test]
    fn versions_are_counted_as_people_count_them() {
        let words = [1, 3, 11, 12, 21, 112].map(|number| version(number, ChangedLines::default()));
        let all = ["1st", "3rd", "11th", "12th", "21st", "112th"];
        assert_eq!(words, all.map(|word| format!("{word} version, unchanged")));
    }
}
