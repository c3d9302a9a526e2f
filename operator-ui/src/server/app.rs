//! What every route has at hand.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_facts::id::Seq;
use a_society_orchestrator::project::place::folder_of;
use a_society_orchestrator::webhooks::Webhooks;
use a_society_state::FlowRef;
use tokio::sync::{Notify, Semaphore, watch};

use super::access::Access;
use super::actions::Actions;
use super::dev::DevSource;
use super::limits::TRACKS_MAX;
use crate::hub::Hubs;
use crate::protocol::down::{Fault, Mode};
use crate::protocol::row;

/// What every route has at hand.
#[derive(Debug)]
pub(super) struct App {
    pub(super) hubs: Arc<Hubs>,
    pub(super) access: Access,
    pub(super) actions: Arc<dyn Actions>,
    pub(super) workspace: String,
    pub(super) build: String,
    pub(super) mode: Mode,
    /// From where the page's files come instead of the program itself.
    pub(super) dev: Option<DevSource>,
    /// How long a client may take to say what it says.
    pub(super) patience: Duration,
    /// Room for sockets.
    pub(super) sockets: Arc<Semaphore>,
    /// Room for requests that read the disk.
    pub(super) readers: Arc<Semaphore>,
    /// Room for commands, and for journals that are opened to be followed.
    pub(super) workers: Arc<Semaphore>,
    /// Room for requests that wait for an answer.
    pub(super) waits: Arc<Semaphore>,
    pub(super) tracks: Tracks,
    pub(super) webhooks: Webhooks,
    /// Whether all sessions are being indexed beside the requests.
    pub(super) indexes: AtomicBool,
    /// Whether the server ends.
    pub(super) ends: AtomicBool,
    pub(super) ending: Notify,
    /// Whether it has ended, and nothing goes on any more.
    pub(super) over: watch::Sender<bool>,
}

pub(super) type Shared = Arc<App>;

impl App {
    /// What time it is, as the wire has it.
    pub(super) fn now(&self) -> String {
        crate::fold::words::at(self.hubs.store.ground().clock.now())
    }

    /// The folder of a flow's project.
    pub(super) fn project_folder(&self, flow: &FlowRef) -> PathBuf {
        folder_of(&self.hubs.store, &flow.project)
    }
}

/// The last tracks, each with the head it was made for.
#[derive(Debug, Default)]
pub(super) struct Tracks(Mutex<VecDeque<(FlowRef, Seq, Arc<str>)>>);

impl Tracks {
    fn list(&self) -> MutexGuard<'_, VecDeque<(FlowRef, Seq, Arc<str>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, flow: &FlowRef, head: Seq) -> Option<Arc<str>> {
        let list = self.list();
        let found = list.iter().find(|(of, at, _)| of == flow && *at == head);
        found.map(|(_, _, text)| Arc::clone(text))
    }

    pub(super) fn keep(&self, flow: &FlowRef, head: Seq, text: &Arc<str>) {
        let mut list = self.list();
        list.retain(|(of, _, _)| of != flow);
        list.push_back((flow.clone(), head, Arc::clone(text)));
        if list.len() > TRACKS_MAX {
            list.pop_front();
        }
    }
}

/// A flow by its address on the wire.
///
/// # Errors
/// When a name cannot be one.
pub(super) fn flow_ref(flow: &row::FlowRef) -> Result<FlowRef, Fault> {
    let unfit = |why: String| Fault {
        code: "no-such-flow".to_owned(),
        what: "there is no such flow".to_owned(),
        why,
        r#try: "go to the list of flows".to_owned(),
    };
    Ok(FlowRef {
        project: flow
            .project
            .parse()
            .map_err(|bad: a_society_facts::id::BadName| unfit(bad.to_string()))?,
        flow: flow
            .flow
            .parse()
            .map_err(|bad: a_society_facts::id::BadName| unfit(bad.to_string()))?,
    })
}
