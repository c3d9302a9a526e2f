//! A driver that lives in memory, an operator who may do anything, roles that may say anything,
//! and an oracle that only reads the facts.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::fact::Fact;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::{Author, PauseReason};
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{Entry, FaultCode};
use a_society_facts::fact::operator::{
    ChosenBy, ConsentAnswer, ConsentMode, Grant, SteerWhen, StopScope,
};
use a_society_facts::fact::session::{MessageAdded, Origin};
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, Effect, ModelAnswered, ModelRequested, StopReason, Usage,
};
use a_society_facts::handoff::{EdgeName, Way};
use a_society_facts::hash::Hash;
use a_society_facts::id::{MessageId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, Text, ToolCall};
use a_society_facts::view::FlowState;
use a_society_facts::view::flow::{CallState, Phase};

use super::support::{Flow, id, kept};
use crate::machine::{
    ConsentAnswered, ConsentAsked, Input, Outcome, Product, Question, Refusal, ReplyTarget, Revise,
    Steer, Target, Task, TurnOutcome, Work, allowed, findings_path, missing, report_path,
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

fn pick<T>(items: &[T], number: u16) -> Option<&T> {
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
    fn say(&mut self, input: Input) -> Result<Vec<Fact>, Refusal> {
        self.before = self.flow.facts.len();
        let said = self.flow.say(input);
        self.settle();
        said
    }

    /// Starts what is pending and not running, and ends what runs and is not pending.
    fn settle(&mut self) {
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

    fn turns(&self) -> Vec<(TurnId, u32, RoleInstance, Task, bool)> {
        (self.flow.pending().into_iter())
            .filter_map(|work| match work {
                Work::RunTurn {
                    turn,
                    attempt,
                    role,
                    task,
                } => Some((turn, attempt, role, task, false)),
                Work::StopTurn {
                    turn,
                    attempt,
                    role,
                    task,
                } => Some((turn, attempt, role, task, true)),
                Work::Claim { .. }
                | Work::StartReflection { .. }
                | Work::StartFeedback { .. }
                | Work::AskOperator(_) => None,
            })
            .collect()
    }

    fn questions(&self) -> Vec<Question> {
        (self.flow.pending().into_iter())
            .filter_map(|work| match work {
                Work::AskOperator(question) => Some(question),
                Work::RunTurn { .. }
                | Work::StopTurn { .. }
                | Work::Claim { .. }
                | Work::StartReflection { .. }
                | Work::StartFeedback { .. } => None,
            })
            .collect()
    }

    /// Starts one thing that is offered, which may not be refused.
    fn start(&mut self, number: u16) -> bool {
        let starts: Vec<Work> = (self.flow.pending().into_iter())
            .filter(|work| match work {
                Work::Claim { .. } | Work::StartReflection { .. } | Work::StartFeedback { .. } => {
                    true
                }
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
            Work::RunTurn { .. } | Work::StopTurn { .. } | Work::AskOperator(_) => return false,
        };
        if let Err(refusal) = self.say(input) {
            panic!("{work:?} was offered and is refused: {refusal}");
        }
        true
    }

    /// The role is told what it has to be told, and its open calls get their results.
    fn tell(&mut self, turn: TurnId) {
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
        says.extend(unsaid);
        for (message, origin) in says {
            self.flow.append(Fact::MessageAdded(MessageAdded {
                role: open.role.clone(),
                message,
                text: "said".into(),
                origin,
                node: open.node.clone(),
                client: None,
            }));
        }
        self.before = self.flow.facts.len();
    }

    fn message(&mut self) -> MessageId {
        id(&format!("s{}", self.flow.mint()))
    }

    fn finish(&mut self, turn: TurnId, role: &RoleInstance, tool_call: String) {
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
        }));
    }

    /// A turn says something about itself; the last of its facts is what a crash may cut.
    fn ends(&mut self, turn: TurnId, attempt: u32, outcome: Outcome) -> Result<Vec<Fact>, Refusal> {
        self.tell(turn);
        let approval = Some(id(&format!("a{}", self.flow.mint())));
        self.say(Input::Outcome(TurnOutcome {
            turn,
            attempt,
            outcome,
            approval,
        }))
    }

    /// A call that needs consent.
    fn asks(&mut self, turn: TurnId, attempt: u32) {
        self.tell(turn);
        let Some(open) = self.flow.state.turns.get(&turn).cloned() else {
            return;
        };
        if open.stop || self.flow.state.phase.is_over() {
            return;
        }
        let number = self.flow.mint();
        let tool_call = format!("t{number}");
        let request = open.requests + 1;
        self.flow.append(Fact::ModelRequested(ModelRequested {
            turn,
            attempt,
            role: open.role.clone(),
            request,
            model: "m".into(),
            hash: Hash::of(b"r"),
        }));
        let message = self.message();
        self.flow.append(Fact::ModelAnswered(ModelAnswered {
            turn,
            attempt,
            role: open.role.clone(),
            request,
            message,
            text: AnswerText::Inline(String::new()),
            calls: vec![ToolCall {
                id: tool_call.clone(),
                name: "run_command".into(),
                input: serde_json::value::RawValue::from_string("{}".into()).unwrap(),
            }],
            stop: StopReason::Tools,
            usage: Usage::default(),
            provider_blocks: None,
        }));
        self.flow.append(Fact::CallIntended(CallIntended {
            call: id(&format!("k{number}")),
            turn,
            role: open.role.clone(),
            tool_call,
            ordinal: 0,
            tool: "run_command".into(),
            arguments: Hash::of(b"a"),
            effect: Effect::Mutating,
            idempotency_key: Hash::of(b"i"),
            before: None,
            after: None,
            summary: "s".into(),
        }));
        self.settle();
        let asked = self.say(Input::ConsentAsked(ConsentAsked {
            turn,
            attempt,
            consent: id(&format!("q{number}")),
            call: id(&format!("k{number}")),
            action: Hash::of(b"what runs"),
            shown: "what runs".into(),
        }));
        assert!(asked.is_ok(), "{asked:?}");
    }

    fn answer(&mut self, number: u16, answer: ConsentAnswer) {
        let open: Vec<_> = self.flow.state.consents.keys().cloned().collect();
        let Some(consent) = pick(&open, number).cloned() else {
            return;
        };
        let client = Some(id(&format!("c{}", self.flow.mint())));
        let _said = self.say(Input::ConsentAnswered(ConsentAnswered {
            consent,
            answer,
            action: Hash::of(b"what runs"),
            grant: Some(Grant::Edits),
            also: open,
            client,
        }));
    }

    fn targets(&mut self, names: &[NodeId]) -> Vec<Target> {
        (names.iter())
            .map(|node| Target {
                node: node.to_string(),
                artifact: kept(&format!("f{}.md", self.flow.mint())),
            })
            .collect()
    }

    /// A random outcome of a random turn, which may well be refused or repaired.
    fn random_outcome(&mut self, kind: u8, a: u16, b: u16) {
        let turns = self.turns();
        let Some((turn, attempt, role, task, stops)) = pick(&turns, a).cloned() else {
            return;
        };
        if stops && !b.is_multiple_of(4) {
            let _said = self.ends(turn, attempt, Outcome::Stopped);
            return;
        }
        let outcome = match (kind % 16, &task) {
            (0..=5, Task::Node(node)) => self.random_handoff(&node.clone(), kind % 16, b),
            (6, Task::Node(_)) => Outcome::AwaitHandoff,
            (7, Task::Node(_)) => Outcome::ForwardPassClosed {
                health: if b.is_multiple_of(3) {
                    Err("red".into())
                } else {
                    Ok(())
                },
            },
            (0..=5, Task::Reflection) => Outcome::MetaAnalysisComplete {
                findings: kept(&findings_path(&role)),
            },
            (0..=5, Task::Feedback) => Outcome::BackwardPassComplete {
                report: kept(report_path()),
            },
            (6, _) => Outcome::MetaAnalysisComplete {
                findings: kept("elsewhere.md"),
            },
            (7, _) => Outcome::BackwardPassComplete {
                report: Product::Unavailable {
                    path: report_path().into(),
                    why: "it is not there".into(),
                },
            },
            (8, _) => Outcome::PromptHuman { question: None },
            (9, _) => Outcome::Fault {
                code: FaultCode::MissingBlock,
                summary: "nothing".into(),
            },
            (10, _) => Outcome::OutputLimit,
            (11, _) => Outcome::Aborted {
                why: "broke".into(),
            },
            (12, _) => Outcome::ProviderProblem { why: "key".into() },
            (13, _) => Outcome::NeedsConfiguration {
                why: "model".into(),
            },
            (14, _) => Outcome::BudgetReached {
                why: "tokens".into(),
            },
            (_, _) => Outcome::ConsentDenied,
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

    fn random_handoff(&mut self, node: &NodeId, kind: u8, b: u16) -> Outcome {
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
        Outcome::Handoff(targets)
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

    fn random_reply(&mut self, a: u16, b: u16) {
        let target = match b % 4 {
            0 => ReplyTarget::Only,
            1 => {
                let roles: Vec<_> = self.flow.graph.role_instances().cloned().collect();
                pick(&roles, a).map_or(ReplyTarget::Only, |role| ReplyTarget::Role(role.clone()))
            }
            _ => {
                let state = &self.flow.state;
                let waits = state
                    .awaiting_operator
                    .keys()
                    .chain(&state.awaiting_handoff);
                let waits: Vec<NodeId> = waits.cloned().collect();
                pick(&waits, a).map_or(ReplyTarget::Only, |node| ReplyTarget::Node(node.clone()))
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

    fn random_late(&mut self, a: u16) {
        let turns = self.turns();
        let Some((turn, attempt, ..)) = pick(&turns, a).cloned() else {
            return;
        };
        let late = self.say(Input::Outcome(TurnOutcome {
            turn,
            attempt: attempt + 1,
            outcome: Outcome::AwaitHandoff,
            approval: None,
        }));
        assert!(matches!(late, Err(Refusal::Late { .. })), "{late:?}");
    }

    fn random_command(&mut self, kind: u8, a: u16, b: u16) {
        let nodes: Vec<NodeId> = (self.flow.graph.nodes().iter())
            .map(|node| node.id.clone())
            .collect();
        let node = pick(&nodes, a).unwrap().clone();
        let role = self.flow.graph.node(&node).unwrap().role.clone();
        let client = Some(id(&format!("c{}", self.flow.mint())));
        let input = match kind {
            215..=218 => match b % 4 {
                0 => Input::Stop {
                    scope: StopScope::Node(node),
                    client,
                },
                1 => Input::Stop {
                    scope: StopScope::Role(role),
                    client,
                },
                _ => Input::Stop {
                    scope: StopScope::All,
                    client,
                },
            },
            219..=222 => Input::Pause {
                reason: [
                    PauseReason::Operator,
                    PauseReason::DiskFull,
                    PauseReason::Irreversible,
                ][usize::from(b % 3)],
                detail: None,
            },
            223..=225 => Input::Unpause {
                by: Author::Operator,
            },
            226 if b.is_multiple_of(8) => Input::Cancel {
                by: Author::Operator,
                why: None,
            },
            226..=229 => Input::Retry {
                target: if b.is_multiple_of(2) {
                    ReplyTarget::Only
                } else {
                    ReplyTarget::Role(role)
                },
            },
            230..=232 => Input::Reopen { node, note: None },
            233..=235 => Input::ConfigureRole {
                role,
                settings: BTreeMap::new(),
                by: ChosenBy::Operator,
                client,
            },
            236..=237 => Input::ConsentMode {
                mode: [
                    ConsentMode::NoAccess,
                    ConsentMode::PartialAccess,
                    ConsentMode::FullAccess,
                ][usize::from(b % 3)],
                client,
            },
            238..=240 => Input::SetBudget {
                role: b.is_multiple_of(2).then_some(role),
                measure: Measure::Turns,
                limit: (!b.is_multiple_of(3)).then_some(u64::from(b % 40)),
                client,
            },
            241 => Input::Steer(Steer {
                role,
                text: "x".into(),
                message: self.message(),
                when: SteerWhen::Queue,
                client,
            }),
            242..=246 => return self.random_word(a, b),
            247..=250 => {
                let turns = self.turns();
                if let Some((turn, attempt, _, task, stops)) = pick(&turns, a).cloned()
                    && !stops
                    && task != Task::Send
                {
                    self.asks(turn, attempt);
                }
                return;
            }
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
            _ => {
                let modes = [
                    ImprovementMode::GraphBased,
                    ImprovementMode::Parallel,
                    ImprovementMode::None,
                ];
                Input::ChooseImprovement {
                    mode: modes[usize::from(b % 3)],
                    client,
                }
            }
        };
        let _said = self.say(input);
    }

    fn random_word(&mut self, a: u16, b: u16) {
        let staged: Vec<_> = self.flow.state.staged.keys().cloned().collect();
        let client = Some(id(&format!("c{}", self.flow.mint())));
        let Some(approval) = pick(&staged, a).cloned() else {
            let granted = b.is_multiple_of(2);
            let _said = self.say(Input::FeedbackConsent { granted, client });
            return;
        };
        let _said = self.say(if b.is_multiple_of(2) {
            Input::Approve { approval, client }
        } else {
            Input::Decline { approval, client }
        });
    }

    /// Another graph: one edge more or less, or an edge that becomes optional.
    fn random_revision(&mut self, a: u16, b: u16) {
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
        let revise = Input::Revise(Revise {
            graph: Box::new(graph.clone()),
            source: Text::default(),
            by: Author::Operator,
        });
        self.before = self.flow.facts.len();
        if self.flow.say(revise).is_ok() {
            self.flow.graph = graph;
        }
        self.settle();
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

    fn benign(&mut self) {
        if self.flow.state.paused.is_some() {
            let by = Author::Operator;
            self.say(Input::Unpause { by }).unwrap();
        } else if let Some((turn, attempt, role, task, stops)) = self.turns().first().cloned() {
            if stops {
                self.ends(turn, attempt, Outcome::Stopped).unwrap();
            } else {
                self.benign_turn(turn, attempt, &role, &task);
            }
        } else if !self.start(0) {
            let question = self.questions().first().cloned();
            let question = question.expect("a flow that is not over runs, or asks something");
            self.benign_answer(question);
        }
    }

    fn benign_turn(&mut self, turn: TurnId, attempt: u32, role: &RoleInstance, task: &Task) {
        let outcome = match task {
            Task::Reflection => Outcome::MetaAnalysisComplete {
                findings: kept(&findings_path(role)),
            },
            Task::Feedback => Outcome::BackwardPassComplete {
                report: kept(report_path()),
            },
            Task::Send => panic!("nobody sends"),
            Task::Node(node) => self.benign_outcome(turn, node),
        };
        self.ends(turn, attempt, outcome).unwrap();
    }

    fn benign_outcome(&mut self, turn: TurnId, node: &NodeId) -> Outcome {
        let (graph, state) = (&self.flow.graph, &self.flow.state);
        let ways = allowed(graph, state, node);
        let tries = state.turns[&turn].repairs;
        if ways.closes {
            return match (missing(state, node).is_empty(), tries) {
                (true, _) => Outcome::ForwardPassClosed { health: Ok(()) },
                (false, 0) => Outcome::AwaitHandoff,
                (false, _) => Outcome::PromptHuman { question: None },
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
        let back = lost && (tries > 0 || state.running[node].entry == Entry::Reopened);
        let targets: Vec<NodeId> = if !owed.is_empty() {
            let missing = !arrived && !owed.iter().any(|to| leads(&to));
            let other = ways.forward.iter().find(leads).filter(|_| missing);
            owed.into_iter().chain(other.cloned()).collect()
        } else if back && !ways.backward.is_empty() {
            ways.backward[..1].to_vec()
        } else {
            on.into_iter().cloned().collect()
        };
        Outcome::Handoff(self.targets(&targets))
    }

    fn benign_answer(&mut self, question: Question) {
        let client = Some(id(&format!("c{}", self.flow.mint())));
        let input = match question {
            Question::Text { node, role, .. } => {
                // Somebody who awaits what will not come is what keeps the flow from closing.
                let closing = self.flow.graph.node_at(self.flow.graph.closing());
                let state = &self.flow.state;
                let mut awaiting = state.awaiting_handoff.iter();
                let awaiting = awaiting.find(|node| !state.replies.contains_key(*node));
                let awaiting = awaiting.cloned();
                let waits = awaiting.filter(|_| node.as_ref() == Some(&closing.id));
                let target = match waits.or(node) {
                    Some(node) => ReplyTarget::Node(node),
                    None => ReplyTarget::Role(role),
                };
                self.flow.reply_input(target)
            }
            Question::Consent { .. } => return self.answer(0, ConsentAnswer::AllowOnce),
            Question::Configuration { role, .. } => Input::ConfigureRole {
                role,
                settings: BTreeMap::new(),
                by: ChosenBy::Operator,
                client,
            },
            Question::Approval { approval, .. } => {
                let approve = Input::Approve {
                    approval: approval.clone(),
                    client: client.clone(),
                };
                if self.say(approve).is_ok() {
                    return;
                }
                Input::Decline { approval, client }
            }
            Question::Improvement { modes } => Input::ChooseImprovement {
                mode: modes[0],
                client,
            },
            Question::Feedback => Input::FeedbackConsent {
                granted: true,
                client,
            },
            Question::Unpause { .. } => Input::Unpause {
                by: Author::Operator,
            },
            Question::Stalled => {
                self.stalls += 1;
                let state = &self.flow.state;
                let node = state.visited.iter().next().cloned().unwrap();
                Input::Reopen { node, note: None }
            }
        };
        let said = self.say(input);
        assert!(said.is_ok(), "{said:?}");
    }
}

/// A flow for somebody who has to find out what went wrong: its graph, its last facts, and what
/// is pending.
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
fn erased(mut work: Vec<Work>) -> Vec<Work> {
    for work in &mut work {
        if let Work::RunTurn { attempt, .. } | Work::StopTurn { attempt, .. } = work {
            *attempt = 0;
        }
    }
    work
}

/// What must be true at every moment.
fn check_now(flow: &Flow) {
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
    let mut unread: BTreeMap<(EdgeName, Way), Vec<String>> = BTreeMap::new();
    let mut passed: BTreeSet<String> = BTreeSet::new();
    let mut replies: BTreeSet<MessageId> = BTreeSet::new();
    let mut handed: BTreeSet<TurnId> = BTreeSet::new();
    for fact in &flow.facts {
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
                let way = (edge.clone(), Way::Forward);
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
    let mut held: BTreeMap<(EdgeName, Way), Vec<String>> = BTreeMap::new();
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
    let queued: BTreeSet<MessageId> = queued(&flow.state);
    assert_eq!(replies, queued, "what was said and not heard is queued");
    if flow.state.phase == Phase::Completed {
        assert_eq!(held, BTreeMap::new(), "nothing unread is left behind");
        assert_eq!(queued, BTreeSet::new(), "nothing unheard is left behind");
    }
}

fn queued(state: &FlowState) -> BTreeSet<MessageId> {
    let nodes = state.replies.values().flatten();
    let roles = state.improvement.iter().flat_map(|improvement| {
        let report = improvement.feedback.work.iter();
        (improvement.roles.values().chain(report)).flat_map(|role| &role.replies)
    });
    nodes.chain(roles).map(|said| said.id.clone()).collect()
}
