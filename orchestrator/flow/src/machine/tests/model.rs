//! Every interleaving of small flows: all graphs of a few nodes, all orders of claims, outcomes and
//! answers, one handoff back, and a crash after every fact.
//!
//! Two states are the same when they differ only in numbers, times and the names of artifacts. In
//! every state that is reached the invariants hold, and from every state the end can be reached.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use a_society_facts::Fact;
use a_society_facts::handoff::HandoffWay;
use a_society_facts::id::{NodeId, TurnId};
use a_society_facts::view::flow::FlowPhase;
use a_society_facts::view::flow::FlowState;
use a_society_facts::{Verb, Whom};

use super::oracle::{check_now, story};
use super::support::{Flow, id, named, wants};
use crate::graph::{FlowGraph, GraphNode, build};
use crate::machine::{Input, OperatorQuestion, TurnEnding, TurnOutcome, Work, allowed, decide};

/// What is still allowed to happen on the way from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Left {
    back: bool,
    crash: bool,
    /// Whether roles ask the operator at any time, and not only when they can do nothing else, and
    /// whether the operator speaks at any time, and not only when the flow rests.
    asks: bool,
}

#[derive(Debug, Clone)]
struct Point {
    flow: Flow,
    left: Left,
}

/// A state without what may differ between two that are the same.
fn key(point: &Point) -> String {
    use std::fmt::Write as _;
    let state = &point.flow.state;
    let mut key = format!("{:?} {:?}", point.left, state.phase);
    for (node, running) in &state.running {
        let open = state.turns.contains_key(&running.turn);
        write!(key, "|r{node}{}{open}", running.begun).unwrap();
    }
    for (node, waiting) in &state.awaiting_operator {
        write!(key, "|w{node}{:?}", waiting.reason).unwrap();
    }
    let mut received: Vec<String> = (state.received.iter())
        .map(|d| format!("{}{:?}", d.edge, d.way))
        .collect();
    // All deliveries at the same end of an edge are read together, so two are as good as one.
    received.sort_unstable();
    received.dedup();
    let staged: Vec<_> = (state.staged.values())
        .map(|s| {
            (
                &s.node,
                s.deliveries
                    .iter()
                    .map(|d| d.receiver())
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    let turns: Vec<_> = (state.turns.values())
        .map(|turn| (&turn.node, &turn.role, turn.stop, turn.repairs))
        .collect();
    write!(
        key,
        "|{received:?}|{staged:?}|{turns:?}|{:?}|{:?}|{:?}|{:?}|{:?}",
        state.visited,
        state.awaiting_handoff,
        state.wanted,
        state.replies.keys().collect::<Vec<_>>(),
        state.completed_edges,
    )
    .unwrap();
    key
}

/// Every subset of some nodes.
fn subsets(nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    (0..1_u32 << nodes.len())
        .map(|mask| {
            let chosen = nodes.iter().enumerate();
            let chosen = chosen.filter(|(place, _)| mask & (1 << place) != 0);
            chosen.map(|(_, node)| node.clone()).collect()
        })
        .collect()
}

/// Every possible next input.
fn inputs(point: &mut Point) -> Vec<Input> {
    let mut inputs = Vec::new();
    for work in point.flow.pending() {
        match work {
            Work::Claim { node, .. } => inputs.push(point.flow.claim_input(node.as_str())),
            Work::RunTurn {
                turn,
                attempt,
                task: crate::machine::TurnTask::Node(node),
                ..
            } => {
                let before = inputs.len();
                for outcome in outcomes(point, &node) {
                    let input = outcome_input(&mut point.flow, turn, attempt, outcome);
                    inputs.extend(goes_through(&point.flow, &input).then_some(input));
                }
                if point.left.asks || inputs.len() == before {
                    let asks = TurnEnding::asks();
                    inputs.push(outcome_input(&mut point.flow, turn, attempt, asks));
                }
            }
            Work::StopTurn { turn, attempt, .. } => {
                let stopped = TurnEnding::Stopped;
                inputs.push(outcome_input(&mut point.flow, turn, attempt, stopped));
            }
            Work::AskOperator(OperatorQuestion::Approval { approval, .. }) => {
                let client = None;
                inputs.push(named(
                    Verb::Approve {
                        approval: Some(approval.clone()),
                    },
                    client.clone(),
                ));
                inputs.push(named(
                    Verb::Decline {
                        approval: Some(approval),
                        reason: None,
                    },
                    client,
                ));
            }
            Work::WaitUntil { at, .. } => inputs.push(Input::TimeCame(at)),
            Work::RunTurn { .. }
            | Work::StartReflection { .. }
            | Work::StartFeedback { .. }
            | Work::ApplyEnds
            | Work::AskOperator(_) => {}
        }
    }
    let rests = |work: &Work| matches!(work, Work::AskOperator(_));
    let at_rest = point.flow.pending().iter().all(rests);
    let state = &point.flow.state;
    if at_rest || point.left.asks {
        let waits = (state.awaiting_operator.keys()).chain(&state.awaiting_handoff);
        let quiet = waits.filter(|node| !state.replies.contains_key(*node));
        for node in quiet.cloned().collect::<Vec<_>>() {
            let target = Whom::Node(node);
            inputs.push(point.flow.reply_input(target));
        }
    }
    if at_rest {
        // A flow at rest that only its operator can help may have a node run again.
        for node in point.flow.state.visited.clone() {
            inputs.push(wants(Verb::Reopen { node, note: None }));
        }
    }
    inputs
}

/// Whether an outcome is accepted. That the others are mended, and how often, is shown elsewhere.
fn goes_through(flow: &Flow, input: &Input) -> bool {
    let repair = |fact: &Fact| fact.word() == "repair_requested";
    let facts = decide(&flow.graph, &flow.state, input.clone());
    facts.is_ok_and(|facts| !facts.iter().any(repair))
}

fn outcome_input(flow: &mut Flow, turn: TurnId, attempt: u32, outcome: TurnEnding) -> Input {
    Input::Outcome(TurnOutcome {
        turn,
        attempt,
        outcome,
        approval: Some(id(&format!("a{}", flow.mint()))),
    })
}

fn outcomes(point: &mut Point, node: &NodeId) -> Vec<TurnEnding> {
    let ways = allowed(&point.flow.graph, &point.flow.state, node);
    let mut outcomes = vec![
        TurnEnding::AwaitHandoff,
        TurnEnding::ForwardPassClosed {
            health: Ok(()),
            asks: None,
        },
    ];
    let back: Vec<Vec<NodeId>> = if point.left.back {
        let one = |to: &NodeId| vec![to.clone()];
        [Vec::new()]
            .into_iter()
            .chain(ways.backward.iter().map(one))
            .collect()
    } else {
        vec![Vec::new()]
    };
    for forward in subsets(&ways.forward) {
        for back in &back {
            let names: Vec<String> = forward.iter().chain(back).map(NodeId::to_string).collect();
            let targets = point.flow.targets(&names.join(" "));
            outcomes.push(TurnEnding::Handoff(targets));
        }
    }
    outcomes
}

/// Where an input leads: after all of its facts, and after a crash that kept only some of them.
fn steps(point: &Point, input: Input) -> Vec<Point> {
    let mut after = point.clone();
    let Ok(facts) = after.flow.say(input) else {
        return Vec::new();
    };
    conserved(&point.flow.state, &facts, &after.flow.state);
    let backward = |fact: &Fact| {
        let Fact::HandoffApplied(f) = fact else {
            return false;
        };
        f.deliveries.iter().any(|d| d.way == HandoffWay::Backward)
    };
    after.left.back &= !facts.iter().any(backward);
    let mut points = Vec::new();
    if point.left.crash {
        for kept in 0..=facts.len() {
            let mut crashed = point.clone();
            for fact in &facts[..kept] {
                crashed.flow.append(fact.clone());
            }
            crashed.flow.say(Input::Opened).unwrap();
            crashed.flow.say(Input::Driven).unwrap();
            crashed.left.crash = false;
            crashed.left.back &= !crashed.flow.facts[point.flow.facts.len()..]
                .iter()
                .any(backward);
            points.push(crashed);
        }
    }
    points.push(after);
    points
}

/// The deliveries that waited at their receivers before, and those that were sent, were read or
/// dropped, or wait there now.
fn conserved(before: &FlowState, facts: &[Fact], after: &FlowState) {
    let mut lies: Vec<_> = before.received.clone();
    for fact in facts {
        if let Fact::HandoffApplied(f) = fact {
            lies.extend(f.deliveries.iter().cloned());
        }
        if let Fact::NodeClaimed(f) = fact {
            for inbound in &f.consumed {
                let held = lies.len();
                lies.retain(|d| d.edge != inbound.edge || d.way != inbound.way);
                assert!(lies.len() < held, "something was read that was not sent");
            }
            lies.retain(|d| d.way == HandoffWay::Backward || !f.dropped.contains(&d.edge));
        }
    }
    assert_eq!(lies, after.received);
}

/// A walk through all states of one graph.
#[derive(Debug, Default)]
struct Walk {
    known: BTreeMap<String, usize>,
    /// For each state, the ones it is reached from; the first of them first.
    before: Vec<Vec<usize>>,
    /// For each state, the words of the facts that first led to it.
    words: Vec<String>,
    open: VecDeque<(usize, Point)>,
}

impl Walk {
    /// A state is met; one that is new is walked on from later.
    fn meet(&mut self, from: Option<usize>, mut point: Point) {
        let next = self.known.len();
        let number = *self.known.entry(key(&point)).or_insert(next);
        if number < next {
            self.before[number].extend(from);
            return;
        }
        let facts = std::mem::take(&mut point.flow.facts);
        let words: Vec<String> = facts.iter().map(brief).collect();
        self.before.push(from.into_iter().collect());
        self.words.push(words.join(", "));
        self.open.push_back((number, point));
    }

    /// How a state is reached, step by step.
    fn way(&self, mut number: usize) -> String {
        let mut steps = Vec::new();
        loop {
            steps.push(self.words[number].clone());
            match self.before[number].first() {
                Some(before) => number = *before,
                None => break,
            }
        }
        steps.reverse();
        steps.join("\n")
    }
}

/// A fact in a few words.
fn brief(fact: &Fact) -> String {
    let mut payload = Vec::new();
    fact.write_payload(&mut payload).unwrap();
    let payload = String::from_utf8(payload).unwrap();
    format!(
        "{} {}",
        fact.word(),
        payload.chars().take(120).collect::<String>()
    )
}

/// Walks everything that can happen on a graph, and gives how many states there are.
fn explore(graph: FlowGraph, left: Left) -> usize {
    let mut walk = Walk::default();
    let mut ends: VecDeque<usize> = VecDeque::new();
    let flow = Flow::new(graph);
    walk.meet(None, Point { flow, left });
    while let Some((number, mut point)) = walk.open.pop_front() {
        check_now(&point.flow);
        let stalled = Work::AskOperator(OperatorQuestion::Stalled);
        let stuck = point.flow.pending().contains(&stalled);
        assert!(!stuck, "{}\n{}", walk.way(number), story(&point.flow));
        if point.flow.state.phase != FlowPhase::Forward {
            ends.push_back(number);
            continue;
        }
        for input in inputs(&mut point) {
            for next in steps(&point, input) {
                walk.meet(Some(number), next);
            }
        }
    }
    let mut reaches: BTreeSet<usize> = ends.iter().copied().collect();
    while let Some(number) = ends.pop_front() {
        for earlier in &walk.before[number] {
            if reaches.insert(*earlier) {
                ends.push_back(*earlier);
            }
        }
    }
    let lost = (0..walk.known.len()).find(|number| !reaches.contains(number));
    if let Some(lost) = lost {
        panic!("no way leads to the end from here:\n{}", walk.way(lost));
    }
    walk.known.len()
}

/// Every sound graph of so many nodes over two role instances: which edges there are, which of them
/// are optional, which role each inner node has, and which nodes join or are gated.
fn graphs(count: usize, optional: bool, flags: bool) -> Vec<FlowGraph> {
    let pairs: Vec<(usize, usize)> = (0..count)
        .flat_map(|from| (from + 1..count).map(move |to| (from, to)))
        .collect();
    let kinds: u32 = if optional { 3 } else { 2 };
    let inner = count.saturating_sub(2);
    let mut graphs = Vec::new();
    for edges in 0..kinds.pow(u32::try_from(pairs.len()).unwrap()) {
        let kind = |place: usize| edges / kinds.pow(u32::try_from(place).unwrap()) % kinds;
        let names: Vec<(String, String, bool)> = (pairs.iter().enumerate())
            .filter(|(place, _)| kind(*place) > 0)
            .map(|(place, (from, to))| (format!("n{from}"), format!("n{to}"), kind(place) > 1))
            .collect();
        let named: Vec<_> = (names.iter())
            .map(|(from, to, optional)| (from.as_str(), to.as_str(), *optional))
            .collect();
        for roles in 0..1_u32 << inner {
            for flag in 0..if flags { 3 } else { 1 } {
                let node = |place: usize| {
                    let other = (1..count.saturating_sub(1)).contains(&place)
                        && roles & (1 << (place - 1)) != 0;
                    GraphNode {
                        await_all_inputs: Some(flag == 1),
                        human_colab: Some(flag == 2 && place == 1),
                        ..GraphNode::new(
                            id(&format!("n{place}")),
                            id(if other { "writer" } else { "owner" }),
                        )
                    }
                };
                graphs.extend(build("t", None, (0..count).map(node).collect(), &named).ok());
            }
        }
    }
    graphs
}

fn full() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests may ask how long they may take"
    )]
    std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1")
}

