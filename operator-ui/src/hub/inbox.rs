//! The list of all flows, and everything that waits for the operator in any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use a_society_facts::id::{CallId, RoleInstance};
use a_society_facts::view::FlowScreen;
use a_society_facts::view::flow::Decisions;
use a_society_orchestrator::graph::{self, FlowGraph, InlineRole};
use a_society_orchestrator::machine;
use a_society_orchestrator::project::place;
use a_society_state::journal::verdict::Harm;
use a_society_state::look::Look;
use a_society_state::watch::News;
use a_society_state::{FlowRef, index};

use super::flow::wire_ref;
use super::hubs::{Bell, Followers, Hubs, lock};
use super::keep::Parts;
use super::limits::{FLOWS_MAX, LIST, LOOK, LOOKED_MAX, POLLED_AT_ONCE, WATCHED_MAX};
use super::pull::{Cursor, Out, Present};
use crate::fold::ask::{self, Around, LastWords};
use crate::fold::decided::decided;
use crate::fold::limits::DECIDED_MAX;
use crate::fold::row::{row, short_row};
use crate::fold::{Liveness, reach, words};
use crate::protocol::ask::{Ask, AskKind, Diff, ModelChoice};
use crate::protocol::down::Part;
use crate::protocol::row::{Decided, Doing, FlowRef as WireRef, JournalHarm};

/// What is kept for those who follow.
#[derive(Debug, Default)]
struct InboxList {
    parts: Parts,
    at: String,
    ready: bool,
}

/// What to read in the next round.
#[derive(Debug, Default)]
struct UnreadChanges {
    /// Flows in which something changed.
    flows: BTreeSet<FlowRef>,
    /// Whether there may be new flows.
    list: bool,
    /// Whether the system lost count, so that every flow that is not over may have changed.
    lost_count: bool,
}

/// The list of all flows.
#[derive(Debug)]
pub(crate) struct InboxHub {
    epoch: String,
    shared: Mutex<InboxList>,
    bell: Arc<Bell>,
    followers: Followers,
    changes: Mutex<UnreadChanges>,
    /// Which flow a journal's folder belongs to.
    journals: Mutex<BTreeMap<PathBuf, FlowRef>>,
}

impl InboxHub {
    /// Starts to make the list.
    ///
    /// # Errors
    /// When there is no thread left.
    pub(super) fn start(hubs: &Arc<Hubs>) -> io::Result<Arc<Self>> {
        let lister = Lister::new(hubs);
        let hub = Arc::clone(&lister.hub);
        std::thread::Builder::new()
            .name("inbox".to_owned())
            .spawn(move || lister.run())?;
        Ok(hub)
    }

    /// Those who follow.
    #[must_use]
    pub(crate) const fn followers(&self) -> &Followers {
        &self.followers
    }

    /// Something changed in a flow.
    pub(crate) fn changed(&self, flow: FlowRef) {
        lock(&self.changes).flows.insert(flow);
        self.bell.ring();
    }

    /// Something changed on the disk.
    pub(super) fn news(&self, news: &News) {
        let journals = lock(&self.journals);
        let mut changes = lock(&self.changes);
        match news {
            News::All => (changes.list, changes.lost_count) = (true, true),
            News::Of(folders) if folders.is_empty() => return,
            News::Of(folders) => {
                for folder in folders {
                    match journals.get(folder) {
                        Some(flow) => drop(changes.flows.insert(flow.clone())),
                        // It is a project, or the folder of all of them: there may be a new flow.
                        None => changes.list = true,
                    }
                }
            }
        }
        drop(changes);
        drop(journals);
        self.bell.ring();
    }

    /// Takes what is new.
    pub(crate) fn take(&self, cursor: &mut Cursor) -> Vec<Out> {
        let mut shared = lock(&self.shared);
        let InboxList { parts, at, ready } = &mut *shared;
        if !*ready {
            return Vec::new();
        }
        let head = parts.version();
        let present = Present {
            epoch: &self.epoch,
            head,
            at,
        };
        cursor.parts(&present, parts, |parts| {
            let flows = parts.group("flow/");
            let asks = parts.group("ask/");
            let decided = parts.one("decided").unwrap_or("[]");
            format!("{{\"flows\":{flows},\"asks\":{asks},\"decided\":{decided}}}")
        })
    }
}

