//! What a flow asks its operator: who asks, what and since when, which facts belong to the decision, and which keys
//! answer. The page, the terminal, notifications and the events of `run --json` render this and look for none of it
//! themselves, so that they ask the same in the same order.

use a_society_facts::fact::budget::Lack;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{Trouble, WaitReason};
use a_society_facts::fact::terms::subject;
use a_society_facts::handoff::Delivery;
use a_society_facts::id::{CallId, NodeId, RoleInstance};
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{OpenConsent, OperatorWait};
use a_society_facts::words::asks::{
    CHOOSE_A_MODEL, END_YOUR_TURN, FINDINGS_ARE_WRITTEN, FLOW_IS_PAUSED, FORWARD_WORK_IS_DONE,
    NOTHING_CAN_RUN, RAISE_ITS_BUDGET, REOPEN_OR_REVISE, RUN_A_RETROSPECTIVE, WANTS_TO_HAND_OVER,
    WRITE_A_REPORT, needs, no_valid_outcome, pause, turn_failed, your_choice, your_turn_as,
};
use a_society_facts::words::capital;
use a_society_facts::words::choices::{self, ANSWER, Choice};
use a_society_facts::words::handoffs::hand_over_to;
use a_society_facts::words::retrospective::order;
use a_society_facts::{At, Hash, Verb, Whom};
use a_society_orchestrator::canonical;
use a_society_orchestrator::graph::FlowGraph;
use a_society_orchestrator::machine::{
    OperatorQuestion, Work, allowed, findings_path, question_of, report_path,
};

use super::{terms, words};
use crate::protocol::ask::{Fact, OwnFile, OwnTurn, ShortBudget};

/// One thing that is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAsk {
    /// The question itself.
    pub question: OperatorQuestion,
    /// The role that asks, if it is not the flow as a whole.
    pub role: Option<RoleInstance>,
    /// Since when.
    pub since: At,
    /// What the role asks, what would run, or more about a pause.
    pub says: Option<String>,
    /// What may be chosen as the answer.
    pub choices: Vec<String>,
    /// What keeps the role from its model.
    pub trouble: Option<Trouble>,
    /// What kind of failure a request of its turn met, in one stable word.
    pub failure_class: Option<String>,
    /// What the servers are that have to be approved.
    pub servers: Vec<Fact>,
    /// Whether it is asked in a chat.
    pub is_chat: bool,
    /// Whether it is a turn that the operator takes.
    pub is_own_turn: bool,
    /// Why it is asked again in such a turn.
    pub again: Option<String>,
    /// The budget that has to be raised first.
    pub budget: Option<ShortBudget>,
    /// The call that waits for consent.
    pub call: Option<AskedCall>,
    /// What would be handed over.
    pub deliveries: Vec<Delivery>,
}

/// A call that waits for the operator's consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    /// The call.
    pub call: CallId,
    /// Its tool, by the name that the role used.
    pub tool: String,
    /// The hash of what is shown; an answer to anything else is refused.
    pub action: Hash,
    /// What it does, in a line, as far as the role said it.
    pub summary: Option<String>,
    /// What it is about, in a line.
    pub about: String,
    /// What matters for the decision, in a fixed order.
    pub facts: Vec<Fact>,
    /// What else is allowed with it for the rest of the flow; absent if that cannot be.
    pub for_the_flow: Option<String>,
}

/// An answer that can be given, and the key that gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskAnswer {
    /// The key, where one key is enough or begins the answer.
    pub key: Option<char>,
    /// What it does.
    pub does: Answering,
}

/// What an answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answering {
    /// One of the choices that every screen calls the same.
    Choose(Choice),
    /// The role gets the choice of this place, counted from 0.
    Pick(usize),
    /// The role gets a text.
    Reply,
    /// The role gets settings.
    Configure,
    /// Roles look back in this way.
    Improve(ImprovementMode),
    /// A node is reopened.
    Reopen,
    /// The graph is revised.
    Revise,
}

