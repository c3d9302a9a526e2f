//! An operator who may do anything at any time.

use std::collections::BTreeMap;

use a_society_facts::Hash;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::{Ends, PauseReason};
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::{
    ConsentAnswer, ConsentMode, DecidingRule, Grant, RuleOrigin, SteerWhen, StopScope,
};
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::handoff::EdgeName;
use a_society_facts::id::{ClientId, NodeId, RoleInstance, TurnId};
use a_society_facts::{Verb, Whom};

use super::sim::{Sim, pick};
use super::support::{bringing, id, named, revised, wants};
use crate::machine::{
    Brought, ConsentAsked, Input, Refusal, RuleAnswered, TurnEnding, TurnOutcome,
};

const MODES: [ImprovementMode; 3] = [
    ImprovementMode::GraphBased,
    ImprovementMode::Parallel,
    ImprovementMode::None,
];

/// One of all ways in which a flow may be to end.
pub(super) fn any_ends(number: u16) -> Ends {
    Ends {
        improve: MODES.get(usize::from(number % 4)).copied(),
        feedback: [None, Some(true), Some(false)][usize::from(number / 4 % 3)],
    }
}

impl Sim {
    /// A call that needs consent.
    pub(super) fn asks(&mut self, turn: TurnId, attempt: u32) {
        self.tell(turn);
        let Some(open) = self.flow.state.turns.get(&turn).cloned() else {
            return;
        };
        if open.stop || self.flow.state.phase.is_over() {
            return;
        }
        let number = self.flow.mint();
        let tool_call = format!("t{number}");
        self.request(turn, vec![tool_call.clone()]);
        self.intend(turn, &open.role, number, tool_call);
        self.settle();
        let asked = self.say(Input::ConsentAsked(ConsentAsked {
            turn,
            attempt,
            consent: id(&format!("q{number}")),
            call: id(&format!("k{number}")),
            action: Hash::of(b"what runs"),
            shown: "what runs".into(),
            terms: ConsentTerms::Session,
            narrowed: false,
            doubt: None,
            anew: false,
        }));
        assert!(asked.is_ok(), "{asked:?}");
    }

    pub(super) fn answer(&mut self, number: u16, answer: ConsentAnswer) {
        let open: Vec<_> = self.flow.state.consents.keys().cloned().collect();
        let Some(consent) = pick(&open, number).cloned() else {
            return;
        };
        let client = self.client();
        let action = Hash::of(b"what runs");
        let input = match answer {
            ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => {
                let allow = Verb::Allow {
                    consent: Some(consent),
                    action: Some(action),
                    for_the_flow: answer == ConsentAnswer::AllowFlow,
                };
                bringing(allow, Brought::Grant(Some(Grant::Edits), open), client)
            }
            ConsentAnswer::Deny => {
                let deny = Verb::Deny {
                    consent: Some(consent),
                    action: Some(action),
                    reason: None,
                };
                named(deny, client)
            }
            // A rule that is set meanwhile answers, too.
            ConsentAnswer::Withdrawn => Input::RuleAnswered(RuleAnswered {
                consent,
                answer: ConsentAnswer::Deny,
                action,
                reason: None,
                by: DecidingRule {
                    rule: "x".to_owned(),
                    origin: RuleOrigin::Flow,
                },
            }),
        };
        let _said = self.say(input);
    }

    pub(super) fn random_reply(&mut self, a: u16, b: u16) {
        let target = match b % 4 {
            0 => Whom::Only,
            1 => {
                let roles: Vec<_> = self.flow.graph.role_instances().cloned().collect();
                pick(&roles, a).map_or(Whom::Only, |role| Whom::Role(role.clone()))
            }
            _ => {
                let state = &self.flow.state;
                let waits = state
                    .awaiting_operator
                    .keys()
                    .chain(&state.awaiting_handoff);
                let waits: Vec<NodeId> = waits.cloned().collect();
                pick(&waits, a).map_or(Whom::Only, |node| Whom::Node(node.clone()))
            }
        };
        let input = self.flow.reply_input(target);
        if self.say(input.clone()).is_ok() {
            assert_eq!(
                self.say(input),
                Ok(Vec::new()),
                "a repeated reply counts once"
            );
        }
    }

    pub(super) fn random_late(&mut self, a: u16) {
        let turns = self.turns();
        let Some((turn, attempt, ..)) = pick(&turns, a).cloned() else {
            return;
        };
        let late = self.say(Input::Outcome(TurnOutcome {
            turn,
            attempt: attempt + 1,
            outcome: TurnEnding::AwaitHandoff,
            approval: None,
        }));
        assert!(matches!(late, Err(Refusal::Late { .. })), "{late:?}");
    }

