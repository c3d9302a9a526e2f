//! The outcomes of a turn, as far as its text reveals them. Whether one is legal, the machine decides.

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleOutcome {
    /// Work goes to these neighbours, all at once. There is at least one.
    Handoff(Vec<NamedTarget>),
    /// The node waits for the operator.
    PromptHuman,
    /// The node waits for an inbound handoff.
    AwaitHandoff,
    /// The forward work is done.
    ForwardPassClosed,
    /// A meta-analysis turn is done.
    MetaAnalysisComplete {
        /// Where the findings are, as the role wrote it.
        findings_path: String,
    },
    /// The feedback turn is done.
    BackwardPassComplete {
        /// Where the report is, as the role wrote it.
        artifact_path: String,
    },
}

/// One receiver of a handoff, as the role wrote it. Neither name has been looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTarget {
    /// The neighbour.
    pub target_node_id: String,
    /// What it receives.
    pub artifact_path: String,
}