/// Everything that waits for the operator in a flow, in the order in which the machine asks.
#[must_use]
pub fn open(state: &FlowState, pending: &[Work]) -> Vec<OpenAsk> {
    let questions = pending.iter().filter_map(|work| match work {
        // A chat that was answered, or has just begun, asks nothing.
        Work::AskOperator(OperatorQuestion::Text {
            reason: WaitReason::Message,
            ..
        }) => None,
        Work::AskOperator(question) => Some(question),
        Work::RunTurn { .. }
        | Work::StopTurn { .. }
        | Work::Claim { .. }
        | Work::StartReflection { .. }
        | Work::StartFeedback { .. }
        | Work::ApplyEnds
        | Work::WaitUntil { .. } => None,
    });
    questions
        .map(|question| OpenAsk::new(state, question))
        .collect()
}

/// The answers to a question, in the order in which they are offered.
#[must_use]
pub fn answers(
    question: &OperatorQuestion,
    is_for_the_flow: bool,
    choices: usize,
) -> Vec<AskAnswer> {
    use Answering::{Choose, Configure, Improve, Pick, Reopen, Reply, Revise};
    let keyed = |key, does| AskAnswer {
        key: Some(key),
        does,
    };
    let typed = |does| AskAnswer { key: None, does };
    match question {
        OperatorQuestion::Consent { .. } => {
            let once = [keyed('y', Choose(Choice::Allow))].into_iter();
            let more = is_for_the_flow.then_some(keyed('f', Choose(Choice::AllowFlow)));
            let no = [
                keyed('n', Choose(Choice::Deny)),
                keyed('r', Choose(Choice::DenyReason)),
            ];
            once.chain(more).chain(no).collect()
        }
        OperatorQuestion::Approval { .. } => vec![
            keyed('y', Choose(Choice::Approve)),
            keyed('n', Choose(Choice::Decline)),
            keyed('r', Choose(Choice::DeclineReason)),
        ],
        OperatorQuestion::Text { reason, .. } if is_retried(*reason) => vec![
            keyed('y', Choose(Choice::Retry)),
            keyed('r', Choose(Choice::RetryNote)),
        ],
        OperatorQuestion::Text { reason, .. } => {
            let raise = (*reason == WaitReason::Budget).then_some(typed(Choose(Choice::Raise)));
            let picks = "1234567890".chars().zip(0..choices);
            let picks = picks.map(|(key, at)| keyed(key, Pick(at)));
            let reply = match choices {
                0 => typed(Reply),
                _ => keyed('r', Reply),
            };
            let retry = reason.may_retry().then_some(typed(Choose(Choice::Retry)));
            raise
                .into_iter()
                .chain(picks)
                .chain([reply])
                .chain(retry)
                .collect()
        }
        OperatorQuestion::Configuration { .. } => {
            vec![typed(Configure), typed(Choose(Choice::Retry))]
        }
        OperatorQuestion::Improvement { modes } => {
            let each = modes.iter().map(|mode| match mode {
                ImprovementMode::GraphBased => keyed('g', Improve(*mode)),
                ImprovementMode::Parallel => keyed('p', Improve(*mode)),
                ImprovementMode::None => keyed('n', Improve(*mode)),
            });
            each.collect()
        }
        OperatorQuestion::Feedback => vec![
            keyed('y', Choose(Choice::Grant)),
            keyed('n', Choose(Choice::Refuse)),
        ],
        OperatorQuestion::Unpause { .. } => vec![keyed('y', Choose(Choice::Continue))],
        OperatorQuestion::Stalled => vec![typed(Reopen), typed(Revise)],
    }
}

/// Whether a turn that waits for this reason is first of all tried again.
#[must_use]
pub const fn is_retried(reason: WaitReason) -> bool {
    matches!(
        reason,
        WaitReason::AutonomousAbort | WaitReason::RepairLimit | WaitReason::Provider
    )
}

impl Answering {
    /// What it does, beside its key.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Choose(choice) => choices::label(choice),
            Self::Pick(_) => choices::CHOOSE,
            Self::Reply => ANSWER,
            Self::Configure => CHOOSE_A_MODEL,
            Self::Improve(mode) => order(mode),
            Self::Reopen | Self::Revise => REOPEN_OR_REVISE,
        }
    }
}