/// All graphs in an order that is another with each commit: the gate makes the number from it.
/// Neighbours in the list are alike, and some shapes have a thousand times the states of others; so what
/// comes first here is no stretch of the list and no step through it.
fn mixed(mut graphs: Vec<FlowGraph>) -> Vec<FlowGraph> {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests may ask which part of the whole is theirs"
    )]
    let seed = std::env::var("A_SOCIETY_TEST_SEED").ok();
    let mut random: u64 = seed.and_then(|seed| seed.parse().ok()).unwrap_or(0);
    for last in (1..graphs.len()).rev() {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let other = (random >> 33) % (last as u64 + 1);
        graphs.swap(last, usize::try_from(other).unwrap());
    }
    graphs
}

/// Walks through these graphs until it has seen so many states, and gives how many it saw.
fn explore_until(states_wanted: usize, graphs: Vec<FlowGraph>, left: Left) -> usize {
    let mut states = 0;
    for graph in mixed(graphs) {
        states += explore(graph, left);
        if states >= states_wanted {
            break;
        }
    }
    states
}

/// Walks through all of these graphs, and gives how many states they have.
fn explore_all(graphs: Vec<FlowGraph>, left: Left) -> usize {
    graphs.into_iter().map(|graph| explore(graph, left)).sum()
}

const CALM: Left = Left {
    back: true,
    crash: false,
    asks: false,
};

#[test]
fn every_interleaving_of_one_or_two_nodes_can_come_to_its_end() {
    let graphs: Vec<_> = (1..=2)
        .flat_map(|count| graphs(count, true, true))
        .collect();
    let left = Left {
        crash: true,
        asks: true,
        ..CALM
    };
    let states = explore_all(graphs, left);
    assert!(states > 2_000, "{states} states");
}

#[test]
fn every_interleaving_of_three_nodes_can_come_to_its_end() {
    let graphs = graphs(3, true, true);
    if full() {
        let crash = Left {
            crash: true,
            ..CALM
        };
        explore_all(graphs.clone(), crash);
        explore_all(graphs, Left { asks: true, ..CALM });
    } else {
        let states = explore_until(10_000, graphs, CALM);
        assert!(states >= 10_000, "{states} states");
    }
}

#[test]
fn every_interleaving_of_four_nodes_can_come_to_its_end() {
    let graphs = graphs(4, false, false);
    let wanted = if full() { usize::MAX } else { 2_000 };
    let states = explore_until(wanted, graphs, CALM);
    assert!(states >= 2_000, "{states} states");
}
