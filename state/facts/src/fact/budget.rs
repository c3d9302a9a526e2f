//! Facts about budgets: what may be spent, and when it was.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{ClientId, RoleInstance};
use crate::words::tokens;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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

/// A budget that lacks what comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// Whose; the whole flow's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleInstance>,
    /// Of what.
    pub measure: Measure,
    /// What comes next may take this much.
    pub wants: u64,
    /// So much was left.
    pub left: u64,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wants, left, .. } = self;
        let whose = self.role.as_ref().map_or("the flow", RoleInstance::as_str);
        match self.measure {
            Measure::Tokens => {
                let (wants, left) = (tokens(*wants), tokens(*left));
                write!(
                    f,
                    "the next request may take {wants} tokens, and {whose} has {left} left"
                )
            }
            Measure::CostMicros => {
                let (wants, left) = (Money(*wants), Money(*left));
                write!(
                    f,
                    "the next request may cost {wants}, and {whose} has {left} left"
                )
            }
            Measure::Turns => write!(f, "{whose} has no turn left"),
            Measure::WallMs => write!(f, "{whose} has no time left"),
        }
    }
}

/// Millionths of a dollar, as people write them.
struct Money(u64);

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
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