/// The node and the role that a question is from; an approval is from the role that has the node.
fn whose<'q>(
    state: &'q FlowState,
    question: &'q OperatorQuestion,
) -> (Option<&'q NodeId>, Option<&'q RoleInstance>) {
    match question {
        OperatorQuestion::Text { node, role, .. }
        | OperatorQuestion::Consent { node, role, .. }
        | OperatorQuestion::Configuration { node, role } => (node.as_ref(), Some(role)),
        OperatorQuestion::Approval { node, .. } => (Some(node), state.role_of(node)),
        OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Unpause { .. }
        | OperatorQuestion::Stalled => (None, None),
    }
}

impl AskedCall {
    fn of(state: &FlowState, open: &OpenConsent, shown: &str) -> Self {
        let summary = (state.calls.get(&open.call)).map(|call| call.summary.clone());
        Self {
            call: open.call.clone(),
            tool: open.tool.clone(),
            action: open.action,
            summary: summary.filter(|said| !said.trim().is_empty()),
            about: subject(open.terms.as_ref(), shown),
            facts: call_facts(state, open),
            for_the_flow: terms::scope(&open.tool, shown),
        }
    }
}

impl OpenAsk {
    /// A question with all that the state knows about it.
    #[must_use]
    pub fn new(state: &FlowState, question: &OperatorQuestion) -> Self {
        let (node, role) = whose(state, question);
        let mut waits = state.waits();
        let waiting = waits.find(|(at, waiting)| *at == node && Some(&waiting.role) == role);
        let waiting = waiting.map(|(_, waiting)| waiting);
        let ask = Self {
            question: question.clone(),
            role: role.cloned(),
            since: state.updated_at.unwrap_or(At::from_ms(0)),
            says: None,
            choices: Vec::new(),
            trouble: None,
            failure_class: None,
            servers: Vec::new(),
            is_chat: state.chat.is_some(),
            is_own_turn: false,
            again: None,
            budget: None,
            call: None,
            deliveries: Vec::new(),
        };
        match question {
            OperatorQuestion::Text { .. } | OperatorQuestion::Configuration { .. } => {
                let Some(waiting) = waiting else { return ask };
                Self {
                    since: waiting.since,
                    says: waiting.words(),
                    again: waiting.again(),
                    choices: waiting.choices.clone(),
                    trouble: waiting.trouble,
                    failure_class: waiting.failure_class(),
                    servers: terms::of_waiting(&waiting.servers),
                    is_own_turn: waiting.is_own_turn,
                    budget: short_of(state, waiting),
                    ..ask
                }
            }
            OperatorQuestion::Consent { consent, .. } => {
                let Some(open) = state.consents.get(consent) else {
                    return ask;
                };
                let shown = open.shown.shown();
                Self {
                    since: open.since,
                    call: Some(AskedCall::of(state, open, &shown)),
                    says: Some(shown),
                    ..ask
                }
            }
            OperatorQuestion::Approval { approval, .. } => match state.staged.get(approval) {
                Some(staged) => Self {
                    since: staged.since,
                    deliveries: staged.deliveries.clone(),
                    ..ask
                },
                None => ask,
            },
            OperatorQuestion::Unpause { .. } => match &state.paused {
                Some(paused) => Self {
                    since: paused.since,
                    says: paused.detail.clone(),
                    ..ask
                },
                None => ask,
            },
            OperatorQuestion::Improvement { .. }
            | OperatorQuestion::Feedback
            | OperatorQuestion::Stalled => ask,
        }
    }

    /// What a node, or a role that looks back, waits for the operator to say, if it does.
    #[must_use]
    pub fn of_wait(state: &FlowState, node: Option<&NodeId>, role: &RoleInstance) -> Option<Self> {
        let mut waits = state.waits();
        let (node, waiting) = waits.find(|(at, waiting)| *at == node && waiting.role == *role)?;
        Some(Self::new(state, &question_of(state, node, waiting)?))
    }

    /// The node that asks, if one does.
    #[must_use]
    pub const fn node(&self) -> Option<&NodeId> {
        match &self.question {
            OperatorQuestion::Text { node, .. }
            | OperatorQuestion::Consent { node, .. }
            | OperatorQuestion::Configuration { node, .. } => node.as_ref(),
            OperatorQuestion::Approval { node, .. } => Some(node),
            OperatorQuestion::Improvement { .. }
            | OperatorQuestion::Feedback
            | OperatorQuestion::Unpause { .. }
            | OperatorQuestion::Stalled => None,
        }
    }

