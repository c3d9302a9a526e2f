//! Reflection and the report: who goes when, and what ends it (rows I1 to I9).

use a_society_facts::Fact;
use a_society_facts::fact::flow::{Ends, EndsChosen, FlowCompleted};
use a_society_facts::fact::improvement::{
    ChangeDecided, ChangeProposed, FeedbackDecided, FeedbackRecorded, FeedbackStarted,
    FindingsRecorded, ImprovementChosen, ImprovementMode, Reflection, ReflectionStarted,
};
use a_society_facts::fact::node::FaultCode;
use a_society_facts::fact::operator::ReplyReturned;
use a_society_facts::fact::turn::{Cause, TurnEnd, TurnStarted};
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{
    FlowPhase, Improvement, OperatorMessage, OperatorWait, Reflecting,
};

use super::claim::{names, open_session};
use super::deliver::available;
use super::input::{Brought, NewSession, Product, StartFeedback, StartReflection, VerbNeed};
use super::refusal::Refusal;
use super::turn::{OutcomeFault, PresentTurn, in_phase};
use crate::graph::FlowGraph;

/// Where a role writes its findings: in the shared folder of the flow.
#[must_use]
pub fn findings_path(role: &RoleInstance) -> String {
    format!("record/findings/{role}-findings.md")
}

/// Where the report is written.
#[must_use]
pub fn report_path() -> &'static str {
    "record/feedback.md"
}

/// Which roles reflect, and on whose findings each depends.
#[must_use]
pub fn plan(graph: &FlowGraph, state: &FlowState, mode: ImprovementMode) -> Vec<Reflection> {
    let steps = || graph.improvement_steps(|node| state.visited.contains(&node.id));
    let alone = |role: RoleInstance| Reflection {
        role,
        after: Vec::new(),
    };
    match mode {
        ImprovementMode::None => Vec::new(),
        ImprovementMode::GraphBased => (steps().into_iter())
            .map(|step| Reflection {
                role: step.role,
                after: step.after,
            })
            .collect(),
        ImprovementMode::Parallel => {
            let roles = graph.role_instances();
            let mut others: Vec<Reflection> = (roles.filter(|role| *role != graph.owner()))
                .filter(|role| took_part(graph, state, role))
                .cloned()
                .map(alone)
                .collect();
            let after = others.iter().map(|other| other.role.clone()).collect();
            others.push(Reflection {
                role: graph.owner().clone(),
                after,
            });
            others
        }
    }
}

fn took_part(graph: &FlowGraph, state: &FlowState, role: &RoleInstance) -> bool {
    let visited = |node| state.visited.contains(&graph.node_at(node).id);
    graph.nodes_of(role).iter().copied().any(visited)
}

/// The ways to reflect that make sense for this flow.
pub(super) fn modes(graph: &FlowGraph, state: &FlowState) -> Vec<ImprovementMode> {
    let roles = graph.role_instances();
    let several = roles.filter(|role| took_part(graph, state, role)).count() > 1;
    let parallel = several.then_some(ImprovementMode::Parallel);
    ([ImprovementMode::GraphBased].into_iter())
        .chain(parallel)
        .chain([ImprovementMode::None])
        .collect()
}

/// When the operator chose how a flow ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChosenWhen<'a> {
    /// Before the flow came to it.
    Beforehand,
    /// Now, by a command with this name of its client.
    Now(Option<&'a ClientId>),
}

impl<'a> ChosenWhen<'a> {
    const fn is_beforehand(self) -> bool {
        matches!(self, Self::Beforehand)
    }

    const fn client(self) -> Option<&'a ClientId> {
        match self {
            Self::Beforehand => None,
            Self::Now(client) => client,
        }
    }
}

pub(super) fn choose(
    graph: &FlowGraph,
    state: &FlowState,
    mode: ImprovementMode,
    by: ChosenWhen<'_>,
) -> Result<Vec<Fact>, Refusal> {
    in_phase(state, FlowPhase::ImprovementChoice)?;
    if !modes(graph, state).contains(&mode) {
        return Err(Refusal::OneRole);
    }
    let mut facts = vec![Fact::ImprovementChosen(ImprovementChosen {
        mode,
        plan: plan(graph, state, mode),
        beforehand: by.is_beforehand(),
        client: by.client().cloned(),
    })];
    if mode == ImprovementMode::None {
        facts.extend(completed(state));
    }
    Ok(facts)
}

