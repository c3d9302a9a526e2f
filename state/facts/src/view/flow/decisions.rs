//! What was decided in a flow: about what, by whom and when. Every list and every sum of decisions on a screen is
//! made from this.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::FlowState;
use crate::at::At;
use crate::fact::Fact;
use crate::fact::flow::FactAuthor;
use crate::fact::improvement::ImprovementMode;
use crate::fact::node::HandoffDecided;
use crate::fact::operator::{
    AnsweredBefore, ChosenBy, ConsentAnswer, ConsentMode, ConsentResolved, DecidingRule,
};
use crate::fact::terms::subject;
use crate::id::{ClientId, NodeId, RoleInstance, Seq};
use crate::limits::{ABOUT_BYTES_MAX, DECISIONS_MAX, RULES_COUNTED_MAX};
use crate::line::Recorded;
use crate::words::permissions::{self, YOU};

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowDecision {
    /// Its record.
    pub seq: Seq,
    /// When it was made.
    pub at: At,
    /// The node that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The role that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleInstance>,
    /// What was decided.
    pub what: DecidedMatter,
    /// More of what it was about, in a line: a command, files, the operator's answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Who decided.
    pub by: Decider,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedMatter {
    /// Whether a call runs.
    Call {
        /// Its tool.
        tool: String,
        /// The answer.
        answer: ConsentAnswer,
    },
    /// Whether a handoff goes to its receivers.
    Handoff {
        /// The answer.
        approved: bool,
    },
    /// A role that waited got an answer in words.
    Answer,
    /// How much the flow may do without asking.
    Permissions(ConsentMode),
    /// The settings of a role.
    Configuration,
    /// How roles look back on their work.
    Retrospective(ImprovementMode),
    /// Whether a report is written.
    Report {
        /// The answer.
        granted: bool,
    },
    /// Whether a proposed change of a file is applied.
    Change {
        /// The answer.
        applied: bool,
    },
    /// The flow ends before it is done.
    Cancellation,
}

impl DecidedMatter {
    /// The answer to a call, if it was about one.
    #[must_use]
    pub const fn call(&self) -> Option<ConsentAnswer> {
        match self {
            Self::Call { answer, .. } => Some(*answer),
            Self::Handoff { .. }
            | Self::Answer
            | Self::Permissions(_)
            | Self::Configuration
            | Self::Retrospective(_)
            | Self::Report { .. }
            | Self::Change { .. }
            | Self::Cancellation => None,
        }
    }
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// The operator, when it was asked.
    Operator {
        /// The client's name for the command; absent if it came from the terminal that drives the flow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<ClientId>,
    },
    /// A rule.
    Rule(DecidingRule),
    /// The flow, which never asks.
    FullAccess,
    /// The operator, when he allowed a call like it for the rest of the flow.
    Grant,
    /// The operator, when he chose how the flow is to end.
    Beforehand,
}

impl Decider {
    /// Who it is, after "by".
    #[must_use]
    pub fn words(&self, answer: ConsentAnswer) -> String {
        match self {
            Self::Operator { .. } | Self::Grant | Self::Beforehand => YOU.to_owned(),
            Self::Rule(rule) => rule.words(answer),
            Self::FullAccess => permissions::mode(ConsentMode::FullAccess).to_owned(),
        }
    }

    /// The same of an answer to a request for consent, as far as its record says it.
    #[must_use]
    pub fn of(by: Option<&DecidingRule>, beforehand: Option<AnsweredBefore>) -> Option<Self> {
        match (by, beforehand) {
            (Some(rule), _) => Some(Self::Rule(rule.clone())),
            (None, Some(AnsweredBefore::FullAccess)) => Some(Self::FullAccess),
            (None, Some(AnsweredBefore::Grant)) => Some(Self::Grant),
            (None, None) => None,
        }
    }
}

/// How often calls and handoffs were decided, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DecisionTally {
    /// By the operator.
    #[serde(default)]
    pub operator: u64,
    /// By the flow, which never asks.
    #[serde(default)]
    pub full_access: u64,
    /// By rules, in the order in which they decided first.
    #[serde(default)]
    pub rules: Vec<RuleTally>,
    /// By rules that are not counted one by one.
    #[serde(default)]
    pub other_rules: u64,
}

