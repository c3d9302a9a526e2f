//! `budget`: what a flow, or a role of it, may spend.

use a_society_facts::Verb;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::TokenBudget;
use a_society_facts::id::RoleInstance;

use super::context::Context;
use super::say::{To, role, say};
use crate::operator_error::Outcome;

/// The arguments of `budget`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A request to a model leaves only if the most it can cost is still in the budget. A role that \
waits for its budget goes on when it is raised. A turn that a budget of turns stopped counts, \
too, so raise that budget by at least two. A flow file may set budgets for the flow and for its \
roles. A flow without a budget may use 20 million tokens, or what limits: of the configuration \
says.

Examples:
  a-society budget a1b2 tokens 2000000
  a-society budget a1b2 cost 5000000 --role writer
  a-society budget a1b2 tokens none")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// What is counted
    #[arg(value_name = "MEASURE")]
    measure: Counted,

    /// The limit from now on, or none
    #[arg(value_name = "LIMIT", allow_negative_numbers = true, value_parser = limit)]
    limit: Limit,

    /// The budget of this role instance instead of the flow's
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,
}

/// The measures, as they are typed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Counted {
    /// Tokens in and out
    Tokens,
    /// Money, in millionths of the price's unit
    Cost,
    /// Turns
    Turns,
}

/// A limit, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit(Option<u64>);

impl Limit {
    /// The limit; nothing for none.
    pub(super) const fn most(self) -> Option<u64> {
        self.0
    }

    /// The budget of tokens with which a flow begins.
    pub(super) fn tokens(self) -> TokenBudget {
        self.0.map_or(TokenBudget::Unlimited, TokenBudget::AtMost)
    }
}

/// Reads what is typed as a limit.
///
/// # Errors
/// When it is neither a number nor `none`.
pub(super) fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let number: Result<u64, _> = text.replace('_', "").parse();
    number
        .map(|number| Limit(Some(number)))
        .map_err(|_| "it is neither a number nor none".to_owned())
}

/// Sets the budget.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let command = Verb::Budget {
        role: arguments.role.clone(),
        measure: match arguments.measure {
            Counted::Tokens => Measure::Tokens,
            Counted::Cost => Measure::CostMicros,
            Counted::Turns => Measure::Turns,
        },
        limit: arguments.limit.0,
    };
    say(context, &arguments.to, command)
}