    pub(super) fn random_command(&mut self, kind: u8, a: u16, b: u16) {
        let nodes: Vec<NodeId> = (self.flow.graph.nodes().iter())
            .map(|node| node.id.clone())
            .collect();
        let node = pick(&nodes, a).unwrap().clone();
        let role = self.flow.graph.node(&node).unwrap().role.clone();
        let input = match kind {
            215..=232 => self.flow_command(kind, b, node, role),
            233..=241 => self.role_command(kind, b, role),
            242..=246 => return self.random_word(a, b),
            247..=250 => return self.random_question(a),
            251..=252 => {
                let answers = [
                    ConsentAnswer::AllowOnce,
                    ConsentAnswer::AllowFlow,
                    ConsentAnswer::Deny,
                    ConsentAnswer::Withdrawn,
                ];
                return self.answer(a, answers[usize::from(b % 4)]);
            }
            253 => return self.random_revision(a, b),
            _ if a.is_multiple_of(2) => Input::ChooseEnds(any_ends(b)),
            _ => named(
                Verb::Improve {
                    mode: MODES[usize::from(b % 3)],
                },
                self.client(),
            ),
        };
        let _said = self.say(input);
    }

    pub(super) fn client(&mut self) -> Option<ClientId> {
        Some(id(&format!("c{}", self.flow.mint())))
    }

    fn flow_command(&mut self, kind: u8, b: u16, node: NodeId, role: RoleInstance) -> Input {
        match kind {
            215..=218 => named(
                Verb::Stop {
                    scope: match b % 4 {
                        0 => StopScope::Node(node),
                        1 => StopScope::Role(role),
                        _ => StopScope::All,
                    },
                },
                self.client(),
            ),
            219..=222 => Input::Pause {
                reason: [
                    PauseReason::Operator,
                    PauseReason::DiskFull,
                    PauseReason::Irreversible,
                ][usize::from(b % 3)],
                detail: None,
            },
            223..=225 => wants(Verb::Unpause {}),
            226 if b.is_multiple_of(8) => wants(Verb::Cancel { why: None }),
            226..=229 => wants(Verb::Retry {
                to: if b.is_multiple_of(2) {
                    Whom::Only
                } else {
                    Whom::Role(role)
                },
            }),
            _ => wants(Verb::Reopen { node, note: None }),
        }
    }

    fn role_command(&mut self, kind: u8, b: u16, role: RoleInstance) -> Input {
        let client = self.client();
        match kind {
            233..=235 => named(
                Verb::Configure {
                    role,
                    settings: BTreeMap::new(),
                },
                client,
            ),
            236..=237 => named(
                Verb::Mode {
                    mode: [
                        ConsentMode::NoAccess,
                        ConsentMode::PartialAccess,
                        ConsentMode::FullAccess,
                    ][usize::from(b % 3)],
                },
                client,
            ),
            238..=240 => named(
                Verb::Budget {
                    role: b.is_multiple_of(2).then_some(role),
                    measure: Measure::Turns,
                    limit: (!b.is_multiple_of(3)).then_some(u64::from(b % 40)),
                },
                client,
            ),
            _ => named(
                Verb::Steer {
                    role,
                    text: "x".into(),
                    when: SteerWhen::Queue,
                },
                client,
            ),
        }
    }

    fn random_question(&mut self, a: u16) {
        let turns = self.turns();
        if let Some((turn, attempt, .., stops)) = pick(&turns, a).cloned()
            && !stops
        {
            self.asks(turn, attempt);
        }
    }

    pub(super) fn random_word(&mut self, a: u16, b: u16) {
        let staged: Vec<_> = self.flow.state.staged.keys().cloned().collect();
        let client = self.client();
        let Some(approval) = pick(&staged, a).cloned() else {
            let granted = b.is_multiple_of(2);
            let _said = self.say(named(Verb::Feedback { granted }, client));
            return;
        };
        let _said = self.say(if b.is_multiple_of(2) {
            named(
                Verb::Approve {
                    approval: Some(approval),
                },
                client,
            )
        } else {
            named(
                Verb::Decline {
                    approval: Some(approval),
                    reason: None,
                },
                client,
            )
        });
    }

    /// Another graph: one edge more or less, or an edge that becomes optional.
    pub(super) fn random_revision(&mut self, a: u16, b: u16) {
        let old = &self.flow.graph;
        let mut edges: Vec<(EdgeName, bool)> = (old.edge_ids())
            .zip(old.edges().iter().map(|edge| edge.optional))
            .collect();
        let place = usize::from(a) % edges.len().max(1);
        match (b % 3, edges.is_empty()) {
            (_, true) => {}
            (0, false) => edges[place].1 ^= true,
            (1, false) => {
                edges.remove(place);
            }
            (_, false) => {
                let nodes = old.nodes();
                let (from, to) = (usize::from(a) % nodes.len(), usize::from(b) % nodes.len());
                let name = |place: usize| nodes[place].id.clone();
                let edge = EdgeName {
                    from: name(from.min(to)),
                    to: name(from.max(to)),
                };
                edges.push((edge, false));
            }
        }
        let named: Vec<_> = (edges.iter())
            .map(|(edge, optional)| (edge.from.as_str(), edge.to.as_str(), *optional))
            .collect();
        let Ok(graph) = crate::graph::build("t", None, old.nodes().to_vec(), &named) else {
            return;
        };
        let revise = revised(graph.clone());
        self.before = self.flow.facts.len();
        if self.flow.say(revise).is_ok() {
            self.flow.graph = graph;
        }
        self.settle();
    }
}
