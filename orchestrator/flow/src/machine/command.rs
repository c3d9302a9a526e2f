//! What the operator wants (rows R1 to R18): the one place that looks at which verb it is.

use a_society_facts::Fact;
use a_society_facts::Verb;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::operator::ChosenBy;
use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::FlowState;

use super::input::{Brought, Commanded, OperatorWords, SessionWish, VerbNeed};
use super::operate::not_over;
use super::refusal::Refusal;
use super::{consent, improve, operate, reply, revision, session, stop};
use crate::graph::FlowGraph;

#[expect(
    clippy::too_many_lines,
    reason = "one exhaustive match, one call an arm"
)]
pub(super) fn commanded(
    graph: &FlowGraph,
    state: &FlowState,
    commanded: &Commanded,
) -> Result<Vec<Fact>, Refusal> {
    let Commanded {
        client,
        verb,
        brought,
    } = commanded;
    let client = client.as_ref();
    if state.is_closed_chat() && verb.row().speaks {
        return Err(Refusal::ChatClosed);
    }
    match verb {
        Verb::Reply { to, text, asked } => {
            not_over(state)?;
            reply::reply(state, to, *asked, SaidWords { text, brought }, client)
        }
        Verb::Steer { role, text, when } => {
            not_over(state)?;
            reply::steer(state, role, *when, SaidWords { text, brought }, client)
        }
        Verb::Approve { approval } => reply::approve(state, approval.as_ref(), client),
        Verb::Decline { approval, reason } => {
            let reason = reason.as_deref().map(|text| SaidWords { text, brought });
            reply::decline(state, approval.as_ref(), reason, client)
        }
        Verb::Allow {
            consent,
            action,
            for_the_flow,
        } => {
            let asked = consent::open(state, consent.as_ref(), *action)?;
            consent::allow(state, asked, *for_the_flow, brought, client)
        }
        Verb::Deny {
            consent,
            action,
            reason,
        } => {
            let asked = consent::open(state, consent.as_ref(), *action)?;
            let reason = reason.as_deref().map(|text| SaidWords { text, brought });
            let reason = spoken(reason)?;
            Ok(consent::deny(state, asked, reason, client))
        }
        Verb::Mode { mode } => Ok(consent::mode(state, *mode, client)),
        Verb::Rules { rules, back: false } => Ok(consent::rules(state, rules, client)),
        Verb::Rules { rules, back: true } => consent::rules_back(state, rules, client),
        Verb::Configure { role, settings } => {
            let by = ChosenBy::Operator;
            Ok(operate::configure(state, role, settings, by, client))
        }
        Verb::Budget {
            role,
            measure,
            limit,
        } => Ok(operate::set_budget(
            state,
            role.as_ref(),
            *measure,
            *limit,
            client,
        )),
        Verb::Stop { scope } => stop::stop(state, scope, client),
        Verb::Pause {} => operate::pause(state, PauseReason::Operator, None, client),
        Verb::Unpause {} => operate::unpause(state, client),
        Verb::Cancel { why } => {
            not_over(state)?;
            Ok(operate::cancel(state, why.as_ref(), client))
        }
        Verb::Retry { to } => {
            not_over(state)?;
            operate::retry(state, to, client)
        }
        Verb::Reopen { node, note } => {
            operate::may_reopen(graph, state, node)?;
            let note = note.as_deref().map(|text| SaidWords { text, brought });
            let note = spoken(note)?;
            Ok(operate::reopened(state, node, note, client))
        }
        Verb::Revise { source } => revision::said(graph, state, source, brought, client),
        Verb::Improve { mode } => {
            improve::choose(graph, state, *mode, improve::ChosenWhen::Now(client))
        }
        Verb::Propose { role, path, text } => {
            improve::propose(state, role, path, text, brought, client)
        }
        Verb::Change { change, applied } => {
            improve::decide_change(state, change.as_ref(), *applied, brought, client)
        }
        Verb::Feedback { granted } => {
            improve::decide_feedback(state, *granted, improve::ChosenWhen::Now(client))
        }
        Verb::Title { title } => operate::title(title),
        Verb::Close { role, force } => session::close(state, role, *force, client),
        Verb::RetryNow { to } => Err(Refusal::Needs(VerbNeed::Hurry(to.clone()))),
        Verb::Compact { role, how } => Err(Refusal::Needs(VerbNeed::Compact(role.clone(), *how))),
        Verb::Open { role } => wants(role, SessionWish::Open),
        Verb::Inject {
            role,
            speaker,
            text,
        } => {
            let (speaker, text) = (*speaker, text.clone());
            wants(role, SessionWish::Inject { speaker, text })
        }
        Verb::Trim { role, keep } => wants(role, SessionWish::Trim { keep: *keep }),
        Verb::Reset { role } => wants(role, SessionWish::Reset),
        Verb::Restore { role, archive } => {
            let archive = archive.clone();
            wants(role, SessionWish::Restore { archive })
        }
    }
}

/// A change of a session needs names of the driver's before it is decided in `session::decide`.
fn wants(role: &RoleInstance, wish: SessionWish) -> Result<Vec<Fact>, Refusal> {
    Err(Refusal::Needs(VerbNeed::Session(role.clone(), wish)))
}

/// Words of a verb, and what the driver brought for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SaidWords<'a> {
    pub(super) text: &'a str,
    pub(super) brought: &'a Brought,
}

impl<'a> SaidWords<'a> {
    /// The words as they are kept, with a name for the message that they become.
    pub(super) fn kept(self) -> Result<&'a OperatorWords, Refusal> {
        if let Brought::Words(words) = self.brought {
            return Ok(words);
        }
        Err(Refusal::Needs(VerbNeed::Words(self.text.to_owned())))
    }
}

/// Words that may be left out. Blank ones say nothing.
pub(super) fn spoken(said: Option<SaidWords<'_>>) -> Result<Option<&OperatorWords>, Refusal> {
    let said = said.filter(|said| !said.text.trim().is_empty());
    said.map(SaidWords::kept).transpose()
}
