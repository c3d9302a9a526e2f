//! A call that must not run without consent: what is granted, and asking the operator.

use a_society_base::stop::StopSignal;
use a_society_facts::Fact;
use a_society_facts::Verb;
use a_society_facts::fact::operator::{
    ConsentAnswer, ConsentMode, ConsentRuled, ConsentRules, DecidingRule, Grant,
};
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::Effect;
use a_society_facts::id::{CallId, ConsentId, NodeId, RoleInstance};
use a_society_facts::message::ToolCall;
use a_society_facts::view::flow::CallState;
use a_society_facts::view::flow::FlowState;
use a_society_flow::machine::{Brought, Commanded, ConsentAsked, Input, RuleAnswered};
use a_society_roles::consent::policy::Judged;
use a_society_roles::consent::{ConsentQuestion, Decision, decide};
use a_society_roles::turn::step::{Consent, StepReply};

use super::attempt::{Onward, TurnAttempt};
use super::core::Core;
use super::cut_calls::{self, planned};
use super::errand::ErrandId;
use super::error::DriverError;
use super::pen::FlowPen;
use super::role_source::{KnownCall, RoleAt, RoleSource};

/// The result for a model when the call has changed since the operator saw it.
const CHANGED: &str = "This call did not run: what it would do has changed since the operator \
                       allowed it. Look at the present state, and ask again.";

/// The result for a model when the file of a call has changed since the operator saw it; `None` for a
/// call that names no file.
pub(super) fn changed(arguments: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct PathArgument {
        path: String,
    }
    let written: PathArgument = serde_json::from_str(arguments).ok()?;
    let path = written.path;
    Some(format!(
        "{path} changed while the operator was asked; nothing was done. Read it again."
    ))
}

/// The tool result that a model gets for a call that a rule denied.
fn refused(by: &DecidingRule) -> String {
    format!(
        "This call did not run: a rule of the operator refuses it ({}), and the operator is not asked. Do not \
         do the same another way; choose another path, or ask_operator.",
        by.words(ConsentAnswer::Deny)
    )
}

impl Core {
    /// The operator says beforehand what may be done without asking. What is asked already is answered by
    /// it, too.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn said_beforehand(
        &mut self,
        mode: Option<ConsentMode>,
        rules: ConsentRules,
    ) -> Result<(), DriverError> {
        if !rules.is_empty() {
            self.obey(Verb::Rules { rules, back: false }, None)?;
        }
        if let Some(mode) = mode {
            self.obey(Verb::Mode { mode }, None)?;
        }
        self.answer_by_rules()
    }

    /// What is asked already is answered by the rules, where one of them covers it.
    fn answer_by_rules(&mut self) -> Result<(), DriverError> {
        if !self.state().consents.is_empty() {
            let errand = self.ask_rules(0)?;
            self.run_command_here(errand)?;
        }
        Ok(())
    }

    /// Finds out what the rules say about what is asked already, after so many facts of their command.
    pub(super) fn ask_rules(&mut self, facts: usize) -> Result<ErrandId, DriverError> {
        let open = open_requests(&self.pen);
        let (mut roles, state, _) = self.pen.roles_apart();
        self.send_for_command(StopSignal::default(), move || {
            let judged = open.into_iter().filter_map(|open| {
                let known = KnownCall {
                    terms: open.terms.as_ref(),
                    effect: open.effect,
                };
                let judged = roles.ruled(&state, open.whose(), &open.asked, known)?;
                Some((open.consent, judged))
            });
            let judged: Vec<(ConsentId, Judged)> = judged.collect();
            drop(state);
            Box::new(move |core: &mut Self| {
                let mut facts = facts;
                for (consent, judged) in judged {
                    // The roles that rested go on because of these.
                    if let Some(answered) = by_rule(&core.pen, &consent, judged)? {
                        facts += core.pen.command(Input::RuleAnswered(answered))?;
                    }
                }
                Ok(facts)
            })
        })
    }

    /// Finds out what an answer for the rest of the flow grants, and which other requests that covers. The call is
    /// allowed when that is known; one of which it cannot be found out is allowed this once.
    pub(super) fn ask_grant(
        &mut self,
        consent: ConsentId,
        mut said: Commanded,
    ) -> Result<ErrandId, DriverError> {
        if let Verb::Allow {
            consent: named,
            action,
            ..
        } = &mut said.verb
        {
            // It means this request, whichever are open by then.
            let open = self.state().consents.get(&consent);
            *action = action.or(open.map(|open| open.action));
            *named = Some(consent.clone());
        }
        let open = open_requests(&self.pen);
        let (mut roles, state, _) = self.pen.roles_apart();
        let stop = StopSignal::default();
        self.send_for_command(stop.clone(), move || {
            let (grant, also) = granted_by(roles.as_mut(), &state, &consent, &open, &stop);
            drop(state);
            said.brought = Brought::Grant(grant, also);
            Box::new(move |core: &mut Self| core.pen.command(Input::Commanded(said)))
        })
    }
}

