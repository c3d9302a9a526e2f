//! All hubs of a server: started by their first follower, woken by the system's notifications, and
//! ended some seconds after their last follower left.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use a_society_facts::view::flow::OpenCall;
use a_society_orchestrator::config::user::ToolReach;
use a_society_orchestrator::driver::handle::FlowHandle;
use a_society_orchestrator::project::place;
use a_society_state::watch::{FolderWatch, News};
use a_society_state::{FlowRef, Store};

use super::change::{Place, change_of};
use super::flow::{FlowHub, wire_ref};
use super::inbox::InboxHub;
use super::limits::{CHANGES_KNOWN_MAX, HUBS_MAX, LOOK};
use crate::fold::{FlowFold, Liveness};
use crate::protocol::ask::{Diff, ModelChoice};
use crate::protocol::row::DrivenBy;

/// Wakes a thread that waits for changes.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    told: Condvar,
}

impl Bell {
    /// Says that there is something to look at.
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_one();
    }

    /// Waits until it is rung, but no longer than this. Says whether it was.
    pub(crate) fn wait(&self, longest: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) = self
            .told
            .wait_timeout_while(rung, longest, |rung| !*rung)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
    }
}

/// The followers of a hub, each with its notification.
#[derive(Debug, Default)]
pub(crate) struct Followers(Mutex<Vec<Weak<tokio::sync::Notify>>>);

impl Followers {
    /// One more.
    pub(crate) fn add(&self, told: &Arc<tokio::sync::Notify>) {
        self.list().push(Arc::downgrade(told));
    }

    /// One follower less. A follower that subscribed twice is listed twice.
    pub(crate) fn remove(&self, told: &Arc<tokio::sync::Notify>) {
        let mut list = self.list();
        let mine = Arc::downgrade(told);
        if let Some(place) = list.iter().position(|known| known.ptr_eq(&mine)) {
            list.swap_remove(place);
        }
    }

    /// Tells everybody. Says whether anybody is there.
    pub(crate) fn tell(&self) -> bool {
        let mut list = self.list();
        list.retain(|follower| {
            let there = follower.upgrade();
            if let Some(told) = &there {
                told.notify_one();
            }
            there.is_some()
        });
        !list.is_empty()
    }

    /// Whether anybody is there.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.list()
            .iter()
            .all(|follower| follower.strong_count() == 0)
    }

    fn list(&self) -> MutexGuard<'_, Vec<Weak<tokio::sync::Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All hubs.
#[derive(Debug)]
pub struct Hubs {
    /// The flows of the workspace.
    pub store: Store,
    /// This run of the server.
    pub epoch: String,
    /// The models there are.
    models: Mutex<Vec<ModelChoice>>,
    /// How far tools reach at most, if that is known.
    pub reach: Option<ToolReach>,
    /// Counts what the hubs did, for those who measure.
    pub counts: Counts,
    flows: Mutex<BTreeMap<FlowRef, Arc<FlowHub>>>,
    inbox: Mutex<Option<Arc<InboxHub>>>,
    driven: Mutex<BTreeMap<FlowRef, FlowHandle>>,
    /// Closed as soon as no flow is driven.
    rest_bells: Mutex<Vec<PipeWriter>>,
    watch: Option<FolderWatch>,
    /// The bells to ring when something in a folder changes.
    bells: Mutex<BTreeMap<PathBuf, Vec<Weak<Bell>>>>,
    /// How often what is shown of a flow was made from its beginning.
    made: AtomicU64,
    /// What calls that wait would change.
    changes: Mutex<BTreeMap<Place, Option<Diff>>>,
    ended: AtomicBool,
}

/// What the hubs did.
#[derive(Debug, Default)]
pub struct Counts {
    /// Facts that were folded.
    pub facts: AtomicU64,
    /// Batches that were published.
    pub batches: AtomicU64,
    /// Frames that were sent.
    pub frames: AtomicU64,
    /// Bytes that were sent.
    pub bytes: AtomicU64,
    /// Commands that arrived.
    pub commands: AtomicU64,
    /// Sockets that are open.
    pub sockets: AtomicU64,
}

