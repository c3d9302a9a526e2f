//! The fold of one flow: from facts to parts by key, and to items of feeds.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::Fact;
use a_society_facts::Recorded;
use a_society_facts::id::{CallId, NodeId, RoleInstance, Seq};
use a_society_facts::message::Text;
use a_society_facts::view::flow::Decisions;
use a_society_facts::view::route::feed_role;
use a_society_facts::view::{FactView, flow::FlowState};
use a_society_orchestrator::config::user::ToolReach;
use a_society_orchestrator::driver::unrecorded_text::Ahead;
use a_society_orchestrator::graph::{self, FlowGraph, InlineRole};
use a_society_orchestrator::machine::{self, Work};

use super::ask::{self, Around, LastWords};
use super::asks::open;
use super::feed::{FeedChange, FeedFold};
use super::history::History;
use super::parts::Maker;
use super::reach;
use super::touch::Touched;
use crate::protocol::ask::{Ask, Diff, ModelChoice};
use crate::protocol::down::Part;
use crate::protocol::flow::FlowState as WireState;
use crate::protocol::row::{DrivenBy, FlowRef};

/// Who drives a flow; no journal says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Liveness {
    /// Who.
    pub driven_by: Option<DrivenBy>,
    /// The same in words.
    pub holder: Option<String>,
}

/// The fold of one flow.
#[derive(Debug)]
pub(crate) struct FlowFold {
    flow: FlowRef,
    state: FlowState,
    feeds: BTreeMap<RoleInstance, FeedFold>,
    /// How many items a feed has, and the record that changed it last.
    counts: BTreeMap<RoleInstance, (u64, Seq)>,
    history: History,
    graph: Option<FlowGraph>,
    ranks: BTreeMap<NodeId, u64>,
    ready: BTreeSet<NodeId>,
    models: Vec<ModelChoice>,
    /// The roles that the flow's file defines, by name; one that defines none leaves them where they
    /// come from.
    roles_in_file: Option<BTreeMap<String, InlineRole>>,
    /// The roles of the flow's project, by name, as far as they are known.
    roles_of_project: BTreeMap<String, InlineRole>,
    /// How far tools reach at most, if that is known.
    reach: Option<ToolReach>,
    liveness: Liveness,
    touched: Touched,
    /// The keys there are, so that those that went can be named.
    keys: BTreeSet<String>,
    /// How often what was recorded was not what is there now, by the last such record.
    rewritten: Seq,
    /// Whether a feed holds so much that it has to be taken.
    is_full: bool,
    /// Whether the journal cannot be read to its end.
    is_damaged: bool,
}

/// Reads the whole of a text, which may be in a blob.
pub(crate) type ReadText<'a> = &'a dyn Fn(&Text) -> String;

impl FlowFold {
    /// Nothing is known yet.
    #[must_use]
    pub(crate) fn new(flow: FlowRef, models: Vec<ModelChoice>) -> Self {
        Self {
            flow,
            state: FlowState::default(),
            feeds: BTreeMap::new(),
            counts: BTreeMap::new(),
            history: History::default(),
            graph: None,
            ranks: BTreeMap::new(),
            ready: BTreeSet::new(),
            models,
            roles_in_file: None,
            roles_of_project: BTreeMap::new(),
            reach: None,
            liveness: Liveness::default(),
            touched: Touched::all(),
            keys: BTreeSet::new(),
            rewritten: 0,
            is_full: false,
            is_damaged: false,
        }
    }

    /// The state of the flow.
    #[must_use]
    pub(crate) const fn state(&self) -> &FlowState {
        &self.state
    }

    /// Changes whenever the journal is not the continuation of what it was.
    #[must_use]
    pub(crate) fn epoch(&self) -> String {
        format!("{}.{}", self.flow.flow, self.rewritten)
    }

