//! What the prompts are made of.

use a_society_facts::id::RoleInstance;

/// Everything that a system prompt says, built once for each role instance and kept.
#[derive(Debug, Clone)]
pub struct Briefing {
    /// The role instance.
    pub role: RoleInstance,
    /// The project; a self-contained flow may have none.
    pub project: Option<String>,
    /// What the flow is called.
    pub flow_title: String,
    /// The record folder, as the role is to write it in paths.
    pub record: String,
    /// Who the role is and how it works, in the words of its definition.
    pub instructions: String,
    /// Rules for every role of the project.
    pub rules: Option<String>,
    /// What the role has to know, in full.
    pub readings: Vec<Reading>,
    /// What the role can look up when it needs it.
    pub skills: Vec<Skill>,
}

/// A text that is read in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Where it stands.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// A skill that a role may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Where its instructions are.
    pub path: String,
}

/// Why a node is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// For the first time.
    First,
    /// Again: something arrived, or something is still owed.
    Again,
    /// Again, because a successor sent work back.
    Reopened,
}

/// What a role reads of its flow's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowInput {
    /// All of it: a node where the flow begins.
    Whole(String),
    /// The path of the file that holds it: every later node.
    At(String),
}

/// Everything that an entry packet says.
#[derive(Debug, Clone)]
pub struct Entrance {
    /// The node.
    pub node: String,
    /// The time, as the role is to read it.
    pub at: String,
    /// Why it is entered.
    pub kind: EntryKind,
    /// Whether the operator has to approve what goes forward from here.
    pub is_human_colab: bool,
    /// What the flow was asked to do, if it was asked anything.
    pub input: Option<FlowInput>,
    /// The task.
    pub work: Vec<String>,
    /// What the node asks to be read.
    pub readings: Vec<Reading>,
    /// The paths of what the role has read for its system prompt, which is not repeated.
    pub known_readings: Vec<String>,
    /// What came, what did not, what went, what did not.
    pub picture: Picture,
}

/// The handoffs around a node at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// What arrived and is read now.
    pub received: Vec<Received>,
    /// Nodes whose handoff has not arrived.
    pub not_yet_received: Vec<String>,
    /// What was handed on before.
    pub sent: Vec<Sent>,
    /// Nodes that are still owed something.
    pub not_yet_sent: Vec<Owed>,
    /// What arrived earlier and no longer counts, because its sender was asked to correct it.
    pub dropped: Vec<Sent>,
}

/// How an artifact came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Forward, for the first time.
    Forward,
    /// Forward again, after this node had sent it back.
    Corrected,
    /// Back, from a node that this one had handed to.
    SentBack,
}

/// An artifact that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The node that handed it over.
    pub from: String,
    /// Where it stands.
    pub path: String,
    /// How it came.
    pub arrival: Arrival,
    /// What it says, as it was when it was handed over; nothing if it is no text.
    pub text: Option<String>,
}

/// An artifact that went to, or came from, a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The other node.
    pub node: String,
    /// Where the artifact stands.
    pub path: String,
}

/// A node that may be handed to and was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owed {
    /// The node.
    pub node: String,
    /// Whether it may be left out.
    pub is_optional: bool,
}

/// Everything that a meta-analysis packet says.
#[derive(Debug, Clone)]
pub struct Reflection {
    /// The role instance that looks back.
    pub role: RoleInstance,
    /// How to reflect, in the project's words.
    pub guide: Option<String>,
    /// The record folder, as the role is to write it in paths.
    pub record: String,
    /// Where in it the findings must be written.
    pub findings_path: String,
    /// What other roles found.
    pub findings: Vec<Reading>,
}

/// Everything that the feedback packet says.
#[derive(Debug, Clone)]
pub struct Feedback {
    /// What the flow is called.
    pub flow_title: String,
    /// The record folder, as the role is to write it in paths.
    pub record: String,
    /// Where in it the report must be written.
    pub report_path: String,
    /// What all roles found.
    pub findings: Vec<Reading>,
}
