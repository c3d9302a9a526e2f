//! Who compacts a session without a model: the program itself, or a command of the operator's configuration.

use std::sync::Arc;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::session::{CompactionWish, Strategy};
use a_society_roles::taker::command::{CommandSpec, InheritedVariables};
use a_society_roles::taker::compacting::compacting;
use a_society_roles::turn::job::TurnJob;
use a_society_roles::turn::taker::Taker;

use crate::config::{programs, user};

/// How much a command may print: far more than a summary has.
const OUTPUT_BYTES_MAX: usize = 256 * 1024;

/// Whether no model is asked.
pub(super) const fn asks_no_model(wish: &CompactionWish) -> bool {
    match wish.strategy {
        Strategy::NodeSummary | Strategy::Llm => false,
        Strategy::Truncate | Strategy::ObservationMask | Strategy::Custom => true,
    }
}

/// The taker of such a compaction.
///
/// # Errors
/// In words, when no command is configured that is wanted.
pub(super) fn taker(
    job: Arc<TurnJob>,
    wish: CompactionWish,
    stop: StopSignal,
) -> Result<Box<dyn Taker>, String> {
    let command = match wish.strategy {
        Strategy::Custom => Some(command()?),
        Strategy::NodeSummary | Strategy::Llm | Strategy::Truncate | Strategy::ObservationMask => {
            None
        }
    };
    Ok(compacting(job, wish, command, stop))
}

fn command() -> Result<(CommandSpec, InheritedVariables), String> {
    let config = user::sessions().map_err(|error| error.to_string())?;
    if config.compactor.is_empty() {
        return Err(
            "your configuration names no program for it, as in sessions: { compaction: { command: [PROGRAM] } }"
                .to_owned(),
        );
    }
    let mut spec = CommandSpec::new(config.compactor);
    (spec.time_limit_ms, spec.output_limit_bytes) = (config.compactor_ms, OUTPUT_BYTES_MAX);
    Ok((spec, programs::environment()))
}
