//! What `watch` shows, as plain data: flows, what they ask, and one flow in full. Every text in it
//! is fit for a terminal.

use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::standing::FlowStanding;
use a_society_operator_ui::fold::asks::OpenAsk;
use a_society_state::FlowRef;

use crate::cli::asks;
use crate::cli::own_turn::Own;

/// Everything that is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct View {
    /// Flows that are not over, and the one that was named.
    pub(crate) flows: Vec<FlowLine>,
    /// What they ask, the longest waiting first.
    pub(crate) asks: Vec<AskView>,
    /// The flow that is looked at.
    pub(crate) chosen: Option<FlowView>,
    /// What all flows of the workspace cost since local midnight, in millionths; absent while that is counted.
    pub(crate) today_micros: Option<u64>,
    /// The moment that is shown, from which ages count.
    pub(crate) now_ms: i64,
}

/// A flow in the list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlowLine {
    pub(crate) flow: FlowRef,
    /// Its project and the end of its id.
    pub(crate) name: String,
    pub(crate) title: String,
    /// Its state, in a word or two.
    pub(crate) status: String,
    /// What it is doing; absent for one that cannot be read.
    pub(crate) standing: Option<FlowStanding>,
    /// Whether a process drives it.
    pub(crate) is_driven: bool,
    /// How many of its nodes are done, and how many there are.
    pub(crate) done: (usize, usize),
    pub(crate) cost_micros: u64,
    /// When its last fact was recorded.
    pub(crate) updated_ms: Option<i64>,
}

/// One thing that is asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AskView {
    /// Its name, which stays the same for as long as it is asked.
    pub(crate) id: String,
    pub(crate) flow: FlowRef,
    /// What is asked, by whom, and how it is answered.
    pub(crate) ask: OpenAsk,
    /// How a turn of the operator's own is ended, if this is one.
    pub(crate) own: Option<Box<Own>>,
    /// Who asks for what, as a heading.
    pub(crate) head: String,
    /// What an answer decides, in one line: the call, the question, the handoff.
    pub(crate) line: String,
    /// What is to be read before an answer, whole, line by line.
    pub(crate) says: Vec<String>,
    /// What would run, as it is written.
    pub(crate) call: Option<String>,
    /// What this program knows about it; no line of a role looks like one of these.
    pub(crate) facts: Vec<String>,
    /// The commands that answer, where no key does.
    pub(crate) commands: Vec<String>,
    /// So many of the lines must have been shown before it can be allowed or approved, or else everything.
    pub(crate) must_show: usize,
}

impl AskView {
    /// The node that asks, else the role or the flow.
    pub(crate) fn node(&self) -> &str {
        let role = self.ask.role.as_ref().map(RoleInstance::as_str);
        let node = self.ask.node().map(NodeId::as_str);
        node.or(role).unwrap_or("flow")
    }
}

/// One flow in full.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlowView {
    pub(crate) flow: FlowRef,
    pub(crate) title: String,
    /// What it spent, and whether it asks for nothing.
    pub(crate) spent: String,
    pub(crate) nodes: Vec<NodeLine>,
    pub(crate) feeds: Vec<Feed>,
    /// What each role cost, as a table.
    pub(crate) cost: Vec<String>,
    /// The files of its record.
    pub(crate) files: Vec<String>,
    /// What is wrong with it, if something is.
    pub(crate) damage: Option<String>,
}

/// A node: a sign, its names, and its state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeLine {
    pub(crate) sign: &'static str,
    pub(crate) node: String,
    pub(crate) role: String,
    pub(crate) word: String,
    /// Whether it waits for the operator.
    pub(crate) waits: bool,
}

/// The last items of a role's feed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Feed {
    pub(crate) role: RoleInstance,
    pub(crate) items: Vec<Item>,
}

/// An item of a feed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    /// A sign for its kind.
    pub(crate) sign: &'static str,
    /// Its heading; nothing for what the role itself says.
    pub(crate) label: String,
    pub(crate) lines: Vec<String>,
    /// Whether something went wrong.
    pub(crate) failed: bool,
    /// Whether it is a call, whose output is folded where many things are shown.
    pub(crate) is_call: bool,
}

/// The project of a flow and the end of its id, as it is typed.
pub(crate) fn name(flow: &FlowRef) -> String {
    format!("{}/{}", flow.project, asks::short(flow))
}

impl View {
    /// The line of a flow.
    pub(crate) fn line(&self, flow: &FlowRef) -> Option<&FlowLine> {
        self.flows.iter().find(|line| line.flow == *flow)
    }

    /// The ask of a name.
    pub(crate) fn ask(&self, id: Option<&String>) -> Option<&AskView> {
        self.asks.iter().find(|ask| Some(&ask.id) == id)
    }
}

impl FlowView {
    /// The feed of a role, or the one in which something happened last.
    pub(crate) fn feed(&self, role: Option<&RoleInstance>) -> Option<&Feed> {
        let named = self.feeds.iter().find(|feed| Some(&feed.role) == role);
        named.or_else(|| self.feeds.first())
    }
}
