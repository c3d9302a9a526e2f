//! The turns that this process runs. Each consists of a few small machines that do not know one another.

use std::collections::BTreeMap;

use a_society_base::stop::StopSignal;
use a_society_facts::Whom;
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_flow::machine::TurnTask;
use a_society_roles::turn::step::TurnStep;

use super::attempt::{Start, TurnAttempt};
use super::errand::ErrandId;
use super::provider_wait::TurnControl;
use super::room::TakenPlace;
use super::speech::TurnSpeech;

/// A turn that this process runs.
#[derive(Debug)]
pub(super) struct LiveTurn {
    pub(super) subject: TurnSubject,
    pub(super) control: TurnControl,
    pub(super) speech: TurnSpeech,
    pub(super) bounds: TurnBounds,
    pub(super) hosting: Hosting,
}

impl LiveTurn {
    /// A turn that has no taker yet.
    pub(super) fn new(
        subject: TurnSubject,
        control: TurnControl,
        place: Option<TakenPlace>,
    ) -> Self {
        Self {
            subject,
            control,
            speech: TurnSpeech::default(),
            bounds: TurnBounds::default(),
            hosting: Hosting {
                errand: None,
                held: None,
                _place: place,
            },
        }
    }
}

/// Which turn it is, which attempt of it, and for whom.
#[derive(Debug)]
pub(super) struct TurnSubject {
    whose: TurnAttempt,
    role: RoleInstance,
    task: Option<TurnTask>,
}

impl TurnSubject {
    /// The task of a compaction between turns is the one that the session last worked on, if that is known.
    pub(super) const fn new(
        whose: TurnAttempt,
        role: RoleInstance,
        task: Option<TurnTask>,
    ) -> Self {
        Self { whose, role, task }
    }

    pub(super) const fn whose(&self) -> TurnAttempt {
        self.whose
    }

    pub(super) const fn turn(&self) -> TurnId {
        self.whose.turn
    }

    pub(super) const fn attempt(&self) -> u32 {
        self.whose.attempt
    }

    pub(super) const fn role(&self) -> &RoleInstance {
        &self.role
    }

    pub(super) const fn task(&self) -> Option<&TurnTask> {
        self.task.as_ref()
    }

    pub(super) fn node(&self) -> Option<&NodeId> {
        self.task.as_ref().and_then(TurnTask::node)
    }

    /// Whether the operator means this turn.
    pub(super) fn is(&self, whom: &Whom) -> bool {
        match whom {
            Whom::Node(node) => self.node() == Some(node),
            Whom::Role(role) => self.role == *role,
            Whom::Only => true,
        }
    }

    /// Whose it is, in words.
    pub(super) fn named(&self) -> String {
        match self.node() {
            Some(node) => format!("{node} ({})", self.role),
            None => self.role.to_string(),
        }
    }
}

/// How much a turn may do: its calls are numbered, and its answers counted.
#[derive(Debug)]
pub(super) struct TurnBounds {
    calls: u32,
    answers_at_most: u32,
}

impl Default for TurnBounds {
    fn default() -> Self {
        Self {
            calls: 0,
            answers_at_most: u32::MAX,
        }
    }
}

impl TurnBounds {
    /// The turn's taker is ready. Earlier attempts intended so many calls.
    pub(super) const fn begin(&mut self, calls: u32, answers_at_most: u32) {
        self.calls = calls;
        self.answers_at_most = answers_at_most;
    }

    /// The number of the next call.
    pub(super) const fn next_call(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    /// The most answers that it may have, if it has had them.
    pub(super) fn exhausted(&self, answers: u32) -> Option<u32> {
        (answers >= self.answers_at_most).then_some(self.answers_at_most)
    }
}

/// How this process runs a turn: its place among the others, and what its taker waits for.
#[derive(Debug)]
pub(super) struct Hosting {
    errand: Option<ErrandId>,
    /// The step whose files the turn's thread looks at.
    held: Option<Box<TurnStep>>,
    /// Its place among the turns of the process, which is free when it is over.
    _place: Option<TakenPlace>,
}

impl Hosting {
    /// What is run before its taker can be made; it has none until then.
    pub(super) const fn errand(&self) -> Option<ErrandId> {
        self.errand
    }