/// How often a rule gave an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTally {
    /// The rule.
    pub by: DecidingRule,
    /// Its answer.
    pub answer: ConsentAnswer,
    /// How often.
    pub times: u64,
}

/// The last decisions of a flow, and how many there were.
///
/// What a rule decides about a call before the operator is asked is counted and not listed: there may be
/// hundreds, and the feed has each of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Decisions {
    last: VecDeque<FlowDecision>,
    tally: DecisionTally,
}

impl Decisions {
    /// The last decisions, newest first.
    pub fn last(&self) -> impl Iterator<Item = &FlowDecision> {
        self.last.iter()
    }

    /// The last decisions about a role, newest first.
    pub fn about<'a>(&'a self, role: &'a RoleInstance) -> impl Iterator<Item = &'a FlowDecision> {
        self.last().filter(|one| one.role.as_ref() == Some(role))
    }

    /// How many there were.
    #[must_use]
    pub const fn tally(&self) -> &DecisionTally {
        &self.tally
    }

    /// Takes the next fact. The state is the one *before* it, which still knows what the fact closes.
    pub fn apply(&mut self, before: &FlowState, recorded: &Recorded) {
        let Some(fact) = recorded.fact() else {
            return;
        };
        if let Fact::ConsentRuled(f) = fact {
            self.tally.rule(&f.by, f.answer);
        }
        let Some(made) = made(before, fact) else {
            return;
        };
        let made = made.at(recorded);
        self.tally.count(&made);
        self.last.push_front(made);
        self.last.truncate(DECISIONS_MAX);
    }
}

impl DecisionTally {
    fn count(&mut self, made: &FlowDecision) {
        let answer = match made.what {
            DecidedMatter::Call { answer, .. } => answer,
            DecidedMatter::Handoff { .. } => ConsentAnswer::AllowOnce,
            DecidedMatter::Answer
            | DecidedMatter::Permissions(_)
            | DecidedMatter::Configuration
            | DecidedMatter::Retrospective(_)
            | DecidedMatter::Report { .. }
            | DecidedMatter::Change { .. }
            | DecidedMatter::Cancellation => return,
        };
        match &made.by {
            Decider::Operator { .. } | Decider::Grant | Decider::Beforehand => self.operator += 1,
            Decider::FullAccess => self.full_access += 1,
            Decider::Rule(by) => self.rule(by, answer),
        }
    }

    fn rule(&mut self, by: &DecidingRule, answer: ConsentAnswer) {
        let is_it = |known: &&mut RuleTally| known.by == *by && known.answer == answer;
        if let Some(known) = self.rules.iter_mut().find(is_it) {
            known.times += 1;
        } else if self.rules.len() < RULES_COUNTED_MAX {
            self.rules.push(RuleTally {
                by: by.clone(),
                answer,
                times: 1,
            });
        } else {
            self.other_rules += 1;
        }
    }
}

/// A decision without its place in the journal.
struct DecisionSketch {
    node: Option<NodeId>,
    role: Option<RoleInstance>,
    what: DecidedMatter,
    about: String,
    by: Decider,
}

impl DecisionSketch {
    /// One of the operator, about the flow as a whole.
    fn new(what: DecidedMatter, client: Option<&ClientId>) -> Self {
        Self {
            node: None,
            role: None,
            what,
            about: String::new(),
            by: Decider::Operator {
                client: client.cloned(),
            },
        }
    }

    fn beforehand(self, is_so: bool) -> Self {
        let by = if is_so { Decider::Beforehand } else { self.by };
        Self { by, ..self }
    }

