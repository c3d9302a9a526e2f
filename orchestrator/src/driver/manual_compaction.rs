//! What the operator does to a session between its turns: making it shorter, and taking that back.
//!
//! Making it shorter is a turn aside like the one that a full window leads to, without a turn that
//! waits for it. While it is made no turn of the role begins. If no model can be asked, or what it
//! says is not a summary, the oldest messages are left out, and the feed says why.

use a_society_facts::fact::session::{CompactionWish, Strategy, Trigger};
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_flow::machine::session::{last_task, replaced};
use a_society_roles::role::compaction::Shares;
use a_society_roles::turn::job::TurnJob;
use a_society_roles::turn::taker::Taker;

use super::attempt::TurnAttempt;
use super::briefing::job;
use super::compact::announce;
use super::compacted_history::HistoryCut;
use super::core::Core;
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::pen::FlowPen;
use super::provider_wait::TurnControl;
use super::step_findings::FactsLook;
use super::step_look::facts_look;
use super::turn_thread;

/// The window of a model that cannot be asked.
const WINDOW_UNKNOWN: u64 = 0;

impl Core {
    /// Begins to make a session shorter. What was begun goes on beside the flow's turns.
    pub(super) fn shorten(
        &mut self,
        role: RoleInstance,
        wish: Option<CompactionWish>,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let before = self.pen.flow.position().seq;
        let wanted = (Trigger::Manual, wish);
        let Some(summary) = announce(&mut self.pen, &role, wanted, client)? else {
            // All of its messages stay.
            return Ok(0);
        };
        let whose = TurnAttempt {
            turn: summary.turn,
            attempt: 1,
        };
        let session = self.pen.session(&role);
        let node = session.and_then(|session| session.node.as_ref().map(|mark| &mark.node));
        let task = last_task(&self.pen.graph, self.state(), &role, node);
        let mut job = job(
            &self.pen,
            whose.turn,
            1,
            &role,
            task.as_ref(),
            String::new(),
        )?;
        if let Some(wish) = &wish {
            only_what_is_replaced(&self.pen, wish, &mut job);
        }
        let control = TurnControl::new(false);
        let stop = control.stop();
        let subject = TurnSubject::new(whose, role, task);
        let facts = facts_look(&self.pen, &subject);
        self.live
            .insert(LiveTurn::new(subject, control, self.room.take()));
        self.compactions.begin(whose.turn, summary);
        let mut roles = self.pen.roles.another();
        self.send(whose, true, move || {
            let taker = roles.summariser(job, wish.as_ref(), stop).map_err(|why| {
                // Without a model the session is compacted at once.
                let facts = facts.map(FactsLook::run).unwrap_or_default();
                (why, facts)
            });
            Box::new(move |core: &mut Self| core.summarised_by(whose.turn, taker).map(|()| 0))
        })?;
        self.pen.flow.sync()?;
        let after = self.pen.flow.position().seq;
        Ok(usize::try_from(after - before).unwrap_or(usize::MAX))
    }

    /// The taker for the summary is ready, or there is none.
    fn summarised_by(
        &mut self,
        aside: TurnId,
        taker: Result<Box<dyn Taker>, (String, String)>,
    ) -> Result<(), DriverError> {
        match taker {
            Ok(taker) => self.take(aside, taker),
            Err((why, facts)) => {
                let shares = Shares::of(WINDOW_UNKNOWN);
                let cut = Some(HistoryCut { shares, facts });
                if let Some(live) = self.live.get(aside) {
                    let (pen, usage) = (&mut self.pen, Usage::default());
                    self.compactions
                        .do_without(pen, &live.subject, why, usage, cut)?;
                }
                self.leave(aside);
                self.pen.syncs.owe();
            }
        }
        Ok(())
    }

    /// Takes what was begun beside the flow's turns to its end, in a process that drives nothing
    /// else.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn finish_asides(&mut self) -> Result<(), DriverError> {
        self.run_errands_here()?;
        for start in self.take_begun() {
            turn_thread::run_here(self, start)?;
        }
        self.sync_owed()
    }
}

/// Leaves the messages in a job that are replaced, but for notes of the system, which stay.
fn only_what_is_replaced(pen: &FlowPen, wish: &CompactionWish, job: &mut TurnJob) {
    if wish.strategy == Strategy::NodeSummary {
        return;
    }
    let Some(session) = pen.session(&job.role) else {
        return;
    };
    let span = replaced(session, wish).unwrap_or_default();
    let each = job.history.iter().zip(&session.messages);
    let inside = each.take(span.end).skip(span.start);
    let inside = inside.filter(|(_, entry)| !entry.is_system);
    job.history = inside.map(|(message, _)| message.clone()).collect();
    job.provider_blocks.clear();
    (job.exchanges_from, job.context_tokens) = (0, 0);
}