/// Lets a call through, or leaves the turn until the operator has answered.
pub(super) fn consent(
    pen: &mut FlowPen,
    whose: TurnAttempt,
    asked: Consent,
    most: Option<ConsentMode>,
) -> Result<Onward, DriverError> {
    let TurnAttempt { turn, attempt } = whose;
    let Consent { call, ask, before } = asked;
    let state = pen.state();
    let known = state.calls.get(&call);
    let was_allowed = known.is_some_and(|known| known.state == CallState::Allowed);
    let is_denied = matches!(ask.ruled, Some(Judged::Denied(_)));
    if !is_denied && known.is_some_and(|known| known.allowed == Some(ask.action)) {
        return Ok(Onward::GOES_ON);
    }
    // How much the role may do without asking: what the flow may, unless its file narrows that.
    let mode_in = |flow: ConsentMode| most.map_or(flow, |own| own.min(flow));
    let mode = mode_in(state.consent_mode);
    // What is asked even in a flow that never asks stays open when the flow becomes one.
    let at_most = decide(mode_in(ConsentMode::FullAccess), &state.grants, &ask);
    let narrowed = !matches!(at_most, Decision::Allow);
    let request = match decide(mode, &state.grants, &ask) {
        Decision::Allow => return Ok(Onward::GOES_ON),
        Decision::Deny(why) => return Ok(Onward::Go(StepReply::Denied { call, why })),
        Decision::Ruled(answer, by) => {
            let why = refused(&by);
            ruled(pen, &call, &ask, answer, by)?;
            return Ok(match answer {
                ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => Onward::GOES_ON,
                ConsentAnswer::Deny | ConsentAnswer::Withdrawn => {
                    Onward::Go(StepReply::Denied { call, why })
                }
            });
        }
        // Something else was allowed: a file is not what it was.
        Decision::Ask(_) if was_allowed && known.is_some_and(|it| planned(it).0 != before) => {
            let asked =
                known.and_then(|known| cut_calls::asked_call(pen, &known.role, &known.tool_call));
            let why = asked.and_then(|asked| changed(asked.input.get()));
            let why = why.unwrap_or_else(|| CHANGED.to_owned());
            return Ok(Onward::Go(StepReply::Denied { call, why }));
        }
        // Where the folder or the walls are not what they were, as in a flow that was moved, the same call is
        // asked about anew.
        Decision::Ask(request) => request,
    };
    let input = ConsentAsked {
        turn,
        attempt,
        consent: pen.name("q")?,
        call: call.clone(),
        action: request.action,
        shown: pen.flow.keep_text(request.shown)?,
        terms: request.terms,
        narrowed,
        doubt: request.doubt,
        anew: was_allowed,
    };
    pen.command(Input::ConsentAsked(input))?;
    // The turn stays open. An answer continues it, with the call allowed or not.
    Ok(Onward::Leaves)
}

