//! The parts of a flow, each made anew from the state when it may have changed.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::fact::flow::{EdgeOutline, NodeOutline};
use a_society_facts::fact::node::{Trouble, WaitReason};
use a_society_facts::handoff::HandoffWay;
use a_society_facts::id::{NodeId, RoleInstance, Seq};
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{
    Account, CallState, Improvement, OperatorWait, Reflecting, RequestState,
};
use a_society_facts::view::standing::NodeStanding;
use a_society_facts::words::capital;
use a_society_facts::words::status::{CORRECTING, NOT_REACHED, READY, waiting_for};
use a_society_orchestrator::canonical;
use a_society_orchestrator::config::user::ToolReach;
use a_society_orchestrator::graph::{FlowGraph, InlineRole};
use a_society_orchestrator::project::choices;

use super::history::{AlongEdge, AtNode, History};
use super::row::{again, because, held, row};
use super::{reach, words};
use crate::protocol::ask::ModelChoice;
use crate::protocol::flow::{
    ChangeState, ChangeView, EdgeState, EdgeView, FeedbackState, FeedbackView, FlowHead,
    ImprovementView, NodeState, NodeView, Paused, ReflectingState, ReflectingView, RoleState,
    RoleView,
};
use crate::protocol::row::{DrivenBy, FlowRef};

/// What parts are made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maker<'a> {
    pub(super) flow: &'a FlowRef,
    pub(super) state: &'a FlowState,
    pub(super) history: &'a History,
    pub(super) graph: Option<&'a FlowGraph>,
    pub(super) ready: &'a BTreeSet<NodeId>,
    pub(super) ranks: &'a BTreeMap<NodeId, u64>,
    pub(super) models: &'a [ModelChoice],
    /// The roles, by name, as the flow's file or its project defines them.
    pub(super) roles_defined: &'a BTreeMap<String, InlineRole>,
    /// How far tools reach at most, if that is known.
    pub(super) reach: Option<&'a ToolReach>,
    pub(super) driven_by: Option<DrivenBy>,
    pub(super) holder: Option<&'a str>,
}

