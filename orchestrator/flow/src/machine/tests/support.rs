//! A flow on the table: a graph, the facts so far, and what they fold to.

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::budget::{Lack, Measure};
use a_society_facts::fact::chat::{ChatContext, ChatTerms};
use a_society_facts::fact::flow::Ends;
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{ClientId, NodeId, RoleInstance};
use a_society_facts::legal::legal;
use a_society_facts::line::Recorded;
use a_society_facts::message::Text;
use a_society_facts::view::{FactView as _, flow::FlowState};
use a_society_facts::{Verb, Whom};

use crate::graph::{FlowGraph, parse};
use crate::machine::{
    Brought, Claim, Commanded, Create, Input, NewGraph, NewSession, OperatorWords, Product,
    Receiver, Refusal, StartFeedback, StartReflection, TurnEnding, TurnOutcome, VerbNeed, Work,
    decide, pending,
};

/// A flow that has no turn left.
pub(crate) fn lack() -> Lack {
    Lack {
        role: None,
        measure: Measure::Turns,
        wants: 1,
        left: 0,
    }
}

/// Parses a name.
pub(crate) fn id<T>(text: &str) -> T
where
    T: std::str::FromStr,
    T::Err: std::fmt::Debug,
{
    text.parse().unwrap()
}

/// A graph written as `id:role[!][*]` and `a>b[?]`: `!` for human-colab, `*` for await-all-inputs,
/// `?` for optional.
pub(crate) fn graph(nodes: &str, edges: &str) -> FlowGraph {
    use std::fmt::Write as _;
    let mut text = String::from("workflow:\n  name: t\n  nodes:\n");
    for node in nodes.split_whitespace() {
        let (name, rest) = node.split_once(':').unwrap();
        let role = rest.trim_end_matches(['!', '*']);
        let (colab, join) = (rest.contains('!'), rest.contains('*'));
        writeln!(
            text,
            "    - {{ id: {name}, role: {role}, human-colab: {colab}, await-all-inputs: {join} }}"
        )
        .unwrap();
    }
    text.push_str("  edges: [");
    for edge in edges.split_whitespace() {
        let (from, to) = edge.split_once('>').unwrap();
        let optional = to.ends_with('?');
        let to = to.trim_end_matches('?');
        write!(text, "{{ from: {from}, to: {to}, optional: {optional} }},").unwrap();
    }
    text.push_str("]\n");
    let (graph, diagnostics) = parse(&text, "flow.yaml");
    graph.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// An artifact that was kept.
pub(crate) fn kept(path: &str) -> Product {
    Product::Kept(Artifact {
        path: path.to_owned(),
        hash: Hash::of(path.as_bytes()),
        bytes: path.len() as u64,
        text: None,
    })
}

/// What the operator wants.
pub(crate) fn wants(verb: Verb) -> Input {
    named(verb, None)
}

/// What the operator wants, under a name of the client's.
pub(crate) fn named(verb: Verb, client: Option<ClientId>) -> Input {
    bringing(verb, Brought::Nothing, client)
}

/// What the operator wants, with what a driver brings for it.
pub(crate) fn bringing(verb: Verb, brought: Brought, client: Option<ClientId>) -> Input {
    Input::Commanded(Commanded {
        client,
        verb,
        brought,
    })
}

/// The operator wants another graph walked.
pub(crate) fn revised(graph: FlowGraph) -> Input {
    let new = NewGraph {
        graph: Box::new(graph),
        source: Text::default(),
    };
    let source = String::new();
    bringing(Verb::Revise { source }, Brought::Graph(new), None)
}

/// A flow on the table.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) graph: FlowGraph,
    pub(crate) state: FlowState,
    pub(crate) facts: Vec<Fact>,
    pub(crate) minted: u32,
}

impl Flow {
    /// A flow that was just created.
    pub(crate) fn new(graph: FlowGraph) -> Self {
        Self::ending(graph, Ends::default())
    }

