//! A call that must not run without consent: what is granted, and asking the operator.

use a_society_facts::fact::operator::{ConsentMode, Grant};
use a_society_facts::id::{ConsentId, TurnId};
use a_society_facts::view::flow::CallState;
use a_society_flow::machine::{ConsentAsked, Input};
use a_society_roles::turn::step::{Consent, Told};

use super::core::Core;
use super::error::DriverError;
use super::step::Heard;
use crate::mint;

impl Core {
    /// Lets a call through, or leaves the turn until the operator has answered.
    pub(super) fn consent(
        &mut self,
        turn: TurnId,
        attempt: u32,
        asked: Consent,
    ) -> Result<Heard, DriverError> {
        let go_on = Heard::Go(Told::Done { call: None });
        if self.is_allowed(&asked) {
            return Ok(go_on);
        }
        let input = ConsentAsked {
            turn,
            attempt,
            consent: mint::name(self.mint.as_mut(), "q")?,
            call: asked.call.clone(),
            action: asked.action,
            shown: self.flow.keep_text(asked.shown.clone())?,
        };
        self.command(Input::ConsentAsked(input))?;
        if self.is_allowed(&asked) {
            return Ok(go_on);
        }
        // The turn stays open. Whoever answers has it taken up again, with the call allowed or not.
        self.leave(turn);
        Ok(Heard::Over)
    }

    fn is_allowed(&self, asked: &Consent) -> bool {
        let state = self.state();
        let answered = state.calls.get(&asked.call);
        let granted = asked
            .grant
            .as_ref()
            .is_some_and(|grant| state.grants.contains(grant));
        answered.is_some_and(|call| call.state == CallState::Allowed)
            || match state.consent_mode {
                ConsentMode::FullAccess => true,
                ConsentMode::PartialAccess => granted,
                ConsentMode::NoAccess => false,
            }
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
            .filter(|other| other != consent && self.grant_of(other) == grant)
            .collect();
        (grant, also)
    }

    fn grant_of(&mut self, consent: &ConsentId) -> Option<Grant> {
        let open = self.state().consents.get(consent)?;
        let call = self.state().calls.get(&open.call)?;
        let (role, tool_call) = (open.role.clone(), call.tool_call.clone());
        let asked = self.asked_call(&role, &tool_call)?;
        self.roles.grant(&role, &asked)
    }
}
