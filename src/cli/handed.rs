//! What goes from node to node, as the operator reads it: what came in for a turn of their own, and what would be
//! handed over if they approve it.

use std::time::Duration;

use a_society_facts::fact::node::WaitReason;
use a_society_facts::handoff::{Artifact, Delivery};
use a_society_facts::id::ApprovalId;
use a_society_facts::view::flow::FlowState;
use a_society_operator_ui::fold::ask::{is_own_turn, own_turn};
use a_society_operator_ui::protocol::ask::OwnTurn;
use a_society_operator_ui::server::handed_last;
use a_society_orchestrator::graph;
use a_society_orchestrator::machine::OperatorQuestion;
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
        let same = |other: &&Delivery| other.edge == delivery.edge && other.way == delivery.way;
        handed.iter().find(same)
    });
    let before: Vec<&Delivery> = before.collect();
    let all = before.len() == staged.deliveries.len();
    let before = all.then(|| texts(store, flow, before.into_iter()));
    let before = before.filter(|before| *before != whole);
    let difference = before.map(|before| difference(&before, &whole));
    Some(Staged { whole, difference })
}

/// What changed, with how many lines came and went before it.
fn difference(before: &str, now: &str) -> String {
    let mut config = TextDiff::configure();
    let diff = config.timeout(COMPARED_WITHIN).diff_lines(before, now);
    let count = |tag| {
        let changes = diff.iter_all_changes();
        changes.filter(|change| change.tag() == tag).count()
    };
    let (come, go) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let mut unified = diff.unified_diff();
    let unified = unified
        .context_radius(LINES_AROUND)
        .missing_newline_hint(false);
    format!("changed since it was handed over last: +{come} −{go}\n{unified}")
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
    (state, question): (&FlowState, &OperatorQuestion),
) -> Option<(OwnTurn, String)> {
    let OperatorQuestion::Text {
        node,
        role,
        reason: WaitReason::PromptHuman,
    } = question
    else {
        return None;
    };
    if !is_own_turn(state, node.as_ref(), role) {
        return None;
    }
    let source = asks::whole(store, flow, &state.graph.source);
    let (file, _) = graph::parse_file(&source, "workflow.yaml");
    let file = file?;
    let turn = own_turn(state, &file.workflow, (node.as_ref(), role))?;
    // The views of the flow report what cannot be read.
    let handed = handed_last(store, flow).unwrap_or_default();
    let is_for = |delivery: &&Delivery| Some(delivery.receiver()) == node.as_ref();
    let came_in = texts(store, flow, handed.iter().filter(is_for));
    Some((turn, came_in))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_version_is_shown_as_what_changed() {
        let before = "1. Ask.\n2. Write.\n3. Post.\n4. Close the month.\n";
        let now = before.replace("Close the month", "Wait for the bank");
        let shown = difference(before, &now);
        assert!(
            shown.starts_with("changed since it was handed over last: +1 −1\n"),
            "{shown}"
        );
        assert!(
            shown.contains("\n-4. Close the month.\n+4. Wait for the bank.\n"),
            "{shown}"
        );
        assert!(shown.contains("\n 3. Post.\n"), "{shown}");
    }
}
