//! What a script says, once it is known to be sound.

use std::sync::Arc;

use crate::reading::TextFault;
use a_society_facts::fact::turn::{Effect, Usage};
use a_society_facts::id::{NodeId, RoleInstance};
use serde_json::value::RawValue;

use super::parse;
use crate::handoff::{NamedTarget, Signal};
use crate::port::RecordPath;
use crate::turn::job::TurnJob;

/// A whole script.
#[derive(Debug, Clone, Default)]
pub struct RoleScript {
    /// The entries, in the order of the file.
    pub entries: Vec<Arc<ScriptEntry>>,
    /// What happens in turns that no entry fits.
    pub default: Option<ScriptDefaults>,
}

/// What a turn does that a script does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptDefaults {
    /// It hands to every forward neighbour, closes, or writes its report.
    Forward,
}

/// What a role does in the turns that match.
#[derive(Debug, Clone)]
pub struct ScriptEntry {
    /// Where the entry begins in its file; 0 if it comes from none.
    pub line: usize,
    /// Only turns of this role instance.
    pub role: Option<RoleInstance>,
    /// Only turns at this node.
    pub node: Option<NodeId>,
    /// Only the nth turn of the role there, from 1.
    pub turn: Option<u32>,
    /// Only turns of this phase.
    pub phase: ScriptPhase,
    /// What it says and does.
    pub say: Vec<ScriptItem>,
    /// What it does instead when it must correct an outcome: the first time, the second, and so on.
    pub mend: Vec<Vec<ScriptItem>>,
    /// What each answer costs.
    pub usage: Usage,
}

/// A phase of a flow, as far as scripts tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptPhase {
    /// The nodes of the graph.
    Forward,
    /// A role looks back.
    MetaAnalysis,
    /// The feedback report.
    Feedback,
}

impl ScriptPhase {
    /// The phase that a turn belongs to.
    #[must_use]
    pub fn of(job: &TurnJob) -> Self {
        let is_feedback = |signal: &Signal| matches!(signal, Signal::BackwardPassComplete { .. });
        if job.node.is_some() {
            Self::Forward
        } else if job.allowed.signals.iter().any(is_feedback) {
            Self::Feedback
        } else {
            Self::MetaAnalysis
        }
    }
}

/// One thing that a role says or does.
#[derive(Debug, Clone)]
pub enum ScriptItem {
    /// Text.
    Say(ScriptedText),
    /// Reasoning.
    Reasoning(String),
    /// Time passes.
    Wait {
        /// How much.
        ms: u64,
    },
    /// The request fails.
    Fault {
        /// What kind of failure, in one word.
        class: String,
        /// What the provider says.
        message: String,
        /// How long until the next try; without it the turn ends.
        retry_in_ms: Option<u64>,
        /// After how long a limit resets, so that the flow goes on by itself; only where the turn ends.
        resets_in_ms: Option<u64>,
    },
    /// A tool call.
    Call(CallItem),
    /// A file of the record folder is written, as a tool call.
    Write {
        /// Where.
        path: RecordPath,
        /// Its whole text.
        text: String,
    },
    /// The file that the turn was assigned is written, as a tool call.
    Report(String),
    /// The turn ends: artifacts go to neighbours.
    Handoff(Vec<NamedTarget>),
    /// The turn ends with a signal.
    Signal(SignalWord),
    /// The turn ends with this body of a block, whatever it is.
    Raw(String),
    /// The turn ends: an artifact is written and handed to each forward neighbour.
    Forward(String),
    /// The turn ends: an artifact is written and handed back to each backward neighbour.
    Back(String),
    /// The turn ends: the provider stops for its output limit.
    OutputLimit,
}

/// Text, and how it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedText {
    /// The text.
    pub text: String,
    /// In how many pieces.
    pub pieces: u32,
    /// How much time passes between them.
    pub every_ms: u64,
}

impl ScriptedText {
    /// Text that arrives in one piece.
    #[must_use]
    pub(crate) fn whole(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            pieces: 1,
            every_ms: 0,
        }
    }
}

/// A tool call that only pretends.
#[derive(Debug, Clone)]
pub struct CallItem {
    /// The tool.
    pub tool: String,
    /// The arguments, a JSON object.
    pub input: Box<RawValue>,
    /// What it answers.
    pub output: String,
    /// What it would do to the world.
    pub effect: Effect,
    /// Whether it fails.
    pub fails: bool,
    /// How long it runs.
    pub takes_ms: u64,
}