/// What is known of a flow.
#[derive(Debug, Clone, Default)]
struct KnownFlow {
    asks: BTreeSet<String>,
    decided: Vec<Decided>,
    liveness: Liveness,
    over: bool,
}

struct Lister {
    hub: Arc<InboxHub>,
    hubs: Weak<Hubs>,
    known: BTreeMap<FlowRef, KnownFlow>,
    watched: BTreeSet<PathBuf>,
    /// When flows were listed last, as the clock counts.
    listed_us: u64,
    /// The last flow that was read because the system does not notify of its changes.
    polled: Option<FlowRef>,
}

type Batch = BTreeMap<String, Option<Part>>;

impl Lister {
    /// Knows no flow yet.
    fn new(hubs: &Arc<Hubs>) -> Self {
        let hub = Arc::new(InboxHub {
            epoch: hubs.epoch.clone(),
            shared: Mutex::default(),
            bell: Arc::new(Bell::default()),
            followers: Followers::default(),
            changes: Mutex::new(UnreadChanges {
                list: true,
                ..UnreadChanges::default()
            }),
            journals: Mutex::default(),
        });
        Self {
            hub,
            hubs: Arc::downgrade(hubs),
            known: BTreeMap::new(),
            watched: BTreeSet::new(),
            listed_us: 0,
            polled: None,
        }
    }

    fn run(mut self) {
        while let Some(hubs) = self.hubs.upgrade() {
            if hubs.is_over() {
                return;
            }
            self.round(&hubs);
            drop(hubs);
            std::thread::sleep(LIST);
            self.hub.bell.wait(LOOK);
        }
    }

    fn round(&mut self, hubs: &Arc<Hubs>) {
        let taken = std::mem::take(&mut *lock(&self.hub.changes));
        let mut changed = taken.flows;
        // Not every change is notified, and a bell that other flows ring without pause says nothing of this one.
        let now_us = hubs.store.ground().clock.elapsed_us();
        let unlisted = Duration::from_micros(now_us.saturating_sub(self.listed_us));
        let first = !lock(&self.hub.shared).ready;
        let mut batch = Batch::new();
        if taken.list || unlisted >= LOOK {
            self.listed_us = now_us;
            self.list(hubs, &mut changed, &mut batch);
            self.poll(hubs, &mut changed);
        }
        if taken.lost_count {
            let live = self.known.iter().filter(|(_, known)| !known.over);
            changed.extend(live.map(|(flow, _)| flow.clone()));
        }
        self.liveness(hubs, &mut changed);
        for flow in &changed {
            self.look(hubs, flow, &mut batch);
        }
        if batch.is_empty() && !first {
            return;
        }
        batch.insert("decided".to_owned(), Some(Part::Decided(self.decided())));
        let mut shared = lock(&self.hub.shared);
        shared.at = words::at(hubs.store.ground().clock.now());
        let version = shared.parts.version() + 1;
        let moved = shared.parts.put(batch, version, false);
        shared.ready = true;
        drop(shared);
        if moved || first {
            self.hub.followers.tell();
        }
    }

    /// Looks which flows there are.
    fn list(&mut self, hubs: &Arc<Hubs>, changed: &mut BTreeSet<FlowRef>, batch: &mut Batch) {
        let Ok(census) = hubs.store.census() else {
            return;
        };
        self.watch(hubs, hubs.store.root().to_owned());
        let mut flows = census.flows;
        // Ids begin with the moment they were made, so that the newest are last.
        flows.sort_by(|one, other| other.flow.cmp(&one.flow));
        flows.truncate(FLOWS_MAX);
        let there: BTreeSet<FlowRef> = flows.iter().cloned().collect();
        let gone: Vec<FlowRef> = (self.known.keys())
            .filter(|flow| !there.contains(*flow))
            .cloned()
            .collect();
        for flow in gone {
            self.forget(&flow, batch);
        }
        let new: Vec<FlowRef> = flows
            .into_iter()
            .filter(|flow| !self.known.contains_key(flow))
            .collect();
        for flow in &new {
            let project = hubs.store.root().join(flow.project.as_str());
            self.watch(hubs, project);
        }
        // Of flows that are over, the newest are looked at and the others are shown from their summaries.
        let rows = index::rows(&hubs.store, &new);
        for (place, found) in rows.into_iter().enumerate() {
            let over = found
                .summary
                .as_ref()
                .is_some_and(|summary| summary.is_over());
            if over && found.damage.is_none() && place >= LOOKED_MAX {
                self.over(&found, batch);
            } else {
                changed.insert(found.flow);
            }
        }
    }

