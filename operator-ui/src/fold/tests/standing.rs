//! The page says of a flow and of its nodes what the terminal says, at every moment of journals of every kind.

use a_society_facts::view::standing::{FlowStanding, NodeStanding};
use a_society_facts::view::{FactView as _, FlowSummary, flow::FlowState};

use super::{fold, journals, shown};
use crate::fold::Liveness;
use crate::protocol::ask::AskKind;
use crate::protocol::down::Part;
use crate::protocol::flow::{NodeState, NodeView};
use crate::protocol::row::{Doing, DrivenBy};

const fn doing(standing: FlowStanding) -> Doing {
    match standing {
        FlowStanding::Working => Doing::Working,
        FlowStanding::Retrying(_) => Doing::Retrying,
        FlowStanding::Limited(_) => Doing::Limited,
        FlowStanding::Compacting => Doing::Compacting,
        FlowStanding::Waiting => Doing::Waiting,
        FlowStanding::YourTurn => Doing::YourTurn,
        FlowStanding::Closed => Doing::Closed,
        FlowStanding::Paused => Doing::Paused,
        FlowStanding::Stopped => Doing::Stopped,
        FlowStanding::Damaged => Doing::Damaged,
        FlowStanding::Unreachable => Doing::Unreachable,
        FlowStanding::Completed => Doing::Completed,
        FlowStanding::Cancelled => Doing::Cancelled,
    }
}

/// Whether the page's view of a node is what the node does.
fn agrees(node: &NodeView, standing: NodeStanding<'_>) -> bool {
    let says = node.words.to_lowercase() == standing.word();
    let goes_on = node.again.as_ref().map(|again| again.limit);
    match standing {
        NodeStanding::Working => says || node.words == "Correcting",
        NodeStanding::Retrying(..) | NodeStanding::Held(_) => says && goes_on == Some(false),
        NodeStanding::Limited(_) => says && goes_on == Some(true),
        NodeStanding::Compacting | NodeStanding::Stopped => says && goes_on.is_none(),
        NodeStanding::Cancelled => says && node.state == NodeState::Interrupted,
        NodeStanding::YourTurn => says && node.state == NodeState::NeedsYou,
        NodeStanding::Waiting { .. } => {
            matches!(node.state, NodeState::NeedsYou | NodeState::Failed)
        }
        NodeStanding::Done => node.state == NodeState::Done || node.state == NodeState::Ready,
        NodeStanding::Ready | NodeStanding::NotReached | NodeStanding::AwaitsHandoff => matches!(
            node.state,
            NodeState::Ready | NodeState::NotReached | NodeState::Suspended
        ),
    }
}

#[test]
fn every_screen_says_the_same_of_a_flow_and_of_its_nodes() {
    let mut met = std::collections::BTreeSet::new();
    for (name, records) in journals() {
        for is_driven in [true, false] {
            let mut fold = fold();
            fold.driven(Liveness {
                driven_by: is_driven.then_some(DrivenBy::Server),
                holder: None,
            });
            let mut state = FlowState::default();
            for recorded in &records {
                fold.apply(recorded, &shown);
                state.apply(recorded);
                if !state.is_created() {
                    continue;
                }
                let standing = FlowStanding::of(&FlowSummary::of(&state), is_driven);
                met.insert(standing.word());
                let whole = fold.whole();
                let is_asked = |part: &&Part| matches!(part, Part::Ask(ask) if ask.kind != AskKind::Stopped {});
                let asks = whole.values().filter(is_asked).count() as u64;
                for (key, part) in whole {
                    let at = format!("{name}, record {}, {key}", recorded.seq);
                    match part {
                        Part::Head(head) => {
                            assert_eq!(head.row.standing, doing(standing), "{at}");
                            assert_eq!(head.row.waits, asks, "{at}");
                        }
                        Part::Node(node) => {
                            let id = node.id.parse().unwrap();
                            let standing = NodeStanding::of(&state, &id, is_driven);
                            met.insert(standing.word());
                            assert!(agrees(&node, standing), "{at}: {node:?} {standing:?}");
                        }
                        Part::Row(_)
                        | Part::Ask(_)
                        | Part::Order(_)
                        | Part::Edge(_)
                        | Part::Role(_)
                        | Part::Improvement(_)
                        | Part::Change(_)
                        | Part::Decided(_) => {}
                    }
                }
            }
        }
    }
    for word in ["working", "waiting for you", "stopped", "completed", "done"] {
        assert!(met.contains(word), "no journal says {word}: {met:?}");
    }
}
