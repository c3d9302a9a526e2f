//! The loop: input, decide, append, apply, pending, start what is not running.
//!
//! The core owns the flow and knows which turns it has started. It spawns nothing, and waits for
//! the flow's own folder: what must now be started comes out as `Start`s, what may wait for the outside
//! world before as errands, and what a step names outside as looks. After a crash nothing here is different: the flow was
//! folded by its open, `Opened` is one more input, and `pending` says what goes on.
//!
//! Only the core starts, leaves and ends turns. What a step means is up to parts (`calls`, `compact`, `choose`, `consent` and others):
//! they write with the `FlowPen` and return what follows for the turn.

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::view::flow::FlowState;
use a_society_flow::graph::{self, FlowGraph};
use a_society_flow::machine::{Claim, Input, StartFeedback, StartReflection, Work, pending};
use a_society_state::Flow;

use super::attempt::Start;
use super::budget::Budgets;
use super::choose::Choices;
use super::compact::Compactions;
use super::drive_state::DriveState;
use super::errand::{Errands, Purpose, Report};
use super::error::DriverError;
use super::live_turn::LiveTurns;
use super::pen::FlowPen;
use super::role_source::RoleSource;
use super::room::{Room, RoomBell, TurnRoom};
use super::unrecorded_text::Ahead;
use crate::mint::Mint;
use crate::record::{Places, put_back};

/// The role that writes the feedback report, unless the flow has one of that name itself.
pub(crate) const FEEDBACK_ROLE: &str = "a-society-feedback";

/// What the core is made of, besides the flow.
#[derive(Debug)]
pub(crate) struct CoreParts {
    /// Knows roles.
    pub roles: Box<dyn RoleSource>,
    /// Makes names.
    pub mint: Box<dyn Mint>,
    /// Where artifacts may lie.
    pub places: Places,
    /// How many turns of the flow run at once.
    pub turns_at_once: usize,
    /// Room for turns in the process.
    pub room: Room,
}

/// The loop of one flow.
#[derive(Debug)]
pub struct Core {
    pub(super) pen: FlowPen,
    pub(super) live: LiveTurns,
    /// What the requests under way may still cost.
    pub(super) budgets: Budgets,
    /// The sessions that are being compacted.
    pub(super) compactions: Compactions,
    /// The choices of what roles work with that models are making.
    pub(super) choices: Choices,
    /// What must be started or was, before turns and commands can go on.
    pub(super) errands: Errands<Self>,
    pub(super) drive: DriveState,
    pub(super) room: TurnRoom,
}

impl Core {
    /// Takes over a flow that was created or opened.
    ///
    /// # Errors
    /// When the graph cannot be read back, or the journal refuses.
    pub(crate) fn take_over(flow: Flow, parts: CoreParts) -> Result<Self, DriverError> {
        let graph = graph_of(&flow)?;
        let CoreParts {
            roles,
            mint,
            places,
            turns_at_once,
            room,
        } = parts;
        let mut core = Self {
            pen: FlowPen::new(flow, graph, roles, mint, places),
            live: LiveTurns::default(),
            budgets: Budgets::default(),
            compactions: Compactions::default(),
            choices: Choices::default(),
            errands: Errands::default(),
            drive: DriveState::default(),
            room: TurnRoom::new(room, turns_at_once),
        };
        core.restore();
        core.pen.input(Input::Opened)?;
        core.pen.keep_records();
        Ok(core)
    }

    /// Sets how many turns of the flow run at once, if that is configured.
    pub fn limit_turns(&mut self, turns_at_once: Option<usize>) {
        if let Some(turns_at_once) = turns_at_once {
            self.room.limit(turns_at_once);
        }
    }

    /// Takes its places from this room from now on.
    #[cfg(test)]
    pub(super) fn share(&mut self, room: Room) {
        self.room.share(room);
    }