    /// Whether feeds have to be taken now, or the oldest of what changed in them would be lost: one
    /// record may bring many items.
    #[must_use]
    pub(crate) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes the next fact.
    pub(crate) fn apply(&mut self, recorded: &Recorded, read: ReadText<'_>) {
        if let Some(fact) = recorded.fact() {
            self.touched.add(&self.state, fact);
            self.history.apply(&self.state, recorded);
            if let Some(role) = feed_role(&self.state, fact) {
                let feed = self.feeds.entry(role.clone()).or_default();
                feed.apply(recorded);
                self.is_full |= feed.is_full();
                if !matches!(fact, Fact::DraftAdded(_)) {
                    self.counts
                        .insert(role.clone(), (feed.total(), recorded.seq));
                }
            }
            if matches!(
                fact,
                Fact::RepairApplied(_)
                    | Fact::RecoveryTruncated(_)
                    | Fact::RecoveryLossy(_)
                    | Fact::QuarantineRestored(_)
            ) {
                self.rewritten = recorded.seq;
            }
        }
        self.state.apply(recorded);
        if matches!(
            recorded.fact(),
            Some(Fact::FlowCreated(_) | Fact::GraphRevised(_))
        ) {
            self.read_graph(read);
        }
    }

    /// Says how far tools reach at most.
    #[must_use]
    pub(crate) fn reaching(mut self, most: Option<ToolReach>) -> Self {
        self.reach = most;
        self
    }

    /// Says what the files of the flow's project say of its roles.
    #[must_use]
    pub(crate) fn in_project(mut self, roles: BTreeMap<String, InlineRole>) -> Self {
        self.project_has(roles);
        self
    }

    /// Says the same of files that may have changed since.
    pub(crate) fn project_has(&mut self, roles: BTreeMap<String, InlineRole>) {
        if self.roles_of_project != roles {
            self.roles_of_project = roles;
            self.touched = Touched::all();
        }
    }

    /// Says which models there are, which may have changed since.
    pub(crate) fn configured(&mut self, models: Vec<ModelChoice>) {
        if self.models != models {
            self.models = models;
            self.touched = Touched::all();
        }
    }

    /// The roles as the driver of the flow has them.
    const fn roles(&self) -> &BTreeMap<String, InlineRole> {
        match &self.roles_in_file {
            Some(roles) => roles,
            None => &self.roles_of_project,
        }
    }

    fn read_graph(&mut self, read: ReadText<'_>) {
        let source = read(&self.state.graph.source);
        let (file, _) = graph::parse_file(&source, "workflow.yaml");
        let (graph, roles) = file.map(|file| (file.workflow, file.roles)).unzip();
        if let Some(roles) = roles.flatten() {
            let roles = roles.into_iter();
            let roles = roles.map(|(name, role)| (name.to_string(), role));
            self.roles_in_file = Some(roles.collect());
        }
        self.ranks = graph.as_ref().map(ranks).unwrap_or_default();
        self.graph = graph;
    }

    /// Says who drives the flow now. Says whether that is news.
    pub(crate) fn driven(&mut self, liveness: Liveness) -> bool {
        let other = self.liveness != liveness;
        if other {
            self.liveness = liveness;
            self.touched = Touched::all();
        }
        other
    }

    /// Says whether the journal can be read to its end. What cannot is answered by a repair and by nothing else.
    pub(crate) fn damaged(&mut self, is_damaged: bool) {
        if self.is_damaged != is_damaged {
            self.is_damaged = is_damaged;
            self.touched = Touched::all();
        }
    }

    /// Takes text that streams and is in no record yet. Says whether it is news.
    pub(crate) fn ahead(&mut self, ahead: &Ahead) -> bool {
        let feed = self.feeds.get_mut(&ahead.role);
        feed.is_some_and(|feed| feed.ahead(ahead.after, &ahead.text))
    }

    /// Whether anything may have changed since the parts were last taken.
    #[must_use]
    pub(crate) const fn is_touched(&self) -> bool {
        self.touched.all || self.touched.facts
    }

    fn pending(&self) -> Vec<Work> {
        let graph = self.graph.as_ref();
        graph
            .map(|graph| machine::pending(graph, &self.state))
            .unwrap_or_default()
    }

    /// The parts that may have changed since this was last asked, by key; `None` for one that is
    /// gone.
    pub(crate) fn take(&mut self) -> BTreeMap<String, Option<Part>> {
        let mut touched = std::mem::take(&mut self.touched);
        if !touched.all && !touched.facts {
            return BTreeMap::new();
        }
        let pending = self.pending();
        let ready = ready(&pending);
        touched
            .nodes
            .extend(self.ready.symmetric_difference(&ready).cloned());
        self.ready = ready;
        touched.widen(&self.state);
        let mut parts = self.parts(&touched, &pending);
        self.note_gone(&touched, &mut parts);
        parts
    }

