//! What a model's taker works with.

use std::fmt;
use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::fact::turn::Usage;
use a_society_mcp::Servers;
use a_society_providers::retry::{LaneName, Lanes};
use a_society_providers::{Effort, Provider, Thinking, ToolDefinition};

use crate::config::ConfigBounds;
use crate::cost::{CountedRequest, Price, input_bound_tokens};
use crate::tool::Toolbox;
use crate::turn::step::{StepReply, TakerEnd, TurnStep, Worst};
use crate::turn::taker::Taker;

/// A model as it is used for one turn.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its name in the configuration.
    pub name: String,
    /// Its name with its provider.
    pub id: String,
    /// How many tokens it reads at most; 0 if unknown.
    pub window: u64,
    /// How many tokens one answer may have.
    pub max_output: u64,
    /// How it takes its effort.
    pub thinking: Thinking,
    /// How hard it is to think.
    pub effort: Option<Effort>,
    /// Whether it gets the images that its calls read.
    pub images: bool,
    /// What it costs, if that is known.
    pub prices: Option<Price>,
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
    /// Whether it may end its turns by calls; one that is to have no tools ends them by blocks.
    pub ends_by_call: bool,
    /// The servers whose tools it is offered besides.
    pub remote: Option<Remote>,
    /// Tools that the role names and cannot have, with the reason.
    pub missing: Vec<(String, String)>,
    /// The last part of the system prompt, made for this process.
    pub environment: String,
    /// Who else asks the same models.
    pub traffic: Traffic,
    /// What stops a turn that goes nowhere.
    pub bounds: ConfigBounds,
}

impl Gear {
    /// The lane of its requests.
    pub(super) fn lane(&self) -> LaneName<'_> {
        LaneName {
            provider: self.provider.name(),
            model: &self.model.id,
        }
    }
}

/// The MCP servers of a role.
#[derive(Debug, Clone)]
pub struct Remote {
    /// All that the operator configured.
    pub servers: Arc<Servers>,
    /// Those that the role uses.
    pub names: Vec<String>,
    /// Those that the flow trusts from now on, by their definitions; it is recorded before they run.
    pub newly: Vec<(String, Hash)>,
}

/// The requests of all roles of a process, which share what a provider lets through.
#[derive(Clone)]
pub struct Traffic {
    /// The lanes of all models.
    pub lanes: Arc<Lanes>,
    /// The milliseconds of a clock that only goes forward.
    pub now_ms: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl fmt::Debug for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traffic").finish_non_exhaustive()
    }
}

impl Model {
    /// What an answer cost, in millionths; 0 if no price is known.
    pub(super) fn cost(&self, usage: &Usage) -> u64 {
        self.prices.as_ref().map_or(0, |price| price.of(usage))
    }

    /// The most that a request of so many bytes can cost.
    pub(super) fn worst(&self, body: u64, last: Option<CountedRequest>, max_output: u64) -> Worst {
        let input = input_bound_tokens(body, last);
        let cost = |price: &Price| price.worst(input, max_output);
        Worst {
            tokens: input.saturating_add(max_output),
            cost_micros: self.prices.as_ref().map_or(0, cost),
        }
    }
}

/// Takes the place of a role that cannot work before something is chosen or corrected; it reports that
/// and ends.
#[derive(Debug)]
pub struct Unready(pub TakerEnd);

impl Taker for Unready {
    fn next(&mut self, _: StepReply) -> TurnStep {
        TurnStep::End(self.0.clone())
    }
}
