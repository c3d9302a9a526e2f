//! What waits for the operator, with all that is needed to decide it. The page, the terminal and the
//! list of all flows ask here, so that they say the same.

use a_society_facts::At;
use a_society_facts::fact::budget::Lack;
use a_society_facts::fact::node::{Trouble, WaitReason};
use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::fact::terms::subject;
use a_society_facts::id::{ApprovalId, CallId, ConsentId, NodeId, RoleInstance};
use a_society_facts::message::Text;
use a_society_facts::view::FlowState;
use a_society_facts::view::flow::{DecidedMatter, Decisions, OperatorWait};
use a_society_facts::words::asks::{
    CHOOSE_A_MODEL, END_YOUR_TURN, FINDINGS_ARE_WRITTEN, FLOW_IS_PAUSED, FORWARD_WORK_IS_DONE,
    NOBODY_DRIVES_THIS, NOTHING_CAN_RUN, RAISE_ITS_BUDGET, REOPEN_OR_REVISE, RUN_A_RETROSPECTIVE,
    WANTS_TO_HAND_OVER, WRITE_A_REPORT, needs, no_valid_outcome, turn_failed, was_cut_off,
    your_turn_as,
};
use a_society_facts::words::capital;
use a_society_facts::words::choices::{self, ANSWER, Choice};
use a_society_facts::words::handoffs::hand_over_to;
use a_society_orchestrator::canonical;
use a_society_orchestrator::graph::FlowGraph;
use a_society_orchestrator::machine::{
    OperatorQuestion, Work, allowed, findings_path, report_path,
};

use super::decided::decided;
use super::estimate::estimates;
use super::limits::{EARLIER_MAX, SAID_BEFORE_BYTES_MAX};
use super::{terms, words};
use crate::protocol::ask::{
    Ask, AskKind, Diff, ModelChoice, OwnFile, OwnTurn, ShortBudget, Target,
};
use crate::protocol::row::{Decided, FlowRef};

/// What an ask is made from, besides the state.
pub trait Around {
    /// The last text of a role.
    fn said_before(&self, role: &RoleInstance) -> Option<String>;
    /// What was decided in the flow, if that is known.
    fn decisions(&self) -> Option<&Decisions>;
    /// The models there are.
    fn models(&self) -> Vec<ModelChoice>;
    /// The scopes that can be chosen for a role.
    fn scopes(&self, role: &RoleInstance) -> Vec<String>;
    /// What a call of a role would change in a file, as far as its arguments say it.
    fn change(&self, role: &RoleInstance, call: &CallId) -> Option<Diff>;
    /// The graph that the flow walks, if it can be read.
    fn graph(&self) -> Option<&FlowGraph>;
}

/// Knows nothing more than the state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Around for Nothing {
    fn said_before(&self, _: &RoleInstance) -> Option<String> {
        None
    }

    fn decisions(&self) -> Option<&Decisions> {
        None
    }

    fn models(&self) -> Vec<ModelChoice> {
        Vec::new()
    }

    fn scopes(&self, _: &RoleInstance) -> Vec<String> {
        Vec::new()
    }

    fn change(&self, _: &RoleInstance, _: &CallId) -> Option<Diff> {
        None
    }

    fn graph(&self) -> Option<&FlowGraph> {
        None
    }
}

/// Everything that waits for the operator in a flow, in the order in which the machine asks.
#[must_use]
pub fn asks(flow: &FlowRef, state: &FlowState, pending: &[Work], around: &dyn Around) -> Vec<Ask> {
    let asker = Asker {
        flow,
        state,
        around,
    };
    let asks = questions(pending).map(|question| Ask {
        since: words::at(since(state, question)),
        ..asker.ask(question)
    });
    asks.collect()
}

/// The questions among what is pending, in the order in which the machine asks.
pub fn questions(pending: &[Work]) -> impl Iterator<Item = &OperatorQuestion> {
    pending.iter().filter_map(|work| match work {
        Work::AskOperator(question) => Some(question),
        Work::RunTurn { .. }
        | Work::StopTurn { .. }
        | Work::Claim { .. }
        | Work::StartReflection { .. }
        | Work::StartFeedback { .. }
        | Work::ApplyEnds
        | Work::WaitUntil { .. } => None,
    })
}

