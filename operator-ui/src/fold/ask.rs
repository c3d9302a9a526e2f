//! What waits for the operator, as the page shows it: what the fold of asks says, with what else a page knows of a role.

use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::id::{CallId, NodeId, RoleInstance};
use a_society_facts::view::feed::{FeedItem, ItemKind};
use a_society_facts::view::flow::Decisions;
use a_society_facts::view::standing::FlowStanding;
use a_society_facts::view::{FlowSummary, flow::FlowState};
use a_society_facts::words::asks::{NOBODY_DRIVES_THIS, was_cut_off};
use a_society_facts::words::capital;
use a_society_facts::words::choices::{self, Choice};
use a_society_orchestrator::canonical;
use a_society_orchestrator::graph::FlowGraph;
use a_society_orchestrator::machine::{OperatorQuestion, Work, report_path};

use super::asks::{OpenAsk, open, own_turn};
use super::decided::decided;
use super::estimate::estimates;
use super::limits::{EARLIER_MAX, SAID_BEFORE_BYTES_MAX};
use super::words;
use crate::protocol::ask::{Ask, AskKind, Diff, ModelChoice, OwnTurn, Target};
use crate::protocol::row::{Decided, FlowRef};

/// The last text of a role.
pub(crate) struct LastWords {
    text: String,
    /// Whether it was cut off.
    is_cut: bool,
}

impl LastWords {
    /// Those in a feed, newest first.
    pub(crate) fn among<'i>(mut items: impl Iterator<Item = &'i FeedItem>) -> Option<Self> {
        let said = items.find(|item| item.kind == ItemKind::Assistant && !item.discarded)?;
        Some(Self {
            text: said.text.clone(),
            // Without a driver, a text that is still open was cut off, too.
            is_cut: said.interrupted || said.pending,
        })
    }
}

/// What an ask is made from, besides the state.
pub(crate) trait Around {
    /// The last text of a role.
    fn last_words(&self, role: &RoleInstance) -> Option<LastWords>;
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

/// Everything that waits for the operator in a flow, in the order in which the machine asks.
#[must_use]
pub(crate) fn asks(
    flow: &FlowRef,
    state: &FlowState,
    pending: &[Work],
    around: &dyn Around,
) -> Vec<Ask> {
    let asker = Asker {
        flow,
        state,
        around,
    };
    let open = open(state, pending);
    open.into_iter().map(|open| asker.ask(open)).collect()
}

/// The question of a flow without a driver: whether to continue. It comes from the role that was
/// interrupted in its turn, if one was. A chat that waits for its next message needs no driver.
#[must_use]
pub(crate) fn stopped(flow: &FlowRef, state: &FlowState, around: &dyn Around) -> Option<Ask> {
    let standing = FlowStanding::of(&FlowSummary::of(state), false);
    if matches!(standing, FlowStanding::YourTurn | FlowStanding::Closed) {
        return None;
    }
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
            was_cut_off(turn.role.as_ref()),
            "Cut off in its turn. Continue?".to_owned(),
        ),
        None => (
            capital(NOBODY_DRIVES_THIS),
            capital(choices::label(Choice::Resume)),
        ),
    };
    let node = cut_off.and_then(|turn| turn.node.as_ref());
    let title = AskTitle {
        name: "stopped".to_owned(),
        since: words::maybe_at(state.updated_at),
        is_blocking: true,
        headline,
        short,
    };
    let role = cut_off.map(|turn| &turn.role);
    Some(Ask {
        waiting_behind: running,
        ..asker.made(title, AskKind::Stopped {}, node, role)
    })
}

struct Asker<'a> {
    flow: &'a FlowRef,
    state: &'a FlowState,
    around: &'a dyn Around,
}

/// What every ask has, of whichever kind it is.
struct AskTitle {
    name: String,
    since: String,
    is_blocking: bool,
    headline: String,
    short: String,
}