    /// A chat with a role, without the wait that follows its birth.
    pub(crate) fn chat(role: &str) -> Self {
        let terms = ChatTerms {
            key: id("0195f2b1-7c3a-7d10-8a11-2f6f3f1c0a55"),
            label: None,
            context: ChatContext::default(),
            max_turns: None,
        };
        let graph = graph(&format!("chat:{role}"), "");
        Self::begun(graph, Ends::default(), Some(Box::new(terms)))
    }

    /// The same, and how it is to end is chosen.
    pub(crate) fn ending(graph: FlowGraph, ends: Ends) -> Self {
        Self::begun(graph, ends, None)
    }

    fn begun(graph: FlowGraph, ends: Ends, chat: Option<Box<ChatTerms>>) -> Self {
        let mut flow = Self {
            graph,
            state: FlowState::default(),
            facts: Vec::new(),
            minted: 0,
        };
        let create = Input::Create(Create {
            project: id("demo"),
            title: "T".into(),
            input: None,
            source: Text::default(),
            origin: None,
            draft: false,
            ends,
            chat,
            client: None,
        });
        flow.say(create).unwrap();
        flow
    }

    /// A flow on a graph written as in [`graph`].
    pub(crate) fn on(nodes: &str, edges: &str) -> Self {
        Self::new(graph(nodes, edges))
    }

    /// Takes one fact, which has to be legal.
    pub(crate) fn append(&mut self, fact: Fact) {
        if let Err(why) = legal(&self.state, &fact) {
            panic!("{why}: {fact:?}\nafter {:#?}", self.facts);
        }
        let seq = self.state.seq + 1;
        let at = At::from_ms(1_779_892_200_000 + i64::try_from(seq).unwrap());
        self.state.apply(&Recorded::new(seq, at, fact.clone()));
        self.facts.push(fact);
    }

    /// Says something to the flow and takes the facts. Words are kept as a driver would.
    pub(crate) fn say(&mut self, mut input: Input) -> Result<Vec<Fact>, Refusal> {
        let mut decided = decide(&self.graph, &self.state, input.clone());
        if let Err(Refusal::Needs(VerbNeed::Words(words))) = &decided
            && let Input::Commanded(commanded) = &mut input
        {
            commanded.brought = Brought::Words(OperatorWords {
                text: words.as_str().into(),
                message: id(&format!("w{}", self.mint())),
            });
            decided = decide(&self.graph, &self.state, input);
        }
        let facts = decided?;
        for fact in &facts {
            self.append(fact.clone());
        }
        Ok(facts)
    }

    /// The words of the facts that follow from an input.
    pub(crate) fn words(&mut self, input: Input) -> String {
        match self.say(input) {
            Ok(facts) => facts.iter().map(Fact::word).collect::<Vec<_>>().join(" "),
            Err(refusal) => format!("refused: {refusal}"),
        }
    }

    pub(crate) fn mint(&mut self) -> u32 {
        self.minted += 1;
        self.minted
    }

    pub(crate) fn session(&self, role: &str) -> Option<NewSession> {
        Some(NewSession {
            key: id(&format!("role:{role}")),
            session: id(&format!("session-{role}")),
        })
    }

    pub(crate) fn pending(&self) -> Vec<Work> {
        pending(&self.graph, &self.state)
    }

    /// The nodes that are offered, in order.
    pub(crate) fn offered(&self) -> String {
        let nodes: Vec<String> = (self.pending().into_iter())
            .filter_map(|work| {
                let Work::Claim { node, entry, .. } = work else {
                    return None;
                };
                Some(format!("{node}:{entry:?}"))
            })
            .collect();
        nodes.join(" ").to_lowercase()
    }

    pub(crate) fn claim_input(&self, node: &str) -> Input {
        let node: NodeId = id(node);
        let role = self.graph.node(&node).map(|n| n.role.to_string());
        Input::Claim(Claim {
            session: role.and_then(|role| self.session(&role)),
            node,
        })
    }

    pub(crate) fn claim(&mut self, node: &str) -> Result<Vec<Fact>, Refusal> {
        self.say(self.claim_input(node))
    }