    /// What matters for the decision, beside what is asked, in a fixed order.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        self.call.as_ref().map_or(&self.servers, |call| &call.facts)
    }

    /// Whom an answer in words goes to, if one does.
    #[must_use]
    pub fn whom(&self) -> Option<Whom> {
        whom(&self.question)
    }

    /// The name of the question in its flow, which stays for as long as it is asked.
    #[must_use]
    pub fn name(&self) -> String {
        let place = |kind: &str| match (self.node(), &self.role) {
            (Some(node), _) => format!("{kind}/{node}"),
            (None, Some(role)) => format!("{kind}/role:{role}"),
            (None, None) => kind.to_owned(),
        };
        match &self.question {
            OperatorQuestion::Text { .. } => place("text"),
            OperatorQuestion::Configuration { .. } => place("configuration"),
            OperatorQuestion::Consent { consent, .. } => format!("consent/{consent}"),
            OperatorQuestion::Approval { approval, .. } => format!("approval/{approval}"),
            OperatorQuestion::Improvement { .. } => "improvement".to_owned(),
            OperatorQuestion::Feedback => "feedback".to_owned(),
            OperatorQuestion::Unpause { .. } => "unpause".to_owned(),
            OperatorQuestion::Stalled => "stalled".to_owned(),
        }
    }

    /// Whether something cannot go on until it is answered. What roles look back on can wait: the work is done.
    #[must_use]
    pub(crate) const fn is_blocking(&self) -> bool {
        !matches!(
            self.question,
            OperatorQuestion::Improvement { .. } | OperatorQuestion::Feedback
        )
    }

    /// What is wanted, after "waits for".
    #[must_use]
    pub fn wants(&self) -> String {
        match &self.question {
            OperatorQuestion::Text { reason, .. } => reason.needs(self.trouble).to_owned(),
            OperatorQuestion::Configuration { .. } => {
                WaitReason::RoleConfiguration.needs(None).to_owned()
            }
            OperatorQuestion::Consent { .. } => {
                let what = WaitReason::Consent.needs(None);
                match &self.call {
                    Some(call) => format!("{what} of {}", call.tool),
                    None => what.to_owned(),
                }
            }
            OperatorQuestion::Approval { .. } => WaitReason::HandoffApproval.needs(None).to_owned(),
            OperatorQuestion::Improvement { .. } => your_choice(RUN_A_RETROSPECTIVE),
            OperatorQuestion::Feedback => your_choice(WRITE_A_REPORT),
            OperatorQuestion::Unpause { reason } => pause(*reason).to_owned(),
            OperatorQuestion::Stalled => format!("you to {REOPEN_OR_REVISE}: {NOTHING_CAN_RUN}"),
        }
    }

    /// Who wants what, as a heading.
    #[must_use]
    pub fn headline(&self) -> String {
        let role = self.role.as_ref().map_or("", RoleInstance::as_str);
        match &self.question {
            OperatorQuestion::Text { .. } if self.is_own_turn => capital(&your_turn_as(role)),
            OperatorQuestion::Text { .. } if self.failed().is_some() => turn_failed(role),
            OperatorQuestion::Text { .. } | OperatorQuestion::Configuration { .. } => {
                needs(role, &self.wants())
            }
            OperatorQuestion::Consent { .. } => {
                let tool = self.call.as_ref().map_or("", |call| &call.tool);
                format!("{role} {}", terms::wants(tool, None))
            }
            OperatorQuestion::Approval { node, .. } => {
                let who = self.role.as_ref().map_or(node.as_str(), |_| role);
                format!("{who} {WANTS_TO_HAND_OVER}")
            }
            OperatorQuestion::Improvement { .. } => capital(FORWARD_WORK_IS_DONE),
            OperatorQuestion::Feedback => capital(FINDINGS_ARE_WRITTEN),
            OperatorQuestion::Unpause { .. } => capital(FLOW_IS_PAUSED),
            OperatorQuestion::Stalled => capital(NOTHING_CAN_RUN),
        }
    }

    /// What an answer decides, in a few words.
    #[must_use]
    pub fn short(&self) -> String {
        match &self.question {
            OperatorQuestion::Text { reason, .. } => self.short_text(*reason),
            OperatorQuestion::Consent { .. } => {
                let Some(call) = &self.call else {
                    return String::new();
                };
                let about = words::short(&call.about);
                if canonical(&call.tool) == Some("run_command") {
                    return format!("Run {about}");
                }
                call.summary.as_deref().map_or(about, words::short)
            }
            OperatorQuestion::Configuration { .. } => capital(CHOOSE_A_MODEL),
            OperatorQuestion::Approval { .. } => {
                let to = self.deliveries.iter().map(|it| it.receiver().to_string());
                capital(&hand_over_to(&to.collect::<Vec<_>>().join(", ")))
            }
            OperatorQuestion::Improvement { .. } => capital(RUN_A_RETROSPECTIVE),
            OperatorQuestion::Feedback => capital(WRITE_A_REPORT),
            OperatorQuestion::Unpause { .. } => capital(choices::label(Choice::Continue)),
            OperatorQuestion::Stalled => capital(REOPEN_OR_REVISE),
        }
    }

    fn short_text(&self, reason: WaitReason) -> String {
        let asked = self.in_full();
        let asked = asked.as_deref().map(words::short_question);
        if self.is_own_turn {
            capital(END_YOUR_TURN)
        } else if let Some(failed) = self.failed() {
            words::short(&failed)
        } else if reason == WaitReason::ConsentDenied {
            capital(choices::label(Choice::RetryNote))
        } else if reason == WaitReason::Budget {
            capital(RAISE_ITS_BUDGET)
        } else {
            let asked = asked.filter(|asked| !asked.is_empty());
            asked.unwrap_or_else(|| capital(ANSWER))
        }
    }

    /// What it says, whole. Why a provider gave no answer is a line of ours; a role's question stays as it was written.
    #[must_use]
    pub(crate) fn in_full(&self) -> Option<String> {
        let says = self.says.as_deref()?;
        let is_ours = matches!(
            self.question,
            OperatorQuestion::Text {
                reason: WaitReason::Provider,
                ..
            }
        );
        Some(if is_ours {
            capital(says)
        } else {
            says.to_owned()
        })
    }

    /// What went wrong in a turn that failed. What the operator stopped has no reason; what failed has one.
    #[must_use]
    pub(crate) fn failed(&self) -> Option<String> {
        let OperatorQuestion::Text { reason, .. } = &self.question else {
            return None;
        };
        let text = self
            .says
            .as_deref()
            .filter(|text| !text.trim().is_empty())?;
        let why = words::failed(self.failure_class.as_deref(), text);
        match reason {
            WaitReason::AutonomousAbort => Some(capital(&why)),
            WaitReason::RepairLimit => Some(capital(&no_valid_outcome(&why))),
            WaitReason::PromptHuman
            | WaitReason::Consent
            | WaitReason::ConsentDenied
            | WaitReason::RoleConfiguration
            | WaitReason::HandoffApproval
            | WaitReason::Budget
            | WaitReason::Provider
            | WaitReason::Message => None,
        }
    }

    /// The answers, in the order in which they are offered.
    #[must_use]
    pub fn answers(&self) -> Vec<AskAnswer> {
        let call = self.call.as_ref();
        let is_for_the_flow = call.is_some_and(|call| call.for_the_flow.is_some());
        answers(&self.question, is_for_the_flow, self.choices.len())
    }
}

