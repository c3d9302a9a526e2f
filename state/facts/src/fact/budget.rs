//! Facts about budgets: what may be spent, and when it was.

use serde::{Deserialize, Serialize};

use crate::id::{ClientId, RoleInstance};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Tokens in and out.
    Tokens,
    /// Money, in millionths of its unit.
    CostMicros,
    /// Turns.
    Turns,
    /// Wall time while turns run.
    WallMs,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetSet {
    /// The role instance it limits; the whole flow if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleInstance>,
    /// What is counted.
    pub measure: Measure,
    /// The limit from now on; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The client's name for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetReached {
    /// The role instance whose budget it is; the whole flow's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleInstance>,
    /// What was counted.
    pub measure: Measure,
    /// The limit.
    pub limit: u64,
    /// What is spent.
    pub spent: u64,
}
