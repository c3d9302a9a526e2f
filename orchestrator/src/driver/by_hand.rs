//! What the operator does to a session between its turns: making it shorter, and taking that back.
//!
//! Making it shorter is a turn aside like the one that a full window leads to, without a turn that
//! waits for it. While it is made no turn of the role begins. If no model can be asked, or what it
//! says is not a summary, the oldest messages are left out, and the feed says why.

use a_society_base::stop::StopSignal;
use a_society_facts::fact::Fact;
use a_society_facts::fact::session::{ArchiveRestored, Trigger};
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_facts::view::session::SessionView;
use a_society_flow::machine::{Task, Work};
use a_society_roles::role::compaction::Shares;
use a_society_roles::turn::step::{Asking, Told};
use a_society_roles::turn::taker::Taker;

use super::budget::Short;
use super::core::{Core, LiveTurn};
use super::error::DriverError;
use super::hurry::Nap;
use super::step::Heard;
use super::turn_thread;

/// How many messages there must be: a single one may be a summary already.
const MESSAGES_MIN: usize = 2;

/// The window of a model that cannot be asked.
const WINDOW_UNKNOWN: u64 = 0;

impl Core {
    /// Begins to make a session shorter. What was begun goes on beside the flow's turns.
    pub(super) fn shorten(
        &mut self,
        role: RoleInstance,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let session = self.quiet_session(&role)?;
        if session.messages.len() < MESSAGES_MIN {
            return Err(not_now(&role, "there is nothing in it to make shorter"));
        }
        if !self.roles.reads_history(&role) {
            let why = "its turns are not taken by a model, so its length costs nothing";
            return Err(not_now(&role, why));
        }
        let before = self.flow.position().seq;
        let (compaction, aside) = self.announce_compaction(&role, Trigger::Manual, client)?;
        let task = self.task_of(&role);
        let job = self.job(aside, 1, &role, &task, String::new())?;
        let (stop, nap) = (StopSignal::default(), Nap::default());
        let mut live = LiveTurn::new(1, (role, task), (stop.clone(), nap), self.place());
        live.compaction = Some((compaction, aside));
        self.live.insert(aside, live);
        let mut roles = self.roles.another();
        self.send((aside, 1), true, move || {
            let taker = roles.summariser(job, stop);
            Box::new(move |core: &mut Self| core.summarised_by(aside, taker).map(|()| 0))
        })?;
        self.flow.sync()?;
        let after = self.flow.position().seq;
        Ok(usize::try_from(after - before).unwrap_or(usize::MAX))
    }

    /// Whoever makes the summary is there, or nobody can make it.
    fn summarised_by(
        &mut self,
        aside: TurnId,
        taker: Result<Box<dyn Taker>, String>,
    ) -> Result<(), DriverError> {
        match taker {
            Ok(taker) => self.take(aside, taker),
            Err(why) => {
                let shares = Shares::of(WINDOW_UNKNOWN);
                self.do_without(aside, why, Usage::default(), Some(shares))?;
                self.leave(aside);
                self.owed += 1;
            }
        }
        Ok(())
    }

    /// Replaces a summary by its archived messages.
    pub(super) fn restore(
        &mut self,
        role: RoleInstance,
        archive: String,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let session = self.quiet_session(&role)?;
        let place = session.archives.iter().position(|kept| kept.id == archive);
        if place.is_none() {
            return Err(not_now(&role, &no_such_archive(session, &archive)));
        }
        if let Some(kept) = place.and_then(|place| session.archives.get(place)) {
            let id = &kept.replacement_message.id;
            let stands = |messages: &[_]| {
                let same = |entry: &a_society_facts::view::session::Entry| entry.id == *id;
                messages.iter().any(same)
            };
            let mut later = session.archives.iter();
            let holder = later.find(|other| stands(&other.archived_transcript_history));
            if let Some(holder) = holder.filter(|_| !stands(&session.messages)) {
                let why = format!(
                    "what stands for it lies in the archive {} itself; restore that one first",
                    holder.id
                );
                return Err(not_now(&role, &why));
            }
        }
        self.append(Fact::ArchiveRestored(ArchiveRestored {
            seat: role.into(),
            archive,
            client,
        }))?;
        self.flow.sync()?;
        Ok(1)
    }

