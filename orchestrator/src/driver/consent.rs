//! A call that must not run without consent: what is granted, and asking the operator.

use a_society_facts::Verb;
use a_society_facts::fact::Fact;
use a_society_facts::fact::operator::{
    ConsentAnswer, ConsentMode, ConsentRuled, ConsentRules, DecidingRule, Grant,
};
use a_society_facts::id::{CallId, ConsentId, TurnId};
use a_society_facts::view::flow::CallState;
use a_society_flow::machine::{ConsentAsked, Input, RuleAnswered};
use a_society_roles::consent::policy::Judged;
use a_society_roles::consent::{Ask, Decision, decide};
use a_society_roles::turn::step::{Consent, Told};

use super::core::Core;
use super::error::DriverError;
use super::step::Heard;
use crate::mint;

/// The result for a model when the call has changed since the operator saw it.
const CHANGED: &str = "This call did not run: what it would do has changed since the operator \
                       allowed it. Look at the present state, and ask again.";

/// The result for a model when the file of a call has changed since the operator saw it; `None` for a
/// call that names no file.
pub(super) fn changed(arguments: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Written {
        path: String,
    }
    let written: Written = serde_json::from_str(arguments).ok()?;
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
    /// Lets a call through, or leaves the turn until the operator has answered.
    pub(super) fn consent(
        &mut self,
        turn: TurnId,
        attempt: u32,
        asked: Consent,
    ) -> Result<Heard, DriverError> {
        let Consent { call, ask } = asked;
        let go_on = Heard::Go(Told::Done { call: None });
        let state = self.state();
        let known = state.calls.get(&call);
        let was_allowed = known.is_some_and(|known| known.state == CallState::Allowed);
        let is_denied = matches!(ask.ruled, Some(Judged::Denied(_)));
        if !is_denied && known.is_some_and(|known| known.allowed == Some(ask.action)) {
            return Ok(go_on);
        }
        let mode = self.mode_of(turn, state.consent_mode);
        // What is asked even in a flow that never asks stays open when the flow becomes one.
        let most = decide(
            self.mode_of(turn, ConsentMode::FullAccess),
            &state.grants,
            &ask,
        );
        let narrowed = !matches!(most, Decision::Allow);
        let request = match decide(mode, &state.grants, &ask) {
            Decision::Allow => return Ok(go_on),
            Decision::Deny(why) => return Ok(Heard::Go(Told::Denied { call, why })),
            Decision::Ruled(answer, by) => {
                let why = refused(&by);
                self.ruled(&call, &ask, answer, by)?;
                return Ok(match answer {
                    ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => go_on,
                    ConsentAnswer::Deny | ConsentAnswer::Withdrawn => {
                        Heard::Go(Told::Denied { call, why })
                    }
                });
            }
            // Something else was allowed: the folder, the walls or the file are not what they were.
            Decision::Ask(_) if was_allowed => {
                let asked = known.and_then(|known| self.asked_call(&known.role, &known.tool_call));
                let why = asked.and_then(|asked| changed(asked.input.get()));
                let why = why.unwrap_or_else(|| CHANGED.to_owned());
                return Ok(Heard::Go(Told::Denied { call, why }));
            }
            Decision::Ask(request) => request,
        };
        let input = ConsentAsked {
            turn,
            attempt,
            consent: mint::name(self.mint.as_mut(), "q")?,
            call,
            action: request.action,
            shown: self.flow.keep_text(request.shown)?,
            terms: request.terms,
            narrowed,
            doubt: request.doubt,
        };
        self.command(Input::ConsentAsked(input))?;
        // The turn stays open. An answer continues it, with the call allowed or not.
        self.leave(turn);
        Ok(Heard::Over)
    }

    /// Records what a rule decided, so that everybody sees which one it was.
    fn ruled(
        &mut self,
        call: &CallId,
        ask: &Ask,
        answer: ConsentAnswer,
        by: DecidingRule,
    ) -> Result<(), DriverError> {
        let Some(open) = self.state().calls.get(call) else {
            return Err(DriverError::Gone);
        };
        let turn = self.state().turns.get(&open.turn);
        self.append(Fact::ConsentRuled(ConsentRuled {
            call: call.clone(),
            role: open.role.clone(),
            node: turn.and_then(|turn| turn.node.clone()),
            tool: open.tool.clone(),
            action: ask.action,
            about: open.summary.clone(),
            answer,
            by,
        }))
    }

    /// How much the role of a turn may do without asking: what the flow may, unless its file narrows
    /// that.
    fn mode_of(&self, turn: TurnId, flow: ConsentMode) -> ConsentMode {
        let role = self.live.get(&turn).map(|live| &live.role);
        let own = role.and_then(|role| self.roles.most(role));
        own.map_or(flow, |own| own.min(flow))
    }

    /// The operator says beforehand what may be done without asking. What is asked already is answered by
    /// it, too.
    ///
    /// # Errors
    /// When the journal refuses.
    pub fn said_beforehand(
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
    pub(super) fn answer_by_rules(&mut self) -> Result<(), DriverError> {
        let open: Vec<ConsentId> = self.state().consents.keys().cloned().collect();
        for consent in open {
            if let Some(ruled) = self.by_rule(&consent)? {
                self.command(Input::RuleAnswered(ruled))?;
            }
        }
        Ok(())
    }

    /// What the rules say about an open request, if they say something.
    fn by_rule(&mut self, consent: &ConsentId) -> Result<Option<RuleAnswered>, DriverError> {
        let state = &self.flow.views().flow;
        let Some(open) = state.consents.get(consent) else {
            return Ok(None);
        };
        let (role, node, action) = (open.role.clone(), open.node.clone(), open.action);
        let terms = open.terms.clone();
        let Some(call) = state.calls.get(&open.call) else {
            return Ok(None);
        };
        let (effect, tool_call) = (call.effect, call.tool_call.clone());
        let Some(asked) = self.asked_call(&role, &tool_call) else {
            return Ok(None);
        };
        let state = &self.flow.views().flow;
        let whose = (&role, node.as_ref());
        let judged = self
            .roles
            .ruled(state, whose, &asked, (terms.as_ref(), effect));
        let (answer, by) = match judged {
            Some(Judged::Allowed(by)) => (ConsentAnswer::AllowOnce, by),
            Some(Judged::Denied(by)) => (ConsentAnswer::Deny, by),
            Some(Judged::Doubtful(_)) | None => return Ok(None),
        };
        // The reason for the role, so that it goes on.
        let reason = match answer {
            ConsentAnswer::Deny | ConsentAnswer::Withdrawn => {
                Some(self.keep_words(&format!("the rule {} refuses it.", by.words(answer)))?)
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

    /// What an answer for the rest of the flow grants, and which other requests that covers.
    pub(super) fn granted_by(&mut self, consent: &ConsentId) -> (Option<Grant>, Vec<ConsentId>) {
        let grant = self.grant_of(consent);
        if grant.is_none() {
            return (None, Vec::new());
        }
        let others: Vec<ConsentId> = self.state().consents.keys().cloned().collect();
        let also = others
            .into_iter()
            .filter(|other| other != consent)
            .filter(|other| !self.asks_always(other) && self.grant_of(other) == grant)
            .collect();
        (grant, also)
    }

    /// Whether grants do not count for the role that asks.
    fn asks_always(&self, consent: &ConsentId) -> bool {
        let open = self.state().consents.get(consent);
        let most = open.and_then(|open| self.roles.most(&open.role));
        most == Some(ConsentMode::NoAccess)
    }

    fn grant_of(&mut self, consent: &ConsentId) -> Option<Grant> {
        let open = self.state().consents.get(consent)?;
        let call = self.state().calls.get(&open.call)?;
        let (role, node) = (open.role.clone(), open.node.clone());
        let asked = self.asked_call(&role, &call.tool_call)?;
        let state = &self.flow.views().flow;
        self.roles.grant(state, (&role, node.as_ref()), &asked)
    }
}