/// What a flow would ask now, and its ends answer.
#[derive(Debug, Clone, Copy)]
enum ImprovementEnding {
    /// How roles reflect.
    Reflection(ImprovementMode),
    /// Whether a report is written.
    Report(bool),
}

fn ending(graph: &FlowGraph, state: &FlowState) -> Option<ImprovementEnding> {
    match state.phase {
        FlowPhase::ImprovementChoice => {
            // A project cannot know that only one role took part.
            let fits = |mode: &ImprovementMode| modes(graph, state).contains(mode);
            state
                .ends
                .improve
                .filter(fits)
                .map(ImprovementEnding::Reflection)
        }
        FlowPhase::FeedbackConsent => state.ends.feedback.map(ImprovementEnding::Report),
        FlowPhase::Forward
        | FlowPhase::Improving
        | FlowPhase::Feedback
        | FlowPhase::Completed
        | FlowPhase::Cancelled => None,
    }
}

/// Whether what would be asked of the flow's end is chosen already.
pub(super) fn is_end_chosen(graph: &FlowGraph, state: &FlowState) -> bool {
    ending(graph, state).is_some()
}

/// The flow ends as it was chosen.
pub(super) fn apply_ends(graph: &FlowGraph, state: &FlowState) -> Result<Vec<Fact>, Refusal> {
    if state.paused.is_some() {
        return Err(Refusal::Paused);
    }
    match ending(graph, state) {
        Some(ImprovementEnding::Reflection(mode)) => {
            choose(graph, state, mode, ChosenWhen::Beforehand)
        }
        Some(ImprovementEnding::Report(granted)) => {
            decide_feedback(state, granted, ChosenWhen::Beforehand)
        }
        None => Err(Refusal::NotOffered {
            what: "the chosen end".to_owned(),
            why: "nothing is asked that was chosen beforehand",
        }),
    }
}

/// How the flow is to end is chosen; what is chosen already leads to no facts.
pub(super) fn choose_ends(state: &FlowState, ends: Ends) -> Vec<Fact> {
    let is_news = ends.or(state.ends) != state.ends;
    let chosen = is_news.then_some(Fact::EndsChosen(EndsChosen { ends }));
    chosen.into_iter().collect()
}

/// The flow is done; the operator's messages that no role got are given back first.
pub(super) fn completed(state: &FlowState) -> Vec<Fact> {
    let mut facts = returned(state);
    facts.push(Fact::FlowCompleted(FlowCompleted {}));
    facts
}

/// The operator's messages that no role took up, given back.
pub(super) fn returned(state: &FlowState) -> Vec<Fact> {
    let nodes = state.replies.values().flatten();
    let steers = state.steers.values().flatten();
    let give_back = |said: &OperatorMessage| {
        Fact::ReplyReturned(ReplyReturned {
            reply: said.id.clone(),
            why: "the flow ended before it was carried out".to_owned(),
        })
    };
    let reflecting = state.improvement.iter().flat_map(unheard);
    (nodes.chain(steers).chain(reflecting))
        .map(give_back)
        .collect()
}

/// The operator's messages to roles that reflect, not taken up yet.
pub(super) fn unheard(improvement: &Improvement) -> impl Iterator<Item = &OperatorMessage> {
    let report = improvement.feedback.work.iter();
    (improvement.roles.values().chain(report)).flat_map(|role| &role.replies)
}

/// The roles to let reflect now, in the order of the plan, each with whose findings it gets.
pub(super) fn offers(state: &FlowState) -> Vec<&Reflection> {
    let Some(improvement) = &state.improvement else {
        return Vec::new();
    };
    let done = |role: &RoleInstance| {
        let other = improvement.roles.get(role);
        other.is_some_and(|other| other.findings.is_some())
    };
    let ready = |reflection: &&Reflection| match improvement.roles.get(&reflection.role) {
        None => reflection.after.iter().all(done),
        Some(role) => may_go_on(role),
    };
    (improvement.plan.iter().filter(ready))
        .filter(|reflection| state.main_turn_of(&reflection.role).is_none())
        .collect()
}

