//! A driver that lives in memory, an operator who may do anything, roles that may say anything,
//! and an oracle that only reads the facts.

use std::collections::BTreeSet;

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::node::{FaultCode, Trouble};
use a_society_facts::fact::session::{MessageAdded, Origin};
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, Effect, ModelAnswered, ModelRequested, StopReason, Usage,
};
use a_society_facts::id::{MessageId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, Text, ToolCall};
use a_society_facts::view::flow::{CallState, LastRequest, RequestState};

use super::oracle::{check_now, erased};
use super::support::{Flow, id, kept, lack};
use crate::machine::{
    Input, OperatorQuestion, Product, Receiver, Refusal, TurnEnding, TurnOutcome, TurnTask, Work,
    allowed, findings_path, report_path,
};

/// One random action: a kind and two numbers to choose with.
pub(crate) type Action = (u8, u16, u16);

/// A flow with its driver.
#[derive(Debug, Clone)]
pub(crate) struct Sim {
    pub(crate) flow: Flow,
    /// The tries at turns that run.
    pub(crate) tasks: BTreeSet<(TurnId, u32)>,
    /// How many facts there were before the last input.
    pub(crate) before: usize,
    /// How often the operator had to be asked what to do with a flow that is stuck.
    pub(crate) stalls: usize,
}

pub(super) fn pick<T>(items: &[T], number: u16) -> Option<&T> {
    (!items.is_empty()).then(|| &items[usize::from(number) % items.len()])
}

impl Sim {
    pub(crate) fn new(flow: Flow) -> Self {
        let mut sim = Self {
            before: 0,
            flow,
            tasks: BTreeSet::new(),
            stalls: 0,
        };
        sim.settle();
        sim
    }

    /// Says something; a refusal changes nothing.
    pub(super) fn say(&mut self, input: Input) -> Result<Vec<Fact>, Refusal> {
        self.before = self.flow.facts.len();
        let said = self.flow.say(input);
        self.settle();
        said
    }

    /// Starts what is pending and not running, and ends what runs and is not pending.
    pub(super) fn settle(&mut self) {
        let turns = self.flow.pending().into_iter().filter_map(|work| {
            let (Work::RunTurn { turn, attempt, .. } | Work::StopTurn { turn, attempt, .. }) = work
            else {
                return None;
            };
            Some((turn, attempt))
        });
        self.tasks = turns.collect();
        check_now(&self.flow);
    }

    pub(super) fn turns(&self) -> Vec<(TurnId, u32, RoleInstance, TurnTask, bool)> {
        (self.flow.pending().into_iter())
            .filter_map(|work| match work {
                Work::RunTurn {
                    turn,
                    attempt,
                    role,
                    task,
                } => Some((turn, attempt, role.clone(), task, false)),
                Work::StopTurn {
                    turn,
                    attempt,
                    role,
                    task,
                } => Some((turn, attempt, role.clone(), task, true)),
                Work::Claim { .. }
                | Work::StartReflection { .. }
                | Work::StartFeedback { .. }
                | Work::ApplyEnds
                | Work::WaitUntil { .. }
                | Work::AskOperator(_) => None,
            })
            .collect()
    }

    pub(super) fn questions(&self) -> Vec<OperatorQuestion> {
        (self.flow.pending().into_iter())
            .filter_map(|work| match work {
                Work::AskOperator(question) => Some(question),
                Work::RunTurn { .. }
                | Work::StopTurn { .. }
                | Work::Claim { .. }
                | Work::StartReflection { .. }
                | Work::StartFeedback { .. }
                | Work::ApplyEnds
                | Work::WaitUntil { .. } => None,
            })
            .collect()
    }