    /// Restores handed-over files that still have to be read, before any turn begins.
    fn restore(&mut self) {
        let state = self.state();
        let reading = state.running.values().flat_map(|running| &running.received);
        let handed = state.received.iter().chain(reading);
        let handed = handed.filter(|delivery| delivery.artifact.text.is_some());
        let artifacts: Vec<Artifact> = handed.map(|it| it.artifact.clone()).collect();
        if artifacts.is_empty() {
            return;
        }
        let (disk, places) = (self.pen.flow.shared_disk(), self.pen.places.clone());
        let run = move || -> Report<Self> {
            let mut each = artifacts.iter();
            let restored = each.try_for_each(|artifact| put_back(disk.as_ref(), &places, artifact));
            Box::new(move |_: &mut Self| Ok(restored.map(|()| 0)?))
        };
        self.errands.add(Purpose::Files, Box::new(run));
    }

    /// Whether turns wait until handed-over files are restored.
    pub(super) fn is_restoring(&self) -> bool {
        self.errands.are_files_awaited() && !self.is_draining() && !self.state().status.is_over()
    }

    /// Everything folded from the flow's journal.
    #[must_use]
    pub(crate) fn state(&self) -> &FlowState {
        &self.pen.flow.views().flow
    }

    /// The flow itself.
    #[must_use]
    pub const fn flow(&self) -> &Flow {
        &self.pen.flow
    }

