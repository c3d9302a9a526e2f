//! The machine alone, on large graphs.

use std::fmt::Write;
use std::time::{Duration, Instant};

use a_society_facts::fact::turn::{ModelAnswered, ModelRequested, StopReason, Usage};
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, Text};
use a_society_facts::view::{FactView as _, flow::FlowState};
use a_society_facts::{At, Fact, Hash, Recorded};
use a_society_orchestrator::graph::{FlowGraph, parse};
use a_society_orchestrator::machine::{
    Claim, Create, Input, NewSession, Product, Receiver, TurnEnding, TurnOutcome, Work, decide,
    pending,
};

use crate::flows::{chain, fan};
use crate::run::{Bench, line, median};

struct Table {
    graph: FlowGraph,
    state: FlowState,
    made: u32,
    /// What each input took, with the facts that followed from it and the look for work after it.
    times: Vec<Duration>,
}

impl Table {
    fn new(source: &str) -> Self {
        let (graph, faults) = parse(source, "flow.yaml");
        let graph = graph.unwrap_or_else(|| panic!("{faults:?}"));
        let mut table = Self {
            graph,
            state: FlowState::default(),
            made: 0,
            times: Vec::new(),
        };
        table.say(Input::Create(Create {
            project: "bench".parse().unwrap(),
            title: "Large".into(),
            input: None,
            source: Text::default(),
            origin: None,
            draft: false,
            ends: a_society_facts::fact::flow::Ends::default(),
            chat: None,
            client: None,
        }));
        table.times.clear();
        table
    }

    fn apply(&mut self, fact: Fact) {
        let seq = self.state.seq + 1;
        self.state
            .apply(&Recorded::new(seq, At::from_ms(1_795_246_169_123), fact));
    }

    fn say(&mut self, input: Input) -> Vec<Work> {
        let started = Instant::now();
        for fact in decide(&self.graph, &self.state, input).unwrap() {
            self.apply(fact);
        }
        let work = pending(&self.graph, &self.state);
        self.times.push(started.elapsed());
        work
    }

    /// The turn of a claimed node is asked and answers, which are facts and no inputs.
    fn answers(&mut self, node: &NodeId, role: &RoleInstance) -> (TurnId, u32) {
        let turns = self.state.turns.iter();
        let mut ours = turns.filter(|(_, open)| open.node.as_ref() == Some(node));
        let (turn, attempt) = ours
            .next()
            .map(|(turn, open)| (*turn, open.attempt))
            .unwrap();
        self.apply(Fact::ModelRequested(ModelRequested {
            turn,
            attempt,
            role: role.clone(),
            request: 1,
            model: "none".into(),
            hash: Hash::of(b""),
            frame: None,
        }));
        self.apply(Fact::ModelAnswered(ModelAnswered {
            turn,
            attempt,
            role: role.clone(),
            request: 1,
            message: format!("m{}", turn.0).parse().unwrap(),
            text: AnswerText::Inline(String::new()),
            calls: Vec::new(),
            stop: StopReason::End,
            usage: Usage::default(),
            provider_blocks: None,
            report: None,
        }));
        (turn, attempt)
    }

    fn targets(&mut self, node: &NodeId) -> Vec<Receiver> {
        let leaving = self.state.graph.leaving(node);
        let next: Vec<NodeId> = leaving.map(|edge| edge.edge.to.clone()).collect();
        next.into_iter()
            .map(|node| {
                self.made += 1;
                Receiver {
                    node: node.to_string(),
                    artifact: Product::Kept(Artifact {
                        path: format!("artifact-{}.md", self.made),
                        hash: Hash::of(b""),
                        bytes: 0,
                        text: None,
                    }),
                }
            })
            .collect()
    }

    /// Takes whatever is offered first, until nothing is or so many nodes were taken.
    fn walk(&mut self, nodes: usize) {
        let mut work = pending(&self.graph, &self.state);
        for _ in 0..nodes {
            let claim = work.iter().find_map(|work| {
                let Work::Claim { node, role, .. } = work else {
                    return None;
                };
                Some((node.clone(), role.clone()))
            });
            let Some((node, role)) = claim else { return };
            let session = Some(NewSession {
                key: format!("role:{role}").parse().unwrap(),
                session: format!("session-{role}").parse().unwrap(),
            });
            let claimed = node.clone();
            self.say(Input::Claim(Claim {
                node: claimed,
                session,
            }));
            let (turn, attempt) = self.answers(&node, &role);
            let targets = self.targets(&node);
            let outcome = if targets.is_empty() {
                TurnEnding::ForwardPassClosed {
                    health: Ok(()),
                    asks: None,
                }
            } else {
                TurnEnding::Handoff(targets)
            };
            work = self.say(Input::Outcome(TurnOutcome {
                turn,
                attempt,
                outcome,
                approval: None,
            }));
        }
    }
}

/// So many stages of so many nodes beside one another, of as many role instances.
fn stages(stages: usize, wide: usize) -> String {
    let mut text = String::from("workflow:\n  name: Stages\n  nodes:\n");
    text.push_str("    - { id: begin, role: owner }\n");
    let (mut edges, mut names) = (String::new(), Vec::new());
    for stage in 0..stages {
        for column in 0..wide {
            let name = format!("n{stage}-{column}");
            writeln!(text, "    - {{ id: {name}, role: writer_{} }}", column + 2).unwrap();
            let from = if stage == 0 {
                "begin".to_owned()
            } else {
                format!("n{}-{column}", stage - 1)
            };
            writeln!(edges, "    - {{ from: {from}, to: {name} }}").unwrap();
            if stage + 1 == stages {
                names.push(name);
            }
        }
    }
    text.push_str("    - { id: end, role: owner, await-all-inputs: true }\n  edges:\n");
    text.push_str(&edges);
    for name in names {
        writeln!(text, "    - {{ from: {name}, to: end }}").unwrap();
    }
    text
}

/// `decide`, `apply` and `pending` for every input of whole walks.
pub(crate) fn ten_thousand_nodes(bench: &Bench) {
    let count = bench.either(10_000, 1000);
    let wide = count / 100;
    for (name, source, wanted) in [
        ("a chain", chain(count), "≤ 50 µs"),
        ("stages of 100 nodes", stages(wide, 100), "≤ 50 µs"),
        (
            "one node to all others and back to one",
            fan(count - 2),
            "not asked for",
        ),
    ] {
        let source = source.split("roles:").next().unwrap_or_default().to_owned();
        let mut table = Table::new(&source);
        table.walk(count);
        let total: Duration = table.times.iter().sum();
        let mean = total / u32::try_from(table.times.len()).unwrap();
        let measured = format!(
            "{:.1?} median, {mean:.1?} mean, over {} inputs",
            median(table.times.clone()),
            table.times.len()
        );
        let figure = format!("decide + apply + pending an input, {count} nodes: {name}");
        line(&figure, wanted, &measured);
    }
}