/// Whether a role without an open turn has something to go on with: an answer of the operator, or
/// that nothing holds it back.
fn may_go_on(role: &Reflecting) -> bool {
    let held = |waiting: &OperatorWait| !waiting.takes_text() || role.replies.is_empty();
    role.findings.is_none() && !role.waiting.as_ref().is_some_and(held)
}

pub(super) fn start_reflection(
    state: &FlowState,
    input: &StartReflection,
) -> Result<Vec<Fact>, Refusal> {
    in_phase(state, FlowPhase::Improving)?;
    if state.paused.is_some() {
        return Err(Refusal::Paused);
    }
    if !offers(state).iter().any(|offer| offer.role == input.role) {
        return Err(Refusal::NotOffered {
            what: input.role.to_string(),
            why: "it has no reflection to begin or to go on with",
        });
    }
    let before = state.reflecting(&input.role);
    begin(
        state,
        &input.role,
        before,
        input.session.as_ref(),
        Cause::Reflection,
    )
}

/// Whether the report is to be begun, or gone on with.
pub(super) fn report_is_offered(state: &FlowState) -> bool {
    let Some(improvement) = &state.improvement else {
        return false;
    };
    let free = |role: &RoleInstance| state.main_turn_of(role).is_none();
    improvement.feedback.role.as_ref().is_none_or(free)
        && improvement.feedback.work.as_ref().is_none_or(may_go_on)
}

pub(super) fn start_feedback(
    graph: &FlowGraph,
    state: &FlowState,
    input: &StartFeedback,
) -> Result<Vec<Fact>, Refusal> {
    in_phase(state, FlowPhase::Feedback)?;
    if state.paused.is_some() {
        return Err(Refusal::Paused);
    }
    let refuse = |why| {
        Err(Refusal::NotOffered {
            what: input.role.to_string(),
            why,
        })
    };
    if !graph.nodes_of(&input.role).is_empty() {
        return refuse("the report is written by a role of its own");
    }
    let feedback = state.improvement.as_ref().map(|i| &i.feedback);
    let other = feedback.and_then(|feedback| feedback.role.as_ref());
    if other.is_some_and(|other| *other != input.role) {
        return refuse("another role writes the report");
    }
    if !report_is_offered(state) {
        return refuse("it has no report to begin or to go on with");
    }
    let before = feedback.and_then(|feedback| feedback.work.as_ref());
    begin(
        state,
        &input.role,
        before,
        input.session.as_ref(),
        Cause::Feedback,
    )
}

fn begin(
    state: &FlowState,
    role: &RoleInstance,
    before: Option<&Reflecting>,
    session: Option<&NewSession>,
    cause: Cause,
) -> Result<Vec<Fact>, Refusal> {
    let unbegun = before.filter(|before| !before.begun);
    let turn = unbegun.map_or(TurnId(state.next_turn), |before| before.turn);
    let replies = before.map_or_else(Vec::new, |before| names(&before.replies));
    let mut facts = Vec::with_capacity(3);
    if unbegun.is_none() {
        facts.push(started(role, turn, replies, cause));
    }
    facts.extend(open_session(state, role, session)?);
    facts.push(Fact::TurnStarted(TurnStarted {
        turn,
        attempt: 1,
        role: role.clone(),
        node: None,
        cause,
    }));
    Ok(facts)
}

fn started(
    role: &RoleInstance,
    turn: TurnId,
    replies: Vec<a_society_facts::id::MessageId>,
    cause: Cause,
) -> Fact {
    let role = role.clone();
    if cause == Cause::Feedback {
        Fact::FeedbackStarted(FeedbackStarted {
            role,
            turn,
            replies,
        })
    } else {
        Fact::ReflectionStarted(ReflectionStarted {
            role,
            turn,
            replies,
        })
    }
}

/// The findings of a reflection count only at their assigned path.
pub(super) fn findings(turn: &PresentTurn<'_>, product: &Product) -> Result<Vec<Fact>, Refusal> {
    match at_path(product, &findings_path(turn.role)) {
        Err(fault) => turn.repair(fault),
        Ok(findings) => Ok(vec![
            Fact::FindingsRecorded(FindingsRecorded {
                role: turn.role.clone(),
                turn: turn.id,
                findings: findings.clone(),
            }),
            turn.ended(TurnEnd::Outcome, None),
        ]),
    }
}