    /// The open turn of a node.
    pub(crate) fn turn(&self, node: &str) -> (a_society_facts::id::TurnId, u32) {
        let node: NodeId = id(node);
        let mut turns = self.state.turns.iter();
        let found = turns.find(|(_, turn)| turn.node.as_ref() == Some(&node));
        let (turn, open) = found.unwrap_or_else(|| panic!("no turn of {node} is open"));
        (*turn, open.attempt)
    }

    pub(crate) fn outcome_input(&mut self, node: &str, outcome: TurnEnding) -> Input {
        let (turn, attempt) = self.turn(node);
        let approval = Some(id(&format!("a{}", self.mint())));
        Input::Outcome(TurnOutcome {
            turn,
            attempt,
            outcome,
            approval,
        })
    }

    /// The open turn of a node comes to an outcome.
    pub(crate) fn ends(&mut self, node: &str, outcome: TurnEnding) -> String {
        let input = self.outcome_input(node, outcome);
        self.words(input)
    }

    /// The open turn of a node hands over, each target with a new artifact.
    pub(crate) fn hands(&mut self, node: &str, targets: &str) -> String {
        let targets = self.targets(targets);
        self.ends(node, TurnEnding::Handoff(targets))
    }

    pub(crate) fn targets(&mut self, targets: &str) -> Vec<Receiver> {
        (targets.split_whitespace())
            .map(|target| Receiver {
                node: target.to_owned(),
                artifact: kept(&format!("artifact-{}.md", self.mint())),
            })
            .collect()
    }

    /// A node is claimed and hands over at once.
    pub(crate) fn passes(&mut self, node: &str, targets: &str) {
        self.claim(node).unwrap();
        let words = self.hands(node, targets);
        assert_eq!(words, "handoff_applied turn_ended", "{node} to {targets}");
    }

    pub(crate) fn closes(&mut self, node: &str) -> String {
        self.ends(
            node,
            TurnEnding::ForwardPassClosed {
                health: Ok(()),
                asks: None,
            },
        )
    }

    pub(crate) fn reply_input(&mut self, to: Whom) -> Input {
        self.reply_to(to, None)
    }

    /// An answer to what was asked at a time.
    pub(crate) fn reply_to(&mut self, to: Whom, asked: Option<At>) -> Input {
        let number = self.mint();
        let text = "Go on.".to_owned();
        let words = OperatorWords {
            text: text.clone().into(),
            message: id(&format!("m{number}")),
        };
        let client = Some(id(&format!("c{number}")));
        bringing(
            Verb::Reply { to, text, asked },
            Brought::Words(words),
            client,
        )
    }

    pub(crate) fn reply(&mut self, node: &str) -> String {
        let input = self.reply_input(Whom::Node(id(node)));
        self.words(input)
    }

    /// Why a node takes no reply, without asking it.
    pub(crate) fn reply_refused(&self, node: &str) -> String {
        let mut flow = self.clone();
        let words = flow.reply(node);
        words.trim_start_matches("refused: ").to_owned()
    }

    /// The open turn of a role that reflects, or writes the report, comes to an outcome.
    pub(crate) fn role_ends(&mut self, role: &str, outcome: TurnEnding) -> String {
        let role: RoleInstance = id(role);
        let (turn, open) = self.state.main_turn_of(&role).unwrap();
        let attempt = open.attempt;
        self.words(Input::Outcome(TurnOutcome {
            turn,
            attempt,
            outcome,
            approval: None,
        }))
    }

    pub(crate) fn reflects(&mut self, role: &str) -> String {
        let session = self.session(role);
        self.words(Input::StartReflection(StartReflection {
            role: id(role),
            session,
        }))
    }

    pub(crate) fn reports(&mut self, role: &str) -> String {
        let session = self.session(role);
        self.words(Input::StartFeedback(StartFeedback {
            role: id(role),
            session,
        }))
    }

    /// The process ends after so many facts, and another one takes the flow over.
    pub(crate) fn crash_after(&mut self, facts: usize) {
        let kept: Vec<Fact> = self.facts.drain(..).take(facts).collect();
        self.state = FlowState::default();
        for fact in kept {
            self.append(fact);
        }
        self.say(Input::Opened).unwrap();
        self.say(Input::Driven).unwrap();
    }
}