impl Asker<'_> {
    fn ask(&self, open: OpenAsk) -> Ask {
        let title = AskTitle {
            name: open.name(),
            since: words::at(open.since),
            is_blocking: open.is_blocking(),
            headline: open.headline(),
            short: open.short(),
        };
        let (node, role) = (open.node().cloned(), open.role.clone());
        self.made(title, self.kind(open), node.as_ref(), role.as_ref())
    }

    fn kind(&self, open: OpenAsk) -> AskKind {
        let failed = open.failed();
        let says = open.in_full().unwrap_or_default();
        match open.question {
            OperatorQuestion::Text { node, role, reason } => AskKind::Text {
                reason,
                question: says,
                facts: open.servers,
                choices: open.choices,
                may_retry: reason.may_retry(),
                budget: open.budget,
                turn: (open.is_own_turn)
                    .then(|| self.turn(open.again, node.as_ref(), &role))
                    .flatten(),
                failed,
                denied: self.denied(reason, &role),
            },
            OperatorQuestion::Consent { consent, role, .. } => {
                let call = open.call.as_ref();
                let tool = call.map_or("", |call| canonical(&call.tool).unwrap_or(&call.tool));
                AskKind::Consent {
                    consent: consent.to_string(),
                    action: call.map(|call| call.action.to_string()).unwrap_or_default(),
                    tool: tool.to_owned(),
                    shown: says,
                    facts: call.map(|call| call.facts.clone()).unwrap_or_default(),
                    for_the_flow: call.and_then(|call| call.for_the_flow.clone()),
                    diff: call.and_then(|call| self.around.change(&role, &call.call)),
                }
            }
            OperatorQuestion::Configuration { role, .. } => {
                let current = self.state.configurations.get(&role);
                AskKind::Configuration {
                    question: says,
                    models: self.around.models(),
                    efforts: ["low", "medium", "high"].map(str::to_owned).to_vec(),
                    scopes: self.around.scopes(&role),
                    current: current
                        .map(|kept| kept.settings.clone())
                        .unwrap_or_default(),
                }
            }
            OperatorQuestion::Approval { approval, .. } => {
                let targets = open.deliveries.iter().map(|delivery| Target {
                    to: delivery.receiver().to_string(),
                    artifact: words::artifact(&delivery.artifact),
                });
                AskKind::Approval {
                    approval: approval.to_string(),
                    targets: targets.collect(),
                }
            }
            OperatorQuestion::Improvement { modes } => AskKind::Improvement {
                roles: self.state.sessions.len() as u64,
                estimates: (self.around.graph())
                    .map(|graph| estimates(graph, self.state, &modes))
                    .unwrap_or_default(),
                modes,
            },
            OperatorQuestion::Feedback => AskKind::Feedback {
                path: report_path().to_owned(),
            },
            OperatorQuestion::Unpause { reason } => AskKind::Unpause {
                reason: words::pause(reason).to_owned(),
                detail: (self.state.paused.as_ref()).and_then(|pause| pause.detail.clone()),
            },
            OperatorQuestion::Stalled => AskKind::Stalled {},
        }
    }

    fn turn(
        &self,
        again: Option<String>,
        node: Option<&NodeId>,
        role: &RoleInstance,
    ) -> Option<OwnTurn> {
        let turn = own_turn(self.state, self.around.graph()?, node, role)?;
        Some(OwnTurn { again, ..turn })
    }

    fn made(
        &self,
        title: AskTitle,
        kind: AskKind,
        node: Option<&NodeId>,
        role: Option<&RoleInstance>,
    ) -> Ask {
        let last = role.and_then(|role| self.around.last_words(role));
        let is_cut = last.as_ref().is_some_and(|last| last.is_cut);
        let before = last.map(|last| words::excerpt(&last.text, SAID_BEFORE_BYTES_MAX));
        Ask {
            id: format!("{}/{}", self.flow.flow, title.name),
            flow: self.flow.clone(),
            title: self.state.title.clone(),
            role: role.map(ToString::to_string),
            node: node.map(ToString::to_string),
            since: title.since,
            seq: self.state.seq,
            blocking: title.is_blocking,
            headline: title.headline,
            short: title.short,
            kind,
            waiting_behind: self.behind(node),
            said_before: before,
            said_cut: is_cut,
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
        let mut calls = known
            .about(role)
            .filter_map(|made| Some((made.what.call()?, &made.about)));
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
}