    /// The graph it walks.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn graph(&self) -> &FlowGraph {
        &self.pen.graph
    }

    /// How many turns this process runs.
    #[must_use]
    pub(crate) fn live_turns(&self) -> usize {
        self.live.len()
    }

    /// The roles whose provider has been silent for a while, and for how many seconds.
    #[must_use]
    pub(crate) fn silent(&self) -> BTreeMap<RoleInstance, u64> {
        self.live.silent()
    }

    /// What streamed and is in no record yet. The first words of a text are recorded by this.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn ahead(&mut self) -> Result<Vec<Ahead>, DriverError> {
        let Self { live, pen, .. } = self;
        let mut waiting = Vec::new();
        for live in live.values_mut() {
            for (after, text) in live.speech.unrecorded(&mut pen.flow)? {
                let role = live.subject.role().clone();
                waiting.push(Ahead { role, after, text });
            }
        }
        Ok(waiting)
    }

    /// What is pending by the machine.
    #[must_use]
    pub(crate) fn pending(&self) -> Vec<Work> {
        pending(&self.pen.graph, self.state())
    }

    /// Handles an input of the operator: it is durable on return.
    ///
    /// # Errors
    /// When the machine refuses, and then nothing changed; or when the journal does.
    pub(crate) fn command(&mut self, input: Input) -> Result<usize, DriverError> {
        self.pen.command(input)
    }

    /// A turn does not run here any more.
    pub(super) fn leave(&mut self, turn: TurnId) {
        self.forget(turn);
        self.drive.change(true);
    }

    /// A turn that was about to run does not, and nothing follows from that.
    pub(super) fn forget(&mut self, turn: TurnId) {
        self.budgets.release(turn);
        self.compactions.forget(turn);
        self.choices.forget(turn);
        let live = self.live.remove(turn);
        if let Some(errand) = live.and_then(|live| live.hosting.errand()) {
            self.errands.forget(errand);
        }
    }

    /// Makes the end of a turn durable, if one ended and nothing that came after it has done so:
    /// usually the first request of the next turn does.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn sync_ended(&mut self) -> Result<(), DriverError> {
        self.pen.sync_ended()
    }

    /// Makes durable what a turn waits for, if one does.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn sync_owed(&mut self) -> Result<(), DriverError> {
        self.pen.sync_owed()
    }

    /// How many wait for a sync that has not been made.
    pub(super) const fn syncs_owed(&self) -> usize {
        self.pen.syncs.owed()
    }

    /// Starts nothing new from now on; turns that run go on to their next recorded point. Those that wait
    /// for the outside world are at one.
    pub(crate) fn drain(&mut self) {
        self.drive.drain();
        self.errands.end_overdue(self.pen.flow.elapsed_us(), true);
        let live = self.live.iter();
        let waiting = live.filter(|(_, live)| {
            let hosting = &live.hosting;
            hosting.waits_outside() && !hosting.holds_summary()
        });
        let waiting: Vec<TurnId> = waiting.map(|(turn, _)| turn).collect();
        for turn in waiting {
            self.leave(turn);
        }
        for live in self.live.values() {
            live.control.end_nap();
        }
    }

    pub(super) const fn is_draining(&self) -> bool {
        self.drive.is_draining()
    }

    /// Goes on as far as it can, and says which turns must now be taken. Errands are run on this thread, in a
    /// process that drives nothing else.
    ///
    /// # Errors
    /// When the journal refuses.
    pub fn advance(&mut self) -> Result<Vec<Start>, DriverError> {
        loop {
            self.advance_apart()?;
            if !self.errands.are_new() {
                return Ok(self.take_begun());
            }
            self.run_errands_here()?;
        }
    }

    /// The turns that must now be taken.
    pub(super) fn take_begun(&mut self) -> Vec<Start> {
        self.live.take_begun()
    }

    /// Goes on as far as it can without waiting. Turns that must be taken and errands that must be run wait for
    /// the driver.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn advance_apart(&mut self) -> Result<(), DriverError> {
        if self.drive.begin() {
            self.pen.input(Input::Driven)?;
        }
        let now = self.pen.flow.now();
        if self.drive.wake(now) {
            self.pen.input(Input::TimeCame(now))?;
        }
        while self.looks() {
            self.begin_pending()?;
        }
        Ok(())
    }

    /// Whether there may be work to start that was not looked at.
    fn is_changed(&mut self) -> bool {
        self.drive.change(self.pen.take_moved());
        self.drive.is_changed()
    }

    /// What there is to start is looked at now, if it has to be.
    fn looks(&mut self) -> bool {
        self.drive.change(self.pen.take_moved());
        self.drive.look()
    }

    /// Begins what is pending and does not go on already, in order, while there is room for it.
    fn begin_pending(&mut self) -> Result<(), DriverError> {
        let mut room = self.room.look(self.live.len());
        let restoring = self.errands.are_files_awaited();
        for work in self.pending() {
            let begins = match &work {
                Work::RunTurn { turn, .. } => {
                    if restoring {
                        continue;
                    }
                    room.has_place() && !self.live.contains(*turn)
                }
                Work::StopTurn { turn, .. } => {
                    (self.live.get(*turn)).is_none_or(|live| !live.control.is_stopping())
                }
                Work::Claim { .. } | Work::StartReflection { .. } | Work::StartFeedback { .. } => {
                    if restoring || self.compactions.holds_back(&work) {
                        continue;
                    }
                    room.has_place()
                }
                Work::WaitUntil { at, .. } => {
                    self.drive.wake_at(*at);
                    false
                }
                Work::ApplyEnds => true,
                Work::AskOperator(_) => false,
            };
            if !begins {
                // Work that waits for the flow's own turns is looked at again when one of them ends.
                if room.is_taken_by_others() && self.is_new(&work) {
                    self.room.crowd();
                }
                continue;
            }
            room.take();
            match self.begin(work) {
                Ok(()) => {}
                // What was begun before it in this round took it away; the next round knows.
                Err(DriverError::Refused(_)) if self.is_changed() => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether work would take a place that it does not have.
    fn is_new(&self, work: &Work) -> bool {
        match work {
            Work::RunTurn { turn, .. } => !self.live.contains(*turn),
            Work::Claim { .. } | Work::StartReflection { .. } | Work::StartFeedback { .. } => true,
            Work::StopTurn { .. }
            | Work::ApplyEnds
            | Work::WaitUntil { .. }
            | Work::AskOperator(_) => false,
        }
    }

    /// When a limit of a provider resets for which a role of this flow waits, as far as it was looked at.
    #[must_use]
    pub(crate) const fn wakes_at(&self) -> Option<At> {
        self.drive.wakes_at()
    }

    /// Rings this bell when room is free for which work waits.
    pub(super) fn ring_for_room(&mut self, bell: RoomBell) {
        self.room.ring(bell);
    }

    /// Whether work waits for room that other flows of the process take.
    #[must_use]
    pub(crate) const fn is_crowded(&self) -> bool {
        self.room.is_crowded()
    }

    fn begin(&mut self, work: Work) -> Result<(), DriverError> {
        match work {
            Work::RunTurn {
                turn,
                attempt,
                role,
                task,
            } => self.run_turn(turn, attempt, role, task),
            Work::StopTurn { turn, attempt, .. } => self.stop_turn(turn, attempt),
            Work::Claim { node, role, .. } => {
                let session = self.pen.new_session(&role)?;
                self.pen
                    .input(Input::Claim(Claim { node, session }))
                    .map(drop)
            }
            Work::StartReflection { role, .. } => {
                let session = self.pen.new_session(&role)?;
                self.pen
                    .input(Input::StartReflection(StartReflection { role, session }))
                    .map(drop)
            }
            Work::StartFeedback { role } => {
                let role = match role {
                    Some(role) => role,
                    None => feedback_role(&self.pen.graph)?,
                };
                let session = self.pen.new_session(&role)?;
                self.pen
                    .input(Input::StartFeedback(StartFeedback { role, session }))
                    .map(drop)
            }
            Work::ApplyEnds => self.pen.input(Input::ApplyEnds).map(drop),
            Work::WaitUntil { .. } | Work::AskOperator(_) => Ok(()),
        }
    }

    /// Everything that was appended is made durable.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn sync(&mut self) -> Result<(), DriverError> {
        self.pen.flow.sync()?;
        Ok(())
    }

    /// Whether everything is durable and shown.
    #[must_use]
    pub(crate) fn rests(&self) -> bool {
        self.pen.flow.rests()
    }

    /// The flow rests: everything is made durable and shown.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn rest(&mut self) -> Result<(), DriverError> {
        self.pen.flow.rest()?;
        Ok(())
    }

    /// Time passes: what waits for its batch or its view is written if it is due.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn tick(&mut self) -> Result<(), DriverError> {
        for live in self.live.values_mut() {
            live.speech.tick(&mut self.pen.flow)?;
        }
        self.errands.end_overdue(self.pen.flow.elapsed_us(), false);
        self.drive.change(self.room.is_crowded());
        self.pen.flow.tick();
        Ok(())
    }

    /// Ends in good order.
    ///
    /// # Errors
    /// When the journal refuses.
    pub fn close(self) -> Result<(), DriverError> {
        self.pen.flow.close()?;
        Ok(())
    }
}

/// A role that the graph does not contain, nor another instance of one.
fn feedback_role(graph: &FlowGraph) -> Result<RoleInstance, DriverError> {
    let is_known = |name: &str| graph.role_instances().any(|role| role.base() == name);
    let numbered = (2_u32..).map(|number| format!("{FEEDBACK_ROLE}-{number}"));
    let mut names = std::iter::once(FEEDBACK_ROLE.to_owned()).chain(numbered);
    // A graph has fewer roles than there are numbers.
    let free = names.find(|name| !is_known(name)).unwrap_or_default();
    Ok(free.parse()?)
}

/// Reads the graph of a flow back from its journal.
///
/// # Errors
/// When its text is lost or is not a graph.
pub(crate) fn graph_of(flow: &Flow) -> Result<FlowGraph, DriverError> {
    let outline = &flow.views().flow.graph;
    let source = flow.whole_text(&outline.source)?;
    let (graph, diagnostics) = graph::parse(&source, "workflow.yaml");
    graph.ok_or_else(|| {
        let first = diagnostics.first().map(ToString::to_string);
        DriverError::Graph(first.unwrap_or_else(|| "it holds no graph".to_owned()))
    })
}