    /// Starts one thing that is offered, which may not be refused.
    pub(super) fn start(&mut self, number: u16) -> bool {
        let starts: Vec<Work> = (self.flow.pending().into_iter())
            .filter(|work| match work {
                Work::Claim { .. }
                | Work::StartReflection { .. }
                | Work::StartFeedback { .. }
                | Work::ApplyEnds
                | Work::WaitUntil { .. } => true,
                Work::RunTurn { .. } | Work::StopTurn { .. } | Work::AskOperator(_) => false,
            })
            .collect();
        let Some(work) = pick(&starts, number).cloned() else {
            return false;
        };
        let input = match &work {
            Work::Claim { node, .. } => self.flow.claim_input(node.as_str()),
            Work::StartReflection { role, .. } => {
                Input::StartReflection(crate::machine::StartReflection {
                    session: self.flow.session(role.as_str()),
                    role: role.clone(),
                })
            }
            Work::StartFeedback { role } => {
                let role = role.clone().unwrap_or(id("feedback"));
                Input::StartFeedback(crate::machine::StartFeedback {
                    session: self.flow.session(role.as_str()),
                    role,
                })
            }
            Work::ApplyEnds => Input::ApplyEnds,
            Work::WaitUntil { at, .. } => Input::TimeCame(*at),
            Work::RunTurn { .. } | Work::StopTurn { .. } | Work::AskOperator(_) => return false,
        };
        if let Err(refusal) = self.say(input) {
            panic!("{work:?} was offered and is refused: {refusal}");
        }
        true
    }

    /// The role gets its messages, and its open calls get their results.
    pub(super) fn tell(&mut self, turn: TurnId) {
        let Some(open) = self.flow.state.turns.get(&turn).cloned() else {
            return;
        };
        let asked = open
            .request
            .iter()
            .flat_map(|request| request.calls.clone());
        for call in asked.filter(|call| !call.done) {
            self.finish(turn, &open.role, call.tool_call);
        }
        let mut says: Vec<(MessageId, Origin)> = Vec::new();
        if open.repair.is_some() {
            says.push((self.message(), Origin::Repair));
        }
        if let Some((_, running)) = self.flow.state.running_of(&open.role) {
            let replies = running
                .unsaid
                .iter()
                .map(|said| (said.id.clone(), Origin::Reply));
            let replies: Vec<_> = replies.collect();
            let told = running.told;
            says.extend(replies);
            if !told {
                says.push((self.message(), Origin::Entry));
            }
        }
        let reflecting = self.flow.state.reflecting(&open.role);
        let unsaid = reflecting.iter().flat_map(|r| &r.unsaid);
        let unsaid: Vec<_> = unsaid
            .map(|said| (said.id.clone(), Origin::Reply))
            .collect();
        let told = reflecting.is_none_or(|r| r.told || r.turn != turn);
        says.extend(unsaid);
        if !told {
            says.push((self.message(), Origin::Improvement));
        }
        for (message, origin) in says {
            self.flow.append(Fact::MessageAdded(MessageAdded {
                role: open.role.clone(),
                message,
                text: "said".into(),
                origin,
                node: open.node.clone(),
                client: None,
                request: None,
            }));
        }
        let unanswered = |request: &LastRequest| request.state != RequestState::Answered;
        if open.repair.is_none() && open.request.as_ref().is_some_and(unanswered) {
            self.request(turn, Vec::new());
        }
        self.before = self.flow.facts.len();
    }

    pub(super) fn message(&mut self) -> MessageId {
        id(&format!("s{}", self.flow.mint()))
    }

    pub(super) fn finish(&mut self, turn: TurnId, role: &RoleInstance, tool_call: String) {
        let calls = self.flow.state.calls.iter();
        let mut own = calls.filter(|(_, call)| call.turn == turn && call.tool_call == tool_call);
        let known = own.next().map(|(call, open)| (call.clone(), open.state));
        let (call, end) = match known {
            Some((call, CallState::Started)) => (call, CallEnd::Done),
            Some((call, CallState::Denied)) => (call, CallEnd::Denied),
            Some((call, CallState::Intended | CallState::Allowed)) => (call, CallEnd::Failed),
            Some((_, CallState::Consent)) => return,
            None => (id(&format!("k{}", self.flow.mint())), CallEnd::NotRun),
        };
        let message = self.message();
        self.flow.append(Fact::CallFinished(CallFinished {
            call,
            turn,
            role: role.clone(),
            tool_call,
            tool: "run_command".into(),
            end,
            output: Text::default(),
            message,
            seen: Vec::new(),
            image: None,
            exit: None,
            signal: None,
            cut: None,
        }));
    }

