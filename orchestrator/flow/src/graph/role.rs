//! A role that a flow file defines itself, beside its workflow.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// Gives a closed set of words its spelling and its list, which parser, schema and text share.
macro_rules! choices {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $type {
            /// Every choice with its word, in the order in which they are explained.
            pub const ALL: &[(Self, &str)] = &[$((Self::$variant, $word),)*];

            /// The word that a file uses.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

choices! {
    /// Who plays a role.
    Executor {
        /// A language model; the default.
        Model "model",
        /// The operator.
        Human "human",
        /// A program.
        Command "command",
        /// A script of answers, for examples, tests and demonstrations.
        Scripted "scripted",
    }
}

choices! {
    /// How a role's tool calls are consented to at most.
    PermissionMode {
        /// Ask every time.
        NoAccess "no-access",
        /// Honour what is granted.
        PartialAccess "partial-access",
        /// Never ask.
        FullAccess "full-access",
    }
}

choices! {
    /// How far the tools of a role reach at most, the narrowest first.
    ToolScope {
        /// The project and the record folder.
        Sandboxed "sandboxed",
        /// These, and the folders that the operator named.
        Project "project",
        /// Whatever the operator's configuration allows.
        Full "full",
    }
}

choices! {
    /// What the end of a command means when it printed no handoff block.
    ExitOutcome {
        /// Its output goes to every successor.
        Forward "forward",
        /// Its output goes back to every predecessor whose work it received.
        Backward "backward",
        /// The node waits for the operator.
        PromptHuman "prompt-human",
        /// The forward work is done.
        Close "forward-pass-closed",
    }
}

/// A role as a self-contained flow file defines it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct InlineRole {
    /// Who the role is and how it works; required for a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Who takes its turns; a model unless it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor: Option<Executor>,
    /// Which model, by its configured name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hard the model is to think, in its provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The tools it may use; all of them when the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The MCP servers it may use, by their configured names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<String>>,
    /// The skills it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// What it reads before everything else. The key is spelled as it is at nodes.
    #[serde(rename = "required_readings", skip_serializing_if = "Option::is_none")]
    pub required_readings: Option<Vec<String>>,
    /// The program of a command role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandRole>,
    /// What narrows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// What it may spend in one flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<RoleBudget>,
}

impl InlineRole {
    /// Who takes its turns.
    pub fn executor(&self) -> Executor {
        self.executor.unwrap_or(Executor::Model)
    }
}

/// The program of a command role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CommandRole {
    /// The program and its arguments. No shell reads them.
    pub run: Vec<String>,
    /// How long it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit_seconds: Option<u32>,
    /// How much of its output is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit_bytes: Option<u64>,
    /// What its exit codes mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_exit: Option<ExitMapping>,
}

/// What the exit codes of a command mean when it printed no handoff block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExitMapping {
    /// Codes with a meaning of their own.
    pub codes: BTreeMap<u8, ExitOutcome>,
    /// All other codes.
    pub otherwise: Option<ExitOutcome>,
}

impl ExitMapping {
    /// What a code means, if the file says.
    #[cfg(test)]
    pub(crate) fn outcome(&self, code: u8) -> Option<ExitOutcome> {
        self.codes.get(&code).copied().or(self.otherwise)
    }
}

impl Serialize for ExitMapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let codes = self
            .codes
            .iter()
            .map(|(code, outcome)| (code.to_string(), *outcome));
        let otherwise = self
            .otherwise
            .map(|outcome| ("otherwise".to_owned(), outcome));
        serializer.collect_map(codes.chain(otherwise))
    }
}

/// What narrows a role. A file cannot grant anything: everyone who can write into a project would then
/// decide what runs unasked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Permissions {
    /// The most that it may do without asking, whatever the flow may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PermissionMode>,
    /// How far its tools reach at most, whatever the operator's configuration allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ToolScope>,
    /// Whether its commands may use the network, if the operator's configuration allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Of no effect, as are the next two: only the operator grants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<bool>,
    /// Commands, each exactly as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<String>>,
    /// MCP tools, as `server/tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_tools: Option<Vec<String>>,
}

/// What a role may spend in one flow. At a limit it waits for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoleBudget {
    /// Money, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
    /// Tokens, in and out together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_means_what_it_is_mapped_to_and_otherwise_what_the_rest_means() {
        let mapping = ExitMapping {
            codes: BTreeMap::from([(0, ExitOutcome::Forward), (3, ExitOutcome::Backward)]),
            otherwise: Some(ExitOutcome::PromptHuman),
        };
        assert_eq!(mapping.outcome(0), Some(ExitOutcome::Forward));
        assert_eq!(mapping.outcome(3), Some(ExitOutcome::Backward));
        assert_eq!(mapping.outcome(9), Some(ExitOutcome::PromptHuman));
        assert_eq!(ExitMapping::default().outcome(0), None);
    }

    #[test]
    fn a_role_is_a_model_unless_it_says_otherwise() {
        assert_eq!(InlineRole::default().executor(), Executor::Model);
    }
}