impl Hubs {
    /// No hub yet.
    #[must_use]
    pub fn new(store: Store, epoch: String, reach: Option<ToolReach>) -> Arc<Self> {
        let hubs = Arc::new(Self {
            store,
            epoch,
            models: Mutex::default(),
            reach,
            counts: Counts::default(),
            flows: Mutex::default(),
            inbox: Mutex::default(),
            driven: Mutex::default(),
            rest_bells: Mutex::default(),
            // Without it hubs look by themselves now and then.
            watch: FolderWatch::new().ok(),
            bells: Mutex::default(),
            made: AtomicU64::new(0),
            changes: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let weak = Arc::downgrade(&hubs);
        // A system without room for a thread has hubs that look now and then.
        let watching = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || listen(&weak));
        drop(watching);
        hubs
    }

    /// The models there are.
    #[must_use]
    pub(crate) fn models(&self) -> Vec<ModelChoice> {
        lock(&self.models).clone()
    }

    /// These are the models from now on. Everybody who follows a flow learns which can be chosen for it.
    pub(crate) fn configured(&self, models: Vec<ModelChoice>) {
        if std::mem::replace(&mut *lock(&self.models), models.clone()) == models {
            return;
        }
        for hub in lock(&self.flows).values() {
            hub.bell().ring();
        }
        if let (Some(inbox), Ok(census)) = (&*lock(&self.inbox), self.store.census()) {
            for flow in census.flows {
                inbox.changed(flow);
            }
        }
    }

    /// A fold of a flow that knows all that is not in its journal and does not change with it.
    #[must_use]
    pub(crate) fn fold_of(&self, flow: &FlowRef) -> FlowFold {
        FlowFold::new(wire_ref(flow), self.models())
            .reaching(self.reach.clone())
            .in_project(place::roles_of(&self.store, &flow.project))
    }

    /// A name for what is made of a flow from its beginning now, which nothing else ever has.
    pub(super) fn new_making(&self) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        format!("{}.{number}", self.epoch)
    }

    /// Rings a bell whenever something in a folder changes. Says whether the system notifies of that.
    pub(crate) fn ring_for(&self, folder: PathBuf, bell: &Arc<Bell>) -> bool {
        let added = self.watch.as_ref().map(|watch| watch.add(&folder));
        let watched = matches!(added, Some(Ok(())));
        if watched {
            let mut bells = lock(&self.bells);
            let list = bells.entry(folder).or_default();
            list.retain(|known| known.strong_count() > 0);
            list.push(Arc::downgrade(bell));
        }
        // What happened before it was watched is looked for now.
        bell.ring();
        watched
    }

    /// The hub of a flow, with one more follower. It is started if it has none yet.
    ///
    /// # Errors
    /// In words, when there is no such flow, or too many are followed at once.
    pub(crate) fn follow(
        self: &Arc<Self>,
        flow: &FlowRef,
        told: &Arc<tokio::sync::Notify>,
    ) -> Result<Arc<FlowHub>, String> {
        let mut flows = lock(&self.flows);
        flows.retain(|_, hub| !hub.is_ended());
        let known = flows.get(flow).map(Arc::clone);
        let hub = match known {
            Some(hub) => hub,
            None if flows.len() >= HUBS_MAX => {
                return Err("too many flows are followed at once; close a page".to_owned());
            }
            None => {
                let hub = FlowHub::start(self, flow).map_err(|error| error.to_string())?;
                flows.insert(flow.clone(), Arc::clone(&hub));
                hub
            }
        };
        // While the list is held, the hub cannot end for want of followers.
        hub.followers().add(told);
        drop(flows);
        hub.bell().ring();
        Ok(hub)
    }

    /// The hub of a flow, if it has followers.
    #[must_use]
    pub(crate) fn followed(&self, flow: &FlowRef) -> Option<Arc<FlowHub>> {
        let flows = lock(&self.flows);
        flows
            .get(flow)
            .filter(|hub| !hub.is_ended())
            .map(Arc::clone)
    }

    /// Ends a hub without followers. Returns whether it did.
    pub(super) fn ends(&self, hub: &FlowHub) -> bool {
        let flows = lock(&self.flows);
        let ends = hub.followers().is_empty();
        if ends {
            hub.end();
        }
        drop(flows);
        ends
    }

    /// The list of all flows.
    ///
    /// # Errors
    /// In words, when the system has no thread left.
    pub(crate) fn inbox(self: &Arc<Self>) -> Result<Arc<InboxHub>, String> {
        let mut inbox = lock(&self.inbox);
        if let Some(hub) = &*inbox {
            return Ok(Arc::clone(hub));
        }
        let hub = InboxHub::start(self).map_err(|error| error.to_string())?;
        *inbox = Some(Arc::clone(&hub));
        Ok(hub)
    }

