//! Sending a message to a chat, and waiting for its run.
//!
//! The process that drives the chat gets the message over its control socket. Where no process does, the message is
//! recorded by this one, and a driver is started, which does not end with it.

use std::fmt;
use std::time::Duration;

use a_society_facts::id::{ClientId, NodeId};
use a_society_facts::view::flow::FlowState;
use a_society_facts::{At, Verb, Whom};
use a_society_state::watch::FolderWatch;
use a_society_state::{Error, FlowPlace, Store};

use super::key::SessionAddress;
use super::report::RunReport;
use super::run::RunReader;
use super::start::DriverStarts;
use crate::control::client::{self, Unsaid};
use crate::control::message::{ControlFault, ControlFaultCode};
use crate::project::place::folder_of;
use crate::run::RunError;

/// For how many seconds an answer is waited for if the sender does not say.
pub const WAIT_S: u64 = 30;

/// The longest such wait. The run goes on after it.
pub const WAIT_S_MAX: u64 = 600;

/// How long to wait for news of a chat before looking again without any. A process that ends by a signal changes
/// nothing in the chat's folder.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// How long to wait where the system has no notifications.
const LOOK_OFTEN: Duration = Duration::from_millis(50);

/// How often a message is sent to a chat that seems to wait for one. Another sender is faster each time.
const REFUSALS_MAX: u32 = 100;

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunState {
    /// The chat has no such message.
    Unknown,
    /// The message waits for its turn, or its turn is open.
    GoesOn {
        /// What it waits for, if that is the operator or a moment.
        needs: Option<String>,
    },
    /// It was answered, with this text.
    Answered(String),
    /// It ended without an answer.
    Failed(String),
}

/// How an answer is waited for.
pub struct RunPatience<'a> {
    /// For how long; not at all if it is zero.
    pub longest: Duration,
    /// Whether the wait is over before.
    pub is_over: &'a dyn Fn() -> bool,
    /// Whether the store has no locks. A driver is started where there is none, and needs to know.
    pub without_locks: bool,
    /// How to hear later of a run that goes on, in words.
    pub later: &'a str,
}

impl fmt::Debug for RunPatience<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { longest, later, .. } = self;
        let mut fields = f.debug_struct("RunPatience");
        fields.field("longest", longest).field("later", later);
        fields.finish_non_exhaustive()
    }
}

/// Sends a message to a chat under a name, once, and waits for its answer. On return the message is durable. Its run is
/// called by the id of the chat, a colon and that name.
///
/// # Errors
/// When the chat takes no messages, or none in time.
pub fn send(
    store: &Store,
    address: SessionAddress,
    client: ClientId,
    text: &str,
    patience: &RunPatience<'_>,
) -> Result<RunReport, Unsaid> {
    let run = SentRun::to(store, address, client, patience);
    let (state, waits) = (run.send(text)?, !patience.longest.is_zero());
    let later = patience.later;
    Ok(RunReport::new(run.to_string(), state, waits, later))
}

/// Waits until a run is over or the time is. There may be no such run.
///
/// # Errors
/// When the journal cannot be read, or the chat cannot be driven.
pub fn wait(
    store: &Store,
    run: &str,
    patience: &RunPatience<'_>,
) -> Result<Option<RunReport>, Unsaid> {
    let named = SentRun::named(store, run, patience);
    let Some(run) = named.map_err(RunError::from)? else {
        return Ok(None);
    };
    let state = run.wait()?;
    let is_there = state != RunState::Unknown;
    Ok(is_there.then(|| RunReport::new(run.to_string(), state, true, patience.later)))
}

/// A message to a chat, and the turn that answers it. Its name is the id of the chat and the name that the message was
/// sent under.
struct SentRun<'a> {
    store: Store,
    address: SessionAddress,
    client: ClientId,
    drivers: DriverStarts,
    /// Until when it is waited for, as the clock of the store counts.
    until_us: u64,
    /// Whether the wait is over before.
    is_over: &'a dyn Fn() -> bool,
}

impl fmt::Display for SentRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.address.flow.flow, self.client)
    }
}

impl<'a> SentRun<'a> {
    /// A message that is sent under this name, and whose answer is waited for.
    fn to(
        store: &Store,
        address: SessionAddress,
        client: ClientId,
        patience: &RunPatience<'a>,
    ) -> Self {
        let wait_us = u64::try_from(patience.longest.as_micros()).unwrap_or(u64::MAX);
        let now_us = store.ground().clock.elapsed_us();
        Self {
            drivers: DriverStarts::new(store, &address.flow, patience.without_locks),
            store: store.clone(),
            address,
            client,
            until_us: now_us.saturating_add(wait_us),
            is_over: patience.is_over,
        }
    }

    /// The run with this name, if there may be one.
    ///
    /// # Errors
    /// When the flows of the workspace cannot be read.
    fn named(store: &Store, name: &str, patience: &RunPatience<'a>) -> Result<Option<Self>, Error> {
        let Some((flow, client)) = name.split_once(':') else {
            return Ok(None);
        };
        let mut flows = store.census()?.flows.into_iter();
        let flow = flows.find(|known| known.flow.as_str() == flow);
        let (Some(flow), Ok(client)) = (flow, client.parse()) else {
            return Ok(None);
        };
        let look = store.look(&flow)?;
        let state = &look.screen.flow;
        let node = state.graph.nodes.first().filter(|_| state.chat.is_some());
        Ok(node.map(|node| {
            let role = node.role.clone();
            let address = SessionAddress { flow, role };
            Self::to(store, address, client, patience)
        }))
    }