/// The signals of a handoff block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalWord {
    /// Ask the operator.
    PromptHuman,
    /// Wait for a handoff.
    AwaitHandoff,
    /// The forward work is done.
    ForwardPassClosed,
    /// A meta-analysis is done; names the path that was assigned.
    MetaAnalysisComplete,
    /// The feedback is done; names the path that was assigned.
    BackwardPassComplete,
}

impl SignalWord {
    /// Every signal with the word that a script has for it.
    pub(crate) const ALL: &[(Self, &str)] = &[
        (Self::PromptHuman, "prompt-human"),
        (Self::AwaitHandoff, "await-handoff"),
        (Self::ForwardPassClosed, "forward-pass-closed"),
        (Self::MetaAnalysisComplete, "meta-analysis-complete"),
        (Self::BackwardPassComplete, "backward-pass-complete"),
    ];
}

impl RoleScript {
    /// Reads a script, or says everything that is wrong with it, in the order of the file.
    pub fn parse(text: &str) -> Result<Self, Vec<TextFault>> {
        parse::script(text)
    }

    /// A script for a role that cannot look back: this text is left in place of its findings.
    #[must_use]
    pub fn in_place_of_findings(role: RoleInstance, text: String) -> Self {
        let entry = ScriptEntry {
            line: 0,
            role: Some(role),
            node: None,
            turn: None,
            phase: ScriptPhase::MetaAnalysis,
            say: vec![
                ScriptItem::Report(text),
                ScriptItem::Signal(SignalWord::MetaAnalysisComplete),
            ],
            mend: Vec::new(),
            usage: Usage::default(),
        };
        Self {
            entries: vec![Arc::new(entry)],
            default: None,
        }
    }

    /// The entry for a turn, or why there is none.
    pub(crate) fn entry_for(&self, job: &TurnJob) -> Result<Arc<ScriptEntry>, String> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.fits(job)) {
            return Ok(Arc::clone(entry));
        }
        match self.default {
            Some(ScriptDefaults::Forward) => Ok(Arc::new(ScriptEntry::forward(job))),
            None => Err(nothing_for(job)),
        }
    }
}

fn nothing_for(job: &TurnJob) -> String {
    let turn = job.turns_before.saturating_add(1);
    let place = match (&job.node, ScriptPhase::of(job)) {
        (Some(node), _) => format!("at node `{node}`, turn {turn}"),
        (None, ScriptPhase::Feedback) => "in the feedback phase".to_owned(),
        (None, ScriptPhase::Forward | ScriptPhase::MetaAnalysis) => {
            "in the meta-analysis phase".to_owned()
        }
    };
    format!(
        "the script says nothing for role `{}` {place}; add an entry that fits it, \
         or `default: forward`",
        job.role
    )
}

impl ScriptEntry {
    fn fits(&self, job: &TurnJob) -> bool {
        self.phase == ScriptPhase::of(job)
            && self.role.as_ref().is_none_or(|role| *role == job.role)
            && self
                .node
                .as_ref()
                .is_none_or(|node| Some(node) == job.node.as_ref())
            && self
                .turn
                .is_none_or(|turn| turn == job.turns_before.saturating_add(1))
    }

    /// Whether every turn that the other fits is one that this fits.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.phase == other.phase
            && (self.role.is_none() || self.role == other.role)
            && (self.node.is_none() || self.node == other.node)
            && (self.turn.is_none() || self.turn == other.turn)
    }

    /// The default for a turn that no entry matches.
    fn forward(job: &TurnJob) -> Self {
        let phase = ScriptPhase::of(job);
        let text = format!("Written by `{}`, which follows no script here.\n", job.role);
        let say = match phase {
            ScriptPhase::Forward => vec![ScriptItem::Forward(text)],
            ScriptPhase::MetaAnalysis => {
                vec![
                    ScriptItem::Report(text),
                    ScriptItem::Signal(SignalWord::MetaAnalysisComplete),
                ]
            }
            ScriptPhase::Feedback => {
                vec![
                    ScriptItem::Report(text),
                    ScriptItem::Signal(SignalWord::BackwardPassComplete),
                ]
            }
        };
        Self {
            line: 0,
            role: None,
            node: None,
            turn: None,
            phase,
            say,
            mend: Vec::new(),
            usage: Usage::default(),
        }
    }
}
