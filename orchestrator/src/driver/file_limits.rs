//! The limits that a flow's file sets are set when the flow begins.

use a_society_facts::Verb;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::TokenBudget;
use a_society_facts::id::{ClientId, RoleInstance};

use super::core::Core;
use super::error::DriverError;

/// A limit that a flow's file sets, for the flow or for one role.
#[derive(Debug)]
pub(crate) struct BudgetLimit {
    pub(crate) role: Option<RoleInstance>,
    pub(crate) measure: Measure,
    pub(crate) limit: u64,
}

impl Core {
    /// Sets the limits of the flow's file, before anything was spent. A process that died in between
    /// may have set none or some of them; limits that were changed since stay as they are. Each is sent
    /// under a name of its own, so that it counts once.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn limit(&mut self, limits: Vec<BudgetLimit>) -> Result<(), DriverError> {
        if self.state().account.spent.turns > 0 || self.state().status.is_over() {
            return Ok(());
        }
        let unlimited = self.state().tokens == Some(TokenBudget::Unlimited);
        for set in limits {
            let BudgetLimit {
                role,
                measure,
                limit,
            } = set;
            if unlimited && role.is_none() && measure == Measure::Tokens {
                continue;
            }
            // Journals whose limits were set without a name are known by the limit itself.
            if self.state().left(role.as_ref(), measure).is_some() {
                continue;
            }
            let client = name_of(role.as_ref(), measure);
            let limit = Some(limit);
            let set = Verb::Budget {
                role,
                measure,
                limit,
            };
            self.obey(set, client)?;
        }
        Ok(())
    }
}

/// The client's name under which a limit of the flow's file is sent.
fn name_of(role: Option<&RoleInstance>, measure: Measure) -> Option<ClientId> {
    let whose = role.map_or("", RoleInstance::as_str);
    let measure = match measure {
        Measure::Tokens => "tokens",
        Measure::CostMicros => "cost",
        Measure::Turns => "turns",
        Measure::WallMs => "time",
    };
    format!("flow-file:{measure}:{whose}").parse().ok()
}