    /// Names the keys that went, and remembers those there are.
    fn note_gone(&mut self, touched: &Touched, parts: &mut BTreeMap<String, Option<Part>>) {
        let whole = |key: &str| {
            key == "improvement"
                || key.starts_with("ask/")
                || key.starts_with("change/")
                || touched.all
        };
        let gone: Vec<String> = (self.keys.iter())
            .filter(|key| whole(key) && !parts.contains_key(*key))
            .cloned()
            .collect();
        for key in gone {
            self.keys.remove(&key);
            parts.insert(key, None);
        }
        let there = parts.iter().filter(|(_, part)| part.is_some());
        self.keys.extend(there.map(|(key, _)| key.clone()));
    }

    fn maker(&self) -> Maker<'_> {
        Maker {
            flow: &self.flow,
            state: &self.state,
            history: &self.history,
            graph: self.graph.as_ref(),
            ready: &self.ready,
            ranks: &self.ranks,
            models: &self.models,
            roles_defined: self.roles(),
            reach: self.reach.as_ref(),
            driven_by: self.liveness.driven_by,
            holder: self.liveness.holder.as_deref(),
        }
    }

    fn parts(&self, touched: &Touched, pending: &[Work]) -> BTreeMap<String, Option<Part>> {
        let maker = self.maker();
        let (all, state) = (touched.all, &self.state);
        let mut parts = BTreeMap::new();
        let mut put = |key: String, part: Part| {
            parts.insert(key, Some(part));
        };
        let mut head = maker.head();
        head.row.waits = if self.is_damaged {
            0
        } else {
            open(state, pending).len() as u64
        };
        put("flow".to_owned(), Part::Head(Box::new(head)));
        if all {
            put("order".to_owned(), Part::Order(maker.order()));
        }
        for node in &state.graph.nodes {
            if all || touched.nodes.contains(&node.id) {
                put(
                    format!("node/{}", node.id),
                    Part::Node(Box::new(maker.node(node))),
                );
            }
        }
        for edge in &state.graph.edges {
            let name = &edge.edge;
            let near = touched.nodes.contains(&name.from) || touched.nodes.contains(&name.to);
            if all || near {
                let key = format!("edge/{}/{}", name.from, name.to);
                put(key, Part::Edge(Box::new(maker.edge(edge))));
            }
        }
        for role in maker.roles() {
            if all || touched.roles.contains(&role) {
                let counts = self.counts.get(&role).copied();
                let (items, last_seq) = counts.unwrap_or_default();
                let part = Part::Role(Box::new(maker.role(&role, items, last_seq)));
                put(format!("role/{role}"), part);
            }
        }
        for ask in self.asks(pending) {
            put(format!("ask/{}", ask.id), Part::Ask(Box::new(ask)));
        }
        if let Some(improvement) = maker.improvement() {
            put(
                "improvement".to_owned(),
                Part::Improvement(Box::new(improvement)),
            );
        }
        for (id, change) in maker.changes() {
            put(format!("change/{id}"), Part::Change(Box::new(change)));
        }
        parts
    }

    /// Everything that waits for the operator.
    #[must_use]
    pub(crate) fn asks(&self, pending: &[Work]) -> Vec<Ask> {
        if self.is_damaged {
            return Vec::new();
        }
        let stands = self.liveness.driven_by.is_none()
            && self.state.is_created()
            && !self.state.status.is_over();
        let mut asks = ask::asks(&self.flow, &self.state, pending, self);
        for ask in &mut asks {
            // It says when it was asked, so that it stays the same while other things happen.
            ask.seq = self.asked_at(ask);
        }
        // A flow that rests is answered where it is; one that was cut off has to be gone on with.
        if stands
            && asks.is_empty()
            && let Some(mut stopped) = ask::stopped(&self.flow, &self.state, self)
        {
            stopped.seq = self.state.seq;
            asks.push(stopped);
        }
        asks
    }

    fn asked_at(&self, ask: &Ask) -> Seq {
        let node = ask
            .node
            .as_ref()
            .and_then(|node| node.parse::<NodeId>().ok());
        let at = node.and_then(|node| self.history.nodes.get(&node));
        at.map_or(0, |at| at.seq)
    }

    /// Everything there is, made anew.
    #[must_use]
    pub(crate) fn whole(&self) -> BTreeMap<String, Part> {
        let parts = self.parts(&Touched::all(), &self.pending());
        parts
            .into_iter()
            .filter_map(|(key, part)| Some((key, part?)))
            .collect()
    }

    /// The feeds, and what changed in them since this was last asked.
    pub(crate) fn take_feeds(&mut self) -> Vec<(RoleInstance, u64, FeedChange)> {
        self.is_full = false;
        let feeds = self.feeds.iter_mut().map(|(role, feed)| {
            let change = feed.take();
            (role.clone(), feed.total(), change)
        });
        feeds
            .filter(|(_, _, change)| *change != FeedChange::default())
            .collect()
    }
}