/// Since when something is asked.
#[must_use]
pub fn since(state: &FlowState, question: &OperatorQuestion) -> At {
    let known = match question {
        OperatorQuestion::Text { node, role, .. }
        | OperatorQuestion::Configuration { node, role } => {
            wait_of(state, node.as_ref(), role).map(|waiting| waiting.since)
        }
        OperatorQuestion::Consent { consent, .. } => {
            state.consents.get(consent).map(|open| open.since)
        }
        OperatorQuestion::Approval { approval, .. } => {
            state.staged.get(approval).map(|staged| staged.since)
        }
        OperatorQuestion::Unpause { .. } => state.paused.as_ref().map(|pause| pause.since),
        OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Stalled => None,
    };
    known.or(state.updated_at).unwrap_or(At::from_ms(0))
}

/// The wait of a role, at a node or while it reflects.
fn wait_of<'s>(
    state: &'s FlowState,
    node: Option<&NodeId>,
    role: &RoleInstance,
) -> Option<&'s OperatorWait> {
    let mut waits = state.waits();
    let mine = waits.find(|(at, waiting)| *at == node && waiting.role == *role);
    mine.map(|(_, waiting)| waiting)
}

/// Whether a role waits for the operator to take its turn.
#[must_use]
pub fn is_own_turn(state: &FlowState, node: Option<&NodeId>, role: &RoleInstance) -> bool {
    wait_of(state, node, role).is_some_and(|waiting| waiting.is_own_turn)
}

/// How a turn that the operator takes may end: one at a node, or one that looks back.
#[must_use]
pub fn own_turn(
    state: &FlowState,
    graph: &FlowGraph,
    (node, role): (Option<&NodeId>, &RoleInstance),
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
        writes: None,
    })
}

/// What a role asks, as far as it is kept in the state.
#[must_use]
pub fn asked(state: &FlowState, node: Option<&NodeId>, role: &RoleInstance) -> Option<String> {
    let waiting = wait_of(state, node, role)?;
    waiting.question.as_ref().map(Text::shown)
}

/// What keeps a role from its model, if it waits for that.
#[must_use]
pub fn trouble_of(
    state: &FlowState,
    node: Option<&NodeId>,
    role: &RoleInstance,
) -> Option<Trouble> {
    wait_of(state, node, role)?.trouble
}

/// The budget that a role waits for, as it is now: the one that was recorded when it began to wait, or
/// one that was declared used up.
#[must_use]
pub fn short_of(
    state: &FlowState,
    node: Option<&NodeId>,
    role: &RoleInstance,
) -> Option<ShortBudget> {
    let waiting = wait_of(state, node, role)?;
    if waiting.reason != WaitReason::Budget {
        return None;
    }
    let told = waiting.lack.clone();
    let flow = state.account.reached.first().map(|measure| (None, measure));
    let own = (state.role_accounts.get(role)).and_then(|account| account.reached.first());
    let own = own.map(|measure| (Some(role.clone()), measure));
    let declared = flow.into_iter().chain(own).map(|(role, measure)| Lack {
        role,
        measure: *measure,
        wants: 0,
        left: 0,
    });
    let lacks = told.into_iter().chain(declared);
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

/// The question of a flow without a driver: whether to continue. It comes from the role that was
/// interrupted in its turn, if one was.
#[must_use]
pub(crate) fn stopped(flow: &FlowRef, state: &FlowState, around: &dyn Around) -> Ask {
    let asker = Asker {
        flow,
        state,
        around,
    };
    let running = state.running.keys().map(ToString::to_string).collect();
    let mut turns = state.turns.values();
    let cut_off = turns.find(|turn| state.main_turn_of(&turn.role).is_some());
    let (headline, short) = match cut_off {
        Some(turn) => (
            was_cut_off(turn.role.as_str()),
            "Cut off in its turn. Continue?".to_owned(),
        ),
        None => (
            capital(NOBODY_DRIVES_THIS),
            capital(choices::label(Choice::Resume)),
        ),
    };
    let said = AskTitle {
        id: "stopped".to_owned(),
        headline,
        short,
        kind: AskKind::Stopped {},
    };
    let node = cut_off.and_then(|turn| turn.node.as_ref());
    Ask {
        waiting_behind: running,
        ..asker.made(said, node, cut_off.map(|turn| &turn.role))
    }
}

/// What went wrong in a turn that failed. What the operator stopped has no reason; what failed has one.
fn failure(reason: WaitReason, text: &str) -> Option<String> {
    let why = (!text.trim().is_empty()).then(|| words::failed(text))?;
    match reason {
        WaitReason::AutonomousAbort => Some(capital(&why)),
        WaitReason::RepairLimit => Some(capital(&no_valid_outcome(&why))),
        WaitReason::PromptHuman
        | WaitReason::Consent
        | WaitReason::ConsentDenied
        | WaitReason::RoleConfiguration
        | WaitReason::HandoffApproval
        | WaitReason::Budget
        | WaitReason::Provider => None,
    }
}

struct Asker<'a> {
    flow: &'a FlowRef,
    state: &'a FlowState,
    around: &'a dyn Around,
}