/// Whom an answer in words goes to, if a question is answered so.
#[must_use]
pub fn whom(question: &OperatorQuestion) -> Option<Whom> {
    let OperatorQuestion::Text { node, role, .. } = question else {
        return None;
    };
    Some(match node {
        Some(node) => Whom::Node(node.clone()),
        None => Whom::Role(role.clone()),
    })
}

/// What a key decides that needs no text; an answer to a call is bound to what was shown of it.
#[must_use]
pub fn decided(
    question: &OperatorQuestion,
    action: Option<Hash>,
    choices: &[String],
    does: Answering,
) -> Option<Verb> {
    use Answering::{Choose, Improve, Pick};
    let verb = match (question, does) {
        (
            OperatorQuestion::Consent { consent, .. },
            Choose(choice @ (Choice::Allow | Choice::AllowFlow)),
        ) => Verb::Allow {
            consent: Some(consent.clone()),
            action,
            for_the_flow: choice == Choice::AllowFlow,
        },
        (OperatorQuestion::Consent { consent, .. }, Choose(Choice::Deny)) => Verb::Deny {
            consent: Some(consent.clone()),
            action,
            reason: None,
        },
        (OperatorQuestion::Approval { approval, .. }, Choose(Choice::Approve)) => Verb::Approve {
            approval: Some(approval.clone()),
        },
        (OperatorQuestion::Approval { approval, .. }, Choose(Choice::Decline)) => Verb::Decline {
            approval: Some(approval.clone()),
            reason: None,
        },
        (OperatorQuestion::Text { .. }, Choose(Choice::Retry)) => Verb::Retry {
            to: whom(question)?,
        },
        (OperatorQuestion::Text { .. }, Pick(at)) => Verb::Reply {
            to: whom(question)?,
            text: choices.get(at)?.clone(),
            asked: None,
        },
        (OperatorQuestion::Improvement { .. }, Improve(mode)) => Verb::Improve { mode },
        (OperatorQuestion::Feedback, Choose(choice @ (Choice::Grant | Choice::Refuse))) => {
            Verb::Feedback {
                granted: choice == Choice::Grant,
            }
        }
        (OperatorQuestion::Unpause { .. }, Choose(Choice::Continue)) => Verb::Unpause {},
        _ => return None,
    };
    Some(verb)
}

