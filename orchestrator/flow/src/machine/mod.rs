//! The machine: what may happen next, and what must be started now. `SCHEDULING.md` in
//! this crate holds its decision tables.

pub mod limits;

mod claim;
mod close;
mod command;
mod consent;
mod decide;
mod deliver;
mod improve;
mod input;
mod live;
mod opened;
mod operate;
mod outline;
mod pending;
mod refusal;
mod reply;
mod revision;
mod runnable;
mod stop;
mod suspend;
mod turn;
mod work;

#[cfg(test)]
mod tests;

pub use close::{Missing, missing};
pub use decide::decide;
pub use deliver::{Allowed, allowed};
pub use improve::{findings_path, plan, report_path};
pub use input::{
    Brought, Claim, Commanded, ConsentAsked, Create, Input, Need, NewGraph, NewSession, Outcome,
    Product, Proposal, Revise, RuleAnswered, StartFeedback, StartReflection, Target, TurnOutcome,
    Words,
};
pub use outline::outline;
pub use pending::pending;
pub use refusal::{Candidate, Refusal, Want};
pub use suspend::would_end;
pub use work::{Question, Task, Work, has_more_to_start};
