//! A call that must not run without consent: what is granted, and asking the operator.

use a_society_facts::Hash;
use a_society_facts::fact::operator::{ConsentAnswer, ConsentMode, Grant};
use a_society_facts::id::{ClientId, ConsentId, TurnId};
use a_society_facts::view::flow::CallState;
use a_society_flow::machine::{ConsentAnswered, ConsentAsked, Input};
use a_society_roles::consent::{Decision, decide};
use a_society_roles::turn::step::{Consent, Told};

use super::core::Core;
use super::error::DriverError;
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
        if known.is_some_and(|known| known.allowed == Some(ask.action)) {
            return Ok(go_on);
        }
        let flow_mode = state.consent_mode;
        let mode = self.mode_of(turn, flow_mode);
        let state = self.state();
        let alone = decide(flow_mode, &state.grants, &ask);
        let narrowed = matches!(alone, Decision::Allow);
        let request = match decide(mode, &state.grants, &ask) {
            Decision::Allow => return Ok(go_on),
            Decision::Deny(why) => return Ok(Heard::Go(Told::Denied { call, why })),
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
        };
        self.command(Input::ConsentAsked(input))?;
        // The turn stays open. Whoever answers has it taken up again, with the call allowed or not.
        self.leave(turn);
        Ok(Heard::Over)
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
        for_the_flow: bool,
        client: Option<ClientId>,
    ) -> Result<Input, DriverError> {
        let (consent, action) = self.open_consent(named)?;
        let (grant, also) = if for_the_flow {
            self.granted_by(&consent)
        } else {
            (None, Vec::new())
        };
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
            client,
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

    /// What an answer for the rest of the flow grants, and which other requests that covers.
    fn granted_by(&mut self, consent: &ConsentId) -> (Option<Grant>, Vec<ConsentId>) {
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

    /// Whether grants do not count for whoever asks.
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