impl Maker<'_> {
    pub(super) fn head(&self) -> FlowHead {
        let state = self.state;
        let paused = state.paused.as_ref().map(|pause| Paused {
            reason: words::pause(pause.reason).to_owned(),
            detail: pause.detail.clone(),
        });
        let closing = self
            .graph
            .map(|graph| graph.node_at(graph.closing()).id.to_string());
        FlowHead {
            row: row(self.flow, state, self.driven_by),
            input: state.input.as_ref().map(Text::shown),
            origin: state.origin.clone(),
            draft: state.draft,
            mode: state.consent_mode,
            grants: state.grants.iter().map(words::grant).collect(),
            allow: state.rules.allow.clone(),
            deny: state.rules.deny.clone(),
            paused,
            limits: limits(&state.account),
            cached_tokens: self.history.cached_tokens,
            owner: state.owner.as_ref().map(ToString::to_string),
            closing,
            pid: self.holder.map(str::to_owned),
        }
    }

    /// The nodes in the order of the graph. It is a part of its own, for the head changes with every
    /// record, and this is as long as the graph.
    pub(super) fn order(&self) -> Vec<String> {
        let nodes = self.state.graph.nodes.iter();
        nodes.map(|node| node.id.to_string()).collect()
    }

    pub(super) fn node(&self, node: &NodeOutline) -> NodeView {
        let id = &node.id;
        let none = AtNode::default();
        let past = self.history.nodes.get(id).unwrap_or(&none);
        let standing = NodeStanding::of(self.state, id, self.driven_by.is_some());
        let why = if let NodeStanding::Retrying(_, why) = standing {
            why
        } else {
            None
        };
        let (state, words) = self.stands(node, standing, past);
        let work = self.graph.and_then(|graph| graph.node(id));
        let live = (state == NodeState::Running).then(|| self.live(&node.role));
        NodeView {
            id: id.to_string(),
            role: node.role.to_string(),
            work: work.map(|node| node.work().to_vec()).unwrap_or_default(),
            human_colab: node.human_colab,
            await_all: node.await_all_inputs,
            state,
            words,
            live: live.flatten(),
            since: past.since.map(words::at),
            took_ms: past.took_ms,
            turn: past.turn,
            attempt: past.attempt.map(u64::from),
            again: (standing.goes_on_at())
                .map(|(at, limit)| because(again(at, limit), why))
                .map(|again| held(again, standing.held())),
            correction: past.correction,
            rank: self.ranks.get(id).copied().unwrap_or(0),
            seq: past.seq,
        }
    }

    /// The state and the words of a node that waits for the operator.
    fn waits(
        &self,
        reason: WaitReason,
        trouble: Option<Trouble>,
        past: &AtNode,
    ) -> (NodeState, String) {
        // A turn that the operator stopped waits like any other; one that failed says so.
        let failed = match reason {
            WaitReason::AutonomousAbort => past.failed,
            WaitReason::Provider | WaitReason::RepairLimit => true,
            WaitReason::PromptHuman
            | WaitReason::Consent
            | WaitReason::ConsentDenied
            | WaitReason::RoleConfiguration
            | WaitReason::HandoffApproval
            | WaitReason::Budget
            | WaitReason::Message => false,
        };
        let stands = if failed {
            NodeState::Failed
        } else {
            NodeState::NeedsYou
        };
        (stands, format!("needs {}", reason.needs(trouble)))
    }

    /// The call that a node wants consent for, in a few words.
    fn asked_call(&self, node: &NodeId) -> Option<String> {
        let mut consents = self.state.consents.values();
        let open = consents.find(|open| open.node.as_ref() == Some(node))?;
        let call = self.state.calls.get(&open.call)?;
        let about = words::short(&call.summary);
        // A server's tool has a name that is no verb.
        Some(if canonical(&open.tool).is_none() {
            format!("Wants {about}")
        } else {
            format!("Wants to {about}")
        })
    }

    fn stands(
        &self,
        node: &NodeOutline,
        standing: NodeStanding<'_>,
        past: &AtNode,
    ) -> (NodeState, String) {
        let (state, id) = (self.state, &node.id);
        let plain = || standing.word().to_owned();
        let (stands, words) = match standing {
            NodeStanding::Working if past.correction => (NodeState::Running, CORRECTING.to_owned()),
            NodeStanding::Working
            | NodeStanding::Retrying(..)
            | NodeStanding::Held { .. }
            | NodeStanding::Compacting => (NodeState::Running, plain()),
            NodeStanding::Waiting { reason, trouble } => {
                let (stands, words) = self.waits(reason, trouble, past);
                (stands, self.asked_call(id).unwrap_or(words))
            }
            NodeStanding::YourTurn => (NodeState::NeedsYou, plain()),
            NodeStanding::Stopped if state.running.contains_key(id) => {
                (NodeState::Interrupted, plain())
            }
            NodeStanding::Limited(_) | NodeStanding::Stopped => (NodeState::Suspended, plain()),
            NodeStanding::Cancelled => (NodeState::Interrupted, plain()),
            NodeStanding::AwaitsHandoff
            | NodeStanding::Done
            | NodeStanding::Ready
            | NodeStanding::NotReached
                if self.ready.contains(id) =>
            {
                (NodeState::Ready, READY.to_owned())
            }
            NodeStanding::AwaitsHandoff => (NodeState::Suspended, self.awaits(id)),
            NodeStanding::Done => (NodeState::Done, plain()),
            NodeStanding::Ready | NodeStanding::NotReached => self.arrives(id, standing),
        };
        (stands, capital(&words))
    }

    /// Whose handoff a node waits for, of all from which it may get one.
    fn awaits(&self, node: &NodeId) -> String {
        let owed = self.state.graph.entering(node);
        waiting_for(&list(owed.map(|edge| edge.edge.from.to_string())))
    }

    /// A node that is not at work, by what has not arrived yet.
    fn arrives(&self, node: &NodeId, standing: NodeStanding<'_>) -> (NodeState, String) {
        let missing = self
            .state
            .graph
            .entering(node)
            .filter(|edge| !edge.optional && !self.state.completed_edges.contains(&edge.edge));
        let missing: Vec<String> = missing.map(|edge| edge.edge.from.to_string()).collect();
        match (missing.is_empty(), standing) {
            (true, NodeStanding::Ready) => (NodeState::Ready, READY.to_owned()),
            (true, _) => (NodeState::NotReached, NOT_REACHED.to_owned()),
            (false, _) => (
                NodeState::NotReached,
                waiting_for(&list(missing.into_iter())),
            ),
        }
    }

    /// What a role at work does now.
    fn live(&self, role: &RoleInstance) -> Option<String> {
        let calls = self.state.calls.values().filter(|call| call.role == *role);
        let mut runs = calls.filter(|call| call.state == CallState::Started);
        if let Some(call) = runs.next_back() {
            let said = words::short(&call.summary);
            return Some(if said.is_empty() {
                call.tool.clone()
            } else {
                said
            });
        }
        let (_, turn) = self.state.main_turn_of(role)?;
        let request = turn.request.as_ref()?;
        (request.state == RequestState::Asked).then(|| "Thinking".to_owned())
    }

    pub(super) fn edge(&self, edge: &EdgeOutline) -> EdgeView {
        let none = AlongEdge::default();
        let past = self.history.edges.get(&edge.edge).unwrap_or(&none);
        let state = if self.state.completed_edges.contains(&edge.edge) {
            EdgeState::Delivered
        } else if past.forward.is_empty() {
            EdgeState::NotYet
        } else {
            EdgeState::Stale
        };
        let correcting = |node: &NodeId| {
            let past = self.history.nodes.get(node);
            self.state.running.contains_key(node) && past.is_some_and(|past| past.correction)
        };
        let open = self.state.has_received(&edge.edge, HandoffWay::Backward)
            || (state == EdgeState::Stale
                && !past.backward.is_empty()
                && (correcting(&edge.edge.from)
                    || self.state.awaiting_handoff.contains(&edge.edge.to)));
        EdgeView {
            from: edge.edge.from.to_string(),
            to: edge.edge.to.to_string(),
            optional: edge.optional,
            state,
            forward: past.forward.iter().cloned().collect(),
            backward: past.backward.iter().cloned().collect(),
            open_correction: open,
        }
    }

    /// Every role instance that is shown: those of the graph, and those that have a session.
    pub(super) fn roles(&self) -> BTreeSet<RoleInstance> {
        let nodes = self.state.graph.nodes.iter().map(|node| node.role.clone());
        let roles = self.state.sessions.keys();
        nodes.chain(roles.cloned()).collect()
    }

    pub(super) fn role(&self, role: &RoleInstance, items: u64, last_seq: Seq) -> RoleView {
        let state = self.state;
        let session = state.session(role);
        let account = state.role_accounts.get(role);
        let settings = state
            .configurations
            .get(role)
            .map(|kept| kept.settings.clone());
        let settings = settings.unwrap_or_default();
        let model = settings
            .get("model")
            .or_else(|| self.history.models.get(role));
        let executor = model.cloned().unwrap_or_default();
        let window_tokens = self.window(role, &executor);
        let definition = self.roles_defined.get(role.base());
        let in_file = definition.and_then(|role| role.mcp_servers.as_deref());
        let mcp = choices::names(&settings, choices::SERVERS, in_file).unwrap_or_default();
        let (stands, node) = self.role_stands(role);
        let mine = state.waits().map(|(_, waiting)| waiting);
        let mine: Vec<&OperatorWait> = mine.filter(|waiting| waiting.role == *role).collect();
        let until = mine.iter().find_map(|waiting| waiting.until);
        let queued = state.steers.get(role).into_iter().flatten();
        RoleView {
            instance: role.to_string(),
            base: role.base().to_owned(),
            state: stands,
            node: node.map(|node| node.to_string()),
            turn: (state.main_turn_of(role))
                .and_then(|(turn, _)| self.history.numbers.get(&turn).copied()),
            executor,
            reach: reach::words(self.reach, definition, &settings),
            settings,
            context_tokens: session.map_or(0, |session| session.context_tokens),
            window_tokens,
            tokens: account.map_or(0, |account| account.spent.tokens),
            cost_micros: account.map_or(0, |account| account.spent.cost_micros),
            turns: account.map_or(0, |account| account.spent.turns),
            limits: account.map(limits).unwrap_or_default(),
            archives: session
                .map(|session| session.archives.clone())
                .unwrap_or_default(),
            items,
            last_seq,
            queued: queued.map(|said| said.text.shown()).collect(),
            tasks: self.history.tasks.of(role),
            mcp,
            retry_at: (state.main_turn_of(role))
                .and_then(|(_, turn)| turn.again_at())
                .or(until)
                .map(words::at),
            unread_hint: mine.iter().filter(|w| w.until.is_none()).count() as u64,
        }
    }

    /// How much the model of a role can have before it: the one it asked last, as far as the operator
    /// has it, for that is the one whose context is counted.
    fn window(&self, role: &RoleInstance, executor: &str) -> Option<u64> {
        let asked = self.history.models.get(role).map(String::as_str);
        let mut names = asked.into_iter().chain([executor]);
        names.find_map(|name| {
            let model = self.models.iter().find(|model| model.name == name)?;
            Some(model.window_tokens)
        })
    }

    fn role_stands(&self, role: &RoleInstance) -> (RoleState, Option<NodeId>) {
        let state = self.state;
        let waits = |waiting: &OperatorWait| match waiting.until {
            Some(_) => RoleState::Limited,
            None => RoleState::NeedsYou,
        };
        if let Some((node, waiting)) = state.waiting_of(role) {
            return (waits(waiting), Some(node.clone()));
        }
        if let Some(reflecting) = state.reflecting(role) {
            let stands = if let Some(waiting) = &reflecting.waiting {
                waits(waiting)
            } else if reflecting.findings.is_some() {
                RoleState::Done
            } else {
                RoleState::Reflecting
            };
            return (stands, None);
        }
        let staged = state.staged.values().map(|staged| &staged.node);
        let mut staged = staged.filter(|node| state.role_of(node) == Some(role));
        if let Some(node) = staged.next() {
            return (RoleState::NeedsYou, Some(node.clone()));
        }
        if let Some((node, _)) = state.running_of(role) {
            return (RoleState::Running, Some(node.clone()));
        }
        let mut nodes = state.graph.nodes.iter().filter(|node| node.role == *role);
        if let Some(node) = nodes
            .clone()
            .find(|node| state.awaiting_handoff.contains(&node.id))
        {
            return (RoleState::AwaitingHandoff, Some(node.id.clone()));
        }
        if nodes.clone().next().is_some() && nodes.all(|node| state.is_done(&node.id)) {
            return (RoleState::Done, None);
        }
        (RoleState::Idle, None)
    }

    pub(super) fn improvement(&self) -> Option<ImprovementView> {
        let improvement = self.state.improvement.as_ref()?;
        let roles = improvement.plan.iter().map(|planned| {
            let kept = improvement.roles.get(&planned.role);
            let view = ReflectingView {
                state: reflects(kept),
                depends_on: planned.after.iter().map(ToString::to_string).collect(),
                findings: kept
                    .and_then(|kept| kept.findings.as_ref())
                    .map(words::artifact),
                seq: kept.and_then(|kept| kept.seq),
            };
            (planned.role.to_string(), view)
        });
        Some(ImprovementView {
            mode: improvement.mode,
            roles: roles.collect(),
            feedback: feedback(improvement),
        })
    }

    pub(super) fn changes(&self) -> BTreeMap<String, ChangeView> {
        let changes = self.state.changes.iter().map(|(id, change)| {
            let state = match change.applied {
                None => ChangeState::Proposed,
                Some(true) => ChangeState::Applied,
                Some(false) => ChangeState::Declined,
            };
            let view = ChangeView {
                id: id.clone(),
                file: change.path.clone(),
                state,
                from_role: change.role.to_string(),
                finding: change.finding,
            };
            (id.clone(), view)
        });
        changes.collect()
    }
}

fn reflects(kept: Option<&Reflecting>) -> ReflectingState {
    match kept {
        None => ReflectingState::Waiting,
        Some(kept) if kept.waiting.is_some() => ReflectingState::NeedsYou,
        Some(kept) if kept.findings.is_some() => ReflectingState::Done,
        Some(_) => ReflectingState::Reflecting,
    }
}

fn feedback(improvement: &Improvement) -> FeedbackView {
    let report = improvement.feedback.report();
    let state = match improvement.feedback.granted {
        None => FeedbackState::Undecided,
        Some(false) => FeedbackState::Declined,
        Some(true) if report.is_some() => FeedbackState::Done,
        Some(true) => FeedbackState::Writing,
    };
    FeedbackView {
        state,
        path: report.map(|report| report.path.clone()),
    }
}

fn limits(account: &Account) -> BTreeMap<String, u64> {
    let limits = account.limits.iter();
    limits
        .map(|(measure, limit)| (words::measure(*measure).to_owned(), *limit))
        .collect()
}

fn list(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
