//! An operator and roles who mean well, and bring every flow to its end.

use std::collections::BTreeMap;

use a_society_facts::fact::node::NodeEntry;
use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_facts::{Verb, Whom};

use super::oracle::story;
use super::sim::Sim;
use super::support::{id, kept, named, wants};
use crate::machine::{
    OperatorQuestion, TurnEnding, TurnTask, allowed, findings_path, missing, report_path,
};

impl Sim {
    /// Drives the flow to its end with an operator and roles who mean well.
    pub(crate) fn finish_it(&mut self) {
        let most = 300 + 60 * self.flow.graph.nodes().len();
        for _ in 0..most {
            if self.flow.state.phase.is_over() && self.turns().is_empty() {
                return;
            }
            self.benign();
        }
        panic!("still going after {most} steps: {}", story(&self.flow));
    }

    pub(super) fn benign(&mut self) {
        if self.flow.state.paused.is_some() && !self.flow.state.phase.is_over() {
            self.say(wants(Verb::Unpause {})).unwrap();
        } else if let Some((turn, attempt, role, task, stops)) = self.turns().first().cloned() {
            if stops {
                self.ends(turn, attempt, TurnEnding::Stopped).unwrap();
            } else {
                self.benign_turn(turn, attempt, &role, &task);
            }
        } else if !self.start(0) {
            let question = self.questions().first().cloned();
            let question = question.expect("a flow that is not over runs, or asks something");
            self.benign_answer(question);
        }
    }

    pub(super) fn benign_turn(
        &mut self,
        turn: TurnId,
        attempt: u32,
        role: &RoleInstance,
        task: &TurnTask,
    ) {
        let outcome = match task {
            TurnTask::Reflection => TurnEnding::MetaAnalysisComplete {
                findings: kept(&findings_path(role)),
            },
            TurnTask::Feedback => TurnEnding::BackwardPassComplete {
                report: kept(report_path()),
            },
            TurnTask::Node(node) => self.benign_outcome(turn, node),
        };
        self.ends(turn, attempt, outcome).unwrap();
    }

    pub(super) fn benign_outcome(&mut self, turn: TurnId, node: &NodeId) -> TurnEnding {
        let (graph, state) = (&self.flow.graph, &self.flow.state);
        let ways = allowed(graph, state, node);
        let tries = state.turns[&turn].repairs;
        if ways.closes {
            return match (missing(state, node).is_empty(), tries) {
                (true, _) => TurnEnding::ForwardPassClosed {
                    health: Ok(()),
                    asks: None,
                },
                (false, 0) => TurnEnding::AwaitHandoff,
                (false, _) => TurnEnding::asks(),
            };
        }
        let owed: Vec<NodeId> = state.owed(node).map(|edge| edge.to.clone()).collect();
        let closing = graph.closing();
        let leads = |to: &&NodeId| {
            let from = graph.index_of(to).unwrap();
            graph.reachable_from([from]).contains(&closing)
        };
        let on = ways.forward.iter().find(leads).or(ways.forward.first());
        let arrived = state.visited.contains(&graph.node_at(closing).id);
        let lost = !arrived && !ways.forward.iter().any(|to| leads(&to));
        let back = lost && (tries > 0 || state.running[node].entry == NodeEntry::Reopened);
        let targets: Vec<NodeId> = if back && !ways.backward.is_empty() {
            ways.backward[..1].to_vec()
        } else if !owed.is_empty() {
            let missing = !arrived && !owed.iter().any(|to| leads(&to));
            let other = ways.forward.iter().find(leads).filter(|_| missing);
            owed.into_iter().chain(other.cloned()).collect()
        } else {
            on.into_iter().cloned().collect()
        };
        TurnEnding::Handoff(self.targets(&targets))
    }

    pub(super) fn benign_answer(&mut self, question: OperatorQuestion) {
        let client = Some(id(&format!("c{}", self.flow.mint())));
        let input = match question {
            OperatorQuestion::Text { node, role, .. } => {
                // A node that awaits what will not come is what keeps the flow from closing.
                let closing = self.flow.graph.node_at(self.flow.graph.closing());
                let state = &self.flow.state;
                let mut awaiting = state.awaiting_handoff.iter();
                let awaiting = awaiting.find(|node| !state.replies.contains_key(*node));
                let awaiting = awaiting.cloned();
                let waits = awaiting.filter(|_| node.as_ref() == Some(&closing.id));
                let target = match waits.or(node) {
                    Some(node) => Whom::Node(node),
                    None => Whom::Role(role),
                };
                self.flow.reply_input(target)
            }
            OperatorQuestion::Consent { .. } => return self.answer(0, ConsentAnswer::AllowOnce),
            OperatorQuestion::Configuration { role, .. } => named(
                Verb::Configure {
                    role,
                    settings: BTreeMap::new(),
                },
                client,
            ),
            OperatorQuestion::Approval { approval, .. } => {
                let approve = named(
                    Verb::Approve {
                        approval: Some(approval.clone()),
                    },
                    client.clone(),
                );
                if self.say(approve).is_ok() {
                    return;
                }
                named(
                    Verb::Decline {
                        approval: Some(approval),
                        reason: None,
                    },
                    client,
                )
            }
            OperatorQuestion::Improvement { modes } => {
                named(Verb::Improve { mode: modes[0] }, client)
            }
            OperatorQuestion::Feedback => named(Verb::Feedback { granted: true }, client),
            OperatorQuestion::Unpause { .. } => wants(Verb::Unpause {}),
            OperatorQuestion::Stalled => {
                self.stalls += 1;
                let state = &self.flow.state;
                let node = state.visited.iter().next().cloned().unwrap();
                wants(Verb::Reopen { node, note: None })
            }
        };
        let said = self.say(input);
        assert!(said.is_ok(), "{said:?}");
    }
}
