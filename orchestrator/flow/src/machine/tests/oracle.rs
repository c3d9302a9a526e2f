//! What must be true of a flow, read from its facts and its state alone.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::Fact;
use a_society_facts::handoff::{EdgeName, HandoffWay};
use a_society_facts::id::{MessageId, NodeId, TurnId};
use a_society_facts::view::flow::FlowPhase;
use a_society_facts::view::flow::FlowState;

use super::support::Flow;
use crate::machine::Work;

/// A flow for a person who has to find out what went wrong: its graph, its last facts, and what is
/// pending.
pub(crate) fn story(flow: &Flow) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("\n");
    for node in flow.graph.nodes() {
        let (colab, join) = (node.is_human_colab(), node.awaits_all_inputs());
        writeln!(
            text,
            "node {} {} colab={colab} join={join}",
            node.id, node.role
        )
        .unwrap();
    }
    for (edge, kind) in flow.graph.edge_ids().zip(flow.graph.edges()) {
        writeln!(text, "edge {edge} optional={}", kind.optional).unwrap();
    }
    let last = flow.facts.len().saturating_sub(60);
    for fact in &flow.facts[last..] {
        let mut payload = Vec::new();
        fact.write_payload(&mut payload).unwrap();
        let payload: String = String::from_utf8(payload)
            .unwrap()
            .chars()
            .take(240)
            .collect();
        writeln!(text, "{} {payload}", fact.word()).unwrap();
    }
    writeln!(text, "owing {:?}", flow.state.owing).unwrap();
    writeln!(text, "awaiting {:?}", flow.state.awaiting_handoff).unwrap();
    writeln!(text, "pending {:?}", flow.pending()).unwrap();
    text
}

/// What is pending, whatever try it is at.
pub(super) fn erased(mut work: Vec<Work>) -> Vec<Work> {
    for work in &mut work {
        if let Work::RunTurn { attempt, .. } | Work::StopTurn { attempt, .. } = work {
            *attempt = 0;
        }
    }
    work
}

/// What must be true at every moment.
pub(crate) fn check_now(flow: &Flow) {
    let state = &flow.state;
    let mut roles = BTreeSet::new();
    for turn in state.turns.values().filter(|turn| !turn.cause.is_aside()) {
        assert!(roles.insert(&turn.role), "two turns of {}", turn.role);
    }
    let mut at = BTreeSet::new();
    let waits = state.awaiting_operator.values().map(|w| &w.role);
    for role in state.running.values().map(|r| &r.role).chain(waits) {
        assert!(at.insert(role), "{role} is at two nodes");
    }
    for node in state.running.keys() {
        assert!(
            !state.awaiting_operator.contains_key(node),
            "{node} runs and waits"
        );
        assert!(
            !state.awaiting_handoff.contains(node),
            "{node} runs and awaits"
        );
    }
    let owing: BTreeSet<NodeId> = (state.visited.iter())
        .filter(|node| state.owed(node).next().is_some())
        .cloned()
        .collect();
    assert_eq!(owing, state.owing, "what nodes owe is kept as it changes");
    let work = flow.pending();
    assert!(
        state.phase.is_over() || !work.is_empty(),
        "a flow that is not over runs, or asks something"
    );
    let mut claimed = BTreeSet::new();
    for work in &work {
        if let Work::Claim { role, .. } = work {
            assert!(claimed.insert(role), "two claims of {role} at once");
        }
    }
}

/// Reads all facts and holds the state to them: nothing is lost, nothing counts twice.
pub(crate) fn check_all(flow: &Flow) {
    let (unread, replies) = read_all(&flow.facts);
    let mut held: Unread = BTreeMap::new();
    for delivery in &flow.state.received {
        let way = (delivery.edge.clone(), delivery.way);
        held.entry(way)
            .or_default()
            .push(delivery.artifact.path.clone());
    }
    assert_eq!(
        unread, held,
        "what was sent and not read lies at its receivers"
    );
    let queued = queued(&flow.state);
    assert_eq!(replies, queued, "what was said and not heard is queued");
    if flow.state.phase == FlowPhase::Completed {
        assert_eq!(held, BTreeMap::new(), "nothing unread is left behind");
        assert_eq!(queued, BTreeSet::new(), "nothing unheard is left behind");
    }
}

/// The unread deliveries, by edge and way.
type Unread = BTreeMap<(EdgeName, HandoffWay), Vec<String>>;

/// The deliveries not read, and the messages not taken up, after all of these facts.
fn read_all(facts: &[Fact]) -> (Unread, BTreeSet<MessageId>) {
    let mut unread: Unread = BTreeMap::new();
    let mut passed: BTreeSet<String> = BTreeSet::new();
    let mut replies: BTreeSet<MessageId> = BTreeSet::new();
    let mut handed: BTreeSet<TurnId> = BTreeSet::new();
    for fact in facts {
        if let Fact::HandoffApplied(f) = fact {
            assert!(handed.insert(f.turn), "{} handed over twice", f.turn);
            let paths: BTreeSet<String> = (f.deliveries.iter())
                .map(|d| d.artifact.path.clone())
                .collect();
            for path in paths {
                assert!(passed.insert(path.clone()), "{path} was handed over twice");
            }
            for delivery in &f.deliveries {
                let way = (delivery.edge.clone(), delivery.way);
                let path = delivery.artifact.path.clone();
                unread.entry(way).or_default().push(path);
            }
        }
        if let Fact::NodeClaimed(f) = fact {
            for inbound in &f.consumed {
                let way = (inbound.edge.clone(), inbound.way);
                assert!(
                    unread.remove(&way).is_some(),
                    "{way:?} was read and not sent"
                );
            }
            for edge in &f.dropped {
                let way = (edge.clone(), HandoffWay::Forward);
                assert!(
                    unread.remove(&way).is_some(),
                    "{edge} was dropped and not sent"
                );
            }
            for reply in &f.replies {
                assert!(replies.remove(reply), "{reply} was heard and not said");
            }
        }
        if let Fact::ReflectionStarted(f) = fact {
            for reply in &f.replies {
                assert!(replies.remove(reply), "{reply} was heard and not said");
            }
        }
        if let Fact::FeedbackStarted(f) = fact {
            for reply in &f.replies {
                assert!(replies.remove(reply), "{reply} was heard and not said");
            }
        }
        if let Fact::OperatorReplied(f) = fact {
            assert!(replies.insert(f.reply.clone()));
        }
        if let Fact::ReplyReturned(f) = fact {
            replies.remove(&f.reply);
        }
    }
    (unread, replies)
}

fn queued(state: &FlowState) -> BTreeSet<MessageId> {
    let nodes = state.replies.values().flatten();
    let roles = state.improvement.iter().flat_map(|improvement| {
        let report = improvement.feedback.work.iter();
        (improvement.roles.values().chain(report)).flat_map(|role| &role.replies)
    });
    nodes.chain(roles).map(|said| said.id.clone()).collect()
}