    /// A turn says something about itself; the last of its facts is what a crash may cut.
    pub(super) fn ends(
        &mut self,
        turn: TurnId,
        attempt: u32,
        outcome: TurnEnding,
    ) -> Result<Vec<Fact>, Refusal> {
        self.tell(turn);
        let approval = Some(id(&format!("a{}", self.flow.mint())));
        self.say(Input::Outcome(TurnOutcome {
            turn,
            attempt,
            outcome,
            approval,
        }))
    }

    /// A model is asked, and answers with these calls.
    pub(super) fn request(&mut self, turn: TurnId, calls: Vec<String>) {
        let Some(open) = self.flow.state.turns.get(&turn).cloned() else {
            return;
        };
        let (request, attempt) = (open.requests + 1, open.attempt);
        self.flow.append(Fact::ModelRequested(ModelRequested {
            turn,
            attempt,
            role: open.role.clone(),
            request,
            model: "m".into(),
            hash: Hash::of(b"r"),
            frame: None,
        }));
        let message = self.message();
        self.flow.append(Fact::ModelAnswered(ModelAnswered {
            turn,
            attempt,
            role: open.role.clone(),
            request,
            message,
            text: AnswerText::Inline(String::new()),
            calls: (calls.into_iter())
                .map(|id| ToolCall {
                    id,
                    name: "run_command".into(),
                    input: serde_json::value::RawValue::from_string("{}".into()).unwrap(),
                })
                .collect(),
            stop: StopReason::Tools,
            usage: Usage::default(),
            provider_blocks: None,
            report: None,
        }));
    }

    pub(super) fn intend(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        number: u32,
        tool_call: String,
    ) {
        self.flow.append(Fact::CallIntended(CallIntended {
            call: id(&format!("k{number}")),
            turn,
            role: role.clone(),
            tool_call,
            ordinal: 0,
            tool: "run_command".into(),
            arguments: Hash::of(b"a"),
            effect: Effect::Mutating,
            idempotency_key: Hash::of(b"i"),
            before: None,
            after: None,
            files: Vec::new(),
            texts: Vec::new(),
            summary: "s".into(),
        }));
    }

    pub(super) fn targets(&mut self, names: &[NodeId]) -> Vec<Receiver> {
        (names.iter())
            .map(|node| Receiver {
                node: node.to_string(),
                artifact: kept(&format!("f{}.md", self.flow.mint())),
            })
            .collect()
    }

