//! Where the driver gets takers and packets: the port to roles, scripts and projects.

use std::collections::BTreeMap;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::fact::operator::{ConsentMode, Grant};
use a_society_facts::fact::session::CompactionWish;
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::Effect;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::message::ToolCall;
use a_society_facts::view::flow::FlowState;
use a_society_flow::graph::FlowGraph;
use a_society_roles::config::ConfigBounds;
use a_society_roles::consent::policy::Judged;
use a_society_roles::handoff::AllowedOutcomes;
use a_society_roles::role::prompt::SystemPrompt;
use a_society_roles::turn::job::{BegunWith, TurnJob};
use a_society_roles::turn::taker::Taker;

use crate::project::docs::ailment::Ailment;
use crate::project::flow_file::FlowFile;

/// What a packet is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About<'a> {
    /// A node that was entered.
    Node(&'a NodeId),
    /// A role that reflects.
    Reflection,
    /// The feedback report.
    Feedback,
}

/// What the files that a call changes hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TouchedFiles {
    /// The hash of each, in the order in which they are changed; nothing where there is no such file.
    Has(Vec<Option<Hash>>),
    /// It is unknown.
    Unknown,
}

/// What must be chosen before a role's turn can begin.
#[derive(Debug)]
pub(crate) enum PendingChoice {
    /// Nothing.
    Nothing,
    /// There was nothing to choose from, so this is what it works with.
    Settled(BTreeMap<String, String>),
    /// A model has to be asked.
    Asks(Box<dyn Taker>),
    /// Only the operator can choose, for this reason.
    Operator(String),
}

/// A role, and the node that it works at if there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoleAt<'a> {
    /// The role.
    pub role: &'a RoleInstance,
    /// The node.
    pub node: Option<&'a NodeId>,
}

/// What is known of a call besides its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownCall<'a> {
    /// What it was asked about.
    pub terms: Option<&'a ConsentTerms>,
    /// What it may do.
    pub effect: Effect,
}

/// Knows roles: their prompts, their packets, and who takes their turns.
///
/// Packets and takers may depend on configuration, on a project's files and on servers of tools:
/// callers must be able to wait, unless noted.
pub(crate) trait RoleSource: Send + std::fmt::Debug {
    /// The same roles, for work apart from the flow.
    fn another(&self) -> Box<dyn RoleSource>;
    /// Whether anything is waited for before a turn of a role begins.
    fn waits(&self, role: &RoleInstance) -> bool {
        let _ = role;
        true
    }
    /// The system prompt of a role instance.
    fn system_prompt(
        &mut self,
        graph: &FlowGraph,
        state: &FlowState,
        role: &RoleInstance,
    ) -> SystemPrompt;
    /// The packet that begins a role's turn.
    fn packet(
        &mut self,
        graph: &FlowGraph,
        state: &FlowState,
        role: &RoleInstance,
        about: About<'_>,
        allowed: AllowedOutcomes,
    ) -> String;
    /// What the flow knows about a role's work, for a role whose conversation is compacted: what it
    /// received, what is still to come, what it handed off.
    fn facts(
        &mut self,
        graph: &FlowGraph,
        state: &FlowState,
        role: &RoleInstance,
        about: About<'_>,
    ) -> String {
        let _ = (graph, state, role, about);
        String::new()
    }
    /// Whether the taker of a role reads the whole history of its session. Others get only the present
    /// turn, so that a turn costs the same however long the session has become.
    fn reads_history(&self, role: &RoleInstance) -> bool;
    /// Whether the role's taker gets the operator's words while a turn goes on. Others get them when a
    /// turn begins.
    fn hears(&self, role: &RoleInstance) -> bool {
        let _ = role;
        true
    }
    /// How many answers a turn may have that begins now.
    fn answers_at_most(&self) -> u32 {
        ConfigBounds::default().answers
    }
    /// The taker of a turn. Raising the signal ends what it still waits for.
    ///
    /// # Errors
    /// Describes why there is none.
    fn taker(
        &mut self,
        job: TurnJob,
        begun_with: BegunWith,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String>;
    /// The taker that makes what replaces the history of a job: a model's summary, unless it is wished otherwise.
    ///
    /// # Errors
    /// Describes why there is none.
    fn summariser(
        &mut self,
        job: TurnJob,
        wish: Option<&CompactionWish>,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String>;
    /// What must be chosen before a role's turn can begin.
    fn choice(
        &mut self,
        graph: &FlowGraph,
        state: &FlowState,
        whose: RoleAt<'_>,
        stop: StopSignal,
    ) -> PendingChoice {
        drop((graph, state, stop));
        let _ = whose;
        PendingChoice::Nothing
    }
    /// Whether a system prompt speaks of other skills than those that were chosen since.
    fn is_outdated(&self, state: &FlowState, role: &RoleInstance, prompt: &str) -> bool {
        let _ = (state, role, prompt);
        false
    }
    /// The most that a role may do without asking, if its file narrows it.
    fn most(&self, role: &RoleInstance) -> Option<ConsentMode> {
        let _ = role;
        None
    }
    /// What the operator's rules say about a call that is asked about, with what it is known to be about
    /// and what it may do.
    fn ruled(
        &mut self,
        state: &FlowState,
        whose: RoleAt<'_>,
        call: &ToolCall,
        known: KnownCall<'_>,
    ) -> Option<Judged> {
        let _ = (state, whose, call, known);
        None
    }
    /// Removes what a killed process left of a checkable call beside its files.
    fn clear_halves(&mut self, role: &RoleInstance, call: &ToolCall) {
        let _ = (role, call);
    }
    /// The file that a checkable call touches, as it is now.
    fn touched(&mut self, role: &RoleInstance, call: &ToolCall) -> TouchedFiles;
    /// What would have to be granted for a call never to be asked about, if anything can. Raising the
    /// signal ends what it waits for.
    fn grant(
        &mut self,
        state: &FlowState,
        whose: RoleAt<'_>,
        call: &ToolCall,
        stop: &StopSignal,
    ) -> Option<Grant>;
    /// Writes the files of the record folder that are folded from the facts, where they differ. They
    /// are for people and programs that look; nothing is lost if one cannot be written.
    fn keep_records(&mut self, graph: &FlowGraph, state: &FlowState);
    /// Reads a graph that a role wrote for its flow. A graph that defines no roles walks with those
    /// there are.
    ///
    /// # Errors
    /// Says in words everything that is wrong with it.
    fn snapshot(&mut self, source: String) -> Result<FlowFile, String>;
    /// A graph for this flow with everything in it that it leaves to its project.
    ///
    /// # Errors
    /// Describes why that is impossible.
    fn contract(&mut self, file: FlowFile) -> Result<FlowFile, String> {
        Ok(file)
    }
    /// The flow walks the graph of another file from now on, whose roles count from now on.
    fn revised(&mut self, file: &FlowFile);
    /// What the project's health checks find wrong, before the forward pass closes.
    fn health(&mut self) -> Vec<Ailment>;
}