impl Around for FlowFold {
    fn last_words(&self, role: &RoleInstance) -> Option<LastWords> {
        LastWords::among(self.feeds.get(role)?.held().rev())
    }

    fn decisions(&self) -> Option<&Decisions> {
        Some(&self.history.decisions)
    }

    fn models(&self) -> Vec<ModelChoice> {
        self.models.clone()
    }

    fn scopes(&self, role: &RoleInstance) -> Vec<String> {
        let definition = self.roles().get(role.base());
        reach::scopes(self.reach.as_ref(), definition)
    }

    fn change(&self, role: &RoleInstance, call: &CallId) -> Option<Diff> {
        self.feeds.get(role)?.change(call).cloned()
    }

    fn graph(&self) -> Option<&FlowGraph> {
        self.graph.as_ref()
    }
}

fn ready(pending: &[Work]) -> BTreeSet<NodeId> {
    let nodes = pending.iter().filter_map(|work| match work {
        Work::Claim { node, .. } => Some(node.clone()),
        Work::RunTurn { .. }
        | Work::StopTurn { .. }
        | Work::StartReflection { .. }
        | Work::StartFeedback { .. }
        | Work::ApplyEnds
        | Work::WaitUntil { .. }
        | Work::AskOperator(_) => None,
    });
    nodes.collect()
}

/// How far each node is from the first, along the longest way.
fn ranks(graph: &FlowGraph) -> BTreeMap<NodeId, u64> {
    let mut ranks: BTreeMap<NodeId, u64> = BTreeMap::new();
    // The graph has no cycle, so that as many rounds as nodes are enough; most need one or two.
    for _ in 0..graph.nodes().len() {
        let mut moved = false;
        for (index, node) in graph.indexed_nodes() {
            let before = graph.predecessors(index);
            let far = before
                .filter_map(|index| ranks.get(&graph.node_at(index).id))
                .max();
            let rank = far.map_or(0, |far| far + 1);
            moved |= ranks.insert(node.id.clone(), rank) != Some(rank);
        }
        if !moved {
            break;
        }
    }
    ranks
}

/// A whole state out of its parts, as a page puts it together.
#[must_use]
pub(crate) fn assembled(parts: BTreeMap<String, Part>) -> Option<WireState> {
    let (mut state, mut order) = (None, Vec::new());
    let mut rest = Vec::new();
    for (key, part) in parts {
        match part {
            Part::Head(head) => state = Some(head),
            Part::Order(nodes) => order = nodes,
            part @ (Part::Row(_)
            | Part::Ask(_)
            | Part::Node(_)
            | Part::Edge(_)
            | Part::Role(_)
            | Part::Improvement(_)
            | Part::Change(_)
            | Part::Decided(_)) => rest.push((key, part)),
        }
    }
    let mut state = WireState {
        flow: *state?,
        order,
        nodes: BTreeMap::new(),
        edges: BTreeMap::new(),
        roles: BTreeMap::new(),
        asks: BTreeMap::new(),
        improvement: None,
        changes: BTreeMap::new(),
    };
    for (key, part) in rest {
        let name = key.split_once('/').map_or("", |(_, name)| name).to_owned();
        match part {
            Part::Node(node) => drop(state.nodes.insert(name, *node)),
            Part::Edge(edge) => drop(state.edges.insert(name, *edge)),
            Part::Role(role) => drop(state.roles.insert(name, *role)),
            Part::Ask(ask) => drop(state.asks.insert(name, *ask)),
            Part::Improvement(improvement) => state.improvement = Some(*improvement),
            Part::Change(change) => drop(state.changes.insert(name, *change)),
            Part::Row(_) | Part::Head(_) | Part::Order(_) | Part::Decided(_) => {}
        }
    }
    Some(state)
}