/// Records what a rule decided, so that everybody sees which one it was.
fn ruled(
    pen: &mut FlowPen,
    call: &CallId,
    ask: &ConsentQuestion,
    answer: ConsentAnswer,
    by: DecidingRule,
) -> Result<(), DriverError> {
    let Some(open) = pen.state().calls.get(call) else {
        return Err(DriverError::Gone);
    };
    let turn = pen.state().turns.get(&open.turn);
    let role = open.role.clone();
    pen.append(Fact::ConsentRuled(ConsentRuled {
        call: call.clone(),
        role,
        node: turn.and_then(|turn| turn.node.clone()),
        tool: open.tool.clone(),
        action: ask.action,
        about: open.summary.clone(),
        answer,
        by,
    }))
}

/// The requests that are open, with what is known about each.
fn open_requests(pen: &FlowPen) -> Vec<OpenRequest> {
    let state = pen.state();
    let open = state.consents.iter().filter_map(|(consent, open)| {
        let call = state.calls.get(&open.call)?;
        Some(OpenRequest {
            consent: consent.clone(),
            role: open.role.clone(),
            node: open.node.clone(),
            terms: open.terms.clone(),
            effect: call.effect,
            asked: cut_calls::asked_call(pen, &call.role, &call.tool_call)?,
        })
    });
    open.collect()
}

/// The answer that a rule gives to a request, if it is still open and the rule decides it.
fn by_rule(
    pen: &FlowPen,
    consent: &ConsentId,
    judged: Judged,
) -> Result<Option<RuleAnswered>, DriverError> {
    let Some(action) = pen.state().consents.get(consent).map(|open| open.action) else {
        return Ok(None);
    };
    let (answer, by) = match judged {
        Judged::Allowed(by) => (ConsentAnswer::AllowOnce, by),
        Judged::Denied(by) => (ConsentAnswer::Deny, by),
        Judged::Doubtful(_) => return Ok(None),
    };
    // The reason for the role, so that it goes on.
    let reason = match answer {
        ConsentAnswer::Deny | ConsentAnswer::Withdrawn => {
            Some(pen.keep_words(&format!("the rule {} refuses it.", by.words(answer)))?)
        }
        ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => None,
    };
    Ok(Some(RuleAnswered {
        consent: consent.clone(),
        answer,
        action,
        reason,
        by,
    }))
}

/// A request that is open, with what is known about its call.
#[derive(Debug)]
struct OpenRequest {
    consent: ConsentId,
    role: RoleInstance,
    node: Option<NodeId>,
    terms: Option<ConsentTerms>,
    effect: Effect,
    /// The call, as the model asked for it.
    asked: ToolCall,
}

impl OpenRequest {
    const fn whose(&self) -> RoleAt<'_> {
        RoleAt {
            role: &self.role,
            node: self.node.as_ref(),
        }
    }
}

/// What an answer to one of these requests for the rest of the flow grants.
fn granted_by(
    roles: &mut dyn RoleSource,
    state: &FlowState,
    consent: &ConsentId,
    open: &[OpenRequest],
    stop: &StopSignal,
) -> (Option<Grant>, Vec<ConsentId>) {
    let mut grant_of = |open: &OpenRequest| roles.grant(state, open.whose(), &open.asked, stop);
    let mut meant = open.iter().filter(|open| open.consent == *consent);
    let Some(grant) = meant.next().and_then(&mut grant_of) else {
        return (None, Vec::new());
    };
    let others = open.iter().filter(|open| open.consent != *consent);
    let covered: Vec<&OpenRequest> = others
        .filter(|open| grant_of(open).as_ref() == Some(&grant))
        .collect();
    // Grants do not count for roles that are always asked about.
    let counts = |open: &&&OpenRequest| roles.most(&open.role) != Some(ConsentMode::NoAccess);
    let also = covered.iter().filter(counts);
    let also = also.map(|open| open.consent.clone()).collect();
    (Some(grant), also)
}
