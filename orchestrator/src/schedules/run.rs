//! A run that no person begins: a flow, or a chat with its message, whose names say what it is for.
//!
//! A process may end between any two steps. The next one takes the same steps: a flow that is there is not made
//! again, one that no process drives is driven, and a message that was recorded is not sent again.

use std::time::Duration;

use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::id::{BadName, ClientId};
use a_society_facts::view::flow::FlowState;
use a_society_facts::{At, Verb, Whom};
use a_society_roles::config::StartFrom;
use a_society_state::{Error, FlowRef, Store};

use crate::driver::handle::FlowHandle;
use crate::driver::task::Driven;
use crate::mint::flow_id_of;
use crate::project::place::folder_of;
use crate::run::{Amendment, RunError, resume};
use crate::sessions::send::free;
use crate::workspace::begin::{BegunFlow, ByItself, FlowChoices, FlowOrigin, NotBegun, begin_once};
use crate::workspace::belonging::project_of_all;
use crate::workspace::material::Unfit;

/// How long a chat that has just begun may take until it waits for its message.
const WAIT_FOR_CHAT: Duration = Duration::from_secs(10);

/// How long to wait for one change of it.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What is begun by itself.
#[derive(Debug, Clone)]
pub(crate) struct OwnRun<'a> {
    pub(crate) store: &'a Store,
    pub(crate) names: ByItself,
    pub(crate) from: &'a StartFrom,
    /// How people call it.
    pub(crate) title: String,
    /// What the flow is asked to do, or the message to the chat.
    pub(crate) input: Option<&'a str>,
    pub(crate) mode: Option<ConsentMode>,
}

/// Why a run did not begin.
#[derive(Debug)]
pub(crate) enum NotRun {
    /// It cannot: what it is made of has faults.
    Unfit(String),
    /// Not now: the disk or the system refused.
    Later(String),
}

impl From<Error> for NotRun {
    fn from(error: Error) -> Self {
        Self::Later(error.to_string())
    }
}

impl From<RunError> for NotRun {
    fn from(error: RunError) -> Self {
        match error {
            RunError::File(_) => Self::Unfit(error.to_string()),
            RunError::Driver(_)
            | RunError::Record(_)
            | RunError::NeverBegan
            | RunError::State(_) => Self::Later(error.to_string()),
        }
    }
}

impl From<NotBegun> for NotRun {
    fn from(error: NotBegun) -> Self {
        match error {
            NotBegun::Run(error) => error.into(),
            NotBegun::Unfit(Unfit::State(error)) => error.into(),
            NotBegun::Configuration(_) | NotBegun::Workspace(_) | NotBegun::Unfit(_) => {
                Self::Unfit(error.to_string())
            }
        }
    }
}

/// The names of what begins once under this key at this moment. The letters of the flow's id are others for each moment,
/// because people name a flow by them.
///
/// # Errors
/// When the key is too long.
pub(crate) fn names_of(key: &str, at: At) -> Result<ByItself, BadName> {
    let client = format!("{key}:{at}");
    Ok(ByItself {
        flow: flow_id_of(&client, at)?,
        client: client.parse()?,
        key: key.parse()?,
    })
}

impl OwnRun<'_> {
    /// Begins it, or goes on with it where a process ended that had begun it. On return it is durable, the message of
    /// a chat, too. What this process drives from now on is returned with it.
    ///
    /// # Errors
    /// When it cannot begin. It is safe to try again.
    pub(crate) fn begin(&self) -> Result<(FlowRef, Option<BegunFlow>), NotRun> {
        let (flow, driven) = match self.existing()? {
            Some(flow) => {
                let driven = self.go_on(&flow)?;
                (flow, driven)
            }
            None => self.make()?,
        };
        if let StartFrom::Chat { .. } = self.from {
            self.say(&flow, driven.as_ref())?;
        }
        let begun = driven.map(|driven| BegunFlow {
            flow: flow.clone(),
            driven,
        });
        Ok((flow, begun))
    }

    /// The flow, if its first record was written. It is looked for in all projects: the configuration may name another one by now.
    fn existing(&self) -> Result<Option<FlowRef>, NotRun> {
        let mut flows = self.store.census()?.flows.into_iter();
        let Some(flow) = flows.find(|flow| flow.flow == self.names.flow) else {
            return Ok(None);
        };
        let state = &self.store.look(&flow)?.screen.flow;
        if !state.is_created() {
            return Ok(None);
        }
        if state.clients.get(&self.names.client).is_none() {
            let why = format!("the flow {flow} has its id and began for something else");
            return Err(NotRun::Unfit(why));
        }
        Ok(Some(flow))
    }

    fn make(&self) -> Result<(FlowRef, Option<Driven>), NotRun> {
        let is_chat = matches!(self.from, StartFrom::Chat { .. });
        let origin = match self.from.clone() {
            StartFrom::File(path) => FlowOrigin::File(path),
            StartFrom::Project(project) => FlowOrigin::Project(project),
            StartFrom::Chat { role, project } => FlowOrigin::Chat {
                project: match project {
                    Some(project) => project,
                    None => project_of_all(self.store)?,
                },
                role,
                label: None,
                context: None,
            },
        };
        let choices = FlowChoices {
            title: Some(self.title.clone()),
            input: self.input.filter(|_| !is_chat).map(str::to_owned),
            mode: self.mode,
            ..FlowChoices::default()
        };
        Ok(begin_once(self.store, origin, choices, self.names.clone())?)
    }

    /// Drives a flow that is not finished and that no process drives.
    fn go_on(&self, flow: &FlowRef) -> Result<Option<Driven>, NotRun> {
        let standing = RunStanding::of(self.store, flow, &self.names.client)?;
        if standing != RunStanding::Undriven {
            return Ok(None);
        }
        drive(self.store, flow).map(Some)
    }

    /// Sends the message to the chat, once.
    fn say(&self, flow: &FlowRef, driven: Option<&Driven>) -> Result<(), NotRun> {
        let (Some(driven), Some(text)) = (driven, self.input) else {
            return Ok(());
        };
        let client = message_of(&self.names.client)?;
        let clock = &self.store.ground().clock;
        let until = clock
            .elapsed_us()
            .saturating_add(u64::try_from(WAIT_FOR_CHAT.as_micros()).unwrap_or(u64::MAX));
        let mut seq = 0;
        loop {
            if let Some(seen) = driven.handle.wait(seq, LOOK_AGAIN) {
                if is_said(&seen.state, &client) {
                    return Ok(());
                }
                if let Some((node, asked)) = free(&seen.state) {
                    let verb = Verb::Reply {
                        to: Whom::Node(node),
                        text: text.to_owned(),
                        asked: Some(asked),
                    };
                    let said = driven.handle.obey(verb, Some(client));
                    return said
                        .map(drop)
                        .map_err(|error| NotRun::Later(error.to_string()));
                }
                if seen.over {
                    return Err(NotRun::Later(format!("{flow} is not driven any more")));
                }
                seq = seen.seq;
            }
            if clock.elapsed_us() >= until {
                return Err(NotRun::Later(format!("{flow} takes no message")));
            }
        }
    }
}

