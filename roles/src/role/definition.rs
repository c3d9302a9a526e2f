//! What the prompts are made of.

use a_society_facts::fact::chat::ChatContext;

use crate::handoff::AllowedOutcomes;

/// Everything that a system prompt says, built once for each role instance and kept. Nothing in it
/// depends on the flow or on the machine.
#[derive(Debug, Clone)]
pub struct RoleBriefing {
    /// Who the role is and how it works, in the words of its definition.
    pub role: ReadingText,
    /// Rules for every role of the project.
    pub rules: Option<ReadingText>,
    /// What the role has to know, in full.
    pub readings: Vec<ReadingText>,
    /// What the role can look up when it needs it.
    pub skills: Vec<Skill>,
    /// Whether the role has tools; without them it ends its turns by blocks alone.
    pub has_tools: bool,
    /// Whether a role with tools is shown the other blocks, too: small models often write what they
    /// should call.
    pub shows_blocks: bool,
    /// What its chat is about, if it takes part in no flow.
    pub chat: Option<ChatContext>,
}

/// A text that is read in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadingText {
    /// Its path, from the project folder; empty for a text of the flow's own file.
    pub path: String,
    /// The name by which other texts speak of it.
    pub variable: Option<String>,
    /// What it says.
    pub text: String,
}

impl ReadingText {
    /// The reading without what it says, for a window in which it would leave no room.
    #[must_use]
    pub fn by_its_path(&self) -> Self {
        let bytes = self.text.len();
        Self {
            text: format!("Too long to show: {bytes} bytes. Read it with read_file or grep."),
            ..self.clone()
        }
    }
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
    /// Whether the operator plays the role: their screen shows where they are and how a turn ends.
    pub is_operators: bool,
    /// Whether the operator has to approve what goes forward from here.
    pub is_human_colab: bool,
    /// What the flow was asked to do, if it was asked anything.
    pub input: Option<FlowInput>,
    /// The task.
    pub work: Vec<String>,
    /// What the node asks to be read.
    pub readings: Vec<ReadingText>,
    /// The paths of what the role has read for its system prompt, which is not repeated.
    pub known_readings: Vec<String>,
    /// What came, what did not, what went, what did not.
    pub picture: Picture,
    /// What is needed to write the graph of the flow, if it has none yet.
    pub draft: Option<DraftingBriefing>,
    /// How the turn may end.
    pub allowed: AllowedOutcomes,
}

/// What a role that drafts a graph needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftingBriefing {
    /// The roles there are, each with the first line of its file.
    pub roles: Vec<(String, String)>,
    /// The graph of the project, if it has one.
    pub graph: Option<ReadingText>,
}

/// The handoffs around a node at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// What arrived and is read now.
    pub received: Vec<Received>,
    /// Nodes whose handoff has not arrived.
    pub not_yet_received: Vec<String>,
    /// What was handed on before.
    pub sent: Vec<SentArtifact>,
    /// What arrived earlier and no longer counts, because its sender was asked to correct it.
    pub dropped: Vec<SentArtifact>,
}

/// How an artifact came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactArrival {
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
    /// Its path.
    pub path: String,
    /// How it came.
    pub arrival: ArtifactArrival,
    /// How long it is.
    pub bytes: u64,
    /// What it says, as it was when it was handed off.
    pub content: ArtifactContent,
}

/// What is shown of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactContent {
    /// All of it.
    Whole(String),
    /// Nothing, because all of them together are too long.
    TooLong,
    /// Nothing, because it is not text.
    NotText,
}

/// An artifact that went to, or came from, a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentArtifact {
    /// The other node.
    pub node: String,
    /// The path of the artifact.
    pub path: String,
}

/// Everything that a meta-analysis packet says.
#[derive(Debug, Clone)]
pub struct ReflectionBriefing {
    /// How to reflect, in the project's words.
    pub guide: Option<String>,
    /// Where the findings must be written.
    pub findings_path: String,
    /// What other roles found.
    pub findings: Vec<ReadingText>,
}

/// Everything that the feedback packet says.
#[derive(Debug, Clone)]
pub struct FeedbackBriefing {
    /// What the flow is called.
    pub flow_title: String,
    /// Where the report must be written.
    pub report_path: String,
    /// What all roles found.
    pub findings: Vec<ReadingText>,
}