    /// A random outcome of a random turn, which may well be refused or repaired.
    pub(super) fn random_outcome(&mut self, kind: u8, a: u16, b: u16) {
        let turns = self.turns();
        let Some((turn, attempt, role, task, stops)) = pick(&turns, a).cloned() else {
            return;
        };
        if stops && !b.is_multiple_of(4) {
            let _said = self.ends(turn, attempt, TurnEnding::Stopped);
            return;
        }
        let outcome = match (kind % 16, &task) {
            (0..=5, TurnTask::Node(node)) => self.random_handoff(&node.clone(), kind % 16, b),
            (6, TurnTask::Node(_)) => TurnEnding::AwaitHandoff,
            (7, TurnTask::Node(_)) => TurnEnding::ForwardPassClosed {
                health: if b.is_multiple_of(3) {
                    Err("red".into())
                } else {
                    Ok(())
                },
                asks: b.is_multiple_of(5).then(|| "May it close?".into()),
            },
            (0..=5, TurnTask::Reflection) => TurnEnding::MetaAnalysisComplete {
                findings: kept(&findings_path(&role)),
            },
            (0..=5, TurnTask::Feedback) => TurnEnding::BackwardPassComplete {
                report: kept(report_path()),
            },
            (6, _) => TurnEnding::MetaAnalysisComplete {
                findings: kept("elsewhere.md"),
            },
            (7, _) => TurnEnding::BackwardPassComplete {
                report: Product::Unavailable {
                    path: report_path().into(),
                    why: "it is not there".into(),
                },
            },
            (8, _) => TurnEnding::asks(),
            (9, _) => TurnEnding::Fault {
                code: FaultCode::MissingBlock,
                summary: "nothing".into(),
            },
            (10, _) => TurnEnding::OutputLimit,
            (11, _) => TurnEnding::Aborted {
                why: "broke".into(),
                class: None,
            },
            (12, _) => TurnEnding::ProviderProblem {
                trouble: Trouble::Key,
                why: "key".into(),
                class: None,
                servers: Vec::new(),
                until: b.is_multiple_of(2).then(|| At::from_ms(i64::from(b))),
            },
            (13, _) => TurnEnding::NeedsConfiguration {
                why: "model".into(),
            },
            (14, _) => TurnEnding::BudgetReached { lack: lack() },
            (_, _) => TurnEnding::ConsentDenied,
        };
        let times = if kind % 16 == 9 { 1 + b % 8 } else { 1 };
        for _ in 0..times {
            let said = self.ends(turn, attempt, outcome.clone());
            assert!(
                said.is_ok() || times > 1,
                "{outcome:?} by {task:?}: {said:?}"
            );
        }
    }

    pub(super) fn random_handoff(&mut self, node: &NodeId, kind: u8, b: u16) -> TurnEnding {
        let ways = allowed(&self.flow.graph, &self.flow.state, node);
        let some = |nodes: &[NodeId]| -> Vec<NodeId> {
            let chosen = (nodes.iter().enumerate())
                .filter(|(place, _)| b & (1 << (place % 16)) != 0)
                .map(|(_, node)| node.clone());
            chosen.collect()
        };
        let names = match kind {
            0 | 1 => ways.forward.clone(),
            2 => some(&ways.forward),
            3 => some(&ways.backward),
            4 => [some(&ways.forward), some(&ways.backward)].concat(),
            _ => {
                let nodes = self.flow.graph.nodes();
                let any = pick(nodes, b).map(|node| node.id.clone());
                [ways.forward.clone(), any.into_iter().collect()].concat()
            }
        };
        let mut targets = self.targets(&names);
        if kind == 5 && b.is_multiple_of(2) {
            // An artifact that was handed over before, or that is not there.
            let used = self.flow.state.passed.first().cloned();
            if let (Some(target), Some(path)) = (targets.first_mut(), used) {
                target.artifact = kept(&path);
            }
        }
        TurnEnding::Handoff(targets)
    }

    /// Does one random thing.
    pub(crate) fn act(&mut self, (kind, a, b): Action) {
        match kind {
            0..=69 => {
                self.start(a);
            }
            70..=169 => self.random_outcome(kind, a, b),
            170..=199 => self.random_reply(a, b),
            200..=214 => self.crash(b),
            215..=254 => self.random_command(kind, a, b),
            255 => self.random_late(a),
        }
    }

    /// The process ends: of what belongs to the last input, some facts may be lost.
    pub(crate) fn crash(&mut self, number: u16) {
        let last = self.flow.facts.len() - self.before;
        let lost = usize::from(number) % (last + 1);
        let kept = self.flow.facts.len() - lost;
        let revised = (self.flow.facts[kept..].iter()).any(|f| f.word() == "graph_revised");
        if kept == 0 || revised {
            // The flow was not created, or its driver would read another graph.
            return;
        }
        let before = erased(self.flow.pending());
        self.flow.crash_after(kept);
        self.before = kept;
        if lost == 0 {
            let after = erased(self.flow.pending());
            assert_eq!(before, after, "the same goes on after a crash");
        }
        self.settle();
    }
}