    pub(super) const fn set_errand(&mut self, errand: Option<ErrandId>) {
        self.errand = errand;
    }

    /// Whether the outside world is waited for, before its taker can be made or its step be handled.
    pub(super) const fn waits_outside(&self) -> bool {
        self.errand.is_some() || self.held.is_some()
    }

    /// The turn's thread looks at what this step names.
    pub(super) fn hold_step(&mut self, step: TurnStep) {
        self.held = Some(Box::new(step));
    }

    /// The step that is held.
    pub(super) fn held(&self) -> Option<&TurnStep> {
        self.held.as_deref()
    }

    /// Whether it holds a summary, of which nothing would be kept if the turn were left.
    pub(super) fn holds_summary(&self) -> bool {
        matches!(self.held(), Some(TurnStep::Compact(_)))
    }

    /// The step that was held.
    pub(super) fn take_step(&mut self) -> Option<TurnStep> {
        self.held.take().map(|step| *step)
    }
}

/// The turns that this process runs.
#[derive(Debug, Default)]
pub(super) struct LiveTurns {
    turns: BTreeMap<TurnId, LiveTurn>,
    /// Those that were begun and must now be taken.
    begun: Vec<Start>,
    /// Whether text streamed in a turn that is gone.
    streamed: bool,
}

impl LiveTurns {
    pub(super) fn get(&self, turn: TurnId) -> Option<&LiveTurn> {
        self.turns.get(&turn)
    }

    pub(super) fn get_mut(&mut self, turn: TurnId) -> Option<&mut LiveTurn> {
        self.turns.get_mut(&turn)
    }

    pub(super) fn contains(&self, turn: TurnId) -> bool {
        self.turns.contains_key(&turn)
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (TurnId, &LiveTurn)> {
        self.turns.iter().map(|(turn, live)| (*turn, live))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &LiveTurn> {
        self.turns.values()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut LiveTurn> {
        self.turns.values_mut()
    }

    pub(super) fn insert(&mut self, live: LiveTurn) {
        self.turns.insert(live.subject.turn(), live);
    }

    pub(super) fn remove(&mut self, turn: TurnId) -> Option<LiveTurn> {
        let mut live = self.turns.remove(&turn)?;
        self.streamed |= live.speech.take_streamed();
        Some(live)
    }

    /// A turn that runs here must now be taken.
    pub(super) fn begin(&mut self, start: Start) {
        self.begun.push(start);
    }

    /// The turns that must now be taken.
    pub(super) fn take_begun(&mut self) -> Vec<Start> {
        std::mem::take(&mut self.begun)
    }

    /// What stops a turn while it waits.
    pub(super) fn stop_of(&self, turn: TurnId) -> StopSignal {
        let live = self.get(turn);
        live.map(|live| live.control.stop()).unwrap_or_default()
    }

    /// Whether text streamed since this was last asked.
    pub(super) fn take_streamed(&mut self) -> bool {
        let gone = std::mem::take(&mut self.streamed);
        let each = self.turns.values_mut();
        each.fold(gone, |any, live| live.speech.take_streamed() | any)
    }

    /// The roles whose provider has been silent for a while, and for how many seconds.
    pub(super) fn silent(&self) -> BTreeMap<RoleInstance, u64> {
        let silent = self.values().filter(|live| live.control.silent_s() > 0);
        silent
            .map(|live| (live.subject.role().clone(), live.control.silent_s()))
            .collect()
    }

    /// Cuts off what a role says, because the operator spoke.
    pub(super) fn interrupt(&mut self, role: &RoleInstance) {
        let turns = self.turns.values_mut();
        for live in turns.filter(|live| live.subject.role() == role) {
            live.control.interrupt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_numbered_on_and_answers_end() {
        let mut bounds = TurnBounds::default();
        assert_eq!(bounds.exhausted(1_000), None);
        bounds.begin(4, 2);
        assert_eq!(bounds.next_call(), 5);
        assert_eq!(bounds.exhausted(1), None);
        assert_eq!(bounds.exhausted(2), Some(2));
    }
}
