//! The machine: what may happen next, and what must be started now. `SCHEDULING.md` in
//! this crate holds its decision tables.

pub(crate) mod limits;
pub mod session;

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
mod span;
mod stop;
mod suspend;
mod turn;
mod work;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use close::{ClosingNeed, missing};

pub use decide::decide;
pub use deliver::allowed;
pub use improve::{findings_path, plan, report_path};
pub use input::{
    Brought, ChangeProposal, Claim, Commanded, ConsentAsked, Create, Input, NewGraph, NewSession,
    OperatorWords, Product, Receiver, Revise, RuleAnswered, SessionWish, StartFeedback,
    StartReflection, TurnEnding, TurnOutcome, VerbNeed,
};
pub use outline::outline;
pub use pending::{pending, question_of};
pub use refusal::Refusal;
pub use suspend::would_end;
pub use work::{OperatorQuestion, TurnTask, Work, has_more_to_start};
