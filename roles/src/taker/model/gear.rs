//! What a model's taker works with.

use std::sync::Arc;

use a_society_facts::fact::turn::Usage;

use super::limits::BYTES_A_TOKEN;
use crate::cost::Prices;
use crate::provider::{Effort, Provider, Thinking, ToolDefinition};
use crate::tool::{Definition, Toolbox};
use crate::turn::step::{End, Step, Told, Worst};
use crate::turn::taker::Taker;

/// A model as it is used for one turn.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its name in the configuration.
    pub name: String,
    /// Its name with its provider.
    pub id: String,
    /// How many tokens it reads at most; 0 if nobody knows.
    pub window: u64,
    /// How many tokens one answer may have.
    pub max_output: u64,
    /// How it takes its effort.
    pub thinking: Thinking,
    /// How hard it is to think.
    pub effort: Option<Effort>,
    /// What it costs, if that is known.
    pub prices: Option<Prices>,
}

/// Everything a model's taker works with.
#[derive(Debug, Clone)]
pub struct Gear {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: Model,
    /// What runs its calls.
    pub tools: Toolbox,
    /// The tools that it is offered.
    pub offered: Arc<[ToolDefinition]>,
}

/// Tools as a model is offered them. A tool whose schema cannot be written is not offered.
#[must_use]
pub fn offered(tools: &[Definition]) -> Arc<[ToolDefinition]> {
    let each = tools.iter().filter_map(|tool| {
        Some(ToolDefinition {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            schema: serde_json::value::to_raw_value(&tool.schema).ok()?,
        })
    });
    each.collect()
}

impl Model {
    /// What an answer cost, in millionths; 0 if no price is known.
    pub(super) fn cost(&self, usage: &Usage) -> u64 {
        self.prices.as_ref().map_or(0, |prices| prices.cost(usage))
    }

    /// The most that a request of so many bytes can cost.
    pub(super) fn worst(&self, body_bytes: usize, max_output: u64) -> Worst {
        let input = (body_bytes as u64).div_ceil(BYTES_A_TOKEN);
        let cost = |prices: &Prices| prices.worst(input, max_output);
        Worst {
            tokens: input.saturating_add(max_output),
            cost_micros: self.prices.as_ref().map_or(0, cost),
        }
    }
}

/// Stands in for a role that cannot work before something is chosen or mended; it says so and
/// ends.
#[derive(Debug)]
pub struct Unready(pub End);

impl Taker for Unready {
    fn next(&mut self, _: Told) -> Step {
        Step::End(self.0.clone())
    }
}