    fn over(&mut self, found: &index::Row, batch: &mut Batch) {
        let Some(summary) = &found.summary else {
            return;
        };
        let wire = wire_ref(&found.flow);
        let mut row = short_row(&wire, summary, None);
        row.phase = match summary.status {
            a_society_facts::view::flow::FlowStatus::Cancelled => {
                crate::protocol::row::Phase::Cancelled
            }
            a_society_facts::view::flow::FlowStatus::Completed
            | a_society_facts::view::flow::FlowStatus::Running
            | a_society_facts::view::flow::FlowStatus::Paused(_)
            | a_society_facts::view::flow::FlowStatus::AwaitingImprovementChoice
            | a_society_facts::view::flow::FlowStatus::Improving
            | a_society_facts::view::flow::FlowStatus::AwaitingFeedbackConsent
            | a_society_facts::view::flow::FlowStatus::Feedback => {
                crate::protocol::row::Phase::Completed
            }
        };
        batch.insert(row_key(&wire), Some(Part::Row(Box::new(row))));
        let known = KnownFlow {
            over: true,
            ..KnownFlow::default()
        };
        self.known.insert(found.flow.clone(), known);
    }

    /// Has the system notify of changes in a folder. Says whether it does so from now on only.
    fn watch(&mut self, hubs: &Arc<Hubs>, folder: PathBuf) -> bool {
        if self.watched.len() >= WATCHED_MAX || self.watched.contains(&folder) {
            return false;
        }
        let watched = hubs.ring_for(folder.clone(), &self.hub.bell);
        watched && self.watched.insert(folder)
    }

    /// The next flows of whose changes the system does not notify are read without one.
    fn poll(&mut self, hubs: &Arc<Hubs>, changed: &mut BTreeSet<FlowRef>) {
        let unwatched = |flow: &FlowRef| !self.watched.contains(&hubs.store.place(flow).watched());
        let live = self.known.iter().filter(|(_, known)| !known.over);
        let flows: Vec<FlowRef> = live
            .map(|(flow, _)| flow)
            .filter(|flow| unwatched(flow))
            .cloned()
            .collect();
        let (before, after): (Vec<_>, Vec<_>) =
            (flows.into_iter()).partition(|flow| Some(flow) <= self.polled.as_ref());
        let next: Vec<_> = (after.into_iter().chain(before))
            .take(POLLED_AT_ONCE)
            .collect();
        self.polled = next.last().cloned();
        changed.extend(next);
    }

    fn forget(&mut self, flow: &FlowRef, batch: &mut Batch) {
        batch.insert(row_key(&wire_ref(flow)), None);
        for ask in self.known.remove(flow).unwrap_or_default().asks {
            batch.insert(format!("ask/{ask}"), None);
        }
    }

    /// Who drives what; the system does not notify when a process releases a flow.
    fn liveness(&self, hubs: &Hubs, changed: &mut BTreeSet<FlowRef>) {
        for (flow, known) in self.known.iter().filter(|(_, known)| !known.over) {
            if !changed.contains(flow) && hubs.liveness(flow) != known.liveness {
                changed.insert(flow.clone());
            }
        }
    }