    /// Sends the message once, however often this is called, and waits for its answer. On return the message is
    /// durable.
    ///
    /// # Errors
    /// When the chat takes no messages, or none in time.
    fn send(&self, text: &str) -> Result<RunState, Unsaid> {
        let place = self.store.place(&self.address.flow);
        let watch = watch(&place);
        let mut refusals = 0;
        loop {
            let is_driven = place.holder().map_err(RunError::from)?.is_some();
            let look = self.store.look(&self.address.flow);
            let state = &look.map_err(RunError::from)?.screen.flow;
            if state.clients.get(&self.client).is_some() {
                return self.wait();
            }
            takes_messages(state)?;
            match free(state) {
                Some((node, asked)) => match self.say(node, asked, text) {
                    Err(Unsaid::Fault(fault))
                        if fault.code == ControlFaultCode::CommandRefused
                            && refusals < REFUSALS_MAX =>
                    {
                        refusals += 1;
                    }
                    Err(unsaid) => return Err(unsaid),
                    Ok(()) => return self.wait(),
                },
                None if !is_driven && waits_for(state).is_none() => self.start()?,
                None => {}
            }
            if !self.rest(watch.as_ref()) {
                return Err(busy(state));
            }
        }
    }

    fn say(&self, node: NodeId, asked: At, text: &str) -> Result<(), Unsaid> {
        let flow = &self.address.flow;
        let project = folder_of(&self.store, &flow.project);
        // Bound to this wait, so that no two messages are read by one turn.
        let verb = Verb::Reply {
            to: Whom::Node(node),
            text: text.to_owned(),
            asked: Some(asked),
        };
        client::say(&self.store, flow, &project, verb, self.client.clone()).map(drop)
    }

    /// Waits until the run is over or the time is, and sees to it that the chat is driven meanwhile.
    ///
    /// # Errors
    /// When the journal cannot be read, or the chat cannot be driven.
    fn wait(&self) -> Result<RunState, Unsaid> {
        let place = self.store.place(&self.address.flow);
        let watch = watch(&place);
        let mut reader = RunReader::new(&self.store, &self.address, self.client.clone())
            .map_err(RunError::from)?;
        loop {
            let is_driven = place.holder().map_err(RunError::from)?.is_some();
            let state = reader.read().map_err(RunError::from)?;
            let RunState::GoesOn { .. } = &state else {
                return Ok(state);
            };
            if !is_driven && !reader.waits(self.store.ground().clock.now()) {
                self.start()?;
            }
            if !self.rest(watch.as_ref()) {
                return Ok(state);
            }
        }
    }

    fn start(&self) -> Result<(), Unsaid> {
        self.drivers.start().map_err(|why| {
            fault(
                ControlFaultCode::FlowStopped,
                "the chat cannot be driven",
                &why,
                "see why: a-society chat --resume CHAT",
            )
        })
    }

    /// Waits for news; whether there is time left.
    fn rest(&self, watch: Option<&FolderWatch>) -> bool {
        let now_us = self.store.ground().clock.elapsed_us();
        let left = Duration::from_micros(self.until_us.saturating_sub(now_us));
        if left.is_zero() || (self.is_over)() {
            return false;
        }
        let waited = watch.map(|watch| watch.wait(left.min(LOOK_AGAIN)));
        if !matches!(waited, Some(Ok(_))) {
            std::thread::sleep(left.min(LOOK_OFTEN));
        }
        true
    }
}

fn fault(code: ControlFaultCode, what: &str, why: &str, hint: &str) -> Unsaid {
    Unsaid::Fault(ControlFault {
        code,
        what: what.to_owned(),
        why: why.to_owned(),
        r#try: hint.to_owned(),
    })
}

fn busy(state: &FlowState) -> Unsaid {
    let why = waits_for(state).map(|needs| format!("it waits for {needs}"));
    let why = why.unwrap_or_else(|| "it is at work on another message".to_owned());
    fault(
        ControlFaultCode::FlowBusy,
        "the chat did not take the message in time, and nothing was sent",
        &why,
        "wait longer: a-society sessions send REF TEXT --wait 600",
    )
}

fn watch(place: &FlowPlace) -> Option<FolderWatch> {
    let watch = FolderWatch::new().ok()?;
    watch.add(place.path()).ok()?;
    // What grows is in a folder of its own.
    drop(watch.add(&place.watched()));
    Some(watch)
}

fn takes_messages(state: &FlowState) -> Result<(), Unsaid> {
    let (what, why, hint) = if state.chat.is_none() {
        (
            "this session takes no messages of others",
            "it is a role's, which gets its work from its flow",
            "speak to the role itself: a-society steer FLOW ROLE TEXT",
        )
    } else if state.is_closed_chat() {
        (
            "the chat takes no messages",
            "it was closed",
            "open it again: a-society session open CHAT",
        )
    } else if state.status.is_over() {
        (
            "the chat takes no messages",
            "it was ended",
            "go on from a copy of it: a-society fork CHAT",
        )
    } else {
        return Ok(());
    };
    Err(fault(ControlFaultCode::CommandRefused, what, why, hint))
}

/// The node that waits for words, and since when, if no message came before this one.
pub(crate) fn free(state: &FlowState) -> Option<(NodeId, At)> {
    let node = &state.graph.nodes.first()?.id;
    let waiting = state.awaiting_operator.get(node)?;
    let is_free = waiting.takes_text() && !state.replies.contains_key(node);
    is_free.then(|| (node.clone(), waiting.since))
}

/// What a chat waits for that is not a message.
fn waits_for(state: &FlowState) -> Option<&'static str> {
    let node = &state.graph.nodes.first()?.id;
    let waiting = state.awaiting_operator.get(node)?;
    let is_other = !waiting.takes_text();
    is_other.then(|| waiting.reason.needs(waiting.trouble))
}
