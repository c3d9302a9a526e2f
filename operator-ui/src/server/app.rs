//! What every route has at hand.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use a_society_state::FlowRef;
use tokio::sync::{Notify, Semaphore};

use super::access::Access;
use super::actions::Actions;
use super::dev::DevSource;
use super::track::Tracks;
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
    pub(super) tracks: Tracks,
    /// Whether the server ends.
    pub(super) ends: AtomicBool,
    pub(super) ending: Notify,
}

pub(super) type Shared = Arc<App>;

impl App {
    /// What time it is, as the wire has it.
    pub(super) fn now(&self) -> String {
        crate::fold::words::at(self.hubs.store.ground().clock.now())
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