/// What matters for the decision about a call.
#[must_use]
pub fn call_facts(state: &FlowState, open: &OpenConsent) -> Vec<Fact> {
    let tool = canonical(&open.tool).unwrap_or(&open.tool);
    let (terms, doubt) = (open.terms.as_ref(), open.doubt.as_ref());
    let mut facts = terms::facts(tool, terms, state.grants.len(), doubt);
    if open.anew {
        facts.push(terms::anew());
    }
    facts
}

/// The budget that a role waits for, as it is now: the one that was recorded when it began to wait, or
/// one that was declared used up.
fn short_of(state: &FlowState, waiting: &OperatorWait) -> Option<ShortBudget> {
    if waiting.reason != WaitReason::Budget {
        return None;
    }
    let flow = state.account.reached.first().map(|measure| (None, measure));
    let own = (state.role_accounts.get(&waiting.role)).and_then(|account| account.reached.first());
    let own = own.map(|measure| (Some(waiting.role.clone()), measure));
    let declared = flow.into_iter().chain(own).map(|(role, measure)| Lack {
        role,
        measure: *measure,
        wants: 0,
        left: 0,
    });
    let lacks = waiting.lack.clone().into_iter().chain(declared);
    lacks.into_iter().find_map(|lack| {
        let (limit, spent) = lack.stands(state)?;
        Some(ShortBudget {
            measure: lack.measure,
            limit,
            spent,
            least: lack.least(spent),
            raise_to: lack.roomy(limit, spent),
            role: lack.role.map(|role| role.to_string()),
        })
    })
}

/// How a turn that the operator takes may end: one at a node, or one that looks back.
#[must_use]
pub fn own_turn(
    state: &FlowState,
    graph: &FlowGraph,
    node: Option<&NodeId>,
    role: &RoleInstance,
) -> Option<OwnTurn> {
    let Some(node) = node else {
        let improvement = state.improvement.as_ref()?;
        let (word, path) = if improvement.feedback.role.as_ref() == Some(role) {
            ("report", report_path().to_owned())
        } else {
            ("findings", findings_path(role))
        };
        return Some(OwnTurn {
            forward: Vec::new(),
            backward: Vec::new(),
            waits: false,
            closes: false,
            again: None,
            writes: Some(OwnFile {
                word: word.to_owned(),
                path,
            }),
        });
    };
    let may = allowed(graph, state, node);
    let names = |nodes: &[NodeId]| nodes.iter().map(ToString::to_string).collect();
    Some(OwnTurn {
        forward: names(&may.forward),
        backward: names(&may.backward),
        waits: true,
        closes: may.closes,
        again: None,
        writes: None,
    })
}