    /// Reads the state of a flow.
    fn look(&mut self, hubs: &Arc<Hubs>, flow: &FlowRef, batch: &mut Batch) {
        let wire = wire_ref(flow);
        // Before what it wrote is read, as in the hub of the flow.
        let liveness = hubs.liveness(flow);
        let Ok(look) = hubs.store.look(flow) else {
            self.forget(flow, batch);
            return;
        };
        let state = &look.screen.flow;
        if !state.is_created() && look.damage.is_none() {
            // It begins just now, or never began.
            return;
        }
        let mut row = row(&wire, state, liveness.driven_by);
        if let Some(damage) = &look.damage {
            row.damage.push(damage.to_string());
            row.harm = Some(JournalHarm {
                newer: damage.harm == Harm::Newer,
                record: damage.expected,
            });
            row.standing = Doing::Damaged;
        }
        let over = row.over;
        let asks = asks_of(hubs, flow, &look, &liveness);
        let open = asks
            .iter()
            .filter(|ask| !matches!(ask.kind, AskKind::Stopped {}));
        row.waits = open.count() as u64;
        batch.insert(row_key(&wire), Some(Part::Row(Box::new(row))));
        let made = look.screen.decisions.last();
        let decided = made.map(|made| decided(&wire, made)).collect();
        let ids: BTreeSet<String> = asks.iter().map(|ask| ask.id.clone()).collect();
        let known = self.known.entry(flow.clone()).or_default();
        for gone in known.asks.difference(&ids) {
            batch.insert(format!("ask/{gone}"), None);
        }
        for ask in asks {
            batch.insert(format!("ask/{}", ask.id), Some(Part::Ask(Box::new(ask))));
        }
        *known = KnownFlow {
            asks: ids,
            decided,
            liveness,
            over,
        };
        if !over {
            let journal = hubs.store.place(flow).watched();
            lock(&self.hub.journals).insert(journal.clone(), flow.clone());
            if self.watch(hubs, journal) {
                // What was written since it was read was notified to no reader.
                lock(&self.hub.changes).flows.insert(flow.clone());
                self.hub.bell.ring();
            }
        }
    }

    /// The last decisions in all flows, newest first.
    fn decided(&self) -> Vec<Decided> {
        let mut all: Vec<Decided> = self
            .known
            .values()
            .flat_map(|known| known.decided.iter().cloned())
            .collect();
        all.sort_by(|one, other| other.at.cmp(&one.at));
        all.truncate(DECIDED_MAX);
        all
    }
}

fn row_key(flow: &WireRef) -> String {
    format!("flow/{}/{}", flow.project, flow.flow)
}

/// What a look knows besides the state.
struct FlowLook<'a> {
    hubs: &'a Hubs,
    flow: &'a FlowRef,
    screen: &'a FlowScreen,
    graph: Option<&'a FlowGraph>,
    /// The text of the flow's file.
    source: &'a str,
}

impl Around for FlowLook<'_> {
    fn last_words(&self, role: &RoleInstance) -> Option<LastWords> {
        LastWords::among(self.screen.feeds.get(role)?.items().rev())
    }

    fn decisions(&self) -> Option<&Decisions> {
        Some(&self.screen.decisions)
    }

    fn models(&self) -> Vec<ModelChoice> {
        self.hubs.models()
    }

    fn scopes(&self, role: &RoleInstance) -> Vec<String> {
        reach::scopes(self.hubs.reach.as_ref(), self.definition(role).as_ref())
    }

    fn change(&self, _: &RoleInstance, call: &CallId) -> Option<Diff> {
        let open = self.screen.flow.calls.get(call)?;
        self.hubs.change((self.flow.clone(), call.clone()), open)
    }

    fn graph(&self) -> Option<&FlowGraph> {
        self.graph
    }
}

impl FlowLook<'_> {
    /// What the flow's file says of a role, or else its project.
    fn definition(&self, role: &RoleInstance) -> Option<InlineRole> {
        let (file, _) = graph::parse_file(self.source, "workflow.yaml");
        match file.and_then(|file| file.roles) {
            Some(roles) => {
                let mut roles = roles.into_iter();
                let found = roles.find(|(name, _)| name.to_string() == role.base());
                found.map(|(_, role)| role)
            }
            None => {
                let mut roles = place::roles_of(&self.hubs.store, &self.flow.project);
                roles.remove(role.base())
            }
        }
    }
}

fn asks_of(hubs: &Hubs, flow: &FlowRef, look: &Look, liveness: &Liveness) -> Vec<Ask> {
    let state = &look.screen.flow;
    if state.status.is_over() || look.damage.is_some() {
        return Vec::new();
    }
    let source = hubs
        .store
        .place(flow)
        .text_or_beginning(&state.graph.source);
    let (graph, _) = graph::parse(&source, "workflow.yaml");
    let seen = FlowLook {
        hubs,
        flow,
        screen: &look.screen,
        graph: graph.as_ref(),
        source: &source,
    };
    let wire = wire_ref(flow);
    let pending = (graph.as_ref())
        .map(|graph| machine::pending(graph, state))
        .unwrap_or_default();
    let mut asks = ask::asks(&wire, state, &pending, &seen);
    if asks.is_empty() && liveness.driven_by.is_none() {
        asks.extend(ask::stopped(&wire, state, &seen));
    }
    asks
}

#[cfg(test)]
mod tests;
