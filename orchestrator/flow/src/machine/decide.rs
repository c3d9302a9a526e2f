//! The one door: an input comes in, facts or a refusal go out, and nothing else happens.

use a_society_facts::Fact;
use a_society_facts::fact::flow::{FactAuthor, FlowCreated};
use a_society_facts::legal::legal;
use a_society_facts::view::flow::FlowState;

use super::input::{Create, Input};
use super::refusal::Refusal;
use super::{claim, command, consent, improve, opened, operate, revision, suspend};
use crate::graph::FlowGraph;
use crate::machine::outline;

/// What happens because of an input: facts, to be appended in this order, or the reason why
/// nothing does. Every prefix of the facts is legal, so that a crash may cut anywhere between
/// them. A command of a client that counted already leads to no facts and is no error.
///
/// # Errors
/// When the input does not fit the state, with the reason and what would fit.
pub fn decide(graph: &FlowGraph, state: &FlowState, input: Input) -> Result<Vec<Fact>, Refusal> {
    let counted = |client: &_| state.clients.get(client).is_some();
    if input.client().is_some_and(counted) {
        return Ok(Vec::new());
    }
    let facts = dispatch(graph, state, &input)?;
    if let Some(first) = facts.first() {
        // Names that come in may be taken. Everything else was judged above.
        legal(state, first)?;
    }
    Ok(facts)
}

fn dispatch(graph: &FlowGraph, state: &FlowState, input: &Input) -> Result<Vec<Fact>, Refusal> {
    if !state.is_created() && !matches!(input, Input::Create(_)) {
        return Err(Refusal::NotCreated);
    }
    match input {
        Input::Create(create) => created(graph, state, create),
        Input::Opened => Ok(opened::opened(state)),
        Input::Driven => Ok(opened::driven(state)),
        Input::TimeCame(now) => Ok(operate::time_came(state, *now)),
        Input::Claim(input) => claim::claim(graph, state, input),
        Input::StartReflection(input) => improve::start_reflection(state, input),
        Input::StartFeedback(input) => improve::start_feedback(graph, state, input),
        Input::ApplyEnds => improve::apply_ends(graph, state),
        Input::ChooseEnds(ends) => {
            operate::not_over(state)?;
            Ok(improve::choose_ends(state, *ends))
        }
        Input::Outcome(input) => suspend::outcome(graph, state, input),
        Input::ConsentAsked(input) => consent::asked(state, input),
        Input::Commanded(commanded) => command::commanded(graph, state, commanded),
        Input::RuleAnswered(input) => consent::ruled(state, input),
        Input::Pause { reason, detail } => operate::pause(state, *reason, detail.as_ref(), None),
        Input::ConfigureRole { role, settings, by } => {
            Ok(operate::configure(state, role, settings, *by, None))
        }
        Input::Revise(input) => {
            let by = FactAuthor::Role(input.by.clone());
            revision::revise(graph, state, &input.graph, by, None)
        }
    }
}

fn created(graph: &FlowGraph, state: &FlowState, create: &Create) -> Result<Vec<Fact>, Refusal> {
    if state.is_created() {
        return Err(Refusal::AlreadyCreated);
    }
    Ok(vec![Fact::FlowCreated(FlowCreated {
        ends: create.ends,
        project: create.project.clone(),
        title: create.title.clone(),
        input: create.input.clone(),
        graph: outline(graph, create.source.clone()),
        origin: create.origin.clone(),
        draft: create.draft,
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: create.chat.clone(),
        client: create.client.clone(),
    })])
}