    /// The session of a role of which no turn is open and that is not being compacted.
    fn quiet_session(&self, role: &RoleInstance) -> Result<&SessionView, DriverError> {
        let Some(session) = self.flow.views().session(role) else {
            return Err(not_now(role, "it has none"));
        };
        let known = self.state().session(role);
        if self.state().main_turn_of(role).is_some() {
            let why = "a turn of it is open; let it end, or stop it";
            return Err(not_now(role, why));
        }
        if known.is_none_or(|known| known.compaction.is_some()) {
            return Err(not_now(role, "it is being compacted already"));
        }
        if self.is_draining() {
            return Err(DriverError::Gone);
        }
        Ok(session)
    }

    /// What a role was last asked to do.
    fn task_of(&self, role: &RoleInstance) -> Task {
        let mark = self.flow.views().session(role);
        let mark = mark.and_then(|session| session.node.as_ref());
        match mark {
            _ if self.state().reflecting(role).is_some() => Task::Reflection,
            Some(mark) if self.graph.has_node(&mark.node) => Task::Node(mark.node.clone()),
            Some(_) | None => Task::Send,
        }
    }

    /// Whether a turn makes a session shorter because the operator wanted it.
    pub(super) fn is_by_hand(&self, turn: TurnId) -> bool {
        let live = self.live.get(&turn);
        let compaction = live.and_then(|live| live.compaction.as_ref());
        compaction.is_some_and(|(_, aside)| *aside == turn)
    }

    /// Whether work has to wait until its role's session is as short as the operator wants it.
    pub(super) fn waits_for_shortening(&self, work: &Work) -> bool {
        let role = match work {
            Work::Claim { role, .. } | Work::StartReflection { role, .. } => role,
            Work::StartFeedback { role: Some(role) } => role,
            Work::StartFeedback { role: None }
            | Work::RunTurn { .. }
            | Work::StopTurn { .. }
            | Work::ApplyEnds
            | Work::WaitUntil { .. }
            | Work::AskOperator(_) => return false,
        };
        let of_role =
            |(turn, live): (&TurnId, &LiveTurn)| live.role == *role && self.is_by_hand(*turn);
        self.live.iter().any(of_role)
    }

    /// The summary that the operator wanted is going to be asked for.
    pub(super) fn ask_by_hand(
        &mut self,
        turn: TurnId,
        asking: Asking,
        shares: Shares,
    ) -> Result<Heard, DriverError> {
        match self.over_budget(turn, asking.worst) {
            Some(Short::Busy) => Ok(Heard::Go(Told::Busy)),
            Some(Short::Of(lack)) => {
                self.do_without(turn, lack.to_string(), Usage::default(), Some(shares))?;
                self.leave(turn);
                self.owed += 1;
                Ok(Heard::Over)
            }
            None => {
                let role = self.live.get(&turn).map(|live| live.role.clone());
                let role = role.ok_or(DriverError::Gone)?;
                self.ask_aside(turn, (turn, role), asking)?;
                Ok(Heard::Go(Told::Done { call: None }))
            }
        }
    }

    /// Takes what was begun beside the flow's turns to its end, in a process that drives nothing
    /// else.
    ///
    /// # Errors
    /// When the journal refuses.
    pub fn finish_asides(&mut self) -> Result<(), DriverError> {
        self.run_errands_here()?;
        for start in self.take_begun() {
            turn_thread::run_here(self, start)?;
        }
        self.sync_owed()
    }
}

fn no_such_archive(session: &SessionView, archive: &str) -> String {
    let names = session.archives.iter().map(|kept| kept.id.as_str());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        format!("there is no archive {archive:?}, nor any other")
    } else {
        format!(
            "there is no archive {archive:?}; there are: {}",
            names.join(", ")
        )
    }
}

fn not_now(role: &RoleInstance, why: &str) -> DriverError {
    DriverError::Session {
        role: role.clone(),
        why: why.to_owned(),
    }
}