/// What makes one ask another than the next.
struct AskTitle {
    id: String,
    headline: String,
    short: String,
    kind: AskKind,
}

impl Asker<'_> {
    fn ask(&self, question: &OperatorQuestion) -> Ask {
        match question {
            OperatorQuestion::Text { node, role, reason } => {
                let text = self.question(node.as_ref(), role);
                let choices = wait_of(self.state, node.as_ref(), role)
                    .map(|waiting| waiting.choices.clone())
                    .unwrap_or_default();
                let short = words::short_question(&text);
                let trouble = trouble_of(self.state, node.as_ref(), role);
                let turn = self.own_turn(node.as_ref(), role);
                let failed = failure(*reason, &text);
                let said = AskTitle {
                    id: place("text", node.as_ref(), role),
                    headline: match (&turn, &failed) {
                        (Some(_), _) => capital(&your_turn_as(role.as_str())),
                        (None, Some(_)) => turn_failed(role.as_str()),
                        (None, None) => needs(role.as_str(), reason.needs(trouble)),
                    },
                    short: if turn.is_some() {
                        capital(END_YOUR_TURN)
                    } else if let Some(failed) = &failed {
                        words::short(failed)
                    } else if *reason == WaitReason::ConsentDenied {
                        capital(choices::label(Choice::RetryNote))
                    } else if *reason == WaitReason::Budget {
                        capital(RAISE_ITS_BUDGET)
                    } else if short.is_empty() {
                        capital(ANSWER)
                    } else {
                        short
                    },
                    kind: AskKind::Text {
                        reason: *reason,
                        budget: short_of(self.state, node.as_ref(), role),
                        question: text,
                        choices,
                        may_retry: reason.may_retry(),
                        turn,
                        failed,
                        denied: self.denied(*reason, role),
                    },
                };
                self.made(said, node.as_ref(), Some(role))
            }
            OperatorQuestion::Consent {
                consent,
                node,
                role,
            } => self.consent(consent, node.as_ref(), role),
            OperatorQuestion::Configuration { node, role } => {
                self.configuration(node.as_ref(), role)
            }
            OperatorQuestion::Approval { approval, node } => self.approval(approval, node),
            OperatorQuestion::Improvement { .. }
            | OperatorQuestion::Feedback
            | OperatorQuestion::Unpause { .. }
            | OperatorQuestion::Stalled => self.of_the_flow(question),
        }
    }

    /// How the operator's own turn may end, if this is one.
    fn own_turn(&self, node: Option<&NodeId>, role: &RoleInstance) -> Option<OwnTurn> {
        if !is_own_turn(self.state, node, role) {
            return None;
        }
        own_turn(self.state, self.around.graph()?, (node, role))
    }

    fn consent(&self, consent: &ConsentId, node: Option<&NodeId>, role: &RoleInstance) -> Ask {
        let open = self.state.consents.get(consent);
        let shown = open.map(|open| open.shown.shown()).unwrap_or_default();
        let tool = open.map(|open| open.tool.clone()).unwrap_or_default();
        let tool = canonical(&tool).map_or(tool.clone(), str::to_owned);
        let what = terms::wants(&tool, None);
        let call = open.and_then(|open| self.state.calls.get(&open.call));
        let summary = call
            .map(|call| words::short(&call.summary))
            .filter(|said| !said.is_empty());
        let terms = open.and_then(|open| open.terms.as_ref());
        let doubt = open.and_then(|open| open.doubt.as_ref());
        let about = words::short(&subject(terms, &shown));
        let kind = AskKind::Consent {
            consent: consent.to_string(),
            action: open.map(|open| open.action.to_string()).unwrap_or_default(),
            tool: tool.clone(),
            facts: terms::facts(&tool, terms, self.state.grants.len(), doubt),
            for_the_flow: terms::scope(&tool, &shown),
            shown,
            diff: open.and_then(|open| self.around.change(role, &open.call)),
        };
        let said = AskTitle {
            id: format!("consent/{consent}"),
            headline: format!("{role} {what}"),
            short: if tool == "run_command" {
                format!("Run {about}")
            } else {
                summary.unwrap_or(about)
            },
            kind,
        };
        self.made(said, node, Some(role))
    }

    fn configuration(&self, node: Option<&NodeId>, role: &RoleInstance) -> Ask {
        let current = self.state.configurations.get(role);
        let kind = AskKind::Configuration {
            question: self.question(node, role),
            models: self.around.models(),
            efforts: ["low", "medium", "high"].map(str::to_owned).to_vec(),
            scopes: self.around.scopes(role),
            current: current
                .map(|kept| kept.settings.clone())
                .unwrap_or_default(),
        };
        let said = AskTitle {
            id: place("configuration", node, role),
            headline: needs(role.as_str(), WaitReason::RoleConfiguration.needs(None)),
            short: capital(CHOOSE_A_MODEL),
            kind,
        };
        self.made(said, node, Some(role))
    }

    fn approval(&self, approval: &ApprovalId, node: &NodeId) -> Ask {
        let staged = self.state.staged.get(approval);
        let deliveries = staged.into_iter().flat_map(|staged| &staged.deliveries);
        let targets: Vec<Target> = deliveries
            .map(|delivery| Target {
                to: delivery.receiver().to_string(),
                artifact: words::artifact(&delivery.artifact),
            })
            .collect();
        let role = self.state.role_of(node);
        let to: Vec<&str> = targets.iter().map(|target| target.to.as_str()).collect();
        let said = AskTitle {
            id: format!("approval/{approval}"),
            headline: format!(
                "{} {WANTS_TO_HAND_OVER}",
                role.map_or_else(|| node.as_str(), RoleInstance::as_str)
            ),
            short: capital(&hand_over_to(&to.join(", "))),
            kind: AskKind::Approval {
                approval: approval.to_string(),
                targets,
            },
        };
        self.made(said, Some(node), role)
    }

    fn of_the_flow(&self, question: &OperatorQuestion) -> Ask {
        let (id, headline, short, kind) = match question {
            OperatorQuestion::Improvement { modes } => (
                "improvement",
                FORWARD_WORK_IS_DONE,
                RUN_A_RETROSPECTIVE,
                AskKind::Improvement {
                    modes: modes.clone(),
                    roles: self.state.sessions.len() as u64,
                    estimates: (self.around.graph())
                        .map(|graph| estimates(graph, self.state, modes))
                        .unwrap_or_default(),
                },
            ),
            OperatorQuestion::Feedback => (
                "feedback",
                FINDINGS_ARE_WRITTEN,
                WRITE_A_REPORT,
                AskKind::Feedback {
                    path: report_path().to_owned(),
                },
            ),
            OperatorQuestion::Unpause { reason } => (
                "unpause",
                FLOW_IS_PAUSED,
                choices::label(Choice::Continue),
                AskKind::Unpause {
                    reason: words::pause(*reason).to_owned(),
                    detail: self
                        .state
                        .paused
                        .as_ref()
                        .and_then(|pause| pause.detail.clone()),
                },
            ),
            OperatorQuestion::Stalled
            | OperatorQuestion::Text { .. }
            | OperatorQuestion::Consent { .. }
            | OperatorQuestion::Configuration { .. }
            | OperatorQuestion::Approval { .. } => (
                "stalled",
                NOTHING_CAN_RUN,
                REOPEN_OR_REVISE,
                AskKind::Stalled {},
            ),
        };
        let said = AskTitle {
            id: id.to_owned(),
            headline: capital(headline),
            short: capital(short),
            kind,
        };
        self.made(said, None, None)
    }

    fn made(&self, said: AskTitle, node: Option<&NodeId>, role: Option<&RoleInstance>) -> Ask {
        let before = role.and_then(|role| self.around.said_before(role));
        let before = before.map(|text| words::beginning(&text, SAID_BEFORE_BYTES_MAX).to_owned());
        Ask {
            id: format!("{}/{}", self.flow.flow, said.id),
            flow: self.flow.clone(),
            title: self.state.title.clone(),
            role: role.map(ToString::to_string),
            node: node.map(ToString::to_string),
            since: words::maybe_at(self.state.updated_at),
            seq: self.state.seq,
            // What roles reflect on can wait: the work itself is done.
            blocking: !matches!(
                said.kind,
                AskKind::Improvement { .. } | AskKind::Feedback { .. }
            ),
            headline: said.headline,
            short: said.short,
            kind: said.kind,
            waiting_behind: self.behind(node),
            said_before: before,
            earlier: role.map(|role| self.earlier(role)).unwrap_or_default(),
        }
    }

    /// The last decisions about a role, newest first.
    fn earlier(&self, role: &RoleInstance) -> Vec<Decided> {
        let known = self.around.decisions().into_iter();
        let made = known.flat_map(|known| known.about(role));
        made.take(EARLIER_MAX)
            .map(|made| decided(self.flow, made))
            .collect()
    }

    /// What a role was denied last, if it waits for what it should do instead.
    fn denied(&self, reason: WaitReason, role: &RoleInstance) -> Option<String> {
        let known = (self.around.decisions()).filter(|_| reason == WaitReason::ConsentDenied)?;
        let mut calls = known.about(role).filter_map(|made| match made.what {
            DecidedMatter::Call { answer, .. } => Some((answer, &made.about)),
            DecidedMatter::Handoff { .. }
            | DecidedMatter::Answer
            | DecidedMatter::Permissions(_)
            | DecidedMatter::Configuration
            | DecidedMatter::Retrospective(_)
            | DecidedMatter::Report { .. }
            | DecidedMatter::Change { .. }
            | DecidedMatter::Cancellation => None,
        });
        let (answer, about) = calls.next()?;
        (answer == ConsentAnswer::Deny && !about.is_empty()).then(|| words::short(about))
    }

    /// The nodes that cannot begin before this one is done: its successors that have not run.
    fn behind(&self, node: Option<&NodeId>) -> Vec<String> {
        let Some(node) = node else {
            return Vec::new();
        };
        let after = self.state.graph.leaving(node).map(|edge| &edge.edge.to);
        let idle = after.filter(|next| !self.state.running.contains_key(*next));
        idle.map(ToString::to_string).collect()
    }

    fn question(&self, node: Option<&NodeId>, role: &RoleInstance) -> String {
        asked(self.state, node, role).unwrap_or_default()
    }
}

fn place(kind: &str, node: Option<&NodeId>, role: &RoleInstance) -> String {
    match node {
        Some(node) => format!("{kind}/{node}"),
        None => format!("{kind}/role:{role}"),
    }
}