/// The report ends the flow.
pub(super) fn report(
    state: &FlowState,
    turn: &PresentTurn<'_>,
    product: &Product,
) -> Result<Vec<Fact>, Refusal> {
    let report = match at_path(product, report_path()) {
        Err(fault) => return turn.repair(fault),
        Ok(report) => report.clone(),
    };
    let mut facts = vec![
        Fact::FeedbackRecorded(FeedbackRecorded {
            turn: turn.id,
            report,
        }),
        turn.ended(TurnEnd::Outcome, None),
    ];
    facts.extend(completed(state));
    Ok(facts)
}

fn at_path<'p>(product: &'p Product, assigned: &str) -> Result<&'p Artifact, OutcomeFault> {
    let path = match product {
        Product::Kept(artifact) => &artifact.path,
        Product::Unavailable { path, .. } => path,
    };
    if path != assigned {
        let summary = format!("write it to `{assigned}` and name that path");
        return Err(OutcomeFault::new(FaultCode::WrongPath, summary));
    }
    available(product)
}

pub(super) fn decide_feedback(
    state: &FlowState,
    granted: bool,
    by: ChosenWhen<'_>,
) -> Result<Vec<Fact>, Refusal> {
    in_phase(state, FlowPhase::FeedbackConsent)?;
    let mut facts = vec![Fact::FeedbackDecided(FeedbackDecided {
        granted,
        beforehand: by.is_beforehand(),
        client: by.client().cloned(),
    })];
    if !granted {
        facts.extend(completed(state));
    }
    Ok(facts)
}

/// A change is proposed from what a role found, or from the report.
pub(super) fn propose(
    state: &FlowState,
    role: &RoleInstance,
    path: &str,
    text: &str,
    brought: &Brought,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let finding = state.improvement.as_ref().and_then(|improvement| {
        let feedback = &improvement.feedback;
        let report = feedback.work.as_ref();
        let report = report.filter(|_| feedback.role.as_ref() == Some(role));
        let work = improvement.roles.get(role).or(report)?;
        work.findings.as_ref().map(|_| work.seq)
    });
    let Some(finding) = finding else {
        return Err(Refusal::NoFindings { role: role.clone() });
    };
    let Brought::Proposal(proposal) = brought else {
        let (path, text) = (path.to_owned(), text.to_owned());
        return Err(Refusal::Needs(VerbNeed::Proposal { path, text }));
    };
    Ok(vec![Fact::ChangeProposed(ChangeProposed {
        change: proposal.change.clone(),
        role: role.clone(),
        path: proposal.path.clone(),
        before: proposal.before,
        after: proposal.after.clone(),
        finding,
        client: client.cloned(),
    })])
}

/// Decides about a proposal: the one that is named, or the only one. The file of one that is applied is written first.
pub(super) fn decide_change(
    state: &FlowState,
    named: Option<&String>,
    applied: bool,
    brought: &Brought,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let open = state.changes.iter();
    let mut open = open.filter(|(_, change)| change.applied.is_none());
    let change = match named {
        Some(named) => {
            let unknown = || Refusal::UnknownChange(named.clone());
            let found = open.find(|(name, _)| *name == named);
            found.map(|(name, _)| name).ok_or_else(unknown)?
        }
        None => match (open.next(), open.next()) {
            (Some((only, _)), None) => only,
            (None, _) => return Err(Refusal::NothingProposed),
            (Some((first, _)), Some((second, _))) => {
                let more = open.map(|(name, _)| name);
                let open = [first, second].into_iter().chain(more).cloned().collect();
                return Err(Refusal::ManyProposed { open });
            }
        },
    };
    if applied && !matches!(brought, Brought::Written) {
        return Err(Refusal::Needs(VerbNeed::Written(change.clone())));
    }
    Ok(vec![Fact::ChangeDecided(ChangeDecided {
        change: change.clone(),
        applied,
        client: client.cloned(),
    })])
}
