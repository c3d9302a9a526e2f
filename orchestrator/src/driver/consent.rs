//! A call that must not run without consent: what is granted, and asking the operator.

use a_society_facts::Hash;
use a_society_facts::fact::Fact;
use a_society_facts::fact::operator::{
    ConsentAnswer, ConsentMode, ConsentRuled, ConsentRules, DecidingRule, Grant,
};
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::Effect;
use a_society_facts::id::{CallId, ClientId, ConsentId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::ToolCall;
use a_society_facts::view::FlowState;
use a_society_facts::view::flow::CallState;
use a_society_flow::machine::{ConsentAnswered, ConsentAsked, Input};
use a_society_roles::consent::policy::Judged;
use a_society_roles::consent::{Ask, Decision, decide};
use a_society_roles::turn::step::{Consent, Told};
use a_society_roles::turn::stop::StopSignal;

use super::core::Core;
use super::errand::ErrandId;
use super::error::DriverError;
use super::role_source::RoleSource;
use super::step::Heard;
use crate::mint;

/// What a model is told when what would run is not what the operator had seen.
const CHANGED: &str = "This call did not run: what it would do has changed since the operator \
                       allowed it. Look at the present state, and ask again.";

/// What a model is told when the file that it would work on is not what the operator had seen. Says
/// nothing of a call that names no file.
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
        // The turn stays open. Whoever answers has it taken up again, with the call allowed or not.
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

    /// The operator allows a call.
    pub(super) fn consented(
        &mut self,
        named: (Option<ConsentId>, Option<Hash>),
        Granted { grant, also }: Granted,
        client: Option<ClientId>,
    ) -> Result<Input, DriverError> {
        let (consent, action) = self.open_consent(named)?;
        // What cannot be granted for good is allowed this once.
        let answer = if grant.is_some() {
            ConsentAnswer::AllowFlow
        } else {
            ConsentAnswer::AllowOnce
        };
        Ok(Input::ConsentAnswered(ConsentAnswered {
            consent,
            answer,
            action,
            grant,
            also,
            reason: None,
            by: None,
            client,
        }))
    }

    /// The operator denies a call, and may say what to do instead; blank words say nothing.
    pub(super) fn denied(
        &mut self,
        named: (Option<ConsentId>, Option<Hash>),
        reason: Option<String>,
        client: Option<ClientId>,
    ) -> Result<Input, DriverError> {
        let (consent, action) = self.open_consent(named)?;
        Ok(Input::ConsentAnswered(ConsentAnswered {
            consent,
            answer: ConsentAnswer::Deny,
            action,
            grant: None,
            also: Vec::new(),
            reason: reason
                .filter(|reason| !reason.trim().is_empty())
                .map(|reason| self.keep_words(&reason))
                .transpose()?,
            by: None,
            client,
        }))
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
            let client = None;
            self.command(Input::ConsentRules { rules, client })?;
        }
        if let Some(mode) = mode {
            let client = None;
            self.command(Input::ConsentMode { mode, client })?;
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
        let open = self.open_requests();
        let (mut roles, state, _) = self.roles_apart();
        self.send_for_command(StopSignal::default(), move || {
            let judged = open.into_iter().filter_map(|open| {
                let whose = (&open.role, open.node.as_ref());
                let known = (open.terms.as_ref(), open.effect);
                let judged = roles.ruled(&state, whose, &open.asked, known)?;
                Some((open.consent, judged))
            });
            let judged: Vec<(ConsentId, Judged)> = judged.collect();
            drop(state);
            Box::new(move |core: &mut Self| {
                let mut facts = facts;
                for (consent, judged) in judged {
                    // Whoever rested here goes on because of these.
                    if let Some(answered) = core.by_rule(&consent, judged)? {
                        facts += core.command(Input::ConsentAnswered(answered))?;
                    }
                }
                Ok(facts)
            })
        })
    }

    /// The requests that are open, with what is known about each.
    fn open_requests(&self) -> Vec<OpenRequest> {
        let state = self.state();
        let open = state.consents.iter().filter_map(|(consent, open)| {
            let call = state.calls.get(&open.call)?;
            Some(OpenRequest {
                consent: consent.clone(),
                role: open.role.clone(),
                node: open.node.clone(),
                terms: open.terms.clone(),
                effect: call.effect,
                asked: self.asked_call(&open.role, &call.tool_call)?,
            })
        });
        open.collect()
    }

    /// The answer that a rule gives to a request, if it is still open and the rule decides it.
    fn by_rule(
        &self,
        consent: &ConsentId,
        judged: Judged,
    ) -> Result<Option<ConsentAnswered>, DriverError> {
        let Some(action) = self.state().consents.get(consent).map(|open| open.action) else {
            return Ok(None);
        };
        let (answer, by) = match judged {
            Judged::Allowed(by) => (ConsentAnswer::AllowOnce, by),
            Judged::Denied(by) => (ConsentAnswer::Deny, by),
            Judged::Doubtful(_) => return Ok(None),
        };
        // What the role is told, so that it goes on.
        let reason = match answer {
            ConsentAnswer::Deny | ConsentAnswer::Withdrawn => {
                Some(self.keep_words(&format!("the rule {} refuses it.", by.words(answer)))?)
            }
            ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow => None,
        };
        Ok(Some(ConsentAnswered {
            consent: consent.clone(),
            answer,
            action,
            grant: None,
            also: Vec::new(),
            reason,
            by: Some(by),
            client: None,
        }))
    }

    /// The request that is meant: the one that is named, or the only one.
    fn open_consent(
        &self,
        (named, seen): (Option<ConsentId>, Option<Hash>),
    ) -> Result<(ConsentId, Hash), DriverError> {
        let open = &self.state().consents;
        let only = || match open.len() {
            0 => Err(DriverError::NothingAsked),
            1 => Ok(open.keys().next().cloned()),
            _ => Err(DriverError::ManyAsked(open.keys().cloned().collect())),
        };
        let named = match named {
            Some(named) => Some(named),
            None => only()?,
        };
        let named = named.ok_or(DriverError::NothingAsked)?;
        // The machine says what is open when this one is not.
        let present = open
            .get(&named)
            .map_or_else(|| Hash::of(&[]), |open| open.action);
        Ok((named, seen.unwrap_or(present)))
    }

    /// Finds out what an answer for the rest of the flow grants, and which other requests that covers. The call is
    /// allowed when that is known; one of which it cannot be found out is allowed this once.
    pub(super) fn ask_grant(
        &mut self,
        named: (Option<ConsentId>, Option<Hash>),
        client: Option<ClientId>,
    ) -> Result<ErrandId, DriverError> {
        let (consent, action) = self.open_consent(named)?;
        let open = self.open_requests();
        let (mut roles, state, _) = self.roles_apart();
        let stop = StopSignal::default();
        self.send_for_command(stop.clone(), move || {
            let granted = granted_by(roles.as_mut(), &state, (&consent, &open), &stop);
            drop(state);
            Box::new(move |core: &mut Self| {
                if core.has_counted(client.as_ref()) {
                    return Ok(0);
                }
                let named = (Some(consent), Some(action));
                let input = core.consented(named, granted, client)?;
                core.command(input)
            })
        })
    }
}