    /// This process drives a flow from now on.
    pub fn drives(&self, flow: FlowRef, handle: FlowHandle) {
        lock(&self.driven).insert(flow.clone(), handle);
        self.look_at(&flow);
    }

    /// This process drives a flow no longer.
    pub fn leaves(&self, flow: &FlowRef) {
        let mut driven = lock(&self.driven);
        driven.remove(flow);
        if driven.is_empty() {
            // Closing it is what rings.
            lock(&self.rest_bells).clear();
        }
        drop(driven);
        self.look_at(flow);
    }

    /// What can be read from once this process drives no flow.
    ///
    /// # Errors
    /// When the system has no pipe.
    pub fn rest_bell(&self) -> io::Result<PipeReader> {
        let (bell, rings) = io::pipe()?;
        let driven = lock(&self.driven);
        if !driven.is_empty() {
            lock(&self.rest_bells).push(rings);
        }
        Ok(bell)
    }

    fn look_at(&self, flow: &FlowRef) {
        if let Some(hub) = lock(&self.flows).get(flow) {
            hub.bell().ring();
        }
        if let Some(inbox) = &*lock(&self.inbox) {
            inbox.changed(flow.clone());
        }
    }

    /// The handle of a flow that this process drives.
    #[must_use]
    pub(crate) fn handle(&self, flow: &FlowRef) -> Option<FlowHandle> {
        lock(&self.driven).get(flow).cloned()
    }

    /// The flows that this process drives.
    #[must_use]
    pub fn driven(&self) -> Vec<(FlowRef, FlowHandle)> {
        let driven = lock(&self.driven);
        driven
            .iter()
            .map(|(flow, handle)| (flow.clone(), handle.clone()))
            .collect()
    }

    /// Who drives a flow now.
    #[must_use]
    pub(crate) fn liveness(&self, flow: &FlowRef) -> Liveness {
        let holder = self.store.place(flow).holder().unwrap_or(None);
        let ours = lock(&self.driven).contains_key(flow);
        let driven_by = holder.as_ref().map(|_| {
            if ours {
                DrivenBy::Server
            } else {
                DrivenBy::Other
            }
        });
        Liveness { driven_by, holder }
    }

    /// What an open call would change in a file. It stays the same while the call is open.
    pub(super) fn change(&self, place: Place, call: &OpenCall) -> Option<Diff> {
        let known = lock(&self.changes).get(&place).cloned();
        if let Some(known) = known {
            return known;
        }
        let change = change_of(&self.store, &place, call);
        let mut changes = lock(&self.changes);
        if changes.len() >= CHANGES_KNOWN_MAX {
            changes.clear();
        }
        changes.insert(place, change.clone());
        change
    }

    /// How many hubs there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        lock(&self.flows)
            .values()
            .filter(|hub| !hub.is_ended())
            .count()
    }

    /// The server ends: no hub goes on.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        for hub in lock(&self.flows).values() {
            hub.bell().ring();
        }
    }

    /// Whether the server ended.
    #[must_use]
    pub(crate) fn is_over(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Rings the bells of what changed.
    fn tell(&self, news: &News) {
        let bells = lock(&self.bells);
        let ring = |list: &Vec<Weak<Bell>>| {
            for bell in list.iter().filter_map(Weak::upgrade) {
                bell.ring();
            }
        };
        match news {
            News::All => bells.values().for_each(ring),
            News::Of(folders) => {
                for folder in folders {
                    bells.get(folder).into_iter().for_each(ring);
                }
            }
        }
        drop(bells);
        if let Some(inbox) = &*lock(&self.inbox) {
            inbox.news(news);
        }
    }
}

/// Passes the system's notifications to the hubs, until the last reference to them is gone.
fn listen(hubs: &Weak<Hubs>) {
    while let Some(hubs) = hubs.upgrade() {
        let Some(watch) = &hubs.watch else { return };
        match watch.wait(LOOK) {
            Ok(news) => hubs.tell(&news),
            // Hubs look by themselves now and then.
            Err(_) => return,
        }
        if hubs.is_over() {
            return;
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