/// Drives a flow that began by itself until it is over or, if it is a chat, was answered. No person sits beside such a
/// chat, and each would keep its threads for ever. What comes while it is let go is read by the next handle of it.
pub fn drive_to_rest(
    store: &Store,
    flow: &FlowRef,
    driven: Driven,
    handled: &mut dyn FnMut(FlowHandle),
) {
    let mut next = Some(driven);
    while let Some(driven) = next {
        handled(driven.handle.clone());
        wait_for_rest(&driven.handle);
        // Why it ended is in its journal, or its own error was reported.
        drop(driven.task.join());
        next = go_on_after_rest(store, flow);
    }
}

fn wait_for_rest(handle: &FlowHandle) {
    /// For how long without any news, of which a flow has some in its life.
    const LONGEST: Duration = Duration::from_secs(3_600);
    let mut after = 0;
    loop {
        let Some(seen) = handle.wait(after, LONGEST) else {
            continue;
        };
        let state = &seen.state;
        let is_answered = state.chat.is_some() && !state.sessions.is_empty();
        if seen.over {
            return;
        }
        if is_answered && seen.live == 0 && free(state).is_some() {
            return handle.drain();
        }
        after = seen.seq;
    }
}

/// Goes on with a flow that was drained, if something came meanwhile: a message that nothing would read, for example.
fn go_on_after_rest(store: &Store, flow: &FlowRef) -> Option<Driven> {
    let look = store.look(flow).ok()?;
    let state = &look.screen.flow;
    let has_work = state.chat.is_some() && !state.is_closed_chat() && free(state).is_none();
    let waits = state
        .awaiting_operator
        .values()
        .any(|waiting| !waiting.takes_text());
    let goes_on = has_work && !waits && look.damage.is_none() && look.held_by.is_none();
    goes_on.then(|| drive(store, flow).ok())?
}

/// Drives a flow from where it is.
pub(super) fn drive(store: &Store, flow: &FlowRef) -> Result<Driven, NotRun> {
    let folder = folder_of(store, &flow.project);
    let (driven, _) = resume(store, flow, folder, None, Amendment::default())?;
    Ok(driven)
}

/// What the message of a chat is called that began under this name.
fn message_of(client: &ClientId) -> Result<ClientId, NotRun> {
    let name = format!("{client}:message").parse();
    name.map_err(|bad: BadName| NotRun::Unfit(bad.to_string()))
}

/// Whether a chat has the message it began for. A chat that went on for long has forgotten the name.
fn is_said(state: &FlowState, message: &ClientId) -> bool {
    state.clients.get(message).is_some() || !state.sessions.is_empty()
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunStanding {
    /// There is nothing left for it to do by itself: it is over, or a chat that has answered, or was removed.
    Finished,
    /// It is not finished, and the operator paused it.
    Paused,
    /// It is not finished, and a process drives it.
    Driven,
    /// It is not finished, and no process drives it.
    Undriven,
}

impl RunStanding {
    pub(super) fn of(store: &Store, flow: &FlowRef, client: &ClientId) -> Result<Self, NotRun> {
        let look = match store.look(flow) {
            Ok(look) => look,
            Err(Error::NoFlow(_)) => return Ok(Self::Finished),
            Err(error) => return Err(error.into()),
        };
        let state = &look.screen.flow;
        let is_answered = state.chat.is_some()
            && is_said(state, &message_of(client)?)
            && (state.is_closed_chat() || free(state).is_some());
        Ok(
            if look.damage.is_some() || state.status.is_over() || is_answered {
                Self::Finished
            } else if look.held_by.is_some() {
                Self::Driven
            } else if state.paused.is_some() {
                Self::Paused
            } else {
                Self::Undriven
            },
        )
    }
}