/// What an answer for the rest of the flow grants.
#[derive(Debug, Default)]
pub(super) struct Granted {
    /// What is granted, if anything can be.
    grant: Option<Grant>,
    /// Which other requests that covers.
    also: Vec<ConsentId>,
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

/// What an answer to one of these requests for the rest of the flow grants.
fn granted_by(
    roles: &mut dyn RoleSource,
    state: &FlowState,
    (consent, open): (&ConsentId, &[OpenRequest]),
    stop: &StopSignal,
) -> Granted {
    let mut grant_of = |open: &OpenRequest| {
        let whose = (&open.role, open.node.as_ref());
        roles.grant(state, whose, &open.asked, stop)
    };
    let mut meant = open.iter().filter(|open| open.consent == *consent);
    let Some(grant) = meant.next().and_then(&mut grant_of) else {
        return Granted::default();
    };
    let others = open.iter().filter(|open| open.consent != *consent);
    let covered: Vec<&OpenRequest> = others
        .filter(|open| grant_of(open).as_ref() == Some(&grant))
        .collect();
    // Grants do not count for roles that are always asked about.
    let counts = |open: &&&OpenRequest| roles.most(&open.role) != Some(ConsentMode::NoAccess);
    let also = covered.iter().filter(counts);
    let also = also.map(|open| open.consent.clone()).collect();
    Granted {
        grant: Some(grant),
        also,
    }
}
