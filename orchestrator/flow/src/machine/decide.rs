//! The one door: an input comes in, facts or a refusal go out, and nothing else happens.

use a_society_facts::fact::Fact;
use a_society_facts::fact::flow::FlowCreated;
use a_society_facts::fact::improvement::ChangeDecided;
use a_society_facts::id::ClientId;
use a_society_facts::legal::legal;
use a_society_facts::view::FlowState;

use super::input::{Create, Input};
use super::refusal::Refusal;
use super::{claim, consent, improve, opened, operate, reply, revision, stop, suspend};
use crate::graph::FlowGraph;
use crate::machine::outline;

/// What happens because of an input: facts, to be appended in this order, or the reason why
/// nothing does. Every prefix of the facts is legal, so that a crash may cut anywhere between
/// them. A command of a client that counted already leads to no facts and is no error.
///
/// # Errors
/// When the input does not fit the state, with the reason and what would fit.
pub fn decide(graph: &FlowGraph, state: &FlowState, input: Input) -> Result<Vec<Fact>, Refusal> {
    let counted = client(&input).is_some_and(|client| state.clients.get(client).is_some());
    if counted {
        return Ok(Vec::new());
    }
    let facts = dispatch(graph, state, &input)?;
    if let Some(first) = facts.first() {
        // Names that come in may be taken. Everything else was judged above.
        legal(state, first)?;
    }
    Ok(facts)
}

/// The name a client gave its command.
fn client(input: &Input) -> Option<&ClientId> {
    match input {
        Input::Create(create) => create.client.as_ref(),
        Input::Reply(reply) => reply.client.as_ref(),
        Input::Steer(steer) => steer.client.as_ref(),
        Input::ConsentAnswered(answered) => answered.client.as_ref(),
        Input::Approve { client, .. }
        | Input::Decline { client, .. }
        | Input::ConsentMode { client, .. }
        | Input::ConsentRules { client, .. }
        | Input::ConsentRulesBack { client, .. }
        | Input::Stop { client, .. }
        | Input::ConfigureRole { client, .. }
        | Input::SetBudget { client, .. }
        | Input::ChooseImprovement { client, .. }
        | Input::FeedbackConsent { client, .. }
        | Input::DecideChange { client, .. }
        | Input::Pause { client, .. }
        | Input::Unpause { client, .. }
        | Input::Cancel { client, .. }
        | Input::Retry { client, .. }
        | Input::Reopen { client, .. } => client.as_ref(),
        Input::Revise(revise) => revise.client.as_ref(),
        Input::ProposeChange(propose) => propose.client.as_ref(),
        Input::Opened
        | Input::Driven
        | Input::TimeCame(_)
        | Input::Claim(_)
        | Input::StartReflection(_)
        | Input::StartFeedback(_)
        | Input::ApplyEnds
        | Input::ChooseEnds(_)
        | Input::Outcome(_)
        | Input::ConsentAsked(_) => None,
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "one exhaustive match, one call an arm"
)]
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

        Input::Reply(input) => {
            operate::not_over(state)?;
            reply::reply(state, input)
        }
        Input::Steer(input) => {
            operate::not_over(state)?;
            reply::steer(state, input)
        }
        Input::Approve { approval, client } => reply::approve(state, approval, client.as_ref()),
        Input::Decline {
            approval,
            guidance,
            client,
        } => reply::decline(state, approval, (guidance.as_ref(), client.as_ref())),
        Input::ConsentAnswered(input) => consent::answered(state, input),
        Input::ConsentRules { rules, client } => Ok(consent::rules(state, rules, client.as_ref())),
        Input::ConsentRulesBack { rules, client } => {
            consent::rules_back(state, rules, client.as_ref())
        }
        Input::ConsentMode { mode, client } => Ok(consent::mode(state, *mode, client.as_ref())),
        Input::Stop { scope, client } => stop::stop(state, scope, client.as_ref()),

        Input::Pause {
            reason,
            detail,
            client,
        } => {
            operate::not_over(state)?;
            operate::pause(state, *reason, detail.as_ref(), client.as_ref())
        }
        Input::Unpause { by, client } => {
            operate::not_over(state)?;
            operate::unpause(state, by, client.as_ref())
        }
        Input::Cancel { by, why, client } => {
            operate::not_over(state)?;
            Ok(operate::cancel(state, by, why.as_ref(), client.as_ref()))
        }
        Input::Retry { target, client } => {
            operate::not_over(state)?;
            operate::retry(state, target, client.as_ref())
        }
        Input::Reopen { node, note, client } => {
            operate::reopen(graph, state, node, (note.as_ref(), client.as_ref()))
        }
        Input::Revise(input) => revision::revise(graph, state, input),
        Input::ConfigureRole {
            role,
            settings,
            by,
            client,
        } => Ok(operate::configure(
            state,
            role,
            settings,
            *by,
            client.as_ref(),
        )),
        Input::SetBudget {
            role,
            measure,
            limit,
            client,
        } => Ok(operate::set_budget(
            state,
            role.as_ref(),
            *measure,
            *limit,
            client.as_ref(),
        )),
        Input::ChooseImprovement { mode, client } => {
            improve::choose(graph, state, *mode, client.as_ref())
        }
        Input::ProposeChange(input) => improve::propose(state, input),
        Input::DecideChange {
            change,
            applied,
            client,
        } => Ok(vec![Fact::ChangeDecided(ChangeDecided {
            change: change.clone(),
            applied: *applied,
            client: client.clone(),
        })]),
        Input::FeedbackConsent { granted, client } => {
            improve::decide_feedback(state, *granted, client.as_ref())
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
        client: create.client.clone(),
    })])
}