    fn at(self, recorded: &Recorded) -> FlowDecision {
        let about = self.about.lines().next().unwrap_or_default();
        let about = &about[..about.floor_char_boundary(ABOUT_BYTES_MAX)];
        FlowDecision {
            seq: recorded.seq,
            at: recorded.at,
            node: self.node,
            role: self.role,
            what: self.what,
            about: about.to_owned(),
            by: self.by,
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most facts are no decisions, and one that is new is none until this says so"
)]
fn made(before: &FlowState, fact: &Fact) -> Option<DecisionSketch> {
    match fact {
        Fact::ConsentResolved(f) => call(before, f),
        Fact::HandoffDecided(f) => Some(handoff(before, f)),
        // What a person says in a chat decides nothing.
        Fact::OperatorReplied(_) if before.chat.is_some() => None,
        Fact::OperatorReplied(f) => Some(DecisionSketch {
            node: f.node.clone(),
            role: Some(f.role.clone()),
            about: f.text.shown(),
            ..DecisionSketch::new(DecidedMatter::Answer, f.client.as_ref())
        }),
        // What is allowed for the flow is remembered from then on; that was decided with the call.
        Fact::ConsentModeChanged(f)
            if f.client.is_none()
                && f.mode == ConsentMode::PartialAccess
                && before.consent_mode == ConsentMode::NoAccess
                && !before.grants.is_empty() =>
        {
            None
        }
        Fact::ConsentModeChanged(f) => Some(DecisionSketch::new(
            DecidedMatter::Permissions(f.mode),
            f.client.as_ref(),
        )),
        Fact::RoleConfigured(f) if f.by == ChosenBy::Operator => Some(DecisionSketch {
            role: Some(f.role.clone()),
            ..DecisionSketch::new(DecidedMatter::Configuration, f.client.as_ref())
        }),
        Fact::ImprovementChosen(f) => {
            let made = DecisionSketch::new(DecidedMatter::Retrospective(f.mode), f.client.as_ref());
            // Journals without the member: what is chosen beforehand is never asked.
            let was = f.client.is_none() && before.ends.improve == Some(f.mode);
            Some(made.beforehand(f.beforehand || was))
        }
        Fact::FeedbackDecided(f) => {
            let what = DecidedMatter::Report { granted: f.granted };
            let was = f.client.is_none() && before.ends.feedback == Some(f.granted);
            Some(DecisionSketch::new(what, f.client.as_ref()).beforehand(f.beforehand || was))
        }
        Fact::ChangeDecided(f) => {
            let change = before.changes.get(&f.change);
            let what = DecidedMatter::Change { applied: f.applied };
            Some(DecisionSketch {
                role: change.map(|change| change.role.clone()),
                about: change.map(|change| change.path.clone()).unwrap_or_default(),
                ..DecisionSketch::new(what, f.client.as_ref())
            })
        }
        Fact::FlowCancelled(f) if f.by == FactAuthor::Operator => Some(DecisionSketch {
            about: f.why.clone().unwrap_or_default(),
            ..DecisionSketch::new(DecidedMatter::Cancellation, f.client.as_ref())
        }),
        _ => None,
    }
}

/// The decision about a call; withdrawing a request decides nothing.
fn call(before: &FlowState, f: &ConsentResolved) -> Option<DecisionSketch> {
    if f.answer == ConsentAnswer::Withdrawn {
        return None;
    }
    let open = before.consents.get(&f.consent);
    let what = DecidedMatter::Call {
        tool: open.map(|open| open.tool.clone()).unwrap_or_default(),
        answer: f.answer,
    };
    // Journals without the member: a flow that never asks answers by itself, except what it asks in spite of that.
    let never_asked = || {
        let is_asked = open.is_none_or(|open| open.narrowed);
        let never = before.consent_mode == ConsentMode::FullAccess && !is_asked;
        (never && f.client.is_none()).then_some(Decider::FullAccess)
    };
    let by = Decider::of(f.by.as_ref(), f.beforehand).or_else(never_asked);
    let made = DecisionSketch::new(what, f.client.as_ref());
    Some(DecisionSketch {
        node: open.and_then(|open| open.node.clone()),
        role: open.map(|open| open.role.clone()),
        about: open
            .map(|open| subject(open.terms.as_ref(), &open.shown.shown()))
            .unwrap_or_default(),
        by: by.unwrap_or(made.by),
        ..made
    })
}

fn handoff(before: &FlowState, f: &HandoffDecided) -> DecisionSketch {
    let staged = before.staged.get(&f.approval);
    let first = staged.and_then(|staged| staged.deliveries.first());
    let what = DecidedMatter::Handoff {
        approved: f.approved,
    };
    DecisionSketch {
        node: staged.map(|staged| staged.node.clone()),
        role: staged
            .and_then(|staged| before.role_of(&staged.node))
            .cloned(),
        about: first
            .map(|first| first.artifact.path.clone())
            .unwrap_or_default(),
        ..DecisionSketch::new(what, f.client.as_ref())
    }
}
